//! User lines: what a person typed, what the host put in, and what tools answered.
//!
//! `toolUseResult` is the host's own object for the one result on its line; on failure it is a
//! string, and in many sub-agent files it is missing. It names no tool: the call is joined by id.
//! A line is a person's prompt only when nothing marks it as anything else.

use super::super::prompt::{self, UserText};
use super::super::wire::{flag, member, text};
use super::assistant::unknown_part;
use super::line::Line;
use super::result::ToolResult;
use super::state::Turn;
use super::{ClaudeTranscript, Reply};
use crate::domain::event::{Channel, EventDraft, EventKind, NativeId, Outcome};
use crate::domain::outcome::Message;
use crate::domain::selector::indices_text;
use serde_json::Value;

impl ClaudeTranscript {
    pub(super) fn user(&mut self, line: &Line<'_>) -> Reply {
        let Some(message) = member(line.value, "message") else {
            return Reply::Unknown("user:<missing message>".to_owned());
        };
        if flag(line.value, "isCompactSummary") {
            return Reply::Ignored("summary of compacted history");
        }
        let parts = match message.get("content") {
            Some(content) => Parts::of(content, "message.content"),
            None => Parts::of(message, "message"),
        };
        self.enter_turn(line, &parts);
        let turn = self.turn_of(line);
        let turn = turn.as_deref();
        let mut out = self.texts(line, &parts, turn);
        let alone = parts.results.len() == 1;
        for (index, block) in &parts.results {
            out.extend(self.tool_result(line, *index, block, alone, turn));
        }
        out.extend(parts.unknown.iter().map(|(index, kind)| {
            let path = format!("message.content[{index}]");
            unknown_part(line, &format!("user_block:{kind}"), &path)
        }));
        Reply::Said(out, "empty message")
    }

    /// Moves to the turn that this line begins or belongs to. An old inline sub-agent's line
    /// leaves its session's turn alone.
    fn enter_turn(&mut self, line: &Line<'_>, parts: &Parts<'_>) {
        if line.sidechain && line.agent.is_none() {
            return;
        }
        let begins = parts.results.is_empty() && is_the_persons(line) && parts.is_typed();
        let turn = match (line.prompt, line.uuid) {
            (Some(prompt), _) => Turn { id: prompt.to_owned(), shared: true },
            (None, Some(uuid)) if begins => Turn { id: uuid.to_owned(), shared: false },
            _ => return,
        };
        self.state.conversation(line.conversation).turn = Some(turn);
    }

    /// One event for all that was typed, one for each text of the host.
    fn texts(&mut self, line: &Line<'_>, parts: &Parts<'_>, turn: Option<&str>) -> Vec<Message> {
        // What a sub-agent is asked was written by its parent, not by a person.
        let from_person = parts.results.is_empty() && is_the_persons(line) && !line.sidechain;
        let mut typed: Vec<&TextPart<'_>> = Vec::new();
        let mut out = Vec::new();
        for part in &parts.texts {
            match part.class {
                UserText::Typed if from_person => typed.push(part),
                _ if part.text.is_empty() => {}
                _ => {
                    out.push(Message::Event(self.host_text(line, part, turn)));
                    if part.class == UserText::TaskNotification {
                        out.extend(self.noticed_end(line, part.text, &part.path));
                    }
                }
            }
        }
        if let Some(first) = typed.first() {
            let native = self.prompt_id(line, first.index);
            let path = span_path(&typed, &first.path);
            let mut event = line.event(EventKind::UserPromptSubmit, native, turn, path);
            let texts: Vec<&str> = typed.iter().map(|part| part.text).collect();
            event.text = Some(texts.join("\n"));
            out.push(Message::Event(event));
        } else if from_person && out.is_empty() && parts.has_attachment {
            let native = self.prompt_id(line, 0);
            let event = line.event(EventKind::UserPromptSubmit, native, turn, "message.content");
            out.push(Message::Event(event));
        }
        out
    }

    fn host_text(
        &mut self,
        line: &Line<'_>,
        part: &TextPart<'_>,
        turn: Option<&str>,
    ) -> EventDraft {
        let (kind, outcome) = match part.class {
            UserText::Command => (EventKind::UserCommand, None),
            UserText::Interruption => (EventKind::InjectedPrompt, Some(Outcome::Interrupted)),
            _ => (EventKind::InjectedPrompt, None),
        };
        // A notification begins a turn of its own; the hook tells it by that turn's prompt id.
        let native = if part.class == UserText::TaskNotification && !line.sidechain {
            self.prompt_id(line, part.index)
        } else {
            line.block_id(part.index)
        };
        let mut event = line.event(kind, native, turn, part.path.as_str());
        event.text = Some(prompt::shown(part.text).to_owned());
        event.outcome = outcome;
        event
    }

    /// The prompt's shared id for the first event that it has, else the line's.
    fn prompt_id(&mut self, line: &Line<'_>, block: usize) -> NativeId {
        match line.prompt {
            Some(id) if self.state.conversation(line.conversation).claim_prompt(id) => {
                NativeId::prompt(id)
            }
            _ => line.block_id(block),
        }
    }

    fn tool_result(
        &mut self,
        line: &Line<'_>,
        index: usize,
        block: &Value,
        alone: bool,
        turn: Option<&str>,
    ) -> Vec<Message> {
        let id = text(block, "tool_use_id");
        let call = id.and_then(|id| self.state.close_call(id));
        let path = format!("message.content[{index}]");
        let result = ToolResult::read(line, block, alone, &path);
        let effect = result.effect(line, call.as_ref());
        let native = id.map_or_else(|| line.block_id(index), NativeId::call);
        let told_at = if result.object.is_some() { "toolUseResult" } else { &result.shown_path };
        let response = result.object.or(result.shown.as_deref()).filter(|_| !result.is_error);
        let ended = self.answered_end(line, call.as_ref(), response, told_at);
        let mut event = line.event(EventKind::PostToolUse, native, turn, path.as_str());
        event.call_id = id.map(str::to_owned);
        event.outcome = Some(effect.outcome.clone());
        event.tool_response = result.kept_response();
        if result.object.is_some() {
            "toolUseResult".clone_into(&mut event.path);
        }
        if result.is_detached() {
            // The call's own answer comes in a later turn, and outranks this one.
            event.channel = Channel::Projection;
            if let (Some(id), Some(call)) = (id, &call) {
                self.state.open_call(id, call.tool.as_deref(), call.input.as_ref());
            }
        }
        if let Some(call) = call {
            event.tool_name = call.tool;
            event.tool_input = call.input;
        }
        let evidence = result.evidence(line, &event, &effect, &path);
        self.remember_launch(&event, event.tool_response.as_ref());
        let mut out = vec![Message::Event(event)];
        out.extend(evidence);
        out.extend(ended);
        out
    }
}

/// The path of all parts that one prompt is made of; `only` is that of a single one.
fn span_path(typed: &[&TextPart<'_>], only: &str) -> String {
    if typed.len() < 2 {
        return only.to_owned();
    }
    let indices: Vec<usize> = typed.iter().map(|part| part.index).collect();
    format!("message.content{}.text", indices_text(&indices))
}

/// Whether nothing in the envelope marks the line as the host's.
fn is_the_persons(line: &Line<'_>) -> bool {
    let origin = line.value.get("origin").and_then(|origin| text(origin, "kind"));
    !flag(line.value, "isMeta")
        && matches!(origin, None | Some("human"))
        && text(line.value, "promptSource") != Some("system")
}

/// Whether the line puts the question that a copy of the conversation was made for.
pub(super) fn asks_a_side_question(line: &Line<'_>) -> bool {
    let content = line.value.get("message").and_then(|message| message.get("content"));
    let said = match content {
        Some(Value::Array(blocks)) => blocks.first().and_then(|block| text(block, "text")),
        Some(content) => content.as_str(),
        None => None,
    };
    line.kind == "user"
        && said.is_some_and(|said| said.starts_with("<system-reminder>This is a side question"))
}

/// A user message's content, sorted.
#[derive(Default)]
struct Parts<'a> {
    texts: Vec<TextPart<'a>>,
    results: Vec<(usize, &'a Value)>,
    unknown: Vec<(usize, &'a str)>,
    /// An image or a document.
    has_attachment: bool,
}

struct TextPart<'a> {
    index: usize,
    text: &'a str,
    class: UserText,
    path: String,
}

impl<'a> Parts<'a> {
    /// `path` is that of `content`; blocks stand in a message's content only.
    fn of(content: &'a Value, path: &str) -> Self {
        let mut parts = Self::default();
        match content {
            Value::String(text) if !text.is_empty() => {
                let path = path.to_owned();
                let (class, text) = prompt::read(text);
                parts.texts.push(TextPart { index: 0, text, class, path });
            }
            Value::Array(blocks) => {
                for (index, block) in blocks.iter().enumerate() {
                    parts.add(index, block);
                }
            }
            _ => {}
        }
        parts
    }

    fn add(&mut self, index: usize, block: &'a Value) {
        match text(block, "type").unwrap_or("<missing type>") {
            "text" => {
                let Some(text) = text(block, "text") else { return };
                let path = format!("message.content[{index}].text");
                let (class, text) = prompt::read(text);
                self.texts.push(TextPart { index, text, class, path });
            }
            "tool_result" => self.results.push((index, block)),
            "image" | "document" => self.has_attachment = true,
            kind => self.unknown.push((index, kind)),
        }
    }

    fn is_typed(&self) -> bool {
        self.texts.iter().any(|part| part.class == UserText::Typed)
            || (self.texts.is_empty() && self.has_attachment)
    }
}
