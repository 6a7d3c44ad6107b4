//! Crediting running totals: by conversation one source, in it every epoch.
//!
//! An epoch is credited with its last total that no single response covers, minus what was copied
//! in. Totals that stand after the first single response of their epoch cover it and are left out.
//! The credit is taken apart report by report, so that each part keeps the day and the model it
//! was spent on; a total as a whole belongs to no model.

use super::UsageScope;
use super::fold::{Exclusion, Folded, Report, Slice};
use super::tokens::{Amount, Confidence, Tokens};
use std::collections::{BTreeMap, HashSet};

/// Reports of one running total in one source.
#[derive(Default)]
struct Epoch<'a> {
    totals: Vec<Report<'a>>,
    /// Totals of single turns, by turn.
    turns: BTreeMap<Option<&'a str>, Vec<Report<'a>>>,
    responses: Vec<Report<'a>>,
}

/// What one source of a conversation has to say.
#[derive(Default)]
struct Told<'a> {
    slices: Vec<Slice>,
    excluded: Vec<(usize, Exclusion)>,
    /// Everything that would be excluded were another source chosen.
    totals: Vec<usize>,
    has_responses: bool,
    sum: i128,
    last_us: i64,
    /// The last response of an epoch whose responses are fewer than its total says.
    incomplete: Option<Report<'a>>,
}

type Epochs<'a> = BTreeMap<i64, Epoch<'a>>;

/// Credits running totals. Answers the indexes of responses that stand for more than they say.
pub(super) fn credit(
    running: &[Report<'_>],
    single: &[Report<'_>],
    out: &mut Folded,
) -> HashSet<usize> {
    let mut sources: BTreeMap<u32, BTreeMap<u32, Epochs<'_>>> = BTreeMap::new();
    for report in running {
        let epoch = epoch_of(&mut sources, report);
        match report.said.scope {
            UsageScope::Turn => {
                epoch.turns.entry(report.said.turn.as_deref()).or_default().push(*report);
            }
            UsageScope::Snapshot | UsageScope::Response => epoch.totals.push(*report),
        }
    }
    for report in single {
        if sources.contains_key(&report.said.conversation) {
            epoch_of(&mut sources, report).responses.push(*report);
        }
    }
    let mut incomplete = HashSet::new();
    for sources in sources.into_values() {
        one_conversation(sources, out, &mut incomplete);
    }
    incomplete
}

fn epoch_of<'m, 'a>(
    sources: &'m mut BTreeMap<u32, BTreeMap<u32, Epochs<'a>>>,
    report: &Report<'a>,
) -> &'m mut Epoch<'a> {
    let said = report.said;
    let of_source = sources.entry(said.conversation).or_default().entry(said.source).or_default();
    of_source.entry(said.epoch).or_default()
}

/// Epochs are numbered within a source, so totals of two sources can never be added: the source
/// that says most holds, the later on a tie. Where a source tells single responses, one that tells
/// only totals would tell the same tokens again.
fn one_conversation(
    sources: BTreeMap<u32, Epochs<'_>>,
    out: &mut Folded,
    incomplete: &mut HashSet<usize>,
) {
    let mut told: Vec<Told<'_>> = sources.into_values().map(one_source).collect();
    let best = told
        .iter()
        .enumerate()
        .max_by_key(|(nth, t)| (t.has_responses, t.sum, t.last_us, std::cmp::Reverse(*nth)))
        .map(|(nth, _)| nth);
    for (nth, source) in told.drain(..).enumerate() {
        if Some(nth) == best {
            out.slices.extend(source.slices);
            for (report, reason) in source.excluded {
                out.exclude(report, reason);
            }
        } else {
            let apart: HashSet<usize> = source.excluded.iter().map(|(report, _)| *report).collect();
            for (report, reason) in source.excluded {
                out.exclude(report, reason);
            }
            for report in source.totals.into_iter().filter(|report| !apart.contains(report)) {
                out.exclude(report, Exclusion::OtherCopy);
            }
        }
        incomplete.extend(source.incomplete.map(|report| report.index));
    }
}

fn one_source(epochs: Epochs<'_>) -> Told<'_> {
    let mut told = Told::default();
    for epoch in epochs.into_values() {
        one_epoch(epoch, &mut told);
    }
    let known = |slice: &Slice| i128::from(slice.tokens.total.known);
    told.sum = told.slices.iter().map(known).sum();
    told
}

fn one_epoch<'a>(mut epoch: Epoch<'a>, told: &mut Told<'a>) {
    let own: Vec<Report<'_>> =
        epoch.responses.iter().filter(|report| !report.said.is_copy()).copied().collect();
    told.has_responses |= !epoch.responses.is_empty();
    let first = own.iter().map(|report| report.said.sequence).min();
    in_order(&mut epoch.totals);
    told.totals.extend(epoch.totals.iter().map(|report| report.index));
    told.last_us = epoch.totals.iter().map(|r| r.said.at_us).fold(told.last_us, i64::max);
    let (copied, mut totals): (Vec<_>, Vec<_>) =
        epoch.totals.into_iter().partition(|report| report.said.is_copy());
    told.excluded.extend(copied.iter().map(|r| (r.index, Exclusion::CopiedHistory)));
    let base = copied.last().map_or(Tokens::ZERO, |report| report.tokens);
    let covers = |report: &Report<'_>| first.is_some_and(|first| report.said.sequence > first);
    let covering = totals.iter().position(covers).map(|at| totals.split_off(at));
    let covering = covering.unwrap_or_default();
    told.excluded.extend(covering.iter().map(|r| (r.index, Exclusion::CoveredSnapshot)));
    let has_totals = !totals.is_empty() || !covering.is_empty();
    let counted = totals.last().map_or(base.total.known, |report| report.tokens.total.known);
    if let Some(last) = covering.last()
        && i128::from(last.tokens.total.known) > i128::from(counted) + distinct_sum(&own)
    {
        told.incomplete = own.iter().max_by_key(|report| report.said.sequence).copied();
    }
    grow(&totals, base, told);
    for (turn, mut reports) in epoch.turns {
        in_order(&mut reports);
        told.totals.extend(reports.iter().map(|report| report.index));
        let copies = reports.iter().any(|report| report.said.is_copy());
        let answered = own.iter().any(|r| r.said.turn.is_none() || r.said.turn.as_deref() == turn);
        if copies {
            told.excluded.extend(reports.iter().map(|r| (r.index, Exclusion::CopiedHistory)));
        } else if has_totals || answered {
            told.excluded.extend(reports.iter().map(|r| (r.index, Exclusion::CoveredSnapshot)));
        } else {
            grow(&reports, Tokens::ZERO, told);
        }
    }
}

fn in_order(reports: &mut [Report<'_>]) {
    reports.sort_by_key(|report| (report.said.sequence, report.index));
}

/// The sum of single responses, each once, by its largest report.
fn distinct_sum(responses: &[Report<'_>]) -> i128 {
    let mut anonymous = 0;
    let mut largest: BTreeMap<&str, i128> = BTreeMap::new();
    for report in responses {
        let total = i128::from(report.tokens.total.known);
        match report.said.response.as_deref() {
            None => anonymous += total,
            Some(id) => {
                let held = largest.entry(id).or_insert(total);
                *held = total.max(*held);
            }
        }
    }
    anonymous + largest.into_values().sum::<i128>()
}

/// One slice a report: what the total grew by since the report before. The last report holds: an
/// earlier one that says more is cut to it.
fn grow(reports: &[Report<'_>], base: Tokens, told: &mut Told<'_>) {
    let mut totals: Vec<Tokens> = reports.iter().map(|report| report.tokens).collect();
    let mut later: Option<Tokens> = None;
    for total in totals.iter_mut().rev() {
        if let Some(later) = later {
            *total = total.zip(&later, not_above);
        }
        later = Some(*total);
    }
    let mut seen = base;
    for (report, total) in reports.iter().zip(&totals) {
        told.slices.push(Slice {
            provider: report.said.provider,
            conversation: report.said.conversation,
            model: report.said.model,
            at_us: report.said.at_us,
            tokens: total.zip(&seen, growth),
            is_response: false,
            report: report.index,
        });
        seen = total.zip(&seen, |now, before| {
            if is_known(now) { now } else { Amount { known: now.known.max(before.known), ..now } }
        });
    }
}

fn is_known(amount: Amount) -> bool {
    amount.confidence != Confidence::Unknown
}

fn not_above(amount: Amount, later: Amount) -> Amount {
    if is_known(amount) && is_known(later) {
        Amount { known: amount.known.min(later.known), ..amount }
    } else {
        amount
    }
}

fn growth(now: Amount, before: Amount) -> Amount {
    Amount { known: (now.known - before.known).max(0), ..now }
}
