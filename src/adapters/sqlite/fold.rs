//! What an event says, as a function of the set of its sightings.
//!
//! Sightings are ranked by channel, then by the hash of what they say, then by age, so the order of
//! arrival never matters. Each field is that of the best sighting that states it; sightings that state
//! different outcomes are a disagreement, and it is kept. Third-party messages say something only of
//! an event that nothing else saw.

use crate::domain::event::Channel;

/// The rank and content of one sighting, as far as the fold needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) rank: i64,
    pub(super) content_hash: Vec<u8>,
    pub(super) outcome: Option<String>,
    pub(super) order_us: i64,
}

/// What the event row keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Folded {
    pub(super) outcome: Option<String>,
    pub(super) order_us: i64,
    pub(super) disagrees: bool,
}

/// Sorts sightings best first; the key is rank, content hash, time. Of two that say the same the
/// earlier one is the better: a hook and a file can tell one thing at different times.
pub(super) fn best_first<T>(items: &mut [T], key: impl Fn(&T) -> (i64, &[u8], i64)) {
    items.sort_by(|a, b| {
        let ((rank_a, said_a, at_a), (rank_b, said_b, at_b)) = (key(a), key(b));
        (rank_b, said_b, at_a).cmp(&(rank_a, said_a, at_b))
    });
}

/// Leaves messages out where something else was seen.
pub(super) fn keep_heard<T>(items: &mut Vec<T>, rank: impl Fn(&T) -> i64) {
    let heard = |item: &T| rank(item) > Channel::Message.rank();
    if items.iter().any(heard) {
        items.retain(heard);
    }
}

/// Folds a set of sightings (any order).
pub(super) fn fold(mut said: Vec<Said>) -> Folded {
    keep_heard(&mut said, |s| s.rank);
    best_first(&mut said, |s| (s.rank, &s.content_hash, s.order_us));
    let outcome = said.iter().find_map(|s| s.outcome.clone());
    let firm = |o: &String| o != "unknown" && o != "running";
    let mut stated: Vec<&String> =
        said.iter().filter_map(|s| s.outcome.as_ref()).filter(|o| firm(o)).collect();
    stated.sort();
    stated.dedup();
    let outcome = match outcome {
        // A firm statement beats a better-ranked "unknown" or "running".
        Some(o) if !firm(&o) => {
            said.iter().filter_map(|s| s.outcome.clone()).find(firm).or(Some(o))
        }
        other => other,
    };
    let order_us = said.first().map_or(0, |s| s.order_us);
    Folded { outcome, order_us, disagrees: stated.len() > 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(rank: i64, hash: u8, outcome: Option<&str>) -> Said {
        Said {
            rank,
            content_hash: vec![hash],
            outcome: outcome.map(str::to_owned),
            order_us: i64::from(hash),
        }
    }

    #[test]
    fn messages_say_nothing_of_what_something_else_saw() {
        let both = fold(vec![said(-1, 9, Some("ok")), said(2, 1, None)]);
        assert_eq!((both.outcome, both.disagrees, both.order_us), (None, false, 1));
        let alone = fold(vec![said(-1, 9, Some("ok"))]);
        assert_eq!(alone.outcome.as_deref(), Some("ok"));
    }

    #[test]
    fn a_field_that_the_best_sighting_lacks_comes_from_the_next() {
        let folded = fold(vec![said(3, 1, None), said(2, 9, Some("failed"))]);
        assert_eq!(folded.outcome.as_deref(), Some("failed"));
        assert_eq!(folded.order_us, 1);
        assert!(!folded.disagrees);
    }

    #[test]
    fn two_firm_outcomes_are_a_disagreement_and_unknown_is_none() {
        assert!(fold(vec![said(3, 1, Some("ok")), said(2, 1, Some("failed"))]).disagrees);
        let folded = fold(vec![said(3, 1, Some("unknown")), said(2, 1, Some("failed"))]);
        assert!(!folded.disagrees);
        assert_eq!(folded.outcome.as_deref(), Some("failed"));
    }

    #[test]
    fn of_two_that_say_the_same_the_earlier_gives_the_time_whichever_came_first() {
        let at = |order_us: i64| Said { order_us, ..said(1, 7, Some("failed")) };
        assert_eq!(fold(vec![at(9), at(3)]).order_us, 3);
        assert_eq!(fold(vec![at(3), at(9)]).order_us, 3);
    }

    proptest! {
        #[test]
        fn the_order_of_arrival_never_matters(
            mut set in proptest::collection::vec(
                (-1i64..4, any::<u8>(), proptest::option::of("ok|failed|unknown|running")), 1..8),
            seed in any::<u64>(),
        ) {
            let make = |set: &[(i64, u8, Option<String>)]| -> Vec<Said> {
                set.iter().map(|(r, h, o)| said(*r, *h, o.as_deref())).collect()
            };
            // Equal rank and hash means equal content.
            set.sort_by_key(|(r, h, _)| (*r, *h));
            set.dedup_by_key(|(r, h, _)| (*r, *h));
            let straight = fold(make(&set));
            let len = set.len();
            set.rotate_left((seed as usize) % len);
            prop_assert_eq!(fold(make(&set)), straight);
        }
    }
}
