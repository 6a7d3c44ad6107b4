//! Credited tokens by conversation, model and quarter of an hour: what most questions need, small
//! enough to be kept.
//!
//! Folding every report of a large store takes longer than a question may, and more memory than
//! reading histories may. So the first question after new reports keeps the summary, with a stamp of
//! the bytes that the reports came from. A summary whose stamp is not the store's is not used. Every
//! zone's offset is a whole number of quarters, so no day boundary falls inside one.

use super::Query;
use crate::base::time::Micros;
use crate::domain::usage::fold::{Exclusion, fold};
use crate::domain::usage::tokens::{Amount, Confidence, Tokens};
use crate::ports::reader::{Reader, UsageReports};
use crate::ports::recorder::StoreError;
use crate::ports::store::Store;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Name that the summary is kept under; another form gets another name.
const NAME: &str = "usage/1";

/// Fewer reports are folded within the time of a question, and then also looked at for damage.
const REPORTS_MIN: usize = 10_000;

/// Microseconds in a quarter of an hour.
const QUARTER_US: i64 = 900_000_000;

/// Credited tokens of one conversation, model and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) provider: u32,
    pub(super) conversation: u32,
    pub(super) model: Option<u32>,
    /// 0 = not stated.
    pub(super) at_us: i64,
    pub(super) responses: u64,
    pub(super) tokens: Tokens,
}

/// Reports of one conversation and time that add nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) reason: Exclusion,
    pub(super) conversation: u32,
    pub(super) at_us: i64,
    pub(super) reports: u64,
    pub(super) tokens: i128,
}

/// The whole store, summed up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Summary {
    /// Keys of conversations, by number.
    pub(super) conversations: Vec<String>,
    pub(super) providers: Vec<String>,
    pub(super) models: Vec<String>,
    pub(super) cells: Vec<Cell>,
    pub(super) left: Vec<Left>,
}

/// What a cell is of: provider, conversation, model and quarter.
type CellKey = (u32, u32, Option<u32>, i64);

type KeptCell = (u32, u32, Option<u32>, i64, u64, [i64; 6], [u8; 6]);
type KeptLeft = (u8, u32, i64, u64, i128);

/// The summary as it is kept: numbers in lists.
#[derive(Serialize, Deserialize)]
struct Kept {
    conversations: Vec<String>,
    providers: Vec<String>,
    models: Vec<String>,
    cells: Vec<KeptCell>,
    left: Vec<KeptLeft>,
}

impl Query<'_> {
    /// Whether a summary is fine enough for the question.
    pub fn can_be_summed(&self) -> bool {
        let is_whole = |at: Option<Micros>| at.is_none_or(|at| at.0.rem_euclid(QUARTER_US) == 0);
        let needs_more = self.explain || self.session.is_some() || self.by == super::By::Tree;
        !needs_more && is_whole(self.since) && is_whole(self.until)
    }
}

/// The kept summary, when it is of this store's state and fine enough for the question.
pub(super) fn fitting(
    reader: &dyn Reader,
    query: &Query<'_>,
) -> Result<Option<Summary>, StoreError> {
    if !query.can_be_summed() {
        return Ok(None);
    }
    let Some(text) = reader.derived(NAME)? else { return Ok(None) };
    let kept = serde_json::from_str::<Kept>(&text).ok().and_then(Summary::opened);
    Ok(kept.filter(|summary| summary.has_whole_offsets(query)))
}

/// Sums a large store up and keeps that, where it has no summary of its state yet. What is not kept
/// is worked out again at each question.
///
/// # Errors
/// When the store cannot be read or written.
pub fn keep_summary(store: &mut dyn Store) -> Result<(), StoreError> {
    if store.reader().derived(NAME)?.is_some() {
        return Ok(());
    }
    let stamp = store.reader().usage_stamp()?;
    let held = store.reader().usage()?;
    if !held.failed.is_empty() || held.reports.len() < REPORTS_MIN {
        return Ok(());
    }
    let kept = Summary::of(held).closed();
    let text = serde_json::to_string(&kept).map_err(|e| StoreError::Other(e.to_string()))?;
    store.recorder().keep_derived(NAME, &stamp, &text)
}

impl Summary {
    fn of(held: UsageReports) -> Self {
        let folded = fold(&held.reports);
        let quarter = |at: i64| if at == 0 { 0 } else { at - at.rem_euclid(QUARTER_US) };
        let mut cells: HashMap<CellKey, (u64, Tokens)> = HashMap::new();
        for slice in &folded.slices {
            let key = (slice.provider, slice.conversation, slice.model, quarter(slice.at_us));
            let cell = cells.entry(key).or_insert((0, Tokens::ZERO));
            *cell = (cell.0 + u64::from(slice.is_response), cell.1.plus(&slice.tokens));
        }
        let mut left: HashMap<(Exclusion, u32, i64), (u64, i128)> = HashMap::new();
        for excluded in &folded.excluded {
            let Some(said) = held.reports.get(excluded.report) else { continue };
            let key = (excluded.reason, said.conversation, quarter(said.at_us));
            let sum = left.entry(key).or_default();
            let tokens = i128::from(super::tokens_of(said));
            *sum = (sum.0 + 1, sum.1 + tokens);
        }
        let cell = |((provider, conversation, model, at_us), (responses, tokens))| Cell {
            provider,
            conversation,
            model,
            at_us,
            responses,
            tokens,
        };
        let one = |((reason, conversation, at_us), (reports, tokens))| Left {
            reason,
            conversation,
            at_us,
            reports,
            tokens,
        };
        Self {
            conversations: held.conversations.into_iter().map(|party| party.key).collect(),
            providers: held.providers,
            models: held.models,
            cells: cells.into_iter().map(cell).collect(),
            left: left.into_iter().map(one).collect(),
        }
    }

    /// Whether no day boundary of the question's zone falls inside a quarter.
    fn has_whole_offsets(&self, query: &Query<'_>) -> bool {
        query.by != super::By::Day
            || self.cells.iter().all(|c| query.zone.offset_at(Micros(c.at_us)) % 900 == 0)
    }

    fn closed(self) -> Kept {
        let cell = |c: Cell| {
            let numbers = c.tokens.named();
            let known = numbers.map(|(_, amount)| amount.known);
            let confidence = numbers.map(|(_, amount)| amount.confidence as u8);
            (c.provider, c.conversation, c.model, c.at_us, c.responses, known, confidence)
        };
        let left = |l: Left| (l.reason as u8, l.conversation, l.at_us, l.reports, l.tokens);
        Kept {
            conversations: self.conversations,
            providers: self.providers,
            models: self.models,
            cells: self.cells.into_iter().map(cell).collect(),
            left: self.left.into_iter().map(left).collect(),
        }
    }

    /// `None` when something kept is of no known meaning.
    fn opened(kept: Kept) -> Option<Self> {
        let cells: Option<Vec<Cell>> = kept.cells.into_iter().map(opened_cell).collect();
        let left: Option<Vec<Left>> = kept
            .left
            .into_iter()
            .map(|(reason, conversation, at_us, reports, tokens)| {
                let reason = *Exclusion::ALL.iter().find(|known| **known as u8 == reason)?;
                Some(Left { reason, conversation, at_us, reports, tokens })
            })
            .collect();
        Some(Self {
            conversations: kept.conversations,
            providers: kept.providers,
            models: kept.models,
            cells: cells?,
            left: left?,
        })
    }
}

fn opened_cell(kept: KeptCell) -> Option<Cell> {
    let (provider, conversation, model, at_us, responses, known, confidence) = kept;
    let all = [Confidence::Exact, Confidence::LowerBound, Confidence::Unknown];
    let mut numbers = known.into_iter().zip(confidence).map(|(known, word)| {
        let confidence = *all.iter().find(|known| **known as u8 == word)?;
        Some(Amount { known, confidence })
    });
    let mut next = || numbers.next().flatten();
    let tokens = Tokens {
        input: next()?,
        cached_input: next()?,
        cache_write_input: next()?,
        output: next()?,
        reasoning_output: next()?,
        total: next()?,
    };
    Some(Cell { provider, conversation, model, at_us, responses, tokens })
}
