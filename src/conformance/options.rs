//! What the command line asks for, the exit codes, and the refusal of unknown names.

use std::ffi::OsString;
use std::path::PathBuf;

use super::contract::{Mode, NONE, Suite};
use super::nearest::{matches, nearest};
use super::outcome::RunReport;
use super::subjects::SubjectRow;
use super::teeth::Matrix;

/// The exit codes of `fornax conformance`.
pub mod exit {
    /// All green, or all meta rules hold.
    pub const OK: i32 = 0;
    /// At least one case is red.
    pub const RED: i32 = 1;
    /// A mode reddened the wrong set, or a ledger, floor, waiver or teeth rule is broken.
    pub const META: i32 = 2;
    /// A case or a child ran out of time.
    pub const TIMEOUT: i32 = 3;
    /// The control is not green, so modes were not judged.
    pub const BASELINE: i32 = 4;
    /// An unknown mode, case, contract or subject.
    pub const USAGE: i32 = 64;
    /// The runner itself failed.
    pub const INTERNAL: i32 = 70;
}

/// The seed when none is given.
pub const DEFAULT_SEED: u64 = 0;

/// The deadline of a child, and of a case, when none is given.
pub const DEFAULT_TIMEOUT_MS: u64 = 60_000;

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Run the contracts.
    Run,
    /// Run the control and every mode, and judge the suite itself.
    SelfTest,
    /// List what there is.
    List(Listing),
    /// Explain a case or a mode.
    Explain(String),
    /// Show which mode covers which case and site.
    Coverage,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// Cases.
    Cases,
    /// Break modes.
    Modes,
    /// Subjects.
    Subjects,
    /// What each subject offers.
    Claims,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// TAP 14.
    Tap,
    /// One JSON object an event.
    Jsonl,
    /// For a terminal.
    Human,
}

impl Format {
    /// Every format with its name.
    pub const NAMES: [(&str, Self); 3] =
        [("tap", Self::Tap), ("jsonl", Self::Jsonl), ("human", Self::Human)];
}

impl Listing {
    /// Every listing with its name.
    pub const NAMES: [(&str, Self); 4] = [
        ("cases", Self::Cases),
        ("modes", Self::Modes),
        ("subjects", Self::Subjects),
        ("claims", Self::Claims),
    ];
}

/// The value of a name, or the refusal with the nearest names.
pub fn named<T: Copy>(what: &str, name: &str, names: &[(&str, T)]) -> Result<T, String> {
    let found = names.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| unknown(what, name, names.iter().map(|(known, _)| *known)))
}

/// The whole request, as the command line glue hands it over.
#[derive(Debug, Clone)]
pub struct Options {
    /// What to do.
    pub action: Action,
    /// The break mode.
    pub mode: String,
    /// Only this subject.
    pub subject: Option<String>,
    /// Only this contract.
    pub contract: Option<String>,
    /// Not this contract; for children of a self-test.
    pub without: Option<String>,
    /// Only cases that match this id or pattern.
    pub case: Option<String>,
    /// A check site to leave out; for the sweep.
    pub drop_site: Option<String>,
    /// A skip counts as a failure.
    pub skip_must_fail: bool,
    /// How to print.
    pub format: Format,
    /// Where to leave files.
    pub out: Option<PathBuf>,
    /// Seed of property cases.
    pub seed: u64,
    /// Deadline of a case, and of a child, in milliseconds.
    pub timeout_ms: u64,
    /// How many children run at once.
    pub jobs: usize,
    /// This program, for children.
    pub self_exe: PathBuf,
    /// The arguments that lead a child here, such as `conformance`.
    pub argv_prefix: Vec<OsString>,
    /// An existing directory; children get a folder of their own below it.
    pub scratch: PathBuf,
}

/// The exit code of a run. A mode that never fired, or reddened nothing, proves nothing.
pub fn exit_code(mode: &Mode, report: &RunReport) -> i32 {
    let counts = report.counts();
    let is_break = mode.name != NONE;
    if is_break && report.fired == 0 {
        return exit::META;
    }
    if counts.red > 0 {
        return exit::RED;
    }
    if counts.timeout > 0 {
        return exit::TIMEOUT;
    }
    let ran = |case: &&str| report.results.iter().any(|result| result.id == **case);
    if is_break && mode.must.iter().all(ran) {
        return exit::META;
    }
    exit::OK
}

/// The refusal of a mode name.
pub fn unknown_mode(suite: &Suite, name: &str) -> String {
    unknown("mode", name, suite.modes.iter().map(|mode| mode.name))
}

/// The refusal of a name, with the nearest known ones.
pub fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(name, known);
    format!("unknown {what} {name:?}; nearest: {}", near.join(", "))
}

/// The first unknown name in a request.
pub fn usage_fault(
    options: &Options,
    suite: &Suite,
    subjects: &[SubjectRow],
    known_sites: &Matrix,
) -> Option<String> {
    if suite.mode(&options.mode).is_none() {
        return Some(unknown_mode(suite, &options.mode));
    }
    if let Some(name) = &options.subject
        && !subjects.iter().any(|row| row.name == *name)
    {
        return Some(unknown("subject", name, subjects.iter().map(|row| row.name.as_str())));
    }
    let contracts = || suite.contracts.iter().map(|contract| contract.id);
    if let Some(name) = &options.contract
        && !contracts().any(|id| id.eq_ignore_ascii_case(name))
    {
        return Some(unknown("contract", name, contracts()));
    }
    let cases = || suite.cases().map(|(_, case)| case.id);
    if let Some(name) = &options.case
        && !cases().any(|id| matches(name, id))
    {
        return Some(unknown("case", name, cases()));
    }
    if let Some(name) = &options.drop_site
        && !cases().any(|id| is_site_of(name, id))
    {
        return Some(unknown("site", name, known_sites.0.keys().map(String::as_str)));
    }
    self_test_fault(options)
}

/// Whether a site's label belongs to the case.
pub fn is_site_of(site: &str, case: &str) -> bool {
    site.strip_prefix(case).is_some_and(|rest| rest.starts_with('/'))
}

/// A self-test is about the whole suite.
fn self_test_fault(options: &Options) -> Option<String> {
    let narrowed = options.mode != NONE
        || [&options.subject, &options.contract, &options.case, &options.drop_site]
            .into_iter()
            .any(Option::is_some);
    (options.action == Action::SelfTest && narrowed).then(|| {
        "--self-test takes the whole suite: leave --mode, --subject, --contract, --case out"
            .to_owned()
    })
}

#[cfg(test)]
pub(super) mod samples {
    use super::*;

    /// A plain run of everything, in TAP.
    pub fn options() -> Options {
        Options {
            action: Action::Run,
            mode: NONE.to_owned(),
            subject: None,
            contract: None,
            without: None,
            case: None,
            drop_site: None,
            skip_must_fail: false,
            format: Format::Tap,
            out: None,
            seed: DEFAULT_SEED,
            timeout_ms: DEFAULT_TIMEOUT_MS,
            jobs: 1,
            self_exe: PathBuf::from("fornax"),
            argv_prefix: vec![OsString::from("conformance")],
            scratch: PathBuf::from("/nonexistent"),
        }
    }
}
