//! What a token carries, what it must not be trusted with, and what it must not run ahead of.

use super::growth::WAYS;
use super::source::{Source, same, texts};
use crate::conformance::check::{CaseEnd, Checks, Stop};
use crate::conformance::decoding::{Dialect, QUARANTINE};
use crate::conformance::native::{MODELS, OWN, Script, rollout};
use crate::conformance::tailing::{Ask, Halt, TailReader, Token};

fn line(script: &Script) -> Vec<u8> {
    format!("{}\n", script.last()).into_bytes()
}

pub(super) fn tal_04(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut results = Vec::new();
    for (dialect, tool) in
        [(Dialect::CodexRollout, "shell_command"), (Dialect::ClaudeTranscript, "Bash")]
    {
        let mut script = Script::in_turn(dialect);
        script.call("call_1", "make");
        let source = Source::of(reader, &format!("context-{dialect:?}"), false, &script.bytes());
        let mut source = checks.answered(source)?;
        let first = checks.answered(source.read(reader))?.observations;
        script.result("call_1", 2, 0);
        checks.answered(source.append(&line(&script)))?;
        let second = checks.answered(source.read(reader))?.observations;
        let turn = first.iter().find_map(|one| one.turn.clone());
        let result = second.into_iter().find(|one| one.kind == "post_tool_use");
        results.push((tool, turn, result));
    }
    checks.each("its-call-is-known", 2, &results, |(tool, _, result)| {
        same(&Some(*tool), &result.as_ref().and_then(|result| result.tool.as_deref()))
    });
    checks.each("its-turn-and-conversation", 2, &results, |(_, turn, result)| {
        let found = result.as_ref().map(|it| (it.conversation.as_deref(), it.turn.clone()));
        same(&Some((Some(OWN), turn.clone())), &found)
    });
    Ok(())
}

pub(super) fn tal_11(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut script = Script::in_turn(Dialect::CodexRollout);
    let bytes = script.bytes();
    script.answer("behind");
    checks.each("replayed", 2, WAYS, |following| {
        let mut source = Source::of(reader, "version", following, &bytes)?;
        source.read(reader)?;
        source.append(&line(&script))?;
        source.token = source
            .token
            .take()
            .map(|token| Token { decoder: format!("{}-before", token.decoder), ..token });
        same(&vec!["begin", "behind"], &texts(&source.read(reader)?.observations))
    });
    Ok(())
}

pub(super) fn tal_12(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut script = Script::in_turn(Dialect::CodexRollout);
    let one = Source::of(reader, "original", false, &script.bytes());
    let mut one = checks.answered(one)?;
    checks.answered(one.read(reader))?;
    script.answer("behind");
    let copy = Source::of(reader, "copy", false, &script.bytes());
    let mut copy = checks.answered(copy)?;
    copy.token.clone_from(&one.token);
    let read = checks.answered(copy.read(reader))?;
    checks.equal("read-from-zero", &vec!["begin", "behind"], &texts(&read.observations));
    let source = copy.token.map(|token| token.source);
    checks.equal("its-own-token", &Some(copy.path.display().to_string()), &source);
    Ok(())
}

/// Two answers with so much between them that each falls into a delivery of its own.
fn deliveries(reader: &dyn TailReader) -> Script {
    let mut script = Script::in_turn(Dialect::CodexRollout);
    script.answer("one");
    for _ in 0..2 {
        let filler = rollout::filler(script.seconds(), reader.delivery_bytes() / 2);
        script.push(&filler);
    }
    script.answer("two");
    script
}

/// The words told by a read that ends early, and the place where the next one goes on.
fn halted(
    checks: &mut Checks<'_>,
    reader: &mut dyn TailReader,
    source: &mut Source,
    halt: Halt,
) -> Result<Vec<String>, Stop> {
    let ask = Ask { halt, ..source.ask() };
    let read = checks.answered(source.read_as(reader, ask))?;
    Ok(texts(&read.observations).into_iter().map(str::to_owned).collect())
}

pub(super) fn tal_13(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let bytes = deliveries(reader).bytes();
    let mut source = checks.answered(Source::of(reader, "crash", false, &bytes))?;
    let first = halted(checks, reader, &mut source, Halt::Crash(2))?;
    let second = halted(checks, reader, &mut source, Halt::Never)?;
    checks.each("nothing-is-lost", 3, ["begin", "one", "two"], |text| {
        let told = first.iter().chain(&second).any(|told| told == text);
        if told { Ok(()) } else { Err(format!("{text} was never told")) }
    });
    checks.equal("what-was-not-saved-is-told-again", &vec!["two".to_owned()], &second);
    Ok(())
}

pub(super) fn tal_14(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let script = deliveries(reader);
    let whole = script.bytes();
    let next_answer = (whole.len() - script.last().len() - 1) as u64;
    let bytes = [whole.as_slice(), b"{\"timestamp\":\"2026-"].concat();
    let mut source = checks.answered(Source::of(reader, "partial", false, &bytes))?;
    let told = halted(checks, reader, &mut source, Halt::Stop(1))?;
    let boundary = source.boundary();
    let is_before = told == ["begin", "one"] && boundary > 0 && boundary <= next_answer;
    checks.check("not-past-the-undelivered", is_before, "up to the next answer", || {
        format!("{told:?} and {boundary}, the next answer is at {next_answer}")
    });
    halted(checks, reader, &mut source, Halt::Never)?;
    checks.equal("not-past-the-partial", &(whole.len() as u64), &source.boundary());
    Ok(())
}

pub(super) fn tal_16(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut script = deliveries(reader);
    script.raw("{broken}");
    let mut source = checks.answered(Source::of(reader, "stops", false, &script.bytes()))?;
    let ask = Ask { halt: Halt::Stop(1), ..source.ask() };
    let read = source.read_as(reader, ask).map(|read| {
        let refused = read.observations.iter().filter(|one| one.kind == QUARANTINE).count();
        let told: Vec<_> = texts(&read.observations).into_iter().map(str::to_owned).collect();
        (told, refused)
    });
    checks.equal("not-failed", &Ok((vec!["begin".to_owned(), "one".to_owned()], 0)), &read);
    Ok(())
}

pub(super) fn tal_17(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut script = Script::in_turn(Dialect::CodexRollout);
    let first = Source::of(reader, "shared", false, &script.bytes());
    let mut first = checks.answered(first)?;
    checks.answered(first.read(reader))?;
    script.begin_turn(MODELS[0], "again");
    let more: Vec<u8> = script.bytes().split_off(usize::try_from(first.boundary()).unwrap_or(0));
    checks.answered(first.append(&more))?;
    let other = checks.answered(reader.read(Ask::of(&first.path, None)))?;
    checks.equal("the-second-sees-all", &vec!["begin", "again"], &texts(&other.observations));
    let rest = checks.answered(first.read(reader))?;
    checks.equal("the-first-goes-on", &vec!["again"], &texts(&rest.observations));
    Ok(())
}
