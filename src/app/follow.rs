//! `fornax tail`: growing files, read as they grow.
//!
//! A wake-up is only a hint of where to look. Identity and offset decide whether a file grew, was
//! moved, compressed, replaced, truncated or rewritten. What was read is stored before it is told,
//! so the watermark never runs ahead of the store.

use super::histories::{foreign_name, left_alone};
use super::identifiers::source_name;
use super::known::{Matched, SourceBook, base_name};
use super::opening::{Opened, open};
use super::pruning::Pruning;
use super::reading::{ENDS_EARLY, Reading};
use super::resume::ReadOptions;
use super::whole_source::{loss_of_source, not_recognised, reason_of};
use crate::domain::loss::LossReason;
use crate::domain::record::Sealed;
use crate::ports::agent::AgentFamily;
use crate::ports::files::{FileKind, FileStat, Files, Met};
use crate::ports::recorder::{Batch, Recorder, StoreError};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// Files whose state stays in memory; that of others is taken from the store when they grow.
const READINGS_MAX: usize = 64;

/// Why following stopped.
#[derive(Debug)]
pub enum FollowError {
    Store(StoreError),
    Io { path: PathBuf, error: io::Error },
    NotRecognised(PathBuf),
}

impl std::fmt::Display for FollowError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Store(e) => e.fmt(f),
            Self::Io { path, error } => write!(f, "cannot read {}: {error}", path.display()),
            Self::NotRecognised(path) => write!(
                f,
                "{} is no Claude Code transcript and no Codex rollout that fornax knows",
                path.display()
            ),
        }
    }
}

impl std::error::Error for FollowError {}

impl From<StoreError> for FollowError {
    fn from(e: StoreError) -> Self {
        Self::Store(e)
    }
}

/// What is followed.
#[derive(Debug, Clone)]
pub enum Scope {
    /// One file, which has to be readable, and wherever it is moved to below `roots`.
    File { path: PathBuf, roots: Vec<PathBuf> },
    /// Every history below these folders.
    Folders(Vec<PathBuf>),
    /// The history that was written last, and from then on every one that is written to.
    Latest(Vec<PathBuf>),
}

/// Where to look.
#[derive(Debug, Clone, Copy)]
pub enum Look<'l> {
    Everywhere,
    /// At these files, and below these folders.
    At(&'l [PathBuf]),
}

/// Hears what was stored.
pub type Tell<'a> = &'a mut dyn FnMut(&[Sealed]);

/// The two ends of a step: where rows go, and who is told.
pub struct Road<'r> {
    pub recorder: &'r mut dyn Recorder,
    pub tell: Tell<'r>,
    /// Asked after each stored batch; true ends the step there.
    pub stopped: &'r dyn Fn() -> bool,
}

/// Follows files.
pub struct Follow<'a> {
    files: &'a dyn Files,
    families: &'a [Box<dyn AgentFamily>],
    options: ReadOptions<'a>,
    scope: Scope,
    followed: BTreeMap<PathBuf, Followed>,
    /// False until the first look everywhere.
    begun: bool,
    /// Files that another process read on meanwhile: to be judged anew.
    overtaken: Vec<(PathBuf, FileStat)>,
    /// Counts readings, to know the one that was used longest ago.
    used: u64,
    pruning: Pruning,
}

/// One followed file.
#[derive(Default)]
struct Followed {
    /// The file when it was last read or judged.
    stat: Option<FileStat>,
    reading: Option<Box<Reading>>,
    used: u64,
}

/// What kind of look a judgement belongs to.
#[derive(Clone, Copy)]
struct How {
    everywhere: bool,
    /// The first look everywhere.
    first: bool,
}

/// Files that may have changed, and followed ones that are gone.
#[derive(Default)]
struct Seen {
    here: Vec<(PathBuf, FileStat)>,
    gone: Vec<PathBuf>,
}

impl<'a> Follow<'a> {
    /// Follows nothing yet.
    pub fn new(
        files: &'a dyn Files,
        families: &'a [Box<dyn AgentFamily>],
        options: ReadOptions<'a>,
        scope: Scope,
    ) -> Self {
        let followed = BTreeMap::new();
        let overtaken = Vec::new();
        let pruning = Pruning::default();
        Self {
            files,
            families,
            options,
            scope,
            followed,
            begun: false,
            overtaken,
            used: 0,
            pruning,
        }
    }

    /// Tells which files their agents delete, as of now.
    pub fn prunes(&mut self, pruning: Pruning) {
        self.pruning = pruning;
    }

    /// How many files are followed.
    pub fn len(&self) -> usize {
        self.followed.len()
    }

    /// True when no file is followed.
    pub fn is_empty(&self) -> bool {
        self.followed.is_empty()
    }

    /// Looks once and stores what is new; true when anything was.
    ///
    /// # Errors
    /// The store's, or that of the named file at the first look.
    pub fn step(&mut self, look: Look<'_>, road: &mut Road<'_>) -> Result<bool, FollowError> {
        let seen = self.look(look)?;
        let everywhere = matches!(look, Look::Everywhere);
        let first = everywhere && !self.begun;
        let backlog = if first { self.backlog(&seen.here) } else { None };
        self.begun |= everywhere;
        let mut any = false;
        let mut judged = Vec::new();
        for (path, stat) in seen.here {
            let followed = self.followed.entry(path.clone()).or_default();
            if followed.stat.is_some_and(|before| stat.unchanged_since(&before)) {
                continue;
            }
            if backlog.as_ref().is_some_and(|newest| *newest != path) {
                followed.stat = Some(stat);
                continue;
            }
            match self.growing(&path, &stat) {
                Some(reading) => any |= self.read(&path, &stat, reading, road)?,
                None => judged.push((path, stat)),
            }
            if (road.stopped)() {
                return Ok(any);
            }
        }
        let again = std::mem::take(&mut self.overtaken);
        judged.extend(again);
        if everywhere || !judged.is_empty() || !seen.gone.is_empty() {
            let how = How { everywhere, first };
            any |= self.judge(judged, &seen.gone, how, road)?;
        }
        Ok(any)
    }

    /// For a scope that leaves alone what is there already: the one file that it begins with.
    fn backlog(&self, here: &[(PathBuf, FileStat)]) -> Option<PathBuf> {
        if !matches!(self.scope, Scope::Latest(_)) {
            return None;
        }
        let newest = here.iter().max_by_key(|(path, stat)| (stat.modified_ns, path.clone()));
        newest.map(|(path, _)| path.clone())
    }

    fn look(&self, look: Look<'_>) -> Result<Seen, FollowError> {
        let mut seen = Seen::default();
        let mut paths = BTreeSet::new();
        match look {
            Look::Everywhere => {
                self.everywhere(&mut paths);
                paths.extend(self.followed.keys().cloned());
            }
            Look::At(at) => at.iter().for_each(|path| self.around(path, &mut paths)),
        }
        for path in paths {
            match self.files.stat(&path) {
                Ok(stat) if stat.kind == FileKind::File => {
                    if self.is_wanted(&path, &stat) {
                        seen.here.push((path, stat));
                    }
                }
                other => self.not_a_file(path, other.err(), &mut seen)?,
            }
        }
        Ok(seen)
    }

    fn not_a_file(
        &self,
        path: PathBuf,
        error: Option<io::Error>,
        seen: &mut Seen,
    ) -> Result<(), FollowError> {
        let named = matches!(&self.scope, Scope::File { path: named, .. } if *named == path);
        if named && !self.begun {
            let no_file = || io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
            return Err(FollowError::Io { path, error: error.unwrap_or_else(no_file) });
        }
        // Only a file that is not there is gone; one that cannot be looked at is another matter.
        let gone = error.is_none_or(|e| e.kind() == io::ErrorKind::NotFound);
        if gone && (self.followed.contains_key(&path) || self.is_history(&path)) {
            seen.gone.push(path);
        }
        Ok(())
    }

    fn everywhere(&self, paths: &mut BTreeSet<PathBuf>) {
        match &self.scope {
            Scope::Folders(roots) | Scope::Latest(roots) => {
                roots.iter().for_each(|root| self.below(root, paths));
            }
            Scope::File { path, roots } => {
                paths.insert(path.clone());
                // Where it went, when it is not there any more.
                if self.begun && self.files.stat(path).is_err() {
                    roots.iter().for_each(|root| self.below(root, paths));
                }
            }
        }
    }

    fn below(&self, root: &Path, paths: &mut BTreeSet<PathBuf>) {
        for met in self.files.walk(root) {
            if let Met::File(path) = met {
                paths.insert(path);
            }
        }
    }

    /// A path that was named by a hint: a file, or everything below a folder.
    fn around(&self, path: &Path, paths: &mut BTreeSet<PathBuf>) {
        if self.files.stat(path).is_ok_and(|s| s.kind == FileKind::Folder) {
            let within = match &self.scope {
                Scope::Folders(roots) | Scope::Latest(roots) | Scope::File { roots, .. } => {
                    roots.iter().any(|root| path.starts_with(root))
                }
            };
            if within {
                self.below(path, paths);
            }
        } else {
            paths.insert(path.to_owned());
            // A folder that went takes what was below it along.
            let below = self.followed.range(path.to_owned()..).map(|(p, _)| p);
            paths.extend(below.take_while(|p| p.starts_with(path)).cloned());
        }
    }

    fn is_wanted(&self, path: &Path, stat: &FileStat) -> bool {
        if self.followed.contains_key(path) {
            return true;
        }
        match &self.scope {
            Scope::File { path: named, .. } => {
                named == path
                    || self.followed.iter().any(|(known, followed)| {
                        base_name(known) == base_name(path)
                            || followed.stat.is_some_and(|s| s.same_file(stat))
                    })
            }
            Scope::Folders(_) | Scope::Latest(_) => {
                self.is_history(path)
                    && left_alone(self.files, self.families, path, false).is_none()
            }
        }
    }

    /// True for the path of a history, there or gone, below the folders that are followed.
    fn is_history(&self, path: &Path) -> bool {
        let (Scope::Folders(roots) | Scope::Latest(roots)) = &self.scope else { return false };
        roots.iter().any(|root| path.starts_with(root))
            && foreign_name(self.families, path).is_none()
    }

    /// The reading of a file that only grew, and in which everything read still stands.
    fn growing(&mut self, path: &Path, stat: &FileStat) -> Option<Box<Reading>> {
        let followed = self.followed.get_mut(path)?;
        let reading = followed.reading.take()?;
        let before = followed.stat?;
        let grew = before.same_file(stat) && stat.size > before.size;
        (grew && reading.stands(self.files)).then_some(reading)
    }

    /// Files that did something else than grow: whichever source they are, it is read on or again.
    fn judge(
        &mut self,
        files: Vec<(PathBuf, FileStat)>,
        gone: &[PathBuf],
        how: How,
        road: &mut Road<'_>,
    ) -> Result<bool, FollowError> {
        let book = SourceBook::new(road.recorder.sources()?)
            .with_forgotten(road.recorder.forgotten_files()?);
        let (forgotten, files): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|(path, _)| book.is_forgotten(self.files, path));
        for (path, stat) in forgotten {
            self.followed.entry(path).or_default().stat = Some(stat);
        }
        let (matched, moves) = book.match_files(self.files, files, &self.options);
        if !moves.is_empty() {
            road.recorder.move_sources(&moves)?;
        }
        gone.iter().for_each(|path| {
            self.followed.remove(path);
        });
        let missing = match &self.scope {
            // Also what went away while nobody followed, or was read by others.
            Scope::Folders(roots) | Scope::Latest(roots) if how.everywhere => {
                let here = self.followed.keys().map(|path| source_name(path)).collect();
                book.vanished(self.files, roots, &here, &moves)
            }
            _ => book.vanished(self.files, gone, &HashSet::new(), &moves),
        };
        if !missing.is_empty() {
            self.pruning.mark_gone(road.recorder, &missing)?;
        }
        let named_first = how.first && matches!(self.scope, Scope::File { .. });
        let mut any = false;
        for file in matched {
            any |= self.judge_one(file, named_first, road)?;
            if (road.stopped)() {
                break;
            }
        }
        Ok(any)
    }

    fn judge_one(
        &mut self,
        mut file: Matched,
        named_first: bool,
        road: &mut Road<'_>,
    ) -> Result<bool, FollowError> {
        if file.is_unchanged(self.options.deep) {
            self.followed.entry(file.path).or_default().stat = Some(file.stat);
            return Ok(false);
        }
        file.take_state(road.recorder)?;
        let (path, stat) = (file.path.clone(), file.stat);
        let opened = open(self.files, self.families, &file, &self.options);
        if let (Ok(Opened::Empty | Opened::Unfinished), Some(source)) = (&opened, file.emptied()) {
            road.recorder.mark_sources(&[source], "missing")?;
        }
        let lost = match opened {
            Ok(Opened::Reading(reading)) => return self.read(&path, &stat, reading, road),
            Ok(Opened::Empty) => None,
            Ok(Opened::Unfinished) => {
                Some(loss_of_source(&path, LossReason::LineTorn, ENDS_EARLY, None))
            }
            Ok(Opened::NotRecognised { .. }) if named_first => {
                return Err(FollowError::NotRecognised(path));
            }
            Ok(Opened::NotRecognised { stands }) => {
                Some(not_recognised(&path, &stat, file.known.as_deref(), stands))
            }
            Err(error) if named_first => return Err(FollowError::Io { path, error }),
            Err(error) => unreadable(&path, &error),
        };
        // Looked at again when it changes.
        self.followed.entry(path).or_default().stat = Some(stat);
        lost.map_or(Ok(false), |batch| Ok(store(&batch, road)? == Stored::New))
    }

    fn read(
        &mut self,
        path: &Path,
        stat: &FileStat,
        mut reading: Box<Reading>,
        road: &mut Road<'_>,
    ) -> Result<bool, FollowError> {
        let mut failed = None;
        let mut overtaken = false;
        let mut any = false;
        let read = reading.read_available(self.files, stat, &mut |batch| {
            match store(&batch, road) {
                Ok(Stored::New) => any = true,
                Ok(Stored::Nothing) => {}
                Ok(Stored::Overtaken) => overtaken = true,
                Err(e) => failed = Some(e),
            }
            failed.is_none() && !overtaken && !(road.stopped)()
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if overtaken {
            self.followed.entry(path.to_owned()).or_default().stat = None;
            self.overtaken.push((path.to_owned(), *stat));
            return Ok(any);
        }
        match read {
            Ok(true) => {
                self.used += 1;
                let used = self.used;
                let held = Followed { stat: Some(*stat), reading: Some(reading), used };
                self.followed.insert(path.to_owned(), held);
                self.forget_oldest();
            }
            // Stopped on the way: the store knows how far.
            Ok(false) => {}
            Err(error) => {
                self.followed.entry(path.to_owned()).or_default().stat = Some(*stat);
                if let Some(batch) = unreadable(path, &error) {
                    any |= store(&batch, road)? == Stored::New;
                }
            }
        }
        Ok(any)
    }

    /// Keeps memory bounded however many files are followed.
    fn forget_oldest(&mut self) {
        let held = self.followed.values().filter(|f| f.reading.is_some()).count();
        if held > READINGS_MAX
            && let Some(oldest) = self
                .followed
                .values_mut()
                .filter(|f| f.reading.is_some())
                .min_by_key(|followed| followed.used)
        {
            oldest.reading = None;
        }
    }
}

/// The loss of a file that cannot be read; one that went away between two looks is none.
fn unreadable(path: &Path, error: &io::Error) -> Option<Batch> {
    let gone = error.kind() == io::ErrorKind::NotFound;
    (!gone).then(|| loss_of_source(path, reason_of(error), "while reading", None))
}

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stored {
    New,
    Nothing,
    Overtaken,
}

fn store(batch: &Batch, road: &mut Road<'_>) -> Result<Stored, FollowError> {
    let appended = road.recorder.append(std::slice::from_ref(batch), None)?;
    if !appended.overtaken.is_empty() {
        return Ok(Stored::Overtaken);
    }
    if appended.forgotten.is_empty() {
        (road.tell)(&batch.records);
    } else {
        let forgotten = &appended.forgotten.0;
        let stays = |sealed: &&Sealed| {
            sealed.conversation.as_ref().is_none_or(|of| !forgotten.contains_key(&of.key))
        };
        let told: Vec<Sealed> = batch.records.iter().filter(stays).cloned().collect();
        (road.tell)(&told);
    }
    Ok(if batch.records.is_empty() { Stored::Nothing } else { Stored::New })
}
