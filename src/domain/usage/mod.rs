//! Token usage: what providers report, and the fold that counts each token once.
//!
//! A report (`UsageDraft`) is kept as the provider made it; nothing is added up while reading. The
//! fold (`fold`) takes all reports of a store and answers what is credited, to whom, and which
//! reports are left out and why. A count that was not reported stays absent. `input` includes
//! cached and cache-write input, `output` includes reasoning output; the subsets stand beside them
//! and are never added again.

pub mod count;
pub mod fold;
pub mod measurement;
pub mod prices;
mod responses;
mod snapshots;
pub mod tokens;

use serde::{Deserialize, Serialize};

/// What a report covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageScope {
    /// One model response.
    Response,
    /// A running total of one turn, as of this report.
    Turn,
    /// A running total of the conversation, as of this report.
    Snapshot,
}

impl UsageScope {
    /// The word it is stored as.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Turn => "turn",
            Self::Snapshot => "snapshot",
        }
    }

    /// The scope of a stored word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Response, Self::Turn, Self::Snapshot].into_iter().find(|s| s.as_str() == word)
    }
}

/// What a report's numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Numbers of a model's response.
    #[default]
    Reported,
    /// The host's own guess, for example the size of a compacted history.
    Estimate,
    /// Text that the host made itself in the guise of a response; no model was asked.
    Synthetic,
}

impl Standing {
    /// The word it is stored as.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::Estimate => "estimate",
            Self::Synthetic => "synthetic",
        }
    }

    /// The standing of a stored word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Reported, Self::Estimate, Self::Synthetic].into_iter().find(|s| s.as_str() == word)
    }
}

/// Which numbers of a report may be less than what was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Floor {
    /// The response had not ended when it was reported: output may have grown since.
    Output,
    /// Use that the report does not see may come on top of every number.
    All,
}

impl Floor {
    /// The word it is stored as.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::All => "all",
        }
    }

    /// The floor of a stored word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Output, Self::All].into_iter().find(|s| s.as_str() == word)
    }
}

/// Token counts; absent = not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenCounts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_input: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_output: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
    /// Input beside the cache, where the provider states it apart: the known part of an input
    /// whose other parts were not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncached_input: Option<i64>,
}

/// One usage report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageDraft {
    /// Native id of the conversation that reported it.
    pub conversation: String,
    pub scope: UsageScope,
    #[serde(default)]
    pub standing: Standing,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Floor>,
    /// Native response id; absent where the provider gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// Native request id, where the provider gives one beside the response id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub counts: TokenCounts,
    /// Number of the running total within its source: it grows when the total starts anew.
    #[serde(default)]
    pub epoch: i64,
    /// Order of the reports within their source.
    #[serde(default)]
    pub sequence: i64,
    /// The report stands on a branch of the conversation that replays what its trunk did: where
    /// both tell of one response, the trunk is its origin.
    #[serde(default)]
    pub branch: bool,
    /// The conversation the tokens were really spent in, where the report says it is a copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied_from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_at: Option<String>,
    pub path: String,
}
