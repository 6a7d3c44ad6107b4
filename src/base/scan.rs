//! A payload as it arrives: where its first JSON value ends, with long strings cut on the way.
//!
//! `fornax hook` must not wait for the end of its input (some hosts never close it) and must not
//! hold what it would cut anyway. The scanner follows strings and brackets byte by byte, keeps head
//! and tail of a long string, and says when the value is complete. It does not judge JSON.

use super::text::cut_mark;
use std::collections::VecDeque;

/// What is known after some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The value goes on.
    More,
    /// The value is complete; further bytes are not looked at.
    Complete,
    /// What came first is no object or array.
    NotJson,
}

/// Sizes of a scanner.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    /// Bytes of a string kept from its head, and from its tail.
    pub head: usize,
    pub tail: usize,
    /// Bytes kept of the whole payload.
    pub payload: usize,
}

/// Scans one payload.
pub struct Scanner {
    caps: Caps,
    kept: Vec<u8>,
    seen: u64,
    depth: usize,
    string: Option<StringState>,
    progress: Progress,
    cut_bytes: usize,
    over_cap: bool,
    /// Bytes kept up to the end of the last whole member of the outermost object.
    members_end: usize,
}

/// A string being read.
#[derive(Default)]
struct StringState {
    head: usize,
    /// Raw bytes past the head, whole characters and escapes only; at most `caps.tail` of them.
    tail: VecDeque<u8>,
    dropped: usize,
    /// Bytes of the current escape or character still to come.
    pending: Pending,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Pending {
    #[default]
    Nothing,
    /// After a backslash.
    Escape,
    /// Hex digits of a `\u` escape still to come.
    Hex(u8),
}

impl Scanner {
    /// A scanner that has seen nothing.
    pub fn new(caps: Caps) -> Self {
        Self {
            caps,
            kept: Vec::new(),
            seen: 0,
            depth: 0,
            string: None,
            progress: Progress::More,
            cut_bytes: 0,
            over_cap: false,
            members_end: 0,
        }
    }

    /// Takes bytes in.
    pub fn push(&mut self, bytes: &[u8]) -> Progress {
        for &b in bytes {
            if self.progress != Progress::More {
                break;
            }
            self.seen += 1;
            if self.string.is_some() { self.in_string(b) } else { self.outside(b) }
        }
        self.progress
    }

    /// Bytes kept, ready to be parsed when the value is complete.
    pub fn kept(&self) -> &[u8] {
        &self.kept
    }

    /// Bytes of the value seen so far.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Bytes of long strings that were not kept.
    pub fn cut_bytes(&self) -> usize {
        self.cut_bytes
    }

    /// The members of the outermost object that arrived whole, as an object of their own; `None`
    /// when there are none.
    pub fn whole_members(&self) -> Option<Vec<u8>> {
        let mut object = self.kept.get(..self.members_end).filter(|m| !m.is_empty())?.to_vec();
        object.push(b'}');
        Some(object)
    }

    /// True when the payload outgrew its cap: what is kept is no whole value.
    pub fn over_cap(&self) -> bool {
        self.over_cap
    }

    fn keep(&mut self, b: u8) {
        if self.kept.len() < self.caps.payload {
            self.kept.push(b);
        } else {
            self.over_cap = true;
        }
    }

    fn outside(&mut self, b: u8) {
        match b {
            b'"' if self.depth > 0 => {
                self.keep(b);
                self.string = Some(StringState::default());
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.keep(b);
            }
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                self.keep(b);
                if self.depth == 0 {
                    self.progress = Progress::Complete;
                }
            }
            // White space, a BOM and NUL bytes may stand before the value.
            _ if self.depth == 0 => {
                if !matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0 | 0xef | 0xbb | 0xbf) {
                    self.progress = Progress::NotJson;
                }
            }
            b',' if self.depth == 1 && !self.over_cap && self.kept.first() == Some(&b'{') => {
                self.members_end = self.kept.len();
                self.keep(b);
            }
            _ => self.keep(b),
        }
    }

    fn in_string(&mut self, b: u8) {
        let Some(mut string) = self.string.take() else { return };
        if b == b'"' && string.pending == Pending::Nothing {
            self.end_string(&string);
            return;
        }
        let starts_unit = string.pending == Pending::Nothing && !is_continuation(b);
        string.pending = match string.pending {
            Pending::Nothing if b == b'\\' => Pending::Escape,
            Pending::Nothing => Pending::Nothing,
            Pending::Escape if b == b'u' => Pending::Hex(4),
            Pending::Escape | Pending::Hex(0 | 1) => Pending::Nothing,
            Pending::Hex(n) => Pending::Hex(n - 1),
        };
        let in_head = string.tail.is_empty()
            && string.dropped == 0
            && (string.head < self.caps.head || !starts_unit);
        if in_head {
            string.head += 1;
            self.keep(b);
        } else {
            string.tail.push_back(b);
            while string.tail.len() > self.caps.tail {
                string.drop_unit();
            }
        }
        self.string = Some(string);
    }

    fn end_string(&mut self, string: &StringState) {
        if string.dropped > 0 {
            self.cut_bytes += string.dropped;
            for b in cut_mark(string.dropped).replace('\n', "\\n").bytes() {
                self.keep(b);
            }
        }
        let (front, back) = string.tail.as_slices();
        for b in front.iter().chain(back) {
            self.keep(*b);
        }
        self.keep(b'"');
    }
}

impl StringState {
    /// Drops the first whole escape or character of the tail.
    fn drop_unit(&mut self) {
        let length = match (self.tail.front(), self.tail.get(1)) {
            (Some(b'\\'), Some(b'u')) => 6,
            (Some(b'\\'), _) => 2,
            (Some(first), _) => character_length(*first),
            (None, _) => return,
        };
        let length = length.min(self.tail.len());
        self.tail.drain(..length);
        self.dropped += length;
    }
}

fn is_continuation(b: u8) -> bool {
    b & 0xc0 == 0x80
}

fn character_length(first: u8) -> usize {
    match first {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const SMALL: Caps = Caps { head: 12, tail: 8, payload: 4096 };

    #[test]
    fn a_value_is_complete_at_its_last_bracket_whatever_follows() {
        let mut scanner = Scanner::new(SMALL);
        assert_eq!(scanner.push(b"\xef\xbb\xbf {\"a\":\"}\""), Progress::More);
        assert_eq!(scanner.push(b"} trailing {"), Progress::Complete);
        assert_eq!(scanner.kept(), b"{\"a\":\"}\"}");
    }

    #[test]
    fn prose_is_not_json_at_its_first_letter() {
        assert_eq!(Scanner::new(SMALL).push(b"  hello"), Progress::NotJson);
    }

    #[test]
    fn a_long_string_keeps_head_and_tail_and_its_neighbours() {
        let long = format!("{}{}{}", "h".repeat(12), "m".repeat(500), "t".repeat(8));
        let payload = json!({"before": 1, "long": long, "zafter": "ok"}).to_string();
        let mut scanner = Scanner::new(SMALL);
        assert_eq!(scanner.push(payload.as_bytes()), Progress::Complete);
        let value: Value = serde_json::from_slice(scanner.kept()).unwrap();
        assert_eq!(value["zafter"], "ok");
        let kept = value["long"].as_str().unwrap();
        assert!(kept.starts_with(&"h".repeat(12)) && kept.ends_with(&"t".repeat(8)), "{kept}");
        assert!(kept.contains("500 bytes cut"), "{kept}");
        assert_eq!(scanner.cut_bytes(), 500);
    }

    #[test]
    fn the_members_that_arrived_whole_can_be_read_on_their_own() {
        let mut scanner = Scanner::new(SMALL);
        assert_eq!(scanner.whole_members(), None);
        scanner.push(b"{\"id\":\"s,1\",\"n\":{\"a\":1,\"b\":2},\"long\":\"never en");
        let value: Value = serde_json::from_slice(&scanner.whole_members().unwrap()).unwrap();
        assert_eq!(value, json!({"id": "s,1", "n": {"a": 1, "b": 2}}));
    }

    #[test]
    fn a_payload_over_the_cap_says_so_and_still_finds_its_end() {
        let payload = json!((0..2000).collect::<Vec<_>>()).to_string();
        let mut scanner = Scanner::new(SMALL);
        assert_eq!(scanner.push(payload.as_bytes()), Progress::Complete);
        assert!(scanner.over_cap());
        assert_eq!(scanner.seen(), payload.len() as u64);
    }

    proptest! {
        #[test]
        fn what_is_kept_always_parses_and_short_strings_are_untouched(
            text in "[a-z\"\\\\\u{0}\n\u{e9}\u{1f600}\u{4e2d}]{0,80}", split in 1usize..20,
        ) {
            let payload = json!({"k": text, "other": ["x"]}).to_string();
            let mut scanner = Scanner::new(SMALL);
            for chunk in payload.as_bytes().chunks(split) {
                scanner.push(chunk);
            }
            let value: Value = serde_json::from_slice(scanner.kept()).unwrap();
            prop_assert_eq!(&value["other"], &json!(["x"]));
            if scanner.cut_bytes() == 0 {
                prop_assert_eq!(value["k"].as_str().unwrap(), text.as_str());
            }
        }

        #[test]
        fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut scanner = Scanner::new(SMALL);
            scanner.push(&bytes);
            prop_assert!(scanner.kept().len() <= SMALL.payload);
        }
    }
}
