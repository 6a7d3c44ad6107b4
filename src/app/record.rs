//! `fornax hook`: one payload in, one journal frame out, nothing printed, always in time.
//!
//! Observing never breaks what is observed. Whatever goes wrong becomes a counted loss in the
//! journal; if even that cannot be written, the gap shows when the transcript is read. `stream` is
//! the same for an agent that sends all its payloads to one process.

mod stream;

use super::delivery::Delivery;
use super::prepare::{SLACK_BYTES, prepare};
use crate::base::hash::Digest;
use crate::base::json;
use crate::base::limits::{
    HOOK_PAYLOAD_BYTES_MAX, HOOK_READ_DEADLINE, JOURNAL_UNDRAINED_BYTES_MAX, TEXT_BYTES_MAX,
    TEXT_TAIL_BYTES,
};
use crate::base::scan::{Caps, Progress, Scanner};
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::{Message, NormalizationOutcome};
use crate::ports::agent::{AgentAdapter, AgentFamily};
use crate::ports::clock::Clock;
use crate::ports::journal::JournalWriter;
use crate::ports::payload::{PayloadInput, Step};
use serde_json::Value;
use std::io;
use std::time::Instant;

/// What is kept while reading is a little more than what is stored, so that a secret at the place
/// of the cut is seen whole before the text is cut to its size.
const CAPS: Caps = Caps {
    head: TEXT_BYTES_MAX - TEXT_TAIL_BYTES + SLACK_BYTES,
    tail: TEXT_TAIL_BYTES + SLACK_BYTES,
    payload: HOOK_PAYLOAD_BYTES_MAX,
};

/// Where a payload comes from and goes to.
pub struct Hook<'a> {
    /// The provider named on the command line, when it is one.
    pub family: Option<&'a dyn AgentFamily>,
    pub clock: &'a dyn Clock,
    pub journal: &'a dyn JournalWriter,
    /// When the process started.
    pub started: Instant,
    /// Bytes of journal that wait already; asked once a payload.
    pub waiting_bytes: &'a dyn Fn() -> u64,
}

/// How reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    NotJson,
    Closed,
    Deadline,
}

impl Hook<'_> {
    /// Reads one payload and journals it.
    ///
    /// # Errors
    /// When the frame could not be written anywhere; the caller exits 0 all the same.
    pub fn run(&self, input: &mut dyn PayloadInput) -> io::Result<()> {
        let mut scanner = Scanner::new(CAPS);
        let end = self.read(input, &mut scanner);
        if end == End::Closed && scanner.seen() == 0 {
            // Nothing was sent: nothing happened.
            return Ok(());
        }
        let mut adapter = self.family.map(AgentFamily::hook_adapter);
        let payload = payload(&scanner, end);
        let delivery = self.delivery(&scanner, payload, adapter.as_deref_mut(), self.clock.now().0);
        self.append(&delivery)
    }

    fn append(&self, delivery: &Delivery) -> io::Result<()> {
        self.journal.append(&serde_json::to_vec(delivery).map_err(io::Error::other)?)
    }

    fn read(&self, input: &mut dyn PayloadInput, scanner: &mut Scanner) -> End {
        let mut buf = vec![0; 64 * 1024];
        loop {
            let left = HOOK_READ_DEADLINE.saturating_sub(self.started.elapsed());
            if left.is_zero() {
                return End::Deadline;
            }
            match input.read(&mut buf, left) {
                Ok(Step::Bytes(n)) => match scanner.push(buf.get(..n).unwrap_or_default()) {
                    Progress::More => {}
                    Progress::Complete => return End::Complete,
                    Progress::NotJson => return End::NotJson,
                },
                Ok(Step::End) | Err(_) => return End::Closed,
                Ok(Step::TimedOut) => {}
            }
        }
    }

    /// What the journal is told of one payload.
    fn delivery(
        &self,
        scanner: &Scanner,
        payload: Result<Value, LossReason>,
        adapter: Option<&mut (dyn AgentAdapter + 'static)>,
        at_us: i64,
    ) -> Delivery {
        let mut delivery = Delivery {
            at_us,
            provider: "unknown".to_owned(),
            adapter: String::new(),
            payload_hash: Digest::of(scanner.kept()).hex(),
            payload_bytes: scanner.seen(),
            messages: Vec::new(),
            ignored: None,
            unrecognized: None,
        };
        match (adapter, payload) {
            (_, Err(reason)) => {
                let members = scanner.whole_members();
                let of = self.family.zip(members).and_then(|(f, m)| conversation_of(f, &m));
                delivery.messages.push(loss(of, reason, 1));
            }
            (None, Ok(_)) => delivery.messages.push(loss(None, LossReason::ProviderUnknown, 1)),
            (Some(adapter), Ok(value)) => {
                if scanner.cut_bytes() > 0 {
                    let cut = scanner.cut_bytes() as u64;
                    delivery.messages.push(loss(None, LossReason::TextCut, cut));
                }
                translate(adapter, &value, &mut delivery);
            }
        }
        if let Some(family) = self.family {
            family.provider().as_str().clone_into(&mut delivery.provider);
        }
        prepare(&mut delivery.messages);
        if (self.waiting_bytes)() > JOURNAL_UNDRAINED_BYTES_MAX {
            slim(&mut delivery.messages);
        }
        delivery
    }
}

/// The payload as a value, or why there is none.
fn payload(scanner: &Scanner, end: End) -> Result<Value, LossReason> {
    if scanner.over_cap() {
        return Err(LossReason::HookPayloadTooLarge);
    }
    match end {
        End::Deadline => Err(LossReason::HookDeadline),
        End::NotJson | End::Closed => Err(LossReason::HookPayloadInvalid),
        End::Complete => match json::values(scanner.kept()) {
            (mut found, None) if found.len() == 1 => Ok(found.remove(0).value),
            _ => Err(LossReason::HookPayloadInvalid),
        },
    }
}

fn translate(adapter: &mut dyn AgentAdapter, value: &Value, delivery: &mut Delivery) {
    adapter.adapter_version().clone_into(&mut delivery.adapter);
    match adapter.normalize("", value) {
        NormalizationOutcome::Messages(messages) => delivery.messages.extend(messages),
        NormalizationOutcome::Ignored { reason } => delivery.ignored = Some(reason.to_owned()),
        NormalizationOutcome::Unrecognized { discriminator } => {
            delivery.unrecognized = Some(super::redact::text(&discriminator).into_owned());
        }
    }
    // A cut that was counted before the conversation was known belongs to it.
    let conversation = conversation_in(&delivery.messages);
    for message in &mut delivery.messages {
        if let Message::Loss(loss) = message
            && loss.conversation.is_none()
        {
            loss.conversation.clone_from(&conversation);
        }
    }
}

fn loss(conversation: Option<String>, reason: LossReason, count: u64) -> Message {
    let detail = "payload".to_owned();
    Message::Loss(LossDraft { conversation, reason, detail, count, path: String::new() })
}

/// Whose payload it was, told by the members that arrived whole. Nothing else is taken of them: an
/// event made of a part could not be told from the whole one that a transcript holds.
fn conversation_of(family: &dyn AgentFamily, members: &[u8]) -> Option<String> {
    let value = json::values(members).0.pop()?.value;
    let messages = family.hook_adapter().normalize("", &value).into_messages();
    conversation_in(&messages).filter(|native_id| !native_id.is_empty())
}

/// The conversation of the first event.
fn conversation_in(messages: &[Message]) -> Option<String> {
    messages.iter().find_map(|m| match m {
        Message::Event(event) => Some(event.conversation.clone()),
        _ => None,
    })
}

/// Past the bound on waiting journal: ids, command, outcome and evidence only, the rest counted.
fn slim(messages: &mut Vec<Message>) {
    let mut cut = 0;
    for message in messages.iter_mut() {
        if let Message::Event(event) = message {
            let size = |v: &Option<Value>| v.as_ref().map_or(0, |v| v.to_string().len());
            cut += size(&event.tool_response) + size(&event.raw);
            event.tool_response = None;
            event.raw = None;
            cut += event.text.take().map_or(0, |t| t.len());
            if let Some(input) = &mut event.tool_input {
                let command = input.get("command").cloned();
                cut += input.to_string().len();
                *input = serde_json::json!({ "command": command });
            }
        }
    }
    if cut > 0 {
        let detail = "journal full".to_owned();
        messages.push(Message::Loss(LossDraft {
            conversation: None,
            reason: LossReason::TextCut,
            detail,
            count: cut as u64,
            path: String::new(),
        }));
    }
}
