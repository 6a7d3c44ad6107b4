//! One record at a time: what is taken, what is refused, and with which words.

use super::wire::{Told, is_known, read};
use crate::domain::provider::Provider;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const ID: &str = "11111111-1111-4111-8111-111111111111";
const OTHER: &str = "22222222-2222-4222-8222-222222222222";

fn base(kind: &str) -> Value {
    match kind {
        "event" => json!({"id": ID, "session_id": "s", "provider": "acme", "kind": "post_tool_use",
            "observed_at": "2026-03-01T10:00:00+00:00", "tool_name": null, "tool_input": null,
            "tool_response": null, "raw": null}),
        "evidence" => json!({"id": ID, "session_id": "s", "source_event_id": OTHER,
            "kind": "exit_code", "observed_at": "2026-03-01T10:00:00Z",
            "payload": {"command": "ls", "exit_code": 0}, "provenance": "acme:1:x#y"}),
        "claim" => json!({"id": ID, "session_id": "s", "source_event_id": OTHER,
            "text": "Done.", "subject": "test_result", "claimed_at": "2026-03-01T10:00:00Z"}),
        "capabilities" => json!({"provider": "acme", "notes": {"session_id": "s"},
            "supports_pre_tool_use": true}),
        "usage" => json!({"session_id": "s", "scope": "response", "input": 3}),
        "lineage" => json!({"conversation": "conversation:acme:local:s", "relation": "parent",
            "related": "conversation:acme:local:p"}),
        "turn" => json!({"session_id": "s", "fact": "cwd", "value": "/w"}),
        _ => json!({"session_id": "s", "reason": "text_cut", "detail": "text", "count": 3,
            "source": "x", "offset": 1, "length": 2, "path": ""}),
    }
}

const KINDS: [&str; 8] =
    ["event", "evidence", "claim", "capabilities", "usage", "lineage", "turn", "loss"];

/// Reads a record of `kind` with one key set to a value (or taken out, with null).
fn with(kind: &str, key: &str, value: Value) -> Result<super::Record, String> {
    let mut record = base(kind);
    record["type"] = json!(kind);
    record[key] = value;
    let Value::Object(map) = &record else { panic!("no object") };
    read(kind, map, record.to_string().as_bytes()).map_err(|refusal| refusal.detail(kind))
}

fn refused(kind: &str, key: &str, value: Value) -> String {
    with(kind, key, value).expect_err(key)
}

#[test]
fn a_minimal_record_of_every_type_is_taken_whole() {
    for kind in KINDS {
        let record = with(kind, "type", json!(kind)).unwrap();
        assert!(is_known(kind));
        assert_eq!(record.named.session_id, "s", "{kind}");
        assert_eq!(record.unknown, Vec::<String>::new(), "{kind}");
    }
    assert!(!is_known("finding"));
}

#[test]
fn a_refusal_names_the_key_and_the_rule_and_quotes_nothing() {
    let cases = [
        ("event", "id", json!(null), "event.id: missing"),
        (
            "event",
            "id",
            json!("AB111111-1111-4111-8111-111111111111"),
            "event.id: not a UUID in lower case with hyphens",
        ),
        (
            "event",
            "id",
            json!("00000000-0000-0000-0000-000000000000"),
            "event.id: not a UUID in lower case with hyphens",
        ),
        ("event", "kind", json!(7), "event.kind: not a string"),
        ("event", "kind", json!("a\u{1b}[0m"), "event.kind: not a tag"),
        ("event", "provider", json!(null), "event.provider: missing"),
        ("event", "provider", json!("unknown"), "event.provider: unknown"),
        ("event", "observed_at", json!("noon"), "event.observed_at: not an RFC 3339 time"),
        ("event", "turn_id", json!("t".repeat(2_000)), "event.turn_id: too long"),
        ("event", "session_id", json!(""), "event.session_id: empty"),
        ("event", "session_id", json!(" "), "event.session_id: missing"),
        (
            "event",
            "conversation",
            json!("conversation:acme:local:a b"),
            "event.conversation: not a canonical conversation key",
        ),
        (
            "event",
            "conversation",
            json!("conversation:acme:local:other"),
            "event.conversation: does not agree with the rest",
        ),
        (
            "event",
            "conversation",
            json!("conversation:codex:local:s"),
            "event.conversation: does not agree with the rest",
        ),
        ("claim", "conversation", json!("conversation:unknown:local:s"), "claim.provider: unknown"),
        (
            "evidence",
            "kind",
            json!("rumour"),
            "evidence.kind: not one of the five kinds of evidence",
        ),
        (
            "evidence",
            "payload",
            json!({"command": "ls", "exit_code": "0"}),
            "evidence.payload: not a canonical exit_code payload: a wrong value, expected i64",
        ),
        ("evidence", "source", json!("me"), "evidence.source: wrong shape"),
        ("claim", "text", json!(" "), "claim.text: empty"),
        (
            "claim",
            "source_event_id",
            json!("x"),
            "claim.source_event_id: not a UUID in lower case with hyphens",
        ),
        ("usage", "input", json!(-1), "usage.input: negative"),
        ("usage", "input", json!(1.5), "usage.input: not an integer"),
        ("usage", "scope", json!("day"), "usage.scope: not response, turn or snapshot"),
        ("lineage", "related", json!("p"), "lineage.related: not a canonical conversation key"),
        ("turn", "fact", json!("mood"), "turn.fact: not a known fact"),
        ("capabilities", "signals", json!([7]), "capabilities.signals: wrong shape"),
    ];
    for (kind, key, value, expected) in cases {
        assert_eq!(refused(kind, key, value), expected);
    }
}

#[test]
fn an_extra_key_of_a_payload_is_refused_and_one_of_the_record_is_told() {
    let payload = json!({"command": "ls", "exit_code": 0, "ingress": "built_in"});
    let told = refused("evidence", "payload", payload);
    assert!(told.contains("an extra key") && !told.contains("built_in"), "{told}");
    let record = with("evidence", "ingress", json!("built_in")).unwrap();
    assert_eq!(record.unknown, ["ingress"]);
}

#[test]
fn the_version_of_an_envelope_is_looked_at_before_anything_else_of_the_evidence() {
    let mut record = base("evidence");
    record["extension"] = json!({"schema_version": 3});
    record["kind"] = json!(7);
    let Value::Object(map) = &record else { panic!("no object") };
    let error = read("evidence", map, record.to_string().as_bytes()).unwrap_err();
    let told = error.detail("evidence");
    assert!(told.starts_with("evidence.extension: ") && told.contains('3'), "{told}");
    assert!(told.contains("incompatible"), "{told}");
}

#[test]
fn numbers_of_an_extension_keep_their_spelling() {
    let fields = r#"{"a":1.10,"b":1e400,"c":123456789012345678901234567890}"#;
    let text = format!(
        r#"{{"extension":{{"schema_version":1,"provider":"acme","adapter_version":"1",
            "content_class":"tool_telemetry","fields":{fields},"later":{{"x":1.0}}}},"#
    );
    let text = base("evidence").to_string().replacen('{', &text, 1);
    let found = crate::base::json::values(text.as_bytes()).0.pop().unwrap();
    let Value::Object(map) = &found.value else { panic!("no object") };
    let record = read("evidence", map, text.as_bytes()).unwrap();
    let Told::Evidence(evidence) = record.told else { panic!("no evidence") };
    let kept = evidence.extension.unwrap().to_json();
    assert!(kept.contains(fields) && kept.contains(r#""later":{"x":1.0}"#), "{kept}");
    assert!(kept.starts_with(r#"{"schema_version":1,"#), "{kept}");
}

#[test]
fn evidence_without_a_source_says_that_none_was_recorded() {
    let Told::Evidence(evidence) = with("evidence", "source", json!(null)).unwrap().told else {
        panic!("no evidence")
    };
    assert_eq!(evidence.source.sensor_name, "not_recorded");
    assert_eq!(evidence.source.provider, None::<Provider>);
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map("[a-z_]{1,8}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_of_any_key_gets_an_answer(
        kind in 0usize..KINDS.len(), key in 0usize..10, value in any_value(),
    ) {
        let kind = KINDS[kind];
        let record = base(kind);
        let keys: Vec<&String> = record.as_object().unwrap().keys().collect();
        let _ = with(kind, keys[key % keys.len()], value);
    }
}
