//! What can be wrong with the store, the journal and their disk while hooks run: the agent never
//! notices, and the record is kept where there is room for it.

use crate::store::{databases, home_of};
use crate::support::claude;
use crate::support::disks::{Disk, allow_writing, forbid_writing};
use crate::support::{TestEnv, rows};
use serde_json::Value;
use std::fs::{self, File};
use std::time::{Duration, Instant};

/// The deadline of a hook is 400 ms; a loaded machine adds to it, an unbounded wait much more.
const IN_TIME: Duration = Duration::from_secs(2);

/// One hook, silent and in time; `hook` itself asserts the silence.
fn hook(env: &TestEnv, call: &str) {
    let start = Instant::now();
    env.hook("claude", claude::post_tool_use("s", call, "ls", "a\n"));
    assert!(start.elapsed() < IN_TIME, "{:?}", start.elapsed());
}

/// A home whose store knows of one call.
fn recorded() -> TestEnv {
    let env = TestEnv::new();
    hook(&env, "toolu_1");
    env.run(["sessions"]).ok();
    env
}

fn calls(env: &TestEnv) -> Vec<String> {
    env.run(["sessions"]).ok();
    rows::texts(env, "SELECT call_id FROM sighting WHERE call_id LIKE 'toolu%' ORDER BY call_id")
}

fn journal_bytes(env: &TestEnv) -> u64 {
    fs::metadata(env.journal().join("current.fxj")).map_or(0, |meta| meta.len())
}

#[test]
fn a_locked_store_is_not_noticed_by_hooks() {
    let env = recorded();
    let conn = rows::open_to_write(&env);
    conn.execute_batch("BEGIN EXCLUSIVE").unwrap();
    hook(&env, "toolu_2");
    assert!(journal_bytes(&env) > 100);
    conn.execute_batch("ROLLBACK").unwrap();
    assert_eq!(calls(&env), ["toolu_1", "toolu_2"]);
}

#[test]
fn a_store_being_upgraded_is_not_noticed_by_hooks() {
    let env = home_of(&databases()[0].1);
    // Both locks of an upgrade: that of the folder, and that of a step.
    let folder = File::open(env.home()).unwrap();
    folder.lock().unwrap();
    let conn = rows::open_to_write(&env);
    conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    hook(&env, "toolu_2");
    assert!(journal_bytes(&env) > 100);
    conn.execute_batch("ROLLBACK").unwrap();
    drop((conn, folder));
    assert!(calls(&env).contains(&"toolu_2".to_owned()));
}

#[test]
fn a_store_that_is_newer_or_damaged_is_not_noticed_by_hooks_and_not_touched() {
    let env = recorded();
    rows::open_to_write(&env)
        .execute_batch("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    let newer = fs::read(env.store()).unwrap();
    for bytes in [newer.clone(), newer[..5_000].to_vec(), b"prose ".repeat(900)] {
        fs::write(env.store(), &bytes).unwrap();
        let before = journal_bytes(&env);
        hook(&env, "toolu_2");
        assert!(journal_bytes(&env) > before);
        assert_eq!(fs::read(env.store()).unwrap(), bytes);
    }
}

#[test]
fn a_store_on_a_full_disk_is_not_noticed_by_hooks_and_what_waits_is_told() {
    let env = TestEnv::new();
    let Some(small) = Disk::of_size(&env.home(), 4 * 1024) else { return };
    let Some(apart) = Disk::of_size(&env.journal(), 1024) else { return };
    hook(&env, "toolu_1");
    assert_eq!(calls(&env), ["toolu_1"]);
    small.fill("filler");
    for nth in 2..20 {
        hook(&env, &format!("toolu_{nth}"));
    }
    let told = env.run(["sessions", "--json"]).fails_with(0);
    assert_eq!(told.json()["sessions"][0]["events"], 1);
    assert!(told.stderr.contains("of hook records wait in the journal"), "{}", told.stderr);
    fs::remove_file(env.home().join("filler")).unwrap();
    assert_eq!(calls(&env).len(), 19);
    assert_eq!(env.losses(), Vec::<Value>::new());
    drop((apart, small, env));
}

#[test]
fn a_full_journal_sends_the_record_to_the_runtime_folder() {
    let env = recorded();
    let Some(disk) = Disk::of_size(&env.journal(), 64) else { return };
    hook(&env, "toolu_2");
    disk.fill("filler");
    // What is left of the last page takes some more.
    for nth in 3..40 {
        hook(&env, &format!("toolu_{nth}"));
    }
    assert!(!TestEnv::files_below(&env.runtime()).is_empty());
    fs::remove_file(env.journal().join("filler")).unwrap();
    env.run(["sessions"]).fails_with(0);
    assert_eq!(calls(&env).len(), 39);
    // A frame that went in half is one that went whole elsewhere.
    assert!(env.losses().iter().all(|loss| loss["reason"] == "frame_torn"), "{:?}", env.losses());
    assert!(env.lost("frame_torn") <= 37);
    assert_eq!(TestEnv::files_below(&env.runtime()), []);
    drop((disk, env));
}

#[test]
fn a_journal_that_cannot_be_written_sends_the_record_to_the_runtime_folder() {
    let env = recorded();
    let disk = Disk::of_size(&env.journal(), 64);
    match &disk {
        Some(disk) => disk.freeze(),
        None if forbid_writing(&env.journal()) => {}
        None => return,
    }
    hook(&env, "toolu_2");
    assert_eq!(TestEnv::files_below(&env.runtime()).len(), 1);
    match disk {
        Some(disk) => drop(disk),
        None => allow_writing(&env.journal()),
    }
    assert_eq!(calls(&env), ["toolu_1", "toolu_2"]);
    assert_eq!(TestEnv::files_below(&env.runtime()), []);
}

#[test]
fn a_file_in_the_place_of_the_journal_sends_the_record_to_the_runtime_folder() {
    let env = recorded();
    fs::remove_dir_all(env.journal()).unwrap();
    fs::write(env.journal(), "in the way").unwrap();
    hook(&env, "toolu_2");
    assert_eq!(fs::read_to_string(env.journal()).unwrap(), "in the way");
    let told = env.run(["sessions", "--json"]).fails_with(0);
    assert_eq!(told.json()["sessions"][0]["events"], 1);
    assert!(told.stderr.contains("of hook records wait in the journal"), "{}", told.stderr);
    fs::remove_file(env.journal()).unwrap();
    assert_eq!(calls(&env), ["toolu_1", "toolu_2"]);
}

#[test]
fn a_journal_that_went_is_made_again() {
    let env = recorded();
    fs::remove_dir_all(env.journal()).unwrap();
    hook(&env, "toolu_2");
    assert_eq!(calls(&env), ["toolu_1", "toolu_2"]);
}

#[test]
fn a_corrupted_frame_costs_itself_and_is_counted() {
    let env = TestEnv::new();
    for nth in 1..=3 {
        hook(&env, &format!("toolu_{nth}"));
    }
    let current = env.journal().join("current.fxj");
    let mut bytes = fs::read(&current).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&current, bytes).unwrap();
    let told = env.run(["sessions"]).fails_with(0);
    assert!(told.stderr.contains("1 damaged journal frames"), "{}", told.stderr);
    assert_eq!(calls(&env), ["toolu_1", "toolu_3"]);
    assert_eq!(env.lost("frame_torn"), 1);
}

#[test]
fn the_frames_of_every_released_format_are_read() {
    let env = TestEnv::new();
    fs::create_dir_all(env.journal()).unwrap();
    let frames = include_bytes!("../../fixtures/journal/v1.fxj");
    fs::write(env.journal().join("current.fxj"), frames).unwrap();
    let expected = ["toolu_golden_1", "toolu_golden_2", "toolu_golden_3"];
    assert_eq!(calls(&env), expected);
    assert_eq!(rows::texts(&env, "SELECT text FROM sighting WHERE text <> ''"), ["waiting"]);
    assert_eq!(rows::count(&env, "SELECT count(*) FROM event WHERE outcome = 'ok'"), 3);
    assert_eq!(env.lost("hook_payload_invalid"), 1);
    assert_eq!(env.losses().len(), 1, "{:?}", env.losses());
}

#[test]
fn frames_of_a_newer_format_are_named_and_wait_for_the_program_that_reads_them() {
    let env = TestEnv::new();
    hook(&env, "toolu_1");
    let current = env.journal().join("current.fxj");
    let newer = "\nfxj2 of a later fornax\n";
    fs::write(&current, [fs::read(&current).unwrap(), newer.into()].concat()).unwrap();
    hook(&env, "toolu_2");
    let told = env.run(["sessions"]).fails_with(0);
    assert!(told.stderr.contains("1 journal frames are of a newer format"), "{}", told.stderr);
    assert_eq!(calls(&env), ["toolu_1", "toolu_2"]);
    assert_eq!(env.lost("frame_newer"), 1);
    let kept = TestEnv::files_below(&env.journal());
    let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(newer);
    assert_eq!(kept.iter().filter(|(_, bytes)| holds(bytes)).count(), 1);
}
