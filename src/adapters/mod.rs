//! Everything that touches the outside; none imports another.

pub mod agents;
pub mod files;
pub mod first_fornax;
pub mod git;
pub mod journal;
pub mod settings;
pub mod shell;
pub mod spool_dir;
pub mod sqlite;
pub mod stdin;
pub mod system_clock;
pub mod watch;
