//! How something that went on in the background ended.
//!
//! A launch only says that a command or an agent is running. Its end is told later and elsewhere:
//! by a tool that asks for its output, by one that stops it, or by a `<task-notification>` that
//! the host puts in as user text. The first states an exit code as a number. The last says it in
//! prose, and such notices were wrong before, so that code is marked as a guess.

use super::effects::{is_shell, task_of_launch};
use super::evidence::CallSeen;
use super::wire::{member, text};
use crate::domain::event::{Channel, EventDraft, EventKind, NativeId, Outcome};
use crate::domain::outcome::Message;
use crate::domain::provenance::CollectionMethod;
use serde_json::{Value, json};

/// The end of one task, borrowed from where it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskEnd<'a> {
    /// The host's id of the task; an agent's is its own id.
    pub(super) task: &'a str,
    /// The call that launched it, where it is named.
    pub(super) call: Option<&'a str>,
    pub(super) outcome: Outcome,
    pub(super) exit: Option<TaskExit>,
}

/// An exit code of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaskExit {
    pub(super) code: i64,
    /// A number of its own, not part of a sentence.
    pub(super) literal: bool,
}

/// The call that launched a task, and where the task's end is told.
pub(super) struct Launch<'a> {
    pub(super) conversation: &'a str,
    pub(super) call: &'a str,
    pub(super) tool: Option<&'a str>,
    pub(super) command: Option<&'a str>,
    /// As in `CallSeen`.
    pub(super) place: &'static str,
    pub(super) method: CollectionMethod,
    pub(super) observed_at: Option<&'a str>,
    pub(super) path: &'a str,
}

impl Launch<'_> {
    /// A second telling of the launching call, and its exit code. The call's own result came first
    /// and says `running`, so it keeps its place among the events; only the outcome is replaced.
    pub(super) fn ended(self, end: &TaskEnd<'_>) -> Vec<Message> {
        let native = NativeId::call(self.call);
        let event = EventDraft {
            call_id: Some(self.call.to_owned()),
            outcome: Some(end.outcome.clone()),
            observed_at: self.observed_at.map(str::to_owned),
            path: self.path.to_owned(),
            ..EventDraft::new(
                self.conversation,
                EventKind::PostToolUse,
                native,
                Channel::Projection,
            )
        };
        let input = self.command.map(|command| json!({ "command": command }));
        let exit = end.exit.filter(|_| self.tool.is_none_or(is_shell)).map(|exit| {
            let seen = CallSeen {
                conversation: self.conversation,
                native: &event.native,
                place: self.place,
                method: self.method,
                observed_at: self.observed_at,
                tool: self.tool,
                input: input.as_ref(),
                response: None,
                response_path: self.path,
                result_path: self.path,
                input_path: self.path,
            };
            seen.task_exit(exit)
        });
        let mut out = vec![Message::Event(event)];
        out.extend(exit);
        out
    }
}

/// Where user text that is such a notice begins.
pub(super) const NOTICE: &str = "<task-notification>";

/// The end that a notice tells; `None` for other text and for news of a task that goes on.
pub(super) fn notice(said: &str) -> Option<TaskEnd<'_>> {
    let body = said.trim_start().strip_prefix(NOTICE)?;
    // What the task itself said comes after; it can hold anything, also a tag.
    let body = until(body, &["</task-notification>", "<result>", "<event>"]);
    let told = outcome(tag(body, "status")?)?;
    let code = tag(body, "summary").and_then(code_in_summary);
    Some(TaskEnd {
        task: tag(body, "task-id")?,
        call: tag(body, "tool-use-id"),
        exit: code.filter(|c| agrees(*c, &told)).map(|code| TaskExit { code, literal: false }),
        outcome: told,
    })
}

/// The end that the answer of a tool about tasks tells.
pub(super) fn answer<'a>(
    tool: &str,
    input: Option<&'a Value>,
    response: &'a Value,
) -> Option<TaskEnd<'a>> {
    match tool {
        "TaskOutput" | "BashOutput" => asked(input, response),
        "TaskStop" | "KillShell" | "KillBash" => stopped(input, response),
        _ => None,
    }
}

/// The end that the host attached to a prompt; it states no code.
pub(super) fn attached(status: &Value) -> Option<TaskEnd<'_>> {
    let told = outcome(text(status, "status")?)?;
    Some(TaskEnd { task: text(status, "taskId")?, call: None, outcome: told, exit: None })
}

/// The id of the task that a call launched, where the answer says that it is still running.
pub(super) fn launched(response: &Value) -> Option<&str> {
    match response {
        Value::String(shown) => task_of_launch(shown),
        _ => ["backgroundTaskId", "agentId", "taskId"].iter().find_map(|key| text(response, key)),
    }
}

fn asked<'a>(input: Option<&'a Value>, response: &'a Value) -> Option<TaskEnd<'a>> {
    let named = input.and_then(|i| text(i, "task_id").or_else(|| text(i, "bash_id")));
    let (task, status, code) = match response {
        Value::String(shown) => {
            // The output comes last; it can hold anything, also a tag.
            let head = until(shown, &["<output>", "<stdout>", "<stderr>"]);
            let code = tag(head, "exit_code").and_then(|code| code.parse().ok());
            (tag(head, "task_id").or(named)?, tag(head, "status")?, code)
        }
        _ => {
            let told = member(response, "task").unwrap_or(response);
            let task = text(told, "task_id").or_else(|| text(told, "shellId")).or(named)?;
            (task, text(told, "status")?, told.get("exitCode").and_then(Value::as_i64))
        }
    };
    let told = outcome(status)?;
    let exit = code.filter(|c| agrees(*c, &told)).map(|code| TaskExit { code, literal: true });
    Some(TaskEnd { task, call: None, exit, outcome: told })
}

fn stopped<'a>(input: Option<&'a Value>, response: &'a Value) -> Option<TaskEnd<'a>> {
    if response.get("success").and_then(Value::as_bool) == Some(false) {
        return None;
    }
    let id = |of: &'a Value| text(of, "task_id").or_else(|| text(of, "shell_id"));
    let task = id(response).or_else(|| id(input?))?;
    Some(TaskEnd { task, call: None, outcome: Outcome::Interrupted, exit: None })
}

/// What a final status means; `None` while it goes on and for a word nobody knows.
fn outcome(status: &str) -> Option<Outcome> {
    Some(match status {
        "completed" => Outcome::Ok,
        "failed" => Outcome::Failed,
        "killed" | "stopped" => Outcome::Interrupted,
        _ => return None,
    })
}

/// Whether a code and the status beside it can both be true; where not, the code is not taken.
fn agrees(code: i64, outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Ok => code == 0,
        Outcome::Failed => code != 0,
        _ => true,
    }
}

/// The code at the very end of the host's own sentence. The task's description stands before it
/// and can say anything.
fn code_in_summary(summary: &str) -> Option<i64> {
    let summary = summary.trim_end().trim_end_matches('.');
    let completed = summary
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" completed (exit code "))
        .map(|(_, digits)| digits);
    let failed = summary.rsplit_once(" failed with exit code ").map(|(_, digits)| digits);
    completed.or(failed)?.parse().ok()
}

/// The part before the first of some marks.
fn until<'a>(text: &'a str, marks: &[&str]) -> &'a str {
    marks.iter().fold(text, |text, mark| text.split_once(mark).map_or(text, |(head, _)| head))
}

/// The text of an element without attributes.
fn tag<'a>(body: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    let (inner, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inner.trim()).filter(|inner| !inner.is_empty())
}

#[cfg(test)]
mod tests;
