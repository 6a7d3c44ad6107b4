//! Lines of a Codex rollout. Each states its time.

use super::super::codex;
use super::{PLAUSIBLE, huge_text, malformed, planted_secret, with};
use crate::conformance::normalizing::{MARKER, Payload, SESSION};
use serde_json::{Value, json};

/// The payloads of a scenario.
///
/// # Errors
/// Why a rollout cannot be driven into it.
pub fn payloads(scenario: &str) -> Result<Vec<Payload>, String> {
    let lines = match scenario {
        "session_start" => vec![],
        "session_end" => return Err("a rollout tells no end of its session".to_owned()),
        "prompt" => vec![codex::prompt(2, "Fix the rounding")],
        "answer" => vec![codex::answer(2, "The rounding is fixed.")],
        "tool_ok" | "tool_coded" | "untimed" => {
            vec![codex::call(2, "c1", "make test"), codex::result(3, "c1", 0, 0)]
        }
        "tool_failed" => vec![codex::call(2, "c1", "make test"), output(3, "c1", 3, PLAUSIBLE)],
        "tool_silent" => vec![codex::call(2, "c1", "make test"), said(3, "c1", json!("done"))],
        "tool_denied" => vec![
            codex::call(2, "c1", "make test"),
            said(3, "c1", json!("exec command rejected by user")),
        ],
        "tool_interrupted" => {
            vec![
                codex::call(2, "c1", "make test"),
                said(3, "c1", json!("aborted by user after 2.0s")),
            ]
        }
        "tool_unresolved" => vec![codex::call(2, "c1", "make test")],
        "tool_interleaved" => vec![
            codex::call(2, "c1", "make test"),
            codex::call(2, "c2", "ls"),
            codex::result(3, "c2", 0, 0),
            codex::result(4, "c1", 3, 0),
        ],
        "multi_part" => vec![codex::call(2, "c1", "make test"), output(3, "c1", 3, "bad")],
        "subagent" => vec![activity(2, "started"), activity(3, "completed")],
        "compaction" => vec![line(2, "compacted", json!({"message": "what was done"}))],
        "usage" => vec![codex::usage(2, "r1", 1)],
        "bookkeeping" => vec![codex::filler(2, 8)],
        "unknown_kind" => vec![codex::unknown(2, MARKER)],
        "malformed" => return Ok(malformed()),
        "secret" => secrets(),
        "huge" => vec![codex::call(2, "c1", "make test"), output(3, "c1", 0, &huge_text())],
        "no_session_id" => return Ok(vec![timed(&codex::prompt(0, "go on"))]),
        "two_sessions" => return Err("an adapter reads one rollout".to_owned()),
        other => return Err(format!("no scenario {other}")),
    };
    let opened =
        [codex::opening(0, SESSION), codex::task_started(1, 1), codex::context(1, 1, "model-one")];
    let all = opened.into_iter().chain(lines);
    Ok(if scenario == "untimed" {
        all.map(|line| Payload::untimed(&without_time(line))).collect()
    } else {
        all.map(|line| timed(&line)).collect()
    })
}

fn timed(line: &Value) -> Payload {
    let at = line.get("timestamp").and_then(Value::as_str).unwrap_or_default();
    Payload::timed(line, at)
}

fn without_time(mut line: Value) -> Value {
    if let Value::Object(members) = &mut line {
        members.remove("timestamp");
    }
    line
}

fn line(seconds: usize, kind: &str, payload: Value) -> Value {
    with(codex::filler(seconds, 0), json!({"type": kind, "payload": payload}))
}

fn said(seconds: usize, id: &str, output: Value) -> Value {
    let item = json!({"type": "function_call_output", "call_id": id, "output": output});
    line(seconds, "response_item", item)
}

fn output(seconds: usize, id: &str, code: i64, text: &str) -> Value {
    said(seconds, id, json!(format!("Exit code: {code}\nWall time: 0 seconds\nOutput:\n{text}")))
}

/// News of an agent that this one started.
fn activity(seconds: usize, kind: &str) -> Value {
    let payload = json!({"type": "sub_agent_activity", "event_id": kind, "occurred_at_ms": 0,
        "agent_thread_id": "019f0000-0000-7000-8000-00000000000d", "agent_path": "/root/check",
        "kind": kind});
    line(seconds, "event_msg", payload)
}

fn secrets() -> Vec<Value> {
    let secret = planted_secret();
    vec![
        codex::prompt(2, &format!("use {secret}")),
        codex::call(3, "c1", &format!("curl -H 'Authorization: Bearer {secret}' x")),
        output(4, "c1", 3, &format!("token {secret} refused")),
        codex::unknown(5, &secret),
        line(6, &secret, json!({ "note": secret })),
        line(7, "event_msg", json!({ "type": secret })),
        json!({ "token": secret }),
        json!(secret),
    ]
}
