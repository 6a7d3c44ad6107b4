//! Calls of file tools with what became of them, gathered for the verifier.
//!
//! A recorded diff is a write that the host states; a failed call that names a file and what to
//! put there is a write that did not happen.

use super::verify::place;
use crate::domain::event::{EventKind, Outcome};
use crate::domain::verdict::{FileChange, FileWrite};
use crate::ports::reader::{EventRow, EvidenceRow};
use std::collections::HashMap;
use uuid::Uuid;

/// The writes of a conversation, in the order of its events.
pub(super) fn read(
    events: &[EventRow],
    evidence: &[EvidenceRow],
    order: &HashMap<Uuid, i64>,
    covers: impl Fn(&str) -> bool,
) -> Vec<FileWrite> {
    let by_id: HashMap<Uuid, &EventRow> = events.iter().map(|event| (event.id, event)).collect();
    let diffs = evidence.iter().filter(|row| row.kind == "file_diff").filter_map(|row| {
        let event = by_id.get(&row.event_id)?;
        let diff = row.payload.get("diff").and_then(|diff| diff.as_str()).unwrap_or_default();
        let path = row.payload.get("path")?.as_str()?.to_owned();
        let outcome = Outcome::from_tag(event.outcome.as_deref().unwrap_or("unknown"));
        let seen = row.seen.as_ref().or_else(|| event.sightings.first());
        Some(FileWrite {
            path,
            change: change(diff),
            outcome,
            order: *order.get(&event.id)?,
            turn: event.turn_id.clone(),
            trusted: covers(&row.ingress) && covers(&event.ingress),
            place: seen.map(place).unwrap_or_default(),
            evidence_ids: vec![row.id],
        })
    });
    let failures = events.iter().filter_map(|event| {
        let path = failed_path(event)?;
        let of_event = |row: &&EvidenceRow| row.event_id == event.id;
        Some(FileWrite {
            path,
            change: FileChange::Written,
            outcome: Outcome::Failed,
            order: *order.get(&event.id)?,
            turn: event.turn_id.clone(),
            trusted: covers(&event.ingress),
            place: event.sightings.first().map(place).unwrap_or_default(),
            evidence_ids: evidence.iter().filter(of_event).map(|row| row.id).collect(),
        })
    });
    let mut writes: Vec<FileWrite> = diffs.chain(failures).collect();
    writes.sort_by_key(|write| write.order);
    writes
}

/// The file that a failed call was to write.
fn failed_path(event: &EventRow) -> Option<String> {
    let failed = event.kind == EventKind::PostToolUse.as_str()
        && event.outcome.as_deref() == Some(Outcome::Failed.as_str());
    let input = event.tool_input.as_ref().filter(|_| failed)?;
    let puts = ["content", "new_string", "new_str", "edits"];
    puts.iter().find_map(|key| input.get(*key))?;
    let named = ["file_path", "path"].iter().find_map(|key| input.get(*key)?.as_str())?;
    Some(named.to_owned())
}

/// What a recorded diff says of the file's being there: only lines that came, without a hunk, are a
/// file that is new; only lines that went are one that is gone.
fn change(diff: &str) -> FileChange {
    let all = |sign: char| !diff.is_empty() && diff.lines().all(|line| line.starts_with(sign));
    if diff == "(added)" || all('+') {
        return FileChange::Created;
    }
    if diff == "(deleted)" || all('-') {
        return FileChange::Deleted;
    }
    FileChange::Written
}
