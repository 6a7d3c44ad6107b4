//! Reading fields of the plugin's payloads; a field of the wrong type is treated as absent.

use serde_json::Value;

/// A non-empty string at a path of members.
pub(super) fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    member(value, path)?.as_str().filter(|s| !s.is_empty())
}

/// A member at a path that is there and not null.
pub(super) fn member<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |at, key| at.get(*key)).filter(|v| !v.is_null())
}

/// As `text`, owned.
pub(super) fn owned(value: &Value, path: &[&str]) -> Option<String> {
    text(value, path).map(str::to_owned)
}
