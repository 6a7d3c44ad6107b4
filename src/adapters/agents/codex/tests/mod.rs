//! Behaviour of the Codex adapters, over small fixtures and, where present, over real files.

mod continued;
mod corpus;
mod exec_streams;
mod forks;
mod history;
mod hooks;
mod messages;
mod resume;
mod tools;
mod usage;

use super::CodexFamily;
use crate::domain::event::{EventDraft, EventKind};
use crate::domain::evidence::EvidenceDraft;
use crate::domain::outcome::{Message, NormalizationOutcome};
use crate::domain::payload::EvidenceKind;
use crate::ports::agent::{AgentAdapter, AgentFamily};
use serde_json::Value;

/// A conversation hint that no fixture uses.
const HINT: &str = "hint";

fn adapter() -> Box<dyn AgentAdapter> {
    CodexFamily.file_adapter(super::FORMAT_ROLLOUT).unwrap()
}

/// The lines of a fixture.
fn fixture(case: &str) -> Vec<Value> {
    let path = format!("{}/fixtures/agents/codex/{case}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a fresh reader answers to each line.
fn outcomes(lines: &[Value]) -> Vec<NormalizationOutcome> {
    let mut adapter = adapter();
    lines.iter().map(|line| adapter.normalize(HINT, line)).collect()
}

/// All messages of a fixture.
fn messages(case: &str) -> Vec<Message> {
    messages_of(&fixture(case))
}

fn messages_of(lines: &[Value]) -> Vec<Message> {
    outcomes(lines).into_iter().flat_map(NormalizationOutcome::into_messages).collect()
}

fn events(messages: &[Message]) -> Vec<&EventDraft> {
    messages
        .iter()
        .filter_map(|message| match message {
            Message::Event(event) => Some(event),
            _ => None,
        })
        .collect()
}

fn events_of<'a>(messages: &'a [Message], kind: &EventKind) -> Vec<&'a EventDraft> {
    events(messages).into_iter().filter(|event| event.kind == *kind).collect()
}

fn evidence(messages: &[Message]) -> Vec<&EvidenceDraft> {
    messages
        .iter()
        .filter_map(|message| match message {
            Message::Evidence(evidence) => Some(evidence),
            _ => None,
        })
        .collect()
}

/// Exit codes by the id of the call they belong to.
fn exit_codes(messages: &[Message]) -> Vec<(&str, i64)> {
    evidence(messages)
        .into_iter()
        .filter(|piece| piece.kind == EvidenceKind::ExitCode)
        .map(|piece| (piece.event_native.id.as_str(), piece.payload["exit_code"].as_i64().unwrap()))
        .collect()
}
