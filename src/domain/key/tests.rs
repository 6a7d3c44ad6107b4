//! Tests of the key grammar: exact spellings, refusals, and the round-trip property.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn conversation(native_id: &str) -> ConversationKey {
    ConversationKey::new("codex", "local", native_id).unwrap()
}

#[test]
fn a_conversation_key_names_provider_namespace_and_native_id() {
    let key = ConversationKey::new(Provider::ClaudeCode, "local", "0b5e").unwrap();
    assert_eq!(key.to_string(), "conversation:claude_code:local:0b5e");
}

#[test]
fn an_item_key_has_its_category_in_front_and_its_id_last() {
    let key = ItemKey::new(ItemCategory::Call, conversation("t1"), "call A").unwrap();
    assert_eq!(key.to_string(), "call:codex:local:t1:call%20A");
    assert_eq!(key.to_string().parse::<ItemKey>().unwrap(), key);
}

#[test]
fn the_escape_is_that_of_encode_uri_component() {
    assert_eq!(escape("AZaz09-_.!~*'()"), "AZaz09-_.!~*'()");
    assert_eq!(escape(":/ %\"#+"), "%3A%2F%20%25%22%23%2B");
    assert_eq!(escape("\u{e9}\u{1f600}\0"), "%C3%A9%F0%9F%98%80%00");
}

#[test]
fn a_colon_inside_a_component_forges_no_other_key() {
    let one = ConversationKey::new("codex", "a:b", "c").unwrap();
    let two = ConversationKey::new("codex", "a", "b:c").unwrap();
    assert_ne!(one.to_string(), two.to_string());
}

#[test]
fn an_empty_component_is_refused() {
    assert_eq!(ConversationKey::new("", "local", "x"), Err(KeyError::Blank(Component::Provider)));
    for blank in ["", " ", "\t\n", "\u{85}", "\u{a0}", "\u{feff}", "\u{3000} \u{feff}"] {
        assert_eq!(
            ConversationKey::new("codex", blank, "x"),
            Err(KeyError::Blank(Component::Namespace))
        );
        assert_eq!(
            ConversationKey::new("codex", "local", blank),
            Err(KeyError::Blank(Component::NativeId))
        );
        assert_eq!(
            ItemKey::new(ItemCategory::Turn, conversation("t"), blank),
            Err(KeyError::Blank(Component::ItemId))
        );
    }
    assert!(ConversationKey::new("codex", "local", " x ").is_ok());
    // A zero width space is not White_Space: it names something, however badly.
    assert!(ConversationKey::new("codex", "local", "\u{200b}").is_ok());
}

#[test]
fn letter_case_and_unicode_form_are_part_of_the_identity() {
    let spellings = ["abc", "ABC", "\u{e9}", "e\u{301}", "\u{130}", "i"];
    let keys: HashSet<String> = spellings.iter().map(|s| conversation(s).to_string()).collect();
    assert_eq!(keys.len(), spellings.len());
}

#[test]
fn the_parser_refuses_what_the_formatter_never_writes() {
    let refused = [
        ("conversation:codex:local:caf%c3%A9", KeyError::BadEscape(Component::NativeId)),
        ("conversation:codex:local:%41", KeyError::NotCanonical(Component::NativeId)),
        ("conversation:codex:local:a b", KeyError::NotCanonical(Component::NativeId)),
        ("conversation:codex:local:a/b", KeyError::NotCanonical(Component::NativeId)),
        ("conversation:codex:lo\u{e9}:a", KeyError::NotCanonical(Component::Namespace)),
        ("conversation:codex:local:a%", KeyError::BadEscape(Component::NativeId)),
        ("conversation:codex:local:a%2", KeyError::BadEscape(Component::NativeId)),
        ("conversation:codex:local:a%+1", KeyError::BadEscape(Component::NativeId)),
        ("conversation:codex:local:%FF", KeyError::NotUtf8(Component::NativeId)),
        ("conversation:codex:local:%ED%A0%80", KeyError::NotUtf8(Component::NativeId)),
        ("conversation:codex:local:", KeyError::Blank(Component::NativeId)),
        ("conversation:codex::a", KeyError::Blank(Component::Namespace)),
        ("conversation:codex:%EF%BB%BF:a", KeyError::Blank(Component::Namespace)),
        ("conversation:codex:local", KeyError::ComponentCount { expected: 3, found: 2 }),
        ("conversation:codex:local:a:b", KeyError::ComponentCount { expected: 3, found: 4 }),
        ("Conversation:codex:local:a", KeyError::Kind { expected: "conversation" }),
        ("call:codex:local:a:b", KeyError::Kind { expected: "conversation" }),
        ("", KeyError::Kind { expected: "a kind and a colon" }),
    ];
    for (text, error) in refused {
        assert_eq!(text.parse::<ConversationKey>(), Err(error), "{text}");
    }
    assert!("conversation:codex:local:a:b".parse::<ItemKey>().is_err());
    assert!("call:codex:local:a".parse::<ItemKey>().is_err());
    assert!("call:codex:local:a: b".parse::<ItemKey>().is_err());
}

#[test]
fn an_error_never_quotes_the_text() {
    let error = "conversation:codex:local:hunter2 x".parse::<ConversationKey>().unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

#[test]
fn keys_are_strings_on_the_wire() {
    let key = conversation("a b");
    let text = serde_json::to_string(&key).unwrap();
    assert_eq!(text, "\"conversation:codex:local:a%20b\"");
    assert_eq!(serde_json::from_str::<ConversationKey>(&text).unwrap(), key);
    assert!(serde_json::from_str::<ConversationKey>("7").is_err());
    assert!(serde_json::from_str::<ItemKey>("\"turn:codex:local:a\"").is_err());
}

fn component() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{1,12}", ".{1,12}", "[:%a ]{1,6}"]
        .prop_filter("a blank component is refused", |text| !is_blank(text))
}

proptest! {
    #[test]
    fn every_conversation_key_parses_back(p in component(), n in component(), i in component()) {
        let key = ConversationKey::new(p.as_str(), n, i).unwrap();
        let text = key.to_string();
        prop_assert!(text.is_ascii());
        prop_assert_eq!(text.matches(':').count(), 3);
        prop_assert_eq!(text.parse::<ConversationKey>().unwrap(), key);
    }

    #[test]
    fn every_item_key_parses_back(c in 0usize..4, i in component(), id in component()) {
        let key = ItemKey::new(ItemCategory::ALL[c], conversation(&i), id).unwrap();
        prop_assert_eq!(key.to_string().parse::<ItemKey>().unwrap(), key);
    }

    #[test]
    fn whatever_parses_is_spelled_canonically(text in "conversation(:([a-z%:\u{e9} ]|%[0-9A-Fa-f]{2}){0,5}){2,4}") {
        if let Ok(key) = text.parse::<ConversationKey>() {
            prop_assert_eq!(key.to_string(), text);
        }
    }
}
