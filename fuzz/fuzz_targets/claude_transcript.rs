//! The decoder of Claude Code transcripts takes any bytes.
#![no_main]
use fornax::adapters::agents::claude::{ClaudeFamily, TRANSCRIPT};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| fornax_fuzz::decode(&ClaudeFamily, TRANSCRIPT, text));
