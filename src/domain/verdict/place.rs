//! Where a test run took place: its folder, as far as the command and the call tell.
//!
//! A run elsewhere says nothing of the tests here, whichever way it ended.

use super::ShellRun;
use crate::domain::command::TestRun;

/// Options by which a runner is sent to another folder or project.
const ELSEWHERE: &[&str] = &[
    "-C",
    "--prefix",
    "--manifest-path",
    "--directory",
    "--cwd",
    "--project-directory",
    "--rootdir",
    "--working-directory",
    "--git-dir",
    "--work-tree",
];
/// Words that change what the runner is or which tests it takes, unseen by the reading of options.
const UNTOLD: &[&str] = &["PYTEST_ADDOPTS", "addopts", "alias ", "PATH="];

/// The folder of a run below the conversation's: empty for the folder itself, `None` when it lies
/// outside or cannot be told.
pub(super) fn folder(run: &ShellRun, test: &TestRun, cwd: Option<&str>) -> Option<String> {
    let line = run.command.display();
    if line.split_whitespace().any(|word| {
        ELSEWHERE
            .iter()
            .any(|o| word == *o || word.strip_prefix(o).is_some_and(|r| r.starts_with('=')))
    }) {
        return None;
    }
    let base = match run.workdir.as_deref() {
        Some(named) => below(named, cwd)?,
        None => String::new(),
    };
    let target = match test.directory.as_deref() {
        Some(target) => below(target, cwd)?,
        None => String::new(),
    };
    Some(if target.is_empty() { base } else { target })
}

/// Whether the line sets something that changes the run out of sight.
pub(super) fn is_untold(run: &ShellRun) -> bool {
    let line = run.command.display();
    UNTOLD.iter().any(|word| line.contains(word))
}

fn below(path: &str, cwd: Option<&str>) -> Option<String> {
    let path = path.trim_end_matches('/');
    if path.contains("..") || path.starts_with(['~', '$', '-']) || path.contains('`') {
        return None;
    }
    if !path.starts_with('/') {
        return Some(path.trim_start_matches("./").trim_matches('.').to_owned());
    }
    match cwd {
        Some(cwd) => {
            let rest = path.strip_prefix(cwd.trim_end_matches('/'))?;
            if rest.is_empty() {
                Some(String::new())
            } else {
                rest.strip_prefix('/').map(str::to_owned)
            }
        }
        None => None,
    }
}
