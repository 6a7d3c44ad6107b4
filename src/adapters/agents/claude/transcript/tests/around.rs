//! Git operations, pull requests, files that others changed, moves to another folder.

use super::super::super::samples::{briefs, events, evidence, fixture, messages, read};
use super::*;

fn facts_of(said: &[Message]) -> Vec<(&str, &str, String)> {
    evidence(said)
        .iter()
        .map(|f| (f.event_native.id.as_str(), f.slot.as_str(), f.path.clone()))
        .collect()
}

#[test]
fn a_git_operation_that_the_host_tells_is_evidence_of_its_command() {
    let said = messages("git_operations.jsonl");
    let path = |of: &str| format!("toolUseResult.gitOperation.{of}");
    let git: Vec<_> = facts_of(&said).into_iter().filter(|f| f.1.starts_with("git:")).collect();
    assert_eq!(
        git,
        [
            ("toolu_1", "git:commit", path("commit")),
            ("toolu_1", "git:push", path("push")),
            ("toolu_2", "git:pull_request", path("pr")),
            ("toolu_3", "git:branch", path("branch")),
        ]
    );
    let commit = evidence(&said).into_iter().find(|f| f.slot == "git:commit").unwrap();
    assert_eq!(commit.payload["observation"]["commit_sha"], "ab12cd3");
    assert_eq!(commit.provenance, "claude_code:0.3.0:transcript:Bash#git_operation");
}

#[test]
fn a_command_in_the_background_and_a_tool_that_is_no_shell_have_no_git_operation() {
    let said = messages("git_operations.jsonl");
    let silent = |f: &&&str| matches!(**f, "toolu_4" | "toolu_5");
    assert_eq!(facts_of(&said).iter().map(|f| &f.0).filter(silent).count(), 0);
}

#[test]
fn links_to_one_pull_request_are_one_event_with_its_number() {
    let said = messages("git_operations.jsonl");
    let links: Vec<String> =
        briefs(&said).into_iter().filter(|b| b.starts_with("pull_request")).collect();
    assert_eq!(links, ["pull_request - pull_request:o/r#7"; 2]);
    let link = evidence(&said).into_iter().find(|f| f.slot == "pull_request").unwrap();
    assert_eq!(link.payload["observation"]["url"], "https://example.org/o/r/pull/7");
    assert_eq!(link.event_native, NativeId::new("pull_request", "o/r#7"));
}

#[test]
fn a_file_that_others_changed_is_an_edit_without_its_text() {
    let said = messages("surroundings.jsonl");
    assert_eq!(briefs(&said)[1], "file_changed - line:t1#0");
    let changed = evidence(&said);
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0].payload, json!({"path": "/w/a.rs", "diff": ""}));
    assert_eq!(events(&said)[1].text.as_deref(), Some("/w/a.rs"));
}

#[test]
fn a_move_to_another_folder_is_told_once_and_by_whichever_line_tells_it_first() {
    let moves: Vec<(String, Option<String>, Option<String>)> = read(&fixture("surroundings.jsonl"))
        .into_iter()
        .flat_map(NormalizationOutcome::into_messages)
        .filter_map(|m| if let Message::Turn(turn) = m { Some(turn) } else { None })
        .map(|turn| (turn.path, turn.cwd, turn.git_branch))
        .collect();
    let told = |path: &str, cwd: &str, branch: Option<&str>| {
        (path.to_owned(), Some(cwd.to_owned()), branch.map(str::to_owned))
    };
    assert_eq!(
        moves,
        [
            told("cwd", "/w", Some("main")),
            told("worktreeSession.worktreePath", "/wt/topic", Some("topic")),
            told("cwd", "/w", Some("main")),
            told("relocatedCwd", "/elsewhere", None),
        ]
    );
}
