//! Which turn a line belongs to, and how often a text was told in it.
//!
//! Newer files name their turns; older ones do not, so turns are counted there: a person's prompt
//! opens the next one. A prompt and its second telling must fall into one turn, so the second of
//! the two never opens another.

use crate::base::hash::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most distinct texts remembered within one turn.
const TEXTS_MAX: usize = 4_096;

/// The turn in force.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TurnTracker {
    current: Option<String>,
    /// How many turns were counted rather than named.
    counted: u64,
    /// Opened by `task_started` and not seen to end.
    open: bool,
    /// A person's prompt was seen in it.
    prompted: bool,
    /// The agent did something after that prompt.
    answered: bool,
    /// Tellings by lane, turn and text.
    tellings: BTreeMap<String, u32>,
}

impl TurnTracker {
    /// The turn's id, when one has begun.
    pub(super) fn id(&self) -> Option<&str> {
        self.current.as_deref()
    }

    /// The turn's id as part of an identity; `turn-0` before the first.
    pub(super) fn key(&self) -> String {
        self.current.clone().unwrap_or_else(|| "turn-0".to_owned())
    }

    /// `task_started`: a turn begins, named or to be counted.
    pub(super) fn begin(&mut self, id: Option<&str>) {
        match id {
            Some(id) => self.enter(id),
            None => self.advance(),
        }
        self.open = true;
    }

    /// `turn_context`: names the turn where it has an id; it may come after the turn's prompt.
    pub(super) fn context(&mut self, id: Option<&str>) {
        let Some(id) = id else { return };
        let waiting = self.prompted && !self.answered && !self.open;
        self.enter(id);
        self.prompted = self.prompted || waiting;
    }

    /// The turn is over; what still comes belongs to it until another begins.
    pub(super) fn end(&mut self) {
        self.open = false;
        self.prompted = true;
    }

    /// A person's prompt. `twin`: it is the second telling of one already seen in this turn.
    pub(super) fn prompt(&mut self, twin: bool) {
        if twin || self.open {
            self.prompted = true;
            return;
        }
        if self.prompted || self.current.is_none() {
            self.advance();
        }
        self.prompted = true;
        self.answered = false;
    }

    /// A person's prompt that names its turn.
    pub(super) fn prompt_in(&mut self, id: &str) {
        self.enter(id);
        self.prompted = true;
        self.answered = false;
    }

    /// The agent acted in this turn.
    pub(super) fn answer(&mut self) {
        self.answered = true;
    }

    /// Counts one telling of `text` on `lane` in `turn` and answers how many came before it;
    /// `None` when the turn holds too many texts to tell them apart.
    pub(super) fn nth(&mut self, lane: &str, turn: &str, text: &str) -> Option<usize> {
        let key = telling(lane, turn, text);
        if self.tellings.len() >= TEXTS_MAX && !self.tellings.contains_key(&key) {
            return None;
        }
        let count = self.tellings.entry(key).or_insert(0);
        let before = *count;
        *count = count.saturating_add(1);
        usize::try_from(before).ok()
    }

    /// How often `text` was told on `lane` in the turn in force.
    pub(super) fn told(&self, lane: &str, text: &str) -> u32 {
        self.tellings.get(&telling(lane, &self.key(), text)).copied().unwrap_or(0)
    }

    fn enter(&mut self, id: &str) {
        if self.current.as_deref() == Some(id) {
            return;
        }
        self.reset(id.to_owned());
    }

    fn advance(&mut self) {
        self.counted = self.counted.saturating_add(1);
        self.reset(format!("turn-{}", self.counted));
    }

    fn reset(&mut self, id: String) {
        self.current = Some(id);
        self.open = false;
        self.prompted = false;
        self.answered = false;
        self.tellings.clear();
    }
}

fn telling(lane: &str, turn: &str, text: &str) -> String {
    format!("{lane}|{turn}|{}", Digest::of(text.as_bytes()).short_hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_opens_a_counted_turn_and_its_twin_does_not() {
        let mut turns = TurnTracker::default();
        turns.prompt(false);
        turns.prompt(true);
        assert_eq!(turns.id(), Some("turn-1"));
        turns.answer();
        turns.prompt(false);
        assert_eq!(turns.id(), Some("turn-2"));
    }

    #[test]
    fn a_prompt_within_an_open_named_turn_stays_in_it() {
        let mut turns = TurnTracker::default();
        turns.begin(Some("t1"));
        turns.prompt(false);
        turns.answer();
        turns.prompt(false);
        assert_eq!(turns.id(), Some("t1"));
        turns.end();
        turns.prompt(false);
        assert_eq!(turns.id(), Some("turn-1"));
    }

    #[test]
    fn a_context_that_names_the_turn_after_its_prompt_leaves_the_next_prompt_free() {
        let mut turns = TurnTracker::default();
        turns.prompt(false);
        turns.context(Some("a"));
        turns.answer();
        turns.prompt(false);
        assert_eq!(turns.id(), Some("turn-2"));
        turns.context(Some("b"));
        assert_eq!(turns.id(), Some("b"));
    }

    #[test]
    fn equal_texts_are_counted_by_lane_and_forgotten_with_the_turn() {
        let mut turns = TurnTracker::default();
        turns.begin(Some("t1"));
        assert_eq!(turns.nth("a", "t1", "x"), Some(0));
        assert_eq!(turns.nth("a", "t1", "x"), Some(1));
        assert_eq!(turns.nth("b", "t1", "x"), Some(0));
        assert_eq!(turns.told("a", "x"), 2);
        turns.begin(Some("t2"));
        assert_eq!(turns.told("a", "x"), 0);
    }
}
