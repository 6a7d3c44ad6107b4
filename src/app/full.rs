//! The texts that were cut when they were stored, whole again from their sources.
//!
//! What was cut is told by the ledger (`text_cut`, by place and field). A call's input stands in
//! another line than its answer, so it is read where the call was proposed.

use super::readback::{ReadBack, ReadError, ReadText};
use crate::domain::event::EventKind;
use crate::domain::locator::Locator;
use crate::domain::unavailable::Unavailable;
use crate::ports::reader::{EventRow, LostRow, SeenAt};
use std::collections::{BTreeMap, HashMap, HashSet};
use uuid::Uuid;

/// Fields of an event that can have been cut.
pub const FIELDS: [&str; 3] = ["text", "tool_input", "tool_response"];

/// A field that was cut, as its source tells it now.
#[derive(Debug, Clone, PartialEq)]
pub struct FullText {
    /// `text`, `tool_input` or `tool_response`.
    pub field: &'static str,
    pub locator: Option<Locator>,
    pub told: Result<ReadText, Unavailable>,
}

/// Every cut field of every event, by event.
///
/// # Errors
/// When the store or the disk fails; what is merely unavailable is told as such.
pub fn full_texts(
    readback: &mut ReadBack<'_>,
    events: &[EventRow],
    cuts: &[LostRow],
    max_bytes: usize,
) -> Result<BTreeMap<Uuid, Vec<FullText>>, ReadError> {
    let cut = Cuts::of(cuts);
    let proposals: HashMap<&str, &EventRow> = events
        .iter()
        .filter(|e| e.kind == EventKind::PreToolUse.as_str())
        .filter_map(|e| Some((e.call_id.as_deref()?, e)))
        .collect();
    let mut out: BTreeMap<Uuid, Vec<FullText>> = BTreeMap::new();
    for event in events {
        for field in FIELDS.into_iter().filter(|field| cut.at_any(event, field)) {
            let proposal = event.call_id.as_deref().and_then(|id| proposals.get(id)).copied();
            let teller = match proposal {
                Some(proposal) if field == "tool_input" => proposal,
                _ => event,
            };
            let seen = cut.best(readback, teller, field)?;
            let locator = seen.as_ref().and_then(SeenAt::locator);
            let told = read(readback, locator.as_ref(), max_bytes)?;
            out.entry(event.id).or_default().push(FullText { field, locator, told });
        }
    }
    Ok(out)
}

fn read(
    readback: &mut ReadBack<'_>,
    locator: Option<&Locator>,
    max_bytes: usize,
) -> Result<Result<ReadText, Unavailable>, ReadError> {
    let Some(locator) = locator else { return Ok(Err(Unavailable::IdentityMismatch)) };
    match readback.text(locator, max_bytes) {
        Ok(text) => Ok(Ok(text)),
        Err(ReadError::Unavailable(reason)) => Ok(Err(reason)),
        Err(other) => Err(other),
    }
}

/// The places at which fields were cut.
struct Cuts<'a>(HashSet<(&'a str, u64, &'a str, &'a str)>);

impl<'a> Cuts<'a> {
    fn of(rows: &'a [LostRow]) -> Self {
        let place = |row: &'a LostRow| {
            let seen = &row.seen;
            (seen.source.as_str(), seen.offset, seen.path.as_str(), row.detail.as_str())
        };
        Self(rows.iter().map(place).collect())
    }

    fn at(&self, seen: &SeenAt, field: &str) -> bool {
        self.0.contains(&(seen.source.as_str(), seen.offset, seen.path.as_str(), field))
    }

    fn at_any(&self, event: &EventRow, field: &str) -> bool {
        event.sightings.iter().any(|seen| self.at(seen, field))
    }

    /// Where a field is best read: where the event is, when it was cut there; else the first
    /// place in a file at which it was; else where the event is.
    fn best(
        &self,
        readback: &ReadBack<'_>,
        event: &EventRow,
        field: &str,
    ) -> Result<Option<SeenAt>, ReadError> {
        let best = readback.best_place(event.id)?;
        if best.as_ref().is_some_and(|seen| self.at(seen, field)) {
            return Ok(best);
        }
        let mut in_files = event.sightings.iter().filter(|seen| seen.is_in_file());
        Ok(in_files.find(|seen| self.at(seen, field)).cloned().or(best))
    }
}
