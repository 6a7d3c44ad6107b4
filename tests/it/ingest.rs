//! `fornax ingest`: what is read, what is left alone, and that a second run changes nothing.

use crate::support::claude::Claude;
use crate::support::codex::Codex;
use crate::support::{TestEnv, is_root, rows};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

/// A folder with a session of each agent.
fn two_sessions(env: &TestEnv) -> PathBuf {
    env.write("in/claude.jsonl", Claude::typical("c1").text());
    env.write("in/rollout-codex.jsonl", Codex::typical("x1").text());
    env.path("in")
}

fn kinds(env: &TestEnv, native: &str) -> Vec<String> {
    rows::texts(
        env,
        &format!(
            "SELECT e.kind || coalesce(' ' || e.outcome, '') FROM event e
             JOIN conversation c ON c.id = e.conversation
             WHERE c.native_id = '{native}' ORDER BY e.order_us, e.id"
        ),
    )
}

#[test]
fn a_session_of_claude_becomes_its_prompt_calls_answer_exit_code_and_claim() {
    let env = TestEnv::new();
    env.ingest(&two_sessions(&env));
    assert_eq!(
        kinds(&env, "c1"),
        [
            "user_prompt_submit",
            "pre_tool_use",
            "post_tool_use ok",
            "pre_tool_use",
            "post_tool_use failed",
            "assistant_message"
        ]
    );
    let codes = "SELECT json_extract(payload, '$.exit_code') || '' FROM evidence e
        JOIN conversation c ON c.id = e.conversation
        WHERE c.native_id = 'c1' AND e.kind = 'exit_code' AND
              json_extract(payload, '$.exit_code') <> 0";
    assert_eq!(rows::texts(&env, codes), ["101"]);
    let claims = "SELECT text FROM claim k JOIN conversation c ON c.id = k.conversation
        WHERE c.native_id = 'c1'";
    assert_eq!(rows::texts(&env, claims), ["All tests pass."]);
}

#[test]
fn a_rollout_of_codex_tells_the_same_story_and_its_second_telling_counts_once() {
    let env = TestEnv::new();
    env.ingest(&two_sessions(&env));
    let told = kinds(&env, "x1");
    let of = |kind: &str| told.iter().filter(|k| k.as_str() == kind).count();
    assert_eq!(of("user_prompt_submit"), 1, "{told:?}");
    assert_eq!(of("pre_tool_use"), 2, "{told:?}");
    assert_eq!(of("post_tool_use ok"), 1, "{told:?}");
    assert_eq!(of("post_tool_use failed"), 1, "{told:?}");
    assert_eq!(of("assistant_message"), 1, "{told:?}");
    assert_eq!(rows::count(&env, "SELECT count(*) FROM loss"), 0);
}

#[test]
fn sessions_lists_both_with_what_they_hold() {
    let env = TestEnv::new();
    env.ingest(&two_sessions(&env));
    let sessions = env.sessions();
    let keys: Vec<&Value> = sessions.iter().map(|s| &s["conversation"]).collect();
    assert_eq!(keys, ["conversation:codex:local:x1", "conversation:claude_code:local:c1"]);
    let claude = &sessions[1];
    assert_eq!(claude["cwd"], "/home/dev/demo");
    assert_eq!(claude["models"], json!(["claude-demo-1"]));
    assert_eq!(claude["failed_calls"], 1);
    assert_eq!(claude["events"], 6);
    assert_eq!(claude["parent"], Value::Null);
    assert_eq!(claude["first_activity"], "2026-11-20T10:00:01+00:00");
    assert_eq!(claude["last_activity"], "2026-11-20T10:00:06+00:00");
}

#[test]
fn a_second_run_changes_no_row() {
    let env = TestEnv::new();
    let folder = two_sessions(&env);
    // Beyond the tick of the clock that stamps files, so that nothing has to be looked at twice.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let first = env.ingest(&folder);
    assert_eq!((&first["sources"], &first["unchanged"]), (&json!(2), &json!(0)));
    let state = rows::raw(&env);
    let second = env.ingest(&folder);
    assert_eq!((&second["sources"], &second["unchanged"]), (&json!(0), &json!(2)));
    rows::assert_same(&rows::raw(&env), &state);
    env.run(["ingest", "in", "--deep"]).ok();
    rows::assert_same(&rows::raw(&env), &state);
}

#[test]
fn a_touched_file_is_looked_at_and_changes_no_row() {
    let env = TestEnv::new();
    let folder = two_sessions(&env);
    env.ingest(&folder);
    let state = rows::told(&env);
    let path = folder.join("claude.jsonl");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, bytes).unwrap();
    env.ingest(&folder);
    rows::assert_same(&rows::told(&env), &state);
}

#[test]
fn one_worker_and_many_make_the_same_rows() {
    let [one, many] = [TestEnv::new(), TestEnv::new()];
    for (env, jobs) in [(&one, "1"), (&many, "4")] {
        for nth in 0..12 {
            env.write(&format!("in/c{nth}.jsonl"), Claude::typical(&format!("c{nth}")).text());
        }
        env.run(["ingest", "in", "--jobs", jobs]).ok();
    }
    rows::assert_same(&rows::told_anywhere(&one), &rows::told_anywhere(&many));
}

#[test]
fn the_json_summary_has_its_documented_keys() {
    let env = TestEnv::new();
    let summary = env.ingest(&two_sessions(&env));
    let keys: Vec<&String> = summary.as_object().unwrap().keys().collect();
    for key in [
        "sources",
        "lines",
        "bytes",
        "records",
        "ignored",
        "unrecognized",
        "quarantined",
        "losses",
        "unchanged",
        "duration_ms",
    ] {
        assert!(keys.iter().any(|k| *k == key), "{key} is missing from {keys:?}");
    }
    let bytes: u64 = ["claude.jsonl", "rollout-codex.jsonl"]
        .iter()
        .map(|name| fs::metadata(env.path("in").join(name)).unwrap().len())
        .sum();
    assert_eq!(summary["bytes"], bytes);
    assert_eq!(summary["quarantined"], 0);
    assert_eq!(summary["losses"], json!({}));
}

#[test]
fn a_foreign_file_named_alone_is_bad_data() {
    let env = TestEnv::new();
    for (name, text) in [
        ("a.jsonl", "{\"some\":\"other\",\"format\":1}\n"),
        ("b.jsonl", "prose, no JSON at all\n"),
        ("c.json", "{\"document\":true}"),
        ("d.txt", "words"),
    ] {
        let path = env.write(name, text);
        let ran = env.run([std::ffi::OsStr::new("ingest"), path.as_os_str()]).fails_with(65);
        assert!(ran.stdout.contains("0 sources read"), "{}", ran.stdout);
    }
    assert_eq!(rows::count(&env, "SELECT count(*) FROM conversation"), 0);
}

#[test]
fn a_foreign_file_in_a_folder_is_one_loss_and_the_rest_is_read() {
    let env = TestEnv::new();
    let folder = two_sessions(&env);
    env.write("in/a.jsonl", "{\"some\":\"other\"}\n{\"some\":\"more\"}\n");
    env.write("in/b.jsonl", "prose\nprose\n");
    let summary = env.ingest(&folder);
    assert_eq!(summary["losses"], json!({"source_not_recognised": 2}));
    assert_eq!(env.lost("source_not_recognised"), 2);
    let state = rows::raw(&env);
    assert_eq!(env.ingest(&folder)["losses"], json!({}));
    rows::assert_same(&rows::raw(&env), &state);
}

#[test]
fn a_foreign_file_that_becomes_a_history_is_read_and_its_loss_retracted() {
    let env = TestEnv::new();
    let path = env.write("in/a.jsonl", "{\"some\":\"other\"}\n");
    env.ingest(&env.path("in"));
    assert_eq!(env.lost("source_not_recognised"), 1);
    fs::write(&path, Claude::typical("c1").text()).unwrap();
    env.ingest(&env.path("in"));
    assert_eq!(env.sessions().len(), 1);
    assert_eq!(env.losses(), Vec::<Value>::new());
}

#[test]
fn an_empty_file_is_left_alone_and_read_once_it_holds_something() {
    let env = TestEnv::new();
    let path = env.write("in/a.jsonl", "");
    let summary = env.ingest(&env.path("in"));
    assert_eq!(summary["skipped"], json!({"empty file": 1}));
    assert_eq!(env.losses(), Vec::<Value>::new());
    fs::write(&path, Claude::typical("c1").text()).unwrap();
    env.ingest(&env.path("in"));
    assert_eq!(env.sessions().len(), 1);
}

#[test]
fn the_default_is_both_agents_homes() {
    let env = TestEnv::new();
    let claude = env.claude_home().join("projects/-home-dev-demo");
    fs::create_dir_all(&claude).unwrap();
    fs::write(claude.join("c1.jsonl"), Claude::typical("c1").text()).unwrap();
    for (nth, folder) in ["sessions/2026/11/20", "archived_sessions"].iter().enumerate() {
        let codex = env.codex_home().join(folder);
        fs::create_dir_all(&codex).unwrap();
        let id = format!("x{nth}");
        fs::write(codex.join(format!("rollout-{id}.jsonl")), Codex::typical(&id).text()).unwrap();
    }
    // What lies in the default places is not looked at while the variables name others.
    let decoy = env.user_home().join(".claude/projects/p");
    fs::create_dir_all(&decoy).unwrap();
    fs::write(decoy.join("no.jsonl"), Claude::typical("no").text()).unwrap();
    env.run(["ingest"]).ok();
    let mut ids: Vec<String> =
        env.sessions().iter().map(|s| s["native_id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    assert_eq!(ids, ["c1", "x0", "x1"]);
}

#[test]
fn without_the_variables_the_default_is_below_home() {
    let env = TestEnv::new();
    for (folder, name, text) in [
        (".claude/projects/p", "c1.jsonl", Claude::typical("c1").text()),
        (".codex/sessions/2026/11/20", "rollout-x1.jsonl", Codex::typical("x1").text()),
    ] {
        let folder = env.user_home().join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }
    let mut command = env.command();
    command.arg("ingest").env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME");
    crate::support::Ran::of(command, b"").ok();
    assert_eq!(env.sessions().len(), 2);
}

#[test]
fn homes_that_are_not_there_are_no_failure() {
    let env = TestEnv::new();
    let summary = env.run(["ingest", "--json"]).ok().json();
    assert_eq!(summary["sources"], 0);
    assert_eq!(env.sessions(), Vec::<Value>::new());
}

#[test]
fn a_path_that_is_not_there_is_one_line_that_names_it() {
    let env = TestEnv::new();
    let line = env.run(["ingest", "gone.jsonl"]).one_line_error(74);
    assert!(line.contains("gone.jsonl"), "{line}");
}

#[test]
fn what_is_no_regular_file_is_a_located_loss_and_is_not_opened() {
    let env = TestEnv::new();
    let folder = two_sessions(&env);
    symlink(&folder, folder.join("loop")).unwrap();
    symlink(folder.join("claude.jsonl"), folder.join("link.jsonl")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("fifo.jsonl")).status();
    assert!(made.unwrap().success());
    let summary = env.ingest(&folder);
    assert_eq!(summary["losses"], json!({"source_not_a_file": 3}));
    let mut places: Vec<String> = env
        .losses()
        .iter()
        .map(|l| l["source"].as_str().unwrap().rsplit('/').next().unwrap().to_owned())
        .collect();
    places.sort();
    assert_eq!(places, ["fifo.jsonl", "link.jsonl", "loop"]);
    assert_eq!(env.sessions().len(), 2);
    let state = rows::raw(&env);
    env.ingest(&folder);
    rows::assert_same(&rows::raw(&env), &state);
}

#[test]
fn a_folder_without_permission_is_a_located_loss_and_the_rest_is_read() {
    if is_root() {
        // Root reads it all the same.
        return;
    }
    let env = TestEnv::new();
    let folder = two_sessions(&env);
    let shut = folder.join("shut");
    fs::create_dir(&shut).unwrap();
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
    let summary = env.ingest(&folder);
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(summary["losses"], json!({"source_unreadable": 1}));
    assert_eq!(env.sessions().len(), 2);
}

#[test]
fn a_compressed_rollout_is_read_and_its_plain_twin_preferred() {
    let env = TestEnv::new();
    let packed = zstd::encode_all(Codex::typical("x1").text().as_bytes(), 3).unwrap();
    env.write("in/rollout-x1.jsonl.zst", &packed);
    let summary = env.ingest(&env.path("in"));
    assert_eq!(summary["sources"], 1, "{summary}");
    assert_eq!(env.sessions()[0]["native_id"], "x1");
    let state = rows::raw(&env);
    env.ingest(&env.path("in"));
    rows::assert_same(&rows::raw(&env), &state);

    let both = TestEnv::new();
    both.write("in/rollout-x1.jsonl.zst", &packed);
    both.write("in/rollout-x1.jsonl", Codex::typical("x1").text());
    let summary = both.ingest(&both.path("in"));
    assert_eq!(summary["sources"], 1, "{summary}");
    assert_eq!(summary["skipped"], json!({"compressed twin of a plain file": 1}));
}

#[test]
fn a_namespace_is_chosen_once() {
    let env = TestEnv::new();
    let folder = two_sessions(&env);
    env.run(["ingest", "in", "--namespace", "team"]).ok();
    assert_eq!(env.sessions()[0]["conversation"], "conversation:codex:team:x1");
    env.ingest(&folder);
    let line = env.run(["ingest", "in", "--namespace", "other"]).one_line_error(64);
    assert!(line.contains("team") && line.contains("other"), "{line}");
}

#[test]
fn a_vanished_file_keeps_its_rows_and_comes_back_without_new_ones() {
    let env = TestEnv::new();
    let folder = two_sessions(&env);
    env.ingest(&folder);
    let state = rows::told(&env);
    let path = folder.join("claude.jsonl");
    let aside = env.path("aside.jsonl");
    fs::copy(&path, &aside).unwrap();
    fs::remove_file(&path).unwrap();
    let summary = env.ingest(&folder);
    assert_eq!(summary["missing"], 1);
    assert_eq!(env.sessions().len(), 2);
    assert_eq!(rows::count(&env, "SELECT count(*) FROM source WHERE state = 'missing'"), 1);
    fs::copy(&aside, &path).unwrap();
    env.ingest(&folder);
    rows::assert_same(&rows::told(&env), &state);
}
