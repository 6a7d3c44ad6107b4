//! Queries: stable order, only visible generations, bad rows set aside by id.

use super::fold::{Said, best_first, fold, keep_heard};
use super::open::{SqliteStore, map};
use super::rows::{json, json_opt, seen_at, uuid};
use super::streams::{self, LEFT_OUT, Ranked};
use crate::base::hash::Digest;
use crate::base::ids;
use crate::domain::capability::RuntimeCapabilities;
use crate::ports::reader::{
    AdditiveRow, CapabilityRow, ClaimRow, ConversationRow, EventRow, EvidenceRow, FailedRow,
    HistoricalFindingRow, LossRow, LostRow, QuarantineRow, Reader, Rows, SeenAt, SourceRow,
    UsageReports,
};
use crate::ports::recorder::{KnownSource, StoreError};
use rusqlite::{Params, Row};
use serde_json::Value;
use std::collections::BTreeMap;
use uuid::Uuid;

const CONVERSATION: &str = "SELECT c.id, c.key, c.provider, c.native_id,
    (SELECT related_key FROM visible_lineage l WHERE l.conversation = c.id
     AND relation = 'parent' ORDER BY hearsay, related_key LIMIT 1),
    (SELECT value FROM visible_fact f WHERE f.conversation = c.id AND name = 'cwd'
     ORDER BY hearsay, first_us, value LIMIT 1),
    (SELECT value FROM visible_fact f WHERE f.conversation = c.id AND name = 'title'
     ORDER BY hearsay, last_us DESC, value LIMIT 1),
    (SELECT group_concat(value, char(31)) FROM (SELECT value FROM visible_fact f
     WHERE f.conversation = c.id AND name = 'model' GROUP BY value ORDER BY min(first_us), value)),
    (SELECT value FROM visible_fact f WHERE f.conversation = c.id AND name = 'agent_version'
     ORDER BY hearsay, last_us DESC, value DESC LIMIT 1),
    c.first_us, c.last_us, iif(x.events IS NULL, c.events, c.events - x.events),
    iif(x.events IS NULL, c.failed_calls, c.failed_calls - x.failed_calls), c.losses,
    (SELECT related_key FROM visible_lineage l WHERE l.conversation = c.id
     AND relation = 'fork' ORDER BY hearsay, related_key LIMIT 1),
    (SELECT count(*) FROM event e WHERE e.conversation = c.id AND e.kind = 'user_prompt_submit'
     AND NOT EXISTS (SELECT 1 FROM copied k WHERE k.event = e.id)) - coalesce(x.prompts, 0),
    (SELECT s.text FROM event e JOIN sighting s ON s.event = e.id
     JOIN source src ON src.id = s.source AND src.generation = s.generation
     WHERE e.conversation = c.id AND e.kind = 'user_prompt_submit' AND s.text IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM copied k WHERE k.event = e.id)
     ORDER BY e.order_us, s.rank DESC, s.text LIMIT 1),
    (SELECT position FROM visible_lineage l WHERE l.conversation = c.id
     AND relation = 'fork' ORDER BY hearsay, related_key, position IS NULL, position LIMIT 1),
    (SELECT value FROM visible_fact f WHERE f.conversation = c.id AND name = 'agent_nickname'
     ORDER BY hearsay, first_us, value LIMIT 1),
    (SELECT value FROM visible_fact f WHERE f.conversation = c.id AND name = 'agent_role'
     ORDER BY hearsay, first_us, value LIMIT 1),
    (SELECT value FROM visible_fact f WHERE f.conversation = c.id AND name = 'agent_path'
     ORDER BY hearsay, first_us, value LIMIT 1) FROM conversation c ";

/// Leaves out conversations `c` that are being forgotten.
const STAYS: &str = "c.id NOT IN (SELECT conversation FROM going)";

/// One sighting with what it states, before folding.
struct Sighting {
    uid: Uuid,
    rank: i64,
    content_hash: Vec<u8>,
    row: EventRow,
}

impl Reader for SqliteStore {
    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn conversations(&self) -> Result<Rows<ConversationRow>, StoreError> {
        let order = "c.last_us IS NULL, c.last_us DESC, c.key";
        let sql = format!("{CONVERSATION}{LEFT_OUT} WHERE {STAYS} ORDER BY {order}");
        self.isolated(&sql, [], |row| row.get::<_, i64>(0).map(|id| id.to_string()), conversation)
    }

    fn children(&self, key: &str) -> Result<Vec<ConversationRow>, StoreError> {
        let sql = format!(
            "{CONVERSATION}{LEFT_OUT} WHERE c.id IN (SELECT conversation FROM visible_lineage
               WHERE related_key = ?1 AND relation = 'parent') AND {STAYS}
             ORDER BY c.last_us DESC, c.key"
        );
        self.all(&sql, [key], conversation)
    }

    fn prompts(&self, each: &mut dyn FnMut(i64, &str)) -> Result<(), StoreError> {
        let mut statement = self
            .conn
            .prepare_cached(
                "SELECT e.conversation, s.text FROM event e JOIN sighting s ON s.event = e.id
                 JOIN source src ON src.id = s.source AND src.generation = s.generation
                 WHERE e.kind = 'user_prompt_submit' AND s.text IS NOT NULL
                   AND e.conversation NOT IN (SELECT conversation FROM going)
                   AND NOT EXISTS (SELECT 1 FROM copied k WHERE k.event = e.id)",
            )
            .map_err(map)?;
        let mut rows = statement.query([]).map_err(map)?;
        while let Some(row) = rows.next().map_err(map)? {
            let id = row.get(0).map_err(map)?;
            each(id, row.get_ref(1).ok().and_then(|v| v.as_str().ok()).unwrap_or_default());
        }
        Ok(())
    }

    fn find_conversations(&self, word: &str) -> Result<Vec<ConversationRow>, StoreError> {
        if word.starts_with(super::imported::ALIAS) {
            let sql = format!("{CONVERSATION}{LEFT_OUT} {}", super::imported::NAMED);
            return self.all(&sql, [word], conversation);
        }
        let exact = format!(
            "{CONVERSATION}{LEFT_OUT} WHERE (c.key = ?1 OR c.native_id = ?1) AND {STAYS} ORDER BY c.key"
        );
        let found = self.all(&exact, [word], conversation)?;
        if !found.is_empty() || word.is_empty() {
            return Ok(found);
        }
        let prefix = format!(
            "{CONVERSATION}{LEFT_OUT} WHERE substr(c.native_id, 1, length(?1)) = ?1 AND {STAYS}
             ORDER BY c.key LIMIT 20"
        );
        self.all(&prefix, [word], conversation)
    }

    fn events(&self, conversation: i64) -> Result<Rows<EventRow>, StoreError> {
        let sightings = self.isolated(
            "SELECT e.uid, s.rank, s.content_hash, c.provider, c.native_id, e.kind, s.turn_id,
                    s.call_id, s.agent_id, s.outcome, s.tool_name, s.tool_input, s.tool_response,
                    s.text, s.raw, s.observed_at, s.clock_source, s.order_us, e.heuristic,
                    src.path, s.offset, s.length, s.line_hash, s.path, s.idx, s.ingress
             FROM event e JOIN conversation c ON c.id = e.conversation
             JOIN sighting s ON s.event = e.id
             JOIN source src ON src.id = s.source AND src.generation = s.generation
             WHERE e.conversation = ?1
               AND NOT EXISTS (SELECT 1 FROM copied k WHERE k.event = e.id)
             ORDER BY e.uid",
            [conversation],
            |row| uuid(row, 0).map(|id| id.to_string()),
            sighting,
        )?;
        let mut by_event: BTreeMap<Uuid, Vec<Sighting>> = BTreeMap::new();
        for found in sightings.rows {
            by_event.entry(found.uid).or_default().push(found);
        }
        let ranked = by_event.into_values().filter_map(|found| {
            let ranks = found.iter().map(|sighting| sighting.rank).collect();
            combine(found).map(|row| Ranked { row, ranks })
        });
        let mut rows = streams::counted(ranked.collect());
        // Within a line in the order in which it tells them.
        let place = |e: &EventRow| {
            e.sightings.first().map(|s| (s.source.clone(), s.offset, s.index)).unwrap_or_default()
        };
        rows.sort_by(|a, b| (a.order_us, place(a), &a.id).cmp(&(b.order_us, place(b), &b.id)));
        Ok(Rows { rows, failed: sightings.failed })
    }

    fn evidence(&self, conversation: i64) -> Result<Rows<EvidenceRow>, StoreError> {
        let found = self.isolated(
            "SELECT e.uid, c.native_id, e.event_uid, e.kind, e.payload, e.provenance,
                    e.provenance_source, e.extension, e.observed_at, e.order_us, e.ingress,
                    src.path, e.offset, e.length, e.line_hash, e.path, e.idx, e.rank
             FROM evidence e JOIN conversation c ON c.id = e.conversation
             JOIN source src ON src.id = e.source AND src.generation = e.generation
             WHERE e.conversation = ?1 AND e.event_uid NOT IN
               (SELECT uid FROM streamed WHERE conversation = ?1 UNION ALL
                SELECT o.uid FROM copied k JOIN event o ON o.id = k.event WHERE k.conversation = ?1)
             ORDER BY e.uid, e.rank DESC, e.payload DESC, src.path, e.offset",
            [conversation],
            |row| uuid(row, 0).map(|id| id.to_string()),
            evidence,
        )?;
        let mut rows = found.rows;
        rows.dedup_by_key(|row| row.id);
        super::imported::once(&mut rows, |e| e.event_id, |e| &e.ingress);
        rows.sort_by(|a, b| (a.order_us, &a.id).cmp(&(b.order_us, &b.id)));
        Ok(Rows { rows, failed: found.failed })
    }

    fn claims(&self, conversation: i64) -> Result<Rows<ClaimRow>, StoreError> {
        let found = self.isolated(
            "SELECT k.uid, c.native_id, k.event_uid, k.turn_id, k.text, k.subject, k.claimed_at,
                    k.order_us, src.path, k.offset, k.length, k.line_hash, k.path, k.idx,
                    k.ingress
             FROM claim k JOIN conversation c ON c.id = k.conversation
             JOIN source src ON src.id = k.source AND src.generation = k.generation
             WHERE k.conversation = ?1 AND k.event_uid NOT IN
               (SELECT uid FROM streamed WHERE conversation = ?1 UNION ALL
                SELECT o.uid FROM copied k JOIN event o ON o.id = k.event WHERE k.conversation = ?1)
             ORDER BY k.uid, src.kind, src.path, k.offset",
            [conversation],
            |row| uuid(row, 0).map(|id| id.to_string()),
            claim,
        )?;
        let mut rows = found.rows;
        rows.dedup_by_key(|row| row.id);
        super::imported::once(&mut rows, |k| k.event_id, |k| &k.ingress);
        rows.sort_by(|a, b| (a.order_us, &a.id).cmp(&(b.order_us, &b.id)));
        Ok(Rows { rows, failed: found.failed })
    }

    fn capabilities(&self, conversation: i64) -> Result<Rows<CapabilityRow>, StoreError> {
        let mut found = self.isolated(
            "SELECT c.key, c.native_id, k.provider, k.schema_version, k.signals, k.notes,
                    k.observed_at
             FROM visible_capability k JOIN conversation c ON c.id = k.conversation
             WHERE k.conversation = ?1
             ORDER BY k.provider, k.hearsay, k.signals DESC, k.notes DESC, k.observed_at",
            [conversation],
            |row| row.get::<_, String>(0),
            capability,
        )?;
        // Of several declarations the greatest by text counts, whatever order they came in.
        found.rows.dedup_by_key(|row| row.id);
        Ok(found)
    }

    fn historical_findings(
        &self,
        conversation: i64,
    ) -> Result<Rows<HistoricalFindingRow>, StoreError> {
        self.imported_findings(conversation)
    }

    fn losses(&self, conversation: Option<i64>) -> Result<Vec<LossRow>, StoreError> {
        self.all(
            "SELECT l.reason, l.detail, sum(l.count), c.key, src.path, min(l.at_us), max(l.at_us)
             FROM loss l JOIN source src ON src.id = l.source AND src.generation = l.generation
             LEFT JOIN conversation c ON c.id = l.conversation
             WHERE (?1 IS NULL OR l.conversation = ?1)
               AND NOT EXISTS (SELECT 1 FROM going g WHERE g.conversation = l.conversation)
             GROUP BY l.reason, l.detail, l.conversation, src.path
             ORDER BY l.reason, 3 DESC, l.detail, src.path",
            [conversation],
            |row| {
                Ok(LossRow {
                    reason: row.get(0)?,
                    detail: row.get(1)?,
                    count: row.get(2)?,
                    conversation: row.get(3)?,
                    source: row.get(4)?,
                    first_us: row.get(5)?,
                    last_us: row.get(6)?,
                })
            },
        )
    }

    fn quarantine(&self, conversation: Option<i64>) -> Result<Vec<QuarantineRow>, StoreError> {
        self.quarantined(conversation)
    }

    fn lost(&self, conversation: Option<i64>, reason: &str) -> Result<Vec<LostRow>, StoreError> {
        self.lost_places(conversation, reason)
    }

    fn sources_of(&self, conversation: i64) -> Result<Vec<SourceRow>, StoreError> {
        self.sources_that_tell(conversation)
    }

    fn source(&self, name: &str) -> Result<Option<KnownSource>, StoreError> {
        self.source_named(name)
    }

    fn places(&self, source: &str, offset: u64) -> Result<Vec<SeenAt>, StoreError> {
        self.places_at(source, offset)
    }

    fn place_of(&self, id: Uuid) -> Result<Option<SeenAt>, StoreError> {
        self.place_of_id(id)
    }

    fn usage(&self) -> Result<UsageReports, StoreError> {
        super::usage::reports(&self.conn, &self.namespace)
    }

    fn usage_stamp(&self) -> Result<Digest, StoreError> {
        super::usage::stamp(&self.conn).map_err(map)
    }

    fn derived(&self, name: &str) -> Result<Option<String>, StoreError> {
        super::usage::derived(&self.conn, name).map_err(map)
    }

    fn usage_places(&self, rows: &[i64]) -> Result<Vec<(i64, SeenAt)>, StoreError> {
        super::usage::places(&self.conn, rows)
    }

    fn additive(&self, conversation: i64) -> Result<Rows<AdditiveRow>, StoreError> {
        let mut out = Rows::default();
        for (kind, sql) in super::additive::QUERIES {
            let found = self.isolated(
                sql,
                [conversation],
                |row| row.get::<_, String>(0),
                |row| super::additive::row(kind, row),
            )?;
            out.rows.extend(found.rows);
            out.failed.extend(found.failed);
        }
        Ok(out)
    }
}

impl SqliteStore {
    pub(super) fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut s| s.query_map(values, |r| read(r))?.collect::<Result<_, _>>())
            .map_err(map)
    }

    /// Every row, a bad one named and set aside.
    pub(super) fn isolated<T>(
        &self,
        sql: &str,
        values: impl Params,
        id: impl Fn(&Row<'_>) -> rusqlite::Result<String>,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Rows<T>, StoreError> {
        let mut statement = self.conn.prepare_cached(sql).map_err(map)?;
        let mut cursor = statement.query(values).map_err(map)?;
        let mut out = Rows::default();
        while let Some(row) = cursor.next().map_err(map)? {
            match read(row) {
                Ok(value) => out.rows.push(value),
                Err(error) => out.failed.push(FailedRow {
                    id: id(row).unwrap_or_else(|_| "<unreadable id>".to_owned()),
                    error: error.to_string(),
                }),
            }
        }
        Ok(out)
    }
}

fn conversation(row: &Row<'_>) -> rusqlite::Result<ConversationRow> {
    let models: Option<String> = row.get(7)?;
    Ok(ConversationRow {
        id: row.get(0)?,
        key: row.get(1)?,
        provider: row.get(2)?,
        native_id: row.get(3)?,
        parent: row.get(4)?,
        cwd: row.get(5)?,
        title: row.get(6)?,
        models: models.map(|m| m.split('\u{1f}').map(str::to_owned).collect()).unwrap_or_default(),
        agent_version: row.get(8)?,
        first_us: row.get(9)?,
        last_us: row.get(10)?,
        events: row.get(11)?,
        failed_calls: row.get(12)?,
        losses: row.get(13)?,
        forked_from: row.get(14)?,
        prompts: row.get(15)?,
        first_prompt: row.get(16)?,
        fork_position: row.get(17)?,
        agent_nickname: row.get(18)?,
        agent_role: row.get(19)?,
        agent_path: row.get(20)?,
    })
}

fn sighting(row: &Row<'_>) -> rusqlite::Result<Sighting> {
    Ok(Sighting {
        uid: uuid(row, 0)?,
        rank: row.get(1)?,
        content_hash: row.get(2)?,
        row: EventRow {
            id: uuid(row, 0)?,
            provider: row.get(3)?,
            native_id: row.get(4)?,
            kind: row.get(5)?,
            turn_id: row.get(6)?,
            call_id: row.get(7)?,
            agent_id: row.get(8)?,
            outcome: row.get(9)?,
            tool_name: row.get(10)?,
            tool_input: json_opt(row, 11)?,
            tool_response: json_opt(row, 12)?,
            text: row.get(13)?,
            raw: json_opt(row, 14)?,
            observed_at: row.get(15)?,
            clock_source: row.get(16)?,
            order_us: row.get(17)?,
            heuristic: row.get(18)?,
            disagrees: false,
            sightings: vec![seen_at(row, 19)?],
            ingress: row.get(25)?,
        },
    })
}

/// One event from its sightings: each field from the best one that states it.
fn combine(mut found: Vec<Sighting>) -> Option<EventRow> {
    best_first(&mut found, |s| (s.rank, &s.content_hash, s.row.order_us));
    let folded = fold(
        found
            .iter()
            .map(|s| Said {
                rank: s.rank,
                content_hash: s.content_hash.clone(),
                outcome: s.row.outcome.clone(),
                order_us: s.row.order_us,
            })
            .collect(),
    );
    let mut sightings: Vec<_> =
        found.iter().flat_map(|s| s.row.sightings.iter().cloned()).collect();
    keep_heard(&mut found, |s| s.rank);
    let mut rest = found.into_iter().map(|s| s.row);
    let mut event = rest.next()?;
    for other in rest {
        event.turn_id = event.turn_id.or(other.turn_id);
        event.call_id = event.call_id.or(other.call_id);
        event.agent_id = event.agent_id.or(other.agent_id);
        event.tool_name = event.tool_name.or(other.tool_name);
        event.tool_input = event.tool_input.or(other.tool_input);
        event.tool_response = event.tool_response.or(other.tool_response);
        event.text = event.text.or(other.text);
        event.raw = event.raw.or(other.raw);
    }
    sightings.sort_by(|a, b| (&a.source, a.offset, &a.path).cmp(&(&b.source, b.offset, &b.path)));
    // The place an answer names first is a file, which can be read back.
    sightings.sort_by_key(|s| !s.is_in_file());
    event.outcome = folded.outcome;
    event.order_us = folded.order_us;
    event.disagrees = folded.disagrees;
    event.sightings = sightings;
    Some(event)
}

fn evidence(row: &Row<'_>) -> rusqlite::Result<EvidenceRow> {
    Ok(EvidenceRow {
        id: uuid(row, 0)?,
        native_id: row.get(1)?,
        event_id: uuid(row, 2)?,
        kind: row.get(3)?,
        payload: json(row, 4)?,
        provenance: row.get(5)?,
        source: json(row, 6)?,
        extension: row.get(7)?,
        observed_at: row.get(8)?,
        order_us: row.get(9)?,
        ingress: row.get(10)?,
        seen: Some(seen_at(row, 11)?),
    })
}

fn claim(row: &Row<'_>) -> rusqlite::Result<ClaimRow> {
    Ok(ClaimRow {
        id: uuid(row, 0)?,
        native_id: row.get(1)?,
        event_id: uuid(row, 2)?,
        turn_id: row.get(3)?,
        text: row.get(4)?,
        subject: row.get(5)?,
        claimed_at: row.get(6)?,
        order_us: row.get(7)?,
        ingress: row.get(14)?,
        seen: Some(seen_at(row, 8)?),
    })
}

fn capability(row: &Row<'_>) -> rusqlite::Result<CapabilityRow> {
    let key: String = row.get(0)?;
    let provider: String = row.get(2)?;
    let signals: Value = json(row, 4)?;
    let notes: Value = json(row, 5)?;
    let version: i64 = row.get(3)?;
    let capabilities: RuntimeCapabilities = serde_json::from_value(serde_json::json!({
        "schema_version": version, "provider": provider, "signals": signals, "notes": notes,
    }))
    .map_err(|e| {
        rusqlite::Error::FromSqlConversionFailure(4, rusqlite::types::Type::Text, Box::new(e))
    })?;
    Ok(CapabilityRow {
        id: ids::derive(&[&key, "capabilities", &provider]),
        native_id: row.get(1)?,
        capabilities,
        observed_at: row.get(6)?,
    })
}
