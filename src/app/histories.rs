//! Which files below a folder are histories, by name; what is in them decides later.

use crate::ports::agent::AgentFamily;
use crate::ports::files::{Files, is_compressed};
use std::path::Path;

/// Ends of the names of histories.
const ENDS: [&str; 3] = [".jsonl", ".json", ".jsonl.zst"];

const OTHER_END: &str = "not a .jsonl, .json or .jsonl.zst file";

/// Why a file that was met is not looked into. A file that was `named` by the user is looked into
/// whatever its name is.
pub fn left_alone(
    files: &dyn Files,
    families: &[Box<dyn AgentFamily>],
    path: &Path,
    named: bool,
) -> Option<&'static str> {
    if is_compressed(path) && files.stat(&path.with_extension("")).is_ok() {
        return Some("compressed twin of a plain file");
    }
    let by_name = foreign_name(families, path)?;
    (!named || by_name != OTHER_END).then_some(by_name)
}

/// Why a path, whatever stands there, is not that of a history.
pub fn foreign_name(families: &[Box<dyn AgentFamily>], path: &Path) -> Option<&'static str> {
    if let Some(reason) = families.iter().find_map(|f| f.known_sidecar(path)) {
        return Some(reason);
    }
    let name = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
    (!ENDS.iter().any(|end| name.ends_with(end))).then_some(OTHER_END)
}
