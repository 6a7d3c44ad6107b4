//! Hook payloads and `notify`: every event named, and the same ids as the rollout's.

use super::*;
use crate::domain::event::{Channel, NativeId, Outcome};
use crate::domain::outcome::Relation;
use serde_json::json;

const ROOT: &str = "01a1aa00-0000-7000-8000-000000000001";
const TURN: &str = "01a1aa00-0001-7000-8000-0000000000b1";

fn payload(hook: &str, more: Value) -> Value {
    let mut payload = json!({"session_id": ROOT, "turn_id": TURN, "transcript_path": null,
        "cwd": "/home/dev/demo", "hook_event_name": hook, "model": "gpt-x",
        "permission_mode": "default"});
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    payload
}

fn heard(payload: &Value) -> Vec<Message> {
    CodexFamily.hook_adapter().normalize(HINT, payload).into_messages()
}

fn only_event(payload: &Value) -> EventDraft {
    let messages = heard(payload);
    let told = events(&messages);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].channel, Channel::Hook);
    assert_eq!(told[0].raw.as_ref(), Some(payload));
    assert_eq!(told[0].observed_at, None);
    told[0].clone()
}

#[test]
fn every_hook_event_has_its_kind() {
    for (hook, kind) in [
        ("SessionStart", EventKind::SessionStart),
        ("SessionEnd", EventKind::SessionEnd),
        ("UserPromptSubmit", EventKind::UserPromptSubmit),
        ("PreToolUse", EventKind::PreToolUse),
        ("PostToolUse", EventKind::PostToolUse),
        ("PostToolUseFailure", EventKind::PostToolUse),
        ("PermissionRequest", EventKind::PermissionRequest),
        ("PostCompact", EventKind::Compaction),
        ("SubagentStart", EventKind::SubagentStart),
        ("SubagentStop", EventKind::SubagentStop),
        ("Stop", EventKind::TurnEnd),
        ("StopFailure", EventKind::TurnEnd),
        ("Interrupt", EventKind::TurnEnd),
        ("Notification", EventKind::Notification),
    ] {
        assert_eq!(only_event(&payload(hook, json!({}))).kind, kind, "{hook}");
    }
}

#[test]
fn unknown_hooks_are_named_and_compaction_about_to_begin_is_ignored() {
    let mut adapter = CodexFamily.hook_adapter();
    let unknown = adapter.normalize(HINT, &payload("Teleport", json!({})));
    assert_eq!(unknown, NormalizationOutcome::unrecognized("hook:Teleport"));
    let pre = adapter.normalize(HINT, &payload("PreCompact", json!({})));
    assert!(matches!(pre, NormalizationOutcome::Ignored { .. }));
    let none = adapter.normalize(HINT, &json!({"type": "x"}));
    assert_eq!(none, NormalizationOutcome::unrecognized("<missing hook_event_name>"));
    assert_eq!(
        adapter.normalize(HINT, &json!([1])),
        NormalizationOutcome::unrecognized("<missing hook_event_name>")
    );
}

#[test]
fn a_finished_tool_has_its_call_s_id_and_no_outcome() {
    let event = only_event(&payload(
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "",
               "tool_use_id": "call_A"}),
    ));
    assert_eq!(event.native, NativeId::call("call_A"));
    assert_eq!(event.outcome, Some(Outcome::Unknown));
    assert_eq!(event.tool_input, Some(json!({"command": "ls"})));
    assert!(
        evidence(&heard(&payload("PostToolUse", json!({"tool_response": "Exit code: 0"}))))
            .is_empty()
    );
}

#[test]
fn prompts_turn_ends_and_calls_meet_the_rollout() {
    let rollout = messages("paginated");
    let prompt = only_event(&payload("UserPromptSubmit", json!({"prompt": "list files"})));
    let stop = only_event(&payload("Stop", json!({"last_assistant_message": "done"})));
    let call = only_event(&payload("PreToolUse", json!({"tool_use_id": "call_A"})));
    let start = only_event(&payload("SessionStart", json!({"source": "startup"})));
    for hook in [prompt, stop, call, start] {
        let met = events_of(&rollout, &hook.kind)
            .into_iter()
            .any(|event| event.native == hook.native && event.conversation == hook.conversation);
        assert!(met, "{}", hook.kind);
    }
}

#[test]
fn inside_a_sub_agent_the_conversation_is_the_agent_s() {
    let payload = payload("PreToolUse", json!({"agent_id": "child-1", "tool_use_id": "c"}));
    let messages = heard(&payload);
    let event = events(&messages)[0];
    assert_eq!(
        (event.conversation.as_str(), event.agent_id.as_deref()),
        ("child-1", Some("child-1"))
    );
    let lineage = messages.iter().find_map(|message| match message {
        Message::Lineage(draft) => Some((draft.relation.clone(), draft.related.as_str())),
        _ => None,
    });
    assert_eq!(lineage, Some((Relation::Parent, ROOT)));
}

#[test]
fn a_hook_about_a_nested_command_meets_its_item() {
    let rollout = messages("code_mode");
    let hook = only_event(&payload("PostToolUse", json!({"tool_use_id": "exec-49fa"})));
    assert!(events(&rollout).iter().any(|event| event.native == hook.native));
}

#[test]
fn an_interrupt_ends_the_turn_as_interrupted() {
    let event = only_event(&payload("Interrupt", json!({})));
    assert_eq!((event.native, event.outcome), (NativeId::turn(TURN), Some(Outcome::Interrupted)));
}

#[test]
fn the_notify_argument_is_the_end_of_a_turn() {
    let event = only_event(&json!({"type": "agent-turn-complete", "thread-id": ROOT,
        "turn-id": TURN, "cwd": "/home/dev/demo", "input-messages": ["list files"],
        "last-assistant-message": "done"}));
    assert_eq!(event.conversation, ROOT);
    assert_eq!((event.native, event.text.as_deref()), (NativeId::turn(TURN), Some("done")));
    let old = only_event(&json!({"type": "agent-turn-complete", "turn-id": "7"}));
    assert_eq!(old.conversation, HINT);
}

#[test]
fn hooks_declare_that_results_of_processes_are_not_to_be_had() {
    let caps = CodexFamily.hook_adapter().probe();
    let state = caps.state_of(&crate::domain::capability::SignalClass::ProcessResult);
    assert_eq!(state.as_str(), "unavailable");
    assert!(matches!(heard(&payload("Stop", json!({})))[0], Message::Capabilities(_)));
}
