//! The agents' own formats, a folder a provider.

pub mod codex;
