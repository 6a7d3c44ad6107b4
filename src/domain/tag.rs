//! Open tags: enums of known wire words plus a catch-all that keeps every other word.
//!
//! A tag written by a newer program must survive being read and written again, so no string is
//! ever an error; a value that is not a string is. A known word that was put into the catch-all
//! by hand equals, hashes, orders and serialises as the named variant, and becomes it on the
//! next read.

/// Declares an open tag: `open_tag! { pub enum Name { Variant = "wire_word", ... } }`.
///
/// The enum gets `Other(String)`, `KNOWN`, `as_str`, `from_tag`, `is_known`, and string serde.
#[macro_export]
macro_rules! open_tag {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone)]
        $vis enum $name {
            $($(#[$variant_meta])* $variant,)+
            /// Any other word, kept as it was spelled.
            Other(String),
        }

        impl $name {
            /// The words that have a variant of their own, in declaration order.
            pub const KNOWN: &'static [&'static str] = &[$($word),+];

            /// The word as it is written on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Other(word) => word,
                }
            }

            /// The tag for a word; a known word never lands in the catch-all.
            pub fn from_tag(word: &str) -> Self {
                match word {
                    $($word => Self::$variant,)+
                    _ => Self::Other(word.to_owned()),
                }
            }

            /// Whether this program knows the word.
            pub fn is_known(&self) -> bool {
                Self::KNOWN.contains(&self.as_str())
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                Self::from_tag(word)
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                Self::from_tag(&word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.as_str() == other.as_str()
            }
        }

        impl Eq for $name {}

        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.as_str().hash(state);
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.as_str().cmp(other.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::domain::tag::deserialize_word(deserializer).map(|word| Self::from_tag(&word))
            }
        }
    };
}

/// Reads one string and refuses every other type, without quoting the value in the error.
pub(crate) fn deserialize_word<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<String, D::Error> {
    struct Word;

    impl serde::de::Visitor<'_> for Word {
        type Value = String;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a tag, written as a string")
        }

        fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<String, E> {
            Ok(word.to_owned())
        }

        fn visit_string<E: serde::de::Error>(self, word: String) -> Result<String, E> {
            Ok(word)
        }
    }

    deserializer.deserialize_str(Word)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    open_tag! {
        /// A tag of two known words.
        enum Colour {
            Red = "red",
            DeepBlue = "deep_blue",
        }
    }

    #[test]
    fn a_known_word_reads_as_its_variant_and_writes_back() {
        let read: Colour = serde_json::from_str("\"deep_blue\"").unwrap();
        assert!(matches!(read, Colour::DeepBlue));
        assert_eq!(serde_json::to_string(&read).unwrap(), "\"deep_blue\"");
        assert!(read.is_known());
        assert_eq!(Colour::KNOWN, ["red", "deep_blue"]);
    }

    #[test]
    fn a_value_that_is_no_string_is_an_error() {
        for text in ["7", "null", "true", "[]", "{}", "[\"red\"]", "{\"red\":null}"] {
            assert!(serde_json::from_str::<Colour>(text).is_err(), "{text} was accepted");
        }
    }

    #[test]
    fn a_known_word_in_the_catch_all_is_the_named_variant() {
        let hidden = Colour::Other("red".to_owned());
        assert_eq!(hidden, Colour::Red);
        assert_eq!(HashSet::from([hidden.clone(), Colour::Red]).len(), 1);
        assert_eq!(hidden.cmp(&Colour::Red), std::cmp::Ordering::Equal);
        let text = serde_json::to_string(&hidden).unwrap();
        assert!(matches!(serde_json::from_str::<Colour>(&text).unwrap(), Colour::Red));
        assert!(matches!(Colour::from("red".to_owned()), Colour::Red));
    }

    #[test]
    fn letter_case_makes_another_word() {
        assert_ne!(Colour::from_tag("Red"), Colour::Red);
        assert!(!Colour::from_tag("Red").is_known());
    }

    proptest! {
        #[test]
        fn every_word_survives_a_round_trip(word in ".*") {
            let tag = Colour::from_tag(&word);
            let text = serde_json::to_string(&tag).unwrap();
            let back: Colour = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(back.as_str(), word.as_str());
            prop_assert_eq!(back.to_string(), word);
        }
    }
}
