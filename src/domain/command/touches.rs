//! Commands that may change the files under test.
//!
//! A test run says nothing about files that changed after it. File tools report their edits; a shell
//! does not, so the usual ways of changing files in a shell are known here: `sed -i`, `git checkout`,
//! `git stash`, `patch`, formatters that write, files moved, removed or written by `>`. A list, not a
//! proof: a command that is not on it may still change files. Logs and temporary files do not count.

use super::jobs::{self, base_name};
use super::lexer::{self, Word};
use super::parser::{self, Part, Script};
use super::wrappers::{self, Inner};
use super::{CommandText, MAX_DEPTH};

/// True when `command` is known to change files of a work tree.
pub fn may_change_files(command: &CommandText) -> bool {
    match command {
        CommandText::Line(line) => line_changes(line, 0),
        CommandText::Argv(words) => {
            let words: Vec<_> = words.iter().map(|word| Word::literal(word)).collect();
            changes(&words, false, 0)
        }
    }
}

fn line_changes(line: &str, depth: usize) -> bool {
    let lexed = lexer::lex(line);
    lexed.writes.iter().any(in_work_tree) || any_part(&parser::parse(&lexed), lexed.fed, depth)
}

fn any_part(script: &Script, fed: bool, depth: usize) -> bool {
    let mut parts = script.items.iter().flat_map(|(pipeline, _)| &pipeline.parts);
    parts.any(|part| match part {
        Part::Simple(words) => changes(words, fed, depth),
        Part::Group(group) => any_part(group, fed, depth),
    })
}

/// Wrappers around wrappers that are taken off.
const MAX_WRAPPERS: usize = 12;

fn changes(words: &[Word], fed: bool, depth: usize) -> bool {
    let mut words = words;
    for _ in 0..MAX_WRAPPERS {
        let assigned = words.iter().take_while(|word| jobs::is_assignment(word)).count();
        words = words.get(assigned..).unwrap_or_default();
        if program_changes(words, fed) {
            return true;
        }
        match wrappers::unwrap(words) {
            Inner::Words(inner) if inner.len() < words.len() => words = inner,
            Inner::Script { text, .. } => {
                return depth < MAX_DEPTH && line_changes(&text, depth + 1);
            }
            _ => match handed_on(words) {
                Some(inner) => words = inner,
                None => return false,
            },
        }
    }
    false
}

/// The command that `xargs` or `find -exec` runs.
fn handed_on(words: &[Word]) -> Option<&[Word]> {
    let (first, rest) = words.split_first()?;
    match base_name(&first.text) {
        "xargs" => {
            let mut at = 0;
            while let Some(option) = rest.get(at).filter(|word| word.text.starts_with('-')) {
                let valued =
                    matches!(option.text.as_str(), "-n" | "-I" | "-P" | "-L" | "-d" | "-s");
                at += if valued { 2 } else { 1 };
            }
            rest.get(at..)
        }
        "find" | "fd" => {
            let hands = |word: &Word| {
                matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-x" | "-X" | "--exec")
            };
            rest.get(rest.iter().position(hands)? + 1..)
        }
        "then" | "do" | "else" => Some(rest),
        _ => None,
    }
}

/// What one program does, without wrappers.
fn program_changes(words: &[Word], fed: bool) -> bool {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let any = |flags: &[&str]| words.iter().any(|word| flags.contains(&word.text.as_str()));
    let plain = || words.iter().skip(1).filter(|word| !word.text.starts_with('-'));
    match base_name(text(0)) {
        "sed" | "perl" | "yapf" | "autopep8" | "clang-format" | "gawk" | "awk" => {
            edits_in_place(words)
        }
        "git" => git_changes(words),
        "patch" => !any(&["--dry-run"]),
        "apply_patch" | "applypatch" | "unzip" | "ln" => true,
        "mv" | "rm" | "tee" | "truncate" | "shred" => plain().any(in_work_tree),
        "cp" | "rsync" | "install" => plain().next_back().is_some_and(in_work_tree),
        "find" => any(&["-delete"]),
        "cargo" => {
            matches!(text(1), "fix" | "add" | "remove" | "update" | "init" | "new")
                || formats(words)
        }
        "go" => matches!(text(1), "fmt" | "get" | "generate" | "fix") || any(&["tidy"]),
        "npm" | "pnpm" | "yarn" | "bun" => {
            matches!(text(1), "install" | "i" | "add" | "remove" | "uninstall" | "update")
                || named_formatter(words)
        }
        "make" | "just" | "task" | "mise" => named_formatter(words),
        "python" | "python3" | "node" | "ruby" => script_writes(words, fed),
        _ => formats(words),
    }
}

fn edits_in_place(words: &[Word]) -> bool {
    words.iter().skip(1).any(|word| {
        let letters = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        word.text.starts_with("--in-place")
            || letters.is_some_and(|letters| {
                // `-i`, `-pi`, `-ni`, `-i.bak`; not the script of `-e`.
                let cluster = letters.split('.').next().unwrap_or_default();
                cluster.len() <= 4 && cluster.contains('i') && !cluster.starts_with('e')
            })
    })
}

fn git_changes(words: &[Word]) -> bool {
    let mut at = 1;
    while let Some(option) = words.get(at).filter(|word| word.text.starts_with('-')) {
        at += if matches!(option.text.as_str(), "-C" | "-c") { 2 } else { 1 };
    }
    let Some(command) = words.get(at) else { return false };
    let rest = words.get(at + 1..).unwrap_or_default();
    let has = |flags: &[&str]| rest.iter().any(|word| flags.contains(&word.text.as_str()));
    match command.text.as_str() {
        // A new branch keeps the files.
        "checkout" | "switch" => !(has(&["-b", "-c", "--create"]) && rest.len() == 2),
        "restore" => !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]),
        "reset" => has(&["--hard", "--merge", "--keep"]),
        "stash" => !rest.first().is_some_and(|word| matches!(word.text.as_str(), "list" | "show")),
        "apply" => !has(&["--check", "--stat"]),
        "rm" => !has(&["--cached"]),
        "clean" => !has(&["-n", "--dry-run"]),
        "am" | "merge" | "rebase" | "pull" | "revert" | "cherry-pick" | "mv" => true,
        _ => false,
    }
}

/// A formatter or linter that writes.
fn formats(words: &[Word]) -> bool {
    let has = |flag: &str| words.iter().any(|word| word.text == flag);
    let reads = has("--check") || has("--diff") || has("--dry-run") || has("--version");
    match base_name(words.first().map_or("", |word| word.text.as_str())) {
        "cargo" => has("fmt") && !reads || has("clippy") && has("--fix"),
        "rustfmt" | "black" | "isort" | "stylua" => !reads,
        "gofmt" | "goimports" | "shfmt" => has("-w"),
        "prettier" | "biome" => has("--write") || has("-w"),
        "ruff" => has("--fix") || has("format") && !reads,
        "rubocop" => has("-a") || has("-A") || has("--autocorrect"),
        "dotnet" | "mix" | "dprint" | "terraform" => (has("format") || has("fmt")) && !reads,
        _ => has("--fix"),
    }
}

/// `make fmt`, `npm run lint:fix`: a script whose name says that it writes.
fn named_formatter(words: &[Word]) -> bool {
    words.iter().skip(1).any(|word| {
        let mut parts = word.text.split([':', '-', '_']);
        let checks = word.text.ends_with("check");
        !checks
            && parts.any(|part| matches!(part, "fmt" | "format" | "fix" | "generate" | "codegen"))
    })
}

/// An interpreter that is handed a script: by a here-document, or one that writes.
fn script_writes(words: &[Word], fed: bool) -> bool {
    let by_input = words.len() == 1 || words.get(1).is_some_and(|word| word.text == "-");
    if by_input {
        return fed;
    }
    let inline = words.windows(2).find(
        |pair| matches!(pair, [flag, _] if matches!(flag.text.as_str(), "-c" | "-e" | "--eval")),
    );
    inline.and_then(|pair| pair.get(1)).is_some_and(|script| {
        ["write", "'w'", "\"w\"", "unlink", "rename", "remove("]
            .iter()
            .any(|sign| script.text.contains(sign))
    })
}

/// False for devices, temporary files and logs.
fn in_work_tree(target: &Word) -> bool {
    let path = target.text.as_str();
    let elsewhere = ["/dev/", "/tmp/", "/var/tmp/", "/private/tmp/"];
    let name = base_name(path);
    let log = [".log", ".out", ".txt", ".err", ".tmp"].iter().any(|end| name.ends_with(end))
        || matches!(name, "log" | "out" | "output" | "err");
    !path.is_empty() && !log && !elsewhere.iter().any(|place| path.starts_with(place))
}
