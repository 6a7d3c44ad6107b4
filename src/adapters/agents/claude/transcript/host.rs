//! Lines of the host itself: system notices, attachments, titles and other metadata.
//!
//! Nearly half of all lines are these. Those that say what happened (end of a turn, compaction, an
//! error, a prompt typed while the agent worked) are translated; every other known one is ignored
//! by name, so that a type nobody knows yet stands out.

use super::super::prompt::{self, UserText};
use super::super::wire::{member, plain_text, text};
use super::line::Line;
use super::{ClaudeTranscript, Reply};
use crate::domain::event::{EventKind, NativeId, Outcome};
use crate::domain::outcome::{Message, Relation, TurnDraft};
use serde_json::Value;

impl ClaudeTranscript {
    pub(super) fn system(&mut self, line: &Line<'_>) -> Reply {
        let Some(subtype) = text(line.value, "subtype") else {
            return match text(line.value, "content") {
                Some(_) => Reply::Ignored("system: notice of an old build"),
                None => Reply::Unknown("system:<missing subtype>".to_owned()),
            };
        };
        let retracted = line.value.get("retractedMessageUuids").and_then(Value::as_array);
        let refusal = matches!(subtype, "api_refusal" | "model_refusal_fallback");
        let takes_back = refusal && retracted.is_some_and(|uuids| !uuids.is_empty());
        if let Some(reason) = system_reason(subtype).filter(|_| !takes_back) {
            return Reply::Ignored(reason);
        }
        let turn = self.turn_of(line);
        let turn = turn.as_deref();
        let event = match subtype {
            "turn_duration" => {
                let native = self.turn_native(line);
                let mut event = line.event(EventKind::TurnEnd, native, turn, "durationMs");
                event.outcome = Some(Outcome::Ok);
                event
            }
            "compact_boundary" => {
                let native = line.block_id(0);
                line.event(EventKind::Compaction, native, turn, "compactMetadata")
            }
            "api_error" => {
                let native = line.block_id(0);
                let mut event = line.event(EventKind::RuntimeError, native, turn, "error");
                event.text = error_text(line.value);
                event.outcome = Some(Outcome::Failed);
                event
            }
            // Answers that were shown and then taken back, after the model or the API refused.
            "api_refusal" | "model_refusal_fallback" => {
                let place = "retractedMessageUuids";
                let mut event = line.event(EventKind::RolledBack, line.block_id(0), turn, place);
                event.text = text(line.value, "content").map(str::to_owned);
                event
            }
            _ => return Reply::Unknown(format!("system:{subtype}")),
        };
        Reply::Said(vec![Message::Event(event)], "system")
    }

    /// The turn's shared id where it is a prompt's, which the `Stop` hook names too.
    fn turn_native(&mut self, line: &Line<'_>) -> NativeId {
        if let Some(prompt) = line.prompt {
            return NativeId::turn(prompt);
        }
        match &self.state.conversation(line.conversation).turn {
            Some(turn) if turn.shared => NativeId::turn(turn.id.as_str()),
            _ => line.block_id(0),
        }
    }

    pub(super) fn attachment(&mut self, line: &Line<'_>) -> Reply {
        let attachment = line.value.get("attachment").unwrap_or(&Value::Null);
        match text(attachment, "type").unwrap_or("<missing type>") {
            "queued_command" => self.queued(line, attachment),
            "task_status" => self.attached_end(line, attachment),
            "edited_text_file" | "edited_image_file" => self.changed_file(line, attachment),
            kind if kind.starts_with("hook_") || kind == "async_hook_response" => {
                Reply::Ignored("attachment of a hook")
            }
            kind if CONTEXT_ATTACHMENTS.contains(&kind) => Reply::Ignored("attachment"),
            kind => Reply::Unknown(format!("attachment:{kind}")),
        }
    }

    /// A prompt typed while the agent worked: no user line is written for it.
    fn queued(&mut self, line: &Line<'_>, attachment: &Value) -> Reply {
        let Some(said) = attachment.get("prompt").and_then(plain_text) else {
            return Reply::Ignored("queued command without text");
        };
        let (class, words) = prompt::read(&said);
        let origin = attachment.get("origin").or_else(|| line.value.get("origin"));
        let origin = origin.and_then(|origin| text(origin, "kind"));
        let typed = matches!(origin, None | Some("human"))
            && matches!(text(attachment, "commandMode"), None | Some("prompt" | "bash"))
            && class == UserText::Typed;
        let kind = if typed { EventKind::UserPromptSubmit } else { EventKind::InjectedPrompt };
        let turn = self.turn_of(line);
        let queued = self.state.conversation(line.conversation).queue.attached(&said);
        let native = queued.unwrap_or_else(|| line.block_id(0));
        let ended = self.noticed_end(line, &said, "attachment.prompt");
        let mut event = line.event(kind, native, turn.as_deref(), "attachment.prompt");
        event.text = Some(words.to_owned());
        let mut out = vec![Message::Event(event)];
        out.extend(ended);
        Reply::Said(out, "attachment")
    }

    /// A title, told when it changes; the lines are written again and again.
    pub(super) fn title(&mut self, line: &Line<'_>, key: &str) -> Reply {
        let Some(title) = text(line.value, key) else { return Reply::Ignored("empty title") };
        let custom = key == "customTitle";
        let facts = &mut self.state.conversation(line.conversation).facts;
        let settled = facts.custom_title && !custom;
        if settled || facts.title.as_deref() == Some(title) {
            return Reply::Ignored("title told before");
        }
        facts.title = Some(title.to_owned());
        facts.custom_title |= custom;
        let told = Message::Turn(TurnDraft {
            conversation: line.conversation.to_owned(),
            title: Some(title.to_owned()),
            observed_at: line.at.map(str::to_owned),
            path: key.to_owned(),
            ..TurnDraft::default()
        });
        Reply::Said(vec![told], "title")
    }

    /// The first line of a forked sub-agent's file. It has no `sessionId`.
    pub(super) fn fork_reference(&mut self, line: &Line<'_>) -> Reply {
        let parent = text(line.value, "parentSessionId").filter(|_| line.agent.is_some());
        let Some(parent) = parent else { return Reply::Ignored("fork without its parent") };
        let told = self.relate(line.conversation, Relation::Fork, parent, "parentSessionId");
        Reply::Said(told.into_iter().collect(), "fork told before")
    }

    /// The session went on in the background, as a copy of itself under a new id.
    pub(super) fn continued(&mut self, line: &Line<'_>) -> Reply {
        let copy = text(line.value, "continuedInSessionId").filter(|_| line.session.is_some());
        let Some(copy) = copy else {
            return Reply::Ignored("continued in a session without a name");
        };
        let session = line.conversation;
        let told = self.relate(copy, Relation::Fork, session, "continuedInSessionId");
        Reply::Said(told.into_iter().collect(), "fork told before")
    }
}

/// Old builds told the progress of tools as lines, and copied whole sub-agent messages into them.
pub(super) fn progress(line: &Line<'_>) -> Reply {
    let data = line.value.get("data").unwrap_or(&Value::Null);
    match text(data, "type") {
        Some("agent_progress") => Reply::Ignored("copy of a sub-agent line"),
        _ => Reply::Ignored("progress"),
    }
}

pub(in super::super) fn error_text(line: &Value) -> Option<String> {
    let error = member(line, "error")?;
    if let Some(plain) = error.as_str() {
        return Some(plain.to_owned());
    }
    let nested = error.get("error");
    let deeper = nested.and_then(|e| e.get("error"));
    [Some(error), nested, deeper]
        .into_iter()
        .flatten()
        .find_map(|e| text(e, "message").or_else(|| text(e, "formatted")))
        .or_else(|| text(error.get("cause").unwrap_or(&Value::Null), "code"))
        .or_else(|| text(line.get("cause").unwrap_or(&Value::Null), "code"))
        .map(str::to_owned)
}

fn system_reason(subtype: &str) -> Option<&'static str> {
    Some(match subtype {
        "stop_hook_summary" => "system: stop_hook_summary",
        "microcompact_boundary" => "system: microcompact_boundary",
        "local_command" => "system: local_command",
        "away_summary" => "system: away_summary",
        "informational" => "system: informational",
        "scheduled_task_fire" => "system: scheduled_task_fire",
        "bridge_status" => "system: bridge_status",
        "model_refusal_fallback" => "system: model_refusal_fallback",
        "model_consent_fallback" => "system: model_consent_fallback",
        "permission_retry" => "system: permission_retry",
        "api_refusal" => "system: api_refusal",
        _ => return None,
    })
}

/// Why a metadata line of a known type is not translated.
pub(super) fn metadata_reason(kind: &str) -> Option<&'static str> {
    Some(match kind {
        // It stands in files of later sessions and names an older one's last line.
        "summary" => "summary of another session",
        "agent-name" | "agent-setting" | "agent-color" | "mode" | "permission-mode" | "tag" => {
            "setting of the session"
        }
        "last-prompt" => "copy of the last prompt",
        "file-history-snapshot" | "file-history-delta" | "attribution-snapshot" => {
            "file history of the host"
        }
        "cost-state" => "running cost of the session",
        "bridge-session" => "account data",
        "content-replacement" => "shortening of old content",
        "ended-by-model" | "history-suppression" | "task-summary" | "atis-latch" | "frame-link" => {
            "bookkeeping of the host"
        }
        _ if kind.starts_with("artifact-") || kind.starts_with("marble-origami-") => {
            "bookkeeping of the host"
        }
        _ => return None,
    })
}

/// Context that the host attached to a prompt or a result.
const CONTEXT_ATTACHMENTS: &[&str] = &[
    "agent_listing_delta",
    "agent_mention",
    "already_read_file",
    "auto_mode",
    "auto_mode_exit",
    "batching_reminder_sent",
    "budget_usd",
    "command_permissions",
    "compact_file_reference",
    "compaction_reminder",
    "companion_intro",
    "context_efficiency",
    "critical_system_reminder",
    "current_session_memory",
    "date_change",
    "deferred_tools_delta",
    "diagnostics",
    "directory",
    "dynamic_skill",
    "environment",
    "file",
    "goal_status",
    "invoked_skills",
    "mcp_instructions_delta",
    "max_turns_reached",
    "mcp_resource",
    "model",
    "nested_memory",
    "opened_file_in_ide",
    "output_style",
    "output_token_usage",
    "pdf_reference",
    "plan_file_reference",
    "plan_mode",
    "plan_mode_exit",
    "plan_mode_reentry",
    "prompt_snapshot",
    "read_truncation_notice",
    "relevant_memories",
    "selected_lines_in_ide",
    "session_context",
    "silent_turn_reminder",
    "skill_discovery",
    "skill_listing",
    "structured_output",
    "task_reminder",
    "team_context",
    "teammate_mailbox",
    "teammate_shutdown_batch",
    "todo_reminder",
    "token_usage",
    "total_tokens_reminder",
    "ultra_effort_enter",
    "ultra_effort_exit",
    "ultrathink_effort",
    "verify_plan_reminder",
];
