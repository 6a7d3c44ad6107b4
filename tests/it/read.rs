//! Read-back: the text of a place from its source, or the one reason why not.

use crate::support::claude::{Claude, post_tool_use};
use crate::support::{Ran, TestEnv, is_root, rows};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::time::Duration;

/// A home with one session of four events, and its file.
fn recorded() -> (TestEnv, PathBuf) {
    let env = TestEnv::new();
    let file = env.write("in/c1.jsonl", Claude::typical("c1").text());
    env.ingest(&env.path("in"));
    (env, file)
}

fn events(env: &TestEnv, session: &str) -> Vec<Value> {
    let shown = env.run(["show", session, "--json"]).ok().json();
    shown["events"].as_array().unwrap().clone()
}

fn event(env: &TestEnv, kind: &str) -> Value {
    events(env, "c1").into_iter().find(|e| e["kind"] == kind).unwrap()
}

/// The locator of the first event of a kind.
fn locator(env: &TestEnv, kind: &str) -> String {
    event(env, kind)["sightings"][0]["locator"].as_str().unwrap().to_owned()
}

fn read(env: &TestEnv, what: &str) -> String {
    let answer = env.run(["read", what, "--json"]).ok().json();
    assert_eq!(answer["cut"], false);
    answer["text"].as_str().unwrap().to_owned()
}

/// Asserts that a place is unavailable for a reason, in both ways to say it.
#[track_caller]
fn refused(env: &TestEnv, what: &str, reason: &str) {
    let line = env.run(["read", what]).one_line_error(1);
    assert!(line.starts_with(&format!("fornax: unavailable ({reason}): ")), "{line}");
    let answer = env.run(["read", what, "--json"]).fails_with(1).json();
    assert_eq!(answer["unavailable"], reason);
    assert_eq!(answer.get("text"), None);
}

#[test]
fn only_the_selected_text_comes_back() {
    let (env, _) = recorded();
    let place = locator(&env, "assistant_message");
    assert_eq!(env.run(["read", &place]).ok().stdout, "All tests pass.\n");
    let answer = env.run(["read", &place, "--json"]).ok().json();
    let expected =
        json!({"locator": place, "text": "All tests pass.", "cut": false, "full_length": 15});
    assert_eq!(answer, expected);
    env.run(["read", &place, "--deep"]).ok();
}

#[test]
fn an_id_is_read_at_its_best_place_in_a_file() {
    let (env, _) = recorded();
    env.hook("claude", post_tool_use("c1", "toolu_c1_1", "ls", "Cargo.toml\nsrc\n"));
    let shown = env.run(["show", "c1", "--json"]).ok().json();
    let prompt = event(&env, "user_prompt_submit");
    assert_eq!(read(&env, prompt["id"].as_str().unwrap()), "run the tests");
    let call = event(&env, "post_tool_use");
    assert_eq!(call["sightings"].as_array().unwrap().len(), 2, "{call}");
    assert!(read(&env, call["id"].as_str().unwrap()).contains(r#""stdout":"Cargo.toml\nsrc\n""#));
    let evidence = shown["evidence"].as_array().unwrap();
    let exit = evidence.iter().find(|e| e["kind"] == "exit_code").unwrap();
    let text = read(&env, exit["id"].as_str().unwrap());
    assert_eq!(text, "Exit code 101\nerror: test failed");
    let claim = shown["claims"][0]["id"].as_str().unwrap();
    assert_eq!(read(&env, claim), "All tests pass.");
    let id = "00000000-0000-4000-8000-000000000000";
    assert!(env.run(["read", id]).one_line_error(65).contains("fornax show --json"));
}

#[test]
fn what_is_read_back_is_what_was_decoded() {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/agents");
    let mut compared = 0;
    for (file, _) in TestEnv::files_below(&fixtures) {
        // Fixtures share ids: each has a home of its own. Hook payloads are no history.
        let env = TestEnv::new();
        let name = file.file_name().unwrap().to_str().unwrap();
        env.ingest(env.write(&format!("in/{name}"), fs::read(&file).unwrap()).parent().unwrap());
        for session in env.sessions() {
            for event in events(&env, session["conversation"].as_str().unwrap()) {
                let Some(text) = event["text"].as_str() else { continue };
                if event["kind"] == "rolled_back" {
                    // A sentence made of the number that its path names.
                    continue;
                }
                let seen = event["sightings"].as_array().unwrap();
                let told: Vec<String> = seen
                    .iter()
                    .filter(|s| s["path"] != "")
                    .map(|s| read(&env, s["locator"].as_str().unwrap()))
                    .collect();
                if told.is_empty() {
                    // Words that another line told.
                    continue;
                }
                assert!(told.iter().any(|told| told == text), "{told:?} {event}");
                compared += 1;
            }
        }
    }
    assert!(compared > 40, "{compared} texts were compared");
}

#[test]
fn a_compressed_file_is_read_by_the_bytes_that_it_holds() {
    let env = TestEnv::new();
    let packed = zstd::encode_all(Claude::typical("c1").text().as_bytes(), 3).unwrap();
    let file = env.write("in/c1.jsonl.zst", packed);
    env.ingest(&file);
    let place = locator(&env, "assistant_message");
    assert_eq!(read(&env, &place), "All tests pass.");
    let mut session = Claude::new("c1");
    session.prompt("something else");
    let other = zstd::encode_all(session.text().as_bytes(), 3).unwrap();
    fs::write(&file, other).unwrap();
    refused(&env, &place, "line_changed");
    fs::write(&file, b"no frame").unwrap();
    refused(&env, &place, "line_changed");
}

#[test]
fn a_changed_line_is_line_changed() {
    let (env, file) = recorded();
    let place = locator(&env, "assistant_message");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("All tests pass.", "All tests fail.")).unwrap();
    refused(&env, &place, "line_changed");
    fs::write(&file, "").unwrap();
    refused(&env, &place, "line_changed");
}

#[test]
fn another_line_that_changed_is_prefix_changed() {
    let (env, file) = recorded();
    let place = locator(&env, "assistant_message");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("run the tests", "run no  tests", 1)).unwrap();
    refused(&env, &place, "prefix_changed");
    fs::write(&file, &text).unwrap();
    assert_eq!(read(&env, &place), "All tests pass.");
}

#[test]
fn growth_changes_nothing_that_was_read() {
    let (env, file) = recorded();
    let place = locator(&env, "assistant_message");
    let mut session = Claude::typical("c1");
    session.answer("And more.");
    fs::write(&file, session.text()).unwrap();
    assert_eq!(read(&env, &place), "All tests pass.");
}

#[test]
fn a_rewrite_between_the_ends_is_found_only_by_deep() {
    let env = TestEnv::new();
    let mut session = Claude::new("c1");
    session.prompt("the first");
    for n in 0..400 {
        session.answer(&format!("answer {n} {}", "x".repeat(400)));
    }
    let file = env.write("in/c1.jsonl", session.text());
    env.ingest(&file);
    let place = locator(&env, "user_prompt_submit");
    let middle = session.text().find("answer 200 ").unwrap() as u64;
    OpenOptions::new().write(true).open(&file).unwrap().write_at(b"ANSWER", middle).unwrap();
    assert_eq!(read(&env, &place), "the first");
    let line = env.run(["read", &place, "--deep"]).one_line_error(1);
    assert!(line.contains("prefix_changed"), "{line}");
}

#[test]
fn a_file_that_is_gone_is_missing_whoever_noticed() {
    let (env, file) = recorded();
    let place = locator(&env, "assistant_message");
    let away = env.path("away.jsonl");
    fs::rename(&file, &away).unwrap();
    refused(&env, &place, "source_missing");
    env.ingest(&env.path("in"));
    refused(&env, &place, "source_missing");
    fs::rename(&away, &file).unwrap();
    assert_eq!(read(&env, &place), "All tests pass.");
}

#[test]
fn a_transcript_as_old_as_claude_code_lets_them_become_is_pruned_and_what_was_recorded_stays() {
    let env = TestEnv::new();
    let folder = env.claude_home().join("projects/p");
    fs::create_dir_all(&folder).unwrap();
    let day = Duration::from_secs(24 * 60 * 60);
    for (id, days) in [("old", 31), ("young", 29)] {
        let path = folder.join(format!("{id}.jsonl"));
        fs::write(&path, Claude::typical(id).text()).unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        file.set_modified(now - day * days).unwrap();
    }
    env.run(["ingest"]).ok();
    for id in ["old", "young"] {
        fs::remove_file(folder.join(format!("{id}.jsonl"))).unwrap();
    }
    env.run(["ingest"]).ok();
    let states = "SELECT state FROM source ORDER BY path";
    assert_eq!(rows::texts(&env, states), ["pruned", "missing"]);
    for (id, state) in [("old", "pruned"), ("young", "missing")] {
        let told = env.run(["show", id, "--json"]).ok().json();
        assert_eq!(told["sources"][0]["state"], state, "{}", told["sources"]);
        let last =
            told["events"].as_array().unwrap().iter().rfind(|e| e["kind"] == "assistant_message");
        let place = last.unwrap()["sightings"][0]["locator"].as_str().unwrap().to_owned();
        refused(&env, &place, &format!("source_{state}"));
        let text = env.run(["show", id]).ok().stdout;
        assert_eq!(text.contains("deleted by its agent"), id == "old", "{text}");
    }
    assert_eq!(env.sessions().len(), 2);
    // Brought back, it is read like any other.
    fs::write(folder.join("old.jsonl"), Claude::typical("old").text()).unwrap();
    env.run(["ingest"]).ok();
    assert_eq!(rows::texts(&env, states), ["active", "missing"]);
}

#[test]
fn a_file_that_may_not_be_read_is_permission_denied() {
    use std::os::unix::process::CommandExt as _;
    let (env, file) = recorded();
    let place = locator(&env, "assistant_message");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = env.command();
    command.args(["read", &place]);
    if is_root() {
        // Nothing is forbidden to root: the world is given to nobody, who runs the program.
        let nobody = 65_534;
        for folder in [env.home(), env.path("in"), env.path("")] {
            let opened = fs::Permissions::from_mode(0o755);
            fs::set_permissions(folder.parent().unwrap(), opened).unwrap();
            let of_folder = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            for path in of_folder.chain([folder.clone()]) {
                std::os::unix::fs::chown(path, Some(nobody), Some(nobody)).unwrap();
            }
        }
        command.uid(nobody).gid(nobody);
    }
    let line = Ran::of(command, b"").one_line_error(1);
    assert!(line.contains("permission_denied"), "{line}");
}

#[test]
fn another_file_at_the_path_is_identity_mismatch() {
    let (env, file) = recorded();
    let place = locator(&env, "assistant_message");
    let copy = env.path("copy.jsonl");
    fs::copy(&file, &copy).unwrap();
    fs::rename(&copy, &file).unwrap();
    refused(&env, &place, "identity_mismatch");
    env.ingest(&env.path("in"));
    assert_eq!(read(&env, &place), "All tests pass.");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    refused(&env, &place, "identity_mismatch");
}

#[test]
fn a_locator_that_contradicts_its_own_evidence_is_identity_mismatch() {
    let (env, _) = recorded();
    let place = locator(&env, "assistant_message");
    let prompt = locator(&env, "user_prompt_submit");
    let part = |locator: &str, nth: usize| locator.split(':').nth(nth).unwrap().to_owned();
    let range = part(&place, 2);
    let (offset, length) = range.split_once('+').unwrap();
    let shorter = format!("{offset}+{}", length.parse::<u64>().unwrap() - 1);
    let index: u32 = part(&place, 5).parse().unwrap();
    for forged in [
        place.replacen(&part(&place, 3), &part(&prompt, 3), 1),
        place.replacen(&range, &part(&prompt, 2), 1),
        place.replacen(&range, &shorter, 1),
        place.replacen("c1.jsonl", "c2.jsonl", 1),
        format!("{}{}", place.strip_suffix(&index.to_string()).unwrap(), index + 1),
    ] {
        assert_ne!(forged, place);
        refused(&env, &forged, "identity_mismatch");
    }
}

#[test]
fn what_only_a_hook_told_is_format_unsupported() {
    let env = TestEnv::new();
    env.hook("claude", post_tool_use("c1", "toolu_c1_1", "ls", "out"));
    let call = event(&env, "post_tool_use");
    refused(&env, call["id"].as_str().unwrap(), "format_unsupported");
}

#[test]
fn a_quarantined_line_and_a_format_of_another_fornax_are_not_guessed_at() {
    let env = TestEnv::new();
    let mut session = Claude::typical("c1");
    session.line("{\"type\":\"user\",\"message\":{\"content\":\"half");
    session.answer("done");
    env.write("in/c1.jsonl", session.text());
    env.ingest(&env.path("in"));
    let losses = env.run(["losses", "--json"]).ok().json();
    let place = losses["quarantine"][0]["locator"].as_str().unwrap();
    refused(&env, place, "selector_missing");
    let inside = format!("{}message.content:0", place.strip_suffix(":0").unwrap());
    refused(&env, &inside, "format_unsupported");
    let place = locator(&env, "assistant_message");
    rows::open_to_write(&env)
        .execute("UPDATE source SET format = 'transcript_of_2031'", [])
        .unwrap();
    refused(&env, &place, "format_unsupported");
}

#[test]
fn a_path_that_names_nothing_or_a_record_is_selector_missing() {
    let (env, _) = recorded();
    let place = locator(&env, "assistant_message");
    let (head, _) = place.split_once(":message").unwrap();
    for path in [
        "",
        "message",
        "message.content%5B0%5D",
        "message.content%5B0%2C1%5D.text",
        "message.content%5B1%5D.text",
        "message.content%5B0%5D.txt",
        "message..content",
    ] {
        if path == "message.content%5B0%5D" {
            // A text block stands for its text.
            assert_eq!(read(&env, &format!("{head}:{path}:0")), "All tests pass.");
        } else {
            refused(&env, &format!("{head}:{path}:0"), "selector_missing");
        }
    }
}

#[test]
fn a_malformed_locator_is_a_usage_error() {
    let (env, _) = recorded();
    let place = locator(&env, "assistant_message");
    for wrong in ["x", "locator:a", &place.to_uppercase(), &format!("{place} "), ""] {
        let line = env.run(["read", wrong]).one_line_error(64);
        assert!(line.contains("fornax show --json"), "{line}");
    }
}

#[test]
fn an_empty_text_is_a_value_and_a_long_one_is_cut_and_says_so() {
    let env = TestEnv::new();
    let mut session = Claude::new("c1");
    session.prompt("go");
    session.bash("true", Ok(""));
    session.answer(&"\u{e9}".repeat(100));
    env.write("in/c1.jsonl", session.text());
    env.ingest(&env.path("in"));
    let call = locator(&env, "post_tool_use");
    assert_eq!(read(&env, &call.replacen(":toolUseResult:", ":toolUseResult.stdout:", 1)), "");
    let place = locator(&env, "assistant_message");
    let answer = env.run(["read", &place, "--max-bytes", "7", "--json"]).ok().json();
    assert_eq!(answer["text"], "\u{e9}".repeat(3));
    assert_eq!((&answer["cut"], &answer["full_length"]), (&json!(true), &json!(200)));
    let shown = env.run(["read", &place, "--max-bytes", "7"]).fails_with(0);
    assert_eq!(shown.stdout, format!("{}\n", "\u{e9}".repeat(3)));
    assert_eq!(shown.stderr, "fornax: cut: 6 of 200 bytes are shown; --max-bytes 200 shows all\n");
}

#[test]
fn a_secret_in_the_source_is_redacted_again() {
    let env = TestEnv::new();
    let secret = ["gh", "p_", &"A1b2C3".repeat(6)].concat();
    let mut session = Claude::new("c1");
    session.prompt(&format!("use {secret} {}", "word ".repeat(8_000)));
    env.write("in/c1.jsonl", session.text());
    env.ingest(&env.path("in"));
    let text = read(&env, &locator(&env, "user_prompt_submit"));
    assert!(text.len() > 40_000, "{}", text.len());
    assert!(!text.contains(&secret) && text.contains("[REDACTED:"), "{}", &text[..80]);
}

#[test]
fn show_full_reads_every_cut_text_back_or_says_why_not() {
    let env = TestEnv::new();
    let mut session = Claude::new("c1");
    let long = |word: &str| format!("{word} begins {} {word} ends", "word ".repeat(8_000));
    session.prompt(&long("prompt"));
    let call = session.bash(&long("echo"), Err((1, &long("out"))));
    session.answer("short");
    session.answer(&long("answer"));
    let file = env.write("in/c1.jsonl", session.text());
    env.ingest(&env.path("in"));
    let told = env.run(["show", "c1", "--full", "--json"]).ok().json();
    let full = |kind: &str, field: &str| -> Value {
        let of_kind = told["events"].as_array().unwrap().iter().filter(|e| e["kind"] == kind);
        let mut fields = of_kind.flat_map(|e| e["full"].as_array().unwrap().clone());
        fields.find(|f| f["field"] == field).unwrap()
    };
    assert_eq!(full("user_prompt_submit", "text")["full_text"], long("prompt"));
    assert_eq!(full("assistant_message", "text")["full_text"], long("answer"));
    let input = json!({"command": long("echo")}).to_string();
    assert_eq!(full("pre_tool_use", "tool_input")["full_text"], input);
    assert_eq!(full("post_tool_use", "tool_input")["full_text"], input);
    let output = format!("Exit code 1\n{}", long("out"));
    assert_eq!(full("post_tool_use", "tool_response")["full_text"], output);
    let shown = env.run(["show", "c1", "--full"]).ok().stdout;
    for end in ["prompt ends", "echo ends", "out ends", "answer ends"] {
        assert!(shown.contains(end), "{end}");
    }
    assert!(!shown.contains("cut by fornax"), "a stored part stands for the whole");
    let hint = |readable: usize| {
        let shown = env.run(["show", "c1"]).ok().stdout;
        let hint = format!("{readable} of 5 cut texts can be read back: fornax show c1 --full\n");
        assert!(shown.ends_with(&hint), "{shown}");
    };
    hint(5);

    fs::remove_file(&file).unwrap();
    hint(0);
    let shown = env.run(["show", "c1", "--full"]).ok().stdout;
    assert_eq!(shown.matches("[unavailable: source_missing]").count(), 4, "{shown}");
    let hooked = env.run(["show", "c1", "--full", "--json"]).ok().json();
    let gone = hooked["events"][0]["full"][0].clone();
    assert_eq!((&gone["unavailable"], gone.get("full_text")), (&json!("source_missing"), None));

    // A call that only a hook told of has no file.
    env.hook("claude", post_tool_use("c2", &call, &long("echo"), "x"));
    let told = env.run(["show", "c2", "--full", "--json"]).ok().json();
    assert_eq!(told["events"][0]["full"][0]["unavailable"], "format_unsupported", "{told}");
}

#[test]
fn every_place_that_is_printed_is_a_locator_of_it() {
    let (env, _) = recorded();
    let shown = env.run(["show", "c1", "--json"]).ok().json();
    let found = env.run(["verify", "c1", "--json"]).ok().json();
    let seen = [
        &shown["evidence"][0]["seen"],
        &shown["claims"][0]["seen"],
        &found["findings"][0]["claim"]["seen"],
        &found["findings"][0]["evidence"][0]["seen"],
    ];
    for seen in seen {
        read(&env, seen["locator"].as_str().unwrap());
    }
    let ids = &found["findings"][0]["evidence_ids"];
    assert_eq!(found["findings"][0]["evidence"][0]["id"], ids[0]);
}

#[test]
fn a_record_over_the_cap_is_verified_in_pieces_and_refused() {
    let env = TestEnv::new();
    let mut session = Claude::new("c1");
    session.prompt("go");
    session.answer(&"word ".repeat(14 << 20));
    let file = env.write("in/c1.jsonl", session.text());
    let cap = "100000000";
    env.run(["ingest", "--line-cap", cap, file.to_str().unwrap()]).fails_with(0);
    let place = locator(&env, "assistant_message");
    let line = env.run(["read", &place]).one_line_error(1);
    assert!(line.contains("format_unsupported"), "{line}");
    OpenOptions::new().write(true).open(&file).unwrap().write_at(b"WORD", 60_000_000).unwrap();
    let line = env.run(["read", &place]).one_line_error(1);
    assert!(line.contains("line_changed"), "{line}");
}
