//! OpenAI Codex CLI: rollout files of every era, `exec --json` streams, hooks and `notify`.
//!
//! `rollout` dispatches a line to `meta`, `items` (what the model side recorded), `events` and
//! `completed` (second tellings of the same things); `tools` and `headers` say what became of a
//! call. Both tellings of one thing carry one native id, so they meet whichever comes first. The
//! rollout format is no contract: shapes decide, never the version a file claims.

mod bare;
mod bounded;
mod calls;
mod completed;
mod continued;
mod copied;
mod events;
mod exec_items;
mod exec_stream;
mod headers;
mod hook;
mod injected;
mod items;
mod meta;
mod patch;
mod projections;
mod recognise;
mod rollout;
mod select;
mod state;
mod tools;
mod turn;
mod usage;
mod value;
mod work;

#[cfg(test)]
mod tests;

use crate::domain::capability::{RuntimeCapabilities, SignalAvailability, SignalClass};
use crate::domain::provider::Provider;
use crate::domain::selector::{Selected, Selector};
use crate::ports::agent::{AgentAdapter, AgentFamily, Homes, SourceFormat, SourceSample, TurnStop};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Version of the translation, written into provenance and capability notes.
pub const ADAPTER_VERSION: &str = "0.3.0";

/// Rollout of September 2025 on: `{timestamp, type, payload}` a line.
pub const FORMAT_ROLLOUT: &str = "codex_rollout";
/// Rollout of mid 2025: a header line, then bare items without times.
pub const FORMAT_BARE: &str = "codex_rollout_bare";
/// Rollout of spring 2025: one JSON document `{session, items}`.
pub const FORMAT_DOCUMENT: &str = "codex_rollout_json";
/// What `codex exec --json` prints: an event a line, without times.
pub const FORMAT_EXEC: &str = "codex_exec_stream";

/// The adapters of the Codex CLI.
#[derive(Debug, Clone, Copy, Default)]
pub struct CodexFamily;

impl AgentFamily for CodexFamily {
    fn provider(&self) -> Provider {
        Provider::Codex
    }

    fn command_word(&self) -> &'static str {
        "codex"
    }

    fn hook_adapter(&self) -> Box<dyn AgentAdapter> {
        Box::new(hook::HookAdapter)
    }

    fn turn_stop(&self, payload: &Value) -> Option<TurnStop> {
        let text = |key: &str| payload.get(key)?.as_str().map(str::to_owned);
        let own = payload.get("agent_id").is_none_or(Value::is_null);
        // A sub-agent's end is its parent's business.
        (text("hook_event_name")? == "Stop" && own).then_some(())?;
        Some(TurnStop {
            native_id: text("session_id")?,
            turn: text("turn_id"),
            blocked_before: payload.get("stop_hook_active").and_then(Value::as_bool)?,
        })
    }

    fn block(&self, reason: &str) -> Option<String> {
        Some(json!({ "decision": "block", "reason": reason }).to_string())
    }

    fn file_adapter(&self, format: &str) -> Option<Box<dyn AgentAdapter>> {
        match format {
            FORMAT_ROLLOUT | FORMAT_BARE | FORMAT_DOCUMENT => {
                Some(Box::new(rollout::RolloutAdapter::default()))
            }
            FORMAT_EXEC => Some(Box::new(exec_stream::StreamAdapter::default())),
            _ => None,
        }
    }

    fn format(&self, name: &str) -> Option<SourceFormat> {
        let name = [FORMAT_ROLLOUT, FORMAT_BARE, FORMAT_DOCUMENT, FORMAT_EXEC]
            .into_iter()
            .find(|f| *f == name)?;
        Some(SourceFormat { name, whole_document: name == FORMAT_DOCUMENT })
    }

    fn select(&self, native: &Value, path: &Selector) -> Option<Selected> {
        select::select(native, path)
    }

    fn recognise(&self, sample: &SourceSample<'_>) -> Option<SourceFormat> {
        recognise::format_of(sample.values)
    }

    fn known_sidecar(&self, path: &Path) -> Option<&'static str> {
        recognise::sidecar(path)
    }

    fn roots(&self, homes: &Homes<'_>) -> Vec<PathBuf> {
        let named = (homes.var)("CODEX_HOME").filter(|value| !value.is_empty()).map(PathBuf::from);
        let Some(home) = named.or_else(|| homes.home.as_ref().map(|home| home.join(".codex")))
        else {
            return Vec::new();
        };
        vec![home.join("sessions"), home.join("archived_sessions")]
    }
}

/// What a reader of rollouts can observe.
fn rollout_capabilities() -> RuntimeCapabilities {
    let process = (
        SignalClass::ProcessResult,
        SignalAvailability::Available,
        "header of shell results; absent for code mode",
    );
    declare(process)
}

/// What a hook can observe: its payloads hold no exit code and no failure signal.
fn hook_capabilities() -> RuntimeCapabilities {
    let process = (
        SignalClass::ProcessResult,
        SignalAvailability::Unavailable,
        "hook payloads state no exit code and no failure",
    );
    declare(process)
}

fn declare(process: (SignalClass, SignalAvailability, &str)) -> RuntimeCapabilities {
    let available = SignalAvailability::Available;
    RuntimeCapabilities::declare(
        Provider::Codex,
        ADAPTER_VERSION,
        &[
            (SignalClass::ToolInvocation, available.clone(), ""),
            (SignalClass::ToolTrace, available.clone(), ""),
            (SignalClass::ToolResultPayload, available.clone(), ""),
            process,
            (SignalClass::SessionLifecycle, available.clone(), ""),
            (SignalClass::SubagentLifecycle, available.clone(), ""),
            (SignalClass::FinalResponse, available, ""),
        ],
    )
}
