//! What must be remembered from line to line, bounded and serialisable.
//!
//! The state is all that decides how later lines are read: a reader that stops, snapshots and goes
//! on says the same as one that never stopped.

use super::super::wire::text;
use super::line::Line;
use super::queue::Queue;
use super::resumed::Resumed;
use super::tasks::Tasks;
use crate::domain::outcome::{Relation, TurnDraft};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Version of the snapshot's shape.
const STATE_VERSION: u32 = 2;
/// Calls that wait for their result; the oldest tenth goes when there are more.
pub(super) const OPEN_CALLS_MAX: usize = 10_000;
/// Conversations remembered; one file rarely holds more than two.
const CONVERSATIONS_MAX: usize = 256;
/// Prompts of a conversation remembered by id.
const PROMPTS_MAX: usize = 64;
/// Relations of a conversation remembered as told; past it they may be told again.
pub(super) const RELATED_MAX: usize = 64;
/// Longest string kept of an open call's input, in bytes: a patch or a written file can be huge,
/// and the call's own event has told it already.
pub(super) const INPUT_STRING_MAX: usize = 256 * 1024;
/// What all open calls together may weigh, in bytes.
pub(super) const OPEN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The whole state of one transcript's reading.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    version: u32,
    /// Grows with every use; orders calls and conversations by age.
    clock: u64,
    calls: BTreeMap<String, OpenCall>,
    /// The weight of all open calls, in bytes.
    open_bytes: usize,
    conversations: BTreeMap<String, Conversation>,
    pub(super) tasks: Tasks,
    /// Another session whose lines stand in this file, and the file's own, once both were seen.
    pub(super) resumed: Resumed,
    dropped: Dropped,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Dropped {
    #[default]
    None,
    Unreported,
    Reported,
}

/// A call that was proposed and has not come back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    pub(super) tool: Option<String>,
    pub(super) input: Option<Value>,
    opened: u64,
    weight: usize,
}

/// What is remembered of one conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Conversation {
    pub(super) declared: bool,
    pub(super) related: BTreeSet<(Relation, String)>,
    pub(super) turn: Option<Turn>,
    pub(super) facts: Facts,
    pub(super) queue: Queue,
    /// Whether the file's own part has begun, after history that was copied for one question.
    pub(super) past_the_copy: bool,
    /// Prompt ids that already have their prompt event, oldest first.
    prompted: Vec<String>,
    used: u64,
}

/// The turn that lines without a `promptId` belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turn {
    pub(super) id: String,
    /// The id is a `promptId`, which hooks know too; else it is the prompt line's uuid.
    pub(super) shared: bool,
}

/// The facts told last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Facts {
    cwd: Option<String>,
    model: Option<String>,
    version: Option<String>,
    branch: Option<String>,
    pub(super) title: Option<String>,
    /// A title that the person gave is not replaced by a generated one.
    pub(super) custom_title: bool,
    /// The worktree told last; the lines are written again and again.
    worktree: Option<String>,
}

impl State {
    pub(super) fn snapshot(&self) -> Value {
        let versioned = Self { version: STATE_VERSION, ..self.clone() };
        serde_json::to_value(versioned).unwrap_or(Value::Null)
    }

    /// The state of a snapshot; `None` when it is not one of this version's.
    pub(super) fn restore(snapshot: &Value) -> Option<Self> {
        if snapshot.is_null() {
            return Some(Self::default());
        }
        let state: Self = serde_json::from_value(snapshot.clone()).ok()?;
        (state.version == STATE_VERSION).then_some(state)
    }

    /// The conversation's memory, made when new; the one unused for longest makes room.
    pub(super) fn conversation(&mut self, id: &str) -> &mut Conversation {
        self.clock += 1;
        if self.conversations.len() >= CONVERSATIONS_MAX && !self.conversations.contains_key(id) {
            let oldest = self.conversations.iter().min_by_key(|(_, c)| c.used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.conversations.remove(&oldest);
            }
        }
        let found = self.conversations.entry(id.to_owned()).or_default();
        found.used = self.clock;
        found
    }

    /// Remembers a call until its result.
    pub(super) fn open_call(&mut self, id: &str, tool: Option<&str>, input: Option<&Value>) {
        self.clock += 1;
        let _ = self.close_call(id);
        let tool = tool.filter(|tool| tool.len() <= INPUT_STRING_MAX).map(str::to_owned);
        let input = input.map(shortened);
        let weight =
            id.len() + tool.as_ref().map_or(0, String::len) + input.as_ref().map_or(0, weigh);
        while !self.calls.is_empty()
            && (self.calls.len() >= OPEN_CALLS_MAX || self.open_bytes + weight > OPEN_BYTES_MAX)
        {
            self.forget_oldest_calls();
        }
        self.open_bytes += weight;
        self.calls.insert(id.to_owned(), OpenCall { tool, input, opened: self.clock, weight });
    }

    /// Takes the call that a result answers.
    pub(super) fn close_call(&mut self, id: &str) -> Option<OpenCall> {
        let call = self.calls.remove(id)?;
        self.open_bytes = self.open_bytes.saturating_sub(call.weight);
        Some(call)
    }

    /// True once, after open calls had to be forgotten.
    pub(super) fn take_unreported_drop(&mut self) -> bool {
        let unreported = self.dropped == Dropped::Unreported;
        if unreported {
            self.dropped = Dropped::Reported;
        }
        unreported
    }

    /// Forgets the oldest tenth, and at least one.
    fn forget_oldest_calls(&mut self) {
        let mut ages: Vec<u64> = self.calls.values().map(|call| call.opened).collect();
        ages.sort_unstable();
        let kept_from = ages.get((ages.len() / 10).max(1)).copied().unwrap_or(u64::MAX);
        self.calls.retain(|_, call| call.opened >= kept_from);
        self.open_bytes = self.calls.values().map(|call| call.weight).sum();
        self.drop_a_call();
    }

    /// Notes that a call had to be forgotten before it ended.
    pub(super) fn drop_a_call(&mut self) {
        if self.dropped == Dropped::None {
            self.dropped = Dropped::Unreported;
        }
    }
}

impl Conversation {
    /// True for the first prompt event of a `promptId`, which then owns it.
    pub(super) fn claim_prompt(&mut self, id: &str) -> bool {
        if self.prompted.iter().any(|known| known == id) {
            return false;
        }
        if self.prompted.len() >= PROMPTS_MAX {
            self.prompted.remove(0);
        }
        self.prompted.push(id.to_owned());
        true
    }
}

impl Facts {
    /// The facts of a line that differ from those told last.
    pub(super) fn changed(&mut self, line: &Line<'_>) -> Option<TurnDraft> {
        let value = line.value;
        let message = value.get("message");
        let model = message.and_then(|m| text(m, "model")).filter(|m| *m != "<synthetic>");
        let draft = TurnDraft {
            cwd: change(&mut self.cwd, text(value, "cwd")),
            agent_version: change(&mut self.version, text(value, "version")),
            git_branch: change(&mut self.branch, text(value, "gitBranch")),
            model: change(&mut self.model, model),
            ..TurnDraft::default()
        };
        let path = match &draft {
            TurnDraft { cwd: Some(_), .. } => "cwd",
            TurnDraft { model: Some(_), .. } => "message.model",
            TurnDraft { agent_version: Some(_), .. } => "version",
            TurnDraft { git_branch: Some(_), .. } => "gitBranch",
            _ => return None,
        };
        Some(TurnDraft { path: path.to_owned(), ..draft })
    }
}

impl Facts {
    /// The folder and branch of a worktree that the session entered, when it is another one.
    pub(super) fn entered(&mut self, worktree: &str, branch: Option<&str>) -> Option<TurnDraft> {
        change(&mut self.worktree, Some(worktree))?;
        let cwd = change(&mut self.cwd, Some(worktree));
        let git_branch = change(&mut self.branch, branch);
        let moved = cwd.is_some() || git_branch.is_some();
        moved.then(|| TurnDraft { cwd, git_branch, ..TurnDraft::default() })
    }

    /// The session is in no worktree any more.
    pub(super) fn left(&mut self) {
        self.worktree = None;
    }

    /// The folder that the session was moved to, when it is another one.
    pub(super) fn moved(&mut self, cwd: &str) -> Option<TurnDraft> {
        let cwd = Some(change(&mut self.cwd, Some(cwd))?);
        Some(TurnDraft { cwd, ..TurnDraft::default() })
    }
}

fn change(told: &mut Option<String>, now: Option<&str>) -> Option<String> {
    let now = now.filter(|now| told.as_deref() != Some(now))?;
    *told = Some(now.to_owned());
    told.clone()
}

/// An input without its very long strings.
fn shortened(input: &Value) -> Value {
    match input {
        Value::String(text) if text.len() > INPUT_STRING_MAX => Value::Null,
        Value::Array(items) => Value::Array(items.iter().map(shortened).collect()),
        Value::Object(object) => {
            let kept = object.iter().filter(
                |(_, value)| !matches!(value, Value::String(text) if text.len() > INPUT_STRING_MAX),
            );
            Value::Object(kept.map(|(k, v)| (k.clone(), shortened(v))).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// About how many bytes a value takes.
fn weigh(value: &Value) -> usize {
    const SMALL: usize = 16;
    match value {
        Value::String(text) => SMALL + text.len(),
        Value::Array(items) => SMALL + items.iter().map(weigh).sum::<usize>(),
        Value::Object(object) => {
            SMALL + object.iter().map(|(key, value)| key.len() + weigh(value)).sum::<usize>()
        }
        _ => SMALL,
    }
}
