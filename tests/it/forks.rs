//! Forks whose file repeats the history of their origin, each line under the fork's own id.

use crate::support::claude::{Claude, post_tool_use_failure};
use crate::support::{TestEnv, rows};
use serde_json::Value;

const ORIGIN: &str = "5c1d2f0a-0000-4000-8000-0000000000a1";
const FORK: &str = "5c1d2f0a-0000-4000-8000-0000000000b2";
const SECOND_FORK: &str = "5c1d2f0a-0000-4000-8000-0000000000c3";

/// A home that read these sessions in this order, each file at a path of its own.
fn read(sessions: &[&Claude]) -> TestEnv {
    let env = TestEnv::new();
    for session in sessions {
        add(&env, session);
    }
    env
}

fn add(env: &TestEnv, session: &Claude) {
    let first: Value = serde_json::from_str(&session.lines()[0]).unwrap();
    let name = format!("in/{}.jsonl", first["sessionId"].as_str().unwrap());
    env.ingest(&env.write(&name, session.text()));
}

fn session(env: &TestEnv, id: &str) -> Value {
    env.sessions().into_iter().find(|session| session["native_id"] == id).unwrap()
}

/// What the store answers of every session: counts, times, relations, events, evidence, findings, use.
fn answers(env: &TestEnv) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for session in env.sessions() {
        let id = session["native_id"].as_str().unwrap();
        let show = env.run(["show", id, "--json"]).ok().json();
        let verify = env.run(["verify", id, "--json"]).ok().json();
        let (events, evidence) = (&show["events"], &show["evidence"]);
        told.push(format!("{session}\n{events}\n{evidence}\n{}", verify["findings"]));
    }
    told.sort();
    told.push(env.run(["usage", "--by", "session", "--json"]).ok().json().to_string());
    // The name of the folder is not what is compared.
    let folder = env.home().parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    told.into_iter().map(|line| line.replace(&folder, "")).collect()
}

#[track_caller]
fn same(left: &[String], right: &[String]) {
    for (left, right) in left.iter().zip(right) {
        let at = left.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
        let near = |text: &str| {
            text[at.saturating_sub(80).min(text.len())..].chars().take(160).collect::<String>()
        };
        assert!(left == right, "{}\n{}", near(left), near(right));
    }
    assert_eq!(left.len(), right.len());
}

/// A session and one that went on from its end.
fn pair() -> (Claude, Claude) {
    let origin = Claude::typical(ORIGIN);
    let mut fork = origin.fork(FORK, origin.lines().len(), 60);
    fork.prompt("now the documentation");
    fork.bash("make doc", Err((2, "no rule")));
    (origin, fork)
}

fn counts(env: &TestEnv, id: &str) -> (i64, i64, i64) {
    let row = session(env, id);
    let of = |name: &str| row[name].as_i64().unwrap();
    (of("events"), of("failed_calls"), of("prompts"))
}

#[test]
fn what_a_fork_copied_counts_for_its_origin_alone_whichever_is_read_first() {
    let (origin, fork) = pair();
    let alone = read(&[&origin]);
    let env = read(&[&origin, &fork]);
    assert_eq!(counts(&env, ORIGIN), counts(&alone, ORIGIN));
    assert_eq!(counts(&env, FORK), (3, 1, 1));
    let row = session(&env, FORK);
    assert_eq!(row["forked_from"], session(&env, ORIGIN)["conversation"]);
    assert_eq!(session(&env, ORIGIN)["forked_from"], Value::Null);
    assert_eq!(row["first_prompt"], "now the documentation");
    same(&answers(&env), &answers(&read(&[&fork, &origin])));
}

#[test]
fn claims_evidence_and_hits_of_a_copy_are_told_once() {
    let (origin, fork) = pair();
    let env = read(&[&fork, &origin]);
    let findings = |id: &str| {
        env.run(["verify", id, "--json"]).ok().json()["findings"].as_array().map_or(0, Vec::len)
    };
    assert_eq!((findings(ORIGIN), findings(FORK)), (1, 0));
    let hits = env.run(["search", "error: test failed", "--json"]).ok().json();
    assert_eq!(hits["results"].as_array().unwrap().len(), 1, "{hits}");
    let told = env.run(["show", FORK, "--json"]).ok().json();
    assert_eq!(told["evidence"].as_array().map_or(1, Vec::len), 1, "{told}");
}

#[test]
fn tokens_of_copied_answers_are_the_origins() {
    let (origin, fork) = pair();
    for order in [[&origin, &fork], [&fork, &origin]] {
        let env = read(&order);
        let usage = env.run(["usage", "--by", "session", "--json"]).ok().json();
        let output = |id: &str| {
            let all = usage["rows"].as_array().unwrap();
            let row = all.iter().find(|row| row["key"].as_str().unwrap().ends_with(id)).unwrap();
            row["output"].as_i64().unwrap()
        };
        assert_eq!((output(ORIGIN), output(FORK)), (63, 21), "{usage}");
    }
}

#[test]
fn a_copy_without_its_origin_is_the_conversations_own() {
    let (origin, fork) = pair();
    let env = read(&[&fork]);
    let (events, failed, prompts) = counts(&read(&[&origin]), ORIGIN);
    assert_eq!(counts(&env, FORK), (events + 3, failed + 1, prompts + 1));
    assert_eq!(session(&env, FORK)["forked_from"], Value::Null);
}

#[test]
fn files_that_grow_by_turns_give_what_they_give_at_rest() {
    let (origin, fork) = pair();
    let env = TestEnv::new();
    let part = |of: &Claude, id: &str, lines: usize| {
        let mut text = of.lines()[..lines].join("\n");
        text.push('\n');
        env.ingest(&env.write(&format!("in/{id}.jsonl"), text));
    };
    part(&fork, FORK, 2);
    part(&origin, ORIGIN, 3);
    part(&fork, FORK, 5);
    part(&origin, ORIGIN, origin.lines().len());
    for lines in 6..=fork.lines().len() {
        part(&fork, FORK, lines);
    }
    same(&answers(&env), &answers(&read(&[&origin, &fork])));
}

#[test]
fn a_fork_of_a_fork_names_the_nearest_and_the_first_keeps_what_it_did() {
    let (origin, fork) = pair();
    let mut second = fork.fork(SECOND_FORK, fork.lines().len(), 60);
    second.prompt("and the changelog");
    let env = read(&[&second, &origin, &fork]);
    assert_eq!(counts(&env, ORIGIN), counts(&read(&[&origin]), ORIGIN));
    assert_eq!(counts(&env, FORK), (3, 1, 1));
    assert_eq!(counts(&env, SECOND_FORK), (1, 0, 1));
    let key = |id: &str| session(&env, id)["conversation"].clone();
    assert_eq!(session(&env, SECOND_FORK)["forked_from"], key(FORK));
    assert_eq!(session(&env, FORK)["forked_from"], key(ORIGIN));
    for order in [[&origin, &fork, &second], [&fork, &second, &origin]] {
        same(&answers(&env), &answers(&read(&order)));
    }
}

#[test]
fn a_session_that_goes_on_beside_its_fork_keeps_what_it_told_first() {
    let start = Claude::typical(ORIGIN);
    let copied = start.lines().len();
    let mut origin = start.fork(ORIGIN, copied, 5);
    origin.prompt("go on here");
    let mut fork = start.fork(FORK, copied, 60);
    fork.prompt("go on there");
    let env = read(&[&fork, &origin]);
    assert_eq!(counts(&env, FORK), (1, 0, 1));
    assert_eq!(session(&env, ORIGIN)["forked_from"], Value::Null);
    same(&answers(&env), &answers(&read(&[&origin, &fork])));
}

#[test]
fn what_a_hook_saw_happened_in_the_session_that_the_hook_names() {
    let start = Claude::typical(ORIGIN);
    let copied = start.lines().len();
    let mut origin = start.fork(ORIGIN, copied, 600);
    origin.prompt("go on here, late");
    let mut fork = start.fork(FORK, copied, 60);
    fork.prompt("go on there");
    for hook_first in [true, false] {
        let env = TestEnv::new();
        let hook = post_tool_use_failure(ORIGIN, &start.call_id(2), "cargo test", 101);
        if hook_first {
            env.hook("claude", &hook);
        }
        add(&env, &fork);
        add(&env, &origin);
        if !hook_first {
            env.hook("claude", &hook);
        }
        assert_eq!(counts(&env, FORK), (1, 0, 1), "hook first: {hook_first}");
        assert_eq!(session(&env, ORIGIN)["failed_calls"], 1);
    }
}

#[test]
fn a_sub_agent_of_the_origin_is_left_alone() {
    let (origin, fork) = pair();
    let agent = Claude::typical(ORIGIN).text().lines().fold(String::new(), |text, line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["isSidechain"] = true.into();
        line["agentId"] = "a1b2c3".into();
        line["uuid"] = format!("agent-{}", line["uuid"].as_str().unwrap()).into();
        format!("{text}{line}\n")
    });
    let env = read(&[&fork]);
    env.ingest(&env.write("in/agent-a1b2c3.jsonl", agent));
    let before = counts(&env, "a1b2c3");
    add(&env, &origin);
    assert_eq!(counts(&env, "a1b2c3"), before);
    let marked = "SELECT count(DISTINCT conversation) FROM copied";
    assert_eq!(rows::count(&env, marked), 1);
}

#[test]
fn when_the_origins_file_holds_something_else_the_copy_is_the_forks_own_again() {
    let (origin, fork) = pair();
    let env = read(&[&origin, &fork]);
    let other = Claude::typical("5c1d2f0a-0000-4000-8000-0000000000d4");
    env.ingest(&env.write(&format!("in/{ORIGIN}.jsonl"), other.text()));
    assert_eq!(counts(&env, FORK), counts(&read(&[&fork]), FORK));
    assert_eq!(session(&env, FORK)["forked_from"], Value::Null);
}

#[test]
fn a_fork_after_a_compaction_begins_at_the_boundary() {
    let mut origin = Claude::typical(ORIGIN);
    let before = origin.lines().len();
    let mut boundary: Value = serde_json::from_str(&origin.lines()[before - 1]).unwrap();
    boundary["type"] = "system".into();
    boundary["subtype"] = "compact_boundary".into();
    boundary["uuid"] = "boundary-1".into();
    boundary["compactMetadata"] = serde_json::json!({"trigger": "auto", "preTokens": 10});
    origin.line(boundary.to_string());
    origin.prompt("after the compaction");
    let whole = origin.fork(FORK, origin.lines().len(), 60);
    let mut fork = Claude::new(FORK);
    for line in &whole.lines()[before..] {
        fork.line(line.clone());
    }
    let env = read(&[&fork, &origin]);
    assert_eq!(counts(&env, FORK), (0, 0, 0));
    assert_eq!(session(&env, FORK)["forked_from"], session(&env, ORIGIN)["conversation"]);
}

#[test]
fn when_the_origin_is_forgotten_its_forks_tell_what_they_copied() {
    let (origin, fork) = pair();
    let env = read(&[&origin, &fork]);
    let (events, failed, prompts) = counts(&env, FORK);
    env.run(["forget", "--session", ORIGIN, "--yes"]).ok();
    let after = counts(&env, FORK);
    assert!(after.0 > events && after.2 > prompts && after.1 >= failed, "{after:?}");
    assert_eq!(after, counts(&read(&[&fork]), FORK));
}
