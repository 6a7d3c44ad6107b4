//! The tree of conversations.

use super::*;
use proptest::prelude::*;

fn row(key: &str, parent: Option<&str>, first_us: i64) -> ConversationRow {
    ConversationRow {
        id: first_us,
        key: key.to_owned(),
        provider: "p".to_owned(),
        native_id: key.to_owned(),
        parent: parent.map(str::to_owned),
        forked_from: None,
        cwd: None,
        title: None,
        models: Vec::new(),
        agent_version: None,
        fork_position: None,
        agent_nickname: None,
        agent_role: None,
        agent_path: None,
        first_us: Some(first_us),
        last_us: Some(first_us),
        events: 0,
        failed_calls: 0,
        losses: 0,
        prompts: 0,
        first_prompt: None,
    }
}

fn shape(rows: Vec<ConversationRow>) -> Vec<String> {
    tree(rows).iter().map(|b| format!("{}{}", "-".repeat(b.depth), b.row.key)).collect()
}

#[test]
fn children_stand_below_their_parent_earliest_first_and_tops_keep_their_order() {
    let mut fork = row("f", None, 5);
    fork.forked_from = Some("a".to_owned());
    let rows = vec![
        row("z", None, 9),
        row("c2", Some("a"), 8),
        fork,
        row("a", None, 1),
        row("c1", Some("a"), 2),
        row("g", Some("c1"), 3),
        row("o", Some("gone"), 4),
    ];
    assert_eq!(shape(rows), ["z", "a", "-c1", "--g", "-f", "-c2", "o"]);
}

#[test]
fn a_circle_of_parents_loses_nobody() {
    let rows = vec![
        row("a", Some("b"), 1),
        row("b", Some("a"), 2),
        row("self", Some("self"), 3),
        row("child", Some("a"), 4),
    ];
    assert_eq!(shape(rows), ["a", "-child", "b", "self"]);
}

#[test]
fn an_id_is_shown_as_far_as_it_is_not_another_s() {
    let ids: Vec<String> = ["abc-1", "abc-22", "abd", "x"].map(str::to_owned).to_vec();
    let needed: Vec<usize> = ids.iter().map(|id| chars_needed(id, &ids)).collect();
    assert_eq!(needed, [5, 5, 3, 1]);
}

proptest! {
    #[test]
    fn every_row_is_told_once_whatever_the_parents(
        parents in proptest::collection::vec(proptest::option::of(0usize..12), 1..12),
    ) {
        let name = |n: usize| format!("k{n:02}");
        let rows: Vec<_> = parents
            .iter()
            .enumerate()
            .map(|(n, p)| row(&name(n), p.map(name).as_deref(), n as i64))
            .collect();
        let mut told: Vec<String> = tree(rows).into_iter().map(|b| b.row.key).collect();
        told.sort();
        prop_assert_eq!(told, (0..parents.len()).map(name).collect::<Vec<_>>());
    }
}
