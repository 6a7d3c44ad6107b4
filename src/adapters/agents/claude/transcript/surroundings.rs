//! What happened around the conversation: files that others changed, pull requests, moves to
//! another folder.

use super::super::ADAPTER_VERSION;
use super::super::git;
use super::super::wire::{member, text};
use super::line::Line;
use super::{ClaudeTranscript, Reply};
use crate::domain::event::{EventDraft, EventKind, NativeId};
use crate::domain::evidence::EvidenceDraft;
use crate::domain::outcome::{Message, TurnDraft};
use crate::domain::payload::EvidenceKind;
use crate::domain::provenance::{CollectionMethod, TrustClass};
use serde_json::{Value, json};

impl ClaudeTranscript {
    /// The host found a file that the agent had read to be another one now: a person, a formatter
    /// or a command changed it. How is not told (the snippet is a view of the file, no change), so
    /// the diff stays empty; that it changed makes earlier test runs stale.
    pub(super) fn changed_file(&mut self, line: &Line<'_>, attachment: &Value) -> Reply {
        let Some(path) = text(attachment, "filename") else {
            return Reply::Ignored("changed file without a name");
        };
        let turn = self.turn_of(line);
        let place = "attachment.filename";
        let mut event =
            line.event(EventKind::FileChanged, line.block_id(0), turn.as_deref(), place);
        event.text = Some(path.to_owned());
        let told = Fact {
            kind: EvidenceKind::FileDiff,
            slot: format!("diff:{path}"),
            payload: json!({"path": path, "diff": ""}),
            how: "attachment#changed_file",
            sensor: "claude_changed_file_v1",
        };
        Reply::Said(told.with_event(line, event), "attachment")
    }

    /// The link is written again and again; it names its pull request, so they all meet.
    pub(super) fn pull_request(&mut self, line: &Line<'_>) -> Reply {
        let Some(payload) = git::linked_pull_request(line.value) else {
            return Reply::Ignored("pull request without a number");
        };
        let number = line.value.get("prNumber").and_then(Value::as_i64).unwrap_or_default();
        let whose = text(line.value, "prRepository").or_else(|| text(line.value, "prUrl"));
        let id = format!("{}#{number}", whose.unwrap_or_default());
        let turn = self.turn_of(line);
        let native = NativeId::new("pull_request", id.as_str());
        let (said, path) = match text(line.value, "prUrl") {
            Some(url) => (git::without_credentials(url), "prUrl"),
            None => (number.to_string(), "prNumber"),
        };
        let mut event = line.event(EventKind::PullRequest, native, turn.as_deref(), path);
        event.text = Some(said);
        let told = Fact {
            kind: EvidenceKind::ProcessObservation,
            slot: "pull_request".to_owned(),
            payload,
            how: "pr-link#link",
            sensor: "claude_pull_request_link_v1",
        };
        Reply::Said(told.with_event(line, event), "pull request")
    }

    /// Whether the session works in a worktree, and in which.
    pub(super) fn worktree(&mut self, line: &Line<'_>) -> Reply {
        let facts = &mut self.state.conversation(line.conversation).facts;
        let Some(entered) = member(line.value, "worktreeSession") else {
            facts.left();
            return Reply::Ignored("no worktree any more");
        };
        let branch = text(entered, "worktreeBranch");
        let told = text(entered, "worktreePath").and_then(|path| facts.entered(path, branch));
        folder_fact(line, told, "worktreeSession.worktreePath", "worktree told before")
    }

    /// The session's file was moved to another folder's project.
    pub(super) fn relocated(&mut self, line: &Line<'_>) -> Reply {
        let facts = &mut self.state.conversation(line.conversation).facts;
        let told = text(line.value, "relocatedCwd").and_then(|cwd| facts.moved(cwd));
        folder_fact(line, told, "relocatedCwd", "folder told before")
    }
}

fn folder_fact(
    line: &Line<'_>,
    told: Option<TurnDraft>,
    path: &str,
    otherwise: &'static str,
) -> Reply {
    let told = told.map(|told| {
        Message::Turn(TurnDraft {
            conversation: line.conversation.to_owned(),
            observed_at: line.at.map(str::to_owned),
            path: path.to_owned(),
            ..told
        })
    });
    Reply::Said(told.into_iter().collect(), otherwise)
}

/// Evidence of an event that is no call.
struct Fact {
    kind: EvidenceKind,
    slot: String,
    payload: Value,
    /// The last part of the provenance.
    how: &'static str,
    sensor: &'static str,
}

impl Fact {
    fn with_event(self, line: &Line<'_>, event: EventDraft) -> Vec<Message> {
        let evidence = EvidenceDraft {
            conversation: line.conversation.to_owned(),
            event_kind: event.kind.clone(),
            event_native: event.native.clone(),
            kind: self.kind,
            slot: self.slot,
            payload: self.payload,
            provenance: format!("claude_code:{ADAPTER_VERSION}:transcript:{}", self.how),
            sensor_name: self.sensor.to_owned(),
            trust_class: TrustClass::AgentAdjacent,
            collection_method: CollectionMethod::FilePoll,
            observed_at: line.at.map(str::to_owned),
            extension: None,
            path: event.path.clone(),
        };
        vec![Message::Event(event), Message::Evidence(evidence)]
    }
}
