//! Queued prompts, copied history, resumed sessions: what must not be counted twice.

use super::super::super::samples::{briefs, events, evidence, fixture, messages, read};
use super::super::queue::{ENTRIES_MAX, QUEUE_BYTES_MAX};
use super::*;

fn prompts(said: &[Message]) -> Vec<(String, String)> {
    let typed = events(said).into_iter().filter(|e| e.kind.as_str() == "user_prompt_submit");
    typed
        .map(|e| (format!("{}:{}", e.native.space, e.native.id), e.text.clone().unwrap()))
        .collect()
}

#[test]
fn a_queued_prompt_is_one_prompt_whoever_tells_of_it() {
    let said = messages("queued_prompts.jsonl");
    let texts: Vec<String> = prompts(&said).into_iter().map(|(_, text)| text).collect();
    assert_eq!(
        texts,
        [
            "add a test",
            "taken in by an old build",
            "sent after the turn",
            "told by both",
            "told by both",
            "attached first",
            "never queued",
        ]
    );
    let ids: Vec<String> = prompts(&said).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids[3], ids[4]);
    assert!(ids[3].starts_with("text:2026-11-20T10:00:"));
    assert_eq!(ids[6], "line:t3#0");
}

#[test]
fn a_prompt_of_a_file_that_is_told_from_the_middle_is_the_same_prompt() {
    let whole = prompts(&messages("queued_prompts.jsonl"));
    let enqueued = fixture("queued_prompts.jsonl");
    let from = enqueued.iter().position(|v| v["content"] == "told by both").unwrap();
    let said: Vec<Message> =
        read(&enqueued[from..]).into_iter().flat_map(NormalizationOutcome::into_messages).collect();
    assert_eq!(prompts(&said)[0], whole[3]);
}

#[test]
fn equal_times_alone_are_no_copy() {
    let mut values = fixture("resumed_with_history.jsonl");
    for value in &mut values {
        value["sessionId"] = json!("s2");
        value["timestamp"] = json!("2026-11-20T10:00:00.000Z");
    }
    let mut adapter = ClaudeTranscript::default();
    let answers = values.iter().map(|value| adapter.normalize("s2", value).into_messages());
    let said: Vec<Message> = answers.flatten().collect();
    // All but the summary.
    assert_eq!(briefs(&said).len(), values.len() - 1);
}

#[test]
fn a_long_queue_is_bounded_and_what_it_forgets_is_told() {
    let operation = |n: usize, operation: &str| {
        json!({"type": "queue-operation", "operation": operation, "sessionId": "s1",
            "timestamp": format!("2026-11-20T10:00:00.{n:03}Z"), "content": format!("do {n}")})
    };
    let mut values: Vec<Value> = (0..=ENTRIES_MAX).map(|n| operation(n, "enqueue")).collect();
    values.extend([operation(0, "remove"), operation(1, "remove")]);
    let said: Vec<Message> =
        read(&values).into_iter().flat_map(NormalizationOutcome::into_messages).collect();
    let told: Vec<String> = prompts(&said).into_iter().map(|(_, text)| text).collect();
    assert_eq!(told, ["do 1"]);
    assert!(said.iter().any(|m| matches!(m, Message::Loss(_))));
}

#[test]
fn long_prompts_in_a_queue_are_bounded_by_their_weight() {
    let mut adapter = ClaudeTranscript::default();
    for n in 0..64 {
        let line = json!({"type": "queue-operation", "operation": "enqueue", "sessionId": "s1",
            "timestamp": "t", "content": format!("{n}{}", "x".repeat(QUEUE_BYTES_MAX / 10))});
        let _ = adapter.normalize("hint", &line);
    }
    assert!(adapter.snapshot().to_string().len() < QUEUE_BYTES_MAX * 2);
}

#[test]
fn the_copy_that_a_side_question_begins_with_is_not_told_again() {
    let said = messages("aside_question.jsonl");
    assert_eq!(briefs(&said), ["injected_prompt - line:q1#0", "assistant_message - line:q2#0"]);
    assert!(evidence(&said).is_empty());
    assert!(events(&said).iter().all(|e| e.conversation == "aside_question-1"));
}

#[test]
fn a_compactions_copy_of_the_conversation_tells_no_event_at_all() {
    let mut values = fixture("aside_question.jsonl");
    for value in &mut values {
        value["agentId"] = json!("acompact-1");
    }
    values.truncate(3);
    let said: Vec<Message> =
        read(&values).into_iter().flat_map(NormalizationOutcome::into_messages).collect();
    assert!(events(&said).is_empty());
    assert!(said.iter().any(|m| matches!(m, Message::Lineage(_))));
}

#[test]
fn a_resumed_session_leaves_the_history_that_it_copied_to_the_session_before_it() {
    let mut adapter = ClaudeTranscript::default();
    let said: Vec<Message> = fixture("resumed_with_history.jsonl")
        .iter()
        .flat_map(|value| adapter.normalize("s2", value).into_messages())
        .collect();
    let whose: Vec<&str> = events(&said).iter().map(|e| e.conversation.as_str()).collect();
    assert_eq!(whose, ["s1", "s2", "s2"]);
    assert_eq!(
        briefs(&said),
        [
            "user_prompt_submit - line:u2#0",
            "user_prompt_submit - line:u3#0",
            "assistant_message - line:a3#0",
        ]
    );
    let lineage: Vec<_> = said
        .iter()
        .filter_map(|m| if let Message::Lineage(l) = m { Some(l) } else { None })
        .map(|l| (l.conversation.as_str(), l.relation.as_str(), l.related.as_str()))
        .collect();
    assert_eq!(lineage, [("s2", "fork", "s1")]);
}
