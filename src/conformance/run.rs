//! The command: refuses unknown names, lists, explains, runs one mode, or the self-test.
//!
//! With a folder to write into, the plan is on disk before any case runs, results follow one by
//! one, and a self-test leaves its teeth and its coverage.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use super::check::Dial;
use super::contract::Suite;
use super::engine::{Ask, Engine};
use super::listing::{coverage, coverage_text, explained, explained_text, listed, listed_text};
use super::options::{Action, Format, Options, exit, exit_code, is_site_of, unknown, usage_fault};
use super::outcome::{CaseResult, PlanLine, RunReport};
use super::process::{Processes, Scratch};
use super::registry::{TEETH, suite};
use super::report::{Head, Many, Reporter, Summary, reporter};
use super::selftest::{SelfTest, SelfTestReport};
use super::subjects::SubjectFactory;
use super::teeth::Matrix;

/// Why nothing, or not everything, was run.
#[derive(Debug)]
pub enum Refusal {
    /// The request names something that does not exist.
    Usage(String),
    /// The runner itself is at fault.
    Internal(String),
    /// Output could not be written.
    Io(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Does what is asked and gives the exit code.
///
/// # Errors
/// A refusal; its kind says which exit code it has.
pub fn run(
    options: &Options,
    factory: &dyn SubjectFactory,
    out: &mut dyn Write,
) -> Result<i32, Refusal> {
    let suite = suite();
    let faults = suite.faults();
    if !faults.is_empty() {
        return Err(Refusal::Internal(faults.join("; ")));
    }
    let engine = Engine::new(factory);
    let golden = Matrix::from_json(TEETH).map_err(Refusal::Internal)?;
    if let Some(fault) = usage_fault(options, &suite, &engine.subjects(), &golden) {
        return Err(Refusal::Usage(fault));
    }
    let as_json = options.format == Format::Jsonl;
    match &options.action {
        Action::Run => one_mode(options, &suite, &engine, out),
        Action::SelfTest => self_test(options, &suite, &golden, out),
        Action::List(what) if as_json => {
            say(out, &format!("{}\n", listed(*what, &suite, &engine.subjects())))
        }
        Action::List(what) => say(out, &listed_text(*what, &suite, &engine.subjects())),
        Action::Explain(name) if as_json => {
            say(out, &format!("{}\n", explained(name, &suite).map_err(Refusal::Usage)?))
        }
        Action::Explain(name) => say(out, &explained_text(name, &suite).map_err(Refusal::Usage)?),
        Action::Coverage if as_json => say(out, &format!("{}\n", coverage(&suite, &golden))),
        Action::Coverage => say(out, &coverage_text(&suite, &golden)),
    }
}

fn say(out: &mut dyn Write, text: &str) -> Result<i32, Refusal> {
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(exit::OK)
}

fn one_mode(
    options: &Options,
    suite: &Suite,
    engine: &Engine<'_>,
    out: &mut dyn Write,
) -> Result<i32, Refusal> {
    let Some(mode) = suite.mode(&options.mode) else {
        return Err(Refusal::Usage(super::options::unknown_mode(suite, &options.mode)));
    };
    let ask = Ask {
        subject: options.subject.clone(),
        contract: options.contract.clone(),
        without: options.without.clone(),
        case: options.case.clone(),
        dial: Dial { dropped: options.drop_site.clone(), seed: options.seed, ..Dial::default() },
        case_deadline: Some(Duration::from_millis(options.timeout_ms)),
        skip_must_fail: options.skip_must_fail,
    };
    let planned = engine.plan(suite, &ask);
    if planned.is_empty() {
        return Err(Refusal::Usage("no case is left: the filters exclude each other".to_owned()));
    }
    let head = Head { mode: options.mode.clone(), seed: options.seed, is_self_test: false };
    let plan: Vec<PlanLine> = planned.iter().map(|one| one.line.clone()).collect();
    let mut told = begin(options, &head, &plan, out)?;
    let report = observed(&mut told, |observe| engine.run(&planned, mode, &ask, observe))?;
    let exit = exit_code(mode, &report);
    told.end(&Summary { counts: report.counts(), fired: report.fired, exit })?;
    drop(told);
    match unmet_drop(options, &report) {
        Some(fault) => Err(Refusal::Usage(fault)),
        None => Ok(exit),
    }
}

/// A site that was to be dropped and is not there.
fn unmet_drop(options: &Options, report: &RunReport) -> Option<String> {
    let site = options.drop_site.as_deref()?;
    let result = report.results.iter().find(|result| is_site_of(site, &result.id));
    let Some(result) = result else {
        return Some(format!("no case with a site {site:?} ran"));
    };
    let all_ran = u32::try_from(result.sites.len()).ok() == Some(result.declared);
    all_ran.then(|| unknown("site", site, result.sites.iter().map(String::as_str)))
}

fn self_test(
    options: &Options,
    suite: &Suite,
    golden: &Matrix,
    out: &mut dyn Write,
) -> Result<i32, Refusal> {
    let scratch = Scratch::below(&options.scratch)?;
    let launch = Processes::new(options, scratch.path());
    let test = SelfTest { suite, golden, launch: &launch };
    let mode = super::contract::NONE.to_owned();
    let head = Head { mode, seed: options.seed, is_self_test: true };
    let mut told = begin(options, &head, &test.plan(), out)?;
    let report = observed(&mut told, |observe| test.run(observe))?;
    let as_run = RunReport { results: report.results.clone(), ..RunReport::default() };
    let mut counts = as_run.counts();
    // The checks of a self-test are those of the control run.
    if let Some((_, control)) = report.reports.first() {
        counts.checks_made = control.counts().checks_made;
        counts.checks_expected = control.counts().checks_expected;
    }
    told.end(&Summary { counts, fired: 0, exit: report.exit })?;
    if let Some(folder) = &options.out {
        leave_self_test(folder, options, suite, &report)?;
    }
    Ok(report.exit)
}

/// Runs with each result told as it comes; the first error of telling it wins.
fn observed<T>(
    told: &mut Many<'_>,
    work: impl FnOnce(&mut dyn FnMut(&CaseResult)) -> T,
) -> io::Result<T> {
    let failed = RefCell::new(None);
    let done = work(&mut |result| {
        if let Err(error) = told.result(result) {
            failed.borrow_mut().get_or_insert(error);
        }
    });
    match failed.into_inner() {
        Some(error) => Err(error),
        None => Ok(done),
    }
}

/// Begins to tell a run: on `out`, and into the folder when there is one.
fn begin<'w>(
    options: &Options,
    head: &Head,
    plan: &[PlanLine],
    out: &'w mut dyn Write,
) -> io::Result<Many<'w>> {
    let mut many = Many(vec![reporter(options.format, Box::new(out))]);
    if let Some(folder) = &options.out {
        fs::create_dir_all(folder.join("modes"))?;
        fs::write(folder.join("plan.json"), format!("{}\n", serde_json::to_string(plan)?))?;
        let results = File::create(folder.join("results.jsonl"))?;
        many.0.push(reporter(Format::Jsonl, Box::new(results)));
        if !head.is_self_test {
            let tap = File::create(folder.join(mode_file(&head.mode)))?;
            many.0.push(reporter(Format::Tap, Box::new(tap)));
        }
    }
    many.plan(head, plan)?;
    Ok(many)
}

fn mode_file(mode: &str) -> String {
    format!("modes/{mode}.tap")
}

/// What a self-test leaves: what each mode did, the teeth found, the coverage.
fn leave_self_test(
    folder: &Path,
    options: &Options,
    suite: &Suite,
    report: &SelfTestReport,
) -> io::Result<()> {
    for (mode, run) in &report.reports {
        let head = Head { mode: mode.clone(), seed: options.seed, is_self_test: false };
        let file = File::create(folder.join(mode_file(mode)))?;
        let mut tap = reporter(Format::Tap, Box::new(io::BufWriter::new(file)));
        tap.plan(&head, &run.plan)?;
        run.results.iter().try_for_each(|result| tap.result(result))?;
        let exit = suite.mode(mode).map_or(exit::INTERNAL, |mode| exit_code(mode, run));
        tap.end(&Summary { counts: run.counts(), fired: run.fired, exit })?;
    }
    fs::write(folder.join("teeth.json"), report.matrix.to_json())?;
    fs::write(folder.join("coverage.md"), coverage_text(suite, &report.matrix))
}
