//! One frame: `\nfxj1 <length> <checksum> <body>\n`.
//!
//! The version comes first, so that an older program can tell a newer frame; length and checksum
//! make a torn one known. The body is one line of JSON. The leading line break keeps a frame
//! readable behind one that was torn.

use crate::base::hash::Digest;
use crate::ports::journal::Frame;

/// Format version that this program writes and reads.
const VERSION: u32 = 1;
/// Hex digits of the checksum.
const CHECKSUM_CHARS: usize = 16;

/// The bytes of a frame. `body` must hold no line break.
pub(super) fn encode(body: &[u8]) -> Vec<u8> {
    let head = format!("\nfxj{VERSION} {} {} ", body.len(), checksum(body));
    let mut out = Vec::with_capacity(head.len() + body.len() + 1);
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(body);
    out.push(b'\n');
    out
}

/// Reads the line of a frame that ends (with its line break) at `end`; `None` for a blank line.
pub(super) fn decode(line: &[u8], end: u64) -> Option<Frame> {
    if line.is_empty() {
        return None;
    }
    Some(parse(line, end).unwrap_or(Frame::Torn { end }))
}

fn parse(line: &[u8], end: u64) -> Option<Frame> {
    let rest = line.strip_prefix(b"fxj")?;
    let (version, rest) = word(rest)?;
    let version: u32 = version.parse().ok()?;
    if version > VERSION {
        return Some(Frame::Newer { version, end });
    }
    let (length, rest) = word(rest)?;
    let length: usize = length.parse().ok()?;
    let (sum, body) = word(rest)?;
    (body.len() == length && sum == checksum(body))
        .then(|| Frame::Good { body: body.to_vec(), end })
}

/// The text up to the next space, and what follows it.
fn word(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let at = bytes.iter().take(32).position(|b| *b == b' ')?;
    let text = std::str::from_utf8(bytes.get(..at)?).ok()?;
    Some((text, bytes.get(at + 1..)?))
}

fn checksum(body: &[u8]) -> String {
    Digest::of(body).hex().chars().take(CHECKSUM_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(frame: &[u8]) -> &[u8] {
        frame.strip_prefix(b"\n").unwrap().strip_suffix(b"\n").unwrap()
    }

    #[test]
    fn a_frame_survives_and_a_flipped_byte_is_torn() {
        let frame = encode(b"{\"a\":1}");
        assert_eq!(
            decode(line(&frame), 9),
            Some(Frame::Good { body: b"{\"a\":1}".to_vec(), end: 9 })
        );
        let mut bad = frame.clone();
        let last = bad.len() - 3;
        bad[last] ^= 1;
        assert_eq!(decode(line(&bad), 9), Some(Frame::Torn { end: 9 }));
    }

    #[test]
    fn a_newer_frame_is_named_by_its_version() {
        assert_eq!(decode(b"fxj7 anything at all", 5), Some(Frame::Newer { version: 7, end: 5 }));
    }

    proptest! {
        #[test]
        fn a_cut_frame_is_never_good(cut in 1usize..60) {
            let frame = encode(b"{\"event\":\"something that is long enough\"}");
            let whole = line(&frame);
            let cut = cut.min(whole.len() - 1);
            let torn = &whole[..whole.len() - cut];
            let good = matches!(decode(torn, 0), Some(Frame::Good { .. }));
            prop_assert!(!good);
        }

        #[test]
        fn any_line_gives_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = decode(&bytes, 0);
        }
    }
}
