//! Assistant lines: what the model said and which calls it proposed.
//!
//! A line nearly always holds one content block of a response. Thinking is not stored. A line that
//! is an API error, or any other line of the `<synthetic>` model, was made by the CLI.

use super::super::slim::slim;
use super::super::wire::{flag, member, plain_text, text, tool_input};
use super::line::Line;
use super::{ClaudeTranscript, Reply, usage};
use crate::domain::event::{EventKind, NativeId, Outcome};
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::{Message, safe_tag};
use serde_json::Value;

impl ClaudeTranscript {
    pub(super) fn assistant(&mut self, line: &Line<'_>) -> Reply {
        let Some(message) = member(line.value, "message") else {
            return Reply::Unknown("assistant:<missing message>".to_owned());
        };
        let turn = self.turn_of(line);
        let turn = turn.as_deref();
        if flag(line.value, "isApiErrorMessage") {
            let mut out = vec![api_error(line, message, turn)];
            out.extend(usage::report(line, turn));
            return Reply::Said(out, "api_error");
        }
        if text(message, "model") == Some("<synthetic>") {
            let filler = "filler of the host, no response of the model";
            return Reply::Said(usage::report(line, turn), filler);
        }
        let mut out = match message.get("content") {
            Some(Value::Array(blocks)) => {
                let blocks = blocks.iter().enumerate();
                blocks.filter_map(|(i, block)| self.assistant_block(line, i, block, turn)).collect()
            }
            Some(Value::String(said)) => said_text(line, 0, said, "message.content", turn),
            _ => message
                .as_str()
                .map_or_else(Vec::new, |said| said_text(line, 0, said, "message", turn)),
        };
        if message.get("0").is_some_and(Value::is_string) {
            // A stream's raw text, spread over numbered keys by a third-party endpoint.
            out.push(unknown_part(line, "assistant:<spread string>", "message"));
        }
        out.extend(usage::report(line, turn));
        Reply::Said(out, "thinking or nothing")
    }

    fn assistant_block(
        &mut self,
        line: &Line<'_>,
        index: usize,
        block: &Value,
        turn: Option<&str>,
    ) -> Option<Message> {
        let path = format!("message.content[{index}]");
        match text(block, "type").unwrap_or("<missing type>") {
            "text" => {
                said_text(line, index, text(block, "text")?, &format!("{path}.text"), turn).pop()
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                Some(self.proposed_call(line, index, block, turn, path))
            }
            "thinking" | "redacted_thinking" | "fallback" | "image" | "document" => None,
            kind if kind.ends_with("_tool_result") => {
                Some(self.server_result(line, index, block, turn, path))
            }
            kind => Some(unknown_part(line, &format!("assistant_block:{kind}"), &path)),
        }
    }

    fn proposed_call(
        &mut self,
        line: &Line<'_>,
        index: usize,
        block: &Value,
        turn: Option<&str>,
        path: String,
    ) -> Message {
        let id = text(block, "id");
        let native = id.map_or_else(|| line.block_id(index), NativeId::call);
        let tool = text(block, "name");
        let mut event = line.event(EventKind::PreToolUse, native, turn, path);
        event.call_id = id.map(str::to_owned);
        event.tool_name = tool.map(str::to_owned);
        event.tool_input = tool_input(block, "input");
        if let Some(id) = id {
            self.state.open_call(id, tool, event.tool_input.as_ref());
        }
        Message::Event(event)
    }

    /// The result of a tool that the API ran itself (web search, code execution).
    fn server_result(
        &mut self,
        line: &Line<'_>,
        index: usize,
        block: &Value,
        turn: Option<&str>,
        path: String,
    ) -> Message {
        let id = text(block, "tool_use_id");
        let native = id.map_or_else(|| line.block_id(index), NativeId::call);
        let content = member(block, "content");
        let broke = flag(block, "is_error")
            || content.and_then(|c| text(c, "type")).is_some_and(|t| t.ends_with("_error"));
        let call = id.and_then(|id| self.state.close_call(id));
        let mut event = line.event(EventKind::PostToolUse, native, turn, path);
        event.call_id = id.map(str::to_owned);
        event.outcome = Some(if broke { Outcome::Failed } else { Outcome::Ok });
        event.tool_response = content.map(slim);
        if let Some(call) = call {
            event.tool_name = call.tool;
            event.tool_input = call.input;
        }
        Message::Event(event)
    }
}

fn said_text(
    line: &Line<'_>,
    index: usize,
    said: &str,
    path: &str,
    turn: Option<&str>,
) -> Vec<Message> {
    if said.is_empty() {
        return Vec::new();
    }
    let mut event = line.event(EventKind::AssistantMessage, line.block_id(index), turn, path);
    event.text = Some(said.to_owned());
    event.outcome = flag(line.value, "isAbortedMidStream").then_some(Outcome::Interrupted);
    vec![Message::Event(event)]
}

fn api_error(line: &Line<'_>, message: &Value, turn: Option<&str>) -> Message {
    let native = line.block_id(0);
    let shown = message.get("content").and_then(plain_text);
    let path = if shown.is_some() { "message.content" } else { "error" };
    let mut event = line.event(EventKind::RuntimeError, native, turn, path);
    event.text = shown.or_else(|| text(line.value, "error").map(str::to_owned));
    event.outcome = Some(Outcome::Failed);
    Message::Event(event)
}

/// A part of a known line that this build does not know: its tag, and nothing of its content.
pub(super) fn unknown_part(line: &Line<'_>, tag: &str, path: &str) -> Message {
    let whose = Some(line.conversation);
    Message::Loss(LossDraft::one(whose, LossReason::Unrecognized, &safe_tag(tag), path))
}
