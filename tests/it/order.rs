//! The order of arrival never matters: files in any order, the hook before or after the transcript.
//!
//! Compared are the rows, what `sessions` answers, and every byte of both exports.

use crate::support::claude::{self, Claude};
use crate::support::codex::{self, Codex};
use crate::support::{TestEnv, rows};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// Everything that a person or a consumer is told.
#[derive(Debug, PartialEq)]
struct Told {
    sessions: Vec<Value>,
    losses: Vec<Value>,
    legacy: Vec<(PathBuf, String)>,
    full: Vec<(PathBuf, String)>,
}

fn told(env: &TestEnv) -> Told {
    let spool = |wire: &str| {
        env.run(["export-spool", "--all", "--wire", wire, "--out", wire]).ok();
        let root = env.path(wire);
        TestEnv::files_below(&root)
            .into_iter()
            .map(|(path, bytes)| {
                let name = path.strip_prefix(&root).unwrap().to_owned();
                // Places name this test's own folder.
                let here = env.path("").to_str().unwrap().to_owned();
                (name, String::from_utf8(bytes).unwrap().replace(&here, "/"))
            })
            // The manifest holds hashes of bytes with those places in them.
            .filter(|(name, _)| name.to_str() != Some("manifest.json"))
            .collect()
    };
    let here = env.path("").to_str().unwrap().to_owned();
    let anywhere = |values: Vec<Value>| -> Vec<Value> {
        let text = Value::Array(values).to_string().replace(&here, "/");
        serde_json::from_str(&text).unwrap()
    };
    Told {
        sessions: anywhere(env.sessions()),
        losses: anywhere(env.losses()),
        legacy: spool("legacy"),
        full: spool("full"),
    }
}

#[track_caller]
fn assert_same_told(left: &TestEnv, right: &TestEnv) {
    rows::assert_same(&rows::told_anywhere(left), &rows::told_anywhere(right));
    let (left, right) = (told(left), told(right));
    assert_same_answers(&left, &right);
}

#[track_caller]
fn assert_same_answers(left: &Told, right: &Told) {
    assert_eq!(left.sessions, right.sessions);
    assert_eq!(left.losses, right.losses);
    assert!(!left.legacy.is_empty());
    for (left, right) in [(&left.legacy, &right.legacy), (&left.full, &right.full)] {
        let lines = |files: &[(PathBuf, String)]| -> Vec<String> {
            files.iter().map(|(name, text)| format!("{}: {text}", name.display())).collect()
        };
        rows::assert_same(&lines(left), &lines(right));
    }
}

/// A home in which these hooks wait, and the journal that they made.
fn journalled(hooks: &[(&str, String)]) -> Vec<u8> {
    let env = TestEnv::new();
    for (agent, payload) in hooks {
        env.hook(agent, payload);
    }
    fs::read(env.journal().join("current.fxj")).unwrap()
}

fn put_journal(env: &TestEnv, bytes: &[u8]) {
    fs::create_dir_all(env.journal()).unwrap();
    fs::write(env.journal().join("current.fxj"), bytes).unwrap();
}

/// One environment that drains the hooks before it reads the file, one that does it after.
fn both_orders(hooks: &[(&str, String)], name: &str, text: &str) -> [TestEnv; 2] {
    let journal = journalled(hooks);
    let [hook_first, file_first] = [TestEnv::new(), TestEnv::new()];
    put_journal(&hook_first, &journal);
    hook_first.sessions();
    hook_first.write(&format!("in/{name}"), text);
    hook_first.ingest(&hook_first.path("in"));
    file_first.write(&format!("in/{name}"), text);
    file_first.ingest(&file_first.path("in"));
    put_journal(&file_first, &journal);
    file_first.sessions();
    [hook_first, file_first]
}

fn hooks_of_the_typical_session(session: &Claude) -> Vec<(&'static str, String)> {
    let pre = |call: &str, command: &str| {
        let more = json!({"prompt_id": "prompt-c1-1", "tool_name": "Bash", "tool_use_id": call,
            "tool_input": {"command": command}});
        ("claude", claude::payload("c1", "PreToolUse", more))
    };
    let (first, second) = (session.call_id(1), session.call_id(2));
    vec![
        ("claude", claude::payload("c1", "SessionStart", json!({"model": "claude-demo-1"}))),
        (
            "claude",
            claude::payload(
                "c1",
                "UserPromptSubmit",
                json!({"prompt_id": "prompt-c1-1", "prompt": "run the tests"}),
            ),
        ),
        pre(&first, "ls"),
        ("claude", claude::post_tool_use("c1", &first, "ls", "Cargo.toml\nsrc\n")),
        pre(&second, "cargo test"),
        ("claude", claude::post_tool_use_failure("c1", &second, "cargo test", 101)),
        (
            "claude",
            claude::payload(
                "c1",
                "Stop",
                json!({"prompt_id": "prompt-c1-1", "last_assistant_message": "All tests pass."}),
            ),
        ),
    ]
}

#[test]
fn hook_and_transcript_of_claude_tell_one_story_in_either_order() {
    let session = Claude::typical("c1");
    let hooks = hooks_of_the_typical_session(&session);
    let [hook_first, file_first] = both_orders(&hooks, "c1.jsonl", &session.text());
    assert_same_told(&hook_first, &file_first);
}

#[test]
fn hook_and_transcript_of_one_call_are_one_event_with_two_sightings() {
    let session = Claude::typical("c1");
    let hooks = hooks_of_the_typical_session(&session);
    for env in both_orders(&hooks, "c1.jsonl", &session.text()) {
        let seen = rows::texts(
            &env,
            "SELECT e.kind || ' ' || count(*) FROM event e JOIN sighting s ON s.event = e.id
             GROUP BY e.id ORDER BY e.kind, count(*)",
        );
        assert_eq!(
            seen,
            [
                "assistant_message 1",
                "post_tool_use 2",
                "post_tool_use 2",
                "pre_tool_use 2",
                "pre_tool_use 2",
                "session_start 1",
                "turn_end 1",
                "user_prompt_submit 2"
            ]
        );
        assert_eq!(rows::count(&env, "SELECT sum(disagrees) FROM event"), 0);
        assert_eq!(env.sessions()[0]["failed_calls"], 1);
    }
}

/// A command that is launched into the background and fails there: the hook's telling of it.
fn hooks_of_a_background_command(text: &str) -> Vec<(&'static str, String)> {
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let notice = &lines.iter().find(|l| l["uuid"] == "u3").unwrap()["message"]["content"];
    vec![
        (
            "claude",
            claude::payload(
                "s1",
                "PostToolUse",
                json!({"prompt_id": "p1", "tool_name": "Bash", "tool_use_id": "toolu_1",
                    "tool_input": {"command": "cargo test", "run_in_background": true},
                    "tool_response": {"stdout": "", "backgroundTaskId": "b1"}}),
            ),
        ),
        (
            "claude",
            claude::payload("s1", "UserPromptSubmit", json!({"prompt_id": "p3", "prompt": notice})),
        ),
    ]
}

#[test]
fn a_command_in_the_background_is_one_call_that_ends_in_either_order() {
    let text = include_str!("../../fixtures/agents/claude_code/background_tasks.jsonl");
    let hooks = hooks_of_a_background_command(text);
    let [hook_first, file_first] = both_orders(&hooks, "s1.jsonl", text);
    assert_same_told(&hook_first, &file_first);
    for env in [hook_first, file_first] {
        let calls = rows::texts(
            &env,
            "SELECT s.native_id || ' ' || e.outcome FROM event e JOIN sighting s ON s.event = e.id
             WHERE e.kind = 'post_tool_use' GROUP BY e.id ORDER BY s.native_id",
        );
        assert_eq!(
            calls,
            [
                "toolu_0 failed",
                "toolu_1 failed",
                "toolu_2 ok",
                "toolu_3 ok",
                "toolu_4 interrupted",
                "toolu_5 ok",
                "toolu_6 ok",
                "toolu_7 ok",
                "toolu_8 running",
                "toolu_9 failed"
            ]
        );
        assert_eq!(rows::count(&env, "SELECT sum(disagrees) FROM event"), 0);
    }
}

#[test]
fn a_claim_told_by_hook_and_transcript_is_one_claim() {
    let session = Claude::typical("c1");
    let hooks = hooks_of_the_typical_session(&session);
    for env in both_orders(&hooks, "c1.jsonl", &session.text()) {
        assert_eq!(rows::count(&env, "SELECT count(DISTINCT uid) FROM claim"), 1);
    }
}

#[test]
fn hook_and_rollout_of_codex_tell_one_story_in_either_order() {
    let rollout = Codex::typical("x1");
    let tool = |event: &str, more: Value| ("codex", codex::payload("x1", event, more));
    let hooks = [
        tool("UserPromptSubmit", json!({"prompt": "run the tests"})),
        tool(
            "PostToolUse",
            json!({"tool_name": "shell_command", "tool_use_id": "call_x1_2",
                "tool_input": {"command": "cargo test"}, "tool_response": "error: test failed"}),
        ),
        tool("Stop", json!({"last_assistant_message": "All tests pass."})),
    ];
    let [hook_first, file_first] = both_orders(&hooks, "rollout-x1.jsonl", &rollout.text());
    assert_same_told(&hook_first, &file_first);
    let of = |kind: &str| {
        rows::count(&hook_first, &format!("SELECT count(*) FROM event WHERE kind = '{kind}'"))
    };
    assert_eq!((of("user_prompt_submit"), of("post_tool_use"), of("turn_end")), (1, 2, 1));
}

#[test]
fn a_hook_and_a_transcript_that_disagree_are_both_kept_in_either_order() {
    let session = Claude::typical("c1");
    let call = session.call_id(1);
    let hooks = [("claude", claude::post_tool_use_failure("c1", &call, "ls", 2))];
    let [hook_first, file_first] = both_orders(&hooks, "c1.jsonl", &session.text());
    assert_same_told(&hook_first, &file_first);
    assert_eq!(rows::count(&hook_first, "SELECT sum(disagrees) FROM event"), 1);
    // The transcript is the provider's own record; its word stands.
    assert_eq!(hook_first.sessions()[0]["failed_calls"], 1);
}

#[test]
fn two_files_of_one_session_make_the_same_rows_in_either_order() {
    let mut whole = Claude::typical("c1");
    whole.prompt("once more");
    whole.bash("cargo test", Ok("ok"));
    whole.answer("Now all tests pass.");
    let lines = whole.lines();
    // As a resumed session is: the second file repeats the end of the first.
    let parts = [("a.jsonl", lines[..6].join("\n")), ("b.jsonl", lines[3..].join("\n"))];
    let [straight, reversed] = [TestEnv::new(), TestEnv::new()];
    for (name, text) in &parts {
        straight.ingest(&straight.write(&format!("in/{name}"), text));
    }
    for (name, text) in parts.iter().rev() {
        reversed.ingest(&reversed.write(&format!("in/{name}"), text));
    }
    rows::assert_same(&comparable(&straight), &comparable(&reversed));
    assert_same_answers(&told(&straight), &told(&reversed));
    let events = rows::count(&straight, "SELECT count(*) FROM event");
    assert_eq!(events, 10);
}

/// Rows with the file's own name in the place of its path.
fn comparable(env: &TestEnv) -> Vec<String> {
    let here = env.path("").to_str().unwrap().to_owned();
    let mut rows: Vec<String> =
        rows::told(env).into_iter().map(|row| row.replace(&here, "/")).collect();
    rows.sort();
    rows
}

#[test]
fn sessions_of_both_agents_make_the_same_rows_in_either_order() {
    let files: Vec<(String, String)> = vec![
        ("c1.jsonl".to_owned(), Claude::typical("c1").text()),
        ("rollout-x1.jsonl".to_owned(), Codex::typical("x1").text()),
        ("c2.jsonl".to_owned(), Claude::typical("c2").text()),
    ];
    let [straight, reversed] = [TestEnv::new(), TestEnv::new()];
    for (name, text) in &files {
        straight.ingest(&straight.write(&format!("in/{name}"), text));
    }
    for (name, text) in files.iter().rev() {
        reversed.ingest(&reversed.write(&format!("in/{name}"), text));
    }
    rows::assert_same(&comparable(&straight), &comparable(&reversed));
    assert_same_answers(&told(&straight), &told(&reversed));
}
