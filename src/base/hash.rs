//! Content hashes: blake3, 256 bits, for lines, prefixes, texts and frames.
//!
//! One hash everywhere, so that evidence about bytes can be compared wherever it was made.

use std::fmt;

/// A 32-byte content hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The digest held in `bytes`, when there are exactly 32.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The digest that [`Digest::hex`] spelled; `None` for anything else.
    pub fn from_hex(text: &str) -> Option<Self> {
        let pairs = text.as_bytes().chunks(2).map(std::str::from_utf8);
        let bytes: Option<Vec<u8>> =
            pairs.map(|pair| u8::from_str_radix(pair.ok()?, 16).ok()).collect();
        Self::from_slice(&bytes?)
    }

    /// The raw bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// All 64 hex digits.
    pub fn hex(&self) -> String {
        hex_of(&self.0)
    }

    /// The first 32 hex digits (128 bits), for names and ids.
    pub fn short_hex(&self) -> String {
        hex_of(self.0.get(..16).unwrap_or_default())
    }
}

/// Two lower-case digits a byte. Made for every line that is read, so not by way of a formatter.
fn hex_of(bytes: &[u8]) -> String {
    let digit =
        |nibble: u8| char::from(if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 });
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        out.push(digit(byte >> 4));
        out.push(digit(byte & 15));
    }
    out
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short_hex())
    }
}

/// A hash over bytes that arrive in pieces.
#[derive(Clone, Default)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    /// A hasher that has seen nothing.
    pub fn new() -> Self {
        Self(blake3::Hasher::new())
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all bytes so far.
    pub fn digest(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_hash_like_the_whole() {
        let mut hasher = Hasher::new();
        hasher.update(b"ab");
        hasher.update(b"c");
        assert_eq!(hasher.digest(), Digest::of(b"abc"));
    }

    #[test]
    fn hex_has_two_digits_a_byte_and_short_hex_is_its_head() {
        let digest = Digest::of(b"");
        assert_eq!(Digest::from_hex(&digest.hex()), Some(digest));
        assert_eq!(Digest::from_hex("no digest"), None);
        assert_eq!(digest.hex().len(), 64);
        assert!(digest.hex().starts_with(&digest.short_hex()));
    }
}
