//! Why an extension envelope was refused.

use std::fmt;

use super::{ENVELOPE_BYTES_MAX, ENVELOPE_DEPTH_MAX, SUPPORTED_EXTENSION_SCHEMA_VERSIONS};

/// Why a text is no envelope that this program can vouch for. Quotes no content but the version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvelopeError {
    /// The version is outside the supported set; decided before anything else is looked at.
    Incompatible {
        /// The version as it was spelled, at most 32 characters of it.
        found: String,
    },
    /// The text is not JSON.
    Malformed {
        /// Line of the first fault, from 1.
        line: usize,
        /// Column of the first fault, from 1.
        column: usize,
    },
    /// The JSON value is not an object.
    NotAnObject,
    /// A named key is absent.
    Missing(&'static str),
    /// A named key has a value of another type.
    WrongType {
        /// The key.
        key: &'static str,
        /// What its value has to be.
        expected: &'static str,
    },
    /// A top-level key occurs twice, so readers would disagree on what it says.
    DuplicateKey,
    /// An unknown key was given the name of a named one.
    ReservedKey,
    /// The text is longer than `ENVELOPE_BYTES_MAX`.
    TooLarge {
        /// Its length in bytes.
        bytes: usize,
    },
    /// The brackets nest deeper than `ENVELOPE_DEPTH_MAX`.
    TooDeep {
        /// How deep they nest.
        depth: usize,
    },
}

impl fmt::Display for EnvelopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incompatible { found } => write!(
                f,
                "incompatible extension envelope: schema_version {found} is not one of {SUPPORTED_EXTENSION_SCHEMA_VERSIONS:?}"
            ),
            Self::Malformed { line, column } => {
                write!(f, "the envelope is not JSON: line {line}, column {column}")
            }
            Self::NotAnObject => f.write_str("the envelope is not an object"),
            Self::Missing(key) => write!(f, "the envelope has no {key}"),
            Self::WrongType { key, expected } => {
                write!(f, "the envelope's {key} is not {expected}")
            }
            Self::DuplicateKey => f.write_str("a key of the envelope occurs twice"),
            Self::ReservedKey => f.write_str("an unknown key has the name of a named one"),
            Self::TooLarge { bytes } => {
                write!(f, "the envelope has {bytes} bytes, more than {ENVELOPE_BYTES_MAX}")
            }
            Self::TooDeep { depth } => {
                write!(f, "the envelope nests {depth} deep, more than {ENVELOPE_DEPTH_MAX}")
            }
        }
    }
}

impl std::error::Error for EnvelopeError {}
