//! What a tool's output states about the run: exit code, still running, refused, aborted.
//!
//! Codex puts a header before a shell result; its form depends on the tool and the era. Only the
//! head of the text is read, up to its `Output:` line, and only the form that the tool's own host
//! code writes: a command's output can look like any header. A code that is not stated is absent.

use super::calls::Running;
use super::value::text;
use crate::domain::event::Outcome;
use serde_json::Value;
use std::collections::BTreeMap;

/// Which host code formats a tool's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// `shell`, `container.exec`, `local_shell`: JSON inside a string.
    Shell,
    /// `shell_command`: `Exit code: N` on the first line.
    ShellCommand,
    /// `exec_command`: `Process exited with code N` in the header.
    Exec,
    /// `write_stdin`: as `exec_command`, about a process started earlier.
    Stdin,
    /// `apply_patch`, as a function or a custom tool.
    Patch,
    /// Code mode (`exec`, `wait`): says nothing about the commands inside.
    Script,
    Other,
}

impl Tool {
    /// By the exact name of the call; a junk name is no shell tool.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "shell" | "container.exec" | "local_shell" => Self::Shell,
            "shell_command" => Self::ShellCommand,
            "exec_command" => Self::Exec,
            "write_stdin" => Self::Stdin,
            "apply_patch" => Self::Patch,
            "exec" | "wait" => Self::Script,
            _ => Self::Other,
        }
    }

    /// Whether its output can state an exit code.
    pub(super) fn is_shell_like(self) -> bool {
        !matches!(self, Self::Script | Self::Other)
    }

    fn writes_json(self) -> bool {
        matches!(self, Self::Shell | Self::Patch)
    }

    fn writes_exit_code_line(self) -> bool {
        matches!(self, Self::Shell | Self::ShellCommand | Self::Patch)
    }

    fn writes_process_line(self) -> bool {
        matches!(self, Self::Exec | Self::Stdin | Self::Patch)
    }
}

/// What an output states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) outcome: Outcome,
    pub(super) exit_code: Option<i64>,
    /// Which header stated the code, for provenance.
    pub(super) how: &'static str,
    /// What still runs, by the id its continuation names; see `Running`.
    pub(super) running: Option<String>,
    /// A process or script is stated to have ended.
    pub(super) ended: bool,
    /// The host says it succeeded, without a code.
    pub(super) stated_success: bool,
    /// The body reports an applied patch.
    pub(super) patch_applied: bool,
    /// Numbers of the header, as spelled.
    pub(super) telemetry: BTreeMap<&'static str, String>,
    /// Path of the text read, below the output.
    pub(super) path: String,
}

impl Reading {
    fn nothing() -> Self {
        Self {
            outcome: Outcome::Unknown,
            exit_code: None,
            how: "",
            running: None,
            ended: false,
            stated_success: false,
            patch_applied: false,
            telemetry: BTreeMap::new(),
            path: String::new(),
        }
    }

    fn of(outcome: Outcome) -> Self {
        Self { outcome, ..Self::nothing() }
    }

    fn with_code(mut self, code: i64, how: &'static str) -> Self {
        self.set_code(code, how);
        self
    }

    fn set_code(&mut self, code: i64, how: &'static str) {
        self.outcome = if code == 0 { Outcome::Ok } else { Outcome::Failed };
        self.exit_code = Some(code);
        self.ended = true;
        self.how = how;
    }

    fn at(mut self, path: String) -> Self {
        self.path = format!("{path}{}", self.path);
        self
    }
}

/// Reads an `output` field.
pub(super) fn read(tool: Tool, output: &Value) -> Reading {
    match output {
        Value::String(text) => from_text(tool, text),
        Value::Array(parts) => parts
            .iter()
            .enumerate()
            .find_map(|(index, part)| text(part, "text").map(|text| (index, text)))
            .map_or_else(Reading::nothing, |(index, text)| {
                from_text(tool, text).at(format!("[{index}].text"))
            }),
        Value::Object(_) => from_object(tool, output),
        _ => Reading::nothing(),
    }
}

/// The in-memory form that very old and third-party files hold.
fn from_object(tool: Tool, output: &Value) -> Reading {
    if let (true, Some(code)) = (tool.is_shell_like(), metadata_code(output)) {
        return Reading::nothing().with_code(code, METADATA).at(".metadata.exit_code".to_owned());
    }
    for key in ["content", "text"] {
        if let Some(found) = text(output, key) {
            let reading = from_text(tool, found);
            if reading.outcome != Outcome::Unknown {
                return reading.at(format!(".{key}"));
            }
        }
    }
    match output.get("success").and_then(Value::as_bool) {
        Some(true) => Reading {
            stated_success: true,
            path: ".success".to_owned(),
            ..Reading::of(Outcome::Ok)
        },
        Some(false) => Reading::of(Outcome::Failed).at(".success".to_owned()),
        None => Reading::nothing(),
    }
}

const METADATA: &str = "metadata.exit_code";

fn from_text(tool: Tool, text: &str) -> Reading {
    if tool == Tool::Script {
        return script(text).unwrap_or_else(|| refusal(text));
    }
    if !tool.is_shell_like() {
        return refusal(text);
    }
    if let Some(reading) = json_header(tool, text) {
        return reading;
    }
    if let Some(header) = line_header(tool, text) {
        let mut reading = header.reading;
        if !header.closed && reading.exit_code.take().is_some() {
            // A header ends with its `Output:` line; what only begins like one states nothing.
            reading = Reading { telemetry: reading.telemetry, ..Reading::nothing() };
        }
        return reading;
    }
    if let Some(reading) = header_after_command(tool, text) {
        return reading;
    }
    if text.starts_with(PATCH_APPLIED) && tool == Tool::Patch {
        return Reading { patch_applied: true, ..Reading::of(Outcome::Ok) };
    }
    let refused = refusal(text);
    if refused.outcome == Outcome::Unknown && is_launch_failure(text) {
        return Reading::of(Outcome::Failed);
    }
    refused
}

const PATCH_APPLIED: &str = "Success. Updated the following files:";

/// `{"output": "...", "metadata": {"exit_code": N, "duration_seconds": S}}` as text.
fn json_header(tool: Tool, text: &str) -> Option<Reading> {
    if !tool.writes_json() || !text.starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let code = metadata_code(&value)?;
    let mut reading = Reading::nothing().with_code(code, METADATA);
    if let Some(Value::Number(seconds)) = value.pointer("/metadata/duration_seconds") {
        reading.telemetry.insert("duration_seconds", seconds.to_string());
    }
    reading.patch_applied = value
        .get("output")
        .and_then(Value::as_str)
        .is_some_and(|body| body.starts_with(PATCH_APPLIED));
    Some(reading)
}

fn metadata_code(value: &Value) -> Option<i64> {
    value.pointer("/metadata/exit_code").and_then(Value::as_i64)
}

/// Most header lines that any version writes, with room to spare.
const HEADER_LINES_MAX: usize = 10;

/// A header of lines, and whether its closing `Output:` was reached.
struct LineHeader {
    reading: Reading,
    closed: bool,
}

/// A header of lines: `Exit code: N`, or `Process exited with code N` among others.
fn line_header(tool: Tool, text: &str) -> Option<LineHeader> {
    let mut reading = Reading::nothing();
    let mut rest = text;
    for place in 0..HEADER_LINES_MAX {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let line = line.trim_end_matches('\r');
        if line == "Output:" && place > 0 {
            reading.patch_applied = after.starts_with(PATCH_APPLIED);
            return Some(LineHeader { reading, closed: true });
        }
        if line == "aborted by user" && place > 0 {
            reading.outcome = Outcome::Interrupted;
            return Some(LineHeader { reading, closed: true });
        }
        if header_line(tool, line, place, &mut reading).is_none() {
            return (place > 0).then_some(LineHeader { reading, closed: false });
        }
        rest = after;
    }
    Some(LineHeader { reading, closed: false })
}

/// Takes one header line in; `None` when it is no header line of this tool.
fn header_line(tool: Tool, line: &str, place: usize, reading: &mut Reading) -> Option<()> {
    if let Some(code) = line.strip_prefix("Exit code: ") {
        let code = code.parse().ok().filter(|_| place == 0 && tool.writes_exit_code_line())?;
        reading.set_code(code, "exit_code_text");
        return Some(());
    }
    if let Some(code) = line.strip_prefix("Process exited with code ") {
        let code = code.parse().ok().filter(|_| tool.writes_process_line())?;
        reading.set_code(code, "process_exited_text");
        return Some(());
    }
    if let Some(session) = line.strip_prefix("Process running with session ID ") {
        let session = Some(session).filter(|_| tool.writes_process_line())?;
        reading.outcome = Outcome::Running;
        reading.running = Some(Running::of_session(session));
        return Some(());
    }
    let (label, stated) = line.split_once(": ")?;
    let (key, stated) = match label {
        "Wall time" => ("wall_time_seconds", stated.strip_suffix(" seconds")?),
        "Chunk ID" => ("chunk_id", stated),
        "Original token count" => ("original_token_count", stated),
        "Total output lines" => ("total_output_lines", stated),
        "Warning" if stated.starts_with("truncated output") => return Some(()),
        _ => return None,
    };
    reading.telemetry.insert(key, stated.to_owned());
    Some(())
}

/// A header after the `Command: <argv>` line that 0.115 to 0.119 put before it.
///
/// Only where the tool's host writes such headers, only after one labelled line (a shell's script
/// may span several), and only a header that is closed.
fn header_after_command(tool: Tool, text: &str) -> Option<Reading> {
    let (label, argv) = text.split_once(": ")?;
    let is_word = label.starts_with(|c: char| c.is_ascii_uppercase())
        && label.chars().all(|c| c.is_ascii_alphabetic());
    if !is_word || !matches!(tool, Tool::Exec | Tool::Stdin) {
        return None;
    }
    let starts = ["\nChunk ID: ", "\nWall time: "];
    let end = starts.iter().filter_map(|start| argv.find(start)).min()?;
    let (argv, header) = argv.split_at_checked(end)?;
    if argv.contains('\n') && !argv.lines().next().is_some_and(|line| line.contains(" -lc ")) {
        return None;
    }
    let header = line_header(tool, header.strip_prefix('\n')?)?;
    header.closed.then_some(header.reading)
}

/// Code mode: the state of the script, which is not the state of any command in it.
fn script(text: &str) -> Option<Reading> {
    let first = text.lines().next()?;
    let cell = first.strip_prefix("Script running with cell ID ");
    let outcome = match (first, cell) {
        (_, Some(_)) => Outcome::Running,
        ("Script completed", _) => Outcome::Unknown,
        ("Script failed", _) => Outcome::Failed,
        ("Script terminated", _) => Outcome::Interrupted,
        _ => return None,
    };
    let mut reading = Reading::of(outcome);
    reading.running = cell.map(Running::of_cell);
    reading.ended = cell.is_none();
    let wall = text.lines().nth(1).and_then(|line| line.strip_prefix("Wall time "));
    if let Some(seconds) = wall.and_then(|stated| stated.strip_suffix(" seconds")) {
        reading.telemetry.insert("wall_time_seconds", seconds.to_owned());
    }
    Some(reading)
}

/// Texts that stand in place of a result when the call was refused or cut short.
fn refusal(text: &str) -> Reading {
    const REFUSED: &[&str] = &[
        "exec command rejected by user",
        "patch rejected by user",
        "user rejected MCP tool call",
        "user cancelled MCP tool call",
    ];
    if REFUSED.iter().any(|start| text.starts_with(start)) {
        return Reading::of(Outcome::Denied);
    }
    if text == "aborted" || text == "aborted by user" || text.starts_with("aborted by user after ")
    {
        return Reading::of(Outcome::Interrupted);
    }
    Reading::nothing()
}

/// Texts of a command or patch that never ran; they stand alone, without a header.
fn is_launch_failure(text: &str) -> bool {
    const FAILURES: &[&str] = &[
        "failed in sandbox ",
        "execution error: ",
        "exec_command failed",
        "write_stdin failed",
        "apply_patch verification failed",
        "failed to parse function arguments",
    ];
    FAILURES.iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests;
