//! Rollouts before the envelope: bare lines of mid 2025 and the whole document of spring 2025.
//!
//! Neither has a time a line; the header's is the session's. A document's items are chat messages
//! with `tool_calls` and `tool` results, or items like those of later files.

use super::tools::{CHAT_RESULT, parsed_arguments};
use super::value::{name, owned, text};
use super::work::{Verdict, Work};
use crate::domain::outcome::TurnDraft;
use serde_json::{Value, json};

/// Whether a value is a whole rollout `{session, items}`.
pub(super) fn is_document(native: &Value) -> bool {
    native.get("session").is_some_and(Value::is_object)
        && native.get("items").is_some_and(Value::is_array)
}

/// Whether a value is the first line of a bare rollout.
pub(super) fn is_header(native: &Value) -> bool {
    native.get("type").is_none()
        && name(native, "id").is_some()
        && text(native, "timestamp").is_some()
        && native.get("instructions").is_some()
}

impl<'a> Work<'a> {
    /// A line without an envelope.
    pub(super) fn bare_line(&mut self, line: &'a Value) -> Verdict {
        if name(line, "record_type") == Some("state") {
            return Verdict::Ignored("state marker");
        }
        if is_header(line) {
            return self.header(line);
        }
        match name(line, "type") {
            Some(tag) if ITEMS.contains(&tag) => self.response_item(line),
            Some(tag) => Verdict::Unknown(tag.to_owned()),
            None => Verdict::Unknown("<missing type>".to_owned()),
        }
    }

    fn header(&mut self, header: &'a Value) -> Verdict {
        let Some(id) = name(header, "id") else {
            return Verdict::Unknown("<missing id>".to_owned());
        };
        if self.state.conversation.as_deref().is_some_and(|own| own != id) {
            return Verdict::Ignored("header of another conversation");
        }
        self.set_time(text(header, "timestamp"));
        if self.state.conversation.is_none() {
            self.state.conversation = Some(id.to_owned());
            self.start_session(id);
        }
        let git_branch = header.get("git").and_then(|git| owned(git, "branch"));
        self.state_facts("git.branch", TurnDraft { git_branch, ..TurnDraft::default() });
        if self.is_silent() { Verdict::Ignored("repeated header") } else { Verdict::Told }
    }

    /// A whole rollout in one value.
    pub(super) fn document(&mut self, document: &'a Value) -> Verdict {
        let Some(session) = document.get("session").filter(|session| name(session, "id").is_some())
        else {
            return Verdict::Unknown("session:<missing id>".to_owned());
        };
        self.set_prefix("session.".to_owned());
        self.header(session);
        self.set_time(None);
        let items = document.get("items").and_then(Value::as_array);
        for (index, item) in items.into_iter().flatten().enumerate() {
            self.set_prefix(format!("items[{index}]."));
            if let Verdict::Unknown(tag) = self.document_item(item, index) {
                self.lose_parts("items", &[tag], "type");
            }
        }
        Verdict::Told
    }

    fn document_item(&mut self, item: &Value, index: usize) -> Verdict {
        if name(item, "role") == Some("tool") {
            let output = json!({
                "call_id": name(item, "tool_call_id"),
                "output": item.get("content"),
            });
            return self.tool_output(&output, CHAT_RESULT);
        }
        let verdict = self.response_item(item);
        let calls = item.get("tool_calls").and_then(Value::as_array);
        for (place, call) in calls.into_iter().flatten().enumerate() {
            self.set_prefix(format!("items[{index}].tool_calls[{place}]."));
            if let Verdict::Unknown(tag) = self.chat_call(call) {
                self.lose_parts("items", &[tag], "type");
            }
        }
        verdict
    }

    /// `{id, type: "function", function: {name, arguments}}`.
    fn chat_call(&mut self, call: &Value) -> Verdict {
        let function = call.get("function").unwrap_or(&Value::Null);
        let Some(tool) = name(function, "name") else {
            return Verdict::Unknown("tool_calls:<missing name>".to_owned());
        };
        let input = function.get("arguments").map(parsed_arguments);
        self.propose(call, tool, input, "function.arguments");
        Verdict::Told
    }
}

/// Item types that a bare line may carry.
pub(super) const ITEMS: &[&str] = &[
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
    "tool_search_call",
    "tool_search_output",
    "image_generation_call",
    "agent_message",
    "additional_tools",
    "configuration_update",
    "ghost_snapshot",
    "compaction",
    "compaction_summary",
    "compaction_trigger",
    "context_compaction",
];
