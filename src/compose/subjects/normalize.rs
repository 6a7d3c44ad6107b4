//! The shipping adapters with the pipeline behind them: normalised, redacted, cut, and sealed as
//! the drain and the reader of files do it.

use crate::adapters::agents::claude::ClaudeFamily;
use crate::adapters::agents::codex::{CodexFamily, FORMAT_ROLLOUT};
use crate::adapters::agents::opencode::OpenCodeFamily;
use crate::app::prepare::prepare;
use crate::app::seal::{Line, Sealer};
use crate::base::hash::Digest;
use crate::base::time::Micros;
use crate::conformance::native::scenarios;
use crate::conformance::normalizing::{Answer, Declaration, Normalizer, Payload, RecordView, Wire};
use crate::domain::event::NativeId;
use crate::domain::outcome::{Message, NormalizationOutcome};
use crate::domain::record::{Body, Sealed};
use crate::ports::agent::{AgentAdapter, AgentFamily as _};
use serde_json::Value;

/// One adapter, and how its payloads are spelled.
pub(super) struct Normalized {
    make: fn() -> Option<Box<dyn AgentAdapter>>,
    payloads: fn(&str) -> Result<Vec<Payload>, String>,
    /// Hook payloads have a time of receipt, lines of a file have none.
    received: Option<Micros>,
    running: Option<(Box<dyn AgentAdapter>, Sealer)>,
}

impl Normalized {
    pub(super) fn claude_hook() -> Self {
        Self::new(|| Some(ClaudeFamily.hook_adapter()), scenarios::claude_hook::payloads, true)
    }

    pub(super) fn codex_rollout() -> Self {
        let make = || CodexFamily.file_adapter(FORMAT_ROLLOUT);
        Self::new(make, scenarios::codex_rollout::payloads, false)
    }

    pub(super) fn opencode() -> Self {
        Self::new(|| Some(OpenCodeFamily.hook_adapter()), scenarios::opencode::payloads, true)
    }

    fn new(
        make: fn() -> Option<Box<dyn AgentAdapter>>,
        payloads: fn(&str) -> Result<Vec<Payload>, String>,
        is_hook: bool,
    ) -> Self {
        let received = is_hook.then_some(Micros(1_700_000_000_000_000));
        Self { make, payloads, received, running: None }
    }

    fn running(&mut self) -> Option<&mut (Box<dyn AgentAdapter>, Sealer)> {
        if self.running.is_none() {
            let adapter = (self.make)()?;
            let sealer = Sealer::new("local", adapter.provider(), adapter.adapter_version());
            self.running = Some((adapter, sealer));
        }
        self.running.as_mut()
    }
}

impl Normalizer for Normalized {
    fn declare(&mut self) -> Declaration {
        let Some((adapter, _)) = self.running() else {
            return Declaration {
                provider: String::new(),
                adapter_version: String::new(),
                signals: std::collections::BTreeMap::new(),
            };
        };
        let probed = adapter.probe();
        let signals = probed.signals.iter();
        Declaration {
            provider: probed.provider.as_str().to_owned(),
            adapter_version: adapter.adapter_version().to_owned(),
            signals: signals
                .map(|s| (s.class.as_str().to_owned(), s.state.as_str().to_owned()))
                .collect(),
        }
    }

    fn scenario(&self, name: &str) -> Result<Vec<Payload>, String> {
        (self.payloads)(name)
    }

    fn normalize(&mut self, hint: &str, payload: &[u8]) -> Answer {
        let received = self.received;
        let Ok(value) = serde_json::from_slice::<Value>(payload) else {
            return Answer::Refused("not_json".to_owned());
        };
        let Some((adapter, sealer)) = self.running() else {
            return Answer::Refused("the family has no such adapter".to_owned());
        };
        match adapter.normalize(hint, &value) {
            NormalizationOutcome::Messages(mut messages) => {
                prepare(&mut messages);
                let wires = messages.iter().map(wire).collect();
                let hash = Digest::of(payload);
                let length = payload.len() as u64;
                let line = Line { offset: 0, length, hash, received };
                let id = NativeId::new("record", hash.short_hex());
                let records = sealer.seal(messages, &line, &id).iter().map(view).collect();
                Answer::Messages { wires, records }
            }
            NormalizationOutcome::Ignored { reason } => Answer::Ignored(reason.to_owned()),
            NormalizationOutcome::Unrecognized { discriminator } => {
                Answer::Unrecognized(crate::app::redact::text(&discriminator).into_owned())
            }
        }
    }

    fn reset(&mut self) {
        self.running = None;
    }
}

/// A message as the journal writes it, and as it is after being read again.
fn wire(message: &Message) -> Wire {
    let text = serde_json::to_string(message).unwrap_or_default();
    let again = serde_json::from_str::<Message>(&text)
        .map_err(|error| error.to_string())
        .map(|read| serde_json::to_string(&read).unwrap_or_default());
    let observed_at = match message {
        Message::Event(event) => event.observed_at.clone(),
        Message::Turn(turn) => turn.observed_at.clone(),
        _ => None,
    };
    Wire { text, again, observed_at }
}

fn view(sealed: &Sealed) -> RecordView {
    let mut seen = RecordView {
        provider: sealed.conversation.as_ref().map(|of| of.provider.clone()),
        conversation: sealed.conversation.as_ref().map(|of| of.native_id.clone()),
        place: (sealed.place.path.clone(), sealed.place.index),
        kept: format!("{:?}", sealed.body),
        ..RecordView::default()
    };
    tell(&mut seen, &sealed.body);
    seen
}

fn tell(seen: &mut RecordView, body: &Body) {
    seen.kind = match body {
        Body::Event(event) => {
            seen.id = Some(event.id.to_string());
            seen.call.clone_from(&event.call_id);
            seen.has_text = event.text.is_some();
            seen.has_response = event.tool_response.is_some();
            seen.outcome = event.outcome.as_ref().map(|o| o.as_str().to_owned());
            format!("event:{}", event.kind.as_str())
        }
        Body::Evidence(evidence) => {
            let payload: Option<Value> = serde_json::from_str(evidence.payload.as_str()).ok();
            seen.id = Some(evidence.id.to_string());
            seen.exit_code = payload.as_ref().and_then(|p| p.get("exit_code")?.as_i64());
            seen.provenance = Some(evidence.provenance.clone());
            seen.provider = evidence.source.provider.as_ref().map(|p| p.as_str().to_owned());
            seen.version.clone_from(&evidence.source.collector_version);
            seen.payload = payload;
            format!("evidence:{}", evidence.kind.as_str())
        }
        Body::Claim(claim) => {
            seen.id = Some(claim.id.to_string());
            "claim".to_owned()
        }
        Body::Usage(usage) => {
            seen.id = Some(usage.id.to_string());
            "usage".to_owned()
        }
        Body::Lineage(_) => "lineage".to_owned(),
        Body::Turn(_) => "facts".to_owned(),
        Body::Capability(_) => "capabilities".to_owned(),
        Body::Loss(loss) => format!("loss:{}", loss.reason.as_str()),
        Body::Quarantine { .. } => "quarantine".to_owned(),
        Body::Alias(_) => "alias".to_owned(),
        Body::HistoricalFinding(_) => "historical_finding".to_owned(),
    };
}
