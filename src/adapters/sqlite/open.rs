//! Opening the store: private from creation, WAL, bounded, refused when it is not ours.
//!
//! The file is made with mode 0600 before SQLite meets it, so that its WAL and index inherit the
//! mode. Where nothing can be written the store is opened to read. A one-shot writer does not checkpoint on close while the WAL is small: closing the last
//! connection would otherwise cost four syncs.

use super::migrate;
use crate::base::limits::STORE_BUSY;
use crate::ports::recorder::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};
use rustix::fs::{Access, access};
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A WAL smaller than this is left to a later command on close.
const WAL_LEFT_BYTES_MAX: u64 = 512 * 1024;

/// Pages (of 4 KiB) in the WAL before it is moved into the store: a cold load writes the inner pages
/// of its indexes again and again, and each move costs two syncs.
const WAL_PAGES_MAX: u32 = 8192;

/// How to open.
pub struct OpenOptions<'a> {
    /// The home folder, already made.
    pub home: &'a Path,
    /// Namespace for a store that is made now; must match an existing one when given.
    pub namespace: Option<&'a str>,
    /// False: a missing store is an error instead of made.
    pub create: bool,
}

/// An open store.
pub struct SqliteStore {
    pub(super) conn: Connection,
    pub(super) path: PathBuf,
    pub(super) namespace: String,
    pub(super) source_ids: HashMap<(String, String), (i64, i64)>,
    /// None for a key that has a tombstone.
    pub(super) conversation_ids: HashMap<String, Option<i64>>,
}

impl SqliteStore {
    /// Opens `store.db` in the home, makes or upgrades it where asked.
    ///
    /// # Errors
    /// Typed: missing, busy, newer, not a store, I/O.
    pub fn open(options: &OpenOptions<'_>) -> Result<Self, StoreError> {
        let path = options.home.join("store.db");
        if !prepare_file(&path, options.create)? {
            return Err(StoreError::Missing);
        }
        if !can_be_written(&path) {
            return Self::open_to_read(path, options);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut conn = Connection::open_with_flags(&path, flags).map_err(map)?;
        conn.busy_timeout(STORE_BUSY).map_err(map)?;
        // Setting WAL mode writes into the file, so what is not ours is refused before.
        migrate::check(&conn, &path)?;
        configure(&conn)?;
        migrate::run(&mut conn, &path)?;
        let namespace = settle_namespace(&conn, options.namespace)?;
        Ok(Self::of(conn, path, namespace))
    }

    /// Opens a store where nothing can be written: what it holds can be asked all the same.
    fn open_to_read(path: PathBuf, options: &OpenOptions<'_>) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        // Without a log there is no writer, and SQLite need not make one to read.
        let logged = fs::metadata(log_of(&path)).is_ok_and(|m| m.len() > 0);
        let mut uri = String::from("file:");
        for byte in path.as_os_str().as_encoded_bytes() {
            match byte {
                b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
                b if b.is_ascii_alphanumeric() => uri.push(char::from(*b)),
                b => uri.push_str(&format!("%{b:02X}")),
            }
        }
        uri.push_str(if logged { "?mode=ro" } else { "?mode=ro&immutable=1" });
        let conn = Connection::open_with_flags(uri, flags).map_err(map)?;
        conn.busy_timeout(STORE_BUSY).map_err(map)?;
        let version = migrate::check(&conn, &path)?;
        if version < migrate::CURRENT {
            return Err(StoreError::Io(format!(
                "it has schema {version} and cannot be upgraded to {} where nothing can be written",
                migrate::CURRENT
            )));
        }
        tune(&conn)?;
        let held = held_namespace(&conn)?.unwrap_or_default();
        let namespace = same_namespace(held, options.namespace)?;
        Ok(Self::of(conn, path, namespace))
    }

    fn of(conn: Connection, path: PathBuf, namespace: String) -> Self {
        let (source_ids, conversation_ids) = (HashMap::new(), HashMap::new());
        Self { conn, path, namespace, source_ids, conversation_ids }
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        match fs::metadata(log_of(&self.path)).map_or(0, |m| m.len()) {
            // Nothing to fold in: closing takes the empty log away, and costs no sync.
            0 => {}
            1..WAL_LEFT_BYTES_MAX => {
                // Failing to set it only means that closing costs a checkpoint.
                let _ = self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
            }
            _ => {
                let _ = self.conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
            }
        }
    }
}

/// The write-ahead log of a store.
fn log_of(store: &Path) -> PathBuf {
    store.with_extension("db-wal")
}

/// Whether a store can be written: the file, and the folder for its log.
fn can_be_written(store: &Path) -> bool {
    let folder = store.parent().unwrap_or(store);
    [store, folder].into_iter().all(|path| access(path, Access::WRITE_OK).is_ok())
}

/// True when the file is there (or was made, empty and private).
fn prepare_file(path: &Path, create: bool) -> Result<bool, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => Ok(true),
        Ok(_) => Err(StoreError::NotAStore(format!("{} is not a regular file", path.display()))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && create => {
            let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
            match made {
                Ok(_) => Ok(true),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(true),
                Err(e) => Err(StoreError::Io(format!("{}: {e}", path.display()))),
            }
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(StoreError::Io(format!("{}: {e}", path.display()))),
    }
}

fn configure(conn: &Connection) -> Result<(), StoreError> {
    let mode = wal_mode(conn)?;
    if !mode.eq_ignore_ascii_case("wal") {
        return Err(StoreError::Io("the file system does not allow WAL mode".to_owned()));
    }
    conn.execute_batch(
        "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;
         PRAGMA journal_size_limit = 8388608;",
    )
    .map_err(map)?;
    conn.pragma_update(None, "wal_autocheckpoint", WAL_PAGES_MAX).map_err(map)?;
    tune(conn)
}

/// What readers need as much as writers.
fn tune(conn: &Connection) -> Result<(), StoreError> {
    conn.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;").map_err(map)?;
    // Without it a statement whose plan might depend on a value is compiled again each time that
    // value changes; none of ours gains by that.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(map)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Sets WAL mode. Turning it on needs the file alone and does not honour the busy timeout, so a
/// store that two processes make at once is asked for again.
fn wal_mode(conn: &Connection) -> Result<String, StoreError> {
    let start = Instant::now();
    loop {
        let mode = conn.query_row("PRAGMA journal_mode = WAL", [], |r| r.get(0)).map_err(map);
        match mode {
            Err(StoreError::Busy) if start.elapsed() < STORE_BUSY => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

fn settle_namespace(conn: &Connection, wanted: Option<&str>) -> Result<String, StoreError> {
    let held = match held_namespace(conn)? {
        Some(held) => held,
        // Only a fresh store is written to: opening must not wait for another writer.
        None => {
            conn.execute(
                "INSERT OR IGNORE INTO meta (name, value) VALUES ('namespace', ?1)",
                [wanted.unwrap_or("local")],
            )
            .map_err(map)?;
            held_namespace(conn)?.unwrap_or_default()
        }
    };
    same_namespace(held, wanted)
}

fn same_namespace(held: String, wanted: Option<&str>) -> Result<String, StoreError> {
    match wanted {
        Some(wanted) if wanted != held => {
            Err(StoreError::OtherNamespace { held, wanted: wanted.to_owned() })
        }
        _ => Ok(held),
    }
}

fn held_namespace(conn: &Connection) -> Result<Option<String>, StoreError> {
    conn.query_row("SELECT value FROM meta WHERE name = 'namespace'", [], |r| r.get(0))
        .optional()
        .map_err(map)
}

/// SQLite's error as one of ours.
pub(super) fn map(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            StoreError::NotAStore(error.to_string())
        }
        Some(
            ErrorCode::DiskFull
            | ErrorCode::ReadOnly
            | ErrorCode::CannotOpen
            | ErrorCode::SystemIoFailure
            | ErrorCode::PermissionDenied,
        ) => StoreError::Io(error.to_string()),
        _ => StoreError::Other(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn options(home: &Path) -> OpenOptions<'_> {
        OpenOptions { home, namespace: None, create: true }
    }

    #[test]
    fn the_store_and_its_wal_are_private_from_creation() {
        let home = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&options(home.path())).unwrap();
        store.conn.execute("INSERT INTO meta VALUES ('x', 'y')", []).unwrap();
        for name in ["store.db", "store.db-wal", "store.db-shm"] {
            let mode = fs::metadata(home.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    }

    #[test]
    fn a_missing_store_is_not_made_by_a_reader() {
        let home = tempfile::tempdir().unwrap();
        let opened =
            SqliteStore::open(&OpenOptions { home: home.path(), namespace: None, create: false });
        assert!(matches!(opened, Err(StoreError::Missing)));
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_store_behind_a_symlink_is_refused() {
        let home = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/hosts", home.path().join("store.db")).unwrap();
        assert!(matches!(SqliteStore::open(&options(home.path())), Err(StoreError::NotAStore(_))));
    }

    #[test]
    fn a_home_keeps_the_namespace_it_was_made_with() {
        let home = tempfile::tempdir().unwrap();
        let first = OpenOptions { home: home.path(), namespace: Some("team"), create: true };
        assert_eq!(SqliteStore::open(&first).unwrap().namespace, "team");
        assert_eq!(SqliteStore::open(&options(home.path())).unwrap().namespace, "team");
        let other = OpenOptions { home: home.path(), namespace: Some("else"), create: true };
        assert!(SqliteStore::open(&other).is_err());
    }

    #[test]
    fn opening_does_not_wait_for_a_writer() {
        let home = tempfile::tempdir().unwrap();
        let writer = SqliteStore::open(&options(home.path())).unwrap();
        writer.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        let start = std::time::Instant::now();
        SqliteStore::open(&options(home.path())).unwrap();
        assert!(start.elapsed() < STORE_BUSY);
    }

    #[test]
    fn a_file_of_prose_is_not_a_store() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("store.db"), "not a database, only prose ".repeat(100)).unwrap();
        assert!(matches!(SqliteStore::open(&options(home.path())), Err(StoreError::NotAStore(_))));
    }
}
