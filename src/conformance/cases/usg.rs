//! USG: usage, each token counted once.
//!
//! As in IDN, each demand is touched by its own case only: repeated ids in USG-01 and USG-02,
//! several sources of totals in USG-08, copies in USG-12, subsets of input in USG-09.

use serde_json::{Value, json};

use crate::conformance::check::{CaseEnd, Checks};
use crate::conformance::contract::{Body, Case, Contract};
use crate::conformance::subjects::{NumberView, UsageAnswer, UsageFold, UsageReport};
use crate::domain::usage::{Standing, UsageScope};

/// The contract.
pub fn contract() -> Contract {
    Contract { id: "USG", title: "usage", cases: CASES.to_vec(), floor: 16 }
}

const FOLD: &str = "Titan: usage fold";
const COUNTS: &str = "Titan: token record";
const STORE: &str = "Titan: usage across physical copies";
const NEW: &str = "new here: usage";

const CASES: &[Case] = &[
    Case {
        id: "USG-01",
        title: "one response counts once across lines and copies",
        clause: FOLD,
        checks: 2,
        why: "Providers repeat a response's usage on each of its lines and in each copy of a file.",
        body: Body::Usage(usg_01),
    },
    Case {
        id: "USG-02",
        title: "the largest report of a response wins, the later on a tie",
        clause: FOLD,
        checks: 2,
        why: "Early reports are placeholders written before the response had ended.",
        body: Body::Usage(usg_02),
    },
    Case {
        id: "USG-03",
        title: "deltas and the snapshots that cover them are not added",
        clause: FOLD,
        checks: 2,
        why: "A running total already holds the responses beside it.",
        body: Body::Usage(usg_03),
    },
    Case {
        id: "USG-04",
        title: "an epoch without deltas keeps its snapshot",
        clause: NEW,
        checks: 1,
        why: "What was spent before a provider reported responses was spent as well.",
        body: Body::Usage(usg_04),
    },
    Case {
        id: "USG-05",
        title: "highest sequence wins whatever the arrival order",
        clause: FOLD,
        checks: 1,
        why: "Files are read in any order, and the answer may not depend on it.",
        body: Body::Usage(usg_05),
    },
    Case {
        id: "USG-06",
        title: "a reset epoch adds",
        clause: FOLD,
        checks: 1,
        why: "A total that starts anew does not take back what was spent before.",
        body: Body::Usage(usg_06),
    },
    Case {
        id: "USG-07",
        title: "a conversation snapshot replaces turn snapshots of its epoch only",
        clause: FOLD,
        checks: 1,
        why: "Totals of two scopes hold the same tokens, but only within one epoch.",
        body: Body::Usage(usg_07),
    },
    Case {
        id: "USG-08",
        title: "snapshot copies from two files are never added",
        clause: STORE,
        checks: 1,
        why: "An archived copy beside the active file would double the conversation.",
        body: Body::Usage(usg_08),
    },
    Case {
        id: "USG-09",
        title: "cached, cache-write and reasoning are subsets, never added again",
        clause: COUNTS,
        checks: 1,
        why: "Input holds what came from the cache, output what was thought.",
        body: Body::Usage(usg_09),
    },
    Case {
        id: "USG-10",
        title: "unreported stays unreported, not zero",
        clause: COUNTS,
        checks: 1,
        why: "A zero that nobody reported is an invented number.",
        body: Body::Usage(usg_10),
    },
    Case {
        id: "USG-11",
        title: "a partly unknown total is unknown, with the known part beside it",
        clause: NEW,
        checks: 1,
        why: "A sum of what happens to be there looks like the whole.",
        body: Body::Usage(usg_11),
    },
    Case {
        id: "USG-12",
        title: "copied history costs nothing",
        clause: FOLD,
        checks: 2,
        why: "A fork repeats its parent's history, and nobody paid for it twice.",
        body: Body::Usage(usg_12),
    },
    Case {
        id: "USG-13",
        title: "a conversation snapshot belongs to no single model",
        clause: FOLD,
        checks: 1,
        why: "The last model did not spend what the ones before it did.",
        body: Body::Usage(usg_13),
    },
    Case {
        id: "USG-14",
        title: "negative, fractional, non-finite or oversized counts are unknown with a diagnostic",
        clause: COUNTS,
        checks: 3,
        why: "A sentinel that is added up corrupts every sum it is part of.",
        body: Body::Usage(usg_14),
    },
    Case {
        id: "USG-15",
        title: "an estimate never becomes a receipt",
        clause: COUNTS,
        checks: 1,
        why: "A host's guess at a size is no use that anybody was charged for.",
        body: Body::Usage(usg_15),
    },
    Case {
        id: "USG-16",
        title: "no measurements -> no numbers and basis none (control)",
        clause: FOLD,
        checks: 2,
        why: "Nothing known must not read as nothing spent.",
        body: Body::Usage(usg_16),
    },
];

fn report(scope: UsageScope, sequence: i64, input: i64, output: i64) -> UsageReport {
    UsageReport {
        conversation: "c1".to_owned(),
        copied_from: None,
        source: "a.jsonl".to_owned(),
        epoch: 0,
        sequence,
        scope,
        standing: Standing::Reported,
        response: None,
        turn: None,
        model: Some("m1".to_owned()),
        counts: json!({"input": input, "output": output}),
    }
}

fn response(id: &str, sequence: i64, input: i64, output: i64) -> UsageReport {
    let response = Some(id.to_owned());
    UsageReport { response, ..report(UsageScope::Response, sequence, input, output) }
}

fn total(sequence: i64, input: i64, output: i64) -> UsageReport {
    report(UsageScope::Snapshot, sequence, input, output)
}

fn turn(id: &str, sequence: i64, input: i64, output: i64) -> UsageReport {
    let turn = Some(id.to_owned());
    UsageReport { turn, ..report(UsageScope::Turn, sequence, input, output) }
}

/// Input and output of everything credited, where both are known.
fn numbers(answer: &Result<UsageAnswer, String>) -> Result<(i64, i64), String> {
    let answer = answer.clone()?;
    let value = |name: &str| {
        let number = answer.number(name);
        number.value.ok_or_else(|| format!("{name} is unknown: {answer:?}"))
    };
    Ok((value("input")?, value("output")?))
}

fn usg_01(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let lines = [response("r1", 1, 9, 3), response("r1", 2, 9, 3), response("r2", 3, 20, 4)];
    checks.equal("lines", &Ok((29, 7)), &numbers(&usage.fold(&lines)));
    let copy = UsageReport { source: "b.jsonl".to_owned(), ..response("r1", 1, 9, 3) };
    let copies = [response("r1", 1, 9, 3), copy];
    checks.equal("copies", &Ok((9, 3)), &numbers(&usage.fold(&copies)));
    Ok(())
}

fn usg_02(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let growing = [response("r1", 1, 9, 1), response("r1", 2, 9, 184), response("r1", 3, 9, 40)];
    checks.equal("the-largest", &Ok((9, 184)), &numbers(&usage.fold(&growing)));
    let later = UsageReport { model: Some("m2".to_owned()), ..response("r1", 2, 9, 3) };
    let models = usage.fold(&[response("r1", 1, 9, 3), later]);
    let models = models.map(|answer| answer.models.into_keys().collect::<Vec<_>>());
    checks.equal("the-later-on-a-tie", &Ok(vec![Some("m2".to_owned())]), &models);
    Ok(())
}

fn usg_03(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let covered = [response("r1", 1, 9, 3), response("r2", 2, 20, 4), total(3, 29, 7)];
    checks.equal("conversation", &Ok((29, 7)), &numbers(&usage.fold(&covered)));
    let answer = UsageReport { turn: Some("t1".to_owned()), ..response("r1", 1, 9, 3) };
    let covered = [answer, turn("t1", 2, 9, 3)];
    checks.equal("turn", &Ok((9, 3)), &numbers(&usage.fold(&covered)));
    Ok(())
}

fn usg_04(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let newer = UsageReport { epoch: 1, ..response("r1", 2, 9, 3) };
    let answer = usage.fold(&[total(1, 100, 10), newer]);
    checks.equal("older-epoch-stays", &Ok((109, 13)), &numbers(&answer));
    Ok(())
}

fn usg_05(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let totals = [total(1, 10, 1), total(2, 20, 2), total(3, 30, 3)];
    let orders = [[2, 0, 1], [2, 1, 0], [1, 2, 0]];
    checks.each("the-same-in-every-order", 3, orders, |order| {
        let shuffled: Vec<UsageReport> =
            order.iter().filter_map(|at: &usize| totals.get(*at).cloned()).collect();
        match numbers(&usage.fold(&shuffled)) {
            Ok((30, 3)) => Ok(()),
            other => Err(format!("{order:?} gave {other:?}")),
        }
    });
    Ok(())
}

fn usg_06(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let anew = UsageReport { epoch: 1, ..total(2, 40, 4) };
    let answer = usage.fold(&[total(1, 100, 10), anew]);
    checks.equal("epochs-add", &Ok((140, 14)), &numbers(&answer));
    Ok(())
}

fn usg_07(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let other = UsageReport { epoch: 1, ..turn("t3", 4, 5, 1) };
    let answer = usage.fold(&[turn("t1", 1, 10, 1), turn("t2", 2, 20, 2), total(3, 30, 3), other]);
    checks.equal("its-epoch-only", &Ok((35, 4)), &numbers(&answer));
    Ok(())
}

fn usg_08(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let copy = |sequence, input, output| UsageReport {
        source: "archived/a.jsonl".to_owned(),
        ..total(sequence, input, output)
    };
    let both = [total(1, 40, 4), total(2, 80, 8), copy(1, 40, 4), copy(2, 60, 6)];
    checks.equal("one-source-holds", &Ok((80, 8)), &numbers(&usage.fold(&both)));
    Ok(())
}

fn usg_09(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let counts = json!({"input": 100, "cached_input": 60, "cache_write_input": 20, "output": 30,
        "reasoning_output": 10});
    let answer = usage.fold(&[UsageReport { counts, ..response("r1", 1, 0, 0) }]);
    let found =
        answer.map(|answer| ["input", "output", "total"].map(|name| answer.number(name).value));
    checks.equal("subsets", &Ok([Some(100), Some(30), Some(130)]), &found);
    Ok(())
}

fn usg_10(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let counts = json!({"output": 5, "input": null});
    let answer = usage.fold(&[UsageReport { counts, ..response("r1", 1, 0, 0) }]);
    let found = answer
        .map(|answer| ["input", "cached_input", "output"].map(|name| answer.number(name).value));
    checks.equal("absent", &Ok([None, None, Some(5)]), &found);
    Ok(())
}

fn usg_11(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let partly = UsageReport { counts: json!({"output": 5}), ..response("r2", 2, 0, 0) };
    let answer = usage.fold(&[response("r1", 1, 50, 3), partly]);
    let found = answer.map(|answer| ["input", "total"].map(|name| answer.number(name)));
    let expected = [NumberView { value: None, known: 50 }, NumberView { value: None, known: 58 }];
    checks.equal("unknown-with-its-known-part", &Ok(expected), &found);
    Ok(())
}

fn usg_12(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let child = |report: UsageReport| UsageReport {
        conversation: "child".to_owned(),
        source: "child.jsonl".to_owned(),
        ..report
    };
    let copy =
        |report: UsageReport| UsageReport { copied_from: Some("c1".to_owned()), ..child(report) };
    let input_of = |answer: Result<UsageAnswer, String>| {
        answer.map(|answer| {
            ["c1", "child"].map(|name| answer.conversations.get(name).copied().unwrap_or_default())
        })
    };
    let responses =
        [response("r1", 1, 90, 3), copy(response("r1", 1, 90, 3)), child(response("r2", 2, 7, 1))];
    checks.equal("responses", &Ok([93, 8]), &input_of(usage.fold(&responses)));
    let totals = [total(1, 90, 3), copy(total(1, 90, 3)), child(total(2, 97, 4))];
    checks.equal("totals", &Ok([93, 8]), &input_of(usage.fold(&totals)));
    Ok(())
}

fn usg_13(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let second = UsageReport { model: Some("m2".to_owned()), ..total(2, 150, 30) };
    let answer = usage.fold(&[total(1, 100, 10), second]);
    let whole = answer.map(|answer| {
        let named = |(model, sum): (Option<String>, i64)| model.map(|model| (model, sum));
        answer.models.into_iter().filter_map(named).filter(|(_, sum)| *sum >= 180).collect()
    });
    checks.equal("no-model-gets-all", &Ok(Vec::<(String, i64)>::new()), &whole);
    Ok(())
}

fn usg_14(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let odd = || {
        [json!(-1), json!(-40), json!(1.5), json!("NaN"), json!(1e300), json!(u64::MAX)].map(
            |count| {
                (
                    UsageReport {
                        counts: json!({"input": count, "output": 3}),
                        ..response("r2", 2, 0, 0)
                    },
                    count,
                )
            },
        )
    };
    let mut answers: Vec<(Value, Result<UsageAnswer, String>)> = Vec::new();
    for (report, count) in odd() {
        answers.push((count, usage.fold(&[response("r1", 1, 50, 3), report])));
    }
    let mut each = |label: &str, holds: fn(&UsageAnswer) -> bool| {
        checks.each(label, 6, &answers, |(count, answer)| match answer {
            Ok(answer) if holds(answer) => Ok(()),
            other => Err(format!("{count} gave {other:?}")),
        });
    };
    each("adds-nothing", |answer| answer.number("input").known == 50);
    each("unknown", |answer| answer.number("input").value.is_none());
    each("diagnostic", |answer| answer.diagnostics.iter().any(|of| of == "input"));
    Ok(())
}

fn usg_15(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let guess = |report: UsageReport| UsageReport { standing: Standing::Estimate, ..report };
    let reports =
        [response("r1", 1, 9, 3), guess(response("r2", 2, 500, 0)), guess(total(3, 15_200, 0))];
    checks.equal("adds-nothing", &Ok((9, 3)), &numbers(&usage.fold(&reports)));
    Ok(())
}

fn usg_16(checks: &mut Checks<'_>, usage: &mut dyn UsageFold) -> CaseEnd {
    let answer = usage.fold(&[]);
    let numbers = answer.clone().map(|answer| answer.numbers);
    checks.equal("no-numbers", &Ok(None), &numbers);
    checks.equal("basis-none", &Ok("none".to_owned()), &answer.map(|answer| answer.basis));
    Ok(())
}
