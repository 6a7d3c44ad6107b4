//! From a file that was met to a reading of it, or to why there is none.

use super::known::Matched;
use super::reading::Reading;
use super::recognise::{Recognised, recognise_and_keep};
use super::resume::{Prefix, ReadOptions, Target, open_reading, prefix};
use crate::ports::agent::AgentFamily;
use crate::ports::files::Files;
use std::io;

/// What became of opening a file.
pub enum Opened {
    Reading(Box<Reading>),
    /// It holds nothing.
    Empty,
    /// A compressed file, or a first line, that is still being written.
    Unfinished,
    /// No family claims it; whether what was read of it, when one did, still stands in it.
    NotRecognised {
        stands: bool,
    },
}

/// Opens a file where its source was left.
///
/// # Errors
/// When the file cannot be read.
pub fn open(
    files: &dyn Files,
    families: &[Box<dyn AgentFamily>],
    file: &Matched,
    options: &ReadOptions<'_>,
) -> io::Result<Opened> {
    if file.unfinished {
        return Ok(Opened::Unfinished);
    }
    let (recognised, head) = recognise_and_keep(files, families, &file.path)?;
    let (family, format) = match recognised {
        Recognised::As(family, format) => (family, format),
        Recognised::Empty => return Ok(Opened::Empty),
        Recognised::Unfinished => return Ok(Opened::Unfinished),
        Recognised::No => {
            return Ok(Opened::NotRecognised { stands: stands(files, file, options) });
        }
    };
    let (known, verified) = (file.known.as_deref(), file.verified);
    let target = Target { path: &file.path, stat: &file.stat, known, verified };
    match open_reading(files, family, &format, &target, options) {
        Ok(Some(mut reading)) => {
            reading.known_head(head);
            Ok(Opened::Reading(Box::new(reading)))
        }
        Ok(None) => Ok(Opened::NotRecognised { stands: false }),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(Opened::Unfinished),
        Err(e) => Err(e),
    }
}

/// Whether the file holds what was read of its source.
fn stands(files: &dyn Files, file: &Matched, options: &ReadOptions<'_>) -> bool {
    let mark = file.known.as_ref().and_then(|known| known.watermark.as_ref());
    mark.filter(|mark| mark.offset > 0).is_some_and(|mark| {
        prefix(files, &file.path, &file.stat, mark, options).is_ok_and(|p| p == Prefix::Holds)
    })
}
