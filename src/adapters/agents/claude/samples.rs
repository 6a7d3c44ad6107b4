//! Fixtures and short cuts for this folder's tests.

use super::hook::ClaudeHook;
use super::transcript::ClaudeTranscript;
use crate::domain::event::EventDraft;
use crate::domain::evidence::EvidenceDraft;
use crate::domain::outcome::{Message, NormalizationOutcome};
use crate::domain::usage::UsageDraft;
use crate::ports::agent::AgentAdapter;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder of the synthetic files.
pub(super) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agents/claude_code")
}

/// The values of a file: a value a line, or more; a torn end is left out.
pub(super) fn values(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .flat_map(|line| {
            serde_json::Deserializer::from_str(line).into_iter::<Value>().map_while(Result::ok)
        })
        .collect()
}

/// The values of a fixture.
pub(super) fn fixture(name: &str) -> Vec<Value> {
    values(&std::fs::read_to_string(fixtures().join(name)).unwrap())
}

/// Every transcript fixture by name, in order.
pub(super) fn transcripts() -> Vec<(String, Vec<Value>)> {
    let mut names: Vec<String> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".jsonl") && !name.starts_with("hooks"))
        .collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), fixture(&name))).collect()
}

/// The answers of a fresh transcript adapter.
pub(super) fn read(values: &[Value]) -> Vec<NormalizationOutcome> {
    let mut adapter = ClaudeTranscript::default();
    values.iter().map(|value| adapter.normalize("hint", value)).collect()
}

/// The answer of the hook adapter.
pub(super) fn hook(payload: &Value) -> NormalizationOutcome {
    ClaudeHook.normalize("hint", payload)
}

/// All messages of a transcript fixture.
pub(super) fn messages(name: &str) -> Vec<Message> {
    read(&fixture(name)).into_iter().flat_map(NormalizationOutcome::into_messages).collect()
}

pub(super) fn events(messages: &[Message]) -> Vec<&EventDraft> {
    messages
        .iter()
        .filter_map(|message| if let Message::Event(event) = message { Some(event) } else { None })
        .collect()
}

pub(super) fn evidence(messages: &[Message]) -> Vec<&EvidenceDraft> {
    messages
        .iter()
        .filter_map(|message| if let Message::Evidence(it) = message { Some(it) } else { None })
        .collect()
}

pub(super) fn usage(messages: &[Message]) -> Vec<&UsageDraft> {
    messages
        .iter()
        .filter_map(|message| if let Message::Usage(usage) = message { Some(usage) } else { None })
        .collect()
}

/// `<kind> <outcome> <id space>:<id>` of an event, for short comparisons.
pub(super) fn brief(event: &EventDraft) -> String {
    let outcome = event.outcome.as_ref().map_or("-", |o| o.as_str());
    format!("{} {outcome} {}:{}", event.kind, event.native.space, event.native.id)
}

/// The `brief` of every event.
pub(super) fn briefs(messages: &[Message]) -> Vec<String> {
    events(messages).into_iter().map(brief).collect()
}
