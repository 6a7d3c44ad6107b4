//! Which files are Codex rollouts, by content.
//!
//! Other agents write `type` and `timestamp` too; what tells a rollout is its envelope with a known
//! type over a `payload` object, its bare header, or its document. A `codex exec --json` stream is
//! told by its first event.

use super::bare::{is_document, is_header};
use super::rollout::TOP_LEVEL;
use super::value::{name, text};
use super::{FORMAT_BARE, FORMAT_DOCUMENT, FORMAT_EXEC, FORMAT_ROLLOUT, exec_stream};
use crate::ports::agent::SourceFormat;
use serde_json::Value;
use std::path::Path;

/// The format of a file whose first values are these.
pub(super) fn format_of(values: &[Value]) -> Option<SourceFormat> {
    let first = values.iter().find(|value| value.is_object())?;
    if is_document(first) && first.get("session").is_some_and(|it| name(it, "id").is_some()) {
        return Some(SourceFormat { name: FORMAT_DOCUMENT, whole_document: true });
    }
    let is_session_meta = |value: &Value| text(value, "type") == Some("session_meta");
    if is_envelope(first) || values.iter().any(|value| is_session_meta(value) && is_envelope(value))
    {
        return Some(SourceFormat { name: FORMAT_ROLLOUT, whole_document: false });
    }
    if values.iter().any(exec_stream::is_start) {
        return Some(SourceFormat { name: FORMAT_EXEC, whole_document: false });
    }
    let is_state = |value: &Value| name(value, "record_type") == Some("state");
    (is_header(first) || values.iter().any(is_state))
        .then_some(SourceFormat { name: FORMAT_BARE, whole_document: false })
}

/// A known type over a payload that looks like that type's.
fn is_envelope(value: &Value) -> bool {
    let (Some(tag), Some(payload)) = (text(value, "type"), value.get("payload")) else {
        return false;
    };
    let has_any = |keys: &[&str]| keys.iter().any(|key| payload.get(*key).is_some());
    match tag {
        "session_meta" => has_any(&["id", "session_id"]),
        "turn_context" => has_any(&["model", "cwd", "turn_id"]),
        "response_item" | "event_msg" => has_any(&["type"]),
        other => TOP_LEVEL.contains(&other) && payload.is_object(),
    }
}

/// Why a sibling of rollouts is left alone.
pub(super) fn sidecar(path: &Path) -> Option<&'static str> {
    let file = path.file_name()?.to_str()?;
    match file {
        "session_index.jsonl" => Some("names of Codex threads"),
        "history.jsonl" => Some("prompts typed in the Codex interface"),
        _ if file.ends_with(".tmp") => Some("temporary file of a compression"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn name_of(values: &[Value]) -> Option<&'static str> {
        format_of(values).map(|format| format.name)
    }

    #[test]
    fn each_rollout_form_is_recognised() {
        let meta = json!({"timestamp": "t", "type": "session_meta", "payload": {"id": "a"}});
        let header = json!({"id": "a", "timestamp": "t", "instructions": null});
        let document = json!({"session": {"id": "a"}, "items": []});
        assert_eq!(name_of(std::slice::from_ref(&meta)), Some(FORMAT_ROLLOUT));
        assert_eq!(
            name_of(&[json!({"type": "future", "payload": {}}), meta]),
            Some(FORMAT_ROLLOUT)
        );
        assert_eq!(name_of(&[header]), Some(FORMAT_BARE));
        assert_eq!(name_of(std::slice::from_ref(&document)), Some(FORMAT_DOCUMENT));
        assert!(format_of(&[document]).is_some_and(|format| format.whole_document));
    }

    #[test]
    fn a_stream_is_recognised_by_its_first_event_whatever_stands_before_it() {
        let started = json!({"type": "thread.started", "thread_id": "a"});
        let log = json!({"level": "INFO", "message": "x"});
        assert_eq!(name_of(&[log, started]), Some(FORMAT_EXEC));
        let early = json!({"type": "session.created", "session_id": "a"});
        assert_eq!(name_of(&[early]), Some(FORMAT_EXEC));
        let raw = json!({"id": "0", "msg": {"type": "session_configured", "session_id": "a"}});
        assert_eq!(name_of(&[json!({"prompt": "x"}), raw]), Some(FORMAT_EXEC));
    }

    #[test]
    fn other_agents_files_are_not_codex_ones() {
        for value in [
            json!({"type": "thread.started"}),
            json!({"type": "turn.completed", "usage": {"input_tokens": 1}}),
            json!({"type": "user", "sessionId": "a", "message": {"role": "user"}}),
            json!({"type": "message", "sessionId": "a", "role": "user", "content": "x"}),
            json!({"info": {"id": "a"}, "messages": []}),
            json!({"id": "a", "timestamp": "t", "type": "x", "instructions": null}),
            json!({"type": "event_msg", "payload": "text"}),
            json!([]),
        ] {
            assert_eq!(name_of(std::slice::from_ref(&value)), None, "{value}");
        }
    }

    #[test]
    fn siblings_of_rollouts_are_left_alone_by_name() {
        assert!(sidecar(Path::new("/h/.codex/session_index.jsonl")).is_some());
        assert!(sidecar(Path::new("/h/.codex/history.jsonl")).is_some());
        assert!(sidecar(Path::new("/h/a.jsonl.tmp")).is_some());
        assert!(sidecar(Path::new("/h/rollout-a.jsonl")).is_none());
    }
}
