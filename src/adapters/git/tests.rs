//! Repositories made with gix, and what the witness says of them.

use super::GixWitness;
use crate::domain::repository::{Facts, Found, Question, Testimony, Unavailable};
use crate::ports::git::GitWitness as _;
use gix::objs::tree::EntryKind;
use gix::{ObjectId, Repository};
use std::fs;
use std::path::Path;

const T0: i64 = 1_700_000_000;

fn repository(folder: &Path, hash: gix::hash::Kind, bare: bool) -> Repository {
    let kind = if bare { gix::create::Kind::Bare } else { gix::create::Kind::WithWorktree };
    let options = gix::create::Options { object_hash: Some(hash), ..Default::default() };
    gix::ThreadSafeRepository::init_opts(folder, kind, options, gix::open::Options::isolated())
        .unwrap()
        .to_thread_local()
}

/// A commit of `files` on top of `parents`, `seconds` after the first.
fn commit(
    repository: &Repository,
    reference: &str,
    parents: &[ObjectId],
    files: &[(&str, &str)],
    seconds: i64,
) -> ObjectId {
    let empty = repository.empty_tree().id().detach();
    let mut tree = repository.edit_tree(empty).unwrap();
    for (path, text) in files {
        let blob = repository.write_blob(text.as_bytes()).unwrap();
        tree.upsert(*path, EntryKind::Blob, blob).unwrap();
    }
    let tree = tree.write().unwrap().detach();
    let stamp = format!("{} +0000", T0 + seconds);
    let who =
        gix::actor::SignatureRef { name: "A".into(), email: "a@example.org".into(), time: &stamp };
    repository.commit_as(who, who, reference, "m", tree, parents.iter().copied()).unwrap().detach()
}

fn put(folder: &Path, path: &str, text: &str) {
    let place = folder.join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, text).unwrap();
}

fn refer(repository: &Repository, name: &str, id: ObjectId) {
    let place = repository.git_dir().join(name);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, format!("{id}\n")).unwrap();
}

fn about(folder: &Path) -> Question {
    Question { folder: folder.to_str().unwrap().to_owned(), ..Question::default() }
}

fn ask(question: &Question) -> Facts {
    match GixWitness::new().examine(question) {
        Testimony::Facts(facts) => facts,
        Testimony::Unavailable(reason) => panic!("{reason:?}"),
    }
}

fn refusal(question: &Question) -> Unavailable {
    match GixWitness::new().examine(question) {
        Testimony::Facts(facts) => panic!("{facts:?}"),
        Testimony::Unavailable(reason) => reason,
    }
}

/// Two commits on the branch that is checked out; the second changes `a.rs`.
fn two_commits(folder: &Path, hash: gix::hash::Kind) -> (Repository, ObjectId, ObjectId) {
    let repository = repository(folder, hash, false);
    let first = commit(&repository, "HEAD", &[], &[("a.rs", "1"), ("src/b.rs", "1")], 0);
    let both = [("a.rs", "2"), ("src/b.rs", "1")];
    let second = commit(&repository, "HEAD", &[first], &both, 60);
    for (path, text) in both {
        put(folder, path, text);
    }
    (repository, first, second)
}

#[test]
fn a_commit_is_found_by_the_beginning_of_its_hash_and_its_files_are_told() {
    for hash in [gix::hash::Kind::Sha1, gix::hash::Kind::Sha256] {
        let folder = tempfile::tempdir().unwrap();
        let (_, first, second) = two_commits(folder.path(), hash);
        let question = Question {
            commit: Some(second.to_string()[..9].to_owned()),
            paths: ["a.rs", "src/b.rs", "none.rs"].map(str::to_owned).to_vec(),
            ..about(folder.path())
        };
        let facts = ask(&question);
        let found = facts.found().unwrap();
        assert_eq!((found.id.clone(), found.named), (second.to_string(), true));
        assert_eq!(found.committed_at, T0 + 60);
        assert_eq!(facts.on_branch, Some(true));
        let touched: Vec<Option<bool>> = facts.touches.iter().map(|(_, t)| *t).collect();
        assert_eq!(touched, [Some(true), Some(false), Some(false)]);
        assert!(facts.differing.is_empty(), "{facts:?}");
        let of_first = ask(&Question { commit: Some(first.to_string()), ..question });
        assert_eq!(of_first.touches[0].1, Some(true), "a root commit adds its files");
    }
}

#[test]
fn paths_are_read_from_the_folder_of_the_work_and_never_beyond_the_repository() {
    let folder = tempfile::tempdir().unwrap();
    let (_, _, second) = two_commits(folder.path(), gix::hash::Kind::Sha1);
    let absolute = folder.path().join("a.rs").to_str().unwrap().to_owned();
    let facts = ask(&Question {
        commit: Some(second.to_string()),
        paths: vec!["../a.rs".to_owned(), absolute, "/etc/hostname".to_owned()],
        ..about(&folder.path().join("src"))
    });
    let touched: Vec<Option<bool>> = facts.touches.iter().map(|(_, t)| *t).collect();
    assert_eq!(touched, [Some(true), Some(true), None]);
}

#[test]
fn a_commit_of_another_branch_is_there_but_not_on_the_one_that_is_checked_out() {
    let folder = tempfile::tempdir().unwrap();
    let (repository, first, second) = two_commits(folder.path(), gix::hash::Kind::Sha1);
    let side = commit(&repository, "refs/heads/side", &[], &[("c", "1")], 90);
    let named = |id: ObjectId, branch: Option<&str>| {
        ask(&Question {
            commit: Some(id.to_string()),
            branch: branch.map(str::to_owned),
            ..about(folder.path())
        })
        .on_branch
    };
    assert_eq!(named(side, None), Some(false));
    assert_eq!(named(side, Some("side")), Some(true));
    assert_eq!(named(first, None), Some(true));
    assert_eq!(named(second, Some("no-such-branch")), None);
    assert_eq!(named(second, Some("../../x y")), None);
}

#[test]
fn a_hash_that_nothing_has_is_missing_and_one_of_a_tree_is_no_commit() {
    let folder = tempfile::tempdir().unwrap();
    let (repository, first, _) = two_commits(folder.path(), gix::hash::Kind::Sha1);
    let tree = repository.find_commit(first).unwrap().tree_id().unwrap().to_string();
    let found =
        |hex: &str| ask(&Question { commit: Some(hex.to_owned()), ..about(folder.path()) }).commit;
    assert_eq!(found("0123456789"), Found::Missing);
    assert_eq!(found("not hex"), Found::Missing);
    assert_eq!(found(""), Found::Missing);
    assert_eq!(found(&tree), Found::OtherObject);
}

#[test]
fn remote_tracking_references_tell_what_was_pushed() {
    let folder = tempfile::tempdir().unwrap();
    let (repository, first, second) = two_commits(folder.path(), gix::hash::Kind::Sha1);
    let branch = repository.head_name().unwrap().unwrap().shorten().to_string();
    let facts = ask(&about(folder.path()));
    assert!(!facts.remote_known && facts.on_remotes.is_empty());
    refer(&repository, &format!("refs/remotes/origin/{branch}"), first);
    refer(&repository, "refs/remotes/origin/other", second);
    let facts = ask(&about(folder.path()));
    assert!(facts.remote_known && facts.on_remotes.is_empty(), "{facts:?}");
    refer(&repository, &format!("refs/remotes/origin/{branch}"), second);
    let facts = ask(&about(folder.path()));
    assert_eq!(facts.on_remotes, [format!("origin/{branch}")]);
    let elsewhere = Question { remote: Some("fork".to_owned()), ..about(folder.path()) };
    assert!(!ask(&elsewhere).remote_known);
}

#[test]
fn commits_of_a_span_of_time_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (_, _, second) = two_commits(folder.path(), gix::hash::Kind::Sha1);
    let made = |from: i64, to: i64| {
        ask(&Question { between: Some((T0 + from, T0 + to)), ..about(folder.path()) }).made_between
    };
    assert_eq!(made(30, 60), [second.to_string()]);
    assert_eq!(made(0, 60).len(), 2);
    assert!(made(1, 59).is_empty());
}

#[test]
fn a_file_that_was_changed_since_differs_and_so_does_one_that_was_never_committed() {
    let folder = tempfile::tempdir().unwrap();
    let _ = two_commits(folder.path(), gix::hash::Kind::Sha1);
    put(folder.path(), "a.rs", "3");
    put(folder.path(), "new.rs", "1");
    let paths = ["a.rs", "src/b.rs", "new.rs", "never.rs"].map(str::to_owned).to_vec();
    let facts = ask(&Question { paths, ..about(folder.path()) });
    assert_eq!(facts.differing, ["a.rs", "new.rs"]);
}

#[test]
fn a_cut_history_never_says_no() {
    let folder = tempfile::tempdir().unwrap();
    let (repository, _, second) = two_commits(folder.path(), gix::hash::Kind::Sha1);
    let side = commit(&repository, "refs/heads/side", &[], &[("c", "1")], 90);
    fs::write(repository.git_dir().join("shallow"), format!("{second}\n")).unwrap();
    let facts = ask(&Question { commit: Some(side.to_string()), ..about(folder.path()) });
    assert!(facts.shallow);
    assert_eq!(facts.on_branch, None);
}

#[test]
fn a_bare_repository_testifies_without_a_work_tree() {
    let folder = tempfile::tempdir().unwrap();
    let repository = repository(folder.path(), gix::hash::Kind::Sha1, true);
    let id = commit(&repository, "HEAD", &[], &[("a", "1")], 0);
    let facts = ask(&Question { paths: vec!["a".to_owned()], ..about(folder.path()) });
    assert!(facts.bare && facts.touches.is_empty());
    assert_eq!(facts.found().unwrap().id, id.to_string());
}

#[test]
fn a_linked_work_tree_testifies_with_its_own_head() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main");
    let (repository, first, _) = two_commits(&main, gix::hash::Kind::Sha1);
    let side = commit(&repository, "refs/heads/side", &[], &[("c", "1")], 90);
    let linked = folder.path().join("linked");
    fs::create_dir(&linked).unwrap();
    let own = repository.git_dir().join("worktrees/linked");
    fs::create_dir_all(&own).unwrap();
    fs::write(linked.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    fs::write(own.join("gitdir"), format!("{}\n", linked.join(".git").display())).unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    fs::write(own.join("HEAD"), "ref: refs/heads/side\n").unwrap();
    let facts = ask(&about(&linked));
    assert_eq!(facts.head, Some(side.to_string()));
    assert_eq!(facts.head_branch.as_deref(), Some("side"));
    let other = ask(&Question { commit: Some(first.to_string()), ..about(&linked) });
    assert_eq!(other.on_branch, Some(false));
}

#[test]
fn a_repository_without_a_commit_has_nothing_to_show() {
    let folder = tempfile::tempdir().unwrap();
    let _ = repository(folder.path(), gix::hash::Kind::Sha1, false);
    let facts = ask(&about(folder.path()));
    assert_eq!((facts.head, facts.commit), (None, Found::Nothing));
}

#[test]
fn what_cannot_be_asked_has_a_typed_reason() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(refusal(&about(folder.path())), Unavailable::NotARepository);
    assert_eq!(refusal(&about(&folder.path().join("gone"))), Unavailable::FolderMissing);
    assert_eq!(refusal(&about(Path::new("/proc/self/fd/no"))), Unavailable::FolderMissing);
    let (repository, _, _) = two_commits(folder.path(), gix::hash::Kind::Sha1);
    fs::write(repository.git_dir().join("config"), "[core\n").unwrap();
    assert_eq!(refusal(&about(folder.path())), Unavailable::Unreadable);
}

#[test]
fn damage_is_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (repository, first, second) = two_commits(folder.path(), gix::hash::Kind::Sha1);
    let hex = first.to_string();
    let object = repository.git_dir().join("objects").join(&hex[..2]).join(&hex[2..]);
    let _ = fs::remove_file(&object);
    fs::write(&object, b"\x78\x9cgarbage").unwrap();
    let named = Question { commit: Some(hex), ..about(folder.path()) };
    let _ = GixWitness::new().examine(&named);
    let _ = GixWitness::new().examine(&Question { commit: Some(second.to_string()), ..named });
    fs::write(repository.git_dir().join("HEAD"), b"\xff\x00").unwrap();
    let _ = GixWitness::new().examine(&about(folder.path()));
}
