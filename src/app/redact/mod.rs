//! The single road for text to the disk, to the screen and out: secrets are cut out here.
//!
//! `text` takes decoded text, `value` a decoded JSON value; both leave everything but the secrets
//! as it was. A secret becomes `[REDACTED:<kind>]`. Hooks run this inside their deadline, so there
//! are no compiled patterns and nothing is built at start-up: a hand-written pass over the bytes
//! with tables made at compile time, linear in the length of the text, free of allocation where
//! there is nothing to cut out.

mod blob;
mod bytes;
mod commands;
mod detectors;
mod entropy;
mod labelled;
mod names;
mod scan;
mod values;
mod walk;

#[cfg(test)]
mod tests;

use crate::base::hash::Digest;
use std::borrow::Cow;

pub use blob::{Blob, data_blob};
pub use walk::{Walked, value};

/// `s` without its secrets; borrowed where it holds none. Redacting again changes nothing.
pub fn text(s: &str) -> Cow<'_, str> {
    scan::scan(s, scan::Mode::Text).0
}

/// A native id, or the path of a source, that holds an issued secret: without it, and with a hash of
/// the whole, so that equal ids still meet. `None` for nearly all, which hold none.
pub fn identifier(id: &str) -> Option<String> {
    let (clean, count) = scan::scan(id, scan::Mode::Issued);
    (count > 0).then(|| format!("{clean}#{}", Digest::of(id.as_bytes()).short_hex()))
}

/// As [`text`], with the number of secrets that were cut out.
pub fn text_counted(s: &str) -> (Cow<'_, str>, usize) {
    scan::scan(s, scan::Mode::Text)
}
