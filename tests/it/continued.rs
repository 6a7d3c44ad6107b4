//! A test run that outlives the call that began it is judged by how it ended.

use crate::support::TestEnv;
use serde_json::{Value, json};

const THREAD: &str = "01a1aa00-0000-7000-8000-000000000031";

/// The verdict and the code on the claim of a rollout whose test run ended in a later poll.
fn judged(code: i64) -> (String, i64) {
    let call = |name: &str, input: Value, id: &str| json!({"type": "function_call", "name": name, "arguments": input.to_string(), "call_id": id});
    let output = |id: &str, state: &str| {
        let text = format!("Wall time: 1.0000 seconds\n{state}\nOutput:\n");
        json!({"type": "function_call_output", "call_id": id, "output": text})
    };
    let message = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let poll = || json!({"session_id": 7, "chars": ""});
    let items = [
        message("user", "input_text", "run the tests"),
        call("exec_command", json!({"cmd": "cargo test"}), "call_A"),
        output("call_A", "Process running with session ID 7"),
        call("write_stdin", poll(), "call_B"),
        output("call_B", "Process running with session ID 7"),
        call("write_stdin", poll(), "call_C"),
        output("call_C", &format!("Process exited with code {code}")),
        message("assistant", "output_text", "All tests pass."),
    ];
    let meta = json!({"timestamp": "2026-11-20T09:15:00.000Z", "type": "session_meta",
                      "payload": {"id": THREAD, "cwd": "/home/dev/demo"}});
    let lines = items.iter().zip(1..).map(|(item, second)| {
        json!({"timestamp": format!("2026-11-20T09:15:{second:02}.000Z"),
               "type": "response_item", "payload": item})
    });
    let text: String = std::iter::once(meta).chain(lines).map(|line| format!("{line}\n")).collect();
    let env = TestEnv::new();
    env.ingest(&env.write("in/rollout.jsonl", text));
    let verify = env.run(["verify", THREAD, "--json"]).ok().json();
    let verdict = verify["findings"][0]["verdict"].as_str().unwrap().to_owned();
    let session = env.sessions().remove(0);
    (verdict, session["failed_calls"].as_i64().unwrap())
}

#[test]
fn the_end_of_a_run_decides_and_counts_once() {
    assert_eq!(judged(0), ("verified".to_owned(), 0));
    assert_eq!(judged(101), ("contradicted".to_owned(), 1));
}
