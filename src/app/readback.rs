//! Read-back: the text that a locator names, from the source itself, or the reason why not.
//!
//! Nothing is shown that is not proven to be what was read: the locator must be one of the store's
//! own, the file must be the same one, the line must have its hash, and the part of the file that
//! was read must still stand around it. Then one field of one record is taken, as decoding takes
//! it, and redacted. No more than that record is ever held.

use super::prepare::{show_json, shown_text};
use super::reading::{chain_of_prefix, windows};
use crate::base::hash::{Digest, Hasher};
use crate::base::json;
use crate::base::limits::{LINE_BYTES_MAX, READ_CHUNK_BYTES};
use crate::domain::locator::Locator;
use crate::domain::selector::{Selected, Selector};
use crate::domain::unavailable::Unavailable;
use crate::ports::agent::{AgentFamily, SourceFormat};
use crate::ports::files::{FileKind, Files, is_compressed};
use crate::ports::reader::{Reader, SeenAt};
use crate::ports::recorder::{KnownSource, StoreError, Watermark};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use uuid::Uuid;

/// Why nothing was read.
#[derive(Debug)]
pub enum ReadError {
    /// A typed reason, which other programs may rely on.
    Unavailable(Unavailable),
    Store(StoreError),
    /// The disk failed in a way that says nothing about the source.
    Io {
        path: PathBuf,
        error: io::Error,
    },
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unavailable(reason) => write!(f, "{}: {}", reason.as_str(), reason.advice()),
            Self::Store(error) => error.fmt(f),
            Self::Io { path, error } => write!(f, "cannot read {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<StoreError> for ReadError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Unavailable> for ReadError {
    fn from(reason: Unavailable) -> Self {
        Self::Unavailable(reason)
    }
}

/// A text that was read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadText {
    pub text: String,
    /// Bytes of the whole text, after redaction.
    pub full_length: usize,
    /// True when `text` is only its beginning.
    pub cut: bool,
}

impl ReadText {
    /// At most `max` bytes of a text, cut on a character boundary.
    fn new(mut text: String, max: usize) -> Self {
        let full_length = text.len();
        let mut end = max.min(full_length);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        Self { text, full_length, cut: end < full_length }
    }
}

/// Reads back over one store; remembers which sources it has compared already.
pub struct ReadBack<'a> {
    files: &'a dyn Files,
    families: &'a [Box<dyn AgentFamily>],
    reader: &'a dyn Reader,
    /// Compare the whole part that was read instead of its two ends.
    deep: bool,
    /// Sources by name, as the store knows them.
    sources: BTreeMap<String, Rc<KnownSource>>,
    /// Sources by name: whether the part that was read still stands.
    prefixes: BTreeMap<String, bool>,
}

impl<'a> ReadBack<'a> {
    /// Has compared nothing yet.
    pub fn new(
        files: &'a dyn Files,
        families: &'a [Box<dyn AgentFamily>],
        reader: &'a dyn Reader,
        deep: bool,
    ) -> Self {
        let (sources, prefixes) = (BTreeMap::new(), BTreeMap::new());
        Self { files, families, reader, deep, sources, prefixes }
    }

    /// The text that a locator names, redacted; of a longer one at most `max_bytes`.
    ///
    /// # Errors
    /// The reason why it is unavailable, or a failure of the store or the disk.
    pub fn text(&mut self, locator: &Locator, max_bytes: usize) -> Result<ReadText, ReadError> {
        let text = match self.selected(locator)? {
            Selected::Text(text) => shown_text(&text),
            Selected::Json(mut value) => {
                show_json(&mut value);
                value.to_string()
            }
        };
        Ok(ReadText::new(text, max_bytes))
    }

    /// Whether there is something to read back: the store holds the locator, and the file that was
    /// read is at its path. Opens no file.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_present(&mut self, locator: &Locator) -> Result<bool, StoreError> {
        let known = match self.known(locator) {
            Ok(known) => known,
            Err(ReadError::Store(error)) => return Err(error),
            Err(_) => return Ok(false),
        };
        Ok(self.format_of(&known).is_some() && self.identity(&known).is_ok())
    }

    /// Where an event, evidence or claim of this id is best read.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn best_place(&self, id: Uuid) -> Result<Option<SeenAt>, StoreError> {
        self.reader.place_of(id)
    }

    fn selected(&mut self, locator: &Locator) -> Result<Selected, ReadError> {
        let known = self.known(locator)?;
        let (family, format) = self.format_of(&known).ok_or(Unavailable::FormatUnsupported)?;
        let path = Selector::parse(&locator.path).ok_or(Unavailable::SelectorMissing)?;
        let bytes = self.line(&known, locator)?;
        self.prefix(&known, &format)?;
        let (found, refused) = json::values(&bytes);
        let [one] = found.as_slice() else { return Err(Unavailable::FormatUnsupported.into()) };
        if refused.is_some() {
            return Err(Unavailable::FormatUnsupported.into());
        }
        Ok(family.select(&one.value, &path).ok_or(Unavailable::SelectorMissing)?)
    }

    /// The source that a locator names, when the locator is one of the store's own.
    fn known(&mut self, locator: &Locator) -> Result<Rc<KnownSource>, ReadError> {
        let known = self.source(&locator.source)?;
        let places = self.reader.places(&locator.source, locator.offset)?;
        let hash = locator.line_hash.hex();
        let mut bytes = places.iter().filter(|p| p.length == locator.length && p.line_hash == hash);
        let mut same_path = places.iter().filter(|p| p.path == locator.path).peekable();
        let told = same_path.peek().is_none() || same_path.any(|p| p.index == locator.index);
        if bytes.next().is_none() || !told {
            return Err(Unavailable::IdentityMismatch.into());
        }
        Ok(known)
    }

    /// A source as the store knows it, asked once: its watermark can be large.
    fn source(&mut self, name: &str) -> Result<Rc<KnownSource>, ReadError> {
        if let Some(known) = self.sources.get(name) {
            return Ok(Rc::clone(known));
        }
        let known = Rc::new(self.reader.source(name)?.ok_or(Unavailable::IdentityMismatch)?);
        self.sources.insert(name.to_owned(), Rc::clone(&known));
        Ok(known)
    }

    fn format_of(&self, known: &KnownSource) -> Option<(&'a dyn AgentFamily, SourceFormat)> {
        self.families
            .iter()
            .find_map(|family| Some((family.as_ref(), family.format(&known.format)?)))
    }

    /// Whether the file at the path is the one that was read.
    ///
    /// # Errors
    /// The reason why it is not, or the disk's failure.
    pub fn identity<'k>(&self, known: &'k KnownSource) -> Result<&'k Watermark, ReadError> {
        let path = Path::new(&known.path);
        let stat = self.files.stat(path).map_err(|error| failure(known, error))?;
        let mark = known.watermark.as_ref().ok_or(Unavailable::IdentityMismatch)?;
        if stat.kind != FileKind::File || !stat.same_file(&mark.stat) {
            return Err(Unavailable::IdentityMismatch.into());
        }
        Ok(mark)
    }

    /// The bytes of a record, when they are those that were read.
    ///
    /// # Errors
    /// The reason why not, or the disk's failure. A record over the line cap is hashed in pieces
    /// and refused.
    pub fn line(&self, known: &KnownSource, place: &Locator) -> Result<Vec<u8>, ReadError> {
        self.identity(known)?;
        let failed = |error| failure(known, error);
        let source = self.files.open(Path::new(&known.path), place.offset).map_err(failed)?;
        let mut source = source.take(place.length);
        if place.length > LINE_BYTES_MAX as u64 {
            let same = hash_of(&mut source).map_err(failed)? == place.line_hash;
            let reason =
                if same { Unavailable::FormatUnsupported } else { Unavailable::LineChanged };
            return Err(reason.into());
        }
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 != place.length || Digest::of(&bytes) != place.line_hash {
            return Err(Unavailable::LineChanged.into());
        }
        Ok(bytes)
    }

    /// Whether the part of the file that was read still stands, asked once a source.
    fn prefix(&mut self, known: &KnownSource, format: &SourceFormat) -> Result<(), ReadError> {
        let stands = match self.prefixes.get(&known.path) {
            Some(stands) => *stands,
            None => {
                let stands = self.prefix_stands(known, format)?;
                self.prefixes.insert(known.path.clone(), stands);
                stands
            }
        };
        if stands { Ok(()) } else { Err(Unavailable::PrefixChanged.into()) }
    }

    fn prefix_stands(&self, known: &KnownSource, format: &SourceFormat) -> Result<bool, ReadError> {
        let failed = |error| failure(known, error);
        let mark = self.identity(known)?;
        let path = Path::new(&known.path);
        if windows(self.files, path, mark.offset).map_err(failed)? != mark.windows {
            return Ok(false);
        }
        // A document is one record: its own hash covers everything. A compressed file has no
        // windows, so only the chain can tell.
        if format.whole_document || !(self.deep || is_compressed(path)) {
            return Ok(true);
        }
        let chain = chain_of_prefix(self.files, path, mark.offset, LINE_BYTES_MAX);
        Ok(chain.map_err(failed)? == Some(mark.chain))
    }
}

fn hash_of(source: &mut dyn io::Read) -> io::Result<Digest> {
    let mut hasher = Hasher::new();
    let mut chunk = vec![0; READ_CHUNK_BYTES];
    loop {
        let read = source.read(&mut chunk)?;
        if read == 0 {
            return Ok(hasher.digest());
        }
        hasher.update(chunk.get(..read).unwrap_or_default());
    }
}

/// The reason that a failed access to a source stands for.
fn failure(known: &KnownSource, error: io::Error) -> ReadError {
    let path = PathBuf::from(&known.path);
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory if known.state == "pruned" => {
            Unavailable::SourcePruned.into()
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => Unavailable::SourceMissing.into(),
        ErrorKind::PermissionDenied => Unavailable::PermissionDenied.into(),
        // Not a regular file.
        ErrorKind::InvalidInput => Unavailable::IdentityMismatch.into(),
        // Shorter than it was, or no longer what a decompressor reads.
        _ if is_compressed(&path) => Unavailable::LineChanged.into(),
        _ => ReadError::Io { path, error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_on_a_character_and_says_so() {
        let text = "a\u{e9}b".to_owned();
        let whole = ReadText { text: text.clone(), full_length: 4, cut: false };
        assert_eq!(ReadText::new(text.clone(), 4), whole);
        let part = ReadText { text: "a".to_owned(), full_length: 4, cut: true };
        assert_eq!(ReadText::new(text, 2), part);
        assert_eq!(
            ReadText::new(String::new(), 0),
            ReadText { text: String::new(), full_length: 0, cut: false }
        );
    }
}
