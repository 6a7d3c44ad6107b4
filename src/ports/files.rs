//! Files as sources: identity, bytes from an offset, and walking a folder.
//!
//! Identity is what the file system says (device, inode, size, times); a compressed file is read
//! through, so that offsets count decompressed bytes.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What kind of thing a path names, links followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    File,
    Folder,
    /// FIFO, socket or device: never opened.
    Special,
}

/// Identity and state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    pub kind: FileKind,
    pub device: u64,
    pub inode: u64,
    /// Bytes on disk (of a compressed file: compressed).
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified_ns: i64,
    pub changed_ns: i64,
    /// True when the clock that stamps files had moved on when this was taken, so that any later
    /// change shows in `changed_ns`. It ticks some hundred times a second.
    pub settled: bool,
}

impl FileStat {
    /// Same device, inode, size and times as a settled state: nothing happened.
    pub fn unchanged_since(&self, earlier: &Self) -> bool {
        earlier.settled && Self { settled: true, ..*self } == *earlier
    }

    /// The same device and inode.
    pub fn same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// True for a file that is read through its decompressor (`.zst`).
pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "zst")
}

/// What a walk meets.
#[derive(Debug)]
pub enum Met {
    /// A regular file (reached without following links out of the walk).
    File(PathBuf),
    /// Something that could not be looked into.
    Unreadable(PathBuf, io::ErrorKind),
    /// Not a regular file.
    Special(PathBuf),
}

/// The file system as the readers need it.
pub trait Files: Send + Sync {
    /// Identity of a path, links followed.
    ///
    /// # Errors
    /// What the file system reports.
    fn stat(&self, path: &Path) -> io::Result<FileStat>;

    /// The bytes from `offset` on; never opens anything but a regular file.
    ///
    /// # Errors
    /// What the file system or the decompressor reports. A compressed file that ends in the middle
    /// of its stream, as one that is being written does, reports `UnexpectedEof`, here when it ends
    /// before `offset` and from the reader otherwise.
    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn Read + Send>>;

    /// Every file below `root`, sorted by path; a link loop ends. A root that does not exist is
    /// met as nothing.
    fn walk(&self, root: &Path) -> Vec<Met>;
}
