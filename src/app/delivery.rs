//! What a hook leaves in the journal: one delivery, redacted and cut, ids not yet derived.
//!
//! The body of a journal frame. Fields may be added; a reader takes what it knows.

use crate::domain::outcome::Message;
use serde::{Deserialize, Serialize};

/// One hook delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// Time of receipt, microseconds since 1970.
    pub at_us: i64,
    /// Provider, or `unknown`.
    pub provider: String,
    /// Version of the adapter that translated the payload.
    pub adapter: String,
    /// Hash of the payload as received (cut strings left out), hex.
    pub payload_hash: String,
    /// Bytes of the payload as received.
    pub payload_bytes: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    /// Set when the payload is a known shape that is deliberately not translated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored: Option<String>,
    /// Set when no adapter knows the shape: its tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unrecognized: Option<String>,
}
