//! The subjects of `fornax conformance`: the parts that ship, bound to the contracts' traits.
//!
//! Keys and envelopes are the domain's own. `codex_native` drives the Codex adapter line by line,
//! `decode` whole files through recognition, resumption and reading, `tail` growing ones into a
//! store, and `readback` reads their texts back.

mod codex_native;
mod decode;
mod mark;
mod observe;
mod readback;
mod tail;
mod tee;

use crate::adapters::agents::{claude, codex};
use crate::conformance::builtin::{BuiltinSubjects, CLAUDE_TRANSCRIPT, CODEX_ROLLOUT, TAIL};
use crate::conformance::decoding::{Decoder, Dialect};
use crate::conformance::subjects::{
    EnvelopeCodec, KeyCodec, NativeProbe, Offer, Resolver, SubjectFactory, SubjectRow, UsageFold,
};
use crate::conformance::tailing::TailReader;

/// Every subject that this program can be judged by.
pub(super) struct BuiltIn;

const SUBJECTS: BuiltinSubjects = BuiltinSubjects {
    native: || Box::new(codex_native::CodexRollout),
    resolver: || Box::new(readback::StoreAndFiles::new()),
};

/// What the readers of files offer beside the domain's subjects.
const FILE_OFFERS: &[(&str, &[Offer])] = &[
    (CODEX_ROLLOUT, &[Offer::Decoder, Offer::SecondTellings, Offer::NestedCommands]),
    (CLAUDE_TRANSCRIPT, &[Offer::Decoder]),
    (TAIL, &[Offer::Tail]),
];

impl SubjectFactory for BuiltIn {
    fn subjects(&self) -> Vec<SubjectRow> {
        let mut rows = SUBJECTS.subjects();
        for (name, offers) in FILE_OFFERS {
            match rows.iter_mut().find(|row| row.name == *name) {
                Some(row) => row.offers.extend_from_slice(offers),
                None => {
                    rows.push(SubjectRow { name: (*name).to_owned(), offers: offers.to_vec() });
                }
            }
        }
        rows
    }

    fn keys(&self, subject: &str) -> Option<Box<dyn KeyCodec>> {
        SUBJECTS.keys(subject)
    }

    fn envelope(&self, subject: &str) -> Option<Box<dyn EnvelopeCodec>> {
        SUBJECTS.envelope(subject)
    }

    fn native(&self, subject: &str) -> Option<Box<dyn NativeProbe>> {
        SUBJECTS.native(subject)
    }

    fn resolver(&self, subject: &str) -> Option<Box<dyn Resolver>> {
        SUBJECTS.resolver(subject)
    }

    fn usage(&self, subject: &str) -> Option<Box<dyn UsageFold>> {
        SUBJECTS.usage(subject)
    }

    fn decoder(&self, subject: &str) -> Option<Box<dyn Decoder>> {
        let (dialect, format) = match subject {
            CODEX_ROLLOUT => (Dialect::CodexRollout, codex::FORMAT_ROLLOUT),
            CLAUDE_TRANSCRIPT => (Dialect::ClaudeTranscript, claude::TRANSCRIPT),
            _ => return None,
        };
        Some(Box::new(decode::FileDecoder::new(dialect, format)))
    }

    fn tail(&self, subject: &str) -> Option<Box<dyn TailReader>> {
        let tail = (subject == TAIL).then(tail::StoredTail::new)?.ok()?;
        Some(Box::new(tail))
    }
}
