//! Calls and what became of them: codes, running processes, nested commands, file changes.

use super::*;
use crate::domain::event::{Channel, NativeId, Outcome};
use serde_json::json;

/// The events about one call or nested command.
fn about<'a>(messages: &'a [Message], kind: &EventKind, id: &str) -> Vec<&'a EventDraft> {
    events_of(messages, kind).into_iter().filter(|e| e.call_id.as_deref() == Some(id)).collect()
}

#[test]
fn exit_codes_are_those_of_the_headers_and_no_others() {
    let turns = messages("turns_without_ids");
    assert_eq!(exit_codes(&turns), [("c1", 2)]);
    let paginated = messages("paginated");
    assert_eq!(
        exit_codes(&paginated),
        [("call_A", 0), ("call_A", 0), ("call_R", 1), ("call_B", 0)]
    );
    let second = messages("second_tellings");
    assert_eq!(
        exit_codes(&second),
        [("call_A", 1), ("call_A", 1), ("call_B", 0), ("call_P", 0), ("call_E", 0)]
    );
}

#[test]
fn both_tellings_of_a_code_are_one_piece_of_evidence() {
    let messages = messages("paginated");
    let codes: Vec<_> = evidence(&messages)
        .into_iter()
        .filter(|piece| piece.event_native == NativeId::call("call_A"))
        .collect();
    assert_eq!(codes.len(), 2);
    assert_eq!(codes[0].payload, codes[1].payload);
    assert_eq!(codes[0].slot, codes[1].slot);
    assert_eq!(codes[0].payload, json!({"command": "ls", "exit_code": 0}));
    assert_eq!(codes[0].path, "payload.item.exit_code");
    assert_eq!(codes[1].path, "payload.output");
    let telemetry = codes[1].extension.as_ref().unwrap();
    assert_eq!(telemetry.content_class, "tool_telemetry");
    assert_eq!(telemetry.fields["wall_time_seconds"], "0.0210");
}

#[test]
fn a_nested_command_never_attaches_to_the_script_s_call() {
    let messages = messages("code_mode");
    assert_eq!(exit_codes(&messages), [("exec-49fa", 2)]);
    let nested = about(&messages, &EventKind::PostToolUse, "exec-49fa");
    assert_eq!(nested[0].native, NativeId::new("nested", "exec-49fa"));
    assert_eq!(nested[0].outcome, Some(Outcome::Failed));
    let script = about(&messages, &EventKind::PostToolUse, "call_C");
    assert_eq!(script[0].outcome, Some(Outcome::Unknown));
    let wait = about(&messages, &EventKind::PostToolUse, "call_V");
    assert_eq!(wait[0].outcome, Some(Outcome::Failed));
    let declined = about(&messages, &EventKind::PostToolUse, "exec-no");
    assert_eq!(declined[0].outcome, Some(Outcome::Denied));
}

#[test]
fn calls_that_only_a_script_s_output_lists_are_told_once_and_without_an_outcome() {
    let mut lines = fixture("code_mode");
    let listed = json!([{"name": "exec_command", "arguments": {"cmd": "make test"}},
        {"name": "view_image", "arguments": "{\"path\":\"a.png\"}"}, {"arguments": {}}, 7]);
    lines[4]["payload"]["internal_chat_message_metadata_passthrough"] =
        json!({"cell_id": "4", "executed_tool_calls": listed});
    // The nested command stands as an item of its own: only what does not is told by the list.
    let executed = |lines: &[Value]| -> Vec<_> {
        events_of(&messages_of(lines), &EventKind::PostToolUse)
            .into_iter()
            .filter(|event| event.native.space == "executed")
            .map(|event| {
                assert_eq!(event.outcome, Some(Outcome::Unknown));
                (event.native.id.clone(), event.tool_input.clone().unwrap())
            })
            .collect()
    };
    let image = ("call_C#1".to_owned(), json!({"path": "a.png"}));
    assert_eq!(executed(&lines), std::slice::from_ref(&image));
    let _ = lines.remove(3);
    let command = ("call_C#0".to_owned(), json!({"cmd": "make test"}));
    assert_eq!(executed(&lines), [command, image]);
    assert_eq!(exit_codes(&messages_of(&lines)), []);
}

#[test]
fn a_command_of_the_person_is_no_action_of_the_agent() {
    let messages = messages("code_mode");
    let commands = events_of(&messages, &EventKind::UserCommand);
    assert_eq!(commands.len(), 1);
    assert_eq!(commands[0].outcome, Some(Outcome::Ok));
    assert_eq!(commands[0].tool_input, Some(json!({"command": ["ls"]})));
}

#[test]
fn file_changes_are_told_once_whichever_telling_comes_first() {
    for (case, expected) in [
        ("paginated", vec![("n.txt", "+hi\n")]),
        (
            "second_tellings",
            vec![("/home/dev/demo/n.txt", "@@\n-a\n+b\n"), ("old.txt", "(deleted)")],
        ),
        ("bare_lines", vec![("a.txt", "+x\n")]),
    ] {
        let messages = messages(case);
        let diffs: Vec<_> = evidence(&messages)
            .into_iter()
            .filter(|piece| piece.kind == EvidenceKind::FileDiff)
            .map(|piece| {
                assert_eq!(piece.slot, format!("diff:{}", piece.payload["path"].as_str().unwrap()));
                (piece.payload["path"].as_str().unwrap(), piece.payload["diff"].as_str().unwrap())
            })
            .collect();
        assert_eq!(diffs, expected, "{case}");
    }
}

#[test]
fn a_patch_that_the_host_took_out_of_a_shell_call_is_an_edit() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n";
    let script = format!("apply_patch <<'EOF'\n{patch}EOF");
    let call = |body: &str| {
        let arguments = json!({"cmd": script}).to_string();
        let output = format!("Wall time: 0.0000 seconds\nOutput:\n{body}\n");
        messages_of(&[
            json!({"type": "response_item", "payload": {"type": "function_call",
                "name": "exec_command", "call_id": "c", "arguments": arguments}}),
            json!({"type": "response_item", "payload": {"type": "function_call_output",
                "call_id": "c", "output": output}}),
        ])
    };
    let applied = call("Success. Updated the following files:\nA a.txt");
    assert_eq!(evidence(&applied)[0].payload, json!({"path": "a.txt", "diff": "+x\n"}));
    assert!(evidence(&call("no such file")).is_empty());
}

#[test]
fn a_second_telling_before_its_call_meets_it() {
    let event = json!({"type": "event_msg", "payload": {"type": "web_search_end",
        "call_id": "ws_1", "query": "q", "action": {"type": "search", "query": "q"}}});
    let call = json!({"type": "response_item", "payload": {"type": "web_search_call",
        "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}});
    let messages = messages_of(&[event, call]);
    let ids: Vec<_> = events(&messages).iter().map(|event| event.native.clone()).collect();
    assert_eq!(ids, [NativeId::call("ws_1"), NativeId::call("ws_1")]);
}

#[test]
fn the_host_s_word_on_an_mcp_call_reaches_the_call() {
    let paginated = messages("paginated");
    let results = about(&paginated, &EventKind::PostToolUse, "call_D");
    let said: Vec<_> = results.iter().map(|e| (e.channel, e.outcome.clone())).collect();
    assert_eq!(
        said,
        [(Channel::Projection, Some(Outcome::Ok)), (Channel::Canonical, Some(Outcome::Ok))]
    );
    assert_eq!(results[0].native, results[1].native);
    assert_eq!(results[1].tool_name.as_deref(), Some("docs_server.lookup"));
    let failed = messages("second_tellings");
    let results = about(&failed, &EventKind::PostToolUse, "call_D");
    assert!(results.iter().all(|e| e.outcome == Some(Outcome::Failed)));
}

#[test]
fn a_result_carries_the_name_and_input_of_its_call() {
    let messages = messages("second_tellings");
    let proposed = about(&messages, &EventKind::PreToolUse, "call_E");
    let result = about(&messages, &EventKind::PostToolUse, "call_E");
    assert_eq!(result[0].tool_name.as_deref(), Some("local_shell"));
    assert_eq!(result[0].tool_input, proposed[0].tool_input);
    assert_eq!(result[0].turn_id, proposed[0].turn_id);
    let found = about(&messages, &EventKind::PostToolUse, "call_F");
    assert_eq!(found[0].tool_response, Some(json!({"status": "completed", "tools": ["cal"]})));
}

#[test]
fn image_bytes_are_left_out_and_hosted_calls_are_told() {
    let messages = messages("second_tellings");
    let names: Vec<_> = events_of(&messages, &EventKind::PreToolUse)
        .into_iter()
        .filter_map(|e| e.tool_name.as_deref())
        .collect();
    assert!(names.contains(&"web_search") && names.contains(&"image_generation"));
    assert!(!serde_json::to_string(&messages).unwrap().contains("iVBORw0"));
}

#[test]
fn a_junk_name_stays_junk_and_states_no_code() {
    let messages = messages("second_tellings");
    let result = about(&messages, &EventKind::PostToolUse, "call_J");
    assert_eq!(result[0].tool_name.as_deref(), Some("shell<|channel|>"));
    assert_eq!(result[0].outcome, Some(Outcome::Unknown));
}

#[test]
fn a_call_that_waits_for_approval_stays_a_proposal() {
    let messages = messages_of(&[
        json!({"type": "response_item", "payload": {"type": "function_call",
            "name": "exec_command", "call_id": "c", "arguments": json!({"cmd": "rm -rf x",
            "sandbox_permissions": "require_escalated"}).to_string()}}),
        json!({"type": "event_msg", "payload": {"type": "exec_approval_request", "call_id": "c"}}),
        json!({"type": "event_msg", "payload": {"type": "task_complete",
            "last_agent_message": null}}),
    ]);
    assert_eq!(events_of(&messages, &EventKind::PreToolUse).len(), 1);
    assert!(events_of(&messages, &EventKind::PostToolUse).is_empty());
    assert!(evidence(&messages).is_empty());
}

#[test]
fn a_refused_command_did_not_run() {
    let messages = messages("turns_without_ids");
    let result = about(&messages, &EventKind::PostToolUse, "c2");
    assert_eq!(result[0].outcome, Some(Outcome::Denied));
}

#[test]
fn an_output_without_a_call_is_told_without_a_name() {
    let messages = messages("wrong_types");
    let results = events_of(&messages, &EventKind::PostToolUse);
    assert_eq!(results.len(), 2);
    assert!(results[1].native.is_record() && results[1].tool_name.is_none());
}

#[test]
fn a_success_stated_without_a_code_is_a_tool_result() {
    let line = |payload: serde_json::Value| json!({"type": "response_item", "payload": payload});
    let messages = messages_of(&[
        line(json!({"type": "function_call", "name": "shell", "call_id": "c",
                    "arguments": "{\"command\":[\"ls\"]}"})),
        line(json!({"type": "function_call_output", "call_id": "c",
                    "output": {"content": "a", "success": true}})),
    ]);
    let proof = evidence(&messages);
    assert_eq!(proof[0].kind, EvidenceKind::ToolResult);
    assert_eq!(
        proof[0].payload,
        json!({"summary": "shell succeeded (stated by the host, no exit code)"})
    );
}
