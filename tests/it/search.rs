//! `fornax search`: what is found, where it says it was, and what leaves the index again.

use crate::support::claude::{self, Claude};
use crate::support::{Ran, TestEnv, rows};
use serde_json::{Value, json};
use std::fs;

fn recorded() -> TestEnv {
    let env = TestEnv::new();
    let mut session = Claude::new("s-find");
    session.prompt("Please fix the rounding of prices in src/price_table.rs");
    session.bash("cargo test --package pricing", Ok("test rounds_half_up ... ok\n\u{e9}t\u{e9}"));
    session.bash("cat notes.txt", Err((1, "cat: notes.txt: No such file")));
    session.answer("The rounding is fixed.");
    env.write("in/find.jsonl", session.text());
    env.ingest(&env.path("in"));
    env
}

fn results(env: &TestEnv, args: &[&str]) -> Vec<Value> {
    let told = Ran::of(command(env, args), b"").ok().json();
    told["results"].as_array().unwrap().clone()
}

fn command(env: &TestEnv, args: &[&str]) -> std::process::Command {
    let mut command = env.command();
    command.args(["search", "--json"]).args(args);
    command
}

fn finds_nothing(env: &TestEnv, args: &[&str]) {
    let answer = Ran::of(command(env, args), b"").fails_with(1);
    assert_eq!(serde_json::from_str::<Value>(&answer.stdout).unwrap()["results"], json!([]));
}

#[test]
fn prompts_answers_commands_paths_and_results_are_found_latest_first() {
    let env = recorded();
    let found = results(&env, &["rounding"]);
    let kinds: Vec<&str> = found.iter().map(|r| r["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["assistant_message", "user_prompt_submit"]);
    assert_eq!(results(&env, &["pricing"])[0]["field"], "input");
    assert_eq!(results(&env, &["price_table"])[0]["kind"], "user_prompt_submit");
    assert_eq!(results(&env, &["rounds_half_up"])[0]["field"], "result");
    assert_eq!(results(&env, &["such", "file"]).len(), 1);
    assert_eq!(results(&env, &["ROUNDING", "prices"]).len(), 1);
    assert_eq!(results(&env, &["ete"]).len(), 1, "accents do not matter");
    finds_nothing(&env, &["rounding", "nowhere"]);
}

#[test]
fn a_phrase_a_beginning_and_a_place_narrow_a_search() {
    let env = recorded();
    assert_eq!(results(&env, &["cargo test"]).len(), 1);
    finds_nothing(&env, &["test cargo"]);
    assert_eq!(results(&env, &["round*", "--in", "results"]).len(), 1);
    finds_nothing(&env, &["roundi", "--in", "prompts"]);
    assert_eq!(results(&env, &["rounding", "--in", "prompts"]).len(), 1);
    assert_eq!(results(&env, &["rounding", "--in", "answers"]).len(), 1);
    assert_eq!(results(&env, &["package", "--in", "commands"]).len(), 1);
    finds_nothing(&env, &["rounding", "--provider", "codex"]);
    finds_nothing(&env, &["rounding", "--until", "2020-01-01"]);
    assert_eq!(results(&env, &["rounding", "--session", "s-find", "-n", "1"]).len(), 1);
}

#[test]
fn nothing_that_is_typed_is_syntax() {
    let env = recorded();
    for odd in ["\"", "a\"b", "NEAR(a b)", "said:x", "{", "(", "a OR b", "-x", "^rounding", "a:*"] {
        let ran = Ran::of(command(&env, &["--", odd]), b"");
        let answer = match odd {
            "\"" | "{" | "(" => ran.fails_with(64),
            "^rounding" => ran.fails_with(0),
            _ => ran.fails_with(1),
        };
        assert!(!answer.stderr.contains("syntax"), "{odd}: {}", answer.stderr);
    }
    env.run(["search"]).one_line_error(64);
}

#[test]
fn an_excerpt_is_read_back_and_one_that_cannot_be_is_the_stored_text_and_says_so() {
    let env = recorded();
    let first = &results(&env, &["rounding", "--in", "prompts"])[0];
    assert!(first["excerpt"].as_str().unwrap().contains("the rounding of prices"));
    assert_eq!(first["unavailable"], Value::Null);
    assert!(first["seen"]["locator"].as_str().unwrap().starts_with("locator:"));
    let text = env.run(["search", "rounding", "--in", "prompts"]).ok().stdout;
    assert_eq!(text.lines().count(), 3, "{text}");
    fs::remove_file(env.path("in/find.jsonl")).unwrap();
    let gone = &results(&env, &["rounding", "--in", "prompts"])[0];
    assert_eq!(gone["excerpt"], first["excerpt"]);
    assert_eq!(gone["unavailable"], "source_missing");
}

#[test]
fn what_a_source_no_longer_says_is_not_found_any_more() {
    let env = recorded();
    assert_eq!(results(&env, &["rounding"]).len(), 2);
    let mut other = Claude::new("s-find");
    other.prompt("Something else entirely");
    env.write("in/find.jsonl", other.text());
    env.ingest(&env.path("in"));
    finds_nothing(&env, &["rounding"]);
    assert_eq!(results(&env, &["entirely"]).len(), 1);
    let intact = rows::open_to_write(&env)
        .execute_batch("INSERT INTO search (search, rank) VALUES ('integrity-check', 0)");
    assert!(intact.is_ok(), "{intact:?}");
}

#[test]
fn rows_that_take_a_number_that_was_free_again_are_indexed() {
    let env = TestEnv::new();
    env.hook("claude", claude::post_tool_use("s", "toolu_1", "echo first", "first"));
    assert_eq!(results(&env, &["first"]).len(), 1);
    rows::open_to_write(&env).execute_batch("DELETE FROM sighting; DELETE FROM event").unwrap();
    finds_nothing(&env, &["first"]);
    env.hook("claude", claude::post_tool_use("s", "toolu_2", "echo second", "second"));
    assert_eq!(results(&env, &["second"]).len(), 1);
}

#[test]
fn the_index_can_be_dropped_and_built_again() {
    let env = recorded();
    let before = results(&env, &["rounding"]);
    env.run(["search", "--drop"]).silent();
    let indexed = "SELECT indexed FROM search_state";
    assert_eq!(rows::count(&env, indexed), 0);
    assert_eq!(results(&env, &["rounding"]), before);
    assert!(rows::count(&env, indexed) > 0);
    assert_eq!(results(&env, &["rounding", "--rebuild"]), before);
}

#[test]
fn a_deleted_text_leaves_no_word_of_itself_in_the_store() {
    let env = TestEnv::new();
    let canary = ["zanz", "ibar", "quokka"].concat();
    env.hook("claude", claude::post_tool_use("s", "toolu_1", "ls", &canary));
    assert_eq!(results(&env, &[&canary]).len(), 1);
    let store = rows::open_to_write(&env);
    store
        .execute_batch("PRAGMA secure_delete = ON; DELETE FROM sighting; DELETE FROM event; VACUUM")
        .unwrap();
    store.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(store);
    let bytes = fs::read(env.store()).unwrap();
    let found = bytes.windows(canary.len()).any(|w| w == canary.as_bytes());
    assert!(!found, "the word is still in the file");
}
