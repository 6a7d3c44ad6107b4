//! `fornax sessions`: what is listed, in which order, through which filter.

use crate::support::claude::{self, Claude};
use crate::support::{TestEnv, rows};
use serde_json::{Value, json};

/// Two sessions of one agent in two folders, one with a failure, and a stream of another agent
/// with a child.
fn recorded() -> TestEnv {
    let env = TestEnv::new();
    let mut quiet = Claude::new("quiet-1");
    quiet.prompt("describe the Pricing module");
    quiet.answer("It rounds.");
    env.write("in/quiet-1.jsonl", quiet.text());
    env.write("in/loud-1.jsonl", Claude::typical("loud-1").text());
    env.ingest(&env.path("in"));
    let stream = "fixtures/agents/opencode/stream.jsonl";
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(stream);
    env.hook("opencode", std::fs::read(file).unwrap());
    env
}

fn listed(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let args = ["sessions", "--json"].into_iter().chain(args.iter().copied());
    let answer = env.run(args).ok().json();
    let sessions = answer["sessions"].as_array().unwrap();
    sessions.iter().map(|s| s["native_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_filter_lets_through_what_it_says_and_they_add_up() {
    let env = recorded();
    assert_eq!(listed(&env, &[]).len(), 4);
    assert_eq!(listed(&env, &["--provider", "open_code"]), ["ses_a1", "ses_b2"]);
    assert_eq!(listed(&env, &["--cwd", "/home/ada"]), ["ses_a1", "ses_b2"]);
    let failed = listed(&env, &["--failed"]);
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert!(failed.contains(&"loud-1".to_owned()) && failed.contains(&"ses_a1".to_owned()));
    assert_eq!(listed(&env, &["--failed", "--provider", "claude_code"]), ["loud-1"]);
    assert_eq!(listed(&env, &["--text", "pricing DESCRIBE"]), ["quiet-1"]);
    assert_eq!(listed(&env, &["--text", "rounding"]), ["ses_a1"], "title or prompt");
    assert_eq!(listed(&env, &["--text", "pricing nowhere"]), Vec::<String>::new());
    assert_eq!(listed(&env, &["--text", "100%"]), Vec::<String>::new());
}

#[test]
fn since_takes_times_as_people_type_them() {
    let env = TestEnv::new();
    env.write("in/old.jsonl", Claude::typical("old").text());
    env.ingest(&env.path("in"));
    env.hook("claude", claude::payload("new", "Stop", json!({"prompt_id": "p"})));
    assert_eq!(listed(&env, &["--since", "1h"]), ["new"]);
    assert_eq!(listed(&env, &["--since", "2001-01-01"]), ["new", "old"]);
    assert_eq!(listed(&env, &["--since", "2999-01-01T00:00:00Z"]), Vec::<String>::new());
    let error = env.run(["sessions", "--since", "soon"]).one_line_error(64);
    assert!(error.contains("'soon' is no time"), "{error}");
}

#[test]
fn a_tree_puts_a_child_below_its_parent_also_as_json() {
    let env = recorded();
    let answer = env.run(["sessions", "--tree", "--json"]).ok().json();
    let told: Vec<(Value, Value)> = answer["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["native_id"].clone(), s["depth"].clone()))
        .collect();
    let at = told.iter().position(|(id, _)| id == "ses_a1").unwrap();
    assert_eq!(told[at], (json!("ses_a1"), json!(0)));
    assert_eq!(told[at + 1], (json!("ses_b2"), json!(1)));
    let text = env.run(["sessions", "--tree"]).ok().stdout;
    assert!(text.contains("\n+ ses_b2"), "{text}");
}

#[test]
fn a_row_tells_its_span_its_prompts_and_what_it_is_about() {
    let env = recorded();
    let sessions = env.sessions();
    let of = |id: &str| sessions.iter().find(|s| s["native_id"] == id).unwrap().clone();
    let loud = of("loud-1");
    assert_eq!((&loud["prompts"], &loud["first_prompt"]), (&json!(1), &json!("run the tests")));
    let micros = "SELECT last_us - first_us FROM conversation WHERE native_id = 'loud-1'";
    assert_eq!(loud["span_ms"], rows::count(&env, micros) / 1_000);
    assert_eq!(of("ses_a1")["title"], "Fix the rounding");
    let text = env.run(["sessions"]).ok().stdout;
    assert!(text.contains("run the tests") && text.contains("Fix the rounding"), "{text}");
    assert!(!text.contains("ended"), "{text}");
}

#[test]
fn in_a_pipe_nothing_is_cut_to_a_width() {
    let env = TestEnv::new();
    let folder = format!("/home/dev/{}", "long".repeat(40));
    let hook = json!({"prompt_id": "p", "cwd": folder});
    env.hook("claude", claude::payload("a-very-long-native-id-0001", "Stop", hook));
    let text = env.run(["sessions"]).ok().stdout;
    assert!(text.contains(&folder) && text.contains("a-very-long-native-id-0001"), "{text}");
}

#[test]
fn a_filter_that_nothing_passes_is_no_empty_home() {
    let env = recorded();
    let text = env.run(["sessions", "--provider", "nobody"]).ok().stdout;
    assert!(text.contains("no session passes this filter"), "{text}");
}
