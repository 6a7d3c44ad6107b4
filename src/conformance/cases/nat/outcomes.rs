//! NAT-09 to NAT-14: what became of a call.

use super::{ADAPTER, HARNESS, Told, tell};
use crate::conformance::check::{CaseEnd, Checks};
use crate::conformance::contract::{Body, Case};
use crate::conformance::normalizing::{Normalizer, RecordView};

const LESSON: &str = "lesson: failure is never inferred from output";

pub(super) const CASES: &[Case] = &[
    Case {
        id: "NAT-09",
        title: "a successful tool call keeps its exit code when the native event has one",
        clause: ADAPTER,
        checks: 1,
        why: "A literal 0 is the only thing that can verify a claim.",
        body: Body::Normalizer(nat_09),
    },
    Case {
        id: "NAT-10",
        title: "a failed tool call stays failed, however plausible its output",
        clause: LESSON,
        checks: 2,
        why: "Output is what the agent's own command printed.",
        body: Body::Normalizer(nat_10),
    },
    Case {
        id: "NAT-11",
        title: "a tool whose outcome is not stated is unknown, not ok",
        clause: HARNESS,
        checks: 2,
        why: "Silence is not success.",
        body: Body::Normalizer(nat_11),
    },
    Case {
        id: "NAT-12",
        title: "a denied or interrupted call is neither failed nor ok",
        clause: HARNESS,
        checks: 1,
        why: "What did not run neither passed nor failed.",
        body: Body::Normalizer(nat_12),
    },
    Case {
        id: "NAT-13",
        title: "interleaved results join their call by id, not by adjacency",
        clause: HARNESS,
        checks: 1,
        why: "Agents run calls side by side.",
        body: Body::Normalizer(nat_13),
    },
    Case {
        id: "NAT-14",
        title: "a call without a result is unresolved at the end",
        clause: LESSON,
        checks: 1,
        why: "A call that nobody saw end did not succeed.",
        body: Body::Normalizer(nat_14),
    },
];

/// The outcome of the last result of a call, and its exit code.
fn end_of(told: &Told, call: &str) -> (Option<String>, Option<i64>) {
    let of_call = |record: &&RecordView| record.call.as_deref() == Some(call);
    let results = told.records().filter(|r| r.kind == "event:post_tool_use").filter(of_call);
    let outcome = results.last().and_then(|record| record.outcome.clone());
    (outcome, code_of(told, call))
}

/// The exit code that stands beside the result of a call.
fn code_of(told: &Told, call: &str) -> Option<i64> {
    told.answers.iter().find_map(|answer| {
        let records = answer.records();
        let is_its = records
            .iter()
            .any(|r| r.kind == "event:post_tool_use" && r.call.as_deref() == Some(call));
        let codes = records.iter().filter(|r| r.kind == "evidence:exit_code");
        if is_its { codes.filter_map(|r| r.exit_code).next() } else { None }
    })
}

fn nat_09(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let end = end_of(&tell(subject, "tool_coded")?, "c1");
    checks.equal("code", &(Some("ok".to_owned()), Some(0)), &end);
    Ok(())
}

fn nat_10(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let (outcome, code) = end_of(&tell(subject, "tool_failed")?, "c1");
    checks.equal("failed", &Some("failed".to_owned()), &outcome);
    checks.equal("code", &Some(3), &code);
    Ok(())
}

fn nat_11(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let told = tell(subject, "tool_silent")?;
    let resolved = told.records().any(|record| record.kind == "event:post_tool_use");
    let (outcome, code) = end_of(&told, "c1");
    let unknown = resolved && outcome.as_deref().is_none_or(|word| word == "unknown");
    checks.check("unknown", unknown, "unknown", || format!("{outcome:?}"));
    checks.equal("no-code", &None, &code);
    Ok(())
}

fn nat_12(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let expected = [("tool_denied", "denied"), ("tool_interrupted", "interrupted")];
    let mut ends = Vec::new();
    for (scenario, word) in expected {
        let told = tell(subject, scenario)?;
        let ended = |r: &&RecordView| {
            r.kind == "event:post_tool_use" || r.kind == "event:permission_denied"
        };
        let last = told.records().filter(ended).last().and_then(|r| r.outcome.clone());
        ends.push((scenario, word, last.unwrap_or_default()));
    }
    checks.each("neither", 2, ends, |(scenario, word, outcome)| {
        if outcome == word { Ok(()) } else { Err(format!("{scenario} is {outcome:?}")) }
    });
    Ok(())
}

fn nat_13(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let told = tell(subject, "tool_interleaved")?;
    let ends =
        [("c1", "failed"), ("c2", "ok")].map(|(call, word)| (call, word, end_of(&told, call)));
    checks.each("by-id", 2, ends, |(call, word, (outcome, _))| {
        if outcome.as_deref() == Some(word) {
            Ok(())
        } else {
            Err(format!("{call} is {outcome:?}, not {word}"))
        }
    });
    Ok(())
}

fn nat_14(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let told = tell(subject, "tool_unresolved")?;
    let of_call = |record: &&RecordView| record.call.as_deref() == Some("c1");
    let seen: Vec<&RecordView> = told.records().filter(of_call).collect();
    checks.each("unresolved", 1, seen, |record| match record.outcome.as_deref() {
        Some("ok" | "failed") => Err(format!("{} is {:?}", record.kind, record.outcome)),
        _ => Ok(()),
    });
    Ok(())
}
