//! From the exit status of a whole command to the test runs inside it.
//!
//! For every run two things are asked: does success of the whole imply that it passed, and does
//! failure of the whole imply that it failed. `&&` keeps the first, a pipe without `pipefail`
//! neither, `;` neither unless `set -e` is on. Commands that do nothing but set the scene (`cd`,
//! `export`, `echo`) are taken to succeed.

use super::jobs::{self, Job};
use super::lexer::{self, Word};
use super::parser::{self, Join, Part, Pipeline, Script};
use super::{MAX_DEPTH, Mask, Scope, StatusReach, TestRun, Wanted};

/// Pipelines of one script that are read; what a longer one proves is unknown.
const MAX_PIPELINES: usize = 1000;

/// A test run and what is known so far about its status.
#[derive(Debug, Clone)]
pub(super) struct Found {
    runner: &'static str,
    scope: Scope,
    directory: Option<String>,
    success: bool,
    failure: bool,
    mask: Option<Mask>,
}

impl Found {
    fn hide(&mut self, by: Mask) {
        self.success = false;
        self.failure = false;
        self.mask.get_or_insert(by);
    }

    pub(super) fn into_run(self) -> TestRun {
        let hidden = !self.success && !self.failure;
        let by = self.mask.unwrap_or(Mask::Unknown);
        TestRun {
            runner: self.runner,
            scope: self.scope,
            status: if hidden { StatusReach::Masked { by } } else { StatusReach::Direct },
            success_proves: self.success,
            failure_proves: self.failure,
            directory: self.directory,
        }
    }
}

/// What earlier commands of a shell have set.
#[derive(Debug, Clone)]
pub(super) struct Shell<'w> {
    wanted: &'w Wanted<'w>,
    pub pipefail: bool,
    pub errexit: bool,
    /// A `trap` may replace the exit status.
    trapped: bool,
    directory: Option<String>,
    depth: usize,
}

impl<'w> Shell<'w> {
    /// A shell in which nothing was set.
    pub(super) fn new(wanted: &'w Wanted<'w>) -> Self {
        let (pipefail, errexit, trapped) = (false, false, false);
        Self { wanted, pipefail, errexit, trapped, directory: None, depth: 0 }
    }

    /// The runs of a command line.
    pub(super) fn line(&mut self, line: &str) -> Vec<Found> {
        let script = parser::parse(&lexer::lex(line));
        self.script(&script)
    }

    /// The runs of one command given as words.
    pub(super) fn simple(&mut self, words: &[Word]) -> Vec<Found> {
        match jobs::read(words, self.wanted) {
            Job::Run { runner, scope } => vec![Found {
                runner,
                scope,
                directory: self.directory.clone(),
                success: !self.trapped,
                failure: !self.trapped,
                mask: None,
            }],
            Job::Script { text, errexit, pipefail } if self.depth < MAX_DEPTH => {
                let directory = self.directory.clone();
                let depth = self.depth + 1;
                let mut inner = Self {
                    wanted: self.wanted,
                    pipefail,
                    errexit,
                    directory,
                    depth,
                    trapped: self.trapped,
                };
                inner.line(&text)
            }
            Job::Script { .. } | Job::Other => {
                self.note(words);
                Vec::new()
            }
        }
    }

    /// Remembers `cd` and `set`.
    fn note(&mut self, words: &[Word]) {
        let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
        match text(0) {
            "cd" | "pushd" => {
                let target = if text(1) == "--" { text(2) } else { text(1) };
                self.directory = match &self.directory {
                    Some(base) if !target.starts_with(['/', '~', '$']) => {
                        Some(format!("{base}/{target}"))
                    }
                    _ => Some(target.to_owned()),
                };
            }
            "trap" => self.trapped = true,
            "set" => {
                for at in 1..words.len() {
                    let option = text(at);
                    let on = option.starts_with('-');
                    let cluster = option.starts_with(['-', '+']);
                    if cluster && option.contains('e') {
                        self.errexit = on;
                    }
                    if cluster && option.ends_with('o') && text(at + 1) == "pipefail" {
                        self.pipefail = on;
                    }
                }
            }
            _ => {}
        }
    }

    fn script(&mut self, script: &Script) -> Vec<Found> {
        let items = script.items.get(..MAX_PIPELINES).unwrap_or(&script.items);
        let cut = items.len() < script.items.len();
        let chains: Vec<_> = items
            .split_inclusive(|(_, join)| matches!(join, Join::Then | Join::Background))
            .collect();
        let mut all = Vec::new();
        for (index, chain) in chains.iter().enumerate() {
            let errexit = self.errexit;
            let mut found = self.chain(chain);
            let later = chains.get(index + 1..).unwrap_or_default();
            let earlier = chains.get(..index).unwrap_or_default();
            for (position, run) in &mut found {
                if script.compound || cut {
                    run.hide(Mask::Unknown);
                }
                if chain.last().is_some_and(|(_, join)| *join == Join::Background) {
                    run.hide(Mask::Background);
                }
                if !later.is_empty() {
                    // `set -e` stops only where the last pipeline of a chain fails.
                    let stops = errexit && *position + 1 == chain.len() && !alternatives(chain);
                    let stops = stops && scenery_before(chain, *position);
                    if stops {
                        run.failure &= later.iter().all(is_scenery_chain);
                    } else {
                        run.hide(Mask::LaterCommand);
                    }
                }
                // `make || exit 1; cargo test`: the script may have ended before the run.
                if earlier.iter().any(|chain| chain.iter().any(|(pipeline, _)| may_exit(pipeline)))
                {
                    run.hide(Mask::Unknown);
                }
                if errexit {
                    run.failure &= earlier.iter().all(is_scenery_chain);
                }
            }
            all.extend(found.into_iter().map(|(_, run)| run));
        }
        all
    }

    /// The runs of pipelines joined by `&&` and `||`, with their positions.
    fn chain(&mut self, chain: &[(Pipeline, Join)]) -> Vec<(usize, Found)> {
        let mut all = Vec::new();
        for (index, (pipeline, _)) in chain.iter().enumerate() {
            for mut run in self.pipeline(pipeline) {
                let before = index.checked_sub(1).and_then(|at| chain.get(at));
                if before.is_some_and(|(_, join)| *join == Join::Or) {
                    // It may not have run at all.
                    run.hide(Mask::Unknown);
                }
                run.failure &= scenery_before(chain, index);
                for pair in chain.get(index..).unwrap_or_default().windows(2) {
                    let [(_, join), (next, _)] = pair else { continue };
                    match join {
                        Join::Or if never_succeeds(next) => {}
                        Join::Or => run.hide(Mask::OrTrue),
                        _ => run.failure &= is_scenery(next),
                    }
                }
                all.push((index, run));
            }
        }
        all
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Vec<Found> {
        let count = pipeline.parts.len();
        let mut all = Vec::new();
        for (index, part) in pipeline.parts.iter().enumerate() {
            // Parts of a pipeline and groups are shells of their own.
            let mut own = self.clone();
            own.depth += usize::from(matches!(part, Part::Group(_)));
            let mut found = match part {
                Part::Simple(words) if count == 1 => self.simple(words),
                Part::Simple(words) => own.simple(words),
                Part::Group(script) => own.script(script),
            };
            for run in &mut found {
                if count > 1 && self.pipefail {
                    run.failure = false;
                } else if index + 1 < count {
                    run.hide(Mask::Pipe);
                }
                if pipeline.negated {
                    run.hide(Mask::Unknown);
                }
            }
            all.extend(found);
        }
        all
    }
}

fn alternatives(chain: &[(Pipeline, Join)]) -> bool {
    chain.iter().any(|(_, join)| *join == Join::Or)
}

fn scenery_before(chain: &[(Pipeline, Join)], index: usize) -> bool {
    chain.iter().take(index).all(|(pipeline, _)| is_scenery(pipeline))
}

fn is_scenery_chain(chain: &&[(Pipeline, Join)]) -> bool {
    chain.iter().all(|(pipeline, _)| is_scenery(pipeline))
}

/// A command that sets the scene and is taken to succeed.
fn is_scenery(pipeline: &Pipeline) -> bool {
    const SCENERY: [&str; 17] = [
        "cd", "pushd", "popd", "export", "source", ".", "set", "unset", "shopt", "echo", "printf",
        ":", "true", "alias", "pwd", "date", "clear",
    ];
    let [Part::Simple(words)] = pipeline.parts.as_slice() else { return false };
    let first = words.iter().find(|word| !jobs::is_assignment(word));
    let assigned = words.iter().filter(|word| jobs::is_assignment(word));
    let literal = assigned.clone().all(|word| word.literal);
    match first {
        Some(word) => SCENERY.contains(&word.text.as_str()) && !pipeline.negated,
        None => literal && !pipeline.negated,
    }
}

/// Holds an `exit`, a `return` or an `exec`.
fn may_exit(pipeline: &Pipeline) -> bool {
    pipeline.parts.iter().any(|part| match part {
        Part::Simple(words) => words.first().is_some_and(|word| {
            word.bare
                && (matches!(word.text.as_str(), "exit" | "return")
                    || word.text == "exec" && words.len() > 1)
        }),
        Part::Group(script) => script.items.iter().any(|(pipeline, _)| may_exit(pipeline)),
    })
}

/// `exit 1`, `false`, `{ echo failed; exit 1; }`.
fn never_succeeds(pipeline: &Pipeline) -> bool {
    match pipeline.parts.as_slice() {
        [Part::Simple(words)] => {
            let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
            let number = text(1).parse::<u8>().is_ok_and(|number| number != 0);
            text(0) == "false" || matches!(text(0), "exit" | "return") && number
        }
        [Part::Group(script)] => match script.items.as_slice() {
            [.., (last, Join::Then)] => {
                !script.compound
                    && matches!(last.parts.as_slice(), [Part::Simple(_)])
                    && never_succeeds(last)
                    && script.items.iter().rev().skip(1).all(|(_, join)| *join == Join::Then)
            }
            _ => false,
        },
        _ => false,
    }
}
