//! TAL: tail and resume.
//!
//! Every change of a file gives it a later time, so that no case depends on the tick of a clock;
//! TAL-19 alone sets times of its own. What one reader does in one process and what a later process
//! does are both asked where both exist.

mod changes;
mod growth;
mod source;
mod tokens;

use crate::conformance::check::{CaseEnd, Checks};
use crate::conformance::contract::{Body, Case, Contract};
use crate::conformance::tailing::TailReader;

/// The contract.
pub fn contract() -> Contract {
    Contract { id: "TAL", title: "tail and resume", cases: CASES.to_vec(), floor: 20 }
}

const RESUME: &str = "shared harness contracts: resumption";
const CHANGES: &str = "shared harness contracts: sources that change";
const HERE: &str = "new here: files are written while they are read";

const fn case(
    id: &'static str,
    title: &'static str,
    clause: &'static str,
    checks: u32,
    why: &'static str,
    body: fn(&mut Checks<'_>, &mut dyn TailReader) -> CaseEnd,
) -> Case {
    Case { id, title, clause, checks, why, body: Body::Tail(body) }
}

const CASES: &[Case] = &[
    case(
        "TAL-01",
        "any split point converges with the full read (property)",
        RESUME,
        1,
        "Where a file was cut off when it was first read must not show in what is known of it.",
        growth::tal_01,
    ),
    case(
        "TAL-02",
        "a partial last line is withheld, then delivered exactly once",
        RESUME,
        2,
        "Writers flush in pieces; half a line is no line, and its second half is none either.",
        growth::tal_02,
    ),
    case(
        "TAL-03",
        "a malformed complete line is quarantined with its location; later lines still arrive",
        RESUME,
        2,
        "One damaged line must cost that line, and must not be passed over in silence.",
        growth::tal_03,
    ),
    case(
        "TAL-04",
        "metadata and open calls before the resume point are rebuilt",
        RESUME,
        2,
        "A result names its call by id only; read cold, it belongs to nothing.",
        tokens::tal_04,
    ),
    case(
        "TAL-05",
        "a same-length rewrite of the prefix restarts from zero, and says so",
        CHANGES,
        2,
        "A migration rewrites files in place; what was read before is not there any more.",
        changes::tal_05,
    ),
    case(
        "TAL-06",
        "truncation restarts from zero, and says so",
        CHANGES,
        2,
        "An offset beyond the end waits for ever, or goes on in the middle of another line.",
        changes::tal_06,
    ),
    case(
        "TAL-07",
        "a replaced file at the same path is a new generation",
        CHANGES,
        2,
        "Whoever keys by path goes on in a file that was never read.",
        changes::tal_07,
    ),
    case(
        "TAL-08",
        "a moved file resumes by identity",
        CHANGES,
        2,
        "Archiving moves a file; keyed by path, everything in it is new again.",
        changes::tal_08,
    ),
    case(
        "TAL-09",
        "a vanished source is missing; its rows stay",
        CHANGES,
        2,
        "Hosts delete transcripts after a month; the record is what is left.",
        changes::tal_09,
    ),
    case(
        "TAL-10",
        "an unreadable source is an error, not an empty one",
        CHANGES,
        2,
        "Mapped to an empty list, a lost permission looks like a quiet agent.",
        changes::tal_10,
    ),
    case(
        "TAL-11",
        "a token from another decoder version is replayed, not trusted",
        RESUME,
        1,
        "State of another version is read with other meanings.",
        tokens::tal_11,
    ),
    case(
        "TAL-12",
        "a token from another source is refused",
        RESUME,
        2,
        "A copy begins with the same bytes, and is another source all the same.",
        tokens::tal_12,
    ),
    case(
        "TAL-13",
        "a crash between delivery and checkpoint redelivers, never loses",
        HERE,
        2,
        "Saved first and told later, what a crash cut off is never told.",
        tokens::tal_13,
    ),
    case(
        "TAL-14",
        "a checkpoint never covers undelivered or partial bytes",
        RESUME,
        2,
        "A cursor at the end of the file skips the line that was being written.",
        tokens::tal_14,
    ),
    case(
        "TAL-15",
        "an over-long line is skipped with a located marker and does not stall",
        HERE,
        2,
        "Lines of many megabytes are real; a full buffer must neither loop nor hide the rest.",
        growth::tal_15,
    ),
    case(
        "TAL-16",
        "a consumer that stops is never failed by a later line",
        RESUME,
        1,
        "What was not asked for cannot be what fails.",
        tokens::tal_16,
    ),
    case(
        "TAL-17",
        "two readers of one source do not disturb each other",
        HERE,
        2,
        "A second look at a file must not move the place where the first one goes on.",
        tokens::tal_17,
    ),
    case(
        "TAL-18",
        "bytes appended during a read arrive once",
        HERE,
        1,
        "Between looking and reading the writer goes on writing.",
        growth::tal_18,
    ),
    case(
        "TAL-19",
        "an unchanged or backward mtime does not hide growth",
        CHANGES,
        1,
        "Restored and synchronised files keep old times; clocks tick slower than writers write.",
        growth::tal_19,
    ),
    case(
        "TAL-20",
        "an empty file yields nothing and boundary zero (control)",
        RESUME,
        2,
        "A file is empty before its first line; that is neither an error nor an end.",
        growth::tal_20,
    ),
];
