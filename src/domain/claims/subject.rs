//! What a claim about tests is about: "all 12 parser tests", "cargo test", "the test suite".
//!
//! A noun phrase is read from its noun backwards: modifiers, numbers, determiners. Any modifier
//! that is not known to leave the scope whole makes the scope partial and names it. A command, in
//! back-ticks or as plain words, counts when it is a test run.

use super::Scope;
use super::lexicon::{
    ADJACENT, AFTER_TEST, FUNCTION_WORDS, HARD, NEGATIONS, NEUTRAL, POINTING, RUNNER_WORDS, SOFT,
    SOME, TEST_LABELS, TEST_NOUNS, WHOLE,
};
use super::tokens::{Kind, Token, number_word};
use crate::domain::command::{self, CommandText};

/// A sentence with total access to its tokens.
#[derive(Clone, Copy)]
pub(super) struct Sentence<'t, 'a>(pub &'t [Token<'a>]);

impl<'a> Sentence<'_, 'a> {
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    pub(super) fn kind(self, at: usize) -> Option<&'a Kind<'a>>
    where
        Self: 'a,
    {
        self.0.get(at).map(|token| &token.kind)
    }

    /// The word at `at`, or an empty string.
    pub(super) fn word(self, at: usize) -> &'a str
    where
        Self: 'a,
    {
        match self.kind(at) {
            Some(Kind::Word(word)) => word,
            _ => "",
        }
    }

    /// The word before `at`, or an empty string.
    pub(super) fn word_before(self, at: usize) -> &'a str
    where
        Self: 'a,
    {
        at.checked_sub(1).map_or("", |before| self.word(before))
    }

    /// A number in digits or words.
    pub(super) fn number(self, at: usize) -> Option<u64> {
        match self.0.get(at).map(|token| &token.kind) {
            Some(Kind::Number(number)) => Some(*number),
            Some(Kind::Word(word)) => number_word(word),
            _ => None,
        }
    }
}

/// The subject of a claim, on tokens `start..end`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Subject {
    pub start: usize,
    pub end: usize,
    pub scope: Scope,
    /// "all 12 tests".
    pub number: Option<u64>,
    /// "10 of 12 tests", "10/12 tests".
    pub ratio: Option<(u64, u64)>,
}

/// The subject whose noun stands at `at`, or the command that begins there.
pub(super) fn subject_at(sentence: Sentence<'_, '_>, at: usize) -> Option<Subject> {
    command_at(sentence, at).or_else(|| noun_phrase(sentence, at))
}

fn noun_phrase(sentence: Sentence<'_, '_>, at: usize) -> Option<Subject> {
    let noun = sentence.word(at);
    let singular = noun == "test";
    let end = if singular && AFTER_TEST.contains(&sentence.word(at + 1)) { at + 2 } else { at + 1 };
    let continues = matches!(sentence.word_before(at), "test" | "tests");
    if !(singular || TEST_NOUNS.contains(&noun)) || continues {
        return None;
    }
    let mut phrase = Phrase { sentence, start: at, modifiers: Vec::new(), ..Phrase::new(sentence) };
    phrase.walk();
    if singular && RUNNER_WORDS.contains(&phrase.modifiers.last().map_or("", String::as_str)) {
        return None;
    }
    let labelled = TEST_LABELS.contains(&sentence.word(at + 1));
    let single = singular && end == at + 1 && !labelled;
    let scope = match phrase.modifiers.as_slice() {
        _ if phrase.pointing && phrase.modifiers.is_empty() => Scope::Partial(noun.to_owned()),
        [] if single && !phrase.every => Scope::Partial("single test".to_owned()),
        [] => Scope::Full,
        modifiers => Scope::Partial(modifiers.join(" ")),
    };
    Some(Subject { start: phrase.start, end, scope, number: phrase.number, ratio: phrase.ratio })
}

struct Phrase<'t, 'a> {
    sentence: Sentence<'t, 'a>,
    start: usize,
    modifiers: Vec<String>,
    determined: bool,
    every: bool,
    pointing: bool,
    number: Option<u64>,
    ratio: Option<(u64, u64)>,
}

/// Modifiers that are read before a noun.
const MAX_MODIFIERS: usize = 4;

impl<'t, 'a> Phrase<'t, 'a> {
    fn new(sentence: Sentence<'t, 'a>) -> Self {
        Self {
            sentence,
            start: 0,
            modifiers: Vec::new(),
            determined: false,
            every: false,
            pointing: false,
            number: None,
            ratio: None,
        }
    }

    fn walk(&mut self) {
        while let Some(at) = self.start.checked_sub(1) {
            let accepted = match self.sentence.kind(at) {
                Some(Kind::Number(number)) => self.take_number(*number),
                Some(Kind::Ratio(some, all)) if self.ratio.is_none() => {
                    self.ratio = Some((*some, *all));
                    true
                }
                Some(Kind::Code(code)) => self.take_modifier(code),
                Some(Kind::Word(word)) => self.take_word(word, at),
                _ => false,
            };
            if !accepted {
                return;
            }
            self.start = at;
        }
    }

    fn take_number(&mut self, number: u64) -> bool {
        let fresh = self.number.is_none();
        self.number = self.number.or(Some(number));
        self.determined |= fresh;
        fresh
    }

    fn take_word(&mut self, word: &str, at: usize) -> bool {
        if let Some(number) = number_word(word).filter(|number| *number > 0) {
            return self.take_number(number);
        }
        if WHOLE.contains(&word) {
            self.every |= matches!(word, "all" | "every" | "each");
            self.determined = true;
            return true;
        }
        if POINTING.contains(&word) && !self.determined {
            self.pointing = true;
            self.determined = true;
            return !matches!(word, "this" | "that");
        }
        if word == "of" {
            return self.take_of(at);
        }
        if NEUTRAL.contains(&word) && !self.determined {
            return true;
        }
        let joins = word == "and" && !self.modifiers.is_empty() && self.joins_modifiers(at);
        !self.determined && (joins || !ends_phrase(word)) && self.take_modifier(word)
    }

    /// "all of the tests", "3 of 120 tests", "3 out of 120 tests".
    fn take_of(&mut self, at: usize) -> bool {
        let before = self.sentence.word_before(at);
        if matches!(before, "all" | "each" | "every" | "100%") {
            return true;
        }
        let counted = if before == "out" { at.checked_sub(2) } else { at.checked_sub(1) };
        let some = counted.and_then(|at| self.sentence.number(at));
        if let (Some(some), Some(all), None) = (some, self.number, self.ratio) {
            self.ratio = Some((some, all));
            self.number = None;
            self.start = counted.unwrap_or(self.start);
        }
        false
    }

    fn joins_modifiers(&self, and: usize) -> bool {
        let before = self.sentence.word_before(and);
        !before.is_empty() && !ends_phrase(before) && !before.ends_with("ed")
    }

    fn take_modifier(&mut self, word: &str) -> bool {
        let room = !self.determined && self.modifiers.len() < MAX_MODIFIERS;
        if room {
            self.modifiers.insert(0, word.to_owned());
        }
        room
    }
}

/// Whether a word never describes what follows it.
pub(super) fn ends_phrase(word: &str) -> bool {
    [FUNCTION_WORDS, HARD, SOFT, ADJACENT, NEGATIONS, SOME].iter().any(|set| set.contains(&word))
}

/// Words of a command written without back-ticks.
const MAX_COMMAND_WORDS: usize = 6;

fn command_at(sentence: Sentence<'_, '_>, at: usize) -> Option<Subject> {
    if let Some(Kind::Code(code)) = sentence.kind(at) {
        let scope = scope_of(code)?;
        return Some(Subject { start: at, end: at + 1, scope, number: None, ratio: None });
    }
    let first = sentence.word(at);
    if !RUNNER_WORDS.contains(&first) {
        return None;
    }
    // The longest run of words that is one test command: options and paths belong to it.
    let mut text = first.to_owned();
    let mut found = bare_runner(first).then_some((at + 1, Scope::Full));
    for next in at + 1..at + MAX_COMMAND_WORDS {
        let word = sentence.word(next);
        let option = word.starts_with(['-', '.', '/']);
        let subcommand = matches!(word, "test" | "tests" | "run" | "nextest" | "exec" | "t");
        if !(option || subcommand && found.is_none() || subcommand && next == at + 1) {
            break;
        }
        text.push(' ');
        text.push_str(word);
        if let Some(scope) = scope_of(&text) {
            found = Some((next + 1, scope));
        }
    }
    let (end, scope) = found?;
    Some(Subject { start: at, end, scope, number: None, ratio: None })
}

/// Runners that need no sub-command.
fn bare_runner(word: &str) -> bool {
    matches!(
        word,
        "pytest" | "jest" | "vitest" | "mocha" | "rspec" | "phpunit" | "ctest" | "tox" | "nox"
    )
}

fn scope_of(code: &str) -> Option<Scope> {
    let runs = command::test_runs(&CommandText::Line(code.to_owned()));
    let first = runs.first()?;
    Some(match &first.scope {
        command::Scope::Full => Scope::Full,
        command::Scope::Partial { reason } => Scope::Partial(reason.clone()),
    })
}
