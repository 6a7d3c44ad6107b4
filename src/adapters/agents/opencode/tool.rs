//! Tool calls: a proposal before, what became of it after, and the evidence in the metadata.
//!
//! `tool.execute.after` comes only for a tool that returned. Its `metadata.exit` is the exit code
//! of a command, literal; without it how the call ended is not stated.

use super::ADAPTER_VERSION;
use super::hook::Call;
use super::wire::{member, owned, text};
use crate::domain::event::{EventDraft, EventKind, NativeId, Outcome};
use crate::domain::evidence::{EvidenceDraft, ExtensionDraft};
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::Message;
use crate::domain::payload::EvidenceKind;
use crate::domain::provenance::{CollectionMethod, TrustClass};
use serde_json::{Map, Value, json};

const INPUT: [&str; 2] = ["payload", "input"];
const OUTPUT: [&str; 2] = ["payload", "output"];

/// 2001 in milliseconds since 1970: no count of seconds or nanoseconds of our days lies between
/// this and a thousand times this, so a time in the range is one in milliseconds.
const MILLISECONDS: std::ops::Range<i64> = 1_000_000_000_000..1_000_000_000_000_000;

/// A call about to run.
pub(super) fn proposed(call: &Call<'_>) -> Vec<Message> {
    let mut event = of_call(call, EventKind::PreToolUse, "payload.output.args");
    event.tool_input = member(call.native, &["payload", "output", "args"]).cloned();
    vec![Message::Event(event)]
}

/// A call that the person is asked about.
pub(super) fn asked(call: &Call<'_>) -> Vec<Message> {
    let mut event = of_call(call, EventKind::PermissionRequest, "payload.input");
    event.tool_name = owned(call.native, &["payload", "input", "type"]);
    event.text = owned(call.native, &["payload", "input", "title"]);
    vec![Message::Event(event)]
}

/// A call that returned.
pub(super) fn finished(call: &Call<'_>) -> Vec<Message> {
    let output = member(call.native, &OUTPUT);
    let exit = output.and_then(|o| member(o, &["metadata", "exit"])?.as_i64());
    let mut event = of_call(call, EventKind::PostToolUse, "payload.output.output");
    event.tool_input = member(call.native, &["payload", "input", "args"]).cloned();
    event.tool_response = output.cloned();
    event.outcome = Some(match exit {
        Some(0) => Outcome::Ok,
        Some(_) => Outcome::Failed,
        None => Outcome::Unknown,
    });
    let result = Finished { call, event: &event, output };
    let more: Vec<Message> =
        [exit.map(|code| result.exit_code(code)), result.file_diff(), result.duration()]
            .into_iter()
            .flatten()
            .collect();
    let mut out = vec![Message::Event(event)];
    out.extend(more);
    out
}

fn of_call(call: &Call<'_>, kind: EventKind, path: &str) -> EventDraft {
    let id = text(call.native, &["payload", "input", "callID"]);
    let native = id.map_or_else(NativeId::record, NativeId::call);
    let mut event = call.event(kind, native, path);
    event.call_id = id.map(str::to_owned);
    event.tool_name = member(call.native, &INPUT).and_then(|input| owned(input, &["tool"]));
    event
}

/// A call that returned, with what it returned.
struct Finished<'a> {
    call: &'a Call<'a>,
    event: &'a EventDraft,
    output: Option<&'a Value>,
}

impl Finished<'_> {
    fn exit_code(&self, code: i64) -> Message {
        let input = self.event.tool_input.as_ref();
        let command = input.and_then(|i| i.get("command")).cloned().unwrap_or(Value::Null);
        let mut draft = self.evidence(
            EvidenceKind::ExitCode,
            "exit",
            json!({ "command": command, "exit_code": code }),
            "metadata.exit",
            "opencode_tool_exit_code_v1",
        );
        draft.extension = self.telemetry();
        Message::Evidence(draft)
    }

    /// What OpenCode says of the call beyond the canonical payload.
    fn telemetry(&self) -> Option<ExtensionDraft> {
        let output = self.output?;
        let stated = [
            ("title", member(output, &["title"])),
            ("time", member(output, &["time"])),
            ("truncated", member(output, &["metadata", "truncated"])),
        ];
        let fields: Map<String, Value> = stated
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?.clone())))
            .collect();
        (!fields.is_empty()).then(|| ExtensionDraft {
            content_class: "tool_telemetry".to_owned(),
            fields: Value::Object(fields),
        })
    }

    /// The change that a file tool states itself.
    fn file_diff(&self) -> Option<Message> {
        let diff = text(self.output?, &["metadata", "diff"])?;
        let path = text(self.event.tool_input.as_ref()?, &["filePath"])?;
        Some(Message::Evidence(self.evidence(
            EvidenceKind::FileDiff,
            &format!("diff:{path}"),
            json!({ "path": path, "diff": diff }),
            "metadata.diff",
            "opencode_file_diff_v1",
        )))
    }

    /// How long the call took, where both ends are stated in milliseconds.
    fn duration(&self) -> Option<Message> {
        let time = |end| member(self.output?, &["time", end])?.as_i64();
        let (start, end) = (time("start")?, time("end")?);
        if !MILLISECONDS.contains(&start) || !MILLISECONDS.contains(&end) || end < start {
            return Some(Message::Loss(LossDraft::one(
                Some(self.call.conversation),
                LossReason::PayloadInvalid,
                "duration",
                "payload.output.time",
            )));
        }
        let observed =
            json!({ "observation_kind": "command_duration", "duration_ms": end - start });
        Some(Message::Evidence(self.evidence(
            EvidenceKind::ProcessObservation,
            "duration",
            json!({ "description": format!("took {} ms", end - start), "observation": observed }),
            "time",
            "opencode_command_duration_v1",
        )))
    }

    /// Where the evidence stands; without a call id the event is named by its own path, and
    /// evidence finds it by the same.
    fn path(&self, how: &str) -> String {
        if self.event.native.is_record() {
            return self.event.path.clone();
        }
        format!("payload.output.{how}")
    }

    fn evidence(
        &self,
        kind: EvidenceKind,
        slot: &str,
        payload: Value,
        how: &str,
        sensor: &str,
    ) -> EvidenceDraft {
        EvidenceDraft {
            conversation: self.call.conversation.to_owned(),
            event_kind: EventKind::PostToolUse,
            event_native: self.event.native.clone(),
            kind,
            slot: slot.to_owned(),
            payload,
            provenance: format!("opencode:{ADAPTER_VERSION}:tool.execute.after#{how}"),
            sensor_name: sensor.to_owned(),
            trust_class: TrustClass::AgentAdjacent,
            collection_method: CollectionMethod::HookCallback,
            observed_at: self.event.observed_at.clone(),
            extension: None,
            path: self.path(how),
        }
    }
}
