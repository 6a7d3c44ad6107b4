//! The labelled sentences, all of them in one test.

use super::super::{ClaimSentence, Polarity, Scope, Subject, extract};
use serde::Deserialize;

const SENTENCES: &str = include_str!("../../../../fixtures/claims/sentences.jsonl");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Labelled {
    text: String,
    expect: Expect,
    scope: Option<Cover>,
    passed: Option<u64>,
    failed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Expect {
    Passes,
    Fails,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Cover {
    Full,
    Partial,
}

fn labelled() -> Vec<Labelled> {
    SENTENCES.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_tests(text: &str) -> Vec<ClaimSentence> {
    extract(text).into_iter().filter(|claim| claim.subject == Subject::TestResult).collect()
}

/// What `found` gets wrong about the sentence, in words.
fn disagreement(sentence: &Labelled, found: &[ClaimSentence]) -> Option<String> {
    let polarity = match sentence.expect {
        Expect::None => return (!found.is_empty()).then(|| format!("found {found:?}")),
        Expect::Passes => Polarity::Passes,
        Expect::Fails => Polarity::Fails,
    };
    let [claim] = found else { return Some(format!("found {} claims: {found:?}", found.len())) };
    let cover = match claim.scope {
        Scope::Full => Cover::Full,
        Scope::Partial(_) => Cover::Partial,
    };
    let counts = claim.counts.unwrap_or_default();
    let agrees = claim.polarity == polarity
        && sentence.scope.is_none_or(|scope| scope == cover)
        && sentence.passed.is_none_or(|passed| counts.passed == Some(passed))
        && sentence.failed.is_none_or(|failed| counts.failed == Some(failed));
    (!agrees).then(|| format!("found {claim:?}"))
}

#[test]
fn every_labelled_sentence_is_read_as_labelled() {
    let wrong: Vec<String> = labelled()
        .iter()
        .filter_map(|sentence| {
            let found = of_tests(&sentence.text);
            let what = disagreement(sentence, &found)?;
            Some(format!("{:?} expects {:?}: {what}", sentence.text, sentence.expect))
        })
        .collect();
    assert!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_labelled_sentences_cover_every_answer_and_scope() {
    let all = labelled();
    assert!(all.len() >= 150, "only {} sentences", all.len());
    for expect in [Expect::Passes, Expect::Fails, Expect::None] {
        assert!(all.iter().filter(|sentence| sentence.expect == expect).count() >= 25);
    }
    assert!(all.iter().filter(|sentence| sentence.scope == Some(Cover::Partial)).count() >= 15);
}

#[test]
fn a_sentence_that_claims_keeps_doing_so_inside_a_paragraph() {
    let plain = |sentence: &&Labelled| {
        sentence.expect == Expect::Passes && !sentence.text.contains(['\n', '-', '*', '_', '.'])
    };
    for sentence in labelled().iter().filter(plain) {
        let text = format!("I changed the cache. {}. That is all.", sentence.text);
        assert_eq!(of_tests(&text).len(), 1, "{text}");
    }
}

#[test]
fn the_word_order_of_a_claim_does_not_depend_on_letter_case() {
    for text in ["ALL TESTS PASS", "all tests pass", "All Tests Pass"] {
        assert_eq!(extract(text).len(), 1, "{text}");
    }
}
