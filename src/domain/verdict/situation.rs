//! What a verifier is given: the claim, and the runs and edits around it, in order.

use crate::domain::capability::SignalAvailability;
use crate::domain::claims::ClaimSentence;
use crate::domain::command::CommandText;
use crate::domain::event::Outcome;
use uuid::Uuid;

/// A claim to judge.
#[derive(Debug, Clone)]
pub struct ClaimCase {
    pub id: Uuid,
    pub text: String,
    pub subject: String,
    /// The sentence as the grammar reads it; `None` when this version reads no such claim in it.
    pub reading: Option<ClaimSentence>,
    pub turn: Option<String>,
    /// Position of the last prompt before the claim: where its turn begins when it has no id.
    pub turn_from: i64,
    /// Position among the events of the conversation.
    pub order: i64,
}

/// A command that the agent ran in a shell.
#[derive(Debug, Clone)]
pub struct ShellRun {
    pub command: CommandText,
    pub outcome: Outcome,
    /// Literal, from the provider's own header; absent is never 0.
    pub exit_code: Option<i64>,
    /// True when the outcome was guessed.
    pub heuristic: bool,
    /// The end of the output, as far as it is stored.
    pub output: Option<String>,
    pub order: i64,
    pub turn: Option<String>,
    /// The folder that the call itself names, where it names one.
    pub workdir: Option<String>,
    /// False for evidence that third-party messages brought in.
    pub trusted: bool,
    /// Where it was seen, for the rationale.
    pub place: String,
    pub evidence_ids: Vec<Uuid>,
}

/// A file changed by a tool.
#[derive(Debug, Clone)]
pub struct Edit {
    pub path: String,
    pub order: i64,
}

/// A call of a tool that writes a file.
#[derive(Debug, Clone)]
pub struct FileWrite {
    /// As the agent names it.
    pub path: String,
    /// Whether the file is known to have been absent before or to be absent after.
    pub change: FileChange,
    /// `Ok` only where the host states it, `Failed` likewise.
    pub outcome: Outcome,
    pub order: i64,
    pub turn: Option<String>,
    /// False for evidence that third-party messages brought in.
    pub trusted: bool,
    /// Where it was seen, for the rationale.
    pub place: String,
    pub evidence_ids: Vec<Uuid>,
}

/// What a write does to a file, as far as its record tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// The record shows a new file.
    Created,
    /// The record shows that the file went.
    Deleted,
    /// Written; whether it was there before is not told.
    Written,
}

/// Work whose effect is not known: a sub-agent, a tool that may do anything.
#[derive(Debug, Clone)]
pub struct Unseen {
    /// The tool, for the rationale.
    pub what: String,
    pub order: i64,
}

/// Everything around a claim.
#[derive(Debug, Clone)]
pub struct Situation {
    pub runs: Vec<ShellRun>,
    pub edits: Vec<Edit>,
    /// Calls of file tools, with what became of them.
    pub writes: Vec<FileWrite>,
    pub unseen: Vec<Unseen>,
    /// The conversation's folder.
    pub cwd: Option<String>,
    /// Whether this runtime shows how commands end.
    pub process_result: SignalAvailability,
}
