//! Open tag sets: enums whose unknown members keep their own spelling.
//!
//! Agents add tags without notice, so every tag enum has a catch-all that parses and writes back
//! the same string. A known tag held by the catch-all collapses to its named variant, so equality
//! and round trips agree. A value that is not a string is an error, never a panic.

/// Defines an enum of known tags with a catch-all `Other(String)`.
#[macro_export]
macro_rules! open_tag {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $( $(#[$vmeta:meta])* $variant:ident = $tag:literal ),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone)]
        $vis enum $name {
            $( $(#[$vmeta])* $variant, )+
            /// A tag this build does not know, kept as it was spelled.
            Other(String),
        }

        impl $name {
            /// Every tag this build knows, in declaration order.
            pub const KNOWN: &'static [&'static str] = &[ $( $tag ),+ ];

            /// The wire spelling.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $tag, )+
                    Self::Other(tag) => tag,
                }
            }

            /// The variant of a wire spelling; unknown spellings are kept.
            pub fn from_tag(tag: &str) -> Self {
                match tag {
                    $( $tag => Self::$variant, )+
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.as_str() == other.as_str()
            }
        }
        impl Eq for $name {}
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
        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.as_str().hash(state);
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let tag = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                Ok(Self::from_tag(&tag))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    crate::open_tag! {
        /// A set for the tests.
        pub enum Colour { Red = "red", Blue = "blue" }
    }

    #[test]
    fn an_unknown_tag_keeps_its_spelling() {
        let tag: Colour = serde_json::from_str("\"Teal\"").unwrap();
        assert_eq!(tag, Colour::Other("Teal".into()));
        assert_eq!(serde_json::to_string(&tag).unwrap(), "\"Teal\"");
    }

    #[test]
    fn a_known_tag_in_the_catch_all_equals_the_named_variant() {
        let held = Colour::Other("red".into());
        assert_eq!(held, Colour::Red);
        let back: Colour = serde_json::from_str(&serde_json::to_string(&held).unwrap()).unwrap();
        assert!(matches!(back, Colour::Red));
    }

    #[test]
    fn a_tag_that_is_not_a_string_is_an_error() {
        assert!(serde_json::from_str::<Colour>("7").is_err());
        assert!(serde_json::from_str::<Colour>("null").is_err());
    }
}
