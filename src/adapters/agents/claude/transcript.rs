//! Transcripts: one JSON object a line, told apart by `type`.
//!
//! Conversation lines (`user`, `assistant`, `system`, `attachment`) carry a uuid, a time and the
//! facts that hold there; metadata lines mostly neither. A response is split over several lines, a
//! result carries no tool name, and a sub-agent's lines carry its parent's `sessionId`, so a little
//! state is kept: open calls by id, and for each conversation its turn and last told facts. Order
//! is file order: times go back, and parents may be missing.

mod assistant;
mod host;
mod line;
mod queue;
mod result;
mod resumed;
mod state;
mod surroundings;
mod tasks;
mod usage;
mod user;

pub(super) use self::host::error_text;
use self::line::Line;
use self::state::{RELATED_MAX, State};
use super::{ADAPTER_VERSION, capabilities};
use crate::domain::capability::RuntimeCapabilities;
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::{
    CapabilitiesDraft, LineageDraft, Message, NormalizationOutcome, Relation, TurnDraft,
};
use crate::domain::provider::Provider;
use crate::ports::agent::{AgentAdapter, CapabilityProbe};
use serde_json::Value;

/// Translates the lines of one transcript, in file order.
#[derive(Debug, Clone, Default)]
pub(super) struct ClaudeTranscript {
    state: State,
}

/// What a line's translation came to, before the conversation's facts are added.
enum Reply {
    /// Messages; when there are none and no fact changed, the line is ignored for this reason.
    Said(Vec<Message>, &'static str),
    /// A known line that is not translated.
    Ignored(&'static str),
    /// A tag that this build does not know.
    Unknown(String),
}

impl CapabilityProbe for ClaudeTranscript {
    fn probe(&self) -> RuntimeCapabilities {
        capabilities()
    }
}

impl AgentAdapter for ClaudeTranscript {
    fn provider(&self) -> Provider {
        Provider::ClaudeCode
    }

    fn adapter_version(&self) -> &str {
        ADAPTER_VERSION
    }

    fn normalize(&mut self, session_hint: &str, native: &Value) -> NormalizationOutcome {
        let Some(line) = Line::read(session_hint, native) else {
            return NormalizationOutcome::unrecognized("<missing type>");
        };
        // Asked of every line: one that tells nothing can show where copied history begins.
        let copied = self.is_copy(&line) || line.forked_from.is_some();
        match self.reply(&line) {
            Reply::Ignored(reason) => NormalizationOutcome::Ignored { reason },
            Reply::Unknown(tag) => NormalizationOutcome::unrecognized(&tag),
            Reply::Said(messages, otherwise) => {
                let mut messages = self.with_context(&line, messages);
                if copied {
                    // What happened, happened in the other conversation and is told there.
                    messages.retain(|m| !matches!(m, Message::Event(_) | Message::Evidence(_)));
                }
                if messages.is_empty() {
                    let copy = "copied history of another conversation";
                    NormalizationOutcome::Ignored { reason: if copied { copy } else { otherwise } }
                } else {
                    NormalizationOutcome::Messages(messages)
                }
            }
        }
    }

    fn snapshot(&self) -> Value {
        self.state.snapshot()
    }

    fn restore(&mut self, state: &Value) -> bool {
        match State::restore(state) {
            Some(restored) => {
                self.state = restored;
                true
            }
            None => false,
        }
    }
}

impl ClaudeTranscript {
    fn reply(&mut self, line: &Line<'_>) -> Reply {
        match line.kind {
            "assistant" => self.assistant(line),
            "user" => self.user(line),
            "system" => self.system(line),
            "attachment" => self.attachment(line),
            "fork-context-ref" => self.fork_reference(line),
            "continued-in" => self.continued(line),
            "ai-title" => self.title(line, "aiTitle"),
            "custom-title" => self.title(line, "customTitle"),
            "queue-operation" => self.queue_operation(line),
            "pr-link" => self.pull_request(line),
            "worktree-state" => self.worktree(line),
            "relocated" => self.relocated(line),
            "progress" => host::progress(line),
            other => match host::metadata_reason(other) {
                Some(reason) => Reply::Ignored(reason),
                None => Reply::Unknown(format!("line:{other}")),
            },
        }
    }

    /// Puts behind a line's messages what is told once or when it changes: the declaration, the
    /// relations, the facts of the turn. Behind, so that a message's number in its line depends on
    /// the line alone.
    fn with_context(&mut self, line: &Line<'_>, messages: Vec<Message>) -> Vec<Message> {
        let facts = self.changed_facts(line).map(Message::Turn);
        if facts.is_none() && messages.is_empty() {
            return messages;
        }
        let mut out = messages;
        let known = self.state.conversation(line.conversation);
        if !known.declared {
            known.declared = true;
            out.push(Message::Capabilities(CapabilitiesDraft {
                conversation: line.conversation.to_owned(),
                capabilities: capabilities(),
            }));
        }
        out.extend(self.new_relations(line));
        out.extend(facts);
        if self.state.take_unreported_drop() {
            let reason = LossReason::OpenCallsDropped;
            let whose = Some(line.conversation);
            out.push(Message::Loss(LossDraft::one(whose, reason, "open_calls", "message.content")));
        }
        out
    }

    /// Whether the line is part of copied history. The file of an agent made for one question ends
    /// with what is its own: a side question and its answer. A compaction's summary is told by its
    /// session.
    fn is_copy(&mut self, line: &Line<'_>) -> bool {
        if !line.is_question_agents() {
            let session = line.main_session();
            return session.is_some_and(|session| self.state.resumed.copied(line, session));
        }
        let begins = user::asks_a_side_question(line);
        let own = &mut self.state.conversation(line.conversation).past_the_copy;
        *own |= begins;
        !*own
    }

    fn changed_facts(&mut self, line: &Line<'_>) -> Option<TurnDraft> {
        let turn_id = self.turn_of(line);
        let mut draft = self.state.conversation(line.conversation).facts.changed(line)?;
        line.conversation.clone_into(&mut draft.conversation);
        draft.turn_id = turn_id;
        draft.observed_at = line.at.map(str::to_owned);
        Some(draft)
    }

    fn new_relations(&mut self, line: &Line<'_>) -> Vec<Message> {
        let mut found = Vec::new();
        if let (Some(agent), Some(session)) = (line.agent, line.session)
            && agent != session
        {
            found.push((Relation::Parent, session, "sessionId"));
            if line.is_question_agents() {
                found.push((Relation::Fork, session, "sessionId"));
            }
        }
        if let Some(origin) = line.forked_from {
            found.push((Relation::Fork, origin, "forkedFrom.sessionId"));
        }
        let mut told: Vec<Message> = found
            .into_iter()
            .filter_map(|(relation, related, path)| {
                self.relate(line.conversation, relation, related, path)
            })
            .collect();
        told.extend(self.resumed_session(line));
        told
    }

    /// A session that old builds resumed under a new id: prompts in the history that was copied
    /// keep the id of the session that they were typed in.
    fn resumed_session(&mut self, line: &Line<'_>) -> Option<Message> {
        let session = line.main_session()?;
        let (conversation, related) = self.state.resumed.tells(line.hint, session)?;
        let path = "sessionId".to_owned();
        Some(Message::Lineage(LineageDraft {
            conversation,
            relation: Relation::Fork,
            related,
            position: None,
            path,
        }))
    }

    /// The relation, when it was not told yet of this conversation.
    fn relate(
        &mut self,
        conversation: &str,
        relation: Relation,
        related: &str,
        path: &str,
    ) -> Option<Message> {
        let told = &mut self.state.conversation(conversation).related;
        let key = (relation.clone(), related.to_owned());
        if related == conversation || told.contains(&key) {
            return None;
        }
        if told.len() >= RELATED_MAX {
            told.clear();
        }
        told.insert(key);
        Some(Message::Lineage(LineageDraft {
            conversation: conversation.to_owned(),
            relation,
            related: related.to_owned(),
            position: None,
            path: path.to_owned(),
        }))
    }

    /// The turn that a line belongs to: its own `promptId`, else the conversation's turn so far.
    fn turn_of(&mut self, line: &Line<'_>) -> Option<String> {
        if let Some(prompt) = line.prompt {
            return Some(prompt.to_owned());
        }
        self.state.conversation(line.conversation).turn.as_ref().map(|turn| turn.id.clone())
    }
}

#[cfg(test)]
mod tests;
