//! The output of `codex exec --json`: a line an event, items with ids of their own.
//!
//! The stream repeats what the thread's rollout holds in full, and names neither turns nor calls as
//! the rollout does: its thread and its sub-agents meet the rollout's by id, its answers by turn
//! and equal text, and everything is told on the `Stream` channel. Item ids start anew with every
//! run, so an item is named by its id and by the chain of lines before it.
//!
//! Before October 2025 the lines were `{id, msg}` with the events of a rollout as `msg`, call ids
//! included.

use super::items::STREAMED;
use super::state::State;
use super::value::{name, owned, text};
use super::work::{SourceKind, Verdict, Work};
use super::{ADAPTER_VERSION, rollout_capabilities};
use crate::base::hash::Digest;
use crate::base::limits::TEXT_BYTES_MAX;
use crate::domain::capability::RuntimeCapabilities;
use crate::domain::event::{Channel, EventKind, NativeId, Outcome};
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::{Message, NormalizationOutcome, TurnDraft};
use crate::domain::provider::Provider;
use crate::ports::agent::{AgentAdapter, CapabilityProbe};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Version of the stored form; another one is not restored.
const STREAM_STATE_VERSION: u32 = 1;

/// Most items that may be under way at once.
const OPEN_MAX: usize = 1_024;

const STREAM: SourceKind = SourceKind { place: "exec_stream", first: Channel::Stream };

/// What must be remembered from line to line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StreamState {
    version: u32,
    thread: State,
    /// Hash over the lines of this thread so far.
    chain: String,
    /// Names of items under way, by item id.
    open: BTreeMap<String, String>,
    /// The prompt of an early stream, until its thread is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<Asked>,
}

/// A prompt that waits, cut as it is when it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Asked {
    text: String,
    /// Bytes that were cut.
    cut: u64,
}

impl Default for StreamState {
    fn default() -> Self {
        let thread = State::default();
        let chain = String::new();
        let open = BTreeMap::new();
        Self { version: STREAM_STATE_VERSION, thread, chain, open, asked: None }
    }
}

impl StreamState {
    /// Takes a line into the chain; a stream of another thread begins a new one.
    fn link(&mut self, line: &Value) {
        if let (true, Some(thread)) = (is_start(line), thread_of(line))
            && self.thread.conversation.as_deref().is_some_and(|own| own != thread)
        {
            *self = Self::default();
        }
        self.chain = Digest::of(format!("{}|{line}", self.chain).as_bytes()).short_hex();
    }

    /// The name of an item: its id within this run. It keeps the one that its start was given.
    fn item_name(&mut self, id: &str, ends: bool) -> String {
        let known = if ends { self.open.remove(id) } else { self.open.get(id).cloned() };
        let named = known.unwrap_or_else(|| format!("{id}@{}", self.chain));
        if !ends && self.open.len() < OPEN_MAX {
            self.open.insert(id.to_owned(), named.clone());
        }
        named
    }
}

/// Whether a line is the first of a stream.
pub(super) fn is_start(line: &Value) -> bool {
    let msg = line.get("msg").and_then(|msg| text(msg, "type"));
    let begins = matches!(text(line, "type"), Some("thread.started" | "session.created"))
        || msg == Some("session_configured");
    begins && thread_of(line).is_some()
}

/// The thread that the first line of a stream names.
fn thread_of(line: &Value) -> Option<&str> {
    let stated = line.get("msg").unwrap_or(line);
    name(stated, "thread_id").or_else(|| name(stated, "session_id"))
}

/// Reads one stream.
#[derive(Debug, Default)]
pub(super) struct StreamAdapter {
    state: StreamState,
}

impl CapabilityProbe for StreamAdapter {
    fn probe(&self) -> RuntimeCapabilities {
        rollout_capabilities()
    }
}

impl AgentAdapter for StreamAdapter {
    fn provider(&self) -> Provider {
        Provider::Codex
    }

    fn adapter_version(&self) -> &str {
        ADAPTER_VERSION
    }

    fn normalize(&mut self, session_hint: &str, native: &Value) -> NormalizationOutcome {
        self.state.link(native);
        let Some(tag) = name(native, "type") else {
            return self.early(session_hint, native);
        };
        let item = native.get("item").filter(|item| item.is_object());
        let named = item.and_then(|item| name(item, "id")).map(|id| {
            let ends = tag == "item.completed";
            self.state.item_name(id, ends)
        });
        let chain = self.state.chain.clone();
        let mut work = Work::new(&mut self.state.thread, session_hint, None, "").told_by(STREAM);
        let verdict = match (tag, item) {
            ("item.started" | "item.completed", Some(item)) => {
                work.stream_item(item, named, tag == "item.completed")
            }
            ("item.updated", Some(_)) => Verdict::Ignored("item under way"),
            _ => work.stream_line(tag, native, &chain),
        };
        work.finish(verdict)
    }

    fn snapshot(&self) -> Value {
        serde_json::to_value(&self.state).unwrap_or(Value::Null)
    }

    fn restore(&mut self, state: &Value) -> bool {
        match serde_json::from_value::<StreamState>(state.clone()) {
            Ok(restored) if restored.version == STREAM_STATE_VERSION => {
                self.state = restored;
                true
            }
            _ => false,
        }
    }
}

impl StreamAdapter {
    /// A line of the early stream: an event, the prompt, or the settings before it.
    fn early(&mut self, hint: &str, native: &Value) -> NormalizationOutcome {
        let named = self.state.thread.conversation.is_some();
        let mut work = Work::new(&mut self.state.thread, hint, None, "").told_by(STREAM);
        let verdict = if let Some(msg) = native.get("msg") {
            work.set_prefix("msg.".to_owned());
            let verdict = work.early_event(msg);
            // Behind the first event of the thread, which begins the turn that was asked for.
            match self.state.asked.take_if(|_| named) {
                Some(asked) => work.early_prompt(&asked),
                None => verdict,
            }
        } else if native.get("workdir").is_some() && native.get("model").is_some() {
            Verdict::Ignored("settings of the run")
        } else if let Some(prompt) = text(native, "prompt") {
            let kept = prompt.get(..prompt.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or_default();
            let cut = (prompt.len() - kept.len()) as u64;
            self.state.asked = Some(Asked { text: kept.to_owned(), cut });
            Verdict::Ignored("prompt, told when its thread is named")
        } else {
            Verdict::Unknown("<missing type>".to_owned())
        };
        let mut outcome = work.finish(verdict);
        if let NormalizationOutcome::Messages(messages) = &mut outcome {
            for message in messages {
                if let Message::Event(event) = message {
                    event.channel = Channel::Stream;
                }
            }
        }
        outcome
    }
}

impl Work<'_> {
    fn early_event(&mut self, msg: &Value) -> Verdict {
        if name(msg, "type") != Some("session_configured") {
            return self.event_msg(msg);
        }
        let Some(thread) = name(msg, "session_id") else {
            return Verdict::Unknown("session_configured:<missing session_id>".to_owned());
        };
        if self.state.conversation.is_none() {
            self.state.conversation = Some(thread.to_owned());
            self.start_session(thread);
        }
        let model = owned(msg, "model");
        self.state_facts("model", TurnDraft { model, ..TurnDraft::default() });
        Verdict::Told
    }

    /// The prompt that stood before its thread was named. The line at hand does not hold the text,
    /// so its path is empty: the words are another line's.
    fn early_prompt(&mut self, asked: &Asked) -> Verdict {
        self.set_prefix(String::new());
        self.prompt(&asked.text, STREAMED, None, "");
        if asked.cut > 0 {
            self.push(Message::Loss(LossDraft {
                count: asked.cut,
                ..LossDraft::one(Some(self.conversation()), LossReason::TextCut, "text", "")
            }));
        }
        Verdict::Told
    }

    /// A line that is no item's.
    fn stream_line(&mut self, tag: &str, line: &Value, chain: &str) -> Verdict {
        match tag {
            "thread.started" | "session.created" => self.stream_begins(line),
            "turn.started" => {
                self.state.turn.begin(None);
                let native = NativeId::new("stream_turn", chain);
                let event = self.event(EventKind::TurnStart, native, Channel::Stream, "type");
                self.tell(event);
                Verdict::Told
            }
            "turn.completed" => {
                self.stream_turn_ends(chain, Outcome::Ok);
                self.stream_usage(line);
                Verdict::Told
            }
            "turn.failed" => {
                self.stream_error(line.pointer("/error/message"), "error.message");
                self.stream_turn_ends(chain, Outcome::Failed);
                Verdict::Told
            }
            "error" => {
                self.stream_error(line.get("message"), "message");
                Verdict::Told
            }
            "request_user_input" => Verdict::Ignored("live-only event"),
            other if other.ends_with(".delta") => Verdict::Ignored("live-only event"),
            other => Verdict::Unknown(other.to_owned()),
        }
    }

    fn stream_begins(&mut self, line: &Value) -> Verdict {
        let Some(thread) = thread_of(line) else {
            return Verdict::Unknown("thread.started:<missing thread_id>".to_owned());
        };
        if self.state.conversation.is_some() {
            return Verdict::Ignored("another run of the same thread");
        }
        self.state.conversation = Some(thread.to_owned());
        self.start_session(thread);
        Verdict::Told
    }

    fn stream_turn_ends(&mut self, chain: &str, outcome: Outcome) {
        let native = NativeId::new("stream_turn", chain);
        let mut event = self.event(EventKind::TurnEnd, native, Channel::Stream, "type");
        event.outcome = Some(outcome);
        self.state.turn.end();
        self.tell(event);
    }

    /// The use so far of the whole thread, its earlier runs included.
    fn stream_usage(&mut self, line: &Value) {
        let Some(usage) = line.get("usage").filter(|usage| usage.is_object()) else { return };
        let total = json!({ "info": { "total_token_usage": usage } });
        self.token_count(&total, None);
        self.last_usage_path("usage");
    }

    fn stream_error(&mut self, message: Option<&Value>, field: &str) {
        let native = NativeId::record();
        let mut event = self.event(EventKind::RuntimeError, native, Channel::Stream, field);
        event.text = message.and_then(Value::as_str).map(str::to_owned);
        event.outcome = Some(Outcome::Failed);
        self.tell(event);
    }
}
