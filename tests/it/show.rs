//! `fornax show`: a story in a pipe, a part of it on request, everything as JSON.

use crate::support::TestEnv;
use crate::support::claude::Claude;
use serde_json::{Value, json};

fn stream() -> Vec<u8> {
    let stream = "fixtures/agents/opencode/stream.jsonl";
    std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(stream)).unwrap()
}

fn recorded() -> TestEnv {
    let env = TestEnv::new();
    env.write("in/c1.jsonl", Claude::typical("c1").text());
    env.ingest(&env.path("in"));
    env
}

fn show(env: &TestEnv, args: &[&str]) -> String {
    env.run(["show"].into_iter().chain(args.iter().copied())).ok().stdout
}

#[test]
fn a_session_reads_like_a_story() {
    let env = recorded();
    let told = show(&env, &["c1"]);
    let file = env.path("in/c1.jsonl");
    insta::assert_snapshot!("story", told.replace(file.to_str().unwrap(), "[FILE]"));
}

#[test]
fn durations_exit_codes_files_and_losses_are_told_where_they_are_known() {
    let env = TestEnv::new();
    env.hook("opencode", stream());
    let told = show(&env, &["ses_a1"]);
    for part in [
        "Fix the rounding",
        "open_code 1.2.3",
        "in /home/ada/parser",
        "models acme-large",
        "prompt Please fix the rounding.",
        "bash: cargo test  [exit 101]  (3 s)",
        "edit src/price.rs (+1 -1)",
        "calls: 1 failed, 1 unknown",
        "files changed: 1\n  src/price.rs (+1 -1)",
    ] {
        assert!(told.contains(part), "{part} is not in\n{told}");
    }
    let child = show(&env, &["ses_b2"]);
    assert!(child.contains("started by conversation:open_code:local:ses_a1"), "{child}");
}

#[test]
fn a_part_is_told_with_what_is_left_out() {
    let env = recorded();
    let head = show(&env, &["c1", "--head", "1"]);
    assert!(head.contains("prompt run the tests") && head.contains("later entries"), "{head}");
    assert!(!head.contains("Bash: ls"), "{head}");
    let tail = show(&env, &["c1", "--tail", "1"]);
    assert!(tail.contains("earlier entries (--all tells all"), "{tail}");
    assert!(!tail.contains("run the tests\n") || !tail.contains("Bash: ls"), "{tail}");
    let failed = show(&env, &["c1", "--failed"]);
    assert!(failed.contains("[exit 101]") && failed.contains("All tests pass."), "{failed}");
    assert!(!failed.contains("Bash: ls"), "{failed}");
    let none = show(&env, &["c1", "--since", "2999-01-01"]);
    assert!(!none.contains("Bash:"), "{none}");
    env.run(["show", "c1", "--head", "1", "--tail", "1"]).fails_with(64);
    env.run(["show", "c1", "--since", "soon"]).one_line_error(64);
}

#[test]
fn a_long_answer_is_told_in_lines_and_not_without_end() {
    let env = TestEnv::new();
    let mut session = Claude::new("long");
    session.prompt(&"many words ".repeat(400));
    env.write("in/long.jsonl", session.text());
    env.ingest(&env.path("in"));
    let told = show(&env, &["long"]);
    assert!(told.lines().all(|line| line.chars().count() <= 100), "{told}");
    assert!(told.contains("                [...]"), "{told}");
}

#[test]
fn json_holds_everything_whatever_part_is_asked_for() {
    let env = TestEnv::new();
    env.hook("opencode", stream());
    let all = env.run(["show", "ses_a1", "--json"]).ok().json();
    let part = env.run(["show", "ses_a1", "--json", "--head", "1"]).ok().json();
    assert_eq!(all, part);
    assert_eq!(all["calls"], json!({"failed": 1, "unknown": 1}));
    assert_eq!(all["prompts"], 1);
    assert_eq!(all["title"], "Fix the rounding");
    let files =
        json!([{"path": "/home/ada/parser/src/price.rs", "edits": 1, "added": 1, "removed": 1}]);
    assert_eq!(all["files"], files);
    let events = all["events"].as_array().unwrap();
    let with = |key: &str| events.iter().filter(|e| !e[key].is_null()).count();
    assert_eq!((with("duration_ms"), with("raw")), (1, events.len()));
    assert!(events.iter().all(|e| e["ingress"] == "built_in"));
    let evidence = all["evidence"].as_array().unwrap();
    let extensions: Vec<&Value> =
        evidence.iter().map(|e| &e["extension"]).filter(|e| !e.is_null()).collect();
    assert_eq!(extensions.len(), 1);
    assert_eq!(extensions[0]["provider"], "open_code");
}
