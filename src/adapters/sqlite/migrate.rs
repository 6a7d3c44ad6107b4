//! Numbered, additive migrations on `user_version`, one transaction each.
//!
//! The schema version is the integer in the file's header; a step and its number are committed
//! together. A file of a newer version is refused before anything is written. Before the first
//! step of an upgrade the file is copied beside itself.

use crate::ports::recorder::StoreError;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// Marks a fornax store (`application_id` in the header): the ASCII bytes `frnx`.
pub(super) const APPLICATION_ID: i64 = 0x6672_6e78;

/// Every step, in order; step n brings the store to version n.
const STEPS: &[&str] = &[
    include_str!("../../../migrations/0001_first.sql"),
    include_str!("../../../migrations/0002_findings.sql"),
    include_str!("../../../migrations/0003_search.sql"),
    include_str!("../../../migrations/0004_lineage_position.sql"),
    include_str!("../../../migrations/0005_import.sql"),
    include_str!("../../../migrations/0006_forget.sql"),
    include_str!("../../../migrations/0007_copied.sql"),
];

/// The schema version of this build.
pub(super) const CURRENT: i64 = STEPS.len() as i64;

/// What the header of an open file says.
pub(super) fn versions(conn: &Connection) -> Result<(i64, i64), StoreError> {
    let app =
        conn.query_row("PRAGMA application_id", [], |r| r.get(0)).map_err(super::open::map)?;
    let user = conn.query_row("PRAGMA user_version", [], |r| r.get(0)).map_err(super::open::map)?;
    Ok((app, user))
}

/// Refuses what this build must not touch, before anything is written; answers the version.
pub(super) fn check(conn: &Connection, path: &Path) -> Result<i64, StoreError> {
    // One snapshot: another process may be making the store at this moment.
    let snapshot = conn.unchecked_transaction().map_err(super::open::map)?;
    let (app, version) = versions(&snapshot)?;
    let filled = has_tables(&snapshot)?;
    drop(snapshot);
    if app != APPLICATION_ID && (app != 0 || version != 0 || filled) {
        return Err(StoreError::NotAStore(format!("{} is another program's", path.display())));
    }
    if version > CURRENT {
        return Err(StoreError::Newer { found: version, supported: CURRENT });
    }
    Ok(version)
}

/// Brings the store to [`CURRENT`].
pub(super) fn run(conn: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let version = check(conn, path)?;
    if version == CURRENT {
        return Ok(());
    }
    if version > 0 {
        back_up(conn, path, version)?;
    }
    for (index, sql) in STEPS.iter().enumerate() {
        step(conn, index as i64 + 1, sql)?;
    }
    Ok(())
}

/// One step in one transaction; a step that another process made meanwhile is passed over.
fn step(conn: &mut Connection, number: i64, sql: &str) -> Result<(), StoreError> {
    let tx =
        conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(super::open::map)?;
    let at: i64 =
        tx.query_row("PRAGMA user_version", [], |r| r.get(0)).map_err(super::open::map)?;
    if at >= number {
        return Ok(());
    }
    tx.execute_batch(sql).map_err(super::open::map)?;
    tx.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {number};"
    ))
    .map_err(super::open::map)?;
    tx.commit().map_err(super::open::map)
}

fn has_tables(conn: &Connection) -> Result<bool, StoreError> {
    conn.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |r| r.get(0))
        .map_err(super::open::map)
}

/// A copy that the old program can open: `store.db.v<N>.bak`, private to the user.
fn back_up(conn: &Connection, path: &Path, version: i64) -> Result<(), StoreError> {
    let copy = path.with_extension(format!("db.v{version}.bak"));
    if copy.exists() {
        return Ok(());
    }
    let name = copy.to_string_lossy().into_owned();
    conn.execute("VACUUM INTO ?1", [&name]).map_err(super::open::map)?;
    super::open::make_private(&copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        (dir, path)
    }

    #[test]
    fn a_fresh_file_comes_to_the_current_version_and_twice_changes_nothing() {
        let (_dir, path) = fresh();
        let mut conn = Connection::open(&path).unwrap();
        run(&mut conn, &path).unwrap();
        let before: String = schema(&conn);
        run(&mut conn, &path).unwrap();
        assert_eq!(versions(&conn).unwrap(), (APPLICATION_ID, CURRENT));
        assert_eq!(schema(&conn), before);
    }

    #[test]
    fn a_newer_store_is_refused_with_both_versions_and_left_untouched() {
        let (_dir, path) = fresh();
        let mut conn = Connection::open(&path).unwrap();
        run(&mut conn, &path).unwrap();
        conn.execute_batch("PRAGMA user_version = 99").unwrap();
        drop(conn);
        let bytes = std::fs::read(&path).unwrap();
        let mut conn = Connection::open(&path).unwrap();
        let refused = run(&mut conn, &path).unwrap_err();
        drop(conn);
        assert!(matches!(refused, StoreError::Newer { found: 99, supported: CURRENT }));
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn another_programs_database_is_refused() {
        let (_dir, path) = fresh();
        let mut conn = Connection::open(&path).unwrap();
        conn.execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert!(matches!(run(&mut conn, &path), Err(StoreError::NotAStore(_))));
    }

    #[test]
    fn a_failing_step_leaves_version_and_rows_as_they_were() {
        let (_dir, path) = fresh();
        let mut conn = Connection::open(&path).unwrap();
        run(&mut conn, &path).unwrap();
        let before = schema(&conn);
        assert!(step(&mut conn, CURRENT + 1, "CREATE TABLE x (y); SELECT nonsense;").is_err());
        assert_eq!(versions(&conn).unwrap().1, CURRENT);
        assert_eq!(schema(&conn), before);
    }

    fn schema(conn: &Connection) -> String {
        let mut statement =
            conn.prepare("SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name").unwrap();
        let rows: Vec<String> =
            statement.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
        rows.join("\n")
    }
}
