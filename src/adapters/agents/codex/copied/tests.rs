//! Signs of where a copy ends.

use super::*;
use serde_json::json;

const OWN: &str = "019d924b-6bc1-7fa2-aa36-5e5a0e068c59";

fn line(at: &str, tag: &str, payload: Value) -> Value {
    json!({"timestamp": at, "type": tag, "payload": payload})
}

#[test]
fn times_are_read_to_the_millisecond() {
    assert_eq!(millis("1970-01-01T00:00:00.000Z"), Some(0));
    assert_eq!(millis("2026-10-02T09:15:04.120Z"), Some(1_790_932_504_120));
    assert_eq!(millis("2024-02-29T00:00:00Z"), Some(1_709_164_800_000));
    assert_eq!(millis("2026-10-02 09:15:04"), None);
    assert_eq!(millis("[trimmed]"), None);
}

#[test]
fn a_turn_younger_than_the_thread_ends_the_copy_within_the_burst() {
    let mut copied = CopiedHistory::default();
    copied.enter("019d9249-e0ee-7020-a305-b6369cd02251");
    let old = json!({"type": "task_started", "turn_id": "019d924a-361e-7a82-8f76-6b8406143f52"});
    let new = json!({"type": "task_started", "turn_id": "019d924b-8323-77b1-a26d-d65630532b7c"});
    assert!(copied.covers(&line("2026-04-15T17:58:35.549Z", "event_msg", old), Some(OWN)));
    assert!(!copied.covers(&line("2026-04-15T17:58:35.560Z", "event_msg", new), Some(OWN)));
}

#[test]
fn settings_of_the_own_thread_end_the_copy_and_settings_of_another_do_not() {
    let mut copied = CopiedHistory::default();
    copied.enter("other");
    let settings = |id: &str| json!({"type": "thread_settings_applied", "thread_id": id});
    let at = "2026-04-15T17:58:35.549Z";
    assert!(copied.covers(&line(at, "event_msg", settings("other")), Some(OWN)));
    assert!(!copied.covers(&line(at, "event_msg", settings(OWN)), Some(OWN)));
}

#[test]
fn a_pause_of_more_than_a_second_ends_the_copy() {
    let mut copied = CopiedHistory::default();
    copied.enter("other");
    let item = || json!({"type": "message"});
    assert!(copied.covers(&line("2025-09-16T06:12:37.390Z", "response_item", item()), None));
    assert!(copied.covers(&line("2025-09-16T06:12:38.390Z", "response_item", item()), None));
    assert!(!copied.covers(&line("2025-09-16T06:12:39.391Z", "response_item", item()), None));
}

#[test]
fn a_stated_start_ordinal_decides_alone() {
    let mut copied = CopiedHistory::default();
    copied.own_from(2, Some("parent"));
    let at = |ordinal: u64, second: u64| {
        json!({"timestamp": format!("2026-10-02T09:15:{second:02}.000Z"), "ordinal": ordinal,
               "type": "response_item", "payload": {}})
    };
    assert!(copied.covers(&at(1, 1), Some(OWN)));
    assert!(copied.covers(&at(1, 30), Some(OWN)));
    assert!(!copied.covers(&at(2, 31), Some(OWN)));
    assert_eq!(copied.source(), Some("parent"));
}
