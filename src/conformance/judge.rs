//! Judges what a break mode did: exactly the declared cases red, and the decorator really fired.
//!
//! A mode that reddens too little proves nothing; one that reddens too much hides which check
//! caught it. A child that was killed is a timeout or a fault, never a red.

use super::contract::Mode;
use super::outcome::{RunReport, Status};

/// What a child process left behind.
#[derive(Debug, Clone, Default)]
pub struct ChildOutcome {
    /// Its exit code; none when a signal ended it.
    pub exit: Option<i32>,
    /// Whether its deadline passed and it was killed.
    pub timed_out: bool,
    /// What it printed, when that could be read to the end.
    pub report: Option<RunReport>,
    /// What went wrong with starting or reading it.
    pub fault: Option<String>,
    /// Whether it could not even be started.
    pub unstarted: bool,
}

/// The judgement on one mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The mode reddened exactly what it has to.
    Right,
    /// It did not, for these reasons.
    Wrong(Vec<String>),
    /// The child ran out of time; nothing is known.
    Timeout,
}

/// Judges a child that ran under a break mode.
pub fn judge(mode: &Mode, child: &ChildOutcome) -> Verdict {
    if child.timed_out || child.exit == Some(super::options::exit::TIMEOUT) {
        return Verdict::Timeout;
    }
    let mut faults = Vec::new();
    faults.extend(child.fault.clone());
    match child.exit {
        None => faults.push("the child was ended by a signal".to_owned()),
        Some(1) => {}
        Some(code) => faults.push(format!("the child exited with {code}, not 1")),
    }
    match &child.report {
        None => faults.push("the child printed no complete report".to_owned()),
        Some(report) => faults.extend(red_set_faults(mode, report)),
    }
    if faults.is_empty() { Verdict::Right } else { Verdict::Wrong(faults) }
}

fn is_red_elsewhere(report: &RunReport, case: &str) -> bool {
    report.results.iter().any(|result| result.id == case && result.status == Status::Red)
}

fn red_set_faults(mode: &Mode, report: &RunReport) -> Vec<String> {
    let mut faults = Vec::new();
    if !report.follows_plan() {
        faults.push("plan and results differ".to_owned());
    }
    if report.fired == 0 {
        faults.push("the mode fired 0 times".to_owned());
    }
    for result in &report.results {
        let name = format!("{} ({})", result.id, result.subject);
        let must = mode.must.contains(&result.id.as_str());
        let may = mode.may.contains(&result.id.as_str());
        match result.status {
            Status::Red if !must && !may => faults.push(format!("{name} is red as well")),
            // A subject that cannot be driven into a case shows nothing; another one has to.
            Status::Skip(_) if must && is_red_elsewhere(report, &result.id) => {}
            Status::Ok | Status::Skip(_) if must => faults.push(format!("{name} is not red")),
            _ => {}
        }
    }
    for case in mode.must {
        if !report.results.iter().any(|result| result.id == *case) {
            faults.push(format!("{case} did not run"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::contract::Wrap;
    use crate::conformance::outcome::{CaseResult, PlanLine};

    const MODE: Mode = Mode {
        name: "planted",
        must: &["A-1"],
        may: &["A-2"],
        defect: "",
        seen: "",
        wrap: Wrap::Nothing,
    };

    fn child(statuses: &[(&str, Status)]) -> ChildOutcome {
        let mut report = RunReport { fired: 1, ..RunReport::default() };
        for (id, status) in statuses {
            let line = PlanLine {
                id: (*id).to_owned(),
                title: String::new(),
                subject: "s".to_owned(),
                clause: String::new(),
            };
            report.results.push(CaseResult::of(&line, status.clone(), Vec::new()));
            report.plan.push(line);
        }
        ChildOutcome { exit: Some(1), report: Some(report), ..ChildOutcome::default() }
    }

    fn wrong(child: &ChildOutcome) -> String {
        match judge(&MODE, child) {
            Verdict::Wrong(faults) => faults.join("; "),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn exactly_the_declared_cases_may_be_red() {
        let red = Status::Red;
        assert_eq!(
            judge(&MODE, &child(&[("A-1", red.clone()), ("A-2", Status::Ok)])),
            Verdict::Right
        );
        assert_eq!(
            judge(&MODE, &child(&[("A-1", red.clone()), ("A-2", red.clone())])),
            Verdict::Right
        );
        let spilled = child(&[("A-1", red.clone()), ("A-3", red.clone())]);
        assert_eq!(wrong(&spilled), "A-3 (s) is red as well");
        assert_eq!(wrong(&child(&[("A-1", Status::Ok), ("A-2", red)])), "A-1 (s) is not red");
        assert_eq!(wrong(&child(&[])), "A-1 did not run");
    }

    #[test]
    fn a_skip_is_made_up_for_by_another_subject_only() {
        let skip = Status::Skip("cannot be driven into it".to_owned());
        let both = child(&[("A-1", skip.clone()), ("A-1", Status::Red)]);
        assert_eq!(judge(&MODE, &both), Verdict::Right);
        assert_eq!(wrong(&child(&[("A-1", skip), ("A-2", Status::Red)])), "A-1 (s) is not red");
    }

    #[test]
    fn a_mode_that_never_fired_proves_nothing() {
        let mut inert = child(&[("A-1", Status::Red)]);
        inert.report.as_mut().unwrap().fired = 0;
        assert_eq!(wrong(&inert), "the mode fired 0 times");
    }

    #[test]
    fn the_exit_code_has_to_be_one() {
        for exit in [Some(0), Some(2), Some(70), None] {
            let odd = ChildOutcome { exit, ..child(&[("A-1", Status::Red)]) };
            assert!(matches!(judge(&MODE, &odd), Verdict::Wrong(_)), "{exit:?}");
        }
    }

    #[test]
    fn a_killed_child_is_a_timeout_even_when_it_printed_the_red_line() {
        let killed = ChildOutcome { timed_out: true, exit: None, ..child(&[("A-1", Status::Red)]) };
        assert_eq!(judge(&MODE, &killed), Verdict::Timeout);
        let slow = ChildOutcome { exit: Some(3), ..child(&[("A-1", Status::Red)]) };
        assert_eq!(judge(&MODE, &slow), Verdict::Timeout);
    }

    #[test]
    fn a_child_without_a_report_is_a_fault() {
        let silent = ChildOutcome { exit: Some(1), ..ChildOutcome::default() };
        assert_eq!(wrong(&silent), "the child printed no complete report");
    }
}
