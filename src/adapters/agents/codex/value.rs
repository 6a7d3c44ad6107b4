//! Small readings of a JSON value whose types cannot be trusted.
//!
//! Every accessor answers `None` for a missing key and for a wrong type alike: what a line states
//! wrongly it does not state.

use serde_json::Value;

/// The string at `key`.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// The string at `key`, when it is not blank: an id or name that names something.
pub(super) fn name<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    text(value, key).filter(|found| !found.trim().is_empty())
}

/// The string at `key`, owned.
pub(super) fn owned(value: &Value, key: &str) -> Option<String> {
    name(value, key).map(str::to_owned)
}

/// The members of an object named in `keys`, as an object of their own.
pub(super) fn pick(value: &Value, keys: &[&str]) -> Value {
    let kept = keys
        .iter()
        .filter_map(|key| value.get(*key).map(|found| ((*key).to_owned(), found.clone())))
        .collect();
    Value::Object(kept)
}

/// A `{secs, nanos}` duration as decimal seconds.
pub(super) fn seconds(value: &Value) -> Option<String> {
    let secs = value.get("secs").and_then(Value::as_u64)?;
    let nanos = value.get("nanos").and_then(Value::as_u64)?;
    Some(format!("{secs}.{nanos:09}"))
}

/// A string or a number as a string; ids come in both spellings.
pub(super) fn id_like(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The texts of a `content` list (or the string it is instead), joined without a separator as
/// Codex joins them, and the tags of the parts that are no known kind.
pub(super) fn joined_text(content: &Value) -> (String, Vec<String>) {
    let mut unknown = Vec::new();
    let joined = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part_text(part, &mut unknown)).collect()
        }
        _ => String::new(),
    };
    (joined, unknown)
}

/// The text of one content part; a part of unknown kind goes to `unknown` by its tag.
pub(super) fn part_text<'a>(part: &'a Value, unknown: &mut Vec<String>) -> Option<&'a str> {
    match text(part, "type") {
        Some("input_text" | "output_text" | "text" | "Text") => text(part, "text"),
        Some(tag) if KNOWN_PARTS.contains(&tag) => None,
        Some(tag) => {
            unknown.push(tag.to_owned());
            None
        }
        None => {
            unknown.push("<missing type>".to_owned());
            None
        }
    }
}

/// Content parts that hold no text of their own.
const KNOWN_PARTS: &[&str] = &[
    "input_image",
    "input_audio",
    "input_file",
    "encrypted_content",
    "image",
    "local_image",
    "audio",
    "local_audio",
    "file",
    "skill",
    "mention",
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_join_without_a_separator_and_unknown_parts_are_named() {
        let content = json!([
            {"type": "input_text", "text": "a"},
            {"type": "input_image", "image_url": "data:,"},
            {"type": "hologram", "text": "secret"},
            {"type": "input_text", "text": "b"},
            7
        ]);
        let (joined, unknown) = joined_text(&content);
        assert_eq!(joined, "ab");
        assert_eq!(unknown, ["hologram", "<missing type>"]);
    }

    #[test]
    fn a_blank_id_names_nothing() {
        assert_eq!(name(&json!({"id": " "}), "id"), None);
        assert_eq!(id_like(Some(&json!(7))).as_deref(), Some("7"));
        assert_eq!(id_like(Some(&json!(""))), None);
    }
}
