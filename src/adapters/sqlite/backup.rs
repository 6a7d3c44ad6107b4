//! Copies of the store from before an upgrade: `store.db.v<N>.bak`, for the program of schema N.
//!
//! A copy is written under another name and renamed when it is whole. One that is there already is
//! kept: the store may have been used with the older program after it was made.

use super::open::map;
use crate::base::crash;
use crate::base::limits::{READ_CHUNK_BYTES, STORE_BUSY};
use crate::ports::recorder::StoreError;
use rusqlite::Connection;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Makes this process the only one that upgrades a store of this folder, until the answer is
/// dropped.
///
/// # Errors
/// `Busy` when another one upgrades for longer than a writer waits.
pub(super) fn alone(store: &Path) -> Result<File, StoreError> {
    let folder = store.parent().unwrap_or(Path::new("."));
    let failed = |e: io::Error| StoreError::Io(format!("{}: {e}", folder.display()));
    let lock = File::open(folder).map_err(failed)?;
    let start = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) if start.elapsed() < STORE_BUSY => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => return Err(StoreError::Busy),
            Err(TryLockError::Error(e)) => return Err(failed(e)),
        }
    }
}

/// Copies the store of schema `version` beside itself, private to the user.
///
/// # Errors
/// When there is no room or no permission; then nothing is left of the copy.
pub(super) fn make(conn: &Connection, store: &Path, version: i64) -> Result<(), StoreError> {
    let half = store.with_extension(format!("db.v{version}.bak.tmp"));
    crash::point("backup-begun");
    let made = copy(conn, &half).and_then(|()| {
        crash::point("backup-copied");
        name(&half, store, version).map_err(|e| failed(&half, &e))?;
        crash::point("backup-named");
        Ok(())
    });
    if made.is_err() {
        // A full disk is not filled further.
        let _ = fs::remove_file(&half);
    }
    made
}

fn copy(conn: &Connection, half: &Path) -> Result<(), StoreError> {
    // What a killed upgrade left.
    match fs::remove_file(half) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(half, &e)),
        _ => {}
    }
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(half);
    let file = file.map_err(|e| failed(half, &e))?;
    conn.execute("VACUUM INTO ?1", [half.to_string_lossy()]).map_err(map)?;
    file.sync_all().map_err(|e| failed(half, &e))
}

/// Gives a whole copy its name: the first that is free. An equal one needs no second.
fn name(half: &Path, store: &Path, version: i64) -> io::Result<()> {
    for copy in names(store, version) {
        if !copy.try_exists()? {
            fs::rename(half, &copy)?;
            return match store.parent() {
                Some(folder) => File::open(folder)?.sync_all(),
                None => Ok(()),
            };
        }
        if same_bytes(half, &copy)? {
            return fs::remove_file(half);
        }
    }
    Ok(())
}

fn names(store: &Path, version: i64) -> impl Iterator<Item = PathBuf> {
    let first = store.with_extension(format!("db.v{version}.bak"));
    let more = store.to_owned();
    std::iter::once(first)
        .chain((2u32..).map(move |n| more.with_extension(format!("db.v{version}.{n}.bak"))))
}

fn same_bytes(left: &Path, right: &Path) -> io::Result<bool> {
    let open = |path| File::open(path).map(|f| BufReader::with_capacity(READ_CHUNK_BYTES, f));
    let (mut left, mut right) = (open(left)?, open(right)?);
    loop {
        let (a, b) = (left.fill_buf()?, right.fill_buf()?);
        let common = a.len().min(b.len());
        if common == 0 {
            return Ok(a.is_empty() && b.is_empty());
        }
        if a.get(..common) != b.get(..common) {
            return Ok(false);
        }
        left.consume(common);
        right.consume(common);
    }
}

fn failed(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Io(format!("{}: {error}", path.display()))
}
