//! Crediting responses: one native response id is one response, wherever and however often told.
//!
//! The report with the largest output holds; fields of two reports are never mixed. Who gets the
//! credit is another question: the conversation that did the work, not the ones that copied it.

use super::fold::{Exclusion, Folded, Report, Slice};
use super::tokens::Confidence;
use std::collections::{HashMap, HashSet};

/// Reports of one response id: the first, then the others. Most have few.
struct Group<'a> {
    first: Report<'a>,
    others: Vec<Report<'a>>,
}

impl<'a> Group<'a> {
    fn all(&self) -> impl Iterator<Item = &Report<'a>> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

/// Credits each response once. Those of `incomplete` reports are lower bounds.
pub(super) fn credit(reports: &[Report<'_>], incomplete: &HashSet<usize>, out: &mut Folded) {
    let mut groups: Vec<Group<'_>> = Vec::with_capacity(reports.len());
    let mut by_id: HashMap<(u32, &str), usize> = HashMap::with_capacity(reports.len());
    for report in reports {
        let Some(id) = report.said.response.as_deref() else {
            groups.push(Group { first: *report, others: Vec::new() });
            continue;
        };
        let slot = *by_id.entry((report.said.provider, id)).or_insert(groups.len());
        match groups.get_mut(slot) {
            Some(group) => group.others.push(*report),
            None => groups.push(Group { first: *report, others: Vec::new() }),
        }
    }
    for group in &groups {
        if group.others.is_empty() {
            one(std::slice::from_ref(&group.first), incomplete, out);
        } else {
            let all: Vec<Report<'_>> = group.all().copied().collect();
            for response in apart(all) {
                one(&response, incomplete, out);
            }
        }
    }
}

/// What went into a response; reports of one response agree on it.
fn prompt(report: &Report<'_>) -> (i64, i64, i64) {
    let tokens = &report.tokens;
    (tokens.input.known, tokens.cached_input.known, tokens.cache_write_input.known)
}

/// Reports of one id taken apart where they cannot be one response: a gateway that gives every
/// response the same id shows in differing prompts. A prompt of nothing is a placeholder, told
/// before the numbers were known, and differs from none.
fn apart(reports: Vec<Report<'_>>) -> Vec<Vec<Report<'_>>> {
    let mut responses: Vec<((i64, i64, i64), Vec<Report<'_>>)> = Vec::new();
    let (blank, told): (Vec<_>, Vec<_>) =
        reports.into_iter().partition(|report| prompt(report) == (0, 0, 0));
    for report in told {
        let asked = prompt(&report);
        match responses.iter_mut().find(|(of, _)| *of == asked) {
            Some((_, known)) => known.push(report),
            None => responses.push((asked, vec![report])),
        }
    }
    match responses.first_mut() {
        Some((_, first)) => first.extend(blank),
        None => responses.push(((0, 0, 0), blank)),
    }
    responses.into_iter().map(|(_, reports)| reports).collect()
}

/// Credits one response.
fn one(reports: &[Report<'_>], incomplete: &HashSet<usize>, out: &mut Folded) {
    let Some(best) = reports.iter().max_by_key(|report| size(report)) else { return };
    let stated = |report: &Report<'_>| Some(report.said.at_us).filter(|at| *at != 0);
    let (conversation, is_original) = origin(reports, best);
    let mut tokens = best.tokens;
    if !is_original || reports.iter().any(|report| incomplete.contains(&report.index)) {
        tokens = tokens.at_best(Confidence::LowerBound);
    }
    for report in reports.iter().filter(|report| report.index != best.index) {
        let elsewhere = report.said.is_copy() || report.said.conversation != conversation;
        let reason = if elsewhere { Exclusion::CopiedHistory } else { Exclusion::RepeatedResponse };
        out.exclude(report.index, reason);
    }
    out.slices.push(Slice {
        provider: best.said.provider,
        conversation,
        model: best.said.model.or_else(|| reports.iter().find_map(|r| r.said.model)),
        at_us: reports.iter().filter_map(stated).min().unwrap_or(0),
        tokens,
        is_response: true,
        report: best.index,
    });
}

/// The larger report wins: by output, then by total, then the finished one, then the later.
fn size(report: &Report<'_>) -> (i64, i64, bool, i64, i64, usize) {
    let output = match report.tokens.output.confidence {
        Confidence::Unknown => -1,
        Confidence::Exact | Confidence::LowerBound => report.tokens.output.known,
    };
    let said = report.said;
    let finished = said.floor.is_none();
    (output, report.tokens.total.known, finished, said.at_us, said.sequence, report.index)
}

/// The conversation that spent the tokens, and whether it told so itself: the earliest that does
/// not call its report a copy, a trunk before its branches.
fn origin(reports: &[Report<'_>], best: &Report<'_>) -> (u32, bool) {
    let when = |at: i64| if at == 0 { i64::MAX } else { at };
    let own = reports.iter().filter(|report| !report.said.is_copy()).min_by_key(|report| {
        let said = report.said;
        (said.branch, when(said.at_us), said.conversation, report.index)
    });
    match own {
        Some(report) => (report.said.conversation, true),
        None => (best.said.spent_in.unwrap_or(best.said.conversation), false),
    }
}
