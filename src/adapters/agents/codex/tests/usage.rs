//! Token reports: epochs, repeats, estimates, and totals that a file does not begin with.

use super::*;
use crate::domain::usage::{Floor, Standing, UsageDraft, UsageScope};
use serde_json::json;

const OWN: &str = "01a1aa00-0000-7000-8000-000000000001";
const OTHER: &str = "01a1a900-0000-7000-8000-000000000001";

fn counts(input: i64, output: i64) -> Value {
    json!({"input_tokens": input, "cached_input_tokens": 0, "output_tokens": output,
        "reasoning_output_tokens": 0, "total_tokens": input + output})
}

fn line(kind: &str, payload: Value) -> Value {
    json!({"timestamp": "2026-10-02T09:15:04.120Z", "type": kind, "payload": payload})
}

fn meta(more: Value) -> Value {
    let mut payload = json!({"id": OWN, "cwd": "/w", "cli_version": "0.160.0"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line("session_meta", payload)
}

fn count(total: Value, last: Value) -> Value {
    let info = json!({"total_token_usage": total, "last_token_usage": last});
    line("event_msg", json!({"type": "token_count", "info": info}))
}

fn record(id: &str, usage: Value, thread: Value) -> Value {
    line(
        "token_usage_record",
        json!({"thread_id": OWN, "turn_id": "t1", "response_id": id, "usage": usage,
            "thread_token_usage": thread}),
    )
}

fn read(lines: &[Value]) -> Vec<UsageDraft> {
    let mut reader = adapter();
    let messages = lines.iter().flat_map(|line| reader.normalize(HINT, line).into_messages());
    messages
        .filter_map(|message| match message {
            Message::Usage(usage) => Some(usage),
            _ => None,
        })
        .collect()
}

/// Epoch, input and output of each report.
fn brief(reports: &[UsageDraft]) -> Vec<(i64, Option<i64>, Option<i64>)> {
    reports.iter().map(|r| (r.epoch, r.counts.input, r.counts.output)).collect()
}

#[test]
fn a_total_that_falls_or_equals_its_last_response_begins_an_epoch() {
    let reports = read(&[
        meta(json!({})),
        count(counts(100, 10), counts(100, 10)),
        count(counts(250, 25), counts(150, 15)),
        count(counts(60, 5), counts(60, 5)),
        count(counts(300, 20), counts(300, 20)),
        count(counts(310, 21), counts(10, 1)),
    ]);
    assert_eq!(
        brief(&reports),
        [
            (0, Some(100), Some(10)),
            (0, Some(250), Some(25)),
            (1, Some(60), Some(5)),
            (2, Some(300), Some(20)),
            (2, Some(310), Some(21)),
        ]
    );
    assert!(reports.windows(2).all(|two| two[0].sequence < two[1].sequence));
}

#[test]
fn an_estimate_is_told_as_one_and_a_repeat_not_at_all() {
    let guess = json!({"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0,
        "reasoning_output_tokens": 0, "total_tokens": 15_200});
    let reports = read(&[
        meta(json!({})),
        count(counts(100, 10), counts(100, 10)),
        count(counts(100, 10), counts(100, 10)),
        count(counts(100, 10), guess.clone()),
        count(guess.clone(), counts(5, 5)),
        count(guess, counts(5, 5)),
        count(counts(120, 12), counts(120, 12)),
    ]);
    let standings: Vec<_> = reports.iter().map(|r| (r.standing, r.epoch)).collect();
    assert_eq!(
        standings,
        [
            (Standing::Reported, 0),
            (Standing::Estimate, 0),
            (Standing::Estimate, 1),
            (Standing::Reported, 2),
        ]
    );
}

#[test]
fn what_a_first_total_already_held_is_told_apart_and_of_no_model() {
    let reports = read(&[
        meta(json!({})),
        line("turn_context", json!({"turn_id": "t1", "model": "gpt-x"})),
        count(counts(500, 50), counts(100, 10)),
    ]);
    assert_eq!(brief(&reports), [(0, Some(400), Some(40)), (0, Some(500), Some(50))]);
    assert_eq!(reports[0].model, None);
    assert_eq!(reports[1].model.as_deref(), Some("gpt-x"));
}

#[test]
fn a_thread_total_fills_in_what_was_spent_before_the_first_single_response() {
    let reports = read(&[meta(json!({})), record("r1", counts(100, 10), counts(900, 90))]);
    assert_eq!(brief(&reports), [(0, Some(800), Some(80)), (0, Some(100), Some(10))]);
    assert_eq!(reports[0].scope, UsageScope::Snapshot);
    assert_eq!(reports[1].scope, UsageScope::Response);
    let known = read(&[
        meta(json!({})),
        count(counts(800, 80), counts(800, 80)),
        record("r1", counts(100, 10), counts(900, 90)),
        record("r2", counts(7, 1), counts(907, 91)),
    ]);
    assert_eq!(known.len(), 3);
}

#[test]
fn a_file_that_goes_on_from_another_is_a_lower_bound_and_owes_its_base_to_the_other() {
    let base = json!({"thread_id": OTHER, "end_ordinal_exclusive": 9, "end_byte_offset": 99});
    let fork = read(&[
        meta(json!({"forked_from_id": OTHER, "history_base": base})),
        count(counts(500, 50), counts(100, 10)),
    ]);
    assert_eq!(fork[0].copied_from.as_deref(), Some(OTHER));
    assert_eq!(fork[1].copied_from, None);
    assert!(fork.iter().all(|report| report.floor == Some(Floor::All)));
    let reverted =
        read(&[meta(json!({"history_base": base})), count(counts(500, 50), counts(100, 10))]);
    assert_eq!(reverted[0].copied_from, None);
    assert_eq!(reverted[1].floor, Some(Floor::All));
}

#[test]
fn totals_after_a_compaction_are_a_lower_bound() {
    let reports = read(&[
        meta(json!({})),
        count(counts(100, 10), counts(100, 10)),
        line("compacted", json!({"message": "so far"})),
        count(counts(150, 15), counts(50, 5)),
    ]);
    assert_eq!(reports.iter().map(|r| r.floor).collect::<Vec<_>>(), [None, Some(Floor::All)]);
}

#[test]
fn a_record_in_a_file_without_a_header_is_its_own() {
    let reports = read(&[record("r1", counts(100, 10), counts(100, 10))]);
    assert_eq!(reports[0].copied_from, None);
    let told = read(&[meta(json!({"id": OTHER})), record("r1", counts(100, 10), counts(100, 10))]);
    assert_eq!(told[0].copied_from.as_deref(), Some(OWN));
}
