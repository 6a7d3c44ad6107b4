//! The subjects of `fornax conformance`: the parts that ship, bound to the contracts' traits.
//!
//! Keys and envelopes are the domain's own. `codex_native` drives the Codex adapter line by line,
//! `decode` whole files through recognition, resumption and reading, `tail` growing ones into a
//! store, and `readback` reads their texts back.

mod codex_native;
mod decode;
mod hook_host;
mod mark;
mod normalize;
mod observe;
mod readback;
mod tail;
mod tee;

use crate::adapters::agents::{claude, codex};
use crate::conformance::builtin::{
    BuiltinSubjects, CLAUDE_HOOK, CLAUDE_TRANSCRIPT, CODEX_HOOK, CODEX_ROLLOUT, OPENCODE, TAIL,
};
use crate::conformance::decoding::{Decoder, Dialect};
use crate::conformance::normalizing::{HookHost, Normalizer};
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
    (
        CODEX_ROLLOUT,
        &[Offer::Decoder, Offer::SecondTellings, Offer::NestedCommands, Offer::Normalize],
    ),
    (CLAUDE_HOOK, &[Offer::Normalize, Offer::HookProcess]),
    (CODEX_HOOK, &[Offer::HookProcess]),
    (OPENCODE, &[Offer::Normalize, Offer::HookProcess]),
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

    fn normalizer(&self, subject: &str) -> Option<Box<dyn Normalizer>> {
        let normalized = match subject {
            CLAUDE_HOOK => normalize::Normalized::claude_hook(),
            CODEX_ROLLOUT => normalize::Normalized::codex_rollout(),
            OPENCODE => normalize::Normalized::opencode(),
            _ => return None,
        };
        Some(Box::new(normalized))
    }

    fn hook_host(&self, subject: &str) -> Option<Box<dyn HookHost>> {
        let word = match subject {
            CLAUDE_HOOK => "claude",
            CODEX_HOOK => "codex",
            OPENCODE => "opencode",
            _ => return None,
        };
        Some(Box::new(hook_host::OwnHook::new(word).ok()?))
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
