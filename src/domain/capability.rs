//! What an adapter can observe of its runtime.
//!
//! Wire shape of the first Fornax: the rich `signals` form, the six legacy booleans on read, and
//! the frozen nine-key legacy form for export. `supported` is never a boolean internally: a class
//! that nobody declared is `unknown`.

use super::provider::Provider;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the container shape; not bumped for a new class or state.
pub const CAPABILITY_SCHEMA_VERSION: u32 = 1;

crate::open_tag! {
    /// A class of signal that a runtime may expose.
    pub enum SignalClass {
        ToolInvocation = "tool_invocation",
        ToolTrace = "tool_trace",
        ToolResultPayload = "tool_result_payload",
        ProcessResult = "process_result",
        SessionLifecycle = "session_lifecycle",
        SubagentLifecycle = "subagent_lifecycle",
        FinalResponse = "final_response",
        ReasoningSummary = "reasoning_summary",
        RawReasoning = "raw_reasoning",
        TokenLogprobs = "token_logprobs",
        InternalModelSignals = "internal_model_signals",
    }
}

crate::open_tag! {
    /// Whether a signal class can be observed.
    pub enum SignalAvailability {
        Available = "available",
        /// The runtime can never expose it.
        Unsupported = "unsupported",
        /// It exists, but not here.
        Unavailable = "unavailable",
        Redacted = "redacted",
        CollectionFailed = "collection_failed",
        /// Nobody said.
        Unknown = "unknown",
        Disabled = "disabled",
    }
}

/// One declared signal class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    pub class: SignalClass,
    pub state: SignalAvailability,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A declaration: which signals one adapter can observe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Inbound")]
pub struct RuntimeCapabilities {
    pub schema_version: u32,
    pub provider: Provider,
    pub signals: Vec<Signal>,
    /// Free text by key; `session_id` and `adapter_version` are reserved.
    pub notes: BTreeMap<String, String>,
}

/// The inbound shape: rich form, or the six legacy booleans.
#[derive(Deserialize)]
struct Inbound {
    provider: Provider,
    #[serde(default)]
    schema_version: u32,
    #[serde(default)]
    signals: Vec<Signal>,
    #[serde(default)]
    notes: BTreeMap<String, String>,
    #[serde(flatten)]
    legacy: LegacyFlags,
}

/// The six booleans of the first Fornax, in their fixed order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LegacyFlags {
    pub supports_pre_tool_use: bool,
    pub supports_post_tool_use: bool,
    pub supports_tool_response_capture: bool,
    pub supports_session_stop_event: bool,
    pub supports_transcript_tail: bool,
    pub supports_subagent_lifecycle: bool,
}

impl LegacyFlags {
    fn classes(self) -> [(SignalClass, bool); 6] {
        [
            (SignalClass::ToolInvocation, self.supports_pre_tool_use),
            (SignalClass::ToolTrace, self.supports_post_tool_use),
            (SignalClass::ToolResultPayload, self.supports_tool_response_capture),
            (SignalClass::SessionLifecycle, self.supports_session_stop_event),
            (SignalClass::FinalResponse, self.supports_transcript_tail),
            (SignalClass::SubagentLifecycle, self.supports_subagent_lifecycle),
        ]
    }
}

impl From<Inbound> for RuntimeCapabilities {
    fn from(wire: Inbound) -> Self {
        let signals = if wire.signals.is_empty() {
            wire.legacy
                .classes()
                .into_iter()
                .map(|(class, set)| Signal {
                    class,
                    state: if set {
                        SignalAvailability::Available
                    } else {
                        SignalAvailability::Unknown
                    },
                    detail: None,
                })
                .collect()
        } else {
            wire.signals
        };
        Self {
            schema_version: wire.schema_version.max(1),
            provider: wire.provider,
            signals,
            notes: wire.notes,
        }
    }
}

impl RuntimeCapabilities {
    /// A declaration from a table of (class, state, detail); an empty detail is none.
    pub fn declare(
        provider: Provider,
        adapter_version: &str,
        table: &[(SignalClass, SignalAvailability, &str)],
    ) -> Self {
        let signals = table
            .iter()
            .map(|(class, state, detail)| Signal {
                class: class.clone(),
                state: state.clone(),
                detail: (!detail.is_empty()).then(|| (*detail).to_owned()),
            })
            .collect();
        let mut notes = BTreeMap::new();
        notes.insert("adapter_version".to_owned(), adapter_version.to_owned());
        Self { schema_version: CAPABILITY_SCHEMA_VERSION, provider, signals, notes }
    }

    /// The state of a class: the first declaration wins, an undeclared class is `unknown`.
    pub fn state_of(&self, class: &SignalClass) -> SignalAvailability {
        self.signals
            .iter()
            .find(|s| s.class == *class)
            .map_or(SignalAvailability::Unknown, |s| s.state.clone())
    }

    /// True only for `available`.
    pub fn is_observable(&self, class: &SignalClass) -> bool {
        self.state_of(class) == SignalAvailability::Available
    }

    /// The six booleans that the legacy export carries.
    pub fn legacy_flags(&self) -> LegacyFlags {
        LegacyFlags {
            supports_pre_tool_use: self.is_observable(&SignalClass::ToolInvocation),
            supports_post_tool_use: self.is_observable(&SignalClass::ToolTrace),
            supports_tool_response_capture: self.is_observable(&SignalClass::ToolResultPayload),
            supports_session_stop_event: self.is_observable(&SignalClass::SessionLifecycle),
            supports_transcript_tail: self.is_observable(&SignalClass::FinalResponse),
            supports_subagent_lifecycle: self.is_observable(&SignalClass::SubagentLifecycle),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legacy_booleans_become_available_or_unknown_in_fixed_order() {
        let caps: RuntimeCapabilities = serde_json::from_str(
            r#"{"provider":"codex","supports_post_tool_use":true,"supports_transcript_tail":true,"notes":{}}"#,
        )
        .unwrap();
        let states: Vec<_> = caps.signals.iter().map(|s| s.state.as_str().to_owned()).collect();
        assert_eq!(states, ["unknown", "available", "unknown", "unknown", "available", "unknown"]);
        assert_eq!(caps.schema_version, 1);
    }

    #[test]
    fn rich_signals_win_entirely_over_booleans() {
        let caps: RuntimeCapabilities = serde_json::from_str(
            r#"{"provider":"codex","signals":[{"class":"process_result","state":"redacted"}],"supports_pre_tool_use":true}"#,
        )
        .unwrap();
        assert_eq!(caps.signals.len(), 1);
        assert!(!caps.legacy_flags().supports_pre_tool_use);
    }

    #[test]
    fn the_first_declaration_of_a_class_wins() {
        let caps = RuntimeCapabilities::declare(
            Provider::Codex,
            "1",
            &[
                (SignalClass::ToolTrace, SignalAvailability::Unavailable, ""),
                (SignalClass::ToolTrace, SignalAvailability::Available, ""),
            ],
        );
        assert_eq!(caps.state_of(&SignalClass::ToolTrace), SignalAvailability::Unavailable);
    }
}
