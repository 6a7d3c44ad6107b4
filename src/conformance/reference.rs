//! A reference reader of the few Codex rollout shapes that the IDN and EXT contracts use.
//!
//! It exists so that the contracts can be tried without an adapter: the first `session_meta`
//! names the conversation, a finished command yields evidence with an envelope, a few known
//! shapes are ignored, and everything else is unrecognised.

use serde_json::{Value, json};

use super::subjects::{EvidenceView, LineView, NativeOutcome, NativeProbe};
use crate::domain::envelope::{ContentClass, ExtensionEnvelope};
use crate::domain::key::ConversationKey;
use crate::domain::provider::Provider;

/// Record types that carry nothing to judge here.
const IGNORED: [&str; 3] = ["session_meta", "turn_context", "response_item"];

/// The reference reader; it keeps no state between lines.
#[derive(Debug, Default)]
pub struct ReferenceProbe;

impl NativeProbe for ReferenceProbe {
    fn conversation_of(&mut self, _path: &str, lines: &[Value]) -> Result<ConversationKey, String> {
        let id = lines
            .iter()
            .find(|line| text_at(line, "/type") == Some("session_meta"))
            .and_then(|line| text_at(line, "/payload/id"))
            .ok_or("no session_meta names the conversation")?;
        ConversationKey::new(Provider::Codex, "local", id).map_err(|error| error.to_string())
    }

    fn read_lines(&mut self, lines: &[Value]) -> Result<Vec<LineView>, String> {
        lines.iter().map(read_line).collect()
    }
}

fn text_at<'a>(line: &'a Value, pointer: &str) -> Option<&'a str> {
    line.pointer(pointer).and_then(Value::as_str)
}

fn read_line(line: &Value) -> Result<LineView, String> {
    let command = match (text_at(line, "/type"), text_at(line, "/payload/type")) {
        (Some("event_msg"), Some("exec_command_end")) => line.pointer("/payload"),
        (Some("event_msg"), Some("item_completed")) => line
            .pointer("/payload/item")
            .filter(|item| text_at(item, "/type") == Some("CommandExecution")),
        (Some(kind), _) if IGNORED.contains(&kind) => {
            return Ok(LineView { outcome: NativeOutcome::Ignored, evidence: Vec::new() });
        }
        _ => None,
    };
    match command {
        Some(command) => finished_command(command),
        None => Ok(LineView { outcome: NativeOutcome::Unrecognized, evidence: Vec::new() }),
    }
}

fn finished_command(command: &Value) -> Result<LineView, String> {
    let fields = json!({"duration": command.get("duration"), "status": command.get("status")});
    let envelope = ExtensionEnvelope::from_value(
        Provider::Codex,
        env!("CARGO_PKG_VERSION"),
        ContentClass::ToolTelemetry,
        &fields,
    )
    .map_err(|error| error.to_string())?;
    let evidence = EvidenceView {
        provider: Provider::Codex.as_str().to_owned(),
        extension: Some(envelope.to_json()),
    };
    Ok(LineView { outcome: NativeOutcome::Messages, evidence: vec![evidence] })
}
