//! What parses is canonical: it is written back as it was read.
#![no_main]
use fornax::domain::envelope::ExtensionEnvelope;
use fornax::domain::key::ConversationKey;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(key) = text.parse::<ConversationKey>() {
        assert_eq!(key.to_string(), text);
    }
    if let Ok(envelope) = ExtensionEnvelope::parse(text) {
        let written = envelope.to_json();
        assert_eq!(ExtensionEnvelope::parse(&written).unwrap().to_json(), written);
    }
});
