//! Commands that may change the files under test.
//!
//! A test run says nothing about files that changed after it. File tools report their edits; a shell
//! does not, so the usual ways of changing files in a shell are known here: `sed -i`, `git checkout`,
//! `git stash`, `patch`, formatters that write, files moved or removed. A list, not a proof: a
//! command that is not on it may still change files.

use super::jobs::base_name;
use super::lexer::{self, Word};
use super::parser::{self, Part, Script};
use super::{CommandText, MAX_DEPTH};

/// True when `command` is known to change files of a work tree.
pub fn may_change_files(command: &CommandText) -> bool {
    match command {
        CommandText::Line(line) => any_part(&parser::parse(&lexer::lex(line)), 0),
        CommandText::Argv(words) => {
            let words: Vec<_> = words.iter().map(|word| Word::literal(word)).collect();
            changes(&words, 0)
        }
    }
}

fn any_part(script: &Script, depth: usize) -> bool {
    let mut parts = script.items.iter().flat_map(|(pipeline, _)| &pipeline.parts);
    parts.any(|part| match part {
        Part::Simple(words) => changes(words, depth),
        Part::Group(group) => any_part(group, depth),
    })
}

fn changes(words: &[Word], depth: usize) -> bool {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let has = |flag: &str| words.iter().any(|word| word.text == flag);
    let starts = |flag: &str| words.iter().any(|word| word.text.starts_with(flag));
    match base_name(text(0)) {
        "sed" | "perl" => starts("-i") || starts("-pi") || has("--in-place"),
        "git" => git_changes(words),
        "patch" | "apply_patch" | "mv" | "rm" | "cp" | "unzip" | "rsync" | "truncate" => true,
        "tee" => words.len() > 1,
        "cargo" => matches!(text(1), "fix" | "add" | "remove" | "update") || formats(words),
        "rustfmt" | "black" | "gofmt" | "prettier" | "eslint" | "ruff" => formats(words),
        "npm" | "pnpm" | "yarn" => matches!(text(1), "install" | "add" | "remove" | "uninstall"),
        "sudo" | "time" | "env" => changes(words.get(1..).unwrap_or_default(), depth),
        "bash" | "sh" | "zsh" if depth < MAX_DEPTH => {
            let inner = words.iter().skip(2).find(|word| !word.text.starts_with('-'));
            inner.is_some_and(|word| any_part(&parser::parse(&lexer::lex(&word.text)), depth + 1))
        }
        _ => false,
    }
}

fn git_changes(words: &[Word]) -> bool {
    let command = words.iter().skip(1).find(|word| !word.text.starts_with('-'));
    command.is_some_and(|word| {
        matches!(
            word.text.as_str(),
            "checkout"
                | "switch"
                | "restore"
                | "reset"
                | "stash"
                | "apply"
                | "am"
                | "merge"
                | "rebase"
                | "pull"
                | "revert"
                | "cherry-pick"
                | "clean"
                | "rm"
                | "mv"
        )
    })
}

/// A formatter or linter that writes.
fn formats(words: &[Word]) -> bool {
    let has = |flag: &str| words.iter().any(|word| word.text == flag);
    match base_name(words.first().map_or("", |word| word.text.as_str())) {
        "cargo" => has("fmt") && !has("--check") || has("clippy") && has("--fix"),
        "rustfmt" | "black" => !has("--check") && !has("--diff"),
        "gofmt" => has("-w"),
        "prettier" => has("--write") || has("-w"),
        "ruff" => has("--fix") || has("format") && !has("--check"),
        _ => has("--fix"),
    }
}
