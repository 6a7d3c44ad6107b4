//! A usage report as the fold takes it: names are numbers that the caller gave out.
//!
//! Equal numbers mean the same conversation, source, model or provider. Where two candidates are
//! equal in everything else the lower number wins, so the caller gives them out in a stable order.

use super::{Floor, Standing, TokenCounts, UsageScope};

/// One report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement {
    pub provider: u32,
    /// The conversation that reported it.
    pub conversation: u32,
    /// The conversation the tokens were spent in, where the report says it is a copy.
    pub spent_in: Option<u32>,
    pub source: u32,
    /// Number of the running total within its source.
    pub epoch: i64,
    /// Order within the source.
    pub sequence: i64,
    pub scope: UsageScope,
    /// Native response id, compared within the provider.
    pub response: Option<Box<str>>,
    pub turn: Option<Box<str>>,
    pub model: Option<u32>,
    pub counts: TokenCounts,
    pub standing: Standing,
    pub floor: Option<Floor>,
    /// Told on a branch that replays its trunk.
    pub branch: bool,
    /// When it was reported, microseconds since 1970; 0 = not stated.
    pub at_us: i64,
}

impl Measurement {
    /// Whether the report is a copy of what another conversation spent.
    pub fn is_copy(&self) -> bool {
        self.spent_in.is_some_and(|origin| origin != self.conversation)
    }
}
