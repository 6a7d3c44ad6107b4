//! Small synthetic Codex rollouts.
//!
//! The envelope form of 2026: a line an item, results with the `Exit code:` header, the high-level
//! second telling of the prompt beside it.

use serde_json::{Value, json};

/// A rollout that grows line by line.
pub(crate) struct Codex {
    id: String,
    turn: String,
    second: u32,
    calls: u32,
    lines: Vec<String>,
}

impl Codex {
    /// A rollout that holds its first line.
    pub(crate) fn new(id: &str) -> Self {
        let mut rollout = Self {
            id: id.to_owned(),
            turn: format!("turn-{id}"),
            second: 0,
            calls: 0,
            lines: Vec::new(),
        };
        let meta = json!({"id": rollout.id, "cwd": "/home/dev/demo", "cli_version": "0.118.0",
            "originator": "codex_cli_rs", "source": "cli"});
        rollout.push("session_meta", meta);
        rollout
    }

    /// A prompt, a call that goes well, one that fails with 101, and an answer that claims.
    pub(crate) fn typical(id: &str) -> Self {
        let mut rollout = Self::new(id);
        rollout.prompt("run the tests");
        rollout.shell("ls", 0, "Cargo.toml\nsrc\n");
        rollout.shell("cargo test", 101, "error: test failed");
        rollout.answer("All tests pass.");
        rollout
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        let turn = self.turn.clone();
        self.push("event_msg", json!({"type": "task_started", "turn_id": turn}));
        let content = json!([{"type": "input_text", "text": text}]);
        self.push("response_item", json!({"type": "message", "role": "user", "content": content}));
        self.push("event_msg", json!({"type": "user_message", "message": text}));
    }

    /// A shell call and its result.
    pub(crate) fn shell(&mut self, command: &str, code: i64, output: &str) -> String {
        self.calls += 1;
        let call = format!("call_{}_{}", self.id, self.calls);
        let arguments = json!({"command": command}).to_string();
        self.push(
            "response_item",
            json!({"type": "function_call", "name": "shell_command", "arguments": arguments,
                "call_id": call}),
        );
        let told = format!("Exit code: {code}\nWall time: 0 seconds\nOutput:\n{output}");
        self.push(
            "response_item",
            json!({"type": "function_call_output", "call_id": call, "output": told}),
        );
        call
    }

    pub(crate) fn answer(&mut self, text: &str) {
        let content = json!([{"type": "output_text", "text": text}]);
        self.push(
            "response_item",
            json!({"type": "message", "role": "assistant", "content": content}),
        );
        let turn = self.turn.clone();
        self.push(
            "event_msg",
            json!({"type": "task_complete", "turn_id": turn, "last_agent_message": text}),
        );
    }

    /// Any other item of the history.
    pub(crate) fn item(&mut self, payload: Value) {
        self.push("response_item", payload);
    }

    /// Any other event.
    pub(crate) fn event(&mut self, payload: Value) {
        self.push("event_msg", payload);
    }

    /// A line of any type.
    pub(crate) fn line(&mut self, kind: &str, payload: Value) {
        self.push(kind, payload);
    }

    /// The file, each line ended.
    pub(crate) fn text(&self) -> String {
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }

    fn push(&mut self, kind: &str, payload: Value) {
        let time = format!("2026-11-20T11:{:02}:{:02}.000Z", self.second / 60, self.second % 60);
        self.second += 1;
        let line = json!({"timestamp": time, "type": kind, "payload": payload});
        self.lines.push(line.to_string());
    }
}

/// A hook payload of `thread` with its common fields; `more` goes on top.
pub(crate) fn payload(thread: &str, event: &str, more: Value) -> String {
    let mut payload = json!({
        "session_id": thread, "turn_id": format!("turn-{thread}"), "cwd": "/home/dev/demo",
        "hook_event_name": event, "model": "model-a",
    });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload.to_string()
}
