//! What OpenCode's plugin writes, an object a line. Each states its time.

use super::{PLAUSIBLE, huge_text, malformed, planted_secret};
use crate::conformance::normalizing::{MARKER, Payload, SECOND, SESSION};
use serde_json::{Value, json};

const AT: &str = "2026-05-04T09:00:01.000Z";

/// The payloads of a scenario.
///
/// # Errors
/// Why the plugin cannot be driven into it.
pub fn payloads(scenario: &str) -> Result<Vec<Payload>, String> {
    let values = match scenario {
        "session_start" => vec![bus(
            "session.created",
            json!({"info": {"id": SESSION, "directory": "/w", "title": "t", "version": "1.2.3"}}),
        )],
        "session_end" => vec![bus("session.deleted", json!({"info": {"id": SESSION}}))],
        "prompt" | "untimed" => vec![prompt(SESSION, "Fix the rounding")],
        "answer" => return Err("answers come in pieces, which are not translated".to_owned()),
        "tool_ok" | "tool_coded" => vec![before(SESSION, "c1"), after(SESSION, "c1", Some(0), "")],
        "tool_failed" => vec![before(SESSION, "c1"), after(SESSION, "c1", Some(3), PLAUSIBLE)],
        "tool_silent" => vec![before(SESSION, "c1"), after(SESSION, "c1", None, "done")],
        "tool_denied" => return Err("the plugin is not told of a refusal".to_owned()),
        "tool_interrupted" => return Err("the plugin is not told of an interruption".to_owned()),
        "tool_unresolved" => vec![before(SESSION, "c1")],
        "tool_interleaved" => vec![
            before(SESSION, "c1"),
            before(SESSION, "c2"),
            after(SESSION, "c2", Some(0), ""),
            after(SESSION, "c1", Some(3), ""),
        ],
        "multi_part" => vec![after(SESSION, "c1", Some(3), "bad")],
        "subagent" => return Err("a child session is only a relation here".to_owned()),
        "compaction" => vec![bus("session.compacted", json!({"sessionID": SESSION}))],
        "usage" => return Err("the plugin's payloads state no tokens".to_owned()),
        "bookkeeping" => vec![line("plugin.init", json!({"directory": "/w"}))],
        "unknown_kind" => vec![line("telepathy.end", json!({"note": MARKER, "nested": [MARKER]}))],
        "malformed" => return Ok(malformed()),
        "secret" => secrets(),
        "huge" => vec![after(SESSION, "c1", Some(0), &huge_text())],
        "no_session_id" => vec![line(
            "chat.message",
            json!({"input": {"messageID": "m1"}, "output": {"message": {"id": "m1"},
                "parts": [{"type": "text", "text": "go on"}]}}),
        )],
        "two_sessions" => vec![
            before(SESSION, "c1"),
            before(SECOND, "c1"),
            after(SECOND, "c1", Some(0), ""),
            after(SESSION, "c1", Some(3), ""),
        ],
        other => return Err(format!("no scenario {other}")),
    };
    Ok(values
        .into_iter()
        .map(|mut value| {
            if scenario == "untimed" {
                if let Value::Object(members) = &mut value {
                    members.remove("at");
                }
                return Payload::untimed(&value);
            }
            match value.get("at").and_then(Value::as_str) {
                Some(at) => Payload::timed(&value, at),
                None => Payload::untimed(&value),
            }
        })
        .collect())
}

fn line(hook: &str, payload: Value) -> Value {
    json!({"hook": hook, "at": AT, "payload": payload})
}

fn bus(kind: &str, properties: Value) -> Value {
    line("event", json!({"event": {"type": kind, "properties": properties}}))
}

fn prompt(session: &str, text: &str) -> Value {
    line(
        "chat.message",
        json!({"input": {"sessionID": session, "messageID": "m1"},
            "output": {"message": {"id": "m1"}, "parts": [{"type": "text", "text": text}]}}),
    )
}

fn before(session: &str, id: &str) -> Value {
    line(
        "tool.execute.before",
        json!({"input": {"tool": "bash", "sessionID": session, "callID": id},
            "output": {"args": {"command": "make test"}}}),
    )
}

fn after(session: &str, id: &str, exit: Option<i64>, output: &str) -> Value {
    let mut metadata = json!({"output": output, "truncated": false});
    if let (Some(exit), Value::Object(members)) = (exit, &mut metadata) {
        members.insert("exit".to_owned(), exit.into());
    }
    line(
        "tool.execute.after",
        json!({"input": {"tool": "bash", "sessionID": session, "callID": id,
            "args": {"command": "make test"}},
            "output": {"title": "make test", "metadata": metadata, "output": output}}),
    )
}

fn secrets() -> Vec<Value> {
    let secret = planted_secret();
    vec![
        prompt(SESSION, &format!("use {secret}")),
        after(SESSION, "c1", Some(3), &format!("token {secret} refused")),
        line("telepathy.end", json!({ "note": secret })),
        line(&secret, json!({ "note": secret })),
        bus(&secret, json!({ "sessionID": SESSION })),
        json!({ "token": secret }),
        json!(secret),
    ]
}
