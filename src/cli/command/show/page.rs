//! Which part of a long story is told.
//!
//! On a terminal the newest entries are, and a line says how to see the others. In a pipe, and as
//! JSON, everything is.

use crate::cli::args::ShowArgs;
use crate::domain::event::EventKind;
use crate::ports::reader::EventRow;
use std::collections::HashSet;
use uuid::Uuid;

/// Entries told on a terminal when nothing is asked for.
const NEWEST: usize = 50;

/// The part that is asked for.
#[derive(Debug, Default)]
pub(super) struct Page {
    since_us: Option<i64>,
    failed: bool,
    head: Option<usize>,
    tail: Option<usize>,
}

/// The entries that are told, and how many are not.
#[derive(Debug)]
pub(super) struct Chosen<'a> {
    pub(super) entries: Vec<&'a EventRow>,
    pub(super) earlier: usize,
    pub(super) later: usize,
}

impl Page {
    /// `since_us` is the time of `--since`.
    pub(super) fn of(args: &ShowArgs, since_us: Option<i64>, on_terminal: bool) -> Self {
        let asked = args.all || args.failed || args.head.is_some() || args.tail.is_some();
        let newest = (on_terminal && !asked && since_us.is_none()).then_some(NEWEST);
        Self { since_us, failed: args.failed, head: args.head, tail: args.tail.or(newest) }
    }

    /// Chooses among the entries; `doubted` are events with a contradicted claim.
    pub(super) fn choose<'a>(
        &self,
        mut entries: Vec<&'a EventRow>,
        doubted: &HashSet<Uuid>,
    ) -> Chosen<'a> {
        let all = entries.len();
        entries.retain(|e| self.since_us.is_none_or(|since| e.order_us >= since));
        let mut earlier = all - entries.len();
        entries.retain(|e| !self.failed || is_failure(e) || doubted.contains(&e.id));
        let mut later = 0;
        if let Some(head) = self.head.filter(|head| *head < entries.len()) {
            later = entries.len() - head;
            entries.truncate(head);
        }
        if let Some(tail) = self.tail.filter(|tail| *tail < entries.len()) {
            let gone = entries.len() - tail;
            earlier += gone;
            entries.drain(..gone);
        }
        Chosen { entries, earlier, later }
    }
}

/// Whether something did not go well.
fn is_failure(event: &EventRow) -> bool {
    matches!(event.outcome.as_deref(), Some("failed" | "denied" | "interrupted"))
        || event.kind == EventKind::RuntimeError.as_str()
        || event.kind == EventKind::PermissionDenied.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(n: u32, outcome: Option<&str>) -> EventRow {
        EventRow {
            id: Uuid::from_u128(u128::from(n)),
            provider: String::new(),
            native_id: String::new(),
            kind: "post_tool_use".to_owned(),
            turn_id: None,
            call_id: None,
            agent_id: None,
            outcome: outcome.map(str::to_owned),
            tool_name: None,
            tool_input: None,
            tool_response: None,
            text: None,
            raw: None,
            observed_at: String::new(),
            clock_source: String::new(),
            order_us: i64::from(n),
            heuristic: false,
            disagrees: false,
            ingress: String::new(),
            sightings: Vec::new(),
        }
    }

    fn args() -> ShowArgs {
        ShowArgs {
            session: "s".to_owned(),
            all: false,
            head: None,
            tail: None,
            failed: false,
            since: None,
            full: false,
        }
    }

    /// First and last entry told, and how many are left out before and after.
    fn told(page: &Page, count: u32) -> (Option<i64>, Option<i64>, usize, usize) {
        let rows: Vec<EventRow> = (1..=count).map(|n| entry(n, None)).collect();
        let chosen = page.choose(rows.iter().collect(), &HashSet::new());
        let at = |e: Option<&&EventRow>| e.map(|e| e.order_us);
        (at(chosen.entries.first()), at(chosen.entries.last()), chosen.earlier, chosen.later)
    }

    #[test]
    fn a_terminal_gets_the_newest_and_a_pipe_gets_all() {
        let newest = Page::of(&args(), None, true);
        assert_eq!(told(&newest, 120), (Some(71), Some(120), 70, 0));
        assert_eq!(told(&newest, 50), (Some(1), Some(50), 0, 0));
        assert_eq!(told(&Page::of(&args(), None, false), 120), (Some(1), Some(120), 0, 0));
        let all = ShowArgs { all: true, ..args() };
        assert_eq!(told(&Page::of(&all, None, true), 120), (Some(1), Some(120), 0, 0));
    }

    #[test]
    fn what_is_asked_for_is_what_is_told() {
        let head = ShowArgs { head: Some(3), ..args() };
        assert_eq!(told(&Page::of(&head, None, true), 120), (Some(1), Some(3), 0, 117));
        let tail = ShowArgs { tail: Some(2), ..args() };
        assert_eq!(told(&Page::of(&tail, None, true), 120), (Some(119), Some(120), 118, 0));
        assert_eq!(told(&Page::of(&tail, Some(120), true), 120), (Some(120), Some(120), 119, 0));
        assert_eq!(told(&Page::of(&args(), Some(60), true), 120), (Some(60), Some(120), 59, 0));
        assert_eq!(told(&Page::of(&head, None, true), 0), (None, None, 0, 0));
    }

    #[test]
    fn failures_are_what_did_not_go_well_and_what_a_false_claim_was_made_in() {
        let mut error = entry(5, None);
        error.kind = "runtime_error".to_owned();
        let rows = [
            entry(1, Some("ok")),
            entry(2, Some("failed")),
            entry(3, Some("denied")),
            entry(4, None),
            error,
            entry(6, Some("running")),
        ];
        let page = Page::of(&ShowArgs { failed: true, ..args() }, None, true);
        let doubted = HashSet::from([Uuid::from_u128(4)]);
        let chosen = page.choose(rows.iter().collect(), &doubted);
        let told: Vec<i64> = chosen.entries.iter().map(|e| e.order_us).collect();
        assert_eq!(told, [2, 3, 4, 5]);
    }
}
