//! `fornax tail`: from where it was left, as it grows, and over a crash.

use crate::support::claude::Claude;
use crate::support::codex::Codex;
use crate::support::{Child, TestEnv, rows};
use serde_json::Value;
use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a line may take to be told on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn append(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// Ids of the events among records.
fn event_ids(records: &[Value]) -> Vec<String> {
    let of = |r: &&Value| r["type"] == "event";
    records.iter().filter(of).map(|r| r["id"].as_str().unwrap().to_owned()).collect()
}

/// A running `tail` whose lines arrive in a channel.
struct Tail {
    child: Child,
    lines: Receiver<String>,
}

impl Tail {
    fn start(env: &TestEnv, args: &[&str]) -> Self {
        let mut command = env.command();
        command.arg("tail").args(args);
        let mut child = Child::start(command);
        let stdout = BufReader::new(child.0.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// Lines up to and including the first that `is` accepts.
    fn until(&self, is: impl Fn(&str) -> bool) -> Vec<String> {
        let start = Instant::now();
        let mut seen = Vec::new();
        while start.elapsed() < PATIENCE {
            if let Ok(line) = self.lines.recv_timeout(Duration::from_millis(100)) {
                seen.push(line);
                if is(seen.last().unwrap()) {
                    return seen;
                }
            }
        }
        panic!("never told; seen: {seen:#?}");
    }

    /// Kills it and takes what it had told.
    fn kill(mut self) -> Vec<String> {
        self.child.kill();
        self.lines.iter().collect()
    }
}

#[test]
fn once_tells_what_is_there_and_then_only_what_is_new() {
    let env = TestEnv::new();
    let mut session = Claude::typical("c1");
    let path = env.write("c1.jsonl", session.text());
    let first = env.run(["tail", "c1.jsonl", "--once", "--json"]).ok().json_lines();
    assert_eq!(event_ids(&first).len(), 6);
    assert!(env.run(["tail", "c1.jsonl", "--once", "--json"]).ok().stdout.is_empty());
    session.prompt("thanks");
    append(&path, format!("{}\n", session.lines().last().unwrap()).as_bytes());
    let more = env.run(["tail", "c1.jsonl", "--once", "--json"]).ok().json_lines();
    assert_eq!(event_ids(&more).len(), 1);
    assert_eq!(more.iter().find(|r| r["type"] == "event").unwrap()["text"], "thanks");
}

#[test]
fn tail_goes_on_where_ingest_ended_and_the_other_way_round() {
    let env = TestEnv::new();
    let text = Claude::typical("c1").text();
    let cuts: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    let path = env.write("in/c1.jsonl", &text[..cuts[2]]);
    env.ingest(&env.path("in"));
    append(&path, &text.as_bytes()[cuts[2]..cuts[4]]);
    let told = env.run(["tail", "in/c1.jsonl", "--once", "--json"]).ok().json_lines();
    assert_eq!(event_ids(&told).len(), 2);
    append(&path, &text.as_bytes()[cuts[4]..]);
    env.ingest(&env.path("in"));
    let fresh = TestEnv::new();
    fresh.write("in/c1.jsonl", &text);
    fresh.ingest(&fresh.path("in"));
    rows::assert_same(&rows::told_anywhere(&env), &rows::told_anywhere(&fresh));
}

#[test]
fn each_event_is_a_readable_line_and_claims_are_marked() {
    let env = TestEnv::new();
    env.write("c1.jsonl", Claude::typical("c1").text());
    let told = env.run(["tail", "c1.jsonl", "--once"]).ok().stdout;
    insta::assert_snapshot!(told, @r"
    10:00:01 prompt run the tests
    10:00:02 call   Bash: ls
    10:00:03 ok     Bash: ls
    10:00:04 call   Bash: cargo test
    10:00:05 failed Bash: cargo test  [exit 101]
    10:00:06 agent  All tests pass.
             claim All tests pass.
    ");
}

#[test]
fn every_json_record_names_its_bytes() {
    let env = TestEnv::new();
    let text = Codex::typical("x1").text();
    env.write("rollout-x1.jsonl", &text);
    let told = env.run(["tail", "rollout-x1.jsonl", "--once", "--json"]).ok().json_lines();
    assert!(told.len() > 10);
    for record in told {
        let place = |key: &str| usize::try_from(record["locator"][key].as_u64().unwrap()).unwrap();
        let (offset, length) = (place("offset"), place("length"));
        let bytes = &text.as_bytes()[offset..offset + length];
        let hash = blake3::hash(bytes).to_hex().to_string();
        assert_eq!(record["locator"]["line_hash"], hash, "{record}");
        assert_eq!(record["session_id"], "x1");
        assert_eq!(record["provider"], "codex");
    }
}

#[test]
fn following_tells_lines_as_they_are_written() {
    let env = TestEnv::new();
    let lines = Claude::typical("c1").lines().to_vec();
    let path = env.write("c1.jsonl", format!("{}\n", lines[0]));
    let tail = Tail::start(&env, &["c1.jsonl"]);
    tail.until(|line| line.contains("run the tests"));
    for line in &lines[1..] {
        append(&path, format!("{line}\n").as_bytes());
        std::thread::sleep(Duration::from_millis(10));
    }
    let told = tail.until(|line| line.contains("claim"));
    assert!(told.iter().any(|line| line.contains("[exit 101]")), "{told:#?}");
    drop(tail);
}

#[test]
fn a_line_written_in_two_halves_is_told_once_and_whole() {
    let env = TestEnv::new();
    let lines = Claude::typical("c1").lines().to_vec();
    let path = env.write("c1.jsonl", format!("{}\n", lines[0]));
    let tail = Tail::start(&env, &["c1.jsonl", "--json"]);
    tail.until(|line| line.contains("run the tests"));
    let (head, end) = lines[1].split_at(60);
    append(&path, head.as_bytes());
    std::thread::sleep(Duration::from_millis(150));
    append(&path, format!("{end}\n").as_bytes());
    tail.until(|line| line.contains("pre_tool_use"));
    drop(tail);
    assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), 2);
    assert_eq!(env.losses(), Vec::<Value>::new());
}

#[test]
fn a_tail_that_is_killed_and_started_again_loses_nothing_and_tells_nothing_twice() {
    let env = TestEnv::new();
    let mut long = Claude::new("c1");
    long.prompt("many steps");
    for nth in 0..300 {
        long.bash(&format!("step {nth}"), Ok("done"));
    }
    long.answer("All steps done.");
    let path = env.write("c1.jsonl", format!("{}\n", long.lines()[0]));
    let lines = long.lines()[1..].to_vec();
    let writer = std::thread::spawn({
        let path = path.clone();
        move || {
            for (nth, line) in lines.iter().enumerate() {
                // Torn writes are part of life.
                let (head, end) = line.split_at(line.len() / 2);
                append(&path, head.as_bytes());
                append(&path, format!("{end}\n").as_bytes());
                if nth % 8 == 0 {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
    });
    let mut told = Vec::new();
    for step in ["step 20\"", "step 120\""] {
        let tail = Tail::start(&env, &["c1.jsonl", "--json"]);
        told.extend(tail.until(|line| line.contains(step)));
        told.extend(tail.kill());
    }
    let tail = Tail::start(&env, &["c1.jsonl", "--json"]);
    writer.join().unwrap();
    told.extend(tail.until(|line| line.contains("\"text\":\"All steps done.\"")));
    drop(tail);
    // A line that was being written when the kill came is no record.
    let records: Vec<Value> =
        told.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let ids = event_ids(&records);
    let distinct: HashSet<&String> = ids.iter().collect();
    assert_eq!(ids.len(), distinct.len(), "an event was told twice");
    let fresh = TestEnv::new();
    fresh.write("c1.jsonl", long.text());
    fresh.ingest(&fresh.path("c1.jsonl"));
    env.run(["tail", "c1.jsonl", "--once"]).ok();
    rows::assert_same(&rows::told_anywhere(&env), &rows::told_anywhere(&fresh));
}

#[test]
fn following_survives_truncation_and_replacement() {
    let env = TestEnv::new();
    let path = env.write("c1.jsonl", Claude::typical("c1").text());
    let tail = Tail::start(&env, &["c1.jsonl"]);
    tail.until(|line| line.contains("claim"));
    fs::write(&path, "").unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let mut next = Claude::new("c1");
    next.prompt("after the truncation");
    fs::write(&path, next.text()).unwrap();
    tail.until(|line| line.contains("after the truncation"));
    let mut other = Claude::new("c1");
    other.prompt("in another file");
    let aside = env.write("aside", other.text());
    fs::rename(aside, &path).unwrap();
    tail.until(|line| line.contains("in another file"));
    drop(tail);
    let prompts = "SELECT text FROM sighting s JOIN event e ON e.id = s.event
        WHERE e.kind = 'user_prompt_submit'";
    assert_eq!(rows::texts(&env, prompts), ["in another file"]);
}

#[test]
fn the_latest_history_of_either_agent_is_found() {
    let env = TestEnv::new();
    let line = env.run(["tail", "--latest", "--once"]).one_line_error(69);
    assert!(line.contains("name a file"), "{line}");
    let claude = env.claude_home().join("projects/p");
    let codex = env.codex_home().join("sessions/2026/11/20");
    fs::create_dir_all(&claude).unwrap();
    fs::create_dir_all(&codex).unwrap();
    fs::write(claude.join("c1.jsonl"), Claude::typical("c1").text()).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    fs::write(codex.join("rollout-x1.jsonl"), Codex::typical("x1").text()).unwrap();
    env.run(["tail", "--latest", "--once"]).ok();
    assert_eq!(env.sessions().len(), 1);
    assert_eq!(env.sessions()[0]["native_id"], "x1");
    env.run(["tail", "--all", "--once"]).ok();
    assert_eq!(env.sessions().len(), 2);
}

#[test]
fn all_follows_sessions_that_begin_later() {
    let env = TestEnv::new();
    let claude = env.claude_home().join("projects/p");
    fs::create_dir_all(&claude).unwrap();
    fs::write(claude.join("c1.jsonl"), Claude::typical("c1").text()).unwrap();
    let tail = Tail::start(&env, &["--all", "--json"]);
    tail.until(|line| line.contains("\"c1\""));
    fs::write(claude.join("c2.jsonl"), Claude::typical("c2").text()).unwrap();
    tail.until(|line| line.contains("\"session_id\":\"c2\""));
    drop(tail);
}

#[test]
fn a_history_folder_that_is_made_later_is_followed_at_once() {
    let env = TestEnv::new();
    fs::remove_dir(env.claude_home()).unwrap();
    let tail = Tail::start(&env, &["--all", "--json"]);
    // The journal's folder is made before the first look.
    let start = Instant::now();
    while !env.journal().is_dir() {
        assert!(start.elapsed() < PATIENCE, "it never began");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(100));
    let folder = env.claude_home().join("projects/p");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("c1.jsonl"), Claude::typical("c1").text()).unwrap();
    tail.until(|line| line.contains("\"type\":\"claim\""));
    drop(tail);
}

#[test]
fn a_session_that_is_moved_while_it_is_followed_is_read_on_and_told_once() {
    let env = TestEnv::new();
    let old = env.claude_home().join("projects/p");
    let new = env.claude_home().join("projects/q");
    fs::create_dir_all(&old).unwrap();
    let mut session = Claude::typical("c1");
    fs::write(old.join("c1.jsonl"), session.text()).unwrap();
    let tail = Tail::start(&env, &["--all", "--json"]);
    tail.until(|line| line.contains("\"type\":\"claim\""));
    // A folder that nobody watches yet.
    fs::create_dir(&new).unwrap();
    fs::rename(old.join("c1.jsonl"), new.join("c1.jsonl")).unwrap();
    session.prompt("in the new folder");
    append(&new.join("c1.jsonl"), format!("{}\n", session.lines().last().unwrap()).as_bytes());
    let told = tail.until(|line| line.contains("in the new folder"));
    assert!(!told.iter().any(|line| line.contains("run the tests")), "{told:#?}");
    drop(tail);
    assert_eq!(rows::texts(&env, "SELECT state FROM source"), ["active"]);
    assert_eq!(env.losses(), Vec::<Value>::new());
}

#[test]
fn a_rollout_that_is_compressed_and_restored_while_it_is_followed_stays_one_source() {
    let env = TestEnv::new();
    let folder = env.codex_home().join("sessions/2026/11/20");
    fs::create_dir_all(&folder).unwrap();
    let text = Codex::typical("x1").text();
    let cut = text.match_indices('\n').nth(4).unwrap().0 + 1;
    let plain = folder.join("rollout-x1.jsonl");
    fs::write(&plain, &text[..cut]).unwrap();
    let tail = Tail::start(&env, &["--all", "--json"]);
    tail.until(|line| line.contains("\"type\":\"event\""));
    let packed = zstd::encode_all(&text.as_bytes()[..cut], 3).unwrap();
    fs::write(folder.join("rollout-x1.jsonl.zst"), packed).unwrap();
    fs::remove_file(&plain).unwrap();
    std::thread::sleep(Duration::from_millis(150));
    fs::write(&plain, &text).unwrap();
    fs::remove_file(folder.join("rollout-x1.jsonl.zst")).unwrap();
    tail.until(|line| line.contains("\"type\":\"claim\""));
    drop(tail);
    env.run(["ingest"]).ok();
    assert_eq!(rows::count(&env, "SELECT count(*) FROM source"), 1);
    let fresh = TestEnv::new();
    fresh.write("in/rollout-x1.jsonl", &text);
    fresh.ingest(&fresh.path("in"));
    rows::assert_same(&rows::told_anywhere(&env), &rows::told_anywhere(&fresh));
}

#[test]
fn latest_leaves_the_backlog_alone_and_follows_what_is_written_to_from_now_on() {
    let env = TestEnv::new();
    let claude = env.claude_home().join("projects/p");
    fs::create_dir_all(&claude).unwrap();
    fs::write(claude.join("old.jsonl"), Claude::typical("old").text()).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    fs::write(claude.join("new.jsonl"), Claude::typical("new").text()).unwrap();
    let tail = Tail::start(&env, &["--latest", "--json"]);
    let mut told = tail.until(|line| line.contains("\"type\":\"claim\""));
    fs::write(claude.join("later.jsonl"), Claude::typical("later").text()).unwrap();
    told.extend(tail.until(|line| line.contains("\"session_id\":\"later\"")));
    drop(tail);
    assert!(!told.iter().any(|line| line.contains("\"session_id\":\"old\"")), "{told:#?}");
}

#[test]
fn a_signal_ends_it_in_order_and_the_next_one_goes_on_from_there() {
    let env = TestEnv::new();
    let mut session = Claude::typical("c1");
    let path = env.write("c1.jsonl", session.text());
    let mut tail = Tail::start(&env, &["c1.jsonl", "--json"]);
    tail.until(|line| line.contains("\"type\":\"claim\""));
    let id = rustix::process::Pid::from_child(&tail.child.0);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(tail.child.0.wait().unwrap().code(), Some(0));
    session.prompt("thanks");
    append(&path, format!("{}\n", session.lines().last().unwrap()).as_bytes());
    let more = env.run(["tail", "c1.jsonl", "--once", "--json"]).ok().json_lines();
    assert_eq!(event_ids(&more).len(), 1);
}

#[test]
fn hooks_are_drained_while_it_follows() {
    let env = TestEnv::new();
    env.write("c1.jsonl", Claude::typical("c1").text());
    let tail = Tail::start(&env, &["c1.jsonl"]);
    tail.until(|line| line.contains("claim"));
    let more = serde_json::json!({"message": "waiting"});
    env.hook("claude", crate::support::claude::payload("h1", "Notification", more));
    let start = Instant::now();
    let journalled = || {
        TestEnv::files_below(&env.journal())
            .iter()
            .any(|(path, bytes)| path.extension().is_some_and(|e| e == "fxj") && !bytes.is_empty())
    };
    while journalled() {
        assert!(start.elapsed() < PATIENCE, "the hook's record waits on");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(tail);
}

#[test]
fn a_file_that_is_missing_or_foreign_or_no_file_is_a_one_line_error() {
    let env = TestEnv::new();
    env.write("foreign.jsonl", "{\"some\":\"other\"}\n");
    fs::create_dir(env.path("folder")).unwrap();
    for (name, code) in [("gone.jsonl", 74), ("foreign.jsonl", 65), ("folder", 74)] {
        let line = env.run(["tail", name, "--once"]).one_line_error(code);
        assert!(line.contains(name), "{line}");
    }
}
