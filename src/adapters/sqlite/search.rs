//! The full-text index: FTS5 over the sightings' own columns, brought up to date by batches.

use super::open::{SqliteStore, map};
use super::rows::{seen_at, uuid};
use crate::ports::recorder::StoreError;
use crate::ports::search::{Field, Hit, Hits, Indexed, SearchIndex, SearchQuery};
use rusqlite::{Row, TransactionBehavior, params};
use std::collections::HashSet;

/// Sightings that one transaction adds.
const BATCH: i64 = 256;
/// Matching sightings that are looked at: of a very common word, those that were stored last.
const CANDIDATES: i64 = 4096;

impl SearchIndex for SqliteStore {
    fn index_some(&mut self) -> Result<Indexed, StoreError> {
        let tx =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(map)?;
        let from: i64 =
            tx.query_row("SELECT indexed FROM search_state", [], |row| row.get(0)).map_err(map)?;
        let to: Option<i64> = tx
            .prepare_cached(
                "SELECT max(id) FROM (SELECT id FROM sighting WHERE id > ?1 ORDER BY id LIMIT ?2)",
            )
            .and_then(|mut s| s.query_row([from, BATCH], |row| row.get(0)))
            .map_err(map)?;
        let Some(to) = to else { return Ok(Indexed::default()) };
        let added = tx
            .prepare_cached(
                "INSERT INTO search (rowid, said, input, result)
                 SELECT id, said, input, result FROM searchable WHERE id > ?1 AND id <= ?2",
            )
            .and_then(|mut s| s.execute([from, to]))
            .map_err(map)?;
        tx.execute("UPDATE search_state SET indexed = ?1", [to]).map_err(map)?;
        let last: i64 = tx
            .query_row("SELECT coalesce(max(id), 0) FROM sighting", [], |row| row.get(0))
            .map_err(map)?;
        tx.commit().map_err(map)?;
        Ok(Indexed { added: added as u64, left: (last - to).max(0).cast_unsigned() })
    }

    fn drop_index(&mut self) -> Result<(), StoreError> {
        let tx =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(map)?;
        tx.execute_batch(
            "INSERT INTO search (search) VALUES ('delete-all'); UPDATE search_state SET indexed = 0;",
        )
        .map_err(map)?;
        tx.commit().map_err(map)
    }

    fn search(&self, query: &SearchQuery) -> Result<Hits, StoreError> {
        let fields = match query.field {
            Some(field) => vec![field],
            None => Field::ALL.to_vec(),
        };
        let mut found = Vec::new();
        let mut full = false;
        for field in fields {
            let hits = self.matching(query, field)?;
            full |= hits.len() as i64 >= CANDIDATES;
            found.extend(hits);
        }
        found.sort_by(|a, b| {
            (b.at_us, b.event_id, a.seen.source.starts_with("hook:")).cmp(&(
                a.at_us,
                a.event_id,
                b.seen.source.starts_with("hook:"),
            ))
        });
        // An event is told once, by the first of its places; a call's input as well.
        let (mut told, mut inputs) = (HashSet::new(), HashSet::new());
        found.retain(|hit| {
            let call = hit.call_id.clone().filter(|_| hit.field == Field::Input);
            told.insert(hit.event_id)
                && call.is_none_or(|call| inputs.insert((hit.conversation.clone(), call)))
        });
        let more = full || found.len() > query.limit;
        found.truncate(query.limit);
        Ok(Hits { hits: found, more })
    }
}

impl SqliteStore {
    fn matching(&self, query: &SearchQuery, field: Field) -> Result<Vec<Hit>, StoreError> {
        let column = field.as_str();
        let sql = format!(
            "SELECT c.key, c.provider, c.native_id, e.uid, e.kind, s.tool_name, e.order_us,
                    t.{column}, src.path, s.offset, s.length, s.line_hash, s.path, s.idx, s.call_id
             FROM (SELECT rowid AS id FROM search WHERE search MATCH ?1
                   ORDER BY rowid DESC LIMIT {CANDIDATES}) m
             CROSS JOIN sighting s ON s.id = m.id
             CROSS JOIN source src ON src.id = s.source AND src.generation = s.generation
             CROSS JOIN event e ON e.id = s.event
             CROSS JOIN conversation c ON c.id = e.conversation
             CROSS JOIN searchable t ON t.id = s.id
             WHERE NOT EXISTS (SELECT 1 FROM copied k WHERE k.event = e.id)
               AND (?2 IS NULL OR e.conversation = ?2) AND (?3 IS NULL OR c.provider = ?3)
               AND (?4 IS NULL OR e.order_us >= ?4) AND (?5 IS NULL OR e.order_us < ?5)
               AND (?6 IS NULL OR e.kind = ?6)
               AND e.conversation NOT IN (SELECT conversation FROM going)
             LIMIT ?7"
        );
        // Several sightings can be of one event.
        let limit = query.limit.saturating_mul(4).saturating_add(64);
        self.all(
            &sql,
            params![
                expression(query, field),
                query.conversation,
                query.provider,
                query.since_us,
                query.until_us,
                query.kind,
                i64::try_from(limit).unwrap_or(i64::MAX),
            ],
            |row| hit(row, field),
        )
    }
}

/// Every phrase in one column; nothing that was typed is syntax.
fn expression(query: &SearchQuery, field: Field) -> String {
    let phrases = query.phrases.iter().map(|(text, beginning)| {
        let quoted = text.replace('"', "\"\"");
        format!("\"{quoted}\"{}", if *beginning { " *" } else { "" })
    });
    format!("{{{}}} : ({})", field.as_str(), phrases.collect::<Vec<_>>().join(" AND "))
}

fn hit(row: &Row<'_>, field: Field) -> rusqlite::Result<Hit> {
    Ok(Hit {
        conversation: row.get(0)?,
        provider: row.get(1)?,
        native_id: row.get(2)?,
        event_id: uuid(row, 3)?,
        kind: row.get(4)?,
        tool_name: row.get(5)?,
        at_us: row.get(6)?,
        field,
        stored: row.get::<_, Option<String>>(7)?.unwrap_or_default(),
        seen: seen_at(row, 8)?,
        call_id: row.get(14)?,
    })
}
