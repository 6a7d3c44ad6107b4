//! What a file is, by its content: the first values are shown to each adapter family.

use crate::base::hash::Digest;
use crate::base::json::{self, Found, Refused};
use crate::base::limits::{
    DOCUMENT_BYTES_MAX, READ_CHUNK_BYTES, SAMPLE_BYTES_MAX, SAMPLE_VALUES_MAX,
};
use crate::base::lines::{Lines, Piece};
use crate::ports::agent::{AgentFamily, SourceFormat, SourceSample};
use crate::ports::files::Files;
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{self, Read as _};
use std::path::Path;

/// The answer for one file.
pub enum Recognised<'a> {
    /// A family claims it.
    As(&'a dyn AgentFamily, SourceFormat),
    /// It holds nothing at all.
    Empty,
    /// Its first line, or its compressed stream, is still being written.
    Unfinished,
    /// No family claims it.
    No,
}

/// Shows the head of a file to the families, in their fixed order.
///
/// # Errors
/// When the file cannot be read.
pub fn recognise<'a>(
    files: &dyn Files,
    families: &'a [Box<dyn AgentFamily>],
    path: &Path,
) -> io::Result<Recognised<'a>> {
    recognise_and_keep(files, families, path).map(|(recognised, _)| recognised)
}

/// As [`recognise`], with what was decoded, so that reading on need not decode it again.
///
/// # Errors
/// When the file cannot be read.
pub fn recognise_and_keep<'a>(
    files: &dyn Files,
    families: &'a [Box<dyn AgentFamily>],
    path: &Path,
) -> io::Result<(Recognised<'a>, Head)> {
    let is_document = path.extension().is_some_and(|e| e == "json");
    let head = match if is_document { document(files, path)? } else { head(files, path)? } {
        Beginning::Values(head) => head,
        Beginning::Blank => return Ok((Recognised::Empty, Head::default())),
        Beginning::Begun => return Ok((Recognised::Unfinished, Head::default())),
    };
    let sample = SourceSample { path, values: head.values.as_slice() };
    for family in families {
        if let Some(format) = family.recognise(&sample) {
            return Ok((Recognised::As(family.as_ref(), format), head));
        }
    }
    Ok((Recognised::No, head))
}

/// What a file begins with.
enum Beginning {
    Values(Head),
    /// Only white space.
    Blank,
    /// Not one value, but what may become one.
    Begun,
}

/// The decoded first lines of a file.
#[derive(Debug, Default)]
pub struct Head {
    lines: VecDeque<HeadLine>,
    values: std::vec::IntoIter<Value>,
}

/// One line: where it stood, what it was, and the frames of its values, which stand in `Head`.
#[derive(Debug)]
struct HeadLine {
    offset: u64,
    hash: Digest,
    frames: Vec<Found>,
    refused: Option<Refused>,
}

impl Head {
    /// Decodes a line and keeps it.
    fn add(&mut self, offset: u64, bytes: &[u8], values: &mut Vec<Value>) {
        let (mut frames, refused) = json::values(bytes);
        values.extend(frames.iter_mut().map(|found| found.value.take()));
        self.lines.push_back(HeadLine { offset, hash: Digest::of(bytes), frames, refused });
    }

    /// The values of the line at `offset` if it is the next one kept and has this hash still; else
    /// nothing, and nothing any more: the file is not what it was, or is read from further on.
    pub fn take(&mut self, offset: u64, hash: &Digest) -> Option<(Vec<Found>, Option<Refused>)> {
        let line = self.lines.pop_front()?;
        if line.offset != offset || line.hash != *hash {
            *self = Self::default();
            return None;
        }
        let mut found = line.frames;
        for found in &mut found {
            found.value = self.values.next().unwrap_or_default();
        }
        Some((found, line.refused))
    }
}

/// The first lines of a file.
fn head(files: &dyn Files, path: &Path) -> io::Result<Beginning> {
    let limited = files.open(path, 0)?.take(SAMPLE_BYTES_MAX as u64);
    let mut lines = Lines::new(limited, 0, SAMPLE_BYTES_MAX, READ_CHUNK_BYTES);
    let mut head = Head::default();
    let mut values = Vec::new();
    let (mut blank, mut ends_early) = (true, false);
    while values.len() < SAMPLE_VALUES_MAX {
        let piece = match lines.next_piece() {
            Ok(Some(piece)) => piece,
            Ok(None) => break,
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                ends_early = true;
                break;
            }
            Err(e) => return Err(e),
        };
        let Piece::Line { offset, bytes } = piece else {
            blank = false;
            continue;
        };
        blank &= bytes.trim_ascii().is_empty();
        head.add(offset, bytes, &mut values);
    }
    let mut begun = ends_early;
    if values.len() < SAMPLE_VALUES_MAX
        && let Some((_, rest)) = lines.rest()
    {
        let text = rest.trim_ascii();
        begun |= blank && rest.len() < SAMPLE_BYTES_MAX && text.starts_with(b"{");
        blank &= text.is_empty();
        values.extend(json::values(rest).0.into_iter().map(|f| f.value));
    }
    if values.is_empty() && (blank || begun) {
        return Ok(if begun { Beginning::Begun } else { Beginning::Blank });
    }
    head.values = values.into_iter();
    Ok(Beginning::Values(head))
}

/// The values of a whole document; none when it is over the cap. It is no line, so none is kept.
fn document(files: &dyn Files, path: &Path) -> io::Result<Beginning> {
    let mut bytes = Vec::new();
    files.open(path, 0)?.take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.trim_ascii().is_empty() {
        return Ok(Beginning::Blank);
    }
    if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
        return Ok(Beginning::Values(Head::default()));
    }
    let values: Vec<Value> = json::values(&bytes).0.into_iter().map(|f| f.value).collect();
    Ok(Beginning::Values(Head { lines: VecDeque::new(), values: values.into_iter() }))
}
