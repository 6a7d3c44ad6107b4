//! Whose history a line is: forks, sub-agents, copies, token use, and the files before the envelope.

use super::*;
use crate::domain::event::Outcome;
use crate::domain::loss::LossReason;
use crate::domain::outcome::Relation;
use crate::domain::usage::{UsageDraft, UsageScope};

const PARENT: &str = "01a1a900-0000-7000-8000-000000000001";
const CHILD: &str = "01a1aa00-0000-7000-8000-0000000000cc";
const BARE: &str = "56c80000-0000-4000-8000-000000000001";

fn usage(messages: &[Message]) -> Vec<&UsageDraft> {
    messages
        .iter()
        .filter_map(|message| match message {
            Message::Usage(usage) => Some(usage),
            _ => None,
        })
        .collect()
}

fn relations(messages: &[Message]) -> Vec<(Relation, &str)> {
    messages
        .iter()
        .filter_map(|message| match message {
            Message::Lineage(draft) => Some((draft.relation.clone(), draft.related.as_str())),
            _ => None,
        })
        .collect()
}

#[test]
fn a_fork_s_copied_lines_are_left_out_and_its_own_begin_within_the_burst() {
    let messages = messages("fork_with_copied_history");
    let prompts = events_of(&messages, &EventKind::UserPromptSubmit);
    assert!(prompts.iter().all(|prompt| prompt.text.as_deref() == Some("own prompt")));
    assert_eq!(prompts.len(), 2);
    assert!(events(&messages).iter().all(|event| event.conversation == CHILD));
    assert!(events(&messages).iter().all(|event| event.agent_id.as_deref() == Some(CHILD)));
    assert_eq!(events_of(&messages, &EventKind::SessionStart).len(), 1);
}

#[test]
fn copied_lines_say_why_they_are_left_out() {
    let copied = outcomes(&fixture("fork_with_copied_history"))
        .into_iter()
        .filter(|outcome| {
            *outcome
                == NormalizationOutcome::Ignored {
                    reason: "copied history of another conversation",
                }
        })
        .count();
    assert_eq!(copied, 4);
}

#[test]
fn copied_token_use_is_credited_to_its_source() {
    let messages = messages("fork_with_copied_history");
    let seen: Vec<_> = usage(&messages)
        .into_iter()
        .map(|report| (report.counts.total, report.copied_from.as_deref(), report.model.as_deref()))
        .collect();
    assert_eq!(
        seen,
        [(Some(55), Some(PARENT), Some("parent-model")), (Some(8), None, Some("child-model"))]
    );
}

#[test]
fn tree_parent_and_fork_are_three_relations_told_once() {
    let messages = messages("fork_with_copied_history");
    assert_eq!(
        relations(&messages),
        [(Relation::Tree, PARENT), (Relation::Parent, PARENT), (Relation::Fork, PARENT)]
    );
}

#[test]
fn a_stated_start_ordinal_separates_inherited_lines() {
    let messages = messages("subagent_start_ordinal");
    let prompts = events_of(&messages, &EventKind::UserPromptSubmit);
    assert_eq!(prompts.len(), 1);
    assert_eq!(prompts[0].text.as_deref(), Some("own prompt"));
    assert!(events_of(&messages, &EventKind::AssistantMessage).is_empty());
    assert!(events_of(&messages, &EventKind::InjectedPrompt).is_empty());
    assert!(relations(&messages).contains(&(Relation::Fork, PARENT)));
    assert_eq!(usage(&messages)[0].copied_from.as_deref(), Some(PARENT));
}

#[test]
fn responses_and_running_totals_are_two_scopes_and_repeats_are_no_use() {
    let messages = messages("paginated");
    let reports = usage(&messages);
    assert_eq!(reports.len(), 2);
    assert_eq!(reports[0].scope, UsageScope::Response);
    assert_eq!(reports[0].response_id.as_deref(), Some("resp_1"));
    assert_eq!(reports[0].model.as_deref(), Some("gpt-x"));
    assert_eq!(reports[1].scope, UsageScope::Snapshot);
    assert_eq!(reports[1].counts.cached_input, Some(7000));
    assert_eq!(reports[1].path, "payload.info.total_token_usage");
    let repeats = outcomes(&fixture("paginated"))
        .into_iter()
        .filter(|o| *o == NormalizationOutcome::Ignored { reason: "repeated token count" })
        .count();
    assert_eq!(repeats, 1);
}

#[test]
fn an_implausible_count_is_absent_and_reported() {
    let messages = messages("wrong_types");
    let counts = usage(&messages)[0].counts;
    assert_eq!((counts.input, counts.output, counts.total), (None, None, Some(4)));
    let lost: Vec<_> = messages
        .iter()
        .filter_map(|message| match message {
            Message::Loss(loss) if loss.reason == LossReason::PayloadInvalid => {
                Some(loss.detail.as_str())
            }
            _ => None,
        })
        .collect();
    assert_eq!(lost, ["usage.input_tokens", "usage.cached_input_tokens", "usage.output_tokens"]);
}

#[test]
fn bare_lines_take_their_conversation_from_the_header_and_their_folder_from_the_context() {
    let messages = messages("bare_lines");
    assert!(events(&messages).iter().all(|event| event.conversation == BARE));
    let start = events_of(&messages, &EventKind::SessionStart)[0];
    assert_eq!(start.observed_at.as_deref(), Some("2025-08-18T01:16:13.522Z"));
    let prompts = events_of(&messages, &EventKind::UserPromptSubmit);
    assert_eq!(prompts.len(), 2);
    assert_ne!(prompts[0].native, prompts[1].native);
    assert!(prompts.iter().all(|prompt| prompt.observed_at.is_none()));
    let cwds: Vec<_> = messages
        .iter()
        .filter_map(|message| match message {
            Message::Turn(turn) => turn.cwd.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(cwds, ["/home/dev/demo"]);
    assert_eq!(exit_codes(&messages), [("call_1", 0), ("call_2", 0)]);
}

#[test]
fn a_document_is_read_whole_with_paths_to_its_items() {
    let messages = messages("document");
    let result = events_of(&messages, &EventKind::PostToolUse)[0];
    assert_eq!(result.path, "items[2].content");
    assert_eq!(result.tool_name.as_deref(), Some("container.exec"));
    assert_eq!(result.outcome, Some(Outcome::Failed));
    let call = events_of(&messages, &EventKind::PreToolUse)[0];
    assert_eq!(call.path, "items[1].tool_calls[0].function.arguments");
    assert_eq!(exit_codes(&messages), [("call_1", 101)]);
    let lost = messages.iter().any(|message| {
        matches!(message, Message::Loss(loss)
            if loss.reason == LossReason::Unrecognized && loss.path == "items[4].type")
    });
    assert!(lost);
}
