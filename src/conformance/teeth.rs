//! The teeth: which break modes trip which check site.
//!
//! A check that no mode trips proves nothing about itself. The matrix of a self-test is compared
//! with a golden file: a site that loses its last mode, or vanishes, is an error, and so is a
//! site that the golden file does not know. Sites without a mode need a reason each, and their
//! number may only fall.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::contract::Suite;
use super::outcome::RunReport;

/// Version of the golden file.
const GOLDEN_VERSION: u32 = 1;

/// Sites with the modes that trip them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matrix(pub BTreeMap<String, BTreeSet<String>>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Golden {
    version: u32,
    sites: BTreeMap<String, BTreeSet<String>>,
}

impl Matrix {
    /// The sites of a run under the control, none of them tripped yet.
    pub fn of_baseline(baseline: &RunReport) -> Self {
        let sites = baseline.results.iter().flat_map(|result| result.sites.iter().cloned());
        Self(sites.map(|site| (site, BTreeSet::new())).collect())
    }

    /// Adds the sites that failed under a mode.
    pub fn add(&mut self, mode: &str, report: &RunReport) {
        for site in report.results.iter().flat_map(|result| result.failed_sites()) {
            self.0.entry(site.to_owned()).or_default().insert(mode.to_owned());
        }
    }

    /// Sites that no mode trips.
    pub fn untoothed(&self) -> BTreeSet<&str> {
        let bare = self.0.iter().filter(|(_, modes)| modes.is_empty());
        bare.map(|(site, _)| site.as_str()).collect()
    }

    /// Reads the golden file.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let golden: Golden = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if golden.version != GOLDEN_VERSION {
            return Err(format!("teeth file version {}, not {GOLDEN_VERSION}", golden.version));
        }
        Ok(Self(golden.sites))
    }

    /// The golden file's text: sorted, one site a line.
    pub fn to_json(&self) -> String {
        let mut lines = Vec::new();
        for (site, modes) in &self.0 {
            let modes: Vec<String> = modes.iter().map(|mode| format!("\"{mode}\"")).collect();
            lines.push(format!("    \"{site}\": [{}]", modes.join(", ")));
        }
        format!(
            "{{\n  \"version\": {GOLDEN_VERSION},\n  \"sites\": {{\n{}\n  }}\n}}\n",
            lines.join(",\n")
        )
    }
}

/// Sites that had a mode in the golden matrix and have none now.
pub fn lost_teeth(golden: &Matrix, current: &Matrix) -> Vec<String> {
    let toothed = golden.0.iter().filter(|(_, modes)| !modes.is_empty());
    toothed
        .filter(|(site, _)| current.0.get(*site).is_none_or(BTreeSet::is_empty))
        .map(|(site, modes)| {
            let modes: Vec<&str> = modes.iter().map(String::as_str).collect();
            format!("{site} is no longer tripped by {}", modes.join(", "))
        })
        .collect()
}

/// Differences in the set of sites: the golden file has to be renewed on purpose.
pub fn unknown_sites(golden: &Matrix, current: &Matrix) -> Vec<String> {
    let new = current.0.keys().filter(|site| !golden.0.contains_key(*site));
    let gone = golden.0.keys().filter(|site| !current.0.contains_key(*site));
    new.map(|site| format!("{site} is not in the golden file"))
        .chain(gone.map(|site| format!("{site} is in the golden file but did not run")))
        .collect()
}

/// What is wrong with the sites that no mode trips: no reason, a stale reason, or too many.
pub fn untoothed_faults(suite: &Suite, current: &Matrix) -> Vec<String> {
    let bare = current.untoothed();
    let mut faults = Vec::new();
    for site in &bare {
        if !suite.untoothed.iter().any(|row| row.site == *site && !row.reason.is_empty()) {
            faults.push(format!("{site} is tripped by no mode and gives no reason"));
        }
    }
    for row in &suite.untoothed {
        if !bare.contains(row.site) {
            faults.push(format!("{} is excused but tripped, or does not exist", row.site));
        }
    }
    if bare.len() > suite.untoothed_ceiling {
        let (have, ceiling) = (bare.len(), suite.untoothed_ceiling);
        faults.push(format!("{have} sites without a mode, ceiling {ceiling}"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::registry::suite;

    fn matrix(rows: &[(&str, &[&str])]) -> Matrix {
        let row = |(site, modes): &(&str, &[&str])| {
            ((*site).to_owned(), modes.iter().map(|mode| (*mode).to_owned()).collect())
        };
        Matrix(rows.iter().map(row).collect())
    }

    #[test]
    fn a_site_that_loses_its_last_mode_is_named() {
        let golden = matrix(&[("A-1/a", &["x", "y"]), ("A-1/b", &["x"]), ("A-1/c", &[])]);
        let current = matrix(&[("A-1/a", &["y"]), ("A-1/b", &[])]);
        assert_eq!(lost_teeth(&golden, &current), ["A-1/b is no longer tripped by x"]);
        assert_eq!(
            unknown_sites(&golden, &current),
            ["A-1/c is in the golden file but did not run"]
        );
    }

    #[test]
    fn a_new_site_has_to_enter_the_golden_file() {
        let current = matrix(&[("A-1/new", &["x"])]);
        assert_eq!(
            unknown_sites(&Matrix::default(), &current),
            ["A-1/new is not in the golden file"]
        );
    }

    #[test]
    fn a_bare_site_needs_a_reason_and_a_place_under_the_ceiling() {
        let mut suite = suite();
        suite.untoothed.clear();
        suite.untoothed_ceiling = 0;
        let faults = untoothed_faults(&suite, &matrix(&[("A-1/a", &[])]));
        assert_eq!(faults.len(), 2, "{faults:?}");
        let toothed = matrix(&[("A-1/a", &["x"])]);
        assert!(untoothed_faults(&suite, &toothed).is_empty());
    }

    #[test]
    fn the_file_reads_back_and_is_one_line_a_site() {
        let golden = matrix(&[("A-1/a", &["x", "y"]), ("A-1/b", &[])]);
        let text = golden.to_json();
        assert_eq!(Matrix::from_json(&text).unwrap(), golden);
        assert_eq!(text.lines().count(), 7);
        assert!(Matrix::from_json("{\"version\":9,\"sites\":{}}").is_err());
    }
}
