//! The reader of rollout files: envelope dispatch, and where bare lines and documents branch off.
//!
//! `{timestamp, ordinal?, type, payload, metadata?}` is one line of a rollout. Bare lines of older
//! files can stand in the same file, so the shape of each line decides how it is read.

use super::meta::COPIED;
use super::state::{STATE_VERSION, State};
use super::value::text;
use super::work::{Verdict, Work};
use super::{ADAPTER_VERSION, bare, rollout_capabilities};
use crate::domain::capability::RuntimeCapabilities;
use crate::domain::outcome::NormalizationOutcome;
use crate::domain::provider::Provider;
use crate::ports::agent::{AgentAdapter, CapabilityProbe};
use serde_json::Value;

/// Top-level types that a rollout line may carry.
pub(super) const TOP_LEVEL: &[&str] = &[
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "world_state",
    "security_risk_score",
    "realtime_item",
    "token_usage_record",
    "retained_context",
    "rollout_reference",
    "agent_response_observation",
    "user_input_once_marker",
];

/// Reads one rollout file of any era.
#[derive(Debug, Default)]
pub(super) struct RolloutAdapter {
    state: State,
}

impl CapabilityProbe for RolloutAdapter {
    fn probe(&self) -> RuntimeCapabilities {
        rollout_capabilities()
    }
}

impl AgentAdapter for RolloutAdapter {
    fn provider(&self) -> Provider {
        Provider::Codex
    }

    fn adapter_version(&self) -> &str {
        ADAPTER_VERSION
    }

    fn normalize(&mut self, session_hint: &str, native: &Value) -> NormalizationOutcome {
        if !native.is_object() {
            return NormalizationOutcome::unrecognized("<not an object>");
        }
        if is_enveloped(native) {
            let at = text(native, "timestamp");
            let mut work = Work::new(&mut self.state, session_hint, at, "payload.");
            let verdict = work.envelope(native);
            return work.finish(verdict);
        }
        let mut work = Work::new(&mut self.state, session_hint, None, "");
        let verdict =
            if bare::is_document(native) { work.document(native) } else { work.bare_line(native) };
        work.finish(verdict)
    }

    fn snapshot(&self) -> Value {
        serde_json::to_value(&self.state).unwrap_or(Value::Null)
    }

    fn restore(&mut self, state: &Value) -> bool {
        if state.get("version").and_then(Value::as_u64) != Some(u64::from(STATE_VERSION)) {
            return false;
        }
        match serde_json::from_value(state.clone()) {
            Ok(restored) => {
                self.state = restored;
                true
            }
            Err(_) => false,
        }
    }
}

/// Whether a value is an envelope rather than a bare item; a bare item has no payload.
pub(super) fn is_enveloped(native: &Value) -> bool {
    native.get("payload").is_some()
        || text(native, "type").is_some_and(|tag| TOP_LEVEL.contains(&tag))
}

impl Work<'_> {
    fn envelope(&mut self, line: &Value) -> Verdict {
        let Some(tag) = text(line, "type") else {
            return Verdict::Unknown("<missing type>".to_owned());
        };
        let Some(payload) = line.get("payload").filter(|payload| payload.is_object()) else {
            return Verdict::Unknown(format!("{tag}:<missing payload>"));
        };
        let copied = self.state.copied.covers(line, self.state.conversation.as_deref());
        if tag == "session_meta" {
            return self.session_meta(payload);
        }
        if copied {
            return self.copied_line(tag, payload);
        }
        let verdict = self.own_line(tag, payload, line);
        if matches!(verdict, Verdict::Told) {
            self.note_doubt();
        }
        verdict
    }

    fn own_line(&mut self, tag: &str, payload: &Value, line: &Value) -> Verdict {
        match tag {
            "response_item" if is_delivered(line) => {
                Verdict::Ignored("message already delivered through a tool")
            }
            "response_item" if is_inherited(line) => Verdict::Ignored(COPIED),
            "response_item" => self.response_item(payload),
            "event_msg" => self.event_msg(payload),
            "turn_context" => self.turn_context(payload),
            "compacted" => self.compacted(),
            "token_usage_record" => self.usage_record(payload, None),
            "inter_agent_communication" => self.inter_agent(payload),
            other => context_only(other),
        }
    }
}

/// Top-level types that tell no action.
fn context_only(tag: &str) -> Verdict {
    match tag {
        "world_state" => Verdict::Ignored("world state"),
        "inter_agent_communication_metadata" => Verdict::Ignored("inter-agent metadata"),
        "security_risk_score" => Verdict::Ignored("security risk score"),
        "retained_context" => Verdict::Ignored("retained context"),
        "realtime_item" => Verdict::Ignored("realtime item"),
        "rollout_reference" => Verdict::Ignored("rollout reference"),
        "agent_response_observation" => Verdict::Ignored("agent response observation"),
        "user_input_once_marker" => Verdict::Ignored("user input marker"),
        other => Verdict::Unknown(other.to_owned()),
    }
}

/// A record of text that a tool call had already delivered, in the guise of a message.
fn is_delivered(line: &Value) -> bool {
    beside(line, "delivered_assistant_message").is_some_and(|marker| !marker.is_null())
}

/// A prompt of the parent's, handed down to this thread.
fn is_inherited(line: &Value) -> bool {
    beside(line, "inherited_user_message") == Some(&Value::Bool(true))
}

/// A value of the `metadata` beside a line's payload.
fn beside<'a>(line: &'a Value, key: &str) -> Option<&'a Value> {
    line.get("metadata")?.get(key)
}
