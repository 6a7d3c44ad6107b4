//! `codex exec --json` beside the rollout of the same thread: one history, counted once.

use crate::support::TestEnv;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const THREAD: &str = "01a1aa00-0000-7000-8000-000000000021";
const ROLLOUT: &str = "exec_stream_rollout.jsonl";
const STREAM: &str = "exec_stream.jsonl";

fn put(env: &TestEnv, case: &str) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agents/codex").join(case);
    env.write(&format!("in/{case}"), fs::read(from).unwrap())
}

/// Events, failed calls and findings of the thread, as the program answers them.
fn answers(env: &TestEnv) -> (Value, Value, Vec<Value>) {
    let sessions = env.sessions();
    let own = sessions.iter().find(|session| session["native_id"] == THREAD).unwrap();
    let verify = env.run(["verify", THREAD, "--json"]).ok().json();
    let findings = verify["findings"].as_array().unwrap().clone();
    (own["events"].clone(), own["failed_calls"].clone(), findings)
}

fn shown(env: &TestEnv) -> Vec<Value> {
    env.run(["show", THREAD, "--json"]).ok().json()["events"].as_array().unwrap().clone()
}

#[test]
fn a_stream_beside_its_rollout_changes_no_count_and_no_finding() {
    let env = TestEnv::new();
    env.ingest(&put(&env, ROLLOUT));
    let before = answers(&env);
    let kinds = |events: &[Value]| -> Vec<Value> {
        events.iter().map(|event| event["kind"].clone()).collect()
    };
    let shown_before = kinds(&shown(&env));
    env.ingest(&put(&env, STREAM));
    assert_eq!(answers(&env), before);
    assert_eq!(kinds(&shown(&env)), shown_before);
    assert_eq!(before.1, 1, "one command failed");
    assert_eq!(before.2.len(), 1, "one claim was made");
}

#[test]
fn the_stream_read_first_gives_the_same_answers() {
    let one = TestEnv::new();
    one.ingest(&put(&one, ROLLOUT));
    one.ingest(&put(&one, STREAM));
    let other = TestEnv::new();
    other.ingest(&put(&other, STREAM));
    let alone = answers(&other);
    other.ingest(&put(&other, ROLLOUT));
    let verdicts = |env: &TestEnv| -> Vec<Value> {
        answers(env).2.iter().map(|finding| finding["verdict"].clone()).collect()
    };
    assert_eq!(answers(&one).0, answers(&other).0);
    assert_eq!(verdicts(&one), verdicts(&other));
    assert!(alone.0.as_i64() > answers(&other).0.as_i64());
}

#[test]
fn a_streamed_answer_is_a_sighting_of_the_rollout_s() {
    let env = TestEnv::new();
    env.ingest(&put(&env, ROLLOUT));
    env.ingest(&put(&env, STREAM));
    let events = shown(&env);
    let answer = events.iter().find(|event| event["kind"] == "assistant_message").unwrap();
    let sources: Vec<&str> = answer["sightings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|seen| seen["source"].as_str().unwrap())
        .collect();
    assert_eq!(sources.len(), 2, "{sources:?}");
    assert!(sources[0].ends_with(ROLLOUT) && sources[1].ends_with(STREAM), "{sources:?}");
}

/// The verdict and the reason on the claim of a stream that holds these items.
fn judged(items: &[Value]) -> (String, String) {
    let env = TestEnv::new();
    let mut lines = vec![
        json!({"type": "thread.started", "thread_id": THREAD}),
        json!({"type": "turn.started"}),
    ];
    lines.extend(items.iter().map(|item| json!({"type": "item.completed", "item": item})));
    lines.push(json!({"type": "item.completed",
        "item": {"id": "item_9", "type": "agent_message", "text": "All tests pass."}}));
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    env.ingest(&env.write("in/run.jsonl", text));
    let findings = answers(&env).2;
    let word = |key: &str| findings[0][key].as_str().unwrap().to_owned();
    (word("verdict"), word("reason"))
}

fn tests_ran(code: i64) -> Value {
    let status = if code == 0 { "completed" } else { "failed" };
    json!({"id": "item_0", "type": "command_execution", "command": "bash -lc 'cargo test'",
           "aggregated_output": "", "exit_code": code, "status": status})
}

#[test]
fn a_stream_alone_tells_its_calls_and_is_judged() {
    let env = TestEnv::new();
    env.ingest(&put(&env, STREAM));
    let (events, failed, _) = answers(&env);
    assert_eq!(events, shown(&env).len());
    assert_eq!(failed, 2);
    assert_eq!(judged(&[tests_ran(101)]).0, "contradicted");
    assert_eq!(judged(&[tests_ran(0)]).0, "verified");
}

#[test]
fn a_file_that_a_stream_names_after_the_run_makes_the_run_stale() {
    let change = json!({"id": "item_1", "type": "file_change", "status": "completed",
                        "changes": [{"path": "src/lib.rs", "kind": "update"}]});
    let (verdict, reason) = judged(&[tests_ran(0), change]);
    assert_eq!((verdict.as_str(), reason.as_str()), ("review", "stale_after_edit"));
}
