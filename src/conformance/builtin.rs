//! The built-in subjects over the domain: keys and envelopes as this program really writes them.
//!
//! The native reader and the resolver come from outside as maker functions, so that the
//! composition root binds the shipping parts and tests bind the reference ones.

mod usage;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::subjects::{
    EnvelopeCodec, EnvelopeView, KeyCodec, KeyParts, NativeProbe, NewEnvelope, Offer, ParsedKey,
    Resolver, SubjectFactory, SubjectRow, UsageFold,
};
use crate::domain::envelope::{
    ContentClass, ENVELOPE_BYTES_MAX, ENVELOPE_DEPTH_MAX, ExtensionEnvelope,
};
use crate::domain::key::{ConversationKey, ItemCategory, ItemKey};
use crate::domain::payload::{EvidenceKind, validate_canonical_payload};
use crate::domain::provider::Provider;

/// The subject over `domain::key`.
pub const KEYS: &str = "builtin:keys";
/// The subject over `domain::envelope` and `domain::payload`.
pub const ENVELOPE: &str = "builtin:envelope";
/// The subject over Claude Code's hook adapter, and its hook as a process.
pub const CLAUDE_HOOK: &str = "builtin:claude-hook";
/// The subject over Codex' hook as a process.
pub const CODEX_HOOK: &str = "builtin:codex-hook";
/// The subject over OpenCode's adapter, and its stream as a process.
pub const OPENCODE: &str = "builtin:opencode";
/// The subject over the Claude Code transcript adapter.
pub const CLAUDE_TRANSCRIPT: &str = "builtin:claude-transcript";
/// The subject over ingest, follow and the store.
pub const TAIL: &str = "builtin:tail";
/// The subject over the Codex rollout adapter.
pub const CODEX_ROLLOUT: &str = "builtin:codex-rollout";
/// The subject over read-back.
pub const READBACK: &str = "builtin:readback";

/// The subject over `domain::usage`.
pub const USAGE: &str = "builtin:usage";

/// The built-in subjects.
pub struct BuiltinSubjects {
    /// Makes the Codex rollout subject.
    pub native: fn() -> Box<dyn NativeProbe>,
    /// Makes the read-back subject.
    pub resolver: fn() -> Box<dyn Resolver>,
}

impl SubjectFactory for BuiltinSubjects {
    fn subjects(&self) -> Vec<SubjectRow> {
        let rows = [
            (KEYS, Offer::KeyCodec),
            (ENVELOPE, Offer::Envelope),
            (CODEX_ROLLOUT, Offer::Native),
            (READBACK, Offer::Readback),
            (USAGE, Offer::Usage),
        ];
        rows.into_iter()
            .map(|(name, offer)| SubjectRow { name: name.to_owned(), offers: vec![offer] })
            .collect()
    }

    fn keys(&self, subject: &str) -> Option<Box<dyn KeyCodec>> {
        (subject == KEYS).then(|| Box::new(DomainKeys) as Box<dyn KeyCodec>)
    }

    fn envelope(&self, subject: &str) -> Option<Box<dyn EnvelopeCodec>> {
        (subject == ENVELOPE).then(|| Box::new(DomainEnvelope) as Box<dyn EnvelopeCodec>)
    }

    fn native(&self, subject: &str) -> Option<Box<dyn NativeProbe>> {
        (subject == CODEX_ROLLOUT).then(|| (self.native)())
    }

    fn resolver(&self, subject: &str) -> Option<Box<dyn Resolver>> {
        (subject == READBACK).then(|| (self.resolver)())
    }

    fn usage(&self, subject: &str) -> Option<Box<dyn UsageFold>> {
        (subject == USAGE).then(|| Box::new(usage::DomainUsage) as Box<dyn UsageFold>)
    }
}

struct DomainKeys;

fn conversation_key(parts: &KeyParts) -> Result<ConversationKey, String> {
    let provider = Provider::from_tag(&parts.provider);
    ConversationKey::new(provider, parts.namespace.as_str(), parts.native_id.as_str())
        .map_err(|error| error.to_string())
}

/// The native parts of a domain key.
pub fn parts_of(key: &ConversationKey) -> KeyParts {
    KeyParts::new(key.provider().as_str(), key.namespace(), key.native_id())
}

impl KeyCodec for DomainKeys {
    fn conversation(&mut self, parts: &KeyParts) -> Result<String, String> {
        conversation_key(parts).map(|key| key.to_string())
    }

    fn item(
        &mut self,
        category: ItemCategory,
        parts: &KeyParts,
        item_id: &str,
    ) -> Result<String, String> {
        ItemKey::new(category, conversation_key(parts)?, item_id)
            .map(|key| key.to_string())
            .map_err(|error| error.to_string())
    }

    fn parse(&mut self, key: &str) -> Result<ParsedKey, String> {
        if let Ok(conversation) = key.parse::<ConversationKey>() {
            return Ok(ParsedKey { conversation: parts_of(&conversation), item: None });
        }
        let item: ItemKey = key.parse().map_err(|error| format!("{error}"))?;
        Ok(ParsedKey {
            conversation: parts_of(item.conversation()),
            item: Some((item.category(), item.item_id().to_owned())),
        })
    }
}

struct DomainEnvelope;

/// The least record that carries an envelope the way evidence does: absent means no key at all.
#[derive(Serialize, Deserialize)]
struct Carrier {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extension: Option<ExtensionEnvelope>,
}

fn parse(text: &str) -> Result<ExtensionEnvelope, String> {
    ExtensionEnvelope::parse(text).map_err(|error| error.to_string())
}

fn raw(text: &str) -> Result<Box<RawValue>, String> {
    RawValue::from_string(text.to_owned()).map_err(|error| error.to_string())
}

impl EnvelopeCodec for DomainEnvelope {
    fn read(&mut self, text: &str) -> Result<EnvelopeView, String> {
        let envelope = parse(text)?;
        let unknown: BTreeMap<String, String> = envelope
            .unknown()
            .map(|(name, value)| (name.to_owned(), value.get().to_owned()))
            .collect();
        Ok(EnvelopeView {
            schema_version: envelope.schema_version(),
            provider: envelope.provider().as_str().to_owned(),
            adapter_version: envelope.adapter_version().to_owned(),
            content_class: envelope.content_class().as_str().to_owned(),
            fields: envelope.fields().get().to_owned(),
            unknown,
        })
    }

    fn rewrite(&mut self, text: &str) -> Result<String, String> {
        parse(text).map(|envelope| envelope.to_json())
    }

    fn make(&mut self, new: &NewEnvelope, unknown: &[(&str, &str)]) -> Result<String, String> {
        let mut envelope = ExtensionEnvelope::new(
            Provider::from_tag(&new.provider),
            new.adapter_version.as_str(),
            ContentClass::from_tag(&new.content_class),
            &raw(&new.fields)?,
        )
        .map_err(|error| error.to_string())?;
        for (name, value) in unknown {
            let value = raw(value)?;
            envelope = envelope.with_unknown(*name, &value).map_err(|error| error.to_string())?;
        }
        Ok(envelope.to_json())
    }

    fn carry(&mut self, envelope: Option<&str>) -> Result<String, String> {
        let carrier = Carrier { extension: envelope.map(parse).transpose()? };
        serde_json::to_string(&carrier).map_err(|error| error.to_string())
    }

    fn carried(&mut self, record: &str) -> Result<Option<String>, String> {
        let carrier: Carrier = serde_json::from_str(record).map_err(|error| error.to_string())?;
        Ok(carrier.extension.map(|envelope| envelope.to_json()))
    }

    fn validate_payload(&mut self, kind: &str, payload: &Value) -> Result<(), String> {
        let kind = EvidenceKind::ALL
            .into_iter()
            .find(|known| known.as_str() == kind)
            .ok_or_else(|| format!("no evidence kind {kind}"))?;
        validate_canonical_payload(kind, payload).map_err(|error| error.to_string())
    }

    fn bounds(&self) -> (usize, usize) {
        (ENVELOPE_BYTES_MAX, ENVELOPE_DEPTH_MAX)
    }
}
