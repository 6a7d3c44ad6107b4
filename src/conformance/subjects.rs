//! What a subject must be able to do to be judged, and where subjects come from.
//!
//! The traits speak in strings and JSON, not in domain types, so that a subject in another
//! language fits behind them and a break mode can spell what the domain would never spell.
//! Concrete adapters reach this module only through the factory that the composition root gives.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;

use super::decoding::Decoder;
use super::normalizing::{HookHost, Normalizer};
use super::tailing::TailReader;
use crate::domain::key::{ConversationKey, ItemCategory};
use crate::domain::locator::Locator;
use crate::domain::usage::{Standing, UsageScope};

/// A duty that a subject takes on; each contract case asks for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Offer {
    /// `KeyCodec`.
    KeyCodec,
    /// `EnvelopeCodec`.
    Envelope,
    /// `NativeProbe`.
    Native,
    /// `Resolver`.
    Readback,
    /// `Decoder`.
    Decoder,
    /// `Decoder` of a format that tells things twice.
    SecondTellings,
    /// `Decoder` of a format in which calls run commands that are no calls themselves.
    NestedCommands,
    /// `TailReader`.
    Tail,
    /// `Normalizer`.
    Normalize,
    /// `HookHost`.
    HookProcess,
    /// `UsageFold`.
    Usage,
    /// The conformance runner itself.
    Runner,
}

impl Offer {
    /// Every offer, in declaration order.
    pub const ALL: [Self; 12] = [
        Self::KeyCodec,
        Self::Envelope,
        Self::Native,
        Self::Readback,
        Self::Decoder,
        Self::SecondTellings,
        Self::NestedCommands,
        Self::Tail,
        Self::Normalize,
        Self::HookProcess,
        Self::Usage,
        Self::Runner,
    ];

    /// The name used in lists and in the pinned file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::KeyCodec => "key_codec",
            Self::Envelope => "envelope",
            Self::Native => "native",
            Self::Readback => "readback",
            Self::Decoder => "decoder",
            Self::SecondTellings => "second_tellings",
            Self::NestedCommands => "nested_commands",
            Self::Tail => "tail",
            Self::Normalize => "normalize",
            Self::HookProcess => "hook_process",
            Self::Usage => "usage",
            Self::Runner => "runner",
        }
    }
}

/// A subject and what it offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectRow {
    /// `builtin:keys`, ...
    pub name: String,
    /// What it can be asked to do.
    pub offers: Vec<Offer>,
}

/// Makes fresh subjects; every case gets its own.
pub trait SubjectFactory {
    /// The subjects there are, in the order in which they are run.
    fn subjects(&self) -> Vec<SubjectRow>;

    /// A fresh key codec of the subject, when it offers one.
    fn keys(&self, subject: &str) -> Option<Box<dyn KeyCodec>>;

    /// A fresh envelope codec of the subject, when it offers one.
    fn envelope(&self, subject: &str) -> Option<Box<dyn EnvelopeCodec>>;

    /// A fresh native probe of the subject, when it offers one.
    fn native(&self, subject: &str) -> Option<Box<dyn NativeProbe>>;

    /// A fresh resolver of the subject, when it offers one.
    fn resolver(&self, subject: &str) -> Option<Box<dyn Resolver>>;

    /// A fresh decoder of the subject, when it offers one.
    fn decoder(&self, _subject: &str) -> Option<Box<dyn Decoder>> {
        None
    }

    /// A fresh tail reader of the subject, when it offers one.
    fn tail(&self, _subject: &str) -> Option<Box<dyn TailReader>> {
        None
    }

    /// A fresh native adapter of the subject, when it offers one.
    fn normalizer(&self, _subject: &str) -> Option<Box<dyn Normalizer>> {
        None
    }

    /// The hook of the subject as a process, when it offers one.
    fn hook_host(&self, _subject: &str) -> Option<Box<dyn HookHost>> {
        None
    }

    /// A fresh usage fold of the subject, when it offers one.
    fn usage(&self, subject: &str) -> Option<Box<dyn UsageFold>>;
}

/// The native parts of a conversation key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyParts {
    /// The agent runtime.
    pub provider: String,
    /// The corpus namespace.
    pub namespace: String,
    /// The provider's own id.
    pub native_id: String,
}

impl KeyParts {
    /// The parts, from borrowed text.
    pub fn new(provider: &str, namespace: &str, native_id: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            namespace: namespace.to_owned(),
            native_id: native_id.to_owned(),
        }
    }
}

/// A parsed key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedKey {
    /// The conversation, or the one that the item belongs to.
    pub conversation: KeyParts,
    /// Category and id, for an item key.
    pub item: Option<(ItemCategory, String)>,
}

/// Writes and reads keys.
pub trait KeyCodec {
    /// The key of a conversation.
    fn conversation(&mut self, parts: &KeyParts) -> Result<String, String>;

    /// The key of an item.
    fn item(
        &mut self,
        category: ItemCategory,
        parts: &KeyParts,
        item_id: &str,
    ) -> Result<String, String>;

    /// The identity behind a key of either kind.
    fn parse(&mut self, key: &str) -> Result<ParsedKey, String>;
}

/// An envelope as it was read; values are JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopeView {
    /// The version it was written with.
    pub schema_version: u32,
    /// The agent runtime.
    pub provider: String,
    /// The adapter's version.
    pub adapter_version: String,
    /// The content class.
    pub content_class: String,
    /// The content.
    pub fields: String,
    /// Keys beside the named ones.
    pub unknown: BTreeMap<String, String>,
}

/// The named parts of a new envelope; `fields` is JSON text.
#[derive(Debug, Clone)]
pub struct NewEnvelope {
    /// The agent runtime.
    pub provider: String,
    /// The adapter's version.
    pub adapter_version: String,
    /// The content class.
    pub content_class: String,
    /// The content.
    pub fields: String,
}

/// Reads, writes and carries extension envelopes, and validates canonical payloads.
pub trait EnvelopeCodec {
    /// Reads an envelope from its JSON text.
    fn read(&mut self, text: &str) -> Result<EnvelopeView, String>;

    /// Reads an envelope and writes it again, as a store or an export does.
    fn rewrite(&mut self, text: &str) -> Result<String, String>;

    /// Writes a new envelope with further top-level keys (name, JSON text).
    fn make(&mut self, new: &NewEnvelope, unknown: &[(&str, &str)]) -> Result<String, String>;

    /// Writes a record that carries the envelope, or none.
    fn carry(&mut self, envelope: Option<&str>) -> Result<String, String>;

    /// Reads a record and gives the envelope that it carries, as JSON text.
    fn carried(&mut self, record: &str) -> Result<Option<String>, String>;

    /// Checks a canonical payload against the closed shape of its evidence kind.
    fn validate_payload(&mut self, kind: &str, payload: &Value) -> Result<(), String>;

    /// The longest envelope accepted in bytes, and the deepest nesting, its own braces included.
    fn bounds(&self) -> (usize, usize);
}

/// What became of one native line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeOutcome {
    /// Canonical records came of it, possibly none.
    Messages,
    /// A known shape that is deliberately not translated.
    Ignored,
    /// A shape that the adapter does not know.
    Unrecognized,
}

/// One piece of evidence that a line gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceView {
    /// The provider that the evidence names as its own.
    pub provider: String,
    /// The extension envelope it carries, as JSON text.
    pub extension: Option<String>,
}

/// What one native line became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineView {
    /// The adapter's outcome.
    pub outcome: NativeOutcome,
    /// The evidence among its messages.
    pub evidence: Vec<EvidenceView>,
}

/// A native reader, seen through its identities and envelopes.
///
/// The lines are those of a Codex rollout. A subject must build at least one extension envelope
/// for a finished command (`exec_command_end`, `item_completed` or a call's output).
pub trait NativeProbe {
    /// The conversation that a file of these lines at this path belongs to.
    fn conversation_of(&mut self, path: &str, lines: &[Value]) -> Result<ConversationKey, String>;

    /// What each line became, one entry a line, read in order by one adapter.
    fn read_lines(&mut self, lines: &[Value]) -> Result<Vec<LineView>, String>;
}

/// A text that a subject recorded, with the place that it says it can be read back from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    /// Number of the line that it stands in, from 0.
    pub line: usize,
    /// Where it stands.
    pub locator: Locator,
    /// What is stored of it; a structured field as compact JSON.
    pub text: String,
}

/// What a resolver answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// The text, and whether it is only the beginning of one of `full_length` bytes.
    Text {
        /// What was read.
        text: String,
        /// Whether it is a part.
        cut: bool,
        /// Bytes of the whole.
        full_length: usize,
    },
    /// The typed reason.
    Unavailable(String),
}

/// What becomes of a source after it was recorded.
#[derive(Debug, Clone, Copy)]
pub enum Happening<'a> {
    /// The same file holds these lines now.
    Written(&'a [Value]),
    /// Another file with the same bytes stands in its place.
    Replaced,
    /// The file is gone.
    Removed,
    /// The file is gone, and the subject had a look since.
    Pruned,
    /// The file may not be read any more.
    Denied,
    /// What is stored says that the file is of a format that nobody here knows.
    OfUnknownFormat,
}

/// Records sources and reads their texts back.
///
/// The lines are those of a Claude Code transcript; a source is its lines as compact JSON, each
/// ended by a line feed. A subject is its own: each case gets a fresh one.
pub trait Resolver {
    /// The texts that decoding takes from the lines, in order; nothing is stored.
    fn decode(&mut self, lines: &[Value]) -> Result<Vec<String>, String>;

    /// Makes a source of that name and records it; answers its texts in order.
    fn record(&mut self, name: &str, lines: &[Value]) -> Result<Vec<Indexed>, String>;

    /// Lets something happen to a recorded source.
    fn happen(&mut self, name: &str, what: Happening<'_>) -> Result<(), String>;

    /// Reads back at most `max_bytes` of the text that a locator names.
    fn resolve(&mut self, locator: &Locator, max_bytes: usize) -> Result<Resolved, String>;

    /// Whether there is something to read back.
    fn is_present(&mut self, locator: &Locator) -> Result<bool, String>;

    /// How often a source was opened for its bytes.
    fn reads(&self) -> u64;
}

/// One usage report, as a reader of native files hands it on.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageReport {
    /// The conversation that reported it.
    pub conversation: String,
    /// The conversation the tokens were spent in, where the report says it is a copy.
    pub copied_from: Option<String>,
    /// The file it stands in.
    pub source: String,
    /// Number of the running total within its source.
    pub epoch: i64,
    /// Order within the source.
    pub sequence: i64,
    /// What it covers.
    pub scope: UsageScope,
    /// What its numbers are.
    pub standing: Standing,
    /// Native response id.
    pub response: Option<String>,
    /// Native turn id.
    pub turn: Option<String>,
    /// The model, where stated.
    pub model: Option<String>,
    /// Counts by name (`input`, `cached_input`, `cache_write_input`, `output`,
    /// `reasoning_output`, `total`), as anything that a provider may write there.
    pub counts: Value,
}

/// A number of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NumberView {
    /// The number, where it is wholly known.
    pub value: Option<i64>,
    /// The sum of its known parts.
    pub known: i64,
}

/// What a fold credited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageAnswer {
    /// Sums by name; `None` when there was nothing to credit.
    pub numbers: Option<BTreeMap<String, NumberView>>,
    /// Known total by model; `None` is the model that was not stated.
    pub models: BTreeMap<Option<String>, i64>,
    /// Known total by conversation.
    pub conversations: BTreeMap<String, i64>,
    /// Names of counts that were no counts.
    pub diagnostics: Vec<String>,
    /// `none`, `responses`, `totals` or `both`.
    pub basis: String,
}

impl UsageAnswer {
    /// A number by name; absent is unknown.
    pub fn number(&self, name: &str) -> NumberView {
        self.numbers.as_ref().and_then(|all| all.get(name)).copied().unwrap_or_default()
    }
}

/// Folds usage reports into what is credited, once.
pub trait UsageFold {
    /// Everything that was reported, and nothing else.
    fn fold(&mut self, reports: &[UsageReport]) -> Result<UsageAnswer, String>;
}

/// Counts how often a break mode really changed an answer; zero means that it proves nothing.
#[derive(Debug, Clone, Default)]
pub struct Fired(Rc<Cell<u64>>);

impl Fired {
    /// The mode changed an answer.
    pub fn hit(&self) {
        self.0.set(self.0.get().saturating_add(1));
    }

    /// How often it did.
    pub fn count(&self) -> u64 {
        self.0.get()
    }
}
