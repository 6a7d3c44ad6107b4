//! Rows by table, a bad one among the others: damage costs the rows it holds and no more.

use super::record::{self, Cell, Fields};
use crate::base::limits::HOOK_PAYLOAD_BYTES_MAX;
use crate::ports::legacy::{LegacyDatabase, LegacyRow, LegacyTable, LegacyTold};
use crate::ports::recorder::StoreError;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

/// Rows read by one query; between two the position is known.
const CHUNK_ROWS: usize = 256;
/// Text after which a query ends early, so that long rows are not gathered.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// An open database and the columns that its schema version has.
pub(super) struct Database {
    conn: Connection,
    columns: Vec<(LegacyTable, Vec<String>)>,
    log_unread: bool,
}

/// Rows that one query gave.
struct Chunk {
    rows: Vec<LegacyRow>,
    /// The table ends here.
    ended: bool,
    /// What broke off behind the last row.
    error: Option<rusqlite::Error>,
}

/// What a seek behind damage found.
enum Next {
    Row(i64),
    End,
    Damaged,
}

impl Database {
    pub(super) fn new(
        conn: Connection,
        columns: Vec<(LegacyTable, Vec<String>)>,
        log_unread: bool,
    ) -> Self {
        Self { conn, columns, log_unread }
    }

    fn columns(&self, table: LegacyTable) -> &[String] {
        let found = self.columns.iter().find(|(held, _)| *held == table);
        found.map(|(_, columns)| columns.as_slice()).unwrap_or_default()
    }

    /// The rows behind `last`, at most a chunk of them.
    fn chunk(&self, sql: &str, last: i64, read: &dyn Fn(&Row<'_>) -> LegacyRow) -> Chunk {
        let mut found = Vec::new();
        let mut run = || -> rusqlite::Result<bool> {
            let mut statement = self.conn.prepare_cached(sql)?;
            let mut rows = statement.query([last])?;
            let mut bytes = 0;
            while let Some(row) = rows.next()? {
                let row = read(row);
                bytes += size(&row);
                found.push(row);
                if found.len() == CHUNK_ROWS || bytes > CHUNK_BYTES {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        let (ended, error) = match run() {
            Ok(ended) => (ended, None),
            Err(error) => (false, Some(error)),
        };
        Chunk { rows: found, ended, error }
    }

    /// The first row at or behind `from`.
    fn seek(&self, table: LegacyTable, from: i64) -> Next {
        let sql = format!(
            "SELECT rowid FROM {} NOT INDEXED WHERE rowid >= ?1 ORDER BY rowid LIMIT 1",
            table.name()
        );
        let found = self.conn.prepare_cached(&sql).and_then(|mut s| {
            let mut rows = s.query([from])?;
            rows.next()?.map(|row| row.get(0)).transpose()
        });
        match found {
            Ok(Some(rowid)) => Next::Row(rowid),
            Ok(None) => Next::End,
            Err(_) => Next::Damaged,
        }
    }

    /// The nearest row id behind `last` at which the table can be read again; none when nothing
    /// behind it can.
    fn behind_damage(&self, table: LegacyTable, last: i64) -> Option<i64> {
        let mut step = 1_i64;
        let mut bad = last;
        let mut good = loop {
            let probe = last.checked_add(step)?;
            match self.seek(table, probe) {
                Next::Damaged => bad = probe,
                Next::Row(_) => break probe,
                Next::End => return None,
            }
            step = step.checked_mul(2)?;
        };
        while good - bad > 1 {
            let middle = bad + (good - bad) / 2;
            match self.seek(table, middle) {
                Next::Damaged => bad = middle,
                Next::Row(_) | Next::End => good = middle,
            }
        }
        Some(good)
    }

    fn query(&self, table: LegacyTable) -> Option<String> {
        let has = |name: &str| self.columns(table).iter().any(|held| held == name);
        if !record::needs(table).iter().all(|name| has(name)) {
            return None;
        }
        let mut chosen = vec!["t.rowid".to_owned()];
        for name in record::columns(table) {
            chosen.push(if has(name) { format!("t.{name}") } else { "NULL".to_owned() });
        }
        let join = match table {
            LegacyTable::Evidence | LegacyTable::Claims => {
                "LEFT JOIN agent_events e ON e.id = t.source_event_id"
            }
            LegacyTable::Findings => {
                "LEFT JOIN claims c ON c.id = t.claim_id
                 LEFT JOIN agent_events e ON e.id = c.source_event_id"
            }
            _ => "",
        };
        if !join.is_empty() {
            let of = record::columns(LegacyTable::Events);
            let held = self.columns(LegacyTable::Events);
            chosen.extend(of.iter().map(|name| {
                if held.iter().any(|h| h == name) { format!("e.{name}") } else { "NULL".to_owned() }
            }));
        }
        Some(format!(
            "SELECT {} FROM {} t NOT INDEXED {join} WHERE t.rowid > ?1
             ORDER BY t.rowid",
            chosen.join(", "),
            table.name()
        ))
    }
}

impl LegacyDatabase for Database {
    fn rows(
        &mut self,
        table: LegacyTable,
        each: &mut dyn FnMut(LegacyRow) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let Some(sql) = self.query(table) else {
            if !self.columns(table).is_empty() {
                each(unreadable(table, 0, "the table lacks a column"))?;
            }
            return Ok(());
        };
        let read = |row: &Row<'_>| row_of(table, row);
        let mut last = i64::MIN;
        loop {
            let chunk = self.chunk(&sql, last, &read);
            for row in chunk.rows {
                last = row.rowid;
                each(row)?;
            }
            if chunk.ended {
                return Ok(());
            }
            if chunk.error.is_none() {
                continue;
            }
            match self.seek(table, last.saturating_add(1)) {
                // The row is there and what it holds is not.
                Next::Row(rowid) => {
                    each(unreadable(table, rowid, "damaged"))?;
                    last = rowid;
                }
                Next::End => return Ok(()),
                Next::Damaged => {
                    let from = last.max(0);
                    each(unreadable(table, from.saturating_add(1), "damaged from this row on"))?;
                    match self.behind_damage(table, from) {
                        Some(good) => last = good - 1,
                        None => return Ok(()),
                    }
                }
            }
        }
    }

    fn left_alone(&self) -> Vec<(String, u64)> {
        let known = LegacyTable::ALL.map(LegacyTable::name);
        let names: rusqlite::Result<Vec<String>> = self
            .conn
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            .and_then(|mut s| s.query_map([], |row| row.get(0))?.collect());
        let plain = |name: &String| {
            name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                && !name.starts_with("sqlite_")
                && !name.starts_with("_sqlx")
                && !known.contains(&name.as_str())
        };
        let count = |name: String| {
            let sql = format!("SELECT count(*) FROM \"{name}\"");
            let rows: i64 = self.conn.query_row(&sql, [], |row| row.get(0)).ok()?;
            (rows > 0).then(|| (name, rows.cast_unsigned()))
        };
        names.unwrap_or_default().into_iter().filter(plain).filter_map(count).collect()
    }

    fn log_unread(&self) -> bool {
        self.log_unread
    }
}

/// Bytes of a row's text.
fn size(row: &LegacyRow) -> usize {
    let own = if let LegacyTold::Record(text) = &row.told { text.len() } else { 0 };
    own + row.event.as_ref().map_or(0, String::len)
}

fn unreadable(table: LegacyTable, rowid: i64, rule: &str) -> LegacyRow {
    LegacyRow { table, rowid, told: LegacyTold::Unreadable(rule.to_owned()), event: None }
}

/// One row of a query of [`Database::query`].
fn row_of(table: LegacyTable, row: &Row<'_>) -> LegacyRow {
    let rowid = row.get(0).unwrap_or_default();
    let names = record::columns(table);
    let own = cells(row, names, 1);
    let joined =
        matches!(table, LegacyTable::Evidence | LegacyTable::Claims | LegacyTable::Findings);
    let event = if joined {
        let of = record::columns(LegacyTable::Events);
        // What cannot be read of it is told with the event's own row.
        cells(row, of, 1 + names.len()).ok().and_then(|fields| record::event(&fields).ok())
    } else {
        None
    };
    let told = own.and_then(|fields| record::told(table, &fields, event.as_deref()));
    let told = told.unwrap_or_else(LegacyTold::Unreadable);
    LegacyRow { table, rowid, told, event }
}

/// Named cells from a column on; the rule that one of them breaks.
fn cells(row: &Row<'_>, names: &'static [&'static str], first: usize) -> Result<Fields, String> {
    let mut fields = Fields::default();
    for (index, name) in names.iter().enumerate() {
        let value = row.get_ref(first + index).map_err(|_| format!("{name}: damaged"))?;
        let cell = match value {
            ValueRef::Null => continue,
            ValueRef::Integer(number) => Cell::Integer(number),
            ValueRef::Real(_) => return Err(format!("{name}: a real number")),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes)
                if bytes.len() > HOOK_PAYLOAD_BYTES_MAX =>
            {
                return Err(format!("{name}: too long"));
            }
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Cell::Text(text.to_owned()),
                Err(_) => return Err(format!("{name}: not UTF-8")),
            },
            ValueRef::Blob(_) => return Err(format!("{name}: a blob")),
        };
        fields.set(name, cell);
    }
    Ok(fields)
}
