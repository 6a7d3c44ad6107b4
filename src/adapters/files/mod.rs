//! The file system as a source of histories.
//!
//! Only regular files are opened, without blocking on what turns out to be a FIFO. A `.zst` file
//! is read through its decompressor, so offsets count decompressed bytes. A walk does not follow
//! links, so it ends and stays below its root; what it leaves alone it reports.

mod zst;

use crate::ports::files::{FileKind, FileStat, Files, Met, is_compressed};
use rustix::fs::OFlags;
use std::fs::{self, Metadata};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Folders below one another at most, against hostile trees.
const WALK_DEPTH_MAX: usize = 64;

/// The real file system.
pub struct FsFiles;

impl Files for FsFiles {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        fs::metadata(path).map(|m| stat_of(&m))
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        let mut file = fs::OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        if is_compressed(path) {
            return zst::open(file, offset);
        }
        file.seek(SeekFrom::Start(offset))?;
        // As it is: a wrapper without its own `read_buf` would have each buffer zeroed first.
        Ok(Box::new(file))
    }

    fn walk(&self, root: &Path) -> Vec<Met> {
        let mut met = Vec::new();
        match fs::metadata(root) {
            Ok(meta) if meta.is_file() => met.push(Met::File(root.to_owned())),
            Ok(meta) if meta.is_dir() => walk_folder(root, 0, &mut met),
            Ok(_) => met.push(Met::Special(root.to_owned())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => met.push(Met::Unreadable(root.to_owned(), e.kind())),
        }
        met
    }
}

fn stat_of(meta: &Metadata) -> FileStat {
    let kind = if meta.is_file() {
        FileKind::File
    } else if meta.is_dir() {
        FileKind::Folder
    } else {
        FileKind::Special
    };
    let changed_ns = meta.ctime().saturating_mul(1_000_000_000).saturating_add(meta.ctime_nsec());
    FileStat {
        kind,
        device: meta.dev(),
        inode: meta.ino(),
        size: meta.size(),
        modified_ns: meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec()),
        changed_ns,
        settled: changed_ns < stamping_clock(),
    }
}

/// Nanoseconds since 1970 by the clock that stamps files.
#[cfg(target_os = "linux")]
fn stamping_clock() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
}

/// Where files are stamped by the precise clock, a later change has a later time.
#[cfg(not(target_os = "linux"))]
fn stamping_clock() -> i64 {
    i64::MAX
}

fn walk_folder(folder: &Path, depth: usize, met: &mut Vec<Met>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) => return met.push(Met::Unreadable(folder.to_owned(), e.kind())),
    };
    if depth > WALK_DEPTH_MAX {
        return met.push(Met::Unreadable(folder.to_owned(), io::ErrorKind::Other));
    }
    let mut found: Vec<_> = entries.filter_map(Result::ok).collect();
    found.sort_by_key(fs::DirEntry::file_name);
    for entry in found {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk_folder(&path, depth + 1, met),
            Ok(kind) if kind.is_file() => met.push(Met::File(path)),
            Ok(_) => met.push(Met::Special(path)),
            Err(e) => met.push(Met::Unreadable(path, e.kind())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_loop_ends_and_links_are_reported_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/x.jsonl"), "{}").unwrap();
        std::os::unix::fs::symlink(dir.path(), dir.path().join("a/loop")).unwrap();
        let met = FsFiles.walk(dir.path());
        assert_eq!(met.iter().filter(|m| matches!(m, Met::File(_))).count(), 1);
        assert_eq!(met.iter().filter(|m| matches!(m, Met::Special(_))).count(), 1);
    }

    #[test]
    fn a_fifo_is_never_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fifo.jsonl");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        assert_eq!(FsFiles.stat(&path).unwrap().kind, FileKind::Special);
        assert!(FsFiles.open(&path, 0).is_err());
    }

    #[test]
    fn bytes_come_from_the_offset_asked_for_also_when_compressed() {
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("a.jsonl");
        fs::write(&plain, b"0123456789").unwrap();
        let packed = dir.path().join("a.jsonl.zst");
        fs::write(&packed, zstd::encode_all(&b"0123456789"[..], 3).unwrap()).unwrap();
        for path in [plain, packed] {
            let mut text = String::new();
            FsFiles.open(&path, 4).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "456789", "{}", path.display());
        }
    }
}
