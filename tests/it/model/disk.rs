//! The disk as it is and as the model knows it: paths, identities, bytes, and what was looked at.

use super::program::Step;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 3] = ["p", "q", "archive"];

/// One line of a session, different from every other.
pub(super) fn line(session: &str, nth: usize) -> String {
    format!(
        "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"n{nth:04}\"}},\"uuid\":\"u{nth}\",\
         \"sessionId\":\"{session}\",\"timestamp\":\"2026-11-20T10:00:00.000Z\"}}\n"
    )
}

/// A file: what it holds and which file it is.
#[derive(Debug, Clone)]
struct File {
    identity: u64,
    bytes: Vec<u8>,
    /// The rest of a line that was begun.
    rest: Vec<u8>,
}

/// A source as the model knows it.
#[derive(Debug, Clone)]
pub(super) struct Source {
    identity: u64,
    /// What was read of it; lines that were not whole are not.
    read: Vec<u8>,
    /// False once the file was seen to be something else: it is not known again by its bytes.
    known: bool,
    /// Its file is gone, or holds no line of it any more.
    pub(super) missing: bool,
}

/// Files, and what a reader that looked at them must know.
pub(super) struct Disk {
    root: PathBuf,
    files: BTreeMap<PathBuf, File>,
    pub(super) sources: BTreeMap<PathBuf, Source>,
    touched: BTreeSet<PathBuf>,
    made: u64,
    lines: usize,
}

impl Disk {
    pub(super) fn new(root: &Path) -> Self {
        for folder in FOLDERS {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        Self {
            root: root.to_owned(),
            files: BTreeMap::new(),
            sources: BTreeMap::new(),
            touched: BTreeSet::new(),
            made: 0,
            lines: 0,
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Paths that were changed since the last look.
    pub(super) fn hints(&self) -> Vec<PathBuf> {
        self.touched.iter().cloned().collect()
    }

    /// A path by number: one that is there, else a name for a new file.
    fn pick(&self, file: usize) -> Option<PathBuf> {
        let paths: Vec<&PathBuf> = self.files.keys().collect();
        (!paths.is_empty()).then(|| paths[file % paths.len()].clone())
    }

    fn new_identity(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    fn new_lines(&mut self, path: &Path, count: usize) -> Vec<u8> {
        let name = path.file_name().unwrap().to_str().unwrap();
        let session = name.split(['.', '-']).next().unwrap().to_owned();
        let mut out = Vec::new();
        for _ in 0..count {
            self.lines += 1;
            out.extend(line(&session, self.lines).bytes());
        }
        out
    }

    /// Does what a step says, on the disk and in the model.
    pub(super) fn change(&mut self, step: &Step) {
        match *step {
            Step::Append { file, lines } => self.append(file, lines),
            Step::Half { file, kept, completes } => self.half(file, kept, completes),
            Step::Rotate { file } => {
                if let Some(path) = self.pick(file) {
                    let name = path.file_name().unwrap().to_str().unwrap();
                    let (stem, end) = name.split_once('.').unwrap();
                    self.rename(&path, &path.with_file_name(format!("{stem}-1.{end}")));
                }
            }
            Step::Move { file, folder } => {
                if let Some(path) = self.pick(file) {
                    let to = self.root.join(FOLDERS[folder]).join(path.file_name().unwrap());
                    self.rename(&path, &to);
                }
            }
            Step::Truncate { file, kept } => self.truncate(file, kept),
            Step::Replace { file, lines } => {
                if let Some(path) = self.plain(file) {
                    let bytes = self.new_lines(&path, lines);
                    self.put_new(&path, bytes);
                }
            }
            Step::Rewrite { file } => self.rewrite(file),
            Step::Compress { file } => {
                if let Some(path) = self.plain(file) {
                    self.convert(&path, &path.with_extension("jsonl.zst"));
                }
            }
            Step::Restore { file } => {
                let packed = self.pick(file).filter(|path| is_packed(path));
                if let Some(path) = packed {
                    self.convert(&path, &path.with_extension(""));
                }
            }
            Step::Delete { file } => {
                if let Some(path) = self.pick(file) {
                    fs::remove_file(&path).unwrap();
                    self.files.remove(&path);
                    self.touched.insert(path);
                }
            }
            Step::Look(_) => unreachable!("a look changes nothing"),
        }
    }

    fn plain(&self, file: usize) -> Option<PathBuf> {
        self.pick(file).filter(|path| !is_packed(path))
    }

    fn append(&mut self, file: usize, lines: usize) {
        let named = self.root.join(FOLDERS[file % 2]).join(format!("c{file}.jsonl"));
        // Sometimes a file that was moved or rotated grows on.
        let path = if lines == 3 { self.plain(file).unwrap_or(named) } else { named };
        if self.files.keys().any(|p| is_packed(p) && p.with_extension("") == path) {
            return;
        }
        if !self.files.contains_key(&path) {
            let identity = self.new_identity();
            self.files.insert(path.clone(), File { identity, bytes: Vec::new(), rest: Vec::new() });
        }
        let mut more = std::mem::take(&mut self.files.get_mut(&path).unwrap().rest);
        more.extend(self.new_lines(&path, lines));
        self.write_on(&path, &more);
    }

    fn half(&mut self, file: usize, kept: usize, completes: bool) {
        let Some(path) = self.plain(file) else { return };
        if !self.files[&path].rest.is_empty() {
            return;
        }
        let whole = self.new_lines(&path, 1);
        let (head, rest) = whole.split_at(kept.min(whole.len() - 2));
        let rest = if completes { rest.to_vec() } else { b"\n".to_vec() };
        self.files.get_mut(&path).unwrap().rest = rest;
        self.write_on(&path, head);
    }

    fn write_on(&mut self, path: &Path, more: &[u8]) {
        let mut options = fs::OpenOptions::new();
        options.create(true).append(true).open(path).unwrap().write_all(more).unwrap();
        self.files.get_mut(path).unwrap().bytes.extend(more);
        self.touched.insert(path.to_owned());
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        // A plain file beside its compressed twin is a case of its own.
        let twin =
            if is_packed(to) { to.with_extension("") } else { to.with_extension("jsonl.zst") };
        if from == to || self.files.contains_key(to) || self.files.contains_key(&twin) {
            return;
        }
        fs::rename(from, to).unwrap();
        let file = self.files.remove(from).unwrap();
        self.files.insert(to.to_owned(), file);
        self.touched.extend([from.to_owned(), to.to_owned()]);
    }

    fn truncate(&mut self, file: usize, kept: usize) {
        let Some(path) = self.plain(file) else { return };
        let file = self.files.get_mut(&path).unwrap();
        if kept >= file.bytes.len() {
            return;
        }
        file.bytes.truncate(kept);
        file.rest = b"\n".to_vec();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(kept as u64).unwrap();
        self.touched.insert(path);
    }

    fn rewrite(&mut self, file: usize) {
        let Some(path) = self.plain(file) else { return };
        let text = String::from_utf8(self.files[&path].bytes.clone()).unwrap();
        // Each letter before a number says how often the line was rewritten.
        let other: String = text
            .replace("\"z", "\"{")
            .replace("content\":\"y", "content\":\"z")
            .replace("content\":\"n", "content\":\"y");
        let file = self.files.get_mut(&path).unwrap();
        file.bytes = other.clone().into_bytes();
        let mut on_disk = fs::OpenOptions::new().write(true).open(&path).unwrap();
        on_disk.write_all(other.as_bytes()).unwrap();
        self.touched.insert(path);
    }

    fn put_new(&mut self, path: &Path, bytes: Vec<u8>) {
        let identity = self.new_identity();
        let aside = self.root.join("aside");
        fs::write(&aside, &bytes).unwrap();
        fs::rename(&aside, path).unwrap();
        self.files.insert(path.to_owned(), File { identity, bytes, rest: Vec::new() });
        self.touched.insert(path.to_owned());
    }

    fn convert(&mut self, from: &Path, to: &Path) {
        let identity = self.new_identity();
        let mut file = self.files.remove(from).unwrap();
        file.identity = identity;
        let bytes = if is_packed(to) {
            zstd::encode_all(&file.bytes[..], 1).unwrap()
        } else {
            file.bytes.clone()
        };
        let aside = self.root.join("aside");
        fs::write(&aside, bytes).unwrap();
        fs::rename(&aside, to).unwrap();
        fs::remove_file(from).unwrap();
        self.files.insert(to.to_owned(), file);
        self.touched.extend([from.to_owned(), to.to_owned()]);
    }

    /// What a reader knows after it looked: sources are followed to where their bytes are.
    pub(super) fn looked(&mut self) {
        self.touched.clear();
        let mut moves: Vec<(PathBuf, PathBuf)> = Vec::new();
        for (path, file) in &self.files {
            let from = self.sources.iter().find(|(old, source)| {
                *old != path
                    && !moves.iter().any(|(from, _)| from == *old)
                    && self.is_moved(old, source, path, file)
            });
            moves.extend(from.map(|(old, _)| (old.clone(), path.clone())));
        }
        while let Some(blocked) = moves.iter().position(|(_, to)| {
            self.sources.contains_key(to) && !moves.iter().any(|(from, _)| from == to)
        }) {
            moves.remove(blocked);
        }
        let taken: Vec<(PathBuf, Source)> = moves
            .iter()
            .map(|(from, to)| (to.clone(), self.sources.remove(from).unwrap()))
            .collect();
        self.sources.extend(taken);
        for (path, source) in &mut self.sources {
            let whole = self.files.get(path).map(|file| whole_lines(&file.bytes));
            let whole = whole.unwrap_or_default();
            // A file that holds no line of a history is as good as gone.
            source.missing = parsed(&whole).is_empty();
            source.known &= !source.missing || whole.trim_ascii().is_empty();
        }
        for (path, file) in &self.files {
            let read = whole_lines(&file.bytes);
            // A file that holds nothing yet is not a source; of one that was emptied the rows stay.
            if !parsed(&read).is_empty() {
                let identity = file.identity;
                let source = Source { identity, read, known: true, missing: false };
                self.sources.insert(path.clone(), source);
            }
        }
    }

    fn is_moved(&self, old: &Path, source: &Source, path: &Path, file: &File) -> bool {
        let here = self.sources.get(path);
        if here.is_some_and(|here| here.identity == file.identity) || !source.known {
            return false;
        }
        let there = self.files.get(old);
        let same_file = source.identity == file.identity
            && there.is_none_or(|other| other.identity != file.identity);
        let same_name = here.is_none() && there.is_none() && base(old) == base(path);
        (same_file || same_name) && file.bytes.starts_with(&source.read)
    }
}

fn base(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().trim_end_matches(".zst").to_owned()
}

pub(super) fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "zst")
}

/// What a reader takes: up to the last line end, and a complete object after it.
fn whole_lines(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let rest = &bytes[end..];
    let taken = serde_json::from_slice::<serde_json::Value>(rest).is_ok_and(|v| v.is_object());
    if taken { bytes.to_vec() } else { bytes[..end].to_vec() }
}

/// The prompts in these bytes, in order.
pub(super) fn parsed(bytes: &[u8]) -> Vec<String> {
    bytes
        .split(|b| *b == b'\n')
        .filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok())
        .filter_map(|value| value["message"]["content"].as_str().map(str::to_owned))
        .collect()
}

impl Source {
    /// The prompts that were read of it.
    pub(super) fn prompts(&self) -> Vec<String> {
        parsed(&self.read)
    }
}
