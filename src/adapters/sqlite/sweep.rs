//! Generations: which rows of a source are the visible ones, and removing the others.
//!
//! A replay writes a generation of its own, which nobody sees; one small step makes it the visible
//! one and removes the rows of the earlier one.

use super::open::map;
use super::writer::Writer;
use crate::base::crash;
use crate::ports::recorder::StoreError;
use rusqlite::params;
use std::collections::BTreeSet;

/// Tables whose rows belong to a generation of a source.
pub(super) const SWEPT: &[&str] = &[
    "sighting",
    "evidence",
    "claim",
    "usage",
    "loss",
    "quarantine",
    "fact",
    "capability",
    "lineage",
    "alias",
    "historical_finding",
    "chain_head",
];

impl Writer<'_> {
    /// Makes this generation the visible one and sweeps the rows of the others.
    pub(super) fn flip(&mut self) -> Result<(), StoreError> {
        self.run(
            "UPDATE source SET generation = ?2 WHERE id = ?1",
            params![self.source, self.generation],
        )?;
        crash::point("flip-set");
        self.sweep_all_but(self.generation)
    }

    /// Deletes this source's rows of every generation but one.
    pub(super) fn sweep_all_but(&mut self, kept: i64) -> Result<(), StoreError> {
        crash::point("sweep-begun");
        let place = (self.source, kept);
        let of = "WHERE source = ?1 AND generation <> ?2";
        let events: BTreeSet<i64> = self
            .tx
            .prepare_cached(&format!("SELECT event FROM sighting {of}"))
            .and_then(|mut s| s.query_map(place, |r| r.get(0))?.collect::<Result<_, _>>())
            .map_err(map)?;
        let mut conversations = BTreeSet::new();
        for table in ["evidence", "claim", "usage", "loss", "fact", "capability", "lineage"] {
            let sql = format!("SELECT DISTINCT conversation FROM {table} {of}");
            let found: BTreeSet<Option<i64>> = self
                .tx
                .prepare_cached(&sql)
                .and_then(|mut s| s.query_map(place, |r| r.get(0))?.collect::<Result<_, _>>())
                .map_err(map)?;
            conversations.extend(found.into_iter().flatten());
        }
        self.uncount_losses(of, kept)?;
        for table in SWEPT {
            self.run(&format!("DELETE FROM {table} {of}"), place)?;
        }
        crash::point("sweep-deleted");
        for event in events {
            self.refold(event)?;
        }
        crash::point("sweep-folded");
        conversations.extend(self.deltas.keys());
        self.flush_deltas()?;
        self.drop_empty(&conversations)?;
        self.settle_source(conversations)
    }

    /// Removes conversations of which nothing is left.
    fn drop_empty(&mut self, conversations: &BTreeSet<i64>) -> Result<(), StoreError> {
        for id in conversations {
            let gone = self.run(
                "DELETE FROM conversation WHERE id = ?1
                   AND id NOT IN (SELECT conversation FROM going)
                   AND NOT EXISTS (SELECT 1 FROM event WHERE conversation = ?1)
                   AND NOT EXISTS (SELECT 1 FROM evidence WHERE conversation = ?1)
                   AND NOT EXISTS (SELECT 1 FROM claim WHERE conversation = ?1)
                   AND NOT EXISTS (SELECT 1 FROM usage WHERE conversation = ?1)
                   AND NOT EXISTS (SELECT 1 FROM loss WHERE conversation = ?1)
                   AND NOT EXISTS (SELECT 1 FROM fact WHERE conversation = ?1)
                   AND NOT EXISTS (SELECT 1 FROM capability WHERE conversation = ?1)
                   AND NOT EXISTS (SELECT 1 FROM lineage WHERE conversation = ?1)
                   AND NOT EXISTS (SELECT 1 FROM alias WHERE conversation = ?1)
                   AND NOT EXISTS (SELECT 1 FROM historical_finding WHERE conversation = ?1)",
                [id],
            )?;
            if gone {
                self.conversations.retain(|_, held| *held != Some(*id));
            }
        }
        Ok(())
    }

    /// Takes losses that are about to be deleted out of their conversations' counters.
    fn uncount_losses(&mut self, of: &str, generation: i64) -> Result<(), StoreError> {
        let counts: Vec<(i64, i64)> = self
            .tx
            .prepare_cached(&format!(
                "SELECT conversation, count(*) FROM loss {of} AND conversation IS NOT NULL
                 GROUP BY conversation"
            ))
            .and_then(|mut s| {
                s.query_map(params![self.source, generation], |r| Ok((r.get(0)?, r.get(1)?)))?
                    .collect::<Result<_, _>>()
            })
            .map_err(map)?;
        for (id, count) in counts {
            self.deltas.entry(id).or_default().losses -= count;
        }
        Ok(())
    }

    /// A torn last line is judged anew by every read, and a source that is read is not unreadable.
    pub(super) fn retract_torn(&mut self) -> Result<(), StoreError> {
        let of = "WHERE source = ?1 AND generation = ?2
                    AND reason IN ('line_torn', 'source_unreadable', 'source_vanished')";
        self.uncount_losses(of, self.generation)?;
        self.run(&format!("DELETE FROM loss {of}"), params![self.source, self.generation])?;
        Ok(())
    }
}
