//! Whether what is bound to a secret-looking name is a secret, or code and documentation about one.
//!
//! `password: string`, `token = getToken()`, `API_KEY=$KEY` and `--token <TOKEN>` are everywhere in
//! a record of coding work and hold nothing. The rules are strict where the form is one that only
//! real values take (`DB_PASSWORD=x`, a quoted string), and lenient where code looks the same.

use super::bytes::{
    ALNUM, DIGIT, JOIN, LETTER, LOWER, MARK, UPPER, all, any, at, contains_ignoring_case, from, is,
    one_of, repeats, slice, span,
};
use super::entropy;

/// What ties a value to its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Equals,
    Colon,
    /// After a flag: a space, or the next element of an argument list.
    Space,
}

/// A name and how a value is bound to it.
pub(super) struct Binding<'a> {
    pub(super) name: &'a [u8],
    /// The word that promises the secret: the last of the name.
    pub(super) word: &'a [u8],
    pub(super) is_weak: bool,
    /// A flag, a query parameter or an `x-` header: not code.
    pub(super) is_parameter: bool,
    pub(super) is_screaming: bool,
    pub(super) sign: Sign,
    /// No space around the sign.
    pub(super) is_tight: bool,
    pub(super) name_is_quoted: bool,
}

impl Binding<'_> {
    /// Whether code rarely looks like this, so that any value is taken for a secret.
    fn is_plain(&self) -> bool {
        self.is_parameter || self.is_screaming && self.is_tight && self.sign == Sign::Equals
    }
}

/// Words that stand for no value, or for one of a type.
const NO_VALUE: &[&str] = &[
    "true",
    "false",
    "null",
    "none",
    "nil",
    "undefined",
    "string",
    "str",
    "bool",
    "boolean",
    "number",
    "integer",
    "int",
    "object",
    "include",
    "omit",
    "same-origin",
];

/// Words that stand for a value elsewhere, in code and in documentation.
const FILLERS: &[&str] = &[
    "yes", "no", "on", "off", "optional", "required", "bytes", "any", "text", "token", "password",
    "secret", "key", "value", "default", "auto", "inherit", "void", "unknown", "never", "empty",
    "unset", "missing", "hidden", "masked", "invalid", "valid", "bearer",
];

/// How values to be filled in begin.
const FILL_IN: &[&str] =
    &["your-", "your_", "your ", "example", "placeholder", "redacted", "[redacted", "insert_"];

/// Words that follow a flag in a sentence about it.
const PROSE: &[&str] = &[
    "flag",
    "flags",
    "option",
    "options",
    "argument",
    "arguments",
    "parameter",
    "to",
    "is",
    "are",
    "for",
    "and",
    "or",
    "with",
    "in",
    "from",
    "the",
    "a",
    "an",
    "if",
    "as",
    "on",
    "of",
    "was",
    "will",
    "can",
    "should",
    "must",
    "when",
    "which",
    "that",
    "not",
    "via",
    "at",
    "by",
    "it",
    "has",
    "does",
    "flag.",
    "env",
    "file",
    "stdin",
    "prompt",
];

/// Types whose names hold digits.
const TYPES: &[&str] = &["uint", "int", "float", "sha", "base", "utf", "varchar", "bytes", "hmac"];

/// Whether a value is empty, masked, a variable, a template, or a word for a value.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let fill_in =
        |start: &&str| slice(value, 0, start.len()).eq_ignore_ascii_case(start.as_bytes());
    is_no_value(value) || one_of(value, FILLERS) || FILL_IN.iter().any(fill_in)
}

/// As `is_placeholder`, where the form leaves no doubt that a word is a value: in JSON.
fn is_no_value(value: &[u8]) -> bool {
    let Some((&first, rest)) = value.split_first() else { return true };
    let last = at(value, value.len() - 1);
    let template =
        matches!((first, last), (b'<', b'>') | (b'{', b'}') | (b'%', b'%') | (b'[', b']'))
            || first == b'%' && value.len() <= 3
            || value.starts_with(b"{{")
            || value.starts_with(b"...");
    let variable = first == b'$' && !is(at(rest, 0), DIGIT | MARK) && !has_default(rest);
    let version = matches!(first, b'^' | b'~' | b'v') && is(at(rest, 0), DIGIT) && is_number(rest);
    is_masked(value) || variable || template || version || one_of(value, NO_VALUE)
}

/// Stars, three or more of the letter x, or bullets in UTF-8.
fn is_masked(value: &[u8]) -> bool {
    let mask = |byte: &u8| b"*.-_?\xE2\x80\xA2\xA6".contains(byte);
    value.iter().all(mask)
        || value.len() >= 3 && value.iter().all(|byte| mask(byte) || b"xX".contains(byte))
}

/// `${NAME:-default}` with a default that is there, without its dollar.
fn has_default(variable: &[u8]) -> bool {
    let Some(name) = variable.strip_prefix(b"{") else { return false };
    let default = from(name, span(name, ALNUM | JOIN));
    default.strip_prefix(b":-").is_some_and(|default| !matches!(at(default, 0), b'}' | b'$' | 0))
}

/// Whether the string between quotes is a secret; `value` may be cut.
pub(super) fn is_quoted_secret(value: &[u8], binding: &Binding<'_>) -> bool {
    if is_no_value(value) || is_marked(value) {
        return false;
    }
    if binding.name_is_quoted && binding.sign != Sign::Equals {
        return true;
    }
    if is_placeholder(value) {
        return false;
    }
    // `"Password: ", x`: the quote closes the string that the name stands in.
    if is(at(value, 0), MARK) || b" ,;:)]}".contains(&at(value, 0)) {
        return false;
    }
    let spaced = value.contains(&b' ');
    if binding.is_weak {
        return at(value, 0) != b'#'
            && !spaced
            && is_mixed(value)
            && value.len() >= 6
            && !value.contains(&b'/');
    }
    let about_itself = all(value, LETTER | JOIN) && contains_ignoring_case(value, binding.word);
    let sentence = spaced && !any(value, DIGIT) && any(slice(value, 0, 1), UPPER);
    !about_itself && !sentence && !is_path(value)
}

/// Whether a bare value is a secret; `next` is the byte after it, `value` may be cut.
pub(super) fn is_unquoted_secret(value: &[u8], next: u8, binding: &Binding<'_>) -> bool {
    if is_code(value, next) {
        return false;
    }
    let value = match value {
        [rest @ .., b':' | b'.' | b'?'] => rest,
        _ => value,
    };
    if is_placeholder(value) || is_marked(value) || is_number(value) || is_path(value) {
        return false;
    }
    if is_name_of_itself(value, binding) {
        return false;
    }
    match binding.sign {
        Sign::Space => is_flag_value(value),
        _ if binding.is_plain() => true,
        Sign::Equals if binding.is_tight => is_tight_value(value, next),
        _ => is_loose_value(value),
    }
}

/// `user_password` for `password`: a variable of that name.
fn is_name_of_itself(value: &[u8], binding: &Binding<'_>) -> bool {
    all(value, LETTER | JOIN | MARK) && contains_ignoring_case(value, binding.word)
}

/// Whether what follows a flag is a value, and no word about the flag.
pub(super) fn is_flag_value(value: &[u8]) -> bool {
    let metavariable = all(value, UPPER | JOIN);
    !metavariable && !one_of(value, PROSE) && at(value, 0) != b'-'
}

/// `password=value` where code and shell look alike: identifiers of code stay.
fn is_tight_value(value: &[u8], next: u8) -> bool {
    const LEAST: usize = 4;
    let in_call = matches!(next, b',' | b')');
    if all(value, LETTER | JOIN | MARK) {
        let hump = value.windows(2).any(|pair| is(at(pair, 0), LOWER) && is(at(pair, 1), UPPER));
        let compound = any(value, JOIN | MARK);
        return value.len() >= LEAST && !hump && !compound && !in_call;
    }
    let identifier = all(value, ALNUM | JOIN | MARK) && is(at(value, 0), LETTER);
    value.len() >= LEAST && !(identifier && in_call && value.len() < 8)
}

/// `password: value` and `password = value`: the value must not look like a word or a type.
fn is_loose_value(value: &[u8]) -> bool {
    const LEAST: usize = 6;
    let typed = TYPES.iter().any(|name| {
        slice(value, 0, name.len()).eq_ignore_ascii_case(name.as_bytes())
            && all(from(value, name.len()), DIGIT)
    });
    let letters = value.iter().filter(|&&byte| is(byte, LETTER)).count();
    let member =
        value.contains(&b'.') && is(at(value, 0), LETTER) && all(value, ALNUM | JOIN | MARK);
    let identifier = all(value, ALNUM | JOIN) && any(value, JOIN) && !is(at(value, 0), DIGIT);
    let tame = typed || value.contains(&b'/') || member || identifier;
    value.len() >= LEAST
        && letters >= 3
        && is_mixed(value)
        && !matches!(at(value, 0), b'&' | b'*' | b'@' | b'!' | b'#' | b'-')
        && (!tame || value.len() >= entropy::LEAST && entropy::is_random(value))
}

/// Calls, indexing, paths of modules, comparisons.
fn is_code(value: &[u8], next: u8) -> bool {
    let name = span(value, ALNUM | JOIN | MARK);
    let after = if name == value.len() { next } else { at(value, name) };
    let called = name > 0 && is(at(value, 0), LETTER | JOIN) && b"([{<".contains(&after);
    let joined =
        [b"::", b"->", b"=>", b"=="].iter().any(|&mark| value.windows(2).any(|w| w == mark));
    let macro_call =
        name + 1 == value.len() && after == b'!' && all(slice(value, 0, name), LETTER | JOIN);
    called
        || joined
        || macro_call
        || matches!(at(value, 0), b':' | b'(' | b'[' | b'{' | b'|' | b'&' | b',' | b')')
}

fn is_path(value: &[u8]) -> bool {
    let rooted = [&b"/"[..], b"./", b"../", b"~/"].iter().any(|root| value.starts_with(root));
    rooted && !entropy::is_random(value) || value.windows(3).any(|window| window == b"://")
}

fn is_number(value: &[u8]) -> bool {
    value.iter().all(|&byte| is(byte, DIGIT) || b".,_-+%:".contains(&byte))
}

/// Whether there is an earlier redaction in the value.
pub(super) fn is_marked(value: &[u8]) -> bool {
    value.windows(10).any(|window| window == b"[REDACTED:")
}

/// Whether there is more than letters: a digit or a symbol.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    value.iter().any(|&byte| is(byte, DIGIT) || !is(byte, LETTER | JOIN | MARK))
}

/// `aws_secret_access_key`, `SecretAccessKey`.
pub(super) fn is_aws(name: &[u8]) -> bool {
    contains_ignoring_case(name, b"secret_access_key")
        || contains_ignoring_case(name, b"secretaccesskey")
}

/// Where a bare token ends: at white space, quotes, brackets, separators or an escape.
pub(super) fn unquoted_end(bytes: &[u8], start: usize, limit: usize) -> usize {
    let text = slice(bytes, start, limit);
    let outside = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`,;&|()<>{}[]\\".contains(byte);
    start + text.iter().position(outside).unwrap_or(text.len())
}

/// Where a bare value ends. Brackets and commas belong to a value that is not code.
pub(super) fn value_end(bytes: &[u8], start: usize, limit: usize, binding: &Binding<'_>) -> usize {
    if !binding.is_plain() {
        return unquoted_end(bytes, start, limit);
    }
    let text = slice(bytes, start, limit);
    let outside = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`;&|<>\\".contains(byte);
    let text = slice(text, 0, text.iter().position(outside).unwrap_or(text.len()));
    if text.starts_with(b"${") {
        return start + text.len();
    }
    let closing = text.iter().rev().take_while(|byte| b",)}]".contains(byte)).count();
    start + text.len() - closing
}

pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// An opening quote, possibly escaped by the JSON text it is in.
#[derive(Clone, Copy)]
pub(super) struct Quote {
    mark: u8,
    slashes: usize,
    /// Where the quoted text begins.
    pub(super) content: usize,
}

impl Quote {
    /// The quote at `start`, after an optional string prefix such as `b` or `r`.
    pub(super) fn open(bytes: &[u8], start: usize) -> Option<Quote> {
        let prefix = usize::from(matches!(at(bytes, start), b'b' | b'f' | b'r' | b'u'));
        let opened = |start: usize| {
            let slashes = repeats(slice(bytes, start, start + PREFIX_MAX), b'\\');
            let mark = at(bytes, start + slashes);
            is_quote(mark).then_some(Quote { mark, slashes, content: start + slashes + 1 })
        };
        opened(start).or_else(|| opened(start + prefix))
    }

    /// Where the quoted text ends, looking from `from` up to `limit`: at the same quote with the
    /// same depth of escaping, or at the end of the line.
    pub(super) fn close(&self, bytes: &[u8], start: usize, limit: usize) -> Option<usize> {
        let mut slashes = 0;
        for (i, &byte) in slice(bytes, start, limit).iter().enumerate() {
            match byte {
                b'\\' => slashes += 1,
                b'\n' => return Some(start + i),
                _ if byte == self.mark && slashes % (2 * self.slashes + 2) == self.slashes => {
                    return Some(start + i - self.slashes);
                }
                _ => slashes = 0,
            }
        }
        None
    }
}

/// Deeper escaping than this is no nested JSON.
const PREFIX_MAX: usize = 64;
