//! Reading fields of Claude Code's loosely typed JSON.
//!
//! A field of the wrong type is treated as absent: the shapes are not published, and third-party
//! endpoints write what they like. Nothing here fails.

use serde_json::Value;

/// A non-empty string member.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str).filter(|s| !s.is_empty())
}

/// Whether a member is literally `true`.
pub(super) fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// A member that is there and not null.
pub(super) fn member<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|v| !v.is_null())
}

/// A tool's input; builds before 2.1.92 may hold it as JSON in a string.
pub(super) fn tool_input(value: &Value, key: &str) -> Option<Value> {
    let input = member(value, key)?;
    if let Value::String(encoded) = input
        && let Ok(decoded @ Value::Object(_)) = serde_json::from_str(encoded)
    {
        return Some(decoded);
    }
    Some(input.clone())
}

/// The text of a string, or of the `text` blocks of a list, joined by line ends.
pub(super) fn plain_text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let parts: Vec<&str> = blocks
                .iter()
                .filter(|block| block.get("type").and_then(Value::as_str) == Some("text"))
                .filter_map(|block| block.get("text").and_then(Value::as_str))
                .collect();
            (!parts.is_empty()).then(|| parts.join("\n"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_input_that_is_json_in_a_string_is_decoded_and_any_other_string_is_kept() {
        let line = json!({"a": "{\"command\":\"ls\"}", "b": "not json", "c": null});
        assert_eq!(tool_input(&line, "a"), Some(json!({"command": "ls"})));
        assert_eq!(tool_input(&line, "b"), Some(json!("not json")));
        assert_eq!(tool_input(&line, "c"), None);
    }

    #[test]
    fn text_blocks_are_joined_and_other_blocks_passed_over() {
        let content = json!([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]);
        assert_eq!(plain_text(&content).as_deref(), Some("a\nb"));
        assert_eq!(plain_text(&json!([{"type": "image"}])), None);
        assert_eq!(plain_text(&json!(7)), None);
    }
}
