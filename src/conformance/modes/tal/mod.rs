//! Break modes of TAL: one decorator around a tail reader, with one defect.
//!
//! The decorator remembers what it saw of each file, as the defective program would.

mod memory;

use std::path::{Path, PathBuf};

use self::memory::{Look, Memories};
use crate::conformance::contract::{Mode, Wrap};
use crate::conformance::decoding::{At, Observation, QUARANTINE};
use crate::conformance::subjects::Fired;
use crate::conformance::tailing::{Ask, Delivered, Halt, Note, TailReader};

macro_rules! mode {
    ($name:literal, $must:literal, $may:expr, $defect:literal, $seen:literal, $broken:expr) => {
        Mode {
            name: $name,
            must: &[$must],
            may: $may,
            defect: $defect,
            seen: $seen,
            wrap: Wrap::Tail(|inner, fired| {
                Box::new(Broken { inner, fired, defect: $broken, memories: Memories::default() })
            }),
        }
    };
}

/// The modes.
pub const MODES: &[Mode] = &[
    mode!(
        "tal_resume_off_by_one",
        "TAL-01",
        &[],
        "the watermark stands before a last line whose end is still to come",
        "",
        Defect::ResumeOffByOne
    ),
    mode!(
        "tal_emits_partial",
        "TAL-02",
        &["TAL-01"],
        "a buffered reader yields what stands behind the last line end",
        "",
        Defect::EmitsPartial
    ),
    mode!(
        "tal_malformed_silent",
        "TAL-03",
        &[],
        "lines that parse are taken, and there is no else",
        "",
        Defect::MalformedSilent
    ),
    mode!(
        "tal_malformed_fatal",
        "TAL-03",
        &[],
        "one bad line ends the source",
        "anthropics/claude-code #93132: what stood behind a damaged line was lost",
        Defect::MalformedFatal
    ),
    mode!(
        "tal_context_lost",
        "TAL-04",
        &["TAL-01"],
        "the reader seeks and starts cold",
        "",
        Defect::ContextLost
    ),
    mode!(
        "tal_trusts_length",
        "TAL-05",
        &[],
        "only the size is compared",
        "",
        Defect::TrustsLength
    ),
    mode!(
        "tal_truncation_ignored",
        "TAL-06",
        &[],
        "an offset beyond the end waits for ever",
        "",
        Defect::TruncationIgnored
    ),
    mode!(
        "tal_generation_ignored",
        "TAL-07",
        &[],
        "state is keyed by path",
        "",
        Defect::GenerationIgnored
    ),
    mode!(
        "tal_path_is_identity",
        "TAL-08",
        &[],
        "an archived file is a new session",
        "",
        Defect::PathIsIdentity
    ),
    mode!(
        "tal_missing_deletes",
        "TAL-09",
        &[],
        "a sync deletes what it cannot see",
        "",
        Defect::MissingDeletes
    ),
    mode!(
        "tal_unreadable_is_empty",
        "TAL-10",
        &[],
        "an error is mapped to an empty list",
        "",
        Defect::UnreadableIsEmpty
    ),
    mode!(
        "tal_token_version_ignored",
        "TAL-11",
        &[],
        "state is deserialised across an upgrade",
        "",
        Defect::TokenVersionIgnored
    ),
    mode!(
        "tal_token_any_source",
        "TAL-12",
        &[],
        "a token carries no source",
        "",
        Defect::TokenAnySource
    ),
    mode!(
        "tal_checkpoint_before_emit",
        "TAL-13",
        &[],
        "the place is saved, then the process dies",
        "",
        Defect::CheckpointBeforeEmit
    ),
    mode!(
        "tal_checkpoint_past_partial",
        "TAL-14",
        &["TAL-01", "TAL-02"],
        "the cursor is the file's size",
        "juejin-usage #105, obelisk #102, grafana/agento11y #287: a torn last line was skipped for ever",
        Defect::CheckpointPastPartial
    ),
    mode!(
        "tal_long_line_stalls",
        "TAL-15",
        &[],
        "a full buffer is waited for",
        "",
        Defect::LongLineStalls
    ),
    mode!(
        "tal_reads_ahead",
        "TAL-16",
        &[],
        "an eager reader meets an error that nobody asked for",
        "",
        Defect::ReadsAhead
    ),
    mode!(
        "tal_position_by_path",
        "TAL-17",
        &[],
        "one table of positions for all readers of the process",
        "",
        Defect::PositionByPath
    ),
    mode!(
        "tal_growth_twice",
        "TAL-18",
        &[],
        "the size is taken before the read and saved after it",
        "",
        Defect::GrowthTwice
    ),
    mode!(
        "tal_mtime_gate",
        "TAL-19",
        &[],
        "a file whose time is no later is skipped",
        "",
        Defect::MtimeGate
    ),
    mode!(
        "tal_empty_is_error",
        "TAL-20",
        &[],
        "the file is mapped, and an empty map is an error",
        "",
        Defect::EmptyIsError
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    ResumeOffByOne,
    EmitsPartial,
    MalformedSilent,
    MalformedFatal,
    ContextLost,
    TrustsLength,
    TruncationIgnored,
    GenerationIgnored,
    PathIsIdentity,
    MissingDeletes,
    UnreadableIsEmpty,
    TokenVersionIgnored,
    TokenAnySource,
    CheckpointBeforeEmit,
    CheckpointPastPartial,
    LongLineStalls,
    ReadsAhead,
    PositionByPath,
    GrowthTwice,
    MtimeGate,
    EmptyIsError,
}

/// A tail reader with one defect; every other answer is the subject's own.
struct Broken {
    inner: Box<dyn TailReader>,
    fired: Fired,
    defect: Defect,
    memories: Memories,
}

/// What the defect makes of a read before it happens.
enum Before {
    /// It happens, perhaps asked otherwise.
    Read(Ask),
    /// It does not happen.
    Answer(Result<Delivered, String>),
}

impl Broken {
    fn fire<T>(&self, value: T) -> T {
        self.fired.hit();
        value
    }

    /// Nothing new, and the place stays.
    fn nothing(&self, ask: &Ask) -> Before {
        let delivered = Delivered { token: ask.token.clone(), ..Delivered::default() };
        self.fire(Before::Answer(Ok(delivered)))
    }

    fn before(&mut self, mut ask: Ask, look: &Look) -> Before {
        let boundary = ask.token.as_ref().map_or(0, |token| token.boundary);
        let memory = self.memories.of(&ask.path);
        match self.defect {
            Defect::TrustsLength
                if boundary > 0
                    && look.size == boundary
                    && memory.content.is_some_and(|content| content != look.content) =>
            {
                self.nothing(&ask)
            }
            Defect::TruncationIgnored if look.exists && look.size < boundary => self.nothing(&ask),
            Defect::MtimeGate
                if look.size > boundary
                    && ask.token.is_some()
                    && memory.gate.is_some_and(|gate| look.modified <= gate)
                    && memory.token == ask.token =>
            {
                self.nothing(&ask)
            }
            Defect::EmptyIsError if look.exists && look.size == 0 => {
                self.fire(Before::Answer(Err("cannot map an empty file".to_owned())))
            }
            Defect::ReadsAhead if matches!(ask.halt, Halt::Stop(_)) && look.has_bad_line => {
                self.fire(Before::Answer(Err("a line cannot be parsed".to_owned())))
            }
            Defect::CheckpointBeforeEmit if matches!(ask.halt, Halt::Crash(_)) => {
                let answer = self.crash_after_save(ask);
                self.fire(Before::Answer(answer))
            }
            _ => {
                if self.ask_otherwise(&mut ask) {
                    self.fired.hit();
                }
                Before::Read(ask)
            }
        }
    }

    /// Changes what is asked; true when it did.
    fn ask_otherwise(&mut self, ask: &mut Ask) -> bool {
        let memory = self.memories.of(&ask.path);
        let path = ask.path.display().to_string();
        let newest = memory.token.clone();
        let foreign = ask.token.as_ref().map(|token| token.source.clone()).filter(|s| *s != path);
        match (self.defect, foreign, &mut ask.token) {
            (Defect::PathIsIdentity, Some(source), token) if !Path::new(&source).exists() => {
                let kept = self.inner.stored(Path::new(&source)).unwrap_or_default();
                self.memories.kept.extend(kept);
                *token = None;
                true
            }
            (Defect::TokenAnySource, Some(source), Some(token)) if Path::new(&source).exists() => {
                token.source = path;
                true
            }
            (Defect::TokenVersionIgnored, None, Some(token)) => {
                let made = newest.map_or_else(|| token.decoder.clone(), |newest| newest.decoder);
                let changed = made != token.decoder;
                token.decoder = made;
                changed
            }
            (Defect::PositionByPath, None, token) => {
                let held = token.as_ref().map_or(0, |token| token.boundary);
                let ahead = newest.filter(|newest| newest.boundary > held);
                let changed = ahead.is_some();
                *token = ahead.or(token.take());
                changed
            }
            _ => false,
        }
    }

    /// The place of the last delivery is saved, but the delivery is not handed over.
    fn crash_after_save(&mut self, ask: Ask) -> Result<Delivered, String> {
        let path = ask.path.clone();
        let mut crashed = self.inner.read(ask)?;
        let saved = crashed.token.as_ref().map_or(0, |token| token.boundary);
        crashed.observations.retain(|one| one.at.offset < saved);
        let rest = Ask { halt: Halt::Stop(1), ..Ask::of(&path, crashed.token.as_ref()) };
        crashed.token = self.inner.read(rest)?.token;
        Ok(crashed)
    }

    /// Changes what was answered; true when it did.
    fn after(&mut self, was: &Was, look: &Look, delivered: &mut Delivered) -> bool {
        let memory = self.memories.of(&was.path);
        match self.defect {
            Defect::ResumeOffByOne => memory::repeat_last_line(memory, was, look, delivered),
            Defect::EmitsPartial => memory::emit_partial(memory, delivered),
            Defect::GenerationIgnored => memory::keep_generation(memory, was, look, delivered),
            Defect::GrowthTwice => memory::tell_growth_again(memory, was, look, delivered),
            Defect::MalformedSilent => drop_where(delivered, |one| {
                one.kind == QUARANTINE || one.kind == "loss:line_unparseable"
            }),
            Defect::MalformedFatal => cut_behind(delivered, QUARANTINE),
            Defect::LongLineStalls => stall_at_long_line(delivered),
            Defect::ContextLost if was.boundary > 0 => lose_context(&was.path, delivered),
            Defect::MissingDeletes if !look.exists => {
                let before = delivered.notes.len();
                delivered.notes.retain(|note| *note != Note::Missing);
                delivered.notes.len() != before
            }
            Defect::UnreadableIsEmpty => {
                let before = delivered.notes.len();
                delivered.notes.retain(|note| !matches!(note, Note::Unreadable(_)));
                let changed = delivered.notes.len() != before;
                if changed {
                    delivered.token = None;
                }
                changed
            }
            Defect::TokenAnySource => match (&was.source, &mut delivered.token) {
                (Some(source), Some(token)) if *source != token.source => {
                    token.source.clone_from(source);
                    true
                }
                _ => false,
            },
            Defect::CheckpointPastPartial if look.is_torn => match &mut delivered.token {
                Some(token) if token.boundary != look.size => {
                    token.boundary = look.size;
                    true
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// What a read was asked, as far as the defects need it afterwards.
struct Was {
    path: PathBuf,
    boundary: u64,
    generation: i64,
    /// The token's source.
    source: Option<String>,
    has_meanwhile: bool,
    /// Neither halted nor refused.
    is_whole: bool,
}

impl Was {
    fn of(ask: &Ask) -> Self {
        let token = ask.token.as_ref();
        Self {
            path: ask.path.clone(),
            boundary: token.map_or(0, |token| token.boundary),
            generation: token.map_or(0, |token| token.generation),
            source: token.map(|token| token.source.clone()),
            has_meanwhile: ask.meanwhile.is_some(),
            is_whole: ask.halt == Halt::Never && !ask.refused,
        }
    }
}

impl TailReader for Broken {
    fn folder(&self) -> PathBuf {
        self.inner.folder()
    }

    fn line_cap(&self) -> usize {
        self.inner.line_cap()
    }

    fn delivery_bytes(&self) -> usize {
        self.inner.delivery_bytes()
    }

    fn read(&mut self, ask: Ask) -> Result<Delivered, String> {
        let look = Look::at(&ask.path);
        let was = Was::of(&ask);
        let ask = match self.before(ask, &look) {
            Before::Read(ask) => ask,
            Before::Answer(answer) => return answer,
        };
        let mut delivered = self.inner.read(ask)?;
        if self.after(&was, &look, &mut delivered) {
            self.fired.hit();
        }
        self.memories.remember(&was, &look, &delivered);
        Ok(delivered)
    }

    fn stored(&mut self, path: &Path) -> Result<Vec<Observation>, String> {
        if self.defect == Defect::MissingDeletes && !path.exists() {
            return Ok(self.fire(Vec::new()));
        }
        let mut stored = self.memories.kept.clone();
        stored.extend(self.inner.stored(path)?);
        Ok(stored)
    }
}

fn drop_where(delivered: &mut Delivered, drops: impl Fn(&Observation) -> bool) -> bool {
    let before = delivered.observations.len();
    delivered.observations.retain(|one| !drops(one));
    delivered.observations.len() != before
}

/// Drops everything behind the first observation of a kind.
fn cut_behind(delivered: &mut Delivered, kind: &str) -> bool {
    let first = delivered.observations.iter().find(|one| one.kind == kind);
    let Some(end) = first.map(Observation::end) else { return false };
    drop_where(delivered, |one| one.at.offset >= end)
}

fn stall_at_long_line(delivered: &mut Delivered) -> bool {
    let long = delivered.observations.iter().find(|one| one.kind == "loss:line_too_long");
    let Some(offset) = long.map(|one| one.at.offset) else { return false };
    if let Some(token) = &mut delivered.token {
        token.boundary = offset;
    }
    drop_where(delivered, |one| one.at.offset >= offset)
}

fn lose_context(path: &Path, delivered: &mut Delivered) -> bool {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let mut changed = false;
    for one in &mut delivered.observations {
        one.tool = None;
        one.turn = None;
        one.conversation.clone_from(&stem);
        changed = true;
    }
    changed
}

/// The mark of a line that does not parse.
fn refused_at(offset: u64) -> Observation {
    Observation {
        kind: QUARANTINE.to_owned(),
        counted: true,
        at: At { offset, ..At::default() },
        ..Observation::default()
    }
}
