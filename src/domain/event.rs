//! What happened: the event an adapter observed, before ids are derived.
//!
//! A draft names its conversation and its native identity; the pipeline derives the event id from
//! them (conversation key + kind + native id), so that a hook and a transcript line about the same
//! call meet in one event. Wire spellings of the eight legacy kinds are those of the first Fornax.

use serde::{Deserialize, Serialize};
use serde_json::Value;

crate::open_tag! {
    /// What kind of thing happened. The first eight are the first Fornax's closed set.
    pub enum EventKind {
        SessionStart = "session_start",
        SessionEnd = "session_end",
        UserPromptSubmit = "user_prompt_submit",
        /// A proposed tool call: never proof that it ran.
        PreToolUse = "pre_tool_use",
        /// What became of a tool call; see `Outcome`.
        PostToolUse = "post_tool_use",
        SubagentStart = "subagent_start",
        SubagentStop = "subagent_stop",
        Notification = "notification",
        AssistantMessage = "assistant_message",
        TurnStart = "turn_start",
        TurnEnd = "turn_end",
        Compaction = "compaction",
        PermissionRequest = "permission_request",
        PermissionDenied = "permission_denied",
        /// Text put into the conversation by the host, not typed by a person.
        InjectedPrompt = "injected_prompt",
        /// A command that the person ran in the agent's own prompt (`!cmd`).
        UserCommand = "user_command",
        /// An error that the runtime itself reported (API error, failed turn).
        RuntimeError = "runtime_error",
        CwdChanged = "cwd_changed",
        TaskCreated = "task_created",
        TaskCompleted = "task_completed",
        ModelChanged = "model_changed",
        /// History was dropped from the model's view (rollback, revert).
        RolledBack = "rolled_back",
        /// One agent wrote to another.
        AgentMessage = "agent_message",
        /// A file was found changed, and no file tool of the agent's did it.
        FileChanged = "file_changed",
        /// The conversation made a pull request or is about one.
        PullRequest = "pull_request",
    }
}

impl EventKind {
    /// Whether a consumer of the first Fornax knows this kind.
    pub fn is_legacy(&self) -> bool {
        matches!(
            self,
            Self::SessionStart
                | Self::SessionEnd
                | Self::UserPromptSubmit
                | Self::PreToolUse
                | Self::PostToolUse
                | Self::SubagentStart
                | Self::SubagentStop
                | Self::Notification
        )
    }
}

crate::open_tag! {
    /// What became of an action, as far as the source states it.
    pub enum Outcome {
        /// The host or a literal exit code 0 says it succeeded.
        Ok = "ok",
        Failed = "failed",
        /// Refused by a person, a rule or a hook: it did not run.
        Denied = "denied",
        Interrupted = "interrupted",
        /// Started and not seen to end (background, still yielding).
        Running = "running",
        /// Not stated.
        Unknown = "unknown",
    }
}

crate::open_tag! {
    /// Whose clock stamped a time.
    pub enum ClockSource {
        HostClock = "host_clock",
        ProviderReported = "provider_reported",
        Reconstructed = "reconstructed",
        PreProvenance = "pre_provenance",
    }
}

/// Which of several tellings of one thing this is; a higher one wins where they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// A third party's message: says something only where nothing of ours was seen.
    Message,
    /// A stream of what the provider's own file holds in full (`codex exec --json`): it adds
    /// sightings, and tells alone only where there is no such file. So do rows of a database of
    /// the first Fornax.
    Stream,
    /// A provider's second telling of a record (Codex `event_msg`, `item_completed`).
    Projection,
    /// A hook payload.
    Hook,
    /// The provider's own record of the thing.
    Canonical,
}

impl Channel {
    /// Small integer for the store; order is the rank.
    pub fn rank(self) -> i64 {
        match self {
            Self::Message => -1,
            Self::Stream => 0,
            Self::Projection => 1,
            Self::Hook => 2,
            Self::Canonical => 3,
        }
    }
}

/// The identity the provider gave a thing: an id space and the id inside it.
///
/// Two sources that see the same thing must name the same space and id. `record()` stands for
/// things without any native id: the pipeline then uses the hash of the record.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NativeId {
    /// Id space: `call`, `prompt`, `turn`, `text`, `line`, `agent`, `session`,
    /// `pull_request` or `record`.
    pub space: String,
    /// The id; empty for `record`.
    pub id: String,
}

impl NativeId {
    /// An id of any space.
    pub fn new(space: &str, id: impl Into<String>) -> Self {
        Self { space: space.to_owned(), id: id.into() }
    }

    /// A tool call's own id (`tool_use_id`, `call_id`).
    pub fn call(id: impl Into<String>) -> Self {
        Self::new("call", id)
    }

    /// A prompt's own id (`prompt_id`, `promptId`).
    pub fn prompt(id: impl Into<String>) -> Self {
        Self::new("prompt", id)
    }

    /// A turn's own id.
    pub fn turn(id: impl Into<String>) -> Self {
        Self::new("turn", id)
    }

    /// A block of a line that has its own uuid.
    pub fn line(uuid: &str, block: usize) -> Self {
        Self::new("line", format!("{uuid}#{block}"))
    }

    /// The `nth` (from 0) message with this text within its turn: where messages have no shared
    /// id, two tellings of one message meet by turn and equal text.
    pub fn text(turn: &str, text: &str, nth: usize) -> Self {
        let hash = crate::base::hash::Digest::of(text.as_bytes());
        Self::new("text", format!("{turn}|{}|{nth}", hash.short_hex()))
    }

    /// No native id: the pipeline derives one from the record's hash.
    pub fn record() -> Self {
        Self::new("record", "")
    }

    /// Whether the pipeline must supply the id.
    pub fn is_record(&self) -> bool {
        self.space == "record"
    }
}

/// One observed event, before ids are derived. Everything that the source did not state is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventDraft {
    /// Native id of the conversation.
    pub conversation: String,
    pub kind: EventKind,
    pub native: NativeId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_response: Option<Value>,
    /// Prompt, answer, notification or error text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The source's own timestamp, as spelled; absent where the source has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_at: Option<String>,
    pub channel: Channel,
    /// The whole payload, for hook events only (hooks have no file to read back).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
    /// Path of the event's main field inside its line, for example `message.content[0]`.
    pub path: String,
}

impl EventDraft {
    /// A draft with nothing stated but what every event has.
    pub fn new(conversation: &str, kind: EventKind, native: NativeId, channel: Channel) -> Self {
        Self {
            conversation: conversation.to_owned(),
            kind,
            native,
            turn_id: None,
            call_id: None,
            agent_id: None,
            outcome: None,
            tool_name: None,
            tool_input: None,
            tool_response: None,
            text: None,
            observed_at: None,
            channel,
            raw: None,
            path: String::new(),
        }
    }
}
