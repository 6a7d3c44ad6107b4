//! The canonical payloads of evidence: five kinds, each with one closed shape.
//!
//! Keys and types are those of the first Fornax, so that its consumers read ours. A shape is
//! closed at every level: an extra key is refused, because core code trusts what a canonical
//! payload means; what only one provider says belongs in the extension envelope. Errors name
//! the kind and the demand, never a value of the payload, which can hold a secret.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a piece of evidence is; closed on purpose, its consumers have no catch-all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// A summary of what a tool returned.
    ToolResult,
    /// A process's exit code.
    ExitCode,
    /// A change of a file.
    FileDiff,
    /// Something observed about a process or its effects.
    ProcessObservation,
    /// A passage of the transcript.
    TranscriptExcerpt,
}

impl EvidenceKind {
    /// Every kind, in declaration order.
    pub const ALL: [Self; 5] = [
        Self::ToolResult,
        Self::ExitCode,
        Self::FileDiff,
        Self::ProcessObservation,
        Self::TranscriptExcerpt,
    ];

    /// The wire spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolResult => "tool_result",
            Self::ExitCode => "exit_code",
            Self::FileDiff => "file_diff",
            Self::ProcessObservation => "process_observation",
            Self::TranscriptExcerpt => "transcript_excerpt",
        }
    }
}

impl fmt::Display for EvidenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The payload of `exit_code`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExitCodePayload {
    /// The command: Claude Code gives a string, Codex a string or an argument list.
    pub command: Value,
    /// The code, as the source stated it.
    pub exit_code: i64,
    /// Whether the code was guessed from output text instead of stated.
    #[serde(default)]
    pub heuristic: bool,
}

/// The payload of `tool_result`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolResultPayload {
    /// What the tool returned, in brief.
    pub summary: String,
}

/// The payload of `file_diff`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDiffPayload {
    /// The file's path as the agent named it.
    pub path: String,
    /// The change in unified form.
    pub diff: String,
}

/// The payload of `process_observation`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessObservationPayload {
    /// What was observed, for a human.
    pub description: String,
    /// The same for a program, where there is a shape for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<Observation>,
}

/// The payload of `transcript_excerpt`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranscriptExcerptPayload {
    /// The passage.
    pub text: String,
}

/// The observations that a consumer of the first Fornax knows.
pub const LEGACY_OBSERVATIONS: [&str; 6] = [
    "vcs_operation",
    "file_write_observed",
    "command_duration",
    "working_tree_status_observed",
    "artifact_hash_verified",
    "ci_check_status",
];

/// A typed observation, told apart by `observation_kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "observation_kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Observation {
    /// A commit or a push, as its own output tells it.
    VcsOperation {
        /// What was attempted.
        operation: VcsOperationKind,
        /// What became of it.
        outcome: VcsOutcome,
        /// The commit's hash, abbreviated or whole, where stated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit_sha: Option<String>,
        /// The branch, where stated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// The remote, where stated, without credentials.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remote: Option<String>,
    },
    /// A look at a file that the agent says it wrote.
    FileWriteObserved {
        /// The path that the agent named.
        claimed_path: String,
        /// Whether the file is there.
        exists: bool,
        /// Its modification time, RFC 3339.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        modified_at: Option<String>,
        /// Whether presence and time agree with the claim.
        consistent_with_claim: bool,
    },
    /// How long a command ran.
    CommandDuration {
        /// Milliseconds.
        duration_ms: i64,
    },
    /// A look at the work tree around a path.
    WorkingTreeStatusObserved {
        /// The path that the agent named.
        claimed_path: String,
        /// Whether it lies in a repository.
        is_repo: bool,
        /// The commit checked out; none when unborn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head_commit: Option<String>,
        /// Whether the path differs from what is committed.
        path_is_dirty: bool,
    },
    /// A hash of a file, computed by the observer.
    ArtifactHashVerified {
        /// The file's path.
        path: String,
        /// SHA-256 in lowercase hex.
        sha256_hex: String,
    },
    /// The checks of a commit, as the forge reports them.
    CiCheckStatus {
        /// Owner and name.
        repo: String,
        /// The commit.
        commit_sha: String,
        /// How many checks there are.
        total_count: i64,
        /// Their sum.
        overall: CiOverall,
    },
    /// A branch that was merged into the one checked out, or that this one was rebased onto.
    VcsBranchChange {
        /// What was done.
        action: VcsBranchAction,
        /// The other branch or commit, as named.
        reference: String,
    },
    /// A pull request that the conversation made, changed or is about.
    PullRequest {
        /// What was done to it; absent where only the relation is stated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<PullRequestAction>,
        /// Its number in the repository.
        number: i64,
        /// Its address, without credentials.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// Owner and name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repo: Option<String>,
    },
}

/// What a `vcs_branch_change` did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VcsBranchAction {
    /// `git merge`.
    Merged,
    /// `git rebase`.
    Rebased,
}

/// What was done to a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullRequestAction {
    /// It was opened.
    Created,
    /// Its title, text or settings changed.
    Edited,
    /// It was merged.
    Merged,
    /// Somebody wrote to it.
    Commented,
    /// It was closed without being merged.
    Closed,
    /// It was opened again.
    Reopened,
    /// A draft became ready for review.
    Ready,
    /// It became a draft.
    Draft,
    /// It will be merged once its checks pass.
    AutoMergeEnabled,
    /// It will not be merged by itself any more.
    AutoMergeDisabled,
}

/// What a `vcs_operation` attempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VcsOperationKind {
    /// `git commit`.
    Commit,
    /// `git push`.
    Push,
}

/// What became of a `vcs_operation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VcsOutcome {
    /// A commit was made.
    Created,
    /// There was nothing to commit.
    NothingToCommit,
    /// A remote reference moved.
    RefUpdated,
    /// The remote had it already.
    UpToDate,
    /// It was refused.
    Rejected,
}

/// The sum of a commit's checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CiOverall {
    /// All passed.
    Success,
    /// At least one failed.
    Failure,
    /// Some are not done.
    Pending,
    /// The forge does not say.
    Unknown,
}

/// Why a payload is not of its kind's canonical shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadError {
    /// The kind whose shape was demanded.
    pub kind: EvidenceKind,
    problem: String,
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a canonical {} payload: {}", self.kind, self.problem)
    }
}

impl std::error::Error for PayloadError {}

/// Checks that a payload has the closed shape of its kind. Total: any JSON value gets an answer.
pub fn validate_canonical_payload(kind: EvidenceKind, payload: &Value) -> Result<(), PayloadError> {
    match kind {
        EvidenceKind::ToolResult => decode_payload::<ToolResultPayload>(kind, payload).map(drop),
        EvidenceKind::ExitCode => decode_payload::<ExitCodePayload>(kind, payload).map(drop),
        EvidenceKind::FileDiff => decode_payload::<FileDiffPayload>(kind, payload).map(drop),
        EvidenceKind::ProcessObservation => {
            decode_payload::<ProcessObservationPayload>(kind, payload).map(drop)
        }
        EvidenceKind::TranscriptExcerpt => {
            decode_payload::<TranscriptExcerptPayload>(kind, payload).map(drop)
        }
    }
}

fn decode_payload<T: DeserializeOwned>(
    kind: EvidenceKind,
    payload: &Value,
) -> Result<T, PayloadError> {
    let fail = |problem: String| PayloadError { kind, problem };
    // serde would also take an array of the values in order; on the wire only objects are.
    let Some(object) = payload.as_object() else {
        return Err(fail("expected an object".to_owned()));
    };
    if object.get("observation").is_some_and(|inner| !inner.is_object() && !inner.is_null()) {
        return Err(fail("observation: expected an object".to_owned()));
    }
    T::deserialize(payload).map_err(|error| fail(without_values(&error.to_string())))
}

/// Keeps the part of a decoding error that comes from the shape, and drops what it quotes.
fn without_values(message: &str) -> String {
    if message.starts_with("missing field") {
        return message.to_owned();
    }
    let problem =
        if message.starts_with("unknown field") { "an extra key" } else { "a wrong value" };
    match message.rsplit_once(", expected ") {
        Some((_, expected)) => format!("{problem}, expected {expected}"),
        None => problem.to_owned(),
    }
}

#[cfg(test)]
mod tests;
