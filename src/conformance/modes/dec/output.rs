//! Defects of what a decoder answers. Each function is true when it changed something.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::input::FORKED_FROM;
use crate::conformance::decoding::{At, Dialect, LINEAGE, Observation, QUARANTINE, USAGE};

/// The kind of an unknown record.
pub(super) const UNRECOGNIZED: &str = "loss:unrecognized";

fn record<'b>(bytes: &'b [u8], one: &Observation) -> Option<&'b [u8]> {
    bytes.get(usize::try_from(one.at.offset).ok()?..usize::try_from(one.end()).ok()?)
}

/// Keeps what the test keeps; true when something went.
fn retain(all: &mut Vec<Observation>, keep: impl FnMut(&Observation) -> bool) -> bool {
    let before = all.len();
    all.retain(keep);
    all.len() != before
}

/// A message that is there only as a second telling.
fn is_fallback_message(one: &Observation) -> bool {
    one.fallback && one.text.is_some()
}

pub(super) fn evidence_without_place(all: &mut [Observation]) -> bool {
    let mut changed = false;
    for one in all.iter_mut().filter(|one| one.is_evidence()) {
        one.at = At { path: std::mem::take(&mut one.at.path), ..At::default() };
        changed = true;
    }
    changed
}

pub(super) fn char_offsets(bytes: &[u8], all: &mut [Observation]) -> bool {
    // Whoever counts characters still steps over a byte order mark.
    let mark = if bytes.starts_with(b"\xef\xbb\xbf") { 2 } else { 0 };
    let mut changed = false;
    for one in all {
        let before = usize::try_from(one.at.offset).ok().and_then(|end| bytes.get(..end));
        let Some(before) = before.and_then(|before| std::str::from_utf8(before).ok()) else {
            continue;
        };
        let counted = before.chars().count() as u64 + if before.is_empty() { 0 } else { mark };
        changed |= counted != one.at.offset;
        one.at.offset = counted;
    }
    changed
}

pub(super) fn line_identity(all: &mut [Observation]) -> bool {
    let mut changed = false;
    for one in all.iter_mut().filter(|one| one.id.is_some()) {
        one.id = Some(format!("line-{}", one.at.offset));
        changed = true;
    }
    changed
}

pub(super) fn running_index(all: &mut [Observation]) -> bool {
    let mut changed = false;
    for (number, one) in all.iter_mut().enumerate() {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        changed |= one.at.index != number;
        one.at.index = number;
    }
    changed
}

/// Counts second tellings whose place relative to their twin is as asked.
pub(super) fn count_projections(all: &mut [Observation], hits: impl Fn(u64, u64) -> bool) -> bool {
    let twins: BTreeMap<String, u64> = all
        .iter()
        .filter(|one| one.counted)
        .filter_map(|one| Some((one.id.clone()?, one.at.offset)))
        .collect();
    let mut changed = false;
    for one in all.iter_mut().filter(|one| !one.counted && one.is_event()) {
        let twin = one.id.as_ref().and_then(|id| twins.get(id));
        if twin.is_some_and(|twin| hits(*twin, one.at.offset)) {
            one.counted = true;
            changed = true;
        }
    }
    changed
}

/// Drops messages that are there only as a second telling, where the test says so.
pub(super) fn drop_fallbacks(
    all: &mut Vec<Observation>,
    drops: impl Fn(&Observation) -> bool,
) -> bool {
    retain(all, |one| !(is_fallback_message(one) && drops(one)))
}

pub(super) fn drop_pending(all: &mut Vec<Observation>) -> bool {
    let ended: BTreeSet<Option<String>> =
        all.iter().filter(|one| one.kind == "turn_end").map(|one| one.turn.clone()).collect();
    drop_fallbacks(all, |one| !ended.contains(&one.turn))
}

pub(super) fn drop_equal_texts(all: &mut Vec<Observation>) -> bool {
    let mut seen = BTreeSet::new();
    retain(all, |one| {
        !(one.counted && one.is_event() && one.text.is_some())
            || seen.insert((one.kind.clone(), one.turn.clone(), one.text.clone()))
    })
}

pub(super) fn match_across_turns(all: &mut [Observation]) -> bool {
    let later: Vec<_> = all
        .iter()
        .filter(|one| one.is_event() && one.counted && !one.fallback)
        .map(|one| (one.text.clone(), one.turn.clone(), one.at.offset))
        .collect();
    let mut changed = false;
    for one in all.iter_mut().filter(|one| is_fallback_message(one)) {
        let matched = later.iter().any(|(text, turn, offset)| {
            *text == one.text && *turn != one.turn && *offset > one.at.offset
        });
        if matched {
            one.counted = false;
            one.fallback = false;
            changed = true;
        }
    }
    changed
}

pub(super) fn attach_nested(all: &mut [Observation]) -> bool {
    let calls: Vec<(String, u64)> = all
        .iter()
        .filter(|one| one.kind == "pre_tool_use")
        .filter_map(|one| Some((one.call.clone()?, one.at.offset)))
        .collect();
    let ends: BTreeMap<String, Option<String>> = all
        .iter()
        .filter(|one| one.kind == "post_tool_use" && !one.fallback)
        .filter_map(|one| Some((one.call.clone()?, one.id.clone())))
        .collect();
    let mut changed = false;
    for one in all.iter_mut().filter(|one| one.kind == "post_tool_use" && one.fallback) {
        let is_call = calls.iter().any(|(call, _)| one.call.as_ref() == Some(call));
        let last = calls.iter().rev().find(|(_, offset)| *offset < one.at.offset);
        let Some((call, _)) = last.filter(|_| !is_call) else { continue };
        one.call = Some(call.clone());
        one.id = ends.get(call).cloned().flatten().or(one.id.take());
        changed = true;
    }
    changed
}

pub(super) fn drop_kind(all: &mut Vec<Observation>, kind: &str) -> bool {
    retain(all, |one| one.kind != kind)
}

pub(super) fn keep_values(bytes: &[u8], all: &mut [Observation]) -> bool {
    let mut changed = false;
    for one in all.iter_mut().filter(|one| one.kind == UNRECOGNIZED) {
        let tag = one.text.take().unwrap_or_default();
        let value = record(bytes, one).map(String::from_utf8_lossy).unwrap_or_default();
        one.text = Some(format!("{tag} {value}"));
        changed = true;
    }
    changed
}

/// The first thing in a path that looks like a conversation's id.
fn id_in(path: &str) -> Option<&str> {
    let stem = path.rsplit('/').next()?.split('.').next()?;
    let tail = stem.len().checked_sub(36)?;
    stem.get(tail..).filter(|id| id.chars().filter(|c| *c == '-').count() == 4)
}

pub(super) fn name_from_path(path: &str, all: &mut [Observation]) -> bool {
    let Some(named) = id_in(path) else { return false };
    let mut changed = false;
    for one in all {
        changed |= one.conversation.as_deref() != Some(named);
        one.conversation = Some(named.to_owned());
    }
    changed
}

pub(super) fn quarantine_copies(
    dialect: Dialect,
    bytes: &[u8],
    all: &mut Vec<Observation>,
) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let mark = match dialect {
        Dialect::ClaudeTranscript => FORKED_FROM,
        Dialect::CodexRollout => "\"session_meta\"",
    };
    let (mut at, mut metas) = (0, 0);
    let mut refused = Vec::new();
    for line in text.split_inclusive('\n') {
        let marked = line.contains(mark);
        metas += usize::from(marked);
        let is_bad = match dialect {
            Dialect::ClaudeTranscript => marked,
            // What follows a second metadata line is given up as well.
            Dialect::CodexRollout => metas > 1,
        };
        if is_bad {
            refused.push((at, line.trim_end().len() as u64));
        }
        at += line.len() as u64;
    }
    if refused.is_empty() {
        return false;
    }
    all.retain(|one| !refused.iter().any(|(offset, _)| *offset == one.at.offset));
    all.extend(refused.into_iter().map(|(offset, length)| Observation {
        kind: QUARANTINE.to_owned(),
        counted: true,
        at: At { offset, length, ..At::default() },
        ..Observation::default()
    }));
    true
}

pub(super) fn merge_children(all: &mut Vec<Observation>) -> bool {
    let parents: BTreeMap<Option<String>, String> = all
        .iter()
        .filter_map(|one| match &one.related {
            Some((relation, parent)) if relation == "parent" => {
                Some((one.conversation.clone(), parent.clone()))
            }
            _ => None,
        })
        .collect();
    if parents.is_empty() {
        return false;
    }
    all.retain(|one| one.kind != LINEAGE);
    for one in all {
        if let Some(parent) = parents.get(&one.conversation) {
            one.conversation = Some(parent.clone());
        }
    }
    true
}

pub(super) fn last_model(all: &mut [Observation]) -> bool {
    let stated: Vec<(u64, Option<String>)> = all
        .iter()
        .filter(|one| one.model.is_some())
        .map(|one| (one.at.offset, one.model.clone()))
        .collect();
    let mut changed = false;
    for one in all.iter_mut().filter(|one| one.kind == USAGE) {
        let before = stated.iter().rev().find(|(offset, _)| *offset < one.at.offset);
        let last = before.and_then(|(_, model)| model.clone());
        changed |= last != one.model;
        one.model = last;
    }
    changed
}

pub(super) fn end_at_last(all: &mut Vec<Observation>) -> bool {
    let Some(last) = all.last() else { return false };
    let end = Observation {
        kind: "session_end".to_owned(),
        conversation: last.conversation.clone(),
        counted: true,
        at: At { index: u32::MAX, ..last.at.clone() },
        ..Observation::default()
    };
    all.push(end);
    true
}

pub(super) fn strict_only(bytes: &[u8], all: &mut Vec<Observation>) -> bool {
    retain(all, |one| {
        one.kind == QUARANTINE
            || record(bytes, one)
                .is_none_or(|record| serde_json::from_slice::<Value>(record).is_ok())
    })
}

pub(super) fn fixed_path(all: &mut [Observation]) -> bool {
    let first = all.iter().find(|one| one.is_evidence()).map(|one| one.at.path.clone());
    let Some(first) = first else { return false };
    let mut changed = false;
    for one in all.iter_mut().filter(|one| one.is_evidence()) {
        changed |= one.at.path != first;
        one.at.path.clone_from(&first);
    }
    changed
}
