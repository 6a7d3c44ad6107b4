//! The grammar of "the tests pass".
//!
//! Four shapes are accepted: subject and predicate ("all 12 tests pass", "Tests: all green"), a
//! pronoun whose sentence names the tests ("I ran the tests and they all pass"), verb and object
//! ("passes all tests"), and bare counts ("12 passed, 0 failed"). A match then has to survive its
//! context. Where success and failure stand side by side, failure is what is claimed.

use super::context::{negated_subject, taken_back_after, taken_back_before};
use super::counts::{self, Counted};
use super::lexicon::{
    ADVERBS, ELSEWHERE, FAIL_WORDS, FUNCTION_WORDS, HARD, JOINED_VERBS, NOTHING_BAD, OTHER_CODE,
    PASS_WORDS, SOFT, TAILS, TEST_LABELS, WHOLE_PLACES,
};
use super::subject::{Sentence, Subject, subject_at};
use super::tokens::{Kind, Token};
use super::{Counts, Polarity, Scope};

/// What one sentence claims about tests.
#[derive(Debug, PartialEq)]
pub(super) struct Reading {
    pub polarity: Polarity,
    pub counts: Counts,
    pub scope: Scope,
}

/// The claim about tests in one sentence, if it makes one.
pub(super) fn read(tokens: &[Token<'_>]) -> Option<Reading> {
    let sentence = Sentence(tokens);
    if states_nothing(sentence) {
        return None;
    }
    let has_cross = tokens.iter().any(|token| token.kind == Kind::Cross);
    let counted = counts::read(sentence);
    let mut matches = matches(sentence, &counted);
    matches.retain(|found| !has_cross || found.polarity == Polarity::Fails);
    let fails = matches.iter().find(|found| found.polarity == Polarity::Fails);
    if fails.is_some_and(|fails| matches.iter().any(|found| overcomes(found, fails))) {
        return None;
    }
    let chosen = fails.or(matches.first())?;
    settle(chosen.clone(), counted.counts)
}

/// Whether a sentence asks, points elsewhere, waits, or is not English.
pub(super) fn states_nothing(sentence: Sentence<'_, '_>) -> bool {
    sentence.0.iter().any(|token| match &token.kind {
        Kind::Stop { question } => *question,
        Kind::Arrow | Kind::Pending => true,
        Kind::Word(word) => foreign(word),
        _ => false,
    })
}

/// A word with letters beyond the Latin ones: the sentence is not English.
fn foreign(word: &str) -> bool {
    word.chars().any(|c| c.is_alphabetic() && c >= '\u{370}')
}

/// "3 tests failed, I fixed them, and all tests pass": a story, not a statement of failure.
fn overcomes(found: &Match, fails: &Match) -> bool {
    found.polarity == Polarity::Passes
        && found.start >= fails.end
        && found.scope == Scope::Full
        && found.counts.passed.is_none()
}

/// A match of one shape, on tokens `start..end`.
#[derive(Debug, Clone)]
struct Match {
    start: usize,
    end: usize,
    polarity: Polarity,
    scope: Scope,
    counts: Counts,
}

fn matches(sentence: Sentence<'_, '_>, counted: &Counted) -> Vec<Match> {
    let positions = 0..sentence.len();
    let mut all: Vec<Match> = positions.clone().filter_map(|at| clause(sentence, at)).collect();
    all.extend(positions.clone().filter_map(|at| verb_object(sentence, at)));
    let known = all.clone();
    let pronouns = positions.filter_map(|at| pronoun(sentence, at));
    all.extend(pronouns.filter(|found| known.iter().all(|other| other.end != found.end)));
    // "All tests pass but 2 fail": a number of failures counts beside other statements too.
    let alone = all.iter().all(|found| found.polarity == Polarity::Fails);
    let bare = bare_counts(sentence, counted);
    all.extend(bare.filter(|bare| alone || bare.polarity == Polarity::Fails));
    all.retain(|found| {
        let negated = negated_subject(sentence, found.start);
        let before = if negated {
            found.polarity == Polarity::Fails
        } else {
            taken_back_before(sentence, found.start)
        };
        !before && !taken_back_after(sentence, found.end, found.polarity)
    });
    for found in &mut all {
        if negated_subject(sentence, found.start) {
            found.polarity = Polarity::Fails;
            found.counts = Counts::default();
        }
    }
    all
}

/// Joins the numbers and lets them overrule the words.
fn settle(found: Match, counted: Counts) -> Option<Reading> {
    let named = found.counts;
    let counts = Counts {
        passed: named.passed.or(counted.passed),
        failed: named.failed.or(counted.failed),
        total: named.total.or(counted.total),
    };
    let all_of_it = matches!((counts.passed, counts.total), (Some(some), Some(all)) if some < all);
    let fails = found.polarity == Polarity::Fails || all_of_it && named.total.is_some();
    // Failures that were taken back ("2 failed before") leave nothing to judge.
    let doubtful = !fails && counts.failed.is_some_and(|failed| failed > 0);
    let nothing = if fails { counts.failed == Some(0) } else { counts.passed == Some(0) };
    if doubtful || nothing {
        return None;
    }
    let polarity = if fails { Polarity::Fails } else { Polarity::Passes };
    Some(Reading { polarity, counts, scope: found.scope })
}

/// Subject and predicate.
fn clause(sentence: Sentence<'_, '_>, at: usize) -> Option<Match> {
    let subject = subject_at(sentence, at)?;
    let after = skip_parenthesis(sentence, subject.end);
    let mut scope = subject.scope.clone();
    let found = predicate(sentence, after)
        .or_else(|| labelled(sentence, after))
        .or_else(|| place_between(sentence, after, &mut scope))
        .or_else(|| joined(sentence, after))?;
    let scope = tail_scope(sentence, found.end, scope)?;
    let counts = subject_counts(&subject, found.polarity);
    Some(Match { start: subject.start, end: found.end, polarity: found.polarity, scope, counts })
}

fn subject_counts(subject: &Subject, polarity: Polarity) -> Counts {
    let total = subject.ratio.map(|(_, all)| all);
    let some = subject.ratio.map(|(some, _)| some).or(subject.number);
    match polarity {
        Polarity::Passes => Counts { passed: some, failed: None, total },
        Polarity::Fails => Counts { passed: None, failed: some, total },
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Predicate {
    pub polarity: Polarity,
    /// The token after the predicate.
    pub end: usize,
}

/// Adverbs and auxiliaries before the verb.
const MAX_ADVERBS: usize = 6;

pub(super) fn predicate(sentence: Sentence<'_, '_>, start: usize) -> Option<Predicate> {
    let (mut at, mut negated) = (start, false);
    for _ in 0..MAX_ADVERBS {
        let word = sentence.word(at);
        let next = sentence.word(at + 1);
        if matches!(word, "not" | "never") {
            negated = true;
        } else if matches!(word, "continue" | "continues") && next == "to"
            || JOINED_VERBS.contains(&word) && next == "and"
            || matches!(word, "were" | "was") && matches!(next, "all" | "successful")
            || matches!(word, "ca" | "could") && next == "not"
        {
            at += usize::from(matches!(next, "to" | "and"));
        } else if matches!(word, "completed" | "finished" | "ran") && next == "successfully" {
            return Some(Predicate { polarity: Polarity::Passes, end: at + 2 });
        } else if !ADVERBS.contains(&word) {
            break;
        }
        at += 1;
    }
    let word = sentence.word(at);
    if sentence.kind(at) == Some(&Kind::Check) && !negated {
        return Some(Predicate { polarity: Polarity::Passes, end: at + 1 });
    }
    let past = matches!(sentence.word_before(at), "were" | "was");
    let passes = PASS_WORDS.contains(&word) && !(past && word != "successful");
    let fails = FAIL_WORDS.contains(&word);
    let end = at + 1;
    match (passes, fails, negated) {
        (true, _, false) if tail_allows(sentence, end) => {
            Some(Predicate { polarity: Polarity::Passes, end })
        }
        (true, _, true) => Some(Predicate { polarity: Polarity::Fails, end }),
        (_, true, false) => Some(Predicate { polarity: Polarity::Fails, end }),
        _ => None,
    }
}

/// "tests pass a mock client": another word after the verb changes what it means.
fn tail_allows(sentence: Sentence<'_, '_>, end: usize) -> bool {
    match sentence.kind(end) {
        Some(Kind::Word(word)) => TAILS.contains(&word.as_str()),
        Some(kind) => !matches!(
            kind,
            Kind::Number(_) | Kind::Ratio(..) | Kind::Code(_) | Kind::Quote | Kind::Sign
        ),
        None => true,
    }
}

/// "Tests: all green", "Test results - all pass".
fn labelled(sentence: Sentence<'_, '_>, start: usize) -> Option<Predicate> {
    let word = sentence.word(start);
    let noun = TEST_LABELS.contains(&word) || matches!(word, "runs" | "are" | "is");
    let at = start + usize::from(noun);
    let bridge = matches!(sentence.kind(at), Some(Kind::Colon | Kind::Dash));
    let at = if bridge { at + 1 } else { return None };
    let at = at + usize::from(sentence.kind(at) == Some(&Kind::Check));
    let bare_mark = at > start && sentence.kind(at - 1) == Some(&Kind::Check);
    predicate(sentence, at).or_else(|| {
        let ends = matches!(sentence.kind(at), None | Some(Kind::Stop { .. } | Kind::Open));
        (bare_mark && ends).then_some(Predicate { polarity: Polarity::Passes, end: at })
    })
}

/// Tokens between a subject and a verb that are looked over.
const MAX_GAP: usize = 7;

/// "All tests in the parser module pass".
fn place_between(sentence: Sentence<'_, '_>, start: usize, scope: &mut Scope) -> Option<Predicate> {
    if !matches!(sentence.word(start), "in" | "for" | "of" | "under" | "from" | "across") {
        return None;
    }
    for at in start + 2..start + 2 + MAX_GAP {
        if let Some(found) = predicate(sentence, at) {
            if *scope == Scope::Full && !WHOLE_PLACES.contains(&sentence.word(at - 1)) {
                *scope = Scope::Partial(phrase(sentence, start, at));
            }
            return Some(found);
        }
        if !plain(sentence, at - 1) || !plain(sentence, at) {
            return None;
        }
    }
    None
}

/// "Tests and clippy pass", "Tests, clippy and fmt are all green".
fn joined(sentence: Sentence<'_, '_>, start: usize) -> Option<Predicate> {
    let joins = |at: usize| sentence.word(at) == "and" || sentence.kind(at) == Some(&Kind::Comma);
    if !joins(start) {
        return None;
    }
    for at in start + 2..start + 2 + MAX_GAP {
        if let Some(found) = predicate(sentence, at) {
            // "12 tests, 3 fail" counts other tests.
            return Some(found).filter(|found| found.polarity == Polarity::Passes);
        }
        let numbered = |at: usize| sentence.number(at).is_some();
        let fits = |at: usize| joins(at) || plain(sentence, at) && !numbered(at);
        if !fits(at - 1) || !fits(at) {
            return None;
        }
    }
    None
}

/// A word that can belong to a name or a list of names.
fn plain(sentence: Sentence<'_, '_>, at: usize) -> bool {
    match sentence.kind(at) {
        Some(Kind::Code(_) | Kind::Number(_)) => true,
        Some(Kind::Word(word)) => {
            let word = word.as_str();
            let verb = word.ends_with("ed") || word.ends_with("ing");
            let known = [FUNCTION_WORDS, HARD, SOFT].iter().any(|set| set.contains(&word));
            word == "the" || word == "all" || word == "both" || !verb && !known
        }
        _ => false,
    }
}

/// Tokens that a parenthesis may hold to be skipped.
const MAX_PARENTHESIS: usize = 12;

fn skip_parenthesis(sentence: Sentence<'_, '_>, at: usize) -> usize {
    if sentence.kind(at) != Some(&Kind::Open) {
        return at;
    }
    let close = (at..at + MAX_PARENTHESIS).find(|at| sentence.kind(*at) == Some(&Kind::Close));
    close.map_or(at, |close| close + 1)
}

/// What the words after the verb do to the scope; `None` when the claim is about another place.
fn tail_scope(sentence: Sentence<'_, '_>, end: usize, scope: Scope) -> Option<Scope> {
    let word = sentence.word(end);
    let ahead = || end + 1..end + 4;
    let any = |set: &[&str]| ahead().any(|at| set.contains(&sentence.word(at)));
    let partial = match word {
        "on" | "in" | "under" | "against" | "at" if any(ELSEWHERE) => return None,
        "with" | "against" | "using" if any(OTHER_CODE) => return None,
        "without" => return any(NOTHING_BAD).then_some(scope),
        "in" | "for" | "across" | "on" | "at" => {
            let time = ahead()
                .any(|at| sentence.word(at).starts_with(|c: char| c.is_ascii_digit()))
                || ahead().any(|at| sentence.number(at).is_some());
            !time && !any(WHOLE_PLACES)
        }
        "under" | "against" => true,
        _ => false,
    };
    let narrowed = partial && scope == Scope::Full;
    Some(if narrowed { Scope::Partial(phrase(sentence, end, end + 5)) } else { scope })
}

/// Words `start..end` as text, up to the end of their clause.
fn phrase(sentence: Sentence<'_, '_>, start: usize, end: usize) -> String {
    let mut words = Vec::new();
    for at in start..end {
        match sentence.kind(at) {
            Some(Kind::Word(word)) if !matches!(word.as_str(), "and" | "but" | "so") => {
                words.push(word.as_str());
            }
            Some(Kind::Code(code)) => words.push(code),
            _ => break,
        }
    }
    words.join(" ")
}

/// "they all pass", "everything passes", "all 12 passed": the sentence has to name the tests.
fn pronoun(sentence: Sentence<'_, '_>, at: usize) -> Option<Match> {
    let word = sentence.word(at);
    if !matches!(word, "they" | "everything" | "all" | "it") {
        return None;
    }
    let number = sentence.number(at + 1);
    let found = predicate(sentence, at + 1 + usize::from(number.is_some()))?;
    let named = antecedent(sentence, at)
        .or_else(|| (word == "everything").then(|| counted_after(sentence, found.end)).flatten())?;
    let scope = tail_scope(sentence, found.end, named)?;
    let counts = match found.polarity {
        Polarity::Passes => Counts { passed: number, ..Counts::default() },
        Polarity::Fails => Counts { failed: number, ..Counts::default() },
    };
    Some(Match { start: at, end: found.end, polarity: found.polarity, scope, counts })
}

/// The scope of the tests named before `at`; a set that was only written is a part.
fn antecedent(sentence: Sentence<'_, '_>, at: usize) -> Option<Scope> {
    let named = (0..at).rev().filter_map(|at| subject_at(sentence, at)).find(|s| s.end <= at)?;
    let ran = (0..named.start).any(|at| {
        matches!(
            sentence.word(at),
            "ran" | "run" | "running" | "reran" | "re-ran" | "executed" | "re-run" | "rerun"
        )
    });
    let label = matches!(sentence.kind(named.end), Some(Kind::Colon | Kind::Dash));
    Some(match named.scope {
        Scope::Full if !ran && !label => Scope::Partial("they".to_owned()),
        scope => scope,
    })
}

/// "everything passes (45 tests)".
fn counted_after(sentence: Sentence<'_, '_>, end: usize) -> Option<Scope> {
    let named = (end..end + 6).find_map(|at| subject_at(sentence, at))?;
    named.number.map(|_| named.scope)
}

/// "passes all tests".
fn verb_object(sentence: Sentence<'_, '_>, at: usize) -> Option<Match> {
    let relative = matches!(sentence.word_before(at), "that" | "which" | "who" | "not" | "to");
    if !matches!(sentence.word(at), "passes" | "passed") || relative {
        return None;
    }
    let whole = ["all", "every", "the"].contains(&sentence.word(at + 1));
    let named = (at + 2..at + 8)
        .filter_map(|noun| subject_at(sentence, noun))
        .find(|subject| subject.start == at + 1)
        .filter(|_| whole)?;
    if !tail_allows(sentence, named.end) {
        return None;
    }
    let counts = subject_counts(&named, Polarity::Passes);
    let (start, end) = (at, named.end);
    Some(Match { start, end, polarity: Polarity::Passes, scope: named.scope, counts })
}

/// "12 passed, 0 failed".
fn bare_counts(sentence: Sentence<'_, '_>, counted: &Counted) -> Option<Match> {
    let failed = counted.counts.failed;
    let (polarity, (start, end)) = match (counted.passed_at, counted.failed_at) {
        (_, Some(at)) if failed.is_some_and(|failed| failed > 0) => (Polarity::Fails, at),
        (Some(at), _) => (Polarity::Passes, at),
        (None, Some(at)) if failed == Some(0) && counted.counts.total.is_some() => {
            (Polarity::Passes, at)
        }
        _ => return None,
    };
    let allowed = polarity == Polarity::Fails || tail_allows(sentence, end + 1);
    let named = (0..start).rev().find_map(|at| subject_at(sentence, at));
    let scope = named.map_or(Scope::Full, |subject| subject.scope);
    let scope = tail_scope(sentence, end + 1, scope)?;
    allowed.then_some(Match { start, end: end + 1, polarity, scope, counts: Counts::default() })
}
