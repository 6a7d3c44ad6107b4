//! Tool calls whose result is still to come, those just ended, and processes that still run.
//!
//! A result names its call by id only, and results come in the order of completion, so calls are
//! kept by id. All three lists are bounded in number, and the open calls in bytes as well.

use super::bounded::Recent;
use super::headers::Tool;
use super::value::text;
use crate::domain::event::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// Most calls that may wait for their result.
const OPEN_MAX: usize = 10_000;
/// Most bytes of input that waiting calls may hold.
const OPEN_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most ended calls remembered for second tellings that come late.
const ENDED_MAX: usize = 1_024;
/// Most tools of nested calls remembered at once.
const NESTED_TOOLS_MAX: usize = 64;
/// Most processes that may run at once.
const RUNNING_MAX: usize = 1_024;

/// A call as it was proposed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Call {
    /// Full name, with its namespace.
    pub(super) name: String,
    /// Turn of the proposal.
    pub(super) turn: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Value>,
    bytes: usize,
    /// What a second telling said before the result itself came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) projected: Option<Outcome>,
    /// Its file changes are already told.
    pub(super) diffs_told: bool,
}

impl Call {
    pub(super) fn new(name: &str, turn: Option<String>, input: Option<Value>) -> Self {
        let bytes = input.as_ref().map_or(0, weight).saturating_add(name.len());
        Self { name: name.to_owned(), turn, input, bytes, projected: None, diffs_told: false }
    }

    pub(super) fn tool(&self) -> Tool {
        Tool::of(&self.name)
    }

    /// The command as a person would know it: argv, a line, or null.
    pub(super) fn command(&self) -> Value {
        self.input.as_ref().map_or(Value::Null, |input| command_of(self.tool(), input))
    }
}

/// The command in a shell call's input. A patch is a command without arguments: its text is no
/// command line.
fn command_of(tool: Tool, input: &Value) -> Value {
    let keys: &[&str] = match tool {
        Tool::Patch => return Value::String("apply_patch".to_owned()),
        Tool::Shell | Tool::ShellCommand => &["command", "cmd"],
        Tool::Exec => &["cmd", "command"],
        Tool::Stdin | Tool::Script | Tool::Other => &[],
    };
    keys.iter()
        .find_map(|key| input.get(*key))
        .filter(|found| found.is_string() || found.is_array())
        .cloned()
        .unwrap_or(Value::Null)
}

/// The patch text in a call's input: `apply_patch` itself, or a shell call of that program, which
/// the host takes for the tool.
pub(super) fn patch_text(tool: Tool, input: &Value) -> Option<&str> {
    if tool == Tool::Patch {
        return ["input", "patch", "command"].iter().find_map(|key| text(input, key));
    }
    if !matches!(tool, Tool::Shell | Tool::ShellCommand | Tool::Exec) {
        return None;
    }
    match input.get("command").or_else(|| input.get("cmd"))? {
        Value::String(script) => patch_in_script(script),
        Value::Array(argv) => match argv.as_slice() {
            [program, patch] if program == "apply_patch" => patch.as_str(),
            [.., script] => patch_in_script(script.as_str()?),
            [] => None,
        },
        _ => None,
    }
}

/// The patch that a script hands to `apply_patch`, alone or after changing the folder.
fn patch_in_script(script: &str) -> Option<&str> {
    let (before, _) = script.split_once("*** Begin Patch")?;
    let program = before.rsplit("&&").next()?.trim_start();
    script.get(before.len()..).filter(|_| program.starts_with("apply_patch"))
}

/// A call whose result has been told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) name: String,
    pub(super) turn: Option<String>,
    pub(super) command: Value,
    pub(super) diffs_told: bool,
}

/// A process or script that a call left running; later calls name it by its session or cell id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Running {
    /// Id and full name of the call that began it.
    pub(super) call: String,
    pub(super) name: String,
    pub(super) command: Value,
}

impl Running {
    /// The key of a process, from the session id that `write_stdin` names.
    pub(super) fn of_session(id: &str) -> String {
        format!("session:{}", id.trim())
    }

    /// The key of a script, from the cell id that `wait` names.
    pub(super) fn of_cell(id: &str) -> String {
        format!("cell:{}", id.trim())
    }
}

/// All calls of one source that matter for what comes next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Calls {
    open: Recent<Call>,
    open_bytes: usize,
    ended: Recent<Ended>,
    running: Recent<Running>,
    /// Tools of nested calls that were told since the last output of a script.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) nested_tools: BTreeSet<String>,
    /// A script of code mode was seen.
    scripted: bool,
    /// That calls were dropped has been reported.
    loss_told: bool,
}

impl Calls {
    /// Keeps a proposed call; true the first time that older ones had to go for it.
    pub(super) fn open(&mut self, id: &str, call: Call) -> bool {
        self.close(id);
        self.ended.remove(id);
        self.scripted |= call.name == "exec";
        self.open_bytes = self.open_bytes.saturating_add(call.bytes);
        self.open.insert(id, call);
        let mut dropped = false;
        while self.open.len() > OPEN_MAX || self.open_bytes > OPEN_BYTES_MAX {
            let Some((_, oldest)) = self.open.pop_oldest() else { break };
            self.open_bytes = self.open_bytes.saturating_sub(oldest.bytes);
            dropped = true;
        }
        dropped && !std::mem::replace(&mut self.loss_told, true)
    }

    /// Takes an open call out, its result having come.
    pub(super) fn close(&mut self, id: &str) -> Option<Call> {
        let call = self.open.remove(id)?;
        self.open_bytes = self.open_bytes.saturating_sub(call.bytes);
        Some(call)
    }

    /// Remembers a call as ended.
    pub(super) fn ended(&mut self, id: &str, call: &Call, command: Value) {
        let ended = Ended {
            name: call.name.clone(),
            turn: call.turn.clone(),
            command,
            diffs_told: call.diffs_told,
        };
        self.ended.insert_capped(id, ended, ENDED_MAX);
    }

    pub(super) fn get_open(&self, id: &str) -> Option<&Call> {
        self.open.get(id)
    }

    pub(super) fn get_open_mut(&mut self, id: &str) -> Option<&mut Call> {
        self.open.get_mut(id)
    }

    pub(super) fn get_ended_mut(&mut self, id: &str) -> Option<&mut Ended> {
        self.ended.get_mut(id)
    }

    pub(super) fn get_ended(&self, id: &str) -> Option<&Ended> {
        self.ended.get(id)
    }

    /// Whether what `id` names was nested in a script: the host's own kind of id, or, in a file
    /// with scripts, an id that is no call's.
    pub(super) fn is_nested(&self, id: &str) -> bool {
        !self.knows(id) && (self.scripted || is_host_id(id))
    }

    /// A nested call of this tool was told.
    pub(super) fn told_nested(&mut self, tool: &str) {
        if self.nested_tools.len() < NESTED_TOOLS_MAX {
            self.nested_tools.insert(tool.to_owned());
        }
    }

    fn knows(&self, id: &str) -> bool {
        self.open.get(id).is_some()
            || self.ended.get(id).is_some()
            || self.running.iter().any(|(_, process)| process.call == id)
    }

    /// Keeps what runs on; `key` is one of `Running::of_session`, `Running::of_cell`.
    pub(super) fn start(&mut self, key: &str, running: Running) {
        self.running.insert_capped(key, running, RUNNING_MAX);
    }

    pub(super) fn running(&self, key: &str) -> Option<&Running> {
        self.running.get(key)
    }

    /// Takes out what has ended.
    pub(super) fn stop(&mut self, key: &str) -> Option<Running> {
        self.running.remove(key)
    }
}

/// Whether an id is of the kind that the host gives to commands nested in a script.
pub(super) fn is_host_id(id: &str) -> bool {
    id.starts_with("exec-") || id.starts_with("exec_")
}

/// About how many bytes a value holds.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len().saturating_add(8),
        Value::Array(items) => items.iter().map(weight).fold(8, usize::saturating_add),
        Value::Object(members) => members
            .iter()
            .map(|(key, item)| key.len().saturating_add(weight(item)))
            .fold(8, usize::saturating_add),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn open_calls_are_bounded_and_the_loss_is_told_once() {
        let mut calls = Calls::default();
        let told: usize = (0..OPEN_MAX + 3)
            .map(|n| usize::from(calls.open(&n.to_string(), Call::new("shell", None, None))))
            .sum();
        assert_eq!(told, 1);
        assert!(calls.get_open("0").is_none());
        assert!(calls.get_open("3").is_some());
    }

    #[test]
    fn inputs_of_open_calls_are_bounded_in_bytes() {
        let mut calls = Calls::default();
        let big = || json!({"cmd": "x".repeat(OPEN_BYTES_MAX / 2)});
        calls.open("a", Call::new("exec_command", None, Some(big())));
        calls.open("b", Call::new("exec_command", None, Some(big())));
        assert!(calls.get_open("a").is_none());
        assert!(calls.get_open("b").is_some());
        calls.close("b");
        assert_eq!(calls.open_bytes, 0);
    }

    #[test]
    fn a_call_that_left_a_process_running_stays_known() {
        let mut calls = Calls::default();
        let name = "exec_command".to_owned();
        let running = Running { call: "c1".to_owned(), name, command: json!("make") };
        calls.start("7", running);
        assert!(calls.knows("c1"));
        calls.stop("7");
        assert!(!calls.knows("c1"));
    }

    #[test]
    fn the_patch_of_a_shell_call_is_its_argument() {
        let input = json!({"command": ["apply_patch", "*** Begin Patch"]});
        assert_eq!(patch_text(Tool::Shell, &input), Some("*** Begin Patch"));
        assert_eq!(patch_text(Tool::Shell, &json!({"command": ["ls", "x"]})), None);
        let heredoc = "cd a && apply_patch <<'EOF'\n*** Begin Patch\nx\nEOF";
        let patch = Some("*** Begin Patch\nx\nEOF");
        assert_eq!(patch_text(Tool::Shell, &json!({"command": ["bash", "-lc", heredoc]})), patch);
        assert_eq!(patch_text(Tool::Exec, &json!({"cmd": heredoc})), patch);
        let printed = json!({"cmd": "echo '*** Begin Patch'"});
        assert_eq!(patch_text(Tool::Exec, &printed), None);
        assert_eq!(patch_text(Tool::Other, &json!({"cmd": heredoc})), None);
        assert_eq!(Call::new("apply_patch", None, Some(input)).command(), json!("apply_patch"));
    }
}
