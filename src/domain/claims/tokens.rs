//! Words, numbers and signs of a block of prose.
//!
//! Quoted text, inline code and struck-out text become one opaque token each, so that nothing
//! inside them is read as the agent's own statement; an opening mark without its partner hides the
//! rest of the block. A full stop ends a sentence only before white space or the end, and not after
//! an abbreviation; `foo.rs`, `1.2.3` and `0.5s` are words. Letters are lower-cased, apostrophes
//! of every kind are one, and contractions are split.

use super::lexicon::{CHECK_MARKS, CROSS_MARKS, NUMBERS, PENDING_MARKS};

/// A token and the bytes it stands on, relative to the block.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'a> {
    pub start: usize,
    pub end: usize,
    pub kind: Kind<'a>,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind<'a> {
    /// A word in lower case.
    Word(String),
    /// A whole number.
    Number(u64),
    /// `12/12`.
    Ratio(u64, u64),
    /// Inline code, without its back-ticks.
    Code(&'a str),
    /// Quoted or struck-out text.
    Quote,
    Comma,
    Semicolon,
    Colon,
    Dash,
    Arrow,
    Open,
    Close,
    /// The end of a sentence.
    Stop {
        question: bool,
    },
    Check,
    Cross,
    Pending,
    /// Any other sign.
    Sign,
}

impl Token<'_> {
    pub(super) fn ends_sentence(&self) -> bool {
        matches!(self.kind, Kind::Stop { .. })
    }
}

/// The tokens of `block`, in order.
pub(super) fn tokenize(block: &str) -> Vec<Token<'_>> {
    let mut scanner = Scanner { text: block, pos: 0, previous: ' ', tokens: Vec::new() };
    while scanner.step() {}
    scanner.tokens
}

const CLOSERS: [char; 9] = [')', ']', '"', '\'', '*', '_', '\u{201d}', '\u{2019}', '`'];
const ABBREVIATIONS: [&str; 6] = ["e.g", "i.e", "eg", "ie", "vs", "cf"];
const SOFT_ABBREVIATIONS: [&str; 5] = ["etc", "approx", "incl", "resp", "no"];
/// How far a closing single quote is looked for, in bytes.
const SINGLE_QUOTE_REACH: usize = 400;

struct Scanner<'a> {
    text: &'a str,
    pos: usize,
    previous: char,
    tokens: Vec<Token<'a>>,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.pos..).unwrap_or_default()
    }

    /// Reads one token; false at the end.
    fn step(&mut self) -> bool {
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return false };
        let next = rest.chars().nth(1).unwrap_or(' ');
        match c {
            _ if c.is_whitespace() => self.skip(c.len_utf8()),
            '`' => self.code(),
            '"' | '\u{201c}' | '\u{201e}' | '\u{201d}' => {
                self.quote(c, &['"', '\u{201d}', '\u{201c}'])
            }
            '\u{ab}' => self.quote(c, &['\u{bb}']),
            '\'' | '\u{2018}' | '\u{2019}' => self.single_quote(c),
            '~' if next == '~' => self.struck(),
            '-' | '\u{2013}' | '\u{2014}' => self.dash(c, next),
            '\u{2192}' | '\u{21d2}' => self.push(c.len_utf8(), Kind::Arrow),
            '.' | '/' if is_path_start(c, next) => self.chunk(),
            '.' | '!' | '?' | '\u{2026}' => self.stop(),
            ',' => self.push(1, Kind::Comma),
            ';' => self.push(1, Kind::Semicolon),
            ':' => self.push(1, Kind::Colon),
            '(' if self.previous == ']' => self.link_target(),
            '(' | '[' => self.push(1, Kind::Open),
            ')' | ']' => self.push(1, Kind::Close),
            '*' | '_' | '#' | '\\' | '\u{fe0f}' | '\u{200b}' => self.skip(c.len_utf8()),
            _ if c.is_alphanumeric() => self.word(),
            _ => self.mark(c),
        }
        true
    }

    fn skip(&mut self, length: usize) {
        let skipped = self.rest().get(..length).unwrap_or_default();
        self.previous = skipped.chars().next_back().unwrap_or(' ');
        self.pos += length.max(1);
    }

    fn push(&mut self, length: usize, kind: Kind<'a>) {
        let start = self.pos;
        self.skip(length);
        self.tokens.push(Token { start, end: self.pos, kind });
    }

    fn mark(&mut self, c: char) {
        let kind = match c {
            _ if CHECK_MARKS.contains(&c) => Kind::Check,
            _ if CROSS_MARKS.contains(&c) => Kind::Cross,
            _ if PENDING_MARKS.contains(&c) => Kind::Pending,
            // Other pictures and letters of no case decorate; signs of syntax do not.
            _ if !c.is_ascii() => return self.skip(c.len_utf8()),
            _ => Kind::Sign,
        };
        self.push(c.len_utf8(), kind);
    }

    /// Inline code; a run of back-ticks closes with a run of the same length.
    fn code(&mut self) {
        let rest = self.rest();
        let ticks = rest.bytes().take_while(|byte| *byte == b'`').count();
        let body = rest.get(ticks..).unwrap_or_default();
        let fence = rest.get(..ticks).unwrap_or_default();
        match closing_run(body, fence) {
            Some(length) => {
                let code = body.get(..length).unwrap_or_default();
                self.push(ticks + length + ticks, Kind::Code(code.trim()));
            }
            None => self.push(rest.len(), Kind::Quote),
        }
    }

    fn quote(&mut self, open: char, closers: &[char]) {
        let rest = self.rest();
        let body = rest.get(open.len_utf8()..).unwrap_or_default();
        let length = match body.char_indices().find(|(_, c)| closers.contains(c)) {
            Some((at, close)) => open.len_utf8() + at + close.len_utf8(),
            None => rest.len(),
        };
        self.push(length, Kind::Quote);
    }

    fn single_quote(&mut self, open: char) {
        let body = self.rest().get(open.len_utf8()..).unwrap_or_default();
        let opens = !self.previous.is_alphanumeric() && body.starts_with(char::is_alphanumeric);
        if !opens {
            return self.skip(open.len_utf8());
        }
        let closing =
            body.char_indices().take_while(|(at, _)| *at < SINGLE_QUOTE_REACH).find(|(at, c)| {
                let after = body.get(at + c.len_utf8()..).unwrap_or_default();
                matches!(c, '\'' | '\u{2019}') && !after.starts_with(char::is_alphanumeric)
            });
        match closing {
            Some((at, close)) => {
                self.push(open.len_utf8() + at + close.len_utf8(), Kind::Quote);
            }
            None => self.skip(open.len_utf8()),
        }
    }

    fn struck(&mut self) {
        let rest = self.rest();
        let body = rest.get(2..).unwrap_or_default();
        let length = body.find("~~").map_or(rest.len(), |at| at + 4);
        self.push(length, Kind::Quote);
    }

    fn dash(&mut self, c: char, next: char) {
        match (c, next) {
            ('-', '>') => self.push(2, Kind::Arrow),
            ('-', '-') if self.rest().chars().nth(2).is_some_and(char::is_alphanumeric) => {
                self.chunk();
            }
            ('-', '-') => self.push(2, Kind::Dash),
            ('-', _) if next.is_alphanumeric() => self.chunk(),
            _ => self.push(c.len_utf8(), Kind::Dash),
        }
    }

    /// A path or an option: everything up to white space, less trailing signs.
    fn chunk(&mut self) {
        let rest = self.rest();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let chunk = rest.get(..end).unwrap_or_default();
        let chunk = if chunk.ends_with("/...") {
            chunk
        } else {
            chunk.trim_end_matches([',', ';', ':', '!', '?', ')', '.', '*'])
        };
        let length = chunk.len().max(1);
        self.push(length, Kind::Word(chunk.to_ascii_lowercase()));
    }

    fn link_target(&mut self) {
        let length = self.rest().find(')').map_or(1, |at| at + 1);
        self.skip(length);
    }

    fn stop(&mut self) {
        let rest = self.rest();
        let signs = |c: char| matches!(c, '.' | '!' | '?' | '\u{2026}');
        let run = rest.find(|c| !signs(c)).unwrap_or(rest.len());
        let after = rest.get(run..).unwrap_or_default().trim_start_matches(CLOSERS);
        let ends = after.is_empty() || after.starts_with(char::is_whitespace);
        if !ends || run == 1 && rest.starts_with('.') && self.abbreviates(after) {
            return self.skip(run);
        }
        let question = rest.get(..run).is_some_and(|signs| signs.contains('?'));
        self.push(run, Kind::Stop { question });
    }

    fn abbreviates(&self, after: &str) -> bool {
        let Some(Token { kind: Kind::Word(word), end, .. }) = self.tokens.last() else {
            return false;
        };
        let goes_on = after.trim_start().starts_with(|c: char| !c.is_uppercase());
        *end == self.pos
            && (ABBREVIATIONS.contains(&word.as_str())
                || goes_on && SOFT_ABBREVIATIONS.contains(&word.as_str()))
    }

    fn word(&mut self) {
        let rest = self.rest();
        let raw = rest.get(..word_length(rest)).unwrap_or_default();
        let word = if raw.is_ascii() {
            raw.to_ascii_lowercase()
        } else {
            raw.replace('\u{2019}', "'").to_lowercase()
        };
        if let Some(number) = number(&word) {
            let percent = rest.get(raw.len()..).is_some_and(|after| after.starts_with('%'));
            return if percent {
                self.push(raw.len() + 1, Kind::Word(format!("{number}%")));
            } else {
                self.push(raw.len(), Kind::Number(number));
            };
        }
        if let Some((some, all)) = word.split_once('/')
            && let (Some(some), Some(all)) = (number(some), number(all))
        {
            return self.push(raw.len(), Kind::Ratio(some, all));
        }
        let (stem, suffix) = contraction(&word);
        let start = self.pos;
        self.push(raw.len(), Kind::Word(stem));
        if let Some(suffix) = suffix {
            self.tokens.push(Token { start, end: self.pos, kind: Kind::Word(suffix.to_owned()) });
        }
    }
}

/// Where a run of back-ticks as long as `fence` begins in `body`.
fn closing_run(body: &str, fence: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = body.get(from..)?.find('`').map(|at| from + at) {
        let run = body.get(at..)?.bytes().take_while(|byte| *byte == b'`').count();
        if run == fence.len() {
            return Some(at);
        }
        from = at + run;
    }
    None
}

fn is_path_start(c: char, next: char) -> bool {
    c == '.' && next == '/' || c == '/' && next.is_alphanumeric()
}

/// Letters and digits, and connecting signs that have one after them.
fn word_length(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c.is_alphanumeric() {
            continue;
        }
        let after = chars.peek().map_or(' ', |(_, next)| *next);
        let joins = match c {
            '.' | '_' | '-' | '/' | '\'' | '\u{2019}' | '+' | '@' => after.is_alphanumeric(),
            ':' => after == ':',
            ',' => thousands(text, at),
            _ => false,
        };
        let second_colon = c == ':' && text.get(..at).is_some_and(|before| before.ends_with(':'));
        if !(joins || second_colon && after.is_alphanumeric()) {
            return at;
        }
    }
    text.len()
}

/// `1,234`: a comma inside a number.
fn thousands(text: &str, comma: usize) -> bool {
    let before = text.get(..comma).unwrap_or_default();
    let after = text.get(comma + 1..).unwrap_or_default();
    before.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
        && after.bytes().take_while(u8::is_ascii_digit).count() == 3
}

fn number(word: &str) -> Option<u64> {
    if !word.starts_with(|c: char| c.is_ascii_digit() || c == ',') {
        return None;
    }
    let digits = word.replace(',', "");
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

/// The value of a small number written in words.
pub(super) fn number_word(word: &str) -> Option<u64> {
    NUMBERS.iter().position(|name| *name == word).and_then(|value| u64::try_from(value).ok())
}

fn contraction(word: &str) -> (String, Option<&'static str>) {
    const SUFFIXES: [(&str, &str); 6] = [
        ("n't", "not"),
        ("'ll", "will"),
        ("'d", "would"),
        ("'re", "are"),
        ("'ve", "have"),
        ("'s", "'s"),
    ];
    for (suffix, meaning) in SUFFIXES {
        if let Some(stem) = word.strip_suffix(suffix).filter(|stem| !stem.is_empty()) {
            return (stem.to_owned(), Some(meaning));
        }
    }
    match word {
        "dont" | "doesnt" | "didnt" | "wont" | "cant" | "arent" | "isnt" => {
            (word.trim_end_matches("nt").to_owned(), Some("not"))
        }
        _ => (word.to_owned(), None),
    }
}
