//! One value of the stream: `{hook, at, payload}`, told apart by `hook`.
//!
//! Each value stands alone. A call is named by its `callID`, a prompt by its message; what has no
//! id of its own gets one from its bytes, which hold the time `at`.

use super::wire::{member, owned, text};
use super::{ADAPTER_VERSION, bus, capabilities, tool};
use crate::domain::capability::RuntimeCapabilities;
use crate::domain::event::{Channel, EventDraft, EventKind, NativeId};
use crate::domain::outcome::{CapabilitiesDraft, Message, NormalizationOutcome, TurnDraft};
use crate::domain::provider::Provider;
use crate::ports::agent::{AgentAdapter, CapabilityProbe};
use serde_json::Value;

/// Translates the plugin's hooks; keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OpenCodeHook;

impl CapabilityProbe for OpenCodeHook {
    fn probe(&self) -> RuntimeCapabilities {
        capabilities()
    }
}

impl AgentAdapter for OpenCodeHook {
    fn provider(&self) -> Provider {
        Provider::OpenCode
    }

    fn adapter_version(&self) -> &str {
        ADAPTER_VERSION
    }

    fn normalize(&mut self, session_hint: &str, native: &Value) -> NormalizationOutcome {
        let Some(hook) = text(native, &["hook"]) else {
            return NormalizationOutcome::unrecognized("<missing hook field>");
        };
        let call = |native| Call::read(session_hint, native, &["payload", "input", "sessionID"]);
        match hook {
            "tool.execute.before" => told(tool::proposed(&call(native))),
            "tool.execute.after" => told(tool::finished(&call(native))),
            "chat.message" => told(prompt(&call(native))),
            "permission.ask" => told(tool::asked(&call(native))),
            "event" => bus::event(session_hint, native),
            "plugin.init" => NormalizationOutcome::Ignored { reason: "the plugin started" },
            other => NormalizationOutcome::unrecognized(&format!("hook:{other}")),
        }
    }
}

/// One value with the session that it names.
pub(super) struct Call<'a> {
    pub(super) native: &'a Value,
    pub(super) conversation: &'a str,
    /// The plugin's own clock, as spelled.
    at: Option<&'a str>,
}

impl<'a> Call<'a> {
    /// The session stands at `path`, else in the hint.
    pub(super) fn read(hint: &'a str, native: &'a Value, path: &[&str]) -> Self {
        let conversation = text(native, path).unwrap_or(hint);
        Self { native, conversation, at: text(native, &["at"]) }
    }

    /// An event of this value, with the value itself as `raw`: there is no file to read it from.
    pub(super) fn event(&self, kind: EventKind, native: NativeId, path: &str) -> EventDraft {
        let mut event = EventDraft::new(self.conversation, kind, native, Channel::Hook);
        event.observed_at = self.observed_at();
        event.raw = Some(self.native.clone());
        path.clone_into(&mut event.path);
        event
    }

    pub(super) fn observed_at(&self) -> Option<String> {
        self.at.map(str::to_owned)
    }
}

/// The declaration goes before everything: a stream has no first value that is sure to be seen.
pub(super) fn told(mut messages: Vec<Message>) -> NormalizationOutcome {
    let conversation = messages.iter().find_map(|m| match m {
        Message::Event(event) => Some(event.conversation.clone()),
        _ => None,
    });
    if let Some(conversation) = conversation {
        let declared = CapabilitiesDraft { conversation, capabilities: capabilities() };
        messages.insert(0, Message::Capabilities(declared));
    }
    NormalizationOutcome::Messages(messages)
}

/// What the person typed: the text parts that OpenCode did not add itself.
fn prompt(call: &Call<'_>) -> Vec<Message> {
    let output = member(call.native, &["payload", "output"]);
    let id = text(call.native, &["payload", "input", "messageID"])
        .or_else(|| text(output?, &["message", "id"]));
    let native = id.map_or_else(NativeId::record, NativeId::prompt);
    let parts = output.and_then(|o| o.get("parts")).and_then(Value::as_array);
    let typed: Vec<&str> = parts
        .into_iter()
        .flatten()
        .filter(|part| text(part, &["type"]) == Some("text"))
        .filter(|part| part.get("synthetic").and_then(Value::as_bool) != Some(true))
        .filter_map(|part| text(part, &["text"]))
        .collect();
    let kind =
        if typed.is_empty() { EventKind::InjectedPrompt } else { EventKind::UserPromptSubmit };
    let mut event = call.event(kind, native, "payload.output.parts");
    event.text = (!typed.is_empty()).then(|| typed.join("\n"));
    let mut out = Vec::new();
    if let Some(model) = owned(call.native, &["payload", "input", "model", "modelID"]) {
        out.push(Message::Turn(TurnDraft {
            conversation: call.conversation.to_owned(),
            model: Some(model),
            observed_at: call.observed_at(),
            path: "payload.input.model.modelID".to_owned(),
            ..TurnDraft::default()
        }));
    }
    out.push(Message::Event(event));
    out
}
