//! The self-test: the control, every break mode, the ledger sweep, floors, waivers and teeth.
//!
//! The control runs first; when it is not green, nothing else is judged. Then every mode has to
//! redden exactly its declared cases, and every check site, dropped alone, has to redden the
//! ledger of its own case. Where the jobs run (one process each, or this one) is not decided
//! here.

use std::collections::BTreeSet;

use super::check::{Dial, Failure, ledger_text};
use super::contract::{Mode, NONE, Suite, Wrap};
use super::engine::Ask;
use super::judge::{ChildOutcome, Verdict, judge};
use super::options::exit;
use super::outcome::{CaseResult, PlanLine, RunReport, Status};
use super::teeth::{Matrix, lost_teeth, unknown_sites, untoothed_faults};

/// One run that the self-test needs.
#[derive(Debug, Clone, Default)]
pub struct Job {
    /// The mode.
    pub mode: String,
    /// Not this contract.
    pub without: Option<String>,
    /// Only this case.
    pub case: Option<String>,
    /// Only this subject.
    pub subject: Option<String>,
    /// The site to drop.
    pub dropped: Option<String>,
}

impl Job {
    /// The job as a question to the engine, with the default seed.
    pub fn ask(&self) -> Ask {
        Ask {
            subject: self.subject.clone(),
            case: self.case.clone(),
            without: self.without.clone(),
            dial: Dial { dropped: self.dropped.clone(), ..Dial::default() },
            ..Ask::default()
        }
    }
}

/// Runs jobs.
pub trait Launch {
    /// Runs all of them, in parallel where it can; `each` gets the outcomes in the order of the
    /// jobs, as soon as they are known.
    fn launch(&self, jobs: &[Job], each: &mut dyn FnMut(ChildOutcome));

    /// All outcomes at once.
    fn outcomes(&self, jobs: &[Job]) -> Vec<ChildOutcome> {
        let mut outcomes = Vec::with_capacity(jobs.len());
        self.launch(jobs, &mut |outcome| outcomes.push(outcome));
        outcomes
    }
}

/// What a self-test needs.
pub struct SelfTest<'a> {
    /// The registry.
    pub suite: &'a Suite,
    /// The accepted teeth.
    pub golden: &'a Matrix,
    /// Where jobs run.
    pub launch: &'a dyn Launch,
}

/// How a self-test ended.
#[derive(Debug, Clone, Default)]
pub struct SelfTestReport {
    /// One line a step.
    pub results: Vec<CaseResult>,
    /// The exit code.
    pub exit: i32,
    /// How many modes were judged.
    pub judged: usize,
    /// The teeth found.
    pub matrix: Matrix,
    /// Reports by mode, the control first.
    pub reports: Vec<(String, RunReport)>,
}

const RULES: [(&str, &str); 4] = [
    ("rule/floors", "case floors per contract and per subject hold"),
    ("rule/waivers", "every case has a mode or a reasoned waiver, and no waiver is stale"),
    ("rule/untoothed", "every site without a mode gives its reason, and they are not too many"),
    ("rule/teeth", "no check site loses its last mode"),
];

impl SelfTest<'_> {
    /// Every line of the self-test, in order, known before anything runs.
    pub fn plan(&self) -> Vec<PlanLine> {
        let mut plan = vec![step("baseline", "the control is green on every subject")];
        for mode in self.suite.breaks() {
            let title = format!("{} reddens exactly {}", mode.name, mode.must.join(", "));
            plan.push(step(&format!("mode/{}", mode.name), &title));
        }
        for (_, case) in self.suite.cases() {
            let title = format!("each of {} dropped sites reddens its ledger", case.checks);
            plan.push(step(&format!("sweep/{}", case.id), &title));
        }
        plan.extend(RULES.map(|(id, title)| step(id, title)));
        plan
    }

    /// Runs everything; `observe` sees each line as it is decided.
    pub fn run(&self, observe: &mut dyn FnMut(&CaseResult)) -> SelfTestReport {
        let mut book = Book { plan: self.plan(), observe, report: SelfTestReport::default() };
        let control = Job { mode: NONE.to_owned(), ..Job::default() };
        let baseline = self.launch.outcomes(&[control]).pop().unwrap_or_default();
        let faults = baseline_faults(&baseline);
        let timed_out = ran_out(&baseline);
        let (true, Some(base)) = (faults.is_empty(), baseline.report) else {
            if timed_out {
                book.time_out("baseline");
            } else {
                book.decide("baseline", faults);
            }
            book.skip_rest("the control is not green, so nothing else is judged");
            book.report.exit = baseline_exit(baseline.unstarted, timed_out);
            return book.report;
        };
        book.decide("baseline", Vec::new());
        book.report.matrix = Matrix::of_baseline(&base);
        self.judge_modes(&mut book);
        self.sweep(&base, &mut book);
        self.judge_rules(&base, &mut book);
        book.report.reports.insert(0, (NONE.to_owned(), base));
        book.report.exit = book.exit();
        book.report
    }

    fn judge_modes(&self, book: &mut Book<'_>) {
        let modes: Vec<&Mode> = self.suite.breaks().collect();
        let jobs: Vec<Job> = modes.iter().map(|mode| job_of(mode)).collect();
        let mut modes = modes.into_iter();
        self.launch.launch(&jobs, &mut |child| {
            if let Some(mode) = modes.next() {
                book.judge(mode, child);
            }
        });
    }

    fn sweep(&self, base: &RunReport, book: &mut Book<'_>) {
        let mut jobs = Vec::new();
        for result in &base.results {
            jobs.extend(result.sites.iter().map(|site| Job {
                mode: NONE.to_owned(),
                case: Some(result.id.clone()),
                subject: Some(result.subject.clone()).filter(|subject| !subject.is_empty()),
                dropped: Some(site.clone()),
                ..Job::default()
            }));
        }
        let outcomes = self.launch.outcomes(&jobs);
        for (_, case) in self.suite.cases() {
            let id = format!("sweep/{}", case.id);
            let swept = jobs.iter().zip(&outcomes);
            let mine: Vec<_> =
                swept.filter(|(job, _)| job.case.as_deref() == Some(case.id)).collect();
            if mine.iter().any(|(_, child)| ran_out(child)) {
                book.time_out(&id);
                continue;
            }
            let mut faults: Vec<String> =
                mine.iter().filter_map(|(job, child)| sweep_fault(job, child)).collect();
            if mine.is_empty() {
                faults.push("no site of this case ran under the control".to_owned());
            }
            book.decide(&id, faults);
        }
    }

    fn judge_rules(&self, base: &RunReport, book: &mut Book<'_>) {
        book.decide("rule/floors", self.suite.below_floor(&base.pairs()));
        let unwaived = self.suite.unwaived().into_iter();
        let mut waivers: Vec<String> =
            unwaived.map(|case| format!("{case} has neither a mode nor a waiver")).collect();
        waivers.extend(self.suite.waivers.iter().filter_map(|waiver| self.suite.stale(waiver)));
        book.decide("rule/waivers", waivers);
        let matrix = book.report.matrix.clone();
        book.decide("rule/untoothed", untoothed_faults(self.suite, &matrix));
        let mut teeth = lost_teeth(self.golden, &matrix);
        teeth.extend(unknown_sites(self.golden, &matrix));
        book.decide("rule/teeth", teeth);
    }
}

fn step(id: &str, title: &str) -> PlanLine {
    PlanLine {
        id: id.to_owned(),
        title: title.to_owned(),
        subject: String::new(),
        clause: "docs/conformance.md: the self-test".to_owned(),
    }
}

/// Whether a child was killed at its deadline, or says itself that a case passed one.
fn ran_out(child: &ChildOutcome) -> bool {
    child.timed_out || child.exit == Some(exit::TIMEOUT)
}

fn baseline_exit(unstarted: bool, timed_out: bool) -> i32 {
    match (unstarted, timed_out) {
        (true, _) => exit::INTERNAL,
        (false, true) => exit::TIMEOUT,
        (false, false) => exit::BASELINE,
    }
}

fn baseline_faults(child: &ChildOutcome) -> Vec<String> {
    let mut faults: Vec<String> = child.fault.iter().cloned().collect();
    if child.timed_out {
        faults.push("the control ran out of time".to_owned());
    }
    if child.exit != Some(exit::OK) {
        let reds: BTreeSet<&str> = child.report.as_ref().map(RunReport::reds).unwrap_or_default();
        let reds: Vec<&str> = reds.into_iter().collect();
        let code = child.exit.map_or("a signal".to_owned(), |code| code.to_string());
        faults.push(format!("the control ended with {code}; red: {}", reds.join(", ")));
    }
    match &child.report {
        Some(report) if report.results.is_empty() => faults.push("nothing ran".to_owned()),
        Some(report) if !report.follows_plan() => {
            faults.push("plan and results differ".to_owned());
        }
        Some(_) => {}
        None => faults.push("the control printed no complete report".to_owned()),
    }
    faults
}

/// A child under a mode. RUN drives nested runners whose subjects no other mode touches, and takes
/// longer than all the rest, so only its own modes run it.
fn job_of(mode: &Mode) -> Job {
    let is_its_own = matches!(mode.wrap, Wrap::Runner(_) | Wrap::Nothing);
    let without = (!is_its_own).then(|| "RUN".to_owned());
    Job { mode: mode.name.to_owned(), without, ..Job::default() }
}

/// Why a dropped site was not noticed the way it has to be.
fn sweep_fault(job: &Job, child: &ChildOutcome) -> Option<String> {
    let site = job.dropped.as_deref().unwrap_or_default();
    if child.exit != Some(exit::RED) {
        return Some(format!("{site}: exit {:?}, not 1", child.exit));
    }
    let report = child.report.as_ref()?;
    let [result] = report.results.as_slice() else {
        return Some(format!("{site}: {} cases ran, not 1", report.results.len()));
    };
    let text = ledger_text(result.declared, result.declared.saturating_sub(1));
    let closed = result.failures.iter().any(|failure| failure.got == text);
    (!closed).then(|| format!("{site}: no failure says {text:?}"))
}

/// Collects lines in plan order.
struct Book<'o> {
    plan: Vec<PlanLine>,
    observe: &'o mut dyn FnMut(&CaseResult),
    report: SelfTestReport,
}

impl Book<'_> {
    fn decide(&mut self, id: &str, faults: Vec<String>) {
        let status = if faults.is_empty() { Status::Ok } else { Status::Red };
        let failures = faults
            .into_iter()
            .map(|got| Failure { site: id.to_owned(), expected: "the rule holds".to_owned(), got })
            .collect();
        self.write(id, status, failures);
    }

    fn judge(&mut self, mode: &Mode, child: ChildOutcome) {
        self.report.judged += 1;
        let id = format!("mode/{}", mode.name);
        match judge(mode, &child) {
            Verdict::Right => self.decide(&id, Vec::new()),
            Verdict::Wrong(faults) => self.decide(&id, faults),
            Verdict::Timeout => self.time_out(&id),
        }
        if let Some(report) = child.report {
            self.report.matrix.add(mode.name, &report);
            self.report.reports.push((mode.name.to_owned(), report));
        }
    }

    fn time_out(&mut self, id: &str) {
        let failure = Failure {
            site: id.to_owned(),
            expected: "an answer before the deadline".to_owned(),
            got: "the child was killed; that is no red".to_owned(),
        };
        self.write(id, Status::Timeout, vec![failure]);
    }

    fn write(&mut self, id: &str, status: Status, failures: Vec<Failure>) {
        if let Some(line) = self.plan.iter().find(|line| line.id == id) {
            let result = CaseResult::of(line, status, failures);
            (self.observe)(&result);
            self.report.results.push(result);
        }
    }

    fn skip_rest(&mut self, reason: &str) {
        let decided = self.report.results.len();
        let rest: Vec<String> = self.plan.iter().skip(decided).map(|l| l.id.clone()).collect();
        for id in rest {
            self.write(&id, Status::Skip(reason.to_owned()), Vec::new());
        }
    }

    fn exit(&self) -> i32 {
        let has = |status: &Status| self.report.results.iter().any(|r| r.status == *status);
        match (has(&Status::Red), has(&Status::Timeout)) {
            (true, _) => exit::META,
            (false, true) => exit::TIMEOUT,
            (false, false) => exit::OK,
        }
    }
}

#[cfg(test)]
mod tests;
