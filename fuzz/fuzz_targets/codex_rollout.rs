//! Lines in any order and any damage go through the decoder and the pipeline without a panic.
#![no_main]
use fornax::adapters::agents::codex::CodexFamily;
use fornax::app::prepare::prepare;
use fornax::app::seal::{Line, Sealer};
use fornax::base::hash::Digest;
use fornax::base::json;
use fornax::domain::event::NativeId;
use fornax::ports::agent::AgentFamily;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let mut adapter = CodexFamily.file_adapter("codex_rollout").unwrap();
    let mut sealer = Sealer::new("local", CodexFamily.provider(), "fuzz");
    let mut offset = 0;
    for bytes in text.split(|b| *b == b'\n') {
        let hash = Digest::of(bytes);
        let line = Line { offset, length: bytes.len() as u64, hash, received: None };
        for value in json::values(bytes).0 {
            let mut messages = adapter.normalize("hint", &value.value).into_messages();
            prepare(&mut messages);
            let id = NativeId::new("record", hash.short_hex());
            sealer.seal(messages, &line, &id);
        }
        offset += bytes.len() as u64 + 1;
    }
    let state = adapter.snapshot();
    assert!(CodexFamily.file_adapter("codex_rollout").unwrap().restore(&state));
});
