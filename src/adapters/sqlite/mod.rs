//! The store: one SQLite file in WAL mode, one connection a process.
//!
//! `open` finds, makes and checks the file; `migrate` brings it to this build's schema, and `backup`
//! copies it before; `write` stores batches; `forget` removes conversations for good; `fold` decides
//! what an event says from its sightings; `read` answers queries; `streams` keeps a stream's telling from
//! being counted beside the record it repeats, `copied` a fork's copies beside their originals.

mod additive;
mod backup;
mod copied;
mod findings;
mod fold;
mod forget;
mod imported;
mod migrate;
mod open;
mod places;
mod read;
mod rows;
mod search;
mod streams;
mod sweep;
mod usage;
mod write;
mod writer;

pub use open::{OpenOptions, SqliteStore};
