//! File changes, from a patch's text or from the host's list of changes.
//!
//! The host's own list (`patch_apply_end`, item `FileChange`) is preferred; the text of a patch
//! (`*** Begin Patch`) stands in where no such list was seen.

use super::value::text;
use serde_json::Value;

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileDiff {
    pub(super) path: String,
    pub(super) diff: String,
}

/// Stands for the diff of a file that was deleted.
pub(super) const DELETED: &str = "(deleted)";

/// The files a patch text changes.
pub(super) fn from_text(patch: &str) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    for line in patch.lines() {
        if let Some(path) = ["*** Add File: ", "*** Update File: "]
            .iter()
            .find_map(|start| line.strip_prefix(start))
        {
            files.push(FileDiff { path: path.trim().to_owned(), diff: String::new() });
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            files.push(FileDiff { path: path.trim().to_owned(), diff: DELETED.to_owned() });
        } else if let Some(target) = line.strip_prefix("*** Move to: ") {
            if let Some(file) = files.last_mut() {
                file.diff.push_str(&moved(target.trim()));
            }
        } else if line.starts_with("*** ") {
            if line.starts_with("*** End Patch") {
                break;
            }
        } else if let Some(file) = files.last_mut().filter(|file| file.diff != DELETED) {
            file.diff.push_str(line);
            file.diff.push('\n');
        }
    }
    files.retain(|file| !file.path.is_empty());
    files
}

/// The files of a host's `changes` map (path -> change), in the map's order.
pub(super) fn from_changes(changes: &Value) -> Vec<FileDiff> {
    let Some(changes) = changes.as_object() else { return Vec::new() };
    changes
        .iter()
        .filter(|(path, _)| !path.trim().is_empty())
        .filter_map(|(path, change)| {
            change_diff(change).map(|diff| FileDiff { path: path.clone(), diff })
        })
        .collect()
}

fn change_diff(change: &Value) -> Option<String> {
    match text(change, "type")? {
        "add" => Some(
            text(change, "content")?.lines().map(|line| format!("+{line}\n")).collect::<String>(),
        ),
        "delete" => Some(DELETED.to_owned()),
        "update" => {
            let target = text(change, "move_path").map(moved).unwrap_or_default();
            Some(format!("{target}{}", text(change, "unified_diff")?))
        }
        _ => None,
    }
}

fn moved(target: &str) -> String {
    format!("(moved to {target})\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_patch_text_names_each_file_with_its_lines() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+hi\n*** Update File: b.txt\n*** Move to: c.txt\n@@\n-x\n+y\n*** Delete File: d.txt\n*** End Patch\n+not me\n";
        let files = from_text(patch);
        let seen: Vec<_> = files.iter().map(|f| (f.path.as_str(), f.diff.as_str())).collect();
        assert_eq!(
            seen,
            [
                ("a.txt", "+hi\n"),
                ("b.txt", "(moved to c.txt)\n@@\n-x\n+y\n"),
                ("d.txt", "(deleted)")
            ]
        );
    }

    #[test]
    fn host_changes_become_diffs_and_unknown_kinds_are_left_out() {
        let changes = json!({
            "a": {"type": "add", "content": "x\ny\n"},
            "b": {"type": "delete", "content": "gone"},
            "c": {"type": "update", "unified_diff": "@@\n-a\n+b\n", "move_path": null},
            "d": {"type": "teleport"}
        });
        let seen: Vec<_> = from_changes(&changes).into_iter().map(|f| (f.path, f.diff)).collect();
        assert_eq!(
            seen,
            [
                ("a".to_owned(), "+x\n+y\n".to_owned()),
                ("b".to_owned(), "(deleted)".to_owned()),
                ("c".to_owned(), "@@\n-a\n+b\n".to_owned())
            ]
        );
    }

    proptest! {
        #[test]
        fn any_patch_text_is_read_without_a_panic(patch in "(?s)(\\*\\*\\* |Add File: |a|\\n|\\+){0,40}") {
            let files = from_text(&patch);
            prop_assert!(files.iter().all(|file| !file.path.is_empty()));
        }
    }
}
