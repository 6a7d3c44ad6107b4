//! Claude Code's hook payloads. They state no time.

use super::{PLAUSIBLE, huge_text, malformed, planted_secret, with};
use crate::conformance::normalizing::{MARKER, Payload, SECOND, SESSION};
use serde_json::{Value, json};

/// The payloads of a scenario.
///
/// # Errors
/// Why these hooks cannot be driven into it.
pub fn payloads(scenario: &str) -> Result<Vec<Payload>, String> {
    let values = match scenario {
        "session_start" => vec![hook("SessionStart", json!({"source": "startup"}))],
        "session_end" => vec![hook("SessionEnd", json!({"reason": "other"}))],
        "prompt" => vec![hook("UserPromptSubmit", json!({"prompt": "Fix the rounding"}))],
        "answer" => vec![stop("The rounding is fixed.")],
        "tool_ok" | "untimed" => {
            vec![before("c1"), after("c1", json!({"stdout": "src", "stderr": ""}))]
        }
        "tool_coded" => vec![before("c1"), after("c1", json!({"stdout": "", "exitCode": 0}))],
        "tool_failed" => {
            vec![before("c1"), failure("c1", &format!("Exit code 3\n{PLAUSIBLE}"))]
        }
        "tool_silent" => vec![before("c1"), after("c1", Value::Null)],
        "tool_denied" => vec![
            before("c1"),
            hook("PermissionDenied", call("c1", json!({"reason": "not in this folder"}))),
        ],
        "tool_interrupted" => {
            let stopped = json!({"error": "stopped by the user", "is_interrupt": true});
            vec![before("c1"), hook("PostToolUseFailure", call("c1", stopped))]
        }
        "tool_unresolved" => vec![before("c1")],
        "tool_interleaved" => vec![
            before("c1"),
            before("c2"),
            after("c2", json!({"stdout": "fine", "stderr": ""})),
            failure("c1", "Exit code 3\nbad"),
        ],
        "multi_part" => vec![failure("c1", "Exit code 3\nbad")],
        "subagent" => vec![
            hook("SubagentStart", json!({"agent_id": "a1", "agent_type": "Explore"})),
            hook(
                "SubagentStop",
                json!({"agent_id": "a1", "agent_type": "Explore",
                "stop_hook_active": false, "last_assistant_message": "found it"}),
            ),
        ],
        "compaction" => vec![hook("PreCompact", json!({"trigger": "auto"}))],
        "usage" => return Err("hook payloads state no tokens".to_owned()),
        "bookkeeping" => vec![hook("PostToolBatch", json!({"tool_calls": []}))],
        "unknown_kind" => vec![hook("TelepathyEnd", json!({"note": MARKER, "nested": [MARKER]}))],
        "malformed" => return Ok(malformed()),
        "secret" => secrets(),
        "huge" => vec![after("c1", json!({"stdout": huge_text(), "stderr": ""}))],
        "no_session_id" => vec![json!({"hook_event_name": "UserPromptSubmit", "cwd": "/w",
            "prompt_id": "p1", "prompt": "go on"})],
        "two_sessions" => vec![
            before("c1"),
            with(before("c1"), json!({"session_id": SECOND})),
            with(
                after("c1", json!({"stdout": "fine", "stderr": ""})),
                json!({"session_id": SECOND}),
            ),
            failure("c1", "Exit code 3\nbad"),
        ],
        other => return Err(format!("no scenario {other}")),
    };
    Ok(values.iter().map(Payload::untimed).collect())
}

fn hook(event: &str, more: Value) -> Value {
    let common = json!({"session_id": SESSION, "transcript_path": "/t.jsonl", "cwd": "/w",
        "prompt_id": "p1", "permission_mode": "default", "hook_event_name": event});
    with(common, more)
}

fn call(id: &str, more: Value) -> Value {
    let common = json!({"tool_name": "Bash", "tool_input": {"command": "make test"},
        "tool_use_id": id});
    with(common, more)
}

fn before(id: &str) -> Value {
    hook("PreToolUse", call(id, json!({})))
}

fn after(id: &str, response: Value) -> Value {
    let more = if response.is_null() { json!({}) } else { json!({ "tool_response": response }) };
    hook("PostToolUse", call(id, more))
}

fn failure(id: &str, error: &str) -> Value {
    hook("PostToolUseFailure", call(id, json!({ "error": error })))
}

fn stop(text: &str) -> Value {
    hook("Stop", json!({"stop_hook_active": false, "last_assistant_message": text}))
}

fn secrets() -> Vec<Value> {
    let secret = planted_secret();
    vec![
        hook("UserPromptSubmit", json!({ "prompt": format!("use {secret}") })),
        failure("c1", &format!("Exit code 3\ntoken {secret} refused")),
        hook("TelepathyEnd", json!({ "note": secret })),
        json!({ "hook_event_name": secret, "session_id": SESSION }),
        json!({ "token": secret }),
        json!([secret]),
        json!(secret),
    ]
}
