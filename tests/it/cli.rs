//! The command line: usage errors, help, exit codes, stores that cannot be opened, closed pipes.

use crate::support::claude::Claude;
use crate::support::{Ran, TestEnv, is_root, rows};
use serde_json::Value;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Stdio;

/// Every command that people type.
const COMMANDS: [&str; 13] = [
    "hook",
    "ingest",
    "tail",
    "sessions",
    "show",
    "verify",
    "export-spool",
    "read",
    "usage",
    "losses",
    "forget",
    "gc",
    "conformance",
];

/// Commands that read a store and change nothing in it.
const READERS: [&[&str]; 4] =
    [&["sessions"], &["usage"], &["losses"], &["export-spool", "--all", "--out", "spool"]];

/// A home with one session.
fn recorded() -> TestEnv {
    let env = TestEnv::new();
    env.write("in/c1.jsonl", Claude::typical("c1").text());
    env.ingest(&env.path("in"));
    env
}

#[test]
fn a_wrong_command_line_is_64_with_a_message_that_helps() {
    let env = TestEnv::new();
    for (args, helps) in [
        (&[][..], "Usage: fornax"),
        (&["frobnicate"], "unrecognized subcommand 'frobnicate'"),
        (&["sesions"], "a similar subcommand exists: 'sessions'"),
        (&["sessions", "--provder", "codex"], "a similar argument exists: '--provider'"),
        (&["sessions", "--limit", "many"], "invalid value 'many' for '--limit <N>'"),
        (&["tail"], "Usage: fornax tail <FILE>"),
        (&["tail", "a", "--latest"], "cannot be used with"),
        (&["export-spool", "--all"], "--out <DIR>"),
        (&["export-spool", "--out", "x"], "--session"),
        (
            &["export-spool", "--all", "--out", "x", "--wire", "odd"],
            "[possible values: legacy, full]",
        ),
        (&["sessions", "--color", "blue"], "[possible values: auto, always, never]"),
        (&["ingest", "--home"], "a value is required for '--home <DIR>'"),
    ] {
        let answer = env.run(args).fails_with(64);
        assert_eq!(answer.stdout, "", "{args:?}");
        assert!(answer.stderr.contains(helps), "{args:?}: {}", answer.stderr);
    }
    assert!(!env.home().exists(), "a usage error made a home");
}

#[test]
fn help_and_version_are_results() {
    let env = TestEnv::new();
    let version = env.run(["--version"]).ok().stdout;
    assert_eq!(version, format!("fornax {}\n", env!("CARGO_PKG_VERSION")));
    for command in COMMANDS {
        let long = env.run([command, "--help"]).ok().stdout;
        assert!(long.contains(&format!("Usage: fornax {command}")), "{long}");
        env.run([command, "-h"]).ok();
    }
    assert!(!env.home().exists(), "help made a home");
}

#[test]
fn the_help_of_every_command_is_this_text() {
    let env = TestEnv::new();
    let mut out = env.run(["--help"]).ok().stdout;
    for command in COMMANDS {
        out.push_str(&format!("\n--- fornax {command} --help\n\n"));
        out.push_str(&env.run([command, "--help"]).ok().stdout);
    }
    insta::assert_snapshot!("help", out);
}

#[test]
fn the_help_names_every_command_and_every_exit_code() {
    let env = TestEnv::new();
    let help = env.run(["--help"]).ok().stdout;
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command} is not in the help");
    }
    for (code, _) in fornax::cli::exit::TABLE {
        assert!(help.contains(&code.to_string()), "{code} is not in the help");
    }
}

#[test]
fn without_a_store_a_reader_says_what_to_do_and_makes_none() {
    let env = TestEnv::new();
    for args in READERS {
        let line = env.run(args).one_line_error(69);
        assert!(line.contains("fornax ingest"), "{line}");
    }
    assert!(!env.store().exists());
}

#[test]
fn a_newer_store_is_refused_with_its_version_and_not_touched() {
    let env = recorded();
    let conn = rows::open_to_write(&env);
    conn.execute_batch("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE);").unwrap();
    drop(conn);
    let before = fs::read(env.store()).unwrap();
    for args in READERS.into_iter().chain([&["ingest"][..], &["tail", "in/c1.jsonl", "--once"]]) {
        let line = env.run(args).one_line_error(76);
        assert!(line.contains("99"), "{line}");
    }
    assert_eq!(fs::read(env.store()).unwrap(), before);
}

#[test]
fn hooks_wait_in_the_journal_while_the_store_is_newer() {
    let env = recorded();
    let current = rows::count(&env, "SELECT user_version FROM pragma_user_version");
    rows::open_to_write(&env).execute_batch("PRAGMA user_version = 99").unwrap();
    env.hook("claude", crate::support::claude::post_tool_use("c1", "toolu_x", "ls", "a"));
    env.run(["sessions"]).one_line_error(76);
    let back = format!("PRAGMA user_version = {current}");
    rows::open_to_write(&env).execute_batch(&back).unwrap();
    assert_eq!(env.sessions()[0]["events"], 7);
}

#[test]
fn what_is_no_store_of_ours_is_bad_data_and_not_touched() {
    // Prose, another program's database, and a file that only looks like one.
    let env = TestEnv::new();
    fs::create_dir(env.home()).unwrap();
    let theirs = env.path("theirs.db");
    rusqlite::Connection::open(&theirs).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let theirs = fs::read(theirs).unwrap();
    let torn = [&b"SQLite format 3\0"[..], &[7; 5_000]].concat();
    for bytes in [b"only prose ".repeat(500), theirs, torn] {
        fs::write(env.store(), &bytes).unwrap();
        for args in [&["sessions"][..], &["ingest"]] {
            let line = env.run(args).one_line_error(65);
            assert!(line.contains("store"), "{line}");
        }
        assert!(fs::read(env.store()).unwrap() == bytes, "it was written to");
    }
}

#[test]
fn a_store_behind_a_link_is_refused_and_a_home_behind_one_is_not() {
    let env = recorded();
    let aside = env.path("aside.db");
    fs::rename(env.store(), &aside).unwrap();
    symlink(&aside, env.store()).unwrap();
    env.run(["sessions"]).one_line_error(65);

    let env = recorded();
    let link = env.path("link");
    symlink(env.home(), &link).unwrap();
    let answer = env.run(["sessions", "--json", "--home", "link"]).ok().json();
    assert_eq!(answer["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_home_that_is_a_file_is_an_input_output_error() {
    let env = TestEnv::new();
    fs::write(env.home(), "in the way").unwrap();
    let line = env.run(["ingest"]).one_line_error(74);
    assert!(line.contains("fornax"), "{line}");
    assert_eq!(fs::read_to_string(env.home()).unwrap(), "in the way");
}

#[test]
fn a_home_that_cannot_be_written_is_an_input_output_error() {
    if is_root() {
        // Permissions stop root nowhere.
        return;
    }
    let env = TestEnv::new();
    fs::create_dir(env.home()).unwrap();
    fs::set_permissions(env.home(), fs::Permissions::from_mode(0o500)).unwrap();
    env.run(["ingest"]).one_line_error(74);
    fs::set_permissions(env.home(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn the_home_is_the_flag_then_the_variable_then_the_default() {
    let env = TestEnv::new();
    env.run(["ingest", "--home", "named"]).ok();
    assert!(env.path("named/store.db").exists() && !env.home().exists());
    env.run(["ingest"]).ok();
    assert!(env.store().exists());
    let mut command = env.command();
    command.arg("ingest").env_remove("FORNAX_HOME");
    Ran::of(command, b"").ok();
    assert!(env.user_home().join(".fornax/store.db").exists());
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let env = TestEnv::new();
    for nth in 0..400 {
        env.write(&format!("in/c{nth}.jsonl"), Claude::typical(&format!("c{nth}")).text());
    }
    env.ingest(&env.path("in"));
    for args in [&["sessions", "--limit", "400"][..], &["sessions", "--json"], &["--help"]] {
        // The pipe is closed before anything is written to it.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = env.command();
        command.args(args).stdout(writer).stderr(Stdio::piped()).stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}: {stderr}");
        assert_eq!(stderr, "", "{args:?}");
    }
    // The first line is taken, then the reader leaves.
    let mut command = env.command();
    command.args(["sessions", "--limit", "400"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut some = [0; 64];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn closed_streams_are_no_crash() {
    let env = recorded();
    for command in ["sessions", "--help", "frobnicate", "losses"] {
        let mut shell = std::process::Command::new("/bin/sh");
        shell
            .env_clear()
            .env("FORNAX_HOME", env.home())
            .args(["-c", "exec \"$0\" \"$1\" <&- >&- 2>&-"])
            .args([env!("CARGO_BIN_EXE_fornax"), command]);
        let code = shell.status().unwrap().code().unwrap();
        assert!([0, 64].contains(&code), "{command}: {code}");
    }
}

#[test]
fn a_full_disk_under_stdout_is_an_input_output_error() {
    let env = recorded();
    let mut command = env.command();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    command.args(["sessions", "--json"]).stdout(full).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(74), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn colour_is_for_those_who_want_it() {
    let env = recorded();
    let plain = env.run(["sessions"]).ok().stdout;
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    // NO_COLOR is set in this environment; asking for colour by name is stronger.
    let asked = env.run(["sessions", "--color", "always"]).ok().stdout;
    assert!(asked.contains('\u{1b}'), "{asked:?}");
    let never = env.run(["sessions", "--color", "never"]).ok().stdout;
    assert_eq!(never, plain);
    let mut command = env.command();
    command.args(["sessions"]).env_remove("NO_COLOR").env("TERM", "xterm-256color");
    let piped = Ran::of(command, b"").ok().stdout;
    assert_eq!(piped, plain, "a pipe is no terminal");
}

#[test]
fn what_an_agent_wrote_cannot_steer_the_terminal() {
    let env = TestEnv::new();
    let mut session = Claude::new("c1");
    session.prompt("\u{1b}[2J\u{1b}]0;title\u{7} hidden \u{202e}txet");
    session.bash("echo \u{1b}[31mred", Ok("x"));
    session.line(r#"{"type":"\u001b[2Jtag","sessionId":"c1"}"#);
    env.write("in/c1.jsonl", session.text());
    for args in [
        &["tail", "in/c1.jsonl", "--once"][..],
        &["ingest", "in", "--deep"],
        &["sessions"],
        &["losses"],
    ] {
        let said = env.run(args).ok().stdout;
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!said.contains(bad), "{args:?}: {said:?}");
    }
}

#[test]
fn sessions_can_be_narrowed() {
    let env = recorded();
    env.write("in/r.jsonl", crate::support::codex::Codex::typical("x1").text());
    env.ingest(&env.path("in"));
    let of = |args: &[&str]| -> Vec<Value> {
        let args = ["sessions", "--json"].iter().chain(args);
        let answer = env.run(args).ok().json();
        answer["sessions"].as_array().unwrap().iter().map(|s| s["native_id"].clone()).collect()
    };
    assert_eq!(of(&[]), ["x1", "c1"]);
    assert_eq!(of(&["--provider", "claude_code"]), ["c1"]);
    assert_eq!(of(&["--limit", "1"]), ["x1"]);
    assert_eq!(of(&["--cwd", "/home/dev"]), ["x1", "c1"]);
    assert_eq!(of(&["--cwd", "/home/de"]), Vec::<Value>::new());
    let text = env.run(["sessions", "-n", "1"]).ok().stdout;
    assert!(text.contains("... 1 more"), "{text}");
}

#[test]
fn losses_of_one_session_are_only_its_own() {
    let env = recorded();
    env.write("in/foreign.jsonl", "{\"other\":1}\n");
    env.hook("claude", crate::support::claude::post_tool_use("h1", "t", "x", &"y ".repeat(40_000)));
    env.ingest(&env.path("in"));
    let of = |args: &[&str]| -> Vec<Value> {
        let args = ["losses", "--json"].iter().chain(args);
        let answer = env.run(args).ok().json();
        answer["losses"].as_array().unwrap().iter().map(|l| l["reason"].clone()).collect()
    };
    assert!(of(&[]).contains(&Value::from("source_not_recognised")));
    let own = of(&["h1"]);
    assert!(!own.is_empty() && own.iter().all(|reason| reason == "text_cut"), "{own:?}");
    assert_eq!(of(&["c1"]), Vec::<Value>::new());
    assert_eq!(env.run(["losses", "c1"]).ok().stdout, "nothing was lost\n");
}

#[test]
fn a_store_that_several_processes_make_at_once_serves_them_all() {
    for _ in 0..6 {
        let env = TestEnv::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| env.run(["ingest"]).ok());
            }
        });
        assert_eq!(env.sessions(), Vec::<Value>::new());
    }
}

#[test]
fn two_ingests_at_once_end_with_the_rows_of_one() {
    let [twice, once] = [TestEnv::new(), TestEnv::new()];
    for env in [&twice, &once] {
        for nth in 0..20 {
            env.write(&format!("in/c{nth}.jsonl"), Claude::typical(&format!("c{nth}")).text());
        }
    }
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| twice.run(["ingest", "in"]).ok());
        }
    });
    twice.ingest(&twice.path("in"));
    once.ingest(&once.path("in"));
    let without_counts = |env: &TestEnv| -> Vec<String> {
        // Ignored lines of a file read at once by two are counted by both.
        rows::told_anywhere(env).into_iter().filter(|r| !r.starts_with("source:")).collect()
    };
    rows::assert_same(&without_counts(&twice), &without_counts(&once));
}

#[test]
fn a_locked_store_is_try_again() {
    let env = recorded();
    let conn = rows::open_to_write(&env);
    conn.execute_batch("BEGIN EXCLUSIVE").unwrap();
    env.write("in/c2.jsonl", Claude::typical("c2").text());
    let line = env.run(["ingest", "in"]).one_line_error(75);
    assert!(
        line.contains("try again") || line.contains("busy") || line.contains("locked"),
        "{line}"
    );
    conn.execute_batch("ROLLBACK").unwrap();
    env.ingest(&env.path("in"));
    assert_eq!(env.sessions().len(), 2);
}
