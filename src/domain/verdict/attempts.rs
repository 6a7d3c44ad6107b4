//! Deeds that a command does or fails to do: commits, pushes, pull requests, installs.
//!
//! An attempt is a run that holds the deed's program. A literal success of the claim's own turn
//! verifies. Only one lone attempt of the whole conversation that literally failed, with no other
//! work that may have done it, contradicts: a deed can be done again in ways that nobody records.

use super::judge::{ABNORMAL_CODES, not_finished, timed_out, told, work_after};
use super::{ClaimCase, Reason, ShellRun, Situation, Verdict};
use crate::domain::capability::SignalAvailability;
use crate::domain::command::{Invocation, invocations};
use crate::domain::event::Outcome;
use uuid::Uuid;

/// A verdict with its grounds, before it is a finding.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub verdict: Verdict,
    pub reason: Reason,
    pub rationale: String,
    pub evidence_ids: Vec<Uuid>,
}

impl Answer {
    pub(super) fn new(verdict: Verdict, reason: Reason, rationale: String, ids: &[Uuid]) -> Self {
        Self { verdict, reason, rationale, evidence_ids: ids.to_vec() }
    }

    pub(super) fn of_run(verdict: Verdict, reason: Reason, text: String, run: &ShellRun) -> Self {
        Self::new(verdict, reason, text, &run.evidence_ids)
    }
}

/// A run with the programs in it.
pub(super) struct Programs<'a> {
    pub run: &'a ShellRun,
    pub invocations: Vec<Invocation>,
}

/// The programs of all runs, oldest first.
pub(super) fn programs(situation: &Situation) -> Vec<Programs<'_>> {
    let read = |run| Programs { run, invocations: invocations(&run.command) };
    let mut all: Vec<_> = situation.runs.iter().map(read).collect();
    all.sort_by_key(|programs| programs.run.order);
    all
}

/// One run that holds the deed.
pub(super) struct Attempt<'a> {
    pub run: &'a ShellRun,
    pub words: &'a [String],
    success_proves: bool,
    failure_proves: bool,
}

/// The attempts at a deed before the claim, oldest first.
pub(super) fn attempts<'a>(
    claim: &ClaimCase,
    programs: &'a [Programs<'a>],
    is_deed: impl Fn(&[String]) -> bool,
) -> Vec<Attempt<'a>> {
    let before = programs.iter().filter(|p| p.run.order < claim.order);
    before
        .flat_map(|p| p.invocations.iter().map(move |invocation| (p.run, invocation)))
        .filter(|(_, invocation)| is_deed(&invocation.words))
        .map(|(run, invocation)| Attempt {
            run,
            words: &invocation.words,
            success_proves: invocation.success_proves,
            failure_proves: invocation.failure_proves,
        })
        .collect()
}

/// Whether something at `order` in `turn` is of the claim's own turn.
pub(super) fn own_turn(claim: &ClaimCase, turn: Option<&String>, order: i64) -> bool {
    match &claim.turn {
        Some(own) => turn == Some(own),
        None => order > claim.turn_from,
    }
}

/// The answer where nothing was recorded.
pub(super) fn nothing(situation: &Situation, reason: Reason, what: &str) -> Answer {
    let unseen = [SignalAvailability::Unsupported, SignalAvailability::Unavailable];
    if unseen.contains(&situation.process_result) {
        let text = "this source does not show how commands end".to_owned();
        return Answer::new(Verdict::Unavailable, Reason::SignalUnavailable, text, &[]);
    }
    let text = format!("no {what} was recorded before the claim");
    Answer::new(Verdict::Unverified, reason, text, &[])
}

/// What outputs say when there was nothing left to do.
const ALREADY_DONE: &[&str] = &[
    "nothing to commit",
    "nothing added to commit",
    "no changes added",
    "everything up-to-date",
    "already exists",
    "already up to date",
];

/// Whether a run's output says that there was nothing left to do.
pub(super) fn was_done_before(run: &ShellRun) -> bool {
    let output = run.output.as_deref().unwrap_or_default().to_lowercase();
    ALREADY_DONE.iter().any(|mark| output.contains(mark))
}

/// The answer that the attempts at a deed support, and the attempt that it rests on.
pub(super) fn weigh<'c, 'a>(
    claim: &ClaimCase,
    situation: &Situation,
    attempts: &'c [Attempt<'a>],
    what: &str,
) -> (Answer, Option<&'c Attempt<'a>>) {
    let own = |a: &&Attempt<'_>| own_turn(claim, a.run.turn.as_ref(), a.run.order);
    let Some(last) = attempts.last() else {
        return (nothing(situation, Reason::NoMatchingCommand, what), None);
    };
    let Some(latest) = attempts.iter().rev().find(own) else {
        let text = format!("the last attempt was in an earlier turn: {}", told(last.run));
        return (
            Answer::of_run(Verdict::Review, Reason::EarlierTurnOnly, text, last.run),
            Some(last),
        );
    };
    let run = latest.run;
    let (verdict, reason, text) = judge_latest(claim, situation, attempts, latest);
    (Answer::of_run(verdict, reason, text, run), Some(latest))
}

fn judge_latest(
    claim: &ClaimCase,
    situation: &Situation,
    attempts: &[Attempt<'_>],
    latest: &Attempt<'_>,
) -> (Verdict, Reason, String) {
    let run = latest.run;
    let seen = told(run);
    let review = |reason, text| (Verdict::Review, reason, text);
    if let Some(answer) = not_finished(run, &seen) {
        return answer;
    }
    if !run.trusted {
        return review(Reason::UntrustedIngress, format!("{seen}, told by third-party messages"));
    }
    if run.heuristic {
        return review(Reason::HeuristicOnly, format!("{seen}, a guess from its output"));
    }
    if was_done_before(run) {
        let text = format!("{seen}, and its output says that there was nothing left to do");
        return review(Reason::NothingToDo, text);
    }
    match (&run.outcome, run.exit_code) {
        (Outcome::Ok, _) if !latest.success_proves => review(
            Reason::ExitMasked,
            format!("{seen}, which may be the status of another command"),
        ),
        (Outcome::Ok, Some(0)) => (Verdict::Verified, Reason::ExitZero, seen),
        (Outcome::Ok, _) => (Verdict::Verified, Reason::HostReportedSuccess, seen),
        (Outcome::Failed, Some(code)) => failed(claim, situation, attempts, latest, code, seen),
        _ => review(Reason::OutcomeUnknown, format!("{seen}; how it ended is not stated")),
    }
}

fn failed(
    claim: &ClaimCase,
    situation: &Situation,
    attempts: &[Attempt<'_>],
    latest: &Attempt<'_>,
    code: i64,
    seen: String,
) -> (Verdict, Reason, String) {
    let run = latest.run;
    if ABNORMAL_CODES.contains(&code) || code < 0 || timed_out(run) {
        return (Verdict::Review, Reason::AbnormalExit, format!("{seen}, which decides nothing"));
    }
    if !latest.failure_proves {
        let text = format!("{seen}, which may be the status of another command");
        return (Verdict::Review, Reason::ExitMasked, text);
    }
    if attempts.len() > 1 {
        let text = format!("{seen}, but it was not the only attempt");
        return (Verdict::Review, Reason::OtherAttempt, text);
    }
    if let Some(what) = other_hands(run, claim, situation) {
        return (
            Verdict::Review,
            Reason::WorkAfterRun,
            format!("{seen}, but {what} may have done it"),
        );
    }
    (Verdict::Contradicted, Reason::ExitNonzero, seen)
}

/// Work that may have done the deed unseen: anything after the run that does more than look, and
/// sub-agents and unknown tools at any time before the claim.
pub(super) fn other_hands(
    run: &ShellRun,
    claim: &ClaimCase,
    situation: &Situation,
) -> Option<String> {
    let unseen = situation.unseen.iter().find(|unseen| unseen.order < claim.order);
    unseen.map(|unseen| unseen.what.clone()).or_else(|| work_after(run, claim, situation))
}
