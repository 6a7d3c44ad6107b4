//! The native payloads of each scenario, as each runtime spells them. All synthetic.

pub mod claude_hook;
pub mod codex_rollout;
pub mod opencode;

use crate::conformance::normalizing::Payload;
use serde_json::{Value, json};

/// Output that looks like success.
pub(super) const PLAUSIBLE: &str = "test result: ok. 12 passed; 0 failed";

/// A secret, put together so that none stands in this file.
pub fn planted_secret() -> String {
    ["ghp", "_", "A1b2C3d4E5f6G7h8I9j0", "K1l2M3n4O5p6Q7r8"].concat()
}

/// A text that no field may keep whole.
pub(super) fn huge_text() -> String {
    "lorem ipsum ".repeat(20_000)
}

/// Payloads that are no payload of anybody's.
pub(super) fn malformed() -> Vec<Payload> {
    let values = [json!(null), json!(7), json!("text"), json!([]), json!([{}]), json!({})];
    let bytes: [&[u8]; 4] = [b"", b"{", b"\xff\xfe{}", b"\x00\x00"];
    let untyped = bytes.into_iter().map(|b| Payload { bytes: b.to_vec(), at: None });
    values.iter().map(Payload::untimed).chain(untyped).collect()
}

/// An object with further members.
pub(super) fn with(mut value: Value, more: Value) -> Value {
    if let (Value::Object(into), Value::Object(from)) = (&mut value, more) {
        into.extend(from);
    }
    value
}
