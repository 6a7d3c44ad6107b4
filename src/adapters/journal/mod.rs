//! The journal on disk: `journal/current.fxj`, closed segments beside it, one lock file.
//!
//! A hook holds the lock shared for the one write; a drainer holds it exclusively for the one
//! rename that takes the current segment out of the hooks' way. A hook that cannot have the lock
//! within its wait writes a segment of its own. Nothing is ever written through a symlink.

mod drain;
mod frame;
mod purge;
mod unique;
mod write;

pub use drain::JournalFolder;
pub use write::{JournalAppender, make_private_folder};

/// Name of the segment that hooks append to.
const CURRENT: &str = "current.fxj";
/// Lock between hooks (shared) and the rename of the current segment (exclusive).
const LOCK: &str = "lock";
/// Lock that one drainer holds.
const DRAIN_LOCK: &str = "drain.lock";
/// Beginning of the names of closed segments.
const CLOSED_PREFIX: &str = "seg-";
/// Beginning of the names of segments that hold frames of a newer format.
const NEWER_PREFIX: &str = "newer-";
/// Ending of every segment.
const SUFFIX: &str = ".fxj";
