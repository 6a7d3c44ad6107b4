//! The file of the store: upgraded with every row, copied before, refused untouched, only read.

use crate::support::claude::{self, Claude};
use crate::support::disks::{Disk, allow_writing, forbid_writing};
use crate::support::{TestEnv, rows};
use fornax::adapters::sqlite::{OpenOptions, SqliteStore};
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const READERS: [&[&str]; 6] = [
    &["sessions", "--json"],
    &["show", "c1"],
    &["losses"],
    &["usage"],
    &["search", "--help"],
    &["forget", "--session", "c1", "--dry-run"],
];

fn version(conn: &Connection) -> i64 {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

fn open(path: &Path) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

/// The databases that released programs wrote, each with its schema.
pub(crate) fn databases() -> Vec<(i64, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/databases");
    let mut found: Vec<(i64, PathBuf)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "db"))
        .map(|path| (version(&open(&path)), path))
        .collect();
    found.sort();
    found
}

/// A home whose store is a copy of that database.
pub(crate) fn home_of(database: &Path) -> TestEnv {
    let env = TestEnv::new();
    fs::DirBuilder::new().mode(0o700).create(env.home()).unwrap();
    fs::copy(database, env.store()).unwrap();
    fs::set_permissions(env.store(), fs::Permissions::from_mode(0o600)).unwrap();
    env
}

fn upgrade(env: &TestEnv) {
    let options = OpenOptions { home: &env.home(), namespace: None, create: false };
    drop(SqliteStore::open(&options).unwrap());
}

fn schema(conn: &Connection) -> Vec<String> {
    let sql = "SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY type, name";
    let mut statement = conn.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn recorded() -> TestEnv {
    let env = TestEnv::new();
    env.write("in/c1.jsonl", Claude::typical("c1").text());
    env.ingest(&env.path("in"));
    env
}

#[test]
fn every_released_database_is_upgraded_and_every_old_row_is_as_it_was() {
    let fresh = TestEnv::new();
    fresh.run(["ingest"]).ok();
    let current = version(&rows::open(&fresh));
    let databases = databases();
    assert_eq!(databases.first().map(|(version, _)| *version), Some(1));
    for (from, path) in databases {
        assert_eq!(path.file_name().unwrap().to_str(), Some(format!("v{from}.db").as_str()));
        let old = open(&path);
        let before = rows::of_schema(&old, &old);
        let env = home_of(&path);
        upgrade(&env);
        let new = rows::open(&env);
        assert_eq!(version(&new), current);
        rows::assert_same(&rows::of_schema(&new, &old), &before);
        assert_eq!(schema(&new), schema(&rows::open(&fresh)));
        rows::assert_sound(&new);
        env.run(["sessions", "--json"]).ok();
    }
}

#[test]
fn every_table_of_a_released_database_holds_a_row() {
    for (_, path) in databases() {
        let conn = open(&path);
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search%'";
        let mut statement = conn.prepare(sql).unwrap();
        let tables = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        for table in tables.map(Result::unwrap) {
            let sql = format!("SELECT count(*) FROM {table}");
            let count: i64 = conn.query_row(&sql, [], |row| row.get(0)).unwrap();
            assert!(count > 0, "{}: {table} proves nothing", path.display());
        }
    }
}

#[test]
fn the_copy_before_an_upgrade_is_private_and_is_what_the_older_program_left() {
    let (from, path) = databases().swap_remove(0);
    let env = home_of(&path);
    upgrade(&env);
    let copy = env.home().join(format!("store.db.v{from}.bak"));
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    let (old, copied) = (open(&path), open(&copy));
    assert_eq!(version(&copied), from);
    assert_eq!(schema(&copied), schema(&old));
    rows::assert_same(&rows::of_schema(&copied, &old), &rows::of_schema(&old, &old));
    // Upgraded once, it is not copied again.
    upgrade(&env);
    let copies = TestEnv::files_below(&env.home());
    assert_eq!(copies.iter().filter(|f| f.0.to_string_lossy().contains(".bak")).count(), 1);
}

/// Bytes and time of each file of the store.
fn state(env: &TestEnv) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let index = |path: &Path| path.to_string_lossy().ends_with("-shm");
    TestEnv::files_below(&env.home())
        .into_iter()
        .filter(|(path, _)| !index(path) && path.parent() == Some(&env.home()))
        .map(|(path, bytes)| {
            let modified = fs::metadata(&path).unwrap().modified().unwrap();
            (path, bytes, modified)
        })
        .collect()
}

#[test]
fn who_only_asks_writes_nothing() {
    let env = recorded();
    for args in READERS {
        let before = state(&env);
        env.run(args).ok();
        assert!(state(&env) == before, "{args:?} wrote");
    }
}

#[test]
fn who_only_asks_leaves_no_log_where_there_was_none() {
    let env = recorded();
    let conn = rows::open_to_write(&env);
    conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(conn);
    let names = |env: &TestEnv| -> Vec<PathBuf> {
        let all = TestEnv::files_below(&env.home()).into_iter().map(|file| file.0);
        all.filter(|path| path.parent() == Some(&env.home())).collect()
    };
    assert_eq!(names(&env), [env.store()]);
    for args in READERS {
        let before = state(&env);
        env.run(args).ok();
        assert!(state(&env) == before, "{args:?} wrote");
        assert_eq!(names(&env), [env.store()], "{args:?}");
    }
}

/// A recorded home that nobody can write, its log folded into the store or not.
fn on_a_frozen_disk(folded: bool, more: impl Fn(&TestEnv)) -> Option<(Option<Disk>, TestEnv)> {
    let env = TestEnv::new();
    let disk = Disk::of_size(&env.home(), 8 * 1024);
    env.write("in/c1.jsonl", Claude::typical("c1").text());
    env.ingest(&env.path("in"));
    if folded {
        rows::open_to_write(&env).execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    }
    more(&env);
    match &disk {
        Some(disk) => disk.freeze(),
        None if forbid_writing(&env.home()) => {}
        None => return None,
    }
    Some((disk, env))
}

#[test]
fn a_store_where_nothing_can_be_written_is_read() {
    for folded in [true, false] {
        let Some((disk, env)) = on_a_frozen_disk(folded, |_| {}) else { return };
        for args in READERS {
            env.run(args).ok();
        }
        assert_eq!(env.sessions()[0]["events"], 6, "folded: {folded}");
        env.write("in/c2.jsonl", Claude::typical("c2").text());
        env.run(["ingest", "in"]).one_line_error(74);
        assert_eq!(env.sessions().len(), 1);
        if disk.is_none() {
            allow_writing(&env.home());
        }
        drop((disk, env));
    }
}

#[test]
fn where_nothing_can_be_written_the_answer_says_what_waits() {
    let hook = |env: &TestEnv| {
        env.hook("claude", claude::post_tool_use("c1", "toolu_x", "ls", "a"));
    };
    let Some((disk, env)) = on_a_frozen_disk(true, hook) else { return };
    let told = env.run(["sessions", "--json"]).fails_with(0);
    assert_eq!(told.json()["sessions"][0]["events"], 6);
    assert!(told.stderr.contains("bytes of hook records wait in the journal"), "{}", told.stderr);
    if disk.is_none() {
        allow_writing(&env.home());
    }
    drop((disk, env));
}

#[test]
fn an_older_store_that_cannot_be_upgraded_is_refused_with_both_versions_and_not_touched() {
    let (from, path) = databases().swap_remove(0);
    let env = TestEnv::new();
    let Some(disk) = Disk::of_size(&env.home(), 1024) else { return };
    fs::copy(&path, env.store()).unwrap();
    disk.freeze();
    let line = env.run(["sessions"]).one_line_error(74);
    assert!(line.contains(&format!("schema {from} ")), "{line}");
    assert_eq!(fs::read(env.store()).unwrap(), fs::read(&path).unwrap());
    drop((disk, env));
}

#[test]
fn an_upgrade_without_room_for_the_copy_leaves_the_store_as_it_was() {
    let (from, path) = databases().swap_remove(0);
    let env = TestEnv::new();
    let Some(disk) = Disk::of_size(&env.home(), 512) else { return };
    fs::copy(&path, env.store()).unwrap();
    disk.fill("filler");
    env.run(["sessions"]).one_line_error(74);
    let old = open(&path);
    let held = open(&env.store());
    assert_eq!(version(&held), from);
    rows::assert_same(&rows::of_schema(&held, &old), &rows::of_schema(&old, &old));
    drop(held);
    fs::remove_file(env.home().join("filler")).unwrap();
    env.run(["sessions"]).ok();
    drop((disk, env));
}
