//! Token reports: running totals (`token_count`) and single responses (`token_usage_record`).
//!
//! Codex' `input_tokens` already includes cached input and `output_tokens` reasoning output. A
//! total told again unchanged is no new use. A total that falls, or that is no more than the last
//! response beside it, has started anew: the next epoch. A report among copied lines, or one that
//! names another thread, keeps the thread that the tokens were spent in.

use super::value::{name, owned};
use super::work::{Verdict, Work};
use crate::domain::loss::LossReason;
use crate::domain::outcome::Message;
use crate::domain::usage::{Floor, Standing, TokenCounts, UsageDraft, UsageScope, count};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the reader remembers of token reports.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct UsageState {
    /// The newest running total, to tell a repeat from new use and a fresh start from growth.
    last_total: Option<TokenCounts>,
    epoch: i64,
    /// Reports so far, which is also their order.
    sequence: i64,
    /// A single response was reported in this epoch.
    has_response: bool,
    /// History was compacted; requests that compact are not in the totals.
    has_compacted: bool,
    /// The file goes on from another one, whose bytes it does not repeat.
    continues: bool,
    /// The thread of that other file, where it is not this one.
    continues_thread: Option<String>,
}

impl UsageState {
    /// Takes the file's own `session_meta`.
    pub(super) fn begin(&mut self, meta: &Value) {
        let base = meta.get("history_base").filter(|base| base.is_object());
        self.continues = base.is_some();
        let own = name(meta, "id");
        let from = name(meta, "forked_from_id").filter(|from| Some(*from) != own);
        self.continues_thread = from.filter(|_| self.continues).map(str::to_owned);
    }

    /// The history was compacted.
    pub(super) fn compacted(&mut self) {
        self.has_compacted = true;
    }

    fn next_epoch(&mut self) {
        self.epoch += 1;
        self.has_response = false;
    }

    /// What a running total may leave out.
    fn floor_of_total(&self) -> Option<Floor> {
        (self.has_compacted || self.continues).then_some(Floor::All)
    }
}

impl Work<'_> {
    /// `event_msg` `token_count`; `copied_from` when the line is a copy.
    pub(super) fn token_count(&mut self, payload: &Value, copied_from: Option<String>) -> Verdict {
        let info = match payload.get("info") {
            None | Some(Value::Null) => return Verdict::Ignored("token count without usage"),
            Some(info) => info,
        };
        let Some(total) = info.get("total_token_usage") else {
            return Verdict::Unknown(
                "event_msg:token_count:<missing total_token_usage>".to_owned(),
            );
        };
        let counts = self.counts(total, "info.total_token_usage");
        if is_guess(&counts) {
            // The window counted as full: a guess, after which the parts begin at nothing.
            if self.state.usage.last_total != Some(counts) {
                self.state.usage.next_epoch();
                self.state.usage.last_total = Some(counts);
                self.estimate(counts, copied_from, "info.total_token_usage");
                return Verdict::Told;
            }
            return Verdict::Ignored("repeated token count");
        }
        let last = info.get("last_token_usage").filter(|last| last.is_object());
        let last = last.map(plain_counts).unwrap_or_default();
        if self.state.usage.last_total == Some(counts) {
            if !is_guess(&last) {
                return Verdict::Ignored("repeated token count");
            }
            self.estimate(last, copied_from, "info.last_token_usage");
            return Verdict::Told;
        }
        if counts == TokenCounts::default() {
            return Verdict::Ignored("token count without numbers");
        }
        self.total_begins(&counts, &last, copied_from.is_some());
        self.state.usage.last_total = Some(counts);
        let mut draft = self.running(counts, copied_from, "info.total_token_usage");
        let copied = draft.copied_from.is_some();
        draft.turn_id = if copied { None } else { self.state.turn.id().map(str::to_owned) };
        draft.model = self.usage_model(draft.turn_id.as_deref(), copied);
        self.push(Message::Usage(draft));
        Verdict::Told
    }

    /// Opens the epoch of a new total where it needs one, and tells what came before the first
    /// response that this file sees.
    fn total_begins(&mut self, total: &TokenCounts, last: &TokenCounts, copied: bool) {
        let usage = &mut self.state.usage;
        match usage.last_total {
            Some(before) if fell(&before, total) || (total == last && !is_nothing(&before)) => {
                usage.next_epoch();
            }
            Some(_) => {}
            None if *last == TokenCounts::default() || is_guess(last) => {}
            None => {
                let before = minus(total, last);
                if let Some(before) = before.filter(|before| !copied && !is_nothing(before)) {
                    self.before(before, "info");
                }
            }
        }
    }

    /// A total that was reached before the first report of this file.
    fn before(&mut self, counts: TokenCounts, field: &str) {
        let from = self.state.usage.continues_thread.clone();
        let draft = self.running(counts, from, field);
        self.push(Message::Usage(draft));
    }

    fn running(
        &mut self,
        counts: TokenCounts,
        copied_from: Option<String>,
        field: &str,
    ) -> UsageDraft {
        let floor = self.state.usage.floor_of_total();
        let scope = UsageScope::Snapshot;
        UsageDraft { floor, copied_from, counts, ..self.report(scope, field) }
    }

    fn estimate(&mut self, counts: TokenCounts, copied_from: Option<String>, field: &str) {
        let standing = Standing::Estimate;
        let draft = self.report(UsageScope::Snapshot, field);
        self.push(Message::Usage(UsageDraft { standing, counts, copied_from, ..draft }));
    }

    fn report(&mut self, scope: UsageScope, field: &str) -> UsageDraft {
        self.state.usage.sequence += 1;
        UsageDraft {
            conversation: self.conversation().to_owned(),
            scope,
            standing: Standing::Reported,
            floor: None,
            response_id: None,
            request_id: None,
            turn_id: None,
            model: None,
            counts: TokenCounts::default(),
            epoch: self.state.usage.epoch,
            sequence: self.state.usage.sequence,
            branch: false,
            copied_from: None,
            observed_at: self.time(),
            path: self.path(field),
        }
    }

    /// Top-level `token_usage_record`: one completed response.
    pub(super) fn usage_record(&mut self, payload: &Value, copied_from: Option<String>) -> Verdict {
        let Some(usage) = payload.get("usage").filter(|usage| usage.is_object()) else {
            return Verdict::Unknown("token_usage_record:<missing usage>".to_owned());
        };
        let counts = self.counts(usage, "usage");
        // Where no line says whose file it is, a record's thread is no other than the file's.
        let owner = self.state.conversation.as_deref();
        let spent_in = name(payload, "thread_id").filter(|id| owner.is_some_and(|own| own != *id));
        let copied_from = spent_in.map(str::to_owned).or(copied_from);
        if copied_from.is_none() && !self.state.usage.has_response {
            self.first_response(payload, &counts);
        }
        let turn_id = owned(payload, "turn_id");
        let model = self.usage_model(turn_id.as_deref(), copied_from.is_some());
        let response_id = owned(payload, "response_id");
        let floor = self.state.usage.continues.then_some(Floor::All);
        let draft = self.report(UsageScope::Response, "usage");
        let draft = UsageDraft { response_id, turn_id, model, counts, copied_from, floor, ..draft };
        self.push(Message::Usage(draft));
        Verdict::Told
    }

    /// The first single response of an epoch: what its thread had spent before it, where no total
    /// said so.
    fn first_response(&mut self, payload: &Value, counts: &TokenCounts) {
        self.state.usage.has_response = true;
        let thread = payload.get("thread_token_usage").filter(|total| total.is_object());
        let before = thread.and_then(|total| minus(&plain_counts(total), counts));
        let told = self.state.usage.last_total.unwrap_or_default();
        if let Some(before) = before
            && !same_parts(&before, &told)
            && !is_nothing(&before)
        {
            self.before(before, "thread_token_usage");
        }
    }

    fn usage_model(&self, turn: Option<&str>, copied: bool) -> Option<String> {
        if copied { self.state.copied.model.clone() } else { self.state.model_of(turn) }
    }

    /// Counts of a usage object; what is no plausible count is absent and reported.
    fn counts(&mut self, usage: &Value, field: &str) -> TokenCounts {
        for (key, _) in KEYS {
            let stated = usage.get(key).filter(|stated| !stated.is_null());
            if stated.is_some_and(|stated| count::read(stated).is_none()) {
                let detail = format!("usage.{key}");
                self.lose(LossReason::PayloadInvalid, &detail, &format!("{field}.{key}"));
            }
        }
        plain_counts(usage)
    }
}

type Field = fn(&mut TokenCounts) -> &mut Option<i64>;

/// Native names of the counts.
const KEYS: [(&str, Field); 6] = [
    ("input_tokens", |counts| &mut counts.input),
    ("cached_input_tokens", |counts| &mut counts.cached_input),
    ("cache_write_input_tokens", |counts| &mut counts.cache_write_input),
    ("output_tokens", |counts| &mut counts.output),
    ("reasoning_output_tokens", |counts| &mut counts.reasoning_output),
    ("total_tokens", |counts| &mut counts.total),
];

fn plain_counts(usage: &Value) -> TokenCounts {
    let mut counts = TokenCounts::default();
    for (key, field) in KEYS {
        *field(&mut counts) = usage.get(key).and_then(count::read);
    }
    counts
}

/// No count that says anything.
fn is_nothing(counts: &TokenCounts) -> bool {
    fields(counts).into_iter().flatten().all(|count| count == 0)
}

/// Only a sum and nothing in it: the host's own guess of a size.
fn is_guess(counts: &TokenCounts) -> bool {
    counts.input == Some(0) && counts.output == Some(0) && counts.total.is_some_and(|t| t > 0)
}

fn fields(counts: &TokenCounts) -> [Option<i64>; 6] {
    let c = counts;
    [c.input, c.cached_input, c.cache_write_input, c.output, c.reasoning_output, c.total]
}

/// Whether some count is less than it was.
fn fell(before: &TokenCounts, now: &TokenCounts) -> bool {
    let pairs = fields(before).into_iter().zip(fields(now));
    pairs.into_iter().any(|(before, now)| matches!((before, now), (Some(b), Some(n)) if n < b))
}

/// Whether input and output agree.
fn same_parts(one: &TokenCounts, other: &TokenCounts) -> bool {
    one.input.unwrap_or(0) == other.input.unwrap_or(0)
        && one.output.unwrap_or(0) == other.output.unwrap_or(0)
}

/// A total without its last response; `None` where that is no total.
fn minus(total: &TokenCounts, last: &TokenCounts) -> Option<TokenCounts> {
    let mut rest = TokenCounts::default();
    for (_, field) in KEYS {
        let (mut total, mut last) = (*total, *last);
        *field(&mut rest) = match (*field(&mut total), *field(&mut last)) {
            (Some(total), Some(last)) => Some(total.checked_sub(last).filter(|rest| *rest >= 0)?),
            (total, None) => total,
            (None, Some(_)) => None,
        };
    }
    Some(rest)
}
