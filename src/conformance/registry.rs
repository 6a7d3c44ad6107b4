//! The shipped registry: every contract and mode, the waivers with their reasons, the floors.
//!
//! Numbers here are results of real runs. A floor may only rise, the ceiling of untoothed sites
//! only fall; the pinned offers live in a file so that dropping one shows as a change of data.

use std::collections::BTreeMap;

use super::cases;
use super::contract::{Contract, Mode, NONE, Suite, Untoothed, Waiver, Wrap};
use super::modes;

/// Sites with the modes that trip them, as of the last accepted self-test.
pub const TEETH: &str = include_str!("../../fixtures/conformance/teeth.json");

/// What each subject offers.
pub const OFFERS: &str = include_str!("../../fixtures/conformance/offers.json");

const UNTOOTHED_CEILING: usize = 8;
const MODE_FLOOR: usize = 144;

/// Cases that each subject runs at least.
const SUBJECT_FLOORS: &[(&str, usize)] = &[
    ("builtin:claude-hook", 27),
    ("builtin:opencode", 26),
    ("builtin:codex-hook", 2),
    ("builtin:keys", 11),
    ("builtin:envelope", 12),
    ("builtin:codex-rollout", 50),
    ("builtin:readback", 15),
    ("builtin:claude-transcript", 16),
    ("builtin:tail", 20),
    ("builtin:usage", 16),
    ("builtin:runner", 18),
];

const WAIVERS: &[Waiver] = &[
    Waiver {
        case: "IDN-01",
        reason: "the grammar itself: every defect that moves a part also breaks IDN-02, IDN-08 or IDN-10",
    },
    Waiver {
        case: "EXT-13",
        reason: "nothing in the core reads fields, so there is no code to break honestly",
    },
    Waiver {
        case: "USG-16",
        reason: "the control: a fold that invents numbers from nothing has no honest defect",
    },
    Waiver { case: "RUN-01", reason: "a plain test of the runner: a healthy run" },
    Waiver { case: "RUN-03", reason: "a plain test of the runner: a misspelt mode" },
    Waiver { case: "RUN-07", reason: "a plain test of the runner: the sweep over every site" },
];

const UNTOOTHED: &[Untoothed] = &[
    Untoothed { site: "IDN-01/spelling", reason: "the case is waived" },
    Untoothed { site: "EXT-13/inert", reason: "the case is waived" },
    Untoothed { site: "USG-16/no-numbers", reason: "the case is waived" },
    Untoothed { site: "USG-16/basis-none", reason: "the case is waived" },
    Untoothed { site: "RUN-01/every-case-is-green", reason: "the case is a plain test" },
    Untoothed { site: "RUN-03/exit-64", reason: "the case is a plain test" },
    Untoothed { site: "RUN-03/nearest-name", reason: "the case is a plain test" },
    Untoothed { site: "RUN-07/every-site-closes-its-ledger", reason: "the case is a plain test" },
];

/// The control: no defect.
pub fn control() -> Mode {
    Mode { name: NONE, must: &[], may: &[], defect: "", seen: "", wrap: Wrap::Nothing }
}

/// The registry as shipped.
pub fn suite() -> Suite {
    Suite {
        contracts: contracts(),
        modes: std::iter::once(control())
            .chain(modes::idn::MODES.iter().copied())
            .chain(modes::nat::MODES.iter().copied())
            .chain(modes::dec::MODES.iter().copied())
            .chain(modes::tal::MODES.iter().copied())
            .chain(modes::ext::MODES.iter().copied())
            .chain(modes::rbk::MODES.iter().copied())
            .chain(modes::usg::MODES.iter().copied())
            .chain(modes::run::MODES.iter().copied())
            .collect(),
        waivers: WAIVERS.to_vec(),
        untoothed: UNTOOTHED.to_vec(),
        untoothed_ceiling: UNTOOTHED_CEILING,
        mode_floor: MODE_FLOOR,
        subject_floors: SUBJECT_FLOORS
            .iter()
            .map(|(subject, floor)| ((*subject).to_owned(), *floor))
            .collect(),
        pinned_offers: pinned_offers(),
    }
}

fn contracts() -> Vec<Contract> {
    vec![
        cases::idn::contract(),
        cases::nat::contract(),
        cases::dec::contract(),
        cases::tal::contract(),
        cases::ext::contract(),
        cases::rbk::contract(),
        cases::usg::contract(),
        cases::run::contract(),
    ]
}

/// An unreadable file pins nothing, which RUN-16 reports as subjects without a pin.
fn pinned_offers() -> BTreeMap<String, Vec<String>> {
    serde_json::from_str(OFFERS).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::teeth::Matrix;

    #[test]
    fn the_embedded_files_are_readable() {
        assert!(!pinned_offers().is_empty());
        assert!(!Matrix::from_json(TEETH).unwrap().0.is_empty());
    }

    #[test]
    fn the_mode_floor_is_the_number_of_modes() {
        assert_eq!(suite().breaks().count(), MODE_FLOOR);
        assert_eq!(UNTOOTHED.len(), UNTOOTHED_CEILING);
    }
}
