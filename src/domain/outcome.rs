//! What an adapter answers to one native value: messages, "ignored because", or "not recognised".
//!
//! ADR 0004: `Messages`, `Ignored` with a static reason for a known shape that is deliberately not
//! translated, `Unrecognized` with the type tag and nothing else. Never a `Result`, never a panic.

use super::capability::RuntimeCapabilities;
use super::event::EventDraft;
use super::evidence::EvidenceDraft;
use super::loss::LossDraft;
use super::usage::UsageDraft;
use serde::{Deserialize, Serialize};

/// Longest discriminator kept, in characters.
pub const DISCRIMINATOR_CHARS_MAX: usize = 80;

/// One canonical message of an adapter. In JSON its kind stands outside, `{"event": {...}}`, so that
/// it is read in one go; a kind inside would have all of it held until the kind is met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    Event(EventDraft),
    Evidence(EvidenceDraft),
    Capabilities(CapabilitiesDraft),
    Usage(UsageDraft),
    Lineage(LineageDraft),
    Turn(TurnDraft),
    Loss(LossDraft),
}

/// A capability declaration for one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapabilitiesDraft {
    pub conversation: String,
    pub capabilities: RuntimeCapabilities,
}

crate::open_tag! {
    /// How two conversations are related. Parent, fork and handoff are three different things.
    pub enum Relation {
        /// The related conversation spawned this one.
        Parent = "parent",
        /// This one began as a copy of the related one.
        Fork = "fork",
        Handoff = "handoff",
        /// The root of the spawn tree (Codex `session_id`): provenance, never an identity.
        Tree = "tree",
    }
}

/// A relation between two conversations of one provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineageDraft {
    /// Native id of this conversation.
    pub conversation: String,
    pub relation: Relation,
    /// Native id of the other one.
    pub related: String,
    /// Where the source states up to where a fork inherits the other one's history: the ordinal of
    /// the first record that is not inherited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    pub path: String,
}

/// Facts about the conversation or turn that hold at this record; absent = not stated here.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TurnDraft {
    pub conversation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent's own version (Claude Code `version`, Codex `cli_version`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What a spawned agent is called, its kind, and its place in the tree of agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_nickname: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_path: Option<String>,
    /// The source's own timestamp, as spelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_at: Option<String>,
    pub path: String,
}

/// The answer of an adapter to one native value.
#[derive(Debug, Clone, PartialEq)]
pub enum NormalizationOutcome {
    /// Zero or more messages.
    Messages(Vec<Message>),
    /// A known shape, deliberately not translated.
    Ignored { reason: &'static str },
    /// A shape this adapter does not know: its tag only.
    Unrecognized { discriminator: String },
}

impl NormalizationOutcome {
    /// `Unrecognized` with a safe discriminator: control characters gone, length capped, never
    /// empty.
    pub fn unrecognized(tag: &str) -> Self {
        Self::Unrecognized { discriminator: safe_tag(tag) }
    }

    /// The messages; an ignored or unrecognised outcome has none.
    pub fn into_messages(self) -> Vec<Message> {
        match self {
            Self::Messages(messages) => messages,
            Self::Ignored { .. } | Self::Unrecognized { .. } => Vec::new(),
        }
    }
}

/// A provider string made fit to be stored as a tag.
pub fn safe_tag(tag: &str) -> String {
    let kept: String =
        tag.chars().filter(|c| !c.is_control()).take(DISCRIMINATOR_CHARS_MAX).collect();
    if kept.trim().is_empty() { "<empty>".to_owned() } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_discriminator_is_capped_and_holds_no_control_characters() {
        let long = format!("a\u{1b}[31m\n{}", "x".repeat(500));
        let NormalizationOutcome::Unrecognized { discriminator } =
            NormalizationOutcome::unrecognized(&long)
        else {
            panic!("not unrecognized")
        };
        assert_eq!(discriminator.chars().count(), DISCRIMINATOR_CHARS_MAX);
        assert!(!discriminator.chars().any(char::is_control));
    }

    #[test]
    fn an_empty_discriminator_still_says_something() {
        assert_eq!(safe_tag(" \n"), "<empty>");
    }
}
