//! One Codex thread over several files, and files that hold or refer to another thread's history.

use crate::support::{TestEnv, rows};
use std::fs;
use std::path::Path;

/// A home that read these fixtures in this order.
fn read(cases: &[&str]) -> TestEnv {
    let env = TestEnv::new();
    for case in cases {
        let file = format!("{case}.jsonl");
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agents/codex").join(&file);
        env.ingest(&env.write(&format!("in/{file}"), fs::read(from).unwrap()));
    }
    env
}

/// Every event with its conversation, whatever order the files came in.
fn told(env: &TestEnv) -> Vec<String> {
    rows::texts(
        env,
        "SELECT c.native_id || ' ' || e.kind || ' ' || hex(e.uid) FROM event e
         JOIN conversation c ON c.id = e.conversation ORDER BY 1",
    )
}

fn of_kind(env: &TestEnv, kind: &str) -> usize {
    told(env).iter().filter(|line| line.contains(&format!(" {kind} "))).count()
}

#[test]
fn a_reverted_thread_is_one_session_whatever_order_its_files_are_read_in() {
    let env = read(&["reverted_thread_1", "reverted_thread_2", "reverted_thread_3"]);
    assert_eq!(env.sessions().len(), 1);
    assert_eq!(of_kind(&env, "session_start"), 1);
    assert_eq!(of_kind(&env, "user_prompt_submit"), 4);
    assert_eq!(of_kind(&env, "rolled_back"), 2);
    let other = read(&["reverted_thread_3", "reverted_thread_1", "reverted_thread_2"]);
    assert_eq!(told(&env), told(&other));
}

#[test]
fn a_fork_names_its_origin_and_repeats_none_of_it() {
    for case in ["fork_with_copied_history", "referenced_fork"] {
        let alone = read(&[case]);
        let forks = "SELECT related_key FROM visible_lineage WHERE relation = 'fork'";
        let origin = rows::texts(&alone, forks);
        assert_eq!(origin.len(), 1, "{case}");
        let prompts = rows::texts(
            &alone,
            "SELECT DISTINCT s.text FROM sighting s JOIN event e ON e.id = s.event
             WHERE e.kind = 'user_prompt_submit'",
        );
        assert_eq!(prompts, ["own prompt"], "{case}");
    }
}
