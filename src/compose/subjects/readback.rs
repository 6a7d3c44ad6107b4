//! The read-back subject: the shipping pipeline over real files in a scratch folder and a real
//! store.
//!
//! Sources are ingested as `fornax ingest` does it, and read back as `fornax read` does it. The
//! file system is the real one behind a door that counts who opens a file, and that stays shut
//! where permissions would stop nobody (root).

use crate::adapters::agents::claude::ClaudeFamily;
use crate::adapters::files::FsFiles;
use crate::adapters::sqlite::{OpenOptions, SqliteStore};
use crate::adapters::system_clock::SystemClock;
use crate::app::ingest::Ingest;
use crate::app::prepare::shown_text;
use crate::app::pruning::Pruning;
use crate::app::readback::{ReadBack, ReadError};
use crate::app::resume::ReadOptions;
use crate::base::limits::LINE_BYTES_MAX;
use crate::conformance::subjects::{Happening, Indexed, Resolved, Resolver};
use crate::domain::locator::Locator;
use crate::domain::outcome::{Message, NormalizationOutcome};
use crate::domain::record::Ingress;
use crate::ports::agent::AgentFamily;
use crate::ports::agent::PruneRule;
use crate::ports::clock::Clock as _;
use crate::ports::files::{FileStat, Files, Met};
use crate::ports::reader::{EventRow, Reader as _};
use crate::ports::recorder::{Batch, Recorder as _, SourceSpec};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

const FORMAT: &str = "claude_transcript";

/// Read-back over a store and files of its own.
pub(super) struct StoreAndFiles {
    folder: PathBuf,
    doors: Doors,
    families: Vec<Box<dyn AgentFamily>>,
    store: Result<SqliteStore, String>,
}

impl StoreAndFiles {
    /// An empty store and an empty folder.
    pub(super) fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let made = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = scratch().join(format!("fornax-readback-{}-{made}", super::super::unique()));
        Self {
            store: open(&folder),
            folder,
            doors: Doors::default(),
            families: vec![Box::new(ClaudeFamily)],
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join("in").join(name)
    }

    fn store(&mut self) -> Result<&mut SqliteStore, String> {
        self.store.as_mut().map_err(|error| error.clone())
    }

    fn ingest(&mut self) -> Result<(), String> {
        // Its agent deletes whatever is there at once.
        let rule = PruneRule { folder: self.folder.join("in"), after: Duration::ZERO };
        let store = self.store.as_mut().map_err(|error| error.clone())?;
        let read = ReadOptions { namespace: "local", line_cap: LINE_BYTES_MAX, deep: false };
        let ingest = Ingest {
            files: &self.doors,
            families: &self.families,
            roots: vec![self.folder.join("in")],
            read,
            workers: 1,
            pruning: Pruning::new(SystemClock.now(), vec![rule]),
            progress: &|_| {},
        };
        ingest.run(store).map(|_| ()).map_err(text)
    }

    /// The events of a source, in the order of their places.
    fn events(&mut self, source: &str) -> Result<Vec<EventRow>, String> {
        let store = self.store()?;
        let mut events = Vec::new();
        for conversation in store.conversations().map_err(text)?.rows {
            events.extend(store.events(conversation.id).map_err(text)?.rows);
        }
        events.retain(|event| event.sightings.iter().any(|seen| seen.source == source));
        let place = |event: &EventRow| event.sightings.first().map(|s| (s.offset, s.index));
        events.sort_by_key(place);
        Ok(events)
    }

    /// What the store knows of a source now says that it is of another format.
    fn rename_format(&mut self, path: &Path) -> Result<(), String> {
        let source = SourceSpec {
            kind: "file",
            format: "transcript_of_tomorrow".to_owned(),
            provider: "claude_code".to_owned(),
            path: path.display().to_string(),
            stat: None,
        };
        let batch = Batch::of(source, Vec::new(), Ingress::BuiltIn);
        // A store that is opened anew has not seen this source under its old format.
        self.store = open(&self.folder);
        self.store()?.append(&[batch], None).map(|_| ()).map_err(text)
    }
}

/// Where scratch folders are made: in memory where the system has such a place, since nothing here
/// is to last and hundreds of stores are made in a self-test.
fn scratch() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() {
        return memory;
    }
    super::super::path_variable("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"))
}

impl Drop for StoreAndFiles {
    fn drop(&mut self) {
        // What cannot be removed stays below the temporary folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn open(folder: &Path) -> Result<SqliteStore, String> {
    let home = folder.join("home");
    fs::create_dir_all(&home).and_then(|()| fs::create_dir_all(folder.join("in"))).map_err(text)?;
    let home = fs::canonicalize(home).map_err(text)?;
    let open = || {
        SqliteStore::open(&OpenOptions { home: &home, namespace: None, create: true }).map_err(text)
    };
    // An empty store is made once a process and copied from then on.
    static EMPTY: OnceLock<Vec<(OsString, Vec<u8>)>> = OnceLock::new();
    if EMPTY.get().is_none() {
        drop(open()?);
        let _ = EMPTY.set(files_of(&home).map_err(text)?);
    } else if !home.join("store.db").exists() {
        for (name, bytes) in EMPTY.get().into_iter().flatten() {
            fs::write(home.join(name), bytes).map_err(text)?;
        }
    }
    open()
}

/// The files of a closed store: the database and its log, not the index that both are mapped by.
fn files_of(home: &Path) -> io::Result<Vec<(OsString, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(home)? {
        let entry = entry?;
        let name = entry.file_name();
        if !name.to_string_lossy().ends_with("-shm") && entry.file_type()?.is_file() {
            files.push((name, fs::read(entry.path())?));
        }
    }
    Ok(files)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn file_text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The one text of an event: what it says, what came back, or what was asked.
fn text_of(said: Option<&str>, response: Option<&Value>, input: Option<&Value>) -> Option<String> {
    let field = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    said.map(str::to_owned).or_else(|| response.or(input).map(field))
}

impl Resolver for StoreAndFiles {
    fn decode(&mut self, lines: &[Value]) -> Result<Vec<String>, String> {
        let mut adapter = ClaudeFamily.file_adapter(FORMAT).ok_or("no adapter for transcripts")?;
        let mut texts = Vec::new();
        for line in lines {
            let outcome = adapter.normalize("unknown", line);
            let NormalizationOutcome::Messages(messages) = outcome else { continue };
            texts.extend(messages.into_iter().filter_map(|message| {
                let Message::Event(event) = message else { return None };
                let (response, input) = (event.tool_response.as_ref(), event.tool_input.as_ref());
                text_of(event.text.as_deref(), response, input).map(|told| shown_text(&told))
            }));
        }
        Ok(texts)
    }

    fn record(&mut self, name: &str, lines: &[Value]) -> Result<Vec<Indexed>, String> {
        let path = self.path(name);
        fs::write(&path, file_text(lines)).map_err(text)?;
        self.ingest()?;
        let mut begins = Vec::new();
        let mut offset = 0;
        for line in lines {
            begins.push(offset);
            offset += line.to_string().len() as u64 + 1;
        }
        let mut indexed = Vec::new();
        for event in self.events(&path.display().to_string())? {
            let (response, input) = (event.tool_response.as_ref(), event.tool_input.as_ref());
            let told = text_of(event.text.as_deref(), response, input);
            let place = event.sightings.first().and_then(crate::ports::reader::SeenAt::locator);
            if let (Some(text), Some(locator)) = (told, place) {
                let line = begins.partition_point(|begin| *begin <= locator.offset);
                indexed.push(Indexed { line: line.saturating_sub(1), locator, text });
            }
        }
        Ok(indexed)
    }

    fn happen(&mut self, name: &str, what: Happening<'_>) -> Result<(), String> {
        let path = self.path(name);
        match what {
            Happening::Written(lines) => fs::write(&path, file_text(lines)).map_err(text),
            Happening::Replaced => {
                let copy = path.with_extension("copy");
                fs::copy(&path, &copy).and_then(|_| fs::rename(&copy, &path)).map_err(text)
            }
            Happening::Removed => fs::remove_file(&path).map_err(text),
            Happening::Pruned => {
                fs::remove_file(&path).map_err(text)?;
                self.ingest()
            }
            Happening::Denied => {
                self.doors.shut(path);
                Ok(())
            }
            Happening::OfUnknownFormat => self.rename_format(&path),
        }
    }

    fn resolve(&mut self, locator: &Locator, max_bytes: usize) -> Result<Resolved, String> {
        let store = self.store.as_ref().map_err(Clone::clone)?;
        let mut readback = ReadBack::new(&self.doors, &self.families, store, false);
        match readback.text(locator, max_bytes) {
            Ok(read) => {
                Ok(Resolved::Text { text: read.text, cut: read.cut, full_length: read.full_length })
            }
            Err(ReadError::Unavailable(reason)) => {
                Ok(Resolved::Unavailable(reason.as_str().to_owned()))
            }
            Err(other) => Err(other.to_string()),
        }
    }

    fn is_present(&mut self, locator: &Locator) -> Result<bool, String> {
        let store = self.store.as_ref().map_err(Clone::clone)?;
        ReadBack::new(&self.doors, &self.families, store, false).is_present(locator).map_err(text)
    }

    fn reads(&self) -> u64 {
        self.doors.opened.load(Ordering::Relaxed)
    }
}

/// The real file system; counts opened files, and keeps some shut.
#[derive(Default)]
struct Doors {
    opened: AtomicU64,
    shut: Mutex<BTreeSet<PathBuf>>,
}

impl Doors {
    fn shut(&self, path: PathBuf) {
        if let Ok(mut shut) = self.shut.lock() {
            shut.insert(path);
        }
    }

    fn is_shut(&self, path: &Path) -> bool {
        self.shut.lock().is_ok_and(|shut| shut.contains(path))
    }
}

impl Files for Doors {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        FsFiles.stat(path)
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        if self.is_shut(path) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.opened.fetch_add(1, Ordering::Relaxed);
        FsFiles.open(path, offset)
    }

    fn walk(&self, root: &Path) -> Vec<Met> {
        FsFiles.walk(root)
    }
}
