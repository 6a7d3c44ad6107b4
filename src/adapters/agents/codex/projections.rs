//! Results that the host tells a second time: `exec_command_end`, `patch_apply_end` and the like.
//!
//! They join the call they name, whichever of the two comes first. In code mode they name host ids
//! that no call has; those get an id space of their own and never attach to the script's call.

use super::calls::Call;
use super::patch;
use super::value::{name, owned, pick, seconds, text};
use super::work::{Anchor, NESTED, Origin, Verdict, Work};
use crate::domain::event::{Channel, EventDraft, EventKind, NativeId, Outcome};
use crate::domain::payload::EvidenceKind;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Where a projection was read: its sensor's name and its place in provenance.
#[derive(Clone, Copy)]
pub(super) struct Telling {
    pub(super) sensor: &'static str,
    pub(super) place: &'static str,
    /// Key of the id.
    pub(super) id_key: &'static str,
    /// Path of the told object below the payload (`item.`).
    pub(super) at: &'static str,
}

const EXEC_END: Telling = Telling {
    sensor: "codex_exec_command_end_sensor_v1",
    place: "exec_command_end",
    id_key: "call_id",
    at: "",
};

/// Tools whose end is told without evidence.
pub(super) const CALL_END: Telling = Telling { sensor: "", place: "", id_key: "call_id", at: "" };

const PATCH_END: Telling = Telling {
    sensor: "codex_patch_apply_end_sensor_v1",
    place: "patch_apply_end",
    id_key: "call_id",
    at: "",
};

impl Work<'_> {
    pub(super) fn exec_command_end(&mut self, payload: &Value) -> Verdict {
        self.command_ended(payload, payload, EXEC_END)
    }

    pub(super) fn patch_apply_end(&mut self, payload: &Value) -> Verdict {
        self.files_changed(payload, payload, PATCH_END)
    }

    /// A command's end as the host tells it. `outer` names the turn, `told` the command.
    pub(super) fn command_ended(
        &mut self,
        outer: &Value,
        told: &Value,
        telling: Telling,
    ) -> Verdict {
        let argv = told.get("command").cloned().unwrap_or(Value::Null);
        if name(told, "source") == Some("user_shell") {
            return self.user_command(outer, told, &argv, telling);
        }
        let code = told.get("exit_code").and_then(Value::as_i64);
        let outcome = command_outcome(told, code);
        let id = owned(told, telling.id_key);
        let mut event = self.projected(outer, id.as_deref(), outcome.clone(), telling);
        event.tool_name.get_or_insert_with(|| "exec_command".to_owned());
        event.tool_input.get_or_insert_with(|| pick(told, &["command", "cwd"]));
        event.tool_response = text(told, "aggregated_output").map(|out| Value::String(out.into()));
        self.answered_at(&mut event, told, telling, &["aggregated_output"]);
        let anchor = Anchor::of(&event);
        self.tell(event);
        let ended = !matches!(outcome, Outcome::Denied | Outcome::Running);
        if let (Some(code), true) = (code, ended) {
            let command = self.known_command(id.as_deref()).unwrap_or(argv);
            self.prove_exit(&anchor, told, &command, code, telling);
        }
        Verdict::Told
    }

    fn prove_exit(
        &mut self,
        on: &Anchor,
        told: &Value,
        command: &Value,
        code: i64,
        telling: Telling,
    ) {
        let mut numbers = BTreeMap::new();
        if let Some(seconds) = told.get("duration").and_then(seconds) {
            numbers.insert("duration_seconds", seconds);
        }
        if let Some(process) = owned(told, "process_id") {
            numbers.insert("process_id", process);
        }
        let origin = Origin {
            sensor: telling.sensor,
            provenance: format!("{}#exit_code", telling.place),
            path: self.path(&format!("{}exit_code", telling.at)),
        };
        let payload = json!({ "command": command, "exit_code": code });
        let slot = "exit".to_owned();
        self.prove_with(on, EvidenceKind::ExitCode, slot, payload, origin, Some(&numbers));
    }

    /// A command that the person ran: no action of the agent, and no evidence of one.
    fn user_command(
        &mut self,
        outer: &Value,
        told: &Value,
        argv: &Value,
        telling: Telling,
    ) -> Verdict {
        let id = owned(told, telling.id_key);
        let outcome = match told.get("exit_code").and_then(Value::as_i64) {
            Some(0) => Outcome::Ok,
            Some(_) => Outcome::Failed,
            None => Outcome::Unknown,
        };
        let mut event = self.projected(outer, id.as_deref(), outcome, telling);
        event.kind = EventKind::UserCommand;
        event.channel = Channel::Canonical;
        event.native = id.map_or_else(NativeId::record, NativeId::call);
        event.tool_name = Some("user_shell".to_owned());
        event.tool_input = Some(json!({ "command": argv }));
        event.tool_response = text(told, "aggregated_output").map(|out| Value::String(out.into()));
        self.answered_at(&mut event, told, telling, &["aggregated_output"]);
        self.tell(event);
        Verdict::Told
    }

    /// Files changed by a patch, as the host lists them.
    pub(super) fn files_changed(
        &mut self,
        outer: &Value,
        told: &Value,
        telling: Telling,
    ) -> Verdict {
        let outcome = change_outcome(told);
        let changes = told.get("changes").unwrap_or(&Value::Null);
        let id = owned(told, telling.id_key);
        let mut event = self.projected(outer, id.as_deref(), outcome.clone(), telling);
        event.tool_name.get_or_insert_with(|| "apply_patch".to_owned());
        event.tool_input.get_or_insert_with(|| changed_paths(changes));
        event.tool_response = Some(pick(told, &["status", "stdout", "stderr", "success"]));
        let anchor = Anchor::of(&event);
        self.tell(event);
        if outcome == Outcome::Ok && !self.diffs_told(id.as_deref()) {
            self.prove_changes(&anchor, changes, telling);
        }
        Verdict::Told
    }

    fn prove_changes(&mut self, on: &Anchor, changes: &Value, telling: Telling) {
        for file in patch::from_changes(changes) {
            let slot = format!("diff:{}", file.path);
            let origin = Origin {
                sensor: telling.sensor,
                provenance: format!("{}#changes", telling.place),
                path: self.path(&format!("{}changes", telling.at)),
            };
            let payload = json!({ "path": file.path, "diff": file.diff });
            self.prove(on, EvidenceKind::FileDiff, slot, payload, origin);
        }
    }

    /// Whether a call's changes were told before; they are from now on.
    fn diffs_told(&mut self, id: Option<&str>) -> bool {
        let Some(id) = id else { return false };
        if let Some(call) = self.state.calls.get_open_mut(id) {
            return std::mem::replace(&mut call.diffs_told, true);
        }
        match self.state.calls.get_ended_mut(id) {
            Some(ended) => std::mem::replace(&mut ended.diffs_told, true),
            None => false,
        }
    }

    /// The command of the call with this id, in the words of the call.
    fn known_command(&self, id: Option<&str>) -> Option<Value> {
        let calls = &self.state.calls;
        let id = id?;
        let command = match calls.get_open(id) {
            Some(call) => call.command(),
            None => calls.get_ended(id)?.command.clone(),
        };
        Some(command).filter(|command| !command.is_null())
    }

    /// `mcp_tool_call_end`: success is `Ok` without `isError`.
    pub(super) fn mcp_tool_call_end(&mut self, payload: &Value) -> Verdict {
        let result = payload.get("result").unwrap_or(&Value::Null);
        let outcome = match (result.get("Ok"), result.get("Err")) {
            (Some(answer), _) if answer.get("isError") == Some(&Value::Bool(true)) => {
                Outcome::Failed
            }
            (Some(_), _) => Outcome::Ok,
            (None, Some(_)) => Outcome::Failed,
            (None, None) => Outcome::Unknown,
        };
        let call = payload.get("invocation").unwrap_or(&Value::Null);
        let tool = mcp_name(call);
        let input = call.get("arguments").cloned();
        let told = Told { tool, input, response: payload.get("result").cloned(), outcome };
        self.tool_ended(payload, payload, CALL_END, told)
    }

    pub(super) fn web_search_end(
        &mut self,
        outer: &Value,
        told: &Value,
        telling: Telling,
    ) -> Verdict {
        let input = Some(pick(told, &["query", "action"]));
        let ended = Told {
            tool: Some("web_search".into()),
            input,
            response: None,
            outcome: Outcome::Unknown,
        };
        self.tool_ended(outer, told, telling, ended)
    }

    pub(super) fn image_generation_end(
        &mut self,
        outer: &Value,
        told: &Value,
        telling: Telling,
    ) -> Verdict {
        let outcome = match name(told, "status") {
            Some("completed") => Outcome::Ok,
            Some("failed") => Outcome::Failed,
            _ => Outcome::Unknown,
        };
        let ended = Told {
            tool: Some("image_generation".into()),
            input: Some(pick(told, &["revised_prompt"])),
            response: Some(pick(told, &["status", "saved_path", "failure"])),
            outcome,
        };
        self.tool_ended(outer, told, telling, ended)
    }

    pub(super) fn view_image(&mut self, outer: &Value, told: &Value, telling: Telling) -> Verdict {
        let ended = Told {
            tool: Some("view_image".into()),
            input: Some(pick(told, &["path"])),
            response: None,
            outcome: Outcome::Unknown,
        };
        self.tool_ended(outer, told, telling, ended)
    }

    pub(super) fn dynamic_tool_call(
        &mut self,
        outer: &Value,
        told: &Value,
        telling: Telling,
    ) -> Verdict {
        let outcome = match (told.get("success").and_then(Value::as_bool), name(told, "status")) {
            (Some(true), _) => Outcome::Ok,
            (Some(false), _) | (None, Some("failed")) => Outcome::Failed,
            _ => Outcome::Unknown,
        };
        let tool = match (name(told, "namespace"), name(told, "tool")) {
            (Some(space), Some(tool)) => Some(format!("{space}.{tool}")),
            (_, tool) => tool.map(str::to_owned),
        };
        let ended = Told {
            tool,
            input: told.get("arguments").cloned(),
            response: Some(pick(told, &["content_items", "error"])),
            outcome,
        };
        self.tool_ended(outer, told, telling, ended)
    }

    /// A tool's end without evidence of its own.
    pub(super) fn tool_ended(
        &mut self,
        outer: &Value,
        told: &Value,
        telling: Telling,
        ended: Told,
    ) -> Verdict {
        let id = owned(told, telling.id_key);
        let mut event = self.projected(outer, id.as_deref(), ended.outcome, telling);
        event.tool_name = event.tool_name.or(ended.tool);
        event.tool_input = event.tool_input.or(ended.input);
        event.tool_response = ended.response;
        self.answered_at(&mut event, told, telling, &["result", "error", "output"]);
        self.tell(event);
        Verdict::Told
    }

    /// Moves an event's path from its id to its answer: the first of `fields` that the telling has.
    fn answered_at(&self, event: &mut EventDraft, told: &Value, telling: Telling, fields: &[&str]) {
        if let Some(field) = fields.iter().find(|field| told.get(**field).is_some()) {
            event.path = self.path(&format!("{}{field}", telling.at));
        }
    }

    /// The event of a projection, with what the call itself told before.
    pub(super) fn projected(
        &mut self,
        outer: &Value,
        id: Option<&str>,
        outcome: Outcome,
        telling: Telling,
    ) -> EventDraft {
        let native = match id {
            Some(id) if self.state.calls.is_nested(id) => NativeId::new(NESTED, id),
            Some(id) => NativeId::call(id),
            None => NativeId::record(),
        };
        let field = format!("{}{}", telling.at, telling.id_key);
        let mut event = self.event(EventKind::PostToolUse, native, Channel::Projection, &field);
        event.call_id = id.map(str::to_owned);
        if let Some(turn) = owned(outer, "turn_id") {
            event.turn_id = Some(turn);
        }
        event.outcome = Some(outcome.clone());
        if let Some(call) = id.and_then(|id| self.state.calls.get_open_mut(id)) {
            if outcome != Outcome::Unknown {
                call.projected = Some(outcome);
            }
            fill_from_call(&mut event, call);
        } else if let Some(ended) = id.and_then(|id| self.state.calls.get_ended(id)) {
            event.tool_name = Some(ended.name.clone());
            event.turn_id = event.turn_id.or_else(|| ended.turn.clone());
        }
        event
    }
}

/// What the host tells of a tool's end.
pub(super) struct Told {
    pub(super) tool: Option<String>,
    pub(super) input: Option<Value>,
    pub(super) response: Option<Value>,
    pub(super) outcome: Outcome,
}

/// What became of a command, as its end states it.
pub(super) fn command_outcome(told: &Value, code: Option<i64>) -> Outcome {
    match (name(told, "status"), code) {
        (Some("declined"), _) => Outcome::Denied,
        (Some("in_progress" | "inProgress"), _) => Outcome::Running,
        (_, Some(0)) => Outcome::Ok,
        (Some("failed"), _) | (_, Some(_)) => Outcome::Failed,
        (_, None) => Outcome::Unknown,
    }
}

/// What became of a change of files, as its end states it.
pub(super) fn change_outcome(told: &Value) -> Outcome {
    match (name(told, "status"), told.get("success").and_then(Value::as_bool)) {
        (Some("declined"), _) => Outcome::Denied,
        (Some("in_progress" | "inProgress"), _) => Outcome::Running,
        (Some("failed"), _) | (_, Some(false)) => Outcome::Failed,
        (Some("completed"), _) | (_, Some(true)) => Outcome::Ok,
        _ => Outcome::Unknown,
    }
}

fn fill_from_call(event: &mut EventDraft, call: &Call) {
    event.tool_name = Some(call.name.clone());
    event.tool_input.clone_from(&call.input);
    if event.turn_id.is_none() {
        event.turn_id.clone_from(&call.turn);
    }
}

/// `mcp__<server>__<tool>`, as the call's own name has it.
pub(super) fn mcp_name(call: &Value) -> Option<String> {
    Some(format!("mcp__{}__{}", name(call, "server")?, name(call, "tool")?))
}

fn changed_paths(changes: &Value) -> Value {
    let paths: Vec<&String> =
        changes.as_object().map(|changes| changes.keys().collect()).unwrap_or_default();
    json!({ "paths": paths })
}
