//! `fornax hook`: silent and 0 whatever it is fed, in time, and honest about what was lost.
//!
//! Each test drives the real process and then asks the store what became of the payload.

use crate::support::claude::{self, Claude};
use crate::support::{Child, Ran, TestEnv, codex, is_root, rows};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The deadline of a hook is 400 ms; a loaded machine adds to it, an unbounded wait much more.
const IN_TIME: Duration = Duration::from_secs(2);

fn only_session(env: &TestEnv) -> Value {
    let sessions = env.sessions();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    sessions[0].clone()
}

#[test]
fn a_valid_payload_of_each_agent_is_recorded_under_its_conversation() {
    let env = TestEnv::new();
    env.hook("claude", claude::post_tool_use("s-claude", "toolu_1", "ls", "src\n"));
    let more = json!({"tool_name": "Bash", "tool_input": {"command": "ls"},
        "tool_response": "src\n", "tool_use_id": "call_1"});
    env.hook("codex", codex::payload("t-codex", "PostToolUse", more));
    let mut sessions = env.sessions();
    sessions.sort_by_key(|s| s["provider"].to_string());
    let told: Vec<_> = sessions
        .iter()
        .map(|s| (s["provider"].clone(), s["native_id"].clone(), s["events"].clone()))
        .collect();
    let expected = [
        (json!("claude_code"), json!("s-claude"), json!(1)),
        (json!("codex"), json!("t-codex"), json!(1)),
    ];
    assert_eq!(told, expected);
    assert_eq!(env.losses(), Vec::<Value>::new());
}

#[test]
fn every_documented_event_of_claude_is_taken_without_a_loss() {
    let env = TestEnv::new();
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agents/claude_code/hooks.jsonl");
    let text = fs::read_to_string(file).unwrap();
    for payload in text.lines() {
        env.hook("claude", payload);
    }
    let sessions = env.sessions();
    assert!(sessions.iter().any(|s| s["native_id"] == "s1"), "{sessions:?}");
    let lost: Vec<Value> =
        env.losses().into_iter().filter(|l| l["reason"] != "unrecognized").collect();
    assert_eq!(lost, Vec::<Value>::new());
}

#[test]
fn what_is_no_payload_is_a_counted_loss_and_never_more() {
    let deep = format!("{}1{}", "[".repeat(3_000), "]".repeat(3_000));
    let cases: [(&str, &[u8], &str); 7] = [
        ("prose", b"not json at all\n", "hook_payload_invalid"),
        ("torn", b"{\"hook_event_name\":\"Stop\",\"session_id\":\"s", "hook_payload_invalid"),
        ("binary", b"\xff\xfe\x00\x01\x80", "hook_payload_invalid"),
        ("invalid UTF-8 inside", b"{\"hook_event_name\":\"St\xffop\"}", "hook_payload_invalid"),
        ("a bare array", deep.as_bytes(), "unrecognized"),
        ("an object without a name", b"{}", "unrecognized"),
        (
            "an event of the future",
            b"{\"hook_event_name\":\"Zap\",\"session_id\":\"s\"}",
            "unrecognized",
        ),
    ];
    for (what, payload, reason) in cases {
        let env = TestEnv::new();
        env.hook("claude", payload);
        assert_eq!(env.lost(reason), 1, "{what}: {:?}", env.losses());
        assert_eq!(env.losses().len(), 1, "{what}: {:?}", env.losses());
        assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), 0, "{what}");
    }
}

#[test]
fn nothing_on_stdin_is_nothing_that_happened() {
    let env = TestEnv::new();
    env.hook("claude", "");
    let mut command = env.command();
    command.args(["hook", "claude"]).stdin(Stdio::null());
    let mut child = command.spawn().unwrap();
    assert!(child.wait().unwrap().success());
    assert!(!env.journal().exists());
    env.run(["sessions"]).one_line_error(69);
}

#[test]
fn a_closed_descriptor_is_no_failure() {
    let env = TestEnv::new();
    let mut command = std::process::Command::new("/bin/sh");
    command.env_clear().env("FORNAX_HOME", env.home()).args([
        "-c",
        "exec \"$0\" hook claude <&- >&- 2>&-",
        env!("CARGO_BIN_EXE_fornax"),
    ]);
    Ran::of(command, b"").silent();
}

#[test]
fn nesting_beyond_the_parser_costs_the_depth_and_not_the_event() {
    let env = TestEnv::new();
    let deep = format!("{}1{}", "[".repeat(3_000), "]".repeat(3_000));
    let payload = format!(
        r#"{{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"t1","tool_name":"X","tool_input":{{"a":{deep},"command":"ls"}}}}"#
    );
    env.hook("claude", payload);
    assert_eq!(only_session(&env)["events"], 1);
    let input = rows::texts(&env, "SELECT tool_input FROM sighting");
    assert!(input[0].contains("\"command\":\"ls\""), "{input:?}");
}

#[test]
fn a_repeated_key_is_no_failure() {
    let env = TestEnv::new();
    env.hook(
        "claude",
        r#"{"hook_event_name":"Stop","session_id":"a","session_id":"b","prompt_id":"p"}"#,
    );
    assert_eq!(only_session(&env)["events"], 1);
}

#[test]
fn a_payload_of_twenty_megabytes_is_an_event_with_its_cut_counted_or_a_counted_loss() {
    let env = TestEnv::new();
    let output = "x ".repeat(10_000_000);
    let start = Instant::now();
    env.hook("claude", claude::post_tool_use("s", "toolu_1", "cat big", &output));
    assert!(start.elapsed() < IN_TIME, "{:?}", start.elapsed());
    // An unoptimised build may not come through it in time.
    if env.lost("hook_deadline") == 1 {
        // The loss belongs to the session, when the name of it came through.
        assert!(env.sessions().iter().all(|s| s["events"] == 0 && s["losses"] == 1));
    } else {
        assert_eq!(only_session(&env)["events"], 1);
        assert_eq!(rows::texts(&env, "SELECT call_id FROM sighting"), ["toolu_1"]);
        assert_eq!(rows::texts(&env, "SELECT outcome FROM event"), ["ok"]);
        let cut = env.lost("text_cut");
        assert!((19_900_000..20_000_001).contains(&cut), "{cut}");
    }
    let kept: u64 = TestEnv::files_below(&env.home()).iter().map(|f| f.1.len() as u64).sum();
    assert!(kept < 1_000_000, "{kept} bytes are kept of it");
}

#[test]
fn a_big_write_keeps_ids_and_outcome_and_counts_the_cut() {
    let env = TestEnv::new();
    let content = "line of a file\n".repeat(200 * 1024 / 15);
    let more = json!({
        "prompt_id": "p", "tool_name": "Write", "tool_use_id": "toolu_w",
        "tool_input": {"file_path": "/w/big.txt", "content": content},
        "tool_response": {"type": "create", "filePath": "/w/big.txt", "content": content,
            "structuredPatch": []},
    });
    env.hook("claude", claude::payload("s", "PostToolUse", more));
    assert_eq!(only_session(&env)["events"], 1);
    assert_eq!(rows::texts(&env, "SELECT call_id FROM sighting"), ["toolu_w"]);
    assert_eq!(rows::texts(&env, "SELECT outcome FROM event"), ["ok"]);
    assert!(env.lost("text_cut") > 150 * 1024, "{:?}", env.losses());
    let input = rows::texts(&env, "SELECT tool_input FROM sighting");
    assert!(input[0].contains("/w/big.txt"), "the path went with the content");
}

#[test]
fn an_agent_that_cannot_be_told_is_a_loss_and_bad_flags_are_passed_over() {
    let payload = claude::payload("s", "Stop", json!({"prompt_id": "p"}));
    for args in [&["hook"][..], &["hook", "nobody"], &["hook", "--agent", "claude-next"]] {
        let env = TestEnv::new();
        let mut command = env.command();
        command.args(args);
        Ran::of(command, payload.as_bytes()).silent();
        assert_eq!(env.lost("provider_unknown"), 1, "{args:?}: {:?}", env.losses());
    }
    for args in [
        &["hook", "claude", "--no-such-flag"][..],
        &["hook", "--json", "claude"],
        &["hook", "--fsync", "claude"],
        &["hook", "claude", "--home"],
    ] {
        let env = TestEnv::new();
        let mut command = env.command();
        command.args(args);
        Ran::of(command, payload.as_bytes()).silent();
        assert_eq!(only_session(&env)["events"], 1, "{args:?}");
    }
}

#[test]
fn a_payload_in_an_argument_is_taken() {
    let env = TestEnv::new();
    let notice = json!({"type": "agent-turn-complete", "thread-id": "t1", "turn-id": "u1",
        "cwd": "/w", "last-assistant-message": "done"});
    env.run(["hook", "codex", &notice.to_string()]).silent();
    assert_eq!(only_session(&env)["native_id"], "t1");
}

#[test]
fn a_complete_payload_is_recorded_without_waiting_for_the_end_of_stdin() {
    let env = TestEnv::new();
    let mut command = env.command();
    command.args(["hook", "claude"]);
    let mut child = Child::start(command);
    let mut stdin = child.0.stdin.take().unwrap();
    let start = Instant::now();
    stdin.write_all(claude::payload("s", "Stop", json!({"prompt_id": "p"})).as_bytes()).unwrap();
    assert_eq!(child.ends_within(IN_TIME), Some(0));
    let took = start.elapsed();
    assert!(took < Duration::from_millis(290), "it waited for its own deadline: {took:?}");
    drop(stdin);
    assert_eq!(only_session(&env)["events"], 1);
}

#[test]
fn half_a_payload_and_an_open_pipe_end_at_the_deadline_with_a_counted_loss() {
    let env = TestEnv::new();
    let mut command = env.command();
    command.args(["hook", "claude"]);
    let mut child = Child::start(command);
    let mut stdin = child.0.stdin.take().unwrap();
    stdin.write_all(b"{\"hook_event_name\":\"Stop\",\"session_id\":").unwrap();
    assert_eq!(child.ends_within(IN_TIME), Some(0));
    drop(stdin);
    assert_eq!(env.lost("hook_deadline"), 1, "{:?}", env.losses());
}

#[test]
fn an_open_pipe_that_says_nothing_ends_at_the_deadline() {
    let env = TestEnv::new();
    let mut command = env.command();
    command.args(["hook", "claude"]);
    let mut child = Child::start(command);
    assert_eq!(child.ends_within(IN_TIME), Some(0));
    assert_eq!(env.lost("hook_deadline"), 1, "{:?}", env.losses());
}

#[test]
fn a_slow_writer_is_waited_for_within_the_deadline() {
    let env = TestEnv::new();
    let mut command = env.command();
    command.args(["hook", "claude"]);
    let mut child = Child::start(command);
    let mut stdin = child.0.stdin.take().unwrap();
    let payload = claude::payload("s", "Stop", json!({"prompt_id": "p"}));
    let (head, tail) = payload.split_at(40);
    stdin.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(60));
    stdin.write_all(tail.as_bytes()).unwrap();
    assert_eq!(child.ends_within(IN_TIME), Some(0));
    assert_eq!(only_session(&env)["events"], 1);
}

#[test]
fn hooks_never_open_the_store_and_what_they_make_is_private() {
    let env = TestEnv::new();
    for nth in 0..3 {
        env.hook("claude", claude::post_tool_use("s", &format!("toolu_{nth}"), "ls", "a\n"));
    }
    assert!(!env.store().exists());
    assert_private(&env.home());
    assert_eq!(only_session(&env)["events"], 3);
    assert_private(&env.home());
}

/// Folders 0700, files 0600, all the way down.
fn assert_private(folder: &Path) {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder), 0o700, "{}", folder.display());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_private(&path);
        } else {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
}

#[test]
fn a_store_that_is_damaged_or_newer_does_not_touch_the_hook() {
    for content in ["no database", ""] {
        let env = TestEnv::new();
        fs::create_dir(env.home()).unwrap();
        fs::write(env.store(), content.repeat(500)).unwrap();
        env.hook("claude", claude::payload("s", "Stop", json!({"prompt_id": "p"})));
        assert_eq!(fs::read(env.store()).unwrap(), content.repeat(500).into_bytes());
        assert!(fs::metadata(env.journal().join("current.fxj")).unwrap().len() > 100);
    }
}

#[test]
fn where_the_home_is_a_file_the_runtime_folder_keeps_the_event_for_later() {
    let env = TestEnv::new();
    fs::write(env.home(), "in the way").unwrap();
    env.hook("claude", claude::payload("s", "Stop", json!({"prompt_id": "p"})));
    assert_eq!(fs::read_to_string(env.home()).unwrap(), "in the way");
    let kept = TestEnv::files_below(&env.runtime());
    assert_eq!(kept.len(), 1, "{kept:?}");
    let mode = fs::metadata(&kept[0].0).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    fs::remove_file(env.home()).unwrap();
    env.run(["ingest"]).ok();
    assert_eq!(only_session(&env)["events"], 1);
    assert_eq!(TestEnv::files_below(&env.runtime()), []);
}

#[test]
fn where_nothing_can_be_written_the_hook_is_silent_all_the_same() {
    let env = TestEnv::new();
    fs::write(env.home(), "in the way").unwrap();
    let mut command = env.command();
    command.args(["hook", "claude"]).env("XDG_RUNTIME_DIR", env.path("not there"));
    Ran::of(command, claude::payload("s", "Stop", json!({})).as_bytes()).silent();
    let mut command = env.command();
    command.args(["hook", "claude"]).env_remove("XDG_RUNTIME_DIR");
    Ran::of(command, claude::payload("s", "Stop", json!({})).as_bytes()).silent();
}

#[test]
fn without_any_home_the_hook_is_silent() {
    if is_root() {
        // Root may write everywhere, so nothing would stand in the way.
        return;
    }
    let mut command = TestEnv::new().command();
    command.args(["hook", "claude"]).env_remove("HOME").env_remove("FORNAX_HOME");
    command.env_remove("XDG_RUNTIME_DIR").current_dir("/");
    Ran::of(command, claude::payload("s", "Stop", json!({})).as_bytes()).silent();
}

#[test]
fn a_home_that_cannot_be_written_leaves_the_event_in_the_runtime_folder() {
    if is_root() {
        // Permissions stop root nowhere.
        return;
    }
    let env = TestEnv::new();
    fs::create_dir(env.home()).unwrap();
    fs::set_permissions(env.home(), fs::Permissions::from_mode(0o500)).unwrap();
    env.hook("claude", claude::payload("s", "Stop", json!({"prompt_id": "p"})));
    assert_eq!(TestEnv::files_below(&env.runtime()).len(), 1);
    fs::set_permissions(env.home(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn nothing_is_written_through_a_link_and_the_event_is_kept_elsewhere() {
    let payload = claude::payload("s", "Stop", json!({"prompt_id": "p"}));
    // The segment itself is a link.
    let env = TestEnv::new();
    let precious = env.write("precious", "mine");
    fs::create_dir_all(env.journal()).unwrap();
    symlink(&precious, env.journal().join("current.fxj")).unwrap();
    env.hook("claude", &payload);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
    assert_eq!(only_session(&env)["events"], 1);
    // The folder is one.
    let env = TestEnv::new();
    let elsewhere = env.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::create_dir(env.home()).unwrap();
    symlink(&elsewhere, env.journal()).unwrap();
    env.hook("claude", &payload);
    assert_eq!(TestEnv::files_below(&elsewhere), []);
    assert_eq!(TestEnv::files_below(&env.runtime()).len(), 1);
}

#[test]
fn two_equal_payloads_without_ids_are_one_event_and_two_different_ones_are_two() {
    let env = TestEnv::new();
    let payload = |text: &str| claude::payload("s", "Notification", json!({"message": text}));
    env.hook("claude", payload("waiting"));
    env.hook("claude", payload("waiting"));
    assert_eq!(only_session(&env)["events"], 1);
    assert_eq!(rows::count(&env, "SELECT count(*) FROM sighting"), 2);
    assert_eq!(rows::count(&env, "SELECT sum(heuristic) FROM event"), 1);
    // Drained apart they meet as well: the window is that of receipt.
    env.hook("claude", payload("waiting"));
    assert_eq!(only_session(&env)["events"], 1);
    env.hook("claude", payload("done"));
    assert_eq!(only_session(&env)["events"], 2);
}

#[test]
fn equal_payloads_far_apart_are_two_events() {
    let env = TestEnv::new();
    let payload = claude::payload("s", "Notification", json!({"message": "waiting"}));
    env.hook("claude", &payload);
    std::thread::sleep(Duration::from_millis(2_100));
    env.hook("claude", &payload);
    assert_eq!(only_session(&env)["events"], 2);
}

#[test]
fn many_hooks_at_once_lose_nothing() {
    let env = TestEnv::new();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let env = &env;
            scope.spawn(move || {
                for nth in 0..12 {
                    let call = format!("toolu_{worker}_{nth}");
                    env.hook("claude", claude::post_tool_use("s", &call, "ls", "a\n"));
                    if nth % 4 == 3 {
                        // Draining goes on meanwhile.
                        env.run(["sessions", "--json"]).fails_with(0).json();
                    }
                }
            });
        }
    });
    assert_eq!(only_session(&env)["events"], 48);
    assert_eq!(env.losses(), Vec::<Value>::new());
}

#[test]
fn a_torn_frame_is_counted_and_costs_only_itself() {
    let env = TestEnv::new();
    let current = env.journal().join("current.fxj");
    for call in ["toolu_1", "toolu_2"] {
        env.hook("claude", claude::post_tool_use("s", call, "ls", "a\n"));
        if call == "toolu_1" {
            let mut bytes = fs::read(&current).unwrap();
            bytes.truncate(bytes.len() - 9);
            fs::write(&current, bytes).unwrap();
        }
    }
    let ran = env.run(["losses", "--json"]).fails_with(0);
    assert!(ran.stderr.contains("1 damaged journal frames"), "{}", ran.stderr);
    assert_eq!(env.lost("frame_torn"), 1);
    assert_eq!(rows::texts(&env, "SELECT call_id FROM sighting"), ["toolu_2"]);
}

#[test]
fn each_torn_frame_counts_also_when_two_segments_are_torn_alike() {
    let env = TestEnv::new();
    for _ in 0..2 {
        fs::create_dir_all(env.journal()).unwrap();
        fs::write(env.journal().join("current.fxj"), "\nfxj1 900 0011223344556677 {\"torn")
            .unwrap();
        env.run(["ingest", "--json"]).fails_with(0);
    }
    assert_eq!(env.lost("frame_torn"), 2, "{:?}", env.losses());
}

#[test]
fn a_drained_journal_leaves_nothing_and_a_second_command_adds_nothing() {
    let env = TestEnv::new();
    env.hook("claude", claude::post_tool_use("s", "toolu_1", "ls", "a\n"));
    let first = env.sessions();
    let state = rows::raw(&env);
    assert_eq!(env.sessions(), first);
    rows::assert_same(&rows::raw(&env), &state);
    let left: Vec<_> = TestEnv::files_below(&env.journal())
        .into_iter()
        .filter(|(path, _)| path.extension().is_some_and(|e| e == "fxj"))
        .collect();
    assert_eq!(left, []);
}

#[test]
fn what_the_hook_says_of_a_failed_call_is_its_exit_code_and_nothing_else() {
    let env = TestEnv::new();
    let session = Claude::typical("s");
    let call = session.call_id(2);
    env.hook("claude", claude::post_tool_use_failure("s", &call, "cargo test", 101));
    let only = only_session(&env);
    assert_eq!(only["failed_calls"], 1, "{only}");
    let codes = rows::texts(&env, "SELECT payload FROM evidence WHERE kind = 'exit_code'");
    assert_eq!(codes.len(), 1);
    assert!(codes[0].contains("101"), "{codes:?}");
}
