//! The fold: from all reports to what is credited, once, and what is left out, with reasons.
//!
//! Responses are grouped by native id across conversations, sources and copies (`responses`);
//! running totals are taken apart by epoch and source (`snapshots`). A response and the running
//! total that covers it are never both credited. What a report says is judged by the set of all
//! reports, never by the order they arrive in.

use super::measurement::Measurement;
use super::tokens::Tokens;
use super::{Standing, UsageScope, responses, snapshots};

/// Why a report adds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exclusion {
    /// The same response was reported before or better.
    RepeatedResponse,
    /// What another conversation spent, copied into this one.
    CopiedHistory,
    /// A running total of responses that are credited one by one.
    CoveredSnapshot,
    /// A running total told again by another source of its conversation.
    OtherCopy,
    /// The host's own text; no model was asked.
    Synthetic,
    /// The host's own guess.
    Estimate,
}

impl Exclusion {
    /// Every reason, in the order of tables.
    pub const ALL: [Self; 6] = [
        Self::RepeatedResponse,
        Self::CopiedHistory,
        Self::CoveredSnapshot,
        Self::OtherCopy,
        Self::Synthetic,
        Self::Estimate,
    ];

    /// The word in JSON and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RepeatedResponse => "repeated_response",
            Self::CopiedHistory => "copied_history",
            Self::CoveredSnapshot => "covered_snapshot",
            Self::OtherCopy => "other_copy",
            Self::Synthetic => "synthetic_model",
            Self::Estimate => "estimate",
        }
    }
}

/// Tokens that are credited: one response, or the growth of a running total from one report to the
/// next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    pub provider: u32,
    /// The conversation the tokens were spent in.
    pub conversation: u32,
    /// `None` where no report states it.
    pub model: Option<u32>,
    /// When it was first reported; 0 = not stated.
    pub at_us: i64,
    pub tokens: Tokens,
    /// True for one response, false for the growth of a running total.
    pub is_response: bool,
    /// Index of the report whose numbers these are.
    pub report: usize,
}

/// A report that adds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excluded {
    /// Index of the report.
    pub report: usize,
    pub reason: Exclusion,
}

/// What the fold answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folded {
    pub slices: Vec<Slice>,
    pub excluded: Vec<Excluded>,
    /// Reports with a number that cannot be a count, and its name; the number counts as unknown.
    pub broken: Vec<(usize, &'static str)>,
}

impl Folded {
    /// Leaves a report out.
    pub(super) fn exclude(&mut self, report: usize, reason: Exclusion) {
        self.excluded.push(Excluded { report, reason });
    }

    /// The sum of everything credited; `None` when there was nothing to credit.
    pub fn total(&self) -> Option<Tokens> {
        (!self.slices.is_empty())
            .then(|| self.slices.iter().fold(Tokens::ZERO, |sum, slice| sum.plus(&slice.tokens)))
    }
}

/// A report with the index it was given at.
#[derive(Clone, Copy)]
pub(super) struct Report<'a> {
    pub(super) index: usize,
    pub(super) said: &'a Measurement,
    pub(super) tokens: Tokens,
}

/// Folds reports; the answer names them by index.
pub fn fold(reports: &[Measurement]) -> Folded {
    let mut out = Folded::default();
    let mut single = Vec::new();
    let mut running = Vec::new();
    for (index, said) in reports.iter().enumerate() {
        match said.standing {
            Standing::Estimate => out.exclude(index, Exclusion::Estimate),
            Standing::Synthetic => out.exclude(index, Exclusion::Synthetic),
            Standing::Reported => {
                let (counts, broken) = said.counts.checked();
                out.broken.extend(broken.into_iter().map(|name| (index, name)));
                let report = Report { index, said, tokens: Tokens::of(&counts, said.floor) };
                match said.scope {
                    UsageScope::Response => single.push(report),
                    UsageScope::Turn | UsageScope::Snapshot => running.push(report),
                }
            }
        }
    }
    let incomplete = snapshots::credit(&running, &single, &mut out);
    responses::credit(&single, &incomplete, &mut out);
    out.slices.sort_by_key(|slice| slice.report);
    out.excluded.sort_by_key(|excluded| excluded.report);
    out
}

#[cfg(test)]
mod tests;
