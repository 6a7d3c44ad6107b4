//! The envelope that every transcript line shares.

use super::super::wire::{flag, text};
use crate::domain::event::{Channel, EventDraft, EventKind, NativeId};
use serde_json::Value;

/// A line's common fields, borrowed.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) value: &'a Value,
    pub(super) kind: &'a str,
    /// The name of the file, without its ending.
    pub(super) hint: &'a str,
    /// The sub-agent's id on its lines, else the session's, else the hint.
    pub(super) conversation: &'a str,
    pub(super) session: Option<&'a str>,
    /// Only where the line is a sub-agent's: `isSidechain` or a fork's first line, with an id.
    pub(super) agent: Option<&'a str>,
    /// A sub-agent's line; old builds wrote these inline, without an `agentId`.
    pub(super) sidechain: bool,
    pub(super) uuid: Option<&'a str>,
    /// The line's own time, as spelled.
    pub(super) at: Option<&'a str>,
    pub(super) prompt: Option<&'a str>,
    /// The session that this line was copied from (older forks).
    pub(super) forked_from: Option<&'a str>,
}

impl<'a> Line<'a> {
    /// `None` when the value is no object with a `type`.
    pub(super) fn read(session_hint: &'a str, value: &'a Value) -> Option<Self> {
        let kind = text(value, "type")?;
        let session = text(value, "sessionId").or_else(|| text(value, "session_id"));
        let sidechain = flag(value, "isSidechain");
        let is_agents = sidechain || kind == "fork-context-ref";
        let agent = if is_agents { text(value, "agentId") } else { None };
        Some(Self {
            value,
            kind,
            hint: session_hint,
            conversation: agent.or(session).unwrap_or(session_hint),
            session,
            agent,
            sidechain,
            uuid: text(value, "uuid"),
            at: text(value, "timestamp"),
            prompt: text(value, "promptId"),
            forked_from: value.get("forkedFrom").and_then(|from| text(from, "sessionId")),
        })
    }

    /// The session of a conversation line that is no sub-agent's.
    pub(super) fn main_session(&self) -> Option<&'a str> {
        self.session.filter(|_| self.uuid.is_some() && !self.sidechain)
    }

    /// Whether the line is of a sub-agent whose file begins as a copy of the whole conversation,
    /// made to answer one question.
    pub(super) fn is_question_agents(&self) -> bool {
        let made_for =
            |agent: &str| agent.starts_with("acompact-") || agent.starts_with("aside_question-");
        self.agent.is_some_and(made_for)
    }

    /// The identity of a block of this line.
    pub(super) fn block_id(&self, block: usize) -> NativeId {
        self.uuid.map_or_else(NativeId::record, |uuid| NativeId::line(uuid, block))
    }

    /// A draft with what the envelope states.
    pub(super) fn event(
        &self,
        kind: EventKind,
        native: NativeId,
        turn: Option<&str>,
        path: impl Into<String>,
    ) -> EventDraft {
        EventDraft {
            turn_id: turn.map(str::to_owned),
            agent_id: self.agent.map(str::to_owned),
            observed_at: self.at.map(str::to_owned),
            path: path.into(),
            ..EventDraft::new(self.conversation, kind, native, Channel::Canonical)
        }
    }
}
