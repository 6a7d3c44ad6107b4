//! Which texts state an exit code, and which only look as if they did.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn code(tool: &str, output: Value) -> Option<i64> {
    read(Tool::of(tool), &output).exit_code
}

fn outcome(tool: &str, output: &str) -> Outcome {
    read(Tool::of(tool), &json!(output)).outcome
}

#[test]
fn each_tool_states_its_code_in_its_own_form() {
    let unified = "Chunk ID: 1f2e\nWall time: 0.0210 seconds\nProcess exited with code 3\nOriginal token count: 3\nOutput:\nx";
    let lines = "Exit code: 2\nWall time: 1 seconds\nTotal output lines: 9\nOutput:\nx";
    let text = r#"{"output":"x","metadata":{"exit_code":124,"duration_seconds":0.5}}"#;
    assert_eq!(code("exec_command", json!(unified)), Some(3));
    assert_eq!(code("write_stdin", json!(unified)), Some(3));
    assert_eq!(code("shell_command", json!(lines)), Some(2));
    assert_eq!(code("apply_patch", json!(lines)), Some(2));
    assert_eq!(code("shell", json!(text)), Some(124));
    assert_eq!(code("container.exec", json!(text)), Some(124));
    assert_eq!(code("local_shell", json!(text)), Some(124));
    assert_eq!(code("apply_patch", json!(text)), Some(124));
    assert_eq!(
        code("shell_command", json!("Exit code: -1\nWall time: 1 seconds\nOutput:\n")),
        Some(-1)
    );
}

#[test]
fn numbers_of_the_header_keep_their_spelling() {
    let unified = "Chunk ID: 1f2e\nWall time: 0.0210 seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\n";
    let reading = read(Tool::Exec, &json!(unified));
    assert_eq!(reading.outcome, Outcome::Ok);
    assert_eq!(reading.telemetry.get("wall_time_seconds").map(String::as_str), Some("0.0210"));
    assert_eq!(reading.telemetry.get("chunk_id").map(String::as_str), Some("1f2e"));
}

#[test]
fn look_alikes_in_the_body_state_nothing() {
    let body = "Wall time: 0.1 seconds\nOutput:\nProcess exited with code 0\n";
    assert_eq!(code("exec_command", json!(body)), None);
    assert_eq!(code("exec_command", json!("hello\nProcess exited with code 0\nOutput:\n")), None);
    assert_eq!(code("exec_command", json!(r#"{"output":"","metadata":{"exit_code":0}}"#)), None);
    assert_eq!(code("exec_command", json!("Exit code: 0\nWall time: 1 seconds\nOutput:\n")), None);
    assert_eq!(code("shell_command", json!("Wall time: 1 seconds\nExit code: 0\nOutput:\n")), None);
    assert_eq!(code("shell_command", json!("Process exited with code 0\nOutput:\n")), None);
    assert_eq!(code("shell", json!("x {\"metadata\":{\"exit_code\":0}}")), None);
    assert_eq!(code("shell_command", json!("Exit code: zero\nOutput:\n")), None);
}

#[test]
fn tools_that_are_no_shell_state_no_code() {
    let unified = "Wall time: 0.0210 seconds\nProcess exited with code 0\nOutput:\n";
    for tool in ["exec", "wait", "mcp__x__y", "shell<|channel|>", "ripgrep?", "view_image"] {
        assert_eq!(code(tool, json!(unified)), None, "{tool}");
        assert_eq!(code(tool, json!({"metadata": {"exit_code": 0}})), None, "{tool}");
    }
}

#[test]
fn only_the_first_text_part_of_a_list_can_hold_the_header() {
    let header = "Exit code: 7\nWall time: 1 seconds\nOutput:\n";
    let first =
        json!([{"type": "input_text", "text": header}, {"type": "input_text", "text": "x"}]);
    let second =
        json!([{"type": "input_text", "text": "x"}, {"type": "input_text", "text": header}]);
    let reading = read(Tool::ShellCommand, &first);
    assert_eq!((reading.exit_code, reading.path.as_str()), (Some(7), "[0].text"));
    assert_eq!(code("shell_command", second), None);
}

#[test]
fn an_object_states_its_code_or_its_success() {
    assert_eq!(code("shell", json!({"output": "", "metadata": {"exit_code": 5}})), Some(5));
    let stated = read(Tool::Shell, &json!({"content": "x", "success": true}));
    assert!(stated.stated_success && stated.exit_code.is_none());
    assert_eq!(read(Tool::Shell, &json!({"success": false})).outcome, Outcome::Failed);
    assert_eq!(code("shell", json!({"metadata": {"exit_code": 1.5}})), None);
}

#[test]
fn a_command_line_before_the_header_is_stepped_over() {
    let header = "Chunk ID: ab\nWall time: 0.1 seconds\nProcess exited with code 4\nOutput:\n";
    let text = |before: &str| json!(format!("{before}\n{header}"));
    assert_eq!(code("exec_command", text("Command: /bin/zsh -lc ls")), Some(4));
    assert_eq!(code("write_stdin", text("Command: /bin/zsh -lc 'cat <<EOF\nhi\nEOF'")), Some(4));
    assert_eq!(code("exec_command", text("Building: a\nand b")), None);
    assert_eq!(code("exec_command", text("done in 3: yes")), None);
    assert_eq!(code("shell_command", text("Command: /bin/zsh -lc ls")), None);
    let open = "Command: ls\nWall time: 0.1 seconds\nProcess exited with code 0\nbody";
    assert_eq!(code("exec_command", json!(open)), None);
}

#[test]
fn running_refused_aborted_and_unlaunched_calls_have_an_outcome_and_no_code() {
    let running = "Wall time: 1.0 seconds\nProcess running with session ID 77\nOutput:\n";
    let reading = read(Tool::Exec, &json!(running));
    assert_eq!(
        (reading.outcome, reading.running.as_deref()),
        (Outcome::Running, Some("session:77"))
    );
    assert_eq!(outcome("shell", "exec command rejected by user"), Outcome::Denied);
    assert_eq!(outcome("write_stdin", "aborted by user after 29.7s"), Outcome::Interrupted);
    assert_eq!(
        outcome("shell_command", "Wall time: 2 seconds\naborted by user"),
        Outcome::Interrupted
    );
    assert_eq!(outcome("shell", "failed in sandbox None with execution error: x"), Outcome::Failed);
    assert_eq!(outcome("apply_patch", "apply_patch verification failed: x"), Outcome::Failed);
    assert_eq!(outcome("mcp__a__b", "execution error: x"), Outcome::Unknown);
    assert_eq!(outcome("shell", "plain text"), Outcome::Unknown);
}

#[test]
fn a_script_that_completed_says_nothing_of_its_commands() {
    assert_eq!(
        outcome("exec", "Script completed\nWall time 3.9 seconds\nOutput:\n"),
        Outcome::Unknown
    );
    assert_eq!(outcome("exec", "Script failed\nWall time 3.9 seconds\nOutput:\n"), Outcome::Failed);
    assert_eq!(outcome("wait", "Script terminated\nWall time 1 seconds\n"), Outcome::Interrupted);
    assert_eq!(
        outcome("exec", "Script running with cell ID 4\nWall time 1 seconds\n"),
        Outcome::Running
    );
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "(?s).{0,200}", tool in "(shell|exec_command|apply_patch|exec|x)") {
        let _ = read(Tool::of(&tool), &json!(text));
    }

    #[test]
    fn text_before_the_header_hides_it(noise in "[a-z ]{1,20}") {
        let text = format!("{noise}\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n");
        prop_assert_eq!(read(Tool::Exec, &json!(text)).exit_code, None);
    }
}
