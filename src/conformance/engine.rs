//! Runs cases in this process: plan first, a fresh subject for each case, panics contained.
//!
//! The engine knows nothing of child processes. The command runs one suite under one mode with
//! it; the self-test starts one process a mode, each of which uses it; the RUN contract drives
//! it as its own subject, without the RUN cases themselves.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::check::{CaseEnd, Checks, Dial, Ended, Failure};
use super::contract::{Body, Case, Mode, Suite, Wrap};
use super::harness::{Harness, LiveHarness};
use super::nearest::matches;
use super::outcome::{CaseResult, PlanLine, RunReport, Status};
use super::subjects::{Fired, Offer, SubjectFactory, SubjectRow};

/// The subject that is this runner.
pub const RUNNER: &str = "builtin:runner";

/// What is to be run.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// Only this subject.
    pub subject: Option<String>,
    /// Only this contract.
    pub contract: Option<String>,
    /// Not this contract.
    pub without: Option<String>,
    /// Only cases that match this id or pattern.
    pub case: Option<String>,
    /// Dropped and weakened sites, and the seed.
    pub dial: Dial,
    /// A case that takes longer is a timeout.
    pub case_deadline: Option<Duration>,
    /// A skip counts as a failure.
    pub skip_must_fail: bool,
}

/// A planned line with the case behind it.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The line.
    pub line: PlanLine,
    /// The case.
    pub case: Case,
}

/// Runs suites over the subjects of a factory.
pub struct Engine<'a> {
    factory: &'a dyn SubjectFactory,
    with_runner: bool,
}

impl<'a> Engine<'a> {
    /// An engine that runs everything, the RUN contract included.
    pub fn new(factory: &'a dyn SubjectFactory) -> Self {
        Self { factory, with_runner: true }
    }

    /// An engine without the RUN contract: the one that the RUN contract itself drives.
    pub fn nested(factory: &'a dyn SubjectFactory) -> Self {
        Self { factory, with_runner: false }
    }

    /// The subjects, the runner last.
    pub fn subjects(&self) -> Vec<SubjectRow> {
        let mut rows = self.factory.subjects();
        if self.with_runner {
            rows.push(SubjectRow { name: RUNNER.to_owned(), offers: vec![Offer::Runner] });
        }
        rows
    }

    /// Everything that the ask selects, in order.
    pub fn plan(&self, suite: &Suite, ask: &Ask) -> Vec<Planned> {
        let subjects = self.subjects();
        let mut plan = Vec::new();
        for (contract, case) in suite.cases() {
            let wanted = ask.contract.as_deref().is_none_or(|id| id.eq_ignore_ascii_case(contract))
                && ask.without.as_deref() != Some(contract)
                && ask.case.as_deref().is_none_or(|pattern| matches(pattern, case.id));
            if wanted {
                plan.extend(
                    subjects_for(case, &subjects, ask).map(|subject| planned(case, subject)),
                );
            }
        }
        plan
    }

    /// Runs the plan under the mode; `observe` sees each result as it comes.
    pub fn run(
        &self,
        plan: &[Planned],
        mode: &Mode,
        ask: &Ask,
        observe: &mut dyn FnMut(&CaseResult),
    ) -> RunReport {
        let fired = Fired::default();
        let mut results = Vec::with_capacity(plan.len());
        for planned in plan {
            let result = self.run_case(planned, mode, ask, &fired);
            observe(&result);
            results.push(result);
        }
        let plan = plan.iter().map(|planned| planned.line.clone()).collect();
        RunReport { plan, results, fired: fired.count() }
    }

    fn run_case(&self, planned: &Planned, mode: &Mode, ask: &Ask, fired: &Fired) -> CaseResult {
        let started = Instant::now();
        let mut checks = Checks::new(planned.case.id, &ask.dial);
        let guarded = catch_unwind(AssertUnwindSafe(|| {
            self.run_body(&planned.case.body, &planned.line.subject, mode, fired, &mut checks)
        }));
        let ended = match guarded {
            Ok(end) => Ended::Normally(end),
            Err(payload) => Ended::Panicked(panic_text(payload.as_ref())),
        };
        let closed = checks.close(planned.case.checks, ended);
        let late = ask.case_deadline.is_some_and(|deadline| started.elapsed() > deadline);
        let mut failures = closed.failures;
        let status = match closed.skipped {
            _ if late => Status::Timeout,
            Some(reason) if ask.skip_must_fail => {
                failures.push(skip_failure(planned.case.id, reason));
                Status::Red
            }
            Some(reason) => Status::Skip(reason),
            None if failures.is_empty() => Status::Ok,
            None => Status::Red,
        };
        CaseResult {
            sites: closed.sites,
            declared: planned.case.checks,
            ..CaseResult::of(&planned.line, status, failures)
        }
    }

    fn run_body(
        &self,
        body: &Body,
        subject: &str,
        mode: &Mode,
        fired: &Fired,
        checks: &mut Checks<'_>,
    ) -> CaseEnd {
        match body {
            Body::Free(body) => body(checks),
            Body::Keys(body) => {
                let mut keys = checks.made(self.factory.keys(subject))?;
                if let Wrap::Keys(wrap) = mode.wrap {
                    keys = wrap(keys, fired.clone());
                }
                body(checks, keys.as_mut())
            }
            Body::Envelope(body) => {
                let mut envelope = checks.made(self.factory.envelope(subject))?;
                if let Wrap::Envelope(wrap) = mode.wrap {
                    envelope = wrap(envelope, fired.clone());
                }
                body(checks, envelope.as_mut())
            }
            Body::Native(body) => {
                let mut native = checks.made(self.factory.native(subject))?;
                if let Wrap::Native(wrap) = mode.wrap {
                    native = wrap(native, fired.clone());
                }
                body(checks, native.as_mut())
            }
            Body::Readback(body) => {
                let mut resolver = checks.made(self.factory.resolver(subject))?;
                if let Wrap::Readback(wrap) = mode.wrap {
                    resolver = wrap(resolver, fired.clone());
                }
                body(checks, resolver.as_mut())
            }
            Body::Decoder(_, body) => {
                let mut decoder = checks.made(self.factory.decoder(subject))?;
                if let Wrap::Decoder(wrap) = mode.wrap {
                    decoder = wrap(decoder, fired.clone());
                }
                body(checks, decoder.as_mut())
            }
            Body::Tail(body) => {
                let mut tail = checks.made(self.factory.tail(subject))?;
                if let Wrap::Tail(wrap) = mode.wrap {
                    tail = wrap(tail, fired.clone());
                }
                body(checks, tail.as_mut())
            }
            Body::Normalizer(body) => {
                let mut normalizer = checks.made(self.factory.normalizer(subject))?;
                if let Wrap::Normalizer(wrap) = mode.wrap {
                    normalizer = wrap(normalizer, fired.clone());
                }
                body(checks, normalizer.as_mut())
            }
            Body::Hook(body) => {
                let mut host = checks.made(self.factory.hook_host(subject))?;
                if let Wrap::Hook(wrap) = mode.wrap {
                    host = wrap(host, fired.clone());
                }
                body(checks, host.as_mut())
            }
            Body::Usage(body) => {
                let mut usage = checks.made(self.factory.usage(subject))?;
                if let Wrap::Usage(wrap) = mode.wrap {
                    usage = wrap(usage, fired.clone());
                }
                body(checks, usage.as_mut())
            }
            Body::Runner(body) => {
                let mut harness: Box<dyn Harness + '_> = Box::new(LiveHarness::new(self.factory));
                if let Wrap::Runner(wrap) = mode.wrap {
                    harness = wrap(harness, fired.clone());
                }
                body(checks, harness.as_mut())
            }
        }
    }
}

/// The subjects that run a case: those with the offer it needs; a free case runs once.
fn subjects_for<'s>(
    case: &Case,
    subjects: &'s [SubjectRow],
    ask: &'s Ask,
) -> Box<dyn Iterator<Item = &'s str> + 's> {
    let wanted = |name: &str| ask.subject.as_deref().is_none_or(|only| only == name);
    match case.body.needs() {
        None => Box::new(std::iter::once("")),
        Some(offer) => Box::new(
            subjects
                .iter()
                .filter(move |row| row.offers.contains(&offer) && wanted(&row.name))
                .map(|row| row.name.as_str()),
        ),
    }
}

fn planned(case: &Case, subject: &str) -> Planned {
    let line = PlanLine {
        id: case.id.to_owned(),
        title: case.title.to_owned(),
        subject: subject.to_owned(),
        clause: case.clause.to_owned(),
    };
    Planned { line, case: *case }
}

fn skip_failure(case: &str, reason: String) -> Failure {
    Failure { site: format!("{case}/skip"), expected: "no skip".to_owned(), got: reason }
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests;
