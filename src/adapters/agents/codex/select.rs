//! What a path selects in a rollout line or document: the same texts that decoding takes from it.
//!
//! A path ends at a text, at a list of content parts, or inside a tool's own fields, some of which
//! hold their JSON in a string. Payloads, items and lists of items are records: they are never
//! selected as a whole.

use super::tools::parsed_arguments;
use super::value::{joined_text, part_text};
use crate::domain::selector::{Selected, Selector, Step};
use serde_json::Value;

/// Keys below which everything is a tool's input or answer.
const OF_TOOLS: &[&str] = &[
    "action",
    "arguments",
    "changes",
    "command",
    "content_items",
    "error",
    "input",
    "output",
    "result",
];

/// The text or field that `path` names in `native`.
pub(super) fn select(native: &Value, path: &Selector) -> Option<Selected> {
    let Some(found) = path.find(native) else { return inside_a_string(native, path) };
    if let [one] = found.as_slice() {
        return select_one(path, one);
    }
    // Several parts that are one text: all are there, and all are texts.
    let parts: Option<Vec<&str>> = found.into_iter().map(Value::as_str).collect();
    parts.map(|parts| Selected::Text(parts.concat()))
}

fn select_one(path: &Selector, one: &Value) -> Option<Selected> {
    match one {
        Value::String(text) if path.last_key() == Some("arguments") => {
            Some(match parsed_arguments(one) {
                Value::String(_) => Selected::Text(text.clone()),
                parsed => Selected::Json(parsed),
            })
        }
        Value::String(text) => Some(Selected::Text(text.clone())),
        Value::Bool(_) | Value::Number(_) => Some(Selected::Text(one.to_string())),
        Value::Null => None,
        _ if path.passes(OF_TOOLS) => Some(Selected::Json(one.clone())),
        Value::Array(_) if path.last_key() == Some("content") => {
            Some(Selected::Text(joined_text(one).0))
        }
        Value::Array(_) => None,
        Value::Object(_) => {
            part_text(one, &mut Vec::new()).map(|text| Selected::Text(text.to_owned()))
        }
    }
}

/// `output.metadata.exit_code` where the output is JSON in a string.
fn inside_a_string(native: &Value, path: &Selector) -> Option<Selected> {
    let mut value = native.clone();
    let mut entered = false;
    for step in path.steps() {
        if let Value::String(text) = &value {
            value = serde_json::from_str(text).ok()?;
            entered = true;
        }
        value = match step {
            Step::Key(key) => value.get(key)?.clone(),
            Step::Index(index) => value.get(*index)?.clone(),
            Step::Span(_) => return None,
        };
    }
    if !entered {
        return None;
    }
    select_one(path, &value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::agents::codex::rollout::RolloutAdapter;
    use crate::domain::outcome::{Message, NormalizationOutcome};
    use crate::ports::agent::AgentAdapter as _;
    use serde_json::json;

    fn at(line: &Value, path: &str) -> Option<Selected> {
        select(line, &Selector::parse(path).unwrap())
    }

    fn item(payload: Value) -> Value {
        json!({"timestamp": "2026-05-01T08:00:00.000Z", "type": "response_item", "payload": payload})
    }

    fn event(payload: Value) -> Value {
        json!({"timestamp": "2026-05-01T08:00:00.000Z", "type": "event_msg", "payload": payload})
    }

    /// Every event of a line: what decoding took, and what its path selects.
    fn told(line: &Value) -> Vec<(Option<Selected>, Option<Selected>)> {
        let outcome = RolloutAdapter::default().normalize("hint", line);
        let NormalizationOutcome::Messages(messages) = outcome else { panic!("{outcome:?}") };
        let events = messages.into_iter().filter_map(|message| match message {
            Message::Event(event) => Some(event),
            _ => None,
        });
        let pairs = events.map(|event| {
            let decoded = event.text.map(Selected::Text).or_else(|| {
                event.tool_response.or(event.tool_input).map(|field| match field {
                    Value::String(text) => Selected::Text(text),
                    other => Selected::Json(other),
                })
            });
            (decoded, at(line, &event.path))
        });
        pairs.collect()
    }

    #[test]
    fn what_decoding_takes_is_what_its_path_selects() {
        let part = |text: &str| json!({"type": "input_text", "text": text});
        let user =
            |content: Value| item(json!({"type": "message", "role": "user", "content": content}));
        let host = "<environment_context>\n<cwd>/w</cwd>\n</environment_context>";
        let lines = [
            user(json!([part("a"), part("b")])),
            user(json!([part(host), part("then"), part("fix it")])),
            user(json!([part("<image>"), {"type": "input_image"}, part("</image>"), part("look")])),
            user(json!("plain")),
            item(json!({"type": "message", "role": "assistant", "content": [
                {"type": "output_text", "text": "x"}, {"type": "output_text", "text": "y"}]})),
            item(json!({"type": "function_call", "name": "shell", "call_id": "c",
                "arguments": "{\"command\":[\"ls\"]}"})),
            item(
                json!({"type": "function_call", "name": "shell", "call_id": "c", "arguments": "no json"}),
            ),
            item(
                json!({"type": "function_call_output", "call_id": "c", "output": "Exit code: 0\nOutput:\nx"}),
            ),
            item(
                json!({"type": "function_call_output", "call_id": "c", "output": [part("a"), part("b")]}),
            ),
            event(json!({"type": "agent_message", "message": "said"})),
            event(json!({"type": "task_complete", "turn_id": "t", "last_agent_message": "done"})),
            event(json!({"type": "error", "error": {"message": "broke"}})),
            event(
                json!({"type": "exec_command_end", "call_id": "c", "command": ["ls"], "cwd": "/w",
                "aggregated_output": "out", "exit_code": 0}),
            ),
            event(json!({"type": "mcp_tool_call_end", "call_id": "c", "invocation":
                {"server": "s", "tool": "t", "arguments": {}}, "result": {"Ok": {"content": []}}})),
            event(
                json!({"type": "item_completed", "turn_id": "t", "item": {"type": "AgentMessage",
                "id": "i", "content": [{"type": "Text", "text": "p"}, {"type": "Text", "text": "q"}]}}),
            ),
        ];
        for line in lines {
            let pairs = told(&line);
            assert!(!pairs.is_empty(), "{line}");
            for (decoded, selected) in pairs {
                assert_eq!(decoded, selected, "{line}");
                assert!(selected.is_some(), "{line}");
            }
        }
    }

    #[test]
    fn a_custom_call_s_text_is_selected_by_its_own_field() {
        let line = item(json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "c",
            "input": "*** Begin Patch"}));
        assert_eq!(at(&line, "payload.input"), Some(Selected::Text("*** Begin Patch".to_owned())));
    }

    #[test]
    fn json_in_a_string_is_entered() {
        let line = item(json!({"type": "function_call_output", "call_id": "c",
            "output": "{\"output\":\"x\",\"metadata\":{\"exit_code\":2}}"}));
        assert_eq!(
            at(&line, "payload.output.metadata.exit_code"),
            Some(Selected::Text("2".to_owned()))
        );
        assert_eq!(at(&line, "payload.output.metadata.other"), None);
    }

    #[test]
    fn a_span_is_whole_or_nothing_and_no_record_is_selected() {
        let line = item(json!({"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "a"}, {"type": "hologram", "text": "x"},
            {"type": "input_text", "text": ""}]}));
        assert_eq!(at(&line, "payload.content[0,2].text"), Some(Selected::Text("a".to_owned())));
        assert_eq!(at(&line, "payload.content[2].text"), Some(Selected::Text(String::new())));
        for path in ["payload", "payload.content[1]", "payload.content[0,3].text"] {
            assert_eq!(at(&line, path), None, "{path}");
        }
    }
}
