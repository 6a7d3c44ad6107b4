//! From a claim and what was observed to a verdict. Pure: no I/O, no clock, no provider names.
//!
//! Five verdicts, never collapsed, each with a typed reason, a sentence that a person can check,
//! and the ids of the evidence it rests on. A false `contradicted` is the worst error there is:
//! when in doubt the answer is `review`.

mod attempts;
mod dependency;
mod dispatch;
mod files;
mod judge;
mod kinds;
mod place;
mod repository;
#[cfg(test)]
mod sessions;
mod situation;
#[cfg(test)]
mod tests;
mod witness;

pub use dispatch::judge;
pub use situation::{ClaimCase, Edit, FileChange, FileWrite, ShellRun, Situation, Unseen};
pub use witness::with_testimony;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Name and version of the verifier of test claims.
pub const TEST_RESULT_VERIFIER: &str = "test_result_verifier_v1";

/// What is to be thought of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Literal evidence says so.
    Verified,
    /// Literal evidence says the opposite.
    Contradicted,
    /// Nothing speaks for it or against it.
    Unverified,
    /// There is evidence, but a person must look.
    Review,
    /// This runtime cannot show it.
    Unavailable,
}

impl Verdict {
    /// Every verdict, the weightiest first.
    pub const ALL: [Self; 5] =
        [Self::Contradicted, Self::Review, Self::Verified, Self::Unverified, Self::Unavailable];

    /// The wire spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Contradicted => "contradicted",
            Self::Unverified => "unverified",
            Self::Review => "review",
            Self::Unavailable => "unavailable",
        }
    }
}

crate::open_tag! {
    /// Why a verdict is what it is.
    pub enum Reason {
        /// A literal exit code 0 reached the shell.
        ExitZero = "exit_zero",
        /// The host states success, without a number.
        HostReportedSuccess = "host_reported_success",
        /// The command ran to its end, whatever came of it.
        CommandRan = "command_ran",
        /// The claim is a failure, and the run failed.
        FailureConfirmed = "failure_confirmed",
        ExitNonzero = "exit_nonzero",
        StaleAfterEdit = "stale_after_edit",
        ExitMasked = "exit_masked",
        PartialScope = "partial_scope",
        HeuristicOnly = "heuristic_only",
        StillRunning = "still_running",
        NoMatchingCommand = "no_matching_command",
        EarlierTurnOnly = "earlier_turn_only",
        SignalUnavailable = "signal_unavailable",
        CountsDisagree = "counts_disagree",
        UntrustedIngress = "untrusted_ingress",
        OutcomeUnknown = "outcome_unknown",
        NotExecuted = "not_executed",
        /// Something that may have run tests or changed files came after the run.
        WorkAfterRun = "work_after_run",
        /// The run was in a folder outside the conversation's, or in one that cannot be told.
        OtherDirectory = "other_directory",
        /// Another run of the same turn failed and was not repeated.
        OtherRunFailed = "other_run_failed",
        /// The run stopped for a reason that is no test failure (time-out, signal, nothing to run).
        AbnormalExit = "abnormal_exit",
        /// The claim is a failure, but the run succeeded.
        SuccessObserved = "success_observed",
        /// The repository holds the commit.
        CommitInRepository = "commit_in_repository",
        /// The repository does not hold the commit that is named.
        CommitNotInRepository = "commit_not_in_repository",
        /// The commit is not in the history of the branch that is named.
        CommitNotOnBranch = "commit_not_on_branch",
        /// The commit does not change the file that is named.
        CommitLacksFile = "commit_lacks_file",
        /// The branch has a commit of the turn's time; who made it is not told.
        CommitInTurn = "commit_in_turn",
        /// A remote-tracking reference holds the commit.
        OnRemote = "on_remote",
        /// The host records the write that is claimed.
        WriteRecorded = "write_recorded",
        /// The only write of the file failed.
        WriteFailed = "write_failed",
        /// Nothing like the write that is claimed was recorded.
        NoMatchingEdit = "no_matching_edit",
        /// A command names the file and may have changed it.
        ShellTouched = "shell_touched",
        /// A manifest was written; whether it names the package is not looked into.
        ManifestWritten = "manifest_written",
        /// The commit, branch, number or version that the claim names is not what the run shows.
        ObjectUnseen = "object_unseen",
        /// The run says that there was nothing left to do.
        NothingToDo = "nothing_to_do",
        /// The deed failed once, and was attempted more than once.
        OtherAttempt = "other_attempt",
        /// No verifier exists for the claim's subject.
        NoVerifier = "no_verifier",
    }
}

/// A verdict on a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub id: Uuid,
    pub claim_id: Uuid,
    pub verdict: Verdict,
    pub reason: Reason,
    /// One sentence naming the command, its literal code and where it was seen.
    pub rationale: String,
    pub evidence_ids: Vec<Uuid>,
    pub verifier_name: String,
}
