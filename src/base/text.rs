//! Outside text made fit: cut at a character, and safe for a terminal.

use super::limits::{TEXT_BYTES_MAX, TEXT_TAIL_BYTES};
use std::borrow::Cow;

/// The text of the mark that stands where `bytes` were cut out.
pub fn cut_mark(bytes: usize) -> String {
    format!("\n[... {bytes} bytes cut by fornax ...]\n")
}

/// Cuts text longer than the cap, keeping its head and its tail on character boundaries with a
/// mark between them. Returns the text and how many bytes were cut (0 = untouched).
pub fn cap(text: &str) -> (Cow<'_, str>, usize) {
    cap_to(text, TEXT_BYTES_MAX, TEXT_TAIL_BYTES)
}

/// As [`cap`], with other sizes; `tail` must be smaller than `max`. Cutting again changes nothing.
pub fn cap_to(text: &str, max: usize, tail: usize) -> (Cow<'_, str>, usize) {
    if text.len() <= max || is_cut(text, max, tail) {
        return (Cow::Borrowed(text), 0);
    }
    let tail = tail.min(max);
    let head_end = floor_boundary(text, max - tail);
    let tail_start = ceil_boundary(text, text.len().saturating_sub(tail));
    let cut = tail_start.saturating_sub(head_end);
    let head = text.get(..head_end).unwrap_or_default();
    let rest = text.get(tail_start..).unwrap_or_default();
    (Cow::Owned(format!("{head}{}{rest}", cut_mark(cut))), cut)
}

/// Whether a text over the cap is one that was cut to it: a mark between a head and a tail that
/// fit.
fn is_cut(text: &str, max: usize, tail: usize) -> bool {
    const END: &str = " bytes cut by fornax ...]\n";
    if text.len() > max + cut_mark(usize::MAX).len() {
        return false;
    }
    let from = ceil_boundary(text, text.len().saturating_sub(tail + END.len()));
    let window = text.get(from..).unwrap_or_default();
    let Some(end) = window.find(END).map(|at| from + at) else { return false };
    let head = text.get(..end).and_then(|head| head.rfind("\n[... "));
    head.is_some_and(|head| {
        let count = text.get(head + "\n[... ".len()..end).unwrap_or_default();
        head <= max - tail.min(max) && count.parse::<usize>().is_ok()
    })
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while at > 0 && !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil_boundary(text: &str, mut at: usize) -> usize {
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Text that cannot steer a terminal: control and format characters become visible escapes or
/// spaces, on one line.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if is_unsafe(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.trim().to_owned()
}

/// As [`one_line`], but line breaks and tabs stay.
pub fn printable(text: &str) -> String {
    text.chars()
        .filter(|c| *c != '\r')
        .map(|c| if is_unsafe(c) && c != '\n' && c != '\t' { '\u{fffd}' } else { c })
        .collect()
}

/// Control characters, and characters that reorder or hide what stands around them.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
            | '\u{feff}')
}

/// The text that names a path in the store: the path itself, or, where it is not UTF-8, its bytes
/// with `%XX` for what is not printable ASCII, so that two paths never share a name.
pub fn path_name(path: &std::path::Path) -> String {
    if let Some(text) = path.to_str() {
        return text.to_owned();
    }
    path.as_os_str().as_encoded_bytes().iter().fold(String::new(), |mut out, b| {
        use std::fmt::Write as _;
        if b.is_ascii_graphic() && *b != b'%' {
            out.push(char::from(*b));
        } else {
            let _ = write!(out, "%{b:02X}");
        }
        out
    })
}

/// At most `max` characters, with `...` where some were left out.
pub fn shorten(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(max.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cutting_again_changes_nothing() {
        let long = "\u{e9}x".repeat(5_000);
        let (once, cut) = cap_to(&long, 1_000, 200);
        assert!(cut > 0 && once.len() > 1_000);
        assert_eq!(cap_to(&once, 1_000, 200), (Cow::Borrowed(once.as_ref()), 0));
        // A mark in another place, or one without a number, is a text like any other.
        let elsewhere = format!("{}{}", cut_mark(7), "y".repeat(1_000));
        assert!(cap_to(&elsewhere, 1_000, 200).1 > 0);
        let forged = once.replace(&cut.to_string(), "no");
        assert!(cap_to(&forged, 1_000, 200).1 > 0);
    }

    #[test]
    fn a_long_text_keeps_head_and_tail_and_says_how_much_is_gone() {
        let text = format!("{}{}{}", "h".repeat(20), "m".repeat(100), "t".repeat(20));
        let (kept, cut) = cap_to(&text, 40, 10);
        assert_eq!(cut, 100);
        assert!(kept.starts_with(&"h".repeat(20)));
        assert!(kept.ends_with(&"t".repeat(10)));
        assert!(kept.contains("100 bytes cut"));
    }

    #[test]
    fn escapes_and_bidi_marks_never_reach_the_terminal() {
        let shown = one_line("a\u{1b}[31mb\u{202e}c\nd");
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}') && !shown.contains('\n'));
    }

    #[test]
    fn paths_that_are_not_utf8_keep_names_of_their_own() {
        use std::os::unix::ffi::OsStrExt as _;
        let name =
            |bytes: &[u8]| path_name(std::path::Path::new(std::ffi::OsStr::from_bytes(bytes)));
        assert_eq!(name(b"/a/\xff.jsonl"), "/a/%FF.jsonl");
        assert_ne!(name(b"/a/\xfe"), name(b"/a/\xff"));
        assert_eq!(name("/a/\u{e9} %41".as_bytes()), "/a/\u{e9} %41");
    }

    proptest! {
        #[test]
        fn a_cut_never_splits_a_character(text in ".{0,200}", max in 8usize..64) {
            let (kept, cut) = cap_to(&text, max, max / 4);
            prop_assert!(cut == 0 || kept.contains("cut by fornax"));
            prop_assert!(cut > 0 || kept == text);
        }
    }
}
