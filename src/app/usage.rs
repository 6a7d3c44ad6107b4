//! Usage by day, session, model, provider or tree: reads every report, folds, groups, prices.
//!
//! The fold sees all reports of the store, whatever is asked: a response is credited to its origin
//! and its first telling, and only then does a filter choose. Filters choose by when and by whose.

mod summary;

use crate::base::time::Micros;
use crate::base::tz::{Day, Zone};
use crate::domain::usage::fold::{Exclusion, Slice, fold};
use crate::domain::usage::measurement::Measurement;
use crate::domain::usage::prices::{Cost, Prices};
use crate::domain::usage::tokens::Tokens;
use crate::ports::reader::{FailedRow, Reader, SeenAt, UsageParty, UsageReports};
use crate::ports::recorder::StoreError;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use summary::{Cell, Summary};

pub use summary::keep_summary;

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Day,
    Session,
    Model,
    Provider,
    /// A conversation with everything that it spawned.
    Tree,
}

impl By {
    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Session => "session",
            Self::Model => "model",
            Self::Provider => "provider",
            Self::Tree => "tree",
        }
    }
}

/// A question.
pub struct Query<'a> {
    pub by: By,
    pub zone: &'a Zone,
    /// First instant that counts.
    pub since: Option<Micros>,
    /// First instant that does not count any more.
    pub until: Option<Micros>,
    /// Key of a conversation: only it and what it spawned.
    pub session: Option<&'a str>,
    pub prices: Option<&'a Prices>,
    /// List every excluded report with its place.
    pub explain: bool,
}

/// A row of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageRow {
    /// Day, key, model or provider; `None` where it is not stated.
    pub key: Option<String>,
    pub sum: Sum,
}

/// Tokens and what belongs to them.
#[derive(Debug, Clone, PartialEq)]
pub struct Sum {
    pub tokens: Tokens,
    /// Responses credited one by one; running totals do not say how many they are of.
    pub responses: u64,
    /// Only with a price table.
    pub cost: Option<Cost>,
    /// Models that the table has no price for; `None` is a model that was not stated.
    pub unpriced: BTreeSet<Option<String>>,
}

/// Reports of one reason that add nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub reports: u64,
    /// What they say, added up: what counting them would have added.
    pub tokens: i128,
}

/// One report that adds nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    pub reason: Exclusion,
    /// Key of the conversation that told it.
    pub conversation: String,
    pub response: Option<String>,
    pub tokens: i64,
    pub seen: Option<SeenAt>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Usage {
    pub rows: Vec<UsageRow>,
    /// `None` when no report was credited: there are no numbers, not even zeros.
    pub totals: Option<Sum>,
    pub excluded: BTreeMap<Exclusion, LeftOut>,
    pub explained: Vec<Explained>,
    pub failed: Vec<FailedRow>,
}

/// Answers a question from the store.
///
/// # Errors
/// When the store cannot be read.
pub fn usage(reader: &dyn Reader, query: &Query<'_>) -> Result<Usage, StoreError> {
    if let Some(summary) = summary::fitting(reader, query)? {
        return Ok(from_summary(&summary, query));
    }
    let mut held = reader.usage()?;
    let folded = fold(&held.reports);
    let trees = Trees::of(&held.conversations);
    let mut chosen = Chosen::new(query, &trees, &held.conversations);
    let mut table = Table::new(query);
    for slice in folded.slices.iter().filter(|s| chosen.takes(s.conversation, s.at_us)) {
        let root = (query.by == By::Tree).then(|| trees.root(slice.conversation));
        table.add(&cell_of(slice), root);
    }
    let mut listed = Vec::new();
    for left in &folded.excluded {
        let Some(said) = held.reports.get(left.report) else { continue };
        if !chosen.takes(said.conversation, said.at_us) {
            continue;
        }
        let tokens = tokens_of(said);
        table.leave_out(left.reason, 1, tokens.into());
        if query.explain {
            listed.push((left.report, left.reason, tokens));
        }
    }
    let explained = explain(reader, &held, listed)?;
    let failed = std::mem::take(&mut held.failed);
    let key = |number: u32| held.conversations.get(number as usize).map(|p| p.key.clone());
    Ok(Usage { explained, failed, ..table.answer(key, &held.models, &held.providers) })
}

fn from_summary(summary: &Summary, query: &Query<'_>) -> Usage {
    let mut table = Table::new(query);
    for cell in summary.cells.iter().filter(|cell| is_within(query, cell.at_us)) {
        table.add(cell, None);
    }
    for left in summary.left.iter().filter(|left| is_within(query, left.at_us)) {
        table.leave_out(left.reason, left.reports, left.tokens);
    }
    let key = |number: u32| summary.conversations.get(number as usize).cloned();
    table.answer(key, &summary.models, &summary.providers)
}

fn cell_of(slice: &Slice) -> Cell {
    Cell {
        provider: slice.provider,
        conversation: slice.conversation,
        model: slice.model,
        at_us: slice.at_us,
        responses: u64::from(slice.is_response),
        tokens: slice.tokens,
    }
}

/// What a report says in all.
fn tokens_of(said: &Measurement) -> i64 {
    Tokens::of(&said.counts.checked().0, None).total.known
}

/// Whether an instant is one that the question is about; one that is not stated is in no span.
fn is_within(query: &Query<'_>, at_us: i64) -> bool {
    let late = query.since.is_none_or(|since| at_us != 0 && at_us >= since.0);
    late && query.until.is_none_or(|until| at_us != 0 && at_us < until.0)
}

/// Sums under numbers; `answer` turns the numbers into keys.
struct Table<'a> {
    query: &'a Query<'a>,
    sums: HashMap<(i64, Option<u32>, u32), Sum>,
    excluded: BTreeMap<Exclusion, LeftOut>,
}

impl<'a> Table<'a> {
    fn new(query: &'a Query<'a>) -> Self {
        Self { query, sums: HashMap::new(), excluded: BTreeMap::new() }
    }

    fn add(&mut self, cell: &Cell, root: Option<u32>) {
        let query = self.query;
        let group = match query.by {
            By::Day if cell.at_us == 0 => i64::MIN,
            By::Day => query.zone.day(Micros(cell.at_us)).0,
            By::Session | By::Tree => root.unwrap_or(cell.conversation).into(),
            By::Model | By::Provider => 0,
        };
        let sum = self.sums.entry((group, cell.model, cell.provider));
        let sum = sum.or_insert_with(|| empty(query));
        sum.tokens = sum.tokens.plus(&cell.tokens);
        sum.responses += cell.responses;
    }

    fn leave_out(&mut self, reason: Exclusion, reports: u64, tokens: i128) {
        let sum = self.excluded.entry(reason).or_default();
        sum.reports += reports;
        sum.tokens += tokens;
    }

    fn answer(
        self,
        key: impl Fn(u32) -> Option<String>,
        models: &[String],
        providers: &[String],
    ) -> Usage {
        let query = self.query;
        let mut rows: BTreeMap<Option<String>, Sum> = BTreeMap::new();
        let mut totals: Option<Sum> = None;
        for ((group, model, provider), mut sum) in self.sums {
            let model = model.and_then(|number| models.get(number as usize)).cloned();
            sum.price(query.prices, model.as_deref());
            let key = match query.by {
                By::Day => (group != i64::MIN).then(|| Day(group).to_string()),
                By::Session | By::Tree => u32::try_from(group).ok().and_then(&key),
                By::Model => model,
                By::Provider => providers.get(provider as usize).cloned(),
            };
            totals.get_or_insert_with(|| empty(query)).merge(&sum);
            rows.entry(key).or_insert_with(|| empty(query)).merge(&sum);
        }
        let rows = rows.into_iter().map(|(key, sum)| UsageRow { key, sum }).collect();
        let (explained, failed) = (Vec::new(), Vec::new());
        Usage { rows, totals, excluded: self.excluded, explained, failed }
    }
}

/// Who spawned whom, by number. A parent that is not stored has no number, so the highest stored
/// conversation stands for its tree.
struct Trees {
    parents: Vec<Option<u32>>,
}

impl Trees {
    fn of(parties: &[UsageParty]) -> Self {
        let numbers: HashMap<&str, u32> =
            (0_u32..).zip(parties).map(|(number, party)| (party.key.as_str(), number)).collect();
        let parent = |party: &UsageParty| numbers.get(party.parent.as_deref()?).copied();
        Self { parents: parties.iter().map(parent).collect() }
    }

    /// The conversation and those above it, root last. A circle of parents ends.
    fn upwards(&self, from: u32) -> impl Iterator<Item = u32> + '_ {
        let parent = |number: &u32| self.parents.get(*number as usize).copied().flatten();
        let mut is_first = true;
        std::iter::successors(Some(from), parent)
            .take_while(move |number| std::mem::take(&mut is_first) || *number != from)
            .take(self.parents.len() + 1)
    }

    fn root(&self, from: u32) -> u32 {
        self.upwards(from).last().unwrap_or(from)
    }
}

/// Which slices and reports a question is about.
struct Chosen<'a> {
    query: &'a Query<'a>,
    trees: &'a Trees,
    session: Option<u32>,
    /// Conversations looked at before, and whether they are the session or below it.
    below: HashMap<u32, bool>,
}

impl<'a> Chosen<'a> {
    fn new(query: &'a Query<'a>, trees: &'a Trees, parties: &[UsageParty]) -> Self {
        let named = |party: &UsageParty| Some(party.key.as_str()) == query.session;
        let session = parties.iter().position(named).and_then(|at| u32::try_from(at).ok());
        Self { query, trees, session, below: HashMap::new() }
    }

    fn takes(&mut self, conversation: u32, at_us: i64) -> bool {
        let query = self.query;
        is_within(query, at_us) && (query.session.is_none() || self.is_below(conversation))
    }

    fn is_below(&mut self, conversation: u32) -> bool {
        let (trees, session) = (self.trees, self.session);
        *self.below.entry(conversation).or_insert_with(|| {
            session.is_some_and(|session| trees.upwards(conversation).any(|n| n == session))
        })
    }
}

fn empty(query: &Query<'_>) -> Sum {
    Sum {
        tokens: Tokens::ZERO,
        responses: 0,
        cost: query.prices.map(|_| Cost::ZERO),
        unpriced: BTreeSet::new(),
    }
}

impl Sum {
    /// Prices a sum that is all of one model.
    fn price(&mut self, prices: Option<&Prices>, model: Option<&str>) {
        let Some(prices) = prices else { return };
        let cost = Cost::of(&self.tokens, model.and_then(|model| prices.of(model)));
        if cost.is_unpriced {
            self.unpriced.insert(model.map(str::to_owned));
        }
        self.cost = Some(cost);
    }

    fn merge(&mut self, other: &Self) {
        self.tokens = self.tokens.plus(&other.tokens);
        self.responses += other.responses;
        self.cost = self.cost.zip(other.cost).map(|(one, two)| one.plus(two));
        self.unpriced.extend(other.unpriced.iter().cloned());
    }
}

fn explain(
    reader: &dyn Reader,
    held: &UsageReports,
    listed: Vec<(usize, Exclusion, i64)>,
) -> Result<Vec<Explained>, StoreError> {
    let row_of = |report: usize| held.rows.get(report).copied().unwrap_or_default();
    let rows: Vec<i64> = listed.iter().map(|(report, ..)| row_of(*report)).collect();
    let mut places: HashMap<i64, SeenAt> = reader.usage_places(&rows)?.into_iter().collect();
    let mut explained: Vec<Explained> = listed
        .into_iter()
        .filter_map(|(report, reason, tokens)| {
            let said = held.reports.get(report)?;
            let conversation = held.conversations.get(said.conversation as usize)?.key.clone();
            let response = said.response.as_deref().map(str::to_owned);
            let seen = places.remove(&row_of(report));
            Some(Explained { reason, conversation, response, tokens, seen })
        })
        .collect();
    explained.sort_by_key(|one| one.reason);
    Ok(explained)
}
