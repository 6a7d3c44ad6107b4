//! Use cases, deterministic given their ports; one pipeline, the one way in.

pub mod delivery;
pub mod drain;
pub mod export;
pub mod follow;
pub mod ingest;
pub mod lookup;
pub mod prepare;
pub mod reading;
pub mod recognise;
pub mod record;
pub mod redact;
pub mod resume;
pub mod seal;
pub mod usage;
pub mod verify;
