//! `fornax search`: the index brought up to date, and an excerpt around what matched.

use super::readback::{ReadBack, ReadError};
use crate::domain::unavailable::Unavailable;
use crate::ports::recorder::StoreError;
use crate::ports::search::{Hit, SearchIndex, SearchQuery};
use std::ops::Range;

/// At most so much of a text is read back for an excerpt.
const READ_BYTES: usize = 4 * 1024 * 1024;
/// Characters before the first match.
const BEFORE_CHARS: usize = 40;

/// Adds everything that is not in the index yet; `tell` hears how many rows are done and left, and
/// ends the work by answering false.
///
/// # Errors
/// When the store cannot be written.
pub fn catch_up(
    index: &mut dyn SearchIndex,
    tell: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<(), StoreError> {
    let mut done = 0;
    loop {
        let step = index.index_some()?;
        done += step.added;
        if !tell(done, step.left) || step.left == 0 {
            return Ok(());
        }
    }
}

/// The words of a command line as phrases: `price*` is a beginning, several words in one argument
/// are a phrase.
pub fn phrases(words: &[String]) -> Vec<(String, bool)> {
    let phrase = |word: &String| match word.strip_suffix('*') {
        Some(beginning) => (beginning.to_owned(), true),
        None => (word.clone(), false),
    };
    let says_something = |(text, _): &(String, bool)| text.chars().any(char::is_alphanumeric);
    words.iter().map(phrase).filter(says_something).collect()
}

/// Text around a match, in one line's worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    pub text: String,
    /// Why it is the stored text and not what the source says now; none when it was read back.
    pub unavailable: Option<Unavailable>,
}

/// The excerpt of a hit: from the source where it can be proven, else from what is stored.
///
/// # Errors
/// When the store or the disk fails.
pub fn excerpt(
    readback: &mut ReadBack<'_>,
    hit: &Hit,
    query: &SearchQuery,
    chars: usize,
) -> Result<Excerpt, ReadError> {
    let told = match hit.seen.locator() {
        Some(locator) => readback.text(&locator, READ_BYTES),
        None => Err(ReadError::Unavailable(Unavailable::IdentityMismatch)),
    };
    match told {
        Ok(read) => match first_match(&read.text, query) {
            Some(at) => Ok(Excerpt { text: around(&read.text, at, chars), unavailable: None }),
            // The place is of another field of the event.
            None => Ok(stored(hit, query, chars, None)),
        },
        Err(ReadError::Unavailable(reason)) => Ok(stored(hit, query, chars, Some(reason))),
        Err(other) => Err(other),
    }
}

fn stored(hit: &Hit, query: &SearchQuery, chars: usize, reason: Option<Unavailable>) -> Excerpt {
    let at = first_match(&hit.stored, query).unwrap_or(0..0);
    Excerpt { text: around(&hit.stored, at, chars), unavailable: reason }
}

/// Where the first of the phrases stands, without regard to case.
fn first_match(text: &str, query: &SearchQuery) -> Option<Range<usize>> {
    let words = query.phrases.iter().filter_map(|(text, _)| text.split_whitespace().next());
    words.filter_map(|word| find(text, word)).min_by_key(|range| range.start)
}

fn find(text: &str, word: &str) -> Option<Range<usize>> {
    let wanted: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
    let first = *wanted.first()?;
    text.char_indices().find_map(|(at, c)| {
        if !c.to_lowercase().eq(std::iter::once(first)) {
            return None;
        }
        let rest = text.get(at..)?;
        let here = rest.chars().flat_map(char::to_lowercase).take(wanted.len());
        here.eq(wanted.iter().copied()).then_some(at..at + word.len())
    })
}

fn around(text: &str, at: Range<usize>, chars: usize) -> String {
    let before: Vec<char> = text.get(..at.start).unwrap_or_default().chars().collect();
    let skipped = before.len().saturating_sub(BEFORE_CHARS);
    let lead = if skipped > 0 { "..." } else { "" };
    let mut out: String = lead.to_owned();
    out.extend(before.into_iter().skip(skipped));
    let rest = text.get(at.start..).unwrap_or_default();
    out.extend(rest.chars().take(chars.saturating_sub(out.chars().count())));
    if rest.chars().count() > chars {
        out.push_str("...");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(words: &[&str]) -> SearchQuery {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        SearchQuery { phrases: phrases(&words), ..SearchQuery::default() }
    }

    #[test]
    fn a_star_asks_for_a_beginning_and_punctuation_alone_for_nothing() {
        let asked = query(&["pri*", "exact phrase", "*", "--", "\"q\""]).phrases;
        let expected = [("pri", true), ("exact phrase", false), ("\"q\"", false)];
        assert_eq!(asked, expected.map(|(t, b)| (t.to_owned(), b)));
    }

    #[test]
    fn the_excerpt_begins_a_little_before_the_first_match_whatever_its_case() {
        let text = format!("{} Rounding of prices", "x".repeat(100));
        let at = first_match(&text, &query(&["prices", "rounding"])).unwrap();
        let shown = around(&text, at, 80);
        assert!(shown.starts_with("...x") && shown.contains("Rounding of prices"), "{shown}");
        assert_eq!(first_match("abc", &query(&["z"])), None);
        assert_eq!(around("short", 0..0, 80), "short");
    }

    #[test]
    fn letters_of_several_bytes_and_of_odd_cases_do_not_break_an_excerpt() {
        let text = "\u{130}\u{df}\u{1f600} caf\u{e9} CAF\u{c9}";
        assert!(first_match(text, &query(&["caf\u{e9}"])).is_some());
        for start in 0..text.len() {
            let _ = around(text, start..start, 3);
        }
        assert!(find("i\u{307}x", "\u{130}").is_none_or(|range| range.start == 0));
    }
}
