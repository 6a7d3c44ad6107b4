//! Making evidence of what became of a call, the same way for hooks and transcripts.
//!
//! Only shell tools get exit codes, stated successes and git operations, only file tools get
//! diffs, and only on the outcome that allows it.

use super::ADAPTER_VERSION;
use super::background::TaskExit;
use super::diff::{FileChange, ReadFrom, file_change};
use super::effects::{Effect, is_shell};
use super::git::{self, GitFact};
use crate::domain::event::{EventKind, NativeId, Outcome};
use crate::domain::evidence::EvidenceDraft;
use crate::domain::outcome::Message;
use crate::domain::payload::EvidenceKind;
use crate::domain::provenance::{CollectionMethod, TrustClass};
use serde_json::{Value, json};

/// A call that came back, where it was seen.
pub(super) struct CallSeen<'a> {
    pub(super) conversation: &'a str,
    pub(super) native: &'a NativeId,
    /// `PostToolUse`, `transcript`: the middle part of the provenance.
    pub(super) place: &'static str,
    pub(super) method: CollectionMethod,
    pub(super) observed_at: Option<&'a str>,
    /// `None` where the call itself was not seen.
    pub(super) tool: Option<&'a str>,
    pub(super) input: Option<&'a Value>,
    pub(super) response: Option<&'a Value>,
    /// Path of the response inside its line.
    pub(super) response_path: &'a str,
    /// Path of the text that holds the exit header or states the success.
    pub(super) result_path: &'a str,
    /// Path of the input, or of the result where the input stands in another line.
    pub(super) input_path: &'a str,
}

/// All evidence that the call's effect carries.
pub(super) fn of_call(seen: &CallSeen<'_>, effect: &Effect) -> Vec<Message> {
    let mut out = Vec::new();
    if let Some(code) = effect.exit_code {
        out.push(seen.exit_code(code));
    } else if effect.stated_success && seen.tool.is_some_and(is_shell) {
        out.push(seen.stated_success());
    }
    if effect.outcome == Outcome::Ok
        && seen.tool.is_none_or(is_shell)
        && let Some(response) = seen.response
    {
        out.extend(git::operations(response).into_iter().map(|fact| seen.git_operation(fact)));
    }
    if effect.outcome == Outcome::Ok
        && let Some(tool) = seen.tool
        && let Some(change) = file_change(tool, seen.input, seen.response)
    {
        out.push(seen.file_diff(change));
    }
    out
}

impl CallSeen<'_> {
    fn exit_code(&self, code: i64) -> Message {
        let command = self.input.and_then(|i| i.get("command")).cloned().unwrap_or(Value::Null);
        self.draft(
            EvidenceKind::ExitCode,
            "exit".to_owned(),
            json!({"command": command, "exit_code": code}),
            "exit_code",
            "claude_shell_exit_code_v1",
            self.result_path,
        )
    }

    /// The code of a command that ended in the background. A literal one and a guess are two
    /// pieces of evidence.
    pub(super) fn task_exit(&self, exit: TaskExit) -> Message {
        let command = self.input.and_then(|i| i.get("command")).cloned().unwrap_or(Value::Null);
        let code = exit.code;
        let (slot, how, payload) = if exit.literal {
            ("exit", "task_exit_code", json!({"command": command, "exit_code": code}))
        } else {
            let payload = json!({"command": command, "exit_code": code, "heuristic": true});
            ("exit:notice", "heuristic:task_notification", payload)
        };
        let sensor = "claude_task_exit_code_v1";
        let path = self.result_path;
        self.draft(EvidenceKind::ExitCode, slot.to_owned(), payload, how, sensor, path)
    }

    fn stated_success(&self) -> Message {
        let tool = self.tool.unwrap_or("Bash");
        self.draft(
            EvidenceKind::ToolResult,
            "result".to_owned(),
            json!({"summary": format!("{tool} succeeded (stated by the host, no exit code)")}),
            "stated_success",
            "claude_shell_result_v1",
            self.result_path,
        )
    }

    fn file_diff(&self, change: FileChange) -> Message {
        let patch_path = format!("{}.structuredPatch", self.response_path);
        let (how, path) = match change.read {
            ReadFrom::Patch => ("patch", patch_path.as_str()),
            ReadFrom::Response => ("response", self.response_path),
            ReadFrom::Input => ("heuristic:tool_input", self.input_path),
        };
        self.draft(
            EvidenceKind::FileDiff,
            format!("diff:{}", change.path),
            json!({"path": change.path, "diff": change.diff}),
            how,
            "claude_file_diff_v1",
            path,
        )
    }

    fn git_operation(&self, fact: GitFact) -> Message {
        let path = format!("{}.{}", self.response_path, fact.path);
        let (kind, sensor) = (EvidenceKind::ProcessObservation, "claude_git_operation_v1");
        self.draft(kind, fact.slot.to_owned(), fact.payload, "git_operation", sensor, &path)
    }

    fn draft(
        &self,
        kind: EvidenceKind,
        slot: String,
        payload: Value,
        how: &str,
        sensor: &str,
        path: &str,
    ) -> Message {
        let tool = self.tool.unwrap_or("unknown");
        Message::Evidence(EvidenceDraft {
            conversation: self.conversation.to_owned(),
            event_kind: EventKind::PostToolUse,
            event_native: self.native.clone(),
            kind,
            slot,
            payload,
            provenance: format!("claude_code:{ADAPTER_VERSION}:{}:{tool}#{how}", self.place),
            sensor_name: sensor.to_owned(),
            trust_class: TrustClass::AgentAdjacent,
            collection_method: self.method.clone(),
            observed_at: self.observed_at.map(str::to_owned),
            extension: None,
            path: path.to_owned(),
        })
    }
}
