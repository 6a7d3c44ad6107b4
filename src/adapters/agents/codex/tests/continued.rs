//! Calls that ended in the output of another call.

use super::*;
use crate::domain::event::{Channel, NativeId, Outcome};
use serde_json::json;

/// (channel, outcome) of the results of one call, in order.
fn results(messages: &[Message], id: &str) -> Vec<(Channel, Outcome)> {
    events_of(messages, &EventKind::PostToolUse)
        .into_iter()
        .filter(|event| event.call_id.as_deref() == Some(id))
        .map(|event| (event.channel, event.outcome.clone().unwrap()))
        .collect()
}

#[test]
fn a_process_ends_under_the_id_of_the_call_that_began_it() {
    let messages = messages("continued_calls");
    assert_eq!(
        results(&messages, "call_R"),
        [(Channel::Projection, Outcome::Running), (Channel::Canonical, Outcome::Failed)]
    );
    let end = events_of(&messages, &EventKind::PostToolUse)
        .into_iter()
        .rfind(|event| event.call_id.as_deref() == Some("call_R"))
        .unwrap();
    assert_eq!(end.native, NativeId::call("call_R"));
    assert_eq!(end.tool_name.as_deref(), Some("exec_command"));
    // The result belongs to the turn in which it came.
    assert_eq!(end.turn_id.as_deref(), Some("01a1aa00-0002-7000-8000-0000000000c2"));
    let code = evidence(&messages)
        .into_iter()
        .find(|piece| piece.event_native == NativeId::call("call_R"))
        .unwrap();
    assert_eq!(code.payload, json!({"command": "make test", "exit_code": 1}));
    assert_eq!(code.observed_at.as_deref(), Some("2026-08-02T09:15:12.000Z"));
}

#[test]
fn the_call_that_saw_the_end_of_another_s_process_did_not_fail_itself() {
    let messages = messages("continued_calls");
    assert_eq!(results(&messages, "call_W"), [(Channel::Canonical, Outcome::Running)]);
    assert_eq!(results(&messages, "call_X"), [(Channel::Canonical, Outcome::Unknown)]);
    assert_eq!(exit_codes(&messages), [("call_R", 1), ("call_Y", 3)]);
}

#[test]
fn a_write_that_failed_leaves_its_process_running() {
    let messages = messages("continued_calls");
    assert_eq!(results(&messages, "call_Q"), [(Channel::Canonical, Outcome::Failed)]);
    assert_eq!(results(&messages, "call_S"), [(Channel::Projection, Outcome::Running)]);
}

#[test]
fn a_script_ends_under_the_id_of_the_call_that_began_it() {
    let messages = messages("continued_calls");
    assert_eq!(
        results(&messages, "call_C"),
        [(Channel::Projection, Outcome::Running), (Channel::Canonical, Outcome::Failed)]
    );
    assert_eq!(results(&messages, "call_V"), [(Channel::Canonical, Outcome::Running)]);
    assert_eq!(results(&messages, "call_Z"), [(Channel::Canonical, Outcome::Unknown)]);
}
