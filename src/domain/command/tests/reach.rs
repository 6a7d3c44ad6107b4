//! What the exit status of a whole command proves about the run inside it.

use super::super::{Mask, StatusReach};
use super::{run, runs};

const BOTH: (bool, bool) = (true, true);
const SUCCESS: (bool, bool) = (true, false);
const FAILURE: (bool, bool) = (false, true);
const NEITHER: (bool, bool) = (false, false);

/// A line with one run, and whether success and failure of the line prove the run's.
const REACH: &[(&str, (bool, bool))] = &[
    ("cargo test", BOTH),
    ("cargo test;", BOTH),
    ("cargo test\n", BOTH),
    ("cargo test # all of it", BOTH),
    ("cargo test 2>&1", BOTH),
    ("cargo test > log 2>&1", BOTH),
    ("cargo test &> log", BOTH),
    ("cargo test < /dev/null", BOTH),
    ("cargo test > >(tee log)", BOTH),
    ("(cargo test)", BOTH),
    ("{ cargo test; }", BOTH),
    ("bash -lc 'cargo test'", BOTH),
    ("cd x && cargo test", BOTH),
    ("cd x; cargo test", BOTH),
    ("cd x\ncargo test", BOTH),
    ("export A=b && cargo test", BOTH),
    ("source .venv/bin/activate && pytest", BOTH),
    ("echo start; cargo test", BOTH),
    ("cargo build; cargo test", BOTH),
    ("ls | head; cargo test", BOTH),
    ("cargo test && echo ok", BOTH),
    ("cargo test || exit 1", BOTH),
    ("cargo test || { echo failed; exit 1; }", BOTH),
    ("cargo test || false", BOTH),
    // What runs before or after may fail on its own.
    ("cargo build && cargo test", SUCCESS),
    ("cargo fmt --check && cargo clippy && cargo test", SUCCESS),
    ("cargo test && git push", SUCCESS),
    ("bash -lc 'cargo build && cargo test'", SUCCESS),
    ("set -e; cargo build; cargo test", SUCCESS),
    ("set -euo pipefail\ncargo build\ncargo test\n./deploy", SUCCESS),
    ("set -e; cargo test; echo done", BOTH),
    ("bash -ec 'cargo test; cargo build'", SUCCESS),
    // Pipes.
    ("cargo test | tail", NEITHER),
    ("cargo test 2>&1 | tee log", NEITHER),
    ("cargo test |& tail -5", NEITHER),
    ("cargo test | grep -q failed", NEITHER),
    ("cd x && cargo test 2>&1 | tail -20", NEITHER),
    ("bash -c 'cargo test | tail'", NEITHER),
    ("set -o pipefail; cargo test | tail", SUCCESS),
    ("set -o pipefail && cargo test 2>&1 | tail -5", SUCCESS),
    ("set -eo pipefail; cargo test | tail", SUCCESS),
    ("set -euo pipefail\ncargo test | tee log", SUCCESS),
    ("bash -o pipefail -c 'cargo test | tail'", SUCCESS),
    ("set -o pipefail; set +o pipefail; cargo test | tail", NEITHER),
    ("(set -o pipefail); cargo test | tail", NEITHER),
    ("yes | cargo test", BOTH),
    // Hidden.
    ("cargo test || true", NEITHER),
    ("cargo test || echo failed", NEITHER),
    ("cargo test || :", NEITHER),
    ("cargo test; echo done", NEITHER),
    ("cargo test\necho done", NEITHER),
    ("cargo test; echo $?", NEITHER),
    ("cargo test; exit 0", NEITHER),
    ("cargo test > log; tail log", NEITHER),
    ("cargo test > log 2>&1; tail -5 log", NEITHER),
    ("(cargo test); true", NEITHER),
    ("cargo test &", NEITHER),
    ("cargo test & wait", NEITHER),
    ("nohup cargo test > log &", NEITHER),
    ("! cargo test", NEITHER),
    ("if cargo test; then echo ok; fi", NEITHER),
    ("if ! cargo test; then exit 1; fi", NEITHER),
    ("while cargo test; do :; done", NEITHER),
    ("until cargo test; do sleep 1; done", NEITHER),
    ("for i in 1 2 3; do cargo test; done", NEITHER),
    ("true || cargo test", NEITHER),
    ("make build || cargo test", NEITHER),
    ("cargo test && echo ok || echo failed", NEITHER),
    ("set -e; cargo test || true", NEITHER),
    ("set +e; cargo test; echo done", NEITHER),
    ("cargo test 'unterminated", NEITHER),
    ("trap 'exit 0' EXIT; cargo test", NEITHER),
    ("make || exit 1; cargo test", NEITHER),
    ("make || { echo no; exit 1; }; cargo test", NEITHER),
    ("exit 0; cargo test", NEITHER),
    ("cargo test; status=$?; tail log; exit $status", NEITHER),
];

#[test]
fn success_and_failure_prove_only_what_the_shell_lets_through() {
    let wrong: Vec<_> = REACH
        .iter()
        .filter_map(|(line, expected)| {
            let found = runs(line);
            let proves: Vec<_> =
                found.iter().map(|run| (run.success_proves, run.failure_proves)).collect();
            (proves != [*expected]).then_some((line, expected, proves))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_hides_a_status_is_named() {
    for (line, by) in [
        ("cargo test | tail", Mask::Pipe),
        ("cargo test || true", Mask::OrTrue),
        ("cargo test; echo done", Mask::LaterCommand),
        ("cargo test &", Mask::Background),
        ("! cargo test", Mask::Unknown),
        ("if cargo test; then :; fi", Mask::Unknown),
    ] {
        assert_eq!(run(line).status, StatusReach::Masked { by }, "{line}");
    }
    assert_eq!(run("cargo test").status, StatusReach::Direct);
}

#[test]
fn each_of_several_runs_has_its_own_reach() {
    let proves = |line: &str| -> Vec<_> {
        runs(line).iter().map(|run| (run.success_proves, run.failure_proves)).collect()
    };
    assert_eq!(proves("cargo test && npm test"), [SUCCESS, SUCCESS]);
    assert_eq!(proves("cargo test; npm test"), [NEITHER, BOTH]);
    assert_eq!(proves("cargo test & npm test"), [NEITHER, BOTH]);
    assert_eq!(proves("cargo test || npm test"), [NEITHER, NEITHER]);
    assert_eq!(proves("cargo test | tail && npm test"), [NEITHER, SUCCESS]);
}

#[test]
fn a_status_that_only_failure_reaches_is_not_produced_by_accident() {
    assert!(REACH.iter().all(|(_, expected)| *expected != FAILURE));
}
