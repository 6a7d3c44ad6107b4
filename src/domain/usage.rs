//! Token usage as a provider reported it: one draft a report, nothing added up here.
//!
//! A count that was not reported stays absent. `input` includes cached and cache-write input,
//! `output` includes reasoning output; the subsets stand beside them and are never added again.

use serde::{Deserialize, Serialize};

/// What a report covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageScope {
    /// One model response.
    Response,
    /// A running total of the conversation, as of this report.
    Snapshot,
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
}

/// One usage report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageDraft {
    /// Native id of the conversation that reported it.
    pub conversation: String,
    pub scope: UsageScope,
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
    /// The conversation the tokens were really spent in, where the report says it is a copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied_from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_at: Option<String>,
    pub path: String,
}
