//! The grammar of deeds: a file was created, a change was committed, a pull request was opened.
//!
//! Two shapes are accepted: the agent as the silent or spoken subject ("I created `a.rs`",
//! "Committed as `abc1234`"), and the passive with the thing first ("The changes were pushed to
//! origin"). The verb stands in the past; the thing follows at once or after words that only
//! describe it. A match has to survive its context, like a claim about tests.

use super::context::{taken_back_after, taken_back_before};
use super::lexicon::FUNCTION_WORDS;
use super::names::Spelled;
use super::object::Object;
use super::subject::Sentence;
use super::tokens::Kind;
use super::{Polarity, Subject};

/// Who else may have done it, and pronouns that may stand for them.
const OTHERS: &[&str] = &[
    "you",
    "they",
    "he",
    "she",
    "user",
    "agent",
    "agents",
    "subagent",
    "sub-agent",
    "colleague",
    "team",
    "bot",
    "someone",
    "somebody",
    "it",
    "which",
    "that",
    "who",
    "this",
    "script",
    "tool",
    "hook",
    "ci",
    "last",
    "was",
    "were",
    "originally",
    "teammate",
    "maintainer",
    "author",
    "already-existing",
    "pipeline",
    "nobody",
    "nothing",
    "no",
    "not",
    "never",
    "failed",
    "fails",
];
/// Words between the agent and its verb.
const AUXILIARIES: &[&str] =
    &["have", "also", "then", "just", "successfully", "now", "already", "finally", "both", "first"];
/// Labels that may stand before a deed and a colon.
const OWN_LABELS: &[&str] = &[
    "done", "summary", "update", "status", "changes", "change", "result", "results", "files",
    "file", "git", "also", "finally", "and", "now", "what", "changed", "i", "commit", "docs",
    "tests", "code", "fix", "feature", "finished", "complete",
];
/// Words that describe a file before its name.
const FILE_WORDS: &[&str] = &[
    "the",
    "a",
    "an",
    "new",
    "file",
    "files",
    "module",
    "script",
    "both",
    "test",
    "tests",
    "my",
    "config",
    "configuration",
    "helper",
    "component",
    "following",
    "called",
    "named",
    "at",
    "old",
    "page",
    "document",
    "fixture",
    "migration",
    "workflow",
    "empty",
    "existing",
    "unused",
    "obsolete",
    "package",
    "source",
    "our",
    "entire",
    "temporary",
    "legacy",
    "small",
    "integration",
];
/// Tokens between a verb and "in" with its file.
const MAX_DETOUR: usize = 10;
/// Tokens after a verb that may name a commit, a branch or a package.
const MAX_REACH: usize = 16;

/// A deed that a sentence claims.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Deed {
    pub subject: Subject,
    pub object: Object,
    start: usize,
    end: usize,
}

/// The deeds that one sentence claims, one of each subject, in the order of the sentence.
pub(super) fn read(spelled: Spelled<'_, '_>) -> Vec<Deed> {
    let mut deeds: Vec<Deed> = Vec::new();
    for at in 0..spelled.sentence.len() {
        let Some(deed) = deed_at(spelled, at) else { continue };
        if taken_back_before(spelled.sentence, deed.start)
            || taken_back_after(spelled.sentence, deed.end, Polarity::Passes)
        {
            continue;
        }
        match deeds.iter_mut().find(|known| known.subject == deed.subject) {
            Some(known) => known.object.paths.extend(deed.object.paths),
            None => deeds.push(deed),
        }
    }
    deeds
}

fn deed_at(spelled: Spelled<'_, '_>, at: usize) -> Option<Deed> {
    let verb = spelled.sentence.word(at);
    if !verb.ends_with("ed") && !matches!(verb, "wrote" | "rewrote" | "made" | "written") {
        return None;
    }
    if by_the_agent(spelled.sentence, at) {
        return active(spelled, at, verb);
    }
    passive(spelled, at, verb)
}

/// Whether the verb's subject is the agent, spoken or silent.
fn by_the_agent(sentence: Sentence<'_, '_>, verb: usize) -> bool {
    let mut from = verb;
    while from > 0 && AUXILIARIES.contains(&sentence.word_before(from)) {
        from -= 1;
    }
    let others = (0..from).any(|at| OTHERS.contains(&sentence.word(at)));
    let before = from.checked_sub(1);
    let fits = match before.and_then(|at| sentence.kind(at)) {
        None | Some(Kind::Comma | Kind::Semicolon | Kind::Dash | Kind::Check) => true,
        Some(Kind::Colon) => (0..from).all(|at| {
            let word = sentence.word(at);
            word.is_empty() || OWN_LABELS.contains(&word)
        }),
        Some(Kind::Word(word)) => matches!(word.as_str(), "i" | "we" | "and"),
        _ => false,
    };
    fits && !others
}

fn active(spelled: Spelled<'_, '_>, at: usize, verb: &str) -> Option<Deed> {
    let end = spelled.sentence.len();
    let reach = end.min(at + MAX_REACH);
    let deed = |subject, object, end| Some(Deed { subject, object, start: at, end });
    if matches!(verb, "opened" | "created" | "submitted" | "raised" | "filed")
        && let Some(noun) = pull_request_noun(spelled.sentence, at + 1)
    {
        let pull_request = spelled.pull_request();
        return deed(Subject::PullRequest, Object { pull_request, ..Object::default() }, noun);
    }
    if matches!(verb, "added" | "installed")
        && let Some((object, end)) = dependency(spelled, at + 1)
    {
        return deed(Subject::DependencyAdded, object, end);
    }
    let commits = verb == "committed" && commits_what(spelled, at + 1)
        || matches!(verb, "created" | "made") && makes_commit(spelled.sentence, at + 1);
    if commits {
        return deed(Subject::GitCommit, spelled.repository(at + 1, reach), at + 1);
    }
    if verb == "pushed" && pushes_what(spelled, at + 1) {
        return deed(Subject::GitPush, spelled.repository(at + 1, reach), at + 1);
    }
    files(spelled, at, verb)
}

/// The token after "a draft pull request".
fn pull_request_noun(sentence: Sentence<'_, '_>, from: usize) -> Option<usize> {
    let mut at = from;
    while matches!(sentence.word(at), "a" | "the" | "new" | "draft" | "another" | "this") {
        at += 1;
    }
    match sentence.word(at) {
        "pr" | "mr" => Some(at + 1),
        "pull" | "merge" if sentence.word(at + 1) == "request" => Some(at + 2),
        _ => None,
    }
}

/// "`serde` 1.0 as a dependency", "the `serde` dependency", "`serde` to `Cargo.toml`".
fn dependency(spelled: Spelled<'_, '_>, from: usize) -> Option<(Object, usize)> {
    let sentence = spelled.sentence;
    let is_noun = |at: usize| {
        matches!(
            sentence.word(at),
            "dependency"
                | "dependencies"
                | "dev-dependency"
                | "dev-dependencies"
                | "devdependencies"
        ) || matches!(sentence.word(at), "package" | "crate")
    };
    let mut at = from;
    let mut named_first = false;
    while matches!(sentence.word(at), "the" | "a" | "new" | "dev" | "npm" | "runtime")
        || is_noun(at)
    {
        named_first |= is_noun(at);
        at += 1;
    }
    let code = matches!(sentence.kind(at), Some(Kind::Code(_)));
    if spelled.path(at).is_some() || !code && FUNCTION_WORDS.contains(&sentence.word(at)) {
        return None;
    }
    let (package, version) = spelled.package(at)?;
    let ahead = at + 1..at + 7;
    let as_one = ahead.clone().any(|next| {
        is_noun(next)
            && (next == at + 1 || (at + 1..next).any(|to| matches!(sentence.word(to), "as" | "to")))
    });
    let manifest = ahead.clone().any(|next| {
        matches!(sentence.word(next), "to" | "in")
            && (next + 1..next + 3).any(|n| is_manifest(spelled, n))
    });
    let sure = as_one || manifest || named_first && code;
    let object = Object { package: Some(package), version, ..Object::default() };
    sure.then_some((object, at + 1))
}

fn is_manifest(spelled: Spelled<'_, '_>, at: usize) -> bool {
    let last = spelled.path(at).and_then(|path| path.rsplit('/').next());
    matches!(
        last,
        Some(
            "Cargo.toml"
                | "package.json"
                | "pyproject.toml"
                | "requirements.txt"
                | "go.mod"
                | "Gemfile"
        )
    )
}

/// Whether "committed" speaks of a repository: "committed to quality" does not.
fn commits_what(spelled: Spelled<'_, '_>, at: usize) -> bool {
    let word = spelled.sentence.word(at);
    match spelled.sentence.kind(at) {
        None | Some(Kind::Comma | Kind::Stop { .. } | Kind::Code(_) | Kind::Open | Kind::Colon) => {
            true
        }
        _ if word == "to" || word == "on" => {
            let next =
                at + 1 + usize::from(matches!(spelled.sentence.word(at + 1), "the" | "branch"));
            spelled.branch(next).is_some() || spelled.sentence.word(next) == "branch"
        }
        _ => {
            matches!(
                word,
                "the"
                    | "all"
                    | "my"
                    | "these"
                    | "everything"
                    | "it"
                    | "as"
                    | "changes"
                    | "and"
                    | "both"
                    | "this"
                    | "them"
                    | "with"
                    | "that"
                    | "locally"
                    | "your"
                    | "in"
            ) || spelled.commit(at).is_some()
        }
    }
}

fn makes_commit(sentence: Sentence<'_, '_>, from: usize) -> bool {
    let determined = matches!(sentence.word(from), "a" | "the" | "one" | "single" | "commit");
    let noun = if sentence.word(from) == "commit" { from } else { from + 1 };
    let named =
        matches!(sentence.word(noun + 1), "message" | "hook" | "template" | "history" | "log");
    determined && sentence.word(noun) == "commit" && !named
}

fn pushes_what(spelled: Spelled<'_, '_>, at: usize) -> bool {
    let word = spelled.sentence.word(at);
    match spelled.sentence.kind(at) {
        None | Some(Kind::Comma | Kind::Stop { .. } | Kind::Code(_) | Kind::Open) => true,
        _ if matches!(word, "the" | "my" | "all" | "this") => (at + 1..at + 4).any(|next| {
            matches!(
                spelled.sentence.word(next),
                "branch"
                    | "commit"
                    | "commits"
                    | "changes"
                    | "change"
                    | "fix"
                    | "tag"
                    | "tags"
                    | "work"
            )
        }),
        _ if word == "to" => {
            let next = at + 1 + usize::from(spelled.sentence.word(at + 1) == "the");
            spelled.branch(next).is_some()
                || matches!(
                    spelled.sentence.word(next),
                    "origin" | "remote" | "branch" | "fork" | "github"
                )
        }
        _ => matches!(word, "everything" | "it" | "both" | "and" | "them" | "changes"),
    }
}

fn file_subject(verb: &str) -> Option<Subject> {
    Some(match verb {
        "created" | "added" => Subject::FileCreated,
        "updated" | "modified" | "edited" | "changed" | "wrote" | "written" | "rewrote"
        | "refactored" | "patched" | "fixed" => Subject::FileWritten,
        "deleted" | "removed" => Subject::FileDeleted,
        _ => return None,
    })
}

/// "Created `a.rs` and `b.rs`"; "Fixed the rounding in `src/price.rs`" writes that file.
fn files(spelled: Spelled<'_, '_>, verb_at: usize, verb: &str) -> Option<Deed> {
    let sentence = spelled.sentence;
    let subject = file_subject(verb)?;
    let mut at = verb_at + 1;
    while FILE_WORDS.contains(&sentence.word(at)) && spelled.path(at).is_none() {
        at += 1;
    }
    let (paths, end) = path_list(spelled, at);
    if !paths.is_empty() {
        // "removed `a.rs` from the list", "added `a.rs` to the index": another thing is done.
        let moved = matches!(
            sentence.word(end),
            "from"
                | "to"
                | "in"
                | "into"
                | "as"
                | "'s"
                | "reference"
                | "references"
                | "entry"
                | "import"
                | "imports"
                | "support"
        );
        let direct = !(moved && subject != Subject::FileWritten) && verb != "fixed";
        let object = Object { paths, ..Object::default() };
        return direct.then_some(Deed { subject, object, start: verb_at, end });
    }
    if !matches!(verb, "added" | "updated" | "modified" | "changed" | "fixed" | "edited") {
        return None;
    }
    let into = (at..verb_at + MAX_DETOUR).take_while(|next| !clause_ends(sentence, *next)).find(
        |next| matches!(sentence.word(*next), "in" | "to") && spelled.path(next + 1).is_some(),
    )?;
    let (paths, end) = path_list(spelled, into + 1);
    let object = Object { paths, ..Object::default() };
    Some(Deed { subject: Subject::FileWritten, object, start: verb_at, end })
}

fn clause_ends(sentence: Sentence<'_, '_>, at: usize) -> bool {
    match sentence.kind(at) {
        Some(Kind::Word(word)) => {
            matches!(word.as_str(), "and" | "but" | "so" | "which" | "that" | "for")
        }
        Some(Kind::Code(_) | Kind::Number(_)) => false,
        _ => true,
    }
}

/// Files joined by commas and "and", from `from`, and the token after them.
fn path_list(spelled: Spelled<'_, '_>, from: usize) -> (Vec<String>, usize) {
    let (mut paths, mut end) = (Vec::new(), from);
    let mut at = from;
    while let Some(path) = spelled.path(at) {
        paths.push(path.to_owned());
        end = at + 1;
        at = end;
        while spelled.sentence.kind(at) == Some(&Kind::Comma) || spelled.sentence.word(at) == "and"
        {
            at += 1;
        }
    }
    (paths, end)
}

/// The thing first: "`a.rs` was created", "The changes have been committed as `abc1234`".
fn passive(spelled: Spelled<'_, '_>, verb_at: usize, verb: &str) -> Option<Deed> {
    let sentence = spelled.sentence;
    let mut at = verb_at;
    let mut auxiliary = false;
    while let Some(before) = at.checked_sub(1) {
        let word = sentence.word(before);
        let linked = matches!(word, "was" | "were" | "been")
            || matches!(word, "is" | "are") && (verb == "committed" || verb == "pushed");
        auxiliary |= linked;
        if !(linked
            || matches!(
                word,
                "has"
                    | "have"
                    | "now"
                    | "also"
                    | "all"
                    | "successfully"
                    | "both"
                    | "and"
                    | "committed"
            ))
        {
            break;
        }
        at = before;
    }
    let after = sentence.word(verb_at + 1);
    let foreign = matches!(after, "by" | "at" | "during" | "when" | "from");
    let others = (0..at).any(|at| OTHERS.contains(&sentence.word(at)));
    if foreign || others || at == 0 {
        return None;
    }
    let reach = sentence.len().min(verb_at + MAX_REACH);
    let thing = sentence.word(at - 1);
    let work = matches!(
        thing,
        "changes" | "everything" | "work" | "fix" | "all" | "commit" | "commits" | "branch"
    );
    let start = at - 1;
    let deed = |subject, object| Some(Deed { subject, object, start, end: verb_at + 1 });
    match verb {
        "committed" if work && commits_what(spelled, verb_at + 1) => {
            deed(Subject::GitCommit, spelled.repository(verb_at + 1, reach))
        }
        "pushed" if work && pushes_what(spelled, verb_at + 1) => {
            deed(Subject::GitPush, spelled.repository(verb_at + 1, reach))
        }
        "opened" | "created" if is_pull_request(sentence, at) => {
            let pull_request = spelled.pull_request();
            deed(Subject::PullRequest, Object { pull_request, ..Object::default() })
        }
        _ if auxiliary => {
            let path = spelled.path(at - 1)?.to_owned();
            deed(file_subject(verb)?, Object { paths: vec![path], ..Object::default() })
        }
        _ => None,
    }
}

/// Whether a pull request is named right before `end`.
fn is_pull_request(sentence: Sentence<'_, '_>, end: usize) -> bool {
    (0..4).filter_map(|back| end.checked_sub(back + 1)).any(|at| {
        matches!(sentence.word(at), "pr" | "mr" | "request")
            && (at + 1..end).all(|next| sentence.number(next).is_some())
    })
}
