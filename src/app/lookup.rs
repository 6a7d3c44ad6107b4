//! Which conversation a word on the command line means.
//!
//! A key, a native id, a unique beginning of a native id, or a name `session:<id>` of an import. An ambiguous word is an error that
//! lists what it could mean; without a word it is the latest session of the current folder.

use crate::ports::reader::{ConversationRow, Reader};
use crate::ports::recorder::StoreError;
use std::fmt;
use std::path::Path;

/// Candidates named in an ambiguity at most.
const CANDIDATES_SHOWN: usize = 8;

/// Why no conversation was found.
#[derive(Debug)]
pub enum LookupError {
    Unknown(String),
    Ambiguous {
        word: String,
        candidates: Vec<String>,
    },
    /// Nothing in this folder; the latest elsewhere, when there is one.
    NoneHere {
        latest: Option<String>,
    },
    Store(StoreError),
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(word) => {
                write!(f, "no session '{word}'; `fornax sessions` lists them")
            }
            Self::Ambiguous { word, candidates } => {
                write!(f, "'{word}' could be any of: {}", candidates.join(", "))
            }
            Self::NoneHere { latest: Some(latest) } => {
                write!(f, "no session of this folder is recorded; name one, the latest is {latest}")
            }
            Self::NoneHere { latest: None } => {
                write!(f, "nothing is recorded yet; run `fornax ingest` first")
            }
            Self::Store(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for LookupError {}

impl From<StoreError> for LookupError {
    fn from(e: StoreError) -> Self {
        Self::Store(e)
    }
}

/// The one conversation that `word` means.
///
/// # Errors
/// Unknown, ambiguous, or the store's own.
pub fn by_word(reader: &dyn Reader, word: &str) -> Result<ConversationRow, LookupError> {
    let mut found = reader.find_conversations(word)?;
    match found.len() {
        0 => Err(LookupError::Unknown(word.to_owned())),
        1 => Ok(found.remove(0)),
        _ => {
            let candidates = found.iter().take(CANDIDATES_SHOWN).map(|c| c.key.clone()).collect();
            Err(LookupError::Ambiguous { word: word.to_owned(), candidates })
        }
    }
}

/// The latest conversation whose folder holds `cwd`.
///
/// # Errors
/// None in this folder, or the store's own.
pub fn latest_here(reader: &dyn Reader, cwd: &Path) -> Result<ConversationRow, LookupError> {
    let mut rows = reader.conversations()?.rows;
    let here = rows.iter().position(|c| {
        c.parent.is_none() && c.cwd.as_deref().is_some_and(|held| cwd.starts_with(held))
    });
    match here {
        Some(index) => Ok(rows.swap_remove(index)),
        None => Err(LookupError::NoneHere { latest: rows.first().map(|c| c.native_id.clone()) }),
    }
}
