//! Any text at all: no panic, honest offsets, bounded time.

use super::super::{MAX_INPUT_BYTES, MAX_SENTENCE_CHARS, Polarity, Scope, extract};
use proptest::prelude::*;

/// Pieces that the grammar reacts to, so that random texts reach its corners.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "all",
        "tests",
        "pass",
        "failed",
        "12",
        "3/4",
        "not",
        "`",
        "``",
        "```",
        "~~~",
        "\"",
        "'",
        "(",
        ")",
        "[",
        "- ",
        "\n",
        "\n\n",
        "> ",
        "# ",
        "| ",
        ". ",
        "! ",
        "? ",
        ", ",
        ": ",
        "; ",
        "cargo test",
        "12 passed",
        "0 failed",
        "don't",
        "\u{2019}",
        "\u{2014}",
        "\u{2705}",
        "if",
        "\u{5168}\u{90e8}",
        "\u{130}",
        "\u{fe0f}",
        "1. ",
        "[ ] ",
        "[x] ",
        "<",
        "~~",
        "%",
        "\t",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.join(" "))
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let (mut last, mut sentence) = (0, None);
    for claim in extract(text) {
        prop_assert!(text.is_char_boundary(claim.offset));
        prop_assert_eq!(
            text.get(claim.offset..claim.offset + claim.text.len()),
            Some(&*claim.text)
        );
        let same = sentence == Some(claim.offset);
        prop_assert!(claim.offset >= last || same, "claims come in order, sentence by sentence");
        sentence = Some(claim.offset);
        prop_assert!(claim.text.chars().count() <= MAX_SENTENCE_CHARS);
        last = claim.offset + claim.text.len();
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic_and_with_true_offsets(text in "\\PC{0,300}") {
        check(&text)?;
    }

    #[test]
    fn any_mixture_of_known_pieces_is_read_with_true_offsets(text in pieces()) {
        check(&text)?;
    }

    #[test]
    fn a_claim_is_found_behind_any_other_paragraph_of_letters(text in "[a-zA-Z ]{0,200}\\.") {
        let text = format!("x{text}\n\nAll 12 tests pass.");
        let found = extract(&text);
        let last = found.last().unwrap();
        prop_assert_eq!(&last.text, "All 12 tests pass.");
        prop_assert_eq!(last.counts.unwrap().passed, Some(12));
    }

    #[test]
    fn nothing_inside_a_fence_is_a_claim(text in pieces()) {
        let inner = text.replace('`', "");
        let text = format!("````\n{inner}\n");
        prop_assert_eq!(extract(&text), vec![]);
    }
}

#[test]
fn hostile_text_takes_work_in_proportion_to_its_length() {
    let shapes = [
        "(",
        "`",
        "`a``",
        "'a",
        "\"",
        "*",
        "#",
        "# h\n- [ ] x\n",
        "> ",
        "- ",
        "1. a\n",
        "~~",
        "a ",
        "tests ",
        "all ",
        "12 ",
        "tests pass ",
        "of ",
        "tests in ",
        "12 of ",
        "not ",
        "if ",
        ",",
        "a.",
        ". ",
        "\n",
        "\\",
        "<",
        "| ",
        "\u{2019}a",
        "cargo test ",
        "`cargo test` ",
        "](",
        "~~~\n",
    ];
    for shape in shapes {
        let text = shape.repeat(200 * 1024 / shape.len());
        let text = format!("{}\n{text}", "word ".repeat(4000));
        let begun = cpu_seconds();
        extract(&text);
        assert!(cpu_seconds() - begun < 20, "{shape:?}");
    }
}

#[test]
fn offsets_point_at_the_sentence_behind_wide_characters_and_marks() {
    let text = "\u{1f389} F\u{fc}r dich: done.\n\n- **All 3 parser tests pass** \u{2705}\n";
    let [claim] = extract(text).try_into().unwrap();
    assert_eq!(claim.offset, text.find("All 3").unwrap());
    assert!(text[claim.offset..].starts_with(&claim.text));
    assert_eq!(claim.scope, Scope::Partial("parser".to_owned()));
    assert_eq!(claim.polarity, Polarity::Passes);
}

#[test]
fn claims_come_in_the_order_of_the_text() {
    let text =
        "2 tests failed.\n\nI fixed the cache. All tests pass now. The tests should stay green.";
    let found: Vec<_> = extract(text).into_iter().map(|claim| claim.polarity).collect();
    assert_eq!(found, [Polarity::Fails, Polarity::Passes]);
}

#[test]
fn a_sentence_beyond_the_limit_is_no_claim() {
    let long = |words: usize| format!("{} and all tests pass.", "word ".repeat(words));
    assert_eq!(extract(&long(20)).len(), 1);
    assert_eq!(extract(&long(100)), vec![]);
}

#[test]
fn text_beyond_the_limit_is_not_read() {
    let filler = "\u{e9}\n\n".repeat(MAX_INPUT_BYTES / 4 + 1);
    assert_eq!(extract(&format!("{filler}All tests pass.")), vec![]);
    assert_eq!(extract(&format!("All tests pass.\n\n{filler}")).len(), 1);
}

#[test]
fn an_unknown_subject_keeps_its_spelling() {
    use super::super::Subject;
    let read: Subject = serde_json::from_str("\"deployed\"").unwrap();
    assert_eq!(read, Subject::Other("deployed".to_owned()));
    assert_eq!(serde_json::to_string(&read).unwrap(), "\"deployed\"");
    assert_eq!(serde_json::from_str::<Subject>("\"git_push\"").unwrap(), Subject::GitPush);
}

/// Seconds of work of this thread, however busy the machine is: what grows with the square of the
/// input would take minutes.
fn cpu_seconds() -> i64 {
    rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).tv_sec
}
