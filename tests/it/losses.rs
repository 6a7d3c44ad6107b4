//! The ledger: what it shows, how it groups, and what becomes of it when lines are tried again.

use crate::support::claude::Claude;
use crate::support::{TestEnv, rows};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

const DAMAGE: &str = "{\"type\":\"user\",\"message\":{\"content\":\"half";

/// A home with a session that holds an unknown shape, a torn line and a long text.
fn damaged() -> (TestEnv, PathBuf) {
    let env = TestEnv::new();
    let mut session = Claude::new("c1");
    session.prompt(&"long ".repeat(8_000));
    session.line(DAMAGE);
    session.line(r#"{"type":"marvel","sessionId":"c1","secret":"x"}"#);
    session.answer("done");
    let file = env.write("in/c1.jsonl", session.text());
    env.ingest(&env.path("in"));
    (env, file)
}

fn recheck(env: &TestEnv) -> Value {
    env.run(["losses", "--recheck", "--json"]).ok().json()
}

fn of_reason(report: &Value, reason: &str) -> Value {
    let rows = report["recheck"].as_array().unwrap();
    let mut row = rows.iter().find(|r| r["reason"] == reason).unwrap().clone();
    row.as_object_mut().unwrap().remove("reason");
    row
}

#[test]
fn counts_of_different_things_name_their_unit_and_are_never_added() {
    let (env, _) = damaged();
    let told = env.run(["losses", "--json"]).ok().json();
    for loss in told["losses"].as_array().unwrap() {
        let unit = if loss["reason"] == "text_cut" { "bytes" } else { "times" };
        assert_eq!(loss["unit"], unit, "{loss}");
    }
    let by_session = env.run(["losses", "--by", "session", "--json"]).ok().json();
    let counts = &by_session["groups"][0]["counts"];
    let cut = 5 * 8_000 - 16 * 1024;
    assert_eq!(counts, &json!({"bytes": cut, "times": 2}), "{by_session}");
    let shown = env.run(["losses"]).ok().stdout;
    assert!(shown.contains(&format!("text_cut  {cut} bytes")), "{shown}");
    assert!(shown.contains("unrecognized  1 times"), "{shown}");
}

#[test]
fn quarantined_lines_are_shown_with_locator_hash_and_reason_in_either_group() {
    let (env, _) = damaged();
    let told = env.run(["losses", "--json"]).ok().json();
    let row = &told["quarantine"][0];
    let locator = row["locator"].as_str().unwrap();
    let hash = row["line_hash"].as_str().unwrap();
    assert!(locator.contains(hash));
    assert_eq!((&row["reason"], &row["length"]), (&json!("torn"), &json!(DAMAGE.len())));
    for by in ["reason", "session"] {
        let shown = env.run(["losses", "--by", by]).ok().stdout;
        assert!(shown.contains("quarantined (torn): "), "{shown}");
        assert!(shown.contains(locator) && shown.contains(&format!("hash {hash}")), "{shown}");
        assert!(!shown.contains("half"), "content of a bad line is shown: {shown}");
    }
    let key = row["conversation"].as_str().unwrap();
    assert_eq!(key, "conversation:claude_code:local:c1");
    assert!(env.run(["losses", "--by", "session"]).ok().stdout.starts_with(key));
    let of_session = env.run(["losses", "c1", "--json"]).ok().json();
    assert_eq!(of_session["quarantine"], told["quarantine"]);
    env.write("in/c2.jsonl", Claude::typical("c2").text());
    env.ingest(&env.path("in"));
    let other = env.run(["losses", "c2", "--json"]).ok().json();
    assert_eq!(other["quarantine"], json!([]));
}

#[test]
fn what_still_does_not_read_is_left_alone() {
    let (env, _) = damaged();
    let before = rows::raw(&env);
    let report = recheck(&env);
    let still = json!({"rechecked": 1, "recovered": 0, "still": 1, "unavailable": {}});
    assert_eq!(of_reason(&report, "line_unparseable"), still);
    assert_eq!(of_reason(&report, "unrecognized"), still);
    assert_eq!(report["read_again"], 0);
    rows::assert_same(&before, &rows::raw(&env));
}

/// Makes the store that of a fornax which did not know what this one knows.
fn as_of_an_older_fornax(env: &TestEnv) {
    let store = rows::open_to_write(env);
    let rewrite = "INSERT INTO loss (conversation, source, generation, offset, length, line_hash,
          path, reason, detail, count, at_us)
        SELECT e.conversation, s.source, s.generation, s.offset, s.length, s.line_hash, '',
          'unrecognized', 'line:assistant', 1, 0
        FROM sighting s JOIN event e ON e.id = s.event WHERE e.kind = 'assistant_message'";
    assert_eq!(store.execute(rewrite, []).unwrap(), 1);
    let gone = "DELETE FROM sighting WHERE event IN
        (SELECT id FROM event WHERE kind = 'assistant_message')";
    assert_eq!(store.execute(gone, []).unwrap(), 1);
    store.execute("DELETE FROM event WHERE kind = 'assistant_message'", []).unwrap();
    let counters = "UPDATE conversation SET events = events - 1, losses = losses + 1";
    store.execute(counters, []).unwrap();
}

#[test]
fn what_reads_now_is_recovered_and_nothing_else_changes() {
    let (env, _) = damaged();
    let told = rows::told(&env);
    as_of_an_older_fornax(&env);
    assert_ne!(told, rows::told(&env));
    let report = recheck(&env);
    let half = json!({"rechecked": 2, "recovered": 1, "still": 1, "unavailable": {}});
    assert_eq!(of_reason(&report, "unrecognized"), half);
    let still = json!({"rechecked": 1, "recovered": 0, "still": 1, "unavailable": {}});
    assert_eq!(of_reason(&report, "line_unparseable"), still);
    assert_eq!(report["read_again"], 1);
    rows::assert_same(&told, &rows::told(&env));
    let shown = env.run(["losses", "--recheck"]).ok().stdout;
    assert!(shown.contains("0 sources were read again"), "{shown}");
}

#[test]
fn another_decoder_reads_again_even_when_no_line_alone_reads_now() {
    let (env, _) = damaged();
    let told = rows::told(&env);
    rows::open_to_write(&env)
        .execute("UPDATE source SET decoder = 'claude_code/0.0.1'", [])
        .unwrap();
    assert_eq!(recheck(&env)["read_again"], 1);
    rows::assert_same(&told, &rows::told(&env));
    assert_eq!(rows::count(&env, "SELECT generation FROM source"), 2);
    assert_eq!(recheck(&env)["read_again"], 0);
}

#[test]
fn lines_of_a_source_that_is_gone_or_changed_are_unavailable_and_their_rows_stay() {
    let (env, file) = damaged();
    as_of_an_older_fornax(&env);
    // What a source tells is kept; that it is gone is noted on the source itself.
    let told = |env: &TestEnv| -> Vec<String> {
        rows::told(env).into_iter().filter(|row| !row.starts_with("source:")).collect()
    };
    let text = fs::read_to_string(&file).unwrap();
    let unavailable = |report: &Value, reason: &str| {
        let row = of_reason(report, "line_unparseable");
        assert_eq!(row["unavailable"], json!({reason: 1}), "{report}");
        assert_eq!(row["rechecked"], 1);
    };
    fs::write(&file, text.replace("half", "hALF")).unwrap();
    let line = of_reason(&recheck(&env), "line_unparseable");
    assert_eq!(line["unavailable"], json!({"line_changed": 1}));
    fs::remove_file(&file).unwrap();
    let before = told(&env);
    unavailable(&recheck(&env), "source_missing");
    env.ingest(&env.path("in"));
    unavailable(&recheck(&env), "source_missing");
    fs::create_dir(&file).unwrap();
    unavailable(&recheck(&env), "identity_mismatch");
    rows::assert_same(&before, &told(&env));
}

#[test]
fn an_empty_ledger_has_nothing_to_try() {
    let env = TestEnv::new();
    env.write("in/c1.jsonl", Claude::typical("c1").text());
    env.ingest(&env.path("in"));
    assert_eq!(recheck(&env)["recheck"], json!([]));
    assert!(env.run(["losses", "--recheck"]).ok().stdout.starts_with("nothing to try again"));
    env.run(["losses", "--recheck", "--by", "session"]).fails_with(64);
}

#[test]
fn a_replay_that_fails_leaves_every_row_as_it_was() {
    let env = TestEnv::new();
    let mut session = Claude::new("c1");
    session.prompt("go");
    session.answer("done");
    let first = session.text();
    session.bash("ls", Ok("src"));
    let rest = session.text().split_off(first.len());
    let packed = |text: &str| zstd::encode_all(text.as_bytes(), 3).unwrap();
    let (head, mut tail) = (packed(&first), packed(&rest));
    let file = env.write("in/c1.jsonl.zst", [head.clone(), tail.clone()].concat());
    env.ingest(&file);
    as_of_an_older_fornax(&env);
    let before = rows::told(&env);
    let half = tail.len() / 2;
    tail[half..].fill(0xff);
    fs::write(&file, [head, tail].concat()).unwrap();
    let ran = env.run(["losses", "--recheck", "--json"]).fails_with(1);
    let report = ran.json();
    let still = json!({"rechecked": 1, "recovered": 0, "still": 1, "unavailable": {}});
    assert_eq!(of_reason(&report, "unrecognized"), still);
    assert_eq!(report["failed"][0]["source"], file.to_str().unwrap());
    assert!(ran.stderr.contains("its rows are kept"), "{}", ran.stderr);
    rows::assert_same(&before, &rows::told(&env));
}
