//! One authoritative history: a stream of a conversation adds sightings to what the conversation's
//! own record tells, and events of its own only where there is no such record. So does an import.
//!
//! The view `streamed` names the events to leave out. Their rows stay, so the rule holds whichever
//! of the two sources was read first, and whichever goes.

use crate::domain::event::{Channel, EventKind};
use crate::ports::reader::EventRow;
use std::collections::{HashMap, VecDeque};

/// Left join that counts, for a conversation `c`, what of its events the view leaves out.
pub(super) const LEFT_OUT: &str = "LEFT JOIN (SELECT conversation, count(*) AS events,
    sum(kind = 'post_tool_use' AND outcome = 'failed') AS failed_calls,
    sum(kind = 'user_prompt_submit') AS prompts
    FROM streamed GROUP BY conversation) x ON x.conversation = c.id ";

/// An event of a conversation and the ranks of its sightings.
pub(super) struct Ranked {
    pub(super) row: EventRow,
    pub(super) ranks: Vec<i64>,
}

impl Ranked {
    /// Whether only a stream tells it.
    fn is_streamed(&self) -> bool {
        self.ranks.iter().all(|rank| *rank == Channel::Stream.rank())
    }

    /// Whether the conversation's own record begins with it: its header, or what a person typed.
    fn begins_record(&self) -> bool {
        let kind = EventKind::from_tag(&self.row.kind);
        matches!(kind, EventKind::SessionStart | EventKind::UserPromptSubmit)
            && self.ranks.contains(&Channel::Canonical.rank())
    }
}

/// The events that count. Where the record is there, a streamed message becomes a sighting of the
/// record's message with the same text, the first of the first.
pub(super) fn counted(events: Vec<Ranked>) -> Vec<EventRow> {
    let recorded = events.iter().any(Ranked::begins_record);
    let (streamed, kept): (Vec<_>, Vec<_>) =
        events.into_iter().partition(|event| recorded && event.is_streamed());
    let mut rows: Vec<EventRow> = kept.into_iter().map(|event| event.row).collect();
    if !streamed.is_empty() {
        add_sightings(&mut rows, streamed);
    }
    rows
}

fn add_sightings(rows: &mut [EventRow], streamed: Vec<Ranked>) {
    rows.sort_by_key(|row| row.order_us);
    let mut by_text: HashMap<(String, String), VecDeque<usize>> = HashMap::new();
    for (place, row) in rows.iter().enumerate() {
        if let Some(text) = &row.text {
            by_text.entry((row.kind.clone(), text.clone())).or_default().push_back(place);
        }
    }
    let mut streamed: Vec<EventRow> = streamed.into_iter().map(|event| event.row).collect();
    streamed.sort_by_key(|row| row.sightings.first().map(|s| (s.source.clone(), s.offset)));
    for event in streamed {
        let Some(text) = event.text else { continue };
        let twin = by_text.get_mut(&(event.kind, text)).and_then(VecDeque::pop_front);
        if let Some(row) = twin.and_then(|place| rows.get_mut(place)) {
            row.sightings.extend(event.sightings);
        }
    }
}
