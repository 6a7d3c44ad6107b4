//! What one simple command does, once its wrappers are off.

use super::Scope;
use super::lexer::Word;
use super::runners;
use super::wrappers::{self, Inner};

/// What a simple command turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Job {
    /// A test run.
    Test { runner: &'static str, scope: Scope },
    /// A script for another shell.
    Script { text: String, errexit: bool, pipefail: bool },
    /// Anything else.
    Other,
}

/// Wrappers around wrappers that are taken off.
const MAX_WRAPPERS: usize = 12;

/// Reads a command from its words.
pub(super) fn read(words: &[Word]) -> Job {
    let mut words = words;
    for _ in 0..MAX_WRAPPERS {
        while words.first().is_some_and(is_assignment) {
            words = words.get(1..).unwrap_or_default();
        }
        if words.first().is_none_or(|word| !word.literal) {
            return Job::Other;
        }
        if let Some((runner, scope)) = runners::recognise(words) {
            return Job::Test { runner, scope };
        }
        match wrappers::unwrap(words) {
            Inner::Words(inner) if inner.len() < words.len() => words = inner,
            Inner::Script { text, errexit, pipefail } => {
                return Job::Script { text, errexit, pipefail };
            }
            _ => return Job::Other,
        }
    }
    Job::Other
}

/// `NAME=value` before a command.
pub(super) fn is_assignment(word: &Word) -> bool {
    let Some((name, _)) = word.text.split_once('=') else { return false };
    let mut chars = name.trim_end_matches('+').chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The last part of a command's path: `./node_modules/.bin/jest` is `jest`.
pub(super) fn base_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    [".exe", ".cmd", ".bat"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}
