//! What binds a decoder to a source, and evidence to the field it was read from.

use super::seen;
use crate::conformance::check::{CaseEnd, Checks};
use crate::conformance::decoding::{Decoder, Descriptor, NativeFile, Observation, value_at};
use crate::conformance::native::{OTHER, OWN, PATH, Script};
use serde_json::Value;

fn texts(all: &[Observation]) -> Vec<&str> {
    all.iter().filter(|one| one.is_event()).filter_map(|one| one.text.as_deref()).collect()
}

/// A source, what was remembered of it, and the same source with one more answer.
fn grown(decoder: &mut dyn Decoder) -> Result<(Descriptor, Vec<u8>), String> {
    let mut script = Script::in_turn(decoder.dialect());
    script.answer("before");
    let bytes = script.bytes();
    let described = decoder.describe(NativeFile { path: PATH, bytes: &bytes })?;
    Ok((described, script.answer("behind").bytes()))
}

pub(super) fn dec_12(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let (described, bytes) = checks.answered(grown(decoder))?;
    let other = String::from_utf8_lossy(&bytes).replace(OWN, OTHER).into_bytes();
    let pair = [(&bytes, true), (&other, false)];
    checks.each("changed-metadata-is-refused", 2, pair, |(bytes, is_own)| {
        match (decoder.decode(NativeFile { path: PATH, bytes }, Some(&described)), is_own) {
            (Ok(all), true) if texts(&all) == ["behind"] => Ok(()),
            (Err(reason), false) if !reason.is_empty() => Ok(()),
            (answer, _) => Err(format!("{answer:?}")),
        }
    });
    let named = format!("/data/rollout-2026-05-01T08-00-00-{OTHER}.jsonl");
    let all = checks.answered(decoder.decode(NativeFile { path: &named, bytes: &bytes }, None))?;
    checks.each("file-names-never-count", 3, all.iter().filter(|one| !one.is_loss()), |one| {
        match one.conversation.as_deref() {
            Some(OWN) => Ok(()),
            other => Err(format!("{} of {other:?}", one.kind)),
        }
    });
    Ok(())
}

pub(super) fn dec_19(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let (good, bytes) = checks.answered(grown(decoder))?;
    let file = NativeFile { path: PATH, bytes: &bytes };
    let bad = [
        Descriptor { format: "another_format".to_owned(), ..good.clone() },
        Descriptor { decoder: "another_decoder/9.9.9".to_owned(), ..good.clone() },
        Descriptor { boundary: bytes.len() as u64 + 1, ..good.clone() },
    ];
    checks.each("refused", 3, bad, |descriptor| {
        decoder.decode(file, Some(&good))?;
        match decoder.decode(file, Some(&descriptor)) {
            Err(reason) if !reason.is_empty() => Ok(()),
            answer => Err(format!("{descriptor:?} gave {answer:?}")),
        }
    });
    Ok(())
}

pub(super) fn dec_22(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let mut script = Script::in_turn(decoder.dialect());
    let first = script.call("call_1", "make").result("call_1", 3, 0).last().to_owned();
    let second = script.call("call_2", "ls").result("call_2", 0, 1).last().to_owned();
    let all = seen(checks, decoder, &script.bytes())?;
    let evidence: Vec<_> = all.iter().filter(|one| one.is_evidence()).collect();
    let paths: Vec<_> = evidence.iter().map(|one| one.at.path.as_str()).collect();
    checks.equal("as-spelled", &vec![script.result_path(0), script.result_path(1)], &paths);
    checks.each("the-field-is-there", 2, [first, second].iter().zip(paths), |(line, path)| {
        let record = serde_json::from_str::<Value>(line).unwrap_or_default();
        match value_at(&record, path) {
            Some(Value::String(_) | Value::Object(_)) => Ok(()),
            found => Err(format!("{path} holds {found:?}")),
        }
    });
    Ok(())
}
