//! Files that grow: split points, partial lines, bad lines, long lines, times.

use super::source::{Source, append, bare, same, texts};
use crate::conformance::check::{CaseEnd, Checks};
use crate::conformance::decoding::{Dialect, Observation, QUARANTINE};
use crate::conformance::native::{MODELS, Script};
use crate::conformance::random::Random;
use crate::conformance::tailing::{Ask, TailReader};

/// The two ways of reading on: a later process, and a reader that stays.
pub(super) const WAYS: [bool; 2] = [false, true];

/// A bit of everything.
fn varied(dialect: Dialect) -> Script {
    let mut script = Script::in_turn(dialect);
    script.call("call_1", "make").result("call_1", 2, 0).answer("caf\u{e9}");
    script.usage("resp_1", 1, MODELS[0]).siblings();
    script.begin_turn(MODELS[1], "go on").call("call_2", "ls").result("call_2", 0, 1);
    script.unknown("x").answer("caf\u{e9}");
    script
}

/// Places to cut a file at: after a line, before its end, inside of one, and anywhere.
fn splits(script: &Script, random: &mut Random) -> Vec<usize> {
    let length = script.bytes().len();
    let line = |number: usize| {
        script.lines().iter().take(number).map(|line| line.len() + 1).sum::<usize>()
    };
    let first = line(1);
    let mut splits = vec![line(4), line(5) - 1, line(6) - 9, length - 1];
    splits.extend((0..3).map(|_| first + random.below(length - first)));
    splits
}

pub(super) fn tal_01(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut random = Random::new(checks.seed());
    let mut runs = Vec::new();
    for dialect in [Dialect::CodexRollout, Dialect::ClaudeTranscript] {
        let script = varied(dialect);
        for (number, split) in splits(&script, &mut random).into_iter().enumerate() {
            runs.push((dialect, script.bytes(), split, number % 2 == 1));
        }
    }
    checks.each("converges", 14, runs, |(dialect, bytes, split, following)| {
        let (head, tail) = bytes.split_at_checked(split).ok_or("no such split")?;
        let name = format!("split-{dialect:?}-{split}");
        let mut whole = Source::of(reader, &format!("{name}-whole"), false, &bytes)?;
        let expected = bare(whole.read(reader)?.observations);
        let mut source = Source::of(reader, &name, following, head)?;
        let mut got = source.read(reader)?.observations;
        source.append(tail)?;
        got.extend(source.read(reader)?.observations);
        same(&expected, &bare(got)).map_err(|why| format!("split {split}: {why}"))?;
        same(&whole.boundary(), &source.boundary())
    });
    Ok(())
}

pub(super) fn tal_02(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut script = Script::in_turn(Dialect::CodexRollout);
    let whole = script.bytes();
    let line = format!("{}\n", script.answer("cut in two").last());
    let (head, tail) = line.split_at_checked(line.len() / 2).unwrap_or_default();
    let partial = [whole.as_slice(), head.as_bytes()].concat();
    let mut totals = Vec::new();
    checks.each("withheld", 2, WAYS, |following| {
        let mut source = Source::of(reader, "partial", following, &partial)?;
        let first = source.read(reader)?.observations;
        source.append(tail.as_bytes())?;
        let second = source.read(reader)?.observations;
        let is_hasty = |one: &&Observation| one.at.offset >= whole.len() as u64;
        let early = first.iter().filter(is_hasty).count();
        totals.push([first, second].concat());
        same(&0, &early)
    });
    checks.each("then-once", 2, totals, |all| {
        let told = texts(&all).iter().filter(|text| **text == "cut in two").count();
        let refused = all.iter().filter(|one| one.kind == QUARANTINE).count();
        same(&(1, 0), &(told, refused))
    });
    Ok(())
}

pub(super) fn tal_03(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut script = Script::in_turn(Dialect::CodexRollout);
    let before = script.bytes().len() as u64;
    script.raw("{\"timestamp\": broken}");
    let length = script.last().len() as u64;
    script.answer("behind it");
    let source = Source::of(reader, "malformed", false, &script.bytes());
    let mut source = checks.answered(source)?;
    let all = checks.answered(source.read(reader))?.observations;
    let refused: Vec<_> = all
        .iter()
        .filter(|one| one.kind == QUARANTINE)
        .map(|one| (one.at.offset, one.at.length, one.at.line_hash.is_empty()))
        .collect();
    checks.equal("quarantined-where-it-stands", &vec![(before, length, false)], &refused);
    checks.equal("later-lines-arrive", &Some(&"behind it"), &texts(&all).last());
    Ok(())
}

pub(super) fn tal_15(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut script = Script::in_turn(Dialect::CodexRollout);
    let before = script.bytes().len() as u64;
    script.raw(&"x".repeat(reader.line_cap() + 1));
    let length = script.last().len() as u64;
    script.answer("behind it");
    let source = Source::of(reader, "long", false, &script.bytes());
    let mut source = checks.answered(source)?;
    let all = checks.answered(source.read(reader))?.observations;
    let skipped: Vec<_> = all
        .iter()
        .filter(|one| one.kind == "loss:line_too_long")
        .map(|one| (one.at.offset, one.at.length))
        .collect();
    checks.equal("marked-where-it-stands", &vec![(before, length)], &skipped);
    checks.equal("does-not-stall", &Some(&"behind it"), &texts(&all).last());
    Ok(())
}

pub(super) fn tal_18(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut script = Script::in_turn(Dialect::CodexRollout);
    let source = Source::of(reader, "meanwhile", false, &script.bytes());
    let mut source = checks.answered(source)?;
    let line = format!("{}\n", script.answer("meanwhile").last());
    let path = source.path.clone();
    let ask = Ask {
        // A failure to write shows as a text that is missing.
        meanwhile: Some(Box::new(move || drop(append(&path, line.as_bytes())))),
        ..source.ask()
    };
    let first = checks.answered(source.read_as(reader, ask))?.observations;
    checks.answered(source.append(format!("{}\n", script.answer("later").last()).as_bytes()))?;
    let second = checks.answered(source.read(reader))?.observations;
    let all = [first, second].concat();
    checks.equal("once-each", &vec!["begin", "meanwhile", "later"], &texts(&all));
    Ok(())
}

pub(super) fn tal_19(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut script = Script::in_turn(Dialect::CodexRollout);
    let bytes = script.bytes();
    let line = format!("{}\n", script.answer("grown").last());
    let asked = WAYS.into_iter().flat_map(|way| [(way, 1), (way, 0)]);
    checks.each("growth-is-seen", 4, asked, |(following, clock)| {
        let mut source = Source::of(reader, &format!("mtime-{clock}"), following, &bytes)?;
        source.read(reader)?;
        source.append(line.as_bytes())?;
        source.set_clock(clock)?;
        same(&vec!["grown"], &texts(&source.read(reader)?.observations))
    });
    Ok(())
}

pub(super) fn tal_20(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut read = Vec::new();
    checks.each("nothing-and-no-error", 2, WAYS, |following| {
        let mut source = Source::of(reader, "empty", following, b"")?;
        let first = source.read(reader)?;
        let found = (first.observations.len(), first.notes.len(), source.boundary());
        read.push(source);
        same(&(0, 0, 0), &found)
    });
    checks.each("its-first-line-arrives", 2, read, |mut source| {
        source.append(&Script::in_turn(Dialect::CodexRollout).bytes())?;
        same(&vec!["begin"], &texts(&source.read(reader)?.observations))
    });
    Ok(())
}
