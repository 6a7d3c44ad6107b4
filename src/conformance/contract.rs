//! The registry: contracts, cases with their declared check counts, modes, waivers and floors.
//!
//! The registry is plain data and is checked before anything runs: an id that occurs twice, a
//! mode that names a case that does not exist, or a case that declares no check refuses to start.
//! Ids and mode names are stable once released.

use std::collections::{BTreeMap, BTreeSet};

use super::check::{CaseEnd, Checks};
use super::decoding::Decoder;
use super::harness::Harness;
use super::normalizing::{HookHost, Normalizer};
use super::subjects::{EnvelopeCodec, Fired, KeyCodec, NativeProbe, Offer, Resolver, UsageFold};
use super::tailing::TailReader;

/// A contract: the cases that share an id prefix and an origin.
#[derive(Debug, Clone)]
pub struct Contract {
    /// `IDN`, ...
    pub id: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// The cases, in the order in which they run.
    pub cases: Vec<Case>,
    /// The least number of cases, over all subjects.
    pub floor: usize,
}

/// One case: a demand that every subject with the right offer must meet.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// `IDN-01`, ...
    pub id: &'static str,
    /// The demand, as a sentence.
    pub title: &'static str,
    /// The clause that demands it.
    pub clause: &'static str,
    /// How many distinct check sites it runs.
    pub checks: u32,
    /// Why it exists: what goes wrong without it.
    pub why: &'static str,
    /// The checks.
    pub body: Body,
}

/// The checks of a case, by what they need of the subject.
#[derive(Debug, Clone, Copy)]
pub enum Body {
    /// Needs no subject; only in planted suites.
    Free(fn(&mut Checks<'_>) -> CaseEnd),
    /// Needs a key codec.
    Keys(fn(&mut Checks<'_>, &mut dyn KeyCodec) -> CaseEnd),
    /// Needs an envelope codec.
    Envelope(fn(&mut Checks<'_>, &mut dyn EnvelopeCodec) -> CaseEnd),
    /// Needs a native reader.
    Native(fn(&mut Checks<'_>, &mut dyn NativeProbe) -> CaseEnd),
    /// Needs a resolver.
    Readback(fn(&mut Checks<'_>, &mut dyn Resolver) -> CaseEnd),
    /// Needs a decoder with this offer.
    Decoder(Offer, fn(&mut Checks<'_>, &mut dyn Decoder) -> CaseEnd),
    /// Needs a tail reader.
    Tail(fn(&mut Checks<'_>, &mut dyn TailReader) -> CaseEnd),
    /// Needs a native adapter with the pipeline behind it.
    Normalizer(fn(&mut Checks<'_>, &mut dyn Normalizer) -> CaseEnd),
    /// Needs the hook as a process.
    Hook(fn(&mut Checks<'_>, &mut dyn HookHost) -> CaseEnd),
    /// Needs a usage fold.
    Usage(fn(&mut Checks<'_>, &mut dyn UsageFold) -> CaseEnd),
    /// Needs the runner itself.
    Runner(fn(&mut Checks<'_>, &mut dyn Harness) -> CaseEnd),
}

impl Body {
    /// What a subject has to offer for this case.
    pub fn needs(&self) -> Option<Offer> {
        match self {
            Self::Free(_) => None,
            Self::Keys(_) => Some(Offer::KeyCodec),
            Self::Envelope(_) => Some(Offer::Envelope),
            Self::Native(_) => Some(Offer::Native),
            Self::Readback(_) => Some(Offer::Readback),
            Self::Decoder(offer, _) => Some(*offer),
            Self::Tail(_) => Some(Offer::Tail),
            Self::Normalizer(_) => Some(Offer::Normalize),
            Self::Hook(_) => Some(Offer::HookProcess),
            Self::Usage(_) => Some(Offer::Usage),
            Self::Runner(_) => Some(Offer::Runner),
        }
    }
}

/// A break mode: one realistic defect, injected around the shipping subject.
#[derive(Debug, Clone, Copy)]
pub struct Mode {
    /// `idn_lowercases`, ...
    pub name: &'static str,
    /// The cases that have to go red.
    pub must: &'static [&'static str],
    /// The cases that can follow; everything else has to stay green.
    pub may: &'static [&'static str],
    /// The defect, in a few words.
    pub defect: &'static str,
    /// Where it has been seen; empty when no public report is known.
    pub seen: &'static str,
    /// The decorator.
    pub wrap: Wrap,
}

/// A runner decorator; the runner borrows its subjects, so it is generic over their lifetime.
pub type WrapRunner = for<'a> fn(Box<dyn Harness + 'a>, Fired) -> Box<dyn Harness + 'a>;

/// The decorator of a mode, by what it wraps.
#[derive(Debug, Clone, Copy)]
pub enum Wrap {
    /// Nothing: the control.
    Nothing,
    /// Around a key codec.
    Keys(fn(Box<dyn KeyCodec>, Fired) -> Box<dyn KeyCodec>),
    /// Around an envelope codec.
    Envelope(fn(Box<dyn EnvelopeCodec>, Fired) -> Box<dyn EnvelopeCodec>),
    /// Around a native reader.
    Native(fn(Box<dyn NativeProbe>, Fired) -> Box<dyn NativeProbe>),
    /// Around a resolver.
    Readback(fn(Box<dyn Resolver>, Fired) -> Box<dyn Resolver>),
    /// Around a decoder.
    Decoder(fn(Box<dyn Decoder>, Fired) -> Box<dyn Decoder>),
    /// Around a tail reader.
    Tail(fn(Box<dyn TailReader>, Fired) -> Box<dyn TailReader>),
    /// Around a native adapter.
    Normalizer(fn(Box<dyn Normalizer>, Fired) -> Box<dyn Normalizer>),
    /// Around the hook as a process.
    Hook(fn(Box<dyn HookHost>, Fired) -> Box<dyn HookHost>),
    /// Around a usage fold.
    Usage(fn(Box<dyn UsageFold>, Fired) -> Box<dyn UsageFold>),
    /// Around the runner.
    Runner(WrapRunner),
}

/// Why a case has no break mode.
#[derive(Debug, Clone, Copy)]
pub struct Waiver {
    /// The case.
    pub case: &'static str,
    /// The reason.
    pub reason: &'static str,
}

/// Why no mode trips a check site.
#[derive(Debug, Clone, Copy)]
pub struct Untoothed {
    /// `CASE/label`.
    pub site: &'static str,
    /// The reason.
    pub reason: &'static str,
}

/// Everything that a run or a self-test goes by.
#[derive(Debug, Clone)]
pub struct Suite {
    /// The contracts, in the order in which they run.
    pub contracts: Vec<Contract>,
    /// The break modes; `none` comes first.
    pub modes: Vec<Mode>,
    /// Cases without a mode.
    pub waivers: Vec<Waiver>,
    /// Sites without a mode.
    pub untoothed: Vec<Untoothed>,
    /// The most sites that may be without a mode; may only fall.
    pub untoothed_ceiling: usize,
    /// The least number of modes, the control left out.
    pub mode_floor: usize,
    /// The least number of cases that each subject has to run.
    pub subject_floors: Vec<(String, usize)>,
    /// The offers that each subject is pinned to.
    pub pinned_offers: BTreeMap<String, Vec<String>>,
}

/// The name of the control.
pub const NONE: &str = "none";

impl Suite {
    /// Every case with its contract's id.
    pub fn cases(&self) -> impl Iterator<Item = (&'static str, &Case)> {
        self.contracts
            .iter()
            .flat_map(|contract| contract.cases.iter().map(move |case| (contract.id, case)))
    }

    /// The mode of that name.
    pub fn mode(&self, name: &str) -> Option<&Mode> {
        self.modes.iter().find(|mode| mode.name == name)
    }

    /// The modes without the control.
    pub fn breaks(&self) -> impl Iterator<Item = &Mode> {
        self.modes.iter().filter(|mode| mode.name != NONE)
    }

    /// The modes that have to redden the case.
    pub fn modes_of(&self, case: &str) -> Vec<&'static str> {
        self.breaks().filter(|mode| mode.must.contains(&case)).map(|mode| mode.name).collect()
    }

    /// Everything that makes the registry unfit to start; empty when it is fit.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut ids = BTreeSet::new();
        for (contract, case) in self.cases() {
            if !ids.insert(case.id) {
                faults.push(format!("case {} is registered twice", case.id));
            }
            if !case.id.starts_with(&format!("{contract}-")) {
                faults.push(format!("case {} is registered under {contract}", case.id));
            }
        }
        let mut names = BTreeSet::new();
        for mode in &self.modes {
            if !names.insert(mode.name) {
                faults.push(format!("mode {} is registered twice", mode.name));
            }
            for case in mode.must.iter().chain(mode.may) {
                if !ids.contains(case) {
                    faults.push(format!("mode {} names the unknown case {case}", mode.name));
                }
            }
        }
        faults
    }

    /// Cases with neither a mode nor a waiver.
    pub fn unwaived(&self) -> Vec<&'static str> {
        self.cases()
            .map(|(_, case)| case.id)
            .filter(|id| self.modes_of(id).is_empty())
            .filter(|id| !self.waivers.iter().any(|waiver| waiver.case == *id))
            .collect()
    }

    /// What is wrong with a waiver: its case is gone or now has a mode, or it gives no reason.
    pub fn stale(&self, waiver: &Waiver) -> Option<String> {
        if waiver.reason.is_empty() {
            return Some(format!("the waiver of {} gives no reason", waiver.case));
        }
        if !self.cases().any(|(_, case)| case.id == waiver.case) {
            return Some(format!("{} is waived but does not exist", waiver.case));
        }
        let modes = self.modes_of(waiver.case);
        (!modes.is_empty())
            .then(|| format!("{} is waived but reddened by {}", waiver.case, modes.join(", ")))
    }

    /// Floors that do not hold over the (subject, case) pairs that run.
    pub fn below_floor(&self, pairs: &[(String, String)]) -> Vec<String> {
        let mut faults = Vec::new();
        for contract in &self.contracts {
            let prefix = format!("{}-", contract.id);
            let cases: BTreeSet<&str> = pairs
                .iter()
                .map(|(_, case)| case.as_str())
                .filter(|case| case.starts_with(&prefix))
                .collect();
            if cases.len() < contract.floor {
                let (have, floor) = (cases.len(), contract.floor);
                faults.push(format!("{}: {have} cases, floor {floor}", contract.id));
            }
        }
        for (subject, floor) in &self.subject_floors {
            let have = pairs.iter().filter(|(of, _)| of == subject).count();
            if have < *floor {
                faults.push(format!("{subject}: {have} cases, floor {floor}"));
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::registry::suite;

    #[test]
    fn the_shipped_registry_is_fit_to_start() {
        assert_eq!(suite().faults(), Vec::<String>::new());
        assert_eq!(suite().unwaived(), Vec::<&str>::new());
    }

    #[test]
    fn a_copied_row_is_named() {
        let mut suite = suite();
        let copy = suite.contracts[0].cases[0];
        suite.contracts[0].cases.push(copy);
        assert_eq!(suite.faults(), [format!("case {} is registered twice", copy.id)]);
    }

    #[test]
    fn a_mode_of_an_unknown_case_is_named() {
        let mut suite = suite();
        suite.modes.push(Mode { name: "zzz", must: &["ZZZ-01"], ..suite.modes[0] });
        assert_eq!(suite.faults(), ["mode zzz names the unknown case ZZZ-01"]);
    }

    #[test]
    fn every_mode_says_what_the_defect_is_and_reddens_something() {
        for mode in suite().breaks() {
            assert!(!mode.must.is_empty() && !mode.defect.is_empty(), "{}", mode.name);
        }
    }

    #[test]
    fn every_case_says_why_it_exists() {
        for (_, case) in suite().cases() {
            assert!(!case.why.is_empty() && !case.clause.is_empty(), "{}", case.id);
            assert!(case.checks > 0, "{}", case.id);
        }
    }
}
