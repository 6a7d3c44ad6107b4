//! Commands, read as a shell would read them: which test runs a command holds, and whether its exit
//! status says anything about them.
//!
//! A command line is cut into shell words, wrappers are taken off (`bash -lc`, `timeout`, `uv run`,
//! `docker exec`, ...), and what is left is compared with the known test runners by whole words, so
//! that `pip install pytest` and `echo cargo test` are no test runs. `success_proves` and
//! `failure_proves` say what the exit status of the whole implies for each run.
//! Pure, bounded and total: a command beyond the limits holds no test runs.

mod checks;
mod invocations;
mod jobs;
mod lexer;
mod looks;
mod options;
mod parser;
mod reach;
#[rustfmt::skip] // Tables of words, packed.
mod runner_tables;
mod runners;
#[cfg(test)]
mod tests;
mod touches;
mod wrappers;

use serde::{Deserialize, Serialize};

pub use checks::{Check, names_tool, tools};
pub use invocations::{Invocation, invocations};
pub use looks::only_looks;
pub use touches::may_change_files;

/// A command longer than this many bytes is not read.
pub const MAX_COMMAND_BYTES: usize = 64 * 1024;
/// Groups and nested shells deeper than this are not read.
pub const MAX_DEPTH: usize = 12;

/// A command as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommandText {
    /// One line, for a shell.
    Line(String),
    /// Words, already split.
    Argv(Vec<String>),
}

impl CommandText {
    /// The command as one line for people; not for running again.
    pub fn display(&self) -> String {
        match self {
            Self::Line(line) => line.clone(),
            Self::Argv(words) => words.join(" "),
        }
    }
}

/// One run of tests, of a check or of a named command inside a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestRun {
    /// The runner's name ("cargo test", "pytest").
    pub runner: &'static str,
    /// Whether everything was run.
    pub scope: Scope,
    /// How the run's exit status reaches the command's.
    pub status: StatusReach,
    /// Exit 0 of the whole command implies that this run passed.
    pub success_proves: bool,
    /// A non-zero exit of the whole command implies that this run failed.
    pub failure_proves: bool,
    /// Where a `cd` before the run went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

/// How much of a test suite a run covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// No filter was given.
    Full,
    /// A filter, path or package was given.
    Partial {
        /// The first argument that narrows the run.
        reason: String,
    },
}

/// Whether a run's exit status can be seen in the command's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusReach {
    /// It can, at least in one direction.
    Direct,
    /// It cannot.
    Masked {
        /// What hides it.
        by: Mask,
    },
}

/// What hides an exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mask {
    /// A later part of a pipeline.
    Pipe,
    /// `|| true` and its like.
    OrTrue,
    /// A command after `;` or a line break.
    LaterCommand,
    /// `&`: nobody waited.
    Background,
    /// A condition, a loop, a negation, or a command that could not be read whole.
    Unknown,
}

/// What is looked for in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// Runs of tests.
    Tests,
    /// Runs of a check.
    Check(Check),
    /// This very command, perhaps with more arguments.
    Command(&'a [String]),
}

/// The test runs in `command`, in order.
pub fn test_runs(command: &CommandText) -> Vec<TestRun> {
    runs_of(command, &Wanted::Tests)
}

/// The words of a command line that is one simple command; none for every other line.
pub fn plain_words(line: &str) -> Option<Vec<String>> {
    let found = invocations(&CommandText::Line(line.to_owned()));
    let [one] = found.as_slice() else { return None };
    (one.success_proves && one.failure_proves).then(|| one.words.clone())
}

/// The runs of what is wanted in `command`, in order.
pub fn runs_of(command: &CommandText, wanted: &Wanted<'_>) -> Vec<TestRun> {
    let mut shell = reach::Shell::new(wanted);
    let found = match command {
        CommandText::Line(line) => shell.line(line),
        CommandText::Argv(words) => {
            let total: usize = words.iter().map(String::len).sum();
            if total > MAX_COMMAND_BYTES {
                return Vec::new();
            }
            let words: Vec<_> = words.iter().map(|word| lexer::Word::literal(word)).collect();
            shell.simple(&words)
        }
    };
    found.into_iter().map(reach::Found::into_run).collect()
}
