//! Databases of earlier schemas: upgraded with every row as it was, backed up before, and refused or
//! left alone where that is right.

use crate::support::TestEnv;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Every database that is kept, with the version in its name.
fn kept() -> Vec<(i64, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/databases");
    let mut found: Vec<(i64, PathBuf)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "db"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap();
            (name.strip_prefix('v').unwrap().parse().unwrap(), path)
        })
        .collect();
    found.sort();
    found
}

fn open(path: &Path) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

fn version(conn: &Connection) -> i64 {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// Every row of the tables, by table, with the columns of the schema given.
fn rows(
    conn: &Connection,
    columns: &BTreeMap<String, Vec<String>>,
) -> BTreeMap<String, Vec<String>> {
    let of = |(table, names): (&String, &Vec<String>)| {
        let quoted: Vec<String> = names.iter().map(|n| format!("quote(\"{n}\")")).collect();
        let sql = format!("SELECT {} FROM {table} ORDER BY 1", quoted.join(" || '|' || "));
        let mut statement = conn.prepare(&sql).unwrap();
        let all = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        (table.clone(), all)
    };
    columns.iter().map(of).collect()
}

fn columns(conn: &Connection) -> BTreeMap<String, Vec<String>> {
    let mut tables = conn
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .unwrap();
    let names: Vec<String> =
        tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let of = |table: String| {
        let mut info =
            conn.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
        let names = info.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        (table, names)
    };
    names.into_iter().map(of).collect()
}

/// A home that holds a copy of a kept database.
fn home_with(path: &Path) -> TestEnv {
    let env = TestEnv::new();
    fs::create_dir(env.home()).unwrap();
    fs::copy(path, env.store()).unwrap();
    fs::set_permissions(env.store(), fs::Permissions::from_mode(0o600)).unwrap();
    env
}

fn backups(env: &TestEnv) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(env.home())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("store.db.") && !name.ends_with("-wal") && !name.ends_with("-shm")
        })
        .collect();
    found.sort();
    found
}

#[test]
fn every_kept_database_comes_to_this_schema_with_every_row_as_it_was() {
    let kept = kept();
    assert!(kept.iter().any(|(version, _)| *version == 1), "{kept:?}");
    for (number, path) in kept {
        let old = open(&path);
        assert_eq!(version(&old), number, "{}", path.display());
        let columns = columns(&old);
        let before = rows(&old, &columns);
        assert!(before.values().all(|rows| !rows.is_empty()), "a table of v{number} is empty");
        let env = home_with(&path);
        assert!(!env.sessions().is_empty());
        let new = open(&env.store());
        assert!(version(&new) > number);
        assert_eq!(rows(&new, &columns), before, "v{number}");
        let intact: String = new.query_row("PRAGMA integrity_check", [], |r| r.get(0)).unwrap();
        assert_eq!(intact, "ok");
        let broken: i64 = new
            .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(broken, 0);
    }
}

#[test]
fn an_upgrade_leaves_a_private_backup_that_opens_at_its_old_version() {
    for (number, path) in kept() {
        let env = home_with(&path);
        env.run(["sessions"]).ok();
        let found = backups(&env);
        assert_eq!(found.len(), 1, "{found:?}");
        let mode = fs::metadata(&found[0]).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let (backup, old) = (open(&found[0]), open(&path));
        assert_eq!(version(&backup), number);
        let columns = columns(&old);
        assert_eq!(rows(&backup, &columns), rows(&old, &columns));
        env.run(["sessions"]).ok();
        assert_eq!(backups(&env), found, "one upgrade, one backup");
    }
}

#[test]
fn an_upgraded_store_goes_on_as_one_that_was_always_there() {
    let (_, path) = kept().remove(0);
    let env = home_with(&path);
    env.hook("claude", crate::support::claude::post_tool_use("s-new", "toolu_n", "ls", "a"));
    assert!(env.sessions().iter().any(|s| s["native_id"] == "s-new"));
    env.run(["search", "toolu*"]).fails_with(1);
    env.run(["usage"]).ok();
    env.run(["losses"]).ok();
    env.run(["verify", "--since", "2000-01-01"]).ok();
}

#[test]
fn two_processes_that_upgrade_at_once_make_one_upgrade() {
    let (_, path) = kept().remove(0);
    let env = home_with(&path);
    let children: Vec<_> = (0..6)
        .map(|_| {
            let mut command = env.command();
            command.arg("sessions").stdout(std::process::Stdio::null());
            command.stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
    }
    let old = open(&path);
    let columns = columns(&old);
    assert_eq!(rows(&open(&env.store()), &columns), rows(&old, &columns));
}
