//! Prompts, answers, turns and facts: two tellings of one message meet in one identity.

use super::*;
use crate::domain::event::{Channel, NativeId, Outcome};
use crate::domain::loss::LossReason;
use serde_json::json;

/// (channel, turn, text) of the events of a kind.
fn told(messages: &[Message], kind: &EventKind) -> Vec<(Channel, String, String)> {
    events_of(messages, kind)
        .into_iter()
        .map(|e| (e.channel, e.turn_id.clone().unwrap(), e.text.clone().unwrap()))
        .collect()
}

#[test]
fn prompts_open_counted_turns_where_no_line_names_them() {
    let messages = messages("turns_without_ids");
    let prompts = told(&messages, &EventKind::UserPromptSubmit);
    let turns: Vec<_> = prompts.iter().map(|(_, turn, _)| turn.as_str()).collect();
    assert_eq!(turns, ["turn-1", "turn-1", "turn-2", "turn-2", "turn-3", "turn-3"]);
    for pair in events_of(&messages, &EventKind::UserPromptSubmit).chunks(2) {
        assert_eq!(pair[0].native, pair[1].native);
        assert_eq!((pair[0].channel, pair[1].channel), (Channel::Canonical, Channel::Projection));
    }
}

#[test]
fn answers_meet_in_either_order_and_equal_answers_stay_two() {
    let messages = messages("turns_without_ids");
    let answers = events_of(&messages, &EventKind::AssistantMessage);
    let ids: Vec<_> = answers.iter().map(|e| &e.native).collect();
    assert_eq!(ids[0], ids[1]);
    assert_eq!(ids[2], ids[3]);
    assert_ne!(ids[0], ids[2]);
    assert_eq!(answers[4].channel, Channel::Projection);
    assert_eq!(answers[4].text.as_deref(), Some("only a projection"));
    assert_eq!(ids[5], ids[6]);
    assert_eq!((answers[5].channel, answers[6].channel), (Channel::Canonical, Channel::Projection));
}

#[test]
fn the_host_s_texts_are_no_prompts() {
    let messages = messages("turns_without_ids");
    let injected = events_of(&messages, &EventKind::InjectedPrompt);
    assert_eq!(injected.len(), 1);
    assert!(injected[0].text.as_deref().unwrap().starts_with("<environment_context>"));
}

#[test]
fn an_abort_without_an_id_ends_the_turn_in_force() {
    let messages = messages("turns_without_ids");
    let ends = events_of(&messages, &EventKind::TurnEnd);
    assert_eq!(ends.len(), 1);
    assert_eq!(ends[0].native, NativeId::turn("turn-2"));
    assert_eq!(ends[0].outcome, Some(Outcome::Interrupted));
}

#[test]
fn named_turns_begin_and_end_with_their_ids() {
    let messages = messages("paginated");
    let starts = events_of(&messages, &EventKind::TurnStart);
    let ends = events_of(&messages, &EventKind::TurnEnd);
    assert_eq!(starts.len(), 2);
    assert_eq!(starts[0].native, ends[0].native);
    assert_eq!(
        (ends[0].outcome.clone(), ends[0].text.as_deref()),
        (Some(Outcome::Ok), Some("done"))
    );
    assert_eq!((ends[1].outcome.clone(), ends[1].text.clone()), (Some(Outcome::Failed), None));
}

#[test]
fn items_of_paginated_files_meet_the_messages_they_repeat() {
    let messages = messages("paginated");
    for kind in [EventKind::UserPromptSubmit, EventKind::AssistantMessage] {
        let pair = events_of(&messages, &kind);
        assert_eq!(pair.len(), 2, "{kind}");
        assert_eq!(pair[0].native, pair[1].native, "{kind}");
        assert_eq!(pair[0].turn_id, pair[1].turn_id, "{kind}");
        assert_ne!(pair[0].channel, pair[1].channel, "{kind}");
    }
}

#[test]
fn facts_are_told_when_they_change() {
    let turns: Vec<_> = messages("turns_without_ids")
        .into_iter()
        .filter_map(|message| match message {
            Message::Turn(turn) => Some((turn.turn_id, turn.cwd, turn.model, turn.agent_version)),
            _ => None,
        })
        .collect();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        turns,
        [
            (None, some("/home/dev/demo"), None, some("0.47.0")),
            (some("turn-1"), some("/home/dev/demo"), some("model-a"), None),
            (some("turn-2"), some("/home/dev/demo"), some("model-b"), None),
        ]
    );
}

#[test]
fn capabilities_are_declared_once_and_name_the_conversation() {
    let messages = messages("paginated");
    let declared: Vec<_> = messages
        .iter()
        .filter_map(|message| match message {
            Message::Capabilities(draft) => Some(draft.conversation.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(declared, ["01a1aa00-0000-7000-8000-000000000001"]);
    // Behind the first line's own event and facts, so that it moves no message's number.
    assert!(matches!(messages[0], Message::Event(_)));
    assert!(matches!(messages[2], Message::Capabilities(_)));
}

#[test]
fn text_parts_join_without_a_separator_and_image_marks_are_no_text() {
    let line = json!({"type": "response_item", "payload": {"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": "<image name=[Image #1]>"},
                    {"type": "input_image", "image_url": "data:,"},
                    {"type": "input_text", "text": "</image>"},
                    {"type": "input_text", "text": "what "},
                    {"type": "input_text", "text": "is it"}]}});
    let messages = messages_of(&[line]);
    let prompts = events_of(&messages, &EventKind::UserPromptSubmit);
    assert_eq!(prompts[0].text.as_deref(), Some("what is it"));
    assert_eq!(prompts[0].conversation, HINT);
}

#[test]
fn compactions_meet_by_their_count_in_the_turn() {
    let messages = messages("second_tellings");
    let compactions = events_of(&messages, &EventKind::Compaction);
    let ids: Vec<_> = compactions.iter().map(|e| e.native.id.as_str()).collect();
    assert_eq!(ids[0], ids[1]);
    assert_eq!(ids[2], ids[3]);
    assert_ne!(ids[0], ids[2]);
    assert!(events_of(&messages, &EventKind::UserPromptSubmit).is_empty());
}

#[test]
fn errors_titles_rollbacks_and_agents_are_told() {
    let messages = messages("second_tellings");
    let errors = events_of(&messages, &EventKind::RuntimeError);
    assert_eq!(errors[0].text.as_deref(), Some("stream disconnected"));
    assert_eq!(events_of(&messages, &EventKind::RolledBack).len(), 1);
    let title = messages.iter().any(
        |message| matches!(message, Message::Turn(turn) if turn.title.as_deref() == Some("a title")),
    );
    assert!(title);
    let between = events_of(&messages, &EventKind::AgentMessage);
    assert_eq!(between[0].native, between[1].native);
    let child = &events_of(&messages, &EventKind::SubagentStart)[0];
    assert_eq!(
        (child.conversation.as_str(), child.agent_id.as_deref()),
        ("child-1", Some("child-1"))
    );
    assert_eq!(events_of(&messages, &EventKind::SubagentStop)[0].native, child.native);
}

#[test]
fn wrong_types_are_unrecognised_or_partial_and_never_a_panic() {
    let lines = fixture("wrong_types");
    let outcomes = outcomes(&lines);
    let tags: Vec<_> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            NormalizationOutcome::Unrecognized { discriminator } => Some(discriminator.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        tags,
        [
            "session_meta:<missing id>",
            "response_item:<missing payload>",
            "response_item:<missing payload>",
            "response_item:<missing payload.type>",
            "event_msg:<missing payload.type>",
            "<missing type>",
            "<missing type>",
            "event_msg:user_message:<missing message>",
            "event_msg:item_completed:<missing item>",
            "event_msg:item_completed:Hologram",
            "response_item:teleport",
            "future_thing",
            "<missing type>",
            "exotic_bare",
            "session:<missing id>",
        ]
    );
}

#[test]
fn an_unknown_part_is_a_loss_beside_the_known_ones() {
    let messages = messages("wrong_types");
    let lost: Vec<_> = messages
        .iter()
        .filter_map(|message| match message {
            Message::Loss(loss) => Some((loss.reason.clone(), loss.detail.as_str())),
            _ => None,
        })
        .collect();
    assert!(lost.contains(&(LossReason::Unrecognized, "response_item:message:hologram")));
    let answers = events_of(&messages, &EventKind::AssistantMessage);
    assert_eq!(answers[0].text.as_deref(), Some("known"));
}
