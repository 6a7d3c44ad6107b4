//! What a self-test concludes, over children whose answers are made up or come from this process.

use super::*;
use crate::conformance::check::{CaseEnd, Checks};
use crate::conformance::contract::{Body, Case, Wrap};
use crate::conformance::harness::{InProcess, planted};
use crate::conformance::reference::{ReferenceProbe, ReferenceResolver};
use crate::conformance::registry::control;
use crate::conformance::subjects::{KeyCodec, KeyParts};
use crate::conformance::subjects::{NativeProbe, SubjectFactory};
use crate::conformance::{builtin::BuiltinSubjects, modes};

const SUBJECTS: BuiltinSubjects = BuiltinSubjects {
    native: || Box::new(ReferenceProbe) as Box<dyn NativeProbe>,
    resolver: || Box::<ReferenceResolver>::default(),
};

fn keeps_case(checks: &mut Checks<'_>, keys: &mut dyn KeyCodec) -> CaseEnd {
    let key = keys.conversation(&KeyParts::new("codex", "local", "A"));
    checks.check("kept", key.is_ok_and(|key| key.ends_with(":A")), "A", || "a".to_owned());
    Ok(())
}

fn case() -> Case {
    Case {
        id: "PLANT-1",
        title: "planted",
        clause: "",
        checks: 1,
        why: "",
        body: Body::Keys(keeps_case),
    }
}

fn lowercases() -> Mode {
    let shipped = modes::idn::MODES.iter().find(|mode| mode.name == "idn_lowercases").unwrap();
    Mode { must: &["PLANT-1"], ..*shipped }
}

fn golden() -> Matrix {
    Matrix::from_json("{\"version\":1,\"sites\":{\"PLANT-1/kept\":[\"idn_lowercases\"]}}").unwrap()
}

/// The self-test of a suite in this process, some outcomes replaced.
struct Doctored<'a> {
    suite: &'a Suite,
    change: fn(&Job, &mut ChildOutcome),
}

impl Launch for Doctored<'_> {
    fn launch(&self, jobs: &[Job], each: &mut dyn FnMut(ChildOutcome)) {
        let factory: &dyn SubjectFactory = &SUBJECTS;
        let outcomes = InProcess { factory, suite: self.suite }.outcomes(jobs);
        for (job, mut outcome) in jobs.iter().zip(outcomes) {
            (self.change)(job, &mut outcome);
            each(outcome);
        }
    }
}

fn tested(suite: &Suite, change: fn(&Job, &mut ChildOutcome)) -> SelfTestReport {
    let launch = Doctored { suite, change };
    let test = SelfTest { suite, golden: &golden(), launch: &launch };
    let report = test.run(&mut |_| {});
    let planned: Vec<_> = test.plan().into_iter().map(|line| line.id).collect();
    let decided: Vec<_> = report.results.iter().map(|result| result.id.clone()).collect();
    assert_eq!(planned, decided, "every planned line is decided, in order");
    report
}

fn reds(report: &SelfTestReport) -> Vec<(&str, &str)> {
    let red = report.results.iter().filter(|result| result.status == Status::Red);
    red.map(|result| (result.id.as_str(), result.failures[0].got.as_str())).collect()
}

fn suite() -> Suite {
    planted(&[case()], &[lowercases()])
}

#[test]
fn a_suite_whose_mode_bites_passes() {
    let report = tested(&suite(), |_, _| {});
    assert_eq!(reds(&report), []);
    assert_eq!((report.exit, report.judged), (exit::OK, 1));
    assert_eq!(report.matrix, golden());
}

#[test]
fn a_red_control_ends_the_test_before_any_mode() {
    let broken = Case { checks: 2, ..case() };
    let report = tested(&planted(&[broken], &[lowercases()]), |_, _| {});
    assert_eq!((report.exit, report.judged), (exit::BASELINE, 0));
    let skipped = report.results.iter().filter(|r| matches!(r.status, Status::Skip(_))).count();
    assert_eq!(skipped, report.results.len() - 1);
}

#[test]
fn an_inert_mode_is_a_meta_failure() {
    let inert = Mode { wrap: Wrap::Nothing, ..lowercases() };
    let report = tested(&planted(&[case()], &[inert]), |_, _| {});
    assert_eq!(report.exit, exit::META);
    assert_eq!(reds(&report)[0].0, "mode/idn_lowercases");
}

#[test]
fn a_killed_mode_is_a_timeout_and_no_red() {
    let report = tested(&suite(), |job, child| {
        if job.mode != NONE {
            child.timed_out = true;
        }
    });
    let killed = report.results.iter().find(|r| r.id == "mode/idn_lowercases").unwrap();
    assert_eq!(killed.status, Status::Timeout);
    assert_eq!((reds(&report), report.exit), (Vec::new(), exit::TIMEOUT));
}

#[test]
fn a_control_that_runs_out_of_time_or_cannot_start_has_its_own_code() {
    let late = tested(&suite(), |_, child| child.timed_out = true);
    assert_eq!((late.exit, reds(&late)), (exit::TIMEOUT, Vec::new()));
    let missing = tested(&suite(), |_, child| {
        *child = ChildOutcome {
            unstarted: true,
            fault: Some("no such program".to_owned()),
            ..ChildOutcome::default()
        };
    });
    assert_eq!(missing.exit, exit::INTERNAL);
}

#[test]
fn a_dropped_site_that_nobody_misses_is_a_meta_failure() {
    let report = tested(&suite(), |job, child| {
        if job.dropped.is_some() {
            child.exit = Some(exit::OK);
        }
    });
    assert_eq!(reds(&report), [("sweep/PLANT-1", "PLANT-1/kept: exit Some(0), not 1")]);
    assert_eq!(report.exit, exit::META);
}

#[test]
fn a_red_for_another_reason_than_the_ledger_is_not_accepted_by_the_sweep() {
    let report = tested(&suite(), |job, child| {
        if job.dropped.is_some() {
            let results = &mut child.report.as_mut().unwrap().results;
            results[0].failures[0].got = "something else".to_owned();
        }
    });
    assert_eq!(
        reds(&report),
        [("sweep/PLANT-1", "PLANT-1/kept: no failure says \"ledger: expected 1, ran 0\"")]
    );
}

#[test]
fn floors_waivers_and_teeth_are_rules_of_their_own() {
    let mut shrunk = suite();
    shrunk.contracts[0].floor = 2;
    assert_eq!(reds(&tested(&shrunk, |_, _| {})), [("rule/floors", "PLANT: 1 cases, floor 2")]);

    let bare = planted(&[case()], &[]);
    let report = tested(&bare, |_, _| {});
    let rules: Vec<_> = reds(&report).into_iter().map(|(id, _)| id).collect();
    assert_eq!(rules, ["rule/waivers", "rule/untoothed", "rule/teeth"]);
    assert_eq!(report.exit, exit::META);
}

#[test]
fn the_control_has_no_defect() {
    assert_eq!(control().name, NONE);
    assert!(matches!(control().wrap, Wrap::Nothing));
}
