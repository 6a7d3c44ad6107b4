//! Pure values and rules: no I/O, no clock, no provider behaviour.

pub mod capability;
pub mod claims;
pub mod command;
pub mod envelope;
pub mod event;
pub mod evidence;
pub mod identity;
pub mod key;
pub mod locator;
pub mod loss;
pub mod outcome;
pub mod payload;
pub mod provenance;
pub mod provider;
pub mod record;
pub mod repository;
pub mod selector;
pub mod summaries;
pub mod tag;
pub mod unavailable;
pub mod usage;
pub mod verdict;
