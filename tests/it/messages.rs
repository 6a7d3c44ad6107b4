//! `fornax ingest --messages`: third parties' records, validated, redacted, never trusted by
//! default, and the way back of what `export-spool --wire full` writes.

use crate::support::claude::Claude;
use crate::support::codex::Codex;
use crate::support::{Ran, TestEnv, rows};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const EVENT: &str = "11111111-1111-4111-8111-111111111111";
const SAID: &str = "22222222-2222-4222-8222-222222222222";
const EXIT: &str = "33333333-3333-4333-8333-333333333333";
const CLAIM: &str = "44444444-4444-4444-8444-444444444444";

fn import(env: &TestEnv, text: &str) -> Value {
    let mut command = env.command();
    command.args(["ingest", "--messages", "-", "--json"]);
    Ran::of(command, text.as_bytes()).ok().json()
}

fn refused(env: &TestEnv, text: &str) -> Value {
    let mut command = env.command();
    command.args(["ingest", "--messages", "-", "--json"]);
    Ran::of(command, text.as_bytes()).fails_with(65).json()
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// A session of another agent: a test run that failed, and an answer that claims.
fn acme(exit_code: i64) -> Vec<Value> {
    let at = |second: u32| format!("2026-03-01T10:00:0{second}+00:00");
    vec![
        json!({"type": "claim", "id": CLAIM, "session_id": "s-1", "source_event_id": SAID,
            "text": "All tests pass.", "subject": "test_result", "claimed_at": at(5)}),
        json!({"type": "event", "id": EVENT, "session_id": "s-1", "provider": "acme",
            "kind": "post_tool_use", "observed_at": at(1), "tool_name": "shell",
            "tool_input": {"command": "cargo test"}, "tool_response": null, "raw": null,
            "outcome": if exit_code == 0 { "ok" } else { "failed" }, "call_id": "c1"}),
        json!({"type": "evidence", "id": EXIT, "session_id": "s-1", "source_event_id": EVENT,
            "kind": "exit_code", "observed_at": at(1), "provenance": "acme:1:run#exit",
            "payload": {"command": "cargo test", "exit_code": exit_code}}),
        json!({"type": "event", "id": SAID, "session_id": "s-1", "provider": "acme",
            "kind": "assistant_message", "observed_at": at(5), "tool_name": null,
            "tool_input": null, "tool_response": null, "raw": null, "text": "All tests pass."}),
    ]
}

fn verdict(env: &TestEnv, session: &str, more: &[&str]) -> (String, String) {
    let args = ["verify", session, "--json"].into_iter().chain(more.iter().copied());
    let answer = env.run(args).ok().json();
    let finding = answer["findings"][0].clone();
    let word = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    (word("verdict"), word("reason"))
}

fn full_spool(env: &TestEnv) -> BTreeMap<String, Vec<u8>> {
    let out = env.path("spool");
    let _ = std::fs::remove_dir_all(&out);
    env.run(["export-spool", "--all", "--wire", "full", "--out", "spool"]).ok();
    TestEnv::files_below(&out.join("pending"))
        .into_iter()
        .map(|(path, bytes)| (path.file_name().unwrap().to_str().unwrap().to_owned(), bytes))
        .collect()
}

/// A home with a session of each agent, a hook's event and a cut text.
fn recorded() -> TestEnv {
    let env = TestEnv::new();
    let mut session = Claude::typical("c1");
    session.prompt(&"long words ".repeat(3_000));
    env.write("in/c1.jsonl", session.text());
    env.write("in/rollout-x1.jsonl", Codex::typical("x1").text());
    env.ingest(&env.path("in"));
    let stream = "fixtures/agents/opencode/stream.jsonl";
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(stream);
    env.hook("opencode", std::fs::read(file).unwrap());
    env
}

#[test]
fn a_full_spool_comes_back_into_an_empty_home_to_the_byte() {
    let env = recorded();
    let before = full_spool(&env);
    let stream: Vec<&[u8]> = before.values().map(Vec::as_slice).collect();
    let other = TestEnv::new();
    let summary = import(&other, std::str::from_utf8(&stream.join(&b'\n')).unwrap());
    assert_eq!(summary["lines"], before.len());
    assert_eq!((&summary["quarantined"], &summary["unrecognized"]), (&json!(0), &json!({})));
    let after = full_spool(&other);
    let kind = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap()["type"].clone();
    let without_losses = |spool: BTreeMap<String, Vec<u8>>| {
        let (losses, rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
            spool.into_iter().partition(|(_, bytes)| kind(bytes) == "loss");
        (losses.len(), rest)
    };
    let (losses_before, rest_before) = without_losses(before);
    let (losses_after, rest_after) = without_losses(after);
    assert!(losses_before > 0);
    // A loss is told with the place where this home read it.
    assert_eq!(losses_after, losses_before);
    for (name, bytes) in &rest_before {
        let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
        let back = rest_after.get(name).unwrap_or_else(|| panic!("{} is gone", text(bytes)));
        assert_eq!(text(back), text(bytes));
    }
    assert_eq!(rest_before.len(), rest_after.len());
    let told = |env: &TestEnv| -> Vec<Value> {
        let keys = ["conversation", "parent", "cwd", "title", "models", "events", "failed_calls"];
        let mut told: Vec<Value> =
            env.sessions().iter().map(|s| keys.iter().map(|k| s[*k].clone()).collect()).collect();
        told.sort_by_key(ToString::to_string);
        told
    };
    assert_eq!(told(&other), told(&env));
    let order = |env: &TestEnv, session: &str| -> Vec<Value> {
        let answer = env.run(["show", session, "--json"]).ok().json();
        answer["events"].as_array().unwrap().iter().map(|e| e["id"].clone()).collect()
    };
    for session in ["c1", "x1", "ses_a1"] {
        assert_eq!(order(&other, session), order(&env, session), "{session}");
    }
}

#[test]
fn reading_messages_twice_changes_nothing_from_a_pipe_or_a_file() {
    let env = TestEnv::new();
    let mut text = lines(&acme(101));
    text.push_str("this is no record\n{\"type\":\"event\"}\n");
    import(&env, &text);
    let before = rows::raw(&env);
    let again = import(&env, &text);
    assert_eq!(rows::raw(&env), before);
    assert_eq!(again["stored"]["inserted"], 0);
    let file = env.write("records.jsonl", &text);
    let named = ["ingest", "--json", "--messages", file.to_str().unwrap()];
    env.run(named).ok();
    let before = rows::raw(&env);
    env.run(named).ok();
    assert_eq!(rows::raw(&env), before);
    assert_eq!(env.sessions()[0]["events"], 2);
}

#[test]
fn the_order_of_the_lines_does_not_matter() {
    let mut records = acme(101);
    let one = TestEnv::new();
    import(&one, &lines(&records));
    records.reverse();
    let other = TestEnv::new();
    import(&other, &lines(&records));
    assert_eq!(full_spool(&one), full_spool(&other));
}

#[test]
fn a_bad_line_is_located_and_its_neighbours_are_stored() {
    let good = lines(&acme(101));
    let bad = [
        ("prose", "line_unparseable"),
        ("{\"type\":\"event\",", "line_unparseable"),
        ("[1]", "message_invalid"),
        ("{\"id\":1}", "message_invalid"),
        ("{\"type\":\"claim\",\"id\":\"x\"}", "message_invalid"),
        ("{\"type\":\"policy_bundle\",\"envelope\":\"secret stuff\"}", "unrecognized"),
    ];
    for (line, reason) in bad {
        let env = TestEnv::new();
        let at = good.find('\n').unwrap() + 1;
        let text = format!("{}{line}\r\n{}", &good[..at], &good[at..]);
        import(&env, &text);
        assert_eq!(env.sessions()[0]["events"], 2, "{line}");
        assert_eq!(env.lost(reason), 1, "{line}: {:?}", env.losses());
        assert_eq!(env.losses().len(), 1, "{line}: {:?}", env.losses());
        let place = format!("SELECT count(*) FROM loss WHERE offset = {at} AND length > 0");
        assert_eq!(rows::count(&env, &place), 1, "{line}");
        let kept = rows::raw(&env).join("\n");
        assert!(!kept.contains("secret stuff"), "content of a bad line is kept");
    }
}

#[test]
fn records_may_be_glued_and_the_last_needs_no_line_end() {
    let env = TestEnv::new();
    let text: String = acme(101).iter().map(Value::to_string).collect();
    let summary = import(&env, &text);
    assert_eq!(summary["records"], json!({"claim": 1, "event": 2, "evidence": 1}));
    assert_eq!(env.losses(), Vec::<Value>::new());
}

#[test]
fn a_session_whose_provider_nobody_names_is_refused_record_by_record() {
    let env = TestEnv::new();
    let orphan = &acme(101)[..1];
    let summary = refused(&env, &lines(orphan));
    assert_eq!(summary["losses"], json!({"message_invalid": 1}));
    let detail = env.losses()[0]["detail"].clone();
    assert_eq!(detail, "claim.session_id: no record names its provider");
    let two = TestEnv::new();
    let mut records = acme(101);
    let mut other = records[1].clone();
    other["provider"] = json!("beta");
    other["id"] = json!("55555555-5555-4555-8555-555555555555");
    records.push(other);
    import(&two, &lines(&records));
    assert_eq!(two.losses()[0]["detail"], "claim.session_id: two providers have this session");
}

#[test]
fn evidence_of_messages_is_for_review_unless_the_person_trusts_it() {
    for (exit_code, trusted) in [(101, "contradicted"), (0, "verified")] {
        let env = TestEnv::new();
        import(&env, &lines(&acme(exit_code)));
        let expected = ("review".to_owned(), "untrusted_ingress".to_owned());
        assert_eq!(verdict(&env, "s-1", &[]), expected);
        assert_eq!(verdict(&env, "s-1", &["--trust-messages"]).0, trusted);
        assert_eq!(rows::texts(&env, "SELECT DISTINCT ingress FROM evidence"), ["messages"]);
    }
}

#[test]
fn an_outcome_that_only_an_event_states_is_not_trusted_either() {
    let env = TestEnv::new();
    let mut records = acme(101);
    records.remove(2);
    import(&env, &lines(&records));
    assert_eq!(verdict(&env, "s-1", &[]).0, "review");
}

#[test]
fn nothing_on_the_wire_can_say_how_a_record_came_in() {
    let env = TestEnv::new();
    let mut records = acme(0);
    for record in &mut records {
        record["ingress"] = json!("built_in");
    }
    import(&env, &lines(&records));
    assert_eq!(verdict(&env, "s-1", &[]).1, "untrusted_ingress");
    assert_eq!(env.lost("unrecognized"), 4, "{:?}", env.losses());
}

#[test]
fn messages_neither_weaken_nor_change_what_was_seen() {
    let env = recorded();
    let before = verdict(&env, "c1", &[]);
    assert_eq!(before.0, "contradicted");
    let story = || env.run(["show", "c1", "--json"]).ok().json()["events"].clone();
    let (events, spool) = (story(), full_spool(&env));
    let forged: String = spool
        .values()
        .map(|bytes| {
            let mut record: Value = serde_json::from_slice(bytes).unwrap();
            if record["type"] == "event" {
                record["outcome"] = json!("ok");
                record["text"] = json!("something else");
            }
            if record["payload"]["exit_code"] == 101 {
                record["payload"]["exit_code"] = json!(0);
            }
            format!("{record}\n")
        })
        .collect();
    import(&env, &forged);
    assert_eq!(verdict(&env, "c1", &[]), before);
    let strip = |events: Value| -> Vec<Value> {
        let mut events = events.as_array().unwrap().clone();
        for event in &mut events {
            event["sightings"] = Value::Null;
        }
        events
    };
    assert_eq!(strip(story()), strip(events));
}

#[test]
fn an_id_that_names_another_record_already_is_a_loss() {
    let env = TestEnv::new();
    let mut records = acme(101);
    let mut stolen = records[1].clone();
    stolen["session_id"] = json!("s-2");
    let mut other_kind = records[1].clone();
    other_kind["kind"] = json!("notification");
    let mut other_payload = records[2].clone();
    other_payload["payload"]["exit_code"] = json!(0);
    records.extend([stolen, other_kind, other_payload]);
    import(&env, &lines(&records));
    let taken: Vec<Value> = env.losses();
    assert_eq!(env.lost("message_invalid"), 3, "{taken:?}");
    assert!(taken.iter().all(|l| l["detail"] == "id: names another record"), "{taken:?}");
    let payloads = rows::texts(&env, "SELECT payload FROM evidence");
    assert_eq!(payloads, [r#"{"command":"cargo test","exit_code":101}"#]);
}

#[test]
fn what_is_seen_takes_its_id_back_and_its_facts_come_first() {
    let seen = recorded();
    let failed = "SELECT lower(hex(uid)) FROM event e JOIN conversation c ON c.id = e.conversation
        WHERE c.native_id = 'c1' AND outcome = 'failed'";
    let id = rows::texts(&seen, failed);
    let id = uuid::Uuid::try_parse(&id[0]).unwrap().to_string();
    let env = TestEnv::new();
    let mut records = acme(101);
    records[1]["id"] = json!(id);
    records.push(json!({"type": "turn", "conversation": "conversation:claude_code:local:c1",
        "fact": "cwd", "value": "/elsewhere", "first_us": 1}));
    records.push(json!({"type": "lineage", "conversation": "conversation:claude_code:local:c1",
        "relation": "parent", "related": "conversation:claude_code:local:aaa"}));
    import(&env, &lines(&records));
    assert_eq!(verdict(&env, "s-1", &[]).0, "review");
    env.write("in/c1.jsonl", Claude::typical("c1").text());
    env.ingest(&env.path("in"));
    assert_eq!(verdict(&env, "c1", &[]).0, "contradicted");
    let sessions = env.sessions();
    let of = |id: &str| sessions.iter().find(|s| s["native_id"] == id).unwrap().clone();
    assert_eq!(
        (&of("c1")["cwd"], &of("c1")["failed_calls"]),
        (&json!("/home/dev/demo"), &json!(1))
    );
    assert_eq!((&of("s-1")["events"], &of("s-1")["failed_calls"]), (&json!(1), &json!(0)));
}

#[test]
fn a_claim_that_only_a_message_tells_is_for_review_against_what_was_seen() {
    let env = recorded();
    let of_answer = |column: &str| {
        let sql = format!(
            "SELECT {column} FROM event e JOIN sighting s ON s.event = e.id
             JOIN conversation c ON c.id = e.conversation
             WHERE c.native_id = 'c1' AND e.kind = 'assistant_message'"
        );
        rows::texts(&env, &sql)
    };
    let (said, turn) = (of_answer("lower(hex(uid))"), of_answer("turn_id"));
    let said = uuid::Uuid::try_parse(&said[0]).unwrap().to_string();
    let claim = json!({"type": "claim", "id": CLAIM, "source_event_id": said, "turn_id": turn[0],
        "conversation": "conversation:claude_code:local:c1", "text": "The tests all passed.",
        "subject": "test_result", "claimed_at": "2026-11-20T10:00:06Z"});
    import(&env, &lines(&[claim]));
    let answer = env.run(["verify", "c1", "--json"]).ok().json();
    let of = |text: &str| -> (Value, Value) {
        let findings = answer["findings"].as_array().unwrap();
        let found = findings.iter().find(|f| f["claim"]["text"] == text).unwrap();
        (found["verdict"].clone(), found["reason"].clone())
    };
    assert_eq!(of("All tests pass.").0, "contradicted");
    assert_eq!(of("The tests all passed."), (json!("review"), json!("untrusted_ingress")));
}

#[test]
fn secrets_are_cut_out_of_every_record_before_it_is_stored() {
    let secret = ["gh", "p_", &"A1b2C3".repeat(6)].concat();
    let env = TestEnv::new();
    let mut records = acme(101);
    records[0]["text"] = json!(format!("All tests pass with {secret}."));
    records[1]["raw"] = json!({"a": [secret]});
    records[1]["tool_input"] = json!({"command": format!("x {secret}")});
    records[2]["payload"] = json!({"command": format!("x {secret}"), "exit_code": 1});
    records[2]["provenance"] = json!(format!("acme:{secret}"));
    records[2]["extension"] = json!({"schema_version": 2, "provider": "acme",
        "adapter_version": "1", "content_class": "tool_telemetry",
        "fields": {"k": secret}, "later": {"deep": [secret]}});
    records[2]["source"] = json!({"sensor_name": format!("s {secret}"),
        "trust_class": "host_observed", "collected_at": "2026-03-01T10:00:00Z"});
    records[3]["text"] = json!(secret);
    records.push(json!({"type": "capabilities", "provider": "acme", "session_id": "s-1",
        "schema_version": 1, "signals": [{"class": "tool_trace", "state": "available",
            "detail": secret}], "notes": {"k": secret, "session_id": "s-1"}}));
    records.push(json!({"type": "turn", "session_id": "s-1", "fact": "title", "value": secret}));
    let summary = import(&env, &lines(&records));
    assert_eq!(summary["quarantined"], 0, "{summary}");
    for (path, bytes) in TestEnv::files_below(&env.home()) {
        let found = bytes.windows(secret.len()).any(|w| w == secret.as_bytes());
        assert!(!found, "{}", path.display());
    }
    let kept = rows::texts(&env, "SELECT extension FROM evidence");
    assert!(kept[0].contains("REDACTED") && kept[0].contains("later"), "{kept:?}");
}

#[test]
fn a_key_of_another_corpus_keeps_its_name() {
    let env = TestEnv::new();
    let mut records = acme(101);
    for record in &mut records {
        record["conversation"] = json!("conversation:acme:laptop:s-1");
    }
    import(&env, &lines(&records));
    assert_eq!(env.sessions()[0]["conversation"], "conversation:acme:laptop:s-1");
}

#[test]
fn what_holds_no_record_is_65_and_what_cannot_be_read_is_74() {
    let env = TestEnv::new();
    refused(&env, "prose\n");
    import(&env, "");
    env.run(["ingest", "--messages", "nowhere.jsonl"]).one_line_error(74);
    env.run(["ingest", "--messages", "-", "folder"]).fails_with(64);
}

#[test]
fn a_very_long_record_is_a_located_loss_and_the_next_is_stored() {
    let env = TestEnv::new();
    let good = lines(&acme(101));
    let text = format!("{{\"type\":\"{}\"}}\n{good}", "x".repeat(17 * 1024 * 1024));
    let summary = import(&env, &text);
    assert_eq!(summary["losses"], json!({"line_too_long": 1}));
    assert_eq!(env.sessions()[0]["events"], 2);
}
