//! RUN: the runner itself, driven as a subject.
//!
//! Audits (RUN-01, 02, 04 to 07, 16, 17) look at the shipped registry; the others plant a
//! situation in a small suite and demand the right verdict. RUN-18, that no shipping module
//! depends on this one, is a test of the source tree, since a binary has no sources to look at.

use std::collections::BTreeSet;

use crate::conformance::check::{CaseEnd, Checks, Dial, Stop, ledger_text};
use crate::conformance::contract::{Body, Case, Contract, Mode, Suite};
use crate::conformance::engine::Ask;
use crate::conformance::harness::{CONTROL, Harness, planted};
use crate::conformance::judge::{ChildOutcome, Verdict};
use crate::conformance::options::exit;
use crate::conformance::outcome::{RunReport, Status};
use crate::conformance::subjects::KeyParts;
use crate::conformance::teeth::Matrix;

/// The contract.
pub fn contract() -> Contract {
    Contract { id: "RUN", title: "the runner itself", cases: CASES.to_vec(), floor: 18 }
}

const DOC: &str = "docs/conformance.md: contract, break, ledger, teeth";

const fn case(
    id: &'static str,
    title: &'static str,
    checks: u32,
    why: &'static str,
    body: fn(&mut Checks<'_>, &mut dyn Harness) -> CaseEnd,
) -> Case {
    Case { id, title, clause: DOC, checks, why, body: Body::Runner(body) }
}

const CASES: &[Case] = &[
    case(
        "RUN-01",
        "`none` is green on every subject",
        1,
        "Without a green control a red mode proves nothing.",
        run_01,
    ),
    case(
        "RUN-02",
        "every mode exits 1 and reddens exactly `must` and a subset of `may`",
        1,
        "A mode that reddens too little has no teeth; one that reddens too much hides which check bit.",
        run_02,
    ),
    case(
        "RUN-03",
        "an unknown mode exits 64 and suggests a name",
        2,
        "A typo that runs green is the oldest hole of such suites.",
        run_03,
    ),
    case(
        "RUN-04",
        "every case has a mode or a reasoned waiver",
        1,
        "A case that nothing can redden is documentation.",
        run_04,
    ),
    case(
        "RUN-05",
        "case floors per contract and per subject hold",
        1,
        "A suite must not shrink in silence.",
        run_05,
    ),
    case(
        "RUN-06",
        "the mode table is at least its floor",
        1,
        "A deleted mode takes its proof with it.",
        run_06,
    ),
    case(
        "RUN-07",
        "dropping any check site reddens that case's ledger, by its own failure text",
        1,
        "A check that can be deleted unnoticed is not there.",
        run_07,
    ),
    case(
        "RUN-08",
        "a case that executes no check is red",
        2,
        "A hollowed case passes for ever.",
        run_08,
    ),
    case(
        "RUN-09",
        "a skip or todo is not counted as a pass",
        1,
        "Skips counted as passes hold a floor up with nothing.",
        run_09,
    ),
    case(
        "RUN-10",
        "duplicate ids refuse to start",
        2,
        "Of two rows with one id, one is never judged.",
        run_10,
    ),
    case(
        "RUN-11",
        "plan and results have the same ids",
        1,
        "A case that vanished between plan and result would not be missed.",
        run_11,
    ),
    case(
        "RUN-12",
        "a panicking case is red and the rest still run",
        2,
        "One panic must not hide every case after it.",
        run_12,
    ),
    case(
        "RUN-13",
        "a red baseline suppresses mode verdicts (exit 4)",
        2,
        "On a broken subject every mode looks red for the wrong reason.",
        run_13,
    ),
    case(
        "RUN-14",
        "a timed-out child is a timeout, not a red",
        1,
        "A hang counted as red makes any mode pass.",
        run_14,
    ),
    case(
        "RUN-15",
        "no check site loses its last mode (teeth golden)",
        1,
        "A check weakened until nothing trips it still counts as run.",
        run_15,
    ),
    case(
        "RUN-16",
        "a subject that drops a claim is red",
        1,
        "A subject that stops offering something silently loses the cases for it.",
        run_16,
    ),
    case(
        "RUN-17",
        "a stale expectation, waiver or skip is an error",
        1,
        "An excuse that is no longer needed hides the next failure.",
        run_17,
    ),
    case(
        "RUN-19",
        "a hollowed contract (a check made constant-true) is noticed by teeth",
        1,
        "The ledger sees that a check ran, not that it still asks anything.",
        run_19,
    ),
];

/// A run that has to start.
fn started(
    checks: &mut Checks<'_>,
    harness: &mut dyn Harness,
    suite: &Suite,
) -> Result<RunReport, Stop> {
    checks.made(harness.run(suite, CONTROL, &Ask::default()).ok())
}

fn run_01(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let suite = quick(harness);
    let report = started(checks, harness, &suite)?;
    checks.each("every-case-is-green", 20, &report.results, |result| match result.status {
        Status::Ok => Ok(()),
        _ => Err(format!("{} on {}: {:?}", result.id, result.subject, result.failures)),
    });
    Ok(())
}

/// Contracts that read no file. RUN-01, RUN-02 and RUN-07 repeat whole runs in every child of a
/// self-test, so they show their rules on these; the self-test itself holds them for all.
const QUICK: [&str; 2] = ["IDN", "EXT"];

/// The shipped suite without its slow contracts and their modes.
fn quick(harness: &mut dyn Harness) -> Suite {
    let mut suite = harness.suite();
    suite.contracts.retain(|contract| QUICK.contains(&contract.id));
    let is_left = |case: &&str| QUICK.iter().any(|id| case.starts_with(id));
    suite.modes.retain(|mode| mode.must.iter().all(is_left));
    suite
}

fn run_02(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let suite = quick(harness);
    let modes = suite.breaks();
    checks.each("exact-red-set", 25, modes, |mode| {
        let report =
            harness.run(&suite, mode.name, &Ask::default()).map_err(|faults| faults.join("; "))?;
        let exit = Some(harness.exit_of(&suite, mode.name, &report));
        let child = ChildOutcome { exit, report: Some(report), ..ChildOutcome::default() };
        match harness.judge(mode, &child) {
            Verdict::Right => Ok(()),
            wrong => Err(format!("{}: {wrong:?}", mode.name)),
        }
    });
    Ok(())
}

fn run_03(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let refusal = harness.refuse_mode("idn_lowercase");
    let (code, message) = refusal.unwrap_or_default();
    checks.equal("exit-64", &exit::USAGE, &code);
    checks.check("nearest-name", message.contains("idn_lowercases"), "idn_lowercases", || message);
    Ok(())
}

fn run_04(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let suite = harness.suite();
    checks.equal("mode-or-waiver", &Vec::<&str>::new(), &suite.unwaived());
    Ok(())
}

fn run_05(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let suite = harness.suite();
    let subjects = harness.offers();
    let mut pairs = Vec::new();
    for (_, case) in suite.cases() {
        let needs = case.body.needs();
        let able = subjects.iter().filter(|row| needs.is_some_and(|n| row.offers.contains(&n)));
        pairs.extend(able.map(|row| (row.name.clone(), case.id.to_owned())));
    }
    checks.equal("floors", &Vec::<String>::new(), &suite.below_floor(&pairs));
    Ok(())
}

fn run_06(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let suite = harness.suite();
    let (have, floor) = (suite.breaks().count(), suite.mode_floor);
    checks.check("mode-floor", have >= floor, &format!("at least {floor} modes"), || {
        format!("{have} modes")
    });
    Ok(())
}

fn run_07(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let suite = quick(harness);
    let report = started(checks, harness, &suite)?;
    let sites = report
        .results
        .iter()
        .flat_map(|result| result.sites.iter().map(move |site| (result, site)));
    checks.each("every-site-closes-its-ledger", 27, sites, |(result, site)| {
        let ask = Ask {
            case: Some(result.id.clone()),
            subject: Some(result.subject.clone()),
            dial: Dial { dropped: Some(site.clone()), ..Dial::default() },
            ..Ask::default()
        };
        let run = harness.run(&suite, CONTROL, &ask).map_err(|faults| faults.join("; "))?;
        let text = ledger_text(result.declared, result.declared.saturating_sub(1));
        match run.results.as_slice() {
            [one] if one.failures.iter().any(|failure| failure.got == text) => Ok(()),
            other => Err(format!("{site}: {other:?}")),
        }
    });
    Ok(())
}

/// A planted case; the id tells decorators which situation it is.
const fn plant(id: &'static str, checks: u32, body: fn(&mut Checks<'_>) -> CaseEnd) -> Case {
    Case { id, title: "planted", clause: DOC, checks, why: "", body: Body::Free(body) }
}

fn green(checks: &mut Checks<'_>) -> CaseEnd {
    checks.equal("holds", &1, &1);
    Ok(())
}

fn status_of<'r>(report: &'r RunReport, id: &str) -> Option<&'r Status> {
    report.results.iter().find(|result| result.id == id).map(|result| &result.status)
}

fn run_08(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let hollow = [plant("PLANT-HOLLOW", 1, |_| Ok(())), plant("PLANT-EMPTY", 0, |_| Ok(()))];
    let report = started(checks, harness, &planted(&hollow, &[]))?;
    for (label, id, declared) in
        [("returns-early", "PLANT-HOLLOW", 1), ("declares-nothing", "PLANT-EMPTY", 0)]
    {
        let text = ledger_text(declared, 0);
        let result = report.results.iter().find(|result| result.id == id);
        let noticed = result.is_some_and(|result| {
            result.status == Status::Red && result.failures.iter().any(|f| f.got == text)
        });
        checks.check(label, noticed, &text, || format!("{result:?}"));
    }
    Ok(())
}

fn run_09(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let skip = plant("PLANT-SKIP", 1, |_| Err(Stop::Skip("planted".to_owned())));
    let report = started(checks, harness, &planted(&[skip, plant("PLANT-OK", 1, green)], &[]))?;
    let counts = report.counts();
    checks.equal("counted-apart", &(1, 1), &(counts.ok, counts.skip));
    Ok(())
}

fn run_10(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let suite = harness.suite();
    let ids: Vec<&str> = suite.cases().map(|(_, case)| case.id).collect();
    let distinct: BTreeSet<&&str> = ids.iter().collect();
    checks.equal("shipped-ids-are-distinct", &ids.len(), &distinct.len());
    let twice = [plant("PLANT-TWICE", 1, green), plant("PLANT-TWICE", 1, green)];
    let started = harness.run(&planted(&twice, &[]), CONTROL, &Ask::default());
    checks.check(
        "a-copied-row-refuses",
        started.as_ref().is_err_and(|faults| faults.iter().any(|f| f.contains("PLANT-TWICE"))),
        "a refusal that names PLANT-TWICE",
        || format!("{started:?}"),
    );
    Ok(())
}

fn run_11(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let cases = [plant("PLANT-PLAN-1", 1, green), plant("PLANT-PLAN-2", 1, green)];
    let report = started(checks, harness, &planted(&cases, &[]))?;
    checks.check("same-ids", report.follows_plan(), "results as planned", || format!("{report:?}"));
    Ok(())
}

fn run_12(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    // Unwinding without the panic hook, so that a healthy run prints nothing.
    let panics = plant("PLANT-PANIC", 1, |_| std::panic::resume_unwind(Box::new("planted")));
    let report = started(checks, harness, &planted(&[panics, plant("PLANT-NEXT", 1, green)], &[]))?;
    checks.equal("panicking-is-red", &Some(&Status::Red), &status_of(&report, "PLANT-PANIC"));
    checks.equal("the-next-one-runs", &Some(&Status::Ok), &status_of(&report, "PLANT-NEXT"));
    Ok(())
}

fn run_13(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let broken = plant("PLANT-BROKEN", 1, |checks| {
        checks.equal("holds", &1, &2);
        Ok(())
    });
    let mode = Mode {
        name: "planted",
        must: &["PLANT-BROKEN"],
        ..crate::conformance::registry::control()
    };
    let end = harness.self_test(&planted(&[broken], &[mode]));
    checks.equal("exit-4", &exit::BASELINE, &end.exit);
    checks.equal("no-mode-is-judged", &0, &end.judged);
    Ok(())
}

fn run_14(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let suite = harness.suite();
    let mode = checks.made(suite.mode("idn_lowercases"))?;
    let ask = Ask { contract: Some("IDN".to_owned()), ..Ask::default() };
    let report = harness.run(&suite, mode.name, &ask).ok();
    let killed = ChildOutcome { timed_out: true, report, ..ChildOutcome::default() };
    checks.equal("killed-is-no-red", &Verdict::Timeout, &harness.judge(mode, &killed));
    Ok(())
}

/// A case with two sites that one mode trips.
fn bitten() -> Case {
    let body = Body::Keys(|checks, keys| {
        let upper = keys.conversation(&KeyParts::new("codex", "local", "A"));
        let lower = keys.conversation(&KeyParts::new("codex", "local", "a"));
        checks.check("distinct", upper != lower, "two keys", || "one key".to_owned());
        let spelled = upper.as_ref().is_ok_and(|key| key.ends_with(":A"));
        checks.check("spelled", spelled, "a key ending in A", || format!("{upper:?}"));
        Ok(())
    });
    Case { body, checks: 2, ..plant("PLANT-BITTEN", 2, green) }
}

/// The teeth of the planted case, found by running it under its mode.
fn bitten_teeth(
    checks: &mut Checks<'_>,
    harness: &mut dyn Harness,
    weakened: Option<&str>,
) -> Result<Matrix, Stop> {
    let shipped = harness.suite();
    let mode = checks.made(shipped.mode("idn_lowercases"))?;
    let suite = planted(&[bitten()], &[Mode { must: &["PLANT-BITTEN"], ..*mode }]);
    let dial = Dial { weakened: weakened.map(str::to_owned), ..Dial::default() };
    let ask = Ask { dial, ..Ask::default() };
    let baseline = checks.made(harness.run(&suite, CONTROL, &ask).ok())?;
    let mut teeth = Matrix::of_baseline(&baseline);
    teeth.add(mode.name, &checks.made(harness.run(&suite, mode.name, &ask).ok())?);
    Ok(teeth)
}

/// The accepted teeth of the planted case.
fn bitten_golden() -> Matrix {
    let modes = || BTreeSet::from(["idn_lowercases".to_owned()]);
    let sites = ["PLANT-BITTEN/distinct", "PLANT-BITTEN/spelled"];
    Matrix(sites.map(|site| (site.to_owned(), modes())).into())
}

fn run_15(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let teeth = bitten_teeth(checks, harness, None)?;
    let lost = harness.lost_teeth(&bitten_golden(), &teeth);
    checks.equal("no-tooth-is-lost", &Vec::<String>::new(), &lost);
    Ok(())
}

fn run_16(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let pinned = harness.suite().pinned_offers;
    let offers = harness.offers();
    checks.each("offers-are-pinned", 4, &pinned, |(subject, pinned)| {
        let row = offers.iter().find(|row| row.name == *subject);
        let row = row.ok_or_else(|| format!("{subject} is gone"))?;
        let has = |name: &&String| row.offers.iter().any(|offer| offer.as_str() == name.as_str());
        match pinned.iter().find(|name| !has(name)) {
            Some(dropped) => Err(format!("{subject} no longer offers {dropped}")),
            None => Ok(()),
        }
    });
    Ok(())
}

fn run_17(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let suite = harness.suite();
    checks.each("waivers-are-needed", 1, &suite.waivers, |waiver| {
        suite.stale(waiver).map_or(Ok(()), Err)
    });
    Ok(())
}

fn run_19(checks: &mut Checks<'_>, harness: &mut dyn Harness) -> CaseEnd {
    let teeth = bitten_teeth(checks, harness, Some("PLANT-BITTEN/spelled"))?;
    let lost = harness.lost_teeth(&bitten_golden(), &teeth);
    let named = matches!(lost.as_slice(), [one] if one.starts_with("PLANT-BITTEN/spelled"));
    checks.check("the-hollow-site-is-named", named, "PLANT-BITTEN/spelled", || format!("{lost:?}"));
    Ok(())
}
