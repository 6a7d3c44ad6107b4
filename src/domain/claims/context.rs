//! What stands around a claim and may take it back.
//!
//! Before it: conditions, reports, past times, hedges, intentions, negations. After it: conditions,
//! exceptions, doubts. Each class of word has its reach: a hedge ends at "but" or ";", a negation
//! at the next comma or conjunction (unless it negates knowing: "I have not verified that ..."), a
//! condition only at ";".

use super::Polarity;
use super::lexicon::{
    ADJACENT, ELSEWHERE, FAIL_WORDS, HARD, IMPERATIVES, KNOWING, LABELS, NEGATIONS, SOFT, SOME,
    TAIL_CONDITIONS, TAIL_DOUBTS,
};
use super::subject::Sentence;
use super::tokens::{Kind, number_word};

/// True when something before token `start` takes the claim back.
pub(super) fn taken_back_before(sentence: Sentence<'_, '_>, start: usize) -> bool {
    quantified(sentence, start)
        || adjacent(sentence, start)
        || ordered(sentence)
        || (0..start).any(|at| reaches(sentence, at, start))
}

/// True when "not" or "none of" negates the whole subject: "not all tests pass".
pub(super) fn negated_subject(sentence: Sentence<'_, '_>, start: usize) -> bool {
    sentence.word_before(start) == "not" && {
        let before = start.checked_sub(2);
        before.is_none_or(|at| sentence.word(at).is_empty() || sentence.word(at) == "but")
    }
}

/// "some of the tests", "all but one test", "no tests".
fn quantified(sentence: Sentence<'_, '_>, start: usize) -> bool {
    let mut at = start;
    while let Some(before) = at.checked_sub(1) {
        let word = sentence.word(before);
        if SOME.contains(&word) || word.ends_with('%') {
            return true;
        }
        if word == "but" {
            return matches!(sentence.word_before(before), "all" | "everything" | "every");
        }
        let inside = matches!(word, "of" | "the" | "these" | "those" | "our" | "my" | "other")
            || sentence.number(before).is_some();
        if !inside {
            return false;
        }
        at = before;
    }
    false
}

fn adjacent(sentence: Sentence<'_, '_>, start: usize) -> bool {
    let word = sentence.word_before(start);
    ADJACENT.contains(&word)
        || word == "that" && matches!(sentence.word_before(start.saturating_sub(1)), "so" | "such")
        || word == "have" && sentence.word_before(start.saturating_sub(1)) == "to"
}

/// The sentence is an order ("Run the tests; all pass").
fn ordered(sentence: Sentence<'_, '_>) -> bool {
    let first = (0..sentence.len()).find(|at| !sentence.word(*at).is_empty()).unwrap_or(0);
    let label = matches!(sentence.kind(first + 1), Some(Kind::Colon | Kind::Dash));
    IMPERATIVES.contains(&sentence.word(first)) && !label
}

fn reaches(sentence: Sentence<'_, '_>, at: usize, start: usize) -> bool {
    let word = sentence.word(at);
    if word.is_empty() {
        return false;
    }
    let between = || at + 1..start;
    let semicolon = between().any(|at| sentence.kind(at) == Some(&Kind::Semicolon));
    let turned = semicolon || between().any(|at| sentence.word(at) == "but");
    let after_as = matches!(sentence.word_before(at), "as" | "type" | "lint" | "spot");
    if HARD.contains(&word) {
        return !semicolon;
    }
    if SOFT.contains(&word) {
        return !turned && !after_as && !asserts(sentence, at);
    }
    if LABELS.contains(&word) {
        return between().any(|at| sentence.kind(at) == Some(&Kind::Colon));
    }
    if matches!(word, "making" | "make" | "made") && sentence.word(at + 1) == "sure" {
        return !turned;
    }
    if word == "without" && at == 0 {
        return !semicolon;
    }
    if word == "on" && ELSEWHERE.contains(&sentence.word(at + 1)) {
        return !turned;
    }
    NEGATIONS.contains(&word) && negation_reaches(sentence, at, start)
}

/// "I can confirm that all tests pass", "we confirm ...": a statement, unless it is a purpose ("so I
/// can confirm").
fn asserts(sentence: Sentence<'_, '_>, at: usize) -> bool {
    let can = usize::from(sentence.word_before(at) == "can");
    let Some(who) = at.checked_sub(1 + can) else { return false };
    let purpose = matches!(sentence.word_before(who), "so" | "that" | "should" | "and" | "do");
    sentence.word(at) == "confirm" && matches!(sentence.word(who), "i" | "we") && !purpose
}

fn negation_reaches(sentence: Sentence<'_, '_>, at: usize, start: usize) -> bool {
    if sentence.word(at) == "can" {
        // "I can confirm that all tests pass" asserts it.
        if matches!(sentence.word(at + 1), "confirm" | "verify" | "report" | "see" | "say") {
            return false;
        }
    } else if (at + 1..at + 5).any(|next| next < start && KNOWING.contains(&sentence.word(next))) {
        return true;
    }
    !(at + 1..start).any(|between| clause_ends(sentence, between))
}

fn clause_ends(sentence: Sentence<'_, '_>, at: usize) -> bool {
    match sentence.kind(at) {
        Some(Kind::Word(word)) => matches!(word.as_str(), "and" | "but" | "so" | "which"),
        Some(kind) => matches!(
            kind,
            Kind::Comma | Kind::Semicolon | Kind::Colon | Kind::Dash | Kind::Open | Kind::Close
        ),
        None => true,
    }
}

/// True when something from token `end` on takes the claim back. An exception ("but two") takes back
/// success only.
pub(super) fn taken_back_after(sentence: Sentence<'_, '_>, end: usize, polarity: Polarity) -> bool {
    let clause = (end..sentence.len()).take_while(|at| !clause_ends(sentence, *at));
    let conditional = clause.clone().any(|at| TAIL_CONDITIONS.contains(&sentence.word(at)));
    conditional
        || (end..sentence.len()).any(|at| {
            let word = sentence.word(at);
            let other_than = word == "other" && sentence.word(at + 1) == "than";
            let excepted = polarity == Polarity::Passes && excepts(sentence, at, end);
            let so_far = word == "so" && sentence.word(at + 1) == "far";
            TAIL_DOUBTS.contains(&word) || other_than || so_far || excepted
        })
}

/// "but two", "but not on Windows", "pass but the slow ones".
fn excepts(sentence: Sentence<'_, '_>, at: usize, end: usize) -> bool {
    if !matches!(sentence.word(at), "but" | "though" | "although" | "however") {
        return false;
    }
    let next = sentence.word(at + 1);
    let counted = sentence.number(at + 1).is_some() || number_word(next).is_some();
    let picked = matches!(next, "for" | "not" | "only" | "some" | "those" | "few" | "there");
    let bare = at == end && matches!(next, "the" | "a" | "this" | "that");
    let fails = (at..sentence.len()).any(|at| FAIL_WORDS.contains(&sentence.word(at)));
    counted || picked || bare || fails
}
