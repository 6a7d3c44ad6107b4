//! Claims: the checkable statements in an agent's own words.
//!
//! `extract` reads a message as Markdown, keeps its prose, cuts it into sentences and reads each
//! one by a small documented grammar (`docs/claims.md`). The grammar knows what it accepts: a
//! hedge, a plan, a question, a quotation or a phrase it has no rule for yields nothing, because a
//! claim that nobody made would be judged, and a claim that was missed costs little.
//! English only. Pure, bounded and total: any text is fine, and most text yields no claim.

mod blocks;
mod checks;
mod context;
mod counts;
mod deeds;
#[rustfmt::skip] // Tables of words, packed.
mod lexicon;
mod names;
mod object;
mod subject;
mod test_result;
#[cfg(test)]
mod tests;
mod tokens;
mod voices;

pub use object::Object;

use serde::{Deserialize, Serialize};

/// Text beyond this many bytes is not read for claims.
pub const MAX_INPUT_BYTES: usize = 256 * 1024;
/// A sentence longer than this many characters is never a claim.
pub const MAX_SENTENCE_CHARS: usize = 400;

/// One sentence that claims something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimSentence {
    /// The sentence as written, without surrounding white space or emphasis marks.
    pub text: String,
    /// Where `text` begins in the input, in bytes.
    pub offset: usize,
    /// What the claim is about.
    pub subject: Subject,
    /// Whether success or failure is claimed.
    pub polarity: Polarity,
    /// The numbers that the sentence names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// Whether the claim is about everything or about a named part.
    pub scope: Scope,
    /// What the claim names.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub object: Object,
}

/// What a claim is about. An open tag: an unknown spelling is kept as it came.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Subject {
    /// Tests pass or fail.
    TestResult,
    /// A build succeeds.
    BuildResult,
    /// A linter is content.
    LintResult,
    /// A type checker is content.
    TypeCheckResult,
    /// A formatter has nothing to change.
    FormatResult,
    /// A command was run.
    CommandExecuted,
    /// A command was run and succeeded.
    CommandSucceeded,
    /// A file was created.
    FileCreated,
    /// A file was changed.
    FileWritten,
    /// A file was deleted.
    FileDeleted,
    /// Something was committed.
    GitCommit,
    /// Something was pushed.
    GitPush,
    /// A pull request was opened.
    PullRequest,
    /// A dependency was added.
    DependencyAdded,
    /// A subject that this version has no name for.
    Other(String),
}

const SUBJECTS: [(Subject, &str); 14] = [
    (Subject::TestResult, "test_result"),
    (Subject::BuildResult, "build_result"),
    (Subject::LintResult, "lint_result"),
    (Subject::TypeCheckResult, "type_check_result"),
    (Subject::FormatResult, "format_result"),
    (Subject::CommandExecuted, "command_executed"),
    (Subject::CommandSucceeded, "command_succeeded"),
    (Subject::FileCreated, "file_created"),
    (Subject::FileWritten, "file_written"),
    (Subject::FileDeleted, "file_deleted"),
    (Subject::GitCommit, "git_commit"),
    (Subject::GitPush, "git_push"),
    (Subject::PullRequest, "pull_request"),
    (Subject::DependencyAdded, "dependency_added"),
];

impl Subject {
    /// The tag as it is written in JSON.
    pub fn as_str(&self) -> &str {
        if let Self::Other(tag) = self {
            return tag;
        }
        SUBJECTS.iter().find(|(subject, _)| subject == self).map_or("", |(_, tag)| tag)
    }
}

impl From<String> for Subject {
    fn from(tag: String) -> Self {
        match SUBJECTS.iter().find(|(_, known)| *known == tag) {
            Some((subject, _)) => subject.clone(),
            None => Self::Other(tag),
        }
    }
}

impl From<Subject> for String {
    fn from(subject: Subject) -> Self {
        subject.as_str().to_owned()
    }
}

/// Whether a claim says that the thing works or that it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Polarity {
    /// "All tests pass."
    Passes,
    /// "Two tests fail."
    Fails,
}

/// Numbers that a claim names; a number that is not named is unknown, never zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Tests said to pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    /// Tests said to fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Tests said to exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

impl Counts {
    /// True when no number is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How much a claim covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// No restriction was stated.
    Full,
    /// Only the named part ("parser", "unit").
    Partial(String),
}

/// The claims in `text`, in the order in which they stand.
pub fn extract(text: &str) -> Vec<ClaimSentence> {
    let text = text.get(..text.floor_char_boundary(MAX_INPUT_BYTES)).unwrap_or_default();
    let mut found = Vec::new();
    for block in blocks::prose(text) {
        let tokens = tokens::tokenize(block.text);
        for sentence in tokens.split_inclusive(tokens::Token::ends_sentence) {
            found.extend(claims_in(&block, sentence));
        }
    }
    found
}

/// The claim about `subject` (a tag) in a sentence that was found before.
pub fn reread(sentence: &str, subject: &str) -> Option<ClaimSentence> {
    extract(sentence).into_iter().find(|claim| claim.subject.as_str() == subject)
}

fn claims_in(block: &blocks::Block<'_>, tokens: &[tokens::Token<'_>]) -> Vec<ClaimSentence> {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return Vec::new() };
    let Some(text) = block.text.get(first.start..last.end) else { return Vec::new() };
    if text.chars().count() > MAX_SENTENCE_CHARS {
        return Vec::new();
    }
    let elsewhere = voices::is_elsewhere(text);
    let sentence = subject::Sentence(tokens);
    let claim = |subject, polarity, counts, scope, object| ClaimSentence {
        text: text.to_owned(),
        offset: block.offset + first.start,
        subject,
        polarity,
        counts,
        scope,
        object,
    };
    let of_tests = test_result::read(tokens).filter(|reading| {
        // Another place may well fail; that it passes there says nothing here.
        reading.polarity == Polarity::Fails || !elsewhere
    });
    let mut found: Vec<ClaimSentence> = of_tests
        .map(|reading| {
            let counts = (!reading.counts.is_empty()).then_some(reading.counts);
            let object = Object::default();
            claim(Subject::TestResult, reading.polarity, counts, reading.scope, object)
        })
        .into_iter()
        .collect();
    if elsewhere || test_result::states_nothing(sentence) {
        return found;
    }
    let spelled = names::Spelled { sentence, block: block.text };
    let tested = !found.is_empty();
    for check in checks::read(spelled) {
        // What came of the tests says more than that they were run.
        if !(tested && check.subject == Subject::CommandExecuted) {
            found.push(claim(check.subject, check.polarity, None, check.scope, check.object));
        }
    }
    for deed in deeds::read(spelled) {
        found.push(claim(deed.subject, Polarity::Passes, None, Scope::Full, deed.object));
    }
    found
}
