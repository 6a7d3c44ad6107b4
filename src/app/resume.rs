//! Whether a known file can be read on, must be read again, or did not change.
//!
//! Unchanged means the same device, inode, size and times. On growth the first and the last window
//! of the prefix are compared; the whole prefix only when the file changed without growing, when
//! the inode is another, or when asked to be thorough. Whatever does not hold is read again from
//! zero as a new generation, which replaces the old rows only when it is complete.

use super::reading::{Reading, chain_of_prefix, windows};
use crate::domain::loss::LossReason;
use crate::ports::agent::AgentFamily;
use crate::ports::agent::SourceFormat;
use crate::ports::files::{FileStat, Files, is_compressed};
use crate::ports::recorder::{KnownSource, Watermark};
use std::io;
use std::path::Path;

/// How to read and compare.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions<'a> {
    pub namespace: &'a str,
    pub line_cap: usize,
    /// Compare the whole prefix whatever the file says of itself.
    pub deep: bool,
}

/// What a file holds where an earlier reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefix {
    /// The bytes that were read.
    Holds,
    /// Other bytes, or fewer.
    Broken,
    /// A compressed file that is still being written ends before that point: nobody knows yet.
    Unfinished,
}

/// A file to read.
#[derive(Debug, Clone)]
pub struct Target<'a> {
    pub path: &'a Path,
    pub stat: &'a FileStat,
    /// The source it is, state of the watermark included, when it was read before.
    pub known: Option<&'a KnownSource>,
    /// True when the prefix was found to hold already.
    pub verified: bool,
}

/// True when nothing happened to a file that was read to its end.
pub fn is_unchanged(known: &KnownSource, stat: &FileStat, deep: bool) -> bool {
    !deep
        && known.watermark.as_ref().is_some_and(|m| m.complete && stat.unchanged_since(&m.stat))
        && !known.is_gone()
}

/// A reading of a file that goes on where the known source ended, or begins a replay; `None` when
/// the family does not read the format.
///
/// # Errors
/// When the file cannot be read; of the kind `UnexpectedEof` when a compressed file is not written
/// as far as it was read before.
pub fn open_reading(
    files: &dyn Files,
    family: &dyn AgentFamily,
    format: &SourceFormat,
    target: &Target<'_>,
    options: &ReadOptions<'_>,
) -> io::Result<Option<Reading>> {
    let start = |replay: i64| {
        let adapter = family.file_adapter(format.name)?;
        let (path, namespace) = (target.path, options.namespace);
        Some(Reading::new(path, format.clone(), adapter, namespace, options.line_cap, replay))
    };
    let Some(known) = target.known else { return Ok(start(0)) };
    let next = known.begun + 1;
    let Some(mark) = known.watermark.as_ref() else { return Ok(start(0)) };
    if known.format != format.name {
        return Ok(start(next));
    }
    if !format.whole_document {
        let prefix = if target.verified {
            Prefix::Holds
        } else {
            prefix(files, target.path, target.stat, mark, options)?
        };
        match prefix {
            Prefix::Holds => {
                let Some(mut reading) = start(0) else { return Ok(None) };
                if reading.resume(known.generation, mark) {
                    return Ok(Some(reading));
                }
                // Another decoder version: its state is not trusted, its rows are made again.
                return Ok(start(next));
            }
            Prefix::Unfinished => return Err(io::ErrorKind::UnexpectedEof.into()),
            Prefix::Broken => {}
        }
    }
    let Some(mut reading) = start(next) else { return Ok(None) };
    if !format.whole_document {
        reading.note(LossReason::SourceRewritten, "read again from the beginning");
    }
    Ok(Some(reading))
}

/// Compares what was read of a source with what its file holds now.
///
/// # Errors
/// When the file cannot be read.
pub fn prefix(
    files: &dyn Files,
    path: &Path,
    stat: &FileStat,
    mark: &Watermark,
    options: &ReadOptions<'_>,
) -> io::Result<Prefix> {
    let compressed = is_compressed(path);
    // Another process can have read further than the file reached when it was looked at here.
    let later = if stat.size < mark.offset && !compressed { Some(files.stat(path)?) } else { None };
    let stat = later.as_ref().unwrap_or(stat);
    if !compressed && !windows_hold(files, path, stat, mark)? {
        return Ok(Prefix::Broken);
    }
    let same_file = stat.same_file(&mark.stat);
    let grew = stat.size > mark.stat.size;
    let touched = stat.changed_ns != mark.stat.changed_ns;
    // A compressed file has no windows to compare, and neither has what was read of one.
    let unseen = compressed || mark.windows.is_none();
    let whole = options.deep || unseen || !same_file || (touched && !grew);
    if !whole {
        return Ok(Prefix::Holds);
    }
    match chain_of_prefix(files, path, mark.offset, options.line_cap) {
        Ok(Some(chain)) if chain == mark.chain => Ok(Prefix::Holds),
        Ok(_) => Ok(Prefix::Broken),
        Err(e) if compressed && e.kind() == io::ErrorKind::UnexpectedEof => Ok(Prefix::Unfinished),
        Err(e) => Err(e),
    }
}

/// The cheap comparison: long enough, and the first and last window of the prefix as they were,
/// where they are known.
fn windows_hold(
    files: &dyn Files,
    path: &Path,
    stat: &FileStat,
    mark: &Watermark,
) -> io::Result<bool> {
    if stat.size < mark.offset {
        return Ok(false);
    }
    let Some(known) = mark.windows else { return Ok(true) };
    Ok(windows(files, path, mark.offset)? == Some(known))
}
