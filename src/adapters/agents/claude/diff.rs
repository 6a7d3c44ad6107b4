//! The change that a file tool made, as text.
//!
//! `structuredPatch` (real hunks) is preferred; without it the old and new lines stand in, each
//! prefixed. The response goes before the input, because a person may have edited the proposal
//! before accepting it (`userModified`). A staged edit has not changed the file yet: no diff.

use super::wire::{flag, member, text};
use serde_json::Value;
use std::fmt::Write as _;

/// One file's change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileChange {
    pub(super) path: String,
    pub(super) diff: String,
    pub(super) read: ReadFrom,
}

/// The field that the diff was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadFrom {
    Patch,
    Response,
    Input,
}

/// The change of a successful call of a file tool; `None` for any other tool or a staged edit.
pub(super) fn file_change(
    tool: &str,
    input: Option<&Value>,
    response: Option<&Value>,
) -> Option<FileChange> {
    if !matches!(tool, "Edit" | "MultiEdit" | "Write" | "NotebookEdit") {
        return None;
    }
    if response.is_some_and(|r| flag(r, "staged")) {
        return None;
    }
    let path = file_path(input, response)?;
    if let Some(diff) = response.and_then(patch) {
        return Some(FileChange { path, diff, read: ReadFrom::Patch });
    }
    let told = |source: &Value| match tool {
        "Write" => added(source.get("content")?.as_str()?),
        "MultiEdit" => edits(source),
        "NotebookEdit" => replaced(source, "old_source", "new_source"),
        _ => replaced(source, "oldString", "newString")
            .or_else(|| replaced(source, "old_string", "new_string")),
    };
    let from_response = response.and_then(told).map(|diff| (diff, ReadFrom::Response));
    let (diff, read) =
        from_response.or_else(|| input.and_then(told).map(|diff| (diff, ReadFrom::Input)))?;
    Some(FileChange { path, diff, read })
}

fn file_path(input: Option<&Value>, response: Option<&Value>) -> Option<String> {
    const KEYS: [&str; 3] = ["filePath", "file_path", "notebook_path"];
    [response, input]
        .into_iter()
        .flatten()
        .find_map(|source| KEYS.iter().find_map(|key| text(source, key)))
        .map(str::to_owned)
}

/// The hunks of `structuredPatch`, in unified form.
fn patch(response: &Value) -> Option<String> {
    let hunks = response.get("structuredPatch")?.as_array()?;
    let mut out = String::new();
    for hunk in hunks {
        let number = |key: &str| hunk.get(key).and_then(Value::as_u64).unwrap_or(0);
        let lines = hunk.get("lines")?.as_array()?;
        let _ = writeln!(
            out,
            "@@ -{},{} +{},{} @@",
            number("oldStart"),
            number("oldLines"),
            number("newStart"),
            number("newLines")
        );
        for line in lines {
            out.push_str(line.as_str()?);
            out.push('\n');
        }
    }
    (!out.is_empty()).then_some(out)
}

fn edits(source: &Value) -> Option<String> {
    let edits = member(source, "edits")?.as_array()?;
    let parts: Option<Vec<String>> =
        edits.iter().map(|edit| replaced(edit, "old_string", "new_string")).collect();
    parts.map(|parts| parts.concat())
}

/// The new text added and the old one taken away; a missing old text adds only.
fn replaced(source: &Value, old: &str, new: &str) -> Option<String> {
    let new = source.get(new)?.as_str()?;
    let old = source.get(old).and_then(Value::as_str).unwrap_or("");
    let mut out = prefixed('-', old);
    out.push_str(&prefixed('+', new));
    Some(out)
}

fn added(content: &str) -> Option<String> {
    Some(prefixed('+', content))
}

fn prefixed(sign: char, text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16 + 2);
    for line in text.lines() {
        out.push(sign);
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn change(tool: &str, input: Value, response: Value) -> Option<FileChange> {
        file_change(tool, Some(&input), Some(&response))
    }

    #[test]
    fn an_edit_with_hunks_is_told_by_its_hunks() {
        let response = json!({"filePath": "/w/a", "oldString": "1", "newString": "2",
            "structuredPatch": [{"oldStart": 3, "oldLines": 2, "newStart": 3, "newLines": 2,
                "lines": [" k", "-x=1", "+x=2"]}]});
        let change = change("Edit", json!({"file_path": "/w/other"}), response).unwrap();
        assert_eq!(change.path, "/w/a");
        assert_eq!(change.diff, "@@ -3,2 +3,2 @@\n k\n-x=1\n+x=2\n");
        assert_eq!(change.read, ReadFrom::Patch);
    }

    #[test]
    fn a_text_that_the_person_changed_is_taken_from_the_response() {
        let input = json!({"file_path": "/w/a", "old_string": "a", "new_string": "proposed"});
        let response = json!({"filePath": "/w/a", "oldString": "a", "newString": "accepted",
            "structuredPatch": [], "userModified": true});
        let change = change("Edit", input, response).unwrap();
        assert_eq!(change.diff, "-a\n+accepted\n");
        assert_eq!(change.read, ReadFrom::Response);
    }

    #[test]
    fn without_an_answer_the_input_stands_in() {
        let input = json!({"file_path": "/w/a", "old_string": "a\nb", "new_string": "c"});
        let change = file_change("Edit", Some(&input), None).unwrap();
        assert_eq!((change.diff.as_str(), change.read), ("-a\n-b\n+c\n", ReadFrom::Input));
    }

    #[test]
    fn a_created_file_is_all_added() {
        let response = json!({"type": "create", "filePath": "/w/b", "content": "x\ny\n",
            "structuredPatch": [], "originalFile": null});
        assert_eq!(change("Write", json!({}), response).unwrap().diff, "+x\n+y\n");
    }

    #[test]
    fn all_edits_of_a_multi_edit_are_told_and_a_broken_one_spoils_the_diff() {
        let input = json!({"file_path": "/w/c", "edits": [
            {"old_string": "a", "new_string": "b"}, {"old_string": "", "new_string": "c"}]});
        assert_eq!(change("MultiEdit", input, json!({})).unwrap().diff, "-a\n+b\n+c\n");
        let broken = json!({"file_path": "/w/c", "edits": [{"old_string": "a"}]});
        assert_eq!(change("MultiEdit", broken, json!({})), None);
    }

    #[test]
    fn a_notebook_cell_is_told_by_its_sources() {
        let response = json!({"notebook_path": "/w/n.ipynb", "old_source": "a", "new_source": "b"});
        let change = change("NotebookEdit", json!({}), response).unwrap();
        assert_eq!((change.path.as_str(), change.diff.as_str()), ("/w/n.ipynb", "-a\n+b\n"));
    }

    #[test]
    fn a_staged_edit_a_tool_that_writes_no_file_and_a_pathless_edit_have_no_diff() {
        let edit = json!({"filePath": "/w/a", "oldString": "1", "newString": "2", "staged": true});
        assert_eq!(change("Edit", json!({}), edit), None);
        let read = json!({"filePath": "/w/a", "content": "x"});
        assert_eq!(change("Read", json!({}), read), None);
        assert_eq!(change("Edit", json!({"new_string": "x"}), json!({})), None);
    }

    #[test]
    fn wrong_types_never_make_a_diff() {
        let input = json!({"file_path": "/w/a", "content": 7});
        assert_eq!(change("Write", input, json!({"structuredPatch": [{"lines": [1]}]})), None);
    }
}
