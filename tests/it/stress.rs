//! Many processes at once on one store: every event is there, none twice, and nobody sees an error.
//!
//! `FORNAX_STRESS_SECONDS=60` makes the runs longer. How long a hook takes is measured by
//! `make bench` and not here.

use crate::support::claude::{self, Claude};
use crate::support::{Child, TestEnv, rows};
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const HOOK_WRITERS: u64 = 32;
const DRAINERS: u64 = 10;

#[expect(clippy::disallowed_methods, reason = "a longer run is asked for by a variable")]
fn length() -> Duration {
    let seconds = std::env::var("FORNAX_STRESS_SECONDS").ok().and_then(|s| s.parse().ok());
    Duration::from_secs(seconds.unwrap_or(3))
}

/// Fires hooks from several threads until `until`; answers how many.
fn fire(env: &TestEnv, writers: u64, until: Instant) -> u64 {
    let fired = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let fired = &fired;
            scope.spawn(move || {
                let mut nth = 0;
                while nth == 0 || Instant::now() < until {
                    let call = format!("toolu_{writer}_{nth}");
                    env.hook("claude", claude::post_tool_use("hooked", &call, "ls", "a\n"));
                    nth += 1;
                    fired.fetch_add(1, Ordering::Relaxed);
                    // Agents think, and the machine has other tests to run.
                    std::thread::sleep(Duration::from_millis(100));
                }
            });
        }
    });
    fired.into_inner()
}

/// Each hook is one event that was seen once, or one that is counted as too late.
fn assert_all_there(env: &TestEnv, fired: u64) {
    env.run(["sessions"]).ok();
    let late = env.lost("hook_deadline").cast_unsigned();
    let lost: Vec<Value> =
        env.losses().into_iter().filter(|loss| loss["reason"] != "hook_deadline").collect();
    assert_eq!(lost, Vec::<Value>::new());
    let of = "FROM sighting WHERE call_id LIKE 'toolu\\_%' ESCAPE '\\' AND ingress = 'built_in'
              AND source IN (SELECT id FROM source WHERE kind = 'hook')";
    let seen = rows::count(env, &format!("SELECT count(*) {of}")).cast_unsigned();
    let calls = rows::count(env, &format!("SELECT count(DISTINCT call_id) {of}")).cast_unsigned();
    assert_eq!(seen, calls, "a call was stored twice");
    // One that was too late may have been written all the same.
    assert!(seen <= fired && fired <= seen + late, "{fired} fired, {seen} seen, {late} late");
    assert_eq!(rows::count(env, "SELECT count(*) FROM journal_segment"), 0);
    rows::assert_sound(&rows::open_to_write(env));
}

/// Lets a history grow by a call at a time until `until`; answers its text.
fn grow(env: &TestEnv, until: Instant) -> String {
    let path = env.claude_home().join("projects/p/grown.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut session = Claude::new("grown");
    let mut written = 0;
    while written == 0 || Instant::now() < until {
        session.bash("ls", Ok("a\n"));
        session.answer("All tests pass.");
        let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        for line in &session.lines()[written..] {
            writeln!(file, "{line}").unwrap();
        }
        written = session.lines().len();
        std::thread::sleep(Duration::from_millis(30));
    }
    session.text()
}

/// Runs a command again and again; each run must say nothing on stderr and end with one of `codes`.
fn repeat(env: &TestEnv, args: &[&str], codes: &[i32], done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        let mut command = env.command();
        let ran = command.args(args).output().unwrap();
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.code().is_some_and(|c| codes.contains(&c)), "{args:?}: {told}");
        assert_eq!(told, "", "{args:?} talks");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn hooks_a_tail_an_ingest_and_a_verify_at_once_lose_nothing_and_show_no_error() {
    let env = TestEnv::new();
    // Something to verify from the start.
    env.write("in/first.jsonl", Claude::typical("first").text());
    env.ingest(&env.path("in"));
    let until = Instant::now() + length();
    let done = AtomicBool::new(false);
    let errors = env.path("tail.stderr");
    let mut command = env.command();
    command.args(["tail", "--all", "--json"]).stdin(Stdio::null()).stdout(Stdio::null());
    let mut tail = Child(command.stderr(File::create(&errors).unwrap()).spawn().unwrap());
    let (fired, text) = std::thread::scope(|scope| {
        scope.spawn(|| repeat(&env, &["ingest"], &[0], &done));
        scope.spawn(|| repeat(&env, &["verify", "first"], &[0], &done));
        let grown = scope.spawn(|| grow(&env, until));
        let fired = fire(&env, HOOK_WRITERS, until);
        let text = grown.join().unwrap();
        done.store(true, Ordering::Relaxed);
        (fired, text)
    });
    let pid = rustix::process::Pid::from_raw(tail.0.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(tail.ends_within(Duration::from_secs(20)), Some(0));
    assert_eq!(fs::read_to_string(errors).unwrap(), "");
    env.run(["ingest"]).ok();
    assert_all_there(&env, fired);
    let alone = TestEnv::new();
    alone.write("in/grown.jsonl", text);
    alone.ingest(&alone.path("in"));
    let ids = "SELECT hex(e.uid) FROM event e JOIN conversation c ON c.id = e.conversation
               WHERE c.native_id = 'grown' ORDER BY e.uid";
    assert_eq!(rows::texts(&env, ids), rows::texts(&alone, ids));
}

#[test]
fn ten_drainers_that_are_killed_while_hooks_append_store_each_event_once() {
    let env = TestEnv::new();
    let until = Instant::now() + length();
    let done = AtomicBool::new(false);
    let fired = std::thread::scope(|scope| {
        for drainer in 0..DRAINERS {
            let (env, done) = (&env, &done);
            scope.spawn(move || {
                // Moments that differ between drainers and runs of one, the same in each run.
                let mut moment = drainer * 7;
                while !done.load(Ordering::Relaxed) {
                    let mut command = env.command();
                    command.arg("sessions");
                    let mut child = Child::start(command);
                    moment = (moment * 13 + 11) % 83;
                    std::thread::sleep(Duration::from_millis(moment));
                    child.kill();
                }
            });
        }
        let fired = fire(&env, 4, until);
        done.store(true, Ordering::Relaxed);
        fired
    });
    assert_all_there(&env, fired);
    let left = TestEnv::files_below(&env.journal());
    assert!(left.iter().all(|(path, _)| path.extension().is_none_or(|e| e != "fxj")), "{left:?}");
}
