//! `fornax forget`: which conversations are meant, and taking every trace of them out.
//!
//! What a conversation started goes with it; what was forked from it stays. The order of steps is
//! such that a kill at any moment leaves nothing that a later run would not finish: tombstones
//! first, then rows, journal, copies of the store, and the freed bytes last.

use super::drain::{DrainError, drain};
use super::lookup::{LookupError, by_word};
use crate::base::hash::Digest;
use crate::base::time::Micros;
use crate::domain::key::ConversationKey;
use crate::domain::provider::Provider;
use crate::ports::files::{Files, Met};
use crate::ports::forgetter::{Extent, Forgetter, Leaving};
use crate::ports::journal::{JournalReader, Purged};
use crate::ports::reader::{ConversationRow, Reader};
use crate::ports::recorder::StoreError;
use crate::ports::store::Store;
use std::collections::{BTreeSet, HashMap};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes of an exported file that are looked at; records are smaller.
const EXPORTED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What to forget.
#[derive(Debug, Clone, Copy)]
pub enum Which<'a> {
    /// One conversation, by a key, a native id or a unique beginning of one.
    Session(&'a str),
    /// Those of which nothing happened since, what they started included.
    Before(Micros),
    /// Those whose folder is this one or lies below.
    Project(&'a Path),
}

/// A conversation that goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    pub row: ConversationRow,
    /// Key of the one on whose account it goes.
    pub root: String,
}

/// What was taken out.
#[derive(Debug, Default)]
pub struct Forgotten {
    pub journal: Purged,
    pub backups: Vec<PathBuf>,
    /// Why bytes are left in the files; everything is out of sight nevertheless.
    pub left: Option<DrainError>,
}

/// The conversations that are meant, each with what it started.
///
/// # Errors
/// Unknown, ambiguous, or the store's own.
pub fn choose(reader: &dyn Reader, which: Which<'_>) -> Result<Vec<Chosen>, LookupError> {
    let rows = reader.conversations()?.rows;
    let roots: Vec<String> = match which {
        Which::Session(word) => vec![by_word(reader, word)?.key],
        Which::Before(before) => untouched_since(&rows, before),
        Which::Project(folder) => rows
            .iter()
            .filter(|row| row.cwd.as_deref().is_some_and(|cwd| Path::new(cwd).starts_with(folder)))
            .map(|row| row.key.clone())
            .collect(),
    };
    let started = started(&rows);
    let mut root_of: HashMap<String, String> = HashMap::new();
    for root in roots {
        for key in tree_of(&started, &root) {
            root_of.entry(key.to_owned()).or_insert_with(|| root.clone());
        }
    }
    let chosen = rows.into_iter().filter_map(|row| {
        let root = root_of.get(&row.key)?.clone();
        Some(Chosen { row, root })
    });
    Ok(chosen.collect())
}

/// The keys of what each conversation started.
type Started<'a> = HashMap<&'a str, Vec<&'a str>>;

fn started(rows: &[ConversationRow]) -> Started<'_> {
    let mut started = Started::new();
    for row in rows {
        if let Some(parent) = &row.parent {
            started.entry(parent).or_default().push(&row.key);
        }
    }
    started
}

/// A conversation with everything that it started, itself first.
fn tree_of<'a>(started: &Started<'a>, root: &'a str) -> Vec<&'a str> {
    let mut found = vec![root];
    let mut seen = BTreeSet::from([root]);
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        next += 1;
        for key in started.get(parent).into_iter().flatten() {
            if seen.insert(key) {
                found.push(key);
            }
        }
    }
    found
}

/// Conversations at the top of their tree in which nothing happened since. One without a time is
/// none of them.
fn untouched_since(rows: &[ConversationRow], before: Micros) -> Vec<String> {
    let last: HashMap<&str, Option<i64>> =
        rows.iter().map(|row| (row.key.as_str(), row.last_us)).collect();
    let is_top = |row: &&ConversationRow| {
        row.parent.as_deref().is_none_or(|parent| !last.contains_key(parent))
    };
    let started = started(rows);
    let is_old = |row: &&ConversationRow| {
        let tree = tree_of(&started, &row.key).into_iter();
        let newest = tree.filter_map(|key| last.get(key).copied().flatten()).max();
        newest.is_some_and(|at| at < before.0)
    };
    rows.iter().filter(is_top).filter(is_old).map(|row| row.key.clone()).collect()
}

/// What the store holds of the chosen ones.
///
/// # Errors
/// When the store cannot be read.
pub fn extent(store: &mut dyn Store, chosen: &[Chosen]) -> Result<Extent, StoreError> {
    let ids: Vec<i64> = chosen.iter().map(|one| one.row.id).collect();
    store.forgetter().extent(&ids)
}

/// Forgets them.
///
/// # Errors
/// When a tombstone cannot be put up or rows cannot be removed. What keeps bytes from going after
/// that is no error but is answered.
pub fn forget(
    store: &mut dyn Store,
    journal: &dyn JournalReader,
    chosen: &[Chosen],
    at: Micros,
) -> Result<Forgotten, StoreError> {
    let leaving: Vec<Leaving> = chosen
        .iter()
        .map(|one| Leaving { key: one.row.key.clone(), root: one.root.clone() })
        .collect();
    store.forgetter().entomb(&leaving, at)?;
    store.forgetter().finish_forgetting()?;
    let names: Vec<String> = chosen.iter().map(|one| one.row.native_id.clone()).collect();
    let mut done =
        Forgotten { backups: store.forgetter().remove_backups()?, ..Forgotten::default() };
    done.left = match purge(store, journal, &names) {
        Ok(purged) => {
            done.journal = purged;
            None
        }
        Err(error) => Some(error),
    };
    clean_up(store.forgetter(), &mut done.left)?;
    Ok(done)
}

/// Removes what is left of forgotten conversations, and the bytes of everything that was removed.
///
/// # Errors
/// When rows cannot be removed.
pub fn clean_up(
    store: &mut dyn Forgetter,
    left: &mut Option<DrainError>,
) -> Result<(), StoreError> {
    store.finish_forgetting()?;
    if let Err(error) = store.scrub() {
        left.get_or_insert(DrainError::Store(error));
    }
    Ok(())
}

/// Drains what hooks told meanwhile, which drops frames of forgotten conversations, and goes
/// through what the journal keeps undrained.
fn purge(
    store: &mut dyn Store,
    journal: &dyn JournalReader,
    native_ids: &[String],
) -> Result<Purged, DrainError> {
    drain(journal, store.recorder())?;
    if journal.waiting_bytes() > 0 {
        // Another drainer was at it, or a hook wrote just now.
        drain(journal, store.recorder())?;
    }
    let Some(_claim) = journal.claim()? else { return Ok(Purged::default()) };
    Ok(journal.purge(native_ids)?)
}

/// Files below the folders of earlier exports that tell of the chosen ones.
pub fn exported_files(files: &dyn Files, folders: &[String], chosen: &[Chosen]) -> Vec<PathBuf> {
    let marks: Vec<String> = chosen
        .iter()
        .flat_map(|one| [format!("\"{}\"", one.row.native_id), one.row.key.clone()])
        .collect();
    let tells = |path: &Path| {
        let mut bytes = Vec::new();
        let read = files
            .open(path, 0)
            .and_then(|file| file.take(EXPORTED_BYTES_MAX).read_to_end(&mut bytes));
        let text = String::from_utf8_lossy(&bytes);
        // What cannot be read may well tell of them.
        read.is_err() || marks.iter().any(|mark| text.contains(mark))
    };
    let mut found: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| files.walk(Path::new(folder)))
        .filter_map(|met| match met {
            Met::File(path) if path.extension().is_some_and(|end| end == "json") => Some(path),
            _ => None,
        })
        .filter(|path| tells(path))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Lets a forgotten conversation be recorded again: `word` is its key or its whole native id.
/// Answers whether there was a tombstone.
///
/// # Errors
/// When the store cannot be written.
pub fn lift(store: &mut dyn Store, word: &str) -> Result<bool, StoreError> {
    let namespace = store.reader().namespace().to_owned();
    let keys = Provider::KNOWN.iter().filter_map(|provider| {
        ConversationKey::new(Provider::from_tag(provider), namespace.as_str(), word).ok()
    });
    let mut any = false;
    for key in std::iter::once(word.to_owned()).chain(keys.map(|key| key.to_string())) {
        any |= store.forgetter().lift(&Digest::of(key.as_bytes()))?;
    }
    Ok(any)
}
