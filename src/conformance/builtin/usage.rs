//! The usage fold that ships, behind the contract's trait: names become numbers and back.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::conformance::subjects::{NumberView, UsageAnswer, UsageFold, UsageReport};
use crate::domain::usage::fold::{Folded, fold};
use crate::domain::usage::measurement::Measurement;
use crate::domain::usage::tokens::Amount;
use crate::domain::usage::{TokenCounts, count};

/// The subject over `domain::usage`.
pub(super) struct DomainUsage;

/// Numbers for names, given out in the order of the names.
struct Numbers<'a>(Vec<&'a str>);

impl<'a> Numbers<'a> {
    fn of(names: impl Iterator<Item = &'a str>) -> Self {
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names.dedup();
        Self(names)
    }

    fn number(&self, name: &str) -> u32 {
        let at = self.0.binary_search(&name).unwrap_or_default();
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    fn name(&self, number: u32) -> Option<String> {
        self.0.get(number as usize).map(|name| (*name).to_owned())
    }
}

impl UsageFold for DomainUsage {
    fn fold(&mut self, reports: &[UsageReport]) -> Result<UsageAnswer, String> {
        let told = reports.iter().map(|report| report.conversation.as_str());
        let copied = reports.iter().filter_map(|report| report.copied_from.as_deref());
        let conversations = Numbers::of(told.chain(copied));
        let sources = Numbers::of(reports.iter().map(|report| report.source.as_str()));
        let models = Numbers::of(reports.iter().filter_map(|report| report.model.as_deref()));
        let mut diagnostics = Vec::new();
        let measured: Vec<Measurement> = reports
            .iter()
            .map(|report| Measurement {
                provider: 0,
                conversation: conversations.number(&report.conversation),
                spent_in: report.copied_from.as_deref().map(|origin| conversations.number(origin)),
                source: sources.number(&report.source),
                epoch: report.epoch,
                sequence: report.sequence,
                scope: report.scope,
                response: report.response.as_deref().map(Box::from),
                turn: report.turn.as_deref().map(Box::from),
                model: report.model.as_deref().map(|model| models.number(model)),
                counts: read(&report.counts, &mut diagnostics),
                standing: report.standing,
                floor: None,
                branch: false,
                at_us: report.sequence,
            })
            .collect();
        let folded = fold(&measured);
        diagnostics.extend(folded.broken.iter().map(|(_, name)| (*name).to_owned()));
        let mut answer = UsageAnswer {
            numbers: None,
            models: BTreeMap::new(),
            conversations: BTreeMap::new(),
            diagnostics,
            basis: basis(&folded).to_owned(),
        };
        answer.numbers = folded.total().map(|total| {
            let named = total.named().into_iter();
            named.map(|(name, amount)| (name.to_owned(), view(amount))).collect()
        });
        for slice in &folded.slices {
            let total = slice.tokens.total.known;
            let model = slice.model.and_then(|model| models.name(model));
            *answer.models.entry(model).or_default() += total;
            let conversation = conversations.name(slice.conversation).unwrap_or_default();
            *answer.conversations.entry(conversation).or_default() += total;
        }
        Ok(answer)
    }
}

/// The counts as a reader takes them; what is no count is absent and named.
fn read(stated: &Value, broken: &mut Vec<String>) -> TokenCounts {
    let mut take = |name: &str| {
        let value = stated.get(name).filter(|value| !value.is_null())?;
        let count = count::read(value);
        if count.is_none() {
            broken.push(name.to_owned());
        }
        count
    };
    TokenCounts {
        input: take("input"),
        cached_input: take("cached_input"),
        cache_write_input: take("cache_write_input"),
        output: take("output"),
        reasoning_output: take("reasoning_output"),
        total: take("total"),
        uncached_input: None,
    }
}

fn view(amount: Amount) -> NumberView {
    NumberView { value: amount.value(), known: amount.known }
}

fn basis(folded: &Folded) -> &'static str {
    let has = |wanted: bool| folded.slices.iter().any(|slice| slice.is_response == wanted);
    match (has(true), has(false)) {
        (false, false) => "none",
        (true, false) => "responses",
        (false, true) => "totals",
        (true, true) => "both",
    }
}
