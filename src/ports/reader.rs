//! Reading: conversations, timelines, evidence, claims and losses, in a stable order.
//!
//! An aggregate read sets a bad row aside (`failed`) and returns its neighbours; a read of a single
//! row fails loudly.

use super::recorder::{KnownSource, StoreError};
use crate::base::hash::Digest;
use crate::domain::capability::RuntimeCapabilities;
use crate::domain::locator::Locator;
use crate::domain::record::HistoricalFinding;
use crate::domain::usage::measurement::Measurement;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};
use serde_json::Value;
use uuid::Uuid;

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationRow {
    pub id: i64,
    pub key: String,
    pub provider: String,
    pub native_id: String,
    /// Key of the parent conversation.
    pub parent: Option<String>,
    /// Key of the conversation that this one began as a copy of.
    pub forked_from: Option<String>,
    /// Ordinal of the first record of `forked_from` that this one does not inherit, where stated.
    pub fork_position: Option<i64>,
    pub cwd: Option<String>,
    pub title: Option<String>,
    pub models: Vec<String>,
    pub agent_version: Option<String>,
    /// What a spawned agent is called, its kind, and its place in the tree of agents.
    pub agent_nickname: Option<String>,
    pub agent_role: Option<String>,
    pub agent_path: Option<String>,
    pub first_us: Option<i64>,
    pub last_us: Option<i64>,
    pub events: i64,
    pub failed_calls: i64,
    pub losses: i64,
    /// How many prompts a person typed.
    pub prompts: i64,
    /// The first of them.
    pub first_prompt: Option<String>,
}

/// Where a record was seen, for people and for read-back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenAt {
    /// Path of the file, or `hook:<provider>`.
    pub source: String,
    pub offset: u64,
    pub length: u64,
    pub line_hash: String,
    pub path: String,
    /// Number of the message among those of its record.
    pub index: u32,
}

impl SeenAt {
    /// The place in its one spelling; `None` when the stored hash is damaged.
    pub fn locator(&self) -> Option<Locator> {
        Some(Locator {
            source: self.source.clone(),
            offset: self.offset,
            length: self.length,
            line_hash: Digest::from_hex(&self.line_hash)?,
            path: self.path.clone(),
            index: self.index,
        })
    }

    /// Whether the place is in a file that is read back: hook deliveries are nowhere else than in the
    /// store, and rows of an imported database are read as a whole.
    pub fn is_in_file(&self) -> bool {
        !self.source.starts_with("hook:") && !self.is_row()
    }

    /// Whether the place is a row of an imported database: `offset` is its row id, `path` its table.
    pub fn is_row(&self) -> bool {
        self.source.starts_with("import:")
    }
}

impl Serialize for SeenAt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("SeenAt", 7)?;
        out.serialize_field("source", &self.source)?;
        out.serialize_field("offset", &self.offset)?;
        out.serialize_field("length", &self.length)?;
        out.serialize_field("line_hash", &self.line_hash)?;
        out.serialize_field("path", &self.path)?;
        out.serialize_field("index", &self.index)?;
        out.serialize_field("locator", &self.locator().map(|l| l.to_string()))?;
        out.end()
    }
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
    /// The way in of the telling that counts; `messages` only where nothing else saw the event.
    pub ingress: String,
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
    /// The way in; `messages` only where nothing else told the claim.
    pub ingress: String,
    pub seen: Option<SeenAt>,
}

/// A finding that an earlier program made, as stored: history, not a verdict.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct HistoricalFindingRow {
    #[serde(flatten)]
    pub finding: HistoricalFinding,
    pub seen: SeenAt,
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

/// A source of a conversation, and whether it is still there.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SourceRow {
    /// Path of the file, or `hook:<provider>`.
    pub source: String,
    /// `file`, `hook` or `messages`.
    pub kind: String,
    /// `active`, `missing`, `pruned` (deleted by its agent), `not_recognised`.
    pub state: String,
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
    pub seen: SeenAt,
    pub reason: String,
    /// Key of the conversation that its file was about, where that was known.
    pub conversation: Option<String>,
}

/// A located loss: text that was cut, or a line or part that no decoder read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostRow {
    pub seen: SeenAt,
    pub reason: String,
    /// The field that was cut, the tag of an unknown shape, or why a line does not parse.
    pub detail: String,
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

    /// The conversations that this one started, by its key, latest activity first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn children(&self, key: &str) -> Result<Vec<ConversationRow>, StoreError>;

    /// Every text that a person typed, with the id of its conversation.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn prompts(&self, each: &mut dyn FnMut(i64, &str)) -> Result<(), StoreError>;

    /// Conversations whose key or native id is `word`, else whose native id begins with it; of a
    /// word `session:<id>` those that an import gave this name.
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

    /// Findings that an earlier program made of a conversation, in order.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn historical_findings(
        &self,
        conversation: i64,
    ) -> Result<Rows<HistoricalFindingRow>, StoreError>;

    /// Losses by reason, of one conversation or of all.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn losses(&self, conversation: Option<i64>) -> Result<Vec<LossRow>, StoreError>;

    /// Quarantined lines, of one conversation's sources or of all.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn quarantine(&self, conversation: Option<i64>) -> Result<Vec<QuarantineRow>, StoreError>;

    /// Losses of one reason with their places, of one conversation or of all.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn lost(&self, conversation: Option<i64>, reason: &str) -> Result<Vec<LostRow>, StoreError>;

    /// The sources that told of a conversation, by name.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn sources_of(&self, conversation: i64) -> Result<Vec<SourceRow>, StoreError>;

    /// A source by its name.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn source(&self, name: &str) -> Result<Option<KnownSource>, StoreError>;

    /// Every place that begins at `offset` of a source and that the store knows: of sightings,
    /// evidence, claims, losses and quarantined lines.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn places(&self, source: &str, offset: u64) -> Result<Vec<SeenAt>, StoreError>;

    /// Where an event, evidence or claim of this id is best read back: in a file before a hook, by
    /// rank. `None` when no row has the id.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn place_of(&self, id: Uuid) -> Result<Option<SeenAt>, StoreError>;

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
