//! Whose file it is: `session_meta`, `turn_context` and applied settings.
//!
//! The first `session_meta` owns the file. A later one with the same id updates facts; one with
//! another id marks copied history. `session_id` names the spawn tree, never the conversation.

use super::state::MODELS_MAX;
use super::value::{name, owned};
use super::work::{Verdict, Work};
use crate::domain::event::{Channel, EventKind, NativeId};
use crate::domain::loss::LossReason;
use crate::domain::outcome::{Relation, TurnDraft};
use serde_json::Value;

/// Why copied lines are left out.
pub(super) const COPIED: &str = "copied history of another conversation";

impl Work<'_> {
    /// A `session_meta` payload.
    pub(super) fn session_meta(&mut self, payload: &Value) -> Verdict {
        let Some(id) = name(payload, "id") else {
            return Verdict::Unknown("session_meta:<missing id>".to_owned());
        };
        match self.state.conversation.as_deref() {
            None => self.own_meta(id, payload),
            Some(own) if own == id => {}
            Some(own) => {
                let own = own.to_owned();
                if self.state.copied.enter(id) {
                    self.relate(&own, Relation::Fork, id, "id");
                }
                return Verdict::Ignored(COPIED);
            }
        }
        self.meta_facts(payload);
        if self.is_silent() { Verdict::Ignored("repeated session_meta") } else { Verdict::Told }
    }

    fn own_meta(&mut self, id: &str, payload: &Value) {
        self.state.conversation = Some(id.to_owned());
        let parent = parent_of(payload);
        self.state.is_subagent = parent.is_some() || is_subagent(payload);
        let forked_from = name(payload, "forked_from_id");
        let mut inherits = None;
        self.state.copied.begin(payload, forked_from, parent);
        if let Some(start) = payload.get("subagent_history_start_ordinal").and_then(Value::as_u64) {
            self.state.copied.own_from(start, parent.or(forked_from));
            inherits = parent.filter(|_| start > 0);
        }
        self.state.usage.begin(payload);
        self.start_session(id);
        if let Some(tree) = name(payload, "session_id").filter(|tree| *tree != id) {
            self.relate(id, Relation::Tree, tree, "session_id");
        }
        if let Some(parent) = parent {
            self.relate(id, Relation::Parent, parent, "parent_thread_id");
        }
        if let Some(source) = forked_from {
            // The point of the fork itself: a base can change with a later revert.
            let stated = payload.get("forked_from_ordinal_exclusive").and_then(Value::as_u64);
            let position = stated.or_else(|| inherited_to(payload.get("history_base")?));
            self.relate_at(id, Relation::Fork, source, position, "forked_from_id");
        }
        if let Some(source) = inherits {
            self.relate(id, Relation::Fork, source, "subagent_history_start_ordinal");
        }
        if let Some(base) = payload.get("history_base").filter(|base| base.is_object()) {
            self.history_base(id, base, forked_from.or(parent));
        }
    }

    /// `history_base`: the history before this file stands in another one, up to a position. A
    /// fork names the thread that it began from; a file without that goes on with its own thread
    /// after a revert, and its base is a rollout of that thread.
    fn history_base(&mut self, id: &str, base: &Value, began_from: Option<&str>) {
        let Some(rollout) = name(base, "thread_id") else {
            self.lose_parts("session_meta", &["history_base".to_owned()], "history_base");
            return;
        };
        let end = inherited_to(base);
        if let Some(end) = end {
            self.state.copied.refers_before(end, began_from.unwrap_or(id));
        }
        if let Some(source) = began_from.filter(|source| *source != id) {
            self.relate_at(id, Relation::Fork, source, end, "history_base.thread_id");
            return;
        }
        let native = NativeId::new("revert", format!("{rollout}|{}", end.unwrap_or_default()));
        let field = "history_base.end_ordinal_exclusive";
        let mut event = self.event(EventKind::RolledBack, native, Channel::Canonical, field);
        event.turn_id = None;
        event.text = end.map(|end| format!("reverted to what stands before ordinal {end}"));
        self.tell(event);
    }

    /// Says that a line was taken for the file's own although nothing marks where the copy ends.
    pub(super) fn note_doubt(&mut self) {
        if self.state.copied.take_doubt() {
            self.lose(LossReason::CopyBoundaryUnsure, "no turn ids and no ordinals", "");
        }
    }

    /// The session's start, as the file tells it.
    pub(super) fn start_session(&mut self, id: &str) {
        let native = NativeId::new("session", id);
        let first = self.first_telling();
        let mut event = self.event(EventKind::SessionStart, native, first, "id");
        event.turn_id = None;
        self.tell(event);
    }

    fn meta_facts(&mut self, payload: &Value) {
        let facts = TurnDraft {
            cwd: owned(payload, "cwd"),
            agent_version: owned(payload, "cli_version"),
            git_branch: payload.get("git").and_then(|git| owned(git, "branch")),
            ..agent_facts(payload, "")
        };
        self.state_facts("cwd", facts);
    }

    /// A `turn_context` payload: model and folder of the turn.
    pub(super) fn turn_context(&mut self, payload: &Value) -> Verdict {
        self.state.turn.context(name(payload, "turn_id"));
        self.turn_facts(payload, "model");
        if self.is_silent() { Verdict::Ignored("repeated turn_context") } else { Verdict::Told }
    }

    /// `thread_settings_applied`: the settings in force from here on.
    pub(super) fn settings_applied(&mut self, payload: &Value) -> Verdict {
        if name(payload, "thread_id").is_some_and(|id| id != self.conversation()) {
            return Verdict::Ignored("settings of another thread");
        }
        if let Some(settings) = payload.get("thread_settings") {
            self.turn_facts(settings, "thread_settings.model");
        }
        if self.is_silent() { Verdict::Ignored("repeated settings") } else { Verdict::Told }
    }

    fn turn_facts(&mut self, stated: &Value, field: &str) {
        let turn_id = self.state.turn.id().map(str::to_owned);
        let model = owned(stated, "model");
        if let (Some(turn), Some(model)) = (turn_id.as_deref(), model.as_ref()) {
            self.state.models.insert_capped(turn, model.clone(), MODELS_MAX);
        }
        let cwd = owned(stated, "cwd");
        if model.is_none() && cwd.is_none() {
            return;
        }
        self.state_facts(field, TurnDraft { turn_id, model, cwd, ..TurnDraft::default() });
    }

    /// A line that is a copy: only its use of tokens is kept, credited to the source.
    pub(super) fn copied_line(&mut self, tag: &str, payload: &Value) -> Verdict {
        let source = self.state.copied.source().map(str::to_owned);
        match (tag, name(payload, "type"), source) {
            ("token_usage_record", _, Some(source)) => self.usage_record(payload, Some(source)),
            ("event_msg", Some("token_count"), Some(source)) => {
                self.token_count(payload, Some(source))
            }
            ("turn_context", _, _) => {
                if let Some(model) = owned(payload, "model") {
                    self.state.copied.model = Some(model);
                }
                Verdict::Ignored(COPIED)
            }
            _ => Verdict::Ignored(COPIED),
        }
    }
}

/// Up to where a base's history is inherited: the ordinal of the first record that is not.
fn inherited_to(base: &Value) -> Option<u64> {
    base.get("end_ordinal_exclusive").and_then(Value::as_u64)
}

/// What is stated of a spawned agent, under keys that begin with `prefix` in the parent's events.
pub(super) fn agent_facts(stated: &Value, prefix: &str) -> TurnDraft {
    let spawn = stated.pointer("/source/subagent/thread_spawn");
    let fact = |key: &str| {
        let key = format!("{prefix}{key}");
        owned(stated, &key).or_else(|| spawn.and_then(|spawn| owned(spawn, &key)))
    };
    TurnDraft {
        agent_nickname: fact("agent_nickname"),
        agent_role: fact("agent_role").or_else(|| fact("agent_type")),
        agent_path: fact("agent_path"),
        ..TurnDraft::default()
    }
}

/// The thread that spawned this one.
fn parent_of(payload: &Value) -> Option<&str> {
    name(payload, "parent_thread_id").or_else(|| {
        payload
            .pointer("/source/subagent/thread_spawn/parent_thread_id")
            .and_then(Value::as_str)
            .filter(|id| !id.trim().is_empty())
    })
}

fn is_subagent(payload: &Value) -> bool {
    payload.pointer("/source/subagent").is_some()
        || matches!(name(payload, "thread_source"), Some("subagent" | "guardian_review"))
}
