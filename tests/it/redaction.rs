//! Secrets: planted wherever an agent's text can carry one, and then looked for in every byte that
//! fornax keeps or prints.
//!
//! The tokens are put together at run time, so that no scanner finds them in this file.

use crate::support::claude::{self, Claude};
use crate::support::codex::{self, Codex};
use crate::support::first_fornax::{FirstFornax, NEWEST};
use crate::support::{Ran, TestEnv};
use serde_json::json;
use std::path::Path;

/// Tokens whose own shape says that they are secrets.
fn tokens() -> Vec<(&'static str, String)> {
    let body = |n: usize| "q7Xb2KfP9sTzL4mVw8Rc".chars().cycle().take(n).collect::<String>();
    vec![
        ("GitHub", ["gh", "p_", &body(36)].concat()),
        ("Anthropic", ["sk-", "ant-", "api03-", &body(90), "AA"].concat()),
        ("OpenAI", ["sk-", "proj-", &body(64)].concat()),
        ("AWS", ["AK", "IA", "Q7XB2KFP9STZL4MV"].concat()),
        ("Slack", ["xo", "xb-", "123456789012-", &body(24)].concat()),
        ("Google", ["AI", "za", &body(35)].concat()),
    ]
}

/// Secrets that are known by what stands before them, with the text around them.
fn labelled() -> Vec<(&'static str, String, String)> {
    let secret = ["zK4v", "Qw9R", "t2Lm", "X7pB", "n5Jd"].concat();
    vec![
        ("an assignment", secret.clone(), ["DB_PASS", "WORD=", &secret].concat()),
        ("a header", secret.clone(), ["Authorization: Bea", "rer ", &secret].concat()),
        ("a URL", secret.clone(), ["https://user:", &secret, "@db.example.org/x"].concat()),
        ("JSON", secret.clone(), ["{\"api_", "key\": \"", &secret, "\"}"].concat()),
        ("a flag", secret.clone(), format!("curl -s -u me:{secret} https://db.example.org/x")),
        ("a netrc", secret.clone(), format!("machine a.example.org login me password {secret}")),
    ]
}

fn holds(bytes: &[u8], secret: &str) -> bool {
    bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
}

#[track_caller]
fn assert_clean(what: &str, folder: &Path, secret: &str) {
    for (path, bytes) in TestEnv::files_below(folder) {
        let shown = String::from_utf8_lossy(&bytes);
        let around = shown.find(secret).map(|at| {
            let from = shown[..at].char_indices().rev().nth(120).map_or(0, |(at, _)| at);
            shown[from..at].to_owned()
        });
        assert!(!holds(&bytes, secret), "{what}: {} after {around:?}", path.display());
    }
}

/// Runs every command that prints, in both forms, and looks at what it says.
#[track_caller]
fn assert_silent_about(env: &TestEnv, what: &str, secret: &str) {
    let commands: &[&[&str]] = &[
        &["sessions"],
        &["losses"],
        &["ingest", "in", "--deep"],
        &["export-spool", "--all", "--out", "legacy"],
        &["export-spool", "--all", "--wire", "full", "--out", "full"],
        &["tail", "--once", "in/c2.jsonl"],
        &["tail", "--once", "in/foreign.jsonl"],
        &["losses", "nobody"],
    ];
    for args in commands {
        for json in [false, true] {
            let mut command = env.command();
            command.args(*args);
            if json {
                command.arg("--json");
            }
            let output = command.output().unwrap();
            assert!(output.status.code().is_some_and(|code| code < 70), "{args:?}");
            for said in [&output.stdout, &output.stderr] {
                assert!(
                    !holds(said, secret),
                    "{what}: {args:?} says {}",
                    String::from_utf8_lossy(said)
                );
            }
        }
    }
    told_of_each_session(env, what, secret);
    for folder in [env.home(), env.runtime(), env.path("legacy"), env.path("full")] {
        assert_clean(what, &folder, secret);
    }
    assert!(!TestEnv::files_below(&env.path("full")).is_empty());
}

/// What the commands about one session say, and every text that can be read back.
#[track_caller]
fn told_of_each_session(env: &TestEnv, what: &str, secret: &str) {
    let mut locators = Vec::new();
    for session in env.sessions() {
        let key = session["conversation"].as_str().unwrap();
        for args in [
            &["show", key, "--full"][..],
            &["show", key, "--full", "--json"],
            &["verify", key],
            &["verify", key, "--json"],
            &["losses", key, "--json"],
            &["usage", "--session", key, "--explain"],
        ] {
            let output = env.command().args(args).output().unwrap();
            for said in [&output.stdout, &output.stderr] {
                let told = String::from_utf8_lossy(said);
                assert!(!holds(said, secret), "{what}: {args:?} says {told}");
            }
        }
        let story = env.run(["show", key, "--json"]).ok().json();
        let places = story["events"].as_array().unwrap().iter();
        locators.extend(places.flat_map(|event| {
            let seen = event["sightings"].as_array().unwrap().iter();
            seen.map(|at| at["locator"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        }));
    }
    locators.truncate(60);
    assert!(!locators.is_empty());
    for locator in locators {
        let output = env.command().args(["read", &locator]).output().unwrap();
        for said in [&output.stdout, &output.stderr] {
            let told = String::from_utf8_lossy(said);
            assert!(!holds(said, secret), "{what}: read says {told}");
        }
    }
}

fn hook_payloads(secret: &str, text: &str) -> Vec<String> {
    let post = |more| claude::payload("h1", "PostToolUse", more);
    vec![
        claude::payload(
            "h1",
            "SessionStart",
            json!({"session_title": text, "model": text,
            "cwd": format!("/w/{secret}")}),
        ),
        claude::payload("h1", "UserPromptSubmit", json!({"prompt": text, "prompt_id": "p"})),
        post(json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": text},
            "tool_response": {"stdout": text, "stderr": text}})),
        post(json!({"tool_name": "Write", "tool_use_id": "t2",
            "tool_input": {"file_path": format!("/w/{secret}"), "content": text},
            "tool_response": {"type": "create", "filePath": format!("/w/{secret}"),
                "content": text, "structuredPatch": []}})),
        claude::payload(
            "h1",
            "PostToolUseFailure",
            json!({"tool_name": "Bash",
            "tool_use_id": "t3", "tool_input": {"command": "x"},
            "error": format!("Exit code 3\n{text}")}),
        ),
        claude::payload("h1", "Notification", json!({"message": text})),
        claude::payload(
            "h1",
            "Stop",
            json!({"last_assistant_message":
            format!("All tests pass. {text}"), "prompt_id": "p"}),
        ),
        claude::payload("h1", "StopFailure", json!({"error": text, "error_details": text})),
        format!("prose that is no payload: {text}"),
        format!("{{\"hook_event_name\": \"Stop\", \"torn\": \"{secret}"),
    ]
}

/// Places where only a token by itself makes sense: names, keys, tags.
fn hook_payloads_of_names(token: &str) -> Vec<String> {
    let post = |more| claude::payload("h1", "PostToolUse", more);
    vec![
        post(json!({"tool_name": token, "tool_use_id": "t4", "tool_input": {token: "x"},
            "tool_response": {"a": {token: [token]}}})),
        claude::payload("h1", token, json!({})),
        post(json!({"tool_name": "Bash", "tool_use_id": "t5", "tool_input": {"command": "x"},
            "tool_response": {"stdout": "x"}, token: token})),
        claude::payload(
            &format!("s-{token}"),
            "PostToolUse",
            json!({"tool_name": "Bash",
            "tool_use_id": format!("toolu_s-{token}_1"), "prompt_id": token,
            "tool_input": {"command": "ls"}, "tool_response": {"stdout": "x"}}),
        ),
        claude::payload("h1", "SubagentStop", json!({"agent_id": token, "agent_type": "x"})),
    ]
}

fn transcript(id: &str, secret: &str, text: &str) -> Claude {
    let mut session = Claude::new(id);
    session.prompt(text);
    session.bash(text, Ok(text));
    session.bash("cargo test", Err((101, text)));
    session.answer(&format!("All tests pass. {text} All 12 tests pass with {secret}."));
    session.line(json!({"type": "ai-title", "aiTitle": text, "sessionId": id}).to_string());
    let edit = json!({"type": "tool_use", "id": format!("toolu_{id}_e"), "name": "Edit",
        "input": {"file_path": format!("/w/{secret}"), "old_string": "a", "new_string": text}});
    session.line(line_with(
        id,
        "assistant",
        json!({"role": "assistant", "id": "m",
        "model": "claude-demo-1", "content": [edit]}),
        json!({}),
    ));
    let result = json!({"type": "tool_result", "tool_use_id": format!("toolu_{id}_e"),
        "content": "ok"});
    session.line(line_with(
        id,
        "user",
        json!({"role": "user", "content": [result]}),
        json!({"toolUseResult": {"filePath": format!("/w/{secret}"), "oldString": "a",
            "newString": text, "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1,
                "newLines": 1, "lines": ["-a", format!("+{text}")]}]}}),
    ));
    session.line(format!("{{\"torn line\": \"{secret}"));
    session.line(format!("no JSON {text}"));
    session
}

fn line_with(id: &str, kind: &str, message: serde_json::Value, more: serde_json::Value) -> String {
    let mut line = json!({"type": kind, "uuid": format!("{id}-{}", message["role"]),
        "timestamp": "2026-11-20T10:20:00.000Z", "sessionId": id, "cwd": "/w",
        "version": "2.1.300", "message": message});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line.to_string()
}

/// A transcript whose names, tags and facts are tokens.
fn transcript_of_names(id: &str, token: &str) -> Claude {
    let mut session = Claude::new(id);
    session.prompt("begin");
    let mut facts = json!({"cwd": format!("/w/{token}"), "gitBranch": token, "version": token});
    facts["promptId"] = json!("p2");
    session.line(line_with(id, "user", json!({"role": "user", "content": "hello"}), facts));
    let call = json!({"type": "tool_use", "id": "t", "name": token, "input": {token: token}});
    session.line(line_with(
        id,
        "assistant",
        json!({"role": "assistant", "id": "m",
        "model": token, "content": [call, {"type": token, "x": token}],
        "usage": {"input_tokens": 1, "output_tokens": 1}}),
        json!({}),
    ));
    session.line(json!({"type": token, "sessionId": id, "content": token}).to_string());
    session.line(
        json!({"type": "system", "subtype": token, "uuid": "s", "sessionId": id,
        "content": token})
        .to_string(),
    );
    session.line(
        json!({"type": "attachment", "uuid": "a", "sessionId": id,
        "attachment": {"type": token, "content": token}})
        .to_string(),
    );
    session
}

fn rollout(secret: &str, text: &str) -> Codex {
    let mut rollout = Codex::new("x1");
    rollout.prompt(text);
    rollout.shell(text, 0, text);
    rollout.shell("cargo test", 101, text);
    let patch = format!("*** Begin Patch\n*** Add File: {secret}.txt\n+{text}\n*** End Patch\n");
    rollout.item(json!({"type": "custom_tool_call", "call_id": "patch", "name": "apply_patch",
        "input": patch}));
    rollout.item(json!({"type": "custom_tool_call_output", "call_id": "patch",
        "output": format!("Exit code: 0\nWall time: 0 seconds\nOutput:\nA {secret}.txt\n")}));
    rollout.event(json!({"type": "error", "message": text}));
    rollout.event(json!({"type": "thread_name_updated", "thread_id": "x1", "thread_name": text}));
    rollout.answer(&format!("All tests pass. {text}"));
    rollout
}

fn rollout_of_names(token: &str) -> Codex {
    let mut rollout = Codex::new("x2");
    rollout.item(json!({"type": token, "content": token}));
    rollout.event(json!({"type": token, "message": token}));
    rollout.line(token, json!({"a": token}));
    rollout.line("turn_context", json!({"cwd": format!("/w/{token}"), "model": token}));
    rollout.item(json!({"type": "function_call", "name": token, "call_id": "n",
        "arguments": json!({token: token}).to_string()}));
    rollout.item(json!({"type": "function_call_output", "call_id": "n", "output": token}));
    rollout
}

/// Plants a secret everywhere, and looks for it everywhere, before and after the drain.
#[track_caller]
fn plant_and_look(what: &str, secret: &str, text: &str, names: bool) -> TestEnv {
    let env = TestEnv::new();
    let mut payloads = hook_payloads(secret, text);
    if names {
        payloads.extend(hook_payloads_of_names(secret));
    }
    for payload in &payloads {
        env.hook("claude", payload);
    }
    let more = json!({"prompt": text});
    env.hook("codex", codex::payload("h2", "UserPromptSubmit", more));
    let notice = json!({"type": "agent-turn-complete", "thread-id": "h3", "turn-id": "u",
        "input-messages": [text], "last-assistant-message": text});
    env.run(["hook", "codex", &notice.to_string()]).silent();
    assert_clean(what, &env.home(), secret);
    env.write("in/c1.jsonl", transcript("c1", secret, text).text());
    env.write("in/c2.jsonl", transcript("c2", secret, text).text());
    env.write("in/rollout-x1.jsonl", rollout(secret, text).text());
    env.write("in/foreign.jsonl", format!("{{\"other\":\"{secret}\"}}\n"));
    if names {
        env.write("in/c3.jsonl", transcript_of_names("c3", secret).text());
        env.write("in/rollout-x2.jsonl", rollout_of_names(secret).text());
        // Ids, and the names of the files themselves.
        env.write(&format!("in/{secret}.jsonl"), Claude::typical(&format!("s-{secret}")).text());
        let rollout = Codex::typical(&format!("x-{secret}"));
        env.write(&format!("in/rollout-{secret}.jsonl"), rollout.text());
    }
    let mut command = env.command();
    command.args(["tail", "--once", "--json", "in/c2.jsonl"]);
    let told = Ran::of(command, b"").fails_with(0);
    assert!(!told.stdout.contains(secret), "{what}: tail tells it");
    assert_silent_about(&env, what, secret);
    assert!(env.sessions().len() >= 5);
    env
}

#[test]
fn a_token_is_nowhere_in_what_is_kept_or_printed() {
    let tokens = tokens();
    // The first is a name, a key, a tag and a path too; the others stand in every text.
    let (_, first) = &tokens[0];
    plant_and_look("the first", first, &format!("use {first} for it"), true);
    for few in tokens[1..].chunks(3) {
        let text: String = few.iter().map(|(what, token)| format!("{what}: {token}\n")).collect();
        let env = plant_and_look("the first of a few", &few[0].1, &text, false);
        for (what, token) in few {
            for folder in [env.home(), env.path("legacy"), env.path("full")] {
                assert_clean(what, &folder, token);
            }
        }
    }
}

#[test]
fn ids_that_hold_a_token_still_join_what_they_joined_and_are_counted() {
    let (_, token) = tokens().remove(0);
    let env = TestEnv::new();
    let session = format!("s-{token}");
    let call = format!("toolu_{session}_1");
    env.hook("claude", claude::post_tool_use(&session, &call, "ls", "Cargo.toml\nsrc\n"));
    env.write(&format!("in/{token}.jsonl"), Claude::typical(&session).text());
    env.ingest(&env.path("in"));
    assert_eq!(env.sessions().len(), 1);
    let story = env.run(["show", "s-", "--json"]).ok().json();
    let met = story["events"].as_array().unwrap().iter().filter(|event| {
        event["kind"] == "post_tool_use" && event["sightings"].as_array().unwrap().len() == 2
    });
    assert_eq!(met.count(), 1);
    assert!(env.lost("identifier_redacted") > 0);
    // A second run finds the file again under its name.
    let again = env.ingest(&env.path("in"));
    assert_eq!((&again["stored"]["inserted"], &again["missing"]), (&json!(0), &json!(0)));
    assert_clean("an id", &env.home(), &token);
}

#[test]
fn what_is_imported_and_what_third_parties_send_is_clean_too() {
    let (_, token) = tokens().remove(0);
    for text in [token.clone(), format!("run with {token} now")] {
        let env = TestEnv::new();
        let path = env.path("fornax.db");
        let mut database = FirstFornax::new(&path, NEWEST);
        let raw = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "cwd": text,
            "tool_use_id": token, "tool_input": {"command": text, token.as_str(): text},
            "tool_response": {"stdout": text, "stderr": text}});
        let event = database.event("s1", "claude_code", "post_tool_use", &raw);
        let payload = json!({"command": text, "exit_code": 0, "status": text});
        let exit = database.evidence("s1", &event, "exit_code", &payload);
        let claim = database.claim("s1", &event, &text);
        database.finding(&claim, "verified", &[&exit]);
        database.event(&format!("s-{token}"), "codex", "notification", &json!({"x": text}));
        database.event("s2", &token, "notification", &json!({"x": text}));
        let run = |sql: &str, value: &str| database.conn.execute(sql, [value]).unwrap();
        run("UPDATE findings SET rationale = ?1, verifier_name = ?1", &text);
        run("UPDATE evidence SET provenance = ?1", &text);
        run("INSERT INTO ingest_quarantine VALUES ('q', 't', ?1, ?1, ?1)", &text);
        drop(database);
        env.ingest(&path);
        let record = |kind: &str, more: serde_json::Value| {
            let mut record = json!({"type": kind, "session_id": "m1", "provider": "acme"});
            record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            format!("{record}\n")
        };
        let id = "11111111-1111-4111-8111-111111111111";
        let at = "2026-03-01T10:00:00Z";
        let messages = [
            record(
                "event",
                json!({"id": id, "kind": "post_tool_use", "observed_at": at,
                "tool_name": token, "tool_input": text, "text": text, "raw": {"a": text}}),
            ),
            record("event", json!({"id": id, "kind": token, "observed_at": at})),
            record(
                "event",
                json!({"id": id, "kind": "post_tool_use", "observed_at": at,
                "call_id": text, "turn_id": token}),
            ),
            record(
                "event",
                json!({"session_id": token, "id": id, "kind": "notification",
                "observed_at": at}),
            ),
            record(
                "claim",
                json!({"id": id, "source_event_id": id, "text": text,
                "subject": "test_result", "claimed_at": at}),
            ),
            record(
                "claim",
                json!({"id": id, "source_event_id": id, "text": text, "subject": token,
                "turn_id": token, "claimed_at": at}),
            ),
            record(
                "lineage",
                json!({"relation": token, "related":
                format!("conversation:acme:local:{token}")}),
            ),
            record(&token, json!({"x": text})),
            record("event", json!({"id": token, token.as_str(): text})),
            record("turn", json!({"fact": "cwd", "value": text})),
            record("loss", json!({"reason": token, "detail": text, "path": text})),
            record("loss", json!({"reason": "elsewhere", "detail": text, "path": text})),
        ];
        let mut command = env.command();
        command.args(["ingest", "--messages", "-", "--json"]);
        let told = Ran::of(command, messages.concat().as_bytes()).ok();
        assert!(!told.stdout.contains(&token), "{}", told.stdout);
        for args in [["losses", "--json"], ["sessions", "--json"], ["losses", "--color=never"]] {
            let output = env.command().args(args).output().unwrap();
            assert!(!holds(&output.stdout, &token) && !holds(&output.stderr, &token), "{args:?}");
        }
        told_of_each_session(&env, "an import", &token);
        assert_clean("an import", &env.home(), &token);
    }
}

#[test]
fn a_secret_known_by_its_label_is_nowhere_in_what_is_kept_or_printed() {
    for (what, secret, text) in labelled() {
        let env = TestEnv::new();
        env.hook(
            "claude",
            claude::payload("h1", "UserPromptSubmit", json!({"prompt": text, "prompt_id": "p"})),
        );
        env.hook("claude", claude::post_tool_use("h1", "t1", &text, &text));
        assert_clean(what, &env.home(), &secret);
        let mut session = Claude::new("c2");
        session.prompt(&text);
        session.bash(&text, Ok(&text));
        session.answer(&text);
        env.write("in/c2.jsonl", session.text());
        let mut rollout = Codex::new("x1");
        rollout.prompt(&text);
        rollout.shell(&text, 0, &text);
        env.write("in/rollout-x1.jsonl", rollout.text());
        env.write("in/foreign.jsonl", "{\"other\":1}\n");
        env.ingest(&env.path("in"));
        assert_silent_about(&env, what, &secret);
    }
}

#[test]
fn a_token_at_the_place_of_a_cut_leaves_not_even_its_half() {
    let (_, token) = tokens().remove(0);
    // Long texts keep 12 KiB of their head and 4 KiB of their tail.
    for at in [12_288 - 20, 12_288 - 8, 12_288 - 30, 60_000 - 4_096 - 20, 60_000 - 4_096 - 34] {
        let mut text = "word ".repeat(12_000);
        text.replace_range(at..at + token.len() + 2, &format!(" {token} "));
        let env = TestEnv::new();
        env.hook("claude", claude::post_tool_use("h1", "t1", "x", &text));
        for half in [&token[..18], &token[token.len() - 18..]] {
            assert_clean(&format!("half of it at {at}"), &env.home(), half);
        }
        let mut session = Claude::new("c1");
        session.bash("x", Ok(&text));
        env.write("in/c1.jsonl", session.text());
        env.ingest(&env.path("in"));
        for half in [&token[..18], &token[token.len() - 18..]] {
            assert_clean(&format!("half of it at {at}"), &env.home(), half);
        }
    }
}

#[test]
fn what_is_no_secret_stays_readable() {
    let env = TestEnv::new();
    let harmless = "git show 4f2a9c1d7e8b6a5f4e3d2c1b0a9f8e7d6c5b4a39 -- src/main.rs && make test";
    let mut session = Claude::new("c1");
    session.prompt(harmless);
    env.write("in/c1.jsonl", session.text());
    env.ingest(&env.path("in"));
    let kept = crate::support::rows::texts(&env, "SELECT text FROM sighting");
    assert_eq!(kept, [harmless]);
}
