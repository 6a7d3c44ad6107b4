//! What a commit and the work tree hold of single files.
//!
//! A file is compared with its blob byte for byte. Filters and conversions are not applied: they
//! are programs that a repository's configuration names.

use crate::domain::repository::{Facts, Question};
use gix::{ObjectId, Repository};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A file above this many bytes is not compared.
const FILE_MAX: u64 = 32 * 1024 * 1024;

/// Adds to the facts what the question's files show.
pub(super) fn look(
    repository: &Repository,
    question: &Question,
    target: Option<ObjectId>,
    facts: &mut Facts,
) {
    let Some(root) = super::root(repository) else { return };
    let head = repository.head_id().ok().map(gix::Id::detach);
    for path in &question.paths {
        let inside = inside(&root, Path::new(&question.folder), Path::new(path));
        let touched = inside
            .as_deref()
            .zip(target)
            .and_then(|(inside, commit)| changed_by(repository, commit, inside));
        facts.touches.push((path.clone(), touched));
        let differs = inside
            .as_deref()
            .zip(head)
            .and_then(|(inside, head)| differs(repository, head, &root, inside));
        if differs == Some(true) {
            facts.differing.push(path.clone());
        }
    }
}

/// A path relative to the root of the work tree; none when it lies outside.
fn inside(root: &Path, folder: &Path, path: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let whole = flat(&folder.join(path))?;
    // A folder that the agent reached through a link is spelled otherwise than the root.
    let resolved = match whole.parent().map(fs::canonicalize) {
        Some(Ok(parent)) => parent.join(whole.file_name()?),
        _ => whole,
    };
    let inside = resolved.strip_prefix(root).ok()?.to_owned();
    (!inside.as_os_str().is_empty()).then_some(inside)
}

/// A path without `.` and `..`; none when it climbs above its beginning.
fn flat(path: &Path) -> Option<PathBuf> {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !flat.pop() {
                    return None;
                }
            }
            other => flat.push(other),
        }
    }
    Some(flat)
}

/// Whether a commit changed a file against each of its parents; none where a parent is missing.
fn changed_by(repository: &Repository, commit: ObjectId, path: &Path) -> Option<bool> {
    let object = repository.find_commit(commit).ok()?;
    let here = blob_of(repository, commit, path)?;
    let parents: Vec<ObjectId> = object.parent_ids().map(gix::Id::detach).collect();
    if parents.is_empty() {
        return Some(here.is_some());
    }
    for parent in parents {
        if blob_of(repository, parent, path)? == here {
            return Some(false);
        }
    }
    Some(true)
}

/// The blob at a path of a commit; the inner none when there is no such file.
fn blob_of(repository: &Repository, commit: ObjectId, path: &Path) -> Option<Option<ObjectId>> {
    let tree = repository.find_commit(commit).ok()?.tree().ok()?;
    let entry = tree.lookup_entry_by_path(path).ok()?;
    Some(entry.map(|entry| entry.object_id()))
}

/// Whether a file of the work tree is not the one of a commit; none where that cannot be told.
fn differs(repository: &Repository, head: ObjectId, root: &Path, path: &Path) -> Option<bool> {
    let committed = blob_of(repository, head, path)?;
    let place = root.join(path);
    let Ok(stat) = fs::symlink_metadata(&place) else {
        return Some(committed.is_some());
    };
    let Some(committed) = committed else { return Some(true) };
    if !stat.is_file() || stat.len() > FILE_MAX {
        return None;
    }
    let content = fs::read(&place).ok()?;
    let hash = gix::objs::compute_hash(committed.kind(), gix::objs::Kind::Blob, &content).ok()?;
    Some(hash != committed)
}
