//! The store read back: every row of every table, for comparing two states.
//!
//! `raw` is everything as it stands. `told` is what the rows say: integer keys become what they
//! stand for, and what depends on when, where and how often a file was read is left out.

use super::TestEnv;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

/// The store, for reading only.
pub(crate) fn open(env: &TestEnv) -> Connection {
    Connection::open_with_flags(env.store(), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

/// The store, for planting damage.
pub(crate) fn open_to_write(env: &TestEnv) -> Connection {
    Connection::open(env.store()).unwrap()
}

/// Every row of every table.
pub(crate) fn raw(env: &TestEnv) -> Vec<String> {
    let conn = open(env);
    let mut out = Vec::new();
    for table in tables(&conn) {
        select(&conn, &table, &format!("SELECT * FROM {table}"), &mut out);
    }
    out.sort();
    out
}

/// Every row of the tables that `old` has, with the columns that they have there.
pub(crate) fn of_schema(conn: &Connection, old: &Connection) -> Vec<String> {
    let mut out = Vec::new();
    for table in tables(old) {
        let sql = format!("SELECT {} FROM {table}", columns(old, &table).join(", "));
        select(conn, &table, &sql, &mut out);
    }
    out.sort();
    out
}

/// Asserts that the file is whole and its references hold.
#[track_caller]
pub(crate) fn assert_sound(conn: &Connection) {
    let checked: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(checked, "ok");
    let broken: i64 =
        conn.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |r| r.get(0)).unwrap();
    assert_eq!(broken, 0, "references to rows that are not there");
}

/// What the rows say, paths as they are.
pub(crate) fn told(env: &TestEnv) -> Vec<String> {
    told_with(env, "src.path")
}

/// What the rows say, wherever their files are.
pub(crate) fn told_anywhere(env: &TestEnv) -> Vec<String> {
    told_with(env, "'anywhere'")
}

/// One number.
pub(crate) fn count(env: &TestEnv, sql: &str) -> i64 {
    open(env).query_row(sql, [], |row| row.get(0)).unwrap()
}

/// One text column.
pub(crate) fn texts(env: &TestEnv, sql: &str) -> Vec<String> {
    let conn = open(env);
    let mut statement = conn.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn told_with(env: &TestEnv, path: &str) -> Vec<String> {
    let conn = open(env);
    let mut out = Vec::new();
    for table in tables(&conn) {
        if ["meta", "derived", "exported"].contains(&table.as_str()) {
            continue;
        }
        let columns: Vec<String> = columns(&conn, &table)
            .into_iter()
            .filter(|name| !is_of_the_moment(&table, name))
            .map(|name| expression(&table, &name, path))
            .collect();
        let sql = format!("SELECT {} FROM {table} t", columns.join(", "));
        select(&conn, &table, &sql, &mut out);
        assert_all_visible(&conn, &table);
    }
    out.sort();
    out
}

/// Columns that say when, where or how often a file was read, and not what was in it.
fn is_of_the_moment(table: &str, column: &str) -> bool {
    const OF_SOURCE: [&str; 6] =
        ["device", "inode", "modified_ns", "changed_ns", "lines", "settled"];
    matches!(column, "id" | "generation" | "begun")
        || (table == "source" && OF_SOURCE.contains(&column))
}

fn expression(table: &str, column: &str, path: &str) -> String {
    match column {
        "conversation" => "(SELECT key FROM conversation c WHERE c.id = t.conversation) \
             AS conversation"
            .to_owned(),
        "source" => {
            format!("(SELECT {path} FROM source src WHERE src.id = t.source) AS source")
        }
        "event" if table == "sighting" => {
            "(SELECT uid FROM event e WHERE e.id = t.event) AS event".to_owned()
        }
        "path" if table == "source" => {
            format!("(SELECT {path} FROM source src WHERE src.id = t.id) AS path")
        }
        _ => format!("t.{column}"),
    }
}

/// Rows of a generation that is not the source's would be leftovers of a replay.
fn assert_all_visible(conn: &Connection, table: &str) {
    if table == "source" || !columns(conn, table).iter().any(|name| name == "generation") {
        return;
    }
    let sql = format!(
        "SELECT count(*) FROM {table} t JOIN source s ON s.id = t.source
         WHERE t.generation <> s.generation"
    );
    let left: i64 = conn.query_row(&sql, [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0, "{table} holds rows of a generation that is gone");
}

fn tables(conn: &Connection) -> Vec<String> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut statement = conn.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn columns(conn: &Connection, table: &str) -> Vec<String> {
    let mut statement = conn.prepare(&format!("PRAGMA table_info({table})")).unwrap();
    let rows = statement.query_map([], |row| row.get(1)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn select(conn: &Connection, table: &str, sql: &str, out: &mut Vec<String>) {
    let mut statement = conn.prepare(sql).unwrap();
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let cells: Vec<String> = names
            .iter()
            .enumerate()
            .map(|(index, name)| format!("{name}={}", cell(row, index)))
            .collect();
        out.push(format!("{table}: {}", cells.join(" | ")));
    }
}

fn cell(row: &Row<'_>, index: usize) -> String {
    match row.get_ref(index).unwrap() {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Blob(bytes) => bytes.iter().map(|b| format!("{b:02x}")).collect(),
    }
}

/// Fails with the rows that differ, not with two whole dumps.
#[track_caller]
pub(crate) fn assert_same(left: &[String], right: &[String]) {
    if left == right {
        return;
    }
    let only = |a: &[String], b: &[String]| -> Vec<String> {
        a.iter().filter(|row| !b.contains(row)).cloned().collect()
    };
    let (gone, new) = (only(left, right), only(right, left));
    assert!(
        gone.is_empty() && new.is_empty() && left.len() == right.len(),
        "only on the left:\n{}\nonly on the right:\n{}\n({} rows, {} rows)",
        gone.join("\n"),
        new.join("\n"),
        left.len(),
        right.len()
    );
}
