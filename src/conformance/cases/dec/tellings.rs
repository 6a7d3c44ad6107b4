//! Things that a file tells twice, and commands inside of calls.

use super::{counted, offset_of, seen};
use crate::conformance::check::{CaseEnd, Checks};
use crate::conformance::decoding::{Decoder, Dialect, Observation};
use crate::conformance::native::{MODELS, Script, rollout};

const ROLLOUT: Dialect = Dialect::CodexRollout;

fn told_again(script: &mut Script, text: &str) {
    let line = rollout::answer_told_again(script.seconds(), text);
    script.push(&line);
}

fn complete(script: &mut Script, turn: usize) {
    let line = rollout::task_complete(script.seconds(), turn);
    script.push(&line);
}

/// Whether exactly one message counts, and where.
fn one_at(
    checks: &mut Checks<'_>,
    all: &[Observation],
    script: &Script,
    canonical: &str,
) -> CaseEnd {
    let at = offset_of(&script.bytes(), canonical);
    let messages = counted(all, "done");
    checks.equal("one-counts", &1, &messages.len());
    let kept: Vec<_> = messages.iter().map(|one| (Some(one.at.offset), one.fallback)).collect();
    checks.equal("the-canonical-one", &vec![(at, false)], &kept);
    Ok(())
}

pub(super) fn dec_05(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let mut script = Script::in_turn(ROLLOUT);
    told_again(&mut script, "done");
    script.answer("done");
    let canonical = script.last().to_owned();
    complete(&mut script, 1);
    let all = seen(checks, decoder, &script.bytes())?;
    one_at(checks, &all, &script, &canonical)
}

pub(super) fn dec_06(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let mut script = Script::in_turn(ROLLOUT);
    script.answer("done");
    let canonical = script.last().to_owned();
    told_again(&mut script, "done");
    complete(&mut script, 1);
    let all = seen(checks, decoder, &script.bytes())?;
    one_at(checks, &all, &script, &canonical)
}

pub(super) fn dec_07(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let mut script = Script::in_turn(ROLLOUT);
    told_again(&mut script, "told only here");
    complete(&mut script, 1);
    let all = seen(checks, decoder, &script.bytes())?;
    let kept = counted(&all, "told only here");
    checks.equal("kept-once", &1, &kept.len());
    let marked: Vec<bool> = kept.iter().map(|one| one.fallback).collect();
    checks.equal("marked", &vec![true], &marked);
    Ok(())
}

pub(super) fn dec_08(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let mut script = Script::in_turn(decoder.dialect());
    script.answer("still here").answer("between").answer("still here");
    let all = seen(checks, decoder, &script.bytes())?;
    let mut ids: Vec<_> = counted(&all, "still here").iter().map(|one| one.id.clone()).collect();
    ids.dedup();
    checks.equal("two-messages", &2, &ids.len());
    Ok(())
}

pub(super) fn dec_09(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let mut script = Script::in_turn(ROLLOUT);
    told_again(&mut script, "done");
    complete(&mut script, 1);
    script.begin_turn(MODELS[0], "again").answer("done");
    complete(&mut script, 2);
    let all = seen(checks, decoder, &script.bytes())?;
    let kept = counted(&all, "done");
    checks.equal("both-count", &2, &kept.len());
    let marked: Vec<bool> = kept.iter().map(|one| one.fallback).collect();
    checks.equal("only-the-first-is-a-fallback", &vec![true, false], &marked);
    Ok(())
}

pub(super) fn dec_10(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let mut script = Script::in_turn(ROLLOUT);
    let call = rollout::script_call(script.seconds(), "call_script");
    script.push(&call);
    let nested = rollout::nested_command(script.seconds(), "exec-1", 2);
    script.push(&nested);
    let nested_line = script.last().to_owned();
    let result = rollout::script_result(script.seconds(), "call_script");
    script.push(&result);
    let bytes = script.bytes();
    let all = seen(checks, decoder, &bytes)?;
    let at = offset_of(&bytes, &nested_line);
    let nested: Vec<_> =
        all.iter().filter(|one| one.is_event() && Some(one.at.offset) == at).collect();
    let of_call = |one: &&Observation| one.call.as_deref() == Some("call_script");
    let shared = nested.iter().filter(|one| {
        all.iter().filter(of_call).any(|other| other.id == one.id && other.at != one.at)
    });
    checks.equal("own-id", &(1, 0), &(nested.len(), shared.count()));
    let calls: Vec<_> = nested.iter().map(|one| one.call.as_deref()).collect();
    let script_failed =
        all.iter().filter(of_call).any(|one| one.outcome.as_deref() == Some("failed"));
    checks.equal("no-parent-by-adjacency", &(vec![Some("exec-1")], false), &(calls, script_failed));
    Ok(())
}

pub(super) fn dec_20(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let mut script = Script::in_turn(ROLLOUT);
    told_again(&mut script, "last words");
    let all = seen(checks, decoder, &script.bytes())?;
    let kept: Vec<bool> = counted(&all, "last words").iter().map(|one| one.fallback).collect();
    checks.equal("pending-is-kept", &vec![true], &kept);
    Ok(())
}
