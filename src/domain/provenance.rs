//! Where a piece of evidence comes from and how far it can be trusted.
//!
//! Wire shape and defaults are those of the first Fornax's `EvidenceSource`; the descriptions of
//! the tamper boundary are our own words, one for each (trust class, collection method).

use super::event::ClockSource;
use super::provider::Provider;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

crate::open_tag! {
    /// How close to the agent the observer stood.
    pub enum TrustClass {
        AgentAdjacent = "agent_adjacent",
        HostObserved = "host_observed",
        IndependentExternal = "independent_external",
        HumanReviewed = "human_reviewed",
        ModelInternal = "model_internal",
    }
}

crate::open_tag! {
    /// How the observation was collected.
    pub enum CollectionMethod {
        HookCallback = "hook_callback",
        FilePoll = "file_poll",
        HttpWebhook = "http_webhook",
        HttpQuery = "http_query",
        ProcessObservation = "process_observation",
        Reconstructed = "reconstructed",
        PreProvenance = "pre_provenance",
    }
}

fn pre_provenance() -> CollectionMethod {
    CollectionMethod::PreProvenance
}

/// Whose clock, and what to know about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freshness {
    pub clock_source: ClockSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caveat: Option<String>,
}

impl Default for Freshness {
    fn default() -> Self {
        Self { clock_source: ClockSource::PreProvenance, caveat: None }
    }
}

/// Who could have changed the observation before it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TamperBoundary {
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Default for TamperBoundary {
    fn default() -> Self {
        Self {
            description: "unknown: recorded before provenance was tracked".to_owned(),
            detail: None,
        }
    }
}

impl TamperBoundary {
    /// The canned description of a (trust class, method) pair. An unrecognised or missing method
    /// is always "unknown", whatever the trust class claims.
    pub fn of(trust: &TrustClass, method: &CollectionMethod) -> Self {
        let how = match method {
            CollectionMethod::HookCallback => "delivered by the agent's own hook",
            CollectionMethod::FilePoll => "read from a file that the agent writes",
            CollectionMethod::HttpWebhook => "delivered by a web hook",
            CollectionMethod::HttpQuery => "asked from a service over HTTP",
            CollectionMethod::ProcessObservation => "observed on this host",
            CollectionMethod::Reconstructed => "derived from other evidence",
            CollectionMethod::PreProvenance | CollectionMethod::Other(_) => {
                return Self {
                    description: "unknown: the way of collection is not recorded".to_owned(),
                    detail: None,
                };
            }
        };
        let who = match trust {
            TrustClass::AgentAdjacent => "the agent or its host could have altered it",
            TrustClass::HostObserved => "another process of this user could have altered it",
            TrustClass::IndependentExternal => "the external service vouches for it",
            TrustClass::HumanReviewed => "a person confirmed it",
            TrustClass::ModelInternal => "only the model vouches for it",
            TrustClass::Other(_) => "its trust class is not known here",
        };
        Self { description: format!("{how}; {who}"), detail: None }
    }
}

/// Provenance of one evidence row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceSource {
    pub sensor_name: String,
    pub trust_class: TrustClass,
    pub collected_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider>,
    #[serde(default = "pre_provenance")]
    pub collection_method: CollectionMethod,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collector_version: Option<String>,
    #[serde(default)]
    pub freshness: Freshness,
    #[serde(default)]
    pub tamper_boundary: TamperBoundary,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_group: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived_from: Vec<Uuid>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_without_method_reads_as_recorded_before_provenance() {
        let source: EvidenceSource = serde_json::from_str(
            r#"{"sensor_name":"s","trust_class":"host_observed","collected_at":"t"}"#,
        )
        .unwrap();
        assert_eq!(source.collection_method, CollectionMethod::PreProvenance);
        assert_eq!(source.freshness.clock_source, ClockSource::PreProvenance);
        assert!(source.tamper_boundary.description.starts_with("unknown"));
    }

    #[test]
    fn an_unrecognised_method_is_unknown_whatever_the_trust_class() {
        let boundary = TamperBoundary::of(
            &TrustClass::HumanReviewed,
            &CollectionMethod::Other("carrier_pigeon".into()),
        );
        assert!(boundary.description.starts_with("unknown"));
    }

    #[test]
    fn distinct_methods_of_one_trust_class_have_distinct_descriptions() {
        let mut seen = std::collections::BTreeSet::new();
        for method in ["hook_callback", "file_poll", "process_observation", "reconstructed"] {
            let boundary =
                TamperBoundary::of(&TrustClass::AgentAdjacent, &CollectionMethod::from_tag(method));
            assert!(seen.insert(boundary.description), "{method}");
        }
    }
}
