//! One tool's answer: what the host kept of it, and what the model was shown.

use super::super::effects::{self, Effect, is_shell};
use super::super::evidence::{self, CallSeen};
use super::super::slim::slim;
use super::super::wire::{flag, member, plain_text, text};
use super::line::Line;
use super::state::OpenCall;
use crate::domain::event::{EventDraft, Outcome};
use crate::domain::outcome::Message;
use crate::domain::provenance::CollectionMethod;
use serde_json::Value;
use std::borrow::Cow;

/// One tool's answer, in its two tellings.
pub(super) struct ToolResult<'a> {
    pub(super) is_error: bool,
    /// What the model was shown, as one text.
    pub(super) shown: Option<Cow<'a, Value>>,
    shown_value: Option<&'a Value>,
    /// `toolUseResult` where it is the host's object or list.
    pub(super) object: Option<&'a Value>,
    /// `toolUseResult` where it is a string.
    host_text: Option<&'a str>,
    pub(super) shown_path: String,
}

impl<'a> ToolResult<'a> {
    pub(super) fn read(line: &Line<'a>, block: &'a Value, alone: bool, path: &str) -> Self {
        let host = member(line.value, "toolUseResult").filter(|_| alone);
        let content = member(block, "content");
        Self {
            is_error: flag(block, "is_error"),
            shown: content.and_then(one_text),
            shown_value: content,
            object: host.filter(|value| value.is_object() || value.is_array()),
            host_text: host.and_then(Value::as_str),
            shown_path: format!("{path}.content"),
        }
    }

    pub(super) fn effect(&self, line: &Line<'_>, call: Option<&OpenCall>) -> Effect {
        let tool = call.and_then(|call| call.tool.as_deref());
        if self.is_error {
            let mut effect = self.failure(line, call, tool);
            if let Some(kind) = text(line.value, "toolDenialKind") {
                effect.outcome = effects::of_denial(kind);
            } else if self.object.is_some_and(|object| flag(object, "interrupted")) {
                effect.outcome = Outcome::Interrupted;
            }
            return effect;
        }
        let input = call.and_then(|call| call.input.as_ref());
        effects::of_success(tool, input, self.object.or(self.shown.as_deref()))
    }

    /// The failure that the two texts tell; where they name different codes, none is taken.
    fn failure(&self, line: &Line<'_>, call: Option<&OpenCall>, tool: Option<&str>) -> Effect {
        let headed = |text: &str| text.starts_with("Error: Exit code ");
        // Without its call in this file, only the host's own spelling tells that it was a shell.
        let shell = match call {
            Some(_) => tool.is_some_and(is_shell),
            None => self.host_text.is_some_and(headed),
        };
        let shell = shell && !is_before_headers(line);
        let shown = self.shown.as_deref().and_then(Value::as_str);
        let shown = shown.map(|shown| effects::of_failure(shell, shown));
        let host = self.host_text.map(|text| effects::of_failure(shell, text));
        match (shown, host) {
            (Some(shown), Some(host)) => {
                let exit_code = match (shown.exit_code, host.exit_code) {
                    (Some(one), Some(other)) if one != other => None,
                    (one, other) => one.or(other),
                };
                let outcome =
                    if shown.outcome == Outcome::Failed { host.outcome } else { shown.outcome };
                Effect { outcome, exit_code, stated_success: false }
            }
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => effects::of_failure(false, ""),
        }
    }

    /// Whether this stands in for an answer: the call stepped aside for a message of the person and
    /// goes on.
    pub(super) fn is_detached(&self) -> bool {
        self.object.is_some_and(|object| flag(object, "detachedToolCall"))
    }

    pub(super) fn kept_response(&self) -> Option<Value> {
        match self.object {
            Some(object) => Some(slim(object)),
            None => self.shown.as_deref().cloned().or_else(|| self.shown_value.map(slim)),
        }
    }

    pub(super) fn evidence(
        &self,
        line: &Line<'_>,
        event: &EventDraft,
        effect: &Effect,
        path: &str,
    ) -> Vec<Message> {
        let result_path = if self.object.is_some() { "toolUseResult" } else { &self.shown_path };
        let seen = CallSeen {
            conversation: line.conversation,
            native: &event.native,
            place: "transcript",
            method: CollectionMethod::FilePoll,
            observed_at: line.at,
            tool: event.tool_name.as_deref(),
            input: event.tool_input.as_ref(),
            response: self.object,
            response_path: "toolUseResult",
            result_path,
            input_path: path,
        };
        evidence::of_call(&seen, effect)
    }
}

/// A result's content as one string value: itself, or its text blocks joined.
fn one_text(content: &Value) -> Option<Cow<'_, Value>> {
    if content.is_string() {
        return Some(Cow::Borrowed(content));
    }
    plain_text(content).map(|text| Cow::Owned(Value::String(text)))
}

/// Whether the line's build is older than the `Exit code N` header (about 2.0.31): there a
/// failure's text is the command's own output, and a first line like it is the command's.
fn is_before_headers(line: &Line<'_>) -> bool {
    let major = text(line.value, "version").and_then(|v| v.split('.').next());
    matches!(major, Some("0" | "1"))
}
