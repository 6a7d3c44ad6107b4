//! Reading: conversations, timelines, evidence, claims and losses, in a stable order.
//!
//! An aggregate read sets a bad row aside (`failed`) and returns its neighbours; a read of a single
//! row fails loudly.

use super::recorder::StoreError;
use crate::base::hash::Digest;
use crate::domain::capability::RuntimeCapabilities;
use crate::domain::usage::measurement::Measurement;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedRow {
    pub id: String,
    pub error: String,
}

/// Rows and the ones that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows<T> {
    pub rows: Vec<T>,
    pub failed: Vec<FailedRow>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), failed: Vec::new() }
    }
}

/// A conversation with its counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationRow {
    pub id: i64,
    pub key: String,
    pub provider: String,
    pub native_id: String,
    /// Key of the parent conversation.
    pub parent: Option<String>,
    pub cwd: Option<String>,
    pub title: Option<String>,
    pub models: Vec<String>,
    pub agent_version: Option<String>,
    pub first_us: Option<i64>,
    pub last_us: Option<i64>,
    pub events: i64,
    pub failed_calls: i64,
    pub losses: i64,
}

/// Where a record was seen, for people and for read-back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeenAt {
    /// Path of the file, or `hook:<provider>`.
    pub source: String,
    pub offset: u64,
    pub length: u64,
    pub line_hash: String,
    pub path: String,
}

/// An event as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRow {
    pub id: Uuid,
    pub provider: String,
    pub native_id: String,
    pub kind: String,
    pub turn_id: Option<String>,
    pub call_id: Option<String>,
    pub agent_id: Option<String>,
    pub outcome: Option<String>,
    pub tool_name: Option<String>,
    pub tool_input: Option<Value>,
    pub tool_response: Option<Value>,
    pub text: Option<String>,
    pub raw: Option<Value>,
    pub observed_at: String,
    pub clock_source: String,
    pub order_us: i64,
    pub heuristic: bool,
    pub disagrees: bool,
    pub sightings: Vec<SeenAt>,
}

/// Evidence as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceRow {
    pub id: Uuid,
    pub native_id: String,
    pub event_id: Uuid,
    pub kind: String,
    pub payload: Value,
    pub provenance: String,
    pub source: Value,
    /// JSON text of the envelope, as stored.
    pub extension: Option<String>,
    pub observed_at: String,
    pub order_us: i64,
    pub ingress: String,
    pub seen: Option<SeenAt>,
}

/// A claim as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimRow {
    pub id: Uuid,
    pub native_id: String,
    pub event_id: Uuid,
    pub turn_id: Option<String>,
    pub text: String,
    pub subject: String,
    pub claimed_at: String,
    pub order_us: i64,
    pub seen: Option<SeenAt>,
}

/// A capability declaration as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct CapabilityRow {
    /// Derived id, stable over runs.
    pub id: Uuid,
    pub native_id: String,
    pub capabilities: RuntimeCapabilities,
    pub observed_at: String,
}

/// Losses of one reason in one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LossRow {
    pub reason: String,
    pub detail: String,
    pub count: i64,
    pub conversation: Option<String>,
    pub source: Option<String>,
    pub first_us: i64,
    pub last_us: i64,
}

/// A quarantined line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantineRow {
    pub source: String,
    pub offset: u64,
    pub length: u64,
    pub line_hash: String,
    pub reason: String,
}

/// A record of an additive kind (`usage`, `lineage`, `turn`, `loss`), as it is exported.
#[derive(Debug, Clone, PartialEq)]
pub struct AdditiveRow {
    /// Derived id, stable over runs.
    pub id: Uuid,
    pub kind: String,
    pub record: Value,
}

/// A conversation that usage is about; it need not be stored itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageParty {
    pub key: String,
    pub provider: String,
    pub native_id: String,
    /// Key of the conversation that spawned this one, else of the root of its tree.
    pub parent: Option<String>,
}

/// Every usage report, with the names behind the numbers that stand in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UsageReports {
    /// In source and file order; `conversation`, `source`, `provider` and `model` are indexes
    /// into the lists below, each in a stable order.
    pub reports: Vec<Measurement>,
    /// Row of each report, for [`Reader::usage_places`].
    pub rows: Vec<i64>,
    pub conversations: Vec<UsageParty>,
    pub providers: Vec<String>,
    pub models: Vec<String>,
    pub failed: Vec<FailedRow>,
}

/// The reading side of the store.
pub trait Reader {
    fn namespace(&self) -> &str;

    /// All conversations, latest activity first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn conversations(&self) -> Result<Rows<ConversationRow>, StoreError>;

    /// Conversations whose key or native id is `word`, else whose native id begins with it.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn find_conversations(&self, word: &str) -> Result<Vec<ConversationRow>, StoreError>;

    /// Events of a conversation in order.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn events(&self, conversation: i64) -> Result<Rows<EventRow>, StoreError>;

    /// Evidence of a conversation in order.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn evidence(&self, conversation: i64) -> Result<Rows<EvidenceRow>, StoreError>;

    /// Claims of a conversation in order.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn claims(&self, conversation: i64) -> Result<Rows<ClaimRow>, StoreError>;

    /// Capability declarations of a conversation.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn capabilities(&self, conversation: i64) -> Result<Rows<CapabilityRow>, StoreError>;

    /// Losses by reason, of one conversation or of all.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn losses(&self, conversation: Option<i64>) -> Result<Vec<LossRow>, StoreError>;

    /// Quarantined lines, of one conversation's sources or of all.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn quarantine(&self) -> Result<Vec<QuarantineRow>, StoreError>;

    /// Every usage report.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn usage(&self) -> Result<UsageReports, StoreError>;

    /// Where usage reports stand, in the order of `rows`; a row that is gone is left out.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn usage_places(&self, rows: &[i64]) -> Result<Vec<(i64, SeenAt)>, StoreError>;

    /// What usage reports depend on, as one hash: it differs whenever a source was read on, read
    /// again or taken out since.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn usage_stamp(&self) -> Result<Digest, StoreError>;

    /// Something worked out from the usage reports and kept, unless they have changed since.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn derived(&self, name: &str) -> Result<Option<String>, StoreError>;

    /// Records of the additive kinds, in a stable order.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn additive(&self, conversation: i64) -> Result<Rows<AdditiveRow>, StoreError>;
}
