//! Sentences that speak of other people's results, of other places, or with an exception.
//!
//! "Bob: all tests pass", "their pipeline is green", "all tests pass in the other repo": true or
//! not, they are no claim about the work at hand. Matching is by plain phrases; a sentence that is
//! refused by mistake costs a claim, one that is taken by mistake may cost a wrong verdict.

/// Words that may stand before a colon without being somebody's name.
const LABELS: &[&str] = &[
    "test",
    "tests",
    "testing",
    "result",
    "results",
    "status",
    "summary",
    "update",
    "done",
    "final",
    "verification",
    "verified",
    "outcome",
    "note",
    "check",
    "checks",
    "ci-free",
    "suite",
    "now",
    "great",
    "good",
    "success",
    "all",
    "everything",
    "finished",
    "complete",
    "completed",
    "ran",
    "validation",
    "quality",
    "current",
    "state",
    "confirmed",
    "unit",
    "integration",
    "cargo",
    "pytest",
    "jest",
    "npm",
    "go",
    "full",
    "also",
    "so",
    "and",
    "finally",
    "overall",
    "regressions",
];

/// Other people, other places, conditions and exceptions.
const PHRASES: &[&str] = &[
    "github actions",
    "gitlab",
    "jenkins",
    "circleci",
    "pipeline",
    "per the ",
    "according to",
    "their ",
    "for you",
    "your fix",
    "your change",
    "your machine",
    "other repo",
    "another repo",
    "other project",
    "base branch",
    "old suite",
    "reference implementation",
    "upstream",
    "with pr",
    "excepted",
    "known failure",
    "pre-existing",
    "preexisting",
    "flag enabled",
    "if you ",
    "on your ",
    "in your ",
    "locally for",
    "previous session",
    "last time",
    "in theory",
];

/// Whether a sentence that says "tests pass" speaks for somebody or somewhere else.
pub(super) fn is_elsewhere(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    PHRASES.iter().any(|phrase| lower.contains(phrase)) || has_foreign_label(&lower)
}

/// `bob: all tests pass`, but not `test results: all pass`.
fn has_foreign_label(lower: &str) -> bool {
    let Some((label, rest)) = lower.split_once(": ") else { return false };
    let words: Vec<&str> = label
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .collect();
    let is_label = !words.is_empty() && words.len() <= 4 && rest.contains("pass");
    is_label
        && !words
            .iter()
            .any(|word| LABELS.contains(word) || word.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use crate::domain::claims::{Polarity, extract};

    fn passes(text: &str) -> bool {
        extract(text).iter().any(|c| c.polarity == Polarity::Passes)
    }

    #[test]
    fn other_voices_places_conditions_and_exceptions_claim_nothing() {
        for text in [
            "GitHub Actions: all tests pass.",
            "Bob: all tests pass.",
            "Per the PR description, all tests pass.",
            "Their pipeline is green and all tests pass.",
            "All tests pass locally for you.",
            "On the base branch all tests pass.",
            "The old suite: all tests pass.",
            "All tests pass in the other repo.",
            "The reference implementation's tests all pass.",
            "With PR #12 merged, all tests pass.",
            "All tests pass with the flag enabled.",
            "After your fix all tests pass.",
            "All tests pass, test_foo excepted.",
            "All tests pass; the one failing test is pre-existing.",
            "All tests pass, 1 skipped, 1 known failure.",
        ] {
            assert!(!passes(text), "{text}");
        }
    }

    #[test]
    fn labels_of_ones_own_report_do_not_hide_a_claim() {
        for text in [
            "Test results: all 12 tests pass.",
            "Status: all tests pass.",
            "Done: all tests pass now.",
            "I fixed the rounding in src/price.rs. All tests pass.",
        ] {
            assert!(passes(text), "{text}");
        }
    }
}
