//! Ended at every step: the store is before it or after it, and the next run ends as if nothing
//! had been.
//!
//! A crash point is a named moment in the program (`base/crash.rs`). Each case runs its command
//! with a point armed at its first, second, third ... passing, until the command comes through.

use crate::store::{databases, home_of};
use crate::support::claude::{self, Claude};
use crate::support::{TestEnv, rows};
use fornax::base::crash::POINTS;
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

/// More passings than any case has.
const PASSINGS_MAX: u32 = 100;

/// A command that is ended at every point that it passes.
struct Case {
    points: &'static [&'static str],
    set_up: fn() -> TestEnv,
    /// The command, what it reads, and what is held while it runs.
    command: fn(&TestEnv) -> (Command, String, Option<File>),
    /// What holds right after the crash.
    between: fn(&TestEnv),
    /// Finishes the work and tells what there is then.
    finish: fn(&TestEnv) -> Vec<String>,
}

const UPGRADE: Case = Case {
    points: &[
        "backup-begun",
        "backup-copied",
        "backup-named",
        "step-begun",
        "step-made",
        "step-numbered",
        "step-committed",
    ],
    set_up: || home_of(&databases()[0].1),
    command: |env| of(env, &["sessions"], ""),
    between: between_schemas,
    finish: |env| {
        env.run(["sessions"]).ok();
        between_schemas(env);
        assert!(!left(env, ".bak.tmp"), "half a copy is left");
        rows::raw(env)
    },
};

const INGEST: Case = Case {
    points: &["step-begun", "step-committed", "batch-begun", "batch-rows", "batch-complete"],
    set_up: || {
        let env = TestEnv::new();
        env.write("in/c1.jsonl", session("old", 4));
        env
    },
    command: |env| of(env, &["ingest", "in"], ""),
    between: sound,
    finish: |env| {
        env.ingest(&env.path("in"));
        rows::told_anywhere(env)
    },
};

const REPLAY: Case = Case {
    points: &["batch-committed", "flip-set", "sweep-begun", "sweep-deleted", "sweep-folded"],
    set_up: || {
        let env = TestEnv::new();
        let path = env.write("in/c1.jsonl", session("old", 4));
        env.ingest(&env.path("in"));
        fs::write(path, session("new", 5)).unwrap();
        env
    },
    command: |env| of(env, &["ingest", "in"], ""),
    between: |env| {
        sound(env);
        let seen = |mark: &str| {
            rows::count(
                env,
                &format!(
                    "SELECT count(*) FROM sighting s JOIN source r
                       ON r.id = s.source AND r.generation = s.generation
                     WHERE s.tool_input LIKE '%{mark} %'"
                ),
            )
        };
        let all = (seen("old"), seen("new"));
        assert!([(8, 0), (0, 10)].contains(&all), "{all:?}");
    },
    finish: |env| {
        env.ingest(&env.path("in"));
        rows::told_anywhere(env)
    },
};

const HOOK: Case = Case {
    points: &["append-written"],
    set_up: TestEnv::new,
    command: |env| of(env, &["hook", "claude"], &call()),
    between: |_| {},
    finish: hooked,
};

const LOCKED_HOOK: Case = Case {
    points: &["own-written", "own-named"],
    set_up: || {
        let env = TestEnv::new();
        fs::create_dir_all(env.journal()).unwrap();
        env
    },
    command: |env| {
        let lock = File::create(env.journal().join("lock")).unwrap();
        lock.lock().unwrap();
        let (command, stdin, _) = of(env, &["hook", "claude"], &call());
        (command, stdin, Some(lock))
    },
    between: |_| {},
    finish: hooked,
};

const DRAIN: Case = Case {
    points: &[
        "drain-claimed",
        "segment-closed",
        "stand-in-aside",
        "batch-complete",
        "batch-committed",
        "drain-stored",
        "drain-removed",
        "drain-settled",
    ],
    set_up: journalled,
    command: |env| of(env, &["sessions"], ""),
    between: sound,
    finish: |env| {
        env.run(["sessions"]).fails_with(0);
        for ending in [".fxj", ".tmp", ".taken"] {
            assert!(!left(env, ending), "a file with {ending} is left");
        }
        let torn = "SELECT count FROM loss WHERE reason = 'frame_torn'";
        assert_eq!(rows::count(env, torn), 1);
        // A torn frame names its segment, whose name is new each time.
        let told = rows::told(env).into_iter();
        told.filter(|row| !row.contains("reason=frame_torn")).collect()
    },
};

const CASES: [Case; 6] = [UPGRADE, INGEST, REPLAY, HOOK, LOCKED_HOOK, DRAIN];

fn of(env: &TestEnv, args: &[&str], stdin: &str) -> (Command, String, Option<File>) {
    let mut command = env.command();
    command.args(args);
    (command, stdin.to_owned(), None)
}

fn session(mark: &str, calls: u32) -> String {
    let mut session = Claude::new("c1");
    for nth in 0..calls {
        session.bash(&format!("{mark} {nth}"), Ok("done"));
    }
    session.text()
}

fn call() -> String {
    claude::post_tool_use("s", "toolu_1", "ls", "a\n")
}

/// The same hook once more, and which events there are.
fn hooked(env: &TestEnv) -> Vec<String> {
    env.hook("claude", call());
    env.run(["sessions"]).ok();
    assert_eq!(env.losses(), Vec::<serde_json::Value>::new());
    rows::texts(env, "SELECT hex(uid) FROM event ORDER BY uid")
}

/// Three frames in the journal, two and a torn one in the stand-in of the runtime folder.
fn journalled() -> TestEnv {
    let env = TestEnv::new();
    // A hook that finds no home tells how the stand-in is called.
    fs::write(env.home(), "in the way").unwrap();
    env.hook("claude", call());
    let (stand_in, _) = TestEnv::files_below(&env.runtime()).swap_remove(0);
    fs::remove_file(env.home()).unwrap();
    let text = include_str!("../../fixtures/journal/v1.fxj");
    let frames: Vec<&str> = text.split_inclusive("}\n").collect();
    assert_eq!(frames.len(), 5);
    fs::create_dir_all(env.journal()).unwrap();
    fs::write(env.journal().join("current.fxj"), frames[..3].concat()).unwrap();
    let torn = "\nfxj1 900 0011223344556677 {\"torn";
    fs::write(stand_in, frames[3..].concat() + torn).unwrap();
    env
}

fn left(env: &TestEnv, ending: &str) -> bool {
    let files = [TestEnv::files_below(&env.home()), TestEnv::files_below(&env.runtime())].concat();
    files.iter().any(|(path, _)| path.to_string_lossy().ends_with(ending))
}

fn sound(env: &TestEnv) {
    if env.store().exists() {
        rows::assert_sound(&Connection::open(env.store()).unwrap());
    }
}

fn version(conn: &Connection) -> i64 {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// Some steps of an upgrade are made, and every copy that has its name is whole.
fn between_schemas(env: &TestEnv) {
    sound(env);
    let old = Connection::open(&databases()[0].1).unwrap();
    let before = rows::of_schema(&old, &old);
    let held = rows::open(env);
    assert!(version(&held) >= version(&old));
    rows::assert_same(&rows::of_schema(&held, &old), &before);
    for (path, _) in TestEnv::files_below(&env.home()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some(rest) = name.strip_prefix("store.db.v").filter(|n| n.ends_with(".bak")) else {
            continue;
        };
        let copy = Connection::open(&path).unwrap();
        rows::assert_sound(&copy);
        assert_eq!(version(&copy).to_string(), rest.split('.').next().unwrap());
        rows::assert_same(&rows::of_schema(&copy, &old), &before);
    }
}

/// Runs the case's command, with a point armed; true when it crashed there.
fn crashes(case: &Case, env: &TestEnv, armed: Option<(&str, u32)>) -> bool {
    let (mut command, stdin, _held) = (case.command)(env);
    if let Some((point, nth)) = armed {
        command.env("FORNAX_CRASH_POINT", format!("{point}:{nth}"));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // A process that is gone does not read.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let status = child.wait().unwrap();
    match status.signal() {
        Some(signal) => assert_eq!(signal, 6, "{armed:?}"),
        None => assert!(status.success(), "{armed:?}: {status}"),
    }
    status.signal().is_some()
}

fn try_every_passing(case: &Case) {
    let env = (case.set_up)();
    assert!(!crashes(case, &env, None));
    let whole = (case.finish)(&env);
    assert!(!whole.is_empty());
    for point in case.points {
        let mut nth = 1;
        loop {
            let env = (case.set_up)();
            let crashed = crashes(case, &env, Some((point, nth)));
            if crashed {
                (case.between)(&env);
            }
            rows::assert_same(&(case.finish)(&env), &whole);
            if !crashed {
                break;
            }
            nth += 1;
            assert!(nth < PASSINGS_MAX, "{point} is passed without an end");
        }
        assert!(nth > 1, "{point} is not passed");
    }
}

#[test]
fn an_upgrade_that_crashes_anywhere_is_completed_by_the_next_command() {
    try_every_passing(&UPGRADE);
}

#[test]
fn an_ingest_that_crashes_anywhere_is_completed_by_the_next() {
    try_every_passing(&INGEST);
}

#[test]
fn a_replay_that_crashes_anywhere_shows_the_old_rows_or_the_new_ones() {
    try_every_passing(&REPLAY);
}

#[test]
fn a_hook_that_crashes_leaves_its_frame_or_none() {
    try_every_passing(&HOOK);
    try_every_passing(&LOCKED_HOOK);
}

#[test]
fn a_drain_that_crashes_anywhere_is_completed_by_the_next_and_counts_nothing_twice() {
    try_every_passing(&DRAIN);
}

#[test]
fn no_release_is_built_with_crash_points() {
    assert!(include_str!("../../Cargo.toml").contains("\ndefault = []\n"));
    let release = |line: &&str| line.contains("cargo build --release");
    let mut lines = include_str!("../../Makefile").lines().filter(release);
    assert!(lines.all(|line| !line.contains("features")));
}

#[test]
fn every_crash_point_has_a_case() {
    let tried: BTreeSet<&str> = CASES.iter().flat_map(|case| case.points).copied().collect();
    assert_eq!(tried, POINTS.iter().copied().collect());
}
