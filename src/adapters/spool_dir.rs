//! A spool of files: `pending/<name>.json`, written aside, synced, renamed, private.
//!
//! The same bytes under the same name are left untouched, so a repeated export changes nothing. A
//! name that could leave the folder is refused; nothing is written through a symlink.

use crate::ports::spool::{Put, Spool};
use rustix::fs::OFlags;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// A spool below one folder.
pub struct SpoolDir {
    root: PathBuf,
    pending: PathBuf,
}

impl SpoolDir {
    /// Makes the folders (0700) where they are missing.
    ///
    /// # Errors
    /// When a folder cannot be made, or is a symlink.
    pub fn open(root: &Path) -> io::Result<Self> {
        let pending = root.join("pending");
        DirBuilder::new().recursive(true).mode(0o700).create(&pending)?;
        if fs::symlink_metadata(&pending)?.is_symlink() {
            return Err(io::Error::other(format!("{} is a symlink", pending.display())));
        }
        Ok(Self { root: root.to_owned(), pending })
    }

    fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<Put> {
        let path = folder.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|m| m.is_file() && m.len() == bytes.len() as u64)
            && fs::read(&path)? == bytes
        {
            return Ok(Put::Unchanged);
        }
        let temp = folder.join(format!("{name}.tmp"));
        let written = write_synced(&temp, bytes).and_then(|()| fs::rename(&temp, &path));
        if let Err(e) = written {
            // The half-written file is ours to clean up; the error is what matters.
            let _ = fs::remove_file(&temp);
            return Err(e);
        }
        Ok(Put::Written)
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A leftover of a killed run is replaced, a link in its place refused.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(flags)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

impl Spool for SpoolDir {
    fn put(&mut self, name: &str, bytes: &[u8]) -> io::Result<Put> {
        let safe = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if !safe {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a spool name"));
        }
        Self::write(&self.pending, &format!("{name}.json"), bytes)
    }

    fn manifest(&mut self, bytes: &[u8]) -> io::Result<()> {
        Self::write(&self.root, "manifest.json", bytes)?;
        File::open(&self.pending)?.sync_all()?;
        File::open(&self.root)?.sync_all()
    }

    fn root(&self) -> PathBuf {
        self.root.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_record_is_private_and_put_twice_is_written_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = SpoolDir::open(dir.path()).unwrap();
        assert_eq!(spool.put("a-1", b"{}").unwrap(), Put::Written);
        assert_eq!(spool.put("a-1", b"{}").unwrap(), Put::Unchanged);
        let meta = fs::metadata(dir.path().join("pending/a-1.json")).unwrap();
        assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_name_that_leaves_the_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = SpoolDir::open(dir.path()).unwrap();
        for name in ["../x", "a/b", "", "a.b", "\u{e9}"] {
            assert!(spool.put(name, b"{}").is_err(), "{name}");
        }
    }

    #[test]
    fn a_link_in_the_place_of_a_record_is_replaced_and_its_target_stays() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("precious");
        fs::write(&target, "mine").unwrap();
        let mut spool = SpoolDir::open(&dir.path().join("out")).unwrap();
        let link = dir.path().join("out/pending/a.json");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        spool.put("a", b"{\"x\":1}").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
        assert_eq!(fs::read_to_string(&link).unwrap(), "{\"x\":1}");
    }
}
