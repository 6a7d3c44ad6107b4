//! When to look where: what is told is looked at, and everything now and then.

use crate::ports::files::{FileKind, Files};
use crate::ports::wake::{Trust, Wake};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between two looks everywhere where changes are told: a net for what was not.
const NET: Duration = Duration::from_secs(60);
/// The same where changes are not told.
const POLL: Duration = Duration::from_secs(1);
/// A look everywhere takes at most one part in so many of the time.
const SHARE: u32 = 50;
/// When new folders are looked at again: files can be made in one before it is watched.
const SECOND_LOOK: Duration = Duration::from_millis(250);

/// Where to look next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Everywhere,
    At(Vec<PathBuf>),
    Nowhere,
}

/// Keeps the time.
pub(super) struct Pace {
    /// Folders, each with whether all below it counts.
    folders: Vec<(PathBuf, bool)>,
    /// Those whose changes are told.
    told: HashSet<PathBuf>,
    /// Those that are not there, each with the folder above it that tells when it is made.
    awaited: HashMap<PathBuf, PathBuf>,
    everywhere: Instant,
    again: Option<(Instant, Vec<PathBuf>)>,
}

impl Pace {
    pub(super) fn new(folders: Vec<(PathBuf, bool)>) -> Self {
        let (told, awaited) = (HashSet::new(), HashMap::new());
        Self { folders, told, awaited, everywhere: Instant::now(), again: None }
    }

    /// Asks to be told of changes, also in folders that were not there before.
    pub(super) fn watch(&mut self, wake: &mut dyn Wake, files: &dyn Files) {
        self.awaited.clear();
        for (folder, below) in &self.folders {
            if files.stat(folder).is_err() {
                // Whoever makes it again makes another folder.
                self.told.remove(folder);
                if let Some(above) = above(folder, files)
                    && wake.watch(&above, false) == Trust::Told
                {
                    self.awaited.insert(folder.clone(), above);
                }
            } else if !self.told.contains(folder) && wake.watch(folder, *below) == Trust::Told {
                self.told.insert(folder.clone());
            }
        }
    }

    pub(super) fn looked_everywhere(&mut self, took: Duration) {
        let heard = self.told.len() + self.awaited.len() == self.folders.len();
        let pause = if heard { NET } else { POLL };
        self.everywhere = Instant::now() + pause.max(took * SHARE);
    }

    /// Where to look after a hint. Folders in it are looked at a second time, and what is due is
    /// not put off by hints that never end.
    pub(super) fn hinted(&mut self, mut paths: Vec<PathBuf>, files: &dyn Files) -> Next {
        let made = |(folder, held): (&PathBuf, &PathBuf)| {
            above(folder, files).as_ref() != Some(held) || files.stat(folder).is_ok()
        };
        if self.awaited.iter().any(made) {
            return Next::Everywhere;
        }
        let is_folder = |p: &&PathBuf| files.stat(p).is_ok_and(|s| s.kind == FileKind::Folder);
        let folders: Vec<PathBuf> = paths.iter().filter(is_folder).cloned().collect();
        let due = self.due();
        if !folders.is_empty() {
            let at = Instant::now() + SECOND_LOOK;
            self.again.get_or_insert((at, Vec::new())).1.extend(folders);
        }
        match due {
            Next::Everywhere => Next::Everywhere,
            Next::At(folders) => {
                paths.extend(folders);
                Next::At(paths)
            }
            Next::Nowhere => Next::At(paths),
        }
    }

    pub(super) fn sleep(&self) -> Duration {
        let next = self.again.as_ref().map_or(self.everywhere, |(at, _)| *at.min(&self.everywhere));
        next.saturating_duration_since(Instant::now())
    }

    /// What is due when nothing was told.
    pub(super) fn due(&mut self) -> Next {
        let now = Instant::now();
        if now >= self.everywhere {
            return Next::Everywhere;
        }
        match self.again.take_if(|(at, _)| now >= *at) {
            Some((_, folders)) => Next::At(folders),
            None => Next::Nowhere,
        }
    }
}

/// The nearest folder above one that is not there.
fn above(folder: &Path, files: &dyn Files) -> Option<PathBuf> {
    let there = |p: &&Path| files.stat(p).is_ok_and(|s| s.kind == FileKind::Folder);
    folder.ancestors().skip(1).find(there).map(Path::to_owned)
}
