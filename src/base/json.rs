//! JSON as agents really write it: strict first, then around the known damage.
//!
//! Lone surrogate escapes, numbers beyond any float and nesting past the parser's limit are what
//! real writers write. Such a value is repaired in a copy of its bytes by a scanner that does not
//! recurse, and parsed again; the repair is reported. Bytes that are not UTF-8 are refused, never
//! replaced.

use super::limits::JSON_DEPTH_MAX;
use serde_json::Value;

/// A JSON value kept as its text: what is only stored and seldom looked into is held once, in its
/// shortest form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonText(String);

impl JsonText {
    /// The text of a value.
    pub fn of(value: &Value) -> Self {
        // Text of a value never fails to be made; its `Display` would go by way of a formatter.
        Self(serde_json::to_string(value).unwrap_or_default())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value again.
    pub fn value(&self) -> Value {
        // The text was made from a value, so it is one.
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

/// One value found in a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Offset of the value's first byte inside the line.
    pub offset: usize,
    /// Bytes of the value.
    pub length: usize,
    pub value: Value,
    /// What had to be repaired to read it.
    pub repaired: Option<&'static str>,
}

/// Why bytes hold no value. Says nothing of their content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    NotUtf8,
    /// Ends inside a value.
    Torn,
    /// Not JSON.
    Malformed,
    /// Only NUL bytes.
    NulRun,
}

impl Refused {
    /// Stable word for the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotUtf8 => "not_utf8",
            Self::Torn => "torn",
            Self::Malformed => "malformed",
            Self::NulRun => "nul_run",
        }
    }
}

/// All values of a line (two records glued on one line are two), or why there is none. A value
/// that is followed by something unreadable is kept; the rest is the refusal.
pub fn values(line: &[u8]) -> (Vec<Found>, Option<Refused>) {
    let (lead, mut nul_lead) = leading_filler(line);
    let Some(body) = line.get(lead..) else { return (Vec::new(), None) };
    if body.is_empty() {
        return (Vec::new(), nul_lead.then_some(Refused::NulRun));
    }
    // The line as a whole is checked faster than its strings one by one.
    let Ok(text) = std::str::from_utf8(body) else { return (Vec::new(), Some(Refused::NotUtf8)) };
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let length = body.trim_ascii_end().len();
        let repaired = nul_lead.then_some("nul_run");
        return (vec![Found { offset: lead, length, value, repaired }], None);
    }
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let skipped = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', '\0']).len();
        at += skipped;
        let Some(rest) = text.get(at..) else { break };
        if rest.is_empty() {
            break;
        }
        match first_value(rest) {
            Ok((length, value, repaired)) => {
                let repaired = repaired.or(std::mem::take(&mut nul_lead).then_some("nul_run"));
                found.push(Found { offset: lead + at, length, value, repaired });
                at += length;
            }
            Err(refused) => return (found, Some(refused)),
        }
    }
    (found, None)
}

/// White space, a BOM and NUL bytes before the first value: how many, and whether NULs were there.
fn leading_filler(line: &[u8]) -> (usize, bool) {
    let mut at = if line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut nul = false;
    while let Some(b) = line.get(at) {
        match b {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            0 => nul = true,
            _ => break,
        }
        at += 1;
    }
    (at, nul)
}

/// The first value of `text`: its length in bytes, itself, and what was repaired.
fn first_value(text: &str) -> Result<(usize, Value, Option<&'static str>), Refused> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    if let Some(Ok(value)) = stream.next() {
        return Ok((stream.byte_offset(), value, None));
    }
    if !text.starts_with(['{', '[', '"', '-', 't', 'f', 'n']) && !text.starts_with(is_digit) {
        return Err(Refused::Malformed);
    }
    let scan = Scan::of(text.as_bytes());
    let Some(length) = scan.end else { return Err(Refused::Torn) };
    if scan.repairs.is_none() {
        return Err(Refused::Malformed);
    }
    match serde_json::from_slice(&scan.out) {
        Ok(value) => Ok((length, value, scan.repairs)),
        Err(_) => Err(Refused::Malformed),
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// One pass over a value without recursion: where it ends, and a repaired copy.
struct Scan {
    /// Length of the value; `None` when the bytes end before it does.
    end: Option<usize>,
    out: Vec<u8>,
    repairs: Option<&'static str>,
}

impl Scan {
    fn of(bytes: &[u8]) -> Self {
        let mut scan = Self { end: None, out: Vec::with_capacity(bytes.len()), repairs: None };
        let mut depth = 0usize;
        let mut at = 0;
        while let Some(&b) = bytes.get(at) {
            let step = match b {
                b'"' => scan.string(bytes, at, depth),
                b'-' | b'0'..=b'9' => scan.number(bytes, at, depth),
                b'{' | b'[' => {
                    depth += 1;
                    scan.open(b, depth);
                    1
                }
                b'}' | b']' => {
                    if depth <= JSON_DEPTH_MAX {
                        scan.out.push(b);
                    }
                    depth = depth.saturating_sub(1);
                    1
                }
                _ => {
                    if depth <= JSON_DEPTH_MAX {
                        scan.out.push(b);
                    }
                    1
                }
            };
            let Some(next) = (step > 0).then(|| at + step) else { return scan };
            at = next;
            if depth == 0 && !matches!(b, b' ' | b'\t' | b'\r' | b'\n') && ends_value(b) {
                scan.end = Some(at);
                return scan;
            }
        }
        scan
    }

    /// Opens a container; the first one past the depth limit becomes `null`.
    fn open(&mut self, bracket: u8, depth: usize) {
        if depth <= JSON_DEPTH_MAX {
            self.out.push(bracket);
        } else if depth == JSON_DEPTH_MAX + 1 {
            self.out.extend_from_slice(b"null");
            self.repairs = Some("too_deep");
        }
    }

    /// Copies a string, replacing unpaired surrogate escapes; 0 when it does not end.
    fn string(&mut self, bytes: &[u8], start: usize, depth: usize) -> usize {
        let keep = depth <= JSON_DEPTH_MAX;
        let mut at = start + 1;
        let mark = self.out.len();
        self.out.push(b'"');
        loop {
            match bytes.get(at) {
                None => return 0,
                Some(b'"') => break,
                Some(b'\\') => {
                    let escape = unit(bytes, at);
                    match surrogate(bytes, at) {
                        Some(high) if (0xd800..0xdc00).contains(&high) => {
                            let low = surrogate(bytes, at + 6);
                            if low.is_some_and(|l| (0xdc00..0xe000).contains(&l)) {
                                self.out.extend_from_slice(slice(bytes, at, at + 12));
                                at += 12;
                                continue;
                            }
                            self.replace_surrogate();
                        }
                        Some(low) if (0xdc00..0xe000).contains(&low) => self.replace_surrogate(),
                        _ => self.out.extend_from_slice(slice(bytes, at, at + escape)),
                    }
                    at += escape;
                }
                Some(&b) => {
                    self.out.push(b);
                    at += 1;
                }
            }
        }
        self.out.push(b'"');
        if !keep {
            self.out.truncate(mark);
        }
        at + 1 - start
    }

    fn replace_surrogate(&mut self) {
        self.out.extend_from_slice(b"\\ufffd");
        self.repairs = Some("lone_surrogate");
    }

    /// Copies a number; one that no float can hold becomes a string of its spelling.
    fn number(&mut self, bytes: &[u8], start: usize, depth: usize) -> usize {
        let is_part = |b: &u8| matches!(b, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
        let length = bytes.get(start..).map_or(0, |b| b.iter().take_while(|b| is_part(b)).count());
        if depth > JSON_DEPTH_MAX {
            return length;
        }
        let spelled = slice(bytes, start, start + length);
        let finite = std::str::from_utf8(spelled)
            .ok()
            .and_then(|s| s.parse::<f64>().ok())
            .is_none_or(f64::is_finite);
        if finite {
            self.out.extend_from_slice(spelled);
        } else {
            self.out.push(b'"');
            self.out.extend_from_slice(spelled);
            self.out.push(b'"');
            self.repairs = Some("huge_number");
        }
        length
    }
}

/// Whether a byte that was just consumed at depth 0 completes a value (a bare word does not).
fn ends_value(b: u8) -> bool {
    matches!(b, b'}' | b']' | b'"' | b'-' | b'0'..=b'9')
}

/// Length of the escape at `at`.
fn unit(bytes: &[u8], at: usize) -> usize {
    if bytes.get(at + 1) == Some(&b'u') { 6 } else { 2 }
}

/// The code unit of a `\uXXXX` escape at `at`.
fn surrogate(bytes: &[u8], at: usize) -> Option<u32> {
    if bytes.get(at) != Some(&b'\\') || bytes.get(at + 1) != Some(&b'u') {
        return None;
    }
    let digits = std::str::from_utf8(bytes.get(at + 2..at + 6)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}

fn slice(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    bytes.get(start..end.min(bytes.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn only(line: &str) -> Found {
        let (mut found, refused) = values(line.as_bytes());
        assert_eq!((found.len(), refused), (1, None), "{line}");
        found.remove(0)
    }

    #[test]
    fn a_plain_line_is_read_without_repair() {
        let found = only("  {\"a\":1}\r");
        assert_eq!((found.offset, found.length, found.repaired), (2, 7, None));
    }

    #[test]
    fn a_lone_surrogate_escape_does_not_lose_the_line() {
        let found = only(r#"{"a":"x\ud83d y","b":"\ud83d\ude00","c":"\udc00"}"#);
        assert_eq!(found.value, json!({"a":"x\u{fffd} y","b":"\u{1f600}","c":"\u{fffd}"}));
        assert_eq!(found.repaired, Some("lone_surrogate"));
    }

    #[test]
    fn a_huge_exponent_keeps_its_spelling_and_the_line() {
        let found = only(r#"{"a":1e400,"b":2}"#);
        assert_eq!(found.value, json!({"a":"1e400","b":2}));
        assert_eq!(found.repaired, Some("huge_number"));
    }

    #[test]
    fn nesting_three_thousand_deep_is_cut_and_its_siblings_stay() {
        let line = format!("{{\"deep\":{}1{},\"kept\":true}}", "[".repeat(3000), "]".repeat(3000));
        let found = only(&line);
        assert_eq!(found.value.get("kept"), Some(&json!(true)));
        assert_eq!(found.repaired, Some("too_deep"));
    }

    #[test]
    fn two_objects_on_one_line_are_two_values_with_their_own_offsets() {
        let (found, refused) = values(br#"{"a":1}{"b":2}"#);
        assert_eq!(refused, None);
        assert_eq!(
            found.iter().map(|f| (f.offset, f.length)).collect::<Vec<_>>(),
            [(0, 7), (7, 7)]
        );
    }

    #[test]
    fn a_good_value_before_a_torn_one_is_kept() {
        let (found, refused) = values(br#"{"a":1}{"b":"#);
        assert_eq!(found.len(), 1);
        assert_eq!(refused, Some(Refused::Torn));
    }

    #[test]
    fn invalid_utf8_is_refused_and_never_replaced() {
        assert_eq!(values(b"{\"a\":\"\xff\"}"), (vec![], Some(Refused::NotUtf8)));
    }

    #[test]
    fn bom_and_nul_runs_stand_before_a_value_without_losing_it() {
        assert_eq!(only("\u{feff}{\"a\":1}").offset, 3);
        let found = only("\0\0\0{\"a\":1}");
        assert_eq!((found.offset, found.repaired), (3, Some("nul_run")));
        assert_eq!(values(b"\0\0"), (vec![], Some(Refused::NulRun)));
    }

    #[test]
    fn prose_is_malformed_and_an_open_object_is_torn() {
        assert_eq!(values(b"{a:1}").1, Some(Refused::Malformed));
        assert_eq!(values(b"some words").1, Some(Refused::Malformed));
        assert_eq!(values(br#"{"a":"x"#).1, Some(Refused::Torn));
    }

    proptest! {
        #[test]
        fn any_bytes_give_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = values(&bytes);
        }

        #[test]
        fn almost_json_gives_an_answer(text in "[\\[\\]{}\",:0-9eE.\\\\ud8a-f +-]{0,80}") {
            let (found, _) = values(text.as_bytes());
            for f in found {
                prop_assert!(f.offset + f.length <= text.len());
            }
        }
    }
}
