//! The walk over JSON values: keys, nested text, argument lists, and what stays.

use serde_json::{Value, json};

use super::noise;
use crate::app::redact::value;

fn redacted(mut input: Value) -> (Value, usize) {
    let count = value(&mut input).count;
    (input, count)
}

fn github() -> String {
    ["gh", "p_", &noise(36)].concat()
}

#[test]
fn strings_under_secret_keys_are_replaced() {
    for key in ["password", "clientSecret", "API_KEY", "x-api-key", "Set-Cookie", "Authorization"] {
        assert_eq!(
            redacted(json!({key: "x"})),
            (json!({key: "[REDACTED:secret_key]"}), 1),
            "{key}"
        );
    }
    let list = json!({"credentials": ["a", 1, ["b"]]});
    let marker = "[REDACTED:secret_key]";
    assert_eq!(redacted(list), (json!({"credentials": [marker, 1, [marker]]}), 2));
}

#[test]
fn numbers_counters_and_harmless_keys_stay() {
    let input = json!({
        "input_tokens": 12, "max_tokens": "4096", "token_count": "7", "tokens": ["a"],
        "author": "me", "authors": ["me"], "key": "k", "keys": ["k"], "keyword": "w",
        "session_id": "s", "tool_use_id": "t", "call_id": "c", "turn_id": "t", "uuid": "u",
        "promptId": "p", "token": 5, "password": null, "secret": true, "api_key": "",
    });
    assert_eq!(redacted(input.clone()), (input, 0));
}

#[test]
fn an_object_under_a_secret_key_is_judged_by_its_own_keys() {
    let schema = json!({"password": {"type": "string", "minLength": 8}});
    assert_eq!(redacted(schema.clone()), (schema, 0));
}

#[test]
fn random_identifiers_stay_and_issued_secrets_under_their_keys_go() {
    let id = noise(32);
    let ids = json!({"requestId": id, "signature": id, "uuid": [id]});
    assert_eq!(redacted(ids.clone()), (ids, 0));
    assert_eq!(redacted(json!({"text": id})).1, 1);
    assert_eq!(redacted(json!({"id": github()})), (json!({"id": "[REDACTED:github_token]"}), 1));
}

#[test]
fn a_secret_that_is_a_key_goes_and_its_value_stays() {
    let (value, count) = redacted(json!({github(): 1, "a": 2}));
    assert_eq!((value, count), (json!({"[REDACTED:github_token]": 1, "a": 2}), 1));
}

#[test]
fn secrets_that_are_keys_side_by_side_keep_both_values() {
    let other = ["gh", "o_", &noise(36)].concat();
    let (value, count) = redacted(json!({github(): 1, other: 2}));
    assert_eq!(count, 2);
    let mut values: Vec<_> = value.as_object().unwrap().values().map(Value::to_string).collect();
    values.sort();
    assert_eq!(values, ["1", "2"]);
}

#[test]
fn json_text_inside_a_string_is_redacted_in_place() {
    let input = json!({"arguments": "{ \"user\" : \"me\",\"password\":\"x\" }"});
    let expected =
        json!({"arguments": "{ \"user\" : \"me\",\"password\":\"[REDACTED:assignment]\" }"});
    assert_eq!(redacted(input), (expected, 1));
}

#[test]
fn the_argument_after_a_secret_flag_goes() {
    let input = json!({"command": ["login", "--password", "x", "--user", "me"]});
    let expected =
        json!({"command": ["login", "--password", "[REDACTED:secret_key]", "--user", "me"]});
    assert_eq!(redacted(input), (expected, 1));
}

#[test]
fn depth_costs_no_stack() {
    let mut nested = json!(github());
    for _ in 0..5_000 {
        nested = Value::Array(vec![nested]);
    }
    assert_eq!(value(&mut nested).count, 1);
    // Dropping it recursively would overflow a small stack, so it is taken apart.
    while let Value::Array(mut items) = nested {
        nested = items.pop().unwrap_or_default();
    }
    assert_eq!(nested, json!("[REDACTED:github_token]"));
}

#[test]
fn a_second_walk_finds_nothing() {
    let mut input = json!({
        "env": {"TOKEN": "abc", "note": github()}, github(): [noise(40), "--token", "abc"],
        "headers": {"authorization": "Bearer abc"}, "text": "password=hunter2",
    });
    assert_eq!(value(&mut input).count, 7);
    let once = input.clone();
    assert_eq!((value(&mut input).count, input), (0, once));
}
