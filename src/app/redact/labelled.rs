//! Values that their surroundings give away: assignments, flags, headers, URL user info.
//!
//! The scanner calls `after_run` at the end of each run of token bytes. If the run is a name that
//! promises a secret and something binds a value to it (`=`, `:`, `": "` at any depth of JSON
//! escaping, a space after a flag), the value alone is cut out. Every judgement looks at a bounded
//! part of a value and only an accepted value is measured to its end, so a pass stays linear.

use super::bytes::{
    ALNUM, DIGIT, JOIN, LETTER, LOWER, MARK, TRIGGER, UPPER, WORD, all, any, at, blanks, find,
    from, is, one_of, repeats, slice, span, starts_token,
};
use super::commands;
use super::detectors::Found;
use super::names::{self, NAME_MAX, Promise};
use super::values::{self, Binding, Sign};

/// How much of a value is looked at to judge it.
const PROBE: usize = 64;

/// What stands after a run.
pub(super) enum Step {
    /// A marker of an earlier redaction, or a certificate, which ends there.
    Skip(usize),
    Redact(Found),
}

/// Whether `after_run` finds nothing for sure: two bytes behind the run, and the classes of its
/// own bytes, tell so for nearly every word. A doubt is no.
#[inline]
pub(super) fn is_unbound(bytes: &[u8], start: usize, end: usize, classes: u8) -> bool {
    let second = at(bytes, end + 1);
    if at(bytes, start) == b'-' {
        return false;
    }
    match at(bytes, end) {
        b' ' | b'\t' => {
            // `-----BEGIN` and `bearer` end in these; a flag begins with a byte that joins.
            let last = end.checked_sub(1).map_or(0, |last| at(bytes, last));
            // `Basic`, and the `password` of a netrc, are told by their length.
            classes & JOIN == 0
                && !matches!(last, b'N' | b'r' | b'R')
                && !matches!((last, end - start), (b'c' | b'C', 5) | (b'd', 8))
                && !matches!(second, b' ' | b'\t' | b':' | b'=')
        }
        b'"' | b'\'' | b'`' => !matches!(second, b']' | b' ' | b'\t' | b':' | b'=' | b','),
        b'\\' => second != b'\\' && !values::is_quote(second),
        b'>' => start.checked_sub(1).map(|before| at(bytes, before)) != Some(b'<'),
        b'~' => !matches!(end.checked_sub(1).map(|last| at(bytes, last)), Some(b'Q' | b'6')),
        byte => !is(byte, TRIGGER),
    }
}

/// Looks at what follows the run `bytes[start..end]`.
pub(super) fn after_run(bytes: &[u8], start: usize, end: usize) -> Option<Step> {
    if let Some(found) = commands::secret(bytes, start, end) {
        return Some(Step::Redact(found));
    }
    let found = match at(bytes, end) {
        b':' => {
            if let Some(end) = marker_end(bytes, start, end) {
                return Some(Step::Skip(end));
            }
            url_userinfo(bytes, end)
                .or_else(|| telegram_token(bytes, start, end))
                .or_else(|| labelled(bytes, start, end))
        }
        b' ' | b'\t' => {
            if let Some(end) = public_block_end(bytes, start, end) {
                return Some(Step::Skip(end));
            }
            private_key(bytes, start, end)
                .or_else(|| bearer(bytes, start, end))
                .or_else(|| basic(bytes, start, end))
                .or_else(|| labelled(bytes, start, end))
        }
        b'>' => element(bytes, start, end),
        b'~' => tilde(bytes, start, end),
        _ => labelled(bytes, start, end),
    };
    found.map(Step::Redact)
}

/// The end of a marker whose word is the run `start..end`.
fn marker_end(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let opened = slice(bytes, start.checked_sub(1)?, end) == b"[REDACTED";
    let kind = span(from(bytes, end + 1), LOWER | DIGIT | WORD);
    (opened && kind > 0 && at(bytes, end + 1 + kind) == b']').then_some(end + kind + 2)
}

/// `scheme://user:password@host`, or a long user alone, which is a token. `end` is at the colon.
fn url_userinfo(bytes: &[u8], end: usize) -> Option<Found> {
    const USERINFO_MAX: usize = 512;
    const TOKEN_LEAST: usize = 20;
    from(bytes, end).strip_prefix(b"://")?;
    let start = end + 3;
    let rest = slice(bytes, start, start + USERINFO_MAX);
    let outside = |byte: &u8| byte.is_ascii_whitespace() || b"/\\?#\"'`<>".contains(byte);
    let authority = slice(rest, 0, rest.iter().position(outside).unwrap_or(rest.len()));
    let length = authority.iter().rposition(|&byte| byte == b'@')?;
    let userinfo = slice(authority, 0, length);
    let variable = if userinfo.starts_with(b"${") { find(userinfo, b"}")? } else { 0 };
    let colon = from(userinfo, variable).iter().position(|&byte| byte == b':');
    let secret = match colon {
        _ if userinfo.starts_with(b"[REDACTED:") => return None,
        Some(colon) => from(userinfo, variable + colon + 1),
        None if length >= TOKEN_LEAST => userinfo,
        None => return None,
    };
    let found = Found { start, end: start + length, kind: "url_userinfo" };
    (!values::is_placeholder(secret)).then_some(found)
}

/// `123456789:AA...`: a bot's number and its token.
fn telegram_token(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    const LENGTH: usize = 35;
    let id = end - start;
    let number = (8..=10).contains(&id) && all(slice(bytes, start, end), DIGIT);
    let token = from(bytes, end + 1);
    let shaped = number && token.starts_with(b"AA") && span(token, WORD) == LENGTH;
    shaped.then_some(Found { start: end + 1, end: end + 1 + LENGTH, kind: "telegram_token" })
}

const BEGIN: &[u8] = b"-----BEGIN";
const LABEL_MAX: usize = 48;

/// Where the head of a PEM block ends whose `-----BEGIN` ends at `end`, and its label.
fn pem_head(bytes: &[u8], start: usize, end: usize) -> Option<(&[u8], usize)> {
    if !slice(bytes, start, end).ends_with(BEGIN) {
        return None;
    }
    let label = slice(bytes, end, end + LABEL_MAX);
    let length = find(label, b"-----")?;
    Some((slice(label, 0, length), end + length + 5))
}

/// Where the body of a PEM block ends that begins at `start` and is nothing but base64.
fn pem_body_end(bytes: &[u8], start: usize) -> Option<usize> {
    let of_body =
        |&byte: &u8| is(byte, ALNUM) || byte.is_ascii_whitespace() || b"+/=\\".contains(&byte);
    let length = from(bytes, start).iter().position(|byte| !of_body(byte))?;
    let body = slice(bytes, start, start + length);
    let closed = from(bytes, start + length).starts_with(b"-----END");
    (closed && any(body, ALNUM)).then_some(start + length)
}

/// The end of a PEM block that is meant to be public, such as a certificate: it looks random.
fn public_block_end(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let (label, body) = pem_head(bytes, start, end)?;
    if find(label, b"PRIVATE").is_some() { None } else { pem_body_end(bytes, body) }
}

/// A PEM private key from `-----BEGIN`, which ends at `end`, through its end line; where that is
/// cut off, through the end of the text. A mention of the header without a key behind it stays.
fn private_key(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    const GAP_MAX: usize = 200;
    const BODY_LEAST: usize = 16;
    let (label, body) = pem_head(bytes, start, end)?;
    find(label, b"PRIVATE KEY")?;
    let front = slice(bytes, body, body + GAP_MAX);
    let key_like = |run: &[u8]| run.len() >= BODY_LEAST && run.iter().any(|&b| is(b, UPPER));
    let has_key = front.split(|&byte| !is(byte, ALNUM | MARK)).any(key_like);
    if !has_key && pem_body_end(bytes, body).is_none() {
        return None;
    }
    let close = find(from(bytes, body), b"-----END").map(|at| body + at + 8);
    let dashes = close.and_then(|close| {
        find(slice(bytes, close, close + LABEL_MAX), b"-----").map(|at| close + at + 5)
    });
    let end_of_key = dashes.or(close).unwrap_or(bytes.len());
    Some(Found { start: end - BEGIN.len(), end: end_of_key, kind: "private_key" })
}

/// `Bearer <token>` wherever it stands.
fn bearer(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    const LEAST: usize = 16;
    let word = end.checked_sub(6).filter(|&word| word >= start)?;
    if !slice(bytes, word, end).eq_ignore_ascii_case(b"bearer") || !starts_token(bytes, word) {
        return None;
    }
    let start = end + blanks(from(bytes, end));
    let token = slice(bytes, start, values::unquoted_end(bytes, start, start + PROBE));
    if token.len() < LEAST || !values::is_mixed(token) || values::is_placeholder(token) {
        return None;
    }
    let end = values::unquoted_end(bytes, start, bytes.len());
    Some(Found { start, end, kind: "bearer" })
}

/// `Basic <base64 of user:password>` wherever it stands.
fn basic(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    const LEAST: usize = 8;
    if !slice(bytes, start, end).eq_ignore_ascii_case(b"basic") {
        return None;
    }
    let start = end + blanks(from(bytes, end));
    let token = slice(bytes, start, start + PROBE);
    let token = slice(token, 0, span(token, ALNUM | MARK));
    if token.len() < LEAST || !is_user_and_password(token) {
        return None;
    }
    let length = span(from(bytes, start), ALNUM | MARK);
    let padding = repeats(from(bytes, start + length), b'=');
    Some(Found { start, end: start + length + padding, kind: "bearer" })
}

/// Whether base64 decodes to printable text with a colon in it.
fn is_user_and_password(token: &[u8]) -> bool {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bits, mut held, mut colon) = (0u32, 0, false);
    for &byte in token {
        let Some(value) = digit(byte) else { return false };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            let decoded = bits >> held & 0xff;
            colon |= decoded == u32::from(b':');
            if !(0x20..0x7f).contains(&decoded) {
                return false;
            }
        }
    }
    colon
}

/// Issued secrets with a tilde in them, which no run holds: client secrets of Azure (`abc8Q~...`)
/// and tokens of OpenShift (`sha256~...`).
fn tilde(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    let run = slice(bytes, start, end);
    let body = from(bytes, end + 1);
    let length = body.iter().position(|&b| !is(b, WORD | MARK) && b != b'~').unwrap_or(body.len());
    if run == b"sha256" && length == 43 && values::is_mixed(slice(body, 0, length)) {
        return Some(Found { start, end: end + 1 + length, kind: "openshift_token" });
    }
    let [.., digit, b'Q'] = run else { return None };
    let begin = end.checked_sub(5).filter(|&begin| begin >= start)?;
    let shaped = is(*digit, DIGIT) && (31..=34).contains(&length) && starts_token(bytes, begin);
    shaped.then_some(Found { start: begin, end: end + 1 + length, kind: "azure_secret" })
}

/// `<password>...</password>`.
fn element(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    const TEXT_MAX: usize = 512;
    if start.checked_sub(1).map(|before| at(bytes, before)) != Some(b'<') {
        return None;
    }
    names::promise(name(bytes, start, end))?;
    let start = end + 1;
    let text = slice(bytes, start, start + TEXT_MAX);
    let length = text.iter().position(|&byte| byte == b'<' || byte == b'\n')?;
    let content = slice(text, 0, length);
    let closed = from(text, length).starts_with(b"</");
    if !closed || values::is_placeholder(content) || content.contains(&b' ') {
        return None;
    }
    Some(Found { start, end: start + length, kind: "assignment" })
}

/// A name that promises a secret, what binds it, and its value.
fn labelled(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    let name = name(bytes, start, end);
    let flag = name.starts_with(b"-");
    let bound = bound(bytes, end, flag)?;
    let promise = names::promise(name).or_else(|| signed(bytes, start, name, &bound))?;
    let before = start.checked_sub(1).map_or(0, |before| at(bytes, before));
    let binding = Binding {
        name,
        word: names::last_word(name).1,
        is_weak: promise == Promise::Weak,
        is_parameter: bound.sign == Sign::Equals && bound.is_tight && matches!(before, b'?' | b'&')
            || flag
            || name.get(..2).is_some_and(|x| x.eq_ignore_ascii_case(b"x-")),
        is_screaming: names::is_screaming(name),
        sign: bound.sign,
        is_tight: bound.is_tight,
        name_is_quoted: bound.name_is_quoted,
    };
    let value = value(bytes, bound.value, &binding);
    value.or_else(|| annotated(bytes, bound.value, &binding))
}

/// The signature in a URL, such as that of shared storage: as good as the key while it lasts.
fn signed(bytes: &[u8], start: usize, name: &[u8], bound: &Bound) -> Option<Promise> {
    const LEAST: usize = 32;
    let before = start.checked_sub(1).map_or(0, |before| at(bytes, before));
    let parameter = bound.sign == Sign::Equals && matches!(before, b'?' | b'&' | b';');
    let value = slice(bytes, bound.value, bound.value + LEAST);
    let long =
        value.len() == LEAST && value.iter().all(|&b| is(b, ALNUM | JOIN | MARK) || b == b'%');
    (parameter && bound.is_tight && long && names::signs(name)).then_some(Promise::Strong)
}

/// The name that ends the run: its last path segment, without the letter of an escape before it.
fn name(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    let run = slice(bytes, start.max(end.saturating_sub(NAME_MAX)), end);
    let segment = run.rsplit(|&byte| matches!(byte, b'/' | b'+')).next().unwrap_or(run);
    let from_start = segment.len() == end - start;
    let escaped = from_start && start > 0 && at(bytes, start - 1) == b'\\';
    match segment {
        [b'n' | b'r' | b't' | b'b' | b'f', rest @ ..] if escaped => rest,
        _ => segment,
    }
}

/// What binds a value to the name before it.
struct Bound {
    sign: Sign,
    is_tight: bool,
    name_is_quoted: bool,
    value: usize,
}

fn bound(bytes: &[u8], end: usize, flag: bool) -> Option<Bound> {
    let slashes = repeats(from(bytes, end), b'\\');
    let mut next = end + slashes;
    let name_is_quoted = values::is_quote(at(bytes, next));
    if name_is_quoted {
        next += 1 + usize::from(at(bytes, next + 1) == b']');
    } else if slashes > 0 {
        return None;
    }
    let blank = blanks(from(bytes, next));
    next += blank;
    let sign = match at(bytes, next) {
        b':' if at(bytes, next + 1) == b':' => return None,
        b':' if at(bytes, next + 1) == b'=' => Sign::Equals,
        b':' => Sign::Colon,
        b'=' => Sign::Equals,
        b',' if flag && name_is_quoted => Sign::Space,
        _ if flag && blank > 0 && !name_is_quoted => Sign::Space,
        _ => return None,
    };
    let length = match (at(bytes, next), sign) {
        (b',', _) | (b':', Sign::Colon) => 1,
        (b':', _) => 2,
        (_, Sign::Space) => 0,
        _ => {
            let signs = repeats(from(bytes, next), b'=');
            signs + usize::from(at(bytes, next + signs) == b'>')
        }
    };
    next += length;
    let after = blanks(from(bytes, next));
    let is_tight = blank + after == 0;
    Some(Bound { sign, is_tight, name_is_quoted, value: next + after })
}

/// The value at `start`, if it is a secret.
fn value(bytes: &[u8], start: usize, binding: &Binding<'_>) -> Option<Found> {
    match values::Quote::open(bytes, start) {
        Some(quote) => quoted(bytes, quote, binding),
        None if binding.name_is_quoted && binding.sign == Sign::Space => None,
        None => unquoted(bytes, start, binding),
    }
}

fn quoted(bytes: &[u8], quote: values::Quote, binding: &Binding<'_>) -> Option<Found> {
    let (start, kind) = after_scheme(bytes, quote.content, binding);
    let close = quote.close(bytes, start, start + PROBE);
    let probe = slice(bytes, start, close.unwrap_or(start + PROBE));
    if !values::is_quoted_secret(probe, binding) {
        return None;
    }
    let end = close.or_else(|| quote.close(bytes, start, bytes.len())).unwrap_or(bytes.len());
    Some(Found { start, end, kind })
}

fn unquoted(bytes: &[u8], start: usize, binding: &Binding<'_>) -> Option<Found> {
    if one_of(binding.word, &["cookie"])
        && let Some(found) = cookies(bytes, start, binding)
    {
        return Some(found);
    }
    let (start, kind) = after_scheme(bytes, start, binding);
    let end = |limit| values::value_end(bytes, start, limit, binding);
    let probe_end = end(start + PROBE);
    let probe = slice(bytes, start, probe_end);
    let secret = match kind {
        "bearer" => probe.len() >= 6 && values::is_mixed(probe) && !values::is_placeholder(probe),
        _ => values::is_unquoted_secret(probe, at(bytes, probe_end), binding),
    };
    secret.then(|| Found { start, end: end(bytes.len()), kind })
}

/// A cookie header's pairs, through the end of the header.
fn cookies(bytes: &[u8], start: usize, binding: &Binding<'_>) -> Option<Found> {
    let outside = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'\\' | b'`');
    let text = slice(bytes, start, start + PROBE);
    let probe = slice(text, 0, text.iter().position(outside).unwrap_or(text.len()));
    let name = span(probe, WORD | MARK);
    let pair = name > 0 && at(probe, name) == b'=' && at(probe, name + 1) != b'=';
    if binding.sign != Sign::Colon || !pair || values::is_placeholder(from(probe, name + 1)) {
        return None;
    }
    let length = from(bytes, start).iter().position(outside);
    let end = length.map_or(bytes.len(), |length| start + length);
    Some(Found { start, end, kind: "cookie" })
}

/// Where the credentials of an authorization header begin, and the kind of what is there.
fn after_scheme(bytes: &[u8], start: usize, binding: &Binding<'_>) -> (usize, &'static str) {
    let access_key = binding.word.eq_ignore_ascii_case(b"key") && values::is_aws(binding.name);
    let kind = if access_key { "aws_key" } else { "assignment" };
    if !binding.word.eq_ignore_ascii_case(b"authorization") {
        return (start, kind);
    }
    let scheme = span(from(bytes, start), LETTER | DIGIT | WORD);
    let blank = blanks(from(bytes, start + scheme));
    let known =
        one_of(slice(bytes, start, start + scheme), &["bearer", "basic", "token", "apikey", "bot"]);
    if known && blank > 0 { (start + scheme + blank, "bearer") } else { (start, kind) }
}

/// The quoted initial value behind a type: `API_KEY: &str = "..."`. `start` is at the type.
fn annotated(bytes: &[u8], start: usize, binding: &Binding<'_>) -> Option<Found> {
    const TYPE_MAX: usize = 40;
    if binding.sign != Sign::Colon || binding.name_is_quoted {
        return None;
    }
    let text = slice(bytes, start, start + TYPE_MAX);
    let of_type = |&byte: &u8| is(byte, ALNUM) || b"_&<>'|[]. :".contains(&byte);
    let length = text.iter().position(|byte| !of_type(byte))?;
    let sign = at(text, length) == b'=' && at(text, length + 1) != b'=';
    let start = start + length + 1;
    let quote = values::Quote::open(bytes, start + blanks(from(bytes, start)))?;
    if sign { quoted(bytes, quote, binding) } else { None }
}
