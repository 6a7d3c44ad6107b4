//! Small synthetic Claude Code sessions: transcript lines and the hook payloads of the same calls.
//!
//! Every value is made from the session's id and a counter, so two sessions never share an id and
//! one session is the same bytes each time.

use serde_json::{Value, json};

/// A transcript that grows line by line.
pub(crate) struct Claude {
    id: String,
    second: u32,
    prompts: u32,
    calls: u32,
    lines: Vec<String>,
    cwd: String,
}

impl Claude {
    /// An empty session of this id.
    pub(crate) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            second: 0,
            prompts: 0,
            calls: 0,
            lines: Vec::new(),
            cwd: "/home/dev/demo".to_owned(),
        }
    }

    /// A prompt, a call that goes well, one that fails with 101, and an answer that claims.
    pub(crate) fn typical(id: &str) -> Self {
        let mut session = Self::new(id);
        session.prompt("run the tests");
        session.bash("ls", Ok("Cargo.toml\nsrc\n"));
        session.bash("cargo test", Err((101, "error: test failed")));
        session.answer("All tests pass.");
        session
    }

    /// A session of this id that begins with a copy of the first lines of this one, and goes on
    /// so many seconds after the last of this one.
    pub(crate) fn fork(&self, id: &str, lines: usize, later: u32) -> Self {
        let (old, new) = (json!({"sessionId": self.id}), json!({"sessionId": id}));
        let (old, new) = (old.to_string(), new.to_string());
        let renamed = |line: &String| {
            line.replace(old.trim_matches(['{', '}']), new.trim_matches(['{', '}']))
        };
        let lines = self.lines[..lines].iter().map(renamed).collect();
        Self { lines, second: self.second + later, ..Self::new(id) }
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.prompts += 1;
        self.user(json!({"role": "user", "content": text}), None);
    }

    /// A shell call and its result: the output, or exit code and message.
    pub(crate) fn bash(&mut self, command: &str, result: Result<&str, (i64, &str)>) -> String {
        let call = self.call(command);
        let (block, host) = match result {
            Ok(stdout) => (
                json!({"type": "tool_result", "tool_use_id": call, "content": stdout,
                    "is_error": false}),
                json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false}),
            ),
            Err((code, text)) => {
                let told = format!("Exit code {code}\n{text}");
                let block = json!({"type": "tool_result", "tool_use_id": call, "content": told,
                    "is_error": true});
                (block, json!(format!("Error: {told}")))
            }
        };
        self.user(json!({"role": "user", "content": [block]}), Some(host));
        call
    }

    /// A shell call without its result.
    pub(crate) fn call(&mut self, command: &str) -> String {
        self.calls += 1;
        let call = self.call_id(self.calls);
        let tool = json!({"type": "tool_use", "id": call, "name": "Bash",
            "input": {"command": command}});
        self.assistant(tool, "tool_use");
        call
    }

    pub(crate) fn answer(&mut self, text: &str) {
        self.assistant(json!({"type": "text", "text": text}), "end_turn");
    }

    /// Any other line.
    pub(crate) fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The file, each line ended.
    pub(crate) fn text(&self) -> String {
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }

    /// The id of the nth call (from 1).
    pub(crate) fn call_id(&self, nth: u32) -> String {
        format!("toolu_{}_{nth}", self.id)
    }

    fn prompt_id(&self) -> String {
        format!("prompt-{}-{}", self.id, self.prompts)
    }

    fn assistant(&mut self, block: Value, stop: &str) {
        let message = json!({
            "id": format!("msg_{}_{}", self.id, self.second), "type": "message",
            "role": "assistant", "model": "claude-demo-1", "content": [block],
            "stop_reason": stop,
            "usage": {"input_tokens": 4, "cache_creation_input_tokens": 90,
                "cache_read_input_tokens": 1500, "output_tokens": 21},
        });
        self.entry("assistant", message, json!({}));
    }

    fn user(&mut self, message: Value, host: Option<Value>) {
        let mut more = json!({"promptId": self.prompt_id()});
        if let Some(host) = host {
            more["toolUseResult"] = host;
        }
        self.entry("user", message, more);
    }

    fn entry(&mut self, kind: &str, message: Value, more: Value) {
        self.second += 1;
        let mut line = json!({
            "type": kind, "uuid": format!("{}-line-{}", self.id, self.second),
            "parentUuid": null, "isSidechain": false, "timestamp": self.time(),
            "sessionId": self.id, "cwd": self.cwd, "version": "2.1.300", "gitBranch": "main",
            "userType": "external", "message": message,
        });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.lines.push(line.to_string());
    }

    fn time(&self) -> String {
        format!("2026-11-20T10:{:02}:{:02}.000Z", self.second / 60, self.second % 60)
    }
}

/// A hook payload of `session` with its common fields; `more` goes on top.
pub(crate) fn payload(session: &str, event: &str, more: Value) -> String {
    let mut payload = json!({
        "session_id": session, "transcript_path": "/t.jsonl", "cwd": "/home/dev/demo",
        "hook_event_name": event, "permission_mode": "default",
    });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload.to_string()
}

/// The hook's telling of a shell call that went well.
pub(crate) fn post_tool_use(session: &str, call: &str, command: &str, stdout: &str) -> String {
    let more = json!({
        "prompt_id": format!("prompt-{session}-1"), "tool_name": "Bash", "tool_use_id": call,
        "tool_input": {"command": command},
        "tool_response": {"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false},
    });
    payload(session, "PostToolUse", more)
}

/// The hook's telling of a shell call that failed.
pub(crate) fn post_tool_use_failure(session: &str, call: &str, command: &str, code: i64) -> String {
    let more = json!({
        "prompt_id": format!("prompt-{session}-1"), "tool_name": "Bash", "tool_use_id": call,
        "tool_input": {"command": command}, "is_interrupt": false,
        "error": format!("Exit code {code}\nerror: test failed"),
    });
    payload(session, "PostToolUseFailure", more)
}
