//! Drafts into records: ids derived, places attached, claims found, payloads validated.
//!
//! The same drafts at the same places give the same records, whoever reads them and in whatever
//! order. A payload that breaks the closed shape of its kind becomes a loss, never a row.

use crate::base::hash::Digest;
use crate::base::ids;
use crate::base::json::JsonText;
use crate::base::time::Micros;
use crate::domain::claims::{self, ClaimSentence, Subject};
use crate::domain::envelope::{ContentClass, ExtensionEnvelope};
use crate::domain::event::{ClockSource, EventDraft, EventKind, NativeId};
use crate::domain::evidence::EvidenceDraft;
use crate::domain::key::ConversationKey;
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::Message;
use crate::domain::payload::validate_canonical_payload;
use crate::domain::provenance::{CollectionMethod, EvidenceSource, Freshness, TamperBoundary};
use crate::domain::provider::Provider;
use crate::domain::record::{
    Body, CapabilityRecord, ClaimRecord, ConversationRef, EventRecord, EvidenceRecord,
    LineageRecord, LossRecord, Place, Sealed, UsageRecord,
};
use crate::domain::usage::{UsageDraft, UsageScope};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// Where the drafts of one native value stand.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    pub offset: u64,
    pub length: u64,
    pub hash: Digest,
    /// Time of receipt, for hook deliveries; files have their own times.
    pub received: Option<Micros>,
}

/// The part of a sealer that reading on needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealerState {
    /// Order of the last record sealed; never decreases within a source.
    pub order_us: i64,
}

/// Seals the drafts of one source.
pub struct Sealer {
    namespace: String,
    provider: Provider,
    adapter_version: String,
    state: SealerState,
    /// The conversation named last: most records of a source are of one.
    last: Option<Arc<ConversationRef>>,
}

impl Sealer {
    /// A sealer for one source of `provider`.
    pub fn new(namespace: &str, provider: Provider, adapter_version: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            provider,
            adapter_version: adapter_version.to_owned(),
            state: SealerState::default(),
            last: None,
        }
    }

    /// The state to go on from.
    pub fn state(&self) -> SealerState {
        self.state
    }

    /// Takes a state back.
    pub fn restore(&mut self, state: SealerState) {
        self.state = state;
    }

    /// The canonical key and row of a native conversation id; `None` when it is blank.
    pub fn conversation(&mut self, native_id: &str) -> Option<Arc<ConversationRef>> {
        if let Some(last) = self.last.as_ref().filter(|last| last.native_id == native_id) {
            return Some(Arc::clone(last));
        }
        let clean = super::redact::identifier(native_id);
        let native_id = clean.as_deref().unwrap_or(native_id);
        let key = ConversationKey::new(self.provider.clone(), &self.namespace, native_id).ok()?;
        let of = Arc::new(ConversationRef::of(&key));
        self.last = Some(Arc::clone(&of));
        Some(of)
    }

    /// Seals the messages of one native value. `records_id` names things without a native id.
    pub fn seal(
        &mut self,
        messages: Vec<Message>,
        line: &Line,
        record_id: &NativeId,
    ) -> Vec<Sealed> {
        let mut out = Vec::with_capacity(messages.len());
        if self.state.order_us == 0 && line.received.is_none() {
            // What stands before the first time of a file is given that time, not the year 1970.
            let first = messages.iter().find_map(|m| stated_time(m).and_then(Micros::parse));
            self.state.order_us = first.map_or(0, |at| at.0);
        }
        for (index, message) in messages.into_iter().enumerate() {
            let mut place = Place {
                offset: line.offset,
                length: line.length,
                line_hash: line.hash,
                path: String::new(),
                index: u32::try_from(index).unwrap_or(u32::MAX),
            };
            match message {
                Message::Event(draft) => {
                    place.path.clone_from(&draft.path);
                    self.event(draft, line, record_id, place, &mut out);
                }
                Message::Evidence(draft) => {
                    place.path.clone_from(&draft.path);
                    self.evidence(draft, line, record_id, place, &mut out);
                }
                Message::Usage(draft) => {
                    place.path.clone_from(&draft.path);
                    self.usage(draft, line, place, &mut out);
                }
                Message::Lineage(draft) => {
                    place.path.clone_from(&draft.path);
                    let related = self.conversation(&draft.related).map(|c| c.key.clone());
                    if let Some(related) = related {
                        let (relation, position) = (draft.relation, draft.position);
                        let body = Body::Lineage(LineageRecord { relation, related, position });
                        self.push(&draft.conversation, place, body, &mut out);
                    }
                }
                Message::Turn(mut draft) => {
                    place.path.clone_from(&draft.path);
                    let at = self.order(draft.observed_at.as_deref(), line);
                    draft.observed_at = Some(Micros(at).rfc3339());
                    let conversation = draft.conversation.clone();
                    self.push(&conversation, place, Body::Turn(draft), &mut out);
                }
                Message::Capabilities(draft) => {
                    let at = self.order(None, line);
                    let mut capabilities = draft.capabilities;
                    capabilities.notes.insert("session_id".to_owned(), draft.conversation.clone());
                    let body = Body::Capability(CapabilityRecord {
                        capabilities,
                        observed_at: Micros(at).rfc3339(),
                    });
                    self.push(&draft.conversation, place, body, &mut out);
                }
                Message::Loss(draft) => out.push(self.loss(draft, line, place)),
            }
        }
        out
    }

    fn push(&mut self, native_id: &str, place: Place, body: Body, out: &mut Vec<Sealed>) {
        match self.conversation(native_id) {
            Some(conversation) => {
                out.push(Sealed { conversation: Some(conversation), place, body });
            }
            None => out.push(Sealed {
                conversation: None,
                place,
                body: Body::Loss(LossRecord {
                    reason: LossReason::ConversationUnknown,
                    detail: body_name(&body).to_owned(),
                    count: 1,
                    at_us: self.state.order_us,
                }),
            }),
        }
    }

    /// The order of a record: its own time where it has one, never before the one ahead of it in
    /// its file; for a hook delivery the time of receipt.
    fn order(&mut self, observed_at: Option<&str>, line: &Line) -> i64 {
        if let Some(received) = line.received {
            return received.0;
        }
        if let Some(at) = observed_at.and_then(Micros::parse) {
            self.state.order_us = self.state.order_us.max(at.0);
        }
        self.state.order_us
    }

    fn clock(&self, observed_at: Option<&str>, line: &Line) -> (String, ClockSource) {
        match (observed_at, line.received) {
            (Some(text), _) if Micros::parse(text).is_some() => {
                (text.to_owned(), ClockSource::ProviderReported)
            }
            (_, Some(received)) => (received.rfc3339(), ClockSource::HostClock),
            _ => (Micros(self.state.order_us).rfc3339(), ClockSource::Reconstructed),
        }
    }

    fn event(
        &mut self,
        draft: EventDraft,
        line: &Line,
        record_id: &NativeId,
        place: Place,
        out: &mut Vec<Sealed>,
    ) {
        let order_us = self.order(draft.observed_at.as_deref(), line);
        let (observed_at, clock_source) = self.clock(draft.observed_at.as_deref(), line);
        let native = own_id(&draft.native, record_id, &draft.path);
        let Some(conversation) = self.conversation(&draft.conversation) else {
            return out.push(self.loss(unknown_conversation("event", &draft.path), line, place));
        };
        let id = event_id(&conversation.key, &draft.kind, &native);
        let claims = if carries_claims(&draft.kind) {
            self.claims(&draft, &conversation, id, &observed_at, order_us)
        } else {
            Vec::new()
        };
        let heuristic = native.space == "payload";
        let mut record = EventRecord {
            id,
            kind: draft.kind,
            native,
            turn_id: draft.turn_id,
            call_id: draft.call_id,
            agent_id: draft.agent_id,
            outcome: draft.outcome,
            tool_name: draft.tool_name,
            tool_input: draft.tool_input.as_ref().map(JsonText::of),
            tool_response: draft.tool_response.as_ref().map(JsonText::of),
            text: draft.text,
            raw: draft.raw.as_ref().map(JsonText::of),
            observed_at,
            clock_source,
            order_us,
            rank: draft.channel.rank(),
            heuristic,
            content: Digest::of(b""),
        };
        record.content = record.content_of();
        let body = Body::Event(Box::new(record));
        out.push(Sealed { conversation: Some(conversation.clone()), place: place.clone(), body });
        for claim in claims {
            let conversation = Some(conversation.clone());
            out.push(Sealed { conversation, place: place.clone(), body: Body::Claim(claim) });
        }
    }

    /// The claims of an answer. A claim is its sentence within its turn, so the hook's and the
    /// transcript's telling of one answer make the same claims.
    fn claims(
        &self,
        draft: &EventDraft,
        conversation: &ConversationRef,
        event_id: Uuid,
        claimed_at: &str,
        order_us: i64,
    ) -> Vec<ClaimRecord> {
        let Some(text) = draft.text.as_deref() else { return Vec::new() };
        let event = event_id.to_string();
        let turn = draft.turn_id.as_deref().unwrap_or(&event);
        claims::extract(text)
            .into_iter()
            .map(|found| ClaimRecord {
                id: claim_id(&conversation.key, turn, &found),
                event_id,
                turn_id: draft.turn_id.clone(),
                subject: found.subject.as_str().to_owned(),
                text: found.text,
                claimed_at: claimed_at.to_owned(),
                order_us,
            })
            .collect()
    }

    fn evidence(
        &mut self,
        draft: EvidenceDraft,
        line: &Line,
        record_id: &NativeId,
        place: Place,
        out: &mut Vec<Sealed>,
    ) {
        let order_us = self.order(draft.observed_at.as_deref(), line);
        let (observed_at, clock_source) = self.clock(draft.observed_at.as_deref(), line);
        if validate_canonical_payload(draft.kind, &draft.payload).is_err() {
            let loss = LossDraft::one(
                Some(&draft.conversation),
                LossReason::PayloadInvalid,
                draft.kind.as_str(),
                &draft.path,
            );
            return out.push(self.loss(loss, line, place));
        }
        let Some(conversation) = self.conversation(&draft.conversation) else {
            return out.push(self.loss(unknown_conversation("evidence", &draft.path), line, place));
        };
        let native = own_id(&draft.event_native, record_id, &draft.path);
        let event_id = event_id(&conversation.key, &draft.event_kind, &native);
        let extension = draft.extension.as_ref().and_then(|extension| {
            ExtensionEnvelope::from_value(
                self.provider.clone(),
                &self.adapter_version,
                ContentClass::from_tag(&extension.content_class),
                &extension.fields,
            )
            .ok()
        });
        if draft.extension.is_some() && extension.is_none() {
            let loss = LossDraft::one(
                Some(&draft.conversation),
                LossReason::PayloadInvalid,
                "extension",
                &draft.path,
            );
            out.push(self.loss(loss, line, place.clone()));
        }
        let rank = if draft.collection_method == CollectionMethod::HookCallback { 2 } else { 3 };
        let source = EvidenceSource {
            sensor_name: draft.sensor_name,
            tamper_boundary: TamperBoundary::of(&draft.trust_class, &draft.collection_method),
            trust_class: draft.trust_class,
            collected_at: observed_at.clone(),
            provider: Some(self.provider.clone()),
            collection_method: draft.collection_method,
            collector_version: Some(self.adapter_version.clone()),
            freshness: Freshness { clock_source, caveat: None },
            correlation_group: None,
            derived_from: Vec::new(),
        };
        let event = event_id.to_string();
        let record = EvidenceRecord {
            id: ids::derive(&[&event, "evidence", draft.kind.as_str(), &draft.slot]),
            event_id,
            kind: draft.kind,
            payload: JsonText::of(&draft.payload),
            provenance: draft.provenance,
            source,
            extension: extension.map(|e| e.to_json()),
            observed_at,
            order_us,
            rank,
        };
        let body = Body::Evidence(Box::new(record));
        out.push(Sealed { conversation: Some(conversation), place, body });
    }

    fn usage(&mut self, draft: UsageDraft, line: &Line, place: Place, out: &mut Vec<Sealed>) {
        let order_us = self.order(draft.observed_at.as_deref(), line);
        let Some(conversation) = self.conversation(&draft.conversation) else {
            return out.push(self.loss(unknown_conversation("usage", &draft.path), line, place));
        };
        let hash = line.hash.short_hex();
        let counts = serde_json::to_string(&draft.counts).unwrap_or_default();
        let id = match (draft.scope, draft.response_id.as_deref()) {
            (UsageScope::Response, Some(response)) => ids::derive(&[
                &conversation.key,
                "usage",
                response,
                draft.request_id.as_deref().unwrap_or_default(),
                &counts,
            ]),
            _ => ids::derive(&[
                &conversation.key,
                "usage",
                &line.offset.to_string(),
                &hash,
                &draft.path,
            ]),
        };
        let body = Body::Usage(Box::new(UsageRecord { id, usage: draft, order_us }));
        out.push(Sealed { conversation: Some(conversation), place, body });
    }

    /// Seals a loss; its conversation may be unknown.
    pub fn loss(&mut self, draft: LossDraft, line: &Line, mut place: Place) -> Sealed {
        place.path = draft.path;
        let at_us = line.received.map_or(self.state.order_us, |m| m.0);
        Sealed {
            conversation: draft.conversation.as_deref().and_then(|c| self.conversation(c)),
            place,
            body: Body::Loss(LossRecord {
                reason: draft.reason,
                detail: draft.detail,
                count: draft.count,
                at_us,
            }),
        }
    }
}

/// The id of an event of the conversation with that key.
pub(super) fn event_id(key: &str, kind: &EventKind, native: &NativeId) -> Uuid {
    ids::derive(&[key, "event", kind.as_str(), &native.space, &native.id])
}

/// The time that a draft states.
fn stated_time(message: &Message) -> Option<&str> {
    match message {
        Message::Event(draft) => draft.observed_at.as_deref(),
        Message::Evidence(draft) => draft.observed_at.as_deref(),
        Message::Usage(draft) => draft.observed_at.as_deref(),
        Message::Turn(draft) => draft.observed_at.as_deref(),
        Message::Capabilities(_) | Message::Lineage(_) | Message::Loss(_) => None,
    }
}

/// A claim is its sentence within its turn; what a sentence claims beside a test result is told
/// apart by its subject.
fn claim_id(conversation: &str, turn: &str, found: &ClaimSentence) -> Uuid {
    let sentence = Digest::of(found.text.as_bytes()).short_hex();
    let mut parts = vec![conversation, "claim", turn, sentence.as_str()];
    if found.subject != Subject::TestResult {
        parts.push(found.subject.as_str());
    }
    ids::derive(&parts)
}

/// Event kinds whose text is the agent's own words.
fn carries_claims(kind: &EventKind) -> bool {
    matches!(kind, EventKind::AssistantMessage | EventKind::TurnEnd | EventKind::SubagentStop)
}

/// The identity of a thing: its own, or that of its record where it has none.
fn own_id(native: &NativeId, record_id: &NativeId, path: &str) -> NativeId {
    if native.is_record() {
        NativeId::new(&record_id.space, format!("{}{path}", record_id.id))
    } else {
        native.clone()
    }
}

fn unknown_conversation(what: &str, path: &str) -> LossDraft {
    LossDraft::one(None, LossReason::ConversationUnknown, what, path)
}

fn body_name(body: &Body) -> &'static str {
    match body {
        Body::Event(_) => "event",
        Body::Evidence(_) => "evidence",
        Body::Claim(_) => "claim",
        Body::Usage(_) => "usage",
        Body::Lineage(_) => "lineage",
        Body::Turn(_) => "turn",
        Body::Capability(_) => "capabilities",
        Body::Loss(_) => "loss",
        Body::Alias(_) => "alias",
        Body::HistoricalFinding(_) => "finding",
        Body::Quarantine { .. } => "quarantine",
    }
}
