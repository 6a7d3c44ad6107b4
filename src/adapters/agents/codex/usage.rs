//! Token reports: running totals (`token_count`) and single responses (`token_usage_record`).
//!
//! Codex' `input_tokens` already includes cached input and `output_tokens` reasoning output. A
//! total told again unchanged is no new use. A report among copied lines, or one that names
//! another thread, keeps the thread that the tokens were spent in.

use super::value::{name, owned};
use super::work::{Verdict, Work};
use crate::domain::loss::LossReason;
use crate::domain::outcome::Message;
use crate::domain::usage::{TokenCounts, UsageDraft, UsageScope};
use serde_json::Value;

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
        if self.state.last_total == Some(counts) {
            return Verdict::Ignored("repeated token count");
        }
        if counts == TokenCounts::default() {
            return Verdict::Ignored("token count without numbers");
        }
        self.state.last_total = Some(counts);
        let turn_id = match copied_from {
            Some(_) => None,
            None => self.state.turn.id().map(str::to_owned),
        };
        let model = self.usage_model(turn_id.as_deref(), copied_from.is_some());
        let draft = UsageDraft {
            conversation: self.conversation().to_owned(),
            scope: UsageScope::Snapshot,
            response_id: None,
            request_id: None,
            turn_id,
            model,
            counts,
            copied_from,
            observed_at: self.time(),
            path: self.path("info.total_token_usage"),
        };
        self.push(Message::Usage(draft));
        Verdict::Told
    }

    /// Top-level `token_usage_record`: one completed response.
    pub(super) fn usage_record(&mut self, payload: &Value, copied_from: Option<String>) -> Verdict {
        let Some(usage) = payload.get("usage").filter(|usage| usage.is_object()) else {
            return Verdict::Unknown("token_usage_record:<missing usage>".to_owned());
        };
        let counts = self.counts(usage, "usage");
        let spent_in = name(payload, "thread_id").filter(|id| *id != self.conversation());
        let copied_from = spent_in.map(str::to_owned).or(copied_from);
        let turn_id = owned(payload, "turn_id");
        let model = self.usage_model(turn_id.as_deref(), copied_from.is_some());
        let draft = UsageDraft {
            conversation: self.conversation().to_owned(),
            scope: UsageScope::Response,
            response_id: owned(payload, "response_id"),
            request_id: None,
            turn_id,
            model,
            counts,
            copied_from,
            observed_at: self.time(),
            path: self.path("usage"),
        };
        self.push(Message::Usage(draft));
        Verdict::Told
    }

    fn usage_model(&self, turn: Option<&str>, copied: bool) -> Option<String> {
        if copied { self.state.copied.model.clone() } else { self.state.model_of(turn) }
    }

    /// Counts of a usage object; what is no plausible count is absent and reported.
    fn counts(&mut self, usage: &Value, field: &str) -> TokenCounts {
        TokenCounts {
            input: self.count(usage, "input_tokens", field),
            cached_input: self.count(usage, "cached_input_tokens", field),
            cache_write_input: self.count(usage, "cache_write_input_tokens", field),
            output: self.count(usage, "output_tokens", field),
            reasoning_output: self.count(usage, "reasoning_output_tokens", field),
            total: self.count(usage, "total_tokens", field),
        }
    }

    fn count(&mut self, usage: &Value, key: &str, field: &str) -> Option<i64> {
        let stated = usage.get(key).filter(|stated| !stated.is_null())?;
        let count = stated.as_i64().filter(|count| *count >= 0);
        if count.is_none() {
            self.lose(
                LossReason::PayloadInvalid,
                &format!("usage.{key}"),
                &format!("{field}.{key}"),
            );
        }
        count
    }
}
