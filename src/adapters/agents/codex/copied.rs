//! Where a fork's or sub-agent's own history begins after the history copied into its file.
//!
//! A fork writes its own `session_meta`, then the source's items again, mostly with new times. The
//! end of the copy is not marked in most eras. The signs used here are, in order: the stated start
//! ordinal; settings applied to the own thread, or a turn whose time-ordered id is younger than the
//! thread's own; times older than the thread; and, where a file has none of these, the end of the
//! burst in which copies are written. The last is a guess, and whoever asks is told so.

use super::value::{name, text};
use crate::base::time::Micros;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Copies are written in one burst; a longer pause between two lines ends it. Also how much older
/// than its thread a line must be to be a copy.
const BURST_GAP_MS: i64 = 1_000;

/// Most threads of which copies are told apart.
const SOURCES_MAX: usize = 64;

/// Whether lines are copies, and of what.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CopiedHistory {
    active: bool,
    /// Threads whose metadata was copied here; the first is the one that this file began from.
    sources: Vec<String>,
    /// The thread that the file's own metadata says it is a fork or a child of.
    stated: Option<String>,
    is_fork: bool,
    /// The thread that the turn being copied was run in.
    origin: Option<String>,
    /// First ordinal of the file's own history.
    start: Option<u64>,
    /// When the thread was made, milliseconds since 1970.
    made_ms: Option<i64>,
    last_ms: Option<i64>,
    /// A line has had an ordinal.
    ordinals: bool,
    /// A turn has had a time-ordered id.
    named: bool,
    /// Inside a turn whose time-ordered id is older than the thread: it can only be copied.
    old_turn: bool,
    /// Copies keep the times of their source.
    old_times: bool,
    /// Own history has begun for sure.
    settled: bool,
    doubt: Doubt,
    /// The model in force among the copied lines.
    pub(super) model: Option<String>,
}

/// Whether the boundary of the copy had to be guessed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Doubt {
    #[default]
    None,
    /// Guessed at this line.
    New,
    Told,
}

impl CopiedHistory {
    /// The file's own `session_meta`: when its thread was made, and the thread that it is a fork or
    /// a child of. A fork begins with a copy; a child may.
    pub(super) fn begin(&mut self, payload: &Value, fork_of: Option<&str>, parent: Option<&str>) {
        self.made_ms = text(payload, "timestamp").and_then(millis);
        self.stated = fork_of.or(parent).map(str::to_owned);
        self.is_fork = fork_of.is_some();
    }

    /// The file's own history begins at this ordinal; what stands before it is copied.
    pub(super) fn own_from(&mut self, ordinal: u64, source: Option<&str>) {
        self.start = Some(ordinal);
        self.active = ordinal > 0;
        self.stated = source.map(str::to_owned);
    }

    /// History before this ordinal is referred to and stands in another file.
    pub(super) fn refers_before(&mut self, ordinal: u64, source: &str) {
        self.start = Some(ordinal);
        self.ordinals = true;
        self.stated = Some(source.to_owned());
    }

    /// Another thread's `session_meta`: what follows is a copy of it. True for the first one.
    pub(super) fn enter(&mut self, source: &str) -> bool {
        self.active = self.start.is_none() || self.active;
        let first = self.sources.is_empty();
        if self.sources.len() < SOURCES_MAX && !self.sources.iter().any(|known| known == source) {
            self.sources.push(source.to_owned());
        }
        self.origin = Some(source.to_owned());
        first
    }

    /// The thread the copied lines come from, where known.
    pub(super) fn source(&self) -> Option<&str> {
        self.origin.as_deref().or(self.stated.as_deref())
    }

    /// True once, at the first line that was taken for the file's own by a guess.
    pub(super) fn take_doubt(&mut self) -> bool {
        let new = self.doubt == Doubt::New;
        if new {
            self.doubt = Doubt::Told;
        }
        new
    }

    /// Whether `line` is a copy; called once for each enveloped line, in order.
    pub(super) fn covers(&mut self, line: &Value, own: Option<&str>) -> bool {
        // Without another thread's metadata only what comes before the own history can be a copy.
        let none = self.sources.is_empty() && (self.stated.is_none() || self.settled);
        if none && self.start.is_none() {
            return false;
        }
        if let Some(start) = self.start {
            if let Some(ordinal) = line.get("ordinal").and_then(Value::as_u64) {
                self.ordinals = true;
                self.active = ordinal < start;
            }
            if self.ordinals {
                return self.active;
            }
        }
        let now = text(line, "timestamp").and_then(millis);
        let before = self.last_ms;
        self.last_ms = now.or(before);
        let age = self.turn_age(line, own);
        if age == Some(TurnAge::Own) || settles(line, own) {
            (self.active, self.settled) = (false, true);
        } else if self.is_old(now) {
            (self.active, self.old_times) = (true, true);
        } else if self.active && !self.old_turn && (self.old_times || paused(before, now)) {
            self.active = false;
            self.guess(!self.old_times);
        } else if !self.active && self.sources.is_empty() && !self.named && is_message(line) {
            self.guess(self.is_fork && !self.settled);
        }
        self.active
    }

    fn guess(&mut self, unsure: bool) {
        if unsure && self.doubt == Doubt::None {
            self.doubt = Doubt::New;
        }
    }

    /// Whether a line's time is older than the thread; a clock set back later proves nothing.
    fn is_old(&self, now: Option<i64>) -> bool {
        match (self.made_ms, now) {
            (Some(made), Some(now)) => !self.settled && now.saturating_add(BURST_GAP_MS) < made,
            _ => false,
        }
    }

    /// The age of the turn that a line begins; an older one is being copied from now on.
    fn turn_age(&mut self, line: &Value, own: Option<&str>) -> Option<TurnAge> {
        let turn = begun_turn(line)?;
        let age = if turn < uuid_millis(own?)? { TurnAge::Older } else { TurnAge::Own };
        self.named = true;
        self.old_turn = age == TurnAge::Older;
        if self.old_turn {
            self.active = true;
            self.origin = self.owner_of(turn).or(self.origin.take());
        }
        Some(age)
    }

    /// Of the threads copied here, the youngest that is older than a turn.
    fn owner_of(&self, turn: i64) -> Option<String> {
        self.sources
            .iter()
            .filter_map(|source| uuid_millis(source).map(|made| (made, source)))
            .filter(|(made, _)| *made <= turn)
            .max()
            .map(|(_, source)| source.clone())
    }
}

/// A turn's age beside its thread's, where both ids are time-ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnAge {
    Older,
    Own,
}

/// When the turn that a line begins was made, where its id is time-ordered.
fn begun_turn(line: &Value) -> Option<i64> {
    let payload = line.get("payload")?;
    let begins = match (text(line, "type"), text(payload, "type")) {
        (Some("turn_context"), _) => true,
        (Some("event_msg"), Some(kind)) => matches!(kind, "task_started" | "turn_started"),
        _ => false,
    };
    name(payload, "turn_id").filter(|_| begins).and_then(uuid_millis)
}

/// Whether a line applies settings to the own thread.
fn settles(line: &Value, own: Option<&str>) -> bool {
    let settings = || {
        let payload = line.get("payload").filter(|_| text(line, "type") == Some("event_msg"))?;
        let applied = text(payload, "type") == Some("thread_settings_applied");
        name(payload, "thread_id").filter(|_| applied)
    };
    own.is_some_and(|own| settings() == Some(own))
}

/// Whether a line tells a message: something that a copy would tell twice.
fn is_message(line: &Value) -> bool {
    let tag = line.get("payload").and_then(|payload| text(payload, "type"));
    matches!(
        (text(line, "type"), tag),
        (Some("response_item"), Some("message"))
            | (Some("event_msg"), Some("user_message" | "agent_message"))
    )
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
mod tests;
