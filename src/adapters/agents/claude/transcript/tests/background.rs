//! Calls that go on in the background, and the ends that are told of them.

use super::super::super::samples::{events, evidence, messages, read};
use super::super::tasks::TASKS_MAX;
use super::*;
use crate::domain::event::Channel;
use crate::domain::evidence::EvidenceDraft;

/// The outcomes that a call is given, in order, those of later tellings marked.
fn outcomes(said: &[Message], id: &str) -> Vec<String> {
    events(said)
        .into_iter()
        .filter(|e| e.kind.as_str() == "post_tool_use" && e.native.id == id)
        .map(|e| {
            let later = if e.channel == Channel::Projection { "later " } else { "" };
            format!("{later}{}", e.outcome.as_ref().unwrap())
        })
        .collect()
}

fn exits(said: &[Message], id: &str) -> Vec<(String, Value)> {
    let of = |f: &&EvidenceDraft| f.slot.starts_with("exit") && f.event_native.id == id;
    let found = evidence(said).into_iter().filter(of);
    found.map(|f| (f.slot.clone(), f.payload.clone())).collect()
}

#[test]
fn a_command_in_the_background_ends_with_the_code_that_was_asked_for() {
    let said = messages("background_tasks.jsonl");
    assert_eq!(outcomes(&said, "toolu_1"), ["running", "later failed"]);
    let payload = json!({"command": "cargo test", "exit_code": 101});
    assert_eq!(exits(&said, "toolu_1"), [("exit".to_owned(), payload)]);
    assert_eq!(outcomes(&said, "toolu_3"), ["ok"]);
}

#[test]
fn a_command_that_was_stopped_is_interrupted_and_has_no_code() {
    let said = messages("background_tasks.jsonl");
    assert_eq!(outcomes(&said, "toolu_4"), ["running", "later interrupted"]);
    assert_eq!(exits(&said, "toolu_4"), []);
}

#[test]
fn a_notice_ends_its_command_with_a_code_that_is_marked_as_a_guess() {
    let said = messages("background_tasks.jsonl");
    assert_eq!(outcomes(&said, "toolu_6"), ["running", "later ok", "later ok"]);
    let payload = json!({"command": "make all", "exit_code": 0, "heuristic": true});
    assert_eq!(exits(&said, "toolu_6"), vec![("exit:notice".to_owned(), payload); 2]);
}

#[test]
fn an_agent_in_the_background_ends_with_its_notice_and_has_no_code() {
    let said = messages("background_tasks.jsonl");
    assert_eq!(outcomes(&said, "toolu_7"), ["running", "later ok"]);
    assert_eq!(exits(&said, "toolu_7"), []);
}

#[test]
fn an_attachment_that_tells_a_tasks_status_ends_it_without_a_code() {
    let said = messages("background_tasks.jsonl");
    assert_eq!(outcomes(&said, "toolu_9"), ["running", "later failed"]);
    assert_eq!(exits(&said, "toolu_9"), []);
}

#[test]
fn a_notice_of_a_launch_that_this_file_does_not_hold_names_its_call_or_nothing() {
    let said = messages("background_tasks.jsonl");
    assert_eq!(outcomes(&said, "toolu_0"), ["later failed"]);
    let payload = json!({"command": null, "exit_code": 3, "heuristic": true});
    assert_eq!(exits(&said, "toolu_0"), [("exit:notice".to_owned(), payload)]);
    let unknown = events(&said).into_iter().filter(|e| e.turn_id.as_deref() == Some("p4"));
    let kinds: Vec<&str> = unknown.map(|e| e.kind.as_str()).take(1).collect();
    assert_eq!(kinds, ["injected_prompt"]);
}

#[test]
fn a_call_that_stepped_aside_ends_with_its_answer_or_its_notice() {
    let answer = |uuid: &str, id: &str, host: Value| {
        json!({"type": "user", "uuid": uuid, "sessionId": "s1", "message": {"content":
            [{"type": "tool_result", "tool_use_id": id, "content": "x"}]}, "toolUseResult": host})
    };
    let call = |id: &str| {
        json!({"type": "assistant", "uuid": format!("a-{id}"), "sessionId": "s1", "message": {
            "content": [{"type": "tool_use", "id": id, "name": "WebFetch",
                "input": {"url": "https://example.org/"}}]}})
    };
    let detached = || json!({"detachedToolCall": true});
    let notice = "<task-notification><task-id>w1</task-id><tool-use-id>t2</tool-use-id>\
                  <status>failed</status></task-notification>";
    let said: Vec<Message> = read(&[
        call("t1"),
        answer("u1", "t1", detached()),
        answer("u2", "t1", json!({"bytes": 9, "code": 200, "result": "short"})),
        call("t2"),
        answer("u3", "t2", detached()),
        json!({"type": "user", "uuid": "u4", "sessionId": "s1", "message": {"content": notice}}),
    ])
    .into_iter()
    .flat_map(NormalizationOutcome::into_messages)
    .collect();
    // The stand-in yields to what tells the end.
    assert_eq!(outcomes(&said, "t1"), ["later running", "ok"]);
    assert_eq!(outcomes(&said, "t2"), ["later running", "later failed"]);
    let ends = events(&said).into_iter().filter(|e| e.native.id == "t1" && e.outcome.is_some());
    assert!(ends.clone().count() > 1);
    assert!(ends.into_iter().all(|e| e.tool_name.as_deref() == Some("WebFetch")));
}

#[test]
fn what_was_never_seen_to_end_stays_running() {
    assert_eq!(outcomes(&messages("background_tasks.jsonl"), "toolu_8"), ["running"]);
}

#[test]
fn tasks_are_bounded_and_the_forgetting_is_told_once() {
    let mut values = Vec::new();
    for n in 0..TASKS_MAX + 2 {
        let id = format!("t{n}");
        values.push(json!({"type": "assistant", "uuid": format!("a{n}"), "sessionId": "s1",
            "message": {"content": [{"type": "tool_use", "id": id, "name": "Bash", "input": {}}]}}));
        values.push(json!({"type": "user", "uuid": format!("u{n}"), "sessionId": "s1",
            "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": "x"}]},
            "toolUseResult": {"backgroundTaskId": format!("b{n}")}}));
    }
    let end = |task: &str| {
        json!({"type": "user", "uuid": task, "sessionId": "s1", "message": {"content": format!(
            "<task-notification><task-id>{task}</task-id><status>failed</status>")}})
    };
    values.extend([end("b0"), end("b1025")]);
    let said: Vec<Message> =
        read(&values).into_iter().flat_map(NormalizationOutcome::into_messages).collect();
    assert_eq!(outcomes(&said, "t0"), ["running"]);
    assert_eq!(outcomes(&said, "t1025"), ["running", "later failed"]);
    assert_eq!(said.iter().filter(|m| matches!(m, Message::Loss(_))).count(), 1);
}
