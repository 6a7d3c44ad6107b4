//! Hook payloads and the old `notify` argument.
//!
//! `session_id` is the root of the spawn tree; inside a sub-agent the conversation is `agent_id`.
//! No payload states an exit code or a failure, so a finished tool's outcome stays unknown here and
//! comes from the rollout, which names the same call.

use super::calls::is_host_id;
use super::value::{name, owned, text};
use super::work::NESTED;
use super::{ADAPTER_VERSION, hook_capabilities};
use crate::domain::capability::RuntimeCapabilities;
use crate::domain::event::{Channel, EventDraft, EventKind, NativeId, Outcome};
use crate::domain::outcome::{
    CapabilitiesDraft, LineageDraft, Message, NormalizationOutcome, Relation, TurnDraft,
};
use crate::domain::provider::Provider;
use crate::ports::agent::{AgentAdapter, CapabilityProbe};
use serde_json::Value;

/// Reads one hook payload; keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HookAdapter;

impl CapabilityProbe for HookAdapter {
    fn probe(&self) -> RuntimeCapabilities {
        hook_capabilities()
    }
}

impl AgentAdapter for HookAdapter {
    fn provider(&self) -> Provider {
        Provider::Codex
    }

    fn adapter_version(&self) -> &str {
        ADAPTER_VERSION
    }

    fn normalize(&mut self, session_hint: &str, native: &Value) -> NormalizationOutcome {
        match name(native, "hook_event_name") {
            Some(hook) => hooked(session_hint, hook, native),
            None if name(native, "type") == Some("agent-turn-complete") => {
                notified(session_hint, native)
            }
            None => NormalizationOutcome::unrecognized("<missing hook_event_name>"),
        }
    }
}

/// One payload with the ids that every event of it shares.
struct Payload<'a> {
    native: &'a Value,
    conversation: &'a str,
    turn: Option<&'a str>,
    agent: Option<&'a str>,
}

fn hooked(hint: &str, hook: &str, native: &Value) -> NormalizationOutcome {
    let root = name(native, "session_id");
    let agent = name(native, "agent_id");
    let payload = Payload {
        native,
        conversation: agent.or(root).unwrap_or(hint),
        turn: name(native, "turn_id"),
        agent,
    };
    let event = match hook {
        "PreCompact" => {
            return NormalizationOutcome::Ignored { reason: "compaction about to begin" };
        }
        _ => payload.told(hook),
    };
    let Some(event) = event else {
        return NormalizationOutcome::unrecognized(&format!("hook:{hook}"));
    };
    let mut messages = vec![payload.capabilities()];
    if let (Some(agent), Some(root)) = (agent, root.filter(|root| Some(*root) != agent)) {
        messages.push(Message::Lineage(LineageDraft {
            conversation: agent.to_owned(),
            relation: Relation::Parent,
            related: root.to_owned(),
            position: None,
            path: "session_id".to_owned(),
        }));
    }
    messages.extend(payload.facts());
    messages.push(Message::Event(event));
    NormalizationOutcome::Messages(messages)
}

/// The `notify` argument: the end of a turn, in kebab-case.
fn notified(hint: &str, native: &Value) -> NormalizationOutcome {
    let turn = name(native, "turn-id");
    let conversation = name(native, "thread-id").unwrap_or(hint);
    let payload = Payload { native, conversation, turn, agent: None };
    let mut event = payload.event(EventKind::TurnEnd, payload.turn_native(), "turn-id");
    event.text = owned(native, "last-assistant-message");
    let mut messages = vec![payload.capabilities()];
    messages.extend(payload.facts());
    messages.push(Message::Event(event));
    NormalizationOutcome::Messages(messages)
}

impl Payload<'_> {
    /// The event of a hook; `None` for a hook that is not known.
    fn told(&self, hook: &str) -> Option<EventDraft> {
        Some(match hook {
            "SessionStart" => self.session(EventKind::SessionStart),
            "SessionEnd" => self.session(EventKind::SessionEnd),
            "UserPromptSubmit" => self.prompt(),
            "PreToolUse" => self.tool(EventKind::PreToolUse, None),
            "PostToolUse" => self.tool(EventKind::PostToolUse, Some(Outcome::Unknown)),
            "PostToolUseFailure" => self.tool(EventKind::PostToolUse, Some(Outcome::Failed)),
            "PermissionRequest" => self.tool(EventKind::PermissionRequest, None),
            "PostCompact" => self.compaction(),
            "SubagentStart" => self.agent_event(EventKind::SubagentStart),
            "SubagentStop" => self.agent_event(EventKind::SubagentStop),
            "Stop" => self.turn_end(None),
            "StopFailure" => self.turn_end(Some(Outcome::Failed)),
            "Interrupt" => self.turn_end(Some(Outcome::Interrupted)),
            "Notification" => {
                let mut event = self.event(EventKind::Notification, NativeId::record(), "message");
                event.text = owned(self.native, "message");
                event
            }
            _ => return None,
        })
    }

    fn event(&self, kind: EventKind, native: NativeId, path: &str) -> EventDraft {
        let mut event = EventDraft::new(self.conversation, kind, native, Channel::Hook);
        event.turn_id = self.turn.map(str::to_owned);
        event.agent_id = self.agent.map(str::to_owned);
        event.raw = Some(self.native.clone());
        event.path = path.to_owned();
        event
    }

    fn session(&self, kind: EventKind) -> EventDraft {
        self.event(kind, NativeId::new("session", self.conversation), "session_id")
    }

    /// Meets the rollout's prompt by turn and text.
    fn prompt(&self) -> EventDraft {
        let prompt = text(self.native, "prompt").unwrap_or_default();
        let native = match self.turn {
            Some(turn) => NativeId::text(turn, prompt, 0),
            None => NativeId::record(),
        };
        let mut event = self.event(EventKind::UserPromptSubmit, native, "prompt");
        event.text = Some(prompt.to_owned());
        event
    }

    fn tool(&self, kind: EventKind, outcome: Option<Outcome>) -> EventDraft {
        let id = name(self.native, "tool_use_id");
        let native = match id {
            Some(id) if is_host_id(id) => NativeId::new(NESTED, id),
            Some(id) => NativeId::call(id),
            None => NativeId::record(),
        };
        let path = if kind == EventKind::PostToolUse { "tool_response" } else { "tool_input" };
        let mut event = self.event(kind, native, path);
        event.call_id = id.map(str::to_owned);
        event.tool_name = owned(self.native, "tool_name");
        event.tool_input = self.native.get("tool_input").cloned();
        event.tool_response = self.native.get("tool_response").cloned();
        event.outcome = outcome;
        event
    }

    fn compaction(&self) -> EventDraft {
        let native = match self.turn {
            Some(turn) => NativeId::new("compaction", format!("{turn}|0")),
            None => NativeId::record(),
        };
        self.event(EventKind::Compaction, native, "trigger")
    }

    fn agent_event(&self, kind: EventKind) -> EventDraft {
        let native =
            self.agent.map_or_else(NativeId::record, |agent| NativeId::new("agent", agent));
        let mut event = self.event(kind, native, "agent_id");
        event.text = owned(self.native, "last_assistant_message");
        event
    }

    fn turn_end(&self, outcome: Option<Outcome>) -> EventDraft {
        let mut event =
            self.event(EventKind::TurnEnd, self.turn_native(), "last_assistant_message");
        event.text = owned(self.native, "last_assistant_message");
        event.outcome = outcome;
        event
    }

    fn turn_native(&self) -> NativeId {
        self.turn.map_or_else(NativeId::record, NativeId::turn)
    }

    fn capabilities(&self) -> Message {
        Message::Capabilities(CapabilitiesDraft {
            conversation: self.conversation.to_owned(),
            capabilities: hook_capabilities(),
        })
    }

    fn facts(&self) -> Option<Message> {
        let cwd = owned(self.native, "cwd");
        let model = owned(self.native, "model");
        if cwd.is_none() && model.is_none() {
            return None;
        }
        Some(Message::Turn(TurnDraft {
            conversation: self.conversation.to_owned(),
            turn_id: self.turn.map(str::to_owned),
            cwd,
            model,
            path: "cwd".to_owned(),
            ..TurnDraft::default()
        }))
    }
}
