//! `response_item`: what the model side recorded. The canonical telling of messages and calls.
//!
//! A user-role message is a person's prompt only where it does not begin with a tag of the host.
//! Reasoning, developer texts and system texts are bulk that proves nothing and are left out.

use super::injected::{is_injected, marks_image, stated_cwd};
use super::value::{joined_text, name, part_text, text};
use super::work::{Verdict, Work};
use crate::domain::event::{Channel, EventKind, NativeId};
use crate::domain::outcome::TurnDraft;
use crate::domain::selector::indices_text;
use serde_json::{Value, json};

/// Which telling of messages a text was counted on.
pub(super) const CANONICAL: &str = "canonical";
pub(super) const PROJECTED: &str = "projected";
pub(super) const STREAMED: &str = "streamed";

impl Work<'_> {
    /// A response item, enveloped or bare.
    pub(super) fn response_item(&mut self, item: &Value) -> Verdict {
        let tag = match (name(item, "type"), name(item, "role")) {
            (Some(tag), _) => tag,
            (None, Some(_)) => "message",
            (None, None) => {
                return Verdict::Unknown("response_item:<missing payload.type>".to_owned());
            }
        };
        match tag {
            "message" => self.message(item),
            "agent_message" => self.agent_message(item),
            "reasoning" => Verdict::Ignored("reasoning"),
            "function_call" => self.function_call(item),
            "custom_tool_call" => self.custom_tool_call(item),
            "local_shell_call" => self.local_shell_call(item),
            "tool_search_call" => self.tool_search_call(item),
            "web_search_call" => self.hosted_call(item, "web_search", &["action", "status"]),
            "image_generation_call" => {
                self.hosted_call(item, "image_generation", &["revised_prompt", "status"])
            }
            "function_call_output" | "custom_tool_call_output" => self.tool_output(item, tag),
            "tool_search_output" => self.tool_search_output(item),
            "compaction" | "compaction_summary" | "context_compaction" => {
                self.compaction("item", Channel::Projection, "type");
                Verdict::Told
            }
            other => not_told(other),
        }
    }

    fn message(&mut self, item: &Value) -> Verdict {
        match name(item, "role") {
            Some("user") => self.user_message(item),
            Some("assistant") => self.assistant_message(item),
            Some("developer" | "system") => Verdict::Ignored("developer or system message"),
            Some(role) => Verdict::Unknown(format!("response_item:message:{role}")),
            None => Verdict::Unknown("response_item:message:<missing role>".to_owned()),
        }
    }

    fn user_message(&mut self, item: &Value) -> Verdict {
        let content = item.get("content").unwrap_or(&Value::Null);
        let (prompt, injected, unknown) = split_user_parts(content);
        let (prompt, prompt_at) = prompt.unzip();
        let (injected, injected_at) = injected.unzip();
        let (prompt_at, injected_at) =
            (prompt_at.unwrap_or_default(), injected_at.unwrap_or_default());
        let turn = self.item_turn(item);
        if let Some(cwd) = injected.as_deref().and_then(stated_cwd)
            && self.state.facts.cwd.is_none()
        {
            let cwd = Some(cwd.to_owned());
            self.state_facts("content", TurnDraft { cwd, ..TurnDraft::default() });
        }
        if let Some(injected) = injected {
            self.injected(&injected, CANONICAL, turn.as_deref(), &injected_at);
        }
        if let Some(prompt) = prompt {
            self.prompt(&prompt, CANONICAL, turn.as_deref(), &prompt_at);
        }
        self.lose_parts("response_item:message", &unknown, "content");
        if self.is_silent() { Verdict::Ignored("message without text") } else { Verdict::Told }
    }

    fn assistant_message(&mut self, item: &Value) -> Verdict {
        let content = item.get("content").unwrap_or(&Value::Null);
        let (answer, unknown) = joined_text(content);
        let turn = self.item_turn(item);
        self.answer(&answer, CANONICAL, turn.as_deref(), "content");
        self.lose_parts("response_item:message", &unknown, "content");
        if self.is_silent() { Verdict::Ignored("message without text") } else { Verdict::Told }
    }

    /// A person's prompt, on one of its two tellings.
    pub(super) fn prompt(&mut self, prompt: &str, lane: &str, turn: Option<&str>, field: &str) {
        if is_injected(prompt) {
            return self.injected(prompt, lane, turn, field);
        }
        if let Some(turn) = turn {
            self.state.turn.prompt_in(turn);
        } else {
            let other = if lane == CANONICAL { PROJECTED } else { CANONICAL };
            let own = self.state.turn.told(&format!("{lane}|user"), prompt);
            let twin = self.state.turn.told(&format!("{other}|user"), prompt) > own;
            self.state.turn.prompt(twin);
        }
        self.spoken(EventKind::UserPromptSubmit, "user", prompt, lane, turn, field);
    }

    /// A text that the host put in.
    pub(super) fn injected(&mut self, told: &str, lane: &str, turn: Option<&str>, field: &str) {
        self.spoken(EventKind::InjectedPrompt, "injected", told, lane, turn, field);
    }

    /// An answer of the agent, on one of its two tellings.
    pub(super) fn answer(&mut self, answer: &str, lane: &str, turn: Option<&str>, field: &str) {
        if answer.is_empty() {
            return;
        }
        self.state.turn.answer();
        self.spoken(EventKind::AssistantMessage, "assistant", answer, lane, turn, field);
    }

    /// A message that its two tellings identify by turn, role, text and count.
    fn spoken(
        &mut self,
        kind: EventKind,
        role: &str,
        told: &str,
        lane: &str,
        turn: Option<&str>,
        field: &str,
    ) {
        if told.is_empty() {
            return;
        }
        let turn = turn.map_or_else(|| self.state.turn.key(), str::to_owned);
        let native = match self.state.turn.nth(&format!("{lane}|{role}"), &turn, told) {
            Some(nth) => NativeId::text(&turn, told, nth),
            None => NativeId::record(),
        };
        let channel = match lane {
            CANONICAL => Channel::Canonical,
            STREAMED => Channel::Stream,
            _ => Channel::Projection,
        };
        let mut event = self.event(kind, native, channel, field);
        event.turn_id = Some(turn);
        event.text = Some(told.to_owned());
        self.tell(event);
    }

    /// The turn an item names itself.
    pub(super) fn item_turn(&self, item: &Value) -> Option<String> {
        item.get("internal_chat_message_metadata_passthrough")
            .and_then(|passthrough| name(passthrough, "turn_id"))
            .map(str::to_owned)
    }

    /// `inter_agent_communication`: one agent wrote to another.
    pub(super) fn inter_agent(&mut self, payload: &Value) -> Verdict {
        let content = text(payload, "content").unwrap_or_default();
        self.between_agents(payload, content, CANONICAL, "content");
        Verdict::Told
    }

    /// The `agent_message` item repeats such a communication, or tells it alone in newer files.
    fn agent_message(&mut self, item: &Value) -> Verdict {
        let (content, unknown) = joined_text(item.get("content").unwrap_or(&Value::Null));
        self.between_agents(item, &content, PROJECTED, "content");
        self.lose_parts("response_item:agent_message", &unknown, "content");
        Verdict::Told
    }

    fn between_agents(&mut self, item: &Value, content: &str, lane: &str, field: &str) {
        let turn = self.state.turn.key();
        let native = match self.state.turn.nth(&format!("{lane}|agents"), &turn, content) {
            Some(nth) if !content.is_empty() => NativeId::text(&turn, content, nth),
            _ => NativeId::record(),
        };
        let channel = if lane == CANONICAL { Channel::Canonical } else { Channel::Projection };
        let mut event = self.event(EventKind::AgentMessage, native, channel, field);
        event.text = Some(content.to_owned()).filter(|content| !content.is_empty());
        event.tool_input = Some(json!({
            "author": name(item, "author"),
            "recipient": name(item, "recipient"),
        }));
        self.tell(event);
    }

    /// `compacted`: history was replaced by a summary. Its `replacement_history` is copies.
    pub(super) fn compacted(&mut self) -> Verdict {
        self.state.usage.compacted();
        self.compaction("compacted", Channel::Canonical, "message");
        Verdict::Told
    }

    /// A compaction, counted by turn on each of its tellings so that they meet.
    pub(super) fn compaction(&mut self, lane: &str, channel: Channel, field: &str) {
        let turn = self.state.turn.key();
        let native = match self.state.turn.nth(&format!("{lane}|compaction"), &turn, "") {
            Some(nth) => NativeId::new("compaction", format!("{turn}|{nth}")),
            None => NativeId::record(),
        };
        let event = self.event(EventKind::Compaction, native, channel, field);
        self.tell(event);
    }
}

/// A text and the field that it is made of.
type FieldText = Option<(String, String)>;

/// The prompt's and the host's parts of a user message, and the tags of unknown parts.
fn split_user_parts(content: &Value) -> (FieldText, FieldText, Vec<String>) {
    let mut unknown = Vec::new();
    let parts: Vec<(usize, &str)> = match content {
        Value::String(told) => vec![(0, told.as_str())],
        Value::Array(parts) => {
            let texts = parts.iter().enumerate();
            texts.filter_map(|(at, part)| Some((at, part_text(part, &mut unknown)?))).collect()
        }
        _ => Vec::new(),
    };
    let images = content.as_array().into_iter().flatten();
    let has_image = images.into_iter().any(|part| text(part, "type") == Some("input_image"));
    let all = parts.len();
    let of = |injected: bool| {
        let own: Vec<&(usize, &str)> = parts
            .iter()
            .filter(|(_, told)| !(has_image && marks_image(told)))
            .filter(|(_, told)| is_injected(told) == injected)
            .collect();
        let told: String = own.iter().map(|(_, told)| *told).collect();
        let indices: Vec<usize> = own.iter().map(|(at, _)| *at).collect();
        let field = if indices.len() == all {
            "content".to_owned()
        } else {
            format!("content{}.text", indices_text(&indices))
        };
        Some((told, field)).filter(|(told, _)| !told.is_empty())
    };
    (of(false), of(true), unknown)
}

/// Items that are known and tell no action.
fn not_told(tag: &str) -> Verdict {
    match tag {
        "ghost_snapshot" => Verdict::Ignored("ghost snapshot"),
        "additional_tools" => Verdict::Ignored("additional tools"),
        "configuration_update" => Verdict::Ignored("configuration update"),
        "compaction_trigger" => Verdict::Ignored("compaction trigger"),
        other => Verdict::Unknown(format!("response_item:{other}")),
    }
}
