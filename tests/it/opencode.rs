//! `fornax hook opencode`: one process a stream, every payload in the journal as it comes.

use crate::support::{Child, TestEnv, rows};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

fn stream() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agents/opencode/stream.jsonl");
    fs::read_to_string(file).unwrap()
}

fn session(env: &TestEnv, native_id: &str) -> Value {
    env.sessions().into_iter().find(|s| s["native_id"] == native_id).unwrap()
}

#[test]
fn a_stream_is_recorded_to_its_end_without_a_word_and_without_a_loss() {
    let env = TestEnv::new();
    env.hook("opencode", stream());
    let told = session(&env, "ses_a1");
    assert_eq!(told["provider"], "open_code");
    assert_eq!(told["cwd"], "/home/ada/parser");
    assert_eq!(told["title"], "Fix the rounding");
    assert_eq!(told["models"], json!(["acme-large"]));
    assert_eq!((&told["events"], &told["failed_calls"]), (&json!(9), &json!(1)));
    let child = session(&env, "ses_b2");
    assert_eq!(child["parent"], told["conversation"]);
    assert_eq!(env.losses(), Vec::<Value>::new());
}

#[test]
fn the_same_stream_twice_is_the_same_events() {
    let env = TestEnv::new();
    env.hook("opencode", stream());
    assert_eq!(env.sessions().len(), 2);
    let before = rows::count(&env, "SELECT count(*) FROM event WHERE kind LIKE '%tool_use'");
    env.hook("opencode", stream());
    env.sessions();
    let after = rows::count(&env, "SELECT count(*) FROM event WHERE kind LIKE '%tool_use'");
    assert_eq!(before, after);
}

#[test]
fn evidence_carries_an_envelope_of_its_provider() {
    let env = TestEnv::new();
    env.hook("opencode", stream());
    env.sessions();
    let found = rows::texts(&env, "SELECT extension FROM evidence WHERE kind = 'exit_code'");
    let envelope: Value = serde_json::from_str(&found[0]).unwrap();
    assert_eq!(envelope["schema_version"], 2);
    assert_eq!(envelope["provider"], "open_code");
    assert_eq!(envelope["fields"]["title"], "cargo test");
}

#[test]
fn a_payload_is_recorded_while_the_stream_is_open_also_long_after_a_hooks_deadline() {
    let env = TestEnv::new();
    let mut command = env.command();
    command.args(["hook", "opencode"]);
    let mut child = Child::start(command);
    let mut stdin = child.0.stdin.take().unwrap();
    let text = stream();
    let (head, tail) = text.split_at(text.rfind("{\"hook\":\"tool.execute.after\"").unwrap());
    stdin.write_all(head.as_bytes()).unwrap();
    let start = Instant::now();
    let last = b"call_2";
    let is_there = |f: &(std::path::PathBuf, Vec<u8>)| f.1.windows(last.len()).any(|w| w == last);
    while !TestEnv::files_below(&env.journal()).iter().any(is_there) {
        assert!(start.elapsed() < Duration::from_secs(20), "nothing is recorded");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(600));
    stdin.write_all(tail.as_bytes()).unwrap();
    drop(stdin);
    assert_eq!(child.ends_within(Duration::from_secs(20)), Some(0));
    assert_eq!(session(&env, "ses_a1")["events"], 9);
    assert_eq!(env.losses(), Vec::<Value>::new());
}

#[test]
fn a_bad_line_is_one_loss_and_its_neighbours_are_recorded() {
    let env = TestEnv::new();
    let text = stream();
    let lines: Vec<&str> = text.lines().collect();
    let mut bad = lines.clone();
    bad.insert(4, "this is no payload");
    bad.insert(6, "{\"hook\":\"tool.execute.after\",\"payl");
    env.hook("opencode", bad.join("\n"));
    assert_eq!(session(&env, "ses_a1")["events"], 9);
    assert_eq!(env.lost("hook_payload_invalid"), 2);
    assert_eq!(env.losses().len(), 1, "{:?}", env.losses());
}

#[test]
fn a_stream_that_nobody_ever_writes_to_leaves_nothing() {
    let env = TestEnv::new();
    env.hook("opencode", "");
    assert!(!env.home().exists());
}
