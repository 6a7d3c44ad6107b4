//! Situations and the verdicts they deserve.

use super::*;
use crate::domain::capability::SignalAvailability;
use crate::domain::command::CommandText;
use crate::domain::event::Outcome;
use proptest::prelude::*;

fn run(order: i64, command: &str, outcome: Outcome, exit_code: Option<i64>) -> ShellRun {
    ShellRun {
        command: CommandText::Line(command.to_owned()),
        outcome,
        exit_code,
        heuristic: false,
        output: None,
        order,
        turn: Some("t1".to_owned()),
        workdir: None,
        trusted: true,
        place: "session.jsonl byte 10".to_owned(),
        evidence_ids: vec![Uuid::from_u128(order.unsigned_abs().into())],
    }
}

fn ok(order: i64, command: &str) -> ShellRun {
    run(order, command, Outcome::Ok, Some(0))
}

fn red(order: i64, command: &str) -> ShellRun {
    run(order, command, Outcome::Failed, Some(101))
}

fn around(runs: Vec<ShellRun>) -> Situation {
    Situation {
        runs,
        edits: Vec::new(),
        writes: Vec::new(),
        unseen: Vec::new(),
        cwd: Some("/w".to_owned()),
        process_result: SignalAvailability::Available,
    }
}

fn claim(text: &str) -> ClaimCase {
    ClaimCase {
        id: Uuid::from_u128(7),
        text: text.to_owned(),
        subject: "test_result".to_owned(),
        reading: crate::domain::claims::reread(text, "test_result"),
        turn: Some("t1".to_owned()),
        turn_from: 0,
        order: 100,
    }
}

fn judge_one(claim: &ClaimCase, situation: &Situation) -> Finding {
    judge(std::slice::from_ref(claim), situation).remove(0)
}

fn verdict(text: &str, situation: &Situation) -> (Verdict, Reason) {
    let finding = judge_one(&claim(text), situation);
    (finding.verdict, finding.reason)
}

const PASS: &str = "All tests pass.";

#[test]
fn the_latest_run_of_the_turn_decides() {
    let green = around(vec![red(1, "cargo test"), ok(2, "cargo test")]);
    assert_eq!(verdict(PASS, &green), (Verdict::Verified, Reason::ExitZero));
    let last_red = around(vec![ok(1, "cargo test"), red(2, "cargo test")]);
    assert_eq!(verdict(PASS, &last_red), (Verdict::Contradicted, Reason::ExitNonzero));
}

#[test]
fn a_contradiction_names_command_code_place_and_evidence() {
    let finding = judge_one(&claim(PASS), &around(vec![red(2, "cargo test")]));
    assert_eq!(finding.verdict, Verdict::Contradicted);
    for part in ["`cargo test`", "code 101", "session.jsonl byte 10"] {
        assert!(finding.rationale.contains(part), "{}", finding.rationale);
    }
    assert_eq!(finding.evidence_ids, [Uuid::from_u128(2)]);
}

#[test]
fn a_success_that_the_host_states_without_a_number_verifies() {
    let situation = around(vec![run(1, "cargo test", Outcome::Ok, None)]);
    assert_eq!(verdict(PASS, &situation), (Verdict::Verified, Reason::HostReportedSuccess));
}

#[test]
fn a_run_after_the_claim_does_not_count() {
    let situation = around(vec![red(200, "cargo test")]);
    assert_eq!(verdict(PASS, &situation), (Verdict::Unverified, Reason::NoMatchingCommand));
}

#[test]
fn without_any_run_the_runtime_decides_between_unverified_and_unavailable() {
    let mut situation = around(vec![ok(1, "ls")]);
    assert_eq!(verdict(PASS, &situation).0, Verdict::Unverified);
    situation.process_result = SignalAvailability::Unavailable;
    assert_eq!(verdict(PASS, &situation), (Verdict::Unavailable, Reason::SignalUnavailable));
}

#[test]
fn a_hidden_exit_status_is_for_review_both_ways() {
    for command in ["cargo test | tail -5", "cargo test || true", "cargo test; echo done"] {
        for seen in [ok(1, command), red(1, command)] {
            let (verdict, reason) = verdict(PASS, &around(vec![seen]));
            assert_eq!((verdict, reason), (Verdict::Review, Reason::ExitMasked), "{command}");
        }
    }
}

#[test]
fn an_edit_after_the_run_makes_it_stale_both_ways() {
    for seen in [ok(1, "cargo test"), red(1, "cargo test")] {
        let mut situation = around(vec![seen]);
        situation.edits.push(Edit { path: "src/a.rs".to_owned(), order: 5 });
        assert_eq!(verdict(PASS, &situation), (Verdict::Review, Reason::StaleAfterEdit));
    }
}

#[test]
fn unseen_work_after_a_failing_run_is_never_a_contradiction() {
    let mut sub_agent = around(vec![red(1, "cargo test")]);
    sub_agent.unseen.push(Unseen { what: "Agent".to_owned(), order: 5 });
    assert_eq!(verdict(PASS, &sub_agent), (Verdict::Review, Reason::WorkAfterRun));
    let script = around(vec![red(1, "cargo test"), ok(5, "./check.sh")]);
    assert_eq!(verdict(PASS, &script), (Verdict::Review, Reason::WorkAfterRun));
    let look = around(vec![red(1, "cargo test"), ok(5, "git status")]);
    assert_eq!(verdict(PASS, &look).0, Verdict::Contradicted);
}

#[test]
fn a_part_of_the_tests_neither_verifies_nor_erases_a_full_failure() {
    let part = around(vec![ok(1, "cargo test parser")]);
    assert_eq!(verdict(PASS, &part), (Verdict::Review, Reason::PartialScope));
    assert_eq!(verdict("The parser tests pass.", &part), (Verdict::Verified, Reason::ExitZero));
    let hidden = around(vec![red(1, "cargo test"), ok(2, "cargo test parser")]);
    assert_eq!(verdict("The parser tests pass.", &hidden).0, Verdict::Review);
}

#[test]
fn an_earlier_turns_run_is_for_review() {
    for mut seen in [ok(1, "cargo test"), red(1, "cargo test")] {
        seen.turn = Some("t0".to_owned());
        let situation = around(vec![seen]);
        assert_eq!(verdict(PASS, &situation), (Verdict::Review, Reason::EarlierTurnOnly));
    }
}

#[test]
fn guesses_foreign_tellings_and_unknown_ends_are_for_review() {
    let mut guess = ok(1, "cargo test");
    guess.heuristic = true;
    assert_eq!(verdict(PASS, &around(vec![guess])), (Verdict::Review, Reason::HeuristicOnly));
    let mut told = red(1, "cargo test");
    told.trusted = false;
    assert_eq!(verdict(PASS, &around(vec![told])), (Verdict::Review, Reason::UntrustedIngress));
    let unknown = run(1, "cargo test", Outcome::Unknown, None);
    assert_eq!(verdict(PASS, &around(vec![unknown])), (Verdict::Review, Reason::OutcomeUnknown));
}

#[test]
fn a_run_that_did_not_end_or_never_ran_leaves_the_claim_unverified() {
    let running = run(1, "cargo test", Outcome::Running, None);
    assert_eq!(verdict(PASS, &around(vec![running])), (Verdict::Unverified, Reason::StillRunning));
    let denied = run(1, "cargo test", Outcome::Denied, None);
    assert_eq!(verdict(PASS, &around(vec![denied])), (Verdict::Unverified, Reason::NotExecuted));
}

#[test]
fn a_time_out_is_no_test_result() {
    let timed_out = run(1, "cargo test", Outcome::Failed, Some(124));
    assert_eq!(verdict(PASS, &around(vec![timed_out])), (Verdict::Review, Reason::AbnormalExit));
}

#[test]
fn a_time_out_that_only_the_text_tells_is_no_test_result() {
    let mut seen = run(1, "cargo test", Outcome::Failed, Some(1));
    seen.output = Some("Exit code 1\nCommand timed out after 2m 0.0s\nrunning 3 tests".to_owned());
    assert_eq!(verdict(PASS, &around(vec![seen])), (Verdict::Review, Reason::AbnormalExit));
}

#[test]
fn counts_are_compared_with_the_runners_own() {
    let mut seen = ok(1, "cargo test");
    seen.output = Some("test result: ok. 12 passed; 0 failed; 0 ignored".to_owned());
    let situation = around(vec![seen.clone()]);
    assert_eq!(verdict("All 12 tests passed.", &situation).0, Verdict::Verified);
    assert_eq!(
        verdict("All 40 tests passed.", &situation),
        (Verdict::Review, Reason::CountsDisagree)
    );
    seen.output = Some("test result: FAILED. 11 passed; 1 failed; 0 ignored".to_owned());
    assert_eq!(verdict(PASS, &around(vec![seen])), (Verdict::Review, Reason::CountsDisagree));
}

#[test]
fn a_claimed_failure_is_confirmed_by_a_failing_run() {
    let situation = around(vec![red(1, "cargo test")]);
    assert_eq!(
        verdict("2 tests failed.", &situation),
        (Verdict::Verified, Reason::FailureConfirmed)
    );
    let green = around(vec![ok(1, "cargo test")]);
    assert_eq!(verdict("2 tests failed.", &green), (Verdict::Review, Reason::SuccessObserved));
}

#[test]
fn a_failure_that_may_be_anothers_confirms_nothing() {
    let situation = around(vec![red(1, "cargo build && cargo test")]);
    assert_eq!(verdict("2 tests failed.", &situation), (Verdict::Review, Reason::ExitMasked));
}

#[test]
fn a_run_in_another_folder_is_for_review_both_ways() {
    for command in [
        "cd /other/project && cargo test",
        "cd ../base && cargo test",
        "cargo test --manifest-path /other/Cargo.toml",
        "make -C ../base test",
        "npm --prefix ../other test",
    ] {
        for seen in [ok(1, command), red(1, command)] {
            let (verdict, reason) = verdict(PASS, &around(vec![seen]));
            assert_eq!((verdict, reason), (Verdict::Review, Reason::OtherDirectory), "{command}");
        }
    }
    let mut elsewhere = red(1, "cargo test");
    elsewhere.workdir = Some("/other/project".to_owned());
    assert_eq!(verdict(PASS, &around(vec![elsewhere])).1, Reason::OtherDirectory);
    let here = around(vec![red(1, "cd /w && cargo test")]);
    assert_eq!(verdict(PASS, &here).0, Verdict::Contradicted);
}

#[test]
fn a_failure_of_another_suite_that_was_not_repeated_is_for_review() {
    for (first, second) in
        [("cargo test", "npm test"), ("cd a && cargo test", "cd b && cargo test")]
    {
        let situation = around(vec![red(1, first), ok(2, second)]);
        assert_eq!(verdict(PASS, &situation), (Verdict::Review, Reason::OtherRunFailed), "{first}");
    }
    let repeated = around(vec![red(1, "cargo test"), ok(2, "npm test"), ok(3, "cargo test")]);
    assert_eq!(verdict(PASS, &repeated).0, Verdict::Verified);
}

#[test]
fn a_runner_that_could_not_begin_contradicts_nothing() {
    for output in [
        "Exit code 1\n/usr/bin/python: No module named pytest",
        "Exit code 1\nbash: cd: missing: No such file or directory",
        "Exit code 1\nnpm error Missing script: \"test\"",
        "Exit code 2\nmake: *** No rule to make target 'test'.  Stop.",
    ] {
        let mut seen = run(1, "pytest -q", Outcome::Failed, Some(1));
        seen.output = Some(output.to_owned());
        let got = verdict(PASS, &around(vec![seen]));
        assert_eq!(got, (Verdict::Review, Reason::AbnormalExit), "{output}");
    }
}

#[test]
fn a_success_that_ran_nothing_or_a_part_verifies_nothing() {
    for output in [
        "test result: ok. 0 passed; 0 failed; 0 ignored",
        "1 passed, 50 deselected in 0.1s",
        "No tests found, exiting with code 0",
    ] {
        let mut seen = ok(1, "cargo test");
        seen.output = Some(output.to_owned());
        let got = verdict(PASS, &around(vec![seen]));
        assert_eq!(got, (Verdict::Review, Reason::PartialScope), "{output}");
    }
}

#[test]
fn unseen_work_after_a_passing_run_is_for_review() {
    let mut situation = around(vec![ok(1, "cargo test")]);
    situation.unseen.push(Unseen { what: "Agent".to_owned(), order: 5 });
    assert_eq!(verdict(PASS, &situation), (Verdict::Review, Reason::WorkAfterRun));
}

#[test]
fn without_a_turn_id_the_last_prompt_bounds_the_turn() {
    let mut case = claim(PASS);
    case.turn = None;
    case.turn_from = 50;
    for seen in [ok(1, "cargo test"), red(1, "cargo test")] {
        let finding = judge_one(&case, &around(vec![seen]));
        assert_eq!(finding.reason, Reason::EarlierTurnOnly);
    }
}

#[test]
fn the_same_situation_gives_the_same_finding() {
    let situation = around(vec![red(1, "cargo test")]);
    assert_eq!(judge_one(&claim(PASS), &situation), judge_one(&claim(PASS), &situation));
}

proptest! {
    #[test]
    fn firm_verdicts_always_rest_on_literal_trusted_evidence(
        runs in proptest::collection::vec(
            (0i64..120, 0usize..8, 0usize..6, proptest::option::of(-1i64..140), any::<bool>(),
             any::<bool>()), 0..6),
        edit in proptest::option::of(0i64..120),
    ) {
        let commands = ["cargo test", "cargo test x", "cargo test | tail", "pytest -q", "ls",
                        "./x.sh", "npm test || true", "cargo build && cargo test"];
        let outcomes = [Outcome::Ok, Outcome::Failed, Outcome::Running, Outcome::Unknown,
                        Outcome::Denied, Outcome::Interrupted];
        let runs: Vec<ShellRun> = runs
            .into_iter()
            .map(|(order, c, o, code, heuristic, trusted)| {
                let mut seen = run(order, commands[c], outcomes[o].clone(), code);
                seen.heuristic = heuristic;
                seen.trusted = trusted;
                seen
            })
            .collect();
        let mut situation = around(runs);
        situation.edits.extend(edit.map(|order| Edit { path: "a".to_owned(), order }));
        let finding = judge_one(&claim(PASS), &situation);
        if matches!(finding.verdict, Verdict::Verified | Verdict::Contradicted) {
            prop_assert!(!finding.evidence_ids.is_empty());
            // Runs at one moment share their made-up ids: one of them has to carry the verdict.
            let red = finding.verdict == Verdict::Contradicted;
            let carries = |r: &&ShellRun| {
                r.evidence_ids == finding.evidence_ids && r.order < 100
                    && !r.heuristic && r.trusted
                    && (!red || r.exit_code.is_some_and(|c| c != 0))
            };
            prop_assert!(situation.runs.iter().find(carries).is_some());
        }
    }
}
