//! Token usage of one assistant line.
//!
//! `input_tokens` leaves the cache out, so it is added in: our input includes cached and
//! cache-write input, and is unknown where one of the three was not reported. Builds before 2.1.152
//! left the flat cache-write count at 0 beside a filled nested one, so the larger of the two holds.
//! Every line of a response repeats the object; the reports are told apart later, by response id.

use super::super::wire::{member, text};
use super::line::Line;
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::Message;
use crate::domain::usage::{Floor, Standing, TokenCounts, UsageDraft, UsageScope, count};
use serde_json::Value;

/// The line's usage report and the losses of counts that are no counts.
pub(super) fn report(line: &Line<'_>, turn: Option<&str>) -> Vec<Message> {
    let Some(message) = line.value.get("message") else { return Vec::new() };
    let Some(usage) = member(message, "usage") else { return Vec::new() };
    let model = text(message, "model");
    let is_synthetic = model == Some("<synthetic>");
    let mut counts = Counts { usage, broken: Vec::new() };
    if !usage.is_object() {
        counts.broken.push("usage");
    }
    let read = counts.normalised();
    let mut out = Vec::new();
    if usage.is_object() {
        out.push(Message::Usage(UsageDraft {
            conversation: line.conversation.to_owned(),
            scope: UsageScope::Response,
            standing: if is_synthetic { Standing::Synthetic } else { Standing::Reported },
            floor: floor(line, message),
            response_id: text(message, "id").or(line.uuid).map(str::to_owned),
            request_id: text(line.value, "requestId").map(str::to_owned),
            turn_id: turn.map(str::to_owned),
            model: model.filter(|_| !is_synthetic).map(str::to_owned),
            counts: read,
            epoch: 0,
            sequence: 0,
            branch: line.sidechain,
            copied_from: line.forked_from.map(str::to_owned),
            observed_at: line.at.map(str::to_owned),
            path: "message.usage".to_owned(),
        }));
    }
    out.extend(counts.broken.into_iter().map(|field| {
        let path = format!("message.{field}");
        let whose = Some(line.conversation);
        Message::Loss(LossDraft::one(whose, LossReason::PayloadInvalid, field, &path))
    }));
    out
}

/// A line written before its response had stopped holds a first guess of the output, and
/// sub-agents' files often hold no other.
fn floor(line: &Line<'_>, message: &Value) -> Option<Floor> {
    let stopped = text(message, "stop_reason").is_some();
    (line.sidechain || !stopped).then_some(Floor::Output)
}

struct Counts<'a> {
    usage: &'a Value,
    /// Fields that hold something, but no count.
    broken: Vec<&'static str>,
}

impl Counts<'_> {
    fn normalised(&mut self) -> TokenCounts {
        let fresh = self.count("input_tokens", "usage.input_tokens");
        let cached = self.count("cache_read_input_tokens", "usage.cache_read_input_tokens");
        let written = self.cache_write();
        let output = self.count("output_tokens", "usage.output_tokens");
        let reasoning = self.nested(
            "output_tokens_details",
            "thinking_tokens",
            "usage.output_tokens_details.thinking_tokens",
        );
        TokenCounts {
            input: sum([fresh, cached, written]),
            cached_input: cached,
            cache_write_input: written,
            output,
            reasoning_output: reasoning,
            total: None,
            uncached_input: fresh,
        }
    }

    fn cache_write(&mut self) -> Option<i64> {
        let flat = self.count("cache_creation_input_tokens", "usage.cache_creation_input_tokens");
        let short = self.nested(
            "cache_creation",
            "ephemeral_5m_input_tokens",
            "usage.cache_creation.ephemeral_5m_input_tokens",
        );
        let long = self.nested(
            "cache_creation",
            "ephemeral_1h_input_tokens",
            "usage.cache_creation.ephemeral_1h_input_tokens",
        );
        let split = match (short, long) {
            (None, None) => None,
            (short, long) => short.unwrap_or(0).checked_add(long.unwrap_or(0)),
        };
        flat.max(split)
    }

    fn count(&mut self, key: &str, field: &'static str) -> Option<i64> {
        let usage = self.usage;
        self.checked(member(usage, key)?, field)
    }

    fn nested(&mut self, key: &str, inner: &str, field: &'static str) -> Option<i64> {
        let usage = self.usage;
        self.checked(member(member(usage, key)?, inner)?, field)
    }

    /// A plausible count; anything else is told as broken.
    fn checked(&mut self, value: &Value, field: &'static str) -> Option<i64> {
        let count = count::read(value);
        if count.is_none() {
            self.broken.push(field);
        }
        count
    }
}

/// The sum of parts that were all reported.
fn sum(parts: [Option<i64>; 3]) -> Option<i64> {
    parts.into_iter().try_fold(0_i64, |sum, part| sum.checked_add(part?))
}
