//! Writing: batches of sealed records with the watermark they move, atomically.
//!
//! Rows and watermark of a batch are stored in one transaction, so a crash leaves the store before
//! or after a batch, never inside one. Storing the same batch again changes nothing.

use super::files::FileStat;
use crate::base::hash::Digest;
use crate::domain::record::{Ingress, Sealed, Tally};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;

/// What can go wrong with the store; each says what to do.
#[derive(Debug)]
pub enum StoreError {
    /// Another process holds the write lock.
    Busy,
    /// Written by a newer fornax.
    Newer { found: i64, supported: i64 },
    /// Not a fornax store, or damaged.
    NotAStore(String),
    /// No store has been made yet.
    Missing,
    /// The home belongs to another namespace than the one asked for.
    OtherNamespace { held: String, wanted: String },
    /// The disk or a permission refused.
    Io(String),
    /// Anything else, with the engine's text.
    Other(String),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => write!(f, "the store is locked by another process; try again"),
            Self::Newer { found, supported } => write!(
                f,
                "the store has schema {found}, this fornax knows up to {supported}; use a newer fornax"
            ),
            Self::NotAStore(why) => write!(f, "not a fornax store: {why}"),
            Self::OtherNamespace { held, wanted } => write!(
                f,
                "this home belongs to namespace '{held}', not '{wanted}'; use another --home"
            ),
            Self::Missing => write!(f, "no store yet; run `fornax ingest` or wire the hooks first"),
            Self::Io(why) => write!(f, "the store cannot be reached: {why}"),
            Self::Other(why) => write!(f, "the store reports: {why}"),
        }
    }
}

impl std::error::Error for StoreError {}

/// What a source is, for its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSpec {
    /// `file` or `hook`.
    pub kind: &'static str,
    /// Format name, for example `claude_transcript`; `hook` for hook streams.
    pub format: String,
    pub provider: String,
    /// Path of the file, or `hook:<provider>`.
    pub path: String,
    pub stat: Option<FileStat>,
}

/// Hashes of the first and of the last window of a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    pub head: Digest,
    pub tail: Digest,
}

/// How far a source was read, bound to the bytes that were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Watermark {
    /// Bytes handed on so far.
    pub offset: u64,
    /// Records handed on so far.
    pub lines: u64,
    /// Chain of the line hashes of everything before `offset`.
    pub chain: Digest,
    /// Hashes of both ends of the prefix; `None` for a compressed file, where looking at the end
    /// means to decompress all before it.
    pub windows: Option<Windows>,
    /// Decoder that made `state`, for example `claude_code/0.1.0`.
    pub decoder: String,
    /// Adapter and sealer state to go on from. Null in a listing of sources, since it can be large:
    /// `Recorder::source_state` gives it.
    pub state: Value,
    pub stat: FileStat,
    /// True when everything up to the file's end was read.
    pub complete: bool,
}

/// A source as the store knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownSource {
    pub id: i64,
    pub path: String,
    pub format: String,
    pub provider: String,
    pub generation: i64,
    /// The newest generation that was begun; one that nobody sees yet, while a replay is written.
    pub begun: i64,
    pub watermark: Option<Watermark>,
    /// `active`, `missing`, `pruned` (by its agent), `not_recognised`.
    pub state: String,
}

impl KnownSource {
    /// Whether its file was found gone.
    pub fn is_gone(&self) -> bool {
        self.state == "missing" || self.state == "pruned"
    }
}

/// A known source whose file is at another path now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceMove {
    pub id: i64,
    pub from: String,
    pub to: String,
}

/// Hashes of paths, each with how many first bytes of its file were hashed and to what; without
/// that the path alone counts.
pub type ForgottenFiles = HashMap<Digest, Option<(u64, Digest)>>;

/// What a source's row has to say for a batch to be stored: another process may have read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Anything: the batch does not build on an earlier one.
    Nothing,
    /// That nobody read the source yet.
    Unread,
    /// That it was read so far.
    At { generation: i64, offset: u64 },
    /// That no later replay was begun.
    Replay,
}

/// One step of a source.
#[derive(Debug, Clone)]
pub struct Batch {
    pub source: SourceSpec,
    pub expect: Expect,
    /// 0 = go on with the current generation; otherwise the number of the replay being written.
    pub generation: i64,
    /// True when this batch begins a replay: what an earlier one left unfinished is swept first.
    pub fresh: bool,
    /// True when this batch ends a replay: the source flips to `generation` and the rows of the
    /// earlier one are swept.
    pub flip: bool,
    pub records: Vec<Sealed>,
    pub watermark: Option<Watermark>,
    pub ingress: Ingress,
    /// Known shapes deliberately not translated, by reason, since the last batch.
    pub ignored: Tally,
}

impl Batch {
    /// Records that build on nothing: they join the current generation and move no watermark.
    pub fn of(source: SourceSpec, records: Vec<Sealed>, ingress: Ingress) -> Self {
        Self {
            source,
            expect: Expect::Nothing,
            generation: 0,
            fresh: false,
            flip: false,
            records,
            watermark: None,
            ingress,
            ignored: Tally::default(),
        }
    }
}

/// What an append did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Appended {
    pub inserted: u64,
    /// Records the store knew already.
    pub known: u64,
    /// Records of forgotten conversations, by key: none of them was stored.
    pub forgotten: Tally,
    /// Indices of batches that were not stored, because another process read the source meanwhile.
    pub overtaken: Vec<usize>,
}

impl Appended {
    /// Adds the counts of another append.
    pub fn add(&mut self, more: &Self) {
        self.inserted += more.inserted;
        self.known += more.known;
        self.forgotten.merge(&more.forgotten);
    }
}

/// A drained journal segment and how far it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentPosition {
    pub segment: String,
    pub offset: u64,
}

/// The writing side of the store.
pub trait Recorder {
    /// The namespace of this home.
    fn namespace(&self) -> &str;

    /// Every file that was read, with its watermark but not the state in it.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn sources(&mut self) -> Result<Vec<KnownSource>, StoreError>;

    /// Files that tell only of forgotten conversations: they are not read.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn forgotten_files(&mut self) -> Result<ForgottenFiles, StoreError>;

    /// The state in the watermark of a source; null when there is none.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn source_state(&mut self, id: i64) -> Result<Value, StoreError>;

    /// Stores batches in order, each whole or not at all; with a journal position all of them and
    /// the position in one transaction. A batch whose expectation does not hold is left out, and
    /// the answer says so.
    ///
    /// # Errors
    /// When a batch was not stored; those before it may be.
    fn append(
        &mut self,
        batches: &[Batch],
        position: Option<&SegmentPosition>,
    ) -> Result<Appended, StoreError>;

    /// How far a journal segment is stored (0 when it is new).
    ///
    /// # Errors
    /// When the store cannot be read.
    fn segment_offset(&mut self, segment: &str) -> Result<u64, StoreError>;

    /// Forgets the positions of all segments: they are stored and their files are gone.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn forget_segments(&mut self) -> Result<(), StoreError>;

    /// Marks sources by id as `missing` or `pruned` (rows stay) or `active` again.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn mark_sources(&mut self, ids: &[i64], state: &str) -> Result<(), StoreError>;

    /// Gives sources the paths that their files have now, all in one transaction, so that files can
    /// change places. A source that is no longer where `from` says, or whose new path belongs to a
    /// source that stays, is left alone.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn move_sources(&mut self, moves: &[SourceMove]) -> Result<(), StoreError>;

    /// Keeps something worked out from usage reports, with the stamp of what it was worked out
    /// from; it takes the place of what had the name before. Nothing is kept when the stamp is not
    /// that of the store any more.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn keep_derived(&mut self, name: &str, stamp: &Digest, value: &str) -> Result<(), StoreError>;

    /// The native id of an event that a payload without any id made, when an equal payload was
    /// seen at most `window_us` before or after `at_us`.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn same_payload(
        &mut self,
        payload_hash: &Digest,
        at_us: i64,
        window_us: i64,
    ) -> Result<Option<String>, StoreError>;
}
