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
use crate::ports::files::{FileStat, Files};
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

/// True when nothing happened to a file that was read to its end.
pub fn is_unchanged(known: &KnownSource, stat: &FileStat, deep: bool) -> bool {
    !deep
        && known.watermark.as_ref().is_some_and(|m| m.complete && stat.unchanged_since(&m.stat))
        && known.state != "missing"
}

/// A reading of `path` that goes on where the known source ended, or begins a replay.
///
/// # Errors
/// When the file cannot be read.
pub fn open_reading(
    files: &dyn Files,
    family: &dyn AgentFamily,
    format: &SourceFormat,
    path: &Path,
    stat: &FileStat,
    known: Option<&KnownSource>,
    options: &ReadOptions<'_>,
) -> io::Result<Option<Reading>> {
    let start = |replay: i64| {
        let adapter = family.file_adapter(format.name)?;
        let namespace = options.namespace;
        Some(Reading::new(path, format.clone(), adapter, namespace, options.line_cap, replay))
    };
    let Some(known) = known else { return Ok(start(0)) };
    let next = known.generation + 1;
    let Some(mark) = known.watermark.as_ref() else { return Ok(start(0)) };
    if known.format != format.name {
        return Ok(start(next));
    }
    if !format.whole_document && prefix_holds(files, path, stat, mark, options)? {
        let Some(mut reading) = start(0) else { return Ok(None) };
        if reading.resume(mark) {
            return Ok(Some(reading));
        }
        // Another decoder version: its state is not trusted, its rows are made again.
        return Ok(start(next));
    }
    let Some(mut reading) = start(next) else { return Ok(None) };
    if !format.whole_document {
        reading.note(LossReason::SourceRewritten, "read again from the beginning");
    }
    Ok(Some(reading))
}

fn prefix_holds(
    files: &dyn Files,
    path: &Path,
    stat: &FileStat,
    mark: &Watermark,
    options: &ReadOptions<'_>,
) -> io::Result<bool> {
    let compressed = path.extension().is_some_and(|e| e == "zst");
    if !compressed {
        if stat.size < mark.offset {
            return Ok(false);
        }
        let (head, tail) = windows(files, path, mark.offset)?;
        if head != mark.head_hash || tail != mark.tail_hash {
            return Ok(false);
        }
    }
    let same_file = (stat.device, stat.inode) == (mark.stat.device, mark.stat.inode);
    let grew = stat.size > mark.stat.size;
    let touched = stat.changed_ns != mark.stat.changed_ns;
    let whole = options.deep || compressed || !same_file || (touched && !grew);
    if !whole {
        return Ok(true);
    }
    Ok(chain_of_prefix(files, path, mark.offset, options.line_cap)? == Some(mark.chain))
}
