//! Generations: which rows of a source are the visible ones, and removing the others.
//!
//! A replay writes a generation of its own, which nobody sees; one small step makes it the visible
//! one and removes the rows of the earlier one.

use super::open::map;
use super::writer::Writer;
use crate::ports::recorder::StoreError;
use rusqlite::params;
use std::collections::BTreeSet;

impl Writer<'_> {
    /// Makes this generation the visible one and sweeps the rows of the others.
    pub(super) fn flip(&mut self) -> Result<(), StoreError> {
        self.run(
            "UPDATE source SET generation = ?2 WHERE id = ?1",
            params![self.source, self.generation],
        )?;
        self.sweep("<>")
    }

    /// Deletes this source's rows whose generation compares so with the writer's own.
    pub(super) fn sweep(&mut self, comparison: &str) -> Result<(), StoreError> {
        let place = (self.source, self.generation);
        let of = format!("WHERE source = ?1 AND generation {comparison} ?2");
        let events: BTreeSet<i64> = self
            .tx
            .prepare_cached(&format!("SELECT event FROM sighting {of}"))
            .and_then(|mut s| s.query_map(place, |r| r.get(0))?.collect::<Result<_, _>>())
            .map_err(map)?;
        self.uncount_losses(&of)?;
        for table in ["sighting", "evidence", "claim", "usage", "loss", "quarantine"] {
            self.run(&format!("DELETE FROM {table} {of}"), place)?;
        }
        for event in events {
            self.refold(event)?;
        }
        self.flush_deltas()
    }

    /// Takes losses that are about to be deleted out of their conversations' counters.
    fn uncount_losses(&mut self, of: &str) -> Result<(), StoreError> {
        let counts: Vec<(i64, i64)> = self
            .tx
            .prepare_cached(&format!(
                "SELECT conversation, count(*) FROM loss {of} AND conversation IS NOT NULL
                 GROUP BY conversation"
            ))
            .and_then(|mut s| {
                s.query_map(params![self.source, self.generation], |r| Ok((r.get(0)?, r.get(1)?)))?
                    .collect::<Result<_, _>>()
            })
            .map_err(map)?;
        for (id, count) in counts {
            self.deltas.entry(id).or_default().losses -= count;
        }
        Ok(())
    }

    /// A torn last line is judged anew by every read.
    pub(super) fn retract_torn(&mut self) -> Result<(), StoreError> {
        let of = "WHERE source = ?1 AND generation = ?2 AND reason = 'line_torn'";
        self.uncount_losses(of)?;
        self.run(&format!("DELETE FROM loss {of}"), params![self.source, self.generation])?;
        Ok(())
    }
}
