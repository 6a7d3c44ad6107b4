//! One file on its way into the store: lines, values, drafts, records, batches.
//!
//! A reading knows how far it came and what its adapter must remember; each batch carries the
//! watermark that storing it reaches. A bad line costs that line. A last line without its end is
//! taken when it is complete, otherwise withheld, located, and tried again.

use super::prepare::prepare;
use super::recognise::Head;
use super::seal::{Line, Sealer, SealerState};
use crate::base::hash::Digest;
use crate::base::json::{self, Found};
use crate::base::limits::{
    BATCH_ROWS_MAX, DOCUMENT_BYTES_MAX, PREFIX_WINDOW_BYTES, READ_CHUNK_BYTES,
};
use crate::base::lines::{Lines, Piece};
use crate::domain::event::NativeId;
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::{Message, NormalizationOutcome};
use crate::domain::record::{Body, Ingress, Place, Sealed, Tally};
use crate::ports::agent::{AgentAdapter, SourceFormat};
use crate::ports::files::{FileStat, Files, is_compressed};
use crate::ports::recorder::{Batch, Expect, SourceSpec, Watermark, Windows};
use serde_json::{Value, json};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Bytes of lines in one batch at most (beside its row limit).
const BATCH_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What is said of a compressed file that is not finished.
pub const ENDS_EARLY: &str = "compressed file ends early";

/// What was met, for summaries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadStats {
    pub lines: u64,
    pub bytes: u64,
    pub records: Tally,
    pub ignored: Tally,
    pub unrecognized: Tally,
    pub quarantined: u64,
    pub losses: Tally,
}

impl ReadStats {
    /// Adds another's counts.
    pub fn merge(&mut self, other: &Self) {
        self.lines += other.lines;
        self.bytes += other.bytes;
        self.quarantined += other.quarantined;
        self.records.merge(&other.records);
        self.ignored.merge(&other.ignored);
        self.unrecognized.merge(&other.unrecognized);
        self.losses.merge(&other.losses);
    }
}

/// Takes batches; false stops the reading.
pub type Sink<'a> = &'a mut dyn FnMut(Batch) -> bool;

/// A file being read.
pub struct Reading {
    path: PathBuf,
    /// The file's name, for values that name no conversation.
    hint: String,
    format: SourceFormat,
    adapter: Box<dyn AgentAdapter>,
    sealer: Sealer,
    line_cap: usize,
    offset: u64,
    lines: u64,
    chain: Digest,
    /// Both ends of what was read, as of the last batch.
    windows: Option<Windows>,
    /// Generation being written when this is a replay; 0 otherwise.
    replay: i64,
    /// What the store has to say of the source for the next batch to fit.
    expect: Expect,
    begun: bool,
    pending: Vec<Sealed>,
    pending_bytes: u64,
    ignored: Tally,
    stats: ReadStats,
    /// What was decoded already to recognise the file.
    head: Head,
    /// Native id of the conversation that the file was last seen to be about; damage belongs to it.
    about: Option<String>,
}

impl Reading {
    /// A reading from the beginning of the file. `replay` is the new generation's number when rows
    /// of an earlier one are to be replaced, else 0.
    pub fn new(
        path: &Path,
        format: SourceFormat,
        adapter: Box<dyn AgentAdapter>,
        namespace: &str,
        line_cap: usize,
        replay: i64,
    ) -> Self {
        let sealer = Sealer::new(namespace, adapter.provider(), adapter.adapter_version());
        let hint = path.file_stem().map(|s| s.to_string_lossy().into_owned());
        Self {
            path: path.to_owned(),
            hint: hint.unwrap_or_else(|| "unknown".to_owned()),
            format,
            adapter,
            sealer,
            line_cap,
            offset: 0,
            lines: 0,
            chain: Digest::of(b""),
            windows: None,
            replay,
            expect: if replay == 0 { Expect::Unread } else { Expect::Replay },
            begun: false,
            pending: Vec::new(),
            pending_bytes: 0,
            ignored: Tally::default(),
            stats: ReadStats::default(),
            head: Head::default(),
            about: None,
        }
    }

    /// Takes over what was decoded already to recognise the file.
    pub fn known_head(&mut self, head: Head) {
        self.head = head;
    }

    /// The decoder that a watermark's state belongs to.
    pub fn decoder(adapter: &dyn AgentAdapter) -> String {
        format!("{}/{}", adapter.provider(), adapter.adapter_version())
    }

    /// Goes on from a watermark; false when its state is not one of this decoder's.
    pub fn resume(&mut self, generation: i64, mark: &Watermark) -> bool {
        if mark.decoder != Self::decoder(self.adapter.as_ref()) {
            return false;
        }
        let Some(sealer) = mark.state.get("sealer") else { return false };
        let Ok(sealer) = serde_json::from_value::<SealerState>(sealer.clone()) else {
            return false;
        };
        if !self.adapter.restore(mark.state.get("adapter").unwrap_or(&Value::Null)) {
            return false;
        }
        self.sealer.restore(sealer);
        self.about = mark.state.get("about").and_then(Value::as_str).map(str::to_owned);
        self.offset = mark.offset;
        self.lines = mark.lines;
        self.chain = mark.chain;
        self.expect = Expect::At { generation, offset: mark.offset };
        true
    }

    /// How far the file was read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// True when both ends of what was read stand in the file as they were.
    pub fn stands(&self, files: &dyn Files) -> bool {
        self.windows.is_some_and(|held| {
            windows(files, &self.path, self.offset).is_ok_and(|now| now == Some(held))
        })
    }

    /// What was met since the last call.
    pub fn take_stats(&mut self) -> ReadStats {
        std::mem::take(&mut self.stats)
    }

    /// Notes a loss of the source itself, stored with the next batch.
    pub fn note(&mut self, reason: LossReason, detail: &str) {
        let line = Line { offset: 0, length: 0, hash: Digest::of(b""), received: None };
        self.loss(LossDraft::one(None, reason, detail, ""), &line);
    }

    /// Reads everything the file holds now and hands it on; false when the sink stopped it.
    ///
    /// # Errors
    /// When the file cannot be read; what was handed on before stays.
    pub fn read_available(
        &mut self,
        files: &dyn Files,
        stat: &FileStat,
        sink: Sink<'_>,
    ) -> io::Result<bool> {
        let went_on = if self.format.whole_document {
            self.read_document(files)?;
            true
        } else {
            self.read_lines(files, stat, sink)?
        };
        if !went_on {
            return Ok(false);
        }
        let batch = self.batch(files, stat, true)?;
        Ok(sink(batch))
    }

    fn read_lines(
        &mut self,
        files: &dyn Files,
        stat: &FileStat,
        sink: Sink<'_>,
    ) -> io::Result<bool> {
        let source = files.open(&self.path, self.offset)?;
        let mut lines = Lines::new(source, self.offset, self.line_cap, READ_CHUNK_BYTES);
        let ends_early = loop {
            let piece = match lines.next_piece() {
                Ok(Some(piece)) => piece,
                Ok(None) => break false,
                // A compressed file that is being written: what it holds so far is good.
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => break true,
                Err(e) => return Err(e),
            };
            match piece {
                Piece::Line { offset, bytes } => {
                    self.line(offset, bytes);
                    self.offset = offset + bytes.len() as u64 + 1;
                }
                Piece::TooLong { offset, length } => {
                    self.too_long(offset, length);
                    self.offset = offset + length + 1;
                }
            }
            if self.pending.len() >= BATCH_ROWS_MAX || self.pending_bytes >= BATCH_BYTES_MAX {
                let batch = self.batch(files, stat, false)?;
                if !sink(batch) {
                    return Ok(false);
                }
            }
        };
        match lines.rest() {
            Some((offset, rest)) if ends_early => self.withheld(offset, rest, ENDS_EARLY),
            Some((offset, rest)) => self.rest(offset, rest),
            None => {
                if let Some((offset, length)) = lines.rest_over_cap() {
                    self.withheld_over_cap(offset, length);
                }
            }
        }
        Ok(true)
    }

    /// What stands after the last line break.
    fn rest(&mut self, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let (found, refused) = json::values(bytes);
        let whole = refused.is_none()
            && !found.is_empty()
            && found.iter().all(|f| f.value.is_object() || f.value.is_array());
        if whole {
            let hash = self.count_line(bytes);
            self.values(offset, bytes, &hash, found);
            self.offset = offset + bytes.len() as u64;
        } else if !bytes.iter().all(u8::is_ascii_whitespace) {
            self.withheld(offset, bytes, "last line");
        }
    }

    /// What is not taken yet is a loss until the next look takes it.
    fn withheld(&mut self, offset: u64, bytes: &[u8], detail: &str) {
        let (length, hash) = (bytes.len() as u64, Digest::of(bytes));
        let line = Line { offset, length, hash, received: None };
        self.loss(LossDraft::one(None, LossReason::LineTorn, detail, ""), &line);
    }

    fn withheld_over_cap(&mut self, offset: u64, length: u64) {
        let line = Line { offset, length, hash: Digest::of(b""), received: None };
        self.loss(LossDraft::one(None, LossReason::LineTorn, "last line", ""), &line);
    }

    fn read_document(&mut self, files: &dyn Files) -> io::Result<()> {
        let mut bytes = Vec::new();
        files.open(&self.path, 0)?.take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
            self.too_long(0, bytes.len() as u64);
        } else {
            self.line(0, &bytes);
        }
        self.offset = bytes.len() as u64;
        Ok(())
    }

    fn line(&mut self, offset: u64, bytes: &[u8]) {
        let hash = self.count_line(bytes);
        let known = self.head.take(offset, &hash);
        let (found, refused) = known.unwrap_or_else(|| json::values(bytes));
        if let Some(refused) = refused {
            self.quarantine(offset, bytes, &hash, refused.as_str());
        }
        self.values(offset, bytes, &hash, found);
    }

    /// Counts a line and links it to the chain; answers its hash.
    fn count_line(&mut self, bytes: &[u8]) -> Digest {
        let hash = Digest::of(bytes);
        self.stats.bytes += bytes.len() as u64 + 1;
        // Blank lines do not count: the end of a last line may come later and alone.
        if bytes.is_empty() {
            return hash;
        }
        self.lines += 1;
        self.stats.lines += 1;
        self.pending_bytes += bytes.len() as u64;
        self.link(&hash);
        hash
    }

    /// The chain of line hashes: evidence of the whole prefix, one step a line.
    fn link(&mut self, hash: &Digest) {
        self.chain = link(&self.chain, hash);
    }

    fn too_long(&mut self, offset: u64, length: u64) {
        self.lines += 1;
        self.stats.lines += 1;
        self.stats.bytes += length + 1;
        self.link(&Digest::of(&length.to_le_bytes()));
        let line = Line { offset, length, hash: Digest::of(b""), received: None };
        self.loss(LossDraft::one(None, LossReason::LineTooLong, "line", ""), &line);
    }

    fn quarantine(&mut self, offset: u64, bytes: &[u8], hash: &Digest, reason: &str) {
        self.stats.quarantined += 1;
        let line = Line { offset, length: bytes.len() as u64, hash: *hash, received: None };
        let place = place_of(&line);
        let body = Body::Quarantine { reason: reason.to_owned() };
        self.pending.push(Sealed { conversation: None, place, body });
        self.loss(LossDraft::one(None, LossReason::LineUnparseable, reason, ""), &line);
    }

    fn values(&mut self, line_offset: u64, bytes: &[u8], hash: &Digest, found: Vec<Found>) {
        for value in found {
            let end = value.offset + value.length;
            let own = bytes.get(value.offset..end).unwrap_or_default();
            let line = Line {
                offset: line_offset + value.offset as u64,
                length: value.length as u64,
                // Nearly always the value is the whole line.
                hash: if own.len() == bytes.len() { *hash } else { Digest::of(own) },
                received: None,
            };
            self.value(&value, &line);
        }
    }

    fn value(&mut self, found: &Found, line: &Line) {
        if let Some(repair) = found.repaired {
            self.loss(LossDraft::one(None, LossReason::LineRepaired, repair, ""), line);
        }
        match self.adapter.normalize(&self.hint, &found.value) {
            NormalizationOutcome::Messages(mut messages) => {
                prepare(&mut messages);
                for message in &messages {
                    self.count_message(message);
                }
                let record = NativeId::new("record", format!("{}|", line.hash.short_hex()));
                let sealed = self.sealer.seal(messages, line, &record);
                if let Some(of) = sealed.iter().find_map(|s| s.conversation.as_ref()) {
                    self.about = Some(of.native_id.clone());
                }
                self.pending.extend(sealed);
            }
            NormalizationOutcome::Ignored { reason } => {
                self.ignored.add(reason, 1);
                self.stats.ignored.add(reason, 1);
            }
            NormalizationOutcome::Unrecognized { discriminator } => {
                let tag = super::redact::text(&discriminator).into_owned();
                self.stats.unrecognized.add(&tag, 1);
                self.loss(LossDraft::one(None, LossReason::Unrecognized, &tag, ""), line);
            }
        }
    }

    fn count_message(&mut self, message: &Message) {
        let kind = match message {
            Message::Event(_) => "event",
            Message::Evidence(_) => "evidence",
            Message::Capabilities(_) => "capabilities",
            Message::Usage(_) => "usage",
            Message::Lineage(_) => "lineage",
            Message::Turn(_) => "turn",
            Message::Loss(loss) => {
                if loss.reason == LossReason::Unrecognized {
                    self.stats.unrecognized.add(&loss.detail, 1);
                }
                self.stats.losses.add(loss.reason.as_str(), 1);
                "loss"
            }
        };
        self.stats.records.add(kind, 1);
    }

    fn loss(&mut self, mut draft: LossDraft, line: &Line) {
        draft.conversation = draft.conversation.or_else(|| self.about.clone());
        self.stats.losses.add(draft.reason.as_str(), 1);
        self.stats.records.add("loss", 1);
        let sealed = self.sealer.loss(draft, line, place_of(line));
        self.pending.push(sealed);
    }

    fn batch(&mut self, files: &dyn Files, stat: &FileStat, complete: bool) -> io::Result<Batch> {
        let claims = self.pending.iter().filter(|s| matches!(s.body, Body::Claim(_))).count();
        if claims > 0 {
            self.stats.records.add("claim", claims as u64);
        }
        let replaying = self.replay != 0;
        let watermark = if replaying && !complete {
            None
        } else {
            Some(self.watermark(files, stat, complete)?)
        };
        let batch = Batch {
            source: SourceSpec {
                kind: "file",
                format: self.format.name.to_owned(),
                provider: self.adapter.provider().as_str().to_owned(),
                path: super::identifiers::source_name(&self.path),
                stat: Some(*stat),
            },
            expect: self.expect,
            generation: self.replay,
            fresh: replaying && !self.begun,
            flip: replaying && complete,
            records: std::mem::take(&mut self.pending),
            watermark,
            ingress: Ingress::BuiltIn,
            ignored: std::mem::take(&mut self.ignored),
        };
        self.begun = true;
        self.pending_bytes = 0;
        let offset = self.offset;
        self.expect = match self.expect {
            // A new source is in its first generation.
            Expect::Unread => Expect::At { generation: 1, offset },
            Expect::At { generation, .. } => Expect::At { generation, offset },
            // From here on the reading appends to the generation that it made visible.
            Expect::Replay if complete => Expect::At { generation: self.replay, offset },
            same => same,
        };
        if complete {
            self.replay = 0;
        }
        Ok(batch)
    }

    fn watermark(
        &mut self,
        files: &dyn Files,
        stat: &FileStat,
        complete: bool,
    ) -> io::Result<Watermark> {
        self.windows = windows(files, &self.path, self.offset)?;
        // Open calls hold what their agent wrote; the store keeps no secret of it either.
        let mut adapter = self.adapter.snapshot();
        super::redact::value(&mut adapter);
        Ok(Watermark {
            offset: self.offset,
            lines: self.lines,
            chain: self.chain,
            windows: self.windows,
            decoder: Self::decoder(self.adapter.as_ref()),
            state: json!({ "adapter": adapter, "sealer": self.sealer.state(), "about": self.about }),
            stat: *stat,
            complete,
        })
    }
}

fn place_of(line: &Line) -> Place {
    Place {
        offset: line.offset,
        length: line.length,
        line_hash: line.hash,
        path: String::new(),
        index: 0,
    }
}

fn link(chain: &Digest, hash: &Digest) -> Digest {
    Digest::of([*chain.as_bytes(), *hash.as_bytes()].as_flattened())
}

/// Hashes of the first and of the last window of a file's first `offset` bytes; none for a
/// compressed file.
///
/// # Errors
/// When the file cannot be read.
pub fn windows(files: &dyn Files, path: &Path, offset: u64) -> io::Result<Option<Windows>> {
    if is_compressed(path) {
        return Ok(None);
    }
    let length = offset.min(PREFIX_WINDOW_BYTES);
    let window = |start: u64| -> io::Result<Digest> {
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        files.open(path, start)?.take(length).read_to_end(&mut bytes)?;
        Ok(Digest::of(&bytes))
    };
    let head = window(0)?;
    let tail = if offset <= PREFIX_WINDOW_BYTES { head } else { window(offset - length)? };
    Ok(Some(Windows { head, tail }))
}

/// The chain over the first `offset` bytes of a file as it is now; `None` when it has fewer.
///
/// # Errors
/// When the file cannot be read.
pub fn chain_of_prefix(
    files: &dyn Files,
    path: &Path,
    offset: u64,
    line_cap: usize,
) -> io::Result<Option<Digest>> {
    let prefix = files.open(path, 0)?.take(offset);
    let mut lines = Lines::new(prefix, 0, line_cap, READ_CHUNK_BYTES);
    let mut chain = Digest::of(b"");
    while let Some(piece) = lines.next_piece()? {
        let hash = match piece {
            Piece::Line { bytes: b"", .. } => continue,
            Piece::Line { bytes, .. } => Digest::of(bytes),
            Piece::TooLong { length, .. } => Digest::of(&length.to_le_bytes()),
        };
        chain = link(&chain, &hash);
    }
    // The end of a line over the cap that was cut off there is no evidence of anything.
    let Some((rest_offset, rest)) = lines.rest() else { return Ok(None) };
    if !rest.is_empty() {
        chain = link(&chain, &Digest::of(rest));
    }
    Ok((rest_offset + rest.len() as u64 == offset).then_some(chain))
}
