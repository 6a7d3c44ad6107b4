//! Claude Code's harder shapes through the whole program: background commands, copies, edits by
//! others.

use crate::support::claude::Claude;
use crate::support::{TestEnv, rows};
use serde_json::{Value, json};

/// A session whose one test run goes on in the background; `end` is how its end is told.
fn background(end: Value, host: Option<Value>, between: &[Value]) -> TestEnv {
    let mut session = Claude::new("b");
    session.prompt("run the tests");
    let call = session.call("cargo test");
    let line = |uuid: &str, content: Value| {
        json!({"type": "user", "uuid": uuid, "sessionId": "b", "cwd": "/home/dev/demo",
            "promptId": "prompt-b-1", "timestamp": "2026-11-20T10:00:03.000Z",
            "message": {"role": "user", "content": content}})
    };
    let answered = |uuid: &str, call: &str, host: Value| {
        let block = json!([{"type": "tool_result", "tool_use_id": call, "content": "x"}]);
        let mut line = line(uuid, block);
        line["toolUseResult"] = host;
        line.to_string()
    };
    session.line(answered("u-launch", &call, json!({"stdout": "", "backgroundTaskId": "t1"})));
    for value in between {
        session.line(value.to_string());
    }
    match host {
        Some(host) => {
            session.line(
                json!({"type": "assistant", "uuid": "a-ask", "sessionId": "b",
                    "timestamp": "2026-11-20T10:00:05.000Z", "message": {"content": [
                        {"type": "tool_use", "id": "toolu_ask", "name": "TaskOutput",
                         "input": {"task_id": "t1"}}]}})
                .to_string(),
            );
            session.line(answered("u-ask", "toolu_ask", host));
        }
        None => session.line(line("u-end", end).to_string()),
    }
    session.answer("All tests pass.");
    let env = TestEnv::new();
    env.write("in/b.jsonl", session.text());
    env.ingest(&env.path("in"));
    env
}

fn finding(env: &TestEnv) -> (String, String) {
    let told = env.run(["verify", "b", "--json"]).ok().json();
    let first = &told["findings"][0];
    let word = |key: &str| first[key].as_str().unwrap().to_owned();
    (word("verdict"), word("reason"))
}

fn task(status: &str, code: i64) -> Option<Value> {
    Some(json!({"retrieval_status": "success", "task": {"task_id": "t1",
        "task_type": "local_bash", "status": status, "output": "", "exitCode": code}}))
}

#[test]
fn a_test_run_in_the_background_is_judged_by_the_code_that_was_asked_for() {
    let failed = background(Value::Null, task("failed", 101), &[]);
    assert_eq!(finding(&failed).0, "contradicted");
    let passed = background(Value::Null, task("completed", 0), &[]);
    assert_eq!(finding(&passed).0, "verified");
}

#[test]
fn the_code_of_a_notice_is_a_guess_and_decides_nothing() {
    let notice = json!(
        "<task-notification>\n<task-id>t1</task-id>\n<status>failed</status>\n\
        <summary>Background command \"t\" failed with exit code 101</summary>\n</task-notification>"
    );
    let env = background(notice, None, &[]);
    assert_eq!(finding(&env).0, "review");
    assert_eq!(env.sessions()[0]["failed_calls"], 1);
}

#[test]
fn a_test_run_that_was_never_seen_to_end_proves_nothing() {
    let env = background(json!("thanks"), None, &[]);
    assert_eq!(finding(&env), ("unverified".to_owned(), "still_running".to_owned()));
}

#[test]
fn a_file_that_others_changed_after_the_run_makes_it_stale() {
    let changed = json!({"type": "attachment", "uuid": "t-changed", "sessionId": "b",
        "timestamp": "2026-11-20T10:00:04.000Z",
        "attachment": {"type": "edited_text_file", "filename": "/home/dev/demo/src/lib.rs"}});
    let env = background(Value::Null, task("completed", 0), &[changed]);
    assert_eq!(finding(&env), ("review".to_owned(), "stale_after_edit".to_owned()));
}

#[test]
fn a_copy_made_for_a_side_question_adds_the_question_and_nothing_else() {
    let session = Claude::typical("c1");
    let alone = TestEnv::new();
    alone.write("in/c1.jsonl", session.text());
    alone.ingest(&alone.path("in"));
    let agents = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        value["isSidechain"] = json!(true);
        value["agentId"] = json!("aside_question-1");
        value["promptId"] = json!("prompt-of-the-question");
        value
    };
    let mut copy: Vec<Value> = session.lines().iter().map(|line| agents(line)).collect();
    let mut question = copy[0].clone();
    question["uuid"] = json!("q1");
    question["message"]["content"] =
        json!("<system-reminder>This is a side question from the user.</system-reminder>\n\nwhy?");
    copy.push(question);
    let text: String = copy.iter().map(|value| format!("{value}\n")).collect();
    let both = TestEnv::new();
    both.write("in/c1.jsonl", session.text());
    both.write("in/c1/subagents/agent-aside_question-1.jsonl", text);
    both.ingest(&both.path("in"));
    let counted =
        |env: &TestEnv, what: &str| rows::count(env, &format!("SELECT count(*) FROM {what}"));
    assert_eq!(counted(&both, "event"), counted(&alone, "event") + 1);
    assert_eq!(counted(&both, "claim"), counted(&alone, "claim"));
    assert_eq!(counted(&both, "evidence"), counted(&alone, "evidence"));
}

#[test]
fn a_pull_request_that_is_linked_again_and_again_is_one_event() {
    let env = TestEnv::new();
    let told = include_str!("../../fixtures/agents/claude_code/git_operations.jsonl");
    env.write("in/s1.jsonl", told);
    env.ingest(&env.path("in"));
    assert_eq!(rows::count(&env, "SELECT count(*) FROM event WHERE kind = 'pull_request'"), 1);
    let shown = env.run(["show", "s1"]).ok();
    assert!(shown.stdout.contains("pull request https://"), "{}", shown.stdout);
}
