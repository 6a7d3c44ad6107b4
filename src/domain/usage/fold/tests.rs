//! The fold's rules, one by one, and properties over any set of reports.

use super::*;
use crate::domain::usage::tokens::Confidence;
use crate::domain::usage::{Floor, TokenCounts};
use proptest::prelude::*;

fn report(scope: UsageScope, sequence: i64, input: i64, output: i64) -> Measurement {
    Measurement {
        provider: 1,
        conversation: 1,
        spent_in: None,
        source: 1,
        epoch: 0,
        sequence,
        scope,
        response: None,
        turn: None,
        model: Some(1),
        counts: TokenCounts { input: Some(input), output: Some(output), ..TokenCounts::default() },
        standing: Standing::Reported,
        floor: None,
        branch: false,
        at_us: sequence,
    }
}

fn response(id: &str, sequence: i64, input: i64, output: i64) -> Measurement {
    let response = (!id.is_empty()).then(|| id.into());
    Measurement { response, ..report(UsageScope::Response, sequence, input, output) }
}

fn total_at(sequence: i64, input: i64, output: i64) -> Measurement {
    report(UsageScope::Snapshot, sequence, input, output)
}

fn numbers(folded: &Folded) -> (Option<i64>, Option<i64>) {
    let total = folded.total().unwrap();
    (total.input.value(), total.output.value())
}

fn reasons(folded: &Folded) -> Vec<(usize, Exclusion)> {
    folded.excluded.iter().map(|e| (e.report, e.reason)).collect()
}

#[test]
fn a_response_told_on_several_lines_counts_once_by_its_largest_report() {
    let folded = fold(&[response("r", 1, 9, 1), response("r", 2, 9, 184), response("r", 3, 9, 40)]);
    assert_eq!(numbers(&folded), (Some(9), Some(184)));
    assert_eq!(
        reasons(&folded),
        [(0, Exclusion::RepeatedResponse), (2, Exclusion::RepeatedResponse)]
    );
}

#[test]
fn one_id_with_differing_prompts_is_a_constant_and_each_prompt_a_response() {
    let folded = fold(&[
        response("same", 1, 100, 5),
        response("same", 2, 100, 7),
        response("same", 3, 250, 6),
        response("same", 4, 0, 0),
    ]);
    assert_eq!(numbers(&folded), (Some(350), Some(13)));
}

#[test]
fn a_placeholder_without_a_prompt_belongs_to_its_response() {
    let folded = fold(&[response("r", 1, 0, 0), response("r", 2, 22_099, 21)]);
    assert_eq!(numbers(&folded), (Some(22_099), Some(21)));
    assert_eq!(folded.slices.len(), 1);
}

#[test]
fn a_response_of_another_provider_with_the_same_id_is_another_response() {
    let other = Measurement { provider: 2, ..response("r", 2, 9, 3) };
    assert_eq!(numbers(&fold(&[response("r", 1, 9, 3), other])), (Some(18), Some(6)));
}

#[test]
fn responses_without_an_id_are_never_merged() {
    let folded = fold(&[response("", 1, 9, 3), response("", 2, 9, 3)]);
    assert_eq!(numbers(&folded), (Some(18), Some(6)));
}

#[test]
fn a_copy_is_credited_to_its_origin_and_only_there() {
    let copy = Measurement { conversation: 2, spent_in: Some(1), ..response("r", 5, 9, 3) };
    let folded = fold(&[copy.clone(), response("r", 1, 9, 3)]);
    assert_eq!(folded.slices.len(), 1);
    assert_eq!((folded.slices[0].conversation, folded.slices[0].at_us), (1, 1));
    assert_eq!(folded.slices[0].tokens.total.confidence, Confidence::Exact);
    let alone = fold(&[copy]);
    assert_eq!(alone.slices[0].conversation, 1);
    assert_eq!(alone.slices[0].tokens.total.confidence, Confidence::LowerBound);
}

#[test]
fn a_branch_that_replays_a_response_does_not_take_it_from_its_trunk() {
    let replay = Measurement { conversation: 1, branch: true, ..response("r", 1, 9, 3) };
    let trunk = Measurement { conversation: 2, ..response("r", 1, 9, 3) };
    let folded = fold(&[replay, trunk]);
    assert_eq!(folded.slices[0].conversation, 2);
    assert_eq!(reasons(&folded), [(0, Exclusion::CopiedHistory)]);
}

#[test]
fn responses_and_the_totals_that_cover_them_are_not_added() {
    let folded = fold(&[
        response("a", 1, 10, 1),
        total_at(2, 10, 1),
        response("b", 3, 20, 2),
        total_at(4, 30, 3),
    ]);
    assert_eq!(numbers(&folded), (Some(30), Some(3)));
    assert_eq!(
        reasons(&folded),
        [(1, Exclusion::CoveredSnapshot), (3, Exclusion::CoveredSnapshot)]
    );
}

#[test]
fn a_total_told_before_the_first_response_covers_none_and_stays() {
    let folded = fold(&[total_at(1, 100, 10), response("a", 2, 20, 2), total_at(3, 120, 12)]);
    assert_eq!(numbers(&folded), (Some(120), Some(12)));
    assert!(folded.slices.iter().all(|s| s.tokens.total.confidence == Confidence::Exact));
}

#[test]
fn a_covered_total_that_says_more_than_the_responses_makes_them_a_lower_bound() {
    let folded = fold(&[response("a", 1, 10, 1), total_at(2, 50, 5)]);
    assert_eq!(numbers(&folded), (Some(10), Some(1)));
    assert_eq!(folded.slices[0].tokens.total.confidence, Confidence::LowerBound);
}

#[test]
fn an_epoch_without_responses_keeps_its_total_and_epochs_add() {
    let first = total_at(1, 100, 10);
    let later = Measurement { epoch: 1, ..response("a", 2, 7, 1) };
    let last = Measurement { epoch: 2, ..total_at(3, 5, 2) };
    assert_eq!(numbers(&fold(&[first, later, last])), (Some(112), Some(13)));
}

#[test]
fn the_highest_sequence_holds_whatever_the_order_of_arrival() {
    let folded = fold(&[total_at(3, 30, 3), total_at(1, 10, 1), total_at(2, 50, 2)]);
    assert_eq!(numbers(&folded), (Some(30), Some(3)));
    assert!(folded.slices.iter().all(|s| s.tokens.input.known >= 0));
}

#[test]
fn the_growth_of_a_total_keeps_the_model_and_time_it_was_spent_on() {
    let second = Measurement { model: Some(2), ..total_at(2, 150, 30) };
    let folded = fold(&[total_at(1, 100, 10), second]);
    let of = |model| {
        let slice = folded.slices.iter().find(|s| s.model == Some(model)).unwrap();
        (slice.tokens.input.value(), slice.tokens.output.value(), slice.at_us)
    };
    assert_eq!(of(1), (Some(100), Some(10), 1));
    assert_eq!(of(2), (Some(50), Some(20), 2));
}

#[test]
fn a_total_of_the_conversation_replaces_the_turns_of_its_epoch_only() {
    let turn = |sequence, epoch, input| Measurement {
        epoch,
        turn: Some(format!("t{sequence}").into()),
        ..report(UsageScope::Turn, sequence, input, 1)
    };
    let folded = fold(&[turn(1, 0, 10), turn(2, 0, 20), total_at(3, 30, 2), turn(4, 1, 5)]);
    assert_eq!(numbers(&folded), (Some(35), Some(3)));
}

#[test]
fn a_turn_total_is_covered_by_the_responses_of_its_turn() {
    let turn = |id: &str| Some(id.into());
    let total =
        |id, sequence| Measurement { turn: turn(id), ..report(UsageScope::Turn, sequence, 10, 1) };
    let answer = Measurement { turn: turn("t1"), ..response("a", 1, 10, 1) };
    assert_eq!(numbers(&fold(&[answer, total("t1", 2), total("t2", 3)])), (Some(20), Some(2)));
}

#[test]
fn totals_of_two_sources_are_never_added_and_the_larger_holds() {
    let copy = Measurement { source: 2, ..total_at(9, 60, 6) };
    let folded = fold(&[total_at(1, 40, 4), total_at(2, 80, 8), copy]);
    assert_eq!(numbers(&folded), (Some(80), Some(8)));
    assert_eq!(reasons(&folded), [(2, Exclusion::OtherCopy)]);
}

#[test]
fn a_source_of_totals_beside_one_of_responses_adds_nothing() {
    let stream = Measurement { source: 2, ..total_at(9, 30, 3) };
    let folded = fold(&[response("a", 1, 10, 1), total_at(2, 10, 1), stream]);
    assert_eq!(numbers(&folded), (Some(10), Some(1)));
}

#[test]
fn a_copied_total_is_taken_off_what_goes_on_from_it() {
    let copied = Measurement { spent_in: Some(9), ..total_at(1, 100, 10) };
    let folded = fold(&[copied, total_at(2, 130, 15)]);
    assert_eq!(numbers(&folded), (Some(30), Some(5)));
    assert_eq!(reasons(&folded), [(0, Exclusion::CopiedHistory)]);
}

#[test]
fn estimates_and_the_hosts_own_text_add_nothing() {
    let guess = Measurement { standing: Standing::Estimate, ..response("e", 1, 500, 0) };
    let filler = Measurement { standing: Standing::Synthetic, ..response("s", 2, 7, 7) };
    let folded = fold(&[guess, filler]);
    assert_eq!(folded.total(), None);
    assert_eq!(reasons(&folded), [(0, Exclusion::Estimate), (1, Exclusion::Synthetic)]);
}

#[test]
fn a_number_that_cannot_be_a_count_is_unknown_and_named() {
    let folded = fold(&[response("a", 1, -5, 2)]);
    assert_eq!(numbers(&folded), (None, Some(2)));
    assert_eq!(folded.broken, [(0, "input")]);
}

#[test]
fn nothing_reported_gives_no_numbers() {
    assert_eq!(fold(&[]), Folded::default());
    assert_eq!(fold(&[]).total(), None);
}

fn any_report() -> impl Strategy<Value = Measurement> {
    let ids = prop_oneof![Just(""), Just("a"), Just("b"), Just("c")];
    let scope =
        prop_oneof![Just(UsageScope::Response), Just(UsageScope::Turn), Just(UsageScope::Snapshot)];
    let floor = prop_oneof![Just(None), Just(Some(Floor::Output)), Just(Some(Floor::All))];
    let counts = (proptest::option::of(-1_i64..50), proptest::option::of(0_i64..50));
    let who = (1_u32..4, proptest::option::of(1_u32..4), 1_u32..3, any::<bool>());
    let when = (0_i64..2, 0_i64..20);
    (scope, ids, floor, counts, who, when).prop_map(
        |(
            scope,
            id,
            floor,
            (input, output),
            (conversation, spent_in, source, branch),
            (epoch, at),
        )| {
            Measurement {
                scope,
                floor,
                conversation,
                spent_in,
                source,
                epoch,
                branch,
                response: (scope == UsageScope::Response && !id.is_empty()).then(|| id.into()),
                counts: TokenCounts { input, output, ..TokenCounts::default() },
                ..report(scope, at, 0, 0)
            }
        },
    )
}

proptest! {
    #[test]
    fn every_report_is_credited_or_excluded_or_neither_twice(
        reports in proptest::collection::vec(any_report(), 0..24)
    ) {
        let folded = fold(&reports);
        let mut seen = std::collections::BTreeSet::new();
        for index in folded.slices.iter().map(|s| s.report)
            .chain(folded.excluded.iter().map(|e| e.report)) {
            prop_assert!(index < reports.len());
            prop_assert!(seen.insert(index), "report {} twice", index);
        }
        prop_assert_eq!(seen.len(), reports.len());
        for slice in &folded.slices {
            prop_assert!(slice.tokens.named().iter().all(|(_, amount)| amount.known >= 0));
        }
    }

    #[test]
    fn reports_told_again_by_a_copy_of_their_source_change_no_number(
        reports in proptest::collection::vec(any_report(), 0..24)
    ) {
        // Copies meet by id; what has none is told apart by its place only.
        let named: Vec<Measurement> = reports
            .into_iter()
            .filter(|r| r.scope != UsageScope::Response || r.response.is_some())
            .map(|r| Measurement { source: 1, ..r })
            .collect();
        let mut twice = named.clone();
        twice.extend(named.iter().cloned().map(|r| Measurement { source: 2, ..r }));
        let known = |folded: &Folded| {
            folded.total().map(|total| total.named().map(|(_, amount)| amount.known))
        };
        prop_assert_eq!(known(&fold(&named)), known(&fold(&twice)));
    }
}
