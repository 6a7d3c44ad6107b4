//! The writing side of the store: one transaction for rows, watermark and journal position.
//!
//! Sources and their watermarks are kept here; `writer` makes the rows of a batch.

use super::forget;
use super::open::{SqliteStore, map};
use super::rows::{KNOWN_SOURCE, digest, known_source};
use super::writer::Writer;
use crate::base::crash;
use crate::base::hash::Digest;
use crate::base::limits::WRITE_LOCK_HOLD;
use crate::ports::recorder::{
    Appended, Batch, Expect, ForgottenFiles, KnownSource, Recorder, SegmentPosition, SourceMove,
    SourceSpec, StoreError, Watermark,
};
use rusqlite::{OptionalExtension as _, Transaction, TransactionBehavior, params};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Instant;

/// Among what was ignored of a source: records of forgotten conversations.
const FORGOTTEN: &str = "forgotten";

impl Recorder for SqliteStore {
    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn sources(&mut self) -> Result<Vec<KnownSource>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached(&format!("{KNOWN_SOURCE} WHERE kind = 'file'"))
            .map_err(map)?;
        let rows = statement.query_map([], known_source).map_err(map)?;
        rows.collect::<Result<_, _>>().map_err(map)
    }

    fn forgotten_files(&mut self) -> Result<ForgottenFiles, StoreError> {
        let sql = "SELECT path_hash, head_bytes, head_hash FROM forgotten_source";
        let rows = self.all(sql, [], |row| {
            let head = (row.get::<_, i64>(1)?.cast_unsigned(), digest(row, 2)?);
            Ok((digest(row, 0)?, head))
        })?;
        let known = |(path, (bytes, head)): (Option<Digest>, (u64, Option<Digest>))| {
            Some((path?, head.map(|head| (bytes, head))))
        };
        Ok(rows.into_iter().filter_map(known).collect())
    }

    fn source_state(&mut self, id: i64) -> Result<Value, StoreError> {
        let text: Option<String> = self
            .conn
            .prepare_cached("SELECT decoder_state FROM source WHERE id = ?1")
            .and_then(|mut s| s.query_row([id], |r| r.get(0)).optional())
            .map_err(map)?
            .flatten();
        // A state that does not parse is none: the source is read again.
        Ok(text.and_then(|t| serde_json::from_str(&t).ok()).unwrap_or(Value::Null))
    }

    fn append(
        &mut self,
        batches: &[Batch],
        position: Option<&SegmentPosition>,
    ) -> Result<Appended, StoreError> {
        self.append_inner(batches, position)
    }

    fn segment_offset(&mut self, segment: &str) -> Result<u64, StoreError> {
        let offset: Option<i64> = self
            .conn
            .query_row("SELECT offset FROM journal_segment WHERE name = ?1", [segment], |r| {
                r.get(0)
            })
            .optional()
            .map_err(map)?;
        Ok(offset.map_or(0, i64::cast_unsigned))
    }

    fn forget_segments(&mut self) -> Result<(), StoreError> {
        // Mostly there are none, and asking takes no lock.
        let any = "SELECT EXISTS (SELECT 1 FROM journal_segment)";
        if self.conn.query_row(any, [], |r| r.get(0)).map_err(map)? {
            self.conn.execute("DELETE FROM journal_segment", []).map_err(map)?;
        }
        Ok(())
    }

    fn keep_derived(&mut self, name: &str, stamp: &Digest, value: &str) -> Result<(), StoreError> {
        let tx =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(map)?;
        // Worked out from rows that were forgotten meanwhile, it would bring them back.
        if super::usage::stamp(&tx).map_err(map)? == *stamp {
            tx.execute(
                "INSERT OR REPLACE INTO derived (name, stamp, value) VALUES (?1, ?2, ?3)",
                params![name, stamp.as_bytes(), value],
            )
            .map_err(map)?;
        }
        tx.commit().map_err(map)
    }

    fn mark_sources(&mut self, ids: &[i64], state: &str) -> Result<(), StoreError> {
        let tx =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(map)?;
        for id in ids {
            tx.prepare_cached("UPDATE source SET state = ?2 WHERE id = ?1")
                .and_then(|mut s| s.execute(params![id, state]))
                .map_err(map)?;
        }
        tx.commit().map_err(map)
    }

    fn move_sources(&mut self, moves: &[SourceMove]) -> Result<(), StoreError> {
        self.source_ids.clear();
        let tx =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(map)?;
        let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
            tx.prepare_cached(sql).and_then(|mut s| s.execute(values)).map_err(map)
        };
        // Out of the way first: a path is free once its file's source has left it.
        let mut moving = Vec::new();
        for step in moves {
            let aside = format!("moving:{}", step.id);
            let left = run(
                "UPDATE source SET path = ?3 WHERE id = ?1 AND path = ?2",
                &[&step.id, &step.from, &aside],
            )?;
            if left > 0 {
                moving.push(step);
            }
        }
        for step in moving {
            let arrived = run(
                "UPDATE OR IGNORE source SET path = ?2, state = 'active' WHERE id = ?1",
                &[&step.id, &step.to],
            )?;
            if arrived == 0 {
                run("UPDATE source SET path = ?2 WHERE id = ?1", &[&step.id, &step.from])?;
            }
        }
        tx.commit().map_err(map)
    }

    fn same_payload(
        &mut self,
        payload_hash: &Digest,
        at_us: i64,
        window_us: i64,
    ) -> Result<Option<String>, StoreError> {
        self.conn
            .prepare_cached(
                "SELECT native_id FROM sighting
                 WHERE native_space = 'payload' AND line_hash = ?1
                   AND offset BETWEEN ?2 - ?3 AND ?2 + ?3
                 ORDER BY offset, native_id LIMIT 1",
            )
            .and_then(|mut s| {
                s.query_row(params![payload_hash.as_bytes(), at_us, window_us], |r| r.get(0))
                    .optional()
            })
            .map_err(map)
    }
}

impl SqliteStore {
    /// Ids hold for one transaction: another process can forget what they stand for.
    fn let_go_of_ids(&mut self) {
        self.source_ids.clear();
        self.conversation_ids.clear();
    }

    fn append_inner(
        &mut self,
        batches: &[Batch],
        position: Option<&SegmentPosition>,
    ) -> Result<Appended, StoreError> {
        let mut begun = Instant::now();
        let mut appended = Appended::default();
        self.let_go_of_ids();
        let mut tx =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(map)?;
        crash::point("batch-begun");
        for (index, batch) in batches.iter().enumerate() {
            if position.is_none() && begun.elapsed() > WRITE_LOCK_HOLD / 2 {
                // Half of it: the batch that follows takes its time too.
                // Between two batches the lock is given to whoever waits for it.
                tx.commit().map_err(map)?;
                begun = Instant::now();
                self.let_go_of_ids();
                tx = self
                    .conn
                    .transaction_with_behavior(TransactionBehavior::Immediate)
                    .map_err(map)?;
            }
            let held = source_id(&tx, &mut self.source_ids, batch)?;
            let held = match held {
                Some(held) if expected(&tx, held.0, batch)? => held,
                _ => {
                    appended.overtaken.push(index);
                    continue;
                }
            };
            let (source, current) = held;
            let generation = if batch.generation == 0 { current } else { batch.generation };
            let ids = &mut self.conversation_ids;
            let mut writer = Writer::new(&tx, ids, source, generation, batch.ingress.as_str());
            if batch.fresh {
                // Replays that were never finished.
                writer.sweep_all_but(current)?;
                // A replay counts what it ignores anew.
                writer.run(
                    "UPDATE source SET begun = ?2, ignored = '{}' WHERE id = ?1",
                    [source, generation],
                )?;
            }
            if batch.watermark.is_some() {
                writer.retract_torn()?;
            }
            for record in &batch.records {
                writer.record(record)?;
            }
            writer.flush_deltas()?;
            writer.settle_touched()?;
            crash::point("batch-rows");
            if batch.flip {
                writer.flip()?;
                self.source_ids.remove(&source_key(&batch.source));
            }
            appended.inserted += writer.appended.inserted;
            appended.known += writer.appended.known;
            let dropped = writer.appended.forgotten;
            save_ignored(&tx, source, batch, dropped.total())?;
            if let Some(mark) = &batch.watermark {
                let only_forgotten = mark.complete && !dropped.is_empty();
                if only_forgotten && !forget::tells_of_anything(&tx, source)? {
                    forget::retire(&tx, source, Some(mark))?;
                    self.source_ids.remove(&source_key(&batch.source));
                } else {
                    let keeps = !forget::remembers_forgotten(
                        &tx,
                        &self.namespace,
                        &batch.source.provider,
                        &mark.state,
                    )?;
                    let state = keeps.then(|| mark.state.to_string());
                    save_watermark(&tx, source, &batch.source, mark, state)?;
                }
            }
            appended.forgotten.merge(&dropped);
        }
        if let Some(position) = position {
            tx.prepare_cached(
                "INSERT INTO journal_segment (name, offset) VALUES (?1, ?2)
                 ON CONFLICT (name) DO UPDATE SET offset = excluded.offset",
            )
            .and_then(|mut s| s.execute(params![position.segment, position.offset.cast_signed()]))
            .map_err(map)?;
        }
        crash::point("batch-complete");
        tx.commit().map_err(map)?;
        crash::point("batch-committed");
        Ok(appended)
    }
}

/// Whether the source still is where a batch goes on from.
fn expected(tx: &Transaction<'_>, source: i64, batch: &Batch) -> Result<bool, StoreError> {
    if batch.expect == Expect::Nothing {
        return Ok(true);
    }
    let (generation, begun, offset, read): (i64, i64, i64, bool) = tx
        .prepare_cached(
            "SELECT generation, begun, offset, chain IS NOT NULL FROM source WHERE id = ?1",
        )
        .and_then(|mut s| {
            s.query_row([source], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)))
        })
        .map_err(map)?;
    Ok(match batch.expect {
        Expect::Nothing => true,
        Expect::Unread => !read,
        Expect::At { generation: at, offset: from } => {
            read && generation == at && offset == from.cast_signed()
        }
        Expect::Replay if batch.fresh => batch.generation > begun,
        Expect::Replay => batch.generation == begun && begun > generation,
    })
}

fn source_key(spec: &SourceSpec) -> (String, String) {
    (spec.kind.to_owned(), spec.path.clone())
}

/// The row of a source and its current generation, made when new. Where the batch goes on from an
/// earlier one and the source is not there any more (it was moved), none.
fn source_id(
    tx: &Transaction<'_>,
    cache: &mut HashMap<(String, String), (i64, i64)>,
    batch: &Batch,
) -> Result<Option<(i64, i64)>, StoreError> {
    let spec = &batch.source;
    let key = source_key(spec);
    if let Some(held) = cache.get(&key) {
        return Ok(Some(*held));
    }
    if matches!(batch.expect, Expect::Nothing | Expect::Unread) {
        make_source(tx, spec)?;
    }
    let held = tx
        .prepare_cached("SELECT id, generation FROM source WHERE kind = ?1 AND path = ?2")
        .and_then(|mut s| {
            s.query_row(params![spec.kind, spec.path], |r| Ok((r.get(0)?, r.get(1)?))).optional()
        })
        .map_err(map)?;
    if let Some(held) = held {
        cache.insert(key, held);
    }
    Ok(held)
}

fn make_source(tx: &Transaction<'_>, spec: &SourceSpec) -> Result<(), StoreError> {
    tx.prepare_cached(
        "INSERT INTO source (kind, format, provider, path) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (kind, path) DO UPDATE SET format = excluded.format,
           provider = excluded.provider WHERE excluded.format <> ''",
    )
    .and_then(|mut s| s.execute(params![spec.kind, spec.format, spec.provider, spec.path]))
    .map_err(map)
    .map(|_| ())
}

fn save_watermark(
    tx: &Transaction<'_>,
    source: i64,
    spec: &SourceSpec,
    mark: &Watermark,
    decoder_state: Option<String>,
) -> Result<(), StoreError> {
    let state = if spec.format.is_empty() { "not_recognised" } else { "active" };
    // What a decoder remembers of a forgotten conversation is content: without a state the source
    // is read again from the start when it grows.
    tx.prepare_cached(
        "UPDATE source SET format = ?16, provider = ?17, state = ?2, device = ?3, inode = ?4, size = ?5, modified_ns = ?6,
           changed_ns = ?7, offset = ?8, lines = ?9, chain = ?10, head_hash = ?11,
           tail_hash = ?12, decoder = ?13, complete = ?15,
           decoder_state = iif(json_extract(ignored, '$.forgotten') > 0, NULL, ?14),
           settled = ?18
         WHERE id = ?1",
    )
    .and_then(|mut s| {
        s.execute(params![
            source,
            state,
            mark.stat.device.cast_signed(),
            mark.stat.inode.cast_signed(),
            mark.stat.size.cast_signed(),
            mark.stat.modified_ns,
            mark.stat.changed_ns,
            mark.offset.cast_signed(),
            mark.lines.cast_signed(),
            mark.chain.as_bytes(),
            mark.windows.as_ref().map(|w| w.head.as_bytes()),
            mark.windows.as_ref().map(|w| w.tail.as_bytes()),
            mark.decoder,
            decoder_state,
            mark.complete,
            spec.format,
            spec.provider,
            mark.stat.settled
        ])
    })
    .map_err(map)
    .map(|_| ())
}

fn save_ignored(
    tx: &Transaction<'_>,
    source: i64,
    batch: &Batch,
    forgotten: u64,
) -> Result<(), StoreError> {
    if batch.ignored.is_empty() && forgotten == 0 {
        return Ok(());
    }
    let held: String = tx
        .prepare_cached("SELECT ignored FROM source WHERE id = ?1")
        .and_then(|mut s| s.query_row([source], |r| r.get(0)))
        .map_err(map)?;
    let mut tally: crate::domain::record::Tally = serde_json::from_str(&held).unwrap_or_default();
    tally.merge(&batch.ignored);
    if forgotten > 0 {
        tally.add(FORGOTTEN, forgotten);
    }
    let text = serde_json::to_string(&tally).map_err(other)?;
    tx.prepare_cached("UPDATE source SET ignored = ?2 WHERE id = ?1")
        .and_then(|mut s| s.execute(params![source, text]))
        .map_err(map)
        .map(|_| ())
}

pub(super) fn other(error: serde_json::Error) -> StoreError {
    StoreError::Other(error.to_string())
}
