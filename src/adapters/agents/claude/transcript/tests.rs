//! Transcript lines of every kind: turns, calls, usage, facts, relations.

use super::super::samples::{
    briefs, events, evidence, fixture, messages, read, transcripts, usage,
};
use super::*;
use crate::domain::event::{EventDraft, NativeId};
use crate::domain::usage::{Floor, Standing, TokenCounts};
use proptest::prelude::*;
use serde_json::json;

mod around;
mod background;
mod copies;
mod lines;

fn codes(messages: &[Message]) -> Vec<(String, i64)> {
    let coded = evidence(messages).into_iter().filter(|found| found.slot == "exit");
    coded.map(|f| (f.event_native.id.clone(), f.payload["exit_code"].as_i64().unwrap())).collect()
}

fn slots(messages: &[Message]) -> Vec<(&str, &str)> {
    evidence(messages).iter().map(|f| (f.event_native.id.as_str(), f.slot.as_str())).collect()
}

fn call_end<'a>(messages: &'a [Message], id: &str) -> &'a EventDraft {
    let ends = |event: &&&EventDraft| event.kind.as_str() == "post_tool_use";
    events(messages).iter().filter(ends).find(|event| event.native.id == id).copied().unwrap()
}

#[test]
fn an_old_session_with_a_rejected_call_and_an_interrupt() {
    let said = messages("old_session_rejected_and_interrupted.jsonl");
    assert_eq!(
        briefs(&said),
        [
            "user_prompt_submit - line:u1#0",
            "pre_tool_use - call:toolu_1",
            "post_tool_use ok call:toolu_1",
            "assistant_message - line:a2#0",
            "pre_tool_use - call:toolu_2",
            "post_tool_use denied call:toolu_2",
            "injected_prompt interrupted line:u4#0",
        ]
    );
    assert!(evidence(&said).is_empty());
    assert!(events(&said).iter().skip(1).all(|event| event.turn_id.as_deref() == Some("u1")));
}

#[test]
fn a_failure_of_an_old_build_has_no_code_even_where_the_command_prints_one() {
    let said = messages("old_failed_bash_without_code.jsonl");
    assert_eq!(codes(&said), []);
    assert_eq!(call_end(&said, "toolu_1").outcome.as_ref().unwrap().as_str(), "failed");
    assert_eq!(call_end(&said, "toolu_2").outcome.as_ref().unwrap().as_str(), "failed");
    assert_eq!(call_end(&said, "toolu_3").outcome.as_ref().unwrap().as_str(), "running");
}

#[test]
fn exit_codes_come_from_the_header_of_a_shell_failure_and_from_nothing_else() {
    let said = messages("failed_bash_exit_code.jsonl");
    assert_eq!(codes(&said), [("toolu_1".to_owned(), 101), ("toolu_gone".to_owned(), 2)]);
    assert_eq!(slots(&said), [("toolu_1", "exit"), ("toolu_2", "result"), ("toolu_gone", "exit")]);
    let found = evidence(&said);
    assert_eq!(found[0].payload, json!({"command": "cargo test", "exit_code": 101}));
    assert_eq!(found[0].path, "message.content[0].content");
    assert_eq!(found[0].provenance, "claude_code:0.3.0:transcript:Bash#exit_code");
    assert!(found[0].observed_at.is_some());
    assert_eq!(found[2].payload, json!({"command": null, "exit_code": 2}));
}

#[test]
fn the_end_of_a_turn_meets_the_stop_hook_by_prompt_id() {
    let said = messages("failed_bash_exit_code.jsonl");
    assert_eq!(briefs(&said).last().unwrap(), "turn_end ok turn:p1");
    assert_eq!(briefs(&said)[0], "user_prompt_submit - prompt:p1");
}

#[test]
fn a_cancelled_sibling_is_interrupted_and_a_rejected_call_denied() {
    let said = messages("parallel_sibling_cancelled.jsonl");
    let outcome = |id: &str| call_end(&said, id).outcome.clone().unwrap().as_str().to_owned();
    assert_eq!(outcome("toolu_1"), "failed");
    assert_eq!(outcome("toolu_2"), "interrupted");
    assert_eq!(outcome("toolu_3"), "interrupted");
    assert_eq!(outcome("toolu_4"), "denied");
    assert_eq!(outcome("toolu_5"), "interrupted");
    assert_eq!(codes(&said), [("toolu_1".to_owned(), 1), ("toolu_5".to_owned(), 137)]);
}

#[test]
fn a_result_carries_its_calls_name_and_input() {
    let said = messages("parallel_sibling_cancelled.jsonl");
    let end = call_end(&said, "toolu_3");
    assert_eq!(end.tool_name.as_deref(), Some("Read"));
    assert_eq!(end.tool_input, Some(json!({"file_path": "/w/a"})));
    assert_eq!(end.call_id.as_deref(), Some("toolu_3"));
}

#[test]
fn a_compaction_is_one_event_and_its_summary_no_prompt() {
    let answers = read(&fixture("compaction.jsonl"));
    let kinds: Vec<String> = answers
        .iter()
        .map(|answer| match answer {
            NormalizationOutcome::Messages(said) => briefs(said).join(","),
            NormalizationOutcome::Ignored { reason } => format!("!{reason}"),
            NormalizationOutcome::Unrecognized { discriminator } => discriminator.clone(),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "user_prompt_submit - prompt:p1",
            "!system: microcompact_boundary",
            "compaction - line:c1#0",
            "!summary of compacted history",
            "assistant_message - line:a1#0",
        ]
    );
}

#[test]
fn two_objects_on_one_line_are_a_call_and_its_result() {
    let said = messages("two_objects_on_one_line.jsonl");
    assert_eq!(slots(&said), [("toolu_1", "result")]);
}

#[test]
fn an_agent_is_finished_when_it_answers_and_running_from_its_launch_to_its_notice() {
    let said = messages("agents_sync_and_async.jsonl");
    assert_eq!(
        briefs(&said),
        [
            "user_prompt_submit - prompt:p1",
            "pre_tool_use - call:toolu_1",
            "post_tool_use ok call:toolu_1",
            "pre_tool_use - call:toolu_2",
            "post_tool_use running call:toolu_2",
            "injected_prompt - prompt:p2",
            "post_tool_use ok call:toolu_2",
            "assistant_message - line:a3#0",
            "turn_end ok turn:p2",
        ]
    );
    // The agent's own tokens are counted from its file, not from this object.
    assert_eq!(usage(&said).len(), 3);
    assert!(evidence(&said).is_empty());
}

#[test]
fn a_list_of_an_mcp_tool_is_its_response_without_the_image() {
    let said = messages("mcp_result_list.jsonl");
    let response = call_end(&said, "toolu_1").tool_response.clone().unwrap();
    assert_eq!(response[0], json!({"type": "text", "text": "a picture"}));
    assert!(!response.to_string().contains("AAAA"));
    assert_eq!(call_end(&said, "toolu_2").outcome.as_ref().unwrap().as_str(), "failed");
}

#[test]
fn both_blocks_of_an_early_line_are_told() {
    let said = messages("cost_usd_two_blocks_0_2.jsonl");
    assert_eq!(
        briefs(&said),
        [
            "user_prompt_submit - line:u1#0",
            "assistant_message - line:a1#0",
            "pre_tool_use - call:toolu_1",
            "post_tool_use ok call:toolu_1",
        ]
    );
    assert_eq!(usage(&said).len(), 1);
}

#[test]
fn a_spread_message_is_a_loss_without_its_content() {
    let said = messages("spread_message_and_torn_tail.jsonl");
    let losses: Vec<_> =
        said.iter().filter_map(|m| if let Message::Loss(l) = m { Some(l) } else { None }).collect();
    assert_eq!(losses.len(), 1);
    assert_eq!(losses[0].detail, "assistant:<spread string>");
    assert_eq!(
        briefs(&said),
        ["user_prompt_submit - prompt:hello"].map(|_| "user_prompt_submit - line:u1#0")
    );
}

#[test]
fn a_sub_agents_file_is_a_conversation_of_its_own() {
    let said = messages("subagent.jsonl");
    assert!(events(&said).iter().all(|e| e.conversation == "a1b2c3"));
    assert!(events(&said).iter().all(|e| e.agent_id.as_deref() == Some("a1b2c3")));
    let parents: Vec<_> = said.iter().filter(|m| matches!(m, Message::Lineage(_))).collect();
    assert_eq!(parents.len(), 1);
    assert!(matches!(parents[0], Message::Lineage(l) if l.related == "s1"));
    assert_eq!(briefs(&said)[0], "injected_prompt - line:su1#0");
}

#[test]
fn a_result_without_the_hosts_object_is_told_by_its_text() {
    let said = messages("subagent.jsonl");
    assert_eq!(
        slots(&said),
        [("toolu_1", "result"), ("toolu_2", "exit"), ("toolu_3", "diff:/w/n")]
    );
    assert_eq!(codes(&said), [("toolu_2".to_owned(), 1)]);
    let diff = evidence(&said)[2];
    assert_eq!(diff.payload["diff"], "+a\n+b\n");
    assert!(diff.provenance.ends_with("#heuristic:tool_input"));
    assert_eq!(call_end(&said, "toolu_1").tool_response, Some(json!("./x.rs: x")));
}

#[test]
fn an_old_inline_sub_agent_stays_in_its_session_and_leaves_the_turn_alone() {
    let said = messages("old_inline_sidechain.jsonl");
    assert_eq!(
        briefs(&said),
        [
            "user_prompt_submit - line:u1#0",
            "injected_prompt - line:s1#0",
            "assistant_message - line:s2#0",
            "assistant_message - line:a1#0",
        ]
    );
    assert!(events(&said).iter().all(|e| e.conversation == "s1"));
    assert!(events(&said).iter().all(|e| e.turn_id.as_deref() == Some("u1")));
}

#[test]
fn every_line_with_usage_reports_it_with_the_cache_added_in() {
    let said = messages("split_response_usage.jsonl");
    let reports = usage(&said);
    assert_eq!(reports.len(), 5);
    assert_eq!(reports[0].response_id.as_deref(), Some("msg_2"));
    assert_eq!(reports[0].request_id.as_deref(), Some("req_2"));
    assert_eq!(
        reports[1].counts,
        TokenCounts {
            input: Some(9155),
            cached_input: Some(9000),
            cache_write_input: Some(150),
            output: Some(184),
            reasoning_output: Some(80),
            total: None,
            uncached_input: Some(5),
        }
    );
    // What the cache took part in was not reported, so neither is the whole input known.
    let lonely = TokenCounts { uncached_input: Some(7), ..TokenCounts::default() };
    assert_eq!(reports[3].counts, lonely);
    assert_eq!(reports[4].standing, Standing::Synthetic);
}

#[test]
fn a_count_that_is_no_count_is_a_loss_and_stays_unknown() {
    let said = messages("split_response_usage.jsonl");
    let broken: Vec<&str> = said
        .iter()
        .filter_map(|m| match m {
            Message::Loss(loss) if loss.reason == LossReason::PayloadInvalid => {
                Some(loss.detail.as_str())
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        broken,
        ["usage.input_tokens", "usage.cache_read_input_tokens", "usage.output_tokens"]
    );
}

#[test]
fn output_is_final_only_where_a_response_had_stopped_outside_a_sub_agent() {
    let said = messages("split_response_usage.jsonl");
    let floors: Vec<_> = usage(&said).iter().map(|u| u.floor).collect();
    assert_eq!(floors[..2], [Some(Floor::Output), None]);
    let agents = messages("subagent.jsonl");
    assert!(usage(&agents).iter().all(|u| u.floor == Some(Floor::Output) && u.branch));
}

#[test]
fn a_null_count_is_unknown_and_no_loss() {
    let said = messages("subagent.jsonl");
    let reports = usage(&said);
    let partly = reports[0].counts;
    assert_eq!(
        (partly.input, partly.uncached_input, partly.cached_input),
        (None, Some(3), Some(2000))
    );
    assert_eq!(reports[1].counts, TokenCounts { output: Some(5), ..TokenCounts::default() });
    assert!(!said.iter().any(|m| matches!(m, Message::Loss(_))));
}

#[test]
fn errors_of_the_api_are_events_and_no_words_of_the_model() {
    let said = messages("api_error.jsonl");
    let errors = &events(&said)[1..];
    assert_eq!(errors.len(), 2);
    assert_eq!(errors[0].text.as_deref(), Some("Overloaded"));
    assert_eq!(errors[1].text.as_deref(), Some("API Error: limited"));
    assert!(errors.iter().all(|e| e.kind.as_str() == "runtime_error"));
    assert!(usage(&said).iter().all(|u| u.standing == Standing::Synthetic && u.model.is_none()));
}

#[test]
fn what_a_person_typed_is_told_apart_from_what_the_host_put_in() {
    let said = messages("prompts_typed_queued_and_injected.jsonl");
    assert_eq!(
        briefs(&said),
        [
            "injected_prompt - line:u1#0",
            "user_prompt_submit - prompt:p1",
            "injected_prompt - line:u2#0",
            "user_prompt_submit - line:u3#0",
            "user_prompt_submit - line:t1#0",
            "user_command - line:u4#0",
            "injected_prompt - line:u5#0",
            "injected_prompt - line:u6#0",
            "user_prompt_submit - prompt:p2",
        ]
    );
    assert_eq!(events(&said)[1].text.as_deref(), Some("explain this"));
    assert_eq!(events(&said)[4].text.as_deref(), Some("also run clippy"));
    assert_eq!(events(&said)[5].text.as_deref(), Some("cargo test"));
    assert_eq!(events(&said)[8].text, None);
}

#[test]
fn file_tools_leave_the_change_that_was_accepted() {
    let said = messages("file_tools.jsonl");
    assert_eq!(
        slots(&said),
        [("toolu_1", "diff:/w/a.rs"), ("toolu_2", "diff:/w/b.rs"), ("toolu_5", "result")]
    );
    assert_eq!(evidence(&said)[0].payload["diff"], "@@ -1,1 +1,1 @@\n-x=1\n+x=accepted\n");
    assert_eq!(evidence(&said)[1].payload["diff"], "+fn b(){}\n");
    let read_file = call_end(&said, "toolu_3").tool_response.clone().unwrap();
    assert_eq!(
        read_file["file"],
        json!({"filePath": "/w/a.rs", "numLines": 1, "startLine": 1, "totalLines": 1})
    );
    assert_eq!(
        call_end(&said, "toolu_5").tool_response.as_ref().unwrap()["persistedOutputSize"],
        912_345
    );
    assert_eq!(call_end(&said, "toolu_6").outcome.as_ref().unwrap().as_str(), "failed");
}

#[test]
fn a_copied_line_names_its_origin() {
    let said = messages("forked_copy.jsonl");
    let forks: Vec<_> = said.iter().filter(|m| matches!(m, Message::Lineage(_))).collect();
    assert_eq!(forks.len(), 1);
    assert!(matches!(forks[0], Message::Lineage(l)
        if l.conversation == "s2" && l.related == "s1" && l.relation == Relation::Fork));
    assert_eq!(usage(&said)[0].copied_from.as_deref(), Some("s1"));
}

#[test]
fn what_happened_in_copied_lines_is_not_told_again() {
    let said = messages("forked_copy.jsonl");
    assert!(!said.iter().any(|m| matches!(m, Message::Event(_) | Message::Evidence(_))));
}

#[test]
fn all_evidence_is_valid_for_its_kind_and_has_a_path() {
    for (name, values) in transcripts() {
        let said: Vec<Message> =
            read(&values).into_iter().flat_map(NormalizationOutcome::into_messages).collect();
        for found in evidence(&said) {
            let keys: Vec<&str> =
                found.payload.as_object().unwrap().keys().map(String::as_str).collect();
            let expected: &[&str] = match found.slot.as_str() {
                "exit" => &["command", "exit_code"],
                "exit:notice" => &["command", "exit_code", "heuristic"],
                "result" => &["summary"],
                "pull_request" => &["description", "observation"],
                slot if slot.starts_with("git:") => &["description", "observation"],
                _ => &["diff", "path"],
            };
            assert_eq!(keys, expected, "{name}");
            assert!(!found.path.is_empty(), "{name}");
        }
    }
}

fn split_read(values: &[Value], at: usize) -> Vec<NormalizationOutcome> {
    let (head, tail) = values.split_at(at);
    let mut first = ClaudeTranscript::default();
    let mut out: Vec<_> = head.iter().map(|v| first.normalize("hint", v)).collect();
    let saved = serde_json::from_str(&first.snapshot().to_string()).unwrap();
    let mut second = ClaudeTranscript::default();
    assert!(second.restore(&saved));
    out.extend(tail.iter().map(|v| second.normalize("hint", v)));
    out
}

#[test]
fn going_on_from_any_snapshot_says_the_same_as_never_stopping() {
    for (name, values) in transcripts() {
        let whole = read(&values);
        for at in 0..=values.len() {
            assert_eq!(split_read(&values, at), whole, "{name} at {at}");
        }
    }
}

fn shuffled() -> impl Strategy<Value = Vec<Value>> {
    let all: Vec<Value> = transcripts().into_iter().flat_map(|(_, values)| values).collect();
    prop::collection::vec(prop::sample::select(all), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn in_any_order_a_snapshot_anywhere_changes_nothing(
        values in shuffled(), at in any::<prop::sample::Index>(),
    ) {
        let at = at.index(values.len() + 1);
        prop_assert_eq!(split_read(&values, at), read(&values));
    }
}
