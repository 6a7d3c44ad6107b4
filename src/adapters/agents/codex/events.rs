//! `event_msg`: turns, errors, token counts, and second tellings of messages and calls.
//!
//! Turn starts and ends are told nowhere else; messages here are projections of `response_item`
//! messages and meet them by turn and equal text. Live-only events are known and never written.

use super::items::PROJECTED;
use super::meta::agent_facts;
use super::projections::CALL_END;
use super::value::{name, owned, text};
use super::work::{Verdict, Work};
use crate::domain::event::{Channel, EventKind, NativeId, Outcome};
use crate::domain::outcome::{Message, Relation, TurnDraft};
use serde_json::Value;

impl Work<'_> {
    /// An `event_msg` payload.
    pub(super) fn event_msg(&mut self, payload: &Value) -> Verdict {
        let Some(tag) = name(payload, "type") else {
            return Verdict::Unknown("event_msg:<missing payload.type>".to_owned());
        };
        match tag {
            "task_started" | "turn_started" => self.task_started(payload),
            "task_complete" | "turn_complete" => self.task_complete(payload),
            "turn_aborted" => self.turn_aborted(payload),
            "user_message" => self.message_event(payload, true),
            "agent_message" => self.message_event(payload, false),
            "token_count" => self.token_count(payload, None),
            "context_compacted" => {
                self.compaction("event", Channel::Projection, "type");
                Verdict::Told
            }
            "thread_rolled_back" => self.rolled_back(payload),
            "thread_settings_applied" => self.settings_applied(payload),
            "thread_name_updated" => self.thread_named(payload),
            "error" => self.runtime_error(payload),
            "exec_command_end" => self.exec_command_end(payload),
            "patch_apply_end" => self.patch_apply_end(payload),
            "mcp_tool_call_end" => self.mcp_tool_call_end(payload),
            "web_search_end" => self.web_search_end(payload, payload, CALL_END),
            "image_generation_end" => self.image_generation_end(payload, payload, CALL_END),
            "view_image_tool_call" => self.view_image(payload, payload, CALL_END),
            "dynamic_tool_call_response" => self.dynamic_tool_call(payload, payload, CALL_END),
            "sub_agent_activity" => self.sub_agent_activity(payload),
            "collab_agent_spawn_end" => self.agent_spawned(payload),
            "item_completed" => self.item_completed(payload),
            other => untold_event(other),
        }
    }

    fn task_started(&mut self, payload: &Value) -> Verdict {
        self.state.turn.begin(name(payload, "turn_id"));
        let native = NativeId::turn(self.state.turn.key());
        let event = self.event(EventKind::TurnStart, native, Channel::Canonical, "turn_id");
        self.tell(event);
        Verdict::Told
    }

    fn task_complete(&mut self, payload: &Value) -> Verdict {
        let failed = payload.get("error").is_some_and(|error| !error.is_null());
        let outcome = if failed { Outcome::Failed } else { Outcome::Ok };
        let last = owned(payload, "last_agent_message");
        self.turn_end(payload, outcome, last, "last_agent_message");
        Verdict::Told
    }

    fn turn_aborted(&mut self, payload: &Value) -> Verdict {
        self.turn_end(payload, Outcome::Interrupted, None, "reason");
        Verdict::Told
    }

    fn turn_end(&mut self, payload: &Value, outcome: Outcome, last: Option<String>, field: &str) {
        let turn = owned(payload, "turn_id").unwrap_or_else(|| self.state.turn.key());
        let native = NativeId::turn(turn.clone());
        let mut event = self.event(EventKind::TurnEnd, native, Channel::Canonical, field);
        if self.state.turn.id().is_none_or(|current| current == turn) {
            self.state.turn.end();
        }
        event.turn_id = Some(turn);
        event.outcome = Some(outcome);
        event.text = last;
        self.tell(event);
    }

    fn message_event(&mut self, payload: &Value, by_user: bool) -> Verdict {
        let Some(message) = text(payload, "message") else {
            let tag = if by_user { "user_message" } else { "agent_message" };
            return Verdict::Unknown(format!("event_msg:{tag}:<missing message>"));
        };
        if by_user {
            if !message.is_empty() {
                self.prompt(message, PROJECTED, None, "message");
            }
        } else {
            self.answer(message, PROJECTED, None, "message");
        }
        if self.is_silent() { Verdict::Ignored("message without text") } else { Verdict::Told }
    }

    fn rolled_back(&mut self, payload: &Value) -> Verdict {
        let mut event =
            self.event(EventKind::RolledBack, NativeId::record(), Channel::Canonical, "num_turns");
        if let Some(turns) = payload.get("num_turns").and_then(Value::as_u64) {
            event.text = Some(format!("{turns} turns rolled back"));
        }
        self.tell(event);
        Verdict::Told
    }

    fn thread_named(&mut self, payload: &Value) -> Verdict {
        if name(payload, "thread_id").is_some_and(|id| id != self.conversation()) {
            return Verdict::Ignored("name of another thread");
        }
        let title = owned(payload, "thread_name");
        self.state_facts("thread_name", TurnDraft { title, ..TurnDraft::default() });
        if self.is_silent() { Verdict::Ignored("repeated thread name") } else { Verdict::Told }
    }

    fn runtime_error(&mut self, payload: &Value) -> Verdict {
        let stated = text(payload, "message");
        let nested = payload.get("error").and_then(|error| text(error, "message"));
        let field = if stated.is_none() && nested.is_some() { "error.message" } else { "message" };
        let stated = stated.or(nested);
        let native = NativeId::record();
        let mut event = self.event(EventKind::RuntimeError, native, Channel::Canonical, field);
        event.text = stated.map(str::to_owned);
        event.outcome = Some(Outcome::Failed);
        self.tell(event);
        Verdict::Told
    }

    /// `sub_agent_activity` and the item of the same content: a child's start or end. It belongs
    /// to the child's conversation, as the child's hooks tell it.
    pub(super) fn sub_agent_activity(&mut self, payload: &Value) -> Verdict {
        let Some(child) = name(payload, "agent_thread_id") else {
            return Verdict::Unknown("sub_agent_activity:<missing agent_thread_id>".to_owned());
        };
        match name(payload, "kind") {
            Some("started") => {
                self.child(child, EventKind::SubagentStart, None, "agent_thread_id");
                self.child_facts(child, agent_facts(payload, ""), "agent_path");
            }
            Some("completed") => {
                self.child(child, EventKind::SubagentStop, None, "agent_thread_id");
            }
            Some("interrupted") => {
                let outcome = Some(Outcome::Interrupted);
                self.child(child, EventKind::SubagentStop, outcome, "agent_thread_id");
            }
            Some("interacted") => return Verdict::Ignored("sub-agent interaction"),
            Some(kind) => return Verdict::Unknown(format!("sub_agent_activity:{kind}")),
            None => return Verdict::Unknown("sub_agent_activity:<missing kind>".to_owned()),
        }
        Verdict::Told
    }

    fn agent_spawned(&mut self, payload: &Value) -> Verdict {
        let Some(child) = name(payload, "new_thread_id") else {
            return Verdict::Ignored("spawn without a thread");
        };
        self.child(child, EventKind::SubagentStart, None, "new_thread_id");
        self.child_facts(child, agent_facts(payload, "new_"), "new_agent_nickname");
        Verdict::Told
    }

    /// What this thread's file states of a child.
    fn child_facts(&mut self, child: &str, facts: TurnDraft, field: &str) {
        if facts == TurnDraft::default() {
            return;
        }
        self.push(Message::Turn(TurnDraft {
            conversation: child.to_owned(),
            observed_at: self.time(),
            path: self.path(field),
            ..facts
        }));
    }

    /// A child's start or end, and that it is this thread's child.
    pub(super) fn child(
        &mut self,
        child: &str,
        kind: EventKind,
        outcome: Option<Outcome>,
        field: &str,
    ) {
        let parent = self.conversation().to_owned();
        self.relate(child, Relation::Parent, &parent, field);
        let native = NativeId::new("agent", child);
        let mut event = self.event(kind, native, self.first_telling(), field);
        event.conversation = child.to_owned();
        event.agent_id = Some(child.to_owned());
        event.turn_id = None;
        event.outcome = outcome;
        self.tell(event);
    }
}

/// Events that are known and tell no action of their own.
fn untold_event(tag: &str) -> Verdict {
    match tag {
        "agent_reasoning" | "agent_reasoning_raw_content" | "agent_reasoning_section_break" => {
            Verdict::Ignored("reasoning")
        }
        "thread_goal_updated" => Verdict::Ignored("thread goal"),
        "entered_review_mode" | "exited_review_mode" => Verdict::Ignored("review mode"),
        "guardian_assessment" => Verdict::Ignored("guardian assessment"),
        "undo_completed" => Verdict::Ignored("undo"),
        "dynamic_tool_call_request" => Verdict::Ignored("told by the tool's response"),
        "collab_agent_interaction_end"
        | "collab_waiting_end"
        | "collab_close_end"
        | "collab_resume_end" => Verdict::Ignored("told by the agent tool's call"),
        other if is_live_only(other) => Verdict::Ignored("live-only event"),
        other => Verdict::Unknown(format!("event_msg:{other}")),
    }
}

/// Events that Codex streams and does not write to the file.
fn is_live_only(tag: &str) -> bool {
    const TAGS: &[&str] = &[
        "exec_approval_request",
        "apply_patch_approval_request",
        "request_permissions",
        "request_user_input",
        "elicitation_request",
        "stream_error",
        "turn_diff",
        "plan_update",
        "session_configured",
        "hook_started",
        "hook_completed",
        "warning",
        "background_event",
        "model_reroute",
        "raw_response_item",
        "raw_response_completed",
        "item_started",
        "item_updated",
    ];
    TAGS.contains(&tag)
        || tag.starts_with("mcp_startup_")
        || tag.ends_with("_begin")
        || tag.ends_with("_delta")
}
