//! Verdicts on files that were created, written or deleted.
//!
//! A write that the host records verifies; a file tool's call that failed, with nothing else that
//! may have touched the file, contradicts. What a shell did to a file is told by its command only,
//! so apart from a plain `rm` it is for a person to look at.

use super::attempts::{Answer, Programs, nothing, own_turn};
use super::judge::told;
use super::{ClaimCase, FileChange, FileWrite, Reason, Situation, Verdict};
use crate::base::text::one_line;
use crate::domain::claims::Subject;
use crate::domain::command::{may_change_files, only_looks};
use crate::domain::event::Outcome;

/// The answer to a claim about files: the least certain of its files decides, a failed one first.
pub(super) fn answer(
    claim: &ClaimCase,
    subject: &Subject,
    paths: &[String],
    situation: &Situation,
    programs: &[Programs<'_>],
) -> Answer {
    let answers = paths.iter().map(|path| of_path(claim, subject, path, situation, programs));
    let weight = |answer: &Answer| match answer.verdict {
        Verdict::Contradicted => 0,
        Verdict::Review => 1,
        Verdict::Unverified => 2,
        Verdict::Unavailable => 3,
        Verdict::Verified => 4,
    };
    let mut answers: Vec<Answer> = answers.collect();
    if answers.iter().all(|answer| answer.verdict == Verdict::Verified) {
        let ids = answers.iter().flat_map(|answer| answer.evidence_ids.clone()).collect();
        if let Some(last) = answers.last_mut() {
            last.evidence_ids = ids;
        }
    }
    let decisive = answers.into_iter().rev().min_by_key(weight);
    decisive.unwrap_or_else(|| nothing(situation, Reason::NoMatchingEdit, "write of the file"))
}

fn of_path(
    claim: &ClaimCase,
    subject: &Subject,
    path: &str,
    situation: &Situation,
    programs: &[Programs<'_>],
) -> Answer {
    let before = |write: &&FileWrite| write.order < claim.order && same_file(&write.path, path);
    let writes: Vec<&FileWrite> = situation.writes.iter().filter(before).collect();
    if *subject == Subject::FileDeleted
        && let Some(answer) = removed(claim, path, programs)
    {
        return answer;
    }
    let touched = by_shell(claim, path, programs);
    let done = |write: &&&FileWrite| write.outcome == Outcome::Ok && fits(subject, write.change);
    if let Some(write) = writes.iter().rev().find(done) {
        return written(claim, write, &writes, programs);
    }
    if let Some(text) = touched {
        return Answer::new(Verdict::Review, Reason::ShellTouched, text, &[]);
    }
    let Some(last) = writes.last() else {
        return nothing(situation, Reason::NoMatchingEdit, &format!("write of {}", one_line(path)));
    };
    let seen = seen(last);
    if writes.iter().all(|write| write.outcome == Outcome::Failed) {
        return failed(claim, last, situation, programs, seen);
    }
    let text = format!("{seen}; the record does not tell whether that is what is claimed");
    Answer::new(Verdict::Review, Reason::OutcomeUnknown, text, &last.evidence_ids)
}

/// Whether a change is what the claim says.
fn fits(subject: &Subject, change: FileChange) -> bool {
    match subject {
        Subject::FileCreated => change == FileChange::Created,
        Subject::FileDeleted => change == FileChange::Deleted,
        _ => change != FileChange::Deleted,
    }
}

fn written(
    claim: &ClaimCase,
    write: &FileWrite,
    writes: &[&FileWrite],
    programs: &[Programs<'_>],
) -> Answer {
    let seen = seen(write);
    let review = |reason, text| Answer::new(Verdict::Review, reason, text, &write.evidence_ids);
    if !write.trusted {
        return review(Reason::UntrustedIngress, format!("{seen}, told by third-party messages"));
    }
    if !own_turn(claim, write.turn.as_ref(), write.order) {
        return review(Reason::EarlierTurnOnly, format!("{seen}, in an earlier turn"));
    }
    let gone = writes.iter().any(|later| {
        let opposite =
            (later.change == FileChange::Deleted) != (write.change == FileChange::Deleted);
        later.order > write.order && later.outcome != Outcome::Failed && opposite
    });
    if gone {
        return review(Reason::StaleAfterEdit, format!("{seen}, and a later call undid it"));
    }
    let between = |p: &&Programs<'_>| write.order < p.run.order && p.run.order < claim.order;
    if let Some(p) =
        programs.iter().filter(between).find(|p| p.invocations.iter().any(|i| undoes(&i.words)))
    {
        return review(Reason::StaleAfterEdit, format!("{seen}, and then {}", told(p.run)));
    }
    Answer::new(Verdict::Verified, Reason::WriteRecorded, seen, &write.evidence_ids)
}

fn failed(
    claim: &ClaimCase,
    last: &FileWrite,
    situation: &Situation,
    programs: &[Programs<'_>],
    seen: String,
) -> Answer {
    let review = |reason, text| Answer::new(Verdict::Review, reason, text, &last.evidence_ids);
    if !last.trusted {
        return review(Reason::UntrustedIngress, format!("{seen}, told by third-party messages"));
    }
    if !own_turn(claim, last.turn.as_ref(), last.order) {
        return review(Reason::EarlierTurnOnly, format!("{seen}, in an earlier turn"));
    }
    // Any script or other tool may have written the file, before or after.
    let worked = programs.iter().any(|p| p.run.order < claim.order && works(p));
    if worked || situation.unseen.iter().any(|unseen| unseen.order < claim.order) {
        return review(Reason::WorkAfterRun, format!("{seen}, but other work may have done it"));
    }
    if last.evidence_ids.is_empty() {
        return review(Reason::OutcomeUnknown, format!("{seen}, with no evidence of its own"));
    }
    Answer::new(Verdict::Contradicted, Reason::WriteFailed, seen, &last.evidence_ids)
}

/// A successful `rm` of the very file in the claim's turn.
fn removed(claim: &ClaimCase, path: &str, programs: &[Programs<'_>]) -> Option<Answer> {
    let before = programs.iter().rev().filter(|p| p.run.order < claim.order);
    let mut later = Vec::new();
    for p in before {
        let names = |words: &[String]| words.iter().skip(1).any(|word| same_file(word, path));
        let removes = p.invocations.iter().any(|invocation| {
            let words = invocation.words.as_slice();
            let git = matches!(words, [git, rm, ..] if git == "git" && rm == "rm");
            let dry =
                words.iter().any(|word| matches!(word.as_str(), "--cached" | "-n" | "--dry-run"));
            (words.first().is_some_and(|word| word == "rm") || git)
                && !dry
                && names(words)
                && invocation.success_proves
        });
        let run = p.run;
        let literal = run.outcome == Outcome::Ok && run.trusted && !run.heuristic;
        if removes && literal && own_turn(claim, run.turn.as_ref(), run.order) {
            // `rm -f` succeeds for a file that was never there, which is gone all the same.
            let (verdict, reason) = if !later.is_empty() {
                (Verdict::Review, Reason::WorkAfterRun)
            } else if run.exit_code == Some(0) {
                (Verdict::Verified, Reason::ExitZero)
            } else {
                (Verdict::Verified, Reason::HostReportedSuccess)
            };
            return Some(Answer::of_run(verdict, reason, told(run), run));
        }
        if mentions(p, path) || p.invocations.iter().any(|i| undoes(&i.words)) {
            later.push(run);
        }
    }
    None
}

/// A command that names the file and does more than look.
fn by_shell(claim: &ClaimCase, path: &str, programs: &[Programs<'_>]) -> Option<String> {
    let before = programs.iter().rev().filter(|p| p.run.order < claim.order);
    let touching = before.filter(|p| mentions(p, path) && works(p)).take(1);
    touching.map(|p| format!("{}, which names the file", told(p.run))).next()
}

/// Whether a command may have done more than look; `cat > file` looks, and writes.
fn works(programs: &Programs<'_>) -> bool {
    let command = &programs.run.command;
    !only_looks(command) || may_change_files(command)
}

fn mentions(programs: &Programs<'_>, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    programs.run.command.display().contains(name)
}

/// Whether a program may take a file away or put back what it was.
fn undoes(words: &[String]) -> bool {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    match word(0) {
        "rm" | "mv" => true,
        "git" => words.iter().any(|word| {
            matches!(
                word.as_str(),
                "checkout" | "restore" | "reset" | "stash" | "clean" | "switch" | "rm"
            )
        }),
        _ => false,
    }
}

/// Whether two spellings may mean one file: the shorter one ends the longer one.
fn same_file(one: &str, other: &str) -> bool {
    let clean = |path: &str| path.trim_start_matches("./").to_owned();
    let (one, other) = (clean(one), clean(other));
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    !one.is_empty() && !other.is_empty() && (ends(&one, &other) || ends(&other, &one))
}

fn seen(write: &FileWrite) -> String {
    let how = match (&write.outcome, write.change) {
        (Outcome::Failed, _) => "a write of it failed",
        (_, FileChange::Created) => "it was written as a new file",
        (_, FileChange::Deleted) => "it was deleted",
        (_, FileChange::Written) => "it was written",
    };
    format!("{}: {how} (seen at {})", one_line(&write.path), one_line(&write.place))
}
