//! Usage by day, session, model, provider or tree: reads every report, folds, groups, prices.
//!
//! The fold sees all reports of the store, whatever is asked: a response is credited to its origin
//! and its first telling, and only then does a filter choose. Filters choose by when and by whose.

use crate::base::time::Micros;
use crate::base::tz::Zone;
use crate::domain::usage::fold::{Exclusion, Slice, fold};
use crate::domain::usage::prices::{Cost, Prices};
use crate::domain::usage::tokens::Tokens;
use crate::ports::reader::{FailedRow, Reader, SeenAt, UsageParty, UsageReports};
use crate::ports::recorder::StoreError;
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    let mut held = reader.usage()?;
    let folded = fold(&held.reports);
    let trees = Trees::of(&held.conversations);
    let mut chosen = Chosen::new(query, &trees, &held.conversations);
    let mut rows: BTreeMap<Option<String>, Sum> = BTreeMap::new();
    let mut totals: Option<Sum> = None;
    let mut grouped: HashMap<(i64, Option<u32>, u32), Sum> = HashMap::new();
    for slice in folded.slices.iter().filter(|s| chosen.takes(s.conversation, s.at_us)) {
        let group = (group_of(query, &trees, slice), slice.model, slice.provider);
        grouped.entry(group).or_insert_with(|| empty(query)).add(slice);
    }
    for ((group, model, provider), mut sum) in grouped {
        let model = model.and_then(|number| held.models.get(number as usize)).cloned();
        sum.price(query.prices, model.as_deref());
        let key = match query.by {
            By::Day => (group != i64::MIN).then(|| crate::base::tz::Day(group).to_string()),
            By::Session | By::Tree => party(&held.conversations, group).map(|p| p.key.clone()),
            By::Model => model,
            By::Provider => held.providers.get(provider as usize).cloned(),
        };
        totals.get_or_insert_with(|| empty(query)).merge(&sum);
        rows.entry(key).or_insert_with(|| empty(query)).merge(&sum);
    }
    let mut excluded: BTreeMap<Exclusion, LeftOut> = BTreeMap::new();
    let mut listed = Vec::new();
    for left in &folded.excluded {
        let Some(said) = held.reports.get(left.report) else { continue };
        if !chosen.takes(said.conversation, said.at_us) {
            continue;
        }
        let tokens = Tokens::of(&said.counts.checked().0, None).total.known;
        let sum = excluded.entry(left.reason).or_default();
        sum.reports += 1;
        sum.tokens += i128::from(tokens);
        if query.explain {
            listed.push((left.report, left.reason, tokens));
        }
    }
    let explained = explain(reader, &held, listed)?;
    let failed = std::mem::take(&mut held.failed);
    let rows = rows.into_iter().map(|(key, sum)| UsageRow { key, sum }).collect();
    Ok(Usage { rows, totals, excluded, explained, failed })
}

/// What a slice is grouped under: a number that `usage` turns back into a key.
fn group_of(query: &Query<'_>, trees: &Trees, slice: &Slice) -> i64 {
    match query.by {
        By::Day if slice.at_us == 0 => i64::MIN,
        By::Day => query.zone.day(Micros(slice.at_us)).0,
        By::Session => slice.conversation.into(),
        By::Tree => trees.root(slice.conversation).into(),
        By::Model | By::Provider => 0,
    }
}

fn party(parties: &[UsageParty], number: i64) -> Option<&UsageParty> {
    parties.get(usize::try_from(number).ok()?)
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
        let late = query.since.is_none_or(|since| at_us != 0 && at_us >= since.0);
        let early = query.until.is_none_or(|until| at_us != 0 && at_us < until.0);
        late && early && (query.session.is_none() || self.is_below(conversation))
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
    fn add(&mut self, slice: &Slice) {
        self.tokens = self.tokens.plus(&slice.tokens);
        self.responses += u64::from(slice.is_response);
    }

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
