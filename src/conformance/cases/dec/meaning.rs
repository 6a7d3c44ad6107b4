//! What lines mean: unknown kinds, copies, children, models, ends.

use super::{counted, offset_of, seen};
use crate::conformance::check::{CaseEnd, Checks};
use crate::conformance::decoding::{Decoder, LINEAGE, USAGE};
use crate::conformance::native::{MODELS, OTHER, OWN, Script, child, forked};

pub(super) fn dec_11(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let mut script = Script::in_turn(decoder.dialect());
    script.unknown("planted value").answer("after");
    let bytes = script.bytes();
    let line = script.lines().iter().find(|line| line.contains("planted"));
    let at = line.and_then(|line| offset_of(&bytes, line));
    let all = seen(checks, decoder, &bytes)?;
    let tags: Vec<_> = all
        .iter()
        .filter(|one| one.kind == "loss:unrecognized")
        .map(|one| {
            let tagged = one.text.as_ref().is_some_and(|tag| tag.contains("telepathy"));
            (Some(one.at.offset), tagged)
        })
        .collect();
    checks.equal("located-tag", &vec![(at, true)], &tags);
    checks.each("without-its-value", 4, &all, |one| {
        if format!("{one:?}").contains("planted") { Err(format!("{one:?}")) } else { Ok(()) }
    });
    Ok(())
}

pub(super) fn dec_13(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let (bytes, own_from) = forked(decoder.dialect());
    let all = seen(checks, decoder, &bytes)?;
    let copies: Vec<_> = ["copied prompt", "copied answer"]
        .iter()
        .flat_map(|text| counted(&all, text))
        .map(|one| one.text.clone())
        .collect();
    checks.equal("copies-do-not-count", &Vec::new(), &copies);
    let usage = all.iter().filter(|one| one.kind == USAGE);
    let origins: Vec<_> = usage
        .map(|one| (one.at.offset < own_from, one.copied_from.as_deref(), one.counted))
        .collect();
    let expected = vec![(true, Some(OTHER), false), (false, None, true)];
    checks.equal("copies-name-their-origin", &expected, &origins);
    checks.equal("own-history-counts", &1, &counted(&all, "own prompt").len());
    let fork = (String::from("fork"), OTHER.to_owned());
    let told = all.iter().any(|one| one.kind == LINEAGE && one.related.as_ref() == Some(&fork));
    checks.check("the-fork-is-told", told, "a fork of the other conversation", || {
        format!("{:?}", all.iter().filter_map(|one| one.related.as_ref()).collect::<Vec<_>>())
    });
    Ok(())
}

pub(super) fn dec_14(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let bytes = child(decoder.dialect());
    let all = seen(checks, decoder, &bytes)?;
    checks.each("own-conversation", 3, &all, |one| match one.conversation.as_deref() {
        Some(OWN) => Ok(()),
        other => Err(format!("{} of {other:?}", one.kind)),
    });
    let parent = (String::from("parent"), OTHER.to_owned());
    let told: Vec<_> = all.iter().filter(|one| one.related.as_ref() == Some(&parent)).collect();
    let child: Vec<_> = told.iter().map(|one| one.conversation.as_deref()).collect();
    checks.equal("parent-is-lineage", &vec![Some(OWN)], &child);
    Ok(())
}

pub(super) fn dec_15(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let [one, two] = MODELS;
    let mut script = Script::new(decoder.dialect());
    script.begin_turn(one, "first").usage("resp_1", 1, one);
    script.begin_turn(two, "second").usage("resp_2", 2, two);
    script.usage("resp_3", 1, one);
    let all = seen(checks, decoder, &script.bytes())?;
    let models: Vec<_> =
        all.iter().filter(|it| it.kind == USAGE).map(|it| it.model.as_deref()).collect();
    checks.equal("the-model-that-spent-it", &vec![Some(one), Some(two), Some(one)], &models);
    Ok(())
}

pub(super) fn dec_16(checks: &mut Checks<'_>, decoder: &mut dyn Decoder) -> CaseEnd {
    let mut script = Script::in_turn(decoder.dialect());
    script.call("call_1", "make");
    let all = seen(checks, decoder, &script.bytes())?;
    checks.each("nothing-ends", 2, &all, |one| match one.kind.as_str() {
        "session_end" | "turn_end" | "post_tool_use" => Err(format!("a {}", one.kind)),
        _ => Ok(()),
    });
    Ok(())
}
