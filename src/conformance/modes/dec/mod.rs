//! Break modes of DEC: one decorator around a decoder, with one defect.

mod input;
mod output;

use crate::conformance::contract::{Mode, Wrap};
use crate::conformance::decoding::{Decoder, Descriptor, Dialect, NativeFile, Observation};
use crate::conformance::subjects::Fired;

/// A table row; the wrap of a mode must be a plain function, so the macro makes one.
macro_rules! mode {
    ($name:literal, $must:expr, $may:expr, $defect:literal, $seen:literal, $broken:expr) => {
        Mode {
            name: $name,
            must: $must,
            may: $may,
            defect: $defect,
            seen: $seen,
            wrap: Wrap::Decoder(|inner, fired| Box::new(Broken { inner, fired, defect: $broken })),
        }
    };
}

/// The modes.
pub const MODES: &[Mode] = &[
    mode!(
        "dec_evidence_missing",
        &["DEC-01"],
        &[],
        "evidence is built on a road of its own, without its place",
        "",
        Defect::EvidenceMissing
    ),
    mode!(
        "dec_char_offsets",
        &["DEC-02"],
        &[],
        "the length of a string is counted instead of bytes",
        "",
        Defect::CharOffsets
    ),
    mode!(
        "dec_line_identity_only",
        &["DEC-03"],
        &[],
        "the line's offset is the key of an upsert",
        "",
        Defect::LineIdentityOnly
    ),
    mode!(
        "dec_index_from_state",
        &["DEC-04"],
        &[],
        "one counter runs over the whole file",
        "fornax before this case: facts that are told once stood ahead of a line's own messages",
        Defect::IndexFromState
    ),
    mode!(
        "dec_projection_twice",
        &["DEC-05"],
        &[],
        "second tellings are counted like first ones",
        "",
        Defect::ProjectionTwice
    ),
    mode!(
        "dec_late_projection_twice",
        &["DEC-06"],
        &[],
        "a second telling is only looked for ahead of the first",
        "",
        Defect::LateProjectionTwice
    ),
    mode!(
        "dec_projection_dropped",
        &["DEC-07"],
        &["DEC-09", "DEC-20"],
        "second tellings are ignored altogether",
        "",
        Defect::ProjectionDropped
    ),
    mode!(
        "dec_dedup_by_text_set",
        &["DEC-08"],
        &[],
        "a set of the texts already seen in the turn",
        "",
        Defect::DedupByTextSet
    ),
    mode!(
        "dec_match_across_turns",
        &["DEC-09"],
        &[],
        "the buffer of unmatched tellings is never cleared",
        "",
        Defect::MatchAcrossTurns
    ),
    mode!(
        "dec_nested_under_wrapper",
        &["DEC-10"],
        &[],
        "a command's end is attached to the last call",
        "",
        Defect::NestedUnderWrapper
    ),
    mode!(
        "dec_unknown_dropped",
        &["DEC-11"],
        &[],
        "the last arm of the match does nothing",
        "",
        Defect::UnknownDropped
    ),
    mode!(
        "dec_unknown_keeps_value",
        &["DEC-11"],
        &[],
        "the raw value is stored for later",
        "ADR 0004 considered log and preserve, and rejected it",
        Defect::UnknownKeepsValue
    ),
    mode!(
        "dec_foreign_identity_accepted",
        &["DEC-12"],
        &[],
        "descriptor and file name are trusted over the content",
        "",
        Defect::ForeignIdentityAccepted
    ),
    mode!(
        "dec_fork_history_counted",
        &["DEC-13"],
        &[],
        "replayed parent lines are ordinary lines",
        "superset PR 6945: usage inflated up to 126 times by replayed fork history",
        Defect::ForkHistoryCounted
    ),
    mode!(
        "dec_fork_quarantined",
        &["DEC-13"],
        &[],
        "the lines of another conversation are taken for corruption",
        "",
        Defect::ForkQuarantined
    ),
    mode!(
        "dec_tree_merges_children",
        &["DEC-14"],
        &[],
        "conversations are grouped by the id of their tree",
        "",
        Defect::TreeMergesChildren
    ),
    mode!(
        "dec_model_is_last_seen",
        &["DEC-15"],
        &[],
        "one current model for the whole file",
        "",
        Defect::ModelIsLastSeen
    ),
    mode!(
        "dec_end_from_last_line",
        &["DEC-16"],
        &[],
        "the last line's time is shown as the end",
        "anthropics/claude-code #17885, #41577: a killed session tells no end",
        Defect::EndFromLastLine
    ),
    mode!(
        "dec_lossy_utf8",
        &["DEC-17"],
        &[],
        "bytes are decoded with replacement characters",
        "",
        Defect::LossyUtf8
    ),
    mode!(
        "dec_crlf_stripped",
        &["DEC-18"],
        &[],
        "the line iterator drops the carriage return",
        "",
        Defect::CrlfStripped
    ),
    mode!(
        "dec_descriptor_unchecked",
        &["DEC-19"],
        &[],
        "a descriptor is not validated",
        "",
        Defect::DescriptorUnchecked
    ),
    mode!(
        "dec_pending_lost_at_eof",
        &["DEC-20"],
        &[],
        "unmatched tellings are flushed at the end of a turn only",
        "",
        Defect::PendingLostAtEof
    ),
    mode!(
        "dec_strict_json_only",
        &["DEC-21"],
        &[],
        "the parser refuses what the writer wrote",
        "anthropics/claude-code #50019, #45982; openai/codex #35746: whole lines lost to a strict parser",
        Defect::StrictJsonOnly
    ),
    mode!(
        "dec_evidence_path_fixed",
        &["DEC-22"],
        &[],
        "one constant path for two spellings",
        "",
        Defect::EvidencePathFixed
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    EvidenceMissing,
    CharOffsets,
    LineIdentityOnly,
    IndexFromState,
    ProjectionTwice,
    LateProjectionTwice,
    ProjectionDropped,
    DedupByTextSet,
    MatchAcrossTurns,
    NestedUnderWrapper,
    UnknownDropped,
    UnknownKeepsValue,
    ForeignIdentityAccepted,
    ForkHistoryCounted,
    ForkQuarantined,
    TreeMergesChildren,
    ModelIsLastSeen,
    EndFromLastLine,
    LossyUtf8,
    CrlfStripped,
    DescriptorUnchecked,
    PendingLostAtEof,
    StrictJsonOnly,
    EvidencePathFixed,
}

/// A decoder with one defect; every other answer is the subject's own.
struct Broken {
    inner: Box<dyn Decoder>,
    fired: Fired,
    defect: Defect,
}

impl Broken {
    /// What the defect feeds to the subject; none when it changes nothing.
    fn fed(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        match self.defect {
            Defect::LossyUtf8 => input::lossy(bytes),
            Defect::CrlfStripped => input::without_cr(bytes),
            Defect::ForkHistoryCounted => input::without_fork_marks(self.inner.dialect(), bytes),
            _ => None,
        }
    }

    /// What the defect accepts of what the subject refused.
    fn accept(
        &mut self,
        file: NativeFile<'_>,
        descriptor: &Descriptor,
        refusal: String,
    ) -> Result<Vec<Observation>, String> {
        let now = self.inner.describe(file)?;
        let fits = now.format == descriptor.format
            && now.decoder == descriptor.decoder
            && descriptor.boundary <= now.boundary;
        let accepts = match self.defect {
            Defect::ForeignIdentityAccepted => fits,
            Defect::DescriptorUnchecked => !fits,
            _ => false,
        };
        if !accepts {
            return Err(refusal);
        }
        self.fired.hit();
        let mut all = self.inner.decode(file, None)?;
        all.retain(|one| one.at.offset >= descriptor.boundary);
        Ok(all)
    }

    /// Changes what the subject answered; true when anything changed.
    fn spoil(&self, file: NativeFile<'_>, all: &mut Vec<Observation>) -> bool {
        let bytes = file.bytes;
        match self.defect {
            Defect::EvidenceMissing => output::evidence_without_place(all),
            Defect::CharOffsets => output::char_offsets(bytes, all),
            Defect::LineIdentityOnly => output::line_identity(all),
            Defect::IndexFromState => output::running_index(all),
            Defect::ProjectionTwice => output::count_projections(all, |twin, own| own < twin),
            Defect::LateProjectionTwice => output::count_projections(all, |twin, own| own > twin),
            Defect::ProjectionDropped => output::drop_fallbacks(all, |_| true),
            Defect::PendingLostAtEof => output::drop_pending(all),
            Defect::DedupByTextSet => output::drop_equal_texts(all),
            Defect::MatchAcrossTurns => output::match_across_turns(all),
            Defect::NestedUnderWrapper => output::attach_nested(all),
            Defect::UnknownDropped => output::drop_kind(all, output::UNRECOGNIZED),
            Defect::UnknownKeepsValue => output::keep_values(bytes, all),
            Defect::ForeignIdentityAccepted => output::name_from_path(file.path, all),
            Defect::ForkQuarantined => output::quarantine_copies(self.inner.dialect(), bytes, all),
            Defect::TreeMergesChildren => output::merge_children(all),
            Defect::ModelIsLastSeen => output::last_model(all),
            Defect::EndFromLastLine => output::end_at_last(all),
            Defect::StrictJsonOnly => output::strict_only(bytes, all),
            Defect::EvidencePathFixed => output::fixed_path(all),
            Defect::ForkHistoryCounted
            | Defect::LossyUtf8
            | Defect::CrlfStripped
            | Defect::DescriptorUnchecked => false,
        }
    }
}

impl Decoder for Broken {
    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn describe(&mut self, file: NativeFile<'_>) -> Result<Descriptor, String> {
        self.inner.describe(file)
    }

    fn decode(
        &mut self,
        file: NativeFile<'_>,
        descriptor: Option<&Descriptor>,
    ) -> Result<Vec<Observation>, String> {
        let fed = self.fed(file.bytes);
        if fed.is_some() {
            self.fired.hit();
        }
        let shown = NativeFile { path: file.path, bytes: fed.as_deref().unwrap_or(file.bytes) };
        let mut all = match (self.inner.decode(shown, descriptor), descriptor) {
            (Err(refusal), Some(descriptor)) => return self.accept(file, descriptor, refusal),
            (answer, _) => answer?,
        };
        if self.spoil(file, &mut all) {
            self.fired.hit();
        }
        Ok(all)
    }
}
