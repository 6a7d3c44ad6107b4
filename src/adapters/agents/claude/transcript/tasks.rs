//! Calls that go on in the background, and the end that is told of them later.

use super::super::background::{self, Launch, TaskEnd};
use super::super::wire::text;
use super::line::Line;
use super::state::OpenCall;
use super::{ClaudeTranscript, Reply};
use crate::domain::event::{EventDraft, Outcome};
use crate::domain::outcome::Message;
use crate::domain::provenance::CollectionMethod;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Tasks remembered; the oldest goes when there are more.
pub(super) const TASKS_MAX: usize = 1024;
/// Longest command kept of a task, in bytes; the launching call has told it already.
const COMMAND_MAX: usize = 4 * 1024;

/// Tasks by the host's id.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tasks {
    known: BTreeMap<String, Task>,
    launches: u64,
}

/// The call that launched a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Task {
    conversation: String,
    call: String,
    tool: Option<String>,
    command: Option<String>,
    /// Orders tasks by age.
    launch: u64,
}

impl Tasks {
    /// Remembers a launch; true when another one had to be forgotten.
    fn launched(&mut self, id: &str, mut task: Task) -> bool {
        let full = self.known.len() >= TASKS_MAX && !self.known.contains_key(id);
        if full {
            let oldest = self.known.iter().min_by_key(|(_, task)| task.launch);
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                self.known.remove(&oldest);
            }
        }
        self.launches += 1;
        task.launch = self.launches;
        self.known.insert(id.to_owned(), task);
        full
    }
}

impl ClaudeTranscript {
    /// Remembers a call whose result says that it goes on.
    pub(super) fn remember_launch(&mut self, event: &EventDraft, response: Option<&Value>) {
        let (Some(call), Some(Outcome::Running)) = (&event.call_id, &event.outcome) else { return };
        let Some(id) = response.and_then(background::launched) else { return };
        let command = event.tool_input.as_ref().and_then(|input| text(input, "command"));
        let task = Task {
            conversation: event.conversation.clone(),
            call: call.clone(),
            tool: event.tool_name.clone(),
            command: command.filter(|c| c.len() <= COMMAND_MAX).map(str::to_owned),
            launch: 0,
        };
        if self.state.tasks.launched(id, task) {
            self.state.drop_a_call();
        }
    }

    /// The end of a task that a notice in `said` tells.
    pub(super) fn noticed_end(&self, line: &Line<'_>, said: &str, path: &str) -> Vec<Message> {
        background::notice(said).map_or_else(Vec::new, |end| self.ended(line, &end, path))
    }

    /// The end of a task that an attachment tells.
    pub(super) fn attached_end(&self, line: &Line<'_>, attachment: &Value) -> Reply {
        let end = background::attached(attachment);
        let path = "attachment.status";
        let told = end.map_or_else(Vec::new, |end| self.ended(line, &end, path));
        Reply::Said(told, "attachment")
    }

    /// The end of a task that the answer of a tool about tasks tells.
    pub(super) fn answered_end(
        &self,
        line: &Line<'_>,
        call: Option<&OpenCall>,
        response: Option<&Value>,
        path: &str,
    ) -> Vec<Message> {
        let (Some(call), Some(response)) = (call, response) else { return Vec::new() };
        let Some(tool) = call.tool.as_deref() else { return Vec::new() };
        let end = background::answer(tool, call.input.as_ref(), response);
        end.map_or_else(Vec::new, |end| self.ended(line, &end, path))
    }

    /// The second telling of the launching call, and its exit code.
    fn ended(&self, line: &Line<'_>, end: &TaskEnd<'_>, path: &str) -> Vec<Message> {
        let task = self.state.tasks.known.get(end.task);
        let Some(call) = task.map(|task| task.call.as_str()).or(end.call) else {
            return Vec::new();
        };
        let launch = Launch {
            conversation: task.map_or(line.conversation, |task| task.conversation.as_str()),
            call,
            tool: task.and_then(|task| task.tool.as_deref()),
            command: task.and_then(|task| task.command.as_deref()),
            place: "transcript",
            method: CollectionMethod::FilePoll,
            observed_at: line.at,
            path,
        };
        launch.ended(end)
    }
}
