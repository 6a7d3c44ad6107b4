//! Files that change between two runs: whatever happened, the rows are those of a fresh read.
//!
//! Each test reads a file, changes it, reads again, and compares every row with the rows of a home
//! that only ever saw the final state. Where a prefix was rewritten, one loss says so.

use crate::support::claude::Claude;
use crate::support::codex::Codex;
use crate::support::{TestEnv, rows};
use proptest::prelude::*;
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A session with lines that are ignored and a title, so that their counts are compared too.
fn session(id: &str) -> Claude {
    let mut session = Claude::new(id);
    session.line(format!(r#"{{"type":"mode","mode":"default","sessionId":"{id}"}}"#));
    session.prompt("run the tests");
    session.bash("ls", Ok("Cargo.toml\nsrc\n"));
    session.line(format!(r#"{{"type":"ai-title","aiTitle":"tests of {id}","sessionId":"{id}"}}"#));
    session.bash("cargo test", Err((101, "error: test failed")));
    session.answer("All tests pass.");
    session
}

/// The rows of a home that saw only this file.
fn fresh(name: &str, bytes: impl AsRef<[u8]>) -> Vec<String> {
    let env = TestEnv::new();
    env.write(&format!("in/{name}"), bytes);
    env.ingest(&env.path("in"));
    rows::told_anywhere(&env)
}

/// Reads `before`, lets `change` happen, reads again; answers the environment.
fn reread(before: impl AsRef<[u8]>, change: impl FnOnce(&TestEnv, &Path)) -> TestEnv {
    let env = TestEnv::new();
    let path = env.write("in/c1.jsonl", before);
    env.ingest(&env.path("in"));
    change(&env, &path);
    env.ingest(&env.path("in"));
    env
}

/// Takes the note of a rewrite out of the rows, and asserts that it is there once.
#[track_caller]
fn without_the_note(mut told: Vec<String>) -> Vec<String> {
    let before = told.len();
    told.retain(|row| !row.contains("reason=source_rewritten"));
    assert_eq!(before - told.len(), 1, "a rewrite is one loss");
    told
}

fn append(path: &Path, bytes: &[u8]) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

/// Another file in its place, as an editor or a sync tool leaves it.
fn replace(path: &Path, bytes: impl AsRef<[u8]>) {
    let aside = path.with_extension("new");
    fs::write(&aside, bytes).unwrap();
    fs::rename(&aside, path).unwrap();
}

#[test]
fn growth_is_read_on() {
    let text = session("c1").text();
    let line = text.match_indices('\n').nth(3).unwrap().0 + 1;
    let env = reread(&text[..line], |_, path| append(path, &text.as_bytes()[line..]));
    rows::assert_same(&rows::told_anywhere(&env), &fresh("c1.jsonl", &text));
}

#[test]
fn a_call_that_was_open_when_reading_stopped_meets_its_result() {
    let text = session("c1").text();
    let at =
        text.find("{\"type\":\"tool_result\"").or_else(|| text.find("\"tool_result\"")).unwrap();
    let line = text[..at].rfind('\n').unwrap() + 1;
    let env = reread(&text[..line], |_, path| append(path, &text.as_bytes()[line..]));
    let names = rows::texts(
        &env,
        "SELECT DISTINCT tool_name FROM sighting s JOIN event e ON e.id = s.event
         WHERE e.kind = 'post_tool_use'",
    );
    assert_eq!(names, ["Bash"]);
}

#[test]
fn truncation_is_read_again() {
    let text = session("c1").text();
    let kept = &text[..text.match_indices('\n').nth(4).unwrap().0 + 1];
    let env = reread(&text, |_, path| fs::write(path, kept).unwrap());
    rows::assert_same(&without_the_note(rows::told_anywhere(&env)), &fresh("c1.jsonl", kept));
}

#[test]
fn replacement_by_a_longer_history_of_the_same_session_is_read_again() {
    let mut longer = Claude::new("c1");
    longer.prompt("something else");
    longer.bash("make", Err((2, "no rule")));
    longer.bash("make all", Ok("done"));
    longer.answer("It builds now.");
    longer.prompt("thanks");
    longer.answer("You are welcome.");
    let env = reread(session("c1").text(), |_, path| replace(path, longer.text()));
    let told = without_the_note(rows::told_anywhere(&env));
    rows::assert_same(&told, &fresh("c1.jsonl", longer.text()));
}

#[test]
fn replacement_by_another_session_leaves_nothing_of_the_first() {
    let other = session("c2").text();
    let env = reread(session("c1").text(), |_, path| replace(path, &other));
    let told = without_the_note(rows::told_anywhere(&env));
    rows::assert_same(&told, &fresh("c1.jsonl", &other));
}

#[test]
fn replacement_by_the_same_bytes_changes_nothing() {
    let text = session("c1").text();
    let env = reread(&text, |_, path| replace(path, &text));
    rows::assert_same(&rows::told_anywhere(&env), &fresh("c1.jsonl", &text));
}

#[test]
fn a_rewrite_in_place_of_the_same_size_is_read_again() {
    let text = session("c1").text();
    let other = text.replace("\"command\":\"ls\"", "\"command\":\"id\"");
    assert_eq!((text.len(), text == other), (other.len(), false));
    let env = reread(&text, |_, path| fs::write(path, &other).unwrap());
    let told = without_the_note(rows::told_anywhere(&env));
    rows::assert_same(&told, &fresh("c1.jsonl", &other));
}

/// A session whose middle is outside of both windows that resume compares.
fn long_session() -> String {
    let mut long = Claude::new("c1");
    for nth in 0..400 {
        long.bash(&format!("step {nth}"), Ok("done"));
    }
    long.text()
}

#[test]
fn a_rewrite_in_the_middle_together_with_growth_is_found_by_a_deep_look() {
    let text = long_session();
    assert!(text.len() > 200_000, "{}", text.len());
    let mut more = Claude::new("c1");
    more.prompt("more");
    let other = text.replace("\"step 200\"", "\"step 2oo\"");
    let env = TestEnv::new();
    let path = env.write("in/c1.jsonl", &text);
    env.ingest(&env.path("in"));
    let state = format!("{other}{}", more.text());
    fs::write(&path, &state).unwrap();
    env.run(["ingest", "in", "--deep"]).ok();
    let told = without_the_note(rows::told_anywhere(&env));
    rows::assert_same(&told, &fresh("c1.jsonl", &state));
}

#[test]
fn a_rewrite_in_the_middle_without_growth_is_found_without_being_asked_for() {
    let text = long_session();
    let other = text.replace("\"step 200\"", "\"step 2oo\"");
    let env = reread(&text, |_, path| fs::write(path, &other).unwrap());
    let told = without_the_note(rows::told_anywhere(&env));
    rows::assert_same(&told, &fresh("c1.jsonl", &other));
}

#[test]
fn a_long_file_in_many_batches_is_read_again_as_one() {
    let mut long = Claude::new("c1");
    for nth in 0..1_200 {
        long.bash(&format!("step {nth}"), Ok("done"));
    }
    let text = long.text();
    let other = text.replace("\"step 700\"", "\"step 7oo\"");
    let env = reread(&text, |_, path| fs::write(path, &other).unwrap());
    let told = without_the_note(rows::told_anywhere(&env));
    rows::assert_same(&told, &fresh("c1.jsonl", &other));
}

#[test]
fn a_moved_file_keeps_its_rows_and_its_place() {
    let text = session("c1").text();
    let env = reread(&text, |env, path| {
        fs::create_dir(env.path("in/moved")).unwrap();
        fs::rename(path, env.path("in/moved/c1.jsonl")).unwrap();
    });
    rows::assert_same(&rows::told_anywhere(&env), &fresh("c1.jsonl", &text));
    let path = rows::texts(&env, "SELECT path FROM source");
    assert!(path.len() == 1 && path[0].ends_with("in/moved/c1.jsonl"), "{path:?}");
}

#[test]
fn a_file_that_moved_and_grew_is_read_on() {
    let text = session("c1").text();
    let line = text.match_indices('\n').nth(4).unwrap().0 + 1;
    let env = reread(&text[..line], |env, path| {
        append(path, &text.as_bytes()[line..]);
        fs::create_dir(env.path("in/moved")).unwrap();
        fs::rename(path, env.path("in/moved/c1.jsonl")).unwrap();
    });
    rows::assert_same(&rows::told_anywhere(&env), &fresh("c1.jsonl", &text));
}

#[test]
fn a_rotated_file_and_its_successor_are_both_read() {
    let (first, second) = (session("c1").text(), session("c2").text());
    let env = TestEnv::new();
    let path = env.write("in/log.jsonl", &first);
    env.ingest(&env.path("in"));
    fs::rename(&path, env.path("in/log.1.jsonl")).unwrap();
    fs::write(&path, &second).unwrap();
    env.ingest(&env.path("in"));
    let fresh = TestEnv::new();
    fresh.write("in/log.1.jsonl", &first);
    fresh.write("in/log.jsonl", &second);
    fresh.ingest(&fresh.path("in"));
    // Neither was rewritten, and nobody says so.
    rows::assert_same(&rows::told_anywhere(&env), &rows::told_anywhere(&fresh));
}

#[test]
fn an_archived_rollout_keeps_its_rows() {
    let env = TestEnv::new();
    let sessions = env.codex_home().join("sessions/2026/11/20");
    let archive = env.codex_home().join("archived_sessions");
    fs::create_dir_all(&sessions).unwrap();
    fs::create_dir_all(&archive).unwrap();
    let name = "rollout-x1.jsonl";
    fs::write(sessions.join(name), Codex::typical("x1").text()).unwrap();
    env.run(["ingest"]).ok();
    let state = rows::told_anywhere(&env);
    fs::rename(sessions.join(name), archive.join(name)).unwrap();
    env.run(["ingest"]).ok();
    rows::assert_same(&rows::told_anywhere(&env), &state);
    let path = rows::texts(&env, "SELECT path FROM source");
    assert!(path.len() == 1 && path[0].contains("archived_sessions"), "{path:?}");
}

/// What a person is told of the conversations, places left out.
fn story(env: &TestEnv) -> (Vec<serde_json::Value>, Vec<String>) {
    let events = "SELECT hex(uid) || kind || coalesce(outcome, '') || order_us FROM event
        ORDER BY uid";
    (env.sessions(), rows::texts(env, events))
}

#[test]
fn a_rollout_that_was_compressed_is_the_same_conversation() {
    let text = Codex::typical("x1").text();
    let env = TestEnv::new();
    let path = env.write("in/rollout-x1.jsonl", &text);
    env.ingest(&env.path("in"));
    let before = story(&env);
    fs::write(env.path("in/rollout-x1.jsonl.zst"), zstd::encode_all(text.as_bytes(), 3).unwrap())
        .unwrap();
    fs::remove_file(&path).unwrap();
    env.ingest(&env.path("in"));
    assert_eq!(story(&env), before);
}

#[test]
fn a_copy_of_a_file_adds_sightings_and_no_events() {
    let text = session("c1").text();
    let env = TestEnv::new();
    let path = env.write("in/c1.jsonl", &text);
    env.ingest(&env.path("in"));
    let before = story(&env);
    fs::copy(path, env.path("in/copy.jsonl")).unwrap();
    env.ingest(&env.path("in"));
    assert_eq!(story(&env), before);
    assert_eq!(
        rows::count(&env, "SELECT count(*) FROM sighting"),
        2 * rows::count(&env, "SELECT count(*) FROM event")
    );
}

#[test]
fn rows_of_another_decoder_version_are_made_again_when_the_file_changes() {
    let text = session("c1").text();
    let line = text.match_indices('\n').nth(4).unwrap().0 + 1;
    let env = reread(&text[..line], |env, path| {
        let conn = rows::open_to_write(env);
        conn.execute("UPDATE source SET decoder = 'claude_code/0.0.0'", []).unwrap();
        conn.execute("UPDATE sighting SET text = 'as the old one read it'", []).unwrap();
        append(path, &text.as_bytes()[line..]);
    });
    rows::assert_same(&rows::told_anywhere(&env), &fresh("c1.jsonl", &text));
}

/// The small synthetic histories of both agents.
fn fixtures() -> &'static [(String, Vec<u8>, Vec<String>)] {
    /// Name, bytes, and the rows of a single full read.
    type Fixture = (String, Vec<u8>, Vec<String>);
    static FIXTURES: OnceLock<Vec<Fixture>> = OnceLock::new();
    FIXTURES.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agents");
        let mut paths: Vec<PathBuf> = ["claude_code", "codex"]
            .iter()
            .flat_map(|family| fs::read_dir(root.join(family)).unwrap())
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
            .filter(|path| path.file_name().is_some_and(|name| name != "hooks.jsonl"))
            .collect();
        paths.sort();
        let read = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let bytes = fs::read(path).unwrap();
            let told = fresh(&name, &bytes);
            (name, bytes, told)
        };
        paths.iter().map(read).collect()
    })
}

#[test]
fn the_fixtures_are_read_as_histories() {
    let sizes: HashMap<&str, usize> =
        fixtures().iter().map(|(name, _, told)| (name.as_str(), told.len())).collect();
    assert!(sizes.len() > 10, "{sizes:?}");
    assert!(sizes.values().all(|rows| *rows > 1), "{sizes:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_file_cut_anywhere_and_completed_later_is_as_if_read_once(
        which in any::<proptest::sample::Index>(),
        cut in any::<proptest::sample::Index>(),
    ) {
        let (name, bytes, whole) = which.get(fixtures());
        let cut = cut.index(bytes.len() + 1);
        let env = TestEnv::new();
        let path = env.write(&format!("in/{name}"), &bytes[..cut]);
        env.ingest(&env.path("in"));
        append(&path, &bytes[cut..]);
        env.ingest(&env.path("in"));
        rows::assert_same(&rows::told_anywhere(&env), whole);
    }

    #[test]
    fn a_session_that_grows_in_any_steps_is_as_if_read_once(
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 1..5),
    ) {
        let text = session("c1").text();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.sort_unstable();
        cuts.push(text.len());
        let env = TestEnv::new();
        let path = env.write("in/c1.jsonl", "");
        let mut at = 0;
        for cut in cuts {
            append(&path, &text.as_bytes()[at..cut]);
            at = cut;
            env.ingest(&env.path("in"));
        }
        rows::assert_same(&rows::told_anywhere(&env), &fresh("c1.jsonl", &text));
    }
}

#[test]
fn a_rollout_that_was_archived_and_compressed_at_once_keeps_its_rows() {
    let env = TestEnv::new();
    let text = Codex::typical("x1").text();
    let path = env.write("in/sessions/rollout-x1.jsonl", &text);
    env.ingest(&env.path("in"));
    let before = rows::told_anywhere(&env);
    fs::remove_file(path).unwrap();
    env.write(
        "in/archived_sessions/rollout-x1.jsonl.zst",
        zstd::encode_all(text.as_bytes(), 3).unwrap(),
    );
    let summary = env.ingest(&env.path("in"));
    assert_eq!((&summary["lines"], &summary["missing"]), (&0.into(), &0.into()));
    let after = rows::told_anywhere(&env);
    assert_eq!(not_of_files(&after), not_of_files(&before));
    assert_eq!(rows::count(&env, "SELECT count(*) FROM source"), 1);
}

/// Rows that do not speak of the files themselves.
fn not_of_files(rows: &[String]) -> Vec<&String> {
    rows.iter().filter(|row| !row.starts_with("source:")).collect()
}

#[test]
fn a_restored_rollout_that_grows_is_read_on() {
    let env = TestEnv::new();
    let text = Codex::typical("x1").text();
    let cut = text.match_indices('\n').nth(4).unwrap().0 + 1;
    let packed =
        env.write("in/rollout-x1.jsonl.zst", zstd::encode_all(&text.as_bytes()[..cut], 3).unwrap());
    env.ingest(&env.path("in"));
    fs::remove_file(packed).unwrap();
    env.write("in/rollout-x1.jsonl", &text);
    let summary = env.ingest(&env.path("in"));
    assert_eq!(summary["lines"], text.lines().count() - 5);
    rows::assert_same(&rows::told_anywhere(&env), &fresh("rollout-x1.jsonl", &text));
}

#[test]
fn two_files_that_changed_places_keep_their_rows() {
    let env = TestEnv::new();
    let one = env.write("in/one.jsonl", session("c1").text());
    let two = env.write("in/two.jsonl", session("c2").text());
    env.ingest(&env.path("in"));
    let before = rows::told_anywhere(&env);
    let aside = env.path("aside");
    fs::rename(&one, &aside).unwrap();
    fs::rename(&two, &one).unwrap();
    fs::rename(&aside, &two).unwrap();
    assert_eq!(env.ingest(&env.path("in"))["lines"], 0);
    rows::assert_same(&rows::told_anywhere(&env), &before);
}

#[test]
fn another_file_with_the_inode_of_one_that_is_gone_takes_nothing_from_it() {
    let env = TestEnv::new();
    let path = env.write("in/one.jsonl", session("c1").text());
    env.ingest(&env.path("in"));
    // The same inode at another path with other bytes is what a file system makes of a deletion
    // and a new file.
    let other = env.path("in/two.jsonl");
    fs::rename(&path, &other).unwrap();
    fs::write(&other, session("c2").text()).unwrap();
    env.ingest(&env.path("in"));
    let names: Vec<_> = env.sessions().iter().map(|s| s["native_id"].clone()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn a_file_that_was_emptied_keeps_what_was_recorded_of_it() {
    let env = reread(session("c1").text(), |_, path| fs::write(path, "").unwrap());
    assert_eq!(env.sessions()[0]["events"], 6);
    assert_eq!(rows::texts(&env, "SELECT state FROM source"), ["missing"]);
}

#[test]
fn a_file_of_which_more_shows_that_it_is_no_history_leaves_only_that_loss() {
    let first = session("c1").lines()[1].clone();
    let foreign = "{\"type\":\"system\",\"words\":1}\n".repeat(30);
    let text = format!("{first}\n{foreign}");
    let seen = |env: &TestEnv| {
        let of = "SELECT count(*) FROM source WHERE state = 'not_recognised'";
        (rows::count(env, of), rows::count(env, "SELECT count(*) FROM event"))
    };
    let alone = TestEnv::new();
    alone.write("in/c1.jsonl", &text);
    alone.ingest(&alone.path("in"));
    let env = reread(format!("{first}\n"), |_, path| append(path, foreign.as_bytes()));
    assert_eq!(seen(&env), seen(&alone));
}

#[test]
fn a_history_that_was_overwritten_with_something_else_keeps_its_rows() {
    let env = reread(session("c1").text(), |_, path| fs::write(path, "{\"a\":1}\n").unwrap());
    assert_eq!(env.sessions()[0]["events"], 6);
    assert_eq!(env.lost("source_not_recognised"), 1);
}

#[test]
fn a_half_written_compressed_file_is_read_whole_later_and_its_loss_goes() {
    let text = session("c1").text().repeat(40);
    let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
    let env = TestEnv::new();
    let path = env.write("in/c1.jsonl.zst", &packed[..packed.len() / 2]);
    env.run(["ingest", "in"]).ok();
    let losses = "SELECT reason || ': ' || detail FROM loss WHERE detail LIKE 'compressed%'";
    assert_eq!(rows::texts(&env, losses), ["line_torn: compressed file ends early"]);
    fs::write(&path, &packed).unwrap();
    env.run(["ingest", "in"]).ok();
    assert!(rows::texts(&env, losses).is_empty());
    assert_eq!(env.sessions()[0]["losses"], 0);
}
