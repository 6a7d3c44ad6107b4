//! The drainer's side: take segments, read frames, remove what is stored.

use super::frame::decode;
use super::purge;
use super::unique::Unique;
use super::write::{open_append, runtime_name};
use super::{CLOSED_PREFIX, CURRENT, DRAIN_LOCK, LOCK, NEWER_PREFIX, SUFFIX};
use crate::base::crash;
use crate::base::limits::{DRAIN_WAIT, HOOK_PAYLOAD_BYTES_MAX, READ_CHUNK_BYTES};
use crate::base::lines::{Lines, Piece};
use crate::ports::journal::{Frame, JournalReader, Purged, Segment};
use std::any::Any;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Ending of a stand-in file that was taken out of the hooks' way.
const ASIDE: &str = "taken";

/// A home's journal, as a drainer sees it.
pub struct JournalFolder {
    folder: PathBuf,
    /// The stand-in file in the runtime folder, when there is a runtime folder.
    runtime: Option<PathBuf>,
    unique: Unique,
}

impl JournalFolder {
    /// The journal of `home`; `unique` must differ between processes (pid and time).
    pub fn new(home: &Path, runtime: Option<&Path>, unique: String) -> Self {
        Self {
            folder: home.join("journal"),
            runtime: runtime.map(|r| r.join(runtime_name(home))),
            unique: Unique::new(unique),
        }
    }

    /// Renames the current segment and the runtime stand-in out of the hooks' way.
    fn close_current(&self) -> io::Result<()> {
        let lock = open_append(&self.folder.join(LOCK))?;
        lock.lock()?;
        let current = self.folder.join(CURRENT);
        if fs::symlink_metadata(&current).is_ok_and(|m| m.is_file() && m.len() > 0) {
            fs::rename(&current, self.closed_path("d"))?;
            crash::point("segment-closed");
        }
        if let Some(runtime) = &self.runtime {
            self.take_aside(runtime)?;
        }
        Ok(())
    }

    /// Takes the stand-in file out of the hooks' way, where it is.
    fn take_aside(&self, runtime: &Path) -> io::Result<()> {
        if fs::symlink_metadata(runtime).is_ok_and(|m| m.is_file() && m.len() > 0) {
            let name = format!("{}.{ASIDE}", self.unique.next());
            fs::rename(runtime, runtime.with_extension(name))?;
            crash::point("stand-in-aside");
        }
        Ok(())
    }

    /// Whether a segment holds frames of a format that this program does not know.
    fn holds_newer(&self, segment: &Segment) -> io::Result<bool> {
        let mut newer = false;
        self.read(segment, 0, &mut |frame| {
            newer |= matches!(frame, Frame::Newer { .. });
            !newer
        })?;
        Ok(newer)
    }

    /// What waits outside the journal folder.
    fn stand_in_bytes(&self) -> u64 {
        let Some(runtime) = &self.runtime else { return 0 };
        let aside = asides(runtime).unwrap_or_default();
        let files = aside.iter().chain([runtime]);
        files.filter_map(|path| fs::metadata(path).ok()).map(|m| m.len()).sum()
    }

    fn closed_path(&self, tag: &str) -> PathBuf {
        self.folder.join(format!("{CLOSED_PREFIX}{}{tag}{SUFFIX}", self.unique.next()))
    }
}

/// What drainers took aside of a stand-in; those of killed ones are still there.
fn asides(runtime: &Path) -> io::Result<Vec<PathBuf>> {
    let (Some(folder), Some(stem)) = (runtime.parent(), runtime.file_stem()) else {
        return Ok(Vec::new());
    };
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let own = format!("{}.", stem.to_string_lossy());
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let aside = name.starts_with(&own) && name.ends_with(&format!(".{ASIDE}"));
        if aside && entry.file_type()?.is_file() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// A file that was taken aside, as a segment. It is read where it is: the journal's disk may be full.
fn aside_segment(path: PathBuf) -> io::Result<Segment> {
    // Hooks that had opened it before write first; later ones see that it is not theirs any more.
    let file = File::open(&path)?;
    file.lock()?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let name = format!("{CLOSED_PREFIX}{stem}{SUFFIX}");
    Ok(Segment { name, bytes: file.metadata()?.len(), path })
}

/// Renames a file, to another disk too.
fn carry(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(e) if e.kind() == io::ErrorKind::CrossesDevices => {}
        done => return done,
    }
    let temp = to.with_extension("tmp");
    let mut file = open_append(&temp)?;
    // What a killed drainer had copied.
    file.set_len(0)?;
    io::copy(&mut File::open(from)?, &mut file)?;
    fs::rename(&temp, to)?;
    fs::remove_file(from)
}

impl JournalReader for JournalFolder {
    fn claim(&self) -> io::Result<Option<Box<dyn Any>>> {
        if !self.folder.is_dir() {
            // Nothing was ever journalled here; only the stand-in may wait.
            if self.stand_in_bytes() == 0 {
                return Ok(None);
            }
            super::write::make_private_folder(&self.folder)?;
        }
        let lock = open_append(&self.folder.join(DRAIN_LOCK))?;
        let start = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Some(Box::new(lock))),
                // Another drainer is at it: what it takes will be in the store soon.
                Err(TryLockError::WouldBlock) if start.elapsed() < DRAIN_WAIT => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(e)) => return Err(e),
            }
        }
    }

    fn segments(&self) -> io::Result<Vec<Segment>> {
        self.close_current()?;
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let meta = entry.metadata()?;
            let closed = name.starts_with(CLOSED_PREFIX) && name.ends_with(SUFFIX);
            // Kept by an older program for one that can read them; this may be the one.
            let kept = name.starts_with(NEWER_PREFIX)
                && !self.holds_newer(&Segment {
                    name: name.clone(),
                    path: entry.path(),
                    bytes: meta.len(),
                })?;
            if meta.is_file() && (closed || kept) {
                let age = meta.modified().ok();
                found.push((age, Segment { name, path: entry.path(), bytes: meta.len() }));
            }
        }
        for path in self.runtime.iter().map(|r| asides(r)).collect::<io::Result<Vec<_>>>()?.concat()
        {
            let age = fs::metadata(&path)?.modified().ok();
            found.push((age, aside_segment(path)?));
        }
        found.sort_by(|a, b| (a.0, &a.1.name).cmp(&(b.0, &b.1.name)));
        Ok(found.into_iter().map(|(_, segment)| segment).collect())
    }

    fn read(
        &self,
        segment: &Segment,
        offset: u64,
        each: &mut dyn FnMut(Frame) -> bool,
    ) -> io::Result<()> {
        use std::io::Seek as _;
        let mut file = File::open(&segment.path)?;
        file.seek(io::SeekFrom::Start(offset))?;
        let cap = 2 * HOOK_PAYLOAD_BYTES_MAX;
        let mut lines = Lines::new(file, offset, cap, READ_CHUNK_BYTES);
        loop {
            let frame = match lines.next_piece()? {
                Some(Piece::Line { offset, bytes }) => {
                    decode(bytes, offset + bytes.len() as u64 + 1)
                }
                Some(Piece::TooLong { offset, length }) => {
                    Some(Frame::Torn { end: offset + length + 1 })
                }
                None => break,
            };
            if frame.is_some_and(|frame| !each(frame)) {
                return Ok(());
            }
        }
        if lines.rest().is_none_or(|(_, rest)| !rest.is_empty()) {
            each(Frame::Torn { end: segment.bytes });
        }
        Ok(())
    }

    fn remove(&self, segment: &Segment) -> io::Result<()> {
        if self.holds_newer(segment)? {
            // Kept for the program that can read it; its other frames are known by their ids.
            let kept = self.folder.join(format!("{NEWER_PREFIX}{}", segment.name));
            return carry(&segment.path, &kept);
        }
        fs::remove_file(&segment.path)
    }

    fn purge(&self, native_ids: &[String]) -> io::Result<Purged> {
        purge::kept_files(&self.folder, native_ids)
    }

    fn folder(&self) -> io::Result<PathBuf> {
        super::write::make_private_folder(&self.folder)?;
        Ok(self.folder.clone())
    }

    fn waiting_bytes(&self) -> u64 {
        let stand_in = self.stand_in_bytes();
        let Ok(entries) = fs::read_dir(&self.folder) else { return stand_in };
        let waits = |name: &str| name.ends_with(SUFFIX) && !name.starts_with(NEWER_PREFIX);
        let segments: u64 = entries
            .filter_map(Result::ok)
            .filter(|e| waits(&e.file_name().to_string_lossy()))
            .filter_map(|e| e.metadata().ok())
            .map(|m| m.len())
            .sum();
        segments + stand_in
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::journal::JournalAppender;
    use crate::ports::journal::JournalWriter as _;

    fn drained(folder: &JournalFolder) -> Vec<String> {
        let mut bodies = Vec::new();
        for segment in folder.segments().unwrap() {
            folder
                .read(&segment, 0, &mut |frame| {
                    bodies.push(match frame {
                        Frame::Good { body, .. } => String::from_utf8(body).unwrap(),
                        Frame::Torn { .. } => "torn".to_owned(),
                        Frame::Newer { version, .. } => format!("newer {version}"),
                    });
                    true
                })
                .unwrap();
        }
        bodies
    }

    #[test]
    fn what_was_appended_is_drained_in_order() {
        let home = tempfile::tempdir().unwrap();
        let writer = JournalAppender::new(home.path(), None, false, "w".into());
        for n in 0..3 {
            writer.append(format!("{{\"n\":{n}}}").as_bytes()).unwrap();
        }
        let folder = JournalFolder::new(home.path(), None, "d".into());
        let _claim = folder.claim().unwrap().unwrap();
        assert_eq!(drained(&folder), ["{\"n\":0}", "{\"n\":1}", "{\"n\":2}"]);
    }

    #[test]
    fn segments_of_one_process_never_replace_each_other() {
        let home = tempfile::tempdir().unwrap();
        let writer = JournalAppender::new(home.path(), None, false, "w".into());
        let folder = JournalFolder::new(home.path(), None, "d".into());
        writer.append(b"{\"n\":0}").unwrap();
        // Taken out of the way, and not stored: the store was locked.
        assert_eq!(folder.segments().unwrap().len(), 1);
        writer.append(b"{\"n\":1}").unwrap();
        assert_eq!(folder.segments().unwrap().len(), 2);
        // Somebody holds the lock: each frame gets a segment of its own.
        let lock = open_append(&home.path().join("journal").join(LOCK)).unwrap();
        lock.lock().unwrap();
        writer.append(b"{\"n\":2}").unwrap();
        writer.append(b"{\"n\":3}").unwrap();
        lock.unlock().unwrap();
        let mut bodies = drained(&folder);
        bodies.sort();
        assert_eq!(bodies, ["{\"n\":0}", "{\"n\":1}", "{\"n\":2}", "{\"n\":3}"]);
    }

    #[test]
    fn a_torn_frame_costs_itself_and_not_the_next() {
        let home = tempfile::tempdir().unwrap();
        let writer = JournalAppender::new(home.path(), None, false, "w".into());
        writer.append(b"{\"n\":0}").unwrap();
        let current = home.path().join("journal").join(CURRENT);
        let mut bytes = fs::read(&current).unwrap();
        bytes.truncate(bytes.len() - 4);
        fs::write(&current, bytes).unwrap();
        writer.append(b"{\"n\":1}").unwrap();
        let folder = JournalFolder::new(home.path(), None, "d".into());
        assert_eq!(drained(&folder), ["torn", "{\"n\":1}"]);
    }

    #[test]
    fn a_hook_that_cannot_have_the_lock_writes_a_segment_of_its_own() {
        let home = tempfile::tempdir().unwrap();
        let writer = JournalAppender::new(home.path(), None, false, "w".into());
        writer.append(b"{\"n\":0}").unwrap();
        let lock = open_append(&home.path().join("journal").join(LOCK)).unwrap();
        lock.lock().unwrap();
        writer.append(b"{\"n\":1}").unwrap();
        drop(lock);
        let folder = JournalFolder::new(home.path(), None, "d".into());
        let mut bodies = drained(&folder);
        bodies.sort();
        assert_eq!(bodies, ["{\"n\":0}", "{\"n\":1}"]);
    }

    #[test]
    fn where_the_home_cannot_be_written_the_runtime_folder_keeps_the_frame() {
        let base = tempfile::tempdir().unwrap();
        let home = base.path().join("home");
        fs::write(&home, "a file where the folder should be").unwrap();
        let runtime = tempfile::tempdir().unwrap();
        let writer = JournalAppender::new(&home, Some(runtime.path()), false, "w".into());
        writer.append(b"{\"n\":0}").unwrap();
        fs::remove_file(&home).unwrap();
        let folder = JournalFolder::new(&home, Some(runtime.path()), "d".into());
        let _claim = folder.claim().unwrap().unwrap();
        assert_eq!(drained(&folder), ["{\"n\":0}"]);
        for segment in folder.segments().unwrap() {
            folder.remove(&segment).unwrap();
        }
        assert_eq!(fs::read_dir(runtime.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_drainer_took_aside_is_drained_by_the_next_and_newer_frames_of_it_are_kept() {
        let base = tempfile::tempdir().unwrap();
        let home = base.path().join("home");
        fs::write(&home, "a file where the folder should be").unwrap();
        // Another disk than that of the home, where there is one.
        let runtime = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let writer = JournalAppender::new(&home, Some(runtime.path()), false, "w".into());
        writer.append(b"{\"n\":0}").unwrap();
        fs::remove_file(&home).unwrap();
        let stand_in = runtime.path().join(runtime_name(&home));
        io::Write::write_all(&mut open_append(&stand_in).unwrap(), b"\nfxj9 newer\n").unwrap();
        JournalFolder::new(&home, Some(runtime.path()), "killed".into())
            .take_aside(&stand_in)
            .unwrap();
        let folder = JournalFolder::new(&home, Some(runtime.path()), "d".into());
        assert!(folder.waiting_bytes() > 0);
        let _claim = folder.claim().unwrap().unwrap();
        assert_eq!(drained(&folder), ["{\"n\":0}", "newer 9"]);
        for segment in folder.segments().unwrap() {
            folder.remove(&segment).unwrap();
        }
        assert_eq!(fs::read_dir(runtime.path()).unwrap().count(), 0);
        let kept = fs::read_dir(home.join("journal")).unwrap().map(|e| e.unwrap().file_name());
        assert_eq!(kept.filter(|n| n.to_string_lossy().starts_with(NEWER_PREFIX)).count(), 1);
        assert!(folder.segments().unwrap().is_empty());
    }

    #[test]
    fn nothing_is_written_through_a_symlink() {
        let home = tempfile::tempdir().unwrap();
        let victim = tempfile::tempdir().unwrap();
        let target = victim.path().join("precious");
        fs::write(&target, "mine").unwrap();
        fs::create_dir(home.path().join("journal")).unwrap();
        std::os::unix::fs::symlink(&target, home.path().join("journal").join(CURRENT)).unwrap();
        let writer = JournalAppender::new(home.path(), None, false, "w".into());
        writer.append(b"{\"n\":0}").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
        let folder = JournalFolder::new(home.path(), None, "d".into());
        assert_eq!(drained(&folder), ["{\"n\":0}"]);
    }

    #[test]
    fn frames_of_a_newer_format_are_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let journal = home.path().join("journal");
        fs::create_dir(&journal).unwrap();
        fs::write(journal.join(CURRENT), "\nfxj9 some newer frame\n").unwrap();
        let folder = JournalFolder::new(home.path(), None, "d".into());
        let segments = folder.segments().unwrap();
        assert_eq!(drained(&folder), ["newer 9"]);
        folder.remove(&segments[0]).unwrap();
        let left: Vec<_> = fs::read_dir(&journal)
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|n| n.starts_with(NEWER_PREFIX))
            .collect();
        assert_eq!(left.len(), 1);
    }
}
