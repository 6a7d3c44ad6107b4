//! The numbers of a sentence: "12 passed, 0 failed", "passed: 10", "12/12 passing".
//!
//! A number counts tests only where it stands right before or after a word that says so. "Fixed 3
//! failing tests" counts nothing: there the word describes tests, it does not report them.

use super::Counts;
use super::lexicon::TEST_NOUNS;
use super::subject::Sentence;
use super::tokens::Kind;

/// What was counted, and on which tokens a count of passing tests stands.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub counts: Counts,
    /// The first and last token of a statement such as "12 passed".
    pub passed_at: Option<(usize, usize)>,
    /// The first and last token of a statement such as "2 failed".
    pub failed_at: Option<(usize, usize)>,
}

/// Counts in `sentence`.
pub(super) fn read(sentence: Sentence<'_, '_>) -> Counted {
    let mut counted = Counted::default();
    for at in 0..sentence.len() {
        counted.number_first(sentence, at);
        counted.label_first(sentence, at);
        counted.ratio(sentence, at);
        counted.nothing_failed(sentence, at);
    }
    counted
}

impl Counted {
    /// "12 passed", "12 tests passed", "12 tests".
    fn number_first(&mut self, sentence: Sentence<'_, '_>, at: usize) {
        let Some(number) = sentence.number(at) else { return };
        let digits = matches!(sentence.kind(at), Some(Kind::Number(_)));
        let noun = is_test_noun(sentence.word(at + 1));
        let verb = if noun { at + 2 } else { at + 1 };
        match sentence.word(verb) {
            "passed" | "passing" | "pass" | "passes" if digits && !describes(sentence, verb) => {
                self.pass(number, at, verb);
            }
            "failed" | "failing" | "failures" | "failure" | "fail" | "fails"
                if !describes(sentence, verb) || reports(sentence, at) =>
            {
                self.fail(number, at, verb);
            }
            "total" => self.total(number),
            _ if noun && digits => self.total(number),
            _ => {}
        }
    }

    /// "passed: 10", "Failed: 2".
    fn label_first(&mut self, sentence: Sentence<'_, '_>, at: usize) {
        let Some(Kind::Number(number)) = sentence.kind(at + 2) else { return };
        if sentence.kind(at + 1) != Some(&Kind::Colon) {
            return;
        }
        // "Tests: 12 passed" is a label for what follows, not a total.
        let counts_more = matches!(sentence.kind(at + 3), Some(Kind::Word(_)));
        match sentence.word(at) {
            _ if counts_more => {}
            "passed" | "passing" => self.pass(*number, at, at + 2),
            "failed" | "failing" | "failures" => self.fail(*number, at, at + 2),
            "total" | "tests" => self.total(*number),
            _ => {}
        }
    }

    /// "12/12 passing", "12 of 12 passed", "(12/12)".
    fn ratio(&mut self, sentence: Sentence<'_, '_>, at: usize) {
        let (some, all, end) = match sentence.kind(at) {
            Some(Kind::Ratio(some, all)) => (*some, *all, at + 1),
            Some(Kind::Number(some)) if sentence.word(at + 1) == "of" => {
                let Some(all) = sentence.number(at + 2) else { return };
                (*some, all, at + 3)
            }
            _ => return,
        };
        if matches!(sentence.word(end), "passed" | "passing" | "pass" | "green") {
            self.pass(some, at, end);
            self.total(all);
        } else if sentence.kind(end) == Some(&Kind::Close) {
            self.counts.passed = self.counts.passed.or(Some(some));
            self.total(all);
        }
    }

    /// "no failures", "without failures".
    fn nothing_failed(&mut self, sentence: Sentence<'_, '_>, at: usize) {
        let nothing = matches!(sentence.word(at), "no" | "without" | "zero");
        if nothing && matches!(sentence.word(at + 1), "failures" | "failure") {
            self.counts.failed = self.counts.failed.or(Some(0));
        }
    }

    fn pass(&mut self, number: u64, start: usize, end: usize) {
        if self.passed_at.is_none() {
            self.passed_at = Some((start, end));
            self.counts.passed = Some(number);
        }
    }

    fn fail(&mut self, number: u64, start: usize, end: usize) {
        if self.failed_at.is_none() {
            self.failed_at = Some((start, end));
            self.counts.failed = Some(number);
        }
    }

    fn total(&mut self, number: u64) {
        self.counts.total = self.counts.total.or(Some(number));
    }
}

fn is_test_noun(word: &str) -> bool {
    TEST_NOUNS.contains(&word) || matches!(word, "test" | "examples" | "example")
}

/// "3 failing tests": the participle belongs to a noun after it.
fn describes(sentence: Sentence<'_, '_>, verb: usize) -> bool {
    is_test_noun(sentence.word(verb + 1)) || matches!(sentence.word(verb + 1), "the" | "a" | "an")
}

/// "there are 2 failing tests": said of now.
fn reports(sentence: Sentence<'_, '_>, at: usize) -> bool {
    matches!(
        sentence.word_before(at),
        "are" | "is" | "remain" | "remains" | "still" | "leaves" | "have" | "has" | "now"
    )
}
