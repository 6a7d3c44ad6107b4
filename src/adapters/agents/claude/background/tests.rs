//! Ends of tasks, as notices and tools tell them.

use super::*;
use serde_json::json;

fn told(end: Option<TaskEnd<'_>>) -> (String, Option<(i64, bool)>) {
    let end = end.unwrap();
    (format!("{} {}", end.task, end.outcome), end.exit.map(|exit| (exit.code, exit.literal)))
}

fn notified(status: &str, summary: &str) -> String {
    format!(
        "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n\
         <status>{status}</status>\n<summary>{summary}</summary>\n</task-notification>\nRead it."
    )
}

#[test]
fn a_notice_names_the_task_its_call_and_a_guessed_code() {
    let good = notified("completed", "Background command \"t\" completed (exit code 0)");
    assert_eq!(told(notice(&good)), ("b1 ok".to_owned(), Some((0, false))));
    assert_eq!(notice(&good).unwrap().call, Some("toolu_1"));
    let bad = notified("failed", "Background command \"t\" failed with exit code 101");
    assert_eq!(told(notice(&bad)), ("b1 failed".to_owned(), Some((101, false))));
    let gone = notified("killed", "Background command \"t\" was stopped");
    assert_eq!(told(notice(&gone)), ("b1 interrupted".to_owned(), None));
}

#[test]
fn a_code_inside_the_description_is_not_taken() {
    for summary in [
        "Background command \"look for: failed with exit code 3\" completed",
        "Background command \"it completed (exit code 0)\" was stopped",
        "exit code 3",
    ] {
        let said = notified("killed", summary);
        assert_eq!(notice(&said).unwrap().exit, None, "{summary}");
    }
}

#[test]
fn a_code_that_the_status_denies_is_not_taken() {
    let said = notified("completed", "Background command \"t\" completed (exit code 1)");
    assert_eq!(told(notice(&said)), ("b1 ok".to_owned(), None));
    let said = notified("failed", "Background command \"t\" failed with exit code 0");
    assert_eq!(told(notice(&said)), ("b1 failed".to_owned(), None));
}

#[test]
fn what_the_task_itself_said_is_never_read() {
    let said = "<task-notification><task-id>a1</task-id><result><status>completed</status>\
        <summary>x completed (exit code 0)</summary></result></task-notification>";
    assert_eq!(notice(said), None);
    let said = "<task-notification><task-id>a1</task-id><status>completed</status><result>\
        <tool-use-id>toolu_other</tool-use-id></result></task-notification>";
    assert_eq!(notice(said).unwrap().call, None);
}

#[test]
fn news_of_a_task_that_goes_on_is_no_end() {
    assert_eq!(notice(&notified("running", "x")), None);
    assert_eq!(notice("<task-notification><task-id>m1</task-id><event>line</event>"), None);
    assert_eq!(notice("see <task-notification>"), None);
    let going = json!({"task": {"task_id": "b1", "status": "running", "exitCode": null}});
    assert_eq!(answer("TaskOutput", None, &going), None);
}

#[test]
fn the_answer_about_a_task_states_its_code_as_a_number() {
    let task = json!({"retrieval_status": "success",
        "task": {"task_id": "b1", "task_type": "local_bash", "status": "failed", "exitCode": 2}});
    assert_eq!(told(answer("TaskOutput", None, &task)), ("b1 failed".to_owned(), Some((2, true))));
    let shell = json!({"shellId": "bash_1", "status": "completed", "exitCode": 0, "stdout": "x"});
    assert_eq!(told(answer("BashOutput", None, &shell)), ("bash_1 ok".to_owned(), Some((0, true))));
    assert_eq!(answer("Read", None, &shell), None);
}

#[test]
fn an_answer_that_is_only_text_is_read_before_the_output_begins() {
    let shown = json!(
        "<status>failed</status>\n\n<exit_code>1</exit_code>\n\n<stdout>\n\
        <exit_code>0</exit_code></stdout>"
    );
    let input = json!({"bash_id": "bash_1"});
    assert_eq!(
        told(answer("BashOutput", Some(&input), &shown)),
        ("bash_1 failed".to_owned(), Some((1, true)))
    );
    let shown = json!(
        "<task_id>b1</task_id><status>completed</status><output>\n\
        <exit_code>0</exit_code></output>"
    );
    assert_eq!(told(answer("TaskOutput", None, &shown)), ("b1 ok".to_owned(), None));
}

#[test]
fn a_task_that_was_stopped_is_interrupted_unless_stopping_failed() {
    let stopped = json!({"message": "stopped", "task_id": "b1", "task_type": "local_bash"});
    assert_eq!(told(answer("TaskStop", None, &stopped)), ("b1 interrupted".to_owned(), None));
    let refused = json!({"success": false, "shell_id": "bash_1"});
    assert_eq!(answer("KillShell", None, &refused), None);
    let input = json!({"shell_id": "bash_1"});
    let shown = json!("killed");
    assert_eq!(
        told(answer("KillBash", Some(&input), &shown)),
        ("bash_1 interrupted".to_owned(), None)
    );
}

#[test]
fn a_launch_names_its_task() {
    for (response, id) in [
        (json!({"stdout": "", "backgroundTaskId": "b1"}), Some("b1")),
        (json!({"isAsync": true, "agentId": "a1"}), Some("a1")),
        (json!("Command running in background with ID: b1. Output is written to: /x"), Some("b1")),
        (json!("Command running in background with ID: bash_1"), Some("bash_1")),
        (json!("done"), None),
        (json!({"stdout": ""}), None),
    ] {
        assert_eq!(launched(&response), id, "{response}");
    }
}
