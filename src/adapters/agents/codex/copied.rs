//! Where a fork's or sub-agent's own history begins after the history copied into its file.
//!
//! A fork writes its own `session_meta`, then the source's items again with new times. The end of
//! the copy is not marked in most eras; the signs used here are, in order: the stated start
//! ordinal, settings applied to the own thread, a turn whose time-ordered id is younger than the
//! thread's own id, and the end of the burst in which copies are written.

use super::value::{name, text};
use crate::base::time::Micros;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Copies are written in one burst; a longer pause between two lines ends it.
const BURST_GAP_MS: i64 = 1_000;

/// Whether lines are copies, and of what.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CopiedHistory {
    active: bool,
    /// The thread the copies come from.
    from: Option<String>,
    /// First ordinal of the file's own history.
    own_from_ordinal: Option<u64>,
    last_ms: Option<i64>,
    /// Inside a turn whose time-ordered id is older than the thread: it can only be copied.
    #[serde(default)]
    old_turn: bool,
    /// The model in force among the copied lines.
    pub(super) model: Option<String>,
}

impl CopiedHistory {
    /// The file's own `session_meta` says from which ordinal on its history is its own.
    pub(super) fn own_from(&mut self, ordinal: u64, source: Option<&str>) {
        self.own_from_ordinal = Some(ordinal);
        self.active = ordinal > 0;
        self.from = source.map(str::to_owned);
    }

    /// Another thread's `session_meta`: what follows is a copy of it.
    pub(super) fn enter(&mut self, source: &str) {
        self.active = self.own_from_ordinal.is_none() || self.active;
        self.from = Some(source.to_owned());
    }

    /// The thread the copied lines come from, where known.
    pub(super) fn source(&self) -> Option<&str> {
        self.from.as_deref()
    }

    /// Whether `line` is a copy; called once for each enveloped line, in order.
    pub(super) fn covers(&mut self, line: &Value, own: Option<&str>) -> bool {
        let now = text(line, "timestamp").and_then(millis);
        let before = self.last_ms;
        self.last_ms = now.or(before);
        if let Some(start) = self.own_from_ordinal {
            if let Some(ordinal) = line.get("ordinal").and_then(Value::as_u64) {
                self.active = ordinal < start;
            }
            return self.active;
        }
        let age = turn_age(line, own);
        if let Some(age) = age.filter(|_| self.from.is_some()) {
            self.old_turn = age == TurnAge::Older;
            self.active |= self.old_turn;
        }
        if self.active && !self.old_turn && (starts_own(line, own, age) || paused(before, now)) {
            self.active = false;
        }
        self.active
    }
}

/// A turn's age beside its thread's, where both ids are time-ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnAge {
    Older,
    Own,
}

/// The age of the turn that a line begins.
fn turn_age(line: &Value, own: Option<&str>) -> Option<TurnAge> {
    let payload = line.get("payload")?;
    let begins = match (text(line, "type"), text(payload, "type")) {
        (Some("turn_context"), _) => true,
        (Some("event_msg"), Some(kind)) => matches!(kind, "task_started" | "turn_started"),
        _ => false,
    };
    let turn = name(payload, "turn_id").and_then(uuid_millis).filter(|_| begins)?;
    let thread = uuid_millis(own?)?;
    Some(if turn < thread { TurnAge::Older } else { TurnAge::Own })
}

/// Whether a line can only be the thread's own.
fn starts_own(line: &Value, own: Option<&str>, age: Option<TurnAge>) -> bool {
    let settings = || {
        let payload = line.get("payload").filter(|_| text(line, "type") == Some("event_msg"))?;
        let applied = text(payload, "type") == Some("thread_settings_applied");
        name(payload, "thread_id").filter(|_| applied)
    };
    age == Some(TurnAge::Own) || own.is_some_and(|own| settings() == Some(own))
}

fn paused(before: Option<i64>, now: Option<i64>) -> bool {
    match (before, now) {
        (Some(before), Some(now)) => now.saturating_sub(before) > BURST_GAP_MS,
        _ => false,
    }
}

/// Milliseconds in a version 7 UUID; `None` for any other id.
fn uuid_millis(id: &str) -> Option<i64> {
    let digits: String = id.chars().filter(|c| *c != '-').collect();
    let is_v7 = digits.len() == 32
        && digits.chars().all(|c| c.is_ascii_hexdigit())
        && digits.chars().nth(12) == Some('7');
    if !is_v7 {
        return None;
    }
    i64::from_str_radix(digits.get(..12)?, 16).ok()
}

/// Milliseconds since 1970 of a UTC time as rollouts spell it (`2026-10-02T09:15:04.120Z`).
fn millis(stamp: &str) -> Option<i64> {
    let at = Micros::parse(stamp).filter(|_| stamp.ends_with('Z'))?;
    Some(at.0.div_euclid(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const OWN: &str = "019d924b-6bc1-7fa2-aa36-5e5a0e068c59";

    fn line(at: &str, tag: &str, payload: Value) -> Value {
        json!({"timestamp": at, "type": tag, "payload": payload})
    }

    #[test]
    fn times_are_read_to_the_millisecond() {
        assert_eq!(millis("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(millis("2026-10-02T09:15:04.120Z"), Some(1_790_932_504_120));
        assert_eq!(millis("2024-02-29T00:00:00Z"), Some(1_709_164_800_000));
        assert_eq!(millis("2026-10-02 09:15:04"), None);
        assert_eq!(millis("[trimmed]"), None);
    }

    #[test]
    fn a_turn_younger_than_the_thread_ends_the_copy_within_the_burst() {
        let mut copied = CopiedHistory::default();
        copied.enter("019d9249-e0ee-7020-a305-b6369cd02251");
        let old =
            json!({"type": "task_started", "turn_id": "019d924a-361e-7a82-8f76-6b8406143f52"});
        let new =
            json!({"type": "task_started", "turn_id": "019d924b-8323-77b1-a26d-d65630532b7c"});
        assert!(copied.covers(&line("2026-04-15T17:58:35.549Z", "event_msg", old), Some(OWN)));
        assert!(!copied.covers(&line("2026-04-15T17:58:35.560Z", "event_msg", new), Some(OWN)));
    }

    #[test]
    fn settings_of_the_own_thread_end_the_copy_and_settings_of_another_do_not() {
        let mut copied = CopiedHistory::default();
        copied.enter("other");
        let settings = |id: &str| json!({"type": "thread_settings_applied", "thread_id": id});
        let at = "2026-04-15T17:58:35.549Z";
        assert!(copied.covers(&line(at, "event_msg", settings("other")), Some(OWN)));
        assert!(!copied.covers(&line(at, "event_msg", settings(OWN)), Some(OWN)));
    }

    #[test]
    fn a_pause_of_more_than_a_second_ends_the_copy() {
        let mut copied = CopiedHistory::default();
        copied.enter("other");
        let item = || json!({"type": "message"});
        assert!(copied.covers(&line("2025-09-16T06:12:37.390Z", "response_item", item()), None));
        assert!(copied.covers(&line("2025-09-16T06:12:38.390Z", "response_item", item()), None));
        assert!(!copied.covers(&line("2025-09-16T06:12:39.391Z", "response_item", item()), None));
    }

    #[test]
    fn a_stated_start_ordinal_decides_alone() {
        let mut copied = CopiedHistory::default();
        copied.own_from(2, Some("parent"));
        let at = |ordinal: u64, second: u64| {
            json!({"timestamp": format!("2026-10-02T09:15:{second:02}.000Z"), "ordinal": ordinal,
                   "type": "response_item", "payload": {}})
        };
        assert!(copied.covers(&at(1, 1), Some(OWN)));
        assert!(copied.covers(&at(1, 30), Some(OWN)));
        assert!(!copied.covers(&at(2, 31), Some(OWN)));
        assert_eq!(copied.source(), Some("parent"));
    }
}
