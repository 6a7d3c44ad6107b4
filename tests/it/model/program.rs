//! What can happen to history files, and who looks at them.

use proptest::prelude::*;

/// One step of a program. Files and places are chosen by a number, modulo how many there are.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Whole lines; begins the file when it is not there.
    Append {
        file: usize,
        lines: usize,
    },
    /// The first part of a line; the next `Append` completes it, or leaves it torn.
    Half {
        file: usize,
        kept: usize,
        completes: bool,
    },
    /// Renamed in its folder, as a rotation does.
    Rotate {
        file: usize,
    },
    /// Moved to another folder.
    Move {
        file: usize,
        folder: usize,
    },
    /// Cut to some bytes.
    Truncate {
        file: usize,
        kept: usize,
    },
    /// Other lines under the same name, put there by rename.
    Replace {
        file: usize,
        lines: usize,
    },
    /// Other bytes of the same length, in place.
    Rewrite {
        file: usize,
    },
    Compress {
        file: usize,
    },
    Restore {
        file: usize,
    },
    Delete {
        file: usize,
    },
    Look(Look),
}

/// Who looks, and how.
#[derive(Debug, Clone)]
pub(super) enum Look {
    /// The follower, everywhere.
    Follow,
    /// The follower, at the paths that changed.
    Hinted,
    /// The follower dies after so many writes and is started again.
    Killed(usize),
    Ingest,
}

/// Programs that look about every third step.
pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let file = 0..3_usize;
    let change = prop_oneof![
        6 => (file.clone(), 1..4_usize).prop_map(|(file, lines)| Step::Append { file, lines }),
        2 => (file.clone(), 1..80_usize, any::<bool>())
            .prop_map(|(file, kept, completes)| Step::Half { file, kept, completes }),
        2 => file.clone().prop_map(|file| Step::Rotate { file }),
        2 => (file.clone(), 0..3_usize).prop_map(|(file, folder)| Step::Move { file, folder }),
        2 => (file.clone(), 0..900_usize).prop_map(|(file, kept)| Step::Truncate { file, kept }),
        1 => (file.clone(), 1..4_usize).prop_map(|(file, lines)| Step::Replace { file, lines }),
        1 => file.clone().prop_map(|file| Step::Rewrite { file }),
        2 => file.clone().prop_map(|file| Step::Compress { file }),
        2 => file.clone().prop_map(|file| Step::Restore { file }),
        1 => file.prop_map(|file| Step::Delete { file }),
    ];
    let look = prop_oneof![
        3 => Just(Look::Follow),
        3 => Just(Look::Hinted),
        1 => (0..3_usize).prop_map(Look::Killed),
        2 => Just(Look::Ingest),
    ];
    let step = prop_oneof![2 => change, 1 => look.prop_map(Step::Look)];
    proptest::collection::vec(step, 1..14)
}
