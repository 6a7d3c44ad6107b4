//! Which files are Claude Code transcripts, which are its other files, and where they are.
//!
//! Content decides. Other agents write near copies (Qwen Code: the same envelope with
//! `message.parts`), so one foreign mark anywhere in the head refuses the file; and a file may hold
//! nothing but metadata lines (a title, a snapshot), so these alone are enough.

use super::wire::{member, text};
use crate::ports::agent::{Homes, SourceSample};
use serde_json::Value;
use std::path::{Component, Path, PathBuf};

/// What one value says about the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// Only a transcript has it.
    Ours,
    /// Some other format has it.
    Foreign,
    /// Neither.
    Silent,
}

/// Whether the head of a file is a transcript's.
pub(super) fn is_transcript(sample: &SourceSample<'_>) -> bool {
    if sidecar(sample.path).is_some() {
        return false;
    }
    let mut ours = false;
    for value in sample.values {
        match sign(value) {
            Sign::Ours => ours = true,
            Sign::Foreign => return false,
            Sign::Silent => {}
        }
    }
    ours
}

fn sign(value: &Value) -> Sign {
    if !value.is_object() {
        return Sign::Silent;
    }
    if is_foreign(value) {
        return Sign::Foreign;
    }
    let has = |key: &str| member(value, key).is_some();
    let in_session = text(value, "sessionId").is_some() || text(value, "session_id").is_some();
    let ours = match text(value, "type") {
        Some("user" | "assistant") => {
            let message = value.get("message").and_then(|m| m.get("content")).is_some();
            message && (has("uuid") || in_session)
        }
        // Builds of 2025 wrote notices without a subtype.
        Some("system") => {
            (has("subtype") || (has("content") && has("version"))) && has("uuid") && in_session
        }
        Some("attachment") => {
            value.get("attachment").is_some_and(|a| text(a, "type").is_some()) && has("uuid")
        }
        Some("progress") => value.get("data").is_some_and(|d| text(d, "type").is_some()),
        Some("summary") => has("summary") && has("leafUuid"),
        Some("file-history-snapshot") => has("messageId") && has("snapshot"),
        Some("file-history-delta") => has("messageId") && has("trackingPath"),
        Some("fork-context-ref") => has("agentId") && has("parentSessionId"),
        Some("queue-operation") => has("operation") && in_session,
        Some("ai-title") => has("aiTitle"),
        Some("custom-title") => has("customTitle"),
        Some(
            "last-prompt"
            | "permission-mode"
            | "mode"
            | "agent-name"
            | "agent-setting"
            | "agent-color"
            | "pr-link"
            | "cost-state"
            | "bridge-session"
            | "worktree-state"
            | "relocated"
            | "content-replacement",
        ) => in_session,
        _ => false,
    };
    if ours { Sign::Ours } else { Sign::Silent }
}

/// Marks of hook payload logs, Qwen Code, Gemini CLI, Codex, OpenCode, CodeBuddy, the CLI's own
/// prompt history and stream output, and of tools that export other agents' sessions.
fn is_foreign(value: &Value) -> bool {
    const KEYS: [&str; 13] = [
        "hook_event_name",
        "systemPayload",
        "usageMetadata",
        "providerData",
        "projectHash",
        "display",
        "payload",
        "record_type",
        "info",
        "$set",
        "workspace",
        "parent_tool_use_id",
        "thread_name",
    ];
    if KEYS.iter().any(|key| value.get(key).is_some()) {
        return true;
    }
    let Some(message) = value.get("message") else { return false };
    let role = text(message, "role");
    message.get("parts").is_some() || matches!(role, Some("model" | "tool" | "system"))
}

/// Why a file that stands beside transcripts is left alone.
pub(super) fn sidecar(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    let folder = |wanted: &str| path.parent().is_some_and(|p| has_folder(p, wanted));
    let json = Path::new(name).extension().is_some_and(|ext| ext == "json");
    Some(match name {
        "custom-title.json" => "title of a session",
        "sessions-index.json" => "index of sessions, incomplete",
        "history.jsonl" if under_claude(path) => "prompt history, sessions tell it better",
        "journal.jsonl" if folder("workflows") => "journal of a workflow",
        "settings.json" | "settings.local.json" if under_claude(path) => "settings",
        ".last-cleanup" => "host bookkeeping",
        _ if name.ends_with(".meta.json") => "description of a sub-agent",
        _ if name.ends_with(".key") => "a secret, never read",
        _ if folder("tool-results") && name.ends_with(".txt") => {
            "a tool's output, put away by the host"
        }
        _ if folder("workflows") && json && (name.starts_with("wf_") || under_claude(path)) => {
            "summary of a workflow"
        }
        _ if json && folder("sessions") && under_claude(path) => "a live session's process",
        _ if folder("file-history") || folder("session-env") => "host bookkeeping",
        _ => return None,
    })
}

fn has_folder(path: &Path, wanted: &str) -> bool {
    path.components().any(|part| part == Component::Normal(wanted.as_ref()))
}

fn under_claude(path: &Path) -> bool {
    has_folder(path, ".claude") || has_folder(path, "claude")
}

/// The folders that hold a folder a project. `CLAUDE_CONFIG_DIR` (a comma list is accepted)
/// replaces the two default places.
pub(super) fn roots(homes: &Homes<'_>) -> Vec<PathBuf> {
    let stated = |name: &str| (homes.var)(name).filter(|value| !value.trim().is_empty());
    let mut bases: Vec<PathBuf> = Vec::new();
    if let Some(list) = stated("CLAUDE_CONFIG_DIR") {
        bases.extend(list.split(',').map(str::trim).filter(|s| !s.is_empty()).map(PathBuf::from));
    } else {
        let home = homes.home.as_deref();
        bases.extend(home.map(|home| home.join(".claude")));
        let config = stated("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| home.map(|home| home.join(".config")));
        bases.extend(config.map(|config| config.join("claude")));
    }
    bases.into_iter().map(|base| base.join("projects")).collect()
}

#[cfg(test)]
mod tests;
