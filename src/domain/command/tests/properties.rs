//! Any text at all: no panic, bounded time, bounded depth.

use super::super::{CommandText, MAX_COMMAND_BYTES, may_change_files, only_looks, test_runs};
use super::runs;
use proptest::prelude::*;

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "cargo",
        "test",
        "pytest",
        "npm",
        "bash",
        "-lc",
        "-c",
        "eval",
        "timeout",
        "5",
        "env",
        "A=b",
        "&&",
        "||",
        ";",
        "|",
        "&",
        "(",
        ")",
        "{",
        "}",
        "!",
        "if",
        "then",
        "fi",
        "$(",
        "${",
        "$'",
        "`",
        "'",
        "\"",
        "\\",
        "\n",
        "<<EOF",
        "EOF",
        ">",
        "2>&1",
        ">(",
        "<(",
        "#",
        "set",
        "-e",
        "-o",
        "pipefail",
        "\u{e9}",
        "\u{1f389}",
        "\u{a0}",
        "--",
        "$x",
        "cd",
        "docker",
        "exec",
    ]);
    let glue = prop::sample::select(vec!["", " "]);
    prop::collection::vec((piece, glue), 0..40)
        .prop_map(|pieces| pieces.iter().flat_map(|(piece, glue)| [*piece, *glue]).collect())
}

fn check(line: &str) {
    let command = CommandText::Line(line.to_owned());
    for run in test_runs(&command) {
        assert!(!run.runner.is_empty());
    }
    may_change_files(&command);
    only_looks(&command);
    let words = line.split(' ').map(str::to_owned).collect();
    test_runs(&CommandText::Argv(words));
}

proptest! {
    #[test]
    fn any_line_is_read_without_panic(line in "\\PC{0,200}") {
        check(&line);
    }

    #[test]
    fn any_mixture_of_shell_pieces_is_read_without_panic(line in pieces()) {
        check(&line);
    }

    #[test]
    fn nothing_behind_a_single_quoted_echo_is_a_run(text in pieces()) {
        let text = text.replace('\'', "");
        prop_assert_eq!(runs(&format!("echo '{text}'")), vec![]);
    }

    #[test]
    fn a_run_before_a_pipe_never_proves_anything(text in "[a-z ]{0,20}") {
        for run in runs(&format!("cargo test {text}| cat")) {
            prop_assert!(!run.success_proves && !run.failure_proves);
        }
    }
}

#[test]
fn hostile_lines_take_work_in_proportion_to_their_length() {
    let shapes = [
        "(",
        ")",
        "`",
        "\"",
        "'",
        "$(",
        "${",
        "{ ",
        "}",
        "&&",
        "||",
        ";",
        "|",
        "&",
        "!",
        "\\",
        "<",
        ">",
        "<<a\n",
        "eval ",
        "bash -c ",
        "env ",
        "cargo test;",
        "cargo test|",
        "cargo test&&",
        "cargo test||",
        "a;",
        "set -e;",
        "cd a;",
        "#",
        "if ",
        "sudo ",
        "\"$(",
        "uv run ",
        "$'",
        "A=b ",
    ];
    for shape in shapes {
        for size in [MAX_COMMAND_BYTES - 1, 200 * 1024] {
            let line = CommandText::Line(shape.repeat(size / shape.len()));
            let begun = cpu_seconds();
            test_runs(&line);
            may_change_files(&line);
            only_looks(&line);
            assert!(cpu_seconds() - begun < 20, "{shape:?}");
        }
    }
}

#[test]
fn nesting_beyond_the_limit_is_not_read() {
    let groups = |depth: usize| format!("{}cargo test{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(runs(&groups(5)).len(), 1);
    assert!(runs(&groups(100)).iter().all(|run| !run.success_proves && !run.failure_proves));
    let evals = |depth: usize| format!("{}cargo test", "eval ".repeat(depth));
    assert_eq!(runs(&evals(3)).len(), 1);
    assert_eq!(runs(&evals(100)), vec![]);
}

#[test]
fn a_command_beyond_the_limit_holds_no_runs() {
    let line = |size: usize| format!("cargo test {}", " ".repeat(size));
    assert_eq!(runs(&line(100)).len(), 1);
    assert_eq!(runs(&line(MAX_COMMAND_BYTES)), vec![]);
    let words = vec!["cargo".to_owned(), "test".to_owned(), "x".repeat(MAX_COMMAND_BYTES)];
    assert_eq!(test_runs(&CommandText::Argv(words)), vec![]);
}

/// Seconds of work of this thread, however busy the machine is: what grows with the square of the
/// input would take minutes.
fn cpu_seconds() -> i64 {
    rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).tv_sec
}
