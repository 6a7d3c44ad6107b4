//! The traits between core and the outside, and their small data.

pub mod agent;
pub mod clock;
pub mod files;
pub mod forgetter;
pub mod journal;
pub mod payload;
pub mod reader;
pub mod recorder;
pub mod settings;
pub mod spool;
pub mod store;
pub mod wake;
