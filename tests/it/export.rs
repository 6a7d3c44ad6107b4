//! `fornax export-spool`: the wire of the first Fornax to the byte, the full wire, and honest ends.

use crate::support::claude::{self, Claude};
use crate::support::codex::Codex;
use crate::support::{TestEnv, rows};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

/// A home that holds one session of each agent, and hooks of the first.
fn recorded() -> TestEnv {
    let env = TestEnv::new();
    env.write("in/c1.jsonl", Claude::typical("c1").text());
    env.write("in/rollout-x1.jsonl", Codex::typical("x1").text());
    env.ingest(&env.path("in"));
    env
}

fn export(env: &TestEnv, args: &[&str]) -> Value {
    let args = ["export-spool", "--json", "--out", "spool"].iter().chain(args);
    env.run(args).ok().json()
}

/// Every record of the spool by its file name.
fn records(env: &TestEnv) -> BTreeMap<String, Map<String, Value>> {
    let read = |(path, bytes): (std::path::PathBuf, Vec<u8>)| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_slice(&bytes).unwrap())
    };
    TestEnv::files_below(&env.path("spool/pending")).into_iter().map(read).collect()
}

fn manifest(env: &TestEnv) -> Value {
    serde_json::from_slice(&fs::read(env.path("spool/manifest.json")).unwrap()).unwrap()
}

fn of_type(env: &TestEnv, kind: &str) -> Vec<Map<String, Value>> {
    records(env).into_values().filter(|record| record["type"] == kind).collect()
}

fn keys(record: &Map<String, Value>) -> Vec<&str> {
    record.keys().map(String::as_str).collect()
}

#[test]
fn the_legacy_wire_is_these_bytes() {
    let env = recorded();
    export(&env, &["--all"]);
    let mut out = String::new();
    for (path, bytes) in TestEnv::files_below(&env.path("spool")) {
        let name = path.strip_prefix(env.path("spool")).unwrap().display().to_string();
        out.push_str(&format!("{name}\n{}\n\n", String::from_utf8(bytes).unwrap()));
    }
    insta::assert_snapshot!("legacy_spool", out);
}

#[test]
fn every_record_stands_in_a_file_of_its_id_with_its_hash_in_the_manifest() {
    let env = recorded();
    let summary = export(&env, &["--all"]);
    let listed = manifest(&env);
    let files = listed["files"].as_array().unwrap();
    let records = records(&env);
    assert_eq!(files.len(), records.len());
    assert_eq!(summary["written"], records.len());
    for file in files {
        let name = format!("{}.json", file["name"].as_str().unwrap());
        let bytes = fs::read(env.path("spool/pending").join(&name)).unwrap();
        assert_eq!(file["blake3"], blake3::hash(&bytes).to_hex().as_str());
        let record = &records[&name];
        // A capability record of the old wire has no id of its own.
        if let Some(id) = record.get("id") {
            assert_eq!(format!("{}.json", id.as_str().unwrap()), name);
        }
    }
    let counted: i64 =
        listed["counts"].as_object().unwrap().values().map(|n| n.as_i64().unwrap()).sum();
    assert_eq!(usize::try_from(counted).unwrap(), records.len());
}

#[test]
fn the_legacy_wire_holds_only_shapes_that_its_consumers_accept() {
    let env = recorded();
    export(&env, &["--all"]);
    let mut types = BTreeSet::new();
    for record in records(&env).into_values() {
        let kind = record["type"].as_str().unwrap().to_owned();
        let allowed: &[&str] = match kind.as_str() {
            "event" => &[
                "id",
                "kind",
                "observed_at",
                "provider",
                "raw",
                "session_id",
                "tool_input",
                "tool_name",
                "tool_response",
                "type",
            ],
            "claim" => {
                &["claimed_at", "id", "session_id", "source_event_id", "subject", "text", "type"]
            }
            "evidence" => &[
                "id",
                "kind",
                "observed_at",
                "payload",
                "provenance",
                "session_id",
                "source",
                "source_event_id",
                "type",
            ],
            "capabilities" => &[
                "notes",
                "provider",
                "supports_post_tool_use",
                "supports_pre_tool_use",
                "supports_session_stop_event",
                "supports_subagent_lifecycle",
                "supports_tool_response_capture",
                "supports_transcript_tail",
                "type",
            ],
            other => panic!("{other} is not on the old wire"),
        };
        let mut held = keys(&record);
        held.retain(|key| *key != "extension");
        assert_eq!(held, allowed, "{kind}");
        types.insert(kind);
    }
    assert_eq!(types.len(), 4, "{types:?}");
}

#[test]
fn only_the_eight_old_kinds_go_out_and_the_end_of_a_turn_is_the_old_session_end() {
    let env = recorded();
    env.hook("claude", claude::payload("c1", "PostCompact", json!({"trigger": "auto"})));
    env.hook(
        "claude",
        claude::payload("c1", "Stop", json!({"last_assistant_message": "done", "prompt_id": "p"})),
    );
    export(&env, &["--all"]);
    let old = [
        "session_start",
        "session_end",
        "user_prompt_submit",
        "pre_tool_use",
        "post_tool_use",
        "subagent_start",
        "subagent_stop",
        "notification",
    ];
    let kinds: Vec<String> = of_type(&env, "event")
        .iter()
        .map(|event| event["kind"].as_str().unwrap().to_owned())
        .collect();
    assert!(kinds.iter().all(|kind| old.contains(&kind.as_str())), "{kinds:?}");
    let ends = rows::count(&env, "SELECT count(*) FROM event WHERE kind = 'turn_end'");
    assert!(ends > 1);
    let out = kinds.iter().filter(|kind| *kind == "session_end").count();
    assert_eq!(i64::try_from(out).unwrap(), ends);
    assert_eq!(manifest(&env)["excluded"]["event kind compaction"], 1);
}

#[test]
fn claims_and_evidence_are_anchored_on_events_that_went_out() {
    let env = recorded();
    export(&env, &["--all"]);
    let events: HashSet<Value> =
        of_type(&env, "event").into_iter().map(|event| event["id"].clone()).collect();
    let (claims, evidence) = (of_type(&env, "claim"), of_type(&env, "evidence"));
    assert_eq!(claims.len(), 2);
    assert!(evidence.len() >= 4);
    for record in claims.iter().chain(&evidence) {
        assert!(events.contains(&record["source_event_id"]), "{record:?}");
    }
}

#[test]
fn what_the_legacy_wire_leaves_out_is_counted_and_nothing_is_unaccounted_for() {
    let env = recorded();
    let summary = export(&env, &["--all"]);
    let listed = manifest(&env);
    assert_eq!(summary["excluded"], listed["excluded"]);
    let excluded = listed["excluded"].as_object().unwrap();
    let events: i64 = excluded
        .iter()
        .filter(|(what, _)| what.starts_with("event kind "))
        .map(|(_, count)| count.as_i64().unwrap())
        .sum();
    let out = listed["counts"]["event"].as_i64().unwrap();
    assert_eq!(events + out, rows::count(&env, "SELECT count(*) FROM event"));
    assert_eq!(excluded["event kind assistant_message"], 2);
    assert_eq!(
        excluded["usage records"],
        rows::count(&env, "SELECT count(DISTINCT uid) FROM usage")
    );
    assert_eq!(listed["failed"], json!([]));
}

#[test]
fn an_observation_that_the_legacy_wire_does_not_know_goes_out_as_its_description() {
    let env = TestEnv::new();
    let told = include_str!("../../fixtures/agents/claude_code/git_operations.jsonl");
    env.write("in/s1.jsonl", told);
    env.ingest(&env.path("in"));
    let observations = |env: &TestEnv| -> BTreeMap<String, Value> {
        let observed = of_type(env, "evidence").into_iter().map(|e| e["payload"].clone());
        let observed = observed.filter(|payload| payload.get("description").is_some());
        let tag = |p: &Value| p["observation"]["observation_kind"].clone();
        observed.map(|p| (p["description"].as_str().unwrap().to_owned(), tag(&p))).collect()
    };
    let summary = export(&env, &["--all"]);
    let legacy = observations(&env);
    assert_eq!(legacy["git commit created"], "vcs_operation");
    assert_eq!(legacy["pull request #7: created"], Value::Null);
    assert_eq!(legacy["git merge of a branch"], Value::Null);
    assert_eq!(summary["excluded"]["observation unknown to the legacy wire"], 2);
    fs::remove_dir_all(env.path("spool")).unwrap();
    export(&env, &["--all", "--wire", "full"]);
    let full = observations(&env);
    assert_eq!(full["pull request #7: created"], "pull_request");
    assert_eq!(full["git merge of a branch"], "vcs_branch_change");
}

#[test]
fn a_second_export_touches_no_file() {
    let env = recorded();
    export(&env, &["--all"]);
    let stamps = || -> Vec<_> {
        let stamp = |path: &Path| {
            let meta = fs::metadata(path).unwrap();
            (path.to_owned(), meta.ino(), meta.mtime_nsec(), meta.ctime_nsec())
        };
        TestEnv::files_below(&env.path("spool")).iter().map(|(path, _)| stamp(path)).collect()
    };
    let before = stamps();
    let again = export(&env, &["--all"]);
    assert_eq!(again["written"], 0);
    assert_eq!(again["unchanged"], before.len() - 1);
    assert_eq!(stamps(), before);
}

#[test]
fn the_full_wire_holds_everything_and_the_same_ids() {
    let env = recorded();
    env.hook("claude", "prose");
    export(&env, &["--all"]);
    let legacy: HashSet<String> = records(&env).into_keys().collect();
    fs::remove_dir_all(env.path("spool")).unwrap();
    export(&env, &["--all", "--wire", "full"]);
    let full: HashSet<String> = records(&env).into_keys().collect();
    assert!(legacy.is_subset(&full));
    assert_eq!(manifest(&env)["excluded"], json!({}));
    let events = of_type(&env, "event");
    assert_eq!(
        i64::try_from(events.len()).unwrap(),
        rows::count(&env, "SELECT count(*) FROM event")
    );
    let failed = events
        .iter()
        .find(|e| e["kind"] == "post_tool_use" && e.get("call_id") == Some(&json!("toolu_c1_2")))
        .unwrap();
    assert_eq!(failed["outcome"], "failed");
    assert_eq!(failed["turn_id"], "prompt-c1-1");
    assert_eq!(failed["clock_source"], "provider_reported");
    assert!(!of_type(&env, "usage").is_empty());
    let declared = of_type(&env, "capabilities");
    assert!(declared.iter().all(|d| d["signals"].is_array() && d["session_id"].is_string()));
}

#[test]
fn one_session_is_named_by_key_id_or_beginning() {
    for word in ["conversation:claude_code:local:c1", "c1", "c"] {
        let env = recorded();
        export(&env, &["--session", word]);
        let sessions: HashSet<Value> =
            of_type(&env, "event").iter().map(|event| event["session_id"].clone()).collect();
        assert_eq!(sessions, HashSet::from([json!("c1")]), "{word}");
        assert_eq!(manifest(&env)["conversations"], json!(["conversation:claude_code:local:c1"]));
    }
}

#[test]
fn a_session_that_is_unknown_or_ambiguous_is_a_one_line_error() {
    let env = recorded();
    env.ingest(&env.write("in/c12.jsonl", Claude::typical("c12").text()));
    env.ingest(&env.write("in/c13.jsonl", Claude::typical("c13").text()));
    let run = |word: &str| env.run(["export-spool", "--session", word, "--out", "spool"]);
    let unknown = run("nobody").one_line_error(69);
    assert!(unknown.contains("nobody") && unknown.contains("fornax sessions"), "{unknown}");
    let ambiguous = run("c1").ok();
    assert!(ambiguous.stdout.contains("event"), "an exact id is no beginning");
    let ambiguous = run("c").one_line_error(64);
    for id in ["c1", "c12", "c13"] {
        assert!(ambiguous.contains(&format!("local:{id}")), "{ambiguous}");
    }
}

#[test]
fn a_corrupt_row_is_named_its_neighbours_go_out_and_the_exit_code_says_so() {
    let env = recorded();
    export(&env, &["--all"]);
    let whole = records(&env);
    fs::remove_dir_all(env.path("spool")).unwrap();
    let conn = rows::open_to_write(&env);
    let id: String = conn
        .query_row(
            "SELECT lower(hex(uid)) FROM evidence WHERE kind = 'exit_code' LIMIT 1",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let bad = uuid::Uuid::parse_str(&id).unwrap().to_string();
    conn.execute("UPDATE evidence SET payload = '{torn' WHERE lower(hex(uid)) = ?1", [&id])
        .unwrap();
    drop(conn);
    let answer = env.run(["export-spool", "--all", "--out", "spool", "--json"]).fails_with(1);
    assert!(answer.stderr.contains(&bad), "{}", answer.stderr);
    assert_eq!(answer.json()["failed"][0]["id"], bad.as_str());
    assert_eq!(manifest(&env)["failed"][0]["id"], bad.as_str());
    let left: Vec<String> =
        whole.into_keys().filter(|name| !records(&env).contains_key(name)).collect();
    assert_eq!(left, [format!("{bad}.json")]);
}

#[test]
fn a_corrupt_row_of_any_table_that_is_exported_costs_itself_and_is_said() {
    for (table, column, value) in [
        ("sighting", "tool_input", "'{torn'"),
        ("evidence", "provenance_source", "'{torn'"),
        ("claim", "text", "x'ff'"),
        ("usage", "model", "CAST(x'ff' AS TEXT)"),
        ("capability", "signals", "'{torn'"),
        ("conversation", "events", "'many'"),
    ] {
        let env = recorded();
        let conn = rows::open_to_write(&env);
        let one = format!("rowid = (SELECT min(rowid) FROM {table})");
        // A table without row ids has one row a conversation.
        let of_first = "conversation = (SELECT min(id) FROM conversation)";
        let update = |which: &str| {
            conn.execute(&format!("UPDATE {table} SET {column} = {value} WHERE {which}"), [])
        };
        let damaged = update(&one).or_else(|_| update(of_first)).unwrap();
        assert_eq!(damaged, 1, "{table}");
        let run = env.run(["export-spool", "--all", "--wire", "full", "--out", "spool"]);
        let answer = run.fails_with(1);
        assert!(answer.stderr.contains("was not exported"), "{table}: {}", answer.stderr);
        assert!(records(&env).len() > 12, "{table}: {} records", records(&env).len());
        assert_eq!(manifest(&env)["failed"].as_array().unwrap().len(), 1, "{table}");
    }
}

#[test]
fn a_spool_is_private_and_is_not_written_through_links() {
    let env = recorded();
    export(&env, &["--all"]);
    for (path, _) in TestEnv::files_below(&env.path("spool")) {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", path.display());
    }
    for folder in ["spool", "spool/pending"] {
        let mode = fs::metadata(env.path(folder)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{folder}");
    }
    let elsewhere = env.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::create_dir(env.path("linked")).unwrap();
    symlink(&elsewhere, env.path("linked/pending")).unwrap();
    let line = env.run(["export-spool", "--all", "--out", "linked"]).one_line_error(74);
    assert!(line.contains("linked"), "{line}");
    assert_eq!(TestEnv::files_below(&elsewhere), []);
}

#[test]
fn a_half_written_file_of_a_killed_run_is_replaced() {
    let env = recorded();
    export(&env, &["--all"]);
    let files = TestEnv::files_below(&env.path("spool"));
    let (path, _) = files.iter().find(|(path, _)| !path.ends_with("manifest.json")).unwrap();
    fs::write(path, "{\"half").unwrap();
    fs::write(path.with_extension("json.tmp"), "{\"ha").unwrap();
    let again = export(&env, &["--all"]);
    assert_eq!(again["written"], 1);
    assert_eq!(TestEnv::files_below(&env.path("spool")), files);
}

#[test]
fn an_empty_store_exports_an_empty_spool_with_its_manifest() {
    let env = TestEnv::new();
    env.run(["ingest"]).ok();
    let summary = export(&env, &["--all"]);
    assert_eq!(summary["counts"], json!({}));
    assert_eq!(manifest(&env)["files"], json!([]));
}
