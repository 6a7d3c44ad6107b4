//! placeholder
pub mod envelope;
pub mod identity;
pub mod key;
pub mod payload;
pub mod provider;
pub mod tag;
