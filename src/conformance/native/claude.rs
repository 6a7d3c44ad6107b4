//! Lines of a Claude Code transcript.

use serde_json::{Map, Value, json};

use super::{FOLDER, OTHER, OWN};

/// Where the exit code of `result` stands, by spelling.
pub(super) const RESULT_PATHS: &[&str] = &["message.content[0].content", "toolUseResult"];

/// An envelope with its own uuid, and more keys put into it.
fn line(seconds: usize, kind: &str, more: Value) -> Value {
    let (minute, second) = (seconds / 60, seconds % 60);
    let mut line = json!({
        "type": kind, "uuid": format!("00000000-0000-4000-8000-{seconds:012x}"),
        "parentUuid": null, "isSidechain": false, "sessionId": OWN, "cwd": FOLDER,
        "version": "2.1.200", "gitBranch": "main", "userType": "external",
        "timestamp": format!("2026-05-01T08:{minute:02}:{second:02}.000Z"),
    });
    put(&mut line, more);
    line
}

fn put(line: &mut Value, more: Value) {
    if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
        let more: Map<String, Value> = more;
        line.extend(more);
    }
}

fn assistant(seconds: usize, response: &str, model: &str, content: Value, usage: Value) -> Value {
    let mut message = json!({"id": response, "type": "message", "role": "assistant",
        "model": model, "content": content, "stop_reason": null});
    if !usage.is_null() {
        put(&mut message, json!({ "usage": usage }));
    }
    line(seconds, "assistant", json!({ "message": message }))
}

fn response(seconds: usize) -> String {
    format!("msg_{seconds}")
}

pub(super) fn opening() -> Value {
    json!({"type": "permission-mode", "permissionMode": "default", "sessionId": OWN})
}

pub(super) fn prompt(seconds: usize, turn: usize, text: &str) -> Value {
    line(
        seconds,
        "user",
        json!({"promptId": format!("prompt-{turn}"), "message": {"role": "user", "content": text}}),
    )
}

pub(super) fn answer(seconds: usize, model: &str, text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    assistant(seconds, &response(seconds), model, content, Value::Null)
}

pub(super) fn call(seconds: usize, model: &str, id: &str, command: &str) -> Value {
    let content =
        json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]);
    assistant(seconds, &response(seconds), model, content, Value::Null)
}

pub(super) fn result(seconds: usize, turn: usize, id: &str, code: i64, spelling: usize) -> Value {
    let text = format!("Exit code {code}\n");
    let content = json!([{"type": "tool_result", "tool_use_id": id, "content": text,
        "is_error": spelling == 0}]);
    let mut more = json!({"promptId": format!("prompt-{turn}"),
        "message": {"role": "user", "content": content}});
    if spelling != 0 {
        let host = json!({"stdout": "", "stderr": "", "interrupted": false, "exitCode": code});
        put(&mut more, json!({ "toolUseResult": host }));
    }
    line(seconds, "user", more)
}

pub(super) fn usage(seconds: usize, response: &str, model: &str) -> Value {
    let content = json!([{"type": "thinking", "thinking": ""}]);
    assistant(seconds, response, model, content, json!({"input_tokens": 10, "output_tokens": 2}))
}

pub(super) fn siblings(seconds: usize, model: &str) -> Value {
    let content = json!([{"type": "text", "text": "first part"},
        {"type": "text", "text": "second part"}]);
    assistant(seconds, &response(seconds), model, content, Value::Null)
}

pub(super) fn unknown(seconds: usize, marker: &str) -> Value {
    line(seconds, "telepathy", json!({ "note": marker }))
}

pub(super) fn forked() -> (Vec<Value>, Vec<Value>) {
    let from = json!({"forkedFrom": {"sessionId": OTHER, "messageUuid": "m1"}});
    let mut copied = vec![
        prompt(1, 1, "copied prompt"),
        answer(2, "model-one", "copied answer"),
        usage(3, "msg_copied", "model-one"),
    ];
    copied.iter_mut().for_each(|line| put(line, from.clone()));
    let own = vec![prompt(4, 2, "own prompt"), usage(5, "msg_own", "model-one")];
    (copied, own)
}

pub(super) fn child() -> Vec<Value> {
    let agent = json!({"isSidechain": true, "agentId": OWN, "sessionId": OTHER});
    let mut lines = vec![
        prompt(1, 1, "look for it"),
        answer(2, "model-one", "found it"),
        call(3, "model-one", "call_1", "ls"),
    ];
    lines.iter_mut().for_each(|line| put(line, agent.clone()));
    lines
}
