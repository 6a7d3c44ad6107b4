//! What a claim about a check or a command is judged by: the runs that are of its kind.

use super::place;
use super::{ClaimCase, ShellRun, Situation};
use crate::domain::claims::Subject;
use crate::domain::command::{
    Check, Scope, StatusReach, TestRun, Wanted, names_tool, plain_words, runs_of, tools,
};
use crate::domain::summaries::{self, Summary};

/// A command with the run in it.
#[derive(Debug, Clone)]
pub(super) struct Candidate<'a> {
    pub(super) run: &'a ShellRun,
    pub(super) test: TestRun,
    pub(super) summary: Option<Summary>,
    /// Folder below the conversation's; `None` when it lies elsewhere.
    pub(super) folder: Option<String>,
}

/// A kind of claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Tests,
    Check(Check),
    /// That a command was run, whatever came of it.
    Executed,
    /// That a command was run and succeeded.
    Succeeded,
}

impl Kind {
    /// The kind of a subject; `None` for deeds and for what nobody judges.
    pub(super) fn of(subject: &Subject) -> Option<Self> {
        Some(match subject {
            Subject::TestResult => Self::Tests,
            Subject::BuildResult => Self::Check(Check::Build),
            Subject::LintResult => Self::Check(Check::Lint),
            Subject::TypeCheckResult => Self::Check(Check::Types),
            Subject::FormatResult => Self::Check(Check::Format),
            Subject::CommandExecuted => Self::Executed,
            Subject::CommandSucceeded => Self::Succeeded,
            _ => return None,
        })
    }

    /// What such a run is called.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Tests => "test run",
            Self::Check(Check::Build) => "build",
            Self::Check(Check::Lint) => "run of a linter",
            Self::Check(Check::Types) => "type check",
            Self::Check(Check::Format) => "check of the formatting",
            Self::Executed | Self::Succeeded => "run of that command",
        }
    }

    /// Whether work after a run takes away from what its success says: that a command succeeded
    /// stays true.
    pub(super) fn goes_stale(self) -> bool {
        !matches!(self, Self::Executed | Self::Succeeded)
    }
}

/// The runs that are of a claim's kind, oldest first.
pub(super) fn candidates<'a>(
    kind: Kind,
    claim: &ClaimCase,
    situation: &'a Situation,
) -> Vec<Candidate<'a>> {
    let mut found: Vec<Candidate<'a>> = match kind {
        Kind::Tests => of(situation, &Wanted::Tests, true),
        Kind::Check(check) => checks(check, claim, situation),
        Kind::Executed | Kind::Succeeded => commands(claim, situation),
    };
    found.sort_by_key(|c| c.run.order);
    found
}

fn of<'a>(situation: &'a Situation, wanted: &Wanted<'_>, summed: bool) -> Vec<Candidate<'a>> {
    let candidate = |run: &'a ShellRun| {
        let mut tests = runs_of(&run.command, wanted);
        let several = tests.len() > 1;
        let mut test = tests.pop()?;
        if several {
            // Which of several runs failed, or that all passed, needs all of them to reach.
            let all = |f: fn(&TestRun) -> bool| tests.iter().all(f) && f(&test);
            let (success, failure) = (all(|t| t.success_proves), all(|t| t.failure_proves));
            test.success_proves = success;
            test.failure_proves = failure;
        }
        Some(candidate_of(run, test, situation, summed))
    };
    situation.runs.iter().filter_map(candidate).collect()
}

fn candidate_of<'a>(
    run: &'a ShellRun,
    test: TestRun,
    situation: &Situation,
    summed: bool,
) -> Candidate<'a> {
    let output = run.output.as_deref().filter(|_| summed);
    let summary = output.and_then(summaries::read);
    let folder = place::folder(run, &test, situation.cwd.as_deref());
    Candidate { run, test, summary, folder }
}

/// Runs of a check. A claim that names its tool is judged by that tool's runs; what a script runs is
/// not told, so its status proves nothing of a named tool.
fn checks<'a>(check: Check, claim: &ClaimCase, situation: &'a Situation) -> Vec<Candidate<'a>> {
    let mut found = of(situation, &Wanted::Check(check), false);
    let text = claim.text.to_lowercase();
    let named: Vec<&str> = tools(check).filter(|tool| has_word(&text, tool)).collect();
    if named.is_empty() {
        return found;
    }
    found.retain(|one| named.contains(&one.test.runner) || !names_tool(one.test.runner));
    for one in found.iter_mut().filter(|one| !names_tool(one.test.runner)) {
        one.test.success_proves = false;
        one.test.failure_proves = false;
    }
    found
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '-').any(|part| part == word)
}

/// Runs of the very command that a claim names.
fn commands<'a>(claim: &ClaimCase, situation: &'a Situation) -> Vec<Candidate<'a>> {
    let named = claim.reading.as_ref().and_then(|said| said.object.command.as_deref());
    let Some(line) = named.map(str::trim).filter(|line| !line.is_empty()) else {
        return Vec::new();
    };
    let mut found = match plain_words(line) {
        Some(words) => of(situation, &Wanted::Command(&words), false),
        None => Vec::new(),
    };
    // A line of several commands is the claimed one when it is spelled alike.
    for run in situation.runs.iter().filter(|run| run.command.display().trim() == line) {
        if !found.iter().any(|one| one.run.order == run.order) {
            let whole = TestRun {
                runner: "the command",
                scope: Scope::Full,
                status: StatusReach::Direct,
                success_proves: true,
                failure_proves: true,
                directory: None,
            };
            found.push(candidate_of(run, whole, situation, false));
        }
    }
    found
}
