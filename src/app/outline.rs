//! What a conversation comes to: its calls by outcome, the files it changed, the commits it made.
//!
//! Only what evidence states: a file is one that a recorded change names, a commit one that its
//! own output told. Nothing is guessed from commands.

use crate::domain::event::EventKind;
use crate::domain::payload::{
    Observation, ProcessObservationPayload, VcsOperationKind, VcsOutcome,
};
use crate::domain::record::Tally;
use crate::ports::reader::{EventRow, EvidenceRow};
use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use uuid::Uuid;

/// A file with what was done to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Touched {
    pub path: String,
    pub edits: usize,
    /// Lines that the recorded changes add and remove.
    pub added: usize,
    pub removed: usize,
}

/// A commit or push, as its own output told it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VcsStep {
    pub event_id: Uuid,
    pub operation: VcsOperationKind,
    pub outcome: VcsOutcome,
    pub commit_sha: Option<String>,
    pub branch: Option<String>,
    pub remote: Option<String>,
}

/// The outline of a conversation.
#[derive(Debug, Default)]
pub struct Outline {
    /// Calls by outcome; `no_result` for those of which only the proposal was seen.
    pub calls: Tally,
    /// By path.
    pub files: Vec<Touched>,
    /// In order.
    pub commits: Vec<VcsStep>,
    /// How long a call ran in milliseconds, where that is stated.
    pub durations: HashMap<Uuid, i64>,
}

/// The events that are told: a call by its result; only one without a result by its proposal.
pub fn entries(events: &[EventRow]) -> Vec<&EventRow> {
    let resolved: HashSet<&str> = events
        .iter()
        .filter(|e| e.kind == EventKind::PostToolUse.as_str())
        .filter_map(|e| e.call_id.as_deref())
        .collect();
    let is_answered = |e: &EventRow| {
        e.kind == EventKind::PreToolUse.as_str()
            && e.call_id.as_deref().is_some_and(|id| resolved.contains(id))
    };
    events.iter().filter(|e| !is_answered(e)).collect()
}

/// The outline of what these rows say.
pub fn outline(events: &[EventRow], evidence: &[EvidenceRow]) -> Outline {
    let mut out = Outline::default();
    for event in entries(events) {
        match EventKind::from_tag(&event.kind) {
            EventKind::PostToolUse => {
                out.calls.add(event.outcome.as_deref().unwrap_or("unknown"), 1);
            }
            EventKind::PreToolUse => out.calls.add("no_result", 1),
            _ => {}
        }
    }
    let mut files: BTreeMap<&str, Touched> = BTreeMap::new();
    for row in evidence {
        match row.kind.as_str() {
            "file_diff" => touch(&mut files, &row.payload),
            "process_observation" => observe(&mut out, row),
            _ => {}
        }
    }
    out.files = files.into_values().collect();
    out
}

fn touch<'a>(files: &mut BTreeMap<&'a str, Touched>, payload: &'a Value) {
    let Some(path) = payload.get("path").and_then(Value::as_str) else { return };
    let (added, removed) = lines(payload);
    let held = files.entry(path).or_insert_with(|| Touched {
        path: path.to_owned(),
        edits: 0,
        added: 0,
        removed: 0,
    });
    held.edits += 1;
    held.added += added;
    held.removed += removed;
}

/// Lines that a recorded change adds and removes.
pub fn lines(payload: &Value) -> (usize, usize) {
    let diff = payload.get("diff").and_then(Value::as_str).unwrap_or_default();
    let begin = |mark: char| diff.lines().filter(|line| line.starts_with(mark)).count();
    (begin('+'), begin('-'))
}

fn observe(out: &mut Outline, row: &EvidenceRow) {
    let observed = ProcessObservationPayload::deserialize(&row.payload).ok();
    match observed.and_then(|payload| payload.observation) {
        Some(Observation::CommandDuration { duration_ms }) => {
            out.durations.insert(row.event_id, duration_ms);
        }
        Some(Observation::VcsOperation { operation, outcome, commit_sha, branch, remote }) => {
            let event_id = row.event_id;
            out.commits.push(VcsStep { event_id, operation, outcome, commit_sha, branch, remote });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(id: u128, kind: &str, call: Option<&str>, outcome: Option<&str>) -> EventRow {
        EventRow {
            id: Uuid::from_u128(id),
            provider: "p".to_owned(),
            native_id: "s".to_owned(),
            kind: kind.to_owned(),
            turn_id: None,
            call_id: call.map(str::to_owned),
            agent_id: None,
            outcome: outcome.map(str::to_owned),
            tool_name: None,
            tool_input: None,
            tool_response: None,
            text: None,
            raw: None,
            observed_at: String::new(),
            clock_source: String::new(),
            order_us: 0,
            heuristic: false,
            disagrees: false,
            ingress: "built_in".to_owned(),
            sightings: Vec::new(),
        }
    }

    fn evidence(kind: &str, payload: Value) -> EvidenceRow {
        EvidenceRow {
            id: Uuid::from_u128(9),
            native_id: "s".to_owned(),
            event_id: Uuid::from_u128(1),
            kind: kind.to_owned(),
            payload,
            provenance: String::new(),
            source: Value::Null,
            extension: None,
            observed_at: String::new(),
            order_us: 0,
            ingress: "built_in".to_owned(),
            seen: None,
        }
    }

    #[test]
    fn a_call_is_told_once_and_counted_by_its_outcome() {
        let events = [
            event(1, "pre_tool_use", Some("a"), None),
            event(2, "post_tool_use", Some("a"), Some("failed")),
            event(3, "pre_tool_use", Some("b"), None),
            event(4, "post_tool_use", None, None),
            event(5, "pre_tool_use", None, None),
        ];
        let told: Vec<u128> = entries(&events).iter().map(|e| e.id.as_u128()).collect();
        assert_eq!(told, [2, 3, 4, 5]);
        let calls = outline(&events, &[]).calls.0;
        let expected = [("failed", 1), ("no_result", 2), ("unknown", 1)];
        assert_eq!(calls, expected.map(|(word, count)| (word.to_owned(), count)).into());
    }

    #[test]
    fn files_add_up_and_commits_and_durations_are_those_that_are_stated() {
        let commit = json!({"description": "d", "observation": {"observation_kind": "vcs_operation",
            "operation": "commit", "outcome": "created", "commit_sha": "abc1234"}});
        let took = json!({"description": "d", "observation":
            {"observation_kind": "command_duration", "duration_ms": 40}});
        let rows = [
            evidence("file_diff", json!({"path": "b", "diff": "@@\n-x\n+y\n+z\n c"})),
            evidence("file_diff", json!({"path": "a", "diff": "+n"})),
            evidence("file_diff", json!({"path": "b", "diff": "-q"})),
            evidence("process_observation", commit),
            evidence("process_observation", took),
            evidence("process_observation", json!({"description": "something else"})),
            evidence("exit_code", json!({"command": "git commit", "exit_code": 0})),
        ];
        let out = outline(&[], &rows);
        let told: Vec<_> =
            out.files.iter().map(|f| (f.path.as_str(), f.edits, f.added, f.removed)).collect();
        assert_eq!(told, [("a", 1, 1, 0), ("b", 2, 2, 2)]);
        assert_eq!(out.commits.len(), 1);
        assert_eq!(out.commits[0].commit_sha.as_deref(), Some("abc1234"));
        assert_eq!(out.durations, HashMap::from([(Uuid::from_u128(1), 40)]));
    }
}
