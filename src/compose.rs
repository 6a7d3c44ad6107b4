//! The composition root: the only place that picks concrete adapters.

use std::process::ExitCode;

/// Runs the program and returns its exit code.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
