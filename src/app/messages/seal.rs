//! A record whose conversation is known into something to store: redacted, cut, its id kept.
//!
//! Records come with their own ids. Text goes through the same choke point as an adapter's; what
//! a third party says never outranks what an adapter of this program read.

use super::fields::Refusal;
use super::wire::{EvidenceTold, Told};
use crate::app::prepare::{prepare, short_text};
use crate::app::redact;
use crate::app::seal::Line;
use crate::base::hash::Digest;
use crate::base::ids;
use crate::base::json::JsonText;
use crate::base::time::Micros;
use crate::domain::capability::RuntimeCapabilities;
use crate::domain::envelope::ExtensionEnvelope;
use crate::domain::event::{Channel, ClockSource, EventDraft};
use crate::domain::key::ConversationKey;
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::{Message, TurnDraft};
use crate::domain::provenance::EvidenceSource;
use crate::domain::record::{
    Body, CapabilityRecord, ClaimRecord, ConversationRef, EventRecord, EvidenceRecord,
    LineageRecord, LossRecord, Place, Sealed, UsageRecord,
};
use crate::domain::usage::UsageDraft;
use serde::{Deserialize as _, Serialize as _};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use uuid::Uuid;

/// Seals what one record tells of a conversation; `channel` ranks its tellings.
pub(super) fn seal(
    key: &ConversationKey,
    told: Told,
    line: &Line,
    channel: Channel,
) -> Result<Vec<Sealed>, Refusal> {
    let sealing = Sealing { key, line, channel };
    match told {
        Told::Event { id, draft, clock, order_us } => {
            Ok(sealing.event(id, *draft, clock, order_us))
        }
        Told::Evidence(evidence) => sealing.evidence(*evidence),
        Told::Claim { id, event_id, turn_id, text, subject, at } => {
            let (order_us, claimed_at) = (order(&at), at);
            let record = ClaimRecord { id, event_id, turn_id, text, subject, claimed_at, order_us };
            Ok(sealing.claim(record))
        }
        Told::Capabilities(capabilities) => Ok(sealing.capabilities(capabilities)),
        Told::Usage { id, draft } => Ok(sealing.usage(id, *draft)),
        Told::Lineage { relation, related, position } => {
            let record = LineageRecord { relation, related: related.to_string(), position };
            Ok(vec![sealing.sealed(Body::Lineage(record), 0)])
        }
        Told::Fact(turns) => Ok(sealing.fact(*turns)),
        Told::Loss(loss) => Ok(vec![sealing.loss(loss)]),
    }
}

/// One record and its conversation.
struct Sealing<'a> {
    key: &'a ConversationKey,
    line: &'a Line,
    channel: Channel,
}

impl Sealing<'_> {
    fn sealed(&self, body: Body, index: u32) -> Sealed {
        let conversation = Some(conversation_ref(self.key));
        Sealed { conversation, place: place_of(self.line, index), body }
    }

    /// Prepares one message; what was cut is sealed as losses behind it.
    fn prepared(&self, message: Message) -> (Option<Message>, Vec<Sealed>) {
        let mut messages = vec![message];
        prepare(&mut messages);
        let mut rest = messages.into_iter();
        let first = rest.next();
        let losses = rest
            .filter_map(|m| if let Message::Loss(loss) = m { Some(self.loss(loss)) } else { None });
        (first, losses.collect())
    }

    fn event(
        &self,
        id: Uuid,
        mut draft: EventDraft,
        clock_source: ClockSource,
        order_us: Option<i64>,
    ) -> Vec<Sealed> {
        self.key.native_id().clone_into(&mut draft.conversation);
        let (Some(Message::Event(draft)), losses) = self.prepared(Message::Event(draft)) else {
            return Vec::new();
        };
        let observed_at = draft.observed_at.unwrap_or_default();
        let mut record = EventRecord {
            id,
            kind: draft.kind,
            native: draft.native,
            turn_id: draft.turn_id,
            call_id: draft.call_id,
            agent_id: draft.agent_id,
            outcome: draft.outcome,
            tool_name: draft.tool_name,
            tool_input: draft.tool_input.as_ref().map(JsonText::of),
            tool_response: draft.tool_response.as_ref().map(JsonText::of),
            text: draft.text,
            raw: draft.raw.as_ref().map(JsonText::of),
            order_us: order_us.unwrap_or_else(|| order(&observed_at)),
            observed_at,
            clock_source,
            rank: self.channel.rank(),
            heuristic: false,
            content: Digest::of(b""),
        };
        record.content = record.content_of();
        // Another telling of the event at the same place of another delivery is another sighting.
        let (_, content) = self.line.hash.as_bytes().split_at(28);
        let index = content.iter().fold(0u32, |sum, b| (sum << 8) | u32::from(*b)) >> 1;
        let mut out = vec![self.sealed(Body::Event(Box::new(record)), index)];
        out.extend(losses);
        out
    }

    fn evidence(&self, told: EvidenceTold) -> Result<Vec<Sealed>, Refusal> {
        let source = clean_source(&told.source)?;
        if source.provider.as_ref().is_some_and(|p| p != self.key.provider()) {
            return Err(Refusal::new("source.provider", "does not agree with the conversation"));
        }
        let extension = told.extension.map(|e| self.clean_envelope(&e)).transpose()?;
        let mut draft = told.draft;
        self.key.native_id().clone_into(&mut draft.conversation);
        let (prepared, losses) = self.prepared(Message::Evidence(draft));
        let Some(Message::Evidence(draft)) = prepared else { return Ok(Vec::new()) };
        let observed_at = draft.observed_at.unwrap_or_default();
        let record = EvidenceRecord {
            id: told.id,
            event_id: told.event_id,
            kind: draft.kind,
            payload: JsonText::of(&draft.payload),
            provenance: redact::text(&draft.provenance).into_owned(),
            source,
            extension: extension.map(|e| e.to_json()),
            order_us: order(&observed_at),
            observed_at,
            rank: self.channel.rank(),
        };
        let mut out = vec![self.sealed(Body::Evidence(Box::new(record)), 0)];
        out.extend(losses);
        Ok(out)
    }

    /// An envelope without secrets; numbers keep their spelling where nothing had to be cut out.
    fn clean_envelope(&self, envelope: &ExtensionEnvelope) -> Result<ExtensionEnvelope, Refusal> {
        if envelope.provider() != self.key.provider() {
            return Err(Refusal::new("extension.provider", "does not agree with the conversation"));
        }
        let fields = clean_raw(envelope.fields());
        let unknown: Vec<(String, Option<Box<RawValue>>)> =
            envelope.unknown().map(|(name, value)| (name.to_owned(), clean_raw(value))).collect();
        if fields.is_none() && unknown.iter().all(|(_, value)| value.is_none()) {
            return Ok(envelope.clone());
        }
        let refused = |_| Refusal::new("extension", "cannot be redacted");
        let mut clean = envelope
            .with_fields(fields.as_deref().unwrap_or(envelope.fields()))
            .map_err(refused)?;
        for ((name, value), (_, spelled)) in unknown.into_iter().zip(envelope.unknown()) {
            let value = value.as_deref().unwrap_or(spelled);
            clean = clean.with_unknown(name, value).map_err(refused)?;
        }
        Ok(clean)
    }

    fn claim(&self, mut claim: ClaimRecord) -> Vec<Sealed> {
        let cut = short_text(&mut claim.text);
        let mut out = vec![self.sealed(Body::Claim(claim), 0)];
        if cut > 0 {
            let mut loss = LossDraft::one(None, LossReason::TextCut, "text", "text");
            loss.count = cut as u64;
            out.push(self.loss(loss));
        }
        out
    }

    fn capabilities(&self, mut capabilities: RuntimeCapabilities) -> Vec<Sealed> {
        for note in capabilities.notes.values_mut() {
            short_text(note);
        }
        for detail in capabilities.signals.iter_mut().filter_map(|s| s.detail.as_mut()) {
            short_text(detail);
        }
        let session = self.key.native_id().to_owned();
        capabilities.notes.insert("session_id".to_owned(), session);
        let observed_at = Micros(0).rfc3339();
        let record = CapabilityRecord { capabilities, observed_at };
        vec![self.sealed(Body::Capability(record), 0)]
    }

    fn usage(&self, id: Option<Uuid>, mut draft: UsageDraft) -> Vec<Sealed> {
        self.key.native_id().clone_into(&mut draft.conversation);
        draft.observed_at = draft.observed_at.map(|text| redact::text(&text).into_owned());
        let (prepared, _) = self.prepared(Message::Usage(draft));
        let Some(Message::Usage(usage)) = prepared else { return Vec::new() };
        let hash = self.line.hash.short_hex();
        let id = id.unwrap_or_else(|| ids::derive(&[&self.key.to_string(), "usage", &hash]));
        let order_us = usage.observed_at.as_deref().map_or(0, order);
        vec![self.sealed(Body::Usage(Box::new(UsageRecord { id, usage, order_us })), 0)]
    }

    fn fact(&self, turns: [TurnDraft; 2]) -> Vec<Sealed> {
        let mut out = Vec::new();
        for mut turn in turns {
            self.key.native_id().clone_into(&mut turn.conversation);
            let (prepared, losses) = self.prepared(Message::Turn(turn));
            if let Some(Message::Turn(turn)) = prepared {
                out.push(self.sealed(Body::Turn(turn), 0));
            }
            out.extend(losses);
        }
        out
    }

    fn loss(&self, draft: LossDraft) -> Sealed {
        let body = Body::Loss(LossRecord {
            reason: LossReason::from_tag(&redact::text(draft.reason.as_str())),
            detail: redact::text(&draft.detail).into_owned(),
            count: draft.count,
            at_us: 0,
        });
        let mut sealed = self.sealed(body, 0);
        sealed.place.path = redact::text(&draft.path).into_owned();
        sealed
    }
}

/// The row of a conversation.
pub(super) fn conversation_ref(key: &ConversationKey) -> Arc<ConversationRef> {
    Arc::new(ConversationRef::of(key))
}

/// The place of a record.
pub(super) fn place_of(line: &Line, index: u32) -> Place {
    Place {
        offset: line.offset,
        length: line.length,
        line_hash: line.hash,
        path: String::new(),
        index,
    }
}

fn order(time: &str) -> i64 {
    Micros::parse(time).map_or(0, |at| at.0)
}

/// The source without secrets.
fn clean_source(source: &EvidenceSource) -> Result<EvidenceSource, Refusal> {
    let refused = |_| Refusal::new("source", "cannot be redacted");
    let mut value = source.serialize(serde_json::value::Serializer).map_err(refused)?;
    redact::value(&mut value);
    if value.to_string().len() > crate::base::limits::TEXT_BYTES_MAX {
        return Err(Refusal::new("source", "too long"));
    }
    EvidenceSource::deserialize(value).map_err(refused)
}

/// JSON text without its secrets; `None` when there are none in it.
fn clean_raw(raw: &RawValue) -> Option<Box<RawValue>> {
    // A number beyond any float is repaired for looking only.
    let mut found = crate::base::json::values(raw.get().as_bytes()).0;
    let mut value: Value = found.pop()?.value;
    let before = value.clone();
    redact::value(&mut value);
    if value == before {
        return None;
    }
    RawValue::from_string(value.to_string()).ok()
}
