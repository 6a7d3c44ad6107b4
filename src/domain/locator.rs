//! Locators: the one spelling of where something stands, byte for byte.
//!
//! `locator:<esc source>:<offset>+<length>:<line hash>:<esc path>:<index>`. `esc` is that of the
//! keys (`encodeURIComponent`), the numbers are plain decimal, the hash is 64 lowercase hex digits.
//! The parser accepts only what the formatter writes, so equal places have equal locators.

use super::key::{Component, KeyError, unescape, write_escaped};
use crate::base::hash::Digest;
use std::fmt;
use std::str::FromStr;

const KIND: &str = "locator";

/// A place in a source: a byte range, the hash of those bytes, and what inside them is meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locator {
    /// Name of the source, as the store knows it: the path of a file, or `hook:<provider>`.
    pub source: String,
    /// First byte; in a compressed file of what it decompresses to.
    pub offset: u64,
    /// Bytes of the record.
    pub length: u64,
    /// Hash of exactly those bytes.
    pub line_hash: Digest,
    /// Path inside the record (see `domain::selector`); empty for the record itself.
    pub path: String,
    /// Number of the message among its siblings, those that the same record told.
    pub index: u32,
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{KIND}:")?;
        write_escaped(f, &self.source)?;
        write!(f, ":{}+{}:{}:", self.offset, self.length, self.line_hash.hex())?;
        write_escaped(f, &self.path)?;
        write!(f, ":{}", self.index)
    }
}

impl FromStr for Locator {
    type Err = LocatorError;

    fn from_str(text: &str) -> Result<Self, LocatorError> {
        let parts: Vec<&str> = text.split(':').collect();
        let [KIND, source, range, hash, path, index] = parts.as_slice() else {
            return Err(LocatorError::Shape);
        };
        let (offset, length) = range.split_once('+').ok_or(LocatorError::Range)?;
        let locator = Self {
            source: unescape(Component::Source, source)?,
            offset: number(offset).ok_or(LocatorError::Range)?,
            length: number(length).ok_or(LocatorError::Range)?,
            line_hash: digest(hash).ok_or(LocatorError::Hash)?,
            path: unescape(Component::Path, path)?,
            index: number(index).and_then(|n| n.try_into().ok()).ok_or(LocatorError::Index)?,
        };
        if locator.source.is_empty() {
            return Err(LocatorError::Key(KeyError::Blank(Component::Source)));
        }
        if locator.offset.checked_add(locator.length).is_none() {
            return Err(LocatorError::Range);
        }
        Ok(locator)
    }
}

/// A number in its one decimal spelling: no sign, no zero in front.
fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

fn digest(text: &str) -> Option<Digest> {
    Digest::from_hex(text).filter(|digest| digest.hex() == text)
}

/// Why a text is no locator. Never quotes the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocatorError {
    /// Not `locator:` and five parts.
    Shape,
    /// The byte range is not `<offset>+<length>`.
    Range,
    /// The line hash is not 64 lowercase hex digits.
    Hash,
    /// The index is no number.
    Index,
    /// A part is not in its escaped spelling.
    Key(KeyError),
}

impl From<KeyError> for LocatorError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl fmt::Display for LocatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape => f.write_str(
                "a locator is locator:<source>:<offset>+<length>:<line hash>:<path>:<index>",
            ),
            Self::Range => f.write_str("the byte range of a locator is <offset>+<length>"),
            Self::Hash => f.write_str("the line hash of a locator is 64 lowercase hex digits"),
            Self::Index => f.write_str("the index of a locator is a number"),
            Self::Key(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LocatorError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Locator {
        Locator {
            source: "/home/dev/a b.jsonl".to_owned(),
            offset: 10,
            length: 20,
            line_hash: Digest::of(b"x"),
            path: "message.content[0].text".to_owned(),
            index: 3,
        }
    }

    #[test]
    fn the_spelling_is_that_of_the_document() {
        let hash = Digest::of(b"x").hex();
        let text = format!(
            "locator:%2Fhome%2Fdev%2Fa%20b.jsonl:10+20:{hash}:message.content%5B0%5D.text:3"
        );
        assert_eq!(sample().to_string(), text);
        assert_eq!(text.parse(), Ok(sample()));
    }

    #[test]
    fn every_other_spelling_is_refused() {
        let good = sample().to_string();
        let cases = [
            ("no kind", good.replacen("locator:", "", 1)),
            ("another kind", good.replacen("locator", "Locator", 1)),
            ("a zero in front", good.replacen(":10+", ":010+", 1)),
            ("a sign", good.replacen(":10+", ":+10+", 1)),
            ("no length", good.replacen("+20", "", 1)),
            ("an empty number", good.replacen(":10+", ":+", 1)),
            ("a range past the last byte", good.replacen("10+", "18446744073709551615+", 1)),
            ("a lowercase escape", good.replacen("%2F", "%2f", 1)),
            ("an escape that is not needed", good.replacen("message", "%6Dessage", 1)),
            ("an unescaped slash", good.replacen("%2F", "/", 1)),
            ("an uppercase hash", good.replace('e', "E").replacen("mEssagE", "message", 1)),
            ("a short hash", good.replacen(&Digest::of(b"x").hex(), "00", 1)),
            ("no index", good.rsplit_once(':').unwrap().0.to_owned()),
            ("an index that is too large", format!("{}9999999999", good)),
            ("a tail", format!("{good}:")),
            ("white space", format!("{good} ")),
            ("no source", good.replacen("%2Fhome%2Fdev%2Fa%20b.jsonl", "", 1)),
        ];
        for (what, text) in cases {
            assert_ne!(text, good, "{what}");
            assert!(text.parse::<Locator>().is_err(), "{what}: {text}");
        }
    }

    proptest! {
        #[test]
        fn any_place_comes_back_from_its_spelling(
            source in ".{1,40}", path in ".{0,40}", offset in 0..u64::MAX / 2,
            length in 0..u64::MAX / 2, index: u32, bytes: [u8; 8],
        ) {
            let line_hash = Digest::of(&bytes);
            let locator = Locator { source, offset, length, line_hash, path, index };
            let text = locator.to_string();
            prop_assert!(text.is_ascii() && !text.contains(' '));
            prop_assert_eq!(text.parse(), Ok(locator));
        }

        #[test]
        fn whatever_parses_is_written_the_same_way(text in "locator:[a%2F]{1,8}:[0-9]{1,3}\\+[0-9]{1,3}:[0-9a-f]{64}:[a-c%5B]{0,6}:[0-9]{1,3}") {
            if let Ok(locator) = text.parse::<Locator>() {
                prop_assert_eq!(locator.to_string(), text);
            }
        }
    }
}
