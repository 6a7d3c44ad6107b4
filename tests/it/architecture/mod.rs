//! The walls of the house: who may import whom, which crate is behind which fence, how long a file
//! may be.
//!
//! `violations` looks at one file, as path and text; a test runs it over the tree, others plant one
//! violation each and expect it to be found. Layer rules and fences hold for shipping code; the
//! rules of spelling and length hold for tests too.

mod source;

use source::{code, is_test_file, without_tests};
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of a file, its tests included.
const LINES_MAX: usize = 600;

/// Each part of the crate and what of the crate it may name.
const IMPORTS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("domain", &["base"]),
    ("ports", &["base", "domain"]),
    ("app", &["base", "domain", "ports"]),
    ("adapters", &["base", "domain", "ports"]),
    ("conformance", &["base", "domain", "ports"]),
    ("cli", &["base", "domain", "ports", "app", "conformance"]),
    ("compose", &["base", "domain", "ports", "app", "adapters", "conformance", "cli"]),
    ("main", &["compose"]),
    ("lib", &[]),
];

/// A path of a crate, and the only places that may name it.
const FENCES: &[(&str, &[&str])] = &[
    ("rusqlite", &["adapters/sqlite/", "adapters/first_fornax/"]),
    ("notify", &["adapters/watch.rs"]),
    ("zstd", &["adapters/files/zst.rs"]),
    ("gix", &["adapters/git/"]),
    ("toml", &["adapters/settings/"]),
    ("clap", &["cli/", "compose.rs", "compose/"]),
    ("anstream", &["cli/"]),
    ("anstyle", &["cli/"]),
    ("indicatif", &["cli/"]),
    ("unicode_width", &["cli/"]),
    ("blake3", &["base/hash.rs"]),
    ("chrono", &["base/time.rs"]),
    ("memchr", &["base/lines.rs"]),
    ("anyhow", &["cli/", "compose.rs", "compose/", "main.rs"]),
    ("Uuid::new_v4", &["base/ids.rs"]),
    ("Uuid::new_v5", &["base/ids.rs"]),
    ("Uuid::new_v7", &["base/ids.rs"]),
    ("Uuid::now_v7", &["base/ids.rs"]),
    ("Uuid::new_v8", &["base/ids.rs"]),
    ("std::env", &["compose.rs", "compose/"]),
    ("SystemTime", &["adapters/system_clock.rs"]),
    ("process::exit", &[]),
    ("process::Command", &["conformance/", "adapters/shell.rs"]),
    ("std::net", &[]),
    ("tokio", &[]),
];

/// Words for a defect that is injected on purpose.
const BREAK_WORDS: [&str; 3] = ["BreakMode", "break_mode", "break_modes"];

/// Words that say that a file is not finished.
const UNFINISHED: [&str; 6] = ["TODO", "FIXME", "XXX", "todo!", "unimplemented!", "dbg!"];

/// Everything that one file does against the rules. `path` is relative to `src`.
fn violations(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    spelling(text, &mut found);
    let shipped = if is_test_file(path) { String::new() } else { without_tests(&code(text)) };
    imports(path, &shipped, &mut found);
    fences(path, &shipped, &mut found);
    let knows_breaks = ["conformance", "compose"].contains(&part(path));
    if !knows_breaks && BREAK_WORDS.iter().any(|word| has_word(&shipped, word)) {
        found.push("names a break mode".to_owned());
    }
    found.into_iter().map(|what| format!("{path}: {what}")).collect()
}

fn spelling(text: &str, found: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > LINES_MAX {
        found.push(format!("{lines} lines, {LINES_MAX} are allowed"));
    }
    if !text.starts_with("//! ") {
        found.push("does not begin with its module doc".to_owned());
    }
    if !text.is_ascii() {
        found.push("is not all ASCII".to_owned());
    }
    for word in UNFINISHED.iter().filter(|word| has_word(text, word)) {
        found.push(format!("holds {word}"));
    }
}

fn imports(path: &str, shipped: &str, found: &mut Vec<String>) {
    let own = part(path);
    let Some((_, allowed)) = IMPORTS.iter().find(|(name, _)| *name == own) else {
        found.push(format!("belongs to no part of the crate that is known ({own})"));
        return;
    };
    for named in named_modules(path, shipped) {
        let first = named[0].as_str();
        if !IMPORTS.iter().any(|(name, _)| *name == first) {
            // A macro at the crate's root; those are domain's.
            if first == "open_tag" && (own == "domain" || allowed.contains(&"domain")) {
                continue;
            }
            found.push(format!("names crate::{first}, which is no part of the crate"));
        } else if first == own {
            if let (Some(mine), Some(other)) = (adapter(path), adapter_of(&named))
                && mine != other
            {
                found.push(format!("names another adapter, {other}"));
            }
        } else if !allowed.contains(&first) {
            found.push(format!("names {first}"));
        }
    }
}

fn fences(path: &str, shipped: &str, found: &mut Vec<String>) {
    for (fenced, places) in FENCES {
        let inside = places.iter().any(|place| match place.strip_suffix('/') {
            Some(_) => path.starts_with(place),
            None => path == *place,
        });
        if !inside && names_path(shipped, fenced) {
            found.push(format!("names {fenced}"));
        }
    }
}

/// The part of the crate that a file belongs to.
fn part(path: &str) -> &str {
    path.split('/').next().unwrap_or(path).trim_end_matches(".rs")
}

/// The module path of a file (`a/b/mod.rs` and `a/b.rs` are `a::b`).
fn module_path(path: &str) -> Vec<String> {
    let stem = path.trim_end_matches(".rs");
    stem.split('/').filter(|step| *step != "mod").map(str::to_owned).collect()
}

/// The adapter that a file belongs to; none for the folders' own lists of modules.
fn adapter(path: &str) -> Option<String> {
    adapter_of(&module_path(path))
}

fn adapter_of(module: &[String]) -> Option<String> {
    let steps: Vec<&str> = module.iter().map(String::as_str).collect();
    match steps.as_slice() {
        ["adapters", "agents", family, ..] => Some(format!("agents/{family}")),
        ["adapters", "agents"] => None,
        ["adapters", one, ..] => Some((*one).to_owned()),
        _ => None,
    }
}

/// Every module of the crate that the code names, by `crate::`, `fornax::` or `super::`.
fn named_modules(path: &str, shipped: &str) -> Vec<Vec<String>> {
    let mut named = Vec::new();
    for root in ["crate", "fornax"] {
        for at in starts_of_path(shipped, root) {
            let rest = &shipped[at + root.len()..];
            named.extend(expand(&[], rest.strip_prefix("::").unwrap_or_default()));
        }
    }
    let own = module_path(path);
    for at in starts_of_path(shipped, "super") {
        let mut rest = &shipped[at..];
        let mut base = own.clone();
        while let Some(next) = rest.strip_prefix("super::") {
            base.pop();
            rest = next;
        }
        named.extend(expand(&base, rest));
    }
    named.retain(|steps| !steps.is_empty());
    named
}

/// The paths that `rest` (an identifier, a path, or a group of them) names below `base`.
fn expand(base: &[String], rest: &str) -> Vec<Vec<String>> {
    let rest = rest.trim_start();
    if let Some(group) = rest.strip_prefix('{') {
        return items(group).into_iter().flat_map(|item| expand(base, item)).collect();
    }
    let word: String =
        rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    if word.is_empty() || word.starts_with(char::is_uppercase) {
        return vec![base.to_vec()];
    }
    let mut steps = base.to_vec();
    steps.push(word.clone());
    match rest[word.len()..].strip_prefix("::") {
        Some(further) if steps.len() < 4 => expand(&steps, further),
        _ => vec![steps],
    }
}

/// The items of a `{...}` group whose `{` is taken off, split at its own commas.
fn items(group: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(&group[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.retain(|item| !item.trim().is_empty());
    found
}

/// Where `root::` begins a path.
fn starts_of_path(code: &str, root: &str) -> Vec<usize> {
    let pattern = format!("{root}::");
    let begins = |at: &usize| {
        let before = code[..*at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
    };
    code.match_indices(&pattern).map(|(at, _)| at).filter(begins).collect()
}

/// Whether code names a path, whole or by the group of a `use`.
fn names_path(code: &str, path: &str) -> bool {
    let crate_itself = !path.contains("::") && path.chars().all(|c| !c.is_uppercase());
    if crate_itself {
        let used = code.lines().any(|line| {
            let line = line.trim_start().trim_start_matches("pub ");
            line.strip_prefix("use ").is_some_and(|rest| has_word_first(rest, path))
        });
        return used || !starts_of_path(code, path).is_empty();
    }
    let Some((root, last)) = path.rsplit_once("::") else { return has_word(code, path) };
    let direct = code.match_indices(path).any(|(at, _)| is_whole(code, at, path.len()));
    let grouped = code.match_indices(&format!("{root}::{{")).any(|(at, opening)| {
        let group = &code[at + opening.len()..];
        items(group).iter().any(|item| has_word_first(item.trim_start(), last))
    });
    direct || grouped
}

fn has_word_first(text: &str, word: &str) -> bool {
    text.starts_with(word) && is_whole(text, 0, word.len())
}

/// Whether a word stands in a text by itself.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| is_whole(text, at, word.len()))
}

fn is_whole(text: &str, at: usize, length: usize) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..at].chars().next_back().is_some_and(of_word);
    let last = text[at..at + length].chars().next_back().is_some_and(of_word);
    let after = last && text[at + length..].chars().next().is_some_and(of_word);
    !before && !after
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_file_of_the_source_keeps_the_rules() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = sources(&src);
    assert!(files.len() > 100, "the walk found only {} files", files.len());
    let found: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let path = file.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
            violations(&path, &fs::read_to_string(file).unwrap())
        })
        .collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn every_file_of_the_tests_keeps_the_rules_of_length_and_spelling() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in sources(&root.join("tests")) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.lines().count() <= LINES_MAX, "{}", file.display());
        assert!(text.starts_with("//! "), "{}", file.display());
        assert!(text.is_ascii(), "{}", file.display());
    }
}

/// One planted violation a row: the file, its code, and what the answer must say.
const PLANTED: &[(&str, &str, &str)] = &[
    ("base/a.rs", "use crate::domain::key::Key;", "names domain"),
    ("domain/a.rs", "use crate::ports::clock::Clock;", "names ports"),
    ("domain/a/b.rs", "fn f() { crate::ports::x() }", "names ports"),
    ("ports/a.rs", "use crate::app::drain;", "names app"),
    ("app/a.rs", "use crate::adapters::files::FsFiles;", "names adapters"),
    ("app/a.rs", "use crate::cli::ui::Ui;", "names cli"),
    ("app/a.rs", "use crate::{base::hash, conformance};", "names conformance"),
    ("app/a.rs", "use super::super::cli;", "names cli"),
    ("app/mod.rs", "use super::cli::ui;", "names cli"),
    ("cli/a.rs", "use crate::adapters::journal;", "names adapters"),
    ("cli/a.rs", "use crate::compose;", "names compose"),
    ("conformance/a.rs", "use crate::app::ingest;", "names app"),
    ("adapters/journal/a.rs", "use crate::adapters::sqlite::SqliteStore;", "another adapter"),
    ("adapters/journal/a.rs", "use crate::adapters::{journal, watch};", "another adapter"),
    ("adapters/journal/a.rs", "use super::super::files::FsFiles;", "another adapter"),
    ("adapters/agents/claude/a.rs", "use super::super::codex::x;", "another adapter"),
    ("adapters/agents/claude/a.rs", "use crate::adapters::agents::codex;", "another adapter"),
    ("adapters/watch.rs", "use super::stdin::Stdin;", "another adapter"),
    ("adapters/files/mod.rs", "use crate::app::ingest;", "names app"),
    ("main.rs", "fn main() { fornax::cli::run() }", "names cli"),
    ("elsewhere/a.rs", "", "no part of the crate"),
    ("base/a.rs", "use crate::surprise;", "no part of the crate"),
    ("app/a.rs", "use rusqlite::Connection;", "names rusqlite"),
    ("adapters/journal/a.rs", "fn f(e: rusqlite::Error) {}", "names rusqlite"),
    ("adapters/files/mod.rs", "use notify::Watcher;", "names notify"),
    ("adapters/files/mod.rs", "use zstd::decode_all;", "names zstd"),
    ("app/a.rs", "use gix::Repository;", "names gix"),
    ("cli/a.rs", "use toml::Table;", "names toml"),
    ("app/a.rs", "use clap::Parser;", "names clap"),
    ("app/a.rs", "use anstream::println;", "names anstream"),
    ("compose.rs", "use indicatif::ProgressBar;", "names indicatif"),
    ("domain/a.rs", "fn f() { blake3::hash(b\"\"); }", "names blake3"),
    ("adapters/system_clock.rs", "use chrono::Utc;", "names chrono"),
    ("base/json.rs", "use memchr::memchr;", "names memchr"),
    ("app/a.rs", "use anyhow::Result;", "names anyhow"),
    ("domain/a.rs", "fn f() { Uuid::new_v5(&N, b\"\"); }", "names Uuid::new_v5"),
    ("app/a.rs", "fn f() { uuid::Uuid::now_v7(); }", "names Uuid::now_v7"),
    ("cli/a.rs", "fn f() { std::env::var(\"HOME\"); }", "names std::env"),
    ("app/a.rs", "use std::{env, fs};", "names std::env"),
    ("app/a.rs", "use std::time::SystemTime;", "names SystemTime"),
    ("cli/a.rs", "fn f() { std::process::exit(1) }", "names process::exit"),
    ("compose.rs", "use std::process::{Command, ExitCode};", "names process::Command"),
    ("cli/a.rs", "use std::process::Command;", "names process::Command"),
    ("app/a.rs", "use std::net::TcpStream;", "names std::net"),
    ("app/a.rs", "fn f(b: BreakMode) {}", "names a break mode"),
    ("cli/a.rs", "mod break_modes;", "names a break mode"),
    ("app/a.rs", "// TODO", "holds TODO"),
    ("app/a.rs", "// FIXME: later", "holds FIXME"),
    ("app/a.rs", "fn f() { todo!() }", "holds todo!"),
    ("app/a.rs", "fn f() { dbg!(1); }", "holds dbg!"),
    ("app/a.rs", "const C: char = '\u{e9}';", "is not all ASCII"),
];

#[test]
fn a_planted_violation_is_found_and_named() {
    for (path, line, expected) in PLANTED {
        let found = violations(path, &format!("//! Doc.\n\n{line}\n"));
        assert!(found.iter().any(|f| f.contains(expected)), "{path}: {line}: {found:?}");
        assert!(found.iter().all(|f| f.starts_with(path)), "{found:?}");
    }
}

#[test]
fn a_file_without_its_doc_or_too_long_is_found() {
    assert_eq!(violations("app/a.rs", "use std::fs;\n").len(), 1);
    let text = format!("//! Doc.\n{}", "\n".repeat(LINES_MAX));
    assert_eq!(violations("app/a.rs", &text), ["app/a.rs: 601 lines, 600 are allowed"]);
}

#[test]
fn what_is_allowed_is_not_found() {
    let allowed = [
        ("base/hash.rs", "use super::text;\nfn f() { blake3::hash(b\"\"); }"),
        ("domain/a.rs", "use super::key::Key;\nuse crate::base::ids;\ncrate::open_tag! {}"),
        ("domain/a.rs", "use uuid::Uuid;\nfn f(u: Uuid) -> Uuid { u }"),
        ("adapters/sqlite/open.rs", "use super::migrate;\nuse rusqlite::Connection;"),
        ("adapters/agents/claude/hook/a.rs", "use super::super::wire::text;"),
        ("compose/hook.rs", "use crate::adapters::stdin::Stdin;\nuse std::env;"),
        ("cli/a.rs", "use crate::{app::drain, ports::store::Store};\nuse anyhow::Result;"),
        ("conformance/a.rs", "use std::process::Command;\nfn f(b: BreakMode) {}"),
        ("main.rs", "fn main() { fornax::compose::main() }"),
        ("app/a.rs", "// crate::cli and rusqlite:: only in words\nconst A: &str = \"anyhow::x\";"),
        ("app/a.rs", "#[cfg(test)]\nmod tests { use crate::adapters::files::FsFiles; }"),
        ("app/a.rs", "/// A `\\uXXXX` escape.\nfn notify(clap: u8) -> u8 { clap }"),
    ];
    for (path, code) in allowed {
        assert_eq!(violations(path, &format!("//! Doc.\n\n{code}\n")), Vec::<String>::new());
    }
}
