//! Byte classes and small slice helpers shared by the detectors.
//!
//! One 256-entry table, built at compile time, answers every "what sort of byte is this" question;
//! nothing here allocates or can be out of range. Detectors cut only at ASCII bytes, so each cut
//! is a character boundary of the text.

pub(super) const UPPER: u8 = 1;
pub(super) const LOWER: u8 = 2;
pub(super) const DIGIT: u8 = 4;
/// `_` and `-`, which identifiers and tokens share.
pub(super) const JOIN: u8 = 8;
/// `.`, `+` and `/`: parts of base64, paths and versions.
pub(super) const MARK: u8 = 16;
pub(super) const HEX: u8 = 32;
/// Bytes after a run that can make it a name with a value.
pub(super) const TRIGGER: u8 = 64;

pub(super) const LETTER: u8 = UPPER | LOWER;
pub(super) const ALNUM: u8 = LETTER | DIGIT;
pub(super) const WORD: u8 = ALNUM | JOIN;
/// What a run is made of: the longest thing that can be one token.
pub(super) const RUN: u8 = WORD | MARK;

static CLASSES: [u8; 256] = classes();

#[expect(clippy::indexing_slicing, reason = "runs at compile time; out of range does not build")]
const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = match i as u8 {
            b'A'..=b'F' => UPPER | HEX,
            b'a'..=b'f' => LOWER | HEX,
            b'G'..=b'Z' => UPPER,
            b'g'..=b'z' => LOWER,
            b'0'..=b'9' => DIGIT | HEX,
            b'_' | b'-' => JOIN,
            b'.' | b'+' | b'/' => MARK,
            b'=' | b':' | b'"' | b'\'' | b'`' | b'\\' | b'>' | b' ' | b'\t' => TRIGGER,
            _ => 0,
        };
        i += 1;
    }
    table
}

/// Whether `byte` has any class of `mask`.
#[inline]
pub(super) fn is(byte: u8, mask: u8) -> bool {
    CLASSES.get(usize::from(byte)).is_some_and(|class| class & mask != 0)
}

/// The byte at `at`, or NUL past the end; NUL is in no class.
#[inline]
pub(super) fn at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// The bytes from `start` on; empty past the end.
#[inline]
pub(super) fn from(bytes: &[u8], start: usize) -> &[u8] {
    bytes.get(start..).unwrap_or(&[])
}

/// The bytes of `start..end`, both clipped to what is there.
#[inline]
pub(super) fn slice(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    bytes.get(start..end.min(bytes.len())).unwrap_or(&[])
}

/// How many bytes at the front have a class of `mask`.
#[inline]
pub(super) fn span(bytes: &[u8], mask: u8) -> usize {
    bytes.iter().position(|&byte| !is(byte, mask)).unwrap_or(bytes.len())
}

/// How many bytes at the front have a class of `mask`, and all the classes that they have.
#[inline]
pub(super) fn span_of(bytes: &[u8], mask: u8) -> (usize, u8) {
    let mut seen = 0;
    for (length, &byte) in bytes.iter().enumerate() {
        let class = CLASSES.get(usize::from(byte)).copied().unwrap_or(0);
        if class & mask == 0 {
            return (length, seen);
        }
        seen |= class;
    }
    (bytes.len(), seen)
}

/// How many bytes at the front are spaces or tabs.
#[inline]
pub(super) fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte != b' ' && byte != b'\t').unwrap_or(bytes.len())
}

/// How many bytes at the front are `byte`.
#[inline]
pub(super) fn repeats(bytes: &[u8], byte: u8) -> usize {
    bytes.iter().position(|&other| other != byte).unwrap_or(bytes.len())
}

/// Whether any byte has a class of `mask`.
#[inline]
pub(super) fn any(bytes: &[u8], mask: u8) -> bool {
    bytes.iter().any(|&byte| is(byte, mask))
}

/// Whether there are bytes, all with a class of `mask`.
#[inline]
pub(super) fn all(bytes: &[u8], mask: u8) -> bool {
    !bytes.is_empty() && bytes.iter().all(|&byte| is(byte, mask))
}

/// Whether `bytes` equals one of `words`, case aside.
pub(super) fn one_of(bytes: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(bytes))
}

/// Where `needle` first occurs. Linear for the short, self-dissimilar needles used here.
pub(super) fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len().max(1)).position(|window| window == needle)
}

/// Whether `needle` (lower case) occurs, case aside.
pub(super) fn contains_ignoring_case(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len().max(1)).any(|window| window.eq_ignore_ascii_case(needle))
}

/// Whether a token can begin at `start`: after a byte that is no letter or digit, or after an
/// escape that ends in one (`\n`, `%3D`, `ESC[31m`).
pub(super) fn starts_token(bytes: &[u8], start: usize) -> bool {
    let Some(previous) = start.checked_sub(1) else { return true };
    let last = at(bytes, previous);
    if !is(last, ALNUM) {
        return true;
    }
    let before = |back: usize| start.checked_sub(back).map_or(0, |i| at(bytes, i));
    let escaped = before(2) == b'\\' && matches!(last, b'n' | b'r' | b't' | b'b' | b'f');
    let percent = before(3) == b'%' && is(before(2), HEX) && is(last, HEX);
    let colour = last == b'm' && (is(before(2), DIGIT) || before(2) == b'[');
    escaped || percent || colour
}
