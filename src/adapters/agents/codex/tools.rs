//! Tool calls and their outputs, canonical telling.
//!
//! A call is a proposal; its output says what became of it. They are paired by id only. What a
//! call left running ends in the output of a later call; see `continued`.

use super::calls::{Call, patch_text};
use super::continued::begins;
use super::headers::{self, Reading, Tool};
use super::patch;
use super::value::{name, owned, pick};
use super::work::{Anchor, Origin, Verdict, Work};
use crate::domain::event::{Channel, EventDraft, EventKind, NativeId, Outcome};
use crate::domain::loss::LossReason;
use crate::domain::payload::EvidenceKind;
use serde_json::{Value, json};

const HEADER_SENSOR: &str = "codex_tool_output_header_sensor_v1";
const PATCH_SENSOR: &str = "codex_patch_text_sensor_v1";

/// The chat message that holds a result in the oldest documents.
pub(super) const CHAT_RESULT: &str = "tool_message";

/// What an ended call was, as far as the file still tells.
pub(super) struct Known {
    pub(super) name: String,
    pub(super) turn: Option<String>,
    pub(super) input: Option<Value>,
    pub(super) command: Value,
    projected: Option<Outcome>,
    diffs_told: bool,
}

impl Work<'_> {
    pub(super) fn function_call(&mut self, item: &Value) -> Verdict {
        let Some(tool) = full_name(item) else {
            return Verdict::Unknown("response_item:function_call:<missing name>".to_owned());
        };
        let input = item.get("arguments").map(parsed_arguments);
        self.propose(item, &tool, input, "arguments");
        Verdict::Told
    }

    pub(super) fn custom_tool_call(&mut self, item: &Value) -> Verdict {
        let Some(tool) = full_name(item) else {
            return Verdict::Unknown("response_item:custom_tool_call:<missing name>".to_owned());
        };
        let input = item.get("input").map(|input| json!({ "input": input }));
        self.propose(item, &tool, input, "input");
        Verdict::Told
    }

    pub(super) fn local_shell_call(&mut self, item: &Value) -> Verdict {
        self.propose(item, "local_shell", item.get("action").cloned(), "action");
        Verdict::Told
    }

    pub(super) fn tool_search_call(&mut self, item: &Value) -> Verdict {
        self.propose(item, "tool_search", item.get("arguments").cloned(), "arguments");
        Verdict::Told
    }

    /// A call that the provider runs itself and that has no output item.
    pub(super) fn hosted_call(&mut self, item: &Value, tool: &str, keys: &[&str]) -> Verdict {
        self.propose(item, tool, Some(pick(item, keys)), "type");
        Verdict::Told
    }

    /// Tells a proposed call and keeps it for its output.
    pub(super) fn propose(&mut self, item: &Value, tool: &str, input: Option<Value>, field: &str) {
        let id = call_id(item);
        let native = id.clone().map_or_else(NativeId::record, NativeId::call);
        let mut event = self.event(EventKind::PreToolUse, native, Channel::Canonical, field);
        if let Some(turn) = self.item_turn(item) {
            event.turn_id = Some(turn);
        }
        event.call_id.clone_from(&id);
        event.tool_name = Some(tool.to_owned());
        event.tool_input.clone_from(&input);
        self.state.turn.answer();
        let turn = event.turn_id.clone();
        self.tell(event);
        if let Some(id) = id
            && self.state.calls.open(&id, Call::new(tool, turn, input))
        {
            self.lose(LossReason::OpenCallsDropped, "calls without a result", field);
        }
    }

    /// `function_call_output` and `custom_tool_call_output`.
    pub(super) fn tool_output(&mut self, item: &Value, tag: &str) -> Verdict {
        let id = owned(item, "call_id");
        let known = self.take_call(id.as_deref(), item);
        let tool = Tool::of(&known.name);
        let output = item.get("output").unwrap_or(&Value::Null);
        let reading = headers::read(tool, output);
        let Known { turn, command, .. } = &known;
        let mut event = self.result_event(item, id.as_deref(), &known, &reading, output);
        if tag == CHAT_RESULT {
            event.path = self.path("content");
        }
        let continues = self.continues(&known);
        if continues.is_some() && reading.ended {
            // What ended is the other call's; of this one the text says nothing.
            event.outcome = Some(Outcome::Unknown);
        }
        let anchor = Anchor::of(&event);
        self.tell(event);
        if let Some(key) = continues {
            self.continued(&key, item, &reading, tag);
        } else {
            self.prove_result(&anchor, tool, command, &reading, tag);
        }
        let told = self.prove_patch(&anchor, tool, &known, &reading, tag);
        if let Some(id) = id {
            self.keep_running(&id, &known, &reading);
            let mut call = Call::new(&known.name, turn.clone(), None);
            call.diffs_told = known.diffs_told || told;
            if tool == Tool::Script {
                self.executed_calls(item, &id, turn.as_deref());
            }
            self.state.calls.ended(&id, &call, known.command);
        }
        Verdict::Told
    }

    /// The calls that a script made, as its output lists them: what was called, not what came of it.
    /// Tools whose nested calls stand as items of their own before it are told there.
    fn executed_calls(&mut self, item: &Value, script: &str, turn: Option<&str>) {
        let listed = item
            .get("internal_chat_message_metadata_passthrough")
            .and_then(|passthrough| passthrough.get("executed_tool_calls"))
            .and_then(Value::as_array);
        let told = std::mem::take(&mut self.state.calls.nested_tools);
        for (place, call) in listed.into_iter().flatten().enumerate() {
            let Some(tool) = name(call, "name").filter(|tool| !told.contains(*tool)) else {
                continue;
            };
            let id = format!("{script}#{place}");
            let at = "internal_chat_message_metadata_passthrough.executed_tool_calls";
            let field = format!("{at}[{place}].arguments");
            let native = NativeId::new("executed", id.as_str());
            let mut event = self.event(EventKind::PostToolUse, native, Channel::Projection, &field);
            event.turn_id = self.item_turn(item).or_else(|| turn.map(str::to_owned));
            event.call_id = Some(id);
            event.tool_name = Some(tool.to_owned());
            event.tool_input = call.get("arguments").map(parsed_arguments);
            event.outcome = Some(Outcome::Unknown);
            self.tell(event);
        }
    }

    /// `tool_search_output`: the names of what was found, not their whole definitions.
    pub(super) fn tool_search_output(&mut self, item: &Value) -> Verdict {
        let id = owned(item, "call_id");
        let known = self.take_call(id.as_deref(), item);
        let found: Vec<&str> = item
            .get("tools")
            .and_then(Value::as_array)
            .map(|tools| tools.iter().filter_map(|tool| name(tool, "name")).collect())
            .unwrap_or_default();
        let output = json!({ "status": name(item, "status"), "tools": found });
        let reading = headers::read(Tool::Other, &Value::Null);
        let mut event = self.result_event(item, id.as_deref(), &known, &reading, &output);
        event.path = self.path("tools");
        self.tell(event);
        if let Some(id) = id {
            let call = Call::new(&known.name, known.turn, None);
            self.state.calls.ended(&id, &call, Value::Null);
        }
        Verdict::Told
    }

    /// The call that an output answers, from the open calls, those ended, or the output itself.
    fn take_call(&mut self, id: Option<&str>, item: &Value) -> Known {
        if let Some(call) = id.and_then(|id| self.state.calls.close(id)) {
            let command = call.command();
            return Known {
                name: call.name,
                turn: call.turn,
                command,
                input: call.input,
                projected: call.projected,
                diffs_told: call.diffs_told,
            };
        }
        let ended = id.and_then(|id| self.state.calls.get_ended(id)).cloned();
        Known {
            name: match &ended {
                Some(ended) => ended.name.clone(),
                None => full_name(item).unwrap_or_default(),
            },
            turn: ended.as_ref().and_then(|ended| ended.turn.clone()),
            input: None,
            command: ended.as_ref().map_or(Value::Null, |ended| ended.command.clone()),
            projected: None,
            diffs_told: ended.is_some_and(|ended| ended.diffs_told),
        }
    }

    fn result_event(
        &self,
        item: &Value,
        id: Option<&str>,
        known: &Known,
        reading: &Reading,
        output: &Value,
    ) -> EventDraft {
        let native = id.map_or_else(NativeId::record, NativeId::call);
        // Whatever tells the end of what still runs outranks this.
        let goes_on = reading.running.is_some() && begins(known);
        let channel = if goes_on { Channel::Projection } else { Channel::Canonical };
        let mut event = self.event(EventKind::PostToolUse, native, channel, "output");
        if let Some(turn) = self.item_turn(item).or_else(|| known.turn.clone()) {
            event.turn_id = Some(turn);
        }
        event.call_id = id.map(str::to_owned);
        event.tool_name = Some(known.name.clone()).filter(|name| !name.is_empty());
        event.tool_input.clone_from(&known.input);
        event.tool_response = Some(output.clone()).filter(|output| !output.is_null());
        let stated = Some(reading.outcome.clone()).filter(|said| *said != Outcome::Unknown);
        event.outcome = Some(stated.or(known.projected.clone()).unwrap_or(Outcome::Unknown));
        event
    }

    pub(super) fn prove_result(
        &mut self,
        on: &Anchor,
        tool: Tool,
        command: &Value,
        reading: &Reading,
        tag: &str,
    ) {
        let origin = |how: &str| Origin {
            sensor: HEADER_SENSOR,
            provenance: format!("{tag}#{how}"),
            path: format!("{}{}", on.path, reading.path),
        };
        if let Some(code) = reading.exit_code {
            let payload = json!({ "command": command, "exit_code": code });
            let numbers = Some(&reading.telemetry);
            let slot = "exit".to_owned();
            let origin = origin(reading.how);
            self.prove_with(on, EvidenceKind::ExitCode, slot, payload, origin, numbers);
        } else if reading.stated_success && tool.is_shell_like() && tool != Tool::Patch {
            let tool = on.tool_name.as_deref().unwrap_or("call");
            let summary = format!("{tool} succeeded (stated by the host, no exit code)");
            let payload = json!({ "summary": summary });
            let origin = origin("success");
            self.prove(on, EvidenceKind::ToolResult, "result".to_owned(), payload, origin);
        }
    }

    /// File changes from the patch's own text, where the host did not list them; true when told.
    fn prove_patch(
        &mut self,
        on: &Anchor,
        tool: Tool,
        known: &Known,
        reading: &Reading,
        tag: &str,
    ) -> bool {
        let applied = match tool {
            Tool::Patch => reading.exit_code == Some(0) || reading.patch_applied,
            // A patch that the host took out of a shell call has no code in some versions.
            _ => reading.patch_applied && matches!(reading.exit_code, Some(0) | None),
        };
        let text = known.input.as_ref().and_then(|input| patch_text(tool, input));
        let (Some(text), true, false) = (text, applied, known.diffs_told) else { return false };
        for file in patch::from_text(text) {
            let slot = format!("diff:{}", file.path);
            let payload = json!({ "path": file.path, "diff": file.diff });
            let origin = Origin {
                sensor: PATCH_SENSOR,
                provenance: format!("{tag}#patch_text"),
                path: on.path.clone(),
            };
            self.prove(on, EvidenceKind::FileDiff, slot, payload, origin);
        }
        true
    }
}

/// The id that a call's output will name; `id` stands in for it in some files.
fn call_id(item: &Value) -> Option<String> {
    name(item, "call_id").or_else(|| name(item, "id")).map(str::to_owned)
}

/// `<namespace>.<name>`, or the bare name.
pub(super) fn full_name(item: &Value) -> Option<String> {
    let tool = name(item, "name")?;
    Some(match name(item, "namespace") {
        Some(space) => format!("{space}.{tool}"),
        None => tool.to_owned(),
    })
}

/// Arguments are JSON in a string; what does not parse stays a string.
pub(super) fn parsed_arguments(arguments: &Value) -> Value {
    let parsed = arguments.as_str().and_then(|spelled| serde_json::from_str(spelled).ok());
    parsed.unwrap_or_else(|| arguments.clone())
}
