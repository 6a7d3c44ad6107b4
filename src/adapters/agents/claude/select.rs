//! What a path selects in a transcript line: the same texts that decoding takes from it.
//!
//! A path ends at a text, at a list of content blocks, at a block (then its input or its answer is
//! meant), or inside a tool's own objects. Envelopes, messages and blocks of an unknown kind are
//! records: they are never selected as a whole.

use super::prompt;
use super::slim::slim;
use super::transcript::error_text;
use super::wire::{plain_text, text, tool_input};
use crate::domain::selector::{Selected, Selector};
use serde_json::Value;

/// Keys below which everything is a tool's input or answer.
const OF_TOOLS: &[&str] = &["toolUseResult", "input"];

/// The text or field that `path` names in `line`.
pub(super) fn select(line: &Value, path: &Selector) -> Option<Selected> {
    let by_user = text(line, "type") == Some("user");
    let found = path.find(line)?;
    if let [one] = found.as_slice() {
        return select_one(line, path, one, by_user);
    }
    // Several blocks that are one prompt: all are there, and all are texts.
    let parts: Option<Vec<&str>> = found.into_iter().map(Value::as_str).collect();
    let shown = |part| if by_user { prompt::shown(part) } else { part };
    let parts = parts.map(|parts| parts.into_iter().map(shown).collect::<Vec<_>>());
    parts.map(|parts| Selected::Text(parts.join("\n")))
}

fn select_one(line: &Value, path: &Selector, one: &Value, by_user: bool) -> Option<Selected> {
    match one {
        Value::String(said) if by_user => Some(Selected::Text(prompt::shown(said).to_owned())),
        Value::String(said) => Some(Selected::Text(said.clone())),
        Value::Bool(_) | Value::Number(_) => Some(Selected::Text(one.to_string())),
        Value::Null => None,
        _ if path.passes(OF_TOOLS) => Some(Selected::Json(slim(one))),
        Value::Array(_) => match path.last_key() {
            Some("content" | "prompt") => plain_text(one).map(Selected::Text),
            _ => None,
        },
        Value::Object(_) if path.to_string() == "error" => error_text(line).map(Selected::Text),
        Value::Object(_) => block(one),
    }
}

/// A call's block stands for its input, a result's for its answer.
fn block(one: &Value) -> Option<Selected> {
    let field = |value: Value| match value {
        Value::String(text) => Selected::Text(text),
        other => Selected::Json(other),
    };
    match text(one, "type")? {
        "text" => one.get("text").and_then(Value::as_str).map(|t| Selected::Text(t.to_owned())),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => tool_input(one, "input").map(field),
        "tool_result" => {
            let content = one.get("content").filter(|content| !content.is_null())?;
            Some(plain_text(content).map_or_else(|| field(slim(content)), Selected::Text))
        }
        kind if kind.ends_with("_tool_result") => {
            one.get("content").filter(|content| !content.is_null()).map(|c| field(slim(c)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::agents::claude::transcript::ClaudeTranscript;
    use crate::domain::outcome::{Message, NormalizationOutcome};
    use crate::ports::agent::AgentAdapter as _;
    use serde_json::json;

    fn at(line: &Value, path: &str) -> Option<Selected> {
        select(line, &Selector::parse(path).unwrap())
    }

    fn said(text: &str) -> Option<Selected> {
        Some(Selected::Text(text.to_owned()))
    }

    /// Every event of a line with what its path selects.
    fn told(line: &Value) -> Vec<(Option<Selected>, Option<Selected>)> {
        let outcome = ClaudeTranscript::default().normalize("hint", line);
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

    fn user(content: Value) -> Value {
        json!({"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": content}})
    }

    #[test]
    fn what_decoding_takes_is_what_its_path_selects() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": [text("out"), text("more")]});
        let mut with_object = user(json!([result.clone()]));
        with_object["toolUseResult"] =
            json!({"stdout": "x", "file": {"filePath": "/a", "content": "bulk"}});
        let lines = [
            user(json!("plain")),
            user(json!([text("one"), {"type": "image"}, text("two"), text("<system-reminder>x")])),
            user(json!("<bash-input> cargo test </bash-input>")),
            user(json!("<ide_opened_file>a.rs</ide_opened_file>fix it")),
            user(json!([text("<ide_opened_file>a.rs</ide_opened_file>fix it"), text("and test")])),
            user(json!([result])),
            with_object,
            json!({"type": "assistant", "sessionId": "s", "uuid": "u", "message": {"content": [
                text("said"), {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "ls"}}]}}),
            json!({"type": "assistant", "sessionId": "s", "uuid": "u", "isApiErrorMessage": true,
                "message": {"content": [text("API Error")]}}),
            json!({"type": "assistant", "sessionId": "s", "uuid": "u", "isApiErrorMessage": true,
                "error": "overloaded", "message": {"content": []}}),
            json!({"type": "user", "sessionId": "s", "uuid": "u", "message": "a bare message"}),
            json!({"type": "system", "subtype": "api_error", "sessionId": "s", "uuid": "u",
                "error": {"error": {"message": "overloaded"}}}),
            json!({"type": "attachment", "sessionId": "s", "uuid": "u",
                "attachment": {"type": "queued_command", "prompt": [text("a"), text("b")]}}),
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
    fn a_span_is_whole_or_nothing() {
        let line = user(json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]));
        assert_eq!(at(&line, "message.content[0,1].text"), said("a\nb"));
        assert_eq!(at(&line, "message.content[0,2].text"), None);
    }

    #[test]
    fn no_record_is_selected_as_a_whole() {
        let line = user(
            json!([{"type": "hologram", "secret": "x"}, {"type": "thinking", "thinking": "y"}]),
        );
        for path in ["message", "message.content[0]", "message.content[1]", "message.content"] {
            assert_eq!(at(&line, path), None, "{path}");
        }
    }

    #[test]
    fn an_empty_text_is_a_value() {
        assert_eq!(
            at(&user(json!([{"type": "text", "text": ""}])), "message.content[0].text"),
            said("")
        );
    }
}
