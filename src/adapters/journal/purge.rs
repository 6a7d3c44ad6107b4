//! Taking conversations out of what the journal keeps undrained.
//!
//! Two kinds of file stay behind a drain: segments with frames of a newer format, kept whole for
//! the program that can read them, and what writers left that were killed in the middle.

use super::frame::decode;
use super::write::open_append;
use super::{NEWER_PREFIX, SUFFIX};
use crate::ports::journal::{Frame, Purged};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

/// A writer that takes longer over one frame is dead.
const WRITER_AGE_MAX: Duration = Duration::from_secs(60);

/// Goes through the files of a journal folder.
pub(super) fn kept_files(folder: &Path, native_ids: &[String]) -> io::Result<Purged> {
    let mut purged = Purged::default();
    if !folder.is_dir() {
        return Ok(purged);
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type()?.is_file() {
            continue;
        }
        if name.starts_with(NEWER_PREFIX) && name.ends_with(SUFFIX) {
            newer_segment(&entry.path(), native_ids, &mut purged)?;
        } else if name.ends_with(".tmp")
            && is_old(&entry)
            && names_any(&fs::read(entry.path())?, native_ids)
        {
            fs::remove_file(entry.path())?;
            purged.rewritten += 1;
        }
    }
    Ok(purged)
}

fn is_old(entry: &fs::DirEntry) -> bool {
    let modified = entry.metadata().and_then(|meta| meta.modified());
    modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > WRITER_AGE_MAX))
}

/// Keeps of a segment its newer frames that name none of the ids: all others are stored.
fn newer_segment(path: &Path, native_ids: &[String], purged: &mut Purged) -> io::Result<()> {
    let bytes = fs::read(path)?;
    let mut kept = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let newer = matches!(decode(line, 0), Some(Frame::Newer { .. }));
        if newer && !names_any(line, native_ids) {
            kept.push(b'\n');
            kept.extend_from_slice(line);
            kept.push(b'\n');
            purged.unreadable += 1;
        }
    }
    if kept.len() == bytes.len() {
        return Ok(());
    }
    purged.rewritten += 1;
    if kept.is_empty() {
        return fs::remove_file(path);
    }
    let aside = path.with_extension("rewritten.tmp");
    let _ = fs::remove_file(&aside);
    let mut file = open_append(&aside)?;
    file.write_all(&kept)?;
    file.sync_data()?;
    fs::rename(&aside, path)
}

fn names_any(bytes: &[u8], native_ids: &[String]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    native_ids.iter().any(|id| text.contains(id.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::journal::frame::encode;

    #[test]
    fn only_newer_frames_of_other_conversations_stay() {
        let dir = tempfile::tempdir().unwrap();
        let segment = dir.path().join("newer-seg-1.fxj");
        let mut bytes = encode(b"{\"stored\":\"already\"}");
        bytes.extend_from_slice(b"\nfxj9 of gone-1\n\nfxj9 of another\n");
        fs::write(&segment, bytes).unwrap();
        let purged = kept_files(dir.path(), &["gone-1".to_owned()]).unwrap();
        assert_eq!(purged, Purged { rewritten: 1, unreadable: 1 });
        assert_eq!(fs::read(&segment).unwrap(), b"\nfxj9 of another\n");
        let again = kept_files(dir.path(), &["gone-1".to_owned()]).unwrap();
        assert_eq!(again, Purged { rewritten: 0, unreadable: 1 });
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_segment_of_nothing_else_goes_and_a_writer_at_work_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("newer-seg-1.fxj"), b"\nfxj9 of gone-1\n").unwrap();
        fs::write(dir.path().join("own-1.tmp"), b"half of gone-1").unwrap();
        kept_files(dir.path(), &["gone-1".to_owned()]).unwrap();
        let left: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["own-1.tmp"]);
        let file = fs::File::options().write(true).open(dir.path().join("own-1.tmp")).unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        file.set_modified(now - Duration::from_secs(3600)).unwrap();
        kept_files(dir.path(), &["gone-1".to_owned()]).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
