//! Verdicts that were given: the current ones, and those whose place they took.
//!
//! Findings are computed from what is recorded, so none of this is needed to judge again. It is
//! kept for an answer in one query, and so that a verdict that changed can be explained.

use super::recorder::StoreError;
use crate::domain::verdict::{Finding, Verdict};
use std::collections::BTreeMap;
use std::path::Path;
use uuid::Uuid;

/// A finding as it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFinding {
    /// Key of the conversation.
    pub conversation: String,
    /// The sentence that was judged.
    pub claim: String,
    pub finding: Finding,
    /// When it was given, in microseconds since 1970.
    pub judged_us: i64,
    /// When another took its place; none for the one that stands.
    pub replaced_us: Option<i64>,
}

/// Whose verdicts are asked for.
#[derive(Debug, Clone, Copy)]
pub enum Whose<'a> {
    /// The conversation with this native id.
    Native(&'a str),
    /// The conversation with this row.
    Row(i64),
    /// The one with the latest activity, of those that are nobody's sub-agent, whose folder is or
    /// holds this one.
    LatestIn(&'a Path),
}

/// How a conversation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Row of the conversation.
    pub conversation: i64,
    pub key: String,
    pub provider: String,
    pub native_id: String,
    /// Standing findings, by verdict; a verdict without any is absent.
    pub counts: BTreeMap<Verdict, u64>,
    /// When it was last judged; none when it never was.
    pub judged_us: Option<i64>,
    /// Whether something was recorded since it was judged.
    pub stale: bool,
    /// The newest contradicted finding, else the newest of any verdict.
    pub foremost: Option<KeptFinding>,
}

/// Keeps findings.
pub trait FindingStore {
    /// Makes these the standing findings of a conversation. What says the same as before stays as
    /// it was; what differs or is gone is kept as replaced. Answers how many are new.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn keep_findings(
        &mut self,
        conversation: i64,
        findings: &[(String, Finding)],
        at_us: i64,
    ) -> Result<u64, StoreError>;

    /// Every finding with this id, or on the claim with this id, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn finding_history(&self, id: Uuid) -> Result<Vec<KeptFinding>, StoreError>;

    /// How a conversation stands, without judging anything.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn standing(&self, whose: Whose<'_>) -> Result<Option<Standing>, StoreError>;

    /// Notes that the end of a turn is blocked; false when it was before.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn gate_once(&mut self, conversation: i64, turn: &str, at_us: i64) -> Result<bool, StoreError>;
}
