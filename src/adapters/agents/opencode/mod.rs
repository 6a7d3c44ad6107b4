//! OpenCode: the hooks of its plugin, as a stream of newline-separated JSON.
//!
//! A plugin inside OpenCode starts `fornax hook opencode` once and writes one object a line:
//! `{hook, at, payload}`. There is no file format: OpenCode keeps its history in a database of its
//! own, which is not read.

mod bus;
mod hook;
mod tool;
mod wire;

#[cfg(test)]
mod tests;

use crate::domain::capability::{
    RuntimeCapabilities,
    SignalAvailability::{Available, Unavailable, Unsupported},
    SignalClass::{
        FinalResponse, InternalModelSignals, ProcessResult, RawReasoning, ReasoningSummary,
        SessionLifecycle, SubagentLifecycle, TokenLogprobs, ToolInvocation, ToolResultPayload,
        ToolTrace,
    },
};
use crate::domain::provider::Provider;
use crate::ports::agent::{
    AgentAdapter, AgentFamily, Homes, HookInput, SourceFormat, SourceSample,
};
use std::path::{Path, PathBuf};

/// Version of this translation; stored beside what it made.
const ADAPTER_VERSION: &str = "0.1.0";

/// The adapter of OpenCode.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenCodeFamily;

impl AgentFamily for OpenCodeFamily {
    fn provider(&self) -> Provider {
        Provider::OpenCode
    }

    fn command_word(&self) -> &'static str {
        "opencode"
    }

    fn hook_adapter(&self) -> Box<dyn AgentAdapter> {
        Box::new(hook::OpenCodeHook)
    }

    fn hook_input(&self) -> HookInput {
        HookInput::Stream
    }

    fn file_adapter(&self, _format: &str) -> Option<Box<dyn AgentAdapter>> {
        None
    }

    fn recognise(&self, _sample: &SourceSample<'_>) -> Option<SourceFormat> {
        None
    }

    fn known_sidecar(&self, _path: &Path) -> Option<&'static str> {
        None
    }

    fn roots(&self, _homes: &Homes<'_>) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// What the plugin's hooks show. The answer comes in pieces that are not translated, so no claim
/// can be found in it.
fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities::declare(
        Provider::OpenCode,
        ADAPTER_VERSION,
        &[
            (ToolInvocation, Available, ""),
            (ToolTrace, Available, ""),
            (ToolResultPayload, Available, ""),
            (ProcessResult, Available, "metadata.exit of a finished command"),
            (SessionLifecycle, Available, ""),
            (FinalResponse, Unavailable, "answers come in pieces, which are not translated"),
            (SubagentLifecycle, Unsupported, ""),
            (ReasoningSummary, Unsupported, ""),
            (RawReasoning, Unsupported, ""),
            (TokenLogprobs, Unsupported, ""),
            (InternalModelSignals, Unavailable, ""),
        ],
    )
}
