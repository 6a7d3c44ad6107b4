//! The grammar of checks other than tests: builds, linters, type checkers, formatters, commands.
//!
//! Subject and predicate ("the build passes", "clippy is clean", "`make docs` succeeded"), lists
//! that share one predicate ("clippy and fmt are green"), counts of nothing ("no type errors"), and
//! commands that were run ("I ran `cargo doc`"). A claim that a command worked, or what came of a
//! check, says more than that it was run, so the weaker one is left out.

use super::context::{taken_back_after, taken_back_before};
use super::lexicon::{ELSEWHERE, NEUTRAL, NOTHING_BAD, WHOLE};
use super::names::Spelled;
use super::object::Object;
use super::subject::{Sentence, ends_phrase};
use super::test_result::predicate;
use super::tokens::Kind;
use super::{Polarity, Scope, Subject};
use crate::domain::command::{CommandText, test_runs};

/// What a sentence claims of one check.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Check {
    pub subject: Subject,
    pub polarity: Polarity,
    pub scope: Scope,
    pub object: Object,
}

struct Noun {
    subject: Subject,
    start: usize,
    end: usize,
    command: Option<String>,
}

/// Tokens between a check and the predicate of its list.
const MAX_LIST: usize = 14;

/// The checks that one sentence claims, one of each subject.
pub(super) fn read(spelled: Spelled<'_, '_>) -> Vec<Check> {
    let sentence = spelled.sentence;
    let mut checks: Vec<Check> = Vec::new();
    for at in 0..sentence.len() {
        let found = stated(spelled, at).or_else(|| none_found(sentence, at));
        let Some((start, end, check)) = found else { continue };
        let withdrawn =
            taken_back_before(sentence, start) || taken_back_after(sentence, end, check.polarity);
        if !withdrawn && checks.iter().all(|known| known.subject != check.subject) {
            checks.push(check);
        }
    }
    let executed = (0..sentence.len()).find_map(|at| executed(spelled, at));
    checks.extend(executed.filter(|_| checks.is_empty()));
    checks
}

type Found = (usize, usize, Check);

fn stated(spelled: Spelled<'_, '_>, at: usize) -> Option<Found> {
    let sentence = spelled.sentence;
    let noun = noun_at(spelled, at)?;
    let (polarity, end) = verdict(sentence, &noun)?;
    let elsewhere = matches!(sentence.word(end), "on" | "in" | "under")
        && (end + 1..end + 4).any(|next| ELSEWHERE.contains(&sentence.word(next)));
    if elsewhere {
        return None;
    }
    let (start, scope) = scope(sentence, &noun);
    let object = Object { command: noun.command, ..Object::default() };
    Some((start, end, Check { subject: noun.subject, polarity, scope, object }))
}

fn noun_at(spelled: Spelled<'_, '_>, at: usize) -> Option<Noun> {
    let sentence = spelled.sentence;
    if let Some(Kind::Code(code)) = sentence.kind(at) {
        let subject = subject_of_command(code)?;
        let command = Some((*code).to_owned());
        return Some(Noun { subject, start: at, end: at + 1, command });
    }
    let next = sentence.word(at + 1);
    let checked = matches!(next, "check" | "checks" | "checking" | "checker");
    let noun =
        |subject, words: usize| Some(Noun { subject, start: at, end: at + words, command: None });
    match sentence.word(at) {
        "build" | "compilation" if !checked => noun(Subject::BuildResult, 1),
        "clippy" | "eslint" | "lint" | "linter" | "linters" | "linting" | "ruff" | "flake8"
        | "pylint" | "golangci-lint" | "rubocop" | "shellcheck" => {
            noun(Subject::LintResult, 1 + usize::from(checked))
        }
        "tsc" | "mypy" | "pyright" | "typecheck" | "type-check" | "typechecking"
        | "type-checking" | "typechecks" => noun(Subject::TypeCheckResult, 1),
        "type" if checked => noun(Subject::TypeCheckResult, 2),
        "fmt" | "rustfmt" | "gofmt" | "prettier" | "formatting" | "formatter" => {
            noun(Subject::FormatResult, 1 + usize::from(checked))
        }
        "format" if checked => noun(Subject::FormatResult, 2),
        "cargo" if matches!(next, "build" | "check") => noun(Subject::BuildResult, 2),
        _ => None,
    }
}

/// What a command in back-ticks is a check of; test runs are claims about tests.
fn subject_of_command(code: &str) -> Option<Subject> {
    if !test_runs(&CommandText::Line(code.to_owned())).is_empty() {
        return None;
    }
    let words: Vec<&str> = code.split_whitespace().collect();
    let first = words.first().copied().unwrap_or_default();
    let any = |set: &[&str]| words.iter().any(|word| set.contains(word));
    let subject = match first {
        _ if any(&[
            "clippy",
            "eslint",
            "ruff",
            "flake8",
            "pylint",
            "golangci-lint",
            "lint",
            "vet",
        ]) =>
        {
            Subject::LintResult
        }
        _ if any(&["tsc", "mypy", "pyright", "typecheck", "type-check"]) => {
            Subject::TypeCheckResult
        }
        _ if any(&["fmt", "rustfmt", "gofmt", "prettier", "format"]) => Subject::FormatResult,
        "cargo" if any(&["build", "check", "b"]) => Subject::BuildResult,
        "go" | "npm" | "pnpm" | "yarn" | "bun" | "make" | "gradle" | "./gradlew" | "dotnet"
        | "swift" | "bazel" | "docker" | "next" | "vite"
            if any(&["build", "compile"]) =>
        {
            Subject::BuildResult
        }
        _ if is_command(code) => Subject::CommandSucceeded,
        _ => return None,
    };
    Some(subject)
}

/// Programs whose bare name is a command.
const PROGRAMS: &[&str] = &[
    "cargo",
    "npm",
    "npx",
    "pnpm",
    "yarn",
    "bun",
    "go",
    "git",
    "make",
    "just",
    "docker",
    "python",
    "python3",
    "node",
    "deno",
    "uv",
    "poetry",
    "pip",
    "terraform",
    "kubectl",
    "helm",
    "bash",
    "sh",
    "gradle",
    "./gradlew",
    "mvn",
    "dotnet",
    "rake",
    "bundle",
    "mix",
    "swift",
    "bazel",
    "cmake",
    "ninja",
    "alembic",
    "prisma",
    "curl",
    "sqlx",
    "diesel",
    "tox",
    "nox",
    "pre-commit",
    "task",
];

fn is_command(code: &str) -> bool {
    let mut words = code.split_whitespace();
    let first = words.next().unwrap_or_default();
    let script = first.starts_with("./") && !first.contains(['(', ')']);
    (PROGRAMS.contains(&first) && words.next().is_some())
        || script
        || matches!(code, "make" | "just" | "pre-commit")
}

/// What is said of the check, and the token after it.
fn verdict(sentence: Sentence<'_, '_>, noun: &Noun) -> Option<(Polarity, usize)> {
    let mut at = noun.end;
    if matches!(sentence.kind(at), Some(Kind::Colon | Kind::Dash)) {
        at += 1;
    }
    for next in at..at + MAX_LIST {
        if let Some(found) = said(sentence, next) {
            return Some(found);
        }
        let lists = sentence.kind(next) == Some(&Kind::Comma)
            || matches!(sentence.kind(next), Some(Kind::Code(_)) if next > at)
            || next > at
                && matches!(
                    sentence.word(next),
                    "the"
                        | "all"
                        | "clippy"
                        | "fmt"
                        | "lint"
                        | "build"
                        | "tests"
                        | "test"
                        | "suite"
                        | "formatting"
                        | "type"
                        | "check"
                        | "checks"
                        | "typecheck"
                        | "linting"
                        | "both"
                        | "cargo"
                        | "tsc"
                        | "mypy"
                        | "ruff"
                        | "eslint"
                        | "prettier"
                        | "checking"
                        | "linter"
                )
            || sentence.word(next) == "and";
        if !lists {
            return None;
        }
    }
    None
}

fn said(sentence: Sentence<'_, '_>, at: usize) -> Option<(Polarity, usize)> {
    if let Some(found) = predicate(sentence, at) {
        return Some((found.polarity, found.end));
    }
    let mut verb = at;
    while matches!(
        sentence.word(verb),
        "is" | "are"
            | "now"
            | "also"
            | "all"
            | "comes"
            | "came"
            | "back"
            | "both"
            | "'s"
            | "still"
            | "ran"
            | "runs"
            | "completes"
            | "completed"
            | "finishes"
            | "finished"
            | "exits"
            | "exited"
    ) {
        verb += 1;
    }
    let next = sentence.word(verb + 1);
    let moved = verb > at;
    match sentence.word(verb) {
        "clean" | "cleanly" | "happy"
            if moved || sentence.kind(verb + 1).is_none_or(|k| !matches!(k, Kind::Word(_))) =>
        {
            Some((Polarity::Passes, verb + 1))
        }
        "successfully" if moved => Some((Polarity::Passes, verb + 1)),
        "without" | "with" if moved && no_faults(sentence, verb + 1) => {
            Some((Polarity::Passes, verb + 3))
        }
        "with" | "code" if moved && sentence.number(verb + 1) == Some(0) => {
            Some((Polarity::Passes, verb + 2))
        }
        "with" if next == "code" && sentence.number(verb + 2) == Some(0) => {
            Some((Polarity::Passes, verb + 3))
        }
        "reports" | "reported" | "shows" | "found" | "has" | "gives"
            if no_faults(sentence, verb + 1) =>
        {
            Some((Polarity::Passes, verb + 3))
        }
        _ => None,
    }
}

/// "no errors", "0 warnings", "errors" after "without".
fn no_faults(sentence: Sentence<'_, '_>, at: usize) -> bool {
    let none = matches!(sentence.word(at), "no" | "zero") || sentence.number(at) == Some(0);
    let fault = |at: usize| NOTHING_BAD.contains(&sentence.word(at)) || is_fault(sentence.word(at));
    none && (fault(at + 1) || fault(at + 2)) || sentence.word_before(at) == "without" && fault(at)
}

fn is_fault(word: &str) -> bool {
    matches!(
        word,
        "error"
            | "errors"
            | "warning"
            | "warnings"
            | "issues"
            | "problems"
            | "complaints"
            | "findings"
    )
}

/// "No type errors", "zero clippy warnings", and "the project builds cleanly".
fn none_found(sentence: Sentence<'_, '_>, at: usize) -> Option<Found> {
    let check = |subject| Check {
        subject,
        polarity: Polarity::Passes,
        scope: Scope::Full,
        object: Object::default(),
    };
    let none = sentence.word(at) == "no" && at == 0 || sentence.number(at) == Some(0);
    if none && is_fault(sentence.word(at + 2)) {
        let subject = match sentence.word(at + 1) {
            "type" | "typescript" | "mypy" | "tsc" => Subject::TypeCheckResult,
            "clippy" | "lint" | "eslint" | "linter" | "ruff" => Subject::LintResult,
            "build" | "compiler" | "compile" | "compilation" => Subject::BuildResult,
            _ => return None,
        };
        return Some((at, at + 3, check(subject)));
    }
    let whole = matches!(
        sentence.word(at),
        "project" | "code" | "crate" | "workspace" | "everything" | "app" | "codebase"
    );
    let verb = at + 1 + usize::from(matches!(sentence.word(at + 1), "now" | "still"));
    let subject = match sentence.word(verb) {
        "builds" | "compiles" => Subject::BuildResult,
        "type-checks" | "typechecks" => Subject::TypeCheckResult,
        _ => return None,
    };
    let ends = match sentence.kind(verb + 1) {
        None | Some(Kind::Stop { .. } | Kind::Comma | Kind::Check) => true,
        Some(Kind::Word(word)) => {
            matches!(word.as_str(), "cleanly" | "successfully" | "fine" | "and" | "again" | "now")
                || word == "without" && no_faults(sentence, verb + 2)
                || word == "with" && no_faults(sentence, verb + 2)
        }
        _ => false,
    };
    let start = at - usize::from(sentence.word_before(at) == "the");
    (whole && ends).then(|| (start, verb + 1, check(subject)))
}

/// Where the noun phrase begins, and what its modifiers leave of the whole.
fn scope(sentence: Sentence<'_, '_>, noun: &Noun) -> (usize, Scope) {
    let (mut start, mut parts) = (noun.start, Vec::new());
    while let Some(before) = start.checked_sub(1) {
        let word = sentence.word(before);
        if WHOLE.contains(&word) {
            return (before, named(parts));
        }
        let code = matches!(sentence.kind(before), Some(Kind::Code(_)));
        let tool = matches!(
            word,
            "cargo"
                | "npm"
                | "typescript"
                | "python"
                | "rust"
                | "code"
                | "type"
                | "lint"
                | "strict"
        );
        if code || word.is_empty() || ends_phrase(word) || parts.len() > 2 {
            break;
        }
        if !NEUTRAL.contains(&word) && !tool {
            parts.insert(0, word.to_owned());
        }
        start = before;
    }
    (start, named(parts))
}

fn named(parts: Vec<String>) -> Scope {
    if parts.is_empty() { Scope::Full } else { Scope::Partial(parts.join(" ")) }
}

/// "I ran `cargo doc`".
fn executed(spelled: Spelled<'_, '_>, at: usize) -> Option<Check> {
    let sentence = spelled.sentence;
    let verb = matches!(sentence.word(at), "ran" | "executed" | "re-ran" | "reran");
    let who = sentence.word_before(at);
    let silent = at == 0 || matches!(who, "i" | "we" | "and" | "also" | "then" | "have");
    let Some(Kind::Code(code)) = sentence.kind(at + 1) else { return None };
    let others = (0..at).any(|at| {
        matches!(
            sentence.word(at),
            "you" | "they" | "user" | "it" | "ci" | "which" | "that" | "agent"
        )
    });
    let command = is_command(code) || subject_of_command(code).is_some();
    if !(verb && silent && command) || others {
        return None;
    }
    if taken_back_before(sentence, at) || taken_back_after(sentence, at + 2, Polarity::Passes) {
        return None;
    }
    let object = Object { command: Some((*code).to_owned()), ..Object::default() };
    let subject = Subject::CommandExecuted;
    Some(Check { subject, polarity: Polarity::Passes, scope: Scope::Full, object })
}
