//! Properties over arbitrary texts and over texts made of what the detectors look for.

use proptest::prelude::*;

use super::canaries;
use crate::app::redact::bytes::{RUN, from, span_of};
use crate::app::redact::{data_blob, labelled, text, text_counted, value};

/// Pieces that detectors react to, to be strung together at random.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "password",
        "token",
        "API_KEY",
        "--secret",
        "Authorization",
        "Bearer ",
        "Basic ",
        "cookie",
        "=",
        ": ",
        ":",
        "\"",
        "'",
        "\\\"",
        "\\\\\\\"",
        "\\",
        "\\n",
        "://",
        "@",
        "/",
        ".",
        "-----",
        "BEGIN PRIVATE KEY",
        "-----END",
        " ",
        "\n",
        "\t",
        "${",
        "}",
        "$",
        "<",
        ">",
        "</",
        "(",
        ")",
        ",",
        ";",
        "&",
        "?",
        "[REDACTED:",
        "]",
        "REDACTED",
        "\u{e9}",
        "\u{1f600}",
        "%3D",
        "eyJ",
    ]);
    let secrets = canaries().into_iter().map(|(_, secret)| secret).collect::<Vec<_>>();
    prop_oneof![
        5 => fixed.prop_map(str::to_owned),
        2 => "[A-Za-z0-9+/_.-]{1,40}",
        1 => prop::sample::select(secrets),
    ]
}

fn mixture() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

/// Surroundings that a secret can stand in; `{}` is its place.
const PLACES: &[&str] = &[
    "{}",
    "{} tail",
    "head {}",
    "KEY={}",
    "x='{}'",
    "x=\"{}\"",
    "{\"a\":\"{}\",\"b\":1}",
    "{\\\"a\\\":\\\"{}\\\"}",
    "https://example.com/?q={}&r=1",
    "https://example.com/{}/x",
    "https://{}@example.com/x",
    "https://me:{}@example.com",
    "password={}",
    "\"token\": \"{}\"",
    "Authorization: Bearer {}",
    "--token {}",
    "line\n{}\nline",
    "\\n{}\\n",
    "({})",
    "<{}>",
    "`{}`",
    "a,{},b",
    "a:{}",
    "a;{};",
    "[{}]",
    "\u{e9}{}\u{e9}",
];

proptest! {
    #[test]
    fn any_text_is_taken_and_keeps_its_lines(input in "\\PC{0,200}|[\\x00-\\x7f]{0,300}") {
        let output = text(&input);
        prop_assert_eq!(output.matches('\n').count(), input.matches('\n').count());
        let _ = data_blob(&input);
    }

    #[test]
    fn redacting_again_changes_nothing(input in mixture()) {
        let once = text(&input).into_owned();
        prop_assert_eq!(text(&once), once.as_str());
        prop_assert_eq!(once.matches('\n').count(), input.matches('\n').count());
    }

    #[test]
    fn the_count_is_zero_exactly_for_unchanged_texts(input in mixture()) {
        let (output, count) = text_counted(&input);
        prop_assert_eq!(count == 0, output == input.as_str());
    }

    #[test]
    fn plain_words_are_unchanged(words in prop::collection::vec("[A-Za-z]{1,12}[,.!?]?", 0..60)) {
        let input = words.join(" ");
        prop_assert_eq!(text(&input), input.as_str());
    }

    #[test]
    fn an_issued_secret_never_survives(
        secret in prop::sample::select(canaries()),
        place in prop::sample::select(PLACES),
        before in "[ -~]{0,40}\n", after in "\n[ -~]{0,40}", far in 0usize..2,
    ) {
        let padding = "some words of other text\n".repeat(far * 320);
        let input = format!("{padding}{before}{}{after}{padding}", place.replace("{}", &secret.1));
        let output = text(&input);
        prop_assert!(!output.contains(&secret.1), "{}: {}", secret.0, output);
    }

    #[test]
    fn a_walked_value_holds_nothing_for_a_second_walk(
        key in mixture(), one in mixture(), two in mixture(),
    ) {
        let mut input = serde_json::json!({key: [one, {"nested": two.clone(), "token": two}]});
        value(&mut input);
        let once = input.clone();
        prop_assert_eq!(value(&mut input).count, 0);
        prop_assert_eq!(input, once);
    }

    #[test]
    fn a_run_that_nothing_is_bound_to_has_no_value_behind_it(
        input in prop_oneof![mixture(), "[a-cN_ :=\"'`\\\\<>,\\]-]{0,40}"],
    ) {
        let bytes = input.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            let (length, classes) = span_of(from(bytes, start), RUN);
            let end = start + length;
            if length > 0 && labelled::is_unbound(bytes, start, end, classes) {
                prop_assert!(labelled::after_run(bytes, start, end).is_none());
            }
            start = end + 1;
        }
    }
}
