//! `fornax ingest --messages`: canonical records of third parties, a JSON object each.
//!
//! A record is validated, redacted and stored like an adapter's, under the id that it brings and
//! with the ingress `messages`, which nothing on the wire can set. A record that breaks its shape
//! costs itself: it is a located loss, its neighbours are stored. Reading the same bytes again
//! changes nothing.

mod fields;
pub mod legacy;
mod seal;
mod wire;

#[cfg(test)]
mod tests;

use super::reading::ReadStats;
use super::seal::Line;
use crate::base::hash::Digest;
use crate::base::json::{self, Found};
use crate::base::limits::{BATCH_ROWS_MAX, HOOK_PAYLOAD_BYTES_MAX, READ_CHUNK_BYTES};
use crate::base::lines::{Lines, Piece};
use crate::domain::event::Channel;
use crate::domain::key::ConversationKey;
use crate::domain::loss::LossReason;
use crate::domain::outcome::safe_tag;
use crate::domain::provider::Provider;
use crate::domain::record::{Body, Ingress, LossRecord, Sealed};
use crate::ports::recorder::{Appended, Batch, Recorder, SourceSpec, StoreError};
use fields::Refusal;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io::{self, Read};
use wire::{Named, Record};

/// Bytes of a stream without a name that tell it from others.
const HEAD_BYTES: usize = 64 * 1024;
/// Records that wait for one that names the provider of their session: bytes of all of them.
const WAITING_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What an import did.
#[derive(Debug, Default)]
pub struct Imported {
    pub read: ReadStats,
    pub appended: Appended,
}

/// Why an import stopped; what was stored before stays.
#[derive(Debug)]
pub enum ImportError {
    Input(io::Error),
    Store(StoreError),
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(_) => write!(f, "the messages cannot be read"),
            Self::Store(_) => write!(f, "the messages are not stored"),
        }
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Input(e) => Some(e),
            Self::Store(e) => Some(e),
        }
    }
}

impl From<io::Error> for ImportError {
    fn from(e: io::Error) -> Self {
        Self::Input(e)
    }
}

impl From<StoreError> for ImportError {
    fn from(e: StoreError) -> Self {
        Self::Store(e)
    }
}

/// Reads messages to their end and stores them. `name` is the file they stand in; a stream without
/// one is named by its beginning, so that the same stream has the same name.
///
/// # Errors
/// When the input fails or the store refuses.
pub fn import(
    mut input: impl Read,
    name: Option<&str>,
    recorder: &mut dyn Recorder,
) -> Result<Imported, ImportError> {
    let mut head = Vec::new();
    input.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    let name = match name {
        Some(name) => name.to_owned(),
        None => format!("messages:{}", Digest::of(&head).short_hex()),
    };
    let mut import = Import {
        namespace: recorder.namespace().to_owned(),
        name,
        recorder,
        providers: HashMap::new(),
        waiting: Vec::new(),
        waiting_bytes: 0,
        pending: Vec::new(),
        done: Imported::default(),
    };
    let whole = io::Cursor::new(head).chain(input);
    let mut lines = Lines::new(whole, 0, HOOK_PAYLOAD_BYTES_MAX, READ_CHUNK_BYTES);
    while let Some(piece) = lines.next_piece()? {
        match piece {
            Piece::Line { offset, bytes } => import.line(offset, bytes)?,
            Piece::TooLong { offset, length } => import.too_long(offset, length)?,
        }
    }
    match (lines.rest(), lines.rest_over_cap()) {
        (Some((offset, bytes)), _) => import.line(offset, bytes)?,
        (None, Some((offset, length))) => import.too_long(offset, length)?,
        (None, None) => {}
    }
    import.finish()
}

/// Whether the provider of a session is told.
enum Whose {
    Known(ConversationKey),
    NotYet,
    Ambiguous,
}

/// One import under way.
struct Import<'a> {
    namespace: String,
    name: String,
    recorder: &'a mut dyn Recorder,
    /// Providers that records have named, by session.
    providers: HashMap<String, BTreeSet<Provider>>,
    /// Records of sessions whose provider is not told yet.
    waiting: Vec<(Line, Vec<u8>)>,
    waiting_bytes: usize,
    pending: Vec<Sealed>,
    done: Imported,
}

impl Import<'_> {
    fn line(&mut self, offset: u64, bytes: &[u8]) -> Result<(), ImportError> {
        self.done.read.bytes += bytes.len() as u64 + 1;
        if bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        self.done.read.lines += 1;
        let (found, refused) = json::values(bytes);
        for one in found {
            let own = bytes.get(one.offset..one.offset + one.length).unwrap_or_default();
            let line = line_of(offset + one.offset as u64, own);
            self.value(&line, &one, own, false);
        }
        if let Some(refused) = refused {
            self.quarantine(&line_of(offset, bytes), LossReason::LineUnparseable, refused.as_str());
        }
        self.store_if_full()
    }

    fn too_long(&mut self, offset: u64, length: u64) -> Result<(), ImportError> {
        self.done.read.lines += 1;
        self.done.read.bytes += length + 1;
        let line = Line { length, ..line_of(offset, b"") };
        self.loss(&line, LossReason::LineTooLong, "message", None);
        self.store_if_full()
    }

    /// Takes one value. `at_end`: nothing more will come that could say whose it is.
    fn value(&mut self, line: &Line, found: &Found, bytes: &[u8], at_end: bool) {
        let Value::Object(map) = &found.value else {
            return self.quarantine(line, LossReason::MessageInvalid, "not an object");
        };
        if let Some(repaired) = found.repaired.filter(|_| !at_end) {
            self.loss(line, LossReason::LineRepaired, repaired, None);
        }
        let kind = match wire::type_of(map) {
            Ok(kind) => kind,
            Err(refusal) => return self.refuse(line, &refusal, "message"),
        };
        if !wire::is_known(kind) {
            let tag = format!("message:{}", safe_tag(&super::redact::text(kind)));
            self.done.read.unrecognized.add(&tag, 1);
            return self.loss(line, LossReason::Unrecognized, &tag, None);
        }
        let record = match wire::read(kind, map, bytes) {
            Ok(record) => record,
            Err(refusal) => return self.refuse(line, &refusal, kind),
        };
        match self.whose(&record.named) {
            Whose::Known(key) => self.record(line, kind, record, &key),
            Whose::NotYet if !at_end && self.waiting_bytes + bytes.len() <= WAITING_BYTES_MAX => {
                self.waiting_bytes += bytes.len();
                self.waiting.push((*line, bytes.to_vec()));
            }
            Whose::NotYet => {
                let refusal = Refusal::new("session_id", "no record names its provider");
                self.refuse(line, &refusal, kind);
            }
            Whose::Ambiguous => {
                let refusal = Refusal::new("session_id", "two providers have this session");
                self.refuse(line, &refusal, kind);
            }
        }
    }

    /// The conversation of a record: its key, else its provider's, else that of its session.
    fn whose(&mut self, named: &Named) -> Whose {
        let provider =
            named.key.as_ref().map(ConversationKey::provider).or(named.provider.as_ref());
        if let Some(provider) = provider {
            self.providers.entry(named.session_id.clone()).or_default().insert(provider.clone());
        }
        if let Some(key) = &named.key {
            return Whose::Known(key.clone());
        }
        let known = self.providers.get(&named.session_id);
        let provider = match (named.provider.as_ref(), known) {
            (Some(provider), _) => provider,
            (None, None) => return Whose::NotYet,
            (None, Some(known)) if known.len() > 1 => return Whose::Ambiguous,
            (None, Some(known)) => match known.first() {
                Some(only) => only,
                None => return Whose::NotYet,
            },
        };
        let key = ConversationKey::new(provider.clone(), &self.namespace, &named.session_id);
        key.map_or(Whose::NotYet, Whose::Known)
    }

    fn record(&mut self, line: &Line, kind: &str, record: Record, key: &ConversationKey) {
        let unknown = record.unknown;
        match seal::seal(key, record.told, line, Channel::Message) {
            Ok(sealed) => {
                self.done.read.records.add(kind, 1);
                for one in &sealed {
                    if let Body::Loss(loss) = &one.body {
                        self.done.read.losses.add(loss.reason.as_str(), loss.count);
                    }
                }
                self.pending.extend(sealed);
            }
            Err(refusal) => return self.refuse(line, &refusal, kind),
        }
        for name in unknown {
            let tag = format!("message:{kind}.{}", safe_tag(&super::redact::text(&name)));
            self.done.read.unrecognized.add(&tag, 1);
            self.loss(line, LossReason::Unrecognized, &tag, Some(key));
        }
    }

    fn refuse(&mut self, line: &Line, refusal: &Refusal, kind: &str) {
        self.quarantine(line, LossReason::MessageInvalid, &refusal.detail(kind));
    }

    /// A bad record: where it stands and why, nothing of what it held.
    fn quarantine(&mut self, line: &Line, reason: LossReason, why: &str) {
        self.done.read.quarantined += 1;
        let body = Body::Quarantine { reason: why.to_owned() };
        self.pending.push(Sealed { conversation: None, place: seal::place_of(line, 0), body });
        self.loss(line, reason, why, None);
    }

    fn loss(
        &mut self,
        line: &Line,
        reason: LossReason,
        detail: &str,
        of: Option<&ConversationKey>,
    ) {
        self.done.read.losses.add(reason.as_str(), 1);
        let conversation = of.map(seal::conversation_ref);
        let body = Body::Loss(LossRecord { reason, detail: detail.to_owned(), count: 1, at_us: 0 });
        self.pending.push(Sealed { conversation, place: seal::place_of(line, 0), body });
    }

    fn store_if_full(&mut self) -> Result<(), ImportError> {
        if self.pending.len() >= BATCH_ROWS_MAX { self.store() } else { Ok(()) }
    }

    fn store(&mut self) -> Result<(), ImportError> {
        let source = SourceSpec {
            kind: "messages",
            format: "messages".to_owned(),
            provider: String::new(),
            path: self.name.clone(),
            stat: None,
        };
        let batch = Batch::of(source, std::mem::take(&mut self.pending), Ingress::Messages);
        let appended = self.recorder.append(&[batch], None)?;
        self.done.appended.add(&appended);
        Ok(())
    }

    /// The records that waited, then what is left to store.
    fn finish(mut self) -> Result<Imported, ImportError> {
        for (line, bytes) in std::mem::take(&mut self.waiting) {
            for found in json::values(&bytes).0 {
                self.value(&line, &found, &bytes, true);
            }
            self.store_if_full()?;
        }
        self.store()?;
        Ok(self.done)
    }
}

fn line_of(offset: u64, bytes: &[u8]) -> Line {
    Line { offset, length: bytes.len() as u64, hash: Digest::of(bytes), received: None }
}
