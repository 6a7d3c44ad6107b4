//! The engine over the domain's own subjects and the reference reader, in this process.

use super::*;
use crate::conformance::builtin::BuiltinSubjects;
use crate::conformance::check::Stop;
use crate::conformance::contract::NONE;
use crate::conformance::harness::planted;
use crate::conformance::reference::{ReferenceProbe, ReferenceResolver};
use crate::conformance::registry::{control, suite};

const SUBJECTS: BuiltinSubjects = BuiltinSubjects {
    native: || Box::new(ReferenceProbe),
    resolver: || Box::<ReferenceResolver>::default(),
};

fn free(id: &'static str, body: fn(&mut Checks<'_>) -> CaseEnd) -> Case {
    Case { id, title: "planted", clause: "", checks: 1, why: "", body: Body::Free(body) }
}

fn holds(checks: &mut Checks<'_>) -> CaseEnd {
    checks.equal("holds", &1, &1);
    Ok(())
}

fn run_planted(cases: &[Case], ask: &Ask) -> RunReport {
    let suite = planted(cases, &[]);
    let engine = Engine::nested(&SUBJECTS);
    let plan = engine.plan(&suite, ask);
    engine.run(&plan, &control(), ask, &mut |_| {})
}

#[test]
fn the_control_is_green_over_the_reference_reader() {
    let suite = suite();
    let engine = Engine::nested(&SUBJECTS);
    let ask = Ask::default();
    let report = engine.run(&engine.plan(&suite, &ask), &control(), &ask, &mut |_| {});
    assert_eq!(report.reds().into_iter().collect::<Vec<_>>(), Vec::<&str>::new());
    assert_eq!(report.counts().ok, 58);
    assert_eq!(report.counts().checks_made, report.counts().checks_expected);
    assert_eq!(report.fired, 0);
}

#[test]
fn another_seed_keeps_the_properties() {
    let suite = suite();
    let engine = Engine::nested(&SUBJECTS);
    for seed in 1..20 {
        let dial = Dial { seed, ..Dial::default() };
        let ask = Ask { case: Some("IDN-10".to_owned()), dial, ..Ask::default() };
        let report = engine.run(&engine.plan(&suite, &ask), &control(), &ask, &mut |_| {});
        assert_eq!(report.counts().ok, 1, "seed {seed}: {report:?}");
    }
}

#[test]
fn filters_narrow_the_plan() {
    let suite = suite();
    let engine = Engine::new(&SUBJECTS);
    let planned = |ask: &Ask| engine.plan(&suite, ask).len();
    assert_eq!(planned(&Ask::default()), 76);
    let only = |subject: Option<&str>, contract: Option<&str>, case: Option<&str>| Ask {
        subject: subject.map(str::to_owned),
        contract: contract.map(str::to_owned),
        case: case.map(str::to_owned),
        ..Ask::default()
    };
    assert_eq!(planned(&only(Some("builtin:codex-rollout"), None, None)), 4);
    assert_eq!(planned(&only(None, Some("ext"), None)), 14);
    assert_eq!(planned(&only(None, None, Some("IDN-0?"))), 9);
    assert_eq!(planned(&only(Some("builtin:keys"), Some("EXT"), None)), 0);
}

#[test]
fn a_panic_is_red_and_the_next_case_runs() {
    let panics = free("PLANT-1", |_| std::panic::resume_unwind(Box::new("planted".to_owned())));
    let report = run_planted(&[panics, free("PLANT-2", holds)], &Ask::default());
    assert_eq!(report.results[0].failures[0].got, "panicked: planted");
    assert_eq!(report.results[1].status, Status::Ok);
}

#[test]
fn a_case_over_its_deadline_is_a_timeout_even_when_it_is_red_as_well() {
    let slow = free("PLANT-1", |checks| {
        std::thread::sleep(Duration::from_millis(5));
        checks.equal("holds", &1, &2);
        Ok(())
    });
    let ask = Ask { case_deadline: Some(Duration::from_millis(1)), ..Ask::default() };
    assert_eq!(run_planted(&[slow], &ask).results[0].status, Status::Timeout);
}

#[test]
fn a_skip_is_red_only_when_that_is_asked_for() {
    let skips = free("PLANT-1", |_| Err(Stop::Skip("no clock".to_owned())));
    let report = run_planted(&[skips], &Ask::default());
    assert_eq!(report.results[0].status, Status::Skip("no clock".to_owned()));
    let strict = Ask { skip_must_fail: true, ..Ask::default() };
    let report = run_planted(&[skips], &strict);
    assert_eq!(report.results[0].status, Status::Red);
    assert_eq!(report.results[0].failures[0].got, "no clock");
}

#[test]
fn every_mode_of_a_subject_reddens_its_cases_on_the_reference_reader_too() {
    let suite = suite();
    let engine = Engine::nested(&SUBJECTS);
    let ask = Ask::default();
    let plan = engine.plan(&suite, &ask);
    let mut judged = 0;
    let is_offered = |mode: &&Mode| {
        !matches!(
            mode.wrap,
            Wrap::Decoder(_)
                | Wrap::Tail(_)
                | Wrap::Normalizer(_)
                | Wrap::Hook(_)
                | Wrap::Runner(_)
                | Wrap::Nothing
        )
    };
    for mode in suite.breaks().filter(is_offered) {
        let report = engine.run(&plan, mode, &ask, &mut |_| {});
        assert_eq!(report.reds().into_iter().collect::<Vec<_>>(), mode.must, "{}", mode.name);
        assert!(report.fired > 0, "{}", mode.name);
        judged += 1;
    }
    assert_eq!((judged, suite.mode(NONE).is_some()), (55, true));
}
