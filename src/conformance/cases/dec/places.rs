//! Where things stand: bytes, hashes, siblings, and lines that are damaged.

use std::collections::BTreeSet;

use super::{offset_of, record_of, seen};
use crate::base::hash::Digest;
use crate::conformance::check::{CaseEnd, Checks};
use crate::conformance::decoding::{Decoder, Dialect, Observation, QUARANTINE};
use crate::conformance::native::{MODELS, Script};

/// A turn with two calls, in which everything is plain.
fn plain_turn(dialect: Dialect) -> Script {
    let mut script = Script::in_turn(dialect);
    script.call("call_1", "make").result("call_1", 3, 0);
    script.call("call_2", "ls").result("call_2", 0, 1);
    script.answer("see above");
    script
}

pub(super) fn dec_01(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let script = plain_turn(decoder.dialect());
    let bytes = script.bytes();
    let all = seen(checks, decoder, &bytes)?;
    checks.each("its-bytes-are-a-line", 8, &all, |one| match record_of(&bytes, one) {
        Some(record) if script.lines().iter().any(|line| line.as_bytes() == record) => Ok(()),
        _ => Err(format!("{} at {}+{}", one.kind, one.at.offset, one.at.length)),
    });
    checks.each("hash-of-those-bytes", 8, &all, |one| {
        let hash = record_of(&bytes, one).map(|record| Digest::of(record).hex());
        if hash.as_ref() == Some(&one.at.line_hash) { Ok(()) } else { Err(one.kind.clone()) }
    });
    checks.each("names-its-source", 8, &all, |one| {
        let is_named = one.at.source == crate::conformance::native::PATH;
        if is_named { Ok(()) } else { Err(format!("{} of {:?}", one.kind, one.at.source)) }
    });
    let mut places = BTreeSet::new();
    checks.each("index-tells-siblings-apart", 8, &all, |one| {
        let is_new = places.insert((one.at.offset, one.at.index));
        if is_new { Ok(()) } else { Err(format!("{} is number {}", one.kind, one.at.index)) }
    });
    Ok(())
}

pub(super) fn dec_02(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let texts = ["d\u{e9}j\u{e0} vu", "\u{4e2d}\u{6587}", "\u{1f600} smile", "plain"];
    let mut script = Script::in_turn(decoder.dialect());
    texts.iter().for_each(|text| {
        script.answer(text);
    });
    let bytes = script.bytes();
    let all = seen(checks, decoder, &bytes)?;
    checks.each("bytes-not-characters", 4, texts, |text| {
        let line = script.lines().iter().find(|line| line.contains(text)).cloned();
        let told = all.iter().find(|one| one.is_event() && one.text.as_deref() == Some(text));
        let read = told.and_then(|one| record_of(&bytes, one));
        match (line, read) {
            (Some(line), Some(read)) if line.as_bytes() == read => Ok(()),
            _ => Err(format!("{text} at {:?}", told.map(|one| &one.at))),
        }
    });
    Ok(())
}

/// The events that the last line of a script told.
fn of_last_line(script: &Script, all: Vec<Observation>) -> Vec<Observation> {
    let at = offset_of(&script.bytes(), script.last());
    all.into_iter().filter(|one| one.is_event() && Some(one.at.offset) == at).collect()
}

pub(super) fn dec_03(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let mut script = Script::in_turn(decoder.dialect());
    script.siblings();
    let all = seen(checks, decoder, &script.bytes())?;
    let siblings = of_last_line(&script, all);
    let ids: BTreeSet<_> = siblings.iter().map(|one| &one.id).collect();
    checks.equal("distinct-ids", &(2, 2), &(siblings.len(), ids.len()));
    Ok(())
}

pub(super) fn dec_04(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let dialect = decoder.dialect();
    let mut first = Script::new(dialect);
    first.siblings();
    let mut early = Script::in_turn(dialect);
    early.siblings();
    let mut late = Script::in_turn(dialect);
    late.answer("one").begin_turn(MODELS[1], "two").answer("three").siblings();
    let mut read = Vec::new();
    for script in [first, early, late] {
        let all = seen(checks, decoder, &script.bytes())?;
        let siblings = of_last_line(&script, all);
        read.push(siblings.into_iter().map(|one| (one.kind, one.at.index)).collect::<Vec<_>>());
    }
    let expected = read.first().cloned().unwrap_or_default();
    checks.each("same-wherever-it-stands", 3, read, |indices| {
        if indices.len() == 2 && indices == expected {
            Ok(())
        } else {
            Err(format!("{indices:?}, not {expected:?}"))
        }
    });
    Ok(())
}

pub(super) fn dec_17(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let mut script = Script::in_turn(decoder.dialect());
    script.answer("half a ~ character");
    let broken = script.last().to_owned();
    script.answer("whole again");
    let mut bytes = script.bytes();
    bytes.iter_mut().filter(|byte| **byte == b'~').for_each(|byte| *byte = 0xff);
    let all = seen(checks, decoder, &bytes)?;
    let at = offset_of(&script.bytes(), &broken);
    let refused: Vec<_> = all.iter().filter(|one| one.kind == QUARANTINE).collect();
    let places: Vec<_> = refused.iter().map(|one| (Some(one.at.offset), one.at.length)).collect();
    checks.equal("refused-where-it-stands", &vec![(at, broken.len() as u64)], &places);
    checks.each("nothing-was-replaced", 4, &all, |one| {
        let replaced = one.text.as_ref().is_some_and(|text| text.contains('\u{fffd}'));
        if replaced { Err(format!("{:?}", one.text)) } else { Ok(()) }
    });
    let after = all.iter().find(|one| one.is_event() && one.text.as_deref() == Some("whole again"));
    let expected = offset_of(&script.bytes(), script.last());
    checks.equal("neighbours-stay", &expected, &after.map(|one| one.at.offset));
    Ok(())
}

pub(super) fn dec_18(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let mut script = Script::in_turn(decoder.dialect());
    script.answer("one").answer("two");
    let with_bom = [b"\xef\xbb\xbf".as_slice(), &script.bytes()].concat();
    let files = [script.joined("\r\n"), with_bom, script.joined("\n\n  \n")];
    checks.each("each-record-where-it-stands", 3, files, |bytes| {
        let file = crate::conformance::decoding::NativeFile {
            path: crate::conformance::native::PATH,
            bytes: &bytes,
        };
        let all = decoder.decode(file, None)?;
        for text in ["begin", "one", "two"] {
            let told = all.iter().find(|one| one.is_event() && one.text.as_deref() == Some(text));
            let told = told.ok_or_else(|| format!("{text} is missing"))?;
            let read = record_of(&bytes, told).map(String::from_utf8_lossy);
            let is_line = read
                .as_ref()
                .is_some_and(|read| script.lines().iter().any(|l| l == read.trim_end()));
            if !is_line || !read.is_some_and(|read| read.contains(text)) {
                return Err(format!("{text} at {:?}", told.at));
            }
        }
        Ok(())
    });
    Ok(())
}

/// Lines as real writers write them, each with a text of its own; a strict parser refuses all.
fn damaged(dialect: Dialect) -> (Script, [&'static str; 3]) {
    let mut script = Script::in_turn(dialect);
    let texts = ["cut emoji", "huge number", "deep nest"];
    let nest = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let extras = ["\"\\ud83d\"", "1e999", &nest];
    for (text, extra) in texts.iter().zip(extras) {
        script.answer(text);
        script.respell_last(|line| line.replacen('{', &format!("{{\"odd\":{extra},"), 1));
    }
    script.answer("after");
    (script, texts)
}

pub(super) fn dec_21(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let (script, texts) = damaged(decoder.dialect());
    let bytes = script.bytes();
    let all = seen(checks, decoder, &bytes)?;
    checks.each("the-line-is-kept", 3, texts, |text| {
        let told = all.iter().any(|one| one.is_event() && one.text.as_deref() == Some(text));
        if told { Ok(()) } else { Err(format!("{text} is lost")) }
    });
    checks.each("the-repair-is-counted", 3, texts, |text| {
        let line = script.lines().iter().find(|line| line.contains(text));
        let at = line.and_then(|line| offset_of(&bytes, line));
        let counted =
            all.iter().any(|one| one.kind == "loss:line_repaired" && Some(one.at.offset) == at);
        if counted { Ok(()) } else { Err(format!("{text} was repaired in silence")) }
    });
    Ok(())
}
