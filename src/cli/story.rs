//! Events in words: one line each, the same in `tail` and `show`.

use super::ui::{Tone, Ui};
use crate::base::text::{one_line, shorten};
use crate::domain::event::EventKind;
use serde_json::Value;

/// Characters of free text in one line.
const TEXT_CHARS: usize = 96;

/// What a line is made of.
pub struct Told<'a> {
    pub kind: &'a str,
    pub outcome: Option<&'a str>,
    pub tool_name: Option<&'a str>,
    pub tool_input: Option<&'a Value>,
    pub text: Option<&'a str>,
    pub exit_code: Option<i64>,
    /// Folder that paths are shown relative to.
    pub cwd: Option<&'a str>,
}

/// The line of an event, coloured; safe for a terminal.
pub fn line(told: &Told<'_>) -> String {
    let kind = EventKind::from_tag(told.kind);
    let text = told.text.map(|t| shorten(&one_line(t), TEXT_CHARS)).unwrap_or_default();
    match kind {
        EventKind::UserPromptSubmit => format!("{} {text}", Ui::tone(Tone::Strong, "prompt")),
        EventKind::AssistantMessage => format!("agent  {text}"),
        EventKind::PreToolUse => {
            format!("{} {}", Ui::tone(Tone::Dim, "call  "), tool(told))
        }
        EventKind::PostToolUse | EventKind::UserCommand | EventKind::PermissionDenied => {
            format!("{} {}{}", outcome(told), tool(told), exit(told))
        }
        EventKind::TurnEnd => {
            let how = told.outcome.filter(|o| *o != "ok").map(|o| format!(" ({o})"));
            Ui::tone(Tone::Dim, &format!("turn ended{}", how.unwrap_or_default()))
        }
        _ => {
            let name = one_line(told.kind).replace('_', " ");
            Ui::tone(Tone::Dim, format!("{name} {text}").trim_end())
        }
    }
}

/// What a tool was asked to do, shortened.
pub fn tool(told: &Told<'_>) -> String {
    let name = one_line(told.tool_name.unwrap_or("tool"));
    let what = told.tool_input.map(subject).unwrap_or_default();
    let what = below(&what, told.cwd);
    if what.is_empty() { name } else { format!("{name}: {}", shorten(&one_line(what), TEXT_CHARS)) }
}

/// A path without the folder it is in; anything else as it is.
pub fn below<'a>(path: &'a str, cwd: Option<&str>) -> &'a str {
    cwd.and_then(|cwd| path.strip_prefix(cwd)?.strip_prefix('/')).unwrap_or(path)
}

/// The telling part of a tool's input: the command, the path, the pattern.
fn subject(input: &Value) -> String {
    for key in ["command", "cmd", "file_path", "path", "notebook_path", "pattern", "query", "url"] {
        match input.get(key) {
            Some(Value::String(text)) => return text.clone(),
            Some(Value::Array(words)) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                return words.join(" ");
            }
            _ => {}
        }
    }
    match input {
        Value::Object(map) => {
            map.iter().find_map(|(_, v)| v.as_str()).map(str::to_owned).unwrap_or_default()
        }
        Value::String(text) => text.clone(),
        _ => String::new(),
    }
}

fn outcome(told: &Told<'_>) -> String {
    let (tone, word) = match told.outcome {
        Some("ok") => (Tone::Good, "ok    "),
        Some("failed") => (Tone::Bad, "failed"),
        Some("denied") => (Tone::Doubt, "denied"),
        Some("interrupted") => (Tone::Doubt, "stopped"),
        Some("running") => (Tone::Doubt, "running"),
        _ => (Tone::Dim, "result"),
    };
    Ui::tone(tone, word)
}

fn exit(told: &Told<'_>) -> String {
    told.exit_code.map(|code| format!("  [exit {code}]")).unwrap_or_default()
}
