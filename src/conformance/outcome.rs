//! What a run gives: its plan, its results, and how often the mode fired.
//!
//! The same values are written as JSON lines by a child process and read back by the parent, so
//! that a self-test judges exactly what a user would see.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::check::Failure;

/// One planned line; the whole plan is known before anything runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanLine {
    /// The case, or the step of a self-test.
    pub id: String,
    /// The demand.
    pub title: String,
    /// The subject; empty for a step of a self-test.
    pub subject: String,
    /// The clause that demands it.
    pub clause: String,
}

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every check held.
    Ok,
    /// At least one did not, or the ledger did not close.
    Red,
    /// It could not run, for the reason given. Never a pass.
    Skip(String),
    /// It took longer than its deadline.
    Timeout,
}

/// One finished line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The case, or the step of a self-test.
    pub id: String,
    /// The demand.
    pub title: String,
    /// The subject.
    pub subject: String,
    /// The clause that demands it.
    pub clause: String,
    /// How it ended.
    pub status: Status,
    /// The distinct sites that ran.
    pub sites: Vec<String>,
    /// How many sites the registry declares.
    pub declared: u32,
    /// What failed.
    pub failures: Vec<Failure>,
}

impl CaseResult {
    /// A result for a planned line.
    pub fn of(line: &PlanLine, status: Status, failures: Vec<Failure>) -> Self {
        Self {
            id: line.id.clone(),
            title: line.title.clone(),
            subject: line.subject.clone(),
            clause: line.clause.clone(),
            status,
            sites: Vec::new(),
            declared: 0,
            failures,
        }
    }

    /// The planned line of this result.
    pub fn line(&self) -> PlanLine {
        PlanLine {
            id: self.id.clone(),
            title: self.title.clone(),
            subject: self.subject.clone(),
            clause: self.clause.clone(),
        }
    }

    /// The check sites that failed; the ledger and the panic guard are no sites.
    pub fn failed_sites(&self) -> impl Iterator<Item = &str> {
        self.failures
            .iter()
            .map(|failure| failure.site.as_str())
            .filter(|site| self.sites.iter().any(|ran| ran == site))
    }
}

/// A whole run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunReport {
    /// What was to run.
    pub plan: Vec<PlanLine>,
    /// What did.
    pub results: Vec<CaseResult>,
    /// How often the mode changed an answer.
    pub fired: u64,
}

/// How many results there are of each status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Passed.
    pub ok: usize,
    /// Failed.
    pub red: usize,
    /// Not run.
    pub skip: usize,
    /// Too slow.
    pub timeout: usize,
    /// Check sites that ran.
    pub checks_made: usize,
    /// Check sites that the registry declares.
    pub checks_expected: usize,
}

impl RunReport {
    /// The results by status.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for result in &self.results {
            match result.status {
                Status::Ok => counts.ok += 1,
                Status::Red => counts.red += 1,
                Status::Skip(_) => counts.skip += 1,
                Status::Timeout => counts.timeout += 1,
            }
            counts.checks_made += result.sites.len();
            counts.checks_expected += usize::try_from(result.declared).unwrap_or(usize::MAX);
        }
        counts
    }

    /// The ids of the red cases.
    pub fn reds(&self) -> BTreeSet<&str> {
        self.results
            .iter()
            .filter(|result| result.status == Status::Red)
            .map(|result| result.id.as_str())
            .collect()
    }

    /// Whether plan and results name the same lines in the same order.
    pub fn follows_plan(&self) -> bool {
        let planned = self.plan.iter().map(|line| (&line.subject, &line.id));
        let run = self.results.iter().map(|result| (&result.subject, &result.id));
        planned.eq(run)
    }

    /// The (subject, case) pairs that ran and were not skipped.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.results
            .iter()
            .filter(|result| !matches!(result.status, Status::Skip(_)))
            .map(|result| (result.subject.clone(), result.id.clone()))
            .collect()
    }
}
