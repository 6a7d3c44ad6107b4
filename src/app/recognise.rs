//! What a file is, by its content: the first values are shown to each adapter family.

use crate::base::json;
use crate::base::limits::{
    DOCUMENT_BYTES_MAX, READ_CHUNK_BYTES, SAMPLE_BYTES_MAX, SAMPLE_VALUES_MAX,
};
use crate::base::lines::{Lines, Piece};
use crate::ports::agent::{AgentFamily, SourceFormat, SourceSample};
use crate::ports::files::Files;
use serde_json::Value;
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
    let is_document = path.extension().is_some_and(|e| e == "json");
    let values = match if is_document { document(files, path)? } else { head(files, path)? } {
        Head::Values(values) => values,
        Head::Blank => return Ok(Recognised::Empty),
        Head::Begun => return Ok(Recognised::Unfinished),
    };
    let sample = SourceSample { path, values: &values };
    for family in families {
        if let Some(format) = family.recognise(&sample) {
            return Ok(Recognised::As(family.as_ref(), format));
        }
    }
    Ok(Recognised::No)
}

/// The beginning of a file.
enum Head {
    Values(Vec<Value>),
    /// Only white space.
    Blank,
    /// Not one value, but what may become one.
    Begun,
}

/// The first values of a file of lines.
fn head(files: &dyn Files, path: &Path) -> io::Result<Head> {
    let limited = files.open(path, 0)?.take(SAMPLE_BYTES_MAX as u64);
    let mut lines = Lines::new(limited, 0, SAMPLE_BYTES_MAX, READ_CHUNK_BYTES);
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
        let Piece::Line { bytes, .. } = piece else {
            blank = false;
            continue;
        };
        blank &= bytes.trim_ascii().is_empty();
        values.extend(json::values(bytes).0.into_iter().map(|f| f.value));
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
    Ok(match (values.is_empty(), blank) {
        (true, true) if ends_early => Head::Begun,
        (true, true) => Head::Blank,
        (true, false) if begun => Head::Begun,
        _ => Head::Values(values),
    })
}

/// The values of a whole document; none when it is over the cap.
fn document(files: &dyn Files, path: &Path) -> io::Result<Head> {
    let mut bytes = Vec::new();
    files.open(path, 0)?.take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.trim_ascii().is_empty() {
        return Ok(Head::Blank);
    }
    if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
        return Ok(Head::Values(Vec::new()));
    }
    Ok(Head::Values(json::values(&bytes).0.into_iter().map(|f| f.value).collect()))
}
