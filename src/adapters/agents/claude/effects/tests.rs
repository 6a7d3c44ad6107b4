//! What became of a call, told from the answers of each kind of tool.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn bash(response: Value) -> Effect {
    of_success(Some("Bash"), None, Some(&response))
}

#[test]
fn a_monitor_goes_on_after_it_was_started() {
    let started = json!({"taskId": "m1", "timeoutMs": 1000});
    let effect = of_success(Some("Monitor"), None, Some(&started));
    assert_eq!(effect.outcome, Outcome::Running);
    let refused = of_success(Some("Monitor"), None, Some(&json!("not now")));
    assert_eq!(refused.outcome, Outcome::Ok);
}

#[test]
fn only_a_whole_first_line_is_an_exit_header() {
    assert_eq!(exit_header("Exit code 1"), Some(1));
    assert_eq!(exit_header("Exit code 101\nboom"), Some(101));
    assert_eq!(exit_header("Exit code -1\n"), Some(-1));
    for other in [
        "exit code 1",
        "Exit code 1 was seen",
        "Exit code ",
        "Exit code +1",
        "Exit code 1.5",
        " Exit code 1",
        "boom\nExit code 1",
        "Exit code 99999999999999999999",
        "Exit code --1",
        "Exit code: 1",
        "",
    ] {
        assert_eq!(exit_header(other), None, "{other:?}");
    }
}

#[test]
fn a_failed_shell_command_has_the_code_of_its_header() {
    for message in ["Exit code 2\nout", "Error: Exit code 2\nout"] {
        let effect = of_failure(true, message);
        assert_eq!((effect.outcome, effect.exit_code), (Outcome::Failed, Some(2)));
    }
}

#[test]
fn a_tool_that_is_no_shell_has_no_exit_code_whatever_its_text_says() {
    assert_eq!(of_failure(false, "Exit code 2\nout").exit_code, None);
}

#[test]
fn an_old_failure_without_a_header_has_no_code() {
    let effect = of_failure(true, "Error: Error");
    assert_eq!((effect.outcome, effect.exit_code), (Outcome::Failed, None));
}

#[test]
fn a_refusal_is_denied_and_never_failed() {
    for message in [
        "User rejected tool use",
        "The user doesn't want to proceed with this tool use. The tool use was rejected",
        "Error: Permission to use Bash with command rm has been denied.",
        "Claude requested permissions to use Bash, but you haven't granted it yet.",
        "PreToolUse:Bash hook error: [guard.sh]: no",
        "Bash operation blocked by hook:\n- no",
    ] {
        assert_eq!(of_failure(true, message).outcome, Outcome::Denied, "{message}");
    }
    assert_eq!(of_failure(true, "bash: Permission denied").outcome, Outcome::Failed);
}

#[test]
fn a_command_that_printed_a_refusal_after_its_header_ran_and_failed() {
    let effect = of_failure(true, "Exit code 1\nPermission to use the drive is missing");
    assert_eq!((effect.outcome, effect.exit_code), (Outcome::Failed, Some(1)));
}

#[test]
fn interruptions_and_cancelled_siblings_are_interrupted() {
    for message in [
        "Error: [Request interrupted by user for tool use]",
        "Interrupted by user",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "Cancelled: parallel tool call Bash(false) errored",
    ] {
        let effect = of_failure(true, message);
        assert_eq!((effect.outcome, effect.exit_code), (Outcome::Interrupted, None), "{message}");
    }
    let killed = of_failure(true, "Exit code 137\n[Request interrupted by user for tool use]");
    assert_eq!((killed.outcome, killed.exit_code), (Outcome::Interrupted, Some(137)));
}

#[test]
fn an_input_that_did_not_validate_is_a_failure_without_a_code() {
    let effect = of_failure(true, "<tool_use_error>InputValidationError: x</tool_use_error>");
    assert_eq!((effect.outcome, effect.exit_code), (Outcome::Failed, None));
}

#[test]
fn a_plain_shell_success_is_stated_without_a_number() {
    let effect = bash(json!({"stdout": "Exit code 3", "stderr": "x", "interrupted": false}));
    assert_eq!(effect, Effect { outcome: Outcome::Ok, exit_code: None, stated_success: true });
}

#[test]
fn a_benign_non_zero_end_is_ok_and_proves_nothing() {
    let effect = bash(json!({"stdout": "", "stderr": "", "interrupted": false,
        "returnCodeInterpretation": "No matches found"}));
    assert_eq!(effect, Effect { outcome: Outcome::Ok, exit_code: None, stated_success: false });
}

#[test]
fn whatever_went_to_the_background_is_running() {
    for response in [
        json!({"stdout": "", "backgroundTaskId": "b1"}),
        json!({"stdout": "", "assistantAutoBackgrounded": true}),
        json!({"stdout": "", "timedOutAfterMs": 120000}),
        json!({"detachedToolCall": true}),
        json!("Command running in background with ID: b1. Output is written elsewhere"),
    ] {
        let effect = bash(response.clone());
        assert_eq!(effect, Effect::only(Outcome::Running), "{response}");
    }
    let input = json!({"command": "serve", "run_in_background": true});
    let shown = json!("started");
    assert_eq!(of_success(Some("Bash"), Some(&input), Some(&shown)).outcome, Outcome::Running);
    assert_eq!(bash(json!({"interrupted": true, "stdout": ""})).outcome, Outcome::Interrupted);
}

#[test]
fn a_literal_integer_in_a_shell_response_is_taken_and_a_string_is_not() {
    assert_eq!(bash(json!({"stdout": "", "exitCode": 3})).exit_code, Some(3));
    assert_eq!(bash(json!({"stdout": "", "returncode": 0})).outcome, Outcome::Ok);
    assert_eq!(bash(json!({"stdout": "", "exit_code": "3"})).exit_code, None);
    assert_eq!(bash(json!({"stdout": "", "status": 3})).exit_code, None);
    let read = json!({"exit_code": 3});
    assert_eq!(of_success(Some("Read"), None, Some(&read)).exit_code, None);
}

#[test]
fn a_shell_call_without_an_answer_is_unknown_and_any_other_call_ok() {
    assert_eq!(of_success(Some("Bash"), None, None), Effect::only(Outcome::Unknown));
    assert_eq!(of_success(Some("Read"), None, None), Effect::only(Outcome::Ok));
}

#[test]
fn a_launched_agent_is_running_and_a_finished_one_ok() {
    let of = |response: Value| of_success(Some("Agent"), None, Some(&response)).outcome;
    assert_eq!(of(json!({"status": "async_launched", "isAsync": true})), Outcome::Running);
    assert_eq!(of(json!({"status": "completed"})), Outcome::Ok);
    let other = json!({"status": "async_launched"});
    assert_eq!(of_success(Some("mcp__x__y"), None, Some(&other)).outcome, Outcome::Ok);
}

#[test]
fn a_staged_edit_has_no_known_outcome() {
    let staged = json!({"filePath": "/w/a", "staged": true});
    assert_eq!(of_success(Some("Edit"), None, Some(&staged)), Effect::only(Outcome::Unknown));
}

proptest! {
    #[test]
    fn a_header_is_read_exactly_and_no_other_first_line_is_one(line in ".{0,40}", rest in ".{0,40}") {
        let text = format!("{line}\n{rest}");
        if let Some(code) = exit_header(&text) {
            let written = line.strip_prefix("Exit code ").unwrap();
            prop_assert_eq!(written.parse::<i64>().unwrap(), code);
        }
    }

    #[test]
    fn every_code_survives_its_header(code in any::<i64>(), rest in any::<String>()) {
        prop_assert_eq!(exit_header(&format!("Exit code {code}\n{rest}")), Some(code));
    }
}
