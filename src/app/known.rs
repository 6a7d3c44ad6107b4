//! Which known source a file is: at its path, moved, compressed or restored.
//!
//! A path decides first. A file at a new path can be one that was read elsewhere: the same device
//! and inode, or the same name (without `.zst`) in another folder while the old place is empty.
//! Either is only a candidate: inodes and names are used again, so the bytes that were read must
//! stand in the file. What does not hold is a new source, and the rows of the old one stay.

use super::identifiers::source_name;
use super::reading::windows;
use super::resume::{Prefix, ReadOptions, is_unchanged, prefix};
use crate::base::hash::Digest;
use crate::ports::files::{FileStat, Files, is_compressed};
use crate::ports::recorder::{ForgottenFiles, KnownSource, Recorder, SourceMove, StoreError};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sources of one name that are looked at for a file; more say that names tell nothing here.
const NAMESAKES_MAX: usize = 16;

/// The sources that were read before. There can be very many: the lists are sorted for looking up.
#[derive(Debug, Default)]
pub struct SourceBook {
    /// By path.
    sources: Vec<Arc<KnownSource>>,
    by_identity: Vec<((u64, u64), usize)>,
    /// By a hash of the name.
    by_name: Vec<(u64, usize)>,
    forgotten: ForgottenFiles,
}

/// A file that was met, and what it is.
#[derive(Debug)]
pub struct Matched {
    pub path: PathBuf,
    pub stat: FileStat,
    /// The source; its path is already the new one when it moved.
    pub known: Option<Arc<KnownSource>>,
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

    /// Takes the state to go on from into the source's watermark.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn take_state(&mut self, recorder: &mut dyn Recorder) -> Result<(), StoreError> {
        if let Some(known) = self.known.as_mut().filter(|known| known.watermark.is_some()) {
            let state = recorder.source_state(known.id)?;
            if let Some(mark) = &mut Arc::make_mut(known).watermark {
                mark.state = state;
            }
        }
        Ok(())
    }

    /// The source whose rows are all that is left, when its file holds nothing whole any more: it
    /// was emptied. A compressed file that is not finished is none.
    pub fn emptied(&self) -> Option<i64> {
        let known = self.known.as_ref()?;
        let had = known.watermark.as_ref().is_some_and(|mark| mark.offset > 0);
        (had && !is_compressed(&self.path)).then_some(known.id)
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
        let mut sources: Vec<_> = sources.into_iter().map(Arc::new).collect();
        sources.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut book = Self { sources, ..Self::default() };
        for (index, source) in book.sources.iter().enumerate() {
            // Without bytes that were read there is nothing to know a file again by.
            if let Some(mark) = source.watermark.as_ref().filter(|m| m.offset > 0) {
                book.by_identity.push(((mark.stat.device, mark.stat.inode), index));
                book.by_name.push((name_hash(Path::new(&source.path)), index));
            }
        }
        book.by_identity.sort_unstable();
        book.by_name.sort_unstable();
        book
    }

    /// Knows files that tell only of what was forgotten.
    #[must_use]
    pub fn with_forgotten(self, forgotten: ForgottenFiles) -> Self {
        Self { forgotten, ..self }
    }

    /// Whether a file tells only of what was forgotten: it is not read. Another file at the path of
    /// such a one begins with other bytes.
    pub fn is_forgotten(&self, files: &dyn Files, path: &Path) -> bool {
        if self.forgotten.is_empty() {
            return false;
        }
        match self.forgotten.get(&Digest::of(source_name(path).as_bytes())) {
            None => false,
            Some(None) => true,
            Some(Some((bytes, head))) => windows(files, path, *bytes)
                .is_ok_and(|now| now.is_none_or(|now| now.head == *head)),
        }
    }

    /// The source at a path.
    pub fn at(&self, path: &str) -> Option<&Arc<KnownSource>> {
        self.sources.get(self.index_of(path)?)
    }

    fn index_of(&self, path: &str) -> Option<usize> {
        self.sources.binary_search_by(|source| source.path.as_str().cmp(path)).ok()
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
                let known = self.at(&source_name(&path)).cloned();
                Matched { path, stat, known, verified: false, unfinished: false }
            })
            .collect();
        let mut moving: Vec<Candidate> = Vec::new();
        let mut taken = HashSet::new();
        for (file, one) in matched.iter_mut().enumerate() {
            for source in self.elsewhere(files, one) {
                if taken.contains(&source) {
                    continue;
                }
                match self.prefix_of(files, one, source, options) {
                    Prefix::Holds => {
                        taken.insert(source);
                        moving.push(Candidate { file, source });
                        one.unfinished = false;
                        break;
                    }
                    Prefix::Unfinished => one.unfinished = true,
                    Prefix::Broken => {}
                }
            }
        }
        self.drop_blocked(&mut moving, &matched);
        // Where a source left, whatever stands at its old path now is another one.
        let leaving: HashSet<i64> =
            moving.iter().filter_map(|c| self.sources.get(c.source)).map(|s| s.id).collect();
        for one in &mut matched {
            one.known.take_if(|known| leaving.contains(&known.id));
        }
        let mut moves = Vec::new();
        for Candidate { file, source } in moving {
            let (Some(one), Some(source)) = (matched.get_mut(file), self.sources.get(source))
            else {
                continue;
            };
            let to = source_name(&one.path);
            moves.push(SourceMove { id: source.id, from: source.path.clone(), to: to.clone() });
            one.known = Some(Arc::new(KnownSource { path: to, ..source.as_ref().clone() }));
            one.verified = true;
        }
        (matched, moves)
    }

    /// Sources below `roots` whose files are gone: their rows stay, their state says so. `met` holds
    /// the paths of files that are there.
    pub fn vanished(
        &self,
        files: &dyn Files,
        roots: &[PathBuf],
        met: &HashSet<String>,
        moves: &[SourceMove],
    ) -> Vec<Arc<KnownSource>> {
        let moved: HashSet<i64> = moves.iter().map(|step| step.id).collect();
        self.sources
            .iter()
            .filter(|s| s.state == "active" || s.state == "not_recognised")
            .filter(|s| !met.contains(&s.path) && !moved.contains(&s.id))
            .filter(|s| {
                let path = Path::new(&s.path);
                roots.iter().any(|root| path.starts_with(root)) && is_gone(files, path)
            })
            .cloned()
            .collect()
    }

    /// Sources with other whereabouts that the file may be, the likeliest first.
    fn elsewhere(&self, files: &dyn Files, file: &Matched) -> Vec<usize> {
        let here = file.known.as_ref();
        let own_mark = here.and_then(|known| known.watermark.as_ref());
        if own_mark.is_some_and(|mark| mark.stat.same_file(&file.stat)) {
            return Vec::new();
        }
        let identity = (file.stat.device, file.stat.inode);
        let mut found = self.others(&self.by_identity, identity, &file.path, |old| {
            // A second link to a file that stands where it was is no move.
            !files.stat(old).is_ok_and(|there| there.same_file(&file.stat))
        });
        if here.is_none() {
            found.extend(self.others(&self.by_name, name_hash(&file.path), &file.path, |old| {
                if base_name(old) != base_name(&file.path) {
                    return false;
                }
                // A restored rollout counts at once, also beside its compressed twin.
                let restored = is_compressed(old) && old.with_extension("") == file.path;
                restored || is_gone(files, old)
            }));
        }
        found
    }

    /// The sources of a key in one of the lists that are kept at another path than this and pass.
    fn others<K: Ord + Copy>(
        &self,
        list: &[(K, usize)],
        key: K,
        path: &Path,
        pass: impl Fn(&Path) -> bool,
    ) -> Vec<usize> {
        let own = source_name(path);
        let other = |index: &usize| {
            self.sources.get(*index).is_some_and(|s| s.path != own && pass(Path::new(&s.path)))
        };
        let from = list.partition_point(|(held, _)| *held < key);
        let held = list.get(from..).unwrap_or_default().iter().take_while(|(held, _)| *held == key);
        held.take(NAMESAKES_MAX).map(|(_, index)| *index).filter(other).collect()
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
                let path = matched.get(candidate.file).map(|m| source_name(&m.path));
                let holder = path.and_then(|path| self.index_of(&path));
                holder.is_none_or(|holder| leaving.contains(&holder))
            });
            if moving.len() == before {
                return;
            }
        }
    }
}

/// True when nothing is at a path; what cannot be looked at may well be there.
fn is_gone(files: &dyn Files, path: &Path) -> bool {
    let absent =
        |e: &io::Error| matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    files.stat(path).is_err_and(|e| absent(&e))
}

/// Eight bytes of a hash of the base name.
fn name_hash(path: &Path) -> u64 {
    let digest = Digest::of(base_name(path).as_bytes());
    digest.as_bytes().iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

/// Name of a file without `.zst`.
pub fn base_name(path: &Path) -> String {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_suffix(".zst").map(str::to_owned).unwrap_or(name)
}
