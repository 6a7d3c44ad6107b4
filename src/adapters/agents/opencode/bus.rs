//! `event`: what OpenCode tells on its bus. Some of it is about a session, most is not.

use super::hook::{Call, told};
use super::wire::{owned, text};
use crate::domain::event::{EventKind, NativeId, Outcome};
use crate::domain::outcome::{LineageDraft, Message, NormalizationOutcome, Relation, TurnDraft};
use serde_json::Value;

const TYPE: [&str; 3] = ["payload", "event", "type"];
/// Plugins hand the event on as it is, or unwrapped.
const BARE_TYPE: [&str; 2] = ["payload", "type"];

/// Translates one event of the bus.
pub(super) fn event(hint: &str, native: &Value) -> NormalizationOutcome {
    let (tag, under): (_, &[&str]) = match (text(native, &TYPE), text(native, &BARE_TYPE)) {
        (Some(tag), _) => (tag, &["payload", "event", "properties"]),
        (None, Some(tag)) => (tag, &["payload", "properties"]),
        (None, None) => return NormalizationOutcome::unrecognized("event:<missing type>"),
    };
    let at = |more: &[&'static str]| [under, more].concat();
    let own = at(&["sessionID"]);
    // The session itself, where the event carries it.
    let info = at(&["info", "id"]);
    let path = if text(native, &own).is_some() { &own } else { &info };
    let call = Call::read(hint, native, path);
    match tag {
        "session.created" => told(created(&call, &at(&["info"]))),
        "session.idle" => {
            let ended = call.event(EventKind::TurnEnd, NativeId::record(), &own.join("."));
            told(vec![Message::Event(ended)])
        }
        "session.compacted" => {
            let told_of = call.event(EventKind::Compaction, NativeId::record(), &own.join("."));
            told(vec![Message::Event(told_of)])
        }
        "session.error" => told(failed(&call, &at(&["error"]))),
        known if is_known(known) => NormalizationOutcome::Ignored { reason: "bus event" },
        other => NormalizationOutcome::unrecognized(&format!("event:{other}")),
    }
}

fn created(call: &Call<'_>, info: &[&str]) -> Vec<Message> {
    let under = |key: &'static str| [info, &[key]].concat();
    let mut out = Vec::new();
    if let Some(parent) = text(call.native, &under("parentID")).filter(|p| *p != call.conversation)
    {
        out.push(Message::Lineage(LineageDraft {
            conversation: call.conversation.to_owned(),
            relation: Relation::Parent,
            related: parent.to_owned(),
            position: None,
            path: under("parentID").join("."),
        }));
    }
    let facts = TurnDraft {
        conversation: call.conversation.to_owned(),
        cwd: owned(call.native, &under("directory")),
        title: owned(call.native, &under("title")),
        agent_version: owned(call.native, &under("version")),
        observed_at: call.observed_at(),
        path: info.join("."),
        ..TurnDraft::default()
    };
    if facts.cwd.is_some() || facts.title.is_some() || facts.agent_version.is_some() {
        out.push(Message::Turn(facts));
    }
    let native = NativeId::new("session", call.conversation);
    out.push(Message::Event(call.event(EventKind::SessionStart, native, &info.join("."))));
    out
}

fn failed(call: &Call<'_>, error: &[&str]) -> Vec<Message> {
    let mut event = call.event(EventKind::RuntimeError, NativeId::record(), &error.join("."));
    event.outcome = Some(Outcome::Failed);
    event.text = owned(call.native, &[error, &["data", "message"]].concat())
        .or_else(|| owned(call.native, &[error, &["name"]].concat()));
    vec![Message::Event(event)]
}

/// Events that say nothing about what the agent did that the tool hooks do not say better. Whole
/// families are known by their first word; within `session` each by name, since those matter.
fn is_known(tag: &str) -> bool {
    const SESSION: [&str; 4] =
        ["session.updated", "session.deleted", "session.status", "session.diff"];
    const FAMILIES: [&str; 18] = [
        "command",
        "file",
        "ide",
        "installation",
        "lsp",
        "mcp",
        "message",
        "permission",
        "project",
        "pty",
        "question",
        "server",
        "todo",
        "tool",
        "tui",
        "vcs",
        "workspace",
        "worktree",
    ];
    let family = tag.split('.').next().unwrap_or_default();
    SESSION.contains(&tag) || FAMILIES.contains(&family)
}
