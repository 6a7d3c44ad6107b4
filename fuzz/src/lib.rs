//! What several targets share.

use fornax::app::prepare::prepare;
use fornax::app::seal::{Line, Sealer};
use fornax::base::hash::Digest;
use fornax::base::json;
use fornax::domain::event::NativeId;
use fornax::ports::agent::AgentFamily;

/// Lines in any order and any damage go through a file decoder and the pipeline behind it without
/// a panic, and a fresh decoder takes the state that is left.
pub fn decode(family: &dyn AgentFamily, format: &str, text: &[u8]) {
    let mut adapter = family.file_adapter(format).unwrap();
    let mut sealer = Sealer::new("local", family.provider(), "fuzz");
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
    assert!(family.file_adapter(format).unwrap().restore(&state));
}
