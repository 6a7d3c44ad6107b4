//! placeholder

pub mod redact;
