//! Line types, facts, bounds and broken shapes.

use super::super::super::samples::{briefs, fixture, messages, read};
use super::super::state::{INPUT_STRING_MAX, OPEN_BYTES_MAX, OPEN_CALLS_MAX};
use super::*;

fn call(id: &str) -> Value {
    json!({"type": "assistant", "uuid": format!("a-{id}"), "sessionId": "s1",
        "message": {"role": "assistant", "content":
            [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": id}}]}})
}

fn end(id: &str) -> Value {
    json!({"type": "user", "uuid": format!("u-{id}"), "sessionId": "s1", "message": {"role": "user",
        "content": [{"type": "tool_result", "tool_use_id": id, "content": "x"}]}})
}

fn one(value: Value) -> NormalizationOutcome {
    read(&[value]).remove(0)
}

#[test]
fn known_metadata_is_ignored_by_name_and_only_new_types_stand_out() {
    let told: Vec<String> = read(&fixture("metadata_lines.jsonl"))
        .into_iter()
        .map(|answer| match answer {
            NormalizationOutcome::Messages(said) => format!("{} messages", said.len()),
            NormalizationOutcome::Ignored { reason } => format!("!{reason}"),
            NormalizationOutcome::Unrecognized { discriminator } => format!("?{discriminator}"),
        })
        .collect();
    assert_eq!(
        told,
        [
            "!file history of the host",
            "2 messages",
            "!title told before",
            "1 messages",
            "!title told before",
            "!copy of the last prompt",
            "!setting of the session",
            "2 messages",
            "!running cost of the session",
            "!bookkeeping of the host",
            "2 messages",
            "!progress",
            "!copy of a sub-agent line",
            "?line:brand-new-line",
        ]
    );
}

#[test]
fn a_title_is_told_when_it_changes_and_the_persons_own_stays() {
    let titles: Vec<String> = messages("metadata_lines.jsonl")
        .into_iter()
        .filter_map(|m| if let Message::Turn(turn) = m { turn.title } else { None })
        .collect();
    assert_eq!(titles, ["Add a test", "my title"]);
}

#[test]
fn a_forked_agents_first_line_names_its_origin() {
    let lineage: Vec<_> = messages("metadata_lines.jsonl")
        .into_iter()
        .filter_map(|m| if let Message::Lineage(l) = m { Some(l) } else { None })
        .collect();
    assert_eq!(lineage.len(), 1);
    assert_eq!((lineage[0].conversation.as_str(), lineage[0].related.as_str()), ("a1b2c5", "s1"));
    assert_eq!(lineage[0].relation, Relation::Fork);
}

#[test]
fn a_session_that_went_on_in_the_background_is_the_origin_of_its_copy() {
    let line = json!({"type": "continued-in", "sessionId": "s1", "continuedInSessionId": "s2"});
    let said: Vec<Message> = read(&[line.clone(), line])
        .into_iter()
        .flat_map(NormalizationOutcome::into_messages)
        .collect();
    let lineage: Vec<_> = said
        .iter()
        .filter_map(|m| if let Message::Lineage(l) = m { Some(l) } else { None })
        .map(|l| (l.conversation.as_str(), l.relation.as_str(), l.related.as_str()))
        .collect();
    assert_eq!(lineage, [("s2", "fork", "s1")]);
    assert!(events(&said).is_empty());
    for nameless in [
        json!({"type": "continued-in", "sessionId": "s1"}),
        json!({"type": "continued-in", "sessionId": "s1", "continuedInSessionId": 7}),
        json!({"type": "continued-in", "continuedInSessionId": "s2"}),
    ] {
        assert!(matches!(one(nameless), NormalizationOutcome::Ignored { .. }));
    }
}

#[test]
fn an_unknown_attachment_is_told_by_its_type_only() {
    let answers = read(&fixture("prompts_typed_queued_and_injected.jsonl"));
    let unknown: Vec<_> = answers
        .iter()
        .filter(|answer| matches!(answer, NormalizationOutcome::Unrecognized { .. }))
        .collect();
    assert_eq!(unknown, [&NormalizationOutcome::unrecognized("attachment:brand_new_thing")]);
}

#[test]
fn an_unknown_block_costs_itself_and_not_its_line() {
    let answer = one(json!({"type": "assistant", "uuid": "a1", "sessionId": "s1", "message":
        {"role": "assistant", "content": [{"type": "hologram", "secret": "x"},
            {"type": "text", "text": "seen"}]}}));
    let said = answer.into_messages();
    assert_eq!(briefs(&said), ["assistant_message - line:a1#1"]);
    assert!(said.iter().any(|m| matches!(m, Message::Loss(l)
        if l.detail == "assistant_block:hologram" && l.path == "message.content[0]")));
    assert!(!format!("{said:?}").contains("secret"));
}

#[test]
fn the_declaration_is_told_once_and_facts_when_they_change() {
    let line = |uuid: &str, cwd: &str| {
        json!({"type": "user", "uuid": uuid, "sessionId": "s1", "cwd": cwd, "version": "2.1.300",
            "gitBranch": "main", "message": {"role": "user", "content": "x"}})
    };
    let answers = read(&[line("u1", "/w"), line("u2", "/w"), line("u3", "/w/sub")]);
    let shape: Vec<Vec<&str>> = answers
        .into_iter()
        .map(|answer| {
            let said = answer.into_messages();
            said.iter()
                .map(|m| match m {
                    Message::Capabilities(_) => "capabilities",
                    Message::Turn(turn) if turn.agent_version.is_some() => "all facts",
                    Message::Turn(_) => "some facts",
                    _ => "event",
                })
                .collect()
        })
        .collect();
    assert_eq!(
        shape,
        [vec!["event", "capabilities", "all facts"], vec!["event"], vec!["event", "some facts"]]
    );
}

#[test]
fn the_number_of_a_message_in_its_line_depends_on_that_line_alone() {
    let line = |uuid: &str| {
        json!({"type": "assistant", "uuid": uuid, "sessionId": "s1", "cwd": "/w", "message":
            {"role": "assistant", "model": "m", "content":
                [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}})
    };
    for answer in read(&[line("a1"), line("a2")]) {
        let said = answer.into_messages();
        assert!(matches!(said[0], Message::Event(_)) && matches!(said[1], Message::Event(_)));
    }
}

#[test]
fn a_synthetic_model_is_no_model() {
    let answer = one(json!({"type": "assistant", "uuid": "a1", "sessionId": "s1", "message":
        {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "x"}],
         "usage": {"output_tokens": 0}}}));
    let said = answer.into_messages();
    assert!(!said.iter().any(|m| matches!(m, Message::Event(_))));
    assert!(said.iter().any(|m| matches!(m, Message::Usage(u)
        if u.standing == Standing::Synthetic && u.model.is_none())));
}

#[test]
fn a_tool_that_the_api_ran_is_a_call_with_its_result() {
    let said = one(json!({"type": "assistant", "uuid": "a1", "sessionId": "s1", "message":
        {"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}},
            {"type": "web_search_tool_result", "tool_use_id": "srv_1",
             "content": [{"title": "T", "encrypted_content": "zzz"}]}]}}))
    .into_messages();
    assert_eq!(briefs(&said), ["pre_tool_use - call:srv_1", "post_tool_use ok call:srv_1"]);
    assert!(!format!("{said:?}").contains("zzz"));
}

#[test]
fn old_input_in_a_string_is_read_as_an_object() {
    let said = one(json!({"type": "assistant", "uuid": "a1", "sessionId": "s1", "message":
        {"content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": "{\"command\":\"ls\"}"}]}}))
    .into_messages();
    assert_eq!(events(&said)[0].tool_input, Some(json!({"command": "ls"})));
}

#[test]
fn the_question_agents_are_marked_as_copies_of_their_session() {
    let said = one(json!({"type": "user", "uuid": "u1", "sessionId": "s1", "isSidechain": true,
        "agentId": "acompact-12", "message": {"role": "user", "content": "x"}}))
    .into_messages();
    let relations: Vec<&str> = said
        .iter()
        .filter_map(|m| if let Message::Lineage(l) = m { Some(l.relation.as_str()) } else { None })
        .collect();
    assert_eq!(relations, ["parent", "fork"]);
}

#[test]
fn several_results_on_one_line_do_not_share_the_hosts_object() {
    let mut line = end("t1");
    line["message"]["content"] = json!([
        {"type": "tool_result", "tool_use_id": "t1", "content": "one"},
        {"type": "tool_result", "tool_use_id": "t2", "content": "two"}]);
    line["toolUseResult"] = json!({"stdout": "whose?", "interrupted": true});
    let said = read(&[call("t1"), call("t2"), line]).pop().unwrap().into_messages();
    let responses: Vec<_> =
        events(&said).iter().map(|e| e.tool_response.clone().unwrap()).collect();
    assert_eq!(responses, [json!("one"), json!("two")]);
    assert_eq!(slots(&said), [("t1", "result"), ("t2", "result")]);
}

#[test]
fn open_calls_are_bounded_and_the_forgetting_is_told_once() {
    let mut adapter = ClaudeTranscript::default();
    let mut losses = 0;
    for n in 0..OPEN_CALLS_MAX * 2 {
        let said = adapter.normalize("hint", &call(&format!("t{n:06}"))).into_messages();
        losses += said.iter().filter(|m| matches!(m, Message::Loss(_))).count();
    }
    assert_eq!(losses, 1);
    let newest = format!("t{:06}", OPEN_CALLS_MAX * 2 - 1);
    let said = adapter.normalize("hint", &end(&newest)).into_messages();
    assert_eq!(events(&said)[0].tool_name.as_deref(), Some("Bash"));
    let said = adapter.normalize("hint", &end("t000000")).into_messages();
    assert_eq!(events(&said)[0].tool_name, None);
}

#[test]
fn large_open_calls_are_bounded_by_their_weight() {
    let mut adapter = ClaudeTranscript::default();
    let text = "x".repeat(INPUT_STRING_MAX);
    let many = OPEN_BYTES_MAX / INPUT_STRING_MAX * 2;
    for n in 0..many {
        let mut line = call(&format!("t{n}"));
        line["message"]["content"][0]["input"]["content"] = json!(text);
        let _ = adapter.normalize("hint", &line);
    }
    assert!(adapter.snapshot().to_string().len() < OPEN_BYTES_MAX + OPEN_BYTES_MAX / 8);
    let said = adapter.normalize("hint", &end(&format!("t{}", many - 1))).into_messages();
    assert_eq!(events(&said)[0].tool_name.as_deref(), Some("Bash"));
}

#[test]
fn answers_that_were_taken_back_are_told_and_a_refusal_without_any_is_not() {
    let mut line = json!({"type": "system", "subtype": "model_refusal_fallback", "uuid": "y1",
        "sessionId": "s1", "content": "another model answers", "retractedMessageUuids": ["a1"]});
    let said = one(line.clone()).into_messages();
    assert_eq!(briefs(&said), ["rolled_back - line:y1#0"]);
    line["retractedMessageUuids"] = json!([]);
    assert!(matches!(one(line), NormalizationOutcome::Ignored { .. }));
}

#[test]
fn an_answer_that_was_cut_off_is_interrupted() {
    let mut line = json!({"type": "assistant", "uuid": "a1", "sessionId": "s1",
        "message": {"content": [{"type": "text", "text": "All te"}]}});
    assert_eq!(briefs(&one(line.clone()).into_messages()), ["assistant_message - line:a1#0"]);
    line["isAbortedMidStream"] = json!(true);
    let said = one(line).into_messages();
    assert_eq!(briefs(&said), ["assistant_message interrupted line:a1#0"]);
}

#[test]
fn a_notice_of_2025_without_a_subtype_is_known() {
    let line =
        json!({"type": "system", "uuid": "y", "sessionId": "s1", "content": "limit reached"});
    assert!(matches!(one(line), NormalizationOutcome::Ignored { .. }));
}

#[test]
fn a_huge_text_of_an_open_call_is_not_kept_in_the_state() {
    let mut line = call("t1");
    line["message"]["content"][0]["input"] =
        json!({"command": "c", "content": "x".repeat(INPUT_STRING_MAX + 1)});
    let mut adapter = ClaudeTranscript::default();
    let said = adapter.normalize("hint", &line).into_messages();
    assert!(events(&said)[0].tool_input.as_ref().unwrap().get("content").is_some());
    assert!(adapter.snapshot().to_string().len() < 4096);
    let said = adapter.normalize("hint", &end("t1")).into_messages();
    assert_eq!(events(&said)[0].tool_input, Some(json!({"command": "c"})));
}

#[test]
fn a_snapshot_of_another_version_is_refused() {
    let mut adapter = ClaudeTranscript::default();
    let mut other = adapter.snapshot();
    other["version"] = json!(999);
    assert!(!adapter.restore(&other));
    assert!(!adapter.restore(&json!("x")));
    assert!(adapter.restore(&Value::Null));
}

#[test]
fn a_missing_essential_is_unrecognised_and_names_what_is_missing() {
    for (value, tag) in [
        (json!(null), "<missing type>"),
        (json!({"type": 7}), "<missing type>"),
        (json!({"type": "user", "uuid": "u"}), "user:<missing message>"),
        (json!({"type": "assistant", "message": null}), "assistant:<missing message>"),
        (json!({"type": "system"}), "system:<missing subtype>"),
        (json!({"type": "system", "subtype": "new_one"}), "system:new_one"),
        (json!({"type": "attachment"}), "attachment:<missing type>"),
    ] {
        assert_eq!(one(value), NormalizationOutcome::unrecognized(tag), "{tag}");
    }
}

fn broken(value: &Value, picks: &mut std::vec::IntoIter<u8>) -> Value {
    match picks.next() {
        Some(0) => Value::Null,
        Some(1) => json!(-1.5),
        Some(2) => json!("Exit code 3"),
        Some(3) => json!([[]]),
        Some(4) => json!({"type": {}}),
        _ => match value {
            Value::Array(items) => items.iter().map(|v| broken(v, picks)).collect(),
            Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), broken(v, picks))).collect(),
            other => other.clone(),
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn values_broken_anywhere_never_panic(
        values in shuffled(), picks in prop::collection::vec(0u8..40, 0..400),
    ) {
        let mut picks = picks.into_iter();
        let broken: Vec<Value> = values.iter().map(|v| broken(v, &mut picks)).collect();
        let answers = read(&broken);
        prop_assert_eq!(answers.len(), broken.len());
        for answer in answers {
            if let NormalizationOutcome::Messages(said) = answer {
                prop_assert!(!said.is_empty());
            }
        }
    }
}
