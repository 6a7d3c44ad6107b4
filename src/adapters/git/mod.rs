//! A repository as a witness, through gix: it is read and never written, no program is started,
//! and only the repository's own configuration counts.
//!
//! The work is done by a thread of its own, because a folder on a mount that hangs cannot be
//! interrupted; whoever asks gets an answer in time.

mod history;
mod paths;
#[cfg(test)]
mod tests;

use crate::domain::repository::{CommitFacts, Facts, Found, Question, Testimony, Unavailable};
use crate::ports::git::GitWitness;
use gix::{ObjectId, Repository};
use history::Budget;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// How long one question may take.
const LIMIT: Duration = Duration::from_secs(1);

/// The repositories on this machine.
#[derive(Debug, Clone, Copy)]
pub struct GixWitness {
    limit: Duration,
}

impl GixWitness {
    /// A witness that answers within a second.
    pub fn new() -> Self {
        Self { limit: LIMIT }
    }
}

impl Default for GixWitness {
    fn default() -> Self {
        Self::new()
    }
}

impl GitWitness for GixWitness {
    fn examine(&self, question: &Question) -> Testimony {
        let (tell, told) = mpsc::channel();
        let (question, limit) = (question.clone(), self.limit);
        let work = move || {
            // Nobody listens any more once the time is up.
            let _ = tell.send(testify(&question, limit));
        };
        let started = std::thread::Builder::new().name("git-witness".to_owned()).spawn(work);
        if started.is_err() {
            return Testimony::Unavailable(Unavailable::Unreadable);
        }
        // The walk keeps to the limit by itself; what hangs in the system does not.
        match told.recv_timeout(limit + limit / 2) {
            Ok(testimony) => testimony,
            Err(mpsc::RecvTimeoutError::Timeout) => Testimony::Unavailable(Unavailable::TimedOut),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                Testimony::Unavailable(Unavailable::Unreadable)
            }
        }
    }
}

fn testify(question: &Question, limit: Duration) -> Testimony {
    let repository = match open(Path::new(&question.folder)) {
        Ok(repository) => repository,
        Err(reason) => return Testimony::Unavailable(reason),
    };
    match facts(&repository, question, &mut Budget::new(limit)) {
        Ok(facts) => Testimony::Facts(facts),
        Err(_) => Testimony::Unavailable(Unavailable::Unreadable),
    }
}

/// The repository that holds a folder.
fn open(folder: &Path) -> Result<Repository, Unavailable> {
    if !folder.is_dir() {
        return Err(Unavailable::FolderMissing);
    }
    let (found, _) = gix::discover::upwards(folder).map_err(|_| Unavailable::NotARepository)?;
    let (git_dir, _) = found.into_repository_and_work_tree_directories();
    gix::open::Options::isolated().open(git_dir).map_err(|_| Unavailable::Unreadable)
}

fn facts(
    repository: &Repository,
    question: &Question,
    budget: &mut Budget,
) -> Result<Facts, gix::Error> {
    let head = repository.head()?;
    let checked_out = head.id().map(gix::Id::detach);
    let head_branch = head.referent_name().map(|name| name.shorten().to_string());
    let tip = match &question.branch {
        Some(branch) => branch_tip(repository, branch)?,
        None => checked_out,
    };
    let mut facts = Facts {
        head: checked_out.map(|id| id.to_string()),
        head_branch,
        shallow: repository.is_shallow()?,
        bare: repository.workdir().is_none(),
        ..Facts::default()
    };
    let target = find(repository, question, tip, &mut facts);
    if let Some(target) = target {
        facts.on_branch = history::holds(repository, tip, target, facts.shallow, budget)?;
        remotes(repository, question, target, &mut facts, budget)?;
    }
    if let (Some(tip), Some(between)) = (tip, question.between) {
        facts.made_between = history::made_between(repository, tip, between, budget)?;
    }
    paths::look(repository, question, target, &mut facts);
    facts.cut_short = budget.is_spent();
    Ok(facts)
}

/// Where a branch is: the local one, else the only remote one of that name.
fn branch_tip(repository: &Repository, branch: &str) -> Result<Option<ObjectId>, gix::Error> {
    for folder in ["refs/heads/", "refs/remotes/"] {
        let name = format!("{folder}{branch}");
        // A name that git would not accept names no branch.
        if let Ok(Some(mut reference)) = repository.try_find_reference(name.as_str()) {
            return Ok(Some(reference.peel_to_id()?.detach()));
        }
    }
    Ok(None)
}

/// The commit that the question is about; what became of it is noted in the facts.
fn find(
    repository: &Repository,
    question: &Question,
    tip: Option<ObjectId>,
    facts: &mut Facts,
) -> Option<ObjectId> {
    let named = question.commit.is_some();
    let looked_up = match &question.commit {
        Some(prefix) => by_prefix(repository, prefix),
        None => tip.ok_or(Found::Nothing),
    };
    let id = looked_up.map_err(|found| facts.commit = found).ok()?;
    let commit = match repository.find_object(id) {
        Ok(object) => object.try_into_commit().map_err(|_| Found::OtherObject),
        Err(_) => Err(Found::Missing),
    };
    let commit = commit.map_err(|found| facts.commit = found).ok()?;
    let committed_at = commit.time().map(|time| time.seconds).unwrap_or_default();
    facts.commit = Found::Commit(CommitFacts { id: id.to_string(), committed_at, named });
    Some(id)
}

fn by_prefix(repository: &Repository, hex: &str) -> Result<ObjectId, Found> {
    let prefix = gix::hash::Prefix::from_hex(hex).map_err(|_| Found::Missing)?;
    match repository.objects.lookup_prefix(prefix, None) {
        Ok(Some(Ok(id))) => Ok(id),
        Ok(Some(Err(()))) => Err(Found::Ambiguous),
        Ok(None) | Err(_) => Err(Found::Missing),
    }
}

/// At most so many remote-tracking references are looked at.
const REMOTES_MAX: usize = 64;

/// Which remote-tracking references hold the commit.
fn remotes(
    repository: &Repository,
    question: &Question,
    target: ObjectId,
    facts: &mut Facts,
    budget: &mut Budget,
) -> Result<(), gix::Error> {
    let branch = question.branch.as_deref().or(facts.head_branch.as_deref()).map(str::to_owned);
    let references = repository.references()?;
    let mut about: Vec<(String, ObjectId)> = Vec::new();
    for mut reference in references.remote_branches()?.filter_map(Result::ok).take(REMOTES_MAX) {
        let name = reference.name().shorten().to_string();
        let (remote, rest) = name.split_once('/').unwrap_or((name.as_str(), ""));
        let asked = question.remote.as_deref().is_none_or(|r| r == remote);
        let same = branch.as_deref().is_none_or(|b| b == rest);
        if rest != "HEAD"
            && asked
            && same
            && let Ok(id) = reference.peel_to_id()
        {
            about.push((name, id.detach()));
        }
    }
    about.sort();
    facts.remote_known = !about.is_empty();
    for (name, tip) in about {
        if history::holds(repository, Some(tip), target, facts.shallow, budget)? == Some(true) {
            facts.on_remotes.push(name);
        }
    }
    Ok(())
}

/// The root of the work tree, with links resolved.
fn root(repository: &Repository) -> Option<PathBuf> {
    std::fs::canonicalize(repository.workdir()?).ok()
}
