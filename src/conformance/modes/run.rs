//! Break modes of RUN: decorators around a nested runner.
//!
//! Some tamper with the registry that the runner ships, the others with what it concludes.
//! Where a defect would break the audits of other cases as well, the decorator acts only on the
//! suite that plants its situation.

use crate::conformance::contract::{Case, Mode, Suite, Waiver, Wrap};
use crate::conformance::engine::{Ask, RUNNER};
use crate::conformance::harness::{Harness, SelfTestEnd, has_plant};
use crate::conformance::judge::{ChildOutcome, Verdict};
use crate::conformance::outcome::{RunReport, Status};
use crate::conformance::subjects::{Fired, KeyCodec, SubjectRow};
use crate::conformance::teeth::Matrix;

const fn mode(
    name: &'static str,
    must: &'static [&'static str],
    defect: &'static str,
    seen: &'static str,
    wrap: Wrap,
) -> Mode {
    Mode { name, must, may: &[], defect, seen, wrap }
}

macro_rules! defect {
    ($defect:ident) => {
        Wrap::Runner(|inner, fired| Box::new(Broken { inner, fired, defect: Defect::$defect }))
    };
}

/// Where the hole was found: its documentation or its code.
const PRAISON: &str = "PraisonAI mobile's conformance suite";

/// A subject that offers less also runs fewer cases, so its floor can break as well.
const CLAIM_DROPPED: Mode = Mode {
    may: &["RUN-05"],
    ..mode(
        "run_claim_dropped",
        &["RUN-16"],
        "a subject no longer offers what it did",
        PRAISON,
        defect!(ClaimDropped),
    )
};

/// The modes.
pub const MODES: &[Mode] = &[
    mode(
        "run_hollow_case",
        &["RUN-08"],
        "a case's body returns early and its ledger is never closed",
        PRAISON,
        defect!(HollowCase),
    ),
    mode(
        "run_check_always_true",
        &["RUN-19"],
        "a check made constant-true goes unnoticed",
        PRAISON,
        defect!(CheckAlwaysTrue),
    ),
    mode("run_skip_counts", &["RUN-09"], "a skip is printed as ok", PRAISON, defect!(SkipCounts)),
    mode(
        "run_case_removed",
        &["RUN-05"],
        "a registry row is deleted",
        PRAISON,
        defect!(CaseRemoved),
    ),
    mode(
        "run_mode_removed",
        &["RUN-06"],
        "a row of the mode table is deleted",
        "",
        defect!(ModeRemoved),
    ),
    CLAIM_DROPPED,
    mode(
        "run_plan_mismatch",
        &["RUN-11"],
        "a case id changes at run time",
        "",
        defect!(PlanMismatch),
    ),
    mode("run_panics", &["RUN-12"], "a panicking case ends the run", "", defect!(Panics)),
    mode(
        "run_red_baseline",
        &["RUN-13"],
        "the subject is broken under none, and modes are judged all the same",
        "",
        defect!(RedBaseline),
    ),
    mode(
        "run_mode_inert",
        &["RUN-02"],
        "a decorator no longer touches anything",
        "",
        defect!(ModeInert),
    ),
    mode(
        "run_mode_spills",
        &["RUN-02"],
        "a mode reddens a case outside its declared set",
        PRAISON,
        defect!(ModeSpills),
    ),
    mode(
        "run_case_unwaived",
        &["RUN-04"],
        "a new case has neither a mode nor a reason",
        PRAISON,
        defect!(CaseUnwaived),
    ),
    mode("run_duplicate_id", &["RUN-10"], "a registry row is copied", "", defect!(DuplicateId)),
    mode(
        "run_hangs",
        &["RUN-14"],
        "a child killed by the deadline is read as red",
        PRAISON,
        defect!(Hangs),
    ),
    mode(
        "run_teeth_lost",
        &["RUN-15"],
        "a site is weakened until its only mode no longer trips it",
        PRAISON,
        defect!(TeethLost),
    ),
    mode("run_stale_waiver", &["RUN-17"], "a waived case now has a mode", "", defect!(StaleWaiver)),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    HollowCase,
    CheckAlwaysTrue,
    SkipCounts,
    CaseRemoved,
    ModeRemoved,
    ClaimDropped,
    PlanMismatch,
    Panics,
    RedBaseline,
    ModeInert,
    ModeSpills,
    CaseUnwaived,
    DuplicateId,
    Hangs,
    TeethLost,
    StaleWaiver,
}

struct Broken<'a> {
    inner: Box<dyn Harness + 'a>,
    fired: Fired,
    defect: Defect,
}

impl Harness for Broken<'_> {
    fn suite(&mut self) -> Suite {
        let mut suite = self.inner.suite();
        if tamper(self.defect, &mut suite) {
            self.fired.hit();
        }
        suite
    }

    fn offers(&mut self) -> Vec<SubjectRow> {
        let mut offers = self.inner.offers();
        if self.defect == Defect::ClaimDropped
            && let Some(row) = offers.iter_mut().find(|row| row.name == RUNNER)
        {
            row.offers.clear();
            self.fired.hit();
        }
        offers
    }

    fn run(&mut self, suite: &Suite, mode: &str, ask: &Ask) -> Result<RunReport, Vec<String>> {
        let mut suite = suite.clone();
        let mut ask = ask.clone();
        match self.defect {
            Defect::CheckAlwaysTrue if ask.dial.weakened.take().is_some() => self.fired.hit(),
            Defect::TeethLost
                if has_plant(&suite, "PLANT-BITTEN") && ask.dial.weakened.is_none() =>
            {
                ask.dial.weakened = Some("PLANT-BITTEN/distinct".to_owned());
                self.fired.hit();
            }
            Defect::DuplicateId if keep_first_of_each_id(&mut suite) => self.fired.hit(),
            _ => {}
        }
        let mut report = self.inner.run(&suite, mode, &ask)?;
        if misreport(self.defect, &mut report) {
            self.fired.hit();
        }
        Ok(report)
    }

    fn exit_of(&mut self, suite: &Suite, mode: &str, report: &RunReport) -> i32 {
        self.inner.exit_of(suite, mode, report)
    }

    fn judge(&mut self, mode: &Mode, child: &ChildOutcome) -> Verdict {
        if self.defect == Defect::Hangs && child.timed_out {
            self.fired.hit();
            return self
                .inner
                .judge(mode, &ChildOutcome { timed_out: false, exit: Some(1), ..child.clone() });
        }
        self.inner.judge(mode, child)
    }

    fn self_test(&mut self, suite: &Suite) -> SelfTestEnd {
        let end = self.inner.self_test(suite);
        if self.defect == Defect::RedBaseline && end.judged == 0 {
            self.fired.hit();
            return SelfTestEnd { exit: 0, judged: suite.breaks().count() };
        }
        end
    }

    fn lost_teeth(&mut self, golden: &Matrix, current: &Matrix) -> Vec<String> {
        self.inner.lost_teeth(golden, current)
    }

    fn refuse_mode(&mut self, name: &str) -> Option<(i32, String)> {
        self.inner.refuse_mode(name)
    }
}

/// Changes the shipped registry the way the defect would; says whether it did.
fn tamper(defect: Defect, suite: &mut Suite) -> bool {
    match defect {
        Defect::CaseRemoved => {
            // A waived case: removing one with a mode would break other audits as well.
            remove_case(suite, "IDN-01");
            suite.waivers.retain(|waiver| waiver.case != "IDN-01");
        }
        Defect::ModeRemoved => suite.modes.retain(|mode| mode.name != "run_mode_spills"),
        Defect::ModeInert => rewrap(suite, Wrap::Keys(|inner, _| inner)),
        Defect::ModeSpills => rewrap(suite, Wrap::Keys(also_unescaped)),
        Defect::CaseUnwaived => append_case(suite, |case| Case { id: "EXT-99", ..case }),
        Defect::DuplicateId => append_case(suite, |case| case),
        Defect::StaleWaiver => {
            suite.waivers.push(Waiver { case: "IDN-02", reason: "not needed any more" });
        }
        _ => return false,
    }
    true
}

fn remove_case(suite: &mut Suite, id: &str) {
    for contract in &mut suite.contracts {
        contract.cases.retain(|case| case.id != id);
    }
}

/// Appends a changed copy of a waived case, so that no mode reddens the copy.
fn append_case(suite: &mut Suite, change: fn(Case) -> Case) {
    if let Some(contract) = suite.contracts.iter_mut().find(|contract| contract.id == "EXT")
        && let Some(waived) = contract.cases.iter().find(|case| case.id == "EXT-13").copied()
    {
        contract.cases.push(change(waived));
    }
}

/// The mode that gets another decorator; no planted suite borrows it.
const REWRAPPED: &str = "idn_lowercase_hex";

/// Gives one mode another decorator.
fn rewrap(suite: &mut Suite, wrap: Wrap) {
    for mode in &mut suite.modes {
        if mode.name == REWRAPPED {
            mode.wrap = wrap;
        }
    }
}

/// Spells escapes as declared, and leaves delimiters unescaped on top.
fn also_unescaped(inner: Box<dyn KeyCodec>, fired: Fired) -> Box<dyn KeyCodec> {
    let mut wrapped = inner;
    for name in ["idn_unescaped_delimiter", REWRAPPED] {
        let declared = super::idn::MODES.iter().find(|mode| mode.name == name);
        if let Some(Wrap::Keys(wrap)) = declared.map(|mode| mode.wrap) {
            wrapped = wrap(wrapped, fired.clone());
        }
    }
    wrapped
}

/// Drops every case whose id came before; says whether there was one.
fn keep_first_of_each_id(suite: &mut Suite) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    let before = suite.cases().count();
    for contract in &mut suite.contracts {
        contract.cases.retain(|case| seen.insert(case.id));
    }
    suite.cases().count() < before
}

/// Changes what a run reports the way the defect would; says whether it did.
fn misreport(defect: Defect, report: &mut RunReport) -> bool {
    let mut changed = false;
    for result in &mut report.results {
        let plant = result.id.as_str();
        match defect {
            Defect::HollowCase if matches!(plant, "PLANT-HOLLOW" | "PLANT-EMPTY") => {
                result.failures.clear();
                result.status = Status::Ok;
            }
            Defect::SkipCounts if plant == "PLANT-SKIP" => result.status = Status::Ok,
            Defect::PlanMismatch if plant == "PLANT-PLAN-2" => result.id.push_str("-renamed"),
            _ => continue,
        }
        changed = true;
    }
    if defect == Defect::Panics {
        let panicked = report.results.iter().position(|result| result.id == "PLANT-PANIC");
        if let Some(position) = panicked {
            report.results.truncate(position);
            changed = true;
        }
    }
    changed
}
