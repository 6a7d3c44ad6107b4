//! Claude Code: hook payloads and transcripts.
//!
//! Both tell of the same calls and prompts, so both name them by the same native ids
//! (`tool_use_id`, `prompt_id`) and share one reading of what became of a call (`effects`, `diff`).
//! The formats are internal to the vendor and change without notice: unknown keys are passed over,
//! unknown types are answered with their tag, and no value of an unknown shape is kept.

mod background;
mod diff;
mod effects;
mod evidence;
mod git;
mod hook;
mod prompt;
mod prune;
mod recognise;
mod select;
mod slim;
mod transcript;
mod wire;

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod samples;

use crate::domain::capability::{
    RuntimeCapabilities,
    SignalAvailability::Available,
    SignalClass::{
        FinalResponse, ProcessResult, SessionLifecycle, SubagentLifecycle, ToolInvocation,
        ToolResultPayload, ToolTrace,
    },
};
use crate::domain::provider::Provider;
use crate::domain::selector::{Selected, Selector};
use crate::ports::agent::{
    AgentAdapter, AgentFamily, Homes, PruneRule, SourceFormat, SourceSample, TurnStop,
};
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};

/// Version of this translation; stored beside what it made.
const ADAPTER_VERSION: &str = "0.3.0";

/// Stable name of the only file format.
pub const TRANSCRIPT: &str = "claude_transcript";

/// All adapters of Claude Code.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClaudeFamily;

impl AgentFamily for ClaudeFamily {
    fn provider(&self) -> Provider {
        Provider::ClaudeCode
    }

    fn command_word(&self) -> &'static str {
        "claude"
    }

    fn hook_adapter(&self) -> Box<dyn AgentAdapter> {
        Box::new(hook::ClaudeHook)
    }

    fn turn_stop(&self, payload: &Value) -> Option<TurnStop> {
        let text = |key: &str| payload.get(key)?.as_str().map(str::to_owned);
        let own = payload.get("agent_id").is_none_or(Value::is_null);
        // A sub-agent's end is its parent's business.
        (text("hook_event_name")? == "Stop" && own).then_some(())?;
        Some(TurnStop {
            native_id: text("session_id")?,
            turn: text("prompt_id"),
            blocked_before: payload.get("stop_hook_active").and_then(Value::as_bool)?,
        })
    }

    fn block(&self, reason: &str) -> Option<String> {
        Some(json!({ "decision": "block", "reason": reason }).to_string())
    }

    fn file_adapter(&self, format: &str) -> Option<Box<dyn AgentAdapter>> {
        (format == TRANSCRIPT)
            .then(|| -> Box<dyn AgentAdapter> { Box::<transcript::ClaudeTranscript>::default() })
    }

    fn format(&self, name: &str) -> Option<SourceFormat> {
        (name == TRANSCRIPT).then_some(SourceFormat { name: TRANSCRIPT, whole_document: false })
    }

    fn select(&self, native: &Value, path: &Selector) -> Option<Selected> {
        select::select(native, path)
    }

    fn recognise(&self, sample: &SourceSample<'_>) -> Option<SourceFormat> {
        if recognise::is_transcript(sample) { self.format(TRANSCRIPT) } else { None }
    }

    fn known_sidecar(&self, path: &Path) -> Option<&'static str> {
        recognise::sidecar(path)
    }

    fn roots(&self, homes: &Homes<'_>) -> Vec<PathBuf> {
        recognise::roots(homes)
    }

    fn prunes(
        &self,
        homes: &Homes<'_>,
        read: &dyn Fn(&Path) -> io::Result<String>,
    ) -> Vec<PruneRule> {
        prune::rules(recognise::roots(homes), read)
    }
}

/// What can be observed of Claude Code, by hook or by file.
fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities::declare(
        Provider::ClaudeCode,
        ADAPTER_VERSION,
        &[
            (ToolInvocation, Available, ""),
            (ToolTrace, Available, ""),
            (ToolResultPayload, Available, ""),
            (
                ProcessResult,
                Available,
                "failures carry 'Exit code N'; success is stated without a number",
            ),
            (SessionLifecycle, Available, ""),
            (FinalResponse, Available, ""),
            (SubagentLifecycle, Available, ""),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::capability::{LegacyFlags, SignalClass};

    #[test]
    fn all_six_legacy_booleans_are_true_and_process_results_are_observable() {
        let declared = capabilities();
        assert_eq!(
            declared.legacy_flags(),
            LegacyFlags {
                supports_pre_tool_use: true,
                supports_post_tool_use: true,
                supports_tool_response_capture: true,
                supports_session_stop_event: true,
                supports_transcript_tail: true,
                supports_subagent_lifecycle: true,
            }
        );
        assert!(declared.is_observable(&SignalClass::ProcessResult));
    }

    #[test]
    fn the_family_has_one_hook_adapter_and_one_file_format() {
        let family = ClaudeFamily;
        assert_eq!(family.hook_adapter().provider(), Provider::ClaudeCode);
        assert_eq!(family.hook_adapter().adapter_version(), "0.3.0");
        assert!(family.file_adapter(TRANSCRIPT).is_some());
        assert!(family.file_adapter("codex_rollout").is_none());
        assert_eq!(family.command_word(), "claude");
    }
}
