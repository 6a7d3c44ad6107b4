//! The hook's side: one frame, one write.

use super::frame::encode;
use super::unique::Unique;
use super::{CLOSED_PREFIX, CURRENT, LOCK, SUFFIX};
use crate::base::crash;
use crate::base::hash::Digest;
use crate::base::limits::{JOURNAL_LOCK_WAIT, JOURNAL_SEGMENT_BYTES_MAX};
use crate::ports::journal::JournalWriter;
use rustix::fs::OFlags;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a stand-in that was taken aside is opened anew.
const LOOKS_MAX: usize = 3;

/// Appends frames to a home's journal, or to one private file in the runtime folder where the
/// home cannot be written.
pub struct JournalAppender {
    home: PathBuf,
    runtime: Option<PathBuf>,
    fsync: bool,
    /// Names own segments.
    unique: Unique,
}

impl JournalAppender {
    /// An appender; `unique` must differ between processes (pid and time).
    pub fn new(home: &Path, runtime: Option<&Path>, fsync: bool, unique: String) -> Self {
        let (home, runtime) = (home.to_owned(), runtime.map(Path::to_owned));
        Self { home, runtime, fsync, unique: Unique::new(unique) }
    }

    fn append_in_home(&self, frame: &[u8]) -> io::Result<()> {
        let folder = self.home.join("journal");
        match self.append_in(&folder, frame) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                make_private_folder(&self.home)?;
                make_private_folder(&folder)?;
                self.append_in(&folder, frame)
            }
            other => other,
        }
    }

    fn append_in(&self, folder: &Path, frame: &[u8]) -> io::Result<()> {
        if folder.symlink_metadata()?.is_symlink() {
            return Err(io::Error::other("the journal folder is a symlink"));
        }
        // A lock that is held too long, or is no lock file at all, costs a segment of our own.
        let _shared = match lock_shared(&folder.join(LOCK)) {
            Ok(Some(lock)) => lock,
            Ok(None) => return self.own_segment(folder, frame),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(e),
            Err(_) => return self.own_segment(folder, frame),
        };
        let path = folder.join(CURRENT);
        let Ok(mut file) = open_append(&path) else {
            // Something that is no plain file stands in the way.
            return self.own_segment(folder, frame);
        };
        file.write_all(frame)?;
        crash::point("append-written");
        if self.fsync {
            file.sync_data()?;
        }
        drop(_shared);
        if file.metadata().is_ok_and(|m| m.len() > JOURNAL_SEGMENT_BYTES_MAX) {
            // Closing is housekeeping: whoever fails leaves it to the next.
            let _ = self.close_current(folder);
        }
        Ok(())
    }

    fn own_segment(&self, folder: &Path, frame: &[u8]) -> io::Result<()> {
        let unique = self.unique.next();
        let temp = folder.join(format!("own-{unique}.tmp"));
        let mut file = open_append(&temp)?;
        file.write_all(frame)?;
        if self.fsync {
            file.sync_data()?;
        }
        crash::point("own-written");
        std::fs::rename(&temp, folder.join(format!("{CLOSED_PREFIX}{unique}o{SUFFIX}")))?;
        crash::point("own-named");
        Ok(())
    }

    fn close_current(&self, folder: &Path) -> io::Result<()> {
        let lock = open_append(&folder.join(LOCK))?;
        if lock.try_lock().is_ok() {
            let closed = folder.join(format!("{CLOSED_PREFIX}{}c{SUFFIX}", self.unique.next()));
            std::fs::rename(folder.join(CURRENT), closed)?;
        }
        Ok(())
    }

    /// One private file in the runtime folder, named for the home.
    fn append_in_runtime(&self, frame: &[u8]) -> io::Result<()> {
        let Some(runtime) = &self.runtime else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "no runtime folder"));
        };
        let path = runtime.join(runtime_name(&self.home));
        // A drainer takes the file aside before it reads it; then there will be another.
        for _ in 0..LOOKS_MAX {
            let mut file = open_append(&path)?;
            if share(&file)? && is_at(&file, &path) {
                return file.write_all(frame);
            }
        }
        Err(io::Error::new(io::ErrorKind::WouldBlock, "the file in the runtime folder is locked"))
    }
}

impl JournalWriter for JournalAppender {
    fn append(&self, body: &[u8]) -> io::Result<()> {
        let frame = encode(body);
        self.append_in_home(&frame).or_else(|_| self.append_in_runtime(&frame))
    }
}

/// Name of the file in the runtime folder that stands in for a home's journal.
pub(super) fn runtime_name(home: &Path) -> String {
    let hash = Digest::of(home.as_os_str().as_encoded_bytes()).short_hex();
    format!("fornax-{hash}{SUFFIX}")
}

/// Opens a plain file for appending: private, never through a link, never blocking.
pub(super) fn open_append(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

fn lock_shared(path: &Path) -> io::Result<Option<File>> {
    let file = open_append(path)?;
    Ok(share(&file)?.then_some(file))
}

/// Whether a path still names an open file.
fn is_at(file: &File, path: &Path) -> bool {
    let of = |meta: io::Result<std::fs::Metadata>| meta.map(|m| (m.dev(), m.ino())).ok();
    let own = of(file.metadata());
    own.is_some() && own == of(path.symlink_metadata())
}

/// Locks a file shared; false when that takes longer than a hook can wait.
fn share(file: &File) -> io::Result<bool> {
    let start = Instant::now();
    loop {
        match file.try_lock_shared() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if start.elapsed() < JOURNAL_LOCK_WAIT => {
                std::thread::sleep(Duration::from_micros(500));
            }
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(e)) => return Err(e),
        }
    }
}

/// Makes a folder with mode 0700; one that is there already is left as it is.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().recursive(true).mode(0o700).create(path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        other => other,
    }
}
