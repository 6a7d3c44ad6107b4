//! Native adapters as subjects: payloads in, what the pipeline makes of them out.
//!
//! A scenario is a name and the native payloads of it, spelled as the runtime spells them. A subject
//! that cannot be driven into a scenario says why. As everywhere in this suite the views speak in
//! strings and JSON, so that a break mode can spell what the domain would never spell.

use serde_json::Value;
use std::collections::BTreeMap;

/// One native payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// What the runtime writes.
    pub bytes: Vec<u8>,
    /// The time that it states, as it spells it.
    pub at: Option<String>,
}

impl Payload {
    /// A payload that states no time.
    pub fn untimed(value: &Value) -> Self {
        Self { bytes: value.to_string().into_bytes(), at: None }
    }

    /// A payload that states its time.
    pub fn timed(value: &Value, at: &str) -> Self {
        Self { at: Some(at.to_owned()), ..Self::untimed(value) }
    }
}

/// A canonical message on its way: its wire text, and the same read and written again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wire {
    pub text: String,
    pub again: Result<String, String>,
    /// The time that the message states as its source's own.
    pub observed_at: Option<String>,
}

/// One record, ids derived. What was not stated is absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordView {
    /// `event:post_tool_use`, `evidence:exit_code`, `usage`, `lineage`, `facts`, `claim`,
    /// `capabilities`, `loss:text_cut`, `quarantine`.
    pub kind: String,
    pub id: Option<String>,
    pub provider: Option<String>,
    /// Native id of the conversation.
    pub conversation: Option<String>,
    /// Path inside the payload, and number among the payload's records.
    pub place: (String, u32),
    pub call: Option<String>,
    pub outcome: Option<String>,
    /// Whether it holds a text; events only.
    pub has_text: bool,
    /// Whether it holds what a call gave back; events only.
    pub has_response: bool,
    pub exit_code: Option<i64>,
    /// How it was collected; evidence only.
    pub provenance: Option<String>,
    /// Version of the adapter that made it; evidence only.
    pub version: Option<String>,
    /// The canonical payload; evidence only.
    pub payload: Option<Value>,
    /// Everything that is kept of it, as JSON text.
    pub kept: String,
}

/// What became of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Canonical messages.
    Messages { wires: Vec<Wire>, records: Vec<RecordView> },
    /// A known shape that is deliberately not translated.
    Ignored(String),
    /// A shape that the adapter does not know, by its tag.
    Unrecognized(String),
    /// No JSON at all: the adapter never saw it.
    Refused(String),
}

impl Answer {
    /// The records; none for every other answer.
    pub fn records(&self) -> &[RecordView] {
        match self {
            Self::Messages { records, .. } => records,
            _ => &[],
        }
    }

    /// The messages on the wire; none for every other answer.
    pub fn wires(&self) -> &[Wire] {
        match self {
            Self::Messages { wires, .. } => wires,
            _ => &[],
        }
    }

    /// The reason, tag or error that stands for the payload; empty when it was translated.
    pub fn said(&self) -> &str {
        match self {
            Self::Messages { .. } => "",
            Self::Ignored(text) | Self::Unrecognized(text) | Self::Refused(text) => text,
        }
    }
}

/// What a subject says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    pub provider: String,
    pub adapter_version: String,
    /// Availability by signal class (`tool_invocation`: `available`).
    pub signals: BTreeMap<String, String>,
}

/// The scenarios, in the words of the suite.
pub const SCENARIOS: [&str; 24] = [
    "session_start",
    "session_end",
    "prompt",
    "answer",
    "tool_ok",
    "tool_coded",
    "tool_failed",
    "tool_silent",
    "tool_denied",
    "tool_interrupted",
    "tool_unresolved",
    "tool_interleaved",
    "multi_part",
    "subagent",
    "compaction",
    "usage",
    "bookkeeping",
    "unknown_kind",
    "malformed",
    "secret",
    "huge",
    "no_session_id",
    "two_sessions",
    "untimed",
];

/// The session that every scenario is of, unless its name says otherwise.
pub const SESSION: &str = "019f0000-0000-7000-8000-00000000000a";
/// The second of `two_sessions`.
pub const SECOND: &str = "019f0000-0000-7000-8000-00000000000c";
/// What stands in `unknown_kind` beside its tag.
pub const MARKER: &str = "marmalade-in-the-attic";

/// A native adapter with the pipeline behind it: normalised, redacted, cut, sealed.
pub trait Normalizer {
    /// What it says of itself.
    fn declare(&mut self) -> Declaration;

    /// The native payloads of a scenario; an error says why it cannot be driven into it.
    fn scenario(&self, name: &str) -> Result<Vec<Payload>, String>;

    /// Takes one payload. `hint` is the session where payload and state name none.
    fn normalize(&mut self, hint: &str, payload: &[u8]) -> Answer;

    /// Forgets everything, as a new process does.
    fn reset(&mut self);
}

/// What is wrong around a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing.
    None,
    /// Another process holds the journal's lock, and will not let go.
    JournalLocked,
    /// A file stands where the journal's folder should be.
    JournalUnwritable,
    /// The home cannot be made.
    HomeUnwritable,
}

/// How a hook process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEnd {
    /// Absent when it was killed.
    pub exit: Option<i32>,
    /// Everything that it printed, on both streams.
    pub printed: String,
    /// Whether it ended before anybody lost patience.
    pub in_time: bool,
}

/// The hook as a process of its own.
pub trait HookHost {
    /// Runs the hook once with this on its standard input.
    fn run(&mut self, payload: &[u8], trouble: Trouble) -> Result<HookEnd, String>;
}
