//! Tail readers as subjects: files that grow, and tokens from which reading goes on.
//!
//! A reader keeps what it delivers, and how far it came, in a store of its own. A token is how far
//! it came with one source; a case can hold it, alter it and hand it back, as a later process would.

use std::path::{Path, PathBuf};

use super::decoding::Observation;

/// How far a source was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Path of the source.
    pub source: String,
    /// Grows whenever the source is read again from the beginning.
    pub generation: i64,
    /// Bytes that were delivered.
    pub boundary: u64,
    /// The decoder that made the evidence.
    pub decoder: String,
    /// What binds it to the bytes, and what the decoder needs to go on; opaque.
    pub evidence: String,
}

/// What a read says beside what it delivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// What had been read does not hold any more; the source is read from the beginning.
    Restarted(String),
    /// The source is gone.
    Missing,
    /// The source is there and cannot be read.
    Unreadable(String),
    /// Bytes at the end that are no complete record yet.
    Withheld {
        /// Offset of the first of them.
        offset: u64,
    },
}

/// Where a read ends before it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Halt {
    /// It does not.
    #[default]
    Never,
    /// The consumer takes so many deliveries and wants no more.
    Stop(usize),
    /// The process dies when this delivery (from 1) was handed over and nothing was saved of it.
    Crash(usize),
}

/// What happens to the file while it is read.
pub type Meanwhile = Box<dyn FnOnce() + Send>;

/// One read.
#[derive(Default)]
pub struct Ask {
    /// The source.
    pub path: PathBuf,
    /// Where to go on; none is a reader that has never read anything.
    pub token: Option<Token>,
    /// By a reader that stays open from one read to the next, where the token is the one it gave;
    /// it knows no `halt`, `meanwhile` and `refused`.
    pub following: bool,
    /// Where it ends early.
    pub halt: Halt,
    /// Done after the reader looked at the file and before it reads it.
    pub meanwhile: Option<Meanwhile>,
    /// The file system refuses to open the file.
    pub refused: bool,
}

impl Ask {
    /// A read to the end of what there is.
    pub fn of(path: &Path, token: Option<&Token>) -> Self {
        Self { path: path.to_owned(), token: token.cloned(), ..Self::default() }
    }
}

/// What a read gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Delivered {
    /// The observations, in order.
    pub observations: Vec<Observation>,
    /// How far it came; none when nothing is known of the source.
    pub token: Option<Token>,
    /// What it says beside.
    pub notes: Vec<Note>,
}

/// Reads growing files. The files are Codex rollouts and Claude Code transcripts.
pub trait TailReader {
    /// A folder of its own for the case to make files in.
    fn folder(&self) -> PathBuf;

    /// The longest line it reads, in bytes.
    fn line_cap(&self) -> usize;

    /// How many bytes of lines it hands over at once, about; a delivery is never larger.
    fn delivery_bytes(&self) -> usize;

    /// Reads what is new.
    ///
    /// # Errors
    /// The reason when it can neither read nor say why in a note.
    fn read(&mut self, ask: Ask) -> Result<Delivered, String>;

    /// The events that are kept of a source.
    ///
    /// # Errors
    /// The reason when they cannot be read.
    fn stored(&mut self, path: &Path) -> Result<Vec<Observation>, String>;
}
