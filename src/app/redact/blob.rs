//! Payloads that are data rather than text: `data:` URLs and long base64.
//!
//! Detection only. What is shown instead (media type, length, hash) is the caller's to render,
//! since hashing belongs to `base`.

use super::bytes::{DIGIT, LOWER, UPPER, any, is, slice};

/// Shorter texts are kept as they are; bytes.
pub const LEAST: usize = 512;

/// How much of a payload is looked at to judge its variety.
const PROBE: usize = 4096;
/// Text in base64 uses most of its 64 characters; prose without spaces or a long path does not.
const LEAST_VARIETY: usize = 24;

/// A text that is one data payload as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blob<'a> {
    /// The media type that a `data:` URL states.
    pub mime: Option<&'a str>,
    /// Whether the payload is base64; otherwise it is a `data:` URL's percent-encoded text.
    pub is_base64: bool,
    /// The encoded payload, without the head of a `data:` URL.
    pub payload: &'a str,
}

impl<'a> Blob<'a> {
    /// What to call it: the media type, or `base64`.
    pub fn kind(&self) -> &'a str {
        self.mime.unwrap_or(if self.is_base64 { "base64" } else { "text/plain" })
    }

    /// The length of the data in bytes, decoded where it is base64.
    pub fn len(&self) -> usize {
        if !self.is_base64 {
            return self.payload.len();
        }
        let digits = self.payload.bytes().filter(|&byte| is_base64(byte)).count();
        digits / 4 * 3 + (digits % 4).saturating_sub(1)
    }

    /// Whether there is no data.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whether `s` as a whole, white space at its ends aside, is a data payload of `LEAST` bytes or
/// more.
pub fn data_blob(s: &str) -> Option<Blob<'_>> {
    if s.len() < LEAST {
        return None;
    }
    let s = s.trim();
    if s.len() < LEAST {
        return None;
    }
    match s.get(..5) {
        Some(head) if head.eq_ignore_ascii_case("data:") => data_url(s.get(5..)?),
        _ => is_base64_payload(s).then_some(Blob { mime: None, is_base64: true, payload: s }),
    }
}

fn data_url(rest: &str) -> Option<Blob<'_>> {
    const HEAD_MAX: usize = 256;
    let comma = rest.bytes().take(HEAD_MAX).position(|byte| byte == b',')?;
    let (head, payload) = (rest.get(..comma)?, rest.get(comma + 1..)?);
    if payload.bytes().any(|byte| byte.is_ascii_whitespace() || byte == b'"') {
        return None;
    }
    let mime = head.split(';').next().filter(|mime| !mime.is_empty());
    let is_base64 = head.rsplit(';').next().is_some_and(|last| last.eq_ignore_ascii_case("base64"));
    Some(Blob { mime, is_base64, payload })
}

fn is_base64_payload(s: &str) -> bool {
    let body = s.trim_end_matches('=');
    let probe = slice(body.as_bytes(), 0, PROBE);
    let mut seen = [false; 256];
    for &byte in probe {
        if let Some(seen) = seen.get_mut(usize::from(byte)) {
            *seen = true;
        }
    }
    s.len() - body.len() <= 2
        && any(probe, UPPER)
        && any(probe, LOWER)
        && any(probe, DIGIT)
        && seen.iter().filter(|&&seen| seen).count() >= LEAST_VARIETY
        && body.bytes().all(|byte| is_base64(byte) || matches!(byte, b'\n' | b'\r'))
}

fn is_base64(byte: u8) -> bool {
    is(byte, UPPER | LOWER | DIGIT) || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base64(length: usize) -> String {
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        (0..length).map(|i| char::from(digits[i * 37 % 61 % 64])).collect()
    }

    #[test]
    fn long_base64_is_a_blob_with_its_decoded_length() {
        let blob = base64(512);
        let found = data_blob(&blob).unwrap();
        assert_eq!((found.kind(), found.is_base64, found.len()), ("base64", true, 384));
    }

    #[test]
    fn padding_and_line_breaks_do_not_count_as_data() {
        let broken = format!("{}\n{}AA==\n", base64(400), base64(400));
        assert_eq!(data_blob(&broken).unwrap().len(), 601);
    }

    #[test]
    fn a_data_url_names_its_media_type() {
        let url = format!("data:image/png;base64,{}", base64(600));
        let found = data_blob(&url).unwrap();
        assert_eq!((found.kind(), found.is_base64, found.len()), ("image/png", true, 450));
    }

    #[test]
    fn a_percent_encoded_data_url_is_a_blob_too() {
        let url = format!("data:image/svg+xml,{}", "%3Csvg%3E".repeat(60));
        let found = data_blob(&url).unwrap();
        assert_eq!((found.mime, found.is_base64, found.len()), (Some("image/svg+xml"), false, 540));
    }

    #[test]
    fn short_base64_prose_paths_and_hex_are_not_blobs() {
        let path = "/src/components/Button2".repeat(30);
        let prose = "Word 1 after word. ".repeat(40);
        let hex = "0123456789abcdef".repeat(40);
        for text in [base64(511), prose, hex, path, "a".repeat(600), "\u{e9}".repeat(600)] {
            assert_eq!(data_blob(&text), None, "{text}");
        }
    }
}
