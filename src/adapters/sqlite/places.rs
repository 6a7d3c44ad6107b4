//! Places: what the store knows of a source, of a byte offset in it, and of the place of an id.
//!
//! Only visible generations count, as everywhere: a locator of rows that a replay replaced is one
//! that the store no longer holds.

use super::forget::SOURCES_OF;
use super::open::SqliteStore;
use super::rows::{KNOWN_SOURCE, known_source, seen_at};
use crate::ports::reader::{LostRow, QuarantineRow, SeenAt, SourceRow};
use crate::ports::recorder::{KnownSource, StoreError};
use rusqlite::params;
use uuid::Uuid;

/// The tables that name a place, with what stands for its path and its index.
const PLACED: [(&str, &str, &str); 6] = [
    ("sighting", "t.path", "t.idx"),
    ("evidence", "t.path", "t.idx"),
    ("claim", "t.path", "t.idx"),
    ("historical_finding", "t.path", "t.idx"),
    ("loss", "t.path", "0"),
    ("quarantine", "''", "0"),
];

/// Leaves out rows `t` of conversations that are being forgotten; quarantined lines have none.
fn stays(table: &str) -> &'static str {
    match table {
        "quarantine" => "",
        "sighting" => {
            "AND t.event NOT IN (SELECT id FROM event
               WHERE conversation IN (SELECT conversation FROM going))"
        }
        _ => "AND NOT EXISTS (SELECT 1 FROM going g WHERE g.conversation = t.conversation)",
    }
}

impl SqliteStore {
    pub(super) fn source_named(&self, name: &str) -> Result<Option<KnownSource>, StoreError> {
        let sql = format!("{KNOWN_SOURCE} WHERE path = ?1 ORDER BY kind LIMIT 1");
        Ok(self.all(&sql, [name], known_source)?.pop())
    }

    pub(super) fn sources_that_tell(
        &self,
        conversation: i64,
    ) -> Result<Vec<SourceRow>, StoreError> {
        let sql = format!(
            "SELECT path, kind, state FROM source WHERE id IN ({SOURCES_OF}) ORDER BY path, kind"
        );
        self.all(&sql, [conversation], |row| {
            Ok(SourceRow { source: row.get(0)?, kind: row.get(1)?, state: row.get(2)? })
        })
    }

    pub(super) fn places_at(&self, source: &str, offset: u64) -> Result<Vec<SeenAt>, StoreError> {
        let one = |(table, path, index): &(&str, &str, &str)| {
            format!(
                "SELECT src.path, t.offset, t.length, t.line_hash, {path} AS at, {index} AS nth
                 FROM source src
                 JOIN {table} t ON t.source = src.id AND t.generation = src.generation
                 WHERE src.path = ?1 AND t.offset = ?2 {}",
                stays(table)
            )
        };
        let tables: Vec<String> = PLACED.iter().map(one).collect();
        let sql = format!("{} ORDER BY at, nth", tables.join(" UNION "));
        self.all(&sql, params![source, offset.cast_signed()], |row| seen_at(row, 0))
    }

    pub(super) fn place_of_id(&self, id: Uuid) -> Result<Option<SeenAt>, StoreError> {
        let columns = "src.path, t.offset, t.length, t.line_hash, t.path, t.idx";
        let visible = "JOIN source src ON src.id = t.source AND src.generation = t.generation";
        let best = "ORDER BY src.kind = 'file' DESC, t.rank DESC, src.path, t.offset LIMIT 1";
        let queries = [
            format!(
                "SELECT {columns} FROM event e JOIN sighting t ON t.event = e.id {visible}
                 WHERE e.uid = ?1 {} {best}",
                stays("sighting")
            ),
            format!(
                "SELECT {columns} FROM evidence t {visible} WHERE t.uid = ?1 {} {best}",
                stays("evidence")
            ),
            format!(
                "SELECT {columns} FROM claim t {visible} WHERE t.uid = ?1 {}
                 ORDER BY src.kind = 'file' DESC, src.path, t.offset LIMIT 1",
                stays("claim")
            ),
        ];
        for sql in queries {
            let found = self.all(&sql, [id.as_bytes()], |row| seen_at(row, 0))?;
            if let Some(place) = found.into_iter().next() {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    pub(super) fn quarantined(
        &self,
        conversation: Option<i64>,
    ) -> Result<Vec<QuarantineRow>, StoreError> {
        self.all(
            "SELECT src.path, q.offset, q.length, q.line_hash, '', 0, q.reason, c.key
             FROM quarantine q
             JOIN source src ON src.id = q.source AND src.generation = q.generation
             LEFT JOIN loss l ON l.source = q.source AND l.generation = q.generation
               AND l.offset = q.offset AND l.reason = 'line_unparseable'
             LEFT JOIN conversation c ON c.id = l.conversation
             WHERE (?1 IS NULL OR l.conversation = ?1)
               AND NOT EXISTS (SELECT 1 FROM going g WHERE g.conversation = l.conversation)
             ORDER BY src.path, q.offset",
            [conversation],
            |row| {
                Ok(QuarantineRow {
                    seen: seen_at(row, 0)?,
                    reason: row.get(6)?,
                    conversation: row.get(7)?,
                })
            },
        )
    }

    pub(super) fn lost_places(
        &self,
        conversation: Option<i64>,
        reason: &str,
    ) -> Result<Vec<LostRow>, StoreError> {
        self.all(
            "SELECT src.path, l.offset, l.length, l.line_hash, l.path, 0, l.reason, l.detail
             FROM loss l
             JOIN source src ON src.id = l.source AND src.generation = l.generation
             WHERE l.reason = ?2 AND (?1 IS NULL OR l.conversation = ?1)
               AND NOT EXISTS (SELECT 1 FROM going g WHERE g.conversation = l.conversation)
             ORDER BY src.path, l.offset, l.path, l.detail",
            params![conversation, reason],
            |row| Ok(LostRow { seen: seen_at(row, 0)?, reason: row.get(6)?, detail: row.get(7)? }),
        )
    }
}
