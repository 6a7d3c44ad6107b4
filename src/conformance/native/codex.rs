//! Lines of a Codex rollout.

use serde_json::{Value, json};

use super::{FOLDER, OTHER, OWN};

/// Where the exit code of `result` stands, by spelling.
pub(super) const RESULT_PATHS: &[&str] = &["payload.output", "payload.output[0].text"];

fn line(seconds: usize, kind: &str, payload: Value) -> Value {
    let (minute, second) = (seconds / 60, seconds % 60);
    json!({"timestamp": format!("2026-05-01T08:{minute:02}:{second:02}.000Z"), "type": kind,
        "payload": payload})
}

fn item(seconds: usize, payload: Value) -> Value {
    line(seconds, "response_item", payload)
}

fn message(seconds: usize, role: &str, part: &str, texts: &[&str]) -> Value {
    let content: Vec<Value> =
        texts.iter().map(|text| json!({"type": part, "text": text})).collect();
    item(seconds, json!({"type": "message", "role": role, "content": content}))
}

/// Native id of the turn; younger than `OWN`.
fn turn_id(turn: usize) -> String {
    format!("019f0000-0001-7000-8000-{turn:012x}")
}

pub(super) fn opening(seconds: usize, id: &str) -> Value {
    line(seconds, "session_meta", json!({"id": id, "cwd": FOLDER, "cli_version": "0.140.0"}))
}

pub(super) fn task_started(seconds: usize, turn: usize) -> Value {
    line(seconds, "event_msg", json!({"type": "task_started", "turn_id": turn_id(turn)}))
}

/// The end of a turn.
pub fn task_complete(seconds: usize, turn: usize) -> Value {
    line(seconds, "event_msg", json!({"type": "task_complete", "turn_id": turn_id(turn)}))
}

pub(super) fn context(seconds: usize, turn: usize, model: &str) -> Value {
    let payload = json!({"turn_id": turn_id(turn), "cwd": FOLDER, "model": model});
    line(seconds, "turn_context", payload)
}

pub(super) fn prompt(seconds: usize, text: &str) -> Value {
    message(seconds, "user", "input_text", &[text])
}

pub(super) fn answer(seconds: usize, text: &str) -> Value {
    message(seconds, "assistant", "output_text", &[text])
}

/// The second telling of an answer.
pub fn answer_told_again(seconds: usize, text: &str) -> Value {
    line(seconds, "event_msg", json!({"type": "agent_message", "message": text}))
}

pub(super) fn call(seconds: usize, id: &str, command: &str) -> Value {
    let arguments = json!({ "command": command }).to_string();
    item(
        seconds,
        json!({"type": "function_call", "name": "shell_command", "arguments": arguments,
            "call_id": id}),
    )
}

pub(super) fn result(seconds: usize, id: &str, code: i64, spelling: usize) -> Value {
    let text = format!("Exit code: {code}\nWall time: 0 seconds\nOutput:\n");
    let output = match spelling {
        0 => json!(text),
        _ => json!([{"type": "input_text", "text": text}]),
    };
    item(seconds, json!({"type": "function_call_output", "call_id": id, "output": output}))
}

pub(super) fn usage(seconds: usize, response: &str, turn: usize) -> Value {
    line(
        seconds,
        "token_usage_record",
        json!({"thread_id": OWN, "turn_id": turn_id(turn), "response_id": response,
            "usage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}}),
    )
}

pub(super) fn siblings(seconds: usize) -> Value {
    let context = "<user_instructions>\nbe brief\n</user_instructions>";
    message(seconds, "user", "input_text", &[context, "go on"])
}

pub(super) fn unknown(seconds: usize, marker: &str) -> Value {
    line(seconds, "event_msg", json!({"type": "telepathy_end", "note": marker}))
}

/// A line of this many bytes, and a few more, that tells nothing.
pub fn filler(seconds: usize, bytes: usize) -> Value {
    line(seconds, "world_state", json!({"filler": "x".repeat(bytes)}))
}

/// A call of code mode, which may run commands of its own.
pub fn script_call(seconds: usize, id: &str) -> Value {
    let input = "text(await tools.exec_command({cmd: \"make test\"}))";
    item(
        seconds,
        json!({"type": "custom_tool_call", "call_id": id, "name": "exec", "input": input}),
    )
}

/// The end of a code mode call.
pub fn script_result(seconds: usize, id: &str) -> Value {
    let output = "Script completed\nWall time 0.5 seconds\nOutput:\n";
    item(seconds, json!({"type": "custom_tool_call_output", "call_id": id, "output": output}))
}

/// A command that a script ran: the host's id, which no call has.
pub fn nested_command(seconds: usize, id: &str, code: i64) -> Value {
    line(
        seconds,
        "event_msg",
        json!({"type": "item_completed", "thread_id": OWN, "turn_id": turn_id(1),
            "item": {"type": "CommandExecution", "id": id, "command": ["bash", "-lc", "make test"],
                "cwd": FOLDER, "source": "unified_exec_startup", "status": "failed",
                "aggregated_output": "", "exit_code": code, "duration": {"secs": 0, "nanos": 5}}}),
    )
}

pub(super) fn forked() -> (Vec<Value>, Vec<Value>) {
    let old_turn = "019e0000-0001-7000-8000-000000000001";
    let counts = |n: u64| {
        json!({"type": "token_count", "info": {"total_token_usage":
            {"input_tokens": n, "output_tokens": 1, "total_tokens": n + 1}}})
    };
    let copied = vec![
        line(
            0,
            "session_meta",
            json!({"id": OWN, "forked_from_id": OTHER, "cwd": FOLDER, "cli_version": "0.140.0"}),
        ),
        opening(0, OTHER),
        line(0, "event_msg", json!({"type": "task_started", "turn_id": old_turn})),
        prompt(0, "copied prompt"),
        answer(0, "copied answer"),
        line(0, "event_msg", counts(50)),
    ];
    let own = vec![
        task_started(0, 1),
        context(1, 1, "model-one"),
        prompt(1, "own prompt"),
        line(1, "event_msg", counts(70)),
    ];
    (copied, own)
}

pub(super) fn child() -> Vec<Value> {
    vec![
        line(
            0,
            "session_meta",
            json!({"id": OWN, "session_id": OTHER, "parent_thread_id": OTHER, "cwd": FOLDER,
                "cli_version": "0.140.0", "thread_source": "subagent"}),
        ),
        task_started(1, 1),
        context(1, 1, "model-one"),
        answer(2, "found it"),
        call(3, "call_1", "ls"),
    ]
}
