//! Damaged files: each damage costs itself, is counted with its place, and its neighbours stay.

use crate::support::claude::Claude;
use crate::support::{TestEnv, rows};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write as _;

/// Bytes to put between the lines of a session, and what becomes of them.
struct Damage {
    what: &'static str,
    bytes: Vec<u8>,
    /// Reason and detail of the loss.
    loss: Option<(&'static str, &'static str)>,
    /// Whether the bytes carry an event of their own (`repaired-prompt`).
    event: bool,
}

fn prompt_line(extra: &str) -> Vec<u8> {
    format!(
        r#"{{"type":"user","uuid":"extra","timestamp":"2026-11-20T10:00:03.000Z","sessionId":"c1","cwd":"/home/dev/demo","version":"2.1.300","promptId":"prompt-c1-1b","message":{{"role":"user","content":"repaired-prompt"}},{extra}}}"#
    )
    .into_bytes()
}

fn damages() -> Vec<Damage> {
    let deep = format!("\"x\":{}1{}", "[".repeat(3_000), "]".repeat(3_000));
    let mut after_nul = vec![0; 64];
    after_nul.extend(prompt_line("\"x\":1"));
    let unparseable = |what, bytes: &[u8], detail| Damage {
        what,
        bytes: bytes.to_vec(),
        loss: Some(("line_unparseable", detail)),
        event: false,
    };
    let repaired = |what, extra: &str, detail| Damage {
        what,
        bytes: prompt_line(extra),
        loss: Some(("line_repaired", detail)),
        event: true,
    };
    vec![
        unparseable("a torn line", b"{\"type\":\"user\",\"uuid\":\"u9\",\"mess", "torn"),
        unparseable("prose", b"Killed by signal 9", "malformed"),
        unparseable("invalid UTF-8", b"{\"type\":\"user\",\"a\":\"\xff\xfe\"}", "not_utf8"),
        unparseable("a run of NUL bytes", &[0; 4096], "nul_run"),
        repaired("a lone surrogate", r#""x":"a \ud83d b""#, "lone_surrogate"),
        repaired("a number beyond floats", r#""x":1e400"#, "huge_number"),
        repaired("deep nesting", &deep, "too_deep"),
        Damage {
            what: "NUL bytes before a record",
            bytes: after_nul,
            loss: Some(("line_repaired", "nul_run")),
            event: true,
        },
        Damage { what: "blank lines", bytes: b"\n \n\t\n".to_vec(), loss: None, event: false },
        Damage {
            what: "CRLF",
            bytes: [&prompt_line("\"x\":1")[..], b"\r"].concat(),
            loss: None,
            event: true,
        },
    ]
}

fn prompts(env: &TestEnv) -> Vec<String> {
    let sql = "SELECT s.text FROM sighting s JOIN event e ON e.id = s.event
        WHERE e.kind = 'user_prompt_submit' ORDER BY s.offset";
    rows::texts(env, sql)
}

#[test]
fn each_damage_between_lines_costs_itself_and_is_counted_at_its_place() {
    let session = Claude::typical("c1");
    let (head, tail) = session.lines().split_at(3);
    for damage in damages() {
        let env = TestEnv::new();
        let mut bytes = head.join("\n").into_bytes();
        bytes.push(b'\n');
        let at = bytes.len();
        bytes.extend(&damage.bytes);
        bytes.push(b'\n');
        bytes.extend(tail.join("\n").as_bytes());
        bytes.push(b'\n');
        env.write("in/c1.jsonl", &bytes);
        let summary = env.ingest(&env.path("in"));
        let what = damage.what;
        let events = 6 + i64::from(damage.event);
        assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), events, "{what}");
        assert_eq!(prompts(&env).len(), 1 + usize::from(damage.event), "{what}");
        let losses = rows::texts(
            &env,
            "SELECT reason || ' ' || detail || ' ' || count || ' at ' || offset FROM loss",
        );
        let expected: Vec<String> = damage
            .loss
            .iter()
            .map(|(reason, detail)| {
                // A repaired value begins behind what stands before it.
                let filler = damage.bytes.iter().take_while(|b| **b == 0).count();
                let begins = if *reason == "line_repaired" { at + filler } else { at };
                format!("{reason} {detail} 1 at {begins}")
            })
            .collect();
        assert_eq!(losses, expected, "{what}");
        let quarantined =
            rows::texts(&env, "SELECT reason || ' ' || offset || ' ' || length FROM quarantine");
        match damage.loss {
            Some(("line_unparseable", detail)) => {
                let place = format!("{detail} {at} {}", damage.bytes.len());
                assert_eq!(quarantined, [place], "{what}");
                assert_eq!(summary["quarantined"], 1, "{what}");
            }
            _ => assert_eq!(quarantined, Vec::<String>::new(), "{what}"),
        }
    }
}

#[test]
fn quarantine_is_listed_with_its_place_and_without_content() {
    let env = TestEnv::new();
    let mut session = Claude::typical("c1");
    session.line("{\"words\" that are nobody's business}");
    env.write("in/c1.jsonl", session.text());
    env.ingest(&env.path("in"));
    let answer = env.run(["losses", "--json"]).ok();
    assert!(!answer.stdout.contains("nobody's"), "{}", answer.stdout);
    let listed = &answer.json()["quarantine"][0];
    assert_eq!(listed["reason"], "malformed");
    assert_eq!(listed["length"], 36);
    assert!(listed["source"].as_str().unwrap().ends_with("c1.jsonl"));
}

#[test]
fn a_byte_order_mark_shifts_no_offset() {
    let env = TestEnv::new();
    env.write("in/c1.jsonl", format!("\u{feff}{}", Claude::typical("c1").text()));
    let summary = env.ingest(&env.path("in"));
    assert_eq!(summary["losses"], json!({}));
    assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), 6);
    assert_eq!(rows::count(&env, "SELECT min(offset) FROM sighting"), 3);
}

#[test]
fn every_sighting_names_exactly_the_bytes_of_its_record() {
    let env = TestEnv::new();
    let session = Claude::typical("c1");
    let text = format!("\u{feff}\r\n\n{}", session.lines().join("\r\n"));
    env.write("in/c1.jsonl", &text);
    env.ingest(&env.path("in"));
    let conn = rows::open(&env);
    let mut statement =
        conn.prepare("SELECT offset, length, hex(line_hash) FROM sighting").unwrap();
    let places = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?))).unwrap();
    let mut seen = 0;
    for place in places {
        let (offset, length, hash): (i64, i64, String) = place.unwrap();
        let [offset, length] = [offset, length].map(|n| usize::try_from(n).unwrap());
        let bytes = &text.as_bytes()[offset..offset + length];
        assert!(session.lines().iter().any(|line| line.as_bytes() == bytes), "at {offset}");
        assert_eq!(blake3::hash(bytes).to_hex().to_uppercase(), hash);
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn two_records_on_one_line_are_two() {
    let env = TestEnv::new();
    let lines = Claude::typical("c1").lines().to_vec();
    let text = format!("{}{}\n{}\n", lines[0], lines[1], lines[2..].join("\n"));
    env.write("in/c1.jsonl", text);
    let summary = env.ingest(&env.path("in"));
    assert_eq!(summary["losses"], json!({}));
    assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), 6);
    let second = lines[0].len();
    let sql = format!("SELECT count(*) FROM sighting WHERE offset = {second}");
    assert_eq!(rows::count(&env, &sql), 1);
}

#[test]
fn a_record_is_kept_when_something_unreadable_is_glued_to_it() {
    let env = TestEnv::new();
    let lines = Claude::typical("c1").lines().to_vec();
    let text = format!("{}{{\"type\":\"us\n{}\n", lines[0], lines[1..].join("\n"));
    env.write("in/c1.jsonl", text);
    env.ingest(&env.path("in"));
    assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), 6);
    assert_eq!(env.lost("line_unparseable"), 1);
}

#[test]
fn a_line_over_the_cap_is_a_located_loss_and_its_neighbours_stay() {
    let env = TestEnv::new();
    let session = Claude::typical("c1");
    let (head, tail) = session.lines().split_at(3);
    let long = format!("{{\"type\":\"user\",\"long\":\"{}\"}}", "x".repeat(100_000));
    let text = format!("{}\n{long}\n{}\n", head.join("\n"), tail.join("\n"));
    env.write("in/c1.jsonl", &text);
    env.run(["ingest", "in", "--line-cap", "20000"]).ok();
    assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), 6);
    let at = text.find(&long).unwrap();
    let place = rows::texts(&env, "SELECT reason || ' ' || offset || ' ' || length FROM loss");
    assert_eq!(place, [format!("line_too_long {at} {}", long.len())]);
}

#[test]
fn a_last_line_over_the_cap_is_a_located_loss_too() {
    let env = TestEnv::new();
    let session = Claude::typical("c1");
    let text = format!("{}{{\"long\":\"{}", session.text(), "x".repeat(100_000));
    env.write("in/c1.jsonl", &text);
    env.run(["ingest", "in", "--line-cap", "20000"]).ok();
    assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), 6);
    let at = session.text().len();
    let place = rows::texts(&env, "SELECT offset || ' ' || length FROM loss");
    assert_eq!(place, [format!("{at} {}", text.len() - at)]);
}

#[test]
fn a_last_line_without_its_end_counts_when_it_is_a_complete_object() {
    let env = TestEnv::new();
    let text = Claude::typical("c1").text();
    env.write("in/c1.jsonl", text.trim_end());
    let summary = env.ingest(&env.path("in"));
    assert_eq!(summary["losses"], json!({}));
    assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), 6);
}

#[test]
fn a_torn_last_line_is_withheld_located_and_delivered_once_it_is_complete() {
    let env = TestEnv::new();
    let text = Claude::typical("c1").text();
    let (begun, rest) = text.split_at(text.len() - 40);
    let path = env.write("in/c1.jsonl", begun);
    env.ingest(&env.path("in"));
    assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), 5);
    let at = text.trim_end().rfind('\n').unwrap() + 1;
    let place = rows::texts(&env, "SELECT reason || ' ' || offset || ' ' || length FROM loss");
    assert_eq!(place, [format!("line_torn {at} {}", begun.len() - at)]);
    // Looked at again, it is still one loss.
    env.run(["ingest", "in", "--deep"]).ok();
    assert_eq!(env.lost("line_torn"), 1);
    OpenOptions::new().append(true).open(&path).unwrap().write_all(rest.as_bytes()).unwrap();
    env.ingest(&env.path("in"));
    assert_eq!(env.losses(), Vec::<Value>::new());
    let fresh = TestEnv::new();
    fresh.write("in/c1.jsonl", &text);
    fresh.ingest(&fresh.path("in"));
    rows::assert_same(&rows::told_anywhere(&env), &rows::told_anywhere(&fresh));
}

#[test]
fn a_last_line_cut_inside_a_character_is_withheld() {
    let env = TestEnv::new();
    let mut session = Claude::typical("c1");
    session.answer("fertig \u{2714}");
    let text = session.text();
    let cut = text.find('\u{2714}').unwrap() + 1;
    let path = env.write("in/c1.jsonl", &text.as_bytes()[..cut]);
    env.ingest(&env.path("in"));
    assert_eq!(env.lost("line_torn"), 1);
    fs::write(&path, &text).unwrap();
    env.ingest(&env.path("in"));
    assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), 7);
}

#[test]
fn a_shape_that_nobody_knows_is_its_tag_and_nothing_of_its_content() {
    let env = TestEnv::new();
    let mut session = Claude::typical("c1");
    session.line(
        json!({"type": "brand-new", "sessionId": "c1", "uuid": "n1",
        "timestamp": "2026-11-20T10:01:00.000Z", "content": "unknowable content"})
        .to_string(),
    );
    env.write("in/c1.jsonl", session.text());
    let summary = env.ingest(&env.path("in"));
    assert_eq!(summary["unrecognized"], json!({"line:brand-new": 1}));
    assert_eq!(env.lost("unrecognized"), 1);
    for (path, bytes) in TestEnv::files_below(&env.home()) {
        let found = bytes.windows(18).any(|w| w == b"unknowable content");
        assert!(!found, "{} keeps it", path.display());
    }
}
