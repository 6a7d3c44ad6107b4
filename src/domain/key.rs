//! The key grammar: one canonical spelling for every conversation and every item inside one.
//!
//! `conversation:<esc provider>:<esc namespace>:<esc native id>`, and for items the category
//! (`turn`, `call`, `item`, `response`) in front of the same tail plus `:<esc item id>`. `esc` is
//! JavaScript's `encodeURIComponent`, so other programs can build the same keys. Letter case is
//! kept and Unicode is not normalised: the native spelling is the identity. The parser accepts
//! only what the formatter writes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::provider::Provider;

const CONVERSATION: &str = "conversation";

/// One native thread of one provider inside one corpus namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConversationKey {
    provider: Provider,
    namespace: String,
    native_id: String,
}

impl ConversationKey {
    /// Builds a key from native spellings; fails when a component is blank.
    pub fn new(
        provider: impl Into<Provider>,
        namespace: impl Into<String>,
        native_id: impl Into<String>,
    ) -> Result<Self, KeyError> {
        let key = Self {
            provider: provider.into(),
            namespace: namespace.into(),
            native_id: native_id.into(),
        };
        refuse_blank(Component::Provider, key.provider.as_str())?;
        refuse_blank(Component::Namespace, &key.namespace)?;
        refuse_blank(Component::NativeId, &key.native_id)?;
        Ok(key)
    }

    /// The agent runtime that the thread belongs to.
    pub fn provider(&self) -> &Provider {
        &self.provider
    }

    /// The host or account corpus that the native id is valid in.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The provider's own id of the thread, unescaped.
    pub fn native_id(&self) -> &str {
        &self.native_id
    }

    fn write_tail(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_escaped(f, self.provider.as_str())?;
        f.write_str(":")?;
        write_escaped(f, &self.namespace)?;
        f.write_str(":")?;
        write_escaped(f, &self.native_id)
    }
}

impl fmt::Display for ConversationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{CONVERSATION}:")?;
        self.write_tail(f)
    }
}

impl FromStr for ConversationKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (kind, tail) = split_kind(text)?;
        if kind != CONVERSATION {
            return Err(KeyError::Kind { expected: CONVERSATION });
        }
        let parts: Vec<&str> = tail.split(':').collect();
        let [provider, namespace, native_id] = parts.as_slice() else {
            return Err(KeyError::ComponentCount { expected: 3, found: parts.len() });
        };
        parse_conversation(provider, namespace, native_id)
    }
}

/// What an item inside a conversation is; equal native ids in two categories are two items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemCategory {
    /// A turn: one prompt and everything done for it.
    Turn,
    /// A tool call.
    Call,
    /// Any other native item, such as a message.
    Item,
    /// A model response, the unit that usage is reported for.
    Response,
}

impl ItemCategory {
    /// Every category, in declaration order.
    pub const ALL: [Self; 4] = [Self::Turn, Self::Call, Self::Item, Self::Response];

    /// The word that item keys of this category begin with.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Call => "call",
            Self::Item => "item",
            Self::Response => "response",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.as_str() == word)
    }
}

/// One native item, scoped by its category and its conversation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKey {
    category: ItemCategory,
    conversation: ConversationKey,
    item_id: String,
}

impl ItemKey {
    /// Builds an item key; fails when the item id is blank.
    pub fn new(
        category: ItemCategory,
        conversation: ConversationKey,
        item_id: impl Into<String>,
    ) -> Result<Self, KeyError> {
        let item_id = item_id.into();
        refuse_blank(Component::ItemId, &item_id)?;
        Ok(Self { category, conversation, item_id })
    }

    /// What the item is.
    pub fn category(&self) -> ItemCategory {
        self.category
    }

    /// The conversation that the item belongs to.
    pub fn conversation(&self) -> &ConversationKey {
        &self.conversation
    }

    /// The provider's own id of the item, unescaped.
    pub fn item_id(&self) -> &str {
        &self.item_id
    }
}

impl fmt::Display for ItemKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.category.as_str())?;
        self.conversation.write_tail(f)?;
        f.write_str(":")?;
        write_escaped(f, &self.item_id)
    }
}

impl FromStr for ItemKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (kind, tail) = split_kind(text)?;
        let category = ItemCategory::from_word(kind)
            .ok_or(KeyError::Kind { expected: "turn, call, item or response" })?;
        let parts: Vec<&str> = tail.split(':').collect();
        let [provider, namespace, native_id, item_id] = parts.as_slice() else {
            return Err(KeyError::ComponentCount { expected: 4, found: parts.len() });
        };
        let conversation = parse_conversation(provider, namespace, native_id)?;
        Self::new(category, conversation, unescape(Component::ItemId, item_id)?)
    }
}

macro_rules! string_serde {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = super::tag::deserialize_word(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

string_serde!(ConversationKey);
string_serde!(ItemKey);

/// A part of a key, named in errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// The agent runtime.
    Provider,
    /// The corpus namespace.
    Namespace,
    /// The conversation's native id.
    NativeId,
    /// The item's native id.
    ItemId,
    /// The source of a locator.
    Source,
    /// The path inside a line of a locator.
    Path,
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Provider => "provider",
            Self::Namespace => "namespace",
            Self::NativeId => "native id",
            Self::ItemId => "item id",
            Self::Source => "source",
            Self::Path => "path",
        })
    }
}

/// Why a key could not be built or parsed. Never quotes the text, which can hold anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyError {
    /// The component is empty or only white space.
    Blank(Component),
    /// The text does not begin with the expected kind and a colon.
    Kind {
        /// The kinds that would have been accepted.
        expected: &'static str,
    },
    /// The number of components after the kind is wrong.
    ComponentCount {
        /// How many the grammar wants.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A percent sign is not followed by two uppercase hex digits.
    BadEscape(Component),
    /// The escaped bytes are not UTF-8.
    NotUtf8(Component),
    /// A character that the formatter would have written otherwise.
    NotCanonical(Component),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank(component) => write!(f, "the {component} is blank"),
            Self::Kind { expected } => write!(f, "the key does not begin with {expected}"),
            Self::ComponentCount { expected, found } => {
                write!(f, "the key has {found} components after its kind, not {expected}")
            }
            Self::BadEscape(component) => {
                write!(f, "the {component} has a percent sign without two uppercase hex digits")
            }
            Self::NotUtf8(component) => {
                write!(f, "the escaped bytes of the {component} are not UTF-8")
            }
            Self::NotCanonical(component) => {
                write!(f, "the {component} is not in its canonical spelling")
            }
        }
    }
}

impl std::error::Error for KeyError {}

/// Whether a text names nothing: empty, or only Unicode white space and byte order marks.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

/// Escapes one component as `encodeURIComponent` does.
pub fn escape(component: &str) -> String {
    struct Escaped<'a>(&'a str);
    impl fmt::Display for Escaped<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write_escaped(f, self.0)
        }
    }
    Escaped(component).to_string()
}

fn refuse_blank(component: Component, text: &str) -> Result<(), KeyError> {
    if is_blank(text) { Err(KeyError::Blank(component)) } else { Ok(()) }
}

/// The characters that `encodeURIComponent` leaves alone.
fn is_kept(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte)
}

pub(super) fn write_escaped(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for byte in text.bytes() {
        if is_kept(byte) {
            write!(f, "{}", char::from(byte))?;
        } else {
            write!(f, "%{byte:02X}")?;
        }
    }
    Ok(())
}

fn split_kind(text: &str) -> Result<(&str, &str), KeyError> {
    text.split_once(':').ok_or(KeyError::Kind { expected: "a kind and a colon" })
}

fn parse_conversation(
    provider: &str,
    namespace: &str,
    native_id: &str,
) -> Result<ConversationKey, KeyError> {
    ConversationKey::new(
        unescape(Component::Provider, provider)?,
        unescape(Component::Namespace, namespace)?,
        unescape(Component::NativeId, native_id)?,
    )
}

/// Undoes `escape`, and refuses every spelling that `escape` would not have written.
pub(super) fn unescape(component: Component, text: &str) -> Result<String, KeyError> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if is_kept(byte) {
            decoded.push(byte);
            continue;
        }
        if byte != b'%' {
            return Err(KeyError::NotCanonical(component));
        }
        let (high, low) = (bytes.next().and_then(hex_value), bytes.next().and_then(hex_value));
        let (Some(high), Some(low)) = (high, low) else {
            return Err(KeyError::BadEscape(component));
        };
        let byte = high << 4 | low;
        if is_kept(byte) {
            return Err(KeyError::NotCanonical(component));
        }
        decoded.push(byte);
    }
    String::from_utf8(decoded).map_err(|_| KeyError::NotUtf8(component))
}

/// Lowercase digits have no value here: the canonical spelling is uppercase.
fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
