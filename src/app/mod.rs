//! Use cases, deterministic given their ports; one pipeline, the one way in.

pub mod delivery;
pub mod drain;
pub mod export;
mod file_writes;
pub mod follow;
pub mod full;
pub mod histories;
pub mod ingest;
pub mod known;
pub mod lookup;
pub mod messages;
pub mod opening;
pub mod outline;
pub mod prepare;
pub mod readback;
pub mod reading;
pub mod recheck;
pub mod recognise;
pub mod record;
pub mod redact;
pub mod resume;
pub mod seal;
pub mod sessions;
pub mod usage;
pub mod verify;
pub mod whole_source;
