//! `fornax tail`: growing files, read as they grow.
//!
//! A wake-up is only a hint. Each step looks at every followed file: identity and offset decide
//! whether it grew, was replaced, truncated or rewritten. What was read is stored before it is
//! told, so the watermark never runs ahead of the store.

use super::reading::Reading;
use super::recognise::{Recognised, recognise};
use super::resume::{ReadOptions, open_reading};
use crate::domain::record::Sealed;
use crate::ports::agent::AgentFamily;
use crate::ports::files::{FileKind, FileStat, Files, Met};
use crate::ports::recorder::{KnownSource, Recorder, StoreError};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

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

/// Hears what was stored.
pub type Tell<'a> = &'a mut dyn FnMut(&[Sealed]);

/// Follows files.
pub struct Follow<'a> {
    files: &'a dyn Files,
    families: &'a [Box<dyn AgentFamily>],
    options: ReadOptions<'a>,
    followed: BTreeMap<PathBuf, Followed>,
}

/// One followed file.
#[derive(Default)]
struct Followed {
    reading: Option<Reading>,
    stat: Option<FileStat>,
    /// A file that must be readable: one that was named.
    named: bool,
}

impl<'a> Follow<'a> {
    /// Follows nothing yet.
    pub fn new(
        files: &'a dyn Files,
        families: &'a [Box<dyn AgentFamily>],
        options: ReadOptions<'a>,
    ) -> Self {
        Self { files, families, options, followed: BTreeMap::new() }
    }

    /// Adds a file; a named one that cannot be read is an error.
    pub fn add(&mut self, path: &Path, named: bool) {
        self.followed
            .entry(path.to_owned())
            .or_insert_with(|| Followed { named, ..Followed::default() });
    }

    /// Every history below `roots`.
    pub fn discover(&self, roots: &[PathBuf]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for root in roots {
            for met in self.files.walk(root) {
                let Met::File(path) = met else { continue };
                let name = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
                let sidecar = self.families.iter().any(|f| f.known_sidecar(&path).is_some());
                if name.ends_with(".jsonl") && !sidecar {
                    found.push(path);
                }
            }
        }
        found
    }

    /// The most recently written of `paths`.
    pub fn latest(&self, paths: &[PathBuf]) -> Option<PathBuf> {
        paths
            .iter()
            .filter_map(|p| self.files.stat(p).ok().map(|s| (s.modified_ns, p)))
            .max()
            .map(|(_, path)| path.clone())
    }

    /// Looks at every followed file once and stores what is new; true when anything was.
    ///
    /// # Errors
    /// The store's, or that of a named file.
    pub fn step(
        &mut self,
        recorder: &mut dyn Recorder,
        tell: Tell<'_>,
    ) -> Result<bool, FollowError> {
        let mut any = false;
        let mut known = None;
        for (path, followed) in &mut self.followed {
            let stat = match self.files.stat(path) {
                Ok(stat) if stat.kind == FileKind::File => stat,
                Ok(_) if followed.named => {
                    let error = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
                    return Err(FollowError::Io { path: path.clone(), error });
                }
                Err(error) if followed.named && followed.stat.is_none() => {
                    return Err(FollowError::Io { path: path.clone(), error });
                }
                // A file that went away may come back; its rows stay.
                Ok(_) | Err(_) => continue,
            };
            if followed.stat == Some(stat) {
                continue;
            }
            let walk = Walk { files: self.files, families: self.families, options: &self.options };
            any |= walk.read(path, followed, stat, &mut known, recorder, tell)?;
        }
        Ok(any)
    }
}

/// What one step needs of the follower.
struct Walk<'a> {
    files: &'a dyn Files,
    families: &'a [Box<dyn AgentFamily>],
    options: &'a ReadOptions<'a>,
}

impl Walk<'_> {
    fn read(
        &self,
        path: &Path,
        followed: &mut Followed,
        stat: FileStat,
        known: &mut Option<Vec<KnownSource>>,
        recorder: &mut dyn Recorder,
        tell: Tell<'_>,
    ) -> Result<bool, FollowError> {
        let at = |error: io::Error| FollowError::Io { path: path.to_owned(), error };
        if !followed.stat.is_some_and(|before| only_grew(&before, &stat)) {
            // The first look, or something else than growth: judged anew by the watermark.
            followed.reading = None;
        }
        if followed.reading.is_none() {
            // Only a file that is opened anew asks the store how far it was read.
            let sources = match known {
                Some(sources) => sources,
                none => none.insert(recorder.sources()?),
            };
            followed.reading = self.open(path, &stat, sources).map_err(at)?;
        }
        let Some(reading) = &mut followed.reading else {
            // A file that is empty, or was ours a moment ago, may yet become a history.
            if followed.named && followed.stat.is_none() && stat.size > 0 {
                return Err(FollowError::NotRecognised(path.to_owned()));
            }
            followed.stat = Some(stat);
            return Ok(false);
        };
        let mut failed = None;
        let mut any = false;
        let read = reading.read_available(self.files, &stat, &mut |batch| match recorder
            .append(std::slice::from_ref(&batch), None)
        {
            Ok(_) => {
                any |= !batch.records.is_empty();
                tell(&batch.records);
                true
            }
            Err(e) => {
                failed = Some(e);
                false
            }
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        match read {
            Ok(_) => followed.stat = Some(stat),
            // Gone or unreadable between two looks: judged anew at the next.
            Err(_) => followed.reading = None,
        }
        Ok(any)
    }

    fn open(
        &self,
        path: &Path,
        stat: &FileStat,
        sources: &[KnownSource],
    ) -> io::Result<Option<Reading>> {
        let Recognised::As(family, format) = recognise(self.files, self.families, path)? else {
            return Ok(None);
        };
        let text = crate::base::text::path_name(path);
        let known = sources.iter().find(|s| s.path == text);
        open_reading(self.files, family, &format, path, stat, known, self.options)
    }
}

/// Same file, and not shorter: what was read of it can still be trusted without a look.
fn only_grew(before: &FileStat, now: &FileStat) -> bool {
    (before.device, before.inode) == (now.device, now.inode) && now.size > before.size
}
