//! The journal: what hooks append and everything else drains.
//!
//! A hook appends one frame with one write and never meets the store. A drainer takes segments out
//! of the hooks' way, reads their frames, and removes a segment once the store has all of it.

use std::io;
use std::path::PathBuf;

/// One frame read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A frame whose length and checksum hold.
    Good { body: Vec<u8>, end: u64 },
    /// Bytes that are no sound frame: skipped up to `end`.
    Torn { end: u64 },
    /// A frame of a newer format: left alone.
    Newer { version: u32, end: u64 },
}

/// What a hook needs.
pub trait JournalWriter {
    /// Appends one frame; one write, no store, at most a short wait for the lock.
    ///
    /// # Errors
    /// When the frame could not be written anywhere.
    fn append(&self, body: &[u8]) -> io::Result<()>;
}

/// A segment taken out of the hooks' way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Unique name, for its position in the store.
    pub name: String,
    pub path: PathBuf,
    pub bytes: u64,
}

/// What a purge did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purged {
    /// Files that were removed or written again without the frames.
    pub rewritten: u64,
    /// Frames of a newer format that stay: nobody here can say what they tell, but they name none
    /// of the conversations.
    pub unreadable: u64,
}

/// What a drainer needs.
pub trait JournalReader {
    /// Takes the right to drain; `None` when another process has it. Held until dropped.
    ///
    /// # Errors
    /// What the file system reports.
    fn claim(&self) -> io::Result<Option<Box<dyn std::any::Any>>>;

    /// Closes the current segment and lists all closed ones, oldest first.
    ///
    /// # Errors
    /// What the file system reports.
    fn segments(&self) -> io::Result<Vec<Segment>>;

    /// Frames of a segment from `offset` on, handed to `each` until it answers false.
    ///
    /// # Errors
    /// What the file system reports.
    fn read(
        &self,
        segment: &Segment,
        offset: u64,
        each: &mut dyn FnMut(Frame) -> bool,
    ) -> io::Result<()>;

    /// Removes a segment that is stored whole.
    ///
    /// # Errors
    /// What the file system reports.
    fn remove(&self, segment: &Segment) -> io::Result<()>;

    /// Takes what tells of the conversations with these native ids out of what is kept undrained:
    /// frames of a newer format that name one, frames beside them that are stored already, and
    /// what killed writers left behind. The right to drain must be held.
    ///
    /// # Errors
    /// What the file system reports.
    fn purge(&self, native_ids: &[String]) -> io::Result<Purged>;

    /// Bytes that wait to be drained.
    fn waiting_bytes(&self) -> u64;

    /// The folder that hooks append in, made when it is not there yet, so that it can be watched.
    ///
    /// # Errors
    /// What the file system reports.
    fn folder(&self) -> io::Result<PathBuf>;
}
