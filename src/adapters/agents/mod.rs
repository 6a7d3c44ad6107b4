//! The agents' own formats, a folder a provider.

pub mod claude;
pub mod codex;
pub mod opencode;
