//! The pass over a text: find the runs, let the detectors judge each, cut out what they find.
//!
//! A run is the longest stretch of token bytes. Most runs are short words with a space behind them
//! and cost two table look-ups a byte; only long ones are searched for issued secrets and entropy,
//! and only those that something binds a value to are read as names. Cutting out can bring parts
//! together that mean something new, so a text with findings is passed again until it is clean.

use std::borrow::Cow;

use super::bytes::{DIGIT, RUN, UPPER, from, is, span_of};
use super::detectors::{self, Found};
use super::entropy;
use super::labelled::{self, Step};

/// What a text may hold by design.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Anything.
    Text,
    /// Identifiers and digests, which look random: no entropy check.
    Identifiers,
    /// An identifier alone: issued secrets only, since what looks like a name and its value is part
    /// of an identity.
    Issued,
}

/// The text without its secrets, and how many were cut out.
pub(super) fn scan(text: &str, mode: Mode) -> (Cow<'_, str>, usize) {
    /// One pass is the rule, two are rare; the bound keeps the cost linear.
    const PASSES: usize = 4;
    let mut result = Cow::Borrowed(text);
    let mut total = 0;
    for _ in 0..PASSES {
        let Some((redacted, count)) = pass(&result, mode) else { break };
        result = Cow::Owned(redacted);
        total += count;
    }
    (result, total)
}

fn pass(text: &str, mode: Mode) -> Option<(String, usize)> {
    let bytes = text.as_bytes();
    let mut cut = Cut { text, kept: 0, output: String::new(), count: 0 };
    let mut next = 0;
    while let Some(gap) = from(bytes, next).iter().position(|&byte| is(byte, RUN)) {
        let start = next + gap;
        let (length, classes) = span_of(from(bytes, start), RUN);
        let end = start + length;
        // Most runs are words in a sentence or in code: no secret, and nothing bound to them.
        let word = length < detectors::SHORTEST || classes & !detectors::IN_NO_PREFIX == 0;
        let unbound = labelled::is_unbound(bytes, start, end, classes);
        next = if word && unbound {
            end
        } else {
            run(bytes, Run { start, end, classes, word, unbound }, mode, &mut cut)
        };
    }
    cut.finish()
}

/// The longest stretch of token bytes, and what one look at its bytes says.
struct Run {
    start: usize,
    end: usize,
    /// All classes of its bytes.
    classes: u8,
    /// Holds no issued secret for sure.
    word: bool,
    /// Has no value behind it for sure.
    unbound: bool,
}

/// Judges one run; returns where to go on.
fn run(bytes: &[u8], run: Run, mode: Mode, cut: &mut Cut<'_>) -> usize {
    let Run { start, end, classes, .. } = run;
    let count = cut.count;
    if !run.word {
        issued(bytes, start, end, cut);
    }
    if cut.count == count && !run.unbound && mode != Mode::Issued {
        match labelled::after_run(bytes, start, end) {
            Some(Step::Skip(end)) => return end,
            Some(Step::Redact(found)) => {
                cut.out(found);
                return found.end;
            }
            None => {}
        }
    }
    let mixed = classes & UPPER != 0 && classes & DIGIT != 0;
    let long = mixed && end - start >= entropy::LEAST && mode == Mode::Text;
    if cut.count == count && long && entropy::is_secret(bytes, start, end) {
        cut.out(Found { start, end, kind: "high_entropy" });
    }
    end
}

/// Cuts out the issued secrets of one run.
fn issued(bytes: &[u8], start: usize, end: usize, cut: &mut Cut<'_>) {
    let mut next = start;
    while let Some(found) = detectors::first(bytes, next, end) {
        cut.out(found);
        next = found.end;
    }
}

/// The output so far. Nothing is copied until the first finding.
struct Cut<'a> {
    text: &'a str,
    /// The text before this is in the output, or cut out.
    kept: usize,
    output: String,
    count: usize,
}

impl Cut<'_> {
    /// Puts a marker in the place of `found`, and as many line ends as it held.
    fn out(&mut self, found: Found) {
        // Detectors cut at ASCII bytes; should one not, more goes rather than less.
        let start = self.text.floor_char_boundary(found.start).max(self.kept);
        let end = self.text.ceil_char_boundary(found.end);
        let before = self.text.get(self.kept..start).unwrap_or_default();
        let secret = self.text.get(start..end).unwrap_or_default();
        if self.count == 0 {
            self.output.reserve(self.text.len());
        }
        self.output.push_str(before);
        self.output.push_str("[REDACTED:");
        self.output.push_str(found.kind);
        self.output.push(']');
        self.output.extend(secret.chars().filter(|&character| character == '\n'));
        self.kept = end;
        self.count += 1;
    }

    fn finish(mut self) -> Option<(String, usize)> {
        if self.count == 0 {
            return None;
        }
        self.output.push_str(self.text.get(self.kept..).unwrap_or_default());
        Some((self.output, self.count))
    }
}
