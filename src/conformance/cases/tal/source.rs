//! A file that a case writes, and a reader's way through it.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::conformance::decoding::{At, Observation};
use crate::conformance::tailing::{Ask, Delivered, Note, TailReader, Token};

/// The time of a file's first writing, in seconds since 1970.
const BEGUN: u64 = 1_790_000_000;

fn said<T>(done: std::io::Result<T>) -> Result<T, String> {
    done.map_err(|error| format!("the case cannot write its file: {error}"))
}

/// A file and how far it was read.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) token: Option<Token>,
    following: bool,
    /// Grows with every writing, so that each has a time of its own.
    clock: u64,
}

impl Source {
    /// A file with these bytes; `following` says which of the two ways of reading is meant.
    pub(super) fn of(
        reader: &dyn TailReader,
        name: &str,
        following: bool,
        bytes: &[u8],
    ) -> Result<Self, String> {
        let path = reader.folder().join(format!("{name}-{following}.jsonl"));
        let mut source = Self { path, token: None, following, clock: 0 };
        said(fs::write(&source.path, bytes))?;
        source.tick()?;
        Ok(source)
    }

    fn tick(&mut self) -> Result<(), String> {
        self.clock += 1;
        set_time(&self.path, BEGUN + self.clock)
    }

    /// Adds to the end.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), String> {
        append(&self.path, bytes)?;
        self.tick()
    }

    /// Writes other bytes into the same file.
    pub(super) fn rewrite(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut file = said(OpenOptions::new().write(true).open(&self.path))?;
        said(file.write_all(bytes))?;
        said(file.set_len(bytes.len() as u64))?;
        self.tick()
    }

    /// Puts another file in its place.
    pub(super) fn replace(&mut self, bytes: &[u8]) -> Result<(), String> {
        let other = self.path.with_extension("new");
        said(fs::write(&other, bytes))?;
        said(fs::rename(&other, &self.path))?;
        self.tick()
    }

    /// Moves it.
    pub(super) fn rename(&mut self, name: &str) -> Result<(), String> {
        let moved = self.path.with_file_name(name);
        said(fs::rename(&self.path, &moved))?;
        self.path = moved;
        Ok(())
    }

    /// Removes it.
    pub(super) fn remove(&self) -> Result<(), String> {
        said(fs::remove_file(&self.path))
    }

    /// Gives it the time of its `nth` writing, from 1.
    pub(super) fn set_clock(&mut self, nth: u64) -> Result<(), String> {
        set_time(&self.path, BEGUN + nth)
    }

    /// A read from where the last one ended.
    pub(super) fn ask(&self) -> Ask {
        Ask { following: self.following, ..Ask::of(&self.path, self.token.as_ref()) }
    }

    /// Reads what is new.
    pub(super) fn read(&mut self, reader: &mut dyn TailReader) -> Result<Delivered, String> {
        let ask = self.ask();
        self.read_as(reader, ask)
    }

    /// Reads in a way of its own, and goes on from there.
    pub(super) fn read_as(
        &mut self,
        reader: &mut dyn TailReader,
        ask: Ask,
    ) -> Result<Delivered, String> {
        let delivered = reader.read(ask)?;
        self.token.clone_from(&delivered.token);
        Ok(delivered)
    }

    /// How far it was read.
    pub(super) fn boundary(&self) -> u64 {
        self.token.as_ref().map_or(0, |token| token.boundary)
    }

    /// Its generation.
    pub(super) fn generation(&self) -> i64 {
        self.token.as_ref().map_or(0, |token| token.generation)
    }
}

/// Adds to the end of a file, and leaves its time to the clock.
pub(super) fn append(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let mut file = said(OpenOptions::new().append(true).open(path))?;
    said(file.write_all(bytes))
}

fn set_time(path: &Path, seconds: u64) -> Result<(), String> {
    let file = said(File::options().write(true).open(path))?;
    said(file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)))
}

/// The words of the events, in order.
pub(super) fn texts(observations: &[Observation]) -> Vec<&str> {
    observations.iter().filter(|one| one.is_event()).filter_map(|one| one.text.as_deref()).collect()
}

/// Observations without what depends on the way they were read: the file's name, and which of two
/// tellings counts among those of one read.
pub(super) fn bare(observations: Vec<Observation>) -> Vec<Observation> {
    observations
        .into_iter()
        .filter(|one| !one.kind.starts_with("loss:source_"))
        .map(|one| Observation {
            counted: true,
            fallback: false,
            at: At { source: String::new(), ..one.at },
            ..one
        })
        .collect()
}

/// Whether a read says that it began again.
pub(super) fn says_restarted(delivered: &Delivered) -> bool {
    delivered.notes.iter().any(|note| matches!(note, Note::Restarted(_)))
}

/// Holds when both are equal.
pub(super) fn same<T: PartialEq + std::fmt::Debug>(expected: &T, got: &T) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{got:?}, not {expected:?}")) }
}
