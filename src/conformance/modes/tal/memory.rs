//! What a defective tail reader remembers of the files it read, and the defects that come of it.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{Was, drop_where, refused_at};
use crate::base::hash::Digest;
use crate::conformance::decoding::Observation;
use crate::conformance::tailing::{Delivered, Note, Token};

/// A file as it is now.
pub(super) struct Look {
    pub(super) exists: bool,
    pub(super) size: u64,
    pub(super) modified: i64,
    pub(super) content: Digest,
    /// Its last line has no end.
    pub(super) is_torn: bool,
    /// One of its complete lines is no JSON.
    pub(super) has_bad_line: bool,
    inode: u64,
    bytes: Vec<u8>,
}

impl Look {
    pub(super) fn at(path: &Path) -> Self {
        let meta = std::fs::metadata(path).ok();
        let bytes = std::fs::read(path).unwrap_or_default();
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let rest = lines.pop().unwrap_or_default();
        // Long lines are fillers; they are good, and slow to parse.
        let is_bad = |line: &&[u8]| {
            line.len() < 4096 && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err()
        };
        Self {
            exists: meta.is_some(),
            size: bytes.len() as u64,
            modified: meta.as_ref().map_or(0, |meta| meta.mtime()),
            content: Digest::of(&bytes),
            is_torn: !rest.is_empty(),
            has_bad_line: lines.iter().any(is_bad),
            inode: meta.as_ref().map_or(0, |meta| meta.ino()),
            bytes,
        }
    }
}

/// What is remembered of one file.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) token: Option<Token>,
    pub(super) content: Option<Digest>,
    /// Time of the last whole read.
    pub(super) gate: Option<i64>,
    inode: u64,
    last: Vec<Observation>,
    /// To be told again at the next read.
    again: Vec<Observation>,
    partial: Option<u64>,
}

/// What is remembered of all files.
#[derive(Default)]
pub(super) struct Memories {
    files: BTreeMap<PathBuf, Memory>,
    /// Rows that stay under an old path.
    pub(super) kept: Vec<Observation>,
}

impl Memories {
    pub(super) fn of(&mut self, path: &Path) -> &mut Memory {
        self.files.entry(path.to_owned()).or_default()
    }

    pub(super) fn remember(&mut self, was: &Was, look: &Look, delivered: &Delivered) {
        let memory = self.of(&was.path);
        memory.token.clone_from(&delivered.token);
        memory.content = Some(look.content);
        memory.inode = look.inode;
        memory.gate = was.is_whole.then_some(look.modified);
        memory.last.clone_from(&delivered.observations);
    }
}

/// A last line whose end comes later is told again when it comes.
pub(super) fn repeat_last_line(
    memory: &mut Memory,
    was: &Was,
    look: &Look,
    delivered: &mut Delivered,
) -> bool {
    let at = usize::try_from(was.boundary).unwrap_or(usize::MAX);
    let is_at_end = was.boundary > 0 && look.bytes.get(at) == Some(&b'\n');
    let last = memory.last.iter().map(|one| one.at.offset).max();
    let Some(last) = last.filter(|_| is_at_end) else { return false };
    let again = memory.last.iter().filter(|one| one.at.offset == last).cloned();
    let repeated = again.collect::<Vec<_>>();
    delivered.observations.splice(0..0, repeated);
    true
}

/// What stands behind the last line end is a line, and so is what comes to it later.
pub(super) fn emit_partial(memory: &mut Memory, delivered: &mut Delivered) -> bool {
    let mut changed = false;
    if let Some(offset) = memory.partial.take() {
        drop_where(delivered, |one| one.at.offset == offset);
        delivered.observations.insert(0, refused_at(offset));
        changed = true;
    }
    let withheld = delivered.notes.iter().find_map(|note| match note {
        Note::Withheld { offset } => Some(*offset),
        _ => None,
    });
    if let Some(offset) = withheld {
        delivered.observations.push(refused_at(offset));
        memory.partial = Some(offset);
        changed = true;
    }
    changed
}

/// Another file at the path is taken for the one that was read.
pub(super) fn keep_generation(
    memory: &mut Memory,
    was: &Was,
    look: &Look,
    delivered: &mut Delivered,
) -> bool {
    if memory.inode == 0 || memory.inode == look.inode || was.boundary == 0 {
        return false;
    }
    drop_where(delivered, |one| one.at.offset < was.boundary);
    if let Some(token) = &mut delivered.token {
        token.generation = was.generation;
    }
    true
}

/// What was written during a read is told now and at the next read.
pub(super) fn tell_growth_again(
    memory: &mut Memory,
    was: &Was,
    look: &Look,
    delivered: &mut Delivered,
) -> bool {
    let again = std::mem::take(&mut memory.again);
    let told = !again.is_empty();
    delivered.observations.splice(0..0, again);
    if was.has_meanwhile {
        let grown = delivered.observations.iter().filter(|one| one.at.offset >= look.size);
        memory.again = grown.cloned().collect();
    }
    told
}
