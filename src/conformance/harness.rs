//! The runner as a subject: what the RUN contract asks of it, and the real one behind it.
//!
//! RUN cases drive a nested runner over the shipped registry or over a planted suite; run modes
//! are decorators around this trait, like every other mode around its port. The nested runner
//! leaves the RUN contract out, so nothing here starts itself again.

use std::collections::BTreeMap;

use super::contract::{Case, Contract, Mode, NONE, Suite};
use super::engine::{Ask, Engine};
use super::judge::{ChildOutcome, Verdict, judge};
use super::options::{exit, exit_code, unknown_mode};
use super::outcome::RunReport;
use super::registry::{control, suite};
use super::selftest::{Job, Launch, SelfTest};
use super::subjects::{SubjectFactory, SubjectRow};
use super::teeth::{Matrix, lost_teeth};

/// The contract id of planted suites.
pub const PLANT: &str = "PLANT";

/// How a nested self-test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelfTestEnd {
    /// Its exit code.
    pub exit: i32,
    /// How many modes were judged.
    pub judged: usize,
}

/// What the RUN contract asks of a runner.
pub trait Harness {
    /// The registry as shipped.
    fn suite(&mut self) -> Suite;

    /// The subjects and their offers, the runner included.
    fn offers(&mut self) -> Vec<SubjectRow>;

    /// Runs a suite in this process; refuses one with faults.
    fn run(&mut self, suite: &Suite, mode: &str, ask: &Ask) -> Result<RunReport, Vec<String>>;

    /// The exit code that a run with this report has.
    fn exit_of(&mut self, suite: &Suite, mode: &str, report: &RunReport) -> i32;

    /// Judges what a child left behind under a mode.
    fn judge(&mut self, mode: &Mode, child: &ChildOutcome) -> Verdict;

    /// A whole self-test of the suite, in this process.
    fn self_test(&mut self, suite: &Suite) -> SelfTestEnd;

    /// Sites that lost their last mode.
    fn lost_teeth(&mut self, golden: &Matrix, current: &Matrix) -> Vec<String>;

    /// The refusal of a mode name: exit code and message; none when the name is known.
    fn refuse_mode(&mut self, name: &str) -> Option<(i32, String)>;
}

/// The shipping runner.
pub struct LiveHarness<'a> {
    factory: &'a dyn SubjectFactory,
}

impl<'a> LiveHarness<'a> {
    /// The runner over a factory's subjects.
    pub fn new(factory: &'a dyn SubjectFactory) -> Self {
        Self { factory }
    }
}

impl Harness for LiveHarness<'_> {
    fn suite(&mut self) -> Suite {
        suite()
    }

    fn offers(&mut self) -> Vec<SubjectRow> {
        Engine::new(self.factory).subjects()
    }

    fn run(&mut self, suite: &Suite, mode: &str, ask: &Ask) -> Result<RunReport, Vec<String>> {
        let faults = suite.faults();
        if !faults.is_empty() {
            return Err(faults);
        }
        let mode = suite.mode(mode).ok_or_else(|| vec![unknown_mode(suite, mode)])?;
        let engine = Engine::nested(self.factory);
        let plan = engine.plan(suite, ask);
        Ok(engine.run(&plan, mode, ask, &mut |_| {}))
    }

    fn exit_of(&mut self, suite: &Suite, mode: &str, report: &RunReport) -> i32 {
        suite.mode(mode).map_or(exit::USAGE, |mode| exit_code(mode, report))
    }

    fn judge(&mut self, mode: &Mode, child: &ChildOutcome) -> Verdict {
        judge(mode, child)
    }

    fn self_test(&mut self, suite: &Suite) -> SelfTestEnd {
        let launch = InProcess { factory: self.factory, suite };
        let golden = Matrix::default();
        let end = SelfTest { suite, golden: &golden, launch: &launch }.run(&mut |_| {});
        SelfTestEnd { exit: end.exit, judged: end.judged }
    }

    fn lost_teeth(&mut self, golden: &Matrix, current: &Matrix) -> Vec<String> {
        lost_teeth(golden, current)
    }

    fn refuse_mode(&mut self, name: &str) -> Option<(i32, String)> {
        let suite = suite();
        suite.mode(name).is_none().then(|| (exit::USAGE, unknown_mode(&suite, name)))
    }
}

/// Runs self-test jobs in this process, one after the other, without the RUN contract.
pub struct InProcess<'a> {
    /// Where the subjects come from.
    pub factory: &'a dyn SubjectFactory,
    /// What is tested.
    pub suite: &'a Suite,
}

impl Launch for InProcess<'_> {
    fn launch(&self, jobs: &[Job], each: &mut dyn FnMut(ChildOutcome)) {
        jobs.iter().for_each(|job| each(self.one(job)));
    }
}

impl InProcess<'_> {
    fn one(&self, job: &Job) -> ChildOutcome {
        let Some(mode) = self.suite.mode(&job.mode) else {
            return ChildOutcome { exit: Some(exit::USAGE), ..ChildOutcome::default() };
        };
        let engine = Engine::nested(self.factory);
        let ask = job.ask();
        let plan = engine.plan(self.suite, &ask);
        let report = engine.run(&plan, mode, &ask, &mut |_| {});
        let exit = Some(exit_code(mode, &report));
        ChildOutcome { exit, report: Some(report), ..ChildOutcome::default() }
    }
}

/// A suite of planted cases, with the control and the given modes.
pub fn planted(cases: &[Case], modes: &[Mode]) -> Suite {
    Suite {
        contracts: vec![Contract { id: PLANT, title: "planted", cases: cases.to_vec(), floor: 0 }],
        modes: std::iter::once(control()).chain(modes.iter().copied()).collect(),
        waivers: Vec::new(),
        untoothed: Vec::new(),
        untoothed_ceiling: 0,
        mode_floor: 0,
        subject_floors: Vec::new(),
        pinned_offers: BTreeMap::new(),
    }
}

/// Whether the suite holds a planted case of this id.
pub fn has_plant(suite: &Suite, id: &str) -> bool {
    suite.cases().any(|(contract, case)| contract == PLANT && case.id == id)
}

/// The name of the control, for callers that only know this module.
pub const CONTROL: &str = NONE;
