//! The traits between core and the outside, and their small data.

pub mod agent;
pub mod chain;
pub mod clock;
pub mod files;
pub mod findings;
pub mod forgetter;
pub mod git;
pub mod journal;
pub mod legacy;
pub mod payload;
pub mod reader;
pub mod recorder;
pub mod search;
pub mod settings;
pub mod spool;
pub mod store;
pub mod wake;
