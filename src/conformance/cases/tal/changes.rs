//! Files that change otherwise: rewritten, truncated, replaced, moved, gone, refused.

use super::growth::WAYS;
use super::source::{Source, same, says_restarted, texts};
use crate::conformance::check::{CaseEnd, Checks};
use crate::conformance::decoding::Dialect;
use crate::conformance::native::Script;
use crate::conformance::tailing::{Ask, Delivered, Note, TailReader};

/// A session of one turn with these answers.
fn session(answers: &[&str]) -> Script {
    let mut script = Script::in_turn(Dialect::CodexRollout);
    answers.iter().for_each(|answer| {
        script.answer(answer);
    });
    script
}

fn line(script: &Script) -> Vec<u8> {
    format!("{}\n", script.last()).into_bytes()
}

/// Reads a session, changes its file, reads again; both ways. Checks that the second read begins
/// again and says so.
fn restarts(
    checks: &mut Checks<'_>,
    reader: &mut dyn TailReader,
    change: impl Fn(&mut Source) -> Result<(), String>,
    expected: &[&str],
) -> CaseEnd {
    let mut reads: Vec<Delivered> = Vec::new();
    let before = session(&["one", "two"]).bytes();
    checks.each("from-zero", 2, WAYS, |following| {
        let mut source = Source::of(reader, "changed", following, &before)?;
        source.read(reader)?;
        change(&mut source)?;
        let again = source.read(reader)?;
        let told = same(&expected, &texts(&again.observations).as_slice());
        reads.push(again);
        told
    });
    checks.each("says-so", 2, reads, |read| match says_restarted(&read) {
        true => Ok(()),
        false => Err(format!("only {:?}", read.notes)),
    });
    Ok(())
}

pub(super) fn tal_05(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let rewritten = session(&["ONE", "two"]).bytes();
    restarts(checks, reader, |source| source.rewrite(&rewritten), &["begin", "ONE", "two"])
}

pub(super) fn tal_06(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let truncated = session(&["one"]).bytes();
    restarts(checks, reader, |source| source.rewrite(&truncated), &["begin", "one"])
}

pub(super) fn tal_07(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let before = session(&["one", "two"]).bytes();
    let other = session(&["another", "file", "altogether"]).bytes();
    let mut generations = Vec::new();
    checks.each("the-new-file-is-read", 2, WAYS, |following| {
        let mut source = Source::of(reader, "replaced", following, &before)?;
        source.read(reader)?;
        let generation = source.generation();
        source.replace(&other)?;
        let read = source.read(reader)?;
        generations.push((generation, source.generation()));
        same(&vec!["begin", "another", "file", "altogether"], &texts(&read.observations))
    });
    checks.each("a-new-generation", 2, generations, |(before, after)| {
        if after > before { Ok(()) } else { Err(format!("{after} after {before}")) }
    });
    Ok(())
}

pub(super) fn tal_08(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut script = session(&["one"]);
    let source = Source::of(reader, "moved", false, &script.bytes());
    let mut source = checks.answered(source)?;
    checks.answered(source.read(reader))?;
    checks.answered(source.rename("archived.jsonl"))?;
    script.answer("behind");
    checks.answered(source.append(&line(&script)))?;
    let read = checks.answered(source.read(reader))?;
    checks.equal("goes-on", &vec!["behind"], &texts(&read.observations));
    let kept = checks.answered(reader.stored(&source.path))?;
    checks.equal("one-source", &vec!["begin", "one", "behind"], &texts(&kept));
    Ok(())
}

pub(super) fn tal_09(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let source = Source::of(reader, "vanished", false, &session(&["one"]).bytes());
    let mut source = checks.answered(source)?;
    checks.answered(source.read(reader))?;
    checks.answered(source.remove())?;
    let read = checks.answered(source.read(reader))?;
    checks.equal("missing", &vec![Note::Missing], &read.notes);
    let kept = checks.answered(reader.stored(&source.path))?;
    checks.equal("rows-stay", &vec!["begin", "one"], &texts(&kept));
    Ok(())
}

pub(super) fn tal_10(checks: &mut Checks<'_>, reader: &mut dyn TailReader) -> CaseEnd {
    let mut script = session(&["one"]);
    let source = Source::of(reader, "refused", false, &script.bytes());
    let mut source = checks.answered(source)?;
    checks.answered(source.read(reader))?;
    script.answer("behind");
    checks.answered(source.append(&line(&script)))?;
    let ask = Ask { refused: true, ..source.ask() };
    let read = source.read_as(reader, ask);
    let told = match &read {
        Err(_) => true,
        Ok(read) => read.notes.iter().any(|note| matches!(note, Note::Unreadable(_))),
    };
    checks.check("told", told, "an error or a note", || format!("{read:?}"));
    let later = checks.answered(source.read(reader))?;
    checks.equal("its-place-stays", &vec!["behind"], &texts(&later.observations));
    Ok(())
}
