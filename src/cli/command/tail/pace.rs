//! When to look where: what is told is looked at, and everything now and then.

use crate::ports::files::{FileKind, Files};
use crate::ports::wake::{Trust, Wake};
use std::collections::HashSet;
use std::path::PathBuf;
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
    everywhere: Instant,
    again: Option<(Instant, Vec<PathBuf>)>,
}

impl Pace {
    pub(super) fn new(folders: Vec<(PathBuf, bool)>) -> Self {
        Self { folders, told: HashSet::new(), everywhere: Instant::now(), again: None }
    }

    /// Asks to be told of changes, also in folders that were not there before.
    pub(super) fn watch(&mut self, wake: &mut dyn Wake, files: &dyn Files) {
        for (folder, below) in &self.folders {
            if files.stat(folder).is_err() {
                // Whoever makes it again makes another folder.
                self.told.remove(folder);
            } else if !self.told.contains(folder) && wake.watch(folder, *below) == Trust::Told {
                self.told.insert(folder.clone());
            }
        }
    }

    pub(super) fn looked_everywhere(&mut self, took: Duration) {
        let all_told = self.told.len() == self.folders.len();
        let pause = if all_told { NET } else { POLL };
        self.everywhere = Instant::now() + pause.max(took * SHARE);
    }

    /// Where to look after a hint. Folders in it are looked at a second time, and what is due is
    /// not put off by hints that never end.
    pub(super) fn hinted(&mut self, mut paths: Vec<PathBuf>, files: &dyn Files) -> Next {
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
