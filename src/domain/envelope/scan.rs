//! A look at JSON text without parsing it: tokens, nesting depth, white space.
//!
//! Nothing here recurses, so text that is nested a million deep costs time and no stack. The
//! scan is lenient: text that is not JSON gets some answer, and the parser that runs afterwards
//! refuses it.

/// One token, as it is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Open(&'a str),
    Close(&'a str),
    Colon,
    Comma,
    /// A string with its quotes.
    Text(&'a str),
    /// A number, a literal, or whatever else stands between two marks.
    Scalar(&'a str),
}

impl<'a> Token<'a> {
    fn spelling(self) -> &'a str {
        match self {
            Token::Open(text) | Token::Close(text) | Token::Text(text) | Token::Scalar(text) => {
                text
            }
            Token::Colon => ":",
            Token::Comma => ",",
        }
    }
}

/// The tokens of a JSON text, in order.
pub(super) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { rest: text }
}

pub(super) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.rest = self.rest.trim_start_matches(is_space);
        let first = *self.rest.as_bytes().first()?;
        let length = match first {
            b'"' => string_length(self.rest),
            b'{' | b'[' | b'}' | b']' | b':' | b',' => 1,
            _ => self.rest.find(ends_scalar).unwrap_or(self.rest.len()),
        };
        let (spelling, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(match first {
            b'"' => Token::Text(spelling),
            b'{' | b'[' => Token::Open(spelling),
            b'}' | b']' => Token::Close(spelling),
            b':' => Token::Colon,
            b',' => Token::Comma,
            _ => Token::Scalar(spelling),
        })
    }
}

/// JSON's four white space characters.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn ends_scalar(c: char) -> bool {
    is_space(c) || matches!(c, '"' | '{' | '[' | '}' | ']' | ':' | ',')
}

/// Bytes of the string at the start of `text`, quotes included; all of it when it never ends.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

/// How deep the brackets nest; 0 for a scalar.
pub(super) fn depth(text: &str) -> usize {
    let mut deepest = 0_usize;
    let mut open = 0_usize;
    for token in tokens(text) {
        match token {
            Token::Open(_) => open += 1,
            Token::Close(_) => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// The text without the white space between its tokens, so that it is one line.
pub(super) fn compact(text: &str) -> String {
    tokens(text).map(Token::spelling).collect()
}

/// Every value that the top-level object gives to `key`, as spelled; a bracket for a container.
pub(super) fn values_of<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let mut values = Vec::new();
    let mut open = 0_usize;
    let mut at_key = false;
    let mut wanted = false;
    for token in tokens(text) {
        if open == 1 && wanted && token != Token::Colon {
            values.push(token.spelling());
            wanted = false;
        }
        match token {
            Token::Open(_) => open += 1,
            Token::Close(_) => open = open.saturating_sub(1),
            Token::Text(spelling) if open == 1 && at_key => wanted = names(spelling, key),
            _ => {}
        }
        at_key = open == 1 && matches!(token, Token::Open("{") | Token::Comma);
    }
    values
}

/// Whether a quoted string, escapes undone, is `key`.
fn names(spelling: &str, key: &str) -> bool {
    serde_json::from_str::<String>(spelling).is_ok_and(|name| name == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_ignores_brackets_inside_strings() {
        assert_eq!(depth("7"), 0);
        assert_eq!(depth(r#"{"a":"[[[\"[["}"#), 1);
        assert_eq!(depth(r#"{"a":[{},[[]]]}"#), 4);
        assert_eq!(depth(&"[".repeat(1_000_000)), 1_000_000);
    }

    #[test]
    fn compacting_keeps_spellings_and_spaces_inside_strings() {
        assert_eq!(
            compact("{ \"a b\" :\n[ 1.10 ,\t1e400 , \"x \\\" y\" ] }\r\n"),
            "{\"a b\":[1.10,1e400,\"x \\\" y\"]}"
        );
    }

    #[test]
    fn only_top_level_keys_are_seen_whatever_their_spelling() {
        let text = r#"{"x":{"v":1},"y":["v",2],"\u0076":3,"z":"v","v":[4],"v" : "5"}"#;
        assert_eq!(values_of(text, "v"), ["3", "[", "\"5\""]);
        assert!(values_of(r#"["v",1]"#, "v").is_empty());
        assert!(values_of("", "v").is_empty());
    }
}
