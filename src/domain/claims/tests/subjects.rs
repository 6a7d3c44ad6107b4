//! The labelled sentences of every subject, with precision and recall of each.

use super::super::{ClaimSentence, Object, Polarity, Scope, extract};
use serde::Deserialize;
use std::collections::BTreeMap;

const SENTENCES: &str = include_str!("../../../../fixtures/claims/subjects.jsonl");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Labelled {
    text: String,
    claims: Vec<Expected>,
}

#[derive(Debug, Deserialize)]
struct Expected {
    subject: String,
    #[serde(default)]
    fails: bool,
    scope: Option<String>,
    #[serde(flatten)]
    object: Object,
}

impl Expected {
    fn is(&self, found: &ClaimSentence) -> bool {
        let partial = matches!(found.scope, Scope::Partial(_));
        found.subject.as_str() == self.subject
            && (found.polarity == Polarity::Fails) == self.fails
            && partial == (self.scope.as_deref() == Some("partial"))
            && found.object == self.object
    }
}

fn labelled() -> Vec<Labelled> {
    SENTENCES.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[derive(Default)]
struct Tally {
    right: usize,
    wrong: usize,
    missed: usize,
}

#[test]
fn every_labelled_sentence_claims_what_its_label_says_and_nothing_more() {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut disagreements = Vec::new();
    for sentence in labelled() {
        let found = extract(&sentence.text);
        for claim in &found {
            let tally = tallies.entry(claim.subject.as_str().to_owned()).or_default();
            let right = sentence.claims.iter().any(|expected| expected.is(claim));
            if right { tally.right += 1 } else { tally.wrong += 1 }
        }
        for expected in &sentence.claims {
            let seen = found.iter().any(|claim| expected.is(claim));
            tallies.entry(expected.subject.clone()).or_default().missed += usize::from(!seen);
        }
        let agrees = found.len() == sentence.claims.len()
            && sentence.claims.iter().all(|e| found.iter().any(|claim| e.is(claim)));
        if !agrees {
            disagreements.push(format!("{:?}: found {found:?}", sentence.text));
        }
    }
    println!("claims: subject, precision, recall");
    for (subject, tally) in &tallies {
        let percent = |of: usize| 100 * tally.right / of.max(1);
        let (found, labelled) = (tally.right + tally.wrong, tally.right + tally.missed);
        println!(
            "  {subject}: {} % of {found}, {} % of {labelled}",
            percent(found),
            percent(labelled)
        );
    }
    let all = disagreements.len();
    assert!(disagreements.is_empty(), "{all} disagreements:\n{}", disagreements.join("\n"));
}

#[test]
fn the_labelled_sentences_cover_every_subject_and_a_third_claim_nothing() {
    let all = labelled();
    assert!(all.len() >= 250, "only {} sentences", all.len());
    assert!(all.iter().filter(|s| s.claims.is_empty()).count() * 3 >= all.len());
    for (_, subject) in super::super::SUBJECTS {
        let count = all.iter().flat_map(|s| &s.claims).filter(|c| c.subject == subject).count();
        assert!(count >= if subject == "test_result" { 2 } else { 9 }, "{subject}: {count}");
    }
}
