//! DEC: decoders and locators.
//!
//! Each demand is touched by its own case only: places of plain lines in DEC-01, of multibyte text
//! in DEC-02, of odd line ends in DEC-18. What only a rollout has (second tellings, commands nested
//! in a script) is asked of those who offer it.

mod descriptors;
mod meaning;
mod places;
mod tellings;

use crate::conformance::check::{Checks, Stop};
use crate::conformance::contract::{Body, Case, Contract};
use crate::conformance::decoding::{Decoder, NativeFile, Observation};
use crate::conformance::native::PATH;
use crate::conformance::subjects::Offer;

/// The contract.
pub fn contract() -> Contract {
    Contract { id: "DEC", title: "decoders and locators", cases: CASES.to_vec(), floor: 22 }
}

const LOCATORS: &str = "shared harness contracts: source locators";
const TELLINGS: &str = "shared harness contracts: canonical and projected records";
const IDENTITY: &str = "shared harness contracts: source descriptors";
const LINEAGE: &str = "shared harness contracts: lineage";
const DAMAGE: &str = "shared harness contracts: malformed and unknown input";
const HERE: &str = "new here: what real files hold";

const fn shared(
    id: &'static str,
    title: &'static str,
    clause: &'static str,
    checks: u32,
    why: &'static str,
    body: fn(&mut Checks<'_>, &mut dyn Decoder) -> Result<(), Stop>,
) -> Case {
    Case { id, title, clause, checks, why, body: Body::Decoder(Offer::Decoder, body) }
}

const fn told_twice(
    id: &'static str,
    title: &'static str,
    checks: u32,
    why: &'static str,
    body: fn(&mut Checks<'_>, &mut dyn Decoder) -> Result<(), Stop>,
) -> Case {
    Case {
        id,
        title,
        clause: TELLINGS,
        checks,
        why,
        body: Body::Decoder(Offer::SecondTellings, body),
    }
}

const CASES: &[Case] = &[
    shared(
        "DEC-01",
        "every observation has source, byte offset, length, line hash and index",
        LOCATORS,
        4,
        "Without its place a statement can never be checked against the file again.",
        places::dec_01,
    ),
    shared(
        "DEC-02",
        "offsets count bytes over multibyte text",
        LOCATORS,
        1,
        "Counted in characters, every place behind the first accent is wrong.",
        places::dec_02,
    ),
    shared(
        "DEC-03",
        "siblings on one line have distinct ids",
        LOCATORS,
        1,
        "One id a line keeps the last part of a message and loses the others.",
        places::dec_03,
    ),
    shared(
        "DEC-04",
        "a sibling index depends on its own line alone",
        HERE,
        1,
        "An index that depends on earlier lines points elsewhere when reading resumes.",
        places::dec_04,
    ),
    told_twice(
        "DEC-05",
        "a projection before its canonical message is not counted",
        2,
        "Both tellings counted, every answer of such a file is there twice.",
        tellings::dec_05,
    ),
    told_twice(
        "DEC-06",
        "a projection after its canonical message is not counted",
        2,
        "Later builds write the two in the other order.",
        tellings::dec_06,
    ),
    told_twice(
        "DEC-07",
        "an unmatched projection is kept once, marked fallback",
        2,
        "It is the only trace of that message; but it is no canonical one.",
        tellings::dec_07,
    ),
    shared(
        "DEC-08",
        "two equal texts are two messages",
        TELLINGS,
        1,
        "An agent says the same thing twice, and each time it is an answer.",
        tellings::dec_08,
    ),
    told_twice(
        "DEC-09",
        "projections match only within their own turn",
        2,
        "An old unmatched telling must not swallow a later turn's message.",
        tellings::dec_09,
    ),
    Case {
        id: "DEC-10",
        title: "nested commands have their own id space; adjacency proves no parent",
        clause: TELLINGS,
        checks: 2,
        why: "A script's call succeeds although a command inside it failed, and the other way round.",
        body: Body::Decoder(Offer::NestedCommands, tellings::dec_10),
    },
    shared(
        "DEC-11",
        "an unknown record is a located tag, without its value",
        DAMAGE,
        2,
        "Dropped, drift stays unseen; kept whole, unvetted content reaches the store.",
        meaning::dec_11,
    ),
    shared(
        "DEC-12",
        "a source whose first metadata changed since its descriptor was made is refused with a reason; file names never count",
        IDENTITY,
        2,
        "Otherwise the rest of one conversation is filed under another.",
        descriptors::dec_12,
    ),
    shared(
        "DEC-13",
        "replayed parent history is marked with its origin and not counted",
        LINEAGE,
        4,
        "A fork begins with a copy; counted, all work and cost of the parent happens again.",
        meaning::dec_13,
    ),
    shared(
        "DEC-14",
        "a child sharing the tree id is its own conversation, parent is lineage",
        LINEAGE,
        2,
        "Merged, a sub-agent's doings look like the main agent's.",
        meaning::dec_14,
    ),
    shared(
        "DEC-15",
        "model comes from the turn's context, also for late usage",
        HERE,
        1,
        "Usage that arrives after a change of model was still spent by the old one.",
        meaning::dec_15,
    ),
    shared(
        "DEC-16",
        "last activity is not an end",
        LINEAGE,
        1,
        "A session that only stopped writing may go on; its end is not known.",
        meaning::dec_16,
    ),
    shared(
        "DEC-17",
        "invalid UTF-8 is never replaced and then trusted",
        DAMAGE,
        3,
        "A replaced character makes text that nobody wrote, and moves every later offset.",
        places::dec_17,
    ),
    shared(
        "DEC-18",
        "CRLF, BOM and blank lines do not shift offsets",
        LOCATORS,
        1,
        "A line iterator that strips them gives places that are off by one a line.",
        places::dec_18,
    ),
    shared(
        "DEC-19",
        "an inconsistent descriptor is refused before any observation",
        IDENTITY,
        1,
        "What is read under a wrong descriptor is wrong in every row.",
        descriptors::dec_19,
    ),
    told_twice(
        "DEC-20",
        "a killed session still yields its pending fallbacks",
        1,
        "The last words before a crash are told once only, and matter most.",
        tellings::dec_20,
    ),
    shared(
        "DEC-21",
        "a lone-surrogate escape, huge exponent or deep nesting does not lose the line",
        HERE,
        2,
        "Real writers cut emoji in halves; a strict parser loses the whole line for it.",
        places::dec_21,
    ),
    shared(
        "DEC-22",
        "evidence path is the field actually read",
        LOCATORS,
        2,
        "Read-back through a wrong path shows another text, or none.",
        descriptors::dec_22,
    ),
];

/// Everything in a file of these bytes.
fn seen(
    checks: &mut Checks<'_>,
    decoder: &mut dyn Decoder,
    bytes: &[u8],
) -> Result<Vec<Observation>, Stop> {
    checks.answered(decoder.decode(NativeFile { path: PATH, bytes }, None))
}

/// The bytes that an observation says it was read from.
fn record_of<'b>(bytes: &'b [u8], seen: &Observation) -> Option<&'b [u8]> {
    let start = usize::try_from(seen.at.offset).ok()?;
    let end = usize::try_from(seen.end()).ok()?;
    bytes.get(start..end)
}

/// Where a line of a file begins.
fn offset_of(bytes: &[u8], line: &str) -> Option<u64> {
    let at = bytes.windows(line.len().max(1)).position(|window| window == line.as_bytes())?;
    u64::try_from(at).ok()
}

/// The counted events that say exactly this.
fn counted<'o>(seen: &'o [Observation], text: &str) -> Vec<&'o Observation> {
    seen.iter()
        .filter(|one| one.counted && one.is_event() && one.text.as_deref() == Some(text))
        .collect()
}
