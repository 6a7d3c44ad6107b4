//! Opening without writing: the file as it stands, or with its write-ahead log where that can be read.
//!
//! Without a log beside it the file is opened as immutable: no lock, no shared memory. With a log it
//! is opened read-only with the shared memory read-only too; SQLite then reads the log into memory
//! of its own. Where the shared memory file is missing, SQLite could only make it, so the log is
//! left unread and the caller is told.

use super::rows::Database;
use super::{failure, is_damage};
use crate::ports::legacy::LegacyTable;
use crate::ports::recorder::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a database that is locked is waited for.
const WAIT: Duration = Duration::from_secs(2);
/// Columns of `agent_events` in every schema version.
const EVENT_COLUMNS: [&str; 6] = ["id", "session_id", "provider", "kind", "observed_at", "raw"];

/// The database, when it is one of the first Fornax's.
pub(super) fn open(path: &Path) -> Result<Option<Database>, StoreError> {
    let log = beside(path, "-wal");
    let is_filled = |path: &Path| fs::metadata(path).is_ok_and(|m| m.len() > 0);
    let has_log = is_filled(&log);
    // What a crash left in a rollback journal could be taken back only by writing.
    let has_journal = is_filled(&beside(path, "-journal"));
    let is_shared = fs::metadata(beside(path, "-shm")).is_ok();
    // A process that has the database open keeps both files, also while the log is empty.
    let live = fs::metadata(&log).is_ok() && is_shared;
    let how = if live { "mode=ro&readonly_shm=1" } else { "mode=ro&immutable=1" };
    match connect(path, how) {
        Ok(conn) => recognise(conn, has_journal || has_log && !live),
        Err(error) if is_damage(&error) => Ok(None),
        Err(error) => Err(failure(&error)),
    }
}

fn connect(path: &Path, how: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(format!("file:{}?{how}", escaped(path)), flags)?;
    conn.busy_timeout(WAIT)?;
    // The file is foreign: its schema may run nothing.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.execute_batch("PRAGMA query_only = ON; PRAGMA cell_size_check = ON;")?;
    Ok(conn)
}

/// Whether the tables are the first Fornax's. They must be tables: a view could say anything.
fn recognise(conn: Connection, log_unread: bool) -> Result<Option<Database>, StoreError> {
    let mut columns = Vec::new();
    for table in LegacyTable::ALL {
        match columns_of(&conn, table.name()) {
            Ok(found) => columns.push((table, found)),
            Err(error) if is_damage(&error) => return Ok(None),
            Err(error) => return Err(failure(&error)),
        }
    }
    let events = columns.iter().find(|(table, _)| *table == LegacyTable::Events);
    let is_ours = events.is_some_and(|(_, found)| {
        EVENT_COLUMNS.iter().all(|name| found.iter().any(|held| held == name))
    });
    Ok(is_ours.then(|| Database::new(conn, columns, log_unread)))
}

/// The columns of a table; none when it is not there or is no table.
fn columns_of(conn: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = conn.prepare(
        "SELECT c.name FROM sqlite_schema s, pragma_table_info(s.name) c
         WHERE s.type = 'table' AND s.name = ?1 AND s.sql LIKE 'CREATE TABLE%'",
    )?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

/// A path inside a URI.
fn escaped(path: &Path) -> String {
    let mut out = String::new();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte) {
            out.push(char::from(*byte));
        } else {
            // Writing to a string never fails.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
