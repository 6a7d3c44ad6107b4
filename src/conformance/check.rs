//! Soft checks and the ledger of the check sites that really ran.
//!
//! A check records its outcome and lets the case go on; only `require` stops it. Every site has
//! a stable label, and the runner, not the case, closes the ledger: a case that ran fewer sites
//! than its registry row declares is red, whatever its other checks said. A loop states how many
//! elements it must see, so that a loop over nothing is red as well.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::{Deserialize, Serialize};

/// Longest text kept of an expected or a found value, in characters.
const SHOWN_MAX: usize = 400;

/// Failing elements of a loop that are shown; the rest is counted.
const ELEMENTS_SHOWN_MAX: usize = 3;

/// Why a case ended before its last line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// A required check failed.
    Required,
    /// The case cannot run here, for the reason given.
    Skip(String),
}

/// How a case body ends.
pub type CaseEnd = Result<(), Stop>;

/// One failed check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// `CASE/label`.
    pub site: String,
    /// What the contract demands.
    pub expected: String,
    /// What was found.
    pub got: String,
}

/// What the sweep and the teeth do to a case's sites, and the seed of its property checks.
#[derive(Debug, Clone, Default)]
pub struct Dial {
    /// A site that vanishes: neither evaluated nor counted.
    pub dropped: Option<String>,
    /// A site that is counted but always passes.
    pub weakened: Option<String>,
    /// Seed of the random inputs.
    pub seed: u64,
}

/// The checks of one running case.
pub struct Checks<'a> {
    case: &'a str,
    dial: &'a Dial,
    sites: BTreeMap<String, bool>,
    failures: Vec<Failure>,
}

impl<'a> Checks<'a> {
    /// An empty ledger for the case.
    pub fn new(case: &'a str, dial: &'a Dial) -> Self {
        Self { case, dial, sites: BTreeMap::new(), failures: Vec::new() }
    }

    /// The seed for random inputs, different for each case.
    pub fn seed(&self) -> u64 {
        self.case.bytes().fold(self.dial.seed, |seed, byte| {
            (seed ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    /// A condition; `got` describes what was found when it does not hold.
    pub fn check(
        &mut self,
        label: &str,
        holds: bool,
        expected: &str,
        got: impl FnOnce() -> String,
    ) {
        self.record(label, |checks, site| {
            if !holds {
                checks.fail(site, expected, &got());
            }
        });
    }

    /// Two values that must be equal.
    pub fn equal<T: PartialEq + Debug + ?Sized>(&mut self, label: &str, expected: &T, got: &T) {
        self.record(label, |checks, site| {
            if expected != got {
                checks.fail(site, &format!("{expected:?}"), &format!("{got:?}"));
            }
        });
    }

    /// A result that must be `Ok`; the case ends when it is not.
    pub fn require<T, E: Debug>(&mut self, label: &str, result: Result<T, E>) -> Result<T, Stop> {
        let (value, error) = match result {
            Ok(value) => (Ok(value), None),
            Err(error) => (Err(Stop::Required), Some(format!("{error:?}"))),
        };
        self.record(label, |checks, site| {
            if let Some(error) = error {
                checks.fail(site, "success", &error);
            }
        });
        value
    }

    /// One site over many elements; red on any failing element and on fewer than `at_least`.
    pub fn each<T>(
        &mut self,
        label: &str,
        at_least: usize,
        items: impl IntoIterator<Item = T>,
        mut probe: impl FnMut(T) -> Result<(), String>,
    ) {
        self.record(label, |checks, site| {
            let mut seen = 0_usize;
            let mut problems = Vec::new();
            for item in items {
                seen += 1;
                problems.extend(probe(item).err());
            }
            if seen < at_least {
                let got = format!("a loop over {seen} elements");
                checks.fail(site, &format!("at least {at_least} elements"), &got);
            }
            if !problems.is_empty() {
                let shown: Vec<&str> =
                    problems.iter().take(ELEMENTS_SHOWN_MAX).map(String::as_str).collect();
                let got = format!("{} of {seen} failed: {}", problems.len(), shown.join("; "));
                checks.fail(site, "every element holds", &got);
            }
        });
    }

    /// The subject, or the end of the case when the factory gave none in spite of its offer.
    pub fn made<T>(&mut self, subject: Option<T>) -> Result<T, Stop> {
        subject.ok_or_else(|| {
            let site = format!("{}/subject", self.case);
            self.fail(&site, "the subject that was offered", "none was made");
            Stop::Required
        })
    }

    /// The subject's answer, or the end of the case when it gave none.
    ///
    /// # Errors
    /// The end of the case.
    pub fn answered<T>(&mut self, answer: Result<T, String>) -> Result<T, Stop> {
        answer.map_err(|error| {
            let site = format!("{}/subject", self.case);
            self.fail(&site, "an answer", &error);
            Stop::Required
        })
    }

    fn record(&mut self, label: &str, evaluate: impl FnOnce(&mut Self, &str)) {
        let site = format!("{}/{label}", self.case);
        if self.dial.dropped.as_ref() == Some(&site) {
            return;
        }
        let before = self.failures.len();
        if self.dial.weakened.as_ref() != Some(&site) {
            evaluate(self, &site);
        }
        let ok = self.failures.len() == before;
        let held = self.sites.entry(site).or_insert(true);
        *held = *held && ok;
    }

    fn fail(&mut self, site: &str, expected: &str, got: &str) {
        self.failures.push(Failure {
            site: site.to_owned(),
            expected: shown(expected),
            got: shown(got),
        });
    }

    /// Ends the case: compares the ledger with the declared number of sites.
    pub fn close(mut self, declared: u32, end: Ended) -> Closed {
        let made = u32::try_from(self.sites.len()).unwrap_or(u32::MAX);
        let mut skipped = None;
        match end {
            Ended::Normally(Ok(())) if made == 0 => {
                self.fail_ledger("at least one check", declared, made);
            }
            Ended::Normally(Ok(())) if made != declared => {
                self.fail_ledger("the declared checks", declared, made);
            }
            Ended::Normally(Ok(()) | Err(Stop::Required)) => {}
            Ended::Normally(Err(Stop::Skip(reason))) => skipped = Some(reason),
            Ended::Panicked(message) => {
                let site = format!("{}/panic", self.case);
                self.fail(&site, "no panic", &format!("panicked: {message}"));
            }
        }
        Closed { sites: self.sites.into_keys().collect(), failures: self.failures, skipped }
    }

    fn fail_ledger(&mut self, expected: &str, declared: u32, made: u32) {
        let site = format!("{}/ledger", self.case);
        self.fail(&site, expected, &ledger_text(declared, made));
    }
}

/// The text that only a ledger failure prints.
pub fn ledger_text(declared: u32, made: u32) -> String {
    format!("ledger: expected {declared}, ran {made}")
}

/// How a case body was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It returned.
    Normally(CaseEnd),
    /// It panicked, with this message.
    Panicked(String),
}

/// A closed ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// The distinct sites that ran, sorted.
    pub sites: Vec<String>,
    /// What failed; a failure of the ledger itself is the site `CASE/ledger`.
    pub failures: Vec<Failure>,
    /// Why the case was skipped, when it was.
    pub skipped: Option<String>,
}

fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_MAX).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(dial: &Dial, declared: u32, body: fn(&mut Checks<'_>) -> CaseEnd) -> Closed {
        let mut checks = Checks::new("TST-01", dial);
        let end = body(&mut checks);
        checks.close(declared, Ended::Normally(end))
    }

    fn two_sites(checks: &mut Checks<'_>) -> CaseEnd {
        checks.equal("one", &1, &1);
        checks.check("two", false, "the moon", || "cheese".to_owned());
        Ok(())
    }

    #[test]
    fn a_failed_check_does_not_stop_the_case() {
        let closed = close(&Dial::default(), 2, |checks| {
            checks.check("first", false, "a", || "b".to_owned());
            checks.check("second", false, "c", || "d".to_owned());
            Ok(())
        });
        let sites: Vec<_> = closed.failures.iter().map(|f| f.site.as_str()).collect();
        assert_eq!(sites, ["TST-01/first", "TST-01/second"]);
    }

    #[test]
    fn a_failed_requirement_stops_the_case_without_a_ledger_failure() {
        let closed = close(&Dial::default(), 2, |checks| {
            checks.require::<(), _>("needed", Err("gone"))?;
            checks.equal("never", &1, &2);
            Ok(())
        });
        assert_eq!(closed.failures.len(), 1);
        assert_eq!(closed.sites, ["TST-01/needed"]);
    }

    #[test]
    fn a_dropped_site_reddens_the_ledger_by_its_own_text() {
        let dial = Dial { dropped: Some("TST-01/two".to_owned()), ..Dial::default() };
        let closed = close(&dial, 2, two_sites);
        assert_eq!(closed.sites, ["TST-01/one"]);
        assert_eq!(closed.failures.len(), 1);
        assert_eq!(closed.failures[0].got, "ledger: expected 2, ran 1");
    }

    #[test]
    fn a_weakened_site_is_counted_and_passes() {
        let dial = Dial { weakened: Some("TST-01/two".to_owned()), ..Dial::default() };
        let closed = close(&dial, 2, two_sites);
        assert!(closed.failures.is_empty());
        assert_eq!(closed.sites.len(), 2);
    }

    #[test]
    fn an_undeclared_site_is_red_as_well() {
        let closed = close(&Dial::default(), 1, two_sites);
        assert!(closed.failures.iter().any(|f| f.got == "ledger: expected 1, ran 2"));
    }

    #[test]
    fn a_case_without_any_check_is_red_also_when_none_was_declared() {
        let closed = close(&Dial::default(), 0, |_| Ok(()));
        assert_eq!(closed.failures[0].got, "ledger: expected 0, ran 0");
    }

    #[test]
    fn a_loop_over_too_little_is_red() {
        let closed = close(&Dial::default(), 1, |checks| {
            checks.each("all", 2, [1], |_| Ok(()));
            Ok(())
        });
        assert_eq!(closed.failures[0].got, "a loop over 1 elements");
    }

    #[test]
    fn a_loop_shows_a_few_failing_elements_and_counts_all() {
        let closed = close(&Dial::default(), 1, |checks| {
            checks.each("all", 1, 0..9, |n| if n < 5 { Err(format!("e{n}")) } else { Ok(()) });
            Ok(())
        });
        assert_eq!(closed.failures[0].got, "5 of 9 failed: e0; e1; e2");
    }

    #[test]
    fn a_skip_keeps_its_reason_and_closes_no_ledger() {
        let closed = close(&Dial::default(), 3, |_| Err(Stop::Skip("no clock".to_owned())));
        assert_eq!(closed.skipped.as_deref(), Some("no clock"));
        assert!(closed.failures.is_empty());
    }

    #[test]
    fn the_seed_differs_by_case_and_follows_the_run() {
        let dial = Dial { seed: 7, ..Dial::default() };
        let one = Checks::new("A-1", &dial).seed();
        assert_ne!(one, Checks::new("A-2", &dial).seed());
        assert_eq!(one, Checks::new("A-1", &dial).seed());
    }
}
