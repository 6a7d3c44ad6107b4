//! Prose, commands, output and redaction take any text.
#![no_main]
use fornax::app::redact;
use fornax::domain::command::{CommandText, may_change_files, only_looks, test_runs};
use fornax::domain::{claims, summaries};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for claim in claims::extract(text) {
        assert!(text.is_char_boundary(claim.offset));
    }
    let command = CommandText::Line(text.to_owned());
    test_runs(&command);
    may_change_files(&command);
    only_looks(&command);
    summaries::read(text);
    let once = redact::text(text).into_owned();
    assert_eq!(redact::text(&once), once);
});
