//! The plugin's hooks: what each becomes, and that nothing is guessed.

use super::*;
use crate::domain::capability::LegacyFlags;
use crate::domain::event::{EventDraft, EventKind, Outcome};
use crate::domain::evidence::EvidenceDraft;
use crate::domain::loss::LossReason;
use crate::domain::outcome::{Message, NormalizationOutcome, Relation};
use serde_json::{Value, json};

fn read(value: &Value) -> NormalizationOutcome {
    OpenCodeFamily.hook_adapter().normalize("", value)
}

fn fixture() -> Vec<Message> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agents/opencode/stream.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let values = text.lines().map(|line| serde_json::from_str(line).unwrap());
    values.flat_map(|value| read(&value).into_messages()).collect()
}

fn after(output: Value) -> Vec<Message> {
    let input = json!({"tool": "bash", "sessionID": "s", "callID": "c", "args": {"command": "x"}});
    let payload = json!({"input": input, "output": output});
    let value = json!({"hook": "tool.execute.after", "at": "t", "payload": payload});
    read(&value).into_messages()
}

fn events(messages: &[Message]) -> Vec<&EventDraft> {
    messages.iter().filter_map(|m| if let Message::Event(e) = m { Some(e) } else { None }).collect()
}

fn evidence(messages: &[Message]) -> Vec<&EvidenceDraft> {
    messages
        .iter()
        .filter_map(|m| if let Message::Evidence(e) = m { Some(e) } else { None })
        .collect()
}

#[test]
fn a_session_is_told_event_by_event() {
    let messages = fixture();
    let told: Vec<String> = events(&messages)
        .iter()
        .map(|e| {
            let outcome = e.outcome.as_ref().map_or("-", |o| o.as_str());
            format!("{} {} {outcome} {}:{}", e.conversation, e.kind, e.native.space, e.native.id)
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    ses_a1 session_start - session:ses_a1
    ses_a1 user_prompt_submit - prompt:msg_1
    ses_a1 pre_tool_use - call:call_1
    ses_a1 post_tool_use unknown call:call_1
    ses_a1 pre_tool_use - call:call_2
    ses_a1 post_tool_use failed call:call_2
    ses_b2 session_start - session:ses_b2
    ses_b2 runtime_error failed record:
    ses_a1 compaction - record:
    ses_a1 permission_request - call:call_3
    ses_a1 turn_end - record:
    ");
}

#[test]
fn only_what_the_person_typed_is_the_prompt() {
    let messages = fixture();
    let prompt = events(&messages)[1];
    assert_eq!(prompt.text.as_deref(), Some("Please fix the rounding."));
    assert_eq!(prompt.observed_at.as_deref(), Some("2026-05-04T09:00:02.000Z"));
    let synthetic = json!({"hook": "chat.message", "payload": {"input": {"sessionID": "s"},
        "output": {"parts": [{"type": "text", "text": "x", "synthetic": true}]}}});
    let injected = read(&synthetic).into_messages();
    assert_eq!(events(&injected)[0].kind, EventKind::InjectedPrompt);
    assert_eq!(events(&injected)[0].text, None);
}

#[test]
fn a_session_states_its_folder_title_version_model_and_parent() {
    let messages = fixture();
    let facts: Vec<_> = messages
        .iter()
        .filter_map(|m| if let Message::Turn(turn) = m { Some(turn) } else { None })
        .collect();
    assert_eq!(facts[0].cwd.as_deref(), Some("/home/ada/parser"));
    assert_eq!(facts[0].title.as_deref(), Some("Fix the rounding"));
    assert_eq!(facts[0].agent_version.as_deref(), Some("1.2.3"));
    assert_eq!(facts[1].model.as_deref(), Some("acme-large"));
    let lineage: Vec<_> = messages
        .iter()
        .filter_map(|m| if let Message::Lineage(l) = m { Some(l) } else { None })
        .collect();
    assert_eq!(lineage.len(), 1);
    assert_eq!(
        (lineage[0].conversation.as_str(), lineage[0].related.as_str()),
        ("ses_b2", "ses_a1")
    );
    assert_eq!(lineage[0].relation, Relation::Parent);
}

#[test]
fn an_exit_code_is_the_literal_integer_of_the_metadata_and_nothing_else() {
    let messages = fixture();
    let found = evidence(&messages);
    let told: Vec<_> = found.iter().map(|e| (e.kind.as_str(), &e.payload)).collect();
    assert_eq!(told[0].0, "file_diff");
    assert_eq!(told[1], ("exit_code", &json!({"command": "cargo test", "exit_code": 101})));
    assert_eq!(told[2].1["observation"]["duration_ms"], 3500);
    assert_eq!(found[1].provenance, "opencode:0.1.0:tool.execute.after#metadata.exit");
    let extension = found[1].extension.as_ref().unwrap();
    assert_eq!(extension.content_class, "tool_telemetry");
    let fields = json!({"title": "cargo test", "truncated": false,
        "time": {"start": 1_777_885_205_000_i64, "end": 1_777_885_208_500_i64}});
    assert_eq!(extension.fields, fields);
    for exit in [json!("0"), json!(0.5), json!(null), json!([0])] {
        let messages = after(json!({"metadata": {"exit": exit}}));
        assert_eq!(evidence(&messages).len(), 0, "{exit}");
        assert_eq!(events(&messages)[0].outcome, Some(Outcome::Unknown), "{exit}");
    }
    let bare = after(json!({"metadata": {"exit": 0}}));
    assert_eq!(events(&bare)[0].outcome, Some(Outcome::Ok));
    assert_eq!(evidence(&bare)[0].extension, None);
}

#[test]
fn a_duration_in_another_unit_or_that_runs_backwards_is_a_loss_and_no_number() {
    let early = 1_777_885_205_000_i64;
    for (start, end) in [(1, 2), (early, early - 1), (early / 1000, early / 1000 + 3)] {
        let messages = after(json!({"time": {"start": start, "end": end}, "metadata": {}}));
        assert!(evidence(&messages).is_empty(), "{start} {end}");
        let lost = messages
            .iter()
            .any(|m| matches!(m, Message::Loss(loss) if loss.reason == LossReason::PayloadInvalid));
        assert!(lost, "{start} {end}");
    }
}

#[test]
fn what_is_known_is_ignored_and_what_is_not_leaves_its_tag_only() {
    let ignored = [
        json!({"hook": "plugin.init", "payload": {}}),
        json!({"hook": "event", "payload": {"event": {"type": "message.part.updated"}}}),
        json!({"hook": "event", "payload": {"type": "session.status"}}),
    ];
    for value in ignored {
        assert!(matches!(read(&value), NormalizationOutcome::Ignored { .. }), "{value}");
    }
    let unknown = [
        (json!({}), "<missing hook field>"),
        (json!({"hook": 7}), "<missing hook field>"),
        (json!([]), "<missing hook field>"),
        (json!({"hook": "event", "payload": {}}), "event:<missing type>"),
        (json!({"hook": "event", "payload": {"type": "session.zap"}}), "event:session.zap"),
        (json!({"hook": "teleport", "payload": {"a": 1}}), "hook:teleport"),
    ];
    for (value, tag) in unknown {
        let expected = NormalizationOutcome::Unrecognized { discriminator: tag.to_owned() };
        assert_eq!(read(&value), expected, "{value}");
    }
}

#[test]
fn both_spellings_of_a_bus_event_are_read() {
    let bare = json!({"hook": "event", "payload": {"type": "session.idle",
        "properties": {"sessionID": "s"}}});
    let messages = read(&bare).into_messages();
    assert_eq!(events(&messages)[0].kind, EventKind::TurnEnd);
    assert_eq!(events(&messages)[0].conversation, "s");
}

#[test]
fn every_wrong_type_gets_an_answer() {
    let wrong = [json!(null), json!(1), json!("x"), json!([]), json!({})];
    for hook in
        ["tool.execute.before", "tool.execute.after", "chat.message", "permission.ask", "event"]
    {
        for payload in &wrong {
            for inner in &wrong {
                read(&json!({"hook": hook, "payload": payload}));
                read(&json!({"hook": hook, "payload": {"input": inner, "output": inner,
                    "event": inner, "type": inner, "properties": inner}}));
            }
        }
    }
}

#[test]
fn the_declaration_says_what_the_hooks_cannot_show() {
    let flags = capabilities().legacy_flags();
    let expected = LegacyFlags {
        supports_pre_tool_use: true,
        supports_post_tool_use: true,
        supports_tool_response_capture: true,
        supports_session_stop_event: true,
        supports_transcript_tail: false,
        supports_subagent_lifecycle: false,
    };
    assert_eq!(flags, expected);
    assert_eq!(OpenCodeFamily.hook_input(), HookInput::Stream);
}
