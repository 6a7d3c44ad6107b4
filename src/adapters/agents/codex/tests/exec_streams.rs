//! `codex exec --json`: what a stream tells, and that two runs never share an item.

use super::*;
use crate::domain::event::{Channel, NativeId, Outcome};
use crate::domain::loss::LossReason;
use crate::domain::usage::UsageScope;
use serde_json::json;

const THREAD: &str = "01a1aa00-0000-7000-8000-000000000021";
const CHILD: &str = "01a1aa00-0000-7000-8000-000000000022";

fn reader() -> Box<dyn AgentAdapter> {
    CodexFamily.file_adapter(crate::adapters::agents::codex::FORMAT_EXEC).unwrap()
}

fn streamed(lines: &[Value]) -> Vec<NormalizationOutcome> {
    let mut reader = reader();
    lines.iter().map(|line| reader.normalize(HINT, line)).collect()
}

fn told(lines: &[Value]) -> Vec<Message> {
    streamed(lines).into_iter().flat_map(NormalizationOutcome::into_messages).collect()
}

fn calls(messages: &[Message], kind: &EventKind) -> Vec<(String, Option<Outcome>)> {
    events_of(messages, kind)
        .into_iter()
        .map(|event| (event.tool_name.clone().unwrap(), event.outcome.clone()))
        .collect()
}

#[test]
fn a_stream_tells_its_calls_and_what_became_of_them() {
    let messages = told(&fixture("exec_stream"));
    let said = |tool: &str, outcome| (tool.to_owned(), Some(outcome));
    assert_eq!(
        calls(&messages, &EventKind::PostToolUse),
        [
            said("exec_command", Outcome::Ok),
            said("exec_command", Outcome::Failed),
            said("exec_command", Outcome::Denied),
            said("apply_patch", Outcome::Ok),
            said("mcp__docs_server__lookup", Outcome::Ok),
            said("mcp__docs_server__lookup", Outcome::Failed),
            said("web_search", Outcome::Unknown),
            said("spawn_agent", Outcome::Ok),
        ]
    );
    let proposed = calls(&messages, &EventKind::PreToolUse);
    assert_eq!(proposed.len(), 4);
    assert!(proposed.iter().all(|(_, outcome)| outcome.is_none()));
}

#[test]
fn exit_codes_of_a_stream_are_those_of_commands_that_ran() {
    let messages = told(&fixture("exec_stream"));
    let codes: Vec<_> = evidence(&messages)
        .iter()
        .filter(|piece| piece.kind == EvidenceKind::ExitCode)
        .map(|piece| piece.payload.clone())
        .collect();
    assert_eq!(
        codes,
        [
            json!({"command": "bash -lc ls", "exit_code": 0}),
            json!({"command": "bash -lc 'make test'", "exit_code": 2}),
        ]
    );
    let piece = evidence(&messages)[0];
    assert_eq!(piece.path, "item.exit_code");
    assert!(piece.provenance.ends_with(":exec_stream:command_execution#exit_code"));
}

#[test]
fn files_that_a_stream_names_are_edits_without_a_diff() {
    let messages = told(&fixture("exec_stream"));
    let edits: Vec<_> = evidence(&messages)
        .into_iter()
        .filter(|piece| piece.kind == EvidenceKind::FileDiff)
        .map(|piece| (piece.payload.clone(), piece.path.as_str()))
        .collect();
    let added = json!({"path": "n.txt", "diff": "(added)"});
    assert_eq!(edits, [(added, "item.changes[0].path")]);
}

#[test]
fn a_completed_item_meets_its_start() {
    let messages = told(&fixture("exec_stream"));
    let start = events_of(&messages, &EventKind::PreToolUse)[0];
    let end = events_of(&messages, &EventKind::PostToolUse)[1];
    assert_eq!(start.native, end.native);
    assert_eq!(start.call_id, end.call_id);
    assert!(start.native.id.starts_with("item_1@"));
}

#[test]
fn everything_but_the_thread_s_own_ids_stays_the_stream_s() {
    let messages = told(&fixture("exec_stream"));
    assert!(events(&messages).iter().all(|event| event.channel == Channel::Stream));
    let start = events_of(&messages, &EventKind::SessionStart)[0];
    assert_eq!(
        (start.conversation.as_str(), &start.native),
        (THREAD, &NativeId::new("session", THREAD))
    );
    let rollout = super::messages("exec_stream_rollout");
    assert_eq!(events_of(&rollout, &EventKind::SessionStart)[0].native, start.native);
    let child = events_of(&messages, &EventKind::SubagentStart)[0];
    assert_eq!(
        (child.conversation.as_str(), &child.native),
        (CHILD, &NativeId::new("agent", CHILD))
    );
}

#[test]
fn answers_meet_the_rollout_s_by_turn_and_text_where_it_counts_its_turns() {
    let mut rollout = fixture("exec_stream_rollout");
    rollout.retain(|line| line["type"] != "event_msg");
    let rollout = messages_of(&rollout);
    let stream = told(&fixture("exec_stream"));
    let answer =
        |messages: &[Message]| events_of(messages, &EventKind::AssistantMessage)[0].native.clone();
    assert_eq!(answer(&stream), answer(&rollout));
}

#[test]
fn two_runs_of_one_thread_share_no_item_unless_all_before_it_was_equal() {
    let first = fixture("exec_stream");
    let mut second = first.clone();
    second[2]["item"]["text"] = Value::from("something else");
    let ids = |lines: &[Value]| {
        events_of(&told(lines), &EventKind::PostToolUse)
            .into_iter()
            .map(|event| event.native.id.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&first), ids(&first));
    assert!(ids(&second).iter().all(|id| !ids(&first).contains(id)));
}

#[test]
fn the_use_of_a_stream_is_a_running_total() {
    let messages = told(&fixture("exec_stream"));
    let reports: Vec<_> = messages
        .iter()
        .filter_map(|message| match message {
            Message::Usage(usage) => Some(usage),
            _ => None,
        })
        .collect();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].scope, UsageScope::Snapshot);
    assert_eq!(reports[0].counts.input, Some(9000));
    assert_eq!(reports[0].path, "usage");
}

#[test]
fn turns_end_as_the_stream_says_and_errors_are_told() {
    let messages = told(&fixture("exec_stream"));
    let ends: Vec<_> =
        events_of(&messages, &EventKind::TurnEnd).iter().map(|e| e.outcome.clone()).collect();
    assert_eq!(ends, [Some(Outcome::Ok), Some(Outcome::Failed)]);
    let errors: Vec<_> = events_of(&messages, &EventKind::RuntimeError)
        .iter()
        .map(|event| (event.text.clone().unwrap(), event.path.clone()))
        .collect();
    let lost = |path: &str| ("stream disconnected".to_owned(), path.to_owned());
    assert_eq!(errors[0].0, "something odd");
    assert_eq!(errors[1..], [lost("message"), lost("error.message")]);
}

#[test]
fn an_unknown_item_or_event_is_named_and_its_content_is_not() {
    let outcomes = streamed(&fixture("exec_stream"));
    let tags: Vec<_> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            NormalizationOutcome::Unrecognized { discriminator } => Some(discriminator.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(tags, ["item:hologram", "thread.renamed"]);
}

#[test]
fn the_first_spelling_of_the_stream_is_read() {
    let messages = told(&fixture("exec_stream_2025"));
    assert!(events(&messages).iter().all(|event| event.conversation == THREAD));
    assert_eq!(events_of(&messages, &EventKind::AssistantMessage)[0].text.as_deref(), Some("done"));
    assert_eq!(evidence(&messages)[0].payload, json!({"command": "ls", "exit_code": 0}));
}

#[test]
fn the_events_of_the_early_stream_meet_the_rollout_s_calls() {
    let lines = fixture("exec_stream_early");
    let messages = told(&lines);
    assert!(events(&messages).iter().all(|event| event.channel == Channel::Stream));
    let result = events_of(&messages, &EventKind::PostToolUse)[0];
    assert_eq!(result.native, NativeId::call("call_A"));
    assert_eq!(exit_codes(&messages), [("call_A", 2)]);
    assert!(events(&messages).iter().all(|event| event.conversation == THREAD));
    let unknown = streamed(&lines)
        .iter()
        .filter(|outcome| matches!(outcome, NormalizationOutcome::Unrecognized { .. }))
        .count();
    assert_eq!(unknown, 0);
}

#[test]
fn the_prompt_of_an_early_stream_is_told_of_the_thread_that_is_named_after_it() {
    let mut lines = fixture("exec_stream_early");
    let messages = told(&lines);
    let prompts = events_of(&messages, &EventKind::UserPromptSubmit);
    assert_eq!(prompts.len(), 1);
    assert_eq!(prompts[0].text.as_deref(), Some("run the tests"));
    assert_eq!(prompts[0].conversation, THREAD);
    let answer = events_of(&messages, &EventKind::AssistantMessage)[0];
    assert_eq!(prompts[0].turn_id, answer.turn_id);

    let whole = streamed(&lines);
    for cut in 0..=lines.len() {
        let mut first = reader();
        let mut parts: Vec<_> = lines[..cut].iter().map(|l| first.normalize(HINT, l)).collect();
        let mut second = reader();
        assert!(second.restore(&first.snapshot()));
        parts.extend(lines[cut..].iter().map(|line| second.normalize(HINT, line)));
        assert_eq!(parts, whole, "cut at {cut}");
    }

    lines[1]["prompt"] = Value::String("x".repeat(16 * 1024 + 7));
    let messages = told(&lines);
    let kept = events_of(&messages, &EventKind::UserPromptSubmit)[0].text.as_ref().unwrap().len();
    assert_eq!(kept, 16 * 1024);
    let cut: Vec<_> = messages
        .iter()
        .filter_map(|m| if let Message::Loss(loss) = m { Some(loss) } else { None })
        .map(|loss| (&loss.reason, loss.count))
        .collect();
    assert_eq!(cut, [(&LossReason::TextCut, 7)]);
}

#[test]
fn streams_of_two_threads_in_one_file_stay_apart() {
    let mut lines = fixture("exec_stream_2025");
    lines.push(json!({"type": "thread.started", "thread_id": "other"}));
    lines.push(json!({"type": "item.completed",
                      "item": {"id": "item_0", "type": "agent_message", "text": "done"}}));
    let messages = told(&lines);
    let owners: Vec<_> = events_of(&messages, &EventKind::AssistantMessage)
        .iter()
        .map(|event| event.conversation.clone())
        .collect();
    assert_eq!(owners, [THREAD, "other"]);
}

#[test]
fn wrong_types_in_a_stream_are_no_panic() {
    for line in [
        json!(null),
        json!([1]),
        json!({"type": 7}),
        json!({"type": "thread.started", "thread_id": 1}),
        json!({"type": "item.completed"}),
        json!({"type": "item.completed", "item": "x"}),
        json!({"type": "item.completed", "item": {"id": 3}}),
        json!({"type": "item.completed", "item": {"type": "command_execution", "exit_code": "0"}}),
        json!({"type": "turn.completed", "usage": {"input_tokens": -1}}),
        json!({"type": "turn.failed", "error": "x"}),
    ] {
        let messages = told(&[line]);
        assert!(evidence(&messages).is_empty());
        for message in &messages {
            if let Message::Loss(loss) = message {
                assert_eq!(loss.reason, LossReason::PayloadInvalid);
            }
        }
    }
}

#[test]
fn a_stream_goes_on_from_a_snapshot_at_any_line() {
    let lines = fixture("exec_stream");
    let whole = streamed(&lines);
    for cut in 0..=lines.len() {
        let mut first = reader();
        let mut parts: Vec<_> = lines[..cut].iter().map(|l| first.normalize(HINT, l)).collect();
        let mut second = reader();
        assert!(second.restore(&first.snapshot()));
        parts.extend(lines[cut..].iter().map(|line| second.normalize(HINT, line)));
        assert_eq!(parts, whole, "cut at {cut}");
    }
    assert!(!reader().restore(&adapter().snapshot()));
}
