//! `fornax ingest fornax.db`: databases of the first Fornax, of every schema version, damaged ones
//! and foreign ones; nothing is ever written to them.

use crate::support::claude::{self, Claude};
use crate::support::codex::Codex;
use crate::support::first_fornax::{FirstFornax, NEWEST};
use crate::support::{TestEnv, rows};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SESSION: &str = "5c1d2f0a-1111-4222-8333-444455556666";

/// A database with one session.
fn typical(env: &TestEnv, version: u32) -> std::path::PathBuf {
    let path = env.path("fornax.db");
    FirstFornax::new(&path, version).session(SESSION);
    path
}

fn show(env: &TestEnv, word: &str) -> Value {
    env.run(["show", word, "--json"]).ok().json()
}

fn length(value: &Value) -> usize {
    value.as_array().unwrap().len()
}

/// Every loss of a database's rows: table, row id, reason and detail.
fn row_losses(env: &TestEnv) -> Vec<String> {
    let mut found = rows::texts(
        env,
        "SELECT l.path || ' ' || l.offset || ' ' || l.reason || ' ' || l.detail
         FROM loss l JOIN source s ON s.id = l.source WHERE s.kind = 'import'",
    );
    found.sort();
    found
}

#[test]
fn every_schema_version_is_read() {
    for version in 1..=NEWEST {
        let env = TestEnv::new();
        let path = env.path("fornax.db");
        let mut database = FirstFornax::new(&path, version);
        database.session(SESSION);
        if version >= 2 {
            database.capabilities(SESSION, "claude_code");
        }
        drop(database);
        let summary = env.ingest(&path);
        let mut expected = json!({"event": 3, "evidence": 1, "claim": 1, "finding": 1, "alias": 1,
            "turn": 1});
        if version >= 2 {
            expected["capabilities"] = json!(1);
        }
        assert_eq!(summary["records"], expected, "version {version}");
        assert_eq!(summary["losses"], json!({}), "version {version}");
        let told = show(&env, SESSION);
        assert_eq!(told["events"][0]["text"], "run the tests");
        assert_eq!(told["cwd"], "/w/demo");
        assert_eq!(told["evidence"][0]["payload"]["exit_code"], 0);
        assert_eq!(told["evidence"][0]["ingress"], "import");
    }
}

#[test]
fn nothing_is_written_to_the_database_or_beside_it() {
    let env = TestEnv::new();
    std::fs::create_dir(env.path("theirs")).unwrap();
    let path = env.path("theirs/fornax.db");
    let mut database = FirstFornax::new(&path, NEWEST);
    database.conn.pragma_update(None, "journal_mode", "WAL").unwrap();
    database.session(SESSION);
    drop(database);
    let before = TestEnv::files_below(&env.path("theirs"));
    assert_eq!(before.len(), 1, "the last connection folded its log in");
    env.ingest(&path);
    assert_eq!(TestEnv::files_below(&env.path("theirs")), before);
    assert_eq!(env.sessions()[0]["events"], 3);
}

#[test]
fn rows_that_are_still_in_the_write_ahead_log_are_read_without_touching_it() {
    let env = TestEnv::new();
    std::fs::create_dir(env.path("theirs")).unwrap();
    let path = env.path("theirs/fornax.db");
    let mut database = FirstFornax::new(&path, NEWEST);
    database.conn.pragma_update(None, "journal_mode", "WAL").unwrap();
    database.conn.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    database.session(SESSION);
    // Alive: its log and its shared memory are there.
    let before = TestEnv::files_below(&env.path("theirs"));
    assert_eq!(before.len(), 3);
    let summary = env.ingest(&path);
    assert_eq!((&summary["records"]["event"], &summary["losses"]), (&json!(3), &json!({})));
    assert_eq!(TestEnv::files_below(&env.path("theirs")), before);
}

#[test]
fn what_a_crash_left_is_read_like_what_a_running_program_has() {
    let env = TestEnv::new();
    std::fs::create_dir_all(env.path("theirs")).unwrap();
    let live = env.path("fornax.db");
    let mut database = FirstFornax::new(&live, NEWEST);
    database.conn.pragma_update(None, "journal_mode", "WAL").unwrap();
    database.conn.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    database.session(SESSION);
    for ending in ["", "-wal", "-shm"] {
        let name = format!("fornax.db{ending}");
        std::fs::copy(env.path(&name), env.path(&format!("theirs/{name}"))).unwrap();
    }
    let before = TestEnv::files_below(&env.path("theirs"));
    let summary = env.ingest(&env.path("theirs/fornax.db"));
    assert_eq!((&summary["records"]["event"], &summary["losses"]), (&json!(3), &json!({})));
    assert_eq!(TestEnv::files_below(&env.path("theirs")), before);
}

#[test]
fn rows_longer_than_a_query_gathers_are_all_read() {
    let env = TestEnv::new();
    let path = env.path("fornax.db");
    let mut database = FirstFornax::new(&path, NEWEST);
    database.conn.execute_batch("BEGIN").unwrap();
    for number in 0..6 {
        let message = format!("{number} {}", "long words ".repeat(150_000));
        let raw = json!({"hook_event_name": "Notification", "message": message});
        database.event(SESSION, "claude_code", "notification", &raw);
    }
    for number in 0..700 {
        let raw = json!({"hook_event_name": "Notification", "message": format!("short {number}")});
        database.event(SESSION, "claude_code", "notification", &raw);
    }
    database.conn.execute_batch("COMMIT").unwrap();
    drop(database);
    assert_eq!(env.ingest(&path)["records"]["event"], 706);
    assert_eq!(env.sessions()[0]["events"], 706);
}

#[test]
fn imported_rows_are_exported_like_others() {
    let env = TestEnv::new();
    env.ingest(&typical(&env, NEWEST));
    for wire in ["legacy", "full"] {
        env.run(["export-spool", "--all", "--wire", wire, "--out", wire]).ok();
        let pending = TestEnv::files_below(&env.path(wire).join("pending"));
        let types: Vec<String> = pending
            .iter()
            .map(|(_, bytes)| {
                let record: Value = serde_json::from_slice(bytes).unwrap();
                record["type"].as_str().unwrap().to_owned()
            })
            .collect();
        for wanted in ["event", "evidence", "claim"] {
            assert!(types.iter().any(|found| found == wanted), "{wire}: {types:?}");
        }
    }
}

#[test]
fn a_log_that_cannot_be_read_without_writing_is_a_loss_until_it_can() {
    let env = TestEnv::new();
    let live = env.path("live.db");
    let mut database = FirstFornax::new(&live, NEWEST);
    database.conn.pragma_update(None, "journal_mode", "WAL").unwrap();
    database.session("first");
    database.conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    database.conn.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    database.session("second");
    // A copy of the two files without the third, as a backup makes one.
    let path = env.path("fornax.db");
    std::fs::copy(&live, &path).unwrap();
    std::fs::copy(env.path("live.db-wal"), env.path("fornax.db-wal")).unwrap();
    let summary = env.ingest(&path);
    assert_eq!(summary["losses"], json!({"source_unreadable": 1}));
    assert_eq!(env.sessions().len(), 1);
    drop(database);
    std::fs::remove_file(env.path("fornax.db-wal")).unwrap();
    std::fs::copy(&live, &path).unwrap();
    assert_eq!(env.ingest(&path)["losses"], json!({}));
    assert_eq!(env.sessions().len(), 2);
    assert_eq!(env.lost("source_unreadable"), 0);
}

#[test]
fn reading_again_changes_nothing_and_a_grown_database_adds() {
    let env = TestEnv::new();
    let path = typical(&env, NEWEST);
    env.ingest(&path);
    let told = rows::told(&env);
    let again = env.run(["ingest", "fornax.db", "--deep", "--json"]).ok().json();
    assert_eq!(again["stored"]["inserted"], 0);
    assert_eq!(rows::told(&env), told);
    let mut database = FirstFornax::reopen(&path);
    database.event(
        SESSION,
        "claude_code",
        "notification",
        &json!({"hook_event_name":
        "Notification", "message": "waiting"}),
    );
    drop(database);
    env.ingest(&path);
    assert_eq!(env.sessions()[0]["events"], 4);
    // Rows that its own retention removed stay here.
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "DELETE FROM findings; DELETE FROM claims; DELETE FROM evidence; \
             DELETE FROM agent_events",
        )
        .unwrap();
    env.ingest(&path);
    assert_eq!(env.sessions()[0]["events"], 4);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(length(&show(&env, SESSION)["events"]), 4);
}

#[test]
fn an_unchanged_database_is_not_read_again() {
    let env = TestEnv::new();
    let path = typical(&env, NEWEST);
    env.ingest(&path);
    // The clock that stamps files has to move on before a state counts as settled.
    std::thread::sleep(std::time::Duration::from_millis(30));
    env.ingest(&path);
    let summary = env.ingest(&path);
    assert_eq!((&summary["unchanged"], &summary["lines"]), (&json!(1), &json!(0)));
}

#[test]
fn bad_rows_cost_themselves_and_are_located() {
    let env = TestEnv::new();
    let path = env.path("fornax.db");
    let mut database = FirstFornax::new(&path, NEWEST);
    database.session(SESSION);
    let run = |sql: &str| database.conn.execute_batch(sql).unwrap();
    run("PRAGMA foreign_keys = OFF");
    run("INSERT INTO agent_events VALUES ('no uuid', 's', 'codex', 'notification',
           '2026-03-01T10:00:00Z', NULL, NULL, NULL, '{}')");
    run("INSERT INTO agent_events VALUES ('5a000000-0000-4000-8000-00000000aaaa', 's', 'codex',
           'notification', '2026-03-01T10:00:00Z', NULL, NULL, NULL, '{torn')");
    run("INSERT INTO agent_events VALUES ('5a000000-0000-4000-8000-00000000aaab', 's', 'codex',
           'notification', 'yesterday', NULL, NULL, NULL, '{}')");
    run("INSERT INTO agent_events VALUES ('5a000000-0000-4000-8000-00000000aaac', 's', 'unknown',
           'notification', '2026-03-01T10:00:00Z', NULL, NULL, NULL, '{}')");
    run("INSERT INTO agent_events VALUES ('5a000000-0000-4000-8000-00000000aaad', 'unknown',
           'codex', 'notification', '2026-03-01T10:00:00Z', NULL, NULL, NULL, '{}')");
    run("INSERT INTO evidence (id, session_id, source_event_id, kind, observed_at, payload,
           provenance) VALUES ('5a000000-0000-4000-8000-00000000aaae', 'nobody',
           '5a000000-0000-4000-8000-00000000ffff', 'exit_code', '2026-03-01T10:00:00Z',
           '{\"command\":null,\"exit_code\":1}', 'p')");
    run("UPDATE evidence SET payload = '{\"command\":null,\"exit_code\":\"1\"}' WHERE rowid = 1");
    run("INSERT INTO ingest_quarantine VALUES ('q', '2026-03-01T10:00:00Z', 'parse_error',
           'missing field', 'held-back line')");
    drop(database);
    let summary = env.ingest(&path);
    assert_eq!(summary["records"]["event"], 3);
    let expected = [
        "agent_events 4 row_invalid agent_events.id: not a UUID in lower case with hyphens",
        "agent_events 5 row_invalid raw: not JSON",
        "agent_events 6 row_invalid agent_events.observed_at: not an RFC 3339 time",
        "agent_events 7 provider_unknown event",
        "agent_events 8 conversation_unknown event",
        "evidence 2 provider_unknown evidence",
        "ingest_quarantine 1 row_invalid quarantined there: parse_error",
    ];
    let found = row_losses(&env);
    let (payload, rest): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|loss| loss.contains("evidence.payload"));
    assert_eq!(rest, expected);
    assert!(payload.len() == 1 && payload[0].starts_with("evidence 1 row_invalid"), "{payload:?}");
    for (file, bytes) in TestEnv::files_below(&env.home()) {
        let found = bytes.windows(14).any(|w| w == b"held-back line");
        assert!(!found, "{} holds a quarantined line", file.display());
    }
}

#[test]
fn a_damaged_page_costs_its_own_rows() {
    let env = TestEnv::new();
    let path = env.path("fornax.db");
    let mut database = FirstFornax::new(&path, NEWEST);
    database.conn.execute_batch("BEGIN").unwrap();
    for number in 0..400 {
        let raw = json!({"hook_event_name": "Notification",
            "message": format!("note {number} {}", "x ".repeat(300))});
        database.event(SESSION, "claude_code", "notification", &raw);
    }
    database.conn.execute_batch("COMMIT").unwrap();
    drop(database);
    let mut bytes = std::fs::read(&path).unwrap();
    let of_rows = |page: &[u8]| page[0] == 13 && page.windows(8).any(|w| w == b"note 200");
    let damaged = bytes.chunks(4096).position(of_rows).unwrap();
    bytes[damaged * 4096..damaged * 4096 + 64].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let summary = env.ingest(&path);
    let kept = summary["records"]["event"].as_i64().unwrap();
    assert!((380..400).contains(&kept), "{kept}");
    assert!(summary["losses"]["row_invalid"].as_i64().unwrap() >= 1);
    assert!(row_losses(&env).iter().all(|loss| loss.contains("damaged")), "{:?}", row_losses(&env));
}

#[test]
fn another_programs_database_is_not_recognised() {
    let env = TestEnv::new();
    let path = env.path("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE agent_events (x)").unwrap();
    env.run(["ingest", "other.db"]).fails_with(65);
    assert_eq!(env.lost("source_not_recognised"), 1);
    let view = env.path("view.db");
    Connection::open(&view)
        .unwrap()
        .execute_batch(
            "CREATE VIEW agent_events AS SELECT 'a' AS id, 's' AS session_id, 'codex' AS provider,
               'notification' AS kind, '2026-03-01T10:00:00Z' AS observed_at, '{}' AS raw",
        )
        .unwrap();
    env.run(["ingest", "view.db"]).fails_with(65);
    assert_eq!(env.sessions().len(), 0);
}

#[test]
fn a_session_is_found_by_the_name_that_the_import_proves() {
    let env = TestEnv::new();
    env.ingest(&typical(&env, NEWEST));
    let told = show(&env, &format!("session:{SESSION}"));
    assert_eq!(told["conversation"], format!("conversation:claude_code:local:{SESSION}"));
    // A conversation that no import named has no such name, whatever its id looks like.
    env.write("in/c1.jsonl", Claude::typical("c1").text());
    env.ingest(&env.path("in"));
    let line = env.run(["show", "session:c1"]).one_line_error(69);
    assert!(line.contains("no session 'session:c1'"), "{line}");
}

#[test]
fn a_name_of_two_conversations_is_an_error_that_names_both() {
    let env = TestEnv::new();
    let path = env.path("fornax.db");
    let mut database = FirstFornax::new(&path, NEWEST);
    database.session(SESSION);
    database.event(SESSION, "codex", "notification", &json!({}));
    // A placeholder proves nothing.
    database.capabilities(SESSION, "open_code");
    drop(database);
    env.ingest(&path);
    let line = env.run(["show", &format!("session:{SESSION}")]).one_line_error(64);
    for provider in ["claude_code", "codex"] {
        assert!(line.contains(&format!("conversation:{provider}:local:{SESSION}")), "{line}");
    }
    assert!(!line.contains("open_code"), "{line}");
    assert_eq!(env.lost("provider_unknown"), 1);
}

#[test]
fn an_event_meets_what_was_seen_here_by_its_native_id() {
    let env = TestEnv::new();
    let text = claude::post_tool_use("s1", "t1", "make", "ok");
    env.hook("claude", &text);
    let path = env.path("fornax.db");
    let mut database = FirstFornax::new(&path, NEWEST);
    let raw = serde_json::from_str(&text).unwrap();
    let event = database.event("s1", "claude_code", "post_tool_use", &raw);
    let payload = json!({"command": "make", "exit_code": 1, "heuristic": true});
    database.evidence("s1", &event, "exit_code", &payload);
    drop(database);
    env.ingest(&path);
    let told = show(&env, "s1");
    assert_eq!(length(&told["events"]), 1);
    assert_eq!(length(&told["events"][0]["sightings"]), 2);
    assert_eq!(
        (&told["events"][0]["outcome"], &told["events"][0]["disagrees"]),
        (&json!("ok"), &json!(false))
    );
    let codes: Vec<&Value> =
        told["evidence"].as_array().unwrap().iter().map(|e| &e["ingress"]).collect();
    assert!(codes.iter().all(|ingress| *ingress == "built_in"), "{codes:?}");
}

#[test]
fn a_call_of_a_rollout_meets_the_row_that_names_it() {
    let env = TestEnv::new();
    let mut rollout = Codex::new("x1");
    rollout.prompt("go");
    let call = rollout.shell("make", 2, "error");
    env.write("in/rollout-x1.jsonl", rollout.text());
    env.ingest(&env.path("in"));
    let before = show(&env, "x1");
    let path = env.path("fornax.db");
    let mut database = FirstFornax::new(&path, NEWEST);
    let raw = json!({"tool_name": "exec_command", "tool_input": {"command": "make"},
        "tool_response": {"type": "custom_tool_call_output", "call_id": call}});
    let event = database.event("x1", "codex", "post_tool_use", &raw);
    database.evidence("x1", &event, "exit_code", &json!({"command": "make", "exit_code": 2}));
    drop(database);
    env.ingest(&path);
    let told = show(&env, "x1");
    assert_eq!(length(&told["events"]), length(&before["events"]));
    assert_eq!(told["evidence"], before["evidence"]);
    let of_import = "SELECT count(*) FROM sighting WHERE ingress = 'import' AND event IN
        (SELECT event FROM sighting WHERE ingress = 'built_in')";
    assert_eq!(rows::count(&env, of_import), 1);
}

#[test]
fn redacted_ids_are_none_and_their_events_stay_apart() {
    let env = TestEnv::new();
    let path = env.path("fornax.db");
    let mut database = FirstFornax::new(&path, NEWEST);
    database.session(SESSION);
    database.session(SESSION);
    drop(database);
    env.ingest(&path);
    let told = show(&env, SESSION);
    assert_eq!(length(&told["events"]), 6);
    assert!(told["events"].as_array().unwrap().iter().all(|e| e["call_id"].is_null()));
    assert_eq!(env.sessions().len(), 1, "a redacted session id names no conversation");
}

#[test]
fn a_conversation_whose_transcript_is_read_too_is_not_counted_twice() {
    let counts = |env: &TestEnv| -> BTreeMap<&str, Value> {
        let session = &env.sessions()[0];
        let told = show(env, "c1");
        let verdicts = env.run(["verify", "c1", "--json"]).ok().json();
        BTreeMap::from([
            ("events", session["events"].clone()),
            ("failed calls", session["failed_calls"].clone()),
            ("prompts", session["prompts"].clone()),
            ("cwd", session["cwd"].clone()),
            ("listed", json!(length(&told["events"]))),
            ("evidence", json!(length(&told["evidence"]))),
            ("claims", json!(length(&told["claims"]))),
            ("findings", verdicts["counts"].clone()),
        ])
    };
    let alone = TestEnv::new();
    alone.write("in/c1.jsonl", Claude::typical("c1").text());
    alone.ingest(&alone.path("in"));
    for import_first in [true, false] {
        let env = TestEnv::new();
        env.write("in/c1.jsonl", Claude::typical("c1").text());
        FirstFornax::new(&env.path("fornax.db"), NEWEST).session("c1");
        let sources = if import_first { ["fornax.db", "in"] } else { ["in", "fornax.db"] };
        for source in sources {
            env.ingest(&env.path(source));
        }
        assert_eq!(counts(&env), counts(&alone), "import first: {import_first}");
        assert_eq!(length(&show(&env, "c1")["historical_findings"]), 1);
    }
}

#[test]
fn findings_of_the_first_fornax_are_history_and_no_verdict() {
    let env = TestEnv::new();
    env.ingest(&typical(&env, NEWEST));
    let told = show(&env, SESSION);
    let found = &told["historical_findings"][0];
    assert_eq!(
        (&found["verdict"], &found["rationale"]),
        (&json!("verified"), &json!("observed exit 0"))
    );
    assert_eq!(found["evidence_ids"][0], told["evidence"][0]["id"]);
    assert_eq!(found["claim_id"], told["claims"][0]["id"]);
    let page = env.run(["show", SESSION]).ok();
    assert!(page.stdout.contains("found by an earlier fornax"), "{}", page.stdout);
    let verdicts = env.run(["verify", SESSION, "--json"]).ok().json();
    assert_eq!(verdicts["counts"]["verified"], 0, "{verdicts}");
    assert_eq!(length(&verdicts["findings"]), 1);
    let told = env.run(["verify", SESSION]).ok().stdout;
    assert!(told.contains("fornax.db claims row 1\n"), "{told}");
}

#[test]
fn source_and_extension_of_evidence_survive_and_keys_of_no_shape_move_into_one() {
    let env = TestEnv::new();
    let path = env.path("fornax.db");
    let mut database = FirstFornax::new(&path, NEWEST);
    let event = database.event("s", "codex", "post_tool_use", &json!({}));
    let plain = json!({"command": "a", "exit_code": 0});
    let kept = database.evidence("s", &event, "exit_code", &plain);
    let source = json!({"sensor_name": "codex_exec_command_end_sensor_v1",
        "trust_class": "agent_adjacent", "collected_at": "2026-03-01T10:00:00Z",
        "provider": "codex", "collection_method": "file_poll"});
    let extension = r#"{"schema_version":1,"provider":"codex","adapter_version":"0.0.1","content_class":"tool_telemetry","fields":{"n":1.50},"later":true}"#;
    database
        .conn
        .execute(
            "UPDATE evidence SET source = ?1, extension = ?2 WHERE id = ?3",
            [&source.to_string(), extension, &kept],
        )
        .unwrap();
    let more = json!({"command": "b", "exit_code": 3, "status": "failed", "exec_source": "agent"});
    database.evidence("s", &event, "exit_code", &more);
    let purged = database.evidence("s", &event, "exit_code", &json!("expired"));
    database
        .conn
        .execute("UPDATE evidence SET evidence_purged = 1 WHERE id = ?1", [&purged])
        .unwrap();
    drop(database);
    let summary = env.ingest(&path);
    assert_eq!(summary["records"]["evidence"], 2);
    assert_eq!(summary["losses"], json!({"row_purged": 1}));
    let column =
        |name: &str| rows::texts(&env, &format!("SELECT {name} FROM evidence ORDER BY offset"));
    assert_eq!(column("extension")[0], extension);
    let moved: Value = serde_json::from_str(&column("extension")[1]).unwrap();
    assert_eq!(moved["fields"], json!({"status": "failed", "exec_source": "agent"}));
    let source: Value = serde_json::from_str(&column("provenance_source")[0]).unwrap();
    assert_eq!(source["sensor_name"], "codex_exec_command_end_sensor_v1");
    assert_eq!(column("ingress"), ["import", "import"]);
}
