//! Hook payloads: one JSON object an event, told apart by `hook_event_name`.
//!
//! A payload has no time, no sequence number and no exit code; events of one call meet by
//! `tool_use_id`, those of one prompt by `prompt_id` (2.1.196 on), and nothing else has an id. A
//! payload from inside a sub-agent carries the parent's `session_id`, so its `agent_id` names the
//! conversation. Each payload stands alone: hooks run in a process of their own.

use super::background::{self, Launch};
use super::effects::{self, Effect, is_shell};
use super::evidence::{self, CallSeen};
use super::prompt::{self, UserText};
use super::slim::slim;
use super::wire::{flag, member, text, tool_input};
use super::{ADAPTER_VERSION, capabilities};
use crate::domain::capability::RuntimeCapabilities;
use crate::domain::event::{Channel, EventDraft, EventKind, NativeId, Outcome};
use crate::domain::outcome::{
    CapabilitiesDraft, LineageDraft, Message, NormalizationOutcome, Relation, TurnDraft,
};
use crate::domain::provenance::CollectionMethod;
use crate::domain::provider::Provider;
use crate::ports::agent::{AgentAdapter, CapabilityProbe};
use serde_json::Value;

/// Translates hook payloads; keeps no state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClaudeHook;

impl CapabilityProbe for ClaudeHook {
    fn probe(&self) -> RuntimeCapabilities {
        capabilities()
    }
}

impl AgentAdapter for ClaudeHook {
    fn provider(&self) -> Provider {
        Provider::ClaudeCode
    }

    fn adapter_version(&self) -> &str {
        ADAPTER_VERSION
    }

    fn normalize(&mut self, session_hint: &str, native: &Value) -> NormalizationOutcome {
        let Some(name) = text(native, "hook_event_name") else {
            return NormalizationOutcome::unrecognized("<missing hook_event_name>");
        };
        if let Some(reason) = ignored_reason(name) {
            return NormalizationOutcome::Ignored { reason };
        }
        if is_helpers_end(name, native) {
            return NormalizationOutcome::Ignored { reason: "end of the host's own helper" };
        }
        let payload = Payload::read(session_hint, native);
        match payload.messages(name) {
            Some(messages) if messages.is_empty() => {
                NormalizationOutcome::Ignored { reason: "batch without calls" }
            }
            Some(messages) => NormalizationOutcome::Messages(payload.with_context(name, messages)),
            None => NormalizationOutcome::unrecognized(&format!("hook:{name}")),
        }
    }
}

/// Whether a helper of the host ended (compaction, a summary after the turn). It has no start, no
/// type and often no file, and its last words are a summary of what others said.
fn is_helpers_end(name: &str, payload: &Value) -> bool {
    name == "SubagentStop" && payload.get("agent_type").and_then(Value::as_str) == Some("")
}

/// Events that say nothing about what the agent did or claimed.
fn ignored_reason(name: &str) -> Option<&'static str> {
    Some(match name {
        "Setup" => "one-time setup, before any conversation",
        "UserPromptExpansion" => "expansion of a prompt that is told by itself",
        "MessageDisplay" => "a piece of text being displayed",
        "PreCompact" => "a compaction that may still be refused",
        "PreModelSwitch" => "a switch that may still be refused",
        "InstructionsLoaded" => "instructions put into the context",
        "ConfigChange" => "a change of settings",
        "DirectoryAdded" => "a change of the readable folders",
        "FileChanged" => "a watched file, whoever changed it",
        "WorktreeCreate" | "WorktreeRemove" => "host bookkeeping of worktrees",
        "Elicitation" | "ElicitationResult" => "a dialog of an MCP server",
        "TeammateIdle" => "a teammate that waits",
        "PreSkillShellCommand" => "a command that no call of the model stands for",
        _ => return None,
    })
}

/// A payload's common fields.
struct Payload<'a> {
    value: &'a Value,
    conversation: &'a str,
    session: Option<&'a str>,
    agent: Option<&'a str>,
    prompt: Option<&'a str>,
}

impl<'a> Payload<'a> {
    fn read(session_hint: &'a str, value: &'a Value) -> Self {
        let session = text(value, "session_id");
        let agent = text(value, "agent_id");
        Self {
            value,
            conversation: agent.or(session).unwrap_or(session_hint),
            session,
            agent,
            prompt: text(value, "prompt_id"),
        }
    }

    /// The event's own messages; `None` for a name that this build does not know.
    fn messages(&self, name: &str) -> Option<Vec<Message>> {
        let event = match name {
            "SessionStart" => self.told(EventKind::SessionStart, "source"),
            "SessionEnd" => self.told(EventKind::SessionEnd, "reason"),
            "UserPromptSubmit" => return Some(self.user_prompt()),
            "PreToolUse" => self.tool_event(EventKind::PreToolUse),
            "PostToolUse" => return Some(self.tool_succeeded()),
            "PostToolUseFailure" => return Some(self.tool_failed()),
            "PostToolBatch" => return Some(self.batch()),
            "PermissionRequest" => self.permission_request(),
            "PermissionDenied" => self.permission_denied(),
            "Notification" => self.told(EventKind::Notification, "message"),
            "SubagentStart" => self.event(EventKind::SubagentStart, self.agent_native()),
            "SubagentStop" => self.subagent_stop(),
            "Stop" => self.turn_end(),
            "StopFailure" => self.stop_failure(),
            "PostCompact" => self.event(EventKind::Compaction, NativeId::record()),
            "CwdChanged" => self.told(EventKind::CwdChanged, "new_cwd"),
            "TaskCreated" => self.told(EventKind::TaskCreated, "task_subject"),
            "TaskCompleted" => self.told(EventKind::TaskCompleted, "task_subject"),
            "PostModelSwitch" => self.told(EventKind::ModelChanged, "to_model"),
            _ => return None,
        };
        Some(vec![Message::Event(event)])
    }

    /// Puts the declaration, the lineage and the turn's facts before the event's own messages.
    fn with_context(&self, name: &str, messages: Vec<Message>) -> Vec<Message> {
        let mut out = vec![Message::Capabilities(CapabilitiesDraft {
            conversation: self.conversation.to_owned(),
            capabilities: capabilities(),
        })];
        if let (Some(agent), Some(session)) = (self.agent, self.session)
            && agent != session
        {
            out.push(Message::Lineage(LineageDraft {
                conversation: agent.to_owned(),
                relation: Relation::Parent,
                related: session.to_owned(),
                position: None,
                path: "session_id".to_owned(),
            }));
        }
        out.extend(self.facts(name).map(Message::Turn));
        out.extend(messages);
        out
    }

    /// Facts about the conversation, from the events that begin something or change them.
    fn facts(&self, name: &str) -> Option<TurnDraft> {
        let owned = |key: &str| text(self.value, key).map(str::to_owned);
        let (cwd, model, title, path) = match name {
            "SessionStart" => (owned("cwd"), owned("model"), owned("session_title"), "cwd"),
            "UserPromptSubmit" => (owned("cwd"), None, owned("session_title"), "cwd"),
            "SubagentStart" => (owned("cwd"), None, None, "cwd"),
            "CwdChanged" => (owned("new_cwd"), None, None, "new_cwd"),
            "PostModelSwitch" => (None, owned("to_model"), None, "to_model"),
            _ => (owned("cwd"), None, None, "cwd"),
        };
        let stated = cwd.is_some() || model.is_some() || title.is_some();
        stated.then(|| TurnDraft {
            conversation: self.conversation.to_owned(),
            turn_id: self.prompt.map(str::to_owned),
            cwd,
            model,
            title,
            path: path.to_owned(),
            ..TurnDraft::default()
        })
    }

    fn event(&self, kind: EventKind, native: NativeId) -> EventDraft {
        EventDraft {
            turn_id: self.prompt.map(str::to_owned),
            agent_id: self.agent.map(str::to_owned),
            raw: Some(self.value.clone()),
            path: "hook_event_name".to_owned(),
            ..EventDraft::new(self.conversation, kind, native, Channel::Hook)
        }
    }

    /// An event without an id of its own, whose main field is a text.
    fn told(&self, kind: EventKind, key: &str) -> EventDraft {
        self.told_as(kind, NativeId::record(), key)
    }

    fn told_as(&self, kind: EventKind, native: NativeId, key: &str) -> EventDraft {
        let mut event = self.event(kind, native);
        if let Some(found) = text(self.value, key) {
            event.text = Some(found.to_owned());
            key.clone_into(&mut event.path);
        }
        event
    }

    fn user_prompt(&self) -> Vec<Message> {
        let said = text(self.value, "prompt");
        let (class, words) = said.map_or((UserText::Typed, ""), prompt::read);
        let typed = match class {
            UserText::Typed => EventKind::UserPromptSubmit,
            UserText::Command => EventKind::UserCommand,
            _ => EventKind::InjectedPrompt,
        };
        // `system` and its like are named only by newer builds; absent means a person.
        let kind = match text(self.value, "source") {
            None | Some("user" | "sdk") => typed,
            Some(_) => EventKind::InjectedPrompt,
        };
        let native = self.prompt.map_or_else(NativeId::record, NativeId::prompt);
        let mut event = self.told_as(kind, native, "prompt");
        event.text = said.map(|_| words.to_owned());
        let mut out = vec![Message::Event(event)];
        if class == UserText::TaskNotification {
            out.extend(said.map(|said| self.ended_task(said)).unwrap_or_default());
        }
        out
    }

    /// The end of a task in the background, where the notice names the call that launched it: a
    /// second telling of that call, which was only said to be running.
    fn ended_task(&self, said: &str) -> Vec<Message> {
        let Some(end) = background::notice(said) else { return Vec::new() };
        let Some(call) = end.call else { return Vec::new() };
        let launch = Launch {
            conversation: self.conversation,
            call,
            tool: None,
            command: None,
            place: "UserPromptSubmit",
            method: CollectionMethod::HookCallback,
            observed_at: None,
            path: "prompt",
        };
        launch.ended(&end)
    }

    fn agent_native(&self) -> NativeId {
        self.agent.map_or_else(NativeId::record, |id| NativeId::new("agent", id))
    }

    fn subagent_stop(&self) -> EventDraft {
        self.told_as(EventKind::SubagentStop, self.agent_native(), "last_assistant_message")
    }

    fn turn_end(&self) -> EventDraft {
        let native = self.prompt.map_or_else(NativeId::record, NativeId::turn);
        let mut event = self.told_as(EventKind::TurnEnd, native, "last_assistant_message");
        event.outcome = Some(Outcome::Ok);
        event
    }

    fn stop_failure(&self) -> EventDraft {
        let key = ["last_assistant_message", "error_details", "error"]
            .into_iter()
            .find(|key| text(self.value, key).is_some())
            .unwrap_or("error");
        let mut event = self.told(EventKind::RuntimeError, key);
        event.outcome = Some(Outcome::Failed);
        event
    }

    fn permission_request(&self) -> EventDraft {
        // The payload has no `tool_use_id`, so it cannot meet the call it asks for.
        let mut event = self.event(EventKind::PermissionRequest, NativeId::record());
        self.name_tool(&mut event);
        event
    }

    fn permission_denied(&self) -> EventDraft {
        let mut event = self.tool_event(EventKind::PermissionDenied);
        event.outcome = Some(Outcome::Denied);
        event.text = text(self.value, "reason").map(str::to_owned);
        event
    }

    /// An event of a tool call, with the call's id where the build gives one (2025 does not).
    fn tool_event(&self, kind: EventKind) -> EventDraft {
        let call = text(self.value, "tool_use_id");
        let native = call.map_or_else(NativeId::record, NativeId::call);
        let mut event = self.event(kind, native);
        event.call_id = call.map(str::to_owned);
        self.name_tool(&mut event);
        event
    }

    fn name_tool(&self, event: &mut EventDraft) {
        event.tool_name = text(self.value, "tool_name").map(str::to_owned);
        event.tool_input = tool_input(self.value, "tool_input");
        "tool_input".clone_into(&mut event.path);
    }

    fn tool_succeeded(&self) -> Vec<Message> {
        let response = member(self.value, "tool_response");
        let mut event = self.tool_event(EventKind::PostToolUse);
        let effect =
            effects::of_success(event.tool_name.as_deref(), event.tool_input.as_ref(), response);
        event.outcome = Some(effect.outcome.clone());
        event.tool_response = response.map(slim);
        if response.is_some() {
            "tool_response".clone_into(&mut event.path);
        }
        self.with_evidence(event, response, &effect, "PostToolUse", "tool_response")
    }

    fn tool_failed(&self) -> Vec<Message> {
        let mut event = self.tool_event(EventKind::PostToolUse);
        let message = text(self.value, "error").unwrap_or_default();
        let shell = event.tool_name.as_deref().is_some_and(is_shell);
        let mut effect = effects::of_failure(shell, message);
        if flag(self.value, "is_interrupt") {
            effect.outcome = Outcome::Interrupted;
        }
        event.outcome = Some(effect.outcome.clone());
        event.tool_response = member(self.value, "error").cloned();
        "error".clone_into(&mut event.path);
        self.with_evidence(event, None, &effect, "PostToolUseFailure", "error")
    }

    fn with_evidence(
        &self,
        event: EventDraft,
        response: Option<&Value>,
        effect: &Effect,
        place: &'static str,
        path: &str,
    ) -> Vec<Message> {
        let seen = CallSeen {
            conversation: self.conversation,
            native: &event.native,
            place,
            method: CollectionMethod::HookCallback,
            observed_at: None,
            tool: event.tool_name.as_deref(),
            input: event.tool_input.as_ref(),
            response,
            response_path: path,
            result_path: path,
            input_path: "tool_input",
        };
        let evidence = evidence::of_call(&seen, effect);
        let mut out = vec![Message::Event(event)];
        out.extend(evidence);
        out
    }

    /// Every call of a finished batch, also those that got neither Post event (refused, blocked,
    /// invalid). It says that they came back, not how: the response is only what the model saw.
    fn batch(&self) -> Vec<Message> {
        let calls = self.value.get("tool_calls").and_then(Value::as_array);
        let listed = calls.map(Vec::as_slice).unwrap_or_default().iter().enumerate();
        listed
            .filter_map(|(index, call)| {
                let id = text(call, "tool_use_id")?;
                Some(Message::Event(EventDraft {
                    turn_id: self.prompt.map(str::to_owned),
                    agent_id: self.agent.map(str::to_owned),
                    call_id: Some(id.to_owned()),
                    tool_name: text(call, "tool_name").map(str::to_owned),
                    tool_input: tool_input(call, "tool_input"),
                    path: format!("tool_calls[{index}]"),
                    ..EventDraft::new(
                        self.conversation,
                        EventKind::PostToolUse,
                        NativeId::call(id),
                        Channel::Projection,
                    )
                }))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
