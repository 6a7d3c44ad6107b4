//! What one rollout reader must remember from line to line, as one value that can be stored.
//!
//! A snapshot taken after any line and restored into a fresh reader goes on exactly as the first
//! reader would have. Everything in here is bounded.

use super::bounded::Recent;
use super::calls::Calls;
use super::copied::CopiedHistory;
use super::turn::TurnTracker;
use super::usage::UsageState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Version of the stored form; another one is not restored.
pub(super) const STATE_VERSION: u32 = 2;

/// Most turns whose model is remembered.
pub(super) const MODELS_MAX: usize = 64;

/// Most relations remembered as already told.
pub(super) const LINEAGES_MAX: usize = 4_096;

/// Facts last told about the conversation, so that only changes are told again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    pub(super) turn_id: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) model: Option<String>,
    pub(super) agent_version: Option<String>,
    pub(super) git_branch: Option<String>,
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) agent_nickname: Option<String>,
    #[serde(default)]
    pub(super) agent_role: Option<String>,
    #[serde(default)]
    pub(super) agent_path: Option<String>,
}

/// The whole state of one reader.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) version: u32,
    /// Native id of the conversation: the first `session_meta` of the file, for good.
    pub(super) conversation: Option<String>,
    /// The conversation that capabilities were declared for.
    pub(super) declared_for: Option<String>,
    /// The file is a sub-agent's.
    pub(super) is_subagent: bool,
    pub(super) lineages: BTreeSet<String>,
    pub(super) facts: Facts,
    pub(super) copied: CopiedHistory,
    pub(super) turn: TurnTracker,
    pub(super) calls: Calls,
    /// Model by turn id.
    pub(super) models: Recent<String>,
    #[serde(default)]
    pub(super) usage: UsageState,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: STATE_VERSION,
            conversation: None,
            declared_for: None,
            is_subagent: false,
            lineages: BTreeSet::new(),
            facts: Facts::default(),
            copied: CopiedHistory::default(),
            turn: TurnTracker::default(),
            calls: Calls::default(),
            models: Recent::default(),
            usage: UsageState::default(),
        }
    }
}

impl State {
    /// The model of a turn: its own, else the newest stated one.
    pub(super) fn model_of(&self, turn: Option<&str>) -> Option<String> {
        turn.and_then(|turn| self.models.get(turn)).or(self.facts.model.as_ref()).cloned()
    }
}
