//! Text in lines of a width, and lines cut to one, by what a terminal shows.

use crate::base::text::printable;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The words of a text in lines of at most `width`; line breaks stay, empty lines go. Of more than
/// `max` lines the rest is left out, and the last one says so.
pub fn wrap(text: &str, width: usize, max: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    for paragraph in printable(text).lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.width() + 1 + word.width() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            // A word that is wider than a line is broken.
            for c in word.chars() {
                if line.width() + c.width().unwrap_or(0) > width {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(c);
            }
            if lines.len() > max {
                break;
            }
        }
        if !line.is_empty() {
            lines.push(line);
        }
        if lines.len() > max {
            break;
        }
    }
    if lines.len() > max {
        lines.truncate(max.saturating_sub(1));
        lines.push("[...]".to_owned());
    }
    lines
}

/// A line, which may hold colour codes of this program, in at most `width` columns.
pub fn cut(line: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return line.to_owned() };
    let mut kept = String::with_capacity(line.len());
    let (mut used, mut in_code, mut is_coloured) = (0, false, false);
    let total = visible(line);
    let room = if total > width { width.saturating_sub(3) } else { width };
    for c in line.chars() {
        if c == '\u{1b}' {
            (in_code, is_coloured) = (true, true);
        }
        if in_code {
            kept.push(c);
            in_code = c != 'm';
            continue;
        }
        used += c.width().unwrap_or(0);
        if used > room {
            break;
        }
        kept.push(c);
    }
    if total > width {
        kept.push_str("...");
        if is_coloured {
            kept.push_str("\u{1b}[0m");
        }
    }
    kept
}

/// Columns of a line without its colour codes.
fn visible(line: &str) -> usize {
    let mut in_code = false;
    let plain = line.chars().filter(|c| {
        let code = in_code || *c == '\u{1b}';
        in_code = code && *c != 'm';
        !code
    });
    plain.map(|c| c.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_kept_whole_and_paragraphs_apart() {
        let text = "one two three\n\nfour";
        assert_eq!(wrap(text, 8, 9), ["one two", "three", "four"]);
        assert_eq!(wrap("abcdefghijkl", 8, 9), ["abcdefgh", "ijkl"]);
        assert_eq!(wrap("a b c d\ne\nf", 80, 2), ["a b c d", "[...]"]);
        assert_eq!(wrap("", 80, 2), Vec::<String>::new());
    }

    #[test]
    fn a_coloured_line_is_cut_by_what_is_seen_and_ends_its_colour() {
        let line = "\u{1b}[31mabcdef\u{1b}[0m ghi";
        assert_eq!(cut(line, Some(10)), line);
        assert_eq!(cut(line, Some(8)), "\u{1b}[31mabcde...\u{1b}[0m");
        assert_eq!(cut(line, None), line);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_asked(text in "[a-z \n\u{4e2d}\u{e9}\u{1b}]{0,200}", width in 8usize..40) {
            for line in wrap(&text, width, 50) {
                prop_assert!(line.width() <= width, "{line:?}");
            }
            let flat = text.replace(['\n', '\u{1b}'], " ");
            prop_assert!(visible(&cut(&flat, Some(width))) <= width);
        }
    }
}
