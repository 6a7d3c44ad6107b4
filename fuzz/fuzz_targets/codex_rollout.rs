//! The decoder of Codex rollouts takes any bytes.
#![no_main]
use fornax::adapters::agents::codex::{CodexFamily, FORMAT_ROLLOUT};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| fornax_fuzz::decode(&CodexFamily, FORMAT_ROLLOUT, text));
