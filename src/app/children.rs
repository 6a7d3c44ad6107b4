//! What sub-agents did, seen from the conversation that started them: their runs and edits count for
//! its claims, and say whose they are.

use super::verify::{Trust, edits, runs};
use crate::base::text::one_line;
use crate::domain::verdict::{Edit, ShellRun};
use crate::ports::reader::{ConversationRow, EventRow, Reader, SeenAt};
use crate::ports::recorder::StoreError;
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// At most so many sub-agents are read for one conversation; those that were active last.
const CHILDREN_MAX: usize = 64;

/// What the sub-agents of a conversation did.
#[derive(Debug, Default)]
pub(super) struct Children {
    pub(super) runs: Vec<ShellRun>,
    pub(super) edits: Vec<Edit>,
    /// Where their evidence was seen, by id.
    pub(super) seen: HashMap<Uuid, SeenAt>,
    /// Native ids of those that are recorded.
    pub(super) known: HashSet<String>,
}

/// Reads the sub-agents of a conversation; what they did gets its place among the parent's events by
/// its time.
pub(super) fn read(
    reader: &dyn Reader,
    parent: &ConversationRow,
    events: &[EventRow],
    trust: Trust,
) -> Result<Children, StoreError> {
    let mut found = Children::default();
    for child in reader.children(&parent.key)?.into_iter().take(CHILDREN_MAX) {
        let of_child = reader.events(child.id)?.rows;
        let evidence = reader.evidence(child.id)?.rows;
        let before = |at: i64| events.partition_point(|event| event.order_us <= at);
        let order: HashMap<Uuid, i64> = of_child
            .iter()
            .map(|event| (event.id, i64::try_from(before(event.order_us)).unwrap_or(i64::MAX)))
            .collect();
        let turn_at = |order: i64| {
            let last = usize::try_from(order - 1).ok().and_then(|at| events.get(at));
            last.and_then(|event| event.turn_id.clone())
        };
        found.runs.extend(runs(&of_child, &evidence, &order, trust).into_iter().map(|run| {
            ShellRun {
                turn: turn_at(run.order),
                workdir: run.workdir.or_else(|| child.cwd.clone()),
                place: format!("sub-agent {}, {}", one_line(&child.native_id), run.place),
                ..run
            }
        }));
        found.edits.extend(edits(&evidence, &order));
        let seen = evidence.into_iter().filter_map(|row| Some((row.id, row.seen?)));
        found.seen.extend(seen);
        found.known.insert(child.native_id);
    }
    Ok(found)
}
