//! Leaving out of a tool's response what is bulk and no evidence.
//!
//! Whole files as they were or are, and image bytes, can be megabytes a call. What a call changed
//! stays (patch, old and new text), as do the names and sizes of what was read.

use serde_json::{Map, Value};

/// A copy of `response` without file contents and image bytes.
pub(super) fn slim(response: &Value) -> Value {
    match response {
        Value::Object(object) => Value::Object(slim_object(object)),
        Value::Array(items) => Value::Array(items.iter().map(slim).collect()),
        other => other.clone(),
    }
}

fn slim_object(object: &Map<String, Value>) -> Map<String, Value> {
    let is_bytes = object.get("type").and_then(Value::as_str) == Some("base64");
    let mut out = Map::new();
    for (key, value) in object {
        let bulk = match key.as_str() {
            "originalFile" | "originalFileContents" | "original_file" | "updated_file" => true,
            "base64" | "encrypted_content" => value.is_string(),
            "data" => is_bytes || has_media_type(object),
            "content" => is_written_file(object),
            _ => false,
        };
        if bulk {
            continue;
        }
        let kept = match (key.as_str(), value) {
            ("file", Value::Object(file)) => Value::Object(without_content(file)),
            _ => slim(value),
        };
        out.insert(key.clone(), kept);
    }
    out
}

/// A file that was read: its metadata says what was looked at.
fn without_content(file: &Map<String, Value>) -> Map<String, Value> {
    file.iter()
        .filter(|(key, _)| !matches!(key.as_str(), "content" | "base64" | "cells"))
        .map(|(key, value)| (key.clone(), slim(value)))
        .collect()
}

/// `Write`'s answer repeats its input, unless the person changed the text.
fn is_written_file(object: &Map<String, Value>) -> bool {
    let value = |key: &str| object.get(key).and_then(Value::as_str);
    matches!(value("type"), Some("create" | "update"))
        && value("filePath").is_some()
        && object.get("userModified").and_then(Value::as_bool) != Some(true)
}

/// MCP image and audio blocks: `{type, data, mimeType}`.
fn has_media_type(object: &Map<String, Value>) -> bool {
    object.contains_key("mimeType") || object.contains_key("media_type")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_read_file_keeps_its_metadata_only() {
        let response = json!({"type": "text", "file": {"filePath": "/w/a", "content": "long",
            "numLines": 1, "startLine": 1, "totalLines": 1}});
        assert_eq!(
            slim(&response),
            json!({"type": "text", "file": {"filePath": "/w/a", "numLines": 1, "startLine": 1,
                "totalLines": 1}})
        );
    }

    #[test]
    fn an_edit_keeps_its_patch_and_loses_the_original_file() {
        let response = json!({"filePath": "/w/a", "oldString": "1", "newString": "2",
            "originalFile": "all of it", "structuredPatch": [{"lines": ["-1", "+2"]}]});
        let kept = slim(&response);
        assert!(kept.get("originalFile").is_none());
        assert_eq!(kept["structuredPatch"], response["structuredPatch"]);
    }

    #[test]
    fn a_written_text_is_kept_only_where_the_person_changed_it() {
        let mut response = json!({"type": "create", "filePath": "/w/b", "content": "x"});
        assert!(slim(&response).get("content").is_none());
        response["userModified"] = json!(true);
        assert_eq!(slim(&response)["content"], "x");
    }

    #[test]
    fn image_bytes_go_and_the_texts_beside_them_stay() {
        let response = json!([
            {"type": "text", "text": "seen"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        ]);
        assert_eq!(
            slim(&response),
            json!([
                {"type": "text", "text": "seen"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png"}},
                {"type": "image", "mimeType": "image/png"},
            ])
        );
    }

    #[test]
    fn other_responses_are_kept_as_they_are() {
        for response in [
            json!({"stdout": "a", "gitOperation": {"push": {"branch": "m"}}}),
            json!("text"),
            json!(null),
        ] {
            assert_eq!(slim(&response), response);
        }
    }
}
