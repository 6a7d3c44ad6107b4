//! Every hook event that Claude Code documents, and payloads that break its rules.

use super::super::samples::{brief, events, evidence, fixture, hook};
use super::*;
use proptest::prelude::*;
use serde_json::json;

/// What each of the 34 events becomes; a `!` stands for ignored.
const EXPECTED: [(&str, &str); 34] = [
    ("SessionStart", "session_start - record:"),
    ("Setup", "!"),
    ("UserPromptSubmit", "user_prompt_submit - prompt:p1"),
    ("UserPromptExpansion", "!"),
    ("PreToolUse", "pre_tool_use - call:toolu_01A"),
    ("PermissionRequest", "permission_request - record:"),
    ("PermissionDenied", "permission_denied denied call:toolu_01R"),
    ("PostToolUse", "post_tool_use ok call:toolu_01A"),
    ("PostToolUseFailure", "post_tool_use failed call:toolu_01B"),
    ("PostToolBatch", "post_tool_use - call:toolu_01C"),
    ("Notification", "notification - record:"),
    ("MessageDisplay", "!"),
    ("SubagentStart", "subagent_start - agent:a1b2c3"),
    ("SubagentStop", "subagent_stop - agent:a1b2c3"),
    ("TaskCreated", "task_created - record:"),
    ("TaskCompleted", "task_completed - record:"),
    ("TeammateIdle", "!"),
    ("Stop", "turn_end ok turn:p1"),
    ("StopFailure", "runtime_error failed record:"),
    ("PreCompact", "!"),
    ("PostCompact", "compaction - record:"),
    ("SessionEnd", "session_end - record:"),
    ("InstructionsLoaded", "!"),
    ("ConfigChange", "!"),
    ("CwdChanged", "cwd_changed - record:"),
    ("DirectoryAdded", "!"),
    ("FileChanged", "!"),
    ("WorktreeCreate", "!"),
    ("WorktreeRemove", "!"),
    ("Elicitation", "!"),
    ("ElicitationResult", "!"),
    ("PreModelSwitch", "!"),
    ("PostModelSwitch", "model_changed - record:"),
    ("PreSkillShellCommand", "!"),
];

fn said(payload: &Value) -> Vec<Message> {
    hook(payload).into_messages()
}

fn of(name: &str) -> Value {
    fixture("hooks.jsonl").into_iter().find(|p| p["hook_event_name"] == name).unwrap()
}

fn variant(id: &str) -> Value {
    fixture("hooks_variants.jsonl").into_iter().find(|p| p["tool_use_id"] == id).unwrap()
}

#[test]
fn a_notice_that_names_its_call_ends_it_and_another_one_does_not() {
    let notice = |call: &str| {
        json!({"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt_id": "p2",
            "prompt": format!("<task-notification>\n<task-id>b1</task-id>\n{call}\
                <status>failed</status>\n<summary>Background command \"x\" failed with exit code \
                2</summary>\n</task-notification>")})
    };
    let told = said(&notice("<tool-use-id>toolu_1</tool-use-id>\n"));
    let briefs: Vec<String> = events(&told).into_iter().map(brief).collect();
    assert_eq!(briefs, ["injected_prompt - prompt:p2", "post_tool_use failed call:toolu_1"]);
    assert_eq!(events(&told)[1].channel, Channel::Projection);
    assert_eq!(
        evidence(&told)[0].payload,
        json!({"command": null, "exit_code": 2, "heuristic": true})
    );
    assert_eq!(events(&said(&notice(""))).len(), 1);
}

#[test]
fn the_end_of_the_hosts_own_helper_is_no_sub_agents_and_claims_nothing() {
    let mut payload = of("SubagentStop");
    assert_eq!(events(&said(&payload)).len(), 1);
    payload["agent_type"] = json!("");
    assert!(matches!(hook(&payload), NormalizationOutcome::Ignored { .. }));
}

#[test]
fn a_start_says_whether_it_resumes_or_forks_and_an_end_why() {
    let mut start = of("SessionStart");
    for how in ["startup", "resume", "compact", "fork"] {
        start["source"] = json!(how);
        assert_eq!(events(&said(&start))[0].text.as_deref(), Some(how));
    }
    let mut end = of("SessionEnd");
    end["reason"] = json!("clear");
    assert_eq!(events(&said(&end))[0].text.as_deref(), Some("clear"));
}

#[test]
fn a_prompt_after_what_the_editor_shows_is_the_persons() {
    let told = said(&json!({"session_id": "s1", "hook_event_name": "UserPromptSubmit",
        "prompt_id": "p1", "prompt": "<ide_opened_file>a.rs</ide_opened_file>\nwhy?"}));
    assert_eq!(brief(events(&told)[0]), "user_prompt_submit - prompt:p1");
    assert_eq!(events(&told)[0].text.as_deref(), Some("why?"));
}

#[test]
fn every_event_of_the_list_has_its_kind_or_is_ignored() {
    let payloads = fixture("hooks.jsonl");
    let got: Vec<(String, String)> = payloads
        .iter()
        .map(|payload| {
            let became = match hook(payload) {
                NormalizationOutcome::Ignored { .. } => "!".to_owned(),
                NormalizationOutcome::Messages(said) => brief(events(&said)[0]),
                other => format!("{other:?}"),
            };
            (payload["hook_event_name"].as_str().unwrap().to_owned(), became)
        })
        .collect();
    let expected: Vec<(String, String)> =
        EXPECTED.iter().map(|(name, became)| ((*name).to_owned(), (*became).to_owned())).collect();
    assert_eq!(got, expected);
}

#[test]
fn declaration_and_facts_come_first_then_the_event_then_its_evidence() {
    let said = said(&of("PostToolUse"));
    assert!(matches!(
        said.as_slice(),
        [Message::Capabilities(_), Message::Turn(_), Message::Event(_), Message::Evidence(_)]
    ));
}

#[test]
fn an_event_keeps_the_whole_payload_and_has_no_time() {
    let payload = of("PreToolUse");
    let said = said(&payload);
    let event = events(&said)[0];
    assert_eq!(event.raw.as_ref(), Some(&payload));
    assert_eq!(event.observed_at, None);
    assert_eq!(event.channel, Channel::Hook);
    assert_eq!(event.turn_id.as_deref(), Some("p1"));
    assert_eq!(event.call_id.as_deref(), Some("toolu_01A"));
    assert_eq!(event.tool_input, Some(json!({"command": "cargo test"})));
}

#[test]
fn a_failed_command_has_the_code_of_its_first_line_and_of_no_other() {
    let said = said(&of("PostToolUseFailure"));
    let found = evidence(&said);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].payload, json!({"command": "cargo clippy", "exit_code": 101}));
    assert_eq!(found[0].slot, "exit");
    assert_eq!(found[0].path, "error");
    assert_eq!(found[0].provenance, "claude_code:0.3.0:PostToolUseFailure:Bash#exit_code");
    assert_eq!(found[0].event_native, NativeId::call("toolu_01B"));
}

#[test]
fn a_stated_success_is_a_result_without_a_number() {
    let said = said(&of("PostToolUse"));
    let found = evidence(&said)[0];
    assert_eq!(
        found.payload,
        json!({"summary": "Bash succeeded (stated by the host, no exit code)"})
    );
    assert_eq!((found.slot.as_str(), found.path.as_str()), ("result", "tool_response"));
}

#[test]
fn what_is_no_plain_success_leaves_no_evidence() {
    for (id, outcome) in [
        ("toolu_02B", "ok"),
        ("toolu_02C", "running"),
        ("toolu_02E", "unknown"),
        ("toolu_02F", "running"),
        ("toolu_02G", "ok"),
        ("toolu_02H", "interrupted"),
        ("toolu_02I", "failed"),
    ] {
        let said = said(&variant(id));
        assert_eq!(evidence(&said), Vec::<&crate::domain::evidence::EvidenceDraft>::new(), "{id}");
        assert_eq!(events(&said)[0].outcome.as_ref().unwrap().as_str(), outcome, "{id}");
    }
}

#[test]
fn an_edit_leaves_its_patch_as_evidence_and_not_the_original_file() {
    let said = said(&variant("toolu_02D"));
    let found = evidence(&said)[0];
    assert_eq!(found.payload, json!({"path": "/w/a.rs", "diff": "@@ -1,1 +1,1 @@\n-x=1\n+x=2\n"}));
    assert_eq!(found.slot, "diff:/w/a.rs");
    assert_eq!(found.path, "tool_response.structuredPatch");
    assert!(events(&said)[0].tool_response.as_ref().unwrap().get("originalFile").is_none());
}

#[test]
fn a_payload_from_a_sub_agent_belongs_to_the_agent_whose_parent_is_the_session() {
    let said = said(&variant("toolu_02A"));
    let event = events(&said)[0];
    assert_eq!(event.conversation, "a1b2c3");
    assert_eq!(event.agent_id.as_deref(), Some("a1b2c3"));
    assert!(said.iter().any(|message| matches!(message, Message::Lineage(lineage)
        if lineage.related == "s1" && lineage.relation == Relation::Parent
            && lineage.conversation == "a1b2c3")));
}

#[test]
fn an_empty_agent_id_is_the_session_itself() {
    let payload = json!({"hook_event_name": "Notification", "session_id": "s1", "agent_id": "",
        "agent_type": ""});
    let said = said(&payload);
    assert_eq!(events(&said)[0].conversation, "s1");
    assert!(events(&said)[0].native.is_record());
}

#[test]
fn a_notification_of_the_host_is_no_human_prompt() {
    let payload = &fixture("hooks_variants.jsonl")[0];
    let said = said(payload);
    assert_eq!(brief(events(&said)[0]), "injected_prompt - prompt:p2");
}

#[test]
fn a_payload_of_2025_without_a_call_id_is_its_own_record() {
    let payload = fixture("hooks_variants.jsonl").into_iter().nth(10).unwrap();
    let said = said(&payload);
    let event = events(&said)[0];
    assert!(event.native.is_record());
    assert_eq!(event.call_id, None);
    assert_eq!(evidence(&said)[0].slot, "result");
}

#[test]
fn a_batch_is_a_sighting_of_each_call_with_an_id() {
    let said = said(&of("PostToolBatch"));
    let seen = events(&said);
    assert_eq!(seen.len(), 2);
    for event in seen {
        assert_eq!(event.channel, Channel::Projection);
        assert_eq!((&event.outcome, &event.tool_response), (&None, &None));
    }
    assert!(evidence(&said).is_empty());
    let empty = json!({"hook_event_name": "PostToolBatch", "session_id": "s1"});
    assert!(matches!(hook(&empty), NormalizationOutcome::Ignored { .. }));
}

#[test]
fn the_start_of_a_session_tells_its_facts() {
    let said = said(&of("SessionStart"));
    let fact = said.iter().find_map(|m| if let Message::Turn(t) = m { Some(t) } else { None });
    let fact = fact.unwrap();
    assert_eq!(fact.cwd.as_deref(), Some("/w"));
    assert_eq!(fact.model.as_deref(), Some("claude-demo-1"));
    assert_eq!(fact.title.as_deref(), Some("demo"));
}

#[test]
fn texts_are_those_that_people_and_agents_wrote() {
    for (name, expected) in [
        ("UserPromptSubmit", "add a test"),
        ("Stop", "done"),
        ("SubagentStop", "found it"),
        ("Notification", "waiting for you"),
        ("StopFailure", "API Error: limited"),
        ("CwdChanged", "/w/sub"),
        ("TaskCreated", "write docs"),
        ("PermissionDenied", "too dangerous"),
        ("PostModelSwitch", "claude-demo-2"),
    ] {
        let said = said(&of(name));
        assert_eq!(events(&said)[0].text.as_deref(), Some(expected), "{name}");
    }
}

#[test]
fn an_unknown_event_is_told_by_its_name_only() {
    let payload = fixture("hooks_variants.jsonl").pop().unwrap();
    assert_eq!(hook(&payload), NormalizationOutcome::unrecognized("hook:SomeFutureEventV2"));
}

#[test]
fn a_payload_without_a_name_is_unrecognised() {
    for payload in [
        json!({}),
        json!({"hook_event_name": ""}),
        json!({"hook_event_name": 7}),
        json!(null),
        json!([1]),
        json!("x"),
    ] {
        let expected = NormalizationOutcome::unrecognized("<missing hook_event_name>");
        assert_eq!(hook(&payload), expected, "{payload}");
    }
}

#[test]
fn the_hint_names_the_conversation_only_where_the_payload_does_not() {
    let nameless = json!({"hook_event_name": "Stop"});
    assert_eq!(events(&said(&nameless))[0].conversation, "hint");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        Just(json!("Exit code 3")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(inner, 0..6).prop_map(|values| {
                const KEYS: [&str; 6] =
                    ["type", "stdout", "filePath", "structuredPatch", "lines", "content"];
                KEYS.iter().zip(values).map(|(k, v)| ((*k).to_owned(), v)).collect()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn wrong_types_anywhere_never_panic_and_never_make_a_code(
        which in 0..34usize, fields in prop::collection::vec(any_json(), 8),
    ) {
        const KEYS: [&str; 8] = ["session_id", "agent_id", "prompt_id", "tool_name", "tool_input",
            "tool_response", "tool_use_id", "tool_calls"];
        let mut payload = json!({"hook_event_name": EXPECTED[which].0});
        for (key, value) in KEYS.iter().zip(fields) {
            payload[*key] = value;
        }
        let said = said(&payload);
        prop_assert!(evidence(&said).iter().all(|found| found.slot != "exit"));
    }
}
