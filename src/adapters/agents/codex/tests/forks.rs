//! Copied and referenced history: what is the file's own, where the rest comes from, and what is
//! said where nothing marks the boundary.

use super::*;
use crate::domain::event::NativeId;
use crate::domain::loss::LossReason;
use crate::domain::outcome::Relation;

const BEGUN_FROM: &str = "11111111-0000-4000-8000-00000000000a";
const GRANDPARENT: &str = "01a1a800-0000-7000-8000-000000000001";
const PARENT: &str = "01a1a900-0000-7000-8000-000000000001";

fn texts(messages: &[Message]) -> Vec<&str> {
    let spoken = [EventKind::UserPromptSubmit, EventKind::AssistantMessage];
    let mut texts: Vec<_> = events(messages)
        .into_iter()
        .filter(|event| spoken.contains(&event.kind))
        .filter_map(|event| event.text.as_deref())
        .collect();
    texts.dedup();
    texts
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

fn doubts(messages: &[Message]) -> usize {
    messages
        .iter()
        .filter(|message| {
            matches!(message, Message::Loss(loss) if loss.reason == LossReason::CopyBoundaryUnsure)
        })
        .count()
}

/// The total and the origin of each usage report.
fn credited(messages: &[Message]) -> Vec<(Option<i64>, Option<&str>)> {
    messages
        .iter()
        .filter_map(|message| match message {
            Message::Usage(usage) => Some((usage.counts.total, usage.copied_from.as_deref())),
            _ => None,
        })
        .collect()
}

#[test]
fn a_boundary_told_by_a_pause_alone_is_noted_once_and_the_copy_has_its_origin() {
    let messages = messages("fork_without_turn_ids");
    assert_eq!(texts(&messages), ["own prompt", "own answer"]);
    assert_eq!(relations(&messages), [(Relation::Fork, BEGUN_FROM)]);
    assert_eq!(doubts(&messages), 1);
    assert_eq!(credited(&messages), [(Some(51), Some(BEGUN_FROM))]);
}

#[test]
fn lines_older_than_the_thread_are_copies_whatever_pauses_lie_between_them() {
    let messages = messages("fork_with_kept_times");
    assert_eq!(texts(&messages), ["own prompt", "own answer"]);
    assert_eq!(doubts(&messages), 0);
}

#[test]
fn a_copy_of_a_copy_is_credited_to_the_thread_that_ran_the_turn() {
    let messages = messages("fork_of_a_fork");
    assert_eq!(texts(&messages), ["own prompt"]);
    assert_eq!(
        credited(&messages),
        [(Some(11), Some(GRANDPARENT)), (Some(21), Some(PARENT)), (Some(31), None)]
    );
    assert_eq!(relations(&messages), [(Relation::Fork, PARENT)]);
    assert_eq!(doubts(&messages), 0);
}

#[test]
fn turns_older_than_the_fork_are_copies_also_without_the_source_s_metadata() {
    let messages = messages("fork_without_source_meta");
    assert_eq!(texts(&messages), ["own prompt"]);
    assert_eq!(credited(&messages), [(Some(21), Some(PARENT))]);
    assert_eq!(doubts(&messages), 0);
}

#[test]
fn turns_older_than_a_child_are_its_parent_s_and_a_child_without_any_is_no_fork() {
    let mut lines = fixture("fork_without_source_meta");
    let meta = lines[0]["payload"].as_object_mut().unwrap();
    meta.remove("forked_from_id");
    meta.insert("parent_thread_id".to_owned(), Value::from(PARENT));
    let messages = messages_of(&lines);
    assert_eq!(texts(&messages), ["own prompt"]);
    assert_eq!(credited(&messages), [(Some(21), Some(PARENT))]);
    lines.retain(|line| line["payload"]["type"] != "task_started");
    let messages = messages_of(&lines);
    assert_eq!((texts(&messages).len(), doubts(&messages)), (2, 0));
}

#[test]
fn a_fork_of_which_nothing_marks_the_copy_is_kept_and_noted() {
    let mut lines = fixture("fork_without_source_meta");
    lines.retain(|line| line["payload"]["type"] != "task_started");
    let messages = messages_of(&lines);
    assert_eq!(texts(&messages), ["parent prompt", "own prompt"]);
    assert_eq!(doubts(&messages), 1);
}

#[test]
fn a_referenced_fork_holds_only_its_own_history_and_names_its_origin() {
    let messages = messages("referenced_fork");
    assert_eq!(texts(&messages), ["own prompt", "own answer", "second answer"]);
    assert_eq!(relations(&messages), [(Relation::Fork, PARENT)]);
    assert!(events_of(&messages, &EventKind::RolledBack).is_empty());
    assert_eq!(doubts(&messages), 0);
}

#[test]
fn a_referenced_fork_says_up_to_where_it_inherits() {
    let positions = |lines: &[Value]| -> Vec<Option<u64>> {
        messages_of(lines)
            .iter()
            .filter_map(|m| if let Message::Lineage(l) = m { Some(l.position) } else { None })
            .collect()
    };
    let mut lines = fixture("referenced_fork");
    // The base moved with a revert; the fork's own point did not.
    lines[0]["payload"]["history_base"]["end_ordinal_exclusive"] = Value::from(33);
    assert_eq!(positions(&lines), [Some(40)]);
    let meta = lines[0]["payload"].as_object_mut().unwrap();
    meta.remove("forked_from_ordinal_exclusive");
    assert_eq!(positions(&lines), [Some(33)]);
    let meta = lines[0]["payload"].as_object_mut().unwrap();
    meta.remove("history_base");
    assert_eq!(positions(&lines), [None]);
}

#[test]
fn what_a_spawned_agent_is_called_is_a_fact_of_its_own_conversation() {
    let named = |lines: &[Value]| -> Vec<[Option<String>; 4]> {
        messages_of(lines)
            .into_iter()
            .filter_map(|m| if let Message::Turn(turn) = m { Some(turn) } else { None })
            .map(|t| [Some(t.conversation), t.agent_nickname, t.agent_role, t.agent_path])
            .filter(|facts| facts[1..].iter().any(Option::is_some))
            .collect()
    };
    let facts = |id: &str, name: Option<&str>, role: Option<&str>, path: Option<&str>| {
        [Some(id), name, role, path].map(|fact| fact.map(str::to_owned))
    };
    let mut lines = fixture("referenced_fork");
    let stamp = lines[1]["timestamp"].clone();
    let told = |payload: Value| {
        serde_json::json!({"timestamp": stamp, "ordinal": 99, "type": "event_msg",
            "payload": payload})
    };
    let spawn = serde_json::json!({"parent_thread_id": PARENT, "agent_nickname": "Ada",
        "agent_role": "explorer", "agent_path": "/root/check"});
    lines[0]["payload"]["source"] = serde_json::json!({"subagent": {"thread_spawn": spawn}});
    let own = lines[0]["payload"]["id"].as_str().unwrap().to_owned();
    lines.push(told(serde_json::json!({"type": "collab_agent_spawn_end", "call_id": "c",
        "new_thread_id": "n1", "new_agent_nickname": "Bo", "new_agent_role": "worker"})));
    lines.push(told(serde_json::json!({"type": "sub_agent_activity", "kind": "started",
        "agent_thread_id": "n2", "agent_path": "/root/check/more"})));
    assert_eq!(
        named(&lines),
        [
            facts(&own, Some("Ada"), Some("explorer"), Some("/root/check")),
            facts("n1", Some("Bo"), Some("worker"), None),
            facts("n2", None, None, Some("/root/check/more")),
        ]
    );
}

#[test]
fn a_line_before_the_referenced_position_is_a_copy() {
    let mut lines = fixture("referenced_fork");
    lines[2]["ordinal"] = Value::from(39);
    let messages = messages_of(&lines);
    assert_eq!(texts(&messages), ["second answer"]);
}

#[test]
fn a_reverted_thread_is_one_conversation_over_its_files() {
    let files: Vec<_> = (1..=3).map(|n| messages(&format!("reverted_thread_{n}"))).collect();
    let all: Vec<_> = files.iter().flat_map(|messages| events(messages)).collect();
    assert!(all.iter().all(|event| event.conversation == PARENT));
    let starts: Vec<_> = all.iter().filter(|event| event.kind == EventKind::SessionStart).collect();
    assert_eq!(starts.len(), 3);
    assert!(starts.iter().all(|event| event.native == starts[0].native));
    assert!(files.iter().all(|messages| relations(messages).is_empty()));
    // An equal prompt of another turn is another prompt.
    assert_ne!(
        events_of(&files[0], &EventKind::UserPromptSubmit)[0].native,
        events_of(&files[1], &EventKind::UserPromptSubmit)[0].native
    );
}

#[test]
fn a_revert_says_where_history_was_cut() {
    let [first, second, third] = [1, 2, 3].map(|n| messages(&format!("reverted_thread_{n}")));
    assert!(events_of(&first, &EventKind::RolledBack).is_empty());
    let cut = events_of(&second, &EventKind::RolledBack)[0];
    assert_eq!(cut.native, NativeId::new("revert", format!("{PARENT}|4")));
    assert_eq!(cut.text.as_deref(), Some("reverted to what stands before ordinal 4"));
    assert_eq!(cut.path, "payload.history_base.end_ordinal_exclusive");
    let rollout = "01a1a9ee-0000-7000-8000-0000000000ee";
    let again = events_of(&third, &EventKind::RolledBack)[0];
    assert_eq!(again.native, NativeId::new("revert", format!("{rollout}|5")));
}

#[test]
fn repeated_and_missing_ordinals_lose_no_line() {
    let messages = messages("mixed_ordinals");
    assert_eq!(texts(&messages), ["own prompt", "same ordinal", "no ordinal"]);
    assert_eq!(doubts(&messages), 0);
}

#[test]
fn a_start_ordinal_without_any_ordinal_leaves_the_other_signs() {
    let mut lines = fixture("mixed_ordinals");
    for line in &mut lines {
        line.as_object_mut().unwrap().remove("ordinal");
    }
    assert_eq!(texts(&messages_of(&lines)), ["own prompt", "same ordinal", "no ordinal"]);
}
