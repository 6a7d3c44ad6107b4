//! Evidence: a typed fact that a claim can be checked against, before ids are derived.
//!
//! The payload is canonical and closed (`domain::payload`); what a provider says beyond it goes
//! into an extension, which the sensor that builds the evidence opts into.

use super::event::{EventKind, NativeId};
use super::payload::EvidenceKind;
use super::provenance::{CollectionMethod, TrustClass};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a sensor wants kept beside the canonical payload; the pipeline makes the envelope and
/// stamps provider, adapter version and schema version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExtensionDraft {
    /// `tool_telemetry`, `provider_diagnostic`, `experimental_signal`, `raw_provider_metadata`.
    pub content_class: String,
    pub fields: Value,
}

/// One piece of evidence, before ids are derived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvidenceDraft {
    /// Native id of the conversation.
    pub conversation: String,
    /// Kind and identity of the event it belongs to.
    pub event_kind: EventKind,
    pub event_native: NativeId,
    pub kind: EvidenceKind,
    /// Tells several pieces of one kind on one event apart (for example the path of a diff).
    pub slot: String,
    /// Must pass `validate_canonical_payload` for its kind.
    pub payload: Value,
    /// Readable origin, `<provider>:<adapter version>:<where>#<how>`.
    pub provenance: String,
    pub sensor_name: String,
    pub trust_class: TrustClass,
    pub collection_method: CollectionMethod,
    /// The source's own timestamp, as spelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extension: Option<ExtensionDraft>,
    /// Path of the field actually read, inside its line.
    pub path: String,
}
