//! Rust source made fit for looking at: comments and literals blanked, test code taken out.
//!
//! A scanner, no parser: it knows line and block comments, plain, byte and raw strings, and
//! character literals, which is what it takes to see code only. Line breaks stay where they are.

/// The code of `text`: comments and the content of literals become spaces.
pub(super) fn code(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match (chars[at], chars.get(at + 1)) {
            ('/', Some('/')) => until(&chars, at, |c| c == '\n'),
            ('/', Some('*')) => block_comment(&chars, at),
            ('"', _) => string(&chars, at),
            ('r', Some('"' | '#')) if !follows_word(&chars, at) => raw_string(&chars, at),
            ('\'', _) => char_literal(&chars, at),
            _ => at,
        };
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

/// `code` without its inline test modules.
pub(super) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = String::new();
    let mut rest = code;
    while let Some(start) = rest.find(MARK) {
        out.push_str(&rest[..start]);
        let item = &rest[start + MARK.len()..];
        let open = item.find('{').unwrap_or(item.len());
        let end = match item.find(';') {
            // A module in a file of its own, or a `use`.
            Some(semicolon) if semicolon < open => semicolon + 1,
            _ => open + braces(&item[open..]),
        };
        rest = &item[end..];
    }
    out.push_str(rest);
    out
}

/// Whether a file holds nothing but tests, by its name.
pub(super) fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.contains("/tests/") || matches!(name, "tests.rs" | "samples.rs" | "corpus_tests.rs")
}

/// Length of the block that begins with the `{` at 0.
fn braces(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

fn until(chars: &[char], from: usize, stop: impl Fn(char) -> bool) -> usize {
    (from..chars.len()).find(|at| stop(chars[*at])).unwrap_or(chars.len())
}

fn block_comment(chars: &[char], from: usize) -> usize {
    let mut depth = 0;
    let mut at = from;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => {
                depth += 1;
                at += 2;
            }
            ('*', Some('/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    at
}

fn string(chars: &[char], from: usize) -> usize {
    let mut at = from + 1;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

fn raw_string(chars: &[char], from: usize) -> usize {
    let open = until(chars, from + 1, |c| c != '#');
    if chars.get(open) != Some(&'"') {
        // A raw identifier (`r#type`).
        return from;
    }
    let hashes = open - from - 1;
    let mut at = open + 1;
    while at < chars.len() {
        let closes = chars[at] == '"'
            && chars[at + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes;
        if closes {
            return at + 1 + hashes;
        }
        at += 1;
    }
    chars.len()
}

/// A character literal, not a lifetime.
fn char_literal(chars: &[char], from: usize) -> usize {
    match (chars.get(from + 1), chars.get(from + 2)) {
        (Some('\\'), _) => until(chars, from + 3, |c| c == '\'') + 1,
        (Some(_), Some('\'')) => from + 3,
        _ => from,
    }
}

fn follows_word(chars: &[char], at: usize) -> bool {
    // `br"..."` is a string too; any other letter before it makes it part of a word.
    let before = at.checked_sub(1).map(|b| chars[b]);
    before.is_some_and(|c| (c.is_alphanumeric() && c != 'b') || c == '_')
}

#[test]
fn comments_and_literals_are_blanked_and_code_stays() {
    let text = "a // crate::x\nb /* c /* d */ e */ f \"g \\\" h\" i r#\"j \" k\"# 'l' '\\'' &'m n";
    let words: Vec<String> = code(text).split_whitespace().map(str::to_owned).collect();
    assert_eq!(words, ["a", "b", "f", "i", "&'m", "n"]);
    assert_eq!(code("x\n\"a\nb\"\ny").lines().count(), 4);
}

#[test]
fn test_modules_are_taken_out_and_what_follows_stays() {
    let text = "a\n#[cfg(test)]\nmod tests { fn x() { { } } }\nb\n#[cfg(test)]\nmod more;\nc";
    let words: Vec<String> = without_tests(text).split_whitespace().map(str::to_owned).collect();
    assert_eq!(words, ["a", "b", "c"]);
}
