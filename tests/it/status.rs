//! `status`, `statusline`, `hook --gate`, and the findings that are kept behind them.

use crate::support::claude::Claude;
use crate::support::{Ran, TestEnv, rows};
use serde_json::{Value, json};
use std::fs;

/// Hook payloads of one turn: a test run that ends with `code`, then the words of the answer.
fn turn(env: &TestEnv, session: &str, prompt: &str, code: Option<i64>, said: &str) -> Value {
    let common = |more: Value| {
        let mut payload = json!({"session_id": session, "transcript_path": "/none.jsonl",
            "cwd": env.path("x").parent().unwrap(), "prompt_id": prompt});
        for (key, value) in more.as_object().unwrap() {
            payload[key] = value.clone();
        }
        payload
    };
    let input = json!({"command": "cargo test"});
    let call = format!("toolu_{session}_{prompt}");
    let ran = match code {
        Some(code) => json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
            "tool_input": input, "tool_use_id": call,
            "error": format!("Exit code {code}\nerror: test failed")}),
        None => json!({"hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": input, "tool_use_id": call,
            "tool_response": {"stdout": "", "stderr": "", "interrupted": false}}),
    };
    env.hook("claude", common(ran).to_string());
    common(json!({"hook_event_name": "Stop", "stop_hook_active": false,
        "last_assistant_message": said}))
}

fn gate(env: &TestEnv, payload: &Value) -> String {
    let mut command = env.command();
    command.args(["hook", "claude", "--gate"]);
    Ran::of(command, payload.to_string().as_bytes()).ok().stdout
}

#[test]
fn the_gate_blocks_a_turn_whose_claim_a_literal_exit_code_contradicts_and_only_once() {
    let env = TestEnv::new();
    let stop = turn(&env, "g", "p1", Some(101), "All tests pass.");
    let answer: Value = serde_json::from_str(&gate(&env, &stop)).unwrap();
    assert_eq!(answer["decision"], "block");
    let reason = answer["reason"].as_str().unwrap();
    for part in ["\"All tests pass.\"", "`cargo test`", "101"] {
        assert!(reason.contains(part), "{reason}");
    }
    assert_eq!(answer.as_object().unwrap().len(), 2, "hosts refuse keys that they do not know");
    assert_eq!(gate(&env, &stop), "", "at most once a turn");
    let next = turn(&env, "g", "p2", Some(101), "All tests pass.");
    assert!(gate(&env, &next).contains("block"), "the next turn has its own");
}

#[test]
fn the_gate_is_silent_when_anything_is_in_doubt() {
    let green = TestEnv::new();
    let stop = turn(&green, "g", "p1", None, "All tests pass.");
    assert_eq!(gate(&green, &stop), "");
    let env = TestEnv::new();
    let mut stop = turn(&env, "g", "p1", Some(101), "All tests pass.");
    let with = |key: &str, value: Value| {
        let mut changed = stop.clone();
        changed[key] = value;
        changed
    };
    assert_eq!(gate(&env, &with("stop_hook_active", json!(true))), "");
    assert_eq!(gate(&env, &with("stop_hook_active", json!("no"))), "");
    assert_eq!(gate(&env, &with("hook_event_name", json!("SubagentStop"))), "");
    assert_eq!(gate(&env, &with("session_id", json!("another"))), "");
    assert_eq!(gate(&env, &with("prompt_id", json!("another"))), "");
    stop["last_assistant_message"] = json!("I could not finish.");
    stop["prompt_id"] = json!("p9");
    assert_eq!(gate(&env, &stop), "", "nothing is claimed in this turn");
    let mut command = env.command();
    command.args(["hook", "claude", "--gate"]);
    Ran::of(command, b"no json").silent();
}

#[test]
fn without_the_gate_nothing_is_printed_and_no_store_is_made() {
    let env = TestEnv::new();
    let stop = turn(&env, "g", "p1", Some(101), "All tests pass.");
    env.hook("claude", stop.to_string());
    assert!(!env.store().exists());
}

#[test]
fn a_gate_without_a_store_it_can_use_lets_the_turn_end_and_keeps_the_record() {
    let env = TestEnv::new();
    let stop = turn(&env, "g", "p1", Some(101), "All tests pass.");
    fs::write(env.store(), "no store at all").unwrap();
    assert_eq!(gate(&env, &stop), "");
    fs::remove_file(env.store()).unwrap();
    assert_eq!(env.sessions()[0]["native_id"], "g");
    assert_eq!(env.run(["verify", "g", "--json"]).ok().json()["counts"]["contradicted"], 1);
}

fn recorded(env: &TestEnv, name: &str, session: &Claude) {
    env.write(&format!("in/{name}.jsonl"), session.text());
    env.ingest(&env.path("in"));
}

#[test]
fn status_tells_the_latest_session_of_the_folder_in_one_line() {
    let env = TestEnv::new();
    env.run(["status"]).one_line_error(69);
    recorded(&env, "s", &Claude::typical("s-status-1"));
    env.run(["status"]).one_line_error(69);
    let line = env.run(["status", "s-status-1"]).ok().stdout;
    assert_eq!(line, "claude_code s-status: 1 contradicted; CONTRADICTED \"All tests pass.\"\n");
    let told = env.run(["status", "s-status-1", "--json"]).ok().json();
    assert_eq!(told["counts"]["contradicted"], 1);
    assert_eq!(told["finding"]["claim"]["text"], "All tests pass.");
    let _ = turn(&env, "here", "p1", None, "");
    let here = env.run(["status", "--json"]).ok().json();
    assert_eq!(here["native_id"], "here");
    assert_eq!(here["finding"], Value::Null);
}

#[test]
fn a_verdict_that_changes_is_kept_with_what_it_was_before() {
    let env = TestEnv::new();
    let mut session = Claude::typical("s-history");
    recorded(&env, "s", &session);
    let first = env.run(["verify", "s-history", "--json"]).ok().json();
    let id = first["findings"][0]["id"].as_str().unwrap().to_owned();
    let explain = || env.run(["verify", "--explain", &id, "--json"]).ok().json();
    assert_eq!(explain()["history"].as_array().unwrap().len(), 1);
    assert_eq!(env.run(["verify", "s-history", "--json"]).ok().json(), first, "replayable");
    assert_eq!(explain()["history"].as_array().unwrap().len(), 1, "the same is not kept twice");
    // What was thought of it once is changed here by hand, as a later version would.
    let store = rows::open_to_write(&env);
    let changed = "UPDATE finding SET verdict = 'review', reason = 'work_after_run'";
    assert_eq!(store.execute(changed, []).unwrap(), 1);
    drop(store);
    let told = explain();
    let history = told["history"].as_array().unwrap();
    let verdicts: Vec<&str> = history.iter().map(|k| k["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["review", "contradicted"]);
    assert!(history[0]["replaced_at"].is_string() && history[1]["replaced_at"].is_null());
    let text = env.run(["verify", "--explain", &id]).ok().stdout;
    assert!(text.contains("review, because"), "{text}");
    // The sentence is taken back: the source is written anew without it.
    session = Claude::new("s-history");
    session.prompt("run the tests");
    recorded(&env, "s", &session);
    env.run(["verify", "s-history"]).ok();
    let standing = rows::count(&env, "SELECT count(*) FROM finding WHERE replaced_us IS NULL");
    assert_eq!(standing, 0);
}

#[test]
fn explain_leads_from_the_sentence_to_the_bytes() {
    let env = TestEnv::new();
    recorded(&env, "s", &Claude::typical("s-explain"));
    let told = env.run(["verify", "s-explain", "--json"]).ok().json();
    let claim = told["findings"][0]["claim"]["id"].as_str().unwrap().to_owned();
    let chain = env.run(["verify", "--explain", &claim, "--json"]).ok().json();
    let steps = chain["steps"].as_array().unwrap();
    assert_eq!(steps[0]["what"], "claim");
    assert!(steps[0]["text"].as_str().unwrap().contains("All tests pass."), "{chain}");
    assert_eq!(steps[1]["what"], "evidence");
    assert!(steps[1]["seen"]["locator"].is_string());
    assert!(steps[1]["text"].is_string() || steps[1]["unavailable"].is_string());
    let text = env.run(["verify", "--explain", &claim]).ok().stdout;
    for part in ["CONTRADICTED", "because", "claim", "evidence", "> All tests pass."] {
        assert!(text.contains(part), "{text}");
    }
    let unknown = "00000000-0000-5000-8000-000000000000";
    env.run(["verify", "--explain", unknown]).one_line_error(65);
}

#[test]
fn verify_takes_a_folder_and_a_span_of_time() {
    let env = TestEnv::new();
    recorded(&env, "a", &Claude::typical("s-a"));
    recorded(&env, "b", &Claude::typical("s-b"));
    let all = env.run(["verify", "--project", "/home/dev", "--json"]).ok().json();
    assert_eq!(all["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(all["counts"]["contradicted"], 2);
    let text = env.run(["verify", "--project", "/home/dev"]).ok().stdout;
    assert!(text.ends_with("2 sessions: 2 contradicted\n"), "{text}");
    env.run(["verify", "--project", "/home/dev", "--exit-code"]).fails_with(1);
    env.run(["verify", "--project", "/elsewhere"]).one_line_error(69);
    env.run(["verify", "--until", "2020-01-01"]).one_line_error(69);
    env.run(["verify", "--since", "never"]).one_line_error(64);
}

fn statusline(env: &TestEnv, args: &[&str], input: &str) -> String {
    let mut command = env.command();
    command.arg("statusline").args(args);
    command.env("PATH", "/usr/bin:/bin");
    Ran::of(command, input.as_bytes()).ok().stdout
}

#[test]
fn the_status_line_shows_kept_verdicts_and_judges_and_drains_nothing() {
    let env = TestEnv::new();
    let input = json!({"session_id": "s-line", "cwd": "/w"}).to_string();
    assert_eq!(statusline(&env, &[], &input), "fornax: no verdict yet\n");
    assert!(!env.home().exists(), "looking makes nothing");
    recorded(&env, "s", &Claude::typical("s-line"));
    assert_eq!(statusline(&env, &[], &input), "fornax: no claim yet\n");
    env.run(["verify", "s-line"]).ok();
    assert_eq!(statusline(&env, &[], &input), "fornax: 1 contradicted\n");
    for odd in ["", "{}", "no json", "[1]", "{\"session_id\": 7}"] {
        assert_eq!(statusline(&env, &[], odd), "fornax: no verdict yet\n");
    }
}

#[test]
fn a_status_line_that_was_there_before_keeps_its_place_whatever_it_does() {
    let env = TestEnv::new();
    let input = json!({"session_id": "x"}).to_string();
    let own = "fornax: no verdict yet\n";
    let chained = |command: &str| statusline(&env, &["--chain", command], &input);
    assert_eq!(chained("cat; echo ' mine'"), format!("{input} mine | {own}"));
    assert_eq!(chained("exit 3"), own);
    assert_eq!(chained("no-such-command-here"), own);
    assert_eq!(chained("printf 'two\\nlines'"), format!("two\nlines | {own}"));
}

#[test]
fn a_run_of_a_sub_agent_counts_for_its_parents_claim_and_says_whose_it_is() {
    for (result, verdict) in [
        (Ok("test result: ok. 3 passed; 0 failed"), "verified"),
        (Err((101, "error: test failed")), "contradicted"),
    ] {
        let mut child = Claude::new("a-child");
        child.prompt("run the tests");
        child.bash("cargo test", result);
        let (own, told) =
            ("\"sessionId\":\"a-child\"", "\"sessionId\":\"s-parent\",\"agentId\":\"a-child\"");
        let text = child.text().replace(own, told);
        let text = text.replace("\"isSidechain\":false", "\"isSidechain\":true");
        let mut parent = Claude::new("s-parent");
        parent.prompt("have the tests run");
        for _ in 0..3 {
            parent.bash("ls", Ok("src"));
        }
        parent.answer("All tests pass.");
        let env = TestEnv::new();
        env.write("in/s-parent.jsonl", parent.text());
        env.write("in/s-parent/subagents/agent-a-child.jsonl", text);
        env.ingest(&env.path("in"));
        let found = env.run(["verify", "s-parent", "--json"]).ok().json();
        assert_eq!(found["findings"][0]["verdict"], verdict, "{found}");
        let rationale = found["findings"][0]["rationale"].as_str().unwrap();
        assert!(rationale.contains("sub-agent a-child"), "{rationale}");
        assert!(found["findings"][0]["evidence"][0]["seen"].is_object(), "{found}");
    }
}
