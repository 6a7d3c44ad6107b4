//! Items of a `codex exec --json` stream: commands, file changes, tool calls and answers.
//!
//! A started item is a proposal, a completed one says what became of it. The stream names files
//! that were changed and shows no diffs.

use super::items::STREAMED;
use super::patch::DELETED;
use super::projections::{change_outcome, command_outcome, mcp_name};
use super::value::{name, owned, pick, text};
use super::work::{Anchor, Origin, Verdict, Work};
use crate::domain::event::{Channel, EventDraft, EventKind, NativeId, Outcome};
use crate::domain::payload::EvidenceKind;
use serde_json::{Value, json};

const COMMAND_SENSOR: &str = "codex_exec_stream_command_sensor_v1";
const CHANGE_SENSOR: &str = "codex_exec_stream_file_change_sensor_v1";

/// What an item states of a call.
struct Call<'a> {
    tool: &'a str,
    /// Path of the call's own words below the item.
    at: &'a str,
    input: Option<Value>,
    response: Option<Value>,
    outcome: Outcome,
}

impl Work<'_> {
    /// A started or completed item; `named` is its name in this run.
    pub(super) fn stream_item(
        &mut self,
        item: &Value,
        named: Option<String>,
        ends: bool,
    ) -> Verdict {
        let Some(tag) = name(item, "type").or_else(|| name(item, "item_type")) else {
            return Verdict::Unknown("item:<missing item.type>".to_owned());
        };
        match tag {
            "command_execution" => self.stream_command(item, named, ends),
            "file_change" => self.stream_changes(item, named, ends),
            "mcp_tool_call" => {
                let tool = mcp_name(item).unwrap_or_else(|| "mcp".to_owned());
                self.stream_call(named, ends, mcp_call(item, &tool))
            }
            "web_search" => self.stream_call(named, ends, web_search(item)),
            "collab_tool_call" => self.stream_collaboration(item, named, ends),
            _ if !ends => Verdict::Ignored("item under way"),
            "agent_message" | "assistant_message" => {
                self.answer(text(item, "text").unwrap_or_default(), STREAMED, None, "item.text");
                if self.is_silent() {
                    Verdict::Ignored("message without text")
                } else {
                    Verdict::Told
                }
            }
            "error" => {
                let native = NativeId::record();
                let path = "item.message";
                let mut event = self.event(EventKind::RuntimeError, native, Channel::Stream, path);
                event.text = owned(item, "message");
                event.outcome = Some(Outcome::Failed);
                self.tell(event);
                Verdict::Told
            }
            "reasoning" => Verdict::Ignored("reasoning"),
            "plan" => Verdict::Ignored("plan item"),
            "todo_list" => Verdict::Ignored("to-do list"),
            other => Verdict::Unknown(format!("item:{other}")),
        }
    }

    fn stream_command(&mut self, item: &Value, named: Option<String>, ends: bool) -> Verdict {
        let code = item.get("exit_code").and_then(Value::as_i64);
        let command = item.get("command").cloned().unwrap_or(Value::Null);
        let outcome = command_outcome(item, code);
        let ran = !matches!(outcome, Outcome::Denied | Outcome::Running);
        let call = Call {
            tool: "exec_command",
            at: if ends { "aggregated_output" } else { "command" },
            input: Some(pick(item, &["command"])),
            response: text(item, "aggregated_output").map(|out| Value::String(out.to_owned())),
            outcome,
        };
        let event = self.stream_event(named, ends, call);
        let anchor = Anchor::of(&event);
        self.tell(event);
        if let (Some(code), true, true) = (code, ends, ran) {
            let origin = Origin {
                sensor: COMMAND_SENSOR,
                provenance: "command_execution#exit_code".to_owned(),
                path: self.path("item.exit_code"),
            };
            let payload = json!({ "command": command, "exit_code": code });
            self.prove(&anchor, EvidenceKind::ExitCode, "exit".to_owned(), payload, origin);
        }
        Verdict::Told
    }

    /// Changed files: the stream names them and says how, and shows no diff.
    fn stream_changes(&mut self, item: &Value, named: Option<String>, ends: bool) -> Verdict {
        let call = file_change(item);
        let applied = ends && call.outcome == Outcome::Ok;
        let event = self.stream_event(named, ends, call);
        let anchor = Anchor::of(&event);
        self.tell(event);
        let changes = item.get("changes").and_then(Value::as_array).filter(|_| applied);
        for (place, change) in changes.into_iter().flatten().enumerate() {
            let Some(path) = name(change, "path") else { continue };
            let diff = match name(change, "kind") {
                Some("add") => "(added)",
                Some("delete") => DELETED,
                _ => "(changed)",
            };
            let origin = Origin {
                sensor: CHANGE_SENSOR,
                provenance: "file_change#changes".to_owned(),
                path: self.path(&format!("item.changes[{place}].path")),
            };
            let payload = json!({ "path": path, "diff": diff });
            self.prove(&anchor, EvidenceKind::FileDiff, format!("diff:{path}"), payload, origin);
        }
        Verdict::Told
    }

    /// An agent tool; a spawn also tells of the threads that it started.
    fn stream_collaboration(&mut self, item: &Value, named: Option<String>, ends: bool) -> Verdict {
        let tool = name(item, "tool").unwrap_or("agents").to_owned();
        let call = Call {
            tool: &tool,
            at: "tool",
            input: Some(pick(item, &["prompt", "receiver_thread_ids"])),
            response: ends.then(|| pick(item, &["status", "agents_states"])),
            outcome: call_outcome(item),
        };
        self.stream_call(named, ends, call);
        if ends && tool == "spawn_agent" && name(item, "status") != Some("failed") {
            let children = item.get("receiver_thread_ids").and_then(Value::as_array);
            for child in children.into_iter().flatten().filter_map(Value::as_str) {
                self.child(child, EventKind::SubagentStart, None, "item.receiver_thread_ids");
            }
        }
        Verdict::Told
    }

    fn stream_call(&mut self, named: Option<String>, ends: bool, call: Call<'_>) -> Verdict {
        let event = self.stream_event(named, ends, call);
        self.tell(event);
        Verdict::Told
    }

    fn stream_event(&mut self, named: Option<String>, ends: bool, call: Call<'_>) -> EventDraft {
        self.state.turn.answer();
        let kind = if ends { EventKind::PostToolUse } else { EventKind::PreToolUse };
        let native = named
            .as_ref()
            .map_or_else(NativeId::record, |named| NativeId::new("stream_item", named.as_str()));
        let mut event = self.event(kind, native, Channel::Stream, &format!("item.{}", call.at));
        event.call_id = named;
        event.tool_name = Some(call.tool.to_owned());
        event.tool_input = call.input;
        if ends {
            event.tool_response = call.response;
            event.outcome = Some(call.outcome);
        }
        event
    }
}

fn file_change(item: &Value) -> Call<'_> {
    Call {
        tool: "apply_patch",
        at: "changes",
        input: Some(pick(item, &["changes"])),
        response: Some(pick(item, &["status"])),
        outcome: change_outcome(item),
    }
}

fn mcp_call<'a>(item: &Value, tool: &'a str) -> Call<'a> {
    let answered = item.get("result").filter(|result| !result.is_null());
    let (at, response) = match answered {
        Some(result) => ("result", Some(result)),
        None => ("error", item.get("error").filter(|error| !error.is_null())),
    };
    Call {
        tool,
        at: if response.is_some() { at } else { "tool" },
        input: item.get("arguments").cloned(),
        response: response.cloned(),
        outcome: call_outcome(item),
    }
}

fn web_search(item: &Value) -> Call<'_> {
    Call {
        tool: "web_search",
        at: "query",
        input: Some(pick(item, &["query", "action"])),
        response: None,
        outcome: Outcome::Unknown,
    }
}

fn call_outcome(item: &Value) -> Outcome {
    let is_error = item.pointer("/result/isError") == Some(&Value::Bool(true));
    match name(item, "status") {
        Some("completed") if is_error => Outcome::Failed,
        Some("completed") => Outcome::Ok,
        Some("failed") => Outcome::Failed,
        Some("in_progress" | "inProgress") => Outcome::Running,
        _ => Outcome::Unknown,
    }
}
