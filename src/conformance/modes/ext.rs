//! Break modes of EXT.

use serde_json::Value;

use crate::conformance::contract::{Mode, Wrap};
use crate::conformance::subjects::{
    EnvelopeCodec, EnvelopeView, EvidenceView, Fired, LineView, NativeOutcome, NativeProbe,
    NewEnvelope,
};
use crate::domain::key::ConversationKey;

/// The modes.
pub const MODES: &[Mode] = &[
    Mode {
        name: "ext_v1_retired",
        must: &["EXT-01"],
        may: &[],
        defect: "the supported set is replaced instead of extended",
        seen: "",
        wrap: Wrap::Envelope(|inner, fired| broken(inner, fired, Defect::V1Retired)),
    },
    Mode {
        name: "ext_stamps_old_version",
        must: &["EXT-02"],
        may: &[],
        defect: "the writer's version constant is not bumped",
        seen: "",
        wrap: Wrap::Envelope(|inner, fired| broken(inner, fired, Defect::StampsOldVersion)),
    },
    Mode {
        name: "ext_version_ignored",
        must: &["EXT-03"],
        may: &[],
        defect: "any version number is accepted",
        seen: "first Fornax: the gate ran after the named keys, so a future envelope failed on those",
        wrap: Wrap::Envelope(|inner, fired| broken(inner, fired, Defect::VersionIgnored)),
    },
    Mode {
        name: "ext_drops_unknown",
        must: &["EXT-04"],
        may: &[],
        defect: "the struct has no catch-all for further keys",
        seen: "",
        wrap: Wrap::Envelope(|inner, fired| broken(inner, fired, Defect::DropsUnknown)),
    },
    Mode {
        name: "ext_class_collapsed",
        must: &["EXT-05"],
        may: &[],
        defect: "an unknown class becomes \"other\"",
        seen: "",
        wrap: Wrap::Envelope(|inner, fired| broken(inner, fired, Defect::ClassCollapsed)),
    },
    Mode {
        name: "ext_canonical_open",
        must: &["EXT-06"],
        may: &[],
        defect: "deny_unknown_fields is missing on a canonical payload",
        seen: "first Fornax: item_completed payloads carried three keys that the closed struct refuses",
        wrap: Wrap::Envelope(|inner, fired| broken(inner, fired, Defect::CanonicalOpen)),
    },
    Mode {
        name: "ext_envelope_closed",
        must: &["EXT-07"],
        may: &[],
        defect: "deny_unknown_fields is copied from the canonical payloads",
        seen: "",
        wrap: Wrap::Envelope(|inner, fired| broken(inner, fired, Defect::EnvelopeClosed)),
    },
    Mode {
        name: "ext_none_is_empty",
        must: &["EXT-08"],
        may: &[],
        defect: "a default value stands where an option belongs",
        seen: "",
        wrap: Wrap::Envelope(|inner, fired| broken(inner, fired, Defect::NoneIsEmpty)),
    },
    Mode {
        name: "ext_launders_unrecognised",
        must: &["EXT-09"],
        may: &[],
        defect: "an unknown shape is kept in an envelope, just in case",
        seen: "ADR 0004 considered log and preserve, and rejected it",
        wrap: Wrap::Native(|inner, fired| Box::new(Launders { inner, fired })),
    },
    Mode {
        name: "ext_provider_mismatch",
        must: &["EXT-10"],
        may: &[],
        defect: "envelopes are built by a helper that fills in constants",
        seen: "",
        wrap: Wrap::Native(|inner, fired| Box::new(ConstantOrigin { inner, fired })),
    },
    Mode {
        name: "ext_unknown_shadows",
        must: &["EXT-11"],
        may: &[],
        defect: "the flattened map is written after the named keys, unchecked",
        seen: "first Fornax: nothing stopped the unknown map from holding a named key",
        wrap: Wrap::Envelope(|inner, fired| broken(inner, fired, Defect::UnknownShadows)),
    },
    Mode {
        name: "ext_big_int_rounded",
        must: &["EXT-12"],
        may: &[],
        defect: "numbers go through a 64-bit float",
        seen: "first Fornax: preservation went through a parsed JSON map, which changes numbers",
        wrap: Wrap::Envelope(|inner, fired| broken(inner, fired, Defect::BigIntRounded)),
    },
    Mode {
        name: "ext_unbounded",
        must: &["EXT-14"],
        may: &[],
        defect: "there is no limit on size or depth",
        seen: "first Fornax: discriminators and envelopes were unbounded provider text",
        wrap: Wrap::Envelope(|inner, fired| broken(inner, fired, Defect::Unbounded)),
    },
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    V1Retired,
    StampsOldVersion,
    VersionIgnored,
    DropsUnknown,
    ClassCollapsed,
    CanonicalOpen,
    EnvelopeClosed,
    NoneIsEmpty,
    UnknownShadows,
    BigIntRounded,
    Unbounded,
}

/// An envelope codec with one defect; every other answer is the subject's own.
struct Broken {
    inner: Box<dyn EnvelopeCodec>,
    fired: Fired,
    defect: Defect,
}

fn broken(inner: Box<dyn EnvelopeCodec>, fired: Fired, defect: Defect) -> Box<dyn EnvelopeCodec> {
    Box::new(Broken { inner, fired, defect })
}

impl Broken {
    fn fire<T>(&self, value: T) -> T {
        self.fired.hit();
        value
    }

    /// Reads what the subject refused, where the defect would have accepted it.
    fn read_refused(&mut self, text: &str, refusal: String) -> Result<EnvelopeView, String> {
        match self.defect {
            Defect::VersionIgnored if refusal.contains("incompatible") => {
                let patched = with_version(text, "2").ok_or(refusal)?;
                self.fired.hit();
                self.inner.read(&patched)
            }
            Defect::UnknownShadows => {
                let value: Value = serde_json::from_str(text).map_err(|_| refusal.clone())?;
                let view = self.inner.read(&value.to_string()).map_err(|_| refusal)?;
                Ok(self.fire(view))
            }
            Defect::Unbounded => {
                let (bytes_max, depth_max) = self.inner.bounds();
                if text.len() <= bytes_max && text.matches('[').count() < depth_max {
                    return Err(refusal);
                }
                let small = self.inner.read(EMPTY)?;
                Ok(self.fire(EnvelopeView { fields: text.to_owned(), ..small }))
            }
            _ => Err(refusal),
        }
    }
}

const EMPTY: &str = r#"{"schema_version":2,"provider":"unknown","adapter_version":"","content_class":"","fields":null}"#;

impl EnvelopeCodec for Broken {
    fn read(&mut self, text: &str) -> Result<EnvelopeView, String> {
        let view = match self.inner.read(text) {
            Ok(view) => view,
            Err(refusal) => return self.read_refused(text, refusal),
        };
        match self.defect {
            Defect::V1Retired if view.schema_version == 1 => {
                Err(self.fire("incompatible schema_version 1, supported [2]".to_owned()))
            }
            Defect::EnvelopeClosed if !view.unknown.is_empty() => {
                Err(self.fire("unknown field".to_owned()))
            }
            Defect::ClassCollapsed if is_new_class(&view.content_class) => {
                Ok(self.fire(EnvelopeView { content_class: "other".to_owned(), ..view }))
            }
            _ => Ok(view),
        }
    }

    fn rewrite(&mut self, text: &str) -> Result<String, String> {
        let view = self.inner.read(text)?;
        let written = self.inner.rewrite(text)?;
        let changed = match self.defect {
            Defect::V1Retired if view.schema_version == 1 => {
                return Err(self.fire("incompatible schema_version 1, supported [2]".to_owned()));
            }
            Defect::StampsOldVersion => with_version(&written, "1").unwrap_or(written.clone()),
            Defect::DropsUnknown => named_only(&view),
            Defect::ClassCollapsed if is_new_class(&view.content_class) => {
                let class = Value::from(view.content_class.as_str());
                let from = format!("\"content_class\":{class}");
                written.replacen(&from, "\"content_class\":\"other\"", 1)
            }
            Defect::BigIntRounded => {
                let rounded: String = through_float(&view.fields);
                written.replacen(&view.fields, &rounded, 1)
            }
            _ => written.clone(),
        };
        if changed != written {
            self.fired.hit();
        }
        Ok(changed)
    }

    fn make(&mut self, new: &NewEnvelope, unknown: &[(&str, &str)]) -> Result<String, String> {
        let made = self.inner.make(new, unknown);
        match (self.defect, made) {
            (Defect::StampsOldVersion, Ok(text)) => {
                self.fired.hit();
                Ok(with_version(&text, "1").unwrap_or(text))
            }
            (Defect::UnknownShadows, Err(_)) => {
                let mut text = self.inner.make(new, &[])?;
                text.truncate(text.len().saturating_sub(1));
                for (name, value) in unknown {
                    text.push_str(&format!(",\"{name}\":{value}"));
                }
                text.push('}');
                Ok(self.fire(text))
            }
            (_, made) => made,
        }
    }

    fn carry(&mut self, envelope: Option<&str>) -> Result<String, String> {
        match (self.defect, envelope) {
            (Defect::NoneIsEmpty, None) => {
                self.fired.hit();
                self.inner.carry(Some(EMPTY))
            }
            _ => self.inner.carry(envelope),
        }
    }

    fn carried(&mut self, record: &str) -> Result<Option<String>, String> {
        let carried = self.inner.carried(record)?;
        match (self.defect, carried) {
            (Defect::NoneIsEmpty, None) => Ok(Some(self.fire(EMPTY.to_owned()))),
            (_, carried) => Ok(carried),
        }
    }

    fn validate_payload(&mut self, kind: &str, payload: &Value) -> Result<(), String> {
        let refusal = match self.inner.validate_payload(kind, payload) {
            Ok(()) => return Ok(()),
            Err(refusal) => refusal,
        };
        if self.defect != Defect::CanonicalOpen {
            return Err(refusal);
        }
        let open = without_one_key(payload)
            .into_iter()
            .any(|smaller| self.inner.validate_payload(kind, &smaller).is_ok());
        if !open {
            return Err(refusal);
        }
        self.fired.hit();
        Ok(())
    }

    fn bounds(&self) -> (usize, usize) {
        self.inner.bounds()
    }
}

fn is_new_class(class: &str) -> bool {
    !crate::domain::envelope::ContentClass::from_tag(class).is_known()
}

/// The text with its first version number replaced.
fn with_version(text: &str, version: &str) -> Option<String> {
    let (before, after) = text.split_once("\"schema_version\":")?;
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    Some(format!("{before}\"schema_version\":{version}{rest}"))
}

fn named_only(view: &EnvelopeView) -> String {
    let quote = |text: &str| Value::from(text).to_string();
    format!(
        "{{\"schema_version\":{},\"provider\":{},\"adapter_version\":{},\"content_class\":{},\"fields\":{}}}",
        view.schema_version,
        quote(&view.provider),
        quote(&view.adapter_version),
        quote(&view.content_class),
        view.fields
    )
}

/// The text with every bare number read as a float and written again.
fn through_float(text: &str) -> String {
    let mut rounded = String::new();
    let mut number = String::new();
    let mut in_string = false;
    let mut escaped = false;
    for c in text.chars().chain(std::iter::once(' ')) {
        if !in_string && (c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')) {
            number.push(c);
            continue;
        }
        rounded.push_str(&float_spelling(&number));
        number.clear();
        rounded.push(c);
        match c {
            '"' if !escaped => in_string = !in_string,
            '\\' if in_string && !escaped => {
                escaped = true;
                continue;
            }
            _ => {}
        }
        escaped = false;
    }
    rounded.trim_end().to_owned()
}

fn float_spelling(number: &str) -> String {
    match number.parse::<f64>() {
        Ok(float) => Value::from(float).to_string(),
        Err(_) => number.to_owned(),
    }
}

/// Every payload that lacks one key, of its own or of its observation.
fn without_one_key(payload: &Value) -> Vec<Value> {
    let mut smaller = Vec::new();
    for place in ["", "/observation"] {
        let Some(object) = payload.pointer(place).and_then(Value::as_object) else {
            continue;
        };
        for key in object.keys() {
            let mut copy = payload.clone();
            if let Some(object) = copy.pointer_mut(place).and_then(Value::as_object_mut) {
                object.remove(key);
            }
            smaller.push(copy);
        }
    }
    smaller
}

struct Launders {
    inner: Box<dyn NativeProbe>,
    fired: Fired,
}

impl NativeProbe for Launders {
    fn conversation_of(&mut self, path: &str, lines: &[Value]) -> Result<ConversationKey, String> {
        self.inner.conversation_of(path, lines)
    }

    fn read_lines(&mut self, lines: &[Value]) -> Result<Vec<LineView>, String> {
        let mut views = self.inner.read_lines(lines)?;
        for (view, line) in views.iter_mut().zip(lines) {
            if view.outcome == NativeOutcome::Unrecognized {
                self.fired.hit();
                let kept = EMPTY.replace("null", &line.to_string());
                view.outcome = NativeOutcome::Messages;
                view.evidence =
                    vec![EvidenceView { provider: "unknown".to_owned(), extension: Some(kept) }];
            }
        }
        Ok(views)
    }
}

struct ConstantOrigin {
    inner: Box<dyn NativeProbe>,
    fired: Fired,
}

impl NativeProbe for ConstantOrigin {
    fn conversation_of(&mut self, path: &str, lines: &[Value]) -> Result<ConversationKey, String> {
        self.inner.conversation_of(path, lines)
    }

    fn read_lines(&mut self, lines: &[Value]) -> Result<Vec<LineView>, String> {
        let mut views = self.inner.read_lines(lines)?;
        let envelopes = views.iter_mut().flat_map(|view| &mut view.evidence);
        for text in envelopes.filter_map(|evidence| evidence.extension.as_mut()) {
            let parsed = serde_json::from_str::<Value>(text).map_err(|error| error.to_string())?;
            let mut envelope = parsed;
            if let Some(object) = envelope.as_object_mut() {
                object.insert("provider".to_owned(), Value::from("claude_code"));
                object.insert("adapter_version".to_owned(), Value::from(""));
            }
            *text = envelope.to_string();
            self.fired.hit();
        }
        Ok(views)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bare_numbers_go_through_the_float() {
        assert_eq!(through_float("[1e400,\"1e400 \\\" 7\",1.10]"), "[null,\"1e400 \\\" 7\",1.1]");
        assert_eq!(through_float("{\"a\":true}"), "{\"a\":true}");
    }

    #[test]
    fn a_class_that_is_known_is_never_collapsed() {
        assert!(!is_new_class("tool_telemetry"));
        assert!(is_new_class("other"));
    }
}
