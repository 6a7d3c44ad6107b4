//! Killed in the middle: whatever the moment, the next run ends with the rows of one that was not.

use crate::support::claude::{self, Claude};
use crate::support::{Child, TestEnv, rows};
use std::fs;
use std::time::Duration;

/// Moments after the start, in milliseconds; some come before anything is stored, some after all.
const MOMENTS: [u64; 8] = [1, 4, 8, 15, 30, 60, 120, 240];

fn long_session(steps: u32, mark: &str) -> String {
    let mut session = Claude::new("c1");
    for nth in 0..steps {
        session.bash(&format!("{mark} {nth}"), Ok("done"));
    }
    session.text()
}

fn start_and_kill(env: &TestEnv, args: &[&str], after: u64) {
    let mut command = env.command();
    command.args(args);
    let mut child = Child::start(command);
    std::thread::sleep(Duration::from_millis(after));
    child.kill();
}

fn fresh(text: &str) -> Vec<String> {
    let env = TestEnv::new();
    env.write("in/c1.jsonl", text);
    env.ingest(&env.path("in"));
    rows::told_anywhere(&env)
}

#[test]
fn an_ingest_that_is_killed_at_any_moment_is_completed_by_the_next() {
    let text = long_session(900, "step");
    let env = TestEnv::new();
    env.write("in/c1.jsonl", &text);
    for after in MOMENTS {
        start_and_kill(&env, &["ingest", "in"], after);
    }
    env.ingest(&env.path("in"));
    rows::assert_same(&rows::told_anywhere(&env), &fresh(&text));
}

#[test]
fn a_replay_that_is_killed_leaves_the_old_rows_or_the_new_ones_and_never_a_mix() {
    let (old, new) = (long_session(400, "old"), long_session(500, "new"));
    let whole = fresh(&new);
    for after in MOMENTS {
        let env = TestEnv::new();
        let path = env.write("in/c1.jsonl", &old);
        env.ingest(&env.path("in"));
        fs::write(&path, &new).unwrap();
        start_and_kill(&env, &["ingest", "in"], after);
        env.run(["export-spool", "--all", "--out", "spool"]).ok();
        let shown: Vec<String> = TestEnv::files_below(&env.path("spool/pending"))
            .into_iter()
            .filter_map(|(_, bytes)| {
                let record: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
                let command = record["tool_input"]["command"].as_str()?;
                Some(command.split(' ').next().unwrap().to_owned())
            })
            .collect();
        let of = |mark: &str| shown.iter().filter(|shown| *shown == mark).count();
        let all = (of("old"), of("new"));
        assert!([(800, 0), (0, 1_000)].contains(&all), "after {after} ms: {all:?}");
        env.ingest(&env.path("in"));
        let mut told = rows::told_anywhere(&env);
        told.retain(|row| !row.contains("reason=source_rewritten"));
        rows::assert_same(&told, &whole);
    }
}

#[test]
fn a_drain_that_is_killed_at_any_moment_stores_every_hook_exactly_once() {
    let env = TestEnv::new();
    for nth in 0..40 {
        env.hook("claude", claude::post_tool_use("s", &format!("toolu_{nth}"), "ls", "a\n"));
    }
    // Many more of the same, so that a drain takes a while.
    let current = env.journal().join("current.fxj");
    let frames = fs::read(&current).unwrap();
    fs::write(&current, frames.repeat(60)).unwrap();
    for after in [1, 3, 6, 10, 20, 40] {
        start_and_kill(&env, &["sessions"], after);
    }
    assert_eq!(env.sessions()[0]["events"], 40);
    assert_eq!(rows::count(&env, "SELECT count(*) FROM sighting"), 40);
    assert_eq!(env.losses(), Vec::<serde_json::Value>::new());
    let left = TestEnv::files_below(&env.journal());
    assert!(left.iter().all(|(path, _)| path.extension().is_none_or(|e| e != "fxj")), "{left:?}");
}

#[test]
fn an_export_that_is_killed_is_completed_by_the_next_and_no_half_file_counts() {
    let env = TestEnv::new();
    env.write("in/c1.jsonl", long_session(150, "step"));
    env.ingest(&env.path("in"));
    for after in [5, 20, 50, 100] {
        start_and_kill(&env, &["export-spool", "--all", "--out", "spool"], after);
        for (path, bytes) in TestEnv::files_below(&env.path("spool/pending")) {
            if path.extension().is_some_and(|e| e == "json") {
                serde_json::from_slice::<serde_json::Value>(&bytes).unwrap();
            }
        }
    }
    env.run(["export-spool", "--all", "--out", "spool"]).ok();
    let whole = TestEnv::new();
    whole.write("in/c1.jsonl", long_session(150, "step"));
    whole.ingest(&whole.path("in"));
    whole.run(["export-spool", "--all", "--out", "spool"]).ok();
    let names = |env: &TestEnv| -> Vec<_> {
        TestEnv::files_below(&env.path("spool"))
            .into_iter()
            .map(|(path, bytes)| (path.strip_prefix(env.path("")).unwrap().to_owned(), bytes))
            .collect()
    };
    assert_eq!(names(&env), names(&whole));
}
