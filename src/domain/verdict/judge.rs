//! The verifiers of claims about tests, builds, linters, type checks, formatting and commands.
//!
//! The latest run of the kind before the claim decides, those of the claim's own turn first. Only a
//! literal status that reaches the shell, of a full run, with no edit after it, can verify or
//! contradict. Everything else has a reason of its own.

use super::kinds::{Candidate, Kind, candidates};
use super::place;
use super::{ClaimCase, Edit, Finding, Reason, ShellRun, Situation, TEST_RESULT_VERIFIER, Verdict};
use crate::base::ids;
use crate::base::text::{one_line, shorten};
use crate::domain::capability::SignalAvailability;
use crate::domain::claims::{ClaimSentence, Polarity, Scope as ClaimScope};
use crate::domain::command::{Scope, StatusReach, TestRun, may_change_files, only_looks};
use crate::domain::event::Outcome;
use crate::domain::summaries::Summary;

/// Characters of a command in a rationale.
const COMMAND_CHARS: usize = 100;
/// Lines at the head of an output where a host says that it timed the command out.
const TIMEOUT_LINES: usize = 4;
/// Exit codes that say that tests did not run to their end: pytest's usage (4) and "no tests" (5),
/// `timeout` (124), not executable (126), not found (127), killed (137), terminated (143).
pub(super) const ABNORMAL_CODES: &[i64] = &[4, 5, 124, 126, 127, 130, 137, 143];

/// Judges claims about checks and commands, in their order.
pub(super) fn judge(claims: &[ClaimCase], situation: &Situation) -> Vec<Finding> {
    let mut tests: Option<Vec<Candidate<'_>>> = None;
    claims
        .iter()
        .map(|claim| {
            let kind = claim.reading.as_ref().and_then(|said| Kind::of(&said.subject));
            if kind == Some(Kind::Tests) {
                // Most claims are about tests: their runs are read once for all of them.
                let runs = tests.get_or_insert_with(|| candidates(Kind::Tests, claim, situation));
                return finding(claim, kind, situation, runs);
            }
            let runs = kind.map(|kind| candidates(kind, claim, situation)).unwrap_or_default();
            finding(claim, kind, situation, &runs)
        })
        .collect()
}

fn finding(
    claim: &ClaimCase,
    kind: Option<Kind>,
    situation: &Situation,
    runs: &[Candidate<'_>],
) -> Finding {
    let (verdict, reason, rationale, run) = decide(claim, kind, situation, runs);
    let verifier_name = match kind {
        Some(_) => format!("{}_verifier_v1", claim.subject),
        None => TEST_RESULT_VERIFIER.to_owned(),
    };
    Finding {
        id: ids::derive(&["finding", &claim.id.to_string(), &verifier_name]),
        claim_id: claim.id,
        verdict,
        reason,
        rationale,
        evidence_ids: run.map(|r| r.evidence_ids.clone()).unwrap_or_default(),
        verifier_name,
    }
}

type Decision<'a> = (Verdict, Reason, String, Option<&'a ShellRun>);

fn decide<'a>(
    claim: &ClaimCase,
    kind: Option<Kind>,
    situation: &'a Situation,
    runs: &[Candidate<'a>],
) -> Decision<'a> {
    let (Some(said), Some(kind)) = (&claim.reading, kind) else {
        let text = format!("no verifier for claims about {}", one_line(&claim.subject));
        return (Verdict::Unavailable, Reason::NoVerifier, text, None);
    };
    let before = runs.partition_point(|c| c.run.order < claim.order);
    let candidates = runs.get(..before).unwrap_or_default();
    let own_turn = |c: &&Candidate<'_>| match &claim.turn {
        Some(_) => c.run.turn == claim.turn,
        None => c.run.order > claim.turn_from,
    };
    let own = candidates.iter().rev().find(own_turn);
    let Some(latest) = own.or_else(|| candidates.last()) else {
        return nothing_ran(kind, situation);
    };
    let mut answer = match kind {
        Kind::Executed => executed(latest.run),
        _ => weigh(said, kind, claim, latest, situation),
    };
    if own.is_none() && matches!(answer.0, Verdict::Verified | Verdict::Contradicted) {
        answer = (
            Verdict::Review,
            Reason::EarlierTurnOnly,
            format!("the last {} was in an earlier turn: {}", kind.noun(), told(latest.run)),
        );
    }
    if answer.0 == Verdict::Verified
        && said.polarity == Polarity::Passes
        && kind.goes_stale()
        && let Some((failed, reason)) = unrepeated_failure(candidates, latest)
    {
        let text = format!("a later run passed, but {} was not run again", told(failed.run));
        answer = (Verdict::Review, reason, text);
    }
    (answer.0, answer.1, answer.2, Some(latest.run))
}

/// Whether a command that is said to have been run was.
fn executed(run: &ShellRun) -> (Verdict, Reason, String) {
    let seen = told(run);
    if let Some(answer) = not_finished(run, &seen) {
        return answer;
    }
    if !run.trusted {
        return review(Reason::UntrustedIngress, format!("{seen}, told by third-party messages"));
    }
    match run.outcome {
        Outcome::Ok | Outcome::Failed if !run.heuristic => {
            (Verdict::Verified, Reason::CommandRan, seen)
        }
        _ => review(Reason::OutcomeUnknown, format!("{seen}; how it ended is not stated")),
    }
}

fn nothing_ran<'a>(kind: Kind, situation: &Situation) -> Decision<'a> {
    if matches!(
        situation.process_result,
        SignalAvailability::Unsupported | SignalAvailability::Unavailable
    ) {
        let text = "this source does not show how commands end".to_owned();
        return (Verdict::Unavailable, Reason::SignalUnavailable, text, None);
    }
    let text = format!("no {} was recorded before the claim", kind.noun());
    (Verdict::Unverified, Reason::NoMatchingCommand, text, None)
}

/// The verdict that one run supports.
fn weigh(
    said: &ClaimSentence,
    kind: Kind,
    claim: &ClaimCase,
    candidate: &Candidate<'_>,
    situation: &Situation,
) -> (Verdict, Reason, String) {
    let run = candidate.run;
    let seen = told(run);
    if let Some(answer) = not_finished(run, &seen) {
        return answer;
    }
    if !run.trusted {
        return review(Reason::UntrustedIngress, format!("{seen}, told by third-party messages"));
    }
    if run.heuristic {
        return review(Reason::HeuristicOnly, format!("{seen}, a guess from its output"));
    }
    if candidate.folder.is_none() {
        let text = format!("{seen}, in a folder outside the conversation's");
        return review(Reason::OtherDirectory, text);
    }
    match run.outcome {
        Outcome::Ok => passed(said, kind, claim, candidate, situation, &seen),
        Outcome::Failed => failed(said, claim, candidate, situation, &seen),
        _ => review(Reason::OutcomeUnknown, format!("{seen}; how it ended is not stated")),
    }
}

/// Runs that say nothing of the tests, whatever the claim.
pub(super) fn not_finished(run: &ShellRun, seen: &str) -> Option<(Verdict, Reason, String)> {
    match run.outcome {
        Outcome::Running => Some((
            Verdict::Unverified,
            Reason::StillRunning,
            format!("{seen} had not ended when it was last seen"),
        )),
        Outcome::Denied | Outcome::Interrupted => Some((
            Verdict::Unverified,
            Reason::NotExecuted,
            format!("{seen} did not run to its end ({})", run.outcome),
        )),
        _ => None,
    }
}

fn passed(
    said: &ClaimSentence,
    kind: Kind,
    claim: &ClaimCase,
    candidate: &Candidate<'_>,
    situation: &Situation,
    seen: &str,
) -> (Verdict, Reason, String) {
    if !candidate.test.success_proves || place::is_untold(candidate.run) {
        return review(Reason::ExitMasked, format!("{seen}: {}", mask(&candidate.test)));
    }
    if candidate.summary.is_some_and(|s| s.failed.is_some_and(|f| f > 0)) {
        let text = format!("{seen}, but its own summary counts failures");
        return review(Reason::CountsDisagree, text);
    }
    if said.polarity == Polarity::Fails {
        return review(Reason::SuccessObserved, format!("{seen}, while the claim is a failure"));
    }
    if kind.goes_stale() {
        if let Some(edit) = edit_after(candidate.run, claim, situation) {
            let text = format!("{seen}, then {} changed", one_line(&edit));
            return review(Reason::StaleAfterEdit, text);
        }
        if let Some(work) = unseen_after(candidate.run, claim, situation) {
            let text = format!("{seen}, but {} came after it", one_line(&work));
            return review(Reason::WorkAfterRun, text);
        }
    }
    if kind == Kind::Tests && ran_nothing(candidate) {
        return review(
            Reason::PartialScope,
            format!("{seen}, which ran no tests or left some out"),
        );
    }
    if counts_disagree(said, candidate.summary) {
        let text = format!("{seen}, but its summary and the claim count differently");
        return review(Reason::CountsDisagree, text);
    }
    if let Scope::Partial { reason } = &candidate.test.scope
        && !claimed_part(said, reason)
    {
        let text = format!("{seen}, which ran only a part ({})", one_line(reason));
        return review(Reason::PartialScope, text);
    }
    let reason = if candidate.run.exit_code == Some(0) {
        Reason::ExitZero
    } else {
        Reason::HostReportedSuccess
    };
    (Verdict::Verified, reason, seen.to_owned())
}

fn failed(
    said: &ClaimSentence,
    claim: &ClaimCase,
    candidate: &Candidate<'_>,
    situation: &Situation,
    seen: &str,
) -> (Verdict, Reason, String) {
    let Some(code) = candidate.run.exit_code else {
        return review(Reason::OutcomeUnknown, format!("{seen}; no exit code is stated"));
    };
    if ABNORMAL_CODES.contains(&code) || code < 0 || timed_out(candidate.run) {
        return review(Reason::AbnormalExit, format!("{seen}, which says nothing of it"));
    }
    let summary = candidate.summary;
    if !candidate.test.failure_proves || place::is_untold(candidate.run) {
        return review(Reason::ExitMasked, format!("{seen}: {}", mask(&candidate.test)));
    }
    let counted = summary.is_some_and(|s| s.failed.is_some_and(|f| f > 0));
    if !counted && never_began(candidate.run) {
        return review(Reason::AbnormalExit, format!("{seen}; the runner says it could not begin"));
    }
    if said.polarity == Polarity::Fails {
        return (Verdict::Verified, Reason::FailureConfirmed, seen.to_owned());
    }
    if summary.is_some_and(|s| s.failed == Some(0) && s.passed.is_some_and(|p| p > 0)) {
        let text = format!("{seen}, but its own summary counts no failure");
        return review(Reason::CountsDisagree, text);
    }
    if !matches!(said.scope, ClaimScope::Full) {
        return review(Reason::PartialScope, format!("{seen}, while the claim is about a part"));
    }
    if let Some(edit) = edit_after(candidate.run, claim, situation) {
        let text = format!("{seen}, then {} changed and nothing was run again", one_line(&edit));
        return review(Reason::StaleAfterEdit, text);
    }
    if let Some(what) = work_after(candidate.run, claim, situation) {
        let text = format!("{seen}, but {} came after it", one_line(&what));
        return review(Reason::WorkAfterRun, text);
    }
    (Verdict::Contradicted, Reason::ExitNonzero, seen.to_owned())
}

/// What runners, shells and package tools print when no test was run at all.
const NEVER_BEGAN: &[&str] = &[
    "no such file or directory",
    "command not found",
    "not found in path",
    "no module named",
    "could not find `cargo.toml`",
    "could not find cargo.toml",
    "lock file",
    "unexpected argument",
    "unrecognized argument",
    "unknown option",
    "invalid option",
    "missing script",
    "no rule to make",
    "no tests found",
    "no test files",
    "no tests ran",
    "could not resolve",
    "read-only file system",
    "permission denied",
    "no space left",
    "connection refused",
    "is not recognized",
    "no such command",
    "network is unreachable",
    "cov-fail-under",
    "required test coverage",
    "request interrupted by user",
    "cannot find module",
    "exec format error",
];

/// Whether the output says that the tests were not reached.
fn never_began(run: &ShellRun) -> bool {
    let output = run.output.as_deref().unwrap_or_default().to_lowercase();
    NEVER_BEGAN.iter().any(|mark| output.contains(mark))
}

/// Whether a successful run says itself that it ran nothing, or left tests out.
fn ran_nothing(candidate: &Candidate<'_>) -> bool {
    let output = candidate.run.output.as_deref().unwrap_or_default().to_lowercase();
    let none = candidate.summary.is_some_and(|s| s.passed == Some(0) && s.failed.unwrap_or(0) == 0);
    none || ["deselected", "no tests found", "no test files", "no tests ran", "no tests to run"]
        .iter()
        .any(|mark| output.contains(mark))
}

/// Whether the host says at the head of the output that it stopped the command.
pub(super) fn timed_out(run: &ShellRun) -> bool {
    let head = run.output.as_deref().unwrap_or_default().lines().take(TIMEOUT_LINES);
    head.map(str::to_lowercase).any(|line| line.contains("timed out after"))
}

fn review(reason: Reason, text: String) -> (Verdict, Reason, String) {
    (Verdict::Review, reason, text)
}

/// A run that failed and was not repeated: a full one before a part, or that of another runner or
/// folder (the last one of each).
fn unrepeated_failure<'c, 'a>(
    candidates: &'c [Candidate<'a>],
    latest: &Candidate<'a>,
) -> Option<(&'c Candidate<'a>, Reason)> {
    let place = |c: &Candidate<'_>| (c.test.runner, c.folder.clone());
    let is_part = !matches!(latest.test.scope, Scope::Full);
    let mut repeated = vec![];
    if !is_part {
        repeated.push(place(latest));
    }
    for earlier in candidates.iter().rev().filter(|c| c.run.order < latest.run.order) {
        let at = place(earlier);
        if !matches!(earlier.test.scope, Scope::Full) || repeated.contains(&at) {
            continue;
        }
        if earlier.run.outcome == Outcome::Failed {
            let same = at == place(latest);
            let reason = if same { Reason::PartialScope } else { Reason::OtherRunFailed };
            return Some((earlier, reason));
        }
        repeated.push(at);
    }
    None
}

/// What was changed between a run and the claim: an edit by a tool, or a command that may edit.
fn edit_after(run: &ShellRun, claim: &ClaimCase, situation: &Situation) -> Option<String> {
    let between = |order: i64| run.order < order && order < claim.order;
    let edit = situation.edits.iter().find(|e: &&Edit| between(e.order)).map(|e| e.path.clone());
    edit.or_else(|| {
        situation
            .runs
            .iter()
            .find(|other| between(other.order) && may_change_files(&other.command))
            .map(|other| {
                format!("something (by `{}`)", shorten(&other.command.display(), COMMAND_CHARS))
            })
    })
}

/// What came between a run and the claim and may have run the tests again unseen: another
/// command that does not only look, a sub-agent, an unknown tool.
pub(super) fn work_after(
    run: &ShellRun,
    claim: &ClaimCase,
    situation: &Situation,
) -> Option<String> {
    let between = |order: i64| run.order < order && order < claim.order;
    let command = situation
        .runs
        .iter()
        .find(|other| between(other.order) && !only_looks(&other.command))
        .map(|other| format!("`{}`", shorten(&other.command.display(), COMMAND_CHARS)));
    command.or_else(|| unseen_after(run, claim, situation))
}

/// Work of a sub-agent or of an unknown tool between a run and the claim.
fn unseen_after(run: &ShellRun, claim: &ClaimCase, situation: &Situation) -> Option<String> {
    let between = |order: i64| run.order < order && order < claim.order;
    situation.unseen.iter().find(|u| between(u.order)).map(|u| u.what.clone())
}

fn counts_disagree(said: &ClaimSentence, summary: Option<Summary>) -> bool {
    let (Some(claimed), Some(summary)) = (&said.counts, summary) else { return false };
    let differs = |a: Option<u64>, b: Option<u64>| matches!((a, b), (Some(a), Some(b)) if a != b);
    differs(claimed.passed, summary.passed) || differs(claimed.failed, summary.failed)
}

/// Whether the claim speaks of the same part that the run was narrowed to.
fn claimed_part(said: &ClaimSentence, narrowed: &str) -> bool {
    match &said.scope {
        ClaimScope::Partial(part) => {
            narrowed.to_lowercase().contains(&part.to_lowercase()) && !part.is_empty()
        }
        ClaimScope::Full => false,
    }
}

fn mask(test: &TestRun) -> String {
    match &test.status {
        StatusReach::Masked { by } => {
            let by = serde_json::to_value(by)
                .ok()
                .and_then(|v| v.as_str().map(|s| s.replace('_', " ")))
                .unwrap_or_default();
            format!("the status of the run is hidden ({by})")
        }
        StatusReach::Direct => "the status may be that of another command".to_owned(),
    }
}

/// The run in words: command, literal code or outcome, place.
pub(super) fn told(run: &ShellRun) -> String {
    let command = shorten(&one_line(&run.command.display()), COMMAND_CHARS);
    let how = match (run.exit_code, &run.outcome) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Outcome::Ok) => "succeeded, as the host states".to_owned(),
        (None, Outcome::Failed) => "failed".to_owned(),
        (None, outcome) => format!("is {outcome}"),
    };
    format!("`{command}` {how} (seen at {})", one_line(&run.place))
}
