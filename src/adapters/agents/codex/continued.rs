//! Calls that go on with what an earlier call left running.
//!
//! `exec_command` may answer while its process still runs, and a script of code mode while its cell
//! does. The end is then told in the output of a later `write_stdin` or `wait`, which names the
//! session or the cell. Outcome and exit code belong to the call that began it.

use super::calls::Running;
use super::headers::{Reading, Tool};
use super::tools::Known;
use super::value::id_like;
use super::work::{Anchor, Work};
use crate::domain::event::{Channel, EventKind, NativeId};
use serde_json::Value;

/// The key of what a call says it goes on with.
fn named(known: &Known) -> Option<String> {
    let id = |key: &str| id_like(known.input.as_ref().and_then(|input| input.get(key)));
    match Tool::of(&known.name) {
        Tool::Stdin => id("session_id").map(|id| Running::of_session(&id)),
        Tool::Script => id("cell_id").map(|id| Running::of_cell(&id)),
        _ => None,
    }
}

/// Whether what runs after this call was begun by it, rather than gone on with.
pub(super) fn begins(known: &Known) -> bool {
    Tool::of(&known.name) != Tool::Stdin && named(known).is_none()
}

impl Work<'_> {
    /// The key of what this call goes on with, where that is known to run.
    pub(super) fn continues(&self, known: &Known) -> Option<String> {
        let key = named(known)?;
        self.state.calls.running(&key).map(|_| key)
    }

    /// Keeps what a call left running under the id that its continuation will name.
    pub(super) fn keep_running(&mut self, id: &str, known: &Known, reading: &Reading) {
        let Some(key) = reading.running.as_deref().filter(|_| begins(known)) else { return };
        let running = Running {
            call: id.to_owned(),
            name: known.name.clone(),
            command: known.command.clone(),
        };
        self.state.calls.start(key, running);
    }

    /// An output about what `key` names: where it says that this ended, the call that began it has
    /// its result, in the turn in which it ended.
    pub(super) fn continued(&mut self, key: &str, item: &Value, reading: &Reading, tag: &str) {
        if !reading.ended {
            return;
        }
        let Some(begun) = self.state.calls.stop(key) else { return };
        let native = NativeId::call(begun.call.clone());
        let channel = Channel::Canonical;
        let mut event = self.event(EventKind::PostToolUse, native, channel, "output");
        if let Some(turn) = self.item_turn(item) {
            event.turn_id = Some(turn);
        }
        event.call_id = Some(begun.call);
        event.outcome = Some(reading.outcome.clone());
        event.tool_response = item.get("output").cloned();
        let tool = Tool::of(&begun.name);
        event.tool_name = Some(begun.name);
        let anchor = Anchor::of(&event);
        self.tell(event);
        self.prove_result(&anchor, tool, &begun.command, reading, tag);
    }
}
