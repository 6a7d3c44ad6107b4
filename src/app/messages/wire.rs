//! One record of the wire into typed parts: closed shapes, canonical ids, nothing derived.
//!
//! The shapes are those of the export spool (full wire); a record of the legacy wire lacks some
//! keys and is taken all the same.

use super::fields::{Fields, Refusal};
use crate::app::redact;
use crate::base::time::Micros;
use crate::domain::capability::RuntimeCapabilities;
use crate::domain::envelope::ExtensionEnvelope;
use crate::domain::event::{Channel, ClockSource, EventDraft, EventKind, NativeId, Outcome};
use crate::domain::evidence::EvidenceDraft;
use crate::domain::key::ConversationKey;
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::{Relation, TurnDraft};
use crate::domain::payload::{EvidenceKind, validate_canonical_payload};
use crate::domain::provenance::{
    CollectionMethod, EvidenceSource, Freshness, TamperBoundary, TrustClass,
};
use crate::domain::provider::Provider;
use crate::domain::usage::{Floor, Standing, TokenCounts, UsageDraft, UsageScope};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use uuid::Uuid;

/// Characters of a loss's detail and path.
const LOSS_CHARS_MAX: usize = 400;
/// Id space of events that messages bring.
const NATIVE_SPACE: &str = "message";

/// The conversation that a record names, as far as it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) key: Option<ConversationKey>,
    pub(super) provider: Option<Provider>,
    pub(super) session_id: String,
}

/// A record read.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) named: Named,
    pub(super) told: Told,
    /// Keys that are not known; they are not kept.
    pub(super) unknown: Vec<String>,
}

/// What a record tells.
#[derive(Debug)]
pub(super) enum Told {
    Event {
        id: Uuid,
        draft: Box<EventDraft>,
        clock: ClockSource,
        /// Where it stands among the events of its conversation; else its time says it.
        order_us: Option<i64>,
    },
    Evidence(Box<EvidenceTold>),
    Claim {
        id: Uuid,
        event_id: Uuid,
        turn_id: Option<String>,
        text: String,
        subject: String,
        at: String,
    },
    Capabilities(RuntimeCapabilities),
    Usage {
        id: Option<Uuid>,
        draft: Box<UsageDraft>,
    },
    Lineage {
        relation: Relation,
        related: ConversationKey,
        position: Option<u64>,
    },
    /// One fact, at the first and the last time it held.
    Fact(Box<[TurnDraft; 2]>),
    Loss(LossDraft),
}

/// Evidence as told.
#[derive(Debug)]
pub(super) struct EvidenceTold {
    pub(super) id: Uuid,
    pub(super) event_id: Uuid,
    pub(super) draft: EvidenceDraft,
    pub(super) source: EvidenceSource,
    pub(super) extension: Option<ExtensionEnvelope>,
}

/// The type word of a record, or why it has none.
pub(super) fn type_of(map: &Map<String, Value>) -> Result<&str, Refusal> {
    Fields::of(map).tag("type")
}

/// Whether a type is one of these.
pub(super) fn is_known(kind: &str) -> bool {
    matches!(
        kind,
        "event" | "evidence" | "claim" | "capabilities" | "usage" | "lineage" | "turn" | "loss"
    )
}

/// Reads a record of a known type. `bytes` are its own, for what must keep its spelling.
pub(super) fn read(kind: &str, map: &Map<String, Value>, bytes: &[u8]) -> Result<Record, Refusal> {
    let fields = Fields::of(map);
    let told = match kind {
        "event" => event(&fields)?,
        "evidence" => evidence(&fields, bytes)?,
        "claim" => claim(&fields)?,
        "capabilities" => capabilities(&fields, map)?,
        "usage" => usage(&fields)?,
        "lineage" => lineage(&fields)?,
        "turn" => fact(&fields)?,
        _ => loss(&fields)?,
    };
    let named = named(&fields, &told)?;
    Ok(Record { named, told, unknown: fields.unknown() })
}

/// The conversation; all that a record says of it must agree.
fn named(fields: &Fields<'_>, told: &Told) -> Result<Named, Refusal> {
    let key = conversation_key(fields, "conversation")?;
    let provider = match told {
        Told::Event { .. } => Some(Provider::from_tag(fields.tag("provider")?)),
        Told::Evidence(evidence) => evidence.source.provider.clone(),
        Told::Capabilities(capabilities) => Some(capabilities.provider.clone()),
        _ => None,
    };
    let unknown = |p: &Provider| *p == Provider::Unknown;
    if provider.as_ref().or(key.as_ref().map(ConversationKey::provider)).is_some_and(unknown) {
        return Err(Refusal::new("provider", "unknown"));
    }
    let noted = match told {
        Told::Capabilities(capabilities) => capabilities.notes.get("session_id").cloned(),
        _ => None,
    };
    let session_id = fields.plain_id_opt("session_id")?.or(noted);
    let disagrees = |k: &ConversationKey| {
        session_id.as_ref().is_some_and(|s| k.native_id() != s)
            || provider.as_ref().is_some_and(|p| k.provider() != p)
    };
    if key.as_ref().is_some_and(disagrees) {
        return Err(Refusal::new("conversation", "does not agree with the rest"));
    }
    let session_id = session_id
        .or_else(|| key.as_ref().map(|k| k.native_id().to_owned()))
        .filter(|id| !id.trim().is_empty() && redact::identifier(id).is_none())
        .ok_or_else(|| Refusal::new("session_id", "missing"))?;
    Ok(Named { key, provider, session_id })
}

fn conversation_key(
    fields: &Fields<'_>,
    key: &'static str,
) -> Result<Option<ConversationKey>, Refusal> {
    let Some(text) = fields.text_opt(key)? else { return Ok(None) };
    if redact::identifier(text).is_some() {
        return Err(Refusal::new(key, "holds a secret"));
    }
    text.parse().map(Some).map_err(|_| Refusal::new(key, "not a canonical conversation key"))
}

fn event(fields: &Fields<'_>) -> Result<Told, Refusal> {
    let id = fields.uuid("id")?;
    let native = NativeId::new(NATIVE_SPACE, id.to_string());
    let kind = EventKind::from_tag(fields.tag("kind")?);
    let clock = fields.tag_opt("clock_source")?.map_or(ClockSource::PreProvenance, Into::into);
    let text = fields.text_opt("text")?;
    let draft = EventDraft {
        turn_id: fields.id_opt("turn_id")?,
        call_id: fields.id_opt("call_id")?,
        agent_id: fields.id_opt("agent_id")?,
        outcome: fields.tag_opt("outcome")?.map(Outcome::from_tag),
        tool_name: fields.id_opt("tool_name")?,
        tool_input: fields.value("tool_input").cloned(),
        tool_response: fields.value("tool_response").cloned(),
        text: text.map(str::to_owned),
        observed_at: Some(fields.time("observed_at")?),
        raw: fields.value("raw").cloned(),
        ..EventDraft::new("", kind, native, Channel::Message)
    };
    let order_us = fields.count_opt("order_us")?;
    Ok(Told::Event { id, draft: Box::new(draft), clock, order_us })
}

/// The extension alone, as it is spelled.
#[derive(Deserialize)]
struct Extended<'a> {
    #[serde(borrow, default)]
    extension: Option<&'a RawValue>,
}

/// The envelope's version is looked at before anything else of the evidence.
fn extension(fields: &Fields<'_>, bytes: &[u8]) -> Result<Option<ExtensionEnvelope>, Refusal> {
    if fields.value("extension").is_none() {
        return Ok(None);
    }
    let spelled: Extended<'_> = serde_json::from_slice(bytes)
        .map_err(|_| Refusal::new("extension", "cannot be read as it is spelled"))?;
    let envelope = spelled.extension.map(ExtensionEnvelope::from_raw).transpose();
    envelope.map_err(|error| Refusal::new("extension", &error.to_string()))
}

fn evidence(fields: &Fields<'_>, bytes: &[u8]) -> Result<Told, Refusal> {
    let extension = extension(fields, bytes)?;
    let word = fields.tag("kind")?;
    let kind = EvidenceKind::ALL
        .into_iter()
        .find(|kind| kind.as_str() == word)
        .ok_or_else(|| Refusal::new("kind", "not one of the five kinds of evidence"))?;
    let payload = fields.required("payload")?;
    validate_canonical_payload(kind, payload)
        .map_err(|error| Refusal::new("payload", &error.to_string()))?;
    let observed_at = fields.time("observed_at")?;
    let source = match fields.value("source") {
        Some(value) => {
            EvidenceSource::deserialize(value).map_err(|_| Refusal::new("source", "wrong shape"))?
        }
        None => not_recorded(&observed_at),
    };
    let draft = EvidenceDraft {
        conversation: String::new(),
        event_kind: EventKind::PostToolUse,
        event_native: NativeId::record(),
        kind,
        slot: String::new(),
        payload: payload.clone(),
        provenance: fields.id("provenance")?,
        sensor_name: source.sensor_name.clone(),
        trust_class: source.trust_class.clone(),
        collection_method: source.collection_method.clone(),
        observed_at: Some(observed_at),
        extension: None,
        path: String::new(),
    };
    let (id, event_id) = (fields.uuid("id")?, fields.uuid("source_event_id")?);
    Ok(Told::Evidence(Box::new(EvidenceTold { id, event_id, draft, source, extension })))
}

/// The source of evidence that names none (the first Fornax's oldest).
fn not_recorded(observed_at: &str) -> EvidenceSource {
    EvidenceSource {
        sensor_name: "not_recorded".to_owned(),
        trust_class: TrustClass::from_tag("not_recorded"),
        collected_at: observed_at.to_owned(),
        provider: None,
        collection_method: CollectionMethod::PreProvenance,
        collector_version: None,
        freshness: Freshness::default(),
        tamper_boundary: TamperBoundary::default(),
        correlation_group: None,
        derived_from: Vec::new(),
    }
}

fn claim(fields: &Fields<'_>) -> Result<Told, Refusal> {
    let text = fields.text("text")?.to_owned();
    if text.trim().is_empty() {
        return Err(Refusal::new("text", "empty"));
    }
    Ok(Told::Claim {
        id: fields.uuid("id")?,
        event_id: fields.uuid("source_event_id")?,
        turn_id: fields.plain_id_opt("turn_id")?,
        text,
        subject: fields.tag("subject")?.to_owned(),
        at: fields.time("claimed_at")?,
    })
}

fn capabilities(fields: &Fields<'_>, map: &Map<String, Value>) -> Result<Told, Refusal> {
    const KEYS: [&str; 10] = [
        "provider",
        "notes",
        "signals",
        "schema_version",
        "supports_pre_tool_use",
        "supports_post_tool_use",
        "supports_tool_response_capture",
        "supports_session_stop_event",
        "supports_transcript_tail",
        "supports_subagent_lifecycle",
    ];
    for key in KEYS {
        fields.value(key);
    }
    fields.tag("provider")?;
    RuntimeCapabilities::deserialize(&Value::Object(map.clone()))
        .map(Told::Capabilities)
        .map_err(|_| Refusal::new("signals", "wrong shape"))
}

fn usage(fields: &Fields<'_>) -> Result<Told, Refusal> {
    let scope = UsageScope::from_word(fields.tag("scope")?)
        .ok_or_else(|| Refusal::new("scope", "not response, turn or snapshot"))?;
    let standing = match fields.tag_opt("standing")? {
        None => Standing::default(),
        Some(word) => {
            Standing::from_word(word).ok_or_else(|| Refusal::new("standing", "not a standing"))?
        }
    };
    let floor = match fields.tag_opt("floor")? {
        None => None,
        Some(word) => {
            Some(Floor::from_word(word).ok_or_else(|| Refusal::new("floor", "not a floor"))?)
        }
    };
    let draft = UsageDraft {
        conversation: String::new(),
        scope,
        standing,
        floor,
        response_id: fields.id_opt("response_id")?,
        request_id: fields.id_opt("request_id")?,
        turn_id: fields.id_opt("turn_id")?,
        model: fields.id_opt("model")?,
        counts: TokenCounts {
            input: fields.count_opt("input")?,
            cached_input: fields.count_opt("cached_input")?,
            cache_write_input: fields.count_opt("cache_write_input")?,
            output: fields.count_opt("output")?,
            reasoning_output: fields.count_opt("reasoning_output")?,
            total: fields.count_opt("total")?,
            uncached_input: fields.count_opt("uncached_input")?,
        },
        epoch: fields.count_opt("epoch")?.unwrap_or_default(),
        sequence: fields.count_opt("sequence")?.unwrap_or_default(),
        branch: fields.value("branch").and_then(Value::as_bool).unwrap_or_default(),
        copied_from: fields.id_opt("copied_from")?,
        // As the provider spells it, which need not be a time.
        observed_at: fields.id_opt("observed_at")?,
        path: String::new(),
    };
    Ok(Told::Usage { id: fields.uuid_opt("id")?, draft: Box::new(draft) })
}

fn lineage(fields: &Fields<'_>) -> Result<Told, Refusal> {
    let related =
        conversation_key(fields, "related")?.ok_or_else(|| Refusal::new("related", "missing"))?;
    let relation = Relation::from_tag(fields.tag("relation")?);
    let position = fields.count_opt("position")?.map(i64::cast_unsigned);
    Ok(Told::Lineage { relation, related, position })
}

fn fact(fields: &Fields<'_>) -> Result<Told, Refusal> {
    let value = fields.text("value")?.to_owned();
    let mut turn = TurnDraft::default();
    let slot = match fields.tag("fact")? {
        "cwd" => &mut turn.cwd,
        "model" => &mut turn.model,
        "agent_version" => &mut turn.agent_version,
        "git_branch" => &mut turn.git_branch,
        "title" => &mut turn.title,
        "agent_nickname" => &mut turn.agent_nickname,
        "agent_role" => &mut turn.agent_role,
        "agent_path" => &mut turn.agent_path,
        _ => return Err(Refusal::new("fact", "not a known fact")),
    };
    *slot = Some(value);
    let at = |us: Option<i64>| us.filter(|us| *us > 0).map(|us| Micros(us).rfc3339());
    let (first, last) = (at(fields.integer_opt("first_us")?), at(fields.integer_opt("last_us")?));
    let told = |observed_at| TurnDraft { observed_at, ..turn.clone() };
    Ok(Told::Fact(Box::new([told(first), told(last)])))
}

/// What another corpus lost. Its place was in that corpus' own source, which is not known here.
fn loss(fields: &Fields<'_>) -> Result<Told, Refusal> {
    for elsewhere in ["source", "offset", "length"] {
        fields.value(elsewhere);
    }
    let count = fields.count_opt("count")?.unwrap_or(1).cast_unsigned();
    Ok(Told::Loss(LossDraft {
        conversation: None,
        reason: LossReason::from_tag(fields.tag("reason")?),
        detail: short(fields.text_opt("detail")?),
        count,
        path: short(fields.text_opt("path")?),
    }))
}

/// The beginning of a text that is a tag or a path by its nature.
fn short(text: Option<&str>) -> String {
    let kept = text.unwrap_or_default().chars().filter(|c| !c.is_control());
    kept.take(LOSS_CHARS_MAX).collect()
}
