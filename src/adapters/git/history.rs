//! Walks over a repository's history, bounded in time and in commits.

use crate::domain::repository::MADE_MAX;
use gix::revision::walk::Sorting;
use gix::{ObjectId, Repository};
use std::time::{Duration, Instant};

/// At most so many commits are passed for one question.
const COMMITS_MAX: usize = 500_000;
/// The clock is read once in so many commits.
const LOOK_EVERY: usize = 256;

/// What the walks of one question may still cost.
#[derive(Debug)]
pub(super) struct Budget {
    until: Instant,
    left: usize,
    spent: bool,
}

impl Budget {
    pub(super) fn new(limit: Duration) -> Self {
        Self { until: Instant::now() + limit, left: COMMITS_MAX, spent: false }
    }

    /// Takes one commit; false when there is nothing left to take.
    fn take(&mut self) -> bool {
        let late = self.left.is_multiple_of(LOOK_EVERY) && Instant::now() >= self.until;
        if self.left == 0 || late {
            self.spent = true;
        }
        self.left = self.left.saturating_sub(1);
        !self.spent
    }

    /// Whether a walk ended before its end.
    pub(super) fn is_spent(&self) -> bool {
        self.spent
    }
}

/// Whether the history of `tip` holds a commit; none where the walk ended early, or where the
/// history itself is cut.
pub(super) fn holds(
    repository: &Repository,
    tip: Option<ObjectId>,
    target: ObjectId,
    shallow: bool,
    budget: &mut Budget,
) -> Result<Option<bool>, gix::Error> {
    let Some(tip) = tip else { return Ok(None) };
    let newest_first = Sorting::ByCommitTime(gix::revision::walk::CommitTimeOrder::NewestFirst);
    for commit in repository.rev_walk([tip]).sorting(newest_first).all()? {
        if commit?.id == target {
            return Ok(Some(true));
        }
        if !budget.take() {
            return Ok(None);
        }
    }
    Ok((!shallow).then_some(false))
}

/// The commits of a history whose own time lies in a span, newest first.
pub(super) fn made_between(
    repository: &Repository,
    tip: ObjectId,
    (from, to): (i64, i64),
    budget: &mut Budget,
) -> Result<Vec<String>, gix::Error> {
    let order = gix::revision::walk::CommitTimeOrder::NewestFirst;
    let since = Sorting::ByCommitTimeCutoff { order, seconds: from };
    let mut made = Vec::new();
    for commit in repository.rev_walk([tip]).sorting(since).all()? {
        let commit = commit?;
        let time = commit.commit_time();
        if (from..=to).contains(&time) {
            made.push(commit.id.to_string());
        }
        if made.len() == MADE_MAX || !budget.take() {
            break;
        }
    }
    Ok(made)
}
