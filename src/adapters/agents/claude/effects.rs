//! What became of a tool call, as far as Claude Code states it.
//!
//! No payload and no line has an exit code field. A failed shell command is told as text whose
//! first line is `Exit code N` (from about 2.0.31); that header, in a failure of a shell tool, is
//! the only text an exit code is read from. A success is stated without a number. Hooks and
//! transcripts carry the same response objects, so both are read here.

use super::wire::{flag, member, text};
use crate::domain::event::Outcome;
use serde_json::Value;

/// What a source states about a call that came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) outcome: Outcome,
    /// The number of the host's own header, or a literal integer field of the response.
    pub(super) exit_code: Option<i64>,
    /// The host says that a shell command succeeded, and nothing in its answer qualifies it.
    pub(super) stated_success: bool,
}

impl Effect {
    fn only(outcome: Outcome) -> Self {
        Self { outcome, exit_code: None, stated_success: false }
    }
}

/// The tools that run a command line.
pub(super) fn is_shell(tool: &str) -> bool {
    matches!(tool, "Bash" | "PowerShell")
}

/// The number in a first line that is exactly `Exit code N`.
pub(super) fn exit_header(text: &str) -> Option<i64> {
    let digits = text.lines().next()?.strip_prefix("Exit code ")?;
    let number = digits.strip_prefix('-').unwrap_or(digits);
    let plain = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// The effect of a call that the host does not call a failure. `response` is the host's object,
/// or the text shown to the model where the host kept no object.
pub(super) fn of_success(
    tool: Option<&str>,
    input: Option<&Value>,
    response: Option<&Value>,
) -> Effect {
    if let Some(response) = response {
        if flag(response, "detachedToolCall") {
            return Effect::only(Outcome::Running);
        }
        if flag(response, "staged") {
            return Effect::only(Outcome::Unknown);
        }
    }
    match tool {
        Some(tool) if is_shell(tool) => shell_success(input, response),
        Some("Agent" | "Task" | "Workflow") => Effect::only(agent_outcome(response)),
        // What it starts goes on after the answer.
        Some("Monitor") if response.is_some_and(|r| text(r, "taskId").is_some()) => {
            Effect::only(Outcome::Running)
        }
        Some("NotebookEdit") if response.is_some_and(|r| text(r, "error").is_some()) => {
            Effect::only(Outcome::Failed)
        }
        Some(tool) if response.is_some_and(|r| says_failed(tool, r)) => {
            Effect::only(Outcome::Failed)
        }
        _ => Effect::only(Outcome::Ok),
    }
}

/// The effect of a call that the host calls a failure, from the text it gives.
pub(super) fn of_failure(shell: bool, message: &str) -> Effect {
    let body = message.strip_prefix("Error: ").unwrap_or(message);
    let exit_code = if shell { exit_header(body) } else { None };
    let rest = match exit_code {
        Some(_) => body.split_once('\n').map_or("", |(_, rest)| rest),
        None => body,
    };
    let told = rest.strip_prefix("<tool_use_error>").unwrap_or(rest);
    let outcome = if is_interruption(told) {
        Outcome::Interrupted
    } else if exit_code.is_none() && is_refusal(told) {
        Outcome::Denied
    } else {
        Outcome::Failed
    };
    Effect { outcome, exit_code, stated_success: false }
}

/// The outcome that `toolDenialKind` names (an open set).
pub(super) fn of_denial(kind: &str) -> Outcome {
    match kind {
        "interrupted" | "cancelled" => Outcome::Interrupted,
        _ => Outcome::Denied,
    }
}

fn shell_success(input: Option<&Value>, response: Option<&Value>) -> Effect {
    let asked_background = input.is_some_and(|i| flag(i, "run_in_background"));
    match response {
        Some(object @ Value::Object(_)) => shell_object(object),
        Some(Value::String(shown)) if went_to_background(shown) => Effect::only(Outcome::Running),
        Some(Value::String(shown)) if was_aborted(shown) => Effect::only(Outcome::Interrupted),
        _ if asked_background => Effect::only(Outcome::Running),
        Some(Value::String(_)) => {
            Effect { outcome: Outcome::Ok, exit_code: None, stated_success: true }
        }
        // Without an answer it cannot be told apart from a launch in the background.
        _ => Effect::only(Outcome::Unknown),
    }
}

fn shell_object(response: &Value) -> Effect {
    if flag(response, "interrupted") {
        return Effect::only(Outcome::Interrupted);
    }
    let still_running = member(response, "backgroundTaskId").is_some()
        || member(response, "timedOutAfterMs").is_some()
        || flag(response, "assistantAutoBackgrounded")
        || flag(response, "backgroundedByUser");
    if still_running {
        return Effect::only(Outcome::Running);
    }
    if let Some(code) = literal_code(response) {
        let outcome = if code == 0 { Outcome::Ok } else { Outcome::Failed };
        return Effect { outcome, exit_code: Some(code), stated_success: false };
    }
    // "No matches found" and its like: the command ended non-zero and the host does not call it a
    // failure. The number is not stated, so it is neither an exit code nor a plain success.
    let benign_non_zero = text(response, "returnCodeInterpretation").is_some();
    Effect { outcome: Outcome::Ok, exit_code: None, stated_success: !benign_non_zero }
}

/// No real payload has one of these; an integer there is taken at its word (first Fornax).
fn literal_code(response: &Value) -> Option<i64> {
    ["exit_code", "exitCode", "returncode"]
        .iter()
        .find_map(|key| response.get(*key).and_then(Value::as_i64))
}

fn went_to_background(shown: &str) -> bool {
    task_of_launch(shown).is_some()
        || ["Command was auto-backgrounded", "Command did not complete within"]
            .iter()
            .any(|head| shown.starts_with(head))
}

/// The id of the task in the text that tells of a launch.
pub(super) fn task_of_launch(shown: &str) -> Option<&str> {
    let heads = [
        "Command running in background with ID:",
        "Command was manually backgrounded by user with ID:",
    ];
    let rest = heads.iter().find_map(|head| shown.strip_prefix(head))?.trim_start();
    let id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    Some(rest.split_once(|c| !id(c)).map_or(rest, |(id, _)| id))
}

fn was_aborted(shown: &str) -> bool {
    shown.trim_end().ends_with("<error>Command was aborted before completion</error>")
}

/// An agent started in the background has only been launched; its end is told elsewhere.
fn agent_outcome(response: Option<&Value>) -> Outcome {
    let Some(response) = response else { return Outcome::Ok };
    let launched = matches!(text(response, "status"), Some("async_launched" | "remote_launched"));
    if launched || flag(response, "isAsync") { Outcome::Running } else { Outcome::Ok }
}

fn says_failed(tool: &str, response: &Value) -> bool {
    let denied_success = response.get("success").and_then(Value::as_bool) == Some(false);
    match tool {
        "TaskUpdate" | "Skill" => denied_success,
        _ => tool.starts_with("mcp__") && flag(response, "isError"),
    }
}

fn is_interruption(told: &str) -> bool {
    [
        "[Request interrupted by user",
        "Interrupted by user",
        "Cancelled: parallel tool call",
        "Sibling tool call errored",
        "Command was aborted before completion",
        "<error>Command was aborted before completion",
    ]
    .iter()
    .any(|head| told.starts_with(head))
}

fn is_refusal(told: &str) -> bool {
    let by_hook = told.lines().next().is_some_and(|first| {
        (first.starts_with("PreToolUse:") && first.contains(" hook error"))
            || first.starts_with("Hook PreToolUse:")
            || first.contains(" operation blocked by hook")
    });
    by_hook
        || [
            "User rejected tool use",
            "The user doesn't want to proceed with this tool use",
            "The user doesn't want to take this action right now",
            "Permission to use ",
            "Permission for this action",
            "Claude requested permissions to ",
            "This command requires approval",
        ]
        .iter()
        .any(|head| told.starts_with(head))
}

#[cfg(test)]
mod tests;
