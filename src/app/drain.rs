//! The journal into the store: every command that uses the store does this first.
//!
//! One drainer at a time; rows and position of a batch move in one transaction. A frame stored
//! twice would change nothing, so a drainer killed at any moment costs nothing either.

use super::delivery::Delivery;
use super::seal::{Line, Sealer};
use crate::base::crash;
use crate::base::hash::Digest;
use crate::base::limits::{BATCH_ROWS_MAX, SAME_PAYLOAD_WINDOW_US};
use crate::base::time::Micros;
use crate::domain::event::NativeId;
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::Message;
use crate::domain::provider::Provider;
use crate::domain::record::{Ingress, Place};
use crate::ports::journal::{Frame, JournalReader, Segment};
use crate::ports::recorder::{Batch, Recorder, SegmentPosition, SourceSpec, StoreError};
use std::collections::{BTreeMap, HashMap};

/// What a drain did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drained {
    pub frames: u64,
    pub torn: u64,
    /// Frames of a newer format, left alone.
    pub newer: u64,
}

/// Why a drain did not finish.
#[derive(Debug)]
pub enum DrainError {
    Store(StoreError),
    Io(std::io::Error),
}

impl std::fmt::Display for DrainError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Store(e) => e.fmt(f),
            Self::Io(e) => write!(f, "the journal cannot be read: {e}"),
        }
    }
}

impl std::error::Error for DrainError {}

impl From<StoreError> for DrainError {
    fn from(e: StoreError) -> Self {
        Self::Store(e)
    }
}

impl From<std::io::Error> for DrainError {
    fn from(e: std::io::Error) -> Self {
        Self::Io(e)
    }
}

/// Stores every waiting frame. `Ok` with zero frames when another process is draining.
///
/// # Errors
/// When the store or the journal refuses; what was stored stays, the rest waits.
pub fn drain(
    journal: &dyn JournalReader,
    recorder: &mut dyn Recorder,
) -> Result<Drained, DrainError> {
    let mut drained = Drained::default();
    let Some(_claim) = journal.claim()? else { return Ok(drained) };
    crash::point("drain-claimed");
    for segment in journal.segments()? {
        drain_segment(journal, recorder, &segment, &mut drained)?;
    }
    // Also those that a drainer which was killed had stored and removed.
    recorder.forget_segments()?;
    crash::point("drain-settled");
    Ok(drained)
}

fn drain_segment(
    journal: &dyn JournalReader,
    recorder: &mut dyn Recorder,
    segment: &Segment,
    drained: &mut Drained,
) -> Result<(), DrainError> {
    let mut at = recorder.segment_offset(&segment.name)?;
    let mut seen = Seen::default();
    while at < segment.bytes {
        let mut frames = Vec::new();
        journal.read(segment, at, &mut |frame| {
            frames.push(frame);
            frames.len() < BATCH_ROWS_MAX / 4
        })?;
        if frames.is_empty() {
            break;
        }
        let mut batches: BTreeMap<String, Batch> = BTreeMap::new();
        for frame in frames {
            at = take_frame(frame, &segment.name, recorder, &mut seen, &mut batches, drained)?;
        }
        let batches: Vec<Batch> = batches.into_values().collect();
        let position = SegmentPosition { segment: segment.name.clone(), offset: at };
        recorder.append(&batches, Some(&position))?;
        crash::point("drain-stored");
    }
    journal.remove(segment)?;
    crash::point("drain-removed");
    Ok(())
}

/// Adds a frame to the batches; answers where it ends.
fn take_frame(
    frame: Frame,
    segment: &str,
    recorder: &mut dyn Recorder,
    seen: &mut Seen,
    batches: &mut BTreeMap<String, Batch>,
    drained: &mut Drained,
) -> Result<u64, StoreError> {
    let (end, damage) = match frame {
        Frame::Good { body, end } => match serde_json::from_slice::<Delivery>(&body) {
            Ok(delivery) => {
                drained.frames += 1;
                seal_delivery(delivery, recorder, seen, batches)?;
                return Ok(end);
            }
            Err(_) => (end, LossReason::FrameTorn),
        },
        Frame::Torn { end } => (end, LossReason::FrameTorn),
        Frame::Newer { end, .. } => (end, LossReason::FrameNewer),
    };
    if damage == LossReason::FrameNewer {
        drained.newer += 1;
    } else {
        drained.torn += 1;
    }
    let mut sealer = Sealer::new(recorder.namespace(), Provider::Unknown, "");
    let line = Line { offset: end, length: 0, hash: Digest::of(b""), received: None };
    // Two segments can be damaged at the same place; each counts.
    let loss = LossDraft::one(None, damage, "journal", segment);
    let place =
        Place { offset: end, length: 0, line_hash: line.hash, path: String::new(), index: 0 };
    let sealed = sealer.loss(loss, &line, place);
    batch_for(batches, "unknown").records.push(sealed);
    Ok(end)
}

fn seal_delivery(
    mut delivery: Delivery,
    recorder: &mut dyn Recorder,
    seen: &mut Seen,
    batches: &mut BTreeMap<String, Batch>,
) -> Result<(), StoreError> {
    let provider = Provider::from_tag(&delivery.provider);
    let mut sealer = Sealer::new(recorder.namespace(), provider, &delivery.adapter);
    let hash = Digest::from_hex(&delivery.payload_hash)
        .unwrap_or_else(|| Digest::of(delivery.payload_hash.as_bytes()));
    let line = Line {
        offset: u64::try_from(delivery.at_us).unwrap_or_default(),
        length: delivery.payload_bytes,
        hash,
        received: Some(Micros(delivery.at_us)),
    };
    if let Some(tag) = delivery.unrecognized.take() {
        let loss = LossDraft::one(None, LossReason::Unrecognized, &tag, "");
        delivery.messages.push(Message::Loss(loss));
    }
    // The store is asked only where something has no id of its own.
    let id = if delivery.messages.iter().any(lacks_id) {
        seen.payload_id(&hash, delivery.at_us, recorder)?
    } else {
        String::new()
    };
    let records = sealer.seal(delivery.messages, &line, &NativeId::new("payload", id));
    let batch = batch_for(batches, &delivery.provider);
    batch.records.extend(records);
    if let Some(reason) = delivery.ignored {
        batch.ignored.add(&reason, 1);
    }
    Ok(())
}

fn lacks_id(message: &Message) -> bool {
    match message {
        Message::Event(draft) => draft.native.is_record(),
        Message::Evidence(draft) => draft.event_native.is_record(),
        _ => false,
    }
}

fn batch_for<'a>(batches: &'a mut BTreeMap<String, Batch>, provider: &str) -> &'a mut Batch {
    batches.entry(provider.to_owned()).or_insert_with(|| {
        let source = SourceSpec {
            kind: "hook",
            format: "hook".to_owned(),
            provider: provider.to_owned(),
            path: format!("hook:{provider}"),
            stat: None,
        };
        Batch::of(source, Vec::new(), Ingress::BuiltIn)
    })
}

/// Payloads of this drain, for telling two deliveries of one event from two events.
#[derive(Default)]
struct Seen {
    last: HashMap<Digest, (i64, String)>,
}

impl Seen {
    /// The id of an event without any native id: that of an equal payload within the window, else
    /// one of its own.
    fn payload_id(
        &mut self,
        hash: &Digest,
        at_us: i64,
        recorder: &mut dyn Recorder,
    ) -> Result<String, StoreError> {
        let close = |other: i64| (at_us - other).abs() <= SAME_PAYLOAD_WINDOW_US;
        let known = match self.last.get(hash) {
            Some((at, id)) if close(*at) => Some(id.clone()),
            // A stored id goes on with the path of its message.
            _ => recorder
                .same_payload(hash, at_us, SAME_PAYLOAD_WINDOW_US)?
                .and_then(|id| id.split_once('|').map(|(own, _)| format!("{own}|"))),
        };
        let id = known.unwrap_or_else(|| format!("{}@{at_us}|", hash.short_hex()));
        self.last.insert(*hash, (at_us, id.clone()));
        Ok(id)
    }
}
