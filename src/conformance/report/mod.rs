//! How a run is told: TAP, JSON lines, or text for a terminal; several at once.
//!
//! Every reporter gets the plan before anything runs, then each result as it comes, then the
//! summary. What is told is the same; only `jsonl` is read back, by the self-test.

pub mod human;
pub mod jsonl;
pub mod tap;

use std::io::{self, Write};

use super::contract::NONE;
use super::options::Format;
use super::outcome::{CaseResult, Counts, PlanLine};

/// What is being run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The break mode, or `none`.
    pub mode: String,
    /// The seed of property cases.
    pub seed: u64,
    /// Whether the lines are steps of a self-test instead of cases.
    pub is_self_test: bool,
}

impl Head {
    /// The command that repeats this line alone.
    pub fn repro(&self, result: &CaseResult) -> String {
        let mut words = vec!["fornax conformance".to_owned()];
        match result.id.split_once('/') {
            Some(("mode", name)) => words.push(format!("--mode {name}")),
            Some(("sweep", case)) => {
                let site = result.failures.first().and_then(|failure| failure.got.split_once(": "));
                words.push(format!("--case {case}"));
                words.extend(site.map(|(site, _)| format!("--drop-site {site}")));
            }
            _ if self.is_self_test && result.id != "baseline" => {
                words.push("--self-test".to_owned());
            }
            _ => {}
        }
        if !result.subject.is_empty() {
            words.push(format!("--subject {} --case {}", result.subject, result.id));
        }
        if self.mode != NONE {
            words.push(format!("--mode {}", self.mode));
        }
        if self.seed != super::options::DEFAULT_SEED {
            words.push(format!("--seed {}", self.seed));
        }
        words.join(" ")
    }

    /// `none`, the mode, or `self-test`.
    pub fn name(&self) -> &str {
        if self.is_self_test { "self-test" } else { &self.mode }
    }
}

/// How a run went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// The results by status.
    pub counts: Counts,
    /// How often the mode changed an answer.
    pub fired: u64,
    /// The exit code.
    pub exit: i32,
}

/// Tells a run.
pub trait Reporter {
    /// Everything that is going to run.
    fn plan(&mut self, head: &Head, plan: &[PlanLine]) -> io::Result<()>;

    /// One result.
    fn result(&mut self, result: &CaseResult) -> io::Result<()>;

    /// The end.
    fn end(&mut self, summary: &Summary) -> io::Result<()>;
}

/// A reporter of that format.
pub fn reporter<'w>(format: Format, out: Box<dyn Write + 'w>) -> Box<dyn Reporter + 'w> {
    match format {
        Format::Tap => Box::new(tap::Tap::new(out)),
        Format::Jsonl => Box::new(jsonl::Jsonl::new(out)),
        Format::Human => Box::new(human::Human::new(out)),
    }
}

/// Tells a run through several reporters.
#[derive(Default)]
pub struct Many<'w>(pub Vec<Box<dyn Reporter + 'w>>);

impl Reporter for Many<'_> {
    fn plan(&mut self, head: &Head, plan: &[PlanLine]) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|reporter| reporter.plan(head, plan))
    }

    fn result(&mut self, result: &CaseResult) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|reporter| reporter.result(result))
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|reporter| reporter.end(summary))
    }
}

#[cfg(test)]
pub(super) mod samples {
    use super::*;
    use crate::conformance::check::Failure;
    use crate::conformance::outcome::Status;

    /// A head, and four results, one of each status.
    pub fn run() -> (Head, Vec<CaseResult>) {
        let head = Head { mode: "idn_lowercases".to_owned(), seed: 7, is_self_test: false };
        let line = |id: &str, title: &str| PlanLine {
            id: id.to_owned(),
            title: title.to_owned(),
            subject: "builtin:keys".to_owned(),
            clause: "the clause".to_owned(),
        };
        let failure = Failure {
            site: "A-2/one".to_owned(),
            expected: "\"x\"".to_owned(),
            got: "a\u{85}b\n...".to_owned(),
        };
        let results = vec![
            CaseResult::of(&line("A-1", "holds"), Status::Ok, Vec::new()),
            CaseResult::of(&line("A-2", "is #1 \\ of 2"), Status::Red, vec![failure]),
            CaseResult::of(&line("A-3", "waits"), Status::Skip("no #clock".to_owned()), Vec::new()),
            CaseResult::of(&line("A-4", "hangs"), Status::Timeout, Vec::new()),
        ];
        (head, results)
    }

    /// What a format makes of the sample run.
    pub fn told(format: Format) -> String {
        let (head, results) = run();
        let plan: Vec<PlanLine> = results.iter().map(CaseResult::line).collect();
        let mut out = Vec::new();
        let mut reporter = reporter(format, Box::new(&mut out));
        reporter.plan(&head, &plan).unwrap();
        results.iter().for_each(|result| reporter.result(result).unwrap());
        let counts = Counts { ok: 1, red: 1, skip: 1, timeout: 1, ..Counts::default() };
        reporter.end(&Summary { counts, fired: 3, exit: 1 }).unwrap();
        drop(reporter);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_repro_command_names_subject_case_mode_and_seed() {
        let (head, results) = run();
        assert_eq!(
            head.repro(&results[1]),
            "fornax conformance --subject builtin:keys --case A-2 --mode idn_lowercases --seed 7"
        );
    }

    #[test]
    fn a_step_of_the_self_test_is_repeated_by_what_it_ran() {
        let head = Head { mode: NONE.to_owned(), seed: 0, is_self_test: true };
        let step = |id: &str, got: &str| {
            let line = PlanLine {
                id: id.to_owned(),
                title: String::new(),
                subject: String::new(),
                clause: String::new(),
            };
            let site = id.to_owned();
            let failure = Failure { site, expected: String::new(), got: got.to_owned() };
            head.repro(&CaseResult::of(&line, Status::Red, vec![failure]))
        };
        assert_eq!(step("mode/x_y", ""), "fornax conformance --mode x_y");
        assert_eq!(
            step("sweep/A-1", "A-1/one: exit 0"),
            "fornax conformance --case A-1 --drop-site A-1/one"
        );
        assert_eq!(step("rule/teeth", "gone"), "fornax conformance --self-test");
        assert_eq!(step("baseline", ""), "fornax conformance");
    }
}
