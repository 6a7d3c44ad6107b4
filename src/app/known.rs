//! Which known source a file is: at its path, moved, compressed or restored.
//!
//! A path decides first. A file at a new path can be one that was read elsewhere: the same device
//! and inode, or the same name (without `.zst`) in another folder while the old place is empty.
//! Either is only a candidate: inodes and names are used again, so the bytes that were read must
//! stand in the file. What does not hold is a new source, and the rows of the old one stay.

use super::resume::{Prefix, ReadOptions, is_unchanged, prefix};
use crate::base::text::path_name;
use crate::ports::files::{FileStat, Files, is_compressed};
use crate::ports::recorder::{KnownSource, SourceMove};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The sources that were read before.
#[derive(Debug, Default)]
pub struct SourceBook {
    sources: Vec<KnownSource>,
    by_path: HashMap<String, usize>,
    by_identity: HashMap<(u64, u64), Vec<usize>>,
    by_name: HashMap<String, Vec<usize>>,
}

/// A file that was met, and what it is.
#[derive(Debug)]
pub struct Matched {
    pub path: PathBuf,
    pub stat: FileStat,
    /// The source; its path is already the new one when it moved.
    pub known: Option<KnownSource>,
    /// True when its prefix was compared and holds.
    pub verified: bool,
    /// True when it may be a known source that is still being compressed: to be looked at later.
    pub unfinished: bool,
}

impl Matched {
    /// True when nothing happened to the file since it was read to its end.
    pub fn is_unchanged(&self, deep: bool) -> bool {
        self.known.as_ref().is_some_and(|known| is_unchanged(known, &self.stat, deep))
    }
}

/// A file that seems to be a source whose old place is elsewhere.
struct Candidate {
    /// Index of the file among those met.
    file: usize,
    source: usize,
}

impl SourceBook {
    /// A book of the store's sources.
    pub fn new(sources: Vec<KnownSource>) -> Self {
        let mut book = Self { sources, ..Self::default() };
        for (index, source) in book.sources.iter().enumerate() {
            book.by_path.insert(source.path.clone(), index);
            // Without bytes that were read there is nothing to know a file again by.
            if let Some(mark) = source.watermark.as_ref().filter(|m| m.offset > 0) {
                let identity = (mark.stat.device, mark.stat.inode);
                book.by_identity.entry(identity).or_default().push(index);
                book.by_name.entry(base_name(Path::new(&source.path))).or_default().push(index);
            }
        }
        book
    }

    /// The source at a path.
    pub fn at(&self, path: &str) -> Option<&KnownSource> {
        self.sources.get(*self.by_path.get(path)?)
    }

    /// Every source.
    pub fn iter(&self) -> impl Iterator<Item = &KnownSource> {
        self.sources.iter()
    }

    /// Says of each file which source it is, and which sources moved.
    pub fn match_files(
        &self,
        files: &dyn Files,
        met: Vec<(PathBuf, FileStat)>,
        options: &ReadOptions<'_>,
    ) -> (Vec<Matched>, Vec<SourceMove>) {
        let mut matched: Vec<Matched> = met
            .into_iter()
            .map(|(path, stat)| {
                let known = self.at(&path_name(&path)).cloned();
                Matched { path, stat, known, verified: false, unfinished: false }
            })
            .collect();
        let mut moving: Vec<Candidate> = Vec::new();
        let mut taken = HashSet::new();
        for file in 0..matched.len() {
            let Some(one) = matched.get(file) else { continue };
            let found = self.elsewhere(files, one).filter(|source| !taken.contains(source));
            let Some(source) = found else { continue };
            match self.prefix_of(files, one, source, options) {
                Prefix::Holds => {
                    taken.insert(source);
                    moving.push(Candidate { file, source });
                }
                Prefix::Unfinished => {
                    if let Some(one) = matched.get_mut(file) {
                        one.unfinished = true;
                    }
                }
                Prefix::Broken => {}
            }
        }
        self.drop_blocked(&mut moving, &matched);
        let mut moves = Vec::new();
        for Candidate { file, source } in moving {
            let (Some(one), Some(source)) = (matched.get_mut(file), self.sources.get(source))
            else {
                continue;
            };
            let to = path_name(&one.path);
            moves.push(SourceMove { id: source.id, from: source.path.clone(), to: to.clone() });
            one.known = Some(KnownSource { path: to, ..source.clone() });
            one.verified = true;
        }
        (matched, moves)
    }

    /// A source with other whereabouts that the file may be.
    fn elsewhere(&self, files: &dyn Files, file: &Matched) -> Option<usize> {
        let identity = (file.stat.device, file.stat.inode);
        let here = file.known.as_ref();
        if here.and_then(|k| k.watermark.as_ref()).is_some_and(|m| is_file(&m.stat, identity)) {
            return None;
        }
        let own = path_name(&file.path);
        let candidates = |held: Option<&Vec<usize>>| -> Vec<usize> {
            let other = |s: &usize| self.sources.get(*s).is_some_and(|s| s.path != own);
            held.into_iter().flatten().copied().filter(other).collect()
        };
        let same_file = candidates(self.by_identity.get(&identity)).into_iter().find(|source| {
            let Some(source) = self.sources.get(*source) else { return false };
            // A second link to a file that stands where it was is no move.
            !files.stat(Path::new(&source.path)).is_ok_and(|s| is_file(&s, identity))
        });
        if same_file.is_some() || here.is_some() {
            return same_file;
        }
        let mut same_name = candidates(self.by_name.get(&base_name(&file.path)));
        same_name.retain(|source| {
            let Some(source) = self.sources.get(*source) else { return false };
            let old = Path::new(&source.path);
            // A restored rollout counts as soon as it is there, also beside its compressed twin.
            let restored = is_compressed(old) && old.with_extension("") == file.path;
            restored || files.stat(old).is_err()
        });
        same_name.first().copied()
    }

    fn prefix_of(
        &self,
        files: &dyn Files,
        file: &Matched,
        source: usize,
        options: &ReadOptions<'_>,
    ) -> Prefix {
        let mark = self.sources.get(source).and_then(|s| s.watermark.as_ref());
        let Some(mark) = mark else { return Prefix::Broken };
        // A file that cannot be read is nobody's; reading it says why.
        prefix(files, &file.path, &file.stat, mark, options).unwrap_or(Prefix::Broken)
    }

    /// A path that belongs to a source which stays is judged by path; so files can change places,
    /// but not push each other out.
    fn drop_blocked(&self, moving: &mut Vec<Candidate>, matched: &[Matched]) {
        loop {
            let leaving: HashSet<usize> = moving.iter().map(|c| c.source).collect();
            let before = moving.len();
            moving.retain(|candidate| {
                let path = matched.get(candidate.file).map(|m| path_name(&m.path));
                let holder = path.and_then(|path| self.by_path.get(&path));
                holder.is_none_or(|holder| leaving.contains(holder))
            });
            if moving.len() == before {
                return;
            }
        }
    }
}

fn is_file(stat: &FileStat, identity: (u64, u64)) -> bool {
    (stat.device, stat.inode) == identity
}

/// Name of a file without `.zst`.
pub fn base_name(path: &Path) -> String {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_suffix(".zst").map(str::to_owned).unwrap_or(name)
}
