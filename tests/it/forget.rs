//! Forgetting: nothing of a conversation is left in any file, nothing brings it back, others stay.

use crate::support::claude::{self, Claude};
use crate::support::codex::Codex;
use crate::support::{Child, TestEnv, rows};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A word that only the forgotten conversation says.
const CANARY: &str = "zebracanary";
/// Its native id, which names it everywhere.
const GONE: &str = "gone-5c1d2f0a";

fn session(id: &str, word: &str) -> Claude {
    let mut session = Claude::new(id);
    session.prompt(&format!("please look at {word}"));
    session.bash(&format!("cat {word}.txt"), Ok(&format!("{word} {}", "lorem ipsum ".repeat(900))));
    // Left open, so that the decoder remembers it.
    session.call(&format!("sleep {word}"));
    session.answer(&format!("All tests pass for {word}."));
    session
}

/// Writes what a session's sub-agent tells into its own file.
fn write_agent(env: &TestEnv, parent: &str, id: &str, word: &str) {
    let own = format!("\"sessionId\":\"{id}\"");
    let told = format!("\"sessionId\":\"{parent}\",\"agentId\":\"{id}\"");
    let text = session(id, word).text().replace(&own, &told);
    let text = text.replace("\"isSidechain\":false", "\"isSidechain\":true");
    env.write(&format!("in/{parent}/subagents/agent-{id}.jsonl"), text);
}

/// A home that knows the conversation by file and by hook, and another one.
fn recorded() -> TestEnv {
    let env = TestEnv::new();
    env.write(&format!("in/{GONE}.jsonl"), session(GONE, CANARY).text());
    env.write("in/kept-1.jsonl", session("kept-1", "giraffe").text());
    env.ingest(&env.path("in"));
    env.hook("claude", claude::post_tool_use(GONE, "toolu_h", "ls", &format!("{CANARY}\n")));
    env.hook("claude", claude::post_tool_use("kept-1", "toolu_k", "ls", "giraffe\n"));
    assert_eq!(env.sessions().len(), 2);
    env
}

/// Files of fornax's home that hold a text.
fn holding(env: &TestEnv, text: &str) -> Vec<PathBuf> {
    let below = TestEnv::files_below(&env.home()).into_iter();
    below
        .filter(|(_, bytes)| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
        .map(|(path, _)| path)
        .collect()
}

#[track_caller]
fn assert_gone(env: &TestEnv) {
    for text in [CANARY, GONE] {
        assert_eq!(holding(env, text), Vec::<PathBuf>::new(), "{text}");
    }
}

fn ids(env: &TestEnv) -> Vec<String> {
    let mut ids: Vec<String> =
        env.sessions().iter().map(|s| s["native_id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

fn forget(env: &TestEnv) -> Value {
    env.run(["forget", "--session", GONE, "--yes", "--json"]).ok().json()
}

#[test]
fn no_file_of_the_home_holds_a_byte_of_what_was_forgotten() {
    let env = recorded();
    env.run(["usage", "--json"]).ok();
    fs::write(env.home().join("store.db.v1.bak"), format!("an old copy with {CANARY}")).unwrap();
    assert!(holding(&env, CANARY).len() >= 2);
    assert!(!holding(&env, GONE).is_empty());
    let told = forget(&env);
    assert_eq!(told["conversations"][0]["native_id"], GONE);
    assert_eq!(told["left"], Value::Null);
    assert!(told["rows"]["events"].as_i64().unwrap() >= 5, "{told}");
    assert!(told["backups"][0].as_str().unwrap().ends_with("store.db.v1.bak"), "{told}");
    assert_gone(&env);
    assert_eq!(ids(&env), ["kept-1"]);
    let events = env.sessions()[0]["events"].as_i64().unwrap();
    assert_eq!(events, rows::count(&env, "SELECT count(*) FROM event"));
}

#[test]
fn rows_that_moved_between_pages_before_leave_no_copy_either() {
    let env = TestEnv::new();
    // Small rows in between, in an order that splits and rebuilds pages.
    for round in 0..6 {
        for (id, word) in [(GONE, CANARY), ("kept-1", "giraffe")] {
            for nth in 0..12 {
                let call = format!("toolu_{round}_{nth}");
                let text = format!("{word} {}", "x".repeat((nth * 97 + round * 31) % 900));
                env.hook("claude", claude::post_tool_use(id, &call, "ls", &text));
            }
        }
        env.sessions();
    }
    forget(&env);
    assert_gone(&env);
    assert_eq!(env.sessions()[0]["events"], 72);
}

#[test]
fn neither_a_file_nor_a_hook_brings_it_back() {
    let env = recorded();
    forget(&env);
    let path = env.path(&format!("in/{GONE}.jsonl"));
    let again = env.ingest(&env.path("in"));
    assert_eq!(again["skipped"]["forgotten"], 1, "{again}");
    assert_eq!(again["stored"]["inserted"], 0, "{again}");
    // The session goes on, in its file, by hook, and under another name.
    let mut longer = session(GONE, CANARY);
    longer.prompt(CANARY);
    fs::write(&path, longer.text()).unwrap();
    env.hook("claude", claude::post_tool_use(GONE, "toolu_later", "ls", CANARY));
    env.ingest(&env.path("in"));
    let told = env.run(["tail", "--once", path.to_str().unwrap()]).ok().stdout;
    assert!(!told.contains(CANARY), "{told}");
    fs::rename(&path, env.path("in/moved.jsonl")).unwrap();
    let moved = env.ingest(&env.path("in"));
    assert!(moved["stored"]["forgotten"].as_i64().unwrap() > 5, "{moved}");
    let after = env.ingest(&env.path("in"));
    assert_eq!(after["skipped"]["forgotten"], 1, "{after}");
    env.run(["ingest", "in/moved.jsonl"]).ok();
    fs::rename(env.path("in/moved.jsonl"), env.path("in/again.jsonl")).unwrap();
    for _ in 0..2 {
        let told = env.run(["tail", "--once", "in/again.jsonl", "--json"]).ok().stdout;
        assert_eq!(told, "");
    }
    assert_eq!(ids(&env), ["kept-1"]);
    env.run(["show", GONE]).one_line_error(69);
    assert_eq!(rows::count(&env, "SELECT count(*) FROM source WHERE path LIKE '%moved%'"), 0);
    // The bytes that a live session leaves behind are dropped too.
    assert_eq!(holding(&env, CANARY), Vec::<PathBuf>::new());
}

#[test]
fn what_it_started_goes_along_and_a_fork_stays() {
    let env = TestEnv::new();
    env.write(&format!("in/{GONE}.jsonl"), session(GONE, CANARY).text());
    write_agent(&env, GONE, "a1", CANARY);
    let fork = Codex::typical("fork-1").text();
    let from = "\"source\":\"cli\",\"forked_from_id\":\"origin-1\"";
    env.write("in/fork.jsonl", fork.replace("\"source\":\"cli\"", from));
    env.write("in/origin.jsonl", Codex::typical("origin-1").text());
    env.ingest(&env.path("in"));
    assert_eq!(env.sessions().len(), 4);
    let told = forget(&env);
    let named: Vec<&Value> =
        told["conversations"].as_array().unwrap().iter().map(|c| &c["native_id"]).collect();
    assert_eq!(named.len(), 2, "{told}");
    assert!(named.contains(&&json!("a1")), "{told}");
    assert_gone(&env);
    assert_eq!(rows::count(&env, "SELECT count(*) FROM lineage WHERE relation = 'fork'"), 1);
    env.run(["forget", "--session", "origin-1", "--yes"]).ok();
    let left = ids(&env);
    assert_eq!(left, ["fork-1"]);
    // One that it starts later is not recorded either.
    write_agent(&env, GONE, "a2", CANARY);
    env.ingest(&env.path("in"));
    let next = env.run(["sessions"]).fails_with(0);
    assert!(next.stderr.contains("`fornax gc --apply`"), "{}", next.stderr);
    assert_eq!(ids(&env), left);
    assert_eq!(rows::count(&env, "SELECT count(*) FROM going"), 0);
}

#[test]
fn a_file_of_two_conversations_loses_one_of_them() {
    let env = TestEnv::new();
    let mixed = session(GONE, CANARY).text() + &session("kept-1", "giraffe").text();
    let path = env.write("in/mixed.jsonl", &mixed);
    env.ingest(&env.path("in"));
    let before = rows::count(
        &env,
        "SELECT count(*) FROM event e JOIN conversation c ON c.id = e.conversation
         WHERE c.native_id = 'kept-1'",
    );
    forget(&env);
    assert_gone(&env);
    for _ in 0..2 {
        env.ingest(&env.path("in"));
        assert_eq!(ids(&env), ["kept-1"]);
        assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), before);
        assert_gone(&env);
    }
    let mut longer = session("kept-1", "giraffe");
    longer.prompt("and more");
    fs::write(&path, session(GONE, CANARY).text() + &longer.text()).unwrap();
    env.ingest(&env.path("in"));
    assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), before + 1);
    assert_gone(&env);
    env.run(["forget", "--lift", GONE]).ok();
    env.ingest(&env.path("in"));
    assert_eq!(ids(&env), [GONE, "kept-1"]);
}

#[test]
fn nothing_is_removed_without_a_yes_and_a_dry_run_changes_nothing() {
    let env = recorded();
    env.hook("claude", claude::post_tool_use(GONE, "toolu_wait", "ls", "x"));
    let before = (rows::raw(&env), TestEnv::files_below(&env.journal()));
    let dry = env.run(["forget", "--session", GONE, "--dry-run", "--json"]).fails_with(0);
    assert!(dry.stderr.contains("wait in the journal"), "{}", dry.stderr);
    assert_eq!(dry.json()["dry_run"], true);
    assert!(dry.json()["rows"]["events"].as_i64().unwrap() > 0);
    let text = env.run(["forget", "--session", GONE, "--dry-run"]).fails_with(0).stdout;
    assert!(text.contains("to remove: 1 conversations"), "{text}");
    assert_eq!((rows::raw(&env), TestEnv::files_below(&env.journal())), before);
    let refused = env.run(["forget", "--session", GONE]).fails_with(64);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    assert_eq!(ids(&env).len(), 2);
    env.run(["forget", "--session", "nobody", "--yes"]).one_line_error(69);
    env.run(["forget", "--yes"]).fails_with(64);
    env.run(["forget", "--session", "a", "--before", "2d", "--yes"]).fails_with(64);
}

#[test]
fn whole_conversations_go_by_their_last_activity_and_by_folder() {
    let env = TestEnv::new();
    let old = session(GONE, CANARY).text().replace("2026-11-20", "2025-11-20");
    env.write("in/old.jsonl", old.replace("/home/dev/demo", "/home/dev/old"));
    env.write("in/new.jsonl", session("kept-1", "giraffe").text());
    env.write(
        "in/near.jsonl",
        session("kept-2", "b").text().replace("/home/dev/demo", "/home/dev/oldest"),
    );
    // Old itself, but one that it started is at work.
    env.write("in/kept-3.jsonl", session("kept-3", "c").text().replace("2026-11-20", "2025-11-20"));
    write_agent(&env, "kept-3", "a3", "c");
    env.ingest(&env.path("in"));
    let dry = |args: &[&str]| -> Vec<String> {
        let args = [&["forget"], args, &["--dry-run", "--json"]].concat();
        let told = env.run(args).ok().json();
        let named = told["conversations"].as_array().unwrap().iter();
        named.map(|c| c["native_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(dry(&["--before", "2026-01-01"]), [GONE]);
    assert_eq!(dry(&["--before", "2025-11-20"]), Vec::<String>::new());
    assert_eq!(dry(&["--project", "/home/dev/old"]), [GONE]);
    assert_eq!(dry(&["--project", "/home/dev"]).len(), 5);
    env.run(["forget", "--before", "2026-01-01", "--yes"]).ok();
    assert_gone(&env);
    assert_eq!(ids(&env), ["a3", "kept-1", "kept-2", "kept-3"]);
    env.run(["forget", "--before", "2026-01-01", "--yes"]).ok();
}

#[test]
fn exported_files_are_named_and_left_alone() {
    let env = recorded();
    env.run(["export-spool", "--all", "--out", "spool"]).ok();
    let told = forget(&env);
    let named: Vec<PathBuf> =
        told["exported"].as_array().unwrap().iter().map(|p| p.as_str().unwrap().into()).collect();
    assert!(named.len() > 5, "{told}");
    for path in &named {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(GONE), "{}", path.display());
    }
    let all = TestEnv::files_below(&env.path("spool"));
    let tell = all.iter().filter(|(_, bytes)| String::from_utf8_lossy(bytes).contains(GONE));
    assert_eq!(named.len(), tell.count());
    assert!(all.len() > named.len());
}

#[test]
fn another_conversation_in_a_file_of_the_same_name_is_recorded() {
    let env = recorded();
    forget(&env);
    let path = env.path(&format!("in/{GONE}.jsonl"));
    assert_eq!(env.ingest(&env.path("in"))["skipped"]["forgotten"], 1);
    fs::write(&path, session("kept-2", "okapi").text()).unwrap();
    env.ingest(&env.path("in"));
    assert_eq!(ids(&env), ["kept-1", "kept-2"]);
}

#[test]
fn what_a_decoder_remembers_of_it_in_a_file_that_tells_nothing_of_it_goes_too() {
    let env = recorded();
    let titled = json!({"type": "custom-title", "sessionId": GONE, "customTitle": CANARY});
    env.write("in/titles.jsonl", session("kept-1", "giraffe").text() + &titled.to_string() + "\n");
    env.ingest(&env.path("in"));
    // As after a version that told nothing of such a line.
    let path = "%titles.jsonl";
    let state = "SELECT decoder_state FROM source WHERE path LIKE '%titles.jsonl'";
    assert!(rows::texts(&env, state)[0].contains(GONE));
    let conn = rows::open_to_write(&env);
    for table in ["fact", "capability"] {
        let sql = format!(
            "DELETE FROM {table} WHERE source IN (SELECT id FROM source WHERE path LIKE ?1)
             AND conversation IN (SELECT id FROM conversation WHERE native_id = ?2)"
        );
        conn.execute(&sql, [path, GONE]).unwrap();
    }
    drop(conn);
    forget(&env);
    assert_gone(&env);
    let mut longer = session("kept-1", "giraffe");
    longer.line(titled.to_string());
    longer.prompt("and more");
    env.write("in/titles.jsonl", longer.text());
    env.ingest(&env.path("in"));
    assert_gone(&env);
}

#[test]
fn messages_of_third_parties_do_not_bring_it_back() {
    let env = recorded();
    env.run(["export-spool", "--all", "--wire", "full", "--out", "spool"]).ok();
    forget(&env);
    let records = TestEnv::files_below(&env.path("spool/pending"));
    let lines: Vec<u8> =
        records.into_iter().flat_map(|(_, bytes)| [bytes, b"\n".to_vec()].concat()).collect();
    env.write("messages.jsonl", lines);
    let told = env.run(["ingest", "--messages", "messages.jsonl", "--json"]).ok().json();
    assert!(told["stored"]["forgotten"].as_i64().unwrap() > 5, "{told}");
    assert!(told["stored"]["known"].as_i64().unwrap() > 0, "{told}");
    assert_gone(&env);
    assert_eq!(ids(&env), ["kept-1"]);
}

#[test]
fn bytes_that_a_reader_holds_on_to_are_said_to_be_left_and_removed_later() {
    let env = recorded();
    let reader = rows::open(&env);
    reader.execute_batch("BEGIN; SELECT count(*) FROM event;").unwrap();
    let done = env.run(["forget", "--session", GONE, "--yes", "--json"]).fails_with(75);
    assert!(done.stderr.contains("`fornax gc --apply`"), "{}", done.stderr);
    assert!(done.json()["left"].as_str().unwrap().contains("locked"), "{}", done.stdout);
    assert_eq!(ids(&env), ["kept-1"]);
    drop(reader);
    env.run(["gc", "--apply"]).ok();
    assert_gone(&env);
}

#[test]
fn a_lifted_conversation_is_recorded_again_by_the_next_ingest() {
    let env = recorded();
    let before = rows::count(&env, "SELECT count(*) FROM event");
    forget(&env);
    env.ingest(&env.path("in"));
    env.run(["forget", "--lift", "nobody"]).one_line_error(69);
    env.run(["forget", "--lift", GONE]).ok();
    assert_eq!(ids(&env), ["kept-1"]);
    env.ingest(&env.path("in"));
    assert_eq!(ids(&env), [GONE, "kept-1"]);
    // What only a hook told is not in any file.
    assert_eq!(rows::count(&env, "SELECT count(*) FROM event"), before - 1);
    env.run(["forget", "--lift", GONE]).one_line_error(69);
}

#[test]
fn a_forget_that_is_killed_is_finished_by_the_next_command() {
    for after in [1, 3, 6, 10, 15, 25, 40, 70] {
        let env = TestEnv::new();
        let mut long = session(GONE, CANARY);
        for nth in 0..300 {
            long.bash(&format!("{CANARY} {nth}"), Ok("done"));
        }
        env.write("in/gone.jsonl", long.text());
        env.write("in/kept-1.jsonl", session("kept-1", "giraffe").text());
        env.ingest(&env.path("in"));
        let all = env.sessions().iter().map(|s| s["events"].as_i64().unwrap()).max();
        let mut command = env.command();
        command.args(["forget", "--session", GONE, "--yes"]);
        let mut child = Child::start(command);
        std::thread::sleep(Duration::from_millis(after));
        child.kill();
        // Whole or gone, never in part.
        let next = env.run(["sessions", "--json"]).fails_with(0);
        let told = next.json();
        let told = told["sessions"].as_array().unwrap();
        if let Some(held) = told.iter().find(|s| s["native_id"] == GONE) {
            assert_eq!(held["events"].as_i64(), all, "after {after} ms");
            assert_eq!(next.stderr, "");
            forget(&env);
        }
        assert_eq!(rows::count(&env, "SELECT count(*) FROM going"), 0);
        assert_eq!(rows::count(&env, "SELECT count(*) FROM conversation"), 1);
        assert_eq!(rows::count(&env, "SELECT count(*) FROM forgetting_source"), 0);
        env.run(["gc", "--apply"]).ok();
        assert_gone(&env);
        env.ingest(&env.path("in"));
        assert_eq!(ids(&env), ["kept-1"], "after {after} ms");
    }
}

#[test]
fn what_is_still_being_removed_is_seen_by_no_command() {
    let env = recorded();
    env.write("in/torn.jsonl", format!("{}{{\"broken\"\n", session(GONE, CANARY).text()));
    env.ingest(&env.path("in"));
    let locator = env.run(["show", GONE, "--json"]).ok().json();
    let locator = locator["events"][0]["sightings"][0]["locator"].as_str().map(str::to_owned);
    let key = format!("conversation:claude_code:local:{GONE}");
    let conn = rows::open_to_write(&env);
    conn.execute(
        "INSERT INTO forgotten (key_hash, root_hash, at_us, conversation)
         SELECT zeroblob(32), zeroblob(32), 0, id FROM conversation WHERE key = ?1",
        [key],
    )
    .unwrap();
    // Held, so that no command can finish the removal.
    conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    for args in [
        &["sessions", "--json"][..],
        &["losses", "--json"],
        &["usage", "--by", "session", "--json"],
    ] {
        let told = env.run(args).fails_with(0);
        assert!(told.stderr.contains("locked"), "{}", told.stderr);
        assert!(!told.stdout.contains(GONE) && !told.stdout.contains(CANARY), "{}", told.stdout);
    }
    if let Some(locator) = locator {
        let read = env.run(["read", &locator]).fails_with(1);
        assert!(!read.stdout.contains(CANARY), "{}", read.stdout);
    }
}

#[test]
fn the_policy_of_the_configuration_is_shown_first_and_then_applied() {
    let env = TestEnv::new();
    let old = session(GONE, CANARY).text().replace("2026-11-20", "2025-11-20");
    env.write("in/old.jsonl", old);
    env.ingest(&env.path("in"));
    env.hook("claude", claude::post_tool_use("kept-1", "toolu_k", "ls", "giraffe\n"));
    let none = env.run(["gc"]).fails_with(0);
    assert!(none.stdout.contains("everything is kept"), "{}", none.stdout);
    let config = env.home().join("config.toml");
    fs::write(&config, "[retention]\nconversations = \"30d\"\nraw = \"1w\"\nfluff = \"1d\"\n")
        .unwrap();
    let dry = env.run(["gc", "--json"]).fails_with(0);
    assert!(dry.stderr.contains("'retention.fluff' is no key"), "{}", dry.stderr);
    assert_eq!(dry.json()["dry_run"], true);
    assert_eq!(dry.json()["conversations"][0]["native_id"], GONE);
    assert_eq!(ids(&env).len(), 2);
    let done = env.run(["gc", "--apply", "--json"]).fails_with(0).json();
    assert_eq!(done["dry_run"], false);
    assert_gone(&env);
    assert_eq!(ids(&env), ["kept-1"]);
    // Received just now, so its payload stays, until it is old.
    assert_eq!(rows::count(&env, "SELECT count(*) FROM sighting WHERE raw IS NOT NULL"), 1);
    rows::open_to_write(&env).execute("UPDATE sighting SET order_us = 1", []).unwrap();
    let done = env.run(["gc", "--apply", "--json"]).fails_with(0).json();
    assert_eq!(done["raw"], 1, "{done}");
    assert_eq!(rows::count(&env, "SELECT count(*) FROM sighting WHERE raw IS NOT NULL"), 0);
    assert_eq!(rows::count(&env, "SELECT count(*) FROM sighting"), 1);
    fs::write(&config, "[retention]\nraw = 30\n").unwrap();
    env.run(["gc"]).one_line_error(65);
    // A hook never looks at it.
    env.hook("claude", claude::post_tool_use("kept-1", "toolu_2", "ls", "giraffe\n"));
}

/// Every table, with the rows that are left when all that was recorded is forgotten.
const LEFT: [(&str, i64); 27] = [
    ("meta", 1),
    ("conversation", 0),
    // The stream of hooks, which is nobody's.
    ("source", 1),
    ("fact", 0),
    ("event", 0),
    ("sighting", 0),
    ("evidence", 0),
    ("claim", 0),
    ("usage", 0),
    ("derived", 0),
    ("lineage", 0),
    ("capability", 0),
    ("loss", 0),
    ("quarantine", 0),
    ("journal_segment", 0),
    // Hashes: of two keys and of two files.
    ("forgotten", 2),
    ("forgotten_source", 2),
    ("forgetting_source", 0),
    ("exported", 0),
    ("finding", 0),
    ("judged", 0),
    ("gated", 0),
    ("alias", 0),
    ("historical_finding", 0),
    // How far the index is, whose words are looked for in the file.
    ("search_state", 1),
    ("chain_head", 0),
    ("copied", 0),
];

/// Those that hold nothing before something is forgotten.
const EMPTY_BEFORE: [&str; 5] =
    ["journal_segment", "forgotten", "forgotten_source", "forgetting_source", "copied"];

#[test]
fn every_table_is_emptied_of_it_and_a_new_one_must_say_how() {
    let env = TestEnv::new();
    env.write(&format!("in/{GONE}.jsonl"), session(GONE, CANARY).text() + "{broken\n");
    write_agent(&env, GONE, "a1", CANARY);
    env.ingest(&env.path("in"));
    env.hook("claude", claude::post_tool_use(GONE, "toolu_h", "ls", CANARY));
    env.run(["export-spool", "--all", "--out", "spool"]).ok();
    // Kept of large stores only.
    let derived = format!("INSERT INTO derived VALUES ('usage', x'00', '{CANARY}')");
    rows::open_to_write(&env).execute(&derived, []).unwrap();
    env.run(["search", CANARY]).ok();
    env.run(["verify", GONE]).ok();
    // What only a gate and an import write.
    rows::open_to_write(&env)
        .execute_batch(
            "INSERT INTO gated SELECT id, 't', 1 FROM conversation LIMIT 1;
             INSERT INTO alias SELECT 'session:x', c.id, s.id, 1 FROM conversation c, source s LIMIT 1;
             INSERT INTO historical_finding (uid, claim_uid, conversation, source, generation,
               offset, length, line_hash, path, idx, verdict, evidence_uids, verifier_name,
               rationale, computed_at, order_us)
             SELECT x'00', x'00', c.id, s.id, 1, 0, 0, x'00', '', 0, '', '', '', '', '', 0
             FROM conversation c, source s LIMIT 1",
        )
        .unwrap();
    let tables = rows::texts(
        &env,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
         AND name NOT IN ('search', 'search_data', 'search_idx', 'search_config')",
    );
    let filled = |table: &str| rows::count(&env, &format!("SELECT count(*) FROM {table}"));
    for table in &tables {
        let listed = LEFT.iter().any(|(name, _)| name == table);
        assert!(
            listed,
            "say in adapters/sqlite/forget.rs how {table} is emptied, then list it here"
        );
        let told = EMPTY_BEFORE.contains(&table.as_str()) || filled(table) > 0;
        assert!(told, "the test puts nothing into {table}");
    }
    forget(&env);
    assert_eq!(rows::texts(&env, "SELECT path FROM source"), ["hook:claude_code"]);
    for (table, left) in LEFT {
        assert_eq!(filled(table), left, "{table}");
    }
}
