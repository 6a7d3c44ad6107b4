//! Tests of the extension envelope: the gate, what survives, and the bounds.

use proptest::prelude::*;

use super::*;

const V1: &str = r#"{"schema_version":1,"provider":"codex","adapter_version":"0.0.1","content_class":"raw_provider_metadata","fields":{"k":1},"future_key":{"kept":true}}"#;
const V2: &str = r#"{"schema_version":2,"provider":"open_code","adapter_version":"0.0.3","content_class":"tool_telemetry","fields":{"title":"list files","truncated":false}}"#;

fn with_fields(fields: &str) -> String {
    format!(
        r#"{{"schema_version":2,"provider":"codex","adapter_version":"1","content_class":"tool_telemetry","fields":{fields}}}"#
    )
}

#[test]
fn both_supported_versions_read_and_write_back_unchanged() {
    for (text, version) in [(V1, 1), (V2, 2)] {
        let envelope = ExtensionEnvelope::parse(text).unwrap();
        assert_eq!(envelope.schema_version(), version);
        assert_eq!(envelope.to_json(), text);
        assert_eq!(serde_json::to_string(&envelope).unwrap(), text);
    }
}

#[test]
fn a_new_envelope_carries_the_current_version() {
    let envelope = ExtensionEnvelope::from_value(
        Provider::Codex,
        "0.1.0",
        ContentClass::ToolTelemetry,
        &serde_json::json!({"b": 1, "a": "x"}),
    )
    .unwrap();
    assert_eq!(envelope.schema_version(), 2);
    assert_eq!(ExtensionEnvelope::parse(&envelope.to_json()).unwrap(), envelope);
    assert!(envelope.to_json().ends_with(r#""fields":{"a":"x","b":1}}"#));
}

#[test]
fn an_unsupported_version_is_named_before_anything_else_is_looked_at() {
    let deep = "[".repeat(200_000);
    let long = format!("\"{}\"", "x".repeat(100_000));
    for rest in [
        "",
        r#","provider":7,"fields":null"#,
        r#","provider":"codex","provider":"codex""#,
        &format!(r#","later":{long}"#),
        &format!(r#","later":{deep}"#),
        r#","bad":"\ud800","\udc00":1"#,
    ] {
        for version in ["3", "0", "-1", "1.0", "2e0", "4294967298"] {
            let text =
                format!(r#"{{"later":{{"schema_version":2}},"schema_version":{version}{rest}}}"#);
            let error = ExtensionEnvelope::parse(&text).unwrap_err();
            assert_eq!(error, EnvelopeError::Incompatible { found: version.to_owned() });
            let message = error.to_string();
            assert!(message.contains("incompatible"), "{message}");
            assert!(message.contains("[1, 2]") && message.contains(version), "{message}");
        }
    }
}

#[test]
fn a_version_that_is_no_number_or_is_missing_is_refused() {
    for version in ["\"2\"", "null", "true", "[2]", "{}"] {
        let text = format!(r#"{{"schema_version":{version}}}"#);
        let error = ExtensionEnvelope::parse(&text).unwrap_err();
        assert!(matches!(error, EnvelopeError::WrongType { key: VERSION, .. }), "{text}");
    }
    assert_eq!(ExtensionEnvelope::parse("{}"), Err(EnvelopeError::Missing(VERSION)));
}

#[test]
fn a_text_that_is_no_object_is_refused() {
    for text in ["7", "\"x\"", "null", "[1]"] {
        assert_eq!(ExtensionEnvelope::parse(text), Err(EnvelopeError::NotAnObject), "{text}");
    }
    for text in ["", "nul", "{\"schema_version\":2,}", "{\"schema_version\":2} x"] {
        let error = ExtensionEnvelope::parse(text).unwrap_err();
        assert!(matches!(error, EnvelopeError::Malformed { .. }), "{text}: {error}");
    }
}

#[test]
fn every_named_key_is_required_and_typed() {
    for key in NAMED_KEYS {
        let value: Value = serde_json::from_str(V2).unwrap();
        let mut object = value.as_object().unwrap().clone();
        object.remove(key);
        let text = Value::from(object.clone()).to_string();
        assert_eq!(ExtensionEnvelope::parse(&text), Err(EnvelopeError::Missing(key)));
        if key != FIELDS {
            object.insert(key.to_owned(), Value::Null);
            let text = Value::from(object).to_string();
            let error = ExtensionEnvelope::parse(&text).unwrap_err();
            assert!(matches!(error, EnvelopeError::WrongType { .. }), "{key}: {error}");
        }
    }
    assert!(ExtensionEnvelope::parse(&with_fields("null")).is_ok());
}

#[test]
fn numbers_and_unicode_keep_their_spelling() {
    let fields =
        r#"[123456789012345678901234567890,1e400,1.10,-0,1E+2,"\u00e9\ud83d\ude00","\ud800"]"#;
    let envelope = ExtensionEnvelope::parse(&with_fields(fields)).unwrap();
    assert_eq!(envelope.fields().get(), fields);
    assert_eq!(envelope.to_json(), with_fields(fields));
}

#[test]
fn white_space_between_tokens_goes_so_that_the_envelope_is_one_line() {
    let text = with_fields("{\n  \"a\": [ 1.10,\r\n 2 ], \"b c\": \"d e\" }");
    let envelope = ExtensionEnvelope::parse(&text).unwrap();
    assert_eq!(envelope.fields().get(), r#"{"a":[1.10,2],"b c":"d e"}"#);
}

#[test]
fn an_unknown_key_cannot_shadow_a_named_one() {
    let value = raw("1".to_owned()).unwrap();
    for key in NAMED_KEYS {
        let envelope = ExtensionEnvelope::parse(V2).unwrap();
        assert_eq!(envelope.with_unknown(key, &value), Err(EnvelopeError::ReservedKey));
    }
    let envelope = ExtensionEnvelope::parse(V1).unwrap();
    assert_eq!(envelope.with_unknown("future_key", &value), Err(EnvelopeError::DuplicateKey));
    for twice in [r#""fields":1"#, r#""x":1,"x":2"#, r#""\u0066ields":1"#, r#""schema_version":2"#]
    {
        let text = V2.replace("}}", &format!("}},{twice}}}"));
        assert_eq!(ExtensionEnvelope::parse(&text), Err(EnvelopeError::DuplicateKey), "{text}");
    }
}

#[test]
fn unknown_classes_and_providers_keep_their_words() {
    let text = V2.replace("tool_telemetry", "Novel class").replace("open_code", "acme");
    let envelope = ExtensionEnvelope::parse(&text).unwrap();
    assert_eq!(envelope.content_class().as_str(), "Novel class");
    assert_eq!(envelope.provider().as_str(), "acme");
    assert_eq!(envelope.to_json(), text);
}

#[test]
fn size_and_depth_are_bounded_exactly() {
    let room = ENVELOPE_BYTES_MAX - with_fields("\"\"").len();
    let fits = with_fields(&format!("\"{}\"", "x".repeat(room)));
    assert!(ExtensionEnvelope::parse(&fits).is_ok());
    let spills = with_fields(&format!("\"{}\"", "x".repeat(room + 1)));
    assert_eq!(
        ExtensionEnvelope::parse(&spills),
        Err(EnvelopeError::TooLarge { bytes: ENVELOPE_BYTES_MAX + 1 })
    );
    let nested = |depth: usize| with_fields(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    assert!(ExtensionEnvelope::parse(&nested(ENVELOPE_DEPTH_MAX - 1)).is_ok());
    assert_eq!(
        ExtensionEnvelope::parse(&nested(ENVELOPE_DEPTH_MAX)),
        Err(EnvelopeError::TooDeep { depth: ENVELOPE_DEPTH_MAX + 1 })
    );
    assert!(ExtensionEnvelope::parse(&nested(30_000)).is_err());
}

#[test]
fn a_new_envelope_is_bounded_like_a_read_one() {
    let big = raw(format!("\"{}\"", "x".repeat(ENVELOPE_BYTES_MAX))).unwrap();
    let made = ExtensionEnvelope::new(Provider::Codex, "1", ContentClass::ToolTelemetry, &big);
    assert!(matches!(made, Err(EnvelopeError::TooLarge { .. })));
    let small = ExtensionEnvelope::parse(V2).unwrap();
    assert!(matches!(small.with_unknown("x", &big), Err(EnvelopeError::TooLarge { .. })));
}

#[derive(Serialize, Deserialize)]
struct Holder {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extension: Option<ExtensionEnvelope>,
}

#[test]
fn an_embedded_envelope_keeps_its_text() {
    let text = format!("{{\"extension\":{}}}", with_fields("1e400"));
    let holder: Holder = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&holder).unwrap(), text);
    let absent: Holder = serde_json::from_str("{}").unwrap();
    assert_eq!(serde_json::to_string(&absent).unwrap(), "{}");
    let future = text.replace("\"schema_version\":2", "\"schema_version\":9");
    let error = serde_json::from_str::<Holder>(&future).err().unwrap().to_string();
    assert!(error.contains("incompatible") && error.contains('9'), "{error}");
}

/// JSON text whose scalars are spelled in many ways, with white space here and there.
fn json_text() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?",
        ".{0,8}".prop_map(|text| Value::from(text).to_string()),
        Just("\"\\ud800\\u00e9\"".to_owned()),
    ];
    scalar.prop_recursive(5, 32, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[ {}\n]", items.join(" ,"))),
            proptest::collection::vec(("[a-z\"\\\\]{0,4}", inner), 0..4).prop_map(|entries| {
                let entries: Vec<String> = entries
                    .into_iter()
                    .map(|(key, value)| format!("{} : {value}", Value::from(key)))
                    .collect();
                format!("{{{}}}", entries.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn reading_what_was_written_changes_nothing(
        fields in json_text(),
        unknown in proptest::collection::btree_map("[a-z]{1,3}_x", json_text(), 0..3),
        class in ".{0,6}",
        version in 1u32..3,
    ) {
        let mut text = format!(
            r#"{{"content_class":{},"schema_version":{version},"fields":{fields},"provider":"codex","adapter_version":"1""#,
            Value::from(class.as_str())
        );
        for (name, value) in &unknown {
            text.push_str(&format!(",{}:{value}", Value::from(name.as_str())));
        }
        text.push('}');
        let once = ExtensionEnvelope::parse(&text).unwrap();
        let twice = ExtensionEnvelope::parse(&once.to_json()).unwrap();
        prop_assert_eq!(once.to_json(), twice.to_json());
        prop_assert_eq!(once.to_json(), serde_json::to_string(&once).unwrap());
        prop_assert_eq!(once.fields().get(), scan::compact(&fields));
        prop_assert_eq!(once.schema_version(), version);
        prop_assert_eq!(once.content_class().as_str(), class);
        prop_assert_eq!(once.unknown().count(), unknown.len());
        prop_assert!(!once.to_json().contains('\n'));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[{}\\[\\]\":,a-z0-9\\\\ ]{0,60}") {
        let _ = ExtensionEnvelope::parse(&text);
    }
}
