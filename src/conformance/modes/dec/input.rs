//! Defects of the bytes that reach the decoder.

use std::borrow::Cow;

use crate::conformance::decoding::Dialect;

/// The bytes with replacement characters; none when they are UTF-8.
pub(super) fn lossy(bytes: &[u8]) -> Option<Vec<u8>> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text.into_bytes()),
    }
}

/// The bytes without carriage returns; none when there are none.
pub(super) fn without_cr(bytes: &[u8]) -> Option<Vec<u8>> {
    bytes.contains(&b'\r').then(|| bytes.iter().copied().filter(|byte| *byte != b'\r').collect())
}

/// Key under which a copied transcript line names its origin.
pub(super) const FORKED_FROM: &str = "\"forkedFrom\"";

/// The bytes without what marks lines as copies, every line at its place; none when there is no
/// mark.
pub(super) fn without_fork_marks(dialect: Dialect, bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let plain = match dialect {
        Dialect::ClaudeTranscript => text.replace(FORKED_FROM, "\"forkedFrim\""),
        Dialect::CodexRollout => {
            let mut metas = 0;
            let lines = text.split('\n').map(|line| {
                metas += usize::from(line.contains("\"session_meta\""));
                let is_later = metas > 1 && line.contains("\"session_meta\"");
                // The file's own metadata says of what it is a fork, too.
                let own = line.replace("\"forked_from_id\"", "\"forked_frim_id\"");
                if is_later { " ".repeat(line.len()) } else { own }
            });
            lines.collect::<Vec<_>>().join("\n")
        }
    };
    (plain != text).then(|| plain.into_bytes())
}
