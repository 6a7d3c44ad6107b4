//! Break modes of IDN.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::conformance::builtin::parts_of;
use crate::conformance::contract::{Mode, Wrap};
use crate::conformance::subjects::{Fired, KeyCodec, KeyParts, LineView, NativeProbe, ParsedKey};
use crate::domain::key::{ConversationKey, ItemCategory, escape, is_blank};

/// The modes.
pub const MODES: &[Mode] = &[
    Mode {
        name: "idn_unescaped_delimiter",
        must: &["IDN-02"],
        may: &[],
        defect: "the key is built by joining with a colon",
        seen: "",
        wrap: Wrap::Keys(|inner, fired| respell(inner, fired, |key| key.replace("%3A", ":"))),
    },
    Mode {
        name: "idn_percent_not_escaped",
        must: &["IDN-03"],
        may: &[],
        defect: "only the colon is escaped, not the escape character",
        seen: "",
        wrap: Wrap::Keys(|inner, fired| respell(inner, fired, |key| key.replace("%25", "%"))),
    },
    Mode {
        name: "idn_lowercase_hex",
        must: &["IDN-04"],
        may: &[],
        defect: "another percent-encoder's default: lowercase hex",
        seen: "",
        wrap: Wrap::Keys(|inner, fired| respell(inner, fired, lowercase_escapes)),
    },
    Mode {
        name: "idn_normalises_unicode",
        must: &["IDN-05"],
        may: &[],
        defect: "ids are helpfully brought to Unicode form C",
        seen: "",
        wrap: Wrap::Keys(|inner, fired| remake(inner, fired, compose)),
    },
    Mode {
        name: "idn_lowercases",
        must: &["IDN-06"],
        may: &[],
        defect: "ids are treated as UUIDs and lowercased",
        seen: "",
        wrap: Wrap::Keys(|inner, fired| remake(inner, fired, |text| text.to_lowercase())),
    },
    Mode {
        name: "idn_blank_allowed",
        must: &["IDN-07"],
        may: &[],
        defect: "is_empty is asked without trimming",
        seen: "first Fornax: an item without an id used an empty native id, and ids collided",
        wrap: Wrap::Keys(|inner, fired| Box::new(BlankAllowed { inner, fired })),
    },
    Mode {
        name: "idn_namespace_dropped",
        must: &["IDN-08"],
        may: &[],
        defect: "one machine is assumed, so the namespace is a constant",
        seen: "",
        wrap: Wrap::Keys(|inner, fired| respell(inner, fired, constant_namespace)),
    },
    Mode {
        name: "idn_item_kind_dropped",
        must: &["IDN-09"],
        may: &[],
        defect: "call and turn ids share a map",
        seen: "",
        wrap: Wrap::Keys(|inner, fired| respell(inner, fired, constant_category)),
    },
    Mode {
        name: "idn_truncates_component",
        must: &["IDN-10"],
        may: &[],
        defect: "a column width or file-name limit cuts the id",
        seen: "",
        wrap: Wrap::Keys(|inner, fired| {
            remake(inner, fired, |text| text.chars().take(64).collect())
        }),
    },
    Mode {
        name: "idn_lenient_parse",
        must: &["IDN-11"],
        may: &[],
        defect: "the percent-decoder accepts anything",
        seen: "",
        wrap: Wrap::Keys(|inner, fired| Box::new(LenientParse { inner, fired })),
    },
    Mode {
        name: "idn_key_from_path",
        must: &["IDN-12"],
        may: &[],
        defect: "the file's path is the identity",
        seen: "Titan's harness contracts: relocating a file must not rename its conversation",
        wrap: Wrap::Native(|inner, fired| {
            Box::new(OtherNativeId { inner, fired, choose: |path, _| Some(path.to_owned()) })
        }),
    },
    Mode {
        name: "idn_tree_id_as_conversation",
        must: &["IDN-13"],
        may: &[],
        defect: "session_id is read instead of id",
        seen: "Titan's harness contracts: session_id may identify the entire spawned tree",
        wrap: Wrap::Native(|inner, fired| {
            Box::new(OtherNativeId { inner, fired, choose: |_, lines| tree_id(lines) })
        }),
    },
];

/// A writer with another spelling, and a reader that knows the keys which that writer made.
struct Respelt {
    inner: Box<dyn KeyCodec>,
    fired: Fired,
    spell: fn(&str) -> String,
    written: BTreeMap<String, String>,
}

fn respell(inner: Box<dyn KeyCodec>, fired: Fired, spell: fn(&str) -> String) -> Box<dyn KeyCodec> {
    Box::new(Respelt { inner, fired, spell, written: BTreeMap::new() })
}

impl Respelt {
    fn write(&mut self, key: String) -> String {
        let spelt = (self.spell)(&key);
        if spelt != key {
            self.fired.hit();
            self.written.entry(spelt.clone()).or_insert(key);
        }
        spelt
    }
}

impl KeyCodec for Respelt {
    fn conversation(&mut self, parts: &KeyParts) -> Result<String, String> {
        let key = self.inner.conversation(parts)?;
        Ok(self.write(key))
    }

    fn item(
        &mut self,
        category: ItemCategory,
        parts: &KeyParts,
        item_id: &str,
    ) -> Result<String, String> {
        let key = self.inner.item(category, parts, item_id)?;
        Ok(self.write(key))
    }

    fn parse(&mut self, key: &str) -> Result<ParsedKey, String> {
        let key = self.written.get(key).map_or(key, String::as_str);
        self.inner.parse(key)
    }
}

/// Lowercases the two digits after each percent sign.
fn lowercase_escapes(key: &str) -> String {
    let mut digits_left = 0;
    key.chars()
        .map(|c| {
            let in_escape = digits_left > 0;
            digits_left = if c == '%' { 2 } else { digits_left.max(1) - 1 };
            if in_escape { c.to_ascii_lowercase() } else { c }
        })
        .collect()
}

fn replace_part(key: &str, index: usize, with: &str) -> String {
    let mut parts: Vec<&str> = key.split(':').collect();
    if let Some(part) = parts.get_mut(index) {
        *part = with;
    }
    parts.join(":")
}

fn constant_namespace(key: &str) -> String {
    replace_part(key, 2, "local")
}

fn constant_category(key: &str) -> String {
    if key.starts_with("conversation:") { key.to_owned() } else { replace_part(key, 0, "item") }
}

/// A writer that changes components before they are escaped.
struct Remade {
    inner: Box<dyn KeyCodec>,
    fired: Fired,
    change: fn(&str) -> String,
}

fn remake(inner: Box<dyn KeyCodec>, fired: Fired, change: fn(&str) -> String) -> Box<dyn KeyCodec> {
    Box::new(Remade { inner, fired, change })
}

impl Remade {
    fn apply(&self, text: &str) -> String {
        let changed = (self.change)(text);
        if changed != text {
            self.fired.hit();
        }
        changed
    }

    fn parts(&self, parts: &KeyParts) -> KeyParts {
        KeyParts {
            provider: self.apply(&parts.provider),
            namespace: self.apply(&parts.namespace),
            native_id: self.apply(&parts.native_id),
        }
    }
}

impl KeyCodec for Remade {
    fn conversation(&mut self, parts: &KeyParts) -> Result<String, String> {
        let parts = self.parts(parts);
        self.inner.conversation(&parts)
    }

    fn item(
        &mut self,
        category: ItemCategory,
        parts: &KeyParts,
        item_id: &str,
    ) -> Result<String, String> {
        let (parts, item_id) = (self.parts(parts), self.apply(item_id));
        self.inner.item(category, &parts, &item_id)
    }

    fn parse(&mut self, key: &str) -> Result<ParsedKey, String> {
        self.inner.parse(key)
    }
}

/// Composes the few pairs that the contract uses, as Unicode form C would.
fn compose(text: &str) -> String {
    let pairs = [
        ("e\u{301}", "\u{e9}"),
        ("n\u{303}", "\u{f1}"),
        ("u\u{308}", "\u{fc}"),
        ("a\u{30a}", "\u{e5}"),
    ];
    pairs.iter().fold(text.to_owned(), |text, (apart, one)| text.replace(apart, one))
}

struct BlankAllowed {
    inner: Box<dyn KeyCodec>,
    fired: Fired,
}

impl BlankAllowed {
    fn joined(&self, kind: &str, components: &[&str]) -> Result<String, String> {
        if components.iter().any(|component| component.is_empty()) {
            return Err("a component is empty".to_owned());
        }
        self.fired.hit();
        let escaped: Vec<String> = components.iter().map(|component| escape(component)).collect();
        Ok(format!("{kind}:{}", escaped.join(":")))
    }
}

impl KeyCodec for BlankAllowed {
    fn conversation(&mut self, parts: &KeyParts) -> Result<String, String> {
        let components = [&parts.provider, &parts.namespace, &parts.native_id].map(String::as_str);
        match self.inner.conversation(parts) {
            Err(_) => self.joined("conversation", &components),
            made => made,
        }
    }

    fn item(
        &mut self,
        category: ItemCategory,
        parts: &KeyParts,
        item_id: &str,
    ) -> Result<String, String> {
        let components = [&parts.provider, &parts.namespace, &parts.native_id].map(String::as_str);
        let [provider, namespace, native_id] = components;
        match self.inner.item(category, parts, item_id) {
            Err(_) => self.joined(category.as_str(), &[provider, namespace, native_id, item_id]),
            made => made,
        }
    }

    fn parse(&mut self, key: &str) -> Result<ParsedKey, String> {
        let refused = match self.inner.parse(key) {
            Err(refused) => refused,
            parsed => return parsed,
        };
        let components: Vec<String> = key.split(':').skip(1).map(decode_anything).collect();
        match components.as_slice() {
            [provider, namespace, native_id]
                if !native_id.is_empty() && components.iter().any(|part| is_blank(part)) =>
            {
                self.fired.hit();
                let conversation = KeyParts::new(provider, namespace, native_id);
                Ok(ParsedKey { conversation, item: None })
            }
            _ => Err(refused),
        }
    }
}

/// Decodes escapes in any letter case and lets everything else through.
fn decode_anything(text: &str) -> String {
    let mut decoded = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let digits = match (first, tail) {
            (b'%', [high, low, ..]) => {
                let pair = [*high, *low];
                std::str::from_utf8(&pair).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())
            }
            _ => None,
        };
        match digits {
            Some(byte) => {
                decoded.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => decoded.push(*first),
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

struct LenientParse {
    inner: Box<dyn KeyCodec>,
    fired: Fired,
}

impl KeyCodec for LenientParse {
    fn conversation(&mut self, parts: &KeyParts) -> Result<String, String> {
        self.inner.conversation(parts)
    }

    fn item(
        &mut self,
        category: ItemCategory,
        parts: &KeyParts,
        item_id: &str,
    ) -> Result<String, String> {
        self.inner.item(category, parts, item_id)
    }

    fn parse(&mut self, key: &str) -> Result<ParsedKey, String> {
        if let Ok(parsed) = self.inner.parse(key) {
            return Ok(parsed);
        }
        let mut components = key.trim().split(':');
        let kind = components.next().unwrap_or_default();
        let decoded: Vec<String> =
            components.map(|component| escape(&decode_anything(component))).collect();
        let parsed = self.inner.parse(&format!("{kind}:{}", decoded.join(":")))?;
        self.fired.hit();
        Ok(parsed)
    }
}

/// Chooses a native id from the path and the lines instead of the adapter's.
type ChooseId = fn(&str, &[Value]) -> Option<String>;

/// A reader that names the conversation by something else.
struct OtherNativeId {
    inner: Box<dyn NativeProbe>,
    fired: Fired,
    choose: ChooseId,
}

impl NativeProbe for OtherNativeId {
    fn conversation_of(&mut self, path: &str, lines: &[Value]) -> Result<ConversationKey, String> {
        let key = self.inner.conversation_of(path, lines)?;
        let parts = parts_of(&key);
        let Some(native_id) = (self.choose)(path, lines) else {
            return Ok(key);
        };
        self.fired.hit();
        ConversationKey::new(parts.provider, parts.namespace, native_id)
            .map_err(|error| error.to_string())
    }

    fn read_lines(&mut self, lines: &[Value]) -> Result<Vec<LineView>, String> {
        self.inner.read_lines(lines)
    }
}

fn tree_id(lines: &[Value]) -> Option<String> {
    lines.iter().find_map(|line| line.pointer("/payload/session_id")?.as_str()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_escapes_are_lowercased() {
        assert_eq!(lowercase_escapes("AB%C3%A9CD%2F"), "AB%c3%a9CD%2f");
    }

    #[test]
    fn decoding_anything_never_fails() {
        assert_eq!(decode_anything("%41%4%zz%"), "A%4%zz%");
        assert_eq!(decode_anything("caf%c3%A9"), "caf\u{e9}");
    }
}
