//! Break modes of USG: the fold that ships, given or answering what a defect would make of it.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

use crate::conformance::contract::{Mode, Wrap};
use crate::conformance::subjects::{Fired, NumberView, UsageAnswer, UsageFold, UsageReport};
use crate::domain::usage::{Standing, UsageScope};

/// A mode by its defect.
macro_rules! mode {
    ($name:literal, $must:expr, $defect:literal, $seen:literal, $which:ident) => {
        Mode {
            name: $name,
            must: $must,
            may: &[],
            defect: $defect,
            seen: $seen,
            wrap: Wrap::Usage(|inner, fired| broken(inner, fired, Defect::$which)),
        }
    };
}

/// The modes.
pub const MODES: &[Mode] = &[
    mode!(
        "usg_response_twice",
        &["USG-01"],
        "usage is summed line by line",
        "anthropics/claude-code issue 91775: the CLI's own statistics count per line",
        ResponseTwice
    ),
    mode!(
        "usg_first_report_wins",
        &["USG-02"],
        "insert or ignore: the first report stays",
        "ccusage issue 901: keeping the first undercounts output",
        FirstReportWins
    ),
    mode!(
        "usg_delta_plus_snapshot",
        &["USG-03"],
        "responses and running totals are both added",
        "",
        DeltaPlusSnapshot
    ),
    mode!(
        "usg_delta_erases_epochs",
        &["USG-04"],
        "one response hides the totals of older epochs",
        "Titan: any delta at all drops every snapshot",
        DeltaErasesEpochs
    ),
    mode!("usg_arrival_order", &["USG-05"], "the row that arrived last wins", "", ArrivalOrder),
    mode!(
        "usg_epoch_replaces",
        &["USG-06"],
        "the largest total of all epochs holds",
        "",
        EpochReplaces
    ),
    mode!(
        "usg_turn_plus_conversation",
        &["USG-07"],
        "totals of both scopes are added",
        "",
        TurnPlusConversation
    ),
    mode!(
        "usg_copies_added",
        &["USG-08"],
        "an archived copy is counted again",
        "Titan: an early version added both copies",
        CopiesAdded
    ),
    mode!(
        "usg_cached_twice",
        &["USG-09"],
        "cached input and reasoning are added to what holds them",
        "ccusage issue 1460: reasoning added twice",
        CachedTwice
    ),
    mode!("usg_unknown_is_zero", &["USG-10"], "an absent count reads as zero", "", UnknownIsZero),
    mode!(
        "usg_partial_total_shown",
        &["USG-11", "USG-14"],
        "the sum of what is there, unmarked",
        "",
        PartialTotalShown
    ),
    mode!(
        "usg_copied_history",
        &["USG-12"],
        "the history in a fork is counted again",
        "superset PR 6945: 126-fold",
        CopiedHistory
    ),
    mode!(
        "usg_snapshot_takes_model",
        &["USG-13"],
        "the last model gets the whole total",
        "",
        SnapshotTakesModel
    ),
    mode!("usg_negative_counts", &["USG-14"], "a sentinel of -1 is summed", "", NegativeCounts),
    mode!(
        "usg_estimate_as_receipt",
        &["USG-15"],
        "the kind of a number is dropped",
        "",
        EstimateAsReceipt
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    ResponseTwice,
    FirstReportWins,
    DeltaPlusSnapshot,
    DeltaErasesEpochs,
    ArrivalOrder,
    EpochReplaces,
    TurnPlusConversation,
    CopiesAdded,
    CachedTwice,
    UnknownIsZero,
    PartialTotalShown,
    CopiedHistory,
    SnapshotTakesModel,
    NegativeCounts,
    EstimateAsReceipt,
}

/// A fold with one defect; everything else is the subject's own.
struct Broken {
    inner: Box<dyn UsageFold>,
    fired: Fired,
    defect: Defect,
}

fn broken(inner: Box<dyn UsageFold>, fired: Fired, defect: Defect) -> Box<dyn UsageFold> {
    Box::new(Broken { inner, fired, defect })
}

impl UsageFold for Broken {
    fn fold(&mut self, reports: &[UsageReport]) -> Result<UsageAnswer, String> {
        let right = self.inner.fold(reports)?;
        let wrong = match self.parts(reports) {
            Some(parts) => self.added(&parts)?,
            None => self.inner.fold(&self.given(reports))?,
        };
        let wrong = self.answered(reports, wrong);
        if wrong != right {
            self.fired.hit();
        }
        Ok(wrong)
    }
}

impl Broken {
    /// The parts that the defect folds apart and adds.
    fn parts(&self, reports: &[UsageReport]) -> Option<Vec<Vec<UsageReport>>> {
        let has = |scope| reports.iter().any(|report| report.scope == scope);
        let responses = has(UsageScope::Response);
        let by = |of: &dyn Fn(&UsageReport) -> String| -> Vec<Vec<UsageReport>> {
            let mut parts: BTreeMap<String, Vec<UsageReport>> = BTreeMap::new();
            for report in reports {
                parts.entry(of(report)).or_default().push(report.clone());
            }
            parts.into_values().collect()
        };
        match self.defect {
            Defect::DeltaPlusSnapshot if responses => {
                Some(by(&|report| (report.scope == UsageScope::Response).to_string()))
            }
            Defect::TurnPlusConversation if has(UsageScope::Turn) && has(UsageScope::Snapshot) => {
                Some(by(&|report| report.scope.as_str().to_owned()))
            }
            Defect::CopiesAdded
                if !responses && reports.iter().all(|report| report.copied_from.is_none()) =>
            {
                Some(by(&|report| report.source.clone()))
            }
            _ => None,
        }
    }

    fn added(&mut self, parts: &[Vec<UsageReport>]) -> Result<UsageAnswer, String> {
        let mut sum: Option<UsageAnswer> = None;
        for part in parts {
            let answer = self.inner.fold(part)?;
            sum = Some(match sum {
                None => answer,
                Some(sum) => add(sum, answer),
            });
        }
        sum.map_or_else(|| self.inner.fold(&[]), Ok)
    }

    /// The reports as the defect sees them.
    fn given(&self, reports: &[UsageReport]) -> Vec<UsageReport> {
        let mut given = reports.to_vec();
        match self.defect {
            Defect::ResponseTwice => unique_repeats(&mut given),
            Defect::FirstReportWins => {
                let mut seen = BTreeSet::new();
                given.retain(|report| report.response.clone().is_none_or(|id| seen.insert(id)));
            }
            Defect::DeltaErasesEpochs => {
                let has_response = given.iter().any(|r| r.scope == UsageScope::Response);
                given.retain(|r| !has_response || r.scope == UsageScope::Response);
            }
            Defect::ArrivalOrder => {
                for (arrival, report) in (1..).zip(&mut given) {
                    report.sequence = arrival;
                }
            }
            Defect::EpochReplaces => largest_epoch_only(&mut given),
            Defect::CachedTwice => given.iter_mut().for_each(subsets_added),
            Defect::CopiedHistory => {
                for report in given.iter_mut().filter(|report| report.copied_from.is_some()) {
                    report.copied_from = None;
                    report.response = report.response.take().map(|id| format!("{id}, copied"));
                }
            }
            Defect::SnapshotTakesModel => {
                let is_total = |report: &&mut UsageReport| report.scope == UsageScope::Snapshot;
                let last = given.iter_mut().rfind(is_total);
                if let Some(model) = last.map(|report| report.model.clone()) {
                    given.iter_mut().filter(is_total).for_each(|r| r.model.clone_from(&model));
                }
            }
            Defect::NegativeCounts => {
                for report in &mut given {
                    if negative(report) != 0
                        && let Some(counts) = report.counts.as_object_mut()
                    {
                        counts.insert("input".to_owned(), Value::from(0));
                    }
                }
            }
            Defect::EstimateAsReceipt => {
                given.iter_mut().for_each(|report| report.standing = Standing::Reported);
            }
            Defect::DeltaPlusSnapshot
            | Defect::TurnPlusConversation
            | Defect::CopiesAdded
            | Defect::UnknownIsZero
            | Defect::PartialTotalShown => {}
        }
        given
    }

    /// The answer as the defect gives it.
    fn answered(&self, reports: &[UsageReport], mut answer: UsageAnswer) -> UsageAnswer {
        for (name, number) in answer.numbers.iter_mut().flatten() {
            match self.defect {
                Defect::UnknownIsZero if number.known == 0 => number.value = Some(0),
                Defect::PartialTotalShown if number.known != 0 => number.value = Some(number.known),
                Defect::NegativeCounts if name == "input" || name == "total" => {
                    let sum: i64 = reports.iter().map(negative).sum();
                    number.known += sum;
                    number.value = number.value.map(|value| value + sum);
                }
                _ => {}
            }
        }
        answer
    }
}

/// The negative input count of a report, else 0.
fn negative(report: &UsageReport) -> i64 {
    report.counts.get("input").and_then(Value::as_i64).map_or(0, |count| count.min(0))
}

/// Equal reports of one response made into responses of their own.
fn unique_repeats(reports: &mut [UsageReport]) {
    let mut seen = BTreeSet::new();
    for (nth, report) in reports.iter_mut().enumerate() {
        let told = format!("{:?} {:?} {}", report.response, report.model, report.counts);
        if report.copied_from.is_none() && report.response.is_some() && !seen.insert(told) {
            report.response = report.response.take().map(|id| format!("{id}, line {nth}"));
        }
    }
}

/// Only the epoch whose total is the largest.
fn largest_epoch_only(reports: &mut Vec<UsageReport>) {
    let input = |report: &UsageReport| report.counts.get("input").and_then(Value::as_i64);
    let is_total = |report: &UsageReport| report.scope == UsageScope::Snapshot;
    let largest = reports.iter().filter(|r| is_total(r)).max_by_key(|r| input(r)).map(|r| r.epoch);
    reports.retain(|report| !is_total(report) || Some(report.epoch) == largest);
}

fn subsets_added(report: &mut UsageReport) {
    let count = |name: &str| report.counts.get(name).and_then(Value::as_i64);
    let more = |whole: &str, parts: &[&str]| {
        let parts: i64 = parts.iter().filter_map(|part| count(part)).sum();
        count(whole).map(|whole| whole + parts)
    };
    let input = more("input", &["cached_input", "cache_write_input"]);
    let output = more("output", &["reasoning_output"]);
    if let Some(counts) = report.counts.as_object_mut() {
        counts.extend(input.map(|input| ("input".to_owned(), Value::from(input))));
        counts.extend(output.map(|output| ("output".to_owned(), Value::from(output))));
    }
}

fn add(one: UsageAnswer, two: UsageAnswer) -> UsageAnswer {
    let number = |a: NumberView, b: NumberView| NumberView {
        value: a.value.zip(b.value).map(|(a, b)| a + b),
        known: a.known + b.known,
    };
    let numbers = match (one.numbers, two.numbers) {
        (Some(one), Some(two)) => Some(
            one.into_iter()
                .map(|(name, a)| {
                    let b = two.get(&name).copied();
                    (name, b.map_or(a, |b| number(a, b)))
                })
                .collect(),
        ),
        (one, two) => one.or(two),
    };
    UsageAnswer {
        numbers,
        models: sums(one.models, two.models),
        conversations: sums(one.conversations, two.conversations),
        diagnostics: [one.diagnostics, two.diagnostics].concat(),
        basis: one.basis,
    }
}

fn sums<K: Ord>(mut one: BTreeMap<K, i64>, two: BTreeMap<K, i64>) -> BTreeMap<K, i64> {
    for (key, sum) in two {
        *one.entry(key).or_default() += sum;
    }
    one
}
