//! Losses: what was not recorded, where and why.
//!
//! Nothing is dropped in silence: every cut, skipped, late, unknown or quarantined thing becomes a
//! counted row with one of these reasons. A loss carries no content of what was lost.

use serde::{Deserialize, Serialize};

crate::open_tag! {
    /// Why something was not recorded.
    pub enum LossReason {
        /// A file that no decoder claims.
        SourceNotRecognised = "source_not_recognised",
        /// A file or folder that could not be read.
        SourceUnreadable = "source_unreadable",
        /// A file that went away while it was read.
        SourceVanished = "source_vanished",
        /// Not a regular file (FIFO, socket, device).
        SourceNotAFile = "source_not_a_file",
        /// The prefix that had been read was rewritten; the source was read again from zero.
        SourceRewritten = "source_rewritten",
        /// A line longer than the cap.
        LineTooLong = "line_too_long",
        /// A complete line that does not parse; its place is in quarantine.
        LineUnparseable = "line_unparseable",
        /// A last line without its end, not a complete object.
        LineTorn = "line_torn",
        /// A line that parses only after repair (lone surrogate, huge number, deep nesting).
        LineRepaired = "line_repaired",
        /// A line or part whose shape no adapter knows; `detail` is its tag.
        Unrecognized = "unrecognized",
        /// Text beyond the cap was not stored; `detail` is the field.
        TextCut = "text_cut",
        /// A payload that breaks the closed shape of its kind.
        PayloadInvalid = "payload_invalid",
        /// A third-party message that breaks the shape of its type; `detail` is the key and the rule.
        MessageInvalid = "message_invalid",
        /// A native id held an issued secret and is kept as a hash; `detail` is the field.
        IdentifierRedacted = "identifier_redacted",
        /// A row of an imported database that cannot be read; `detail` is the column and the rule.
        RowInvalid = "row_invalid",
        /// A row of an imported database whose content had been purged there.
        RowPurged = "row_purged",
        /// A hook payload, or an imported row, whose provider cannot be told.
        ProviderUnknown = "provider_unknown",
        /// A hook payload that is not one complete JSON value.
        HookPayloadInvalid = "hook_payload_invalid",
        /// A hook payload past the cap.
        HookPayloadTooLarge = "hook_payload_too_large",
        /// The hook's own deadline passed before its payload was complete.
        HookDeadline = "hook_deadline",
        /// The hook failed inside; it still exited 0.
        HookFault = "hook_fault",
        /// A record without a conversation that could be told.
        ConversationUnknown = "conversation_unknown",
        /// A journal frame whose checksum or length does not hold.
        FrameTorn = "frame_torn",
        /// A journal frame of a newer format, left where it is.
        FrameNewer = "frame_newer",
        /// More calls waited for their result than are remembered; the oldest were let go.
        OpenCallsDropped = "open_calls_dropped",
        /// Nothing marks where history copied from another conversation ends; what stands after the
        /// burst of the copy was taken for the conversation's own.
        CopyBoundaryUnsure = "copy_boundary_unsure",
    }
}

impl LossReason {
    /// What the count of such losses counts: bytes of cut text, else occurrences.
    pub fn unit(&self) -> &'static str {
        if *self == Self::TextCut { "bytes" } else { "times" }
    }
}

/// One loss an adapter or the pipeline reports. `detail` is a tag or field name, never content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossDraft {
    /// Native id of the conversation, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    pub reason: LossReason,
    pub detail: String,
    /// How many things (or, for cut text, how many bytes) were lost.
    pub count: u64,
    /// Path inside the line.
    #[serde(default)]
    pub path: String,
}

impl LossDraft {
    /// A loss of one thing.
    pub fn one(conversation: Option<&str>, reason: LossReason, detail: &str, path: &str) -> Self {
        Self {
            conversation: conversation.map(str::to_owned),
            reason,
            detail: detail.to_owned(),
            count: 1,
            path: path.to_owned(),
        }
    }
}
