//! The boundary behind which providers live: ADR 0004's `AgentAdapter` and what surrounds it.
//!
//! Core asks an adapter family whether a file is one of its own, gets an adapter, and feeds it
//! native values. Adapters keep only what one source needs (open calls, the current turn); that
//! state can be snapshotted beside the watermark and restored when reading goes on.

use crate::domain::capability::RuntimeCapabilities;
use crate::domain::outcome::NormalizationOutcome;
use crate::domain::provider::Provider;
use crate::domain::selector::{Selected, Selector};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Says which signals can be observed.
pub trait CapabilityProbe {
    /// The declaration, without a conversation.
    fn probe(&self) -> RuntimeCapabilities;
}

/// Translates one provider's native values. One instance a source.
pub trait AgentAdapter: CapabilityProbe + Send {
    fn provider(&self) -> Provider;

    /// Version of the translation, not of the agent.
    fn adapter_version(&self) -> &str;

    /// Translates one native value (a hook payload, a line, a whole document). `session_hint` is
    /// used only where the value and the state name no conversation. Never panics.
    fn normalize(&mut self, session_hint: &str, native: &Value) -> NormalizationOutcome;

    /// The state to go on from after the values seen so far; small and JSON.
    fn snapshot(&self) -> Value {
        Value::Null
    }

    /// Takes a state back; false when it is not one of this version's.
    fn restore(&mut self, state: &Value) -> bool {
        state.is_null()
    }
}

/// A file format of one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFormat {
    /// Stable name kept in the store, for example `codex_rollout`.
    pub name: &'static str,
    /// True when the file is one JSON document instead of a line a record.
    pub whole_document: bool,
}

/// The head of a file, for recognition.
pub struct SourceSample<'a> {
    pub path: &'a Path,
    /// The first complete JSON values of the file (at most some dozens), in order.
    pub values: &'a [Value],
}

/// Where a provider keeps its files, from the environment.
pub struct Homes<'a> {
    /// Looks an environment variable up.
    pub var: &'a dyn Fn(&str) -> Option<String>,
    pub home: Option<PathBuf>,
}

/// That an agent deletes histories of its own accord.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneRule {
    /// Folder that they lie below.
    pub folder: PathBuf,
    /// For how long a history that does not change is kept.
    pub after: Duration,
}

/// What one run of `fornax hook <word>` is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookInput {
    /// One payload; the agent waits until it is recorded.
    Payload,
    /// Payloads a line each, as they happen, to the end of the input; nobody waits.
    Stream,
}

/// The end of a turn that a hook may block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnStop {
    /// Native id of the conversation.
    pub native_id: String,
    /// Native id of the turn, where the host names it.
    pub turn: Option<String>,
    /// True when the agent works because a hook blocked this turn's end before.
    pub blocked_before: bool,
}

/// All adapters of one provider.
pub trait AgentFamily: Send + Sync {
    fn provider(&self) -> Provider;

    /// The word on the command line (`fornax hook <word>`).
    fn command_word(&self) -> &'static str;

    /// An adapter for hook payloads.
    fn hook_adapter(&self) -> Box<dyn AgentAdapter>;

    /// How payloads come: most agents run a hook a payload.
    fn hook_input(&self) -> HookInput {
        HookInput::Payload
    }

    /// The end of a turn that a hook payload asks about; none for every other payload, and for a
    /// host whose turns cannot be blocked.
    fn turn_stop(&self, _payload: &Value) -> Option<TurnStop> {
        None
    }

    /// What the host reads as "go on, for this reason".
    fn block(&self, _reason: &str) -> Option<String> {
        None
    }

    /// An adapter for a file of `format`; `None` when the format is not this family's.
    fn file_adapter(&self, format: &str) -> Option<Box<dyn AgentAdapter>>;

    /// The format of that name, when it is this family's; none for a family that keeps no files.
    fn format(&self, _name: &str) -> Option<SourceFormat> {
        None
    }

    /// What a path selects in one native value of a file, exactly as decoding gives it before it is
    /// redacted and cut; `None` when it names no text or field of its own there. Never a whole
    /// record.
    fn select(&self, _native: &Value, _path: &Selector) -> Option<Selected> {
        None
    }

    /// The format of a file, when it is this provider's. Content decides, names only help.
    fn recognise(&self, sample: &SourceSample<'_>) -> Option<SourceFormat>;

    /// Why a file of a known sibling kind is left alone (`agent-1.meta.json`), or `None`.
    fn known_sidecar(&self, path: &Path) -> Option<&'static str>;

    /// Which histories the agent deletes when they are old, as its settings say; `read` gives the
    /// text of a file. None for an agent that keeps them.
    fn prunes(
        &self,
        _homes: &Homes<'_>,
        _read: &dyn Fn(&Path) -> io::Result<String>,
    ) -> Vec<PruneRule> {
        Vec::new()
    }

    /// Folders to look for histories in; they need not exist.
    fn roots(&self, homes: &Homes<'_>) -> Vec<PathBuf>;
}
