//! Tests of the closed payload shapes.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// One full and one sparse valid payload of every shape.
fn valid() -> Vec<(EvidenceKind, Value)> {
    let observed = |inner: Value| {
        (EvidenceKind::ProcessObservation, json!({"description": "seen", "observation": inner}))
    };
    vec![
        (EvidenceKind::ExitCode, json!({"command": ["make"], "exit_code": -1, "heuristic": true})),
        (EvidenceKind::ExitCode, json!({"command": "make", "exit_code": 0})),
        (EvidenceKind::ExitCode, json!({"command": null, "exit_code": 0})),
        (EvidenceKind::ToolResult, json!({"summary": "3 files"})),
        (EvidenceKind::FileDiff, json!({"path": "a", "diff": "-x\n+y\n"})),
        (EvidenceKind::TranscriptExcerpt, json!({"text": ""})),
        (EvidenceKind::ProcessObservation, json!({"description": "seen"})),
        (EvidenceKind::ProcessObservation, json!({"description": "seen", "observation": null})),
        observed(json!({"observation_kind": "vcs_operation", "operation": "commit",
            "outcome": "nothing_to_commit"})),
        observed(json!({"observation_kind": "vcs_operation", "operation": "push",
            "outcome": "ref_updated", "commit_sha": "00ff", "branch": "main", "remote": "origin"})),
        observed(json!({"observation_kind": "file_write_observed", "claimed_path": "a",
            "exists": false, "consistent_with_claim": false})),
        observed(json!({"observation_kind": "file_write_observed", "claimed_path": "a",
            "exists": true, "modified_at": "2026-01-02T03:04:05Z", "consistent_with_claim": true})),
        observed(json!({"observation_kind": "command_duration", "duration_ms": 40})),
        observed(json!({"observation_kind": "working_tree_status_observed", "claimed_path": "a",
            "is_repo": true, "head_commit": "00ff", "path_is_dirty": true})),
        observed(json!({"observation_kind": "artifact_hash_verified", "path": "a",
            "sha256_hex": "00ff"})),
        observed(json!({"observation_kind": "ci_check_status", "repo": "o/r", "commit_sha": "00",
            "total_count": 3, "overall": "pending"})),
        observed(json!({"observation_kind": "vcs_branch_change", "action": "merged",
            "reference": "main"})),
        observed(json!({"observation_kind": "pull_request", "number": 7})),
        observed(json!({"observation_kind": "pull_request", "action": "auto_merge_enabled",
            "number": 7, "url": "https://example.org/o/r/pull/7", "repo": "o/r"})),
    ]
}

#[test]
fn every_valid_shape_is_accepted() {
    for (kind, payload) in valid() {
        assert_eq!(validate_canonical_payload(kind, &payload), Ok(()), "{payload}");
    }
}

#[test]
fn an_extra_key_is_refused_at_every_level() {
    for (kind, mut payload) in valid() {
        if payload["observation"].is_object() {
            let mut nested = payload.clone();
            nested["observation"]["extra"] = json!(1);
            assert!(validate_canonical_payload(kind, &nested).is_err(), "{nested}");
        }
        payload["extra"] = json!(1);
        let error = validate_canonical_payload(kind, &payload).unwrap_err();
        assert!(error.to_string().contains(kind.as_str()), "{error}");
    }
}

#[test]
fn a_missing_required_key_is_named() {
    let error = validate_canonical_payload(EvidenceKind::ExitCode, &json!({"exit_code": 0}));
    assert!(error.unwrap_err().to_string().contains("`command`"));
    for (kind, payload) in [
        (EvidenceKind::ExitCode, json!({"command": "x"})),
        (EvidenceKind::FileDiff, json!({"path": "a"})),
        (EvidenceKind::ProcessObservation, json!({"description": "x", "observation": {}})),
        (
            EvidenceKind::ProcessObservation,
            json!({"description": "x", "observation": {"observation_kind": "command_duration"}}),
        ),
    ] {
        assert!(validate_canonical_payload(kind, &payload).is_err(), "{payload}");
    }
}

#[test]
fn a_wrong_type_is_refused() {
    for code in [json!("0"), json!(0.0), json!(1.5), json!(null), json!(u64::MAX)] {
        let payload = json!({"command": "x", "exit_code": code});
        assert!(validate_canonical_payload(EvidenceKind::ExitCode, &payload).is_err(), "{payload}");
    }
    let vague = json!({"command": "x", "exit_code": 0, "heuristic": "no"});
    assert!(validate_canonical_payload(EvidenceKind::ExitCode, &vague).is_err());
}

#[test]
fn an_unknown_observation_word_is_refused() {
    for inner in [
        json!({"observation_kind": "telepathy"}),
        json!({"observation_kind": "vcs_operation", "operation": "rebase", "outcome": "created"}),
        json!({"observation_kind": 7}),
    ] {
        let payload = json!({"description": "x", "observation": inner});
        assert!(validate_canonical_payload(EvidenceKind::ProcessObservation, &payload).is_err());
    }
}

#[test]
fn an_array_in_field_order_is_no_object() {
    let flat = json!(["a", "b"]);
    assert!(validate_canonical_payload(EvidenceKind::FileDiff, &flat).is_err());
    let nested = json!({"description": "x", "observation": ["command_duration", 40]});
    assert!(validate_canonical_payload(EvidenceKind::ProcessObservation, &nested).is_err());
}

#[test]
fn an_error_never_quotes_the_payload() {
    let secret = "hunter2, expected hunter2";
    for payload in [
        json!({"command": "x", "exit_code": secret}),
        json!({"command": "x", "exit_code": 0, secret: 1}),
        json!({"command": "x", "exit_code": 0, "heuristic": secret}),
        json!(secret),
    ] {
        let error = validate_canonical_payload(EvidenceKind::ExitCode, &payload).unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
    let nested = json!({"description": "x", "observation": {"observation_kind": secret}});
    let error = validate_canonical_payload(EvidenceKind::ProcessObservation, &nested).unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

#[test]
fn kinds_are_closed_and_spelled_in_snake_case() {
    for kind in EvidenceKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), json!(kind.as_str()));
    }
    assert!(serde_json::from_value::<EvidenceKind>(json!("telepathy")).is_err());
}

fn any_json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        "[a-z]{1,4}".boxed(),
        proptest::sample::select(vec!["command", "exit_code", "observation", "description"])
            .prop_map(str::to_owned)
            .boxed()
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key.clone(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_gets_an_answer(payload in any_json()) {
        for kind in EvidenceKind::ALL {
            let _ = validate_canonical_payload(kind, &payload);
        }
    }

    #[test]
    fn what_the_structs_write_is_canonical(exit_code: i64, heuristic: bool, command in any_json()) {
        let payload = serde_json::to_value(ExitCodePayload { command, exit_code, heuristic });
        prop_assert!(validate_canonical_payload(EvidenceKind::ExitCode, &payload.unwrap()).is_ok());
    }
}
