//! Token usage of one assistant line.
//!
//! `input_tokens` leaves the cache out, so it is added in: our input includes cached and
//! cache-write input. Builds before 2.1.152 left the flat cache-write count at 0 beside a filled
//! nested one, so the larger of the two holds. Every line of a response repeats the object; the
//! reports are told apart later, by response id.

use super::super::wire::{member, text};
use super::line::Line;
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::Message;
use crate::domain::usage::{TokenCounts, UsageDraft, UsageScope};
use serde_json::Value;

/// The line's usage report and the losses of counts that are no counts.
pub(super) fn report(line: &Line<'_>, turn: Option<&str>) -> Vec<Message> {
    let Some(message) = line.value.get("message") else { return Vec::new() };
    let model = text(message, "model");
    let Some(usage) = member(message, "usage").filter(|_| model != Some("<synthetic>")) else {
        return Vec::new();
    };
    let mut counts = Counts { usage, broken: Vec::new() };
    if !usage.is_object() {
        counts.broken.push("usage");
    }
    let read = counts.normalised();
    let mut out = Vec::new();
    if read != TokenCounts::default() {
        out.push(Message::Usage(UsageDraft {
            conversation: line.conversation.to_owned(),
            scope: UsageScope::Response,
            response_id: text(message, "id").map(str::to_owned),
            request_id: text(line.value, "requestId").map(str::to_owned),
            turn_id: turn.map(str::to_owned),
            model: model.map(str::to_owned),
            counts: read,
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
            input: fresh.and_then(|fresh| {
                fresh.checked_add(cached.unwrap_or(0))?.checked_add(written.unwrap_or(0))
            }),
            cached_input: cached,
            cache_write_input: written,
            output,
            reasoning_output: reasoning,
            total: None,
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

    /// A whole number from 0 to 2^63-1; anything else is told as broken.
    fn checked(&mut self, value: &Value, field: &'static str) -> Option<i64> {
        let count = value.as_i64().filter(|count| *count >= 0);
        if count.is_none() {
            self.broken.push(field);
        }
        count
    }
}
