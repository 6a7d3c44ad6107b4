//! Sealed records: what the pipeline hands to the store, with ids derived and places attached.
//!
//! Drafts come from adapters; sealing gives each its id, its conversation key and the place it was
//! seen at. Nothing here is provider specific.

use super::event::{ClockSource, EventKind, NativeId, Outcome};
use super::key::ConversationKey;
use super::loss::LossReason;
use super::outcome::{Relation, TurnDraft};
use super::payload::EvidenceKind;
use super::provenance::EvidenceSource;
use super::usage::UsageDraft;
use crate::base::hash::Digest;
use crate::base::json::JsonText;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// Where something stands in its source: byte range, hash of those bytes, and path inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Offset of the record's first byte (decompressed bytes in a compressed file); for a hook
    /// delivery the time of receipt in microseconds.
    pub offset: u64,
    /// Bytes of the record.
    pub length: u64,
    /// Hash of exactly those bytes.
    pub line_hash: Digest,
    /// Path inside the record, for example `message.content[0]`.
    pub path: String,
    /// Number of the message among those of its record.
    pub index: u32,
}

/// An event with its id.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRecord {
    pub id: Uuid,
    pub kind: EventKind,
    pub native: NativeId,
    pub turn_id: Option<String>,
    pub call_id: Option<String>,
    pub agent_id: Option<String>,
    pub outcome: Option<Outcome>,
    pub tool_name: Option<String>,
    pub tool_input: Option<JsonText>,
    pub tool_response: Option<JsonText>,
    pub text: Option<String>,
    pub raw: Option<JsonText>,
    /// RFC 3339; the source's own spelling where it has a time.
    pub observed_at: String,
    pub clock_source: ClockSource,
    /// Microseconds that order events of one conversation; never decreases within a source.
    pub order_us: i64,
    /// Rank of the channel it was seen through.
    pub rank: i64,
    /// True when its identity is a guess (equal payloads without any id).
    pub heuristic: bool,
    /// Hash of everything that it states, see [`EventRecord::content_of`].
    pub content: Digest,
}

impl EventRecord {
    /// Hash of everything that an event states, its place and times of receipt left out.
    pub fn content_of(&self) -> Digest {
        let parts = [
            self.turn_id.as_deref(),
            self.call_id.as_deref(),
            self.agent_id.as_deref(),
            self.outcome.as_ref().map(|o| o.as_str()),
            self.tool_name.as_deref(),
            self.tool_input.as_ref().map(JsonText::as_str),
            self.tool_response.as_ref().map(JsonText::as_str),
            self.text.as_deref(),
            self.raw.as_ref().map(JsonText::as_str),
        ];
        let length: usize = parts.iter().flatten().map(|text| text.len()).sum();
        let mut bytes = Vec::with_capacity(length + 8 * parts.len());
        for part in parts {
            let length = part.map_or(u64::MAX, |text| text.len() as u64);
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(part.unwrap_or_default().as_bytes());
        }
        Digest::of(&bytes)
    }
}

/// Evidence with its id.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceRecord {
    pub id: Uuid,
    pub event_id: Uuid,
    pub kind: EvidenceKind,
    pub payload: JsonText,
    pub provenance: String,
    pub source: EvidenceSource,
    /// The extension envelope as JSON text, numbers as spelled.
    pub extension: Option<String>,
    pub observed_at: String,
    pub order_us: i64,
    pub rank: i64,
}

/// A checkable statement of the agent, with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRecord {
    pub id: Uuid,
    pub event_id: Uuid,
    pub turn_id: Option<String>,
    pub text: String,
    pub subject: String,
    pub claimed_at: String,
    pub order_us: i64,
}

/// A usage report with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRecord {
    pub id: Uuid,
    pub usage: UsageDraft,
    pub order_us: i64,
}

/// A relation to another conversation, by canonical key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineageRecord {
    pub relation: Relation,
    pub related: String,
    /// As in `LineageDraft`.
    pub position: Option<u64>,
}

/// A capability declaration as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityRecord {
    pub capabilities: super::capability::RuntimeCapabilities,
    pub observed_at: String,
}

/// A loss as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LossRecord {
    pub reason: LossReason,
    pub detail: String,
    pub count: u64,
    pub at_us: i64,
}

/// A finding that an earlier program made and kept: history, never a verdict of this program's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HistoricalFinding {
    pub id: Uuid,
    pub claim_id: Uuid,
    pub verdict: String,
    pub evidence_ids: Vec<Uuid>,
    pub verifier_name: String,
    pub rationale: String,
    pub computed_at: String,
    /// The time again, in microseconds; it only orders.
    #[serde(skip)]
    pub order_us: i64,
}

/// One thing to store.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    Event(Box<EventRecord>),
    Evidence(Box<EvidenceRecord>),
    Claim(ClaimRecord),
    Usage(Box<UsageRecord>),
    Lineage(LineageRecord),
    Turn(TurnDraft),
    Capability(CapabilityRecord),
    Loss(LossRecord),
    /// Another name of the conversation (`session:<id>`).
    Alias(String),
    HistoricalFinding(Box<HistoricalFinding>),
    /// A complete line that does not parse: its place and reason, no content.
    Quarantine {
        reason: String,
    },
}

/// The conversation a record belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConversationRef {
    /// Canonical key.
    pub key: String,
    pub provider: String,
    pub native_id: String,
}

impl ConversationRef {
    /// The row of a key.
    pub fn of(key: &ConversationKey) -> Self {
        Self {
            key: key.to_string(),
            provider: key.provider().as_str().to_owned(),
            native_id: key.native_id().to_owned(),
        }
    }
}

/// One sealed record.
#[derive(Debug, Clone, PartialEq)]
pub struct Sealed {
    /// `None` for losses and quarantine rows of a source whose conversation is not known.
    pub conversation: Option<Arc<ConversationRef>>,
    pub place: Place,
    pub body: Body,
}

crate::open_tag! {
    /// The way in a record took; set by the pipeline, never read from the wire.
    pub enum Ingress {
        /// A built-in adapter.
        BuiltIn = "built_in",
        /// Rows of a first-Fornax database.
        Import = "import",
        /// Third-party messages.
        Messages = "messages",
    }
}

/// Counts by name, for summaries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally(pub std::collections::BTreeMap<String, u64>);

impl Tally {
    /// Adds to one name.
    pub fn add(&mut self, name: &str, count: u64) {
        if let Some(held) = self.0.get_mut(name) {
            *held += count;
        } else {
            self.0.insert(name.to_owned(), count);
        }
    }

    /// Adds all of another tally.
    pub fn merge(&mut self, other: &Self) {
        for (name, count) in &other.0 {
            self.add(name, *count);
        }
    }

    /// Sum of all names.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// True when nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
