//! Reading on from a snapshot gives what reading through would have given.

use super::*;
use crate::ports::agent::Homes;
use proptest::prelude::*;
use std::path::PathBuf;

const CASES: &[&str] = &[
    "bare_lines",
    "code_mode",
    "continued_calls",
    "document",
    "fork_of_a_fork",
    "fork_with_copied_history",
    "fork_with_kept_times",
    "fork_without_source_meta",
    "fork_without_turn_ids",
    "mixed_ordinals",
    "paginated",
    "referenced_fork",
    "reverted_thread_2",
    "second_tellings",
    "subagent_start_ordinal",
    "turns_without_ids",
    "wrong_types",
];

proptest! {
    #[test]
    fn a_snapshot_at_any_line_goes_on_as_if_nothing_had_happened(
        case in prop::sample::select(CASES),
        cut in any::<prop::sample::Index>(),
    ) {
        let lines = fixture(case);
        let whole = outcomes(&lines);
        let cut = cut.index(lines.len() + 1);
        let mut first = adapter();
        let mut parts: Vec<_> = lines[..cut].iter().map(|l| first.normalize(HINT, l)).collect();
        let stored = serde_json::to_string(&first.snapshot()).unwrap();
        let mut second = adapter();
        prop_assert!(second.restore(&serde_json::from_str(&stored).unwrap()));
        parts.extend(lines[cut..].iter().map(|line| second.normalize(HINT, line)));
        prop_assert_eq!(parts, whole);
    }

    #[test]
    fn any_json_is_taken_without_a_panic(value in arb_json()) {
        let mut reader = adapter();
        let _ = reader.normalize(HINT, &value);
        let envelope = serde_json::json!({"type": "event_msg", "payload": value});
        let _ = reader.normalize(HINT, &envelope);
        let _ = CodexFamily.hook_adapter().normalize(HINT, &value);
    }
}

/// JSON whose keys and tags are often those of real lines.
fn arb_json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "type",
        "payload",
        "id",
        "message",
        "role",
        "user",
        "content",
        "item",
        "call_id",
        "output",
        "item_completed",
        "CommandExecution",
        "function_call_output",
        "token_count",
        "info",
        "exec_command_end",
        "changes",
        "session",
        "items",
        "status",
        "turn_id",
        "hook_event_name",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..6).prop_map(|members| {
                members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            }),
        ]
    })
}

#[test]
fn a_state_of_another_version_is_refused() {
    let mut reader = adapter();
    assert!(!reader.restore(&serde_json::json!({"version": 999})));
    assert!(!reader.restore(&Value::Null));
    let mut state = reader.snapshot();
    state["turn"] = Value::from("x");
    assert!(!reader.restore(&state));
}

#[test]
fn an_empty_home_variable_means_the_default_home() {
    let home = Some(PathBuf::from("/home/dev"));
    let roots = |value: Option<&str>| {
        let value = value.map(str::to_owned);
        let var = move |name: &str| (name == "CODEX_HOME").then(|| value.clone()).flatten();
        CodexFamily.roots(&Homes { var: &var, home: home.clone() })
    };
    let default = vec![
        PathBuf::from("/home/dev/.codex/sessions"),
        "/home/dev/.codex/archived_sessions".into(),
    ];
    assert_eq!(roots(Some("")), default);
    assert_eq!(roots(None), default);
    assert_eq!(roots(Some("/x"))[0], PathBuf::from("/x/sessions"));
}

#[test]
fn only_the_family_s_own_formats_have_a_reader() {
    for format in ["codex_rollout", "codex_rollout_bare", "codex_rollout_json", "codex_exec_stream"]
    {
        assert!(CodexFamily.file_adapter(format).is_some(), "{format}");
    }
    assert!(CodexFamily.file_adapter("claude_transcript").is_none());
}
