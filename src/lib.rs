//! fornax: an honest, local record of what coding agents did.
//!
//! The library exists for the binary, its tests and its benches; it promises no stable Rust API.
//!
//! Who may import whom (held by `tests/it/architecture.rs`): `base` nothing of fornax; `domain`
//! only `base`; `ports` those two; `app` those three; each adapter those three and no other
//! adapter; `conformance` `ports`, `domain`, `base`; `cli` all of these but `adapters`; `compose`
//! everything.

pub mod adapters;
pub mod app;
pub mod base;
pub mod cli;
pub mod compose;
pub mod conformance;
pub mod domain;
pub mod ports;
