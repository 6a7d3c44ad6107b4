//! Which commands are test runs, how much they run, and what their exit status proves.
//!
//! Tables of command lines, one claim a table; properties for the reading of arbitrary text.

mod properties;
mod reach;
mod recognise;
mod scope;
mod touches;

use super::{CommandText, TestRun, test_runs};

/// The test runs in a line for a shell.
fn runs(line: &str) -> Vec<TestRun> {
    test_runs(&CommandText::Line(line.to_owned()))
}

/// The only test run in a line.
fn run(line: &str) -> TestRun {
    let found = runs(line);
    assert_eq!(found.len(), 1, "{line}: {found:?}");
    found.into_iter().next().unwrap()
}
