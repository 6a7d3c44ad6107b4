//! Everything that touches the outside; none imports another.

pub mod agents;
pub mod sqlite;
