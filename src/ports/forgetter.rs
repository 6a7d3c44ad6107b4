//! Forgetting: taking conversations out of the store for good.
//!
//! A tombstone comes first. From then on nobody sees the conversation and nothing of it is stored
//! again; its rows go afterwards in short steps, and whoever is killed in between leaves the rest
//! to the next.

use super::recorder::StoreError;
use crate::base::hash::Digest;
use crate::base::time::Micros;
use std::path::PathBuf;

/// A conversation to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaving {
    /// Its key.
    pub key: String,
    /// The key of the one on whose account it goes; its own for one that was named.
    pub root: String,
}

/// How much there is of some conversations.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Extent {
    pub events: i64,
    pub evidence: i64,
    pub claims: i64,
    pub usage: i64,
    pub losses: i64,
    /// Names of the sources that told of them.
    pub sources: Vec<String>,
    /// Folders that they were exported to.
    pub exported: Vec<String>,
}

/// The forgetting side of the store.
pub trait Forgetter {
    /// What the store holds of these conversations.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn extent(&self, conversations: &[i64]) -> Result<Extent, StoreError>;

    /// Puts up the tombstones, all or none: from here on the conversations are forgotten.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn entomb(&mut self, leaving: &[Leaving], at: Micros) -> Result<(), StoreError>;

    /// Removes what is left of everything under a tombstone; true when there was anything. The
    /// write lock is never held for long.
    ///
    /// # Errors
    /// When the store cannot be written; what was removed is, the rest waits.
    fn finish_forgetting(&mut self) -> Result<bool, StoreError>;

    /// Rewrites the store without the pages that were freed and empties its log, so that no byte of
    /// what was removed is left in a file.
    ///
    /// # Errors
    /// When another process does not let go of the store, or the disk refuses.
    fn scrub(&mut self) -> Result<(), StoreError>;

    /// Whether something was removed and the store not scrubbed since.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn needs_scrub(&self) -> Result<bool, StoreError>;

    /// Copies of the store beside it, made before an upgrade.
    fn backups(&self) -> Vec<PathBuf>;

    /// Removes them; answers which.
    ///
    /// # Errors
    /// When one cannot be removed.
    fn remove_backups(&mut self) -> Result<Vec<PathBuf>, StoreError>;

    /// Takes the tombstone of a key away, and of what went on its account; false when there is none.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn lift(&mut self, key: &Digest) -> Result<bool, StoreError>;

    /// Notes that conversations were exported to a folder.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn note_export(&mut self, ids: &[i64], folder: &str, at: Micros) -> Result<(), StoreError>;

    /// How many raw hook payloads received before a time are kept.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn raw_before(&self, before: Micros) -> Result<i64, StoreError>;

    /// Removes the raw hook payloads received before a time; events and evidence stay.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn drop_raw(&mut self, before: Micros) -> Result<(), StoreError>;
}
