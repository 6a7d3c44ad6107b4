//! What one simple command does, once its wrappers are off.

use super::Scope;
use super::lexer::Word;
use super::wrappers::{self, Inner};
use super::{Wanted, checks, runners};

/// What a simple command turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Job {
    /// A run of what is looked for.
    Run { runner: &'static str, scope: Scope },
    /// A script for another shell.
    Script { text: String, errexit: bool, pipefail: bool },
    /// Anything else.
    Other,
}

/// Wrappers around wrappers that are taken off.
const MAX_WRAPPERS: usize = 12;

/// Reads a command from its words, looking for one kind of run.
pub(super) fn read(words: &[Word], wanted: &Wanted<'_>) -> Job {
    let mut words = words;
    for _ in 0..MAX_WRAPPERS {
        while words.first().is_some_and(is_assignment) {
            words = words.get(1..).unwrap_or_default();
        }
        if words.first().is_none_or(|word| !word.literal) {
            return Job::Other;
        }
        if let Some((runner, scope)) = recognise(words, wanted) {
            return Job::Run { runner, scope };
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

fn recognise(words: &[Word], wanted: &Wanted<'_>) -> Option<(&'static str, Scope)> {
    match wanted {
        Wanted::Tests => runners::recognise(words),
        Wanted::Check(check) => checks::recognise(words, *check),
        Wanted::Command(named) => {
            let same = |(word, name): (&Word, &String)| base_name(&word.text) == base_name(name);
            let found = !named.is_empty()
                && words.len() >= named.len()
                && words.iter().zip(*named).all(same);
            let scope = match words.get(named.len()) {
                Some(more) => Scope::Partial { reason: more.text.clone() },
                None => Scope::Full,
            };
            found.then_some(("the command", scope))
        }
    }
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
