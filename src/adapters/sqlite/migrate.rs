//! Numbered, additive migrations on `user_version`, one transaction each.
//!
//! The schema version is the integer in the file's header; a step and its number are committed
//! together. A file of a newer version is refused before anything is written. Before the first
//! step of an upgrade the file is copied beside itself; one process at a time upgrades.

use super::backup;
use crate::base::crash;
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

/// Schemas that some fornax was published with: each is frozen and has a database in
/// `fixtures/databases`. Those between were never on anybody's disk.
#[cfg(test)]
const RELEASED: &[i64] = &[1];

/// What the header of an open file says.
pub(super) fn versions(conn: &Connection) -> Result<(i64, i64), StoreError> {
    let app =
        conn.query_row("PRAGMA application_id", [], |r| r.get(0)).map_err(super::open::map)?;
    let user = conn.query_row("PRAGMA user_version", [], |r| r.get(0)).map_err(super::open::map)?;
    Ok((app, user))
}

/// Refuses what this build must not touch, before anything is written; answers the version.
pub(super) fn check(conn: &Connection, path: &Path) -> Result<i64, StoreError> {
    check_for(conn, path, CURRENT)
}

/// Brings the store to [`CURRENT`].
pub(super) fn run(conn: &mut Connection, path: &Path) -> Result<(), StoreError> {
    bring(conn, path, STEPS)
}

fn check_for(conn: &Connection, path: &Path, supported: i64) -> Result<i64, StoreError> {
    // One snapshot: another process may be making the store at this moment.
    let snapshot = conn.unchecked_transaction().map_err(super::open::map)?;
    let (app, version) = versions(&snapshot)?;
    let filled = has_tables(&snapshot)?;
    drop(snapshot);
    if app != APPLICATION_ID && (app != 0 || version != 0 || filled) {
        return Err(StoreError::NotAStore(format!("{} is another program's", path.display())));
    }
    if version > supported {
        return Err(StoreError::Newer { found: version, supported });
    }
    Ok(version)
}

/// Makes every step of the list that the store has not.
fn bring(conn: &mut Connection, path: &Path, steps: &[&str]) -> Result<(), StoreError> {
    let last = steps.len() as i64;
    let mut version = check_for(conn, path, last)?;
    if version == last {
        return Ok(());
    }
    // A store that is made now has nothing to lose; its steps tell by themselves who was first.
    let mut _alone = None;
    if version > 0 {
        _alone = Some(backup::alone(path)?);
        // Whoever was before may have made all of them.
        version = check_for(conn, path, last)?;
        if version < last {
            backup::make(conn, path, version)?;
        }
    }
    for (number, sql) in (1..).zip(steps) {
        step(conn, number, sql)?;
    }
    Ok(())
}

/// One step in one transaction; a step that is made already is passed over.
fn step(conn: &mut Connection, number: i64, sql: &str) -> Result<(), StoreError> {
    let tx =
        conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(super::open::map)?;
    let at: i64 =
        tx.query_row("PRAGMA user_version", [], |r| r.get(0)).map_err(super::open::map)?;
    if at >= number {
        return Ok(());
    }
    crash::point("step-begun");
    tx.execute_batch(sql).map_err(super::open::map)?;
    crash::point("step-made");
    tx.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {number};"
    ))
    .map_err(super::open::map)?;
    crash::point("step-numbered");
    tx.commit().map_err(super::open::map)?;
    crash::point("step-committed");
    Ok(())
}

fn has_tables(conn: &Connection) -> Result<bool, StoreError> {
    conn.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |r| r.get(0))
        .map_err(super::open::map)
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

    const ONE: &str = "CREATE TABLE a (x); INSERT INTO a VALUES ('kept');";
    const TWO: &str = "ALTER TABLE a ADD COLUMN y DEFAULT 'new';";
    const THREE: &str = "CREATE TABLE b (z); INSERT INTO b SELECT x FROM a;";

    fn at(steps: &[&str]) -> (tempfile::TempDir, std::path::PathBuf, Connection) {
        let (dir, path) = fresh();
        let mut conn = Connection::open(&path).unwrap();
        bring(&mut conn, &path, steps).unwrap();
        (dir, path, conn)
    }

    /// Version, schema and bytes that a copy of the store would have.
    fn state(conn: &Connection) -> (i64, String, String) {
        let told = "SELECT group_concat(x, ',') FROM a";
        let rows: String = conn.query_row(told, [], |r| r.get(0)).unwrap();
        (versions(conn).unwrap().1, schema(conn), rows)
    }

    fn backups(path: &Path) -> Vec<String> {
        let folder = std::fs::read_dir(path.parent().unwrap()).unwrap();
        let names = folder.map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut found: Vec<String> = names.filter(|name| name.contains(".bak")).collect();
        found.sort();
        found
    }

    #[test]
    fn an_upgrade_ends_like_a_fresh_store_whatever_it_began_with() {
        let all = [ONE, TWO, THREE];
        let (_dir, _, whole) = at(&all);
        for done in 1..=3 {
            let (_dir, path, mut conn) = at(&all[..done]);
            bring(&mut conn, &path, &all).unwrap();
            assert_eq!(state(&conn), state(&whole), "from {done}");
        }
    }

    #[test]
    fn a_step_that_fails_half_way_leaves_those_before_it_and_is_made_by_the_next_program() {
        let (_dir, path, mut conn) = at(&[ONE]);
        let broken = "CREATE TABLE b (z); INSERT INTO b VALUES (1); SELECT nonsense;";
        assert!(bring(&mut conn, &path, &[ONE, TWO, broken]).is_err());
        let (_other, _, two) = at(&[ONE, TWO]);
        assert_eq!(state(&conn), state(&two));
        bring(&mut conn, &path, &[ONE, TWO, THREE]).unwrap();
        let (_third, _, three) = at(&[ONE, TWO, THREE]);
        assert_eq!(state(&conn), state(&three));
    }

    #[test]
    fn the_copy_is_private_and_opens_with_the_program_that_wrote_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_dir, path, mut conn) = at(&[ONE]);
        let before = state(&conn);
        bring(&mut conn, &path, &[ONE, TWO]).unwrap();
        assert_eq!(backups(&path), ["store.db.v1.bak"]);
        let copy = path.with_extension("db.v1.bak");
        let mode = std::fs::metadata(&copy).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let mut old = Connection::open(&copy).unwrap();
        bring(&mut old, &copy, &[ONE]).unwrap();
        assert_eq!(state(&old), before);
        assert_eq!(versions(&old).unwrap().0, APPLICATION_ID);
    }

    #[test]
    fn a_copy_of_something_else_is_kept_and_an_equal_one_is_not_made_twice() {
        let (_dir, path, conn) = at(&[ONE]);
        // What an upgrade that was killed before its first step left: whole, half, half again.
        backup::make(&conn, &path, 1).unwrap();
        std::fs::write(path.with_extension("db.v1.bak.tmp"), "half").unwrap();
        backup::make(&conn, &path, 1).unwrap();
        assert_eq!(backups(&path), ["store.db.v1.bak"]);
        let first = std::fs::read(path.with_extension("db.v1.bak")).unwrap();
        // The older program went on with the store.
        conn.execute("INSERT INTO a VALUES ('later')", []).unwrap();
        backup::make(&conn, &path, 1).unwrap();
        assert_eq!(backups(&path), ["store.db.v1.2.bak", "store.db.v1.bak"]);
        assert_eq!(std::fs::read(path.with_extension("db.v1.bak")).unwrap(), first);
        let later = Connection::open(path.with_extension("db.v1.2.bak")).unwrap();
        assert_eq!(state(&later).2, "kept,later");
    }

    #[test]
    fn an_upgrade_without_its_copy_is_not_begun() {
        let (_dir, path, mut conn) = at(&[ONE]);
        // Something that is no file stands where the copy is written.
        std::fs::create_dir(path.with_extension("db.v1.bak.tmp")).unwrap();
        assert!(matches!(bring(&mut conn, &path, &[ONE, TWO]), Err(StoreError::Io(_))));
        assert_eq!(versions(&conn).unwrap().1, 1);
    }

    #[test]
    fn processes_that_upgrade_at_once_make_one_copy_and_each_step_once() {
        let (_dir, path, conn) = at(&[ONE]);
        drop(conn);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut conn = Connection::open(&path).unwrap();
                    conn.busy_timeout(crate::base::limits::STORE_BUSY).unwrap();
                    bring(&mut conn, &path, &[ONE, TWO, THREE]).unwrap();
                });
            }
        });
        let (_other, _, whole) = at(&[ONE, TWO, THREE]);
        assert_eq!(state(&Connection::open(&path).unwrap()), state(&whole));
        assert_eq!(backups(&path), ["store.db.v1.bak"]);
    }

    #[test]
    fn every_released_schema_has_a_database_that_tests_upgrade() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/databases");
        for version in RELEASED {
            let path = folder.join(format!("v{version}.db"));
            let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
            let conn = Connection::open_with_flags(&path, flags).unwrap();
            assert_eq!(versions(&conn).unwrap(), (APPLICATION_ID, *version));
            assert!(*version <= CURRENT);
        }
    }

    fn schema(conn: &Connection) -> String {
        let mut statement =
            conn.prepare("SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name").unwrap();
        let rows: Vec<String> =
            statement.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
        rows.join("\n")
    }
}
