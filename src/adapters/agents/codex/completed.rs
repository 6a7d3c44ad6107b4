//! `item_completed`: the item stream of newer files, second tellings of calls and messages.
//!
//! In paginated files these items are the only other telling there is; for commands nested in a
//! script they are the only one at all. An item's kind is PascalCase, and for direct calls its id
//! is the call's.

use super::items::PROJECTED;
use super::projections::{Telling, Told, mcp_name};
use super::value::{joined_text, name, owned};
use super::work::{Verdict, Work};
use crate::domain::event::{Channel, EventKind, Outcome};
use serde_json::Value;

const COMMAND: Telling = Telling {
    sensor: "codex_item_completed_command_execution_sensor_v1",
    place: "item_completed:CommandExecution",
    id_key: "id",
    at: "item.",
};

const FILES: Telling = Telling {
    sensor: "codex_item_completed_file_change_sensor_v1",
    place: "item_completed:FileChange",
    id_key: "id",
    at: "item.",
};

/// Tools whose end is told without evidence.
const CALL: Telling = Telling { sensor: "", place: "", id_key: "id", at: "item." };

impl Work<'_> {
    /// An `item_completed` payload.
    pub(super) fn item_completed(&mut self, payload: &Value) -> Verdict {
        let Some(item) = payload.get("item").filter(|item| item.is_object()) else {
            return Verdict::Unknown("event_msg:item_completed:<missing item>".to_owned());
        };
        let Some(tag) = name(item, "type") else {
            return Verdict::Unknown("event_msg:item_completed:<missing item.type>".to_owned());
        };
        match tag {
            "UserMessage" | "AgentMessage" => self.completed_message(payload, item, tag),
            "CommandExecution" => self.command_ended(payload, item, COMMAND),
            "FileChange" => self.files_changed(payload, item, FILES),
            "McpToolCall" => self.completed_mcp_call(payload, item),
            "WebSearch" => self.web_search_end(payload, item, CALL),
            "ImageGeneration" => self.image_generation_end(payload, item, CALL),
            "ImageView" => self.view_image(payload, item, CALL),
            "DynamicToolCall" => self.dynamic_tool_call(payload, item, CALL),
            "FunctionCallOutput" => self.completed_output(payload, item),
            "SubAgentActivity" => self.sub_agent_activity(item),
            "CollabAgentToolCall" => self.completed_collaboration(item),
            "ContextCompaction" => {
                self.compaction("event", Channel::Projection, "item.type");
                Verdict::Told
            }
            "Reasoning" => Verdict::Ignored("reasoning"),
            "Plan" => Verdict::Ignored("plan item"),
            "HookPrompt" => Verdict::Ignored("hook prompt, told by its message"),
            "Extension" | "Sleep" => Verdict::Ignored("extension item"),
            "EnteredReviewMode" | "ExitedReviewMode" => Verdict::Ignored("review mode"),
            other => Verdict::Unknown(format!("event_msg:item_completed:{other}")),
        }
    }

    fn completed_message(&mut self, payload: &Value, item: &Value, tag: &str) -> Verdict {
        let (told, unknown) = joined_text(item.get("content").unwrap_or(&Value::Null));
        let turn = owned(payload, "turn_id");
        if tag == "AgentMessage" {
            self.answer(&told, PROJECTED, turn.as_deref(), "item.content");
        } else if !told.is_empty() {
            self.prompt(&told, PROJECTED, turn.as_deref(), "item.content");
        }
        self.lose_parts(&format!("event_msg:item_completed:{tag}"), &unknown, "item.content");
        if self.is_silent() { Verdict::Ignored("message without text") } else { Verdict::Told }
    }

    fn completed_mcp_call(&mut self, payload: &Value, item: &Value) -> Verdict {
        let is_error = item.pointer("/result/isError") == Some(&Value::Bool(true));
        let outcome = match name(item, "status") {
            Some("completed") if is_error => Outcome::Failed,
            Some("completed") => Outcome::Ok,
            Some("failed") => Outcome::Failed,
            Some("inProgress" | "in_progress") => Outcome::Running,
            _ => Outcome::Unknown,
        };
        let response = item.get("result").or_else(|| item.get("error")).cloned();
        let input = item.get("arguments").cloned();
        let told = Told { tool: mcp_name(item), input, response, outcome };
        self.tool_ended(payload, item, CALL, told)
    }

    fn completed_output(&mut self, payload: &Value, item: &Value) -> Verdict {
        let told = Told {
            tool: super::tools::full_name(item),
            input: None,
            response: item.get("output").cloned(),
            outcome: Outcome::Unknown,
        };
        self.tool_ended(payload, item, CALL, told)
    }

    /// Only a spawn tells more than the tool call itself does: the threads it started.
    fn completed_collaboration(&mut self, item: &Value) -> Verdict {
        if name(item, "tool") != Some("spawn_agent") || name(item, "status") == Some("failed") {
            return Verdict::Ignored("told by the agent tool's call");
        }
        let children = item.get("receiver_thread_ids").and_then(Value::as_array);
        for child in children.into_iter().flatten().filter_map(Value::as_str) {
            self.child(child, EventKind::SubagentStart, None, "item.receiver_thread_ids");
        }
        if self.is_silent() { Verdict::Ignored("spawn without a thread") } else { Verdict::Told }
    }
}
