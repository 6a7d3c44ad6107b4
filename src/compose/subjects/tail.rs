//! The shipping tail: `Ingest` and `Follow` over the real file system, into a store in scratch.
//!
//! A token is the store's own row of a source. One that differs from that row is written into the
//! store first, as an empty batch with that watermark, so that the product resumes from nothing but
//! what its store says. Halting is done at the `Recorder` port, refusal at the `Files` port.

use super::super::families;
use super::mark;
use super::observe::observations;
use super::tee::Tee;
use crate::adapters::files::FsFiles;
use crate::adapters::sqlite::{OpenOptions, SqliteStore};
use crate::app::follow::{Follow, Look, Road, Scope};
use crate::app::ingest::{Ingest, Summary};
use crate::app::pruning::Pruning;
use crate::app::resume::ReadOptions;
use crate::conformance::decoding::Observation;
use crate::conformance::process::Scratch;
use crate::conformance::tailing::{Ask, Delivered, Halt, Meanwhile, Note, TailReader, Token};
use crate::domain::record::{Ingress, Sealed};
use crate::ports::agent::AgentFamily;
use crate::ports::files::{FileStat, Files, Met};
use crate::ports::reader::Reader as _;
use crate::ports::recorder::{Batch, KnownSource, Recorder as _, SourceSpec, Watermark};
use serde_json::{Value, json};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

/// The longest line in these tests: long lines are costly, and the cap is only a number.
const LINE_CAP: usize = 5 * 512 * 1024;
/// The bytes of a batch in `app/reading.rs`.
const DELIVERY_BYTES: usize = 4 * 1024 * 1024;
const OPTIONS: ReadOptions<'static> =
    ReadOptions { namespace: "local", line_cap: LINE_CAP, deep: false };

/// A follower keeps references to its families and files, so these live as long as the program.
static FAMILIES: LazyLock<Vec<Box<dyn AgentFamily>>> = LazyLock::new(families);

/// The tail with a store of its own.
pub(super) struct StoredTail {
    scratch: Scratch,
    homes: usize,
    store: SqliteStore,
    follow: Option<(Follow<'static>, Option<Token>)>,
}

impl StoredTail {
    /// A tail that has never read anything.
    pub(super) fn new() -> Result<Self, String> {
        let scratch = std::fs::canonicalize(std::env::temp_dir())
            .and_then(|folder| Scratch::below(&folder))
            .map_err(|error| error.to_string())?;
        let store = open_store(scratch.path(), 0)?;
        Ok(Self { scratch, homes: 0, store, follow: None })
    }

    fn known(&mut self, path: &str) -> Result<Option<KnownSource>, String> {
        let sources = self.store.sources().map_err(|error| error.to_string())?;
        let mut found = sources.into_iter().find(|source| source.path == path);
        if let Some(known) = &mut found
            && let Some(mark) = &mut known.watermark
        {
            mark.state = self.store.source_state(known.id).map_err(|error| error.to_string())?;
        }
        Ok(found)
    }

    fn token(&mut self, path: &str) -> Result<Option<Token>, String> {
        Ok(self.known(path)?.as_ref().and_then(token_of))
    }

    /// Makes the store say what the token says.
    fn settle(&mut self, path: &str, token: Option<&Token>) -> Result<(), String> {
        let Some(token) = token else { return self.forget(path) };
        if self.token(&token.source)?.as_ref() == Some(token) {
            return Ok(());
        }
        self.follow = None;
        let batch = imposed(token).ok_or("the token is not one of ours")?;
        self.store.append(&[batch], None).map(|_| ()).map_err(|error| error.to_string())
    }

    /// A reader without a token knows neither this source nor one that it could have been.
    fn forget(&mut self, path: &str) -> Result<(), String> {
        self.follow = None;
        let sources = self.store.sources().map_err(|error| error.to_string())?;
        if sources.iter().any(|known| known.path == path || !Path::new(&known.path).exists()) {
            self.homes += 1;
            self.store = open_store(self.scratch.path(), self.homes)?;
        }
        Ok(())
    }

    fn read_once(&mut self, ask: Ask) -> Result<(Vec<Sealed>, Summary), String> {
        let files = Watched {
            refused: ask.refused.then(|| ask.path.clone()),
            meanwhile: Mutex::new(ask.meanwhile),
        };
        let ingest = Ingest {
            files: &files,
            families: &FAMILIES,
            roots: vec![ask.path],
            read: OPTIONS,
            workers: 1,
            pruning: Pruning::default(),
            progress: &|_| {},
        };
        let mut tee = Tee::new(&mut self.store, ask.halt);
        let summary = match ingest.run(&mut tee) {
            Ok(summary) => summary,
            Err(_) if tee.has_halted() => Summary::default(),
            Err(error) => return Err(error.to_string()),
        };
        Ok((tee.into_delivered(), summary))
    }

    fn look(&mut self, ask: &Ask) -> Result<Vec<Sealed>, String> {
        let held = self.follow.take().filter(|(_, gave)| *gave == ask.token);
        let mut follow = match held {
            Some((follow, _)) => follow,
            None => {
                let scope = Scope::File { path: ask.path.clone(), roots: Vec::new() };
                Follow::new(&FsFiles, &FAMILIES, OPTIONS, scope)
            }
        };
        let mut tee = Tee::new(&mut self.store, Halt::Never);
        let mut road = Road { recorder: &mut tee, tell: &mut |_| {}, stopped: &|| false };
        follow.step(Look::Everywhere, &mut road).map_err(|error| error.to_string())?;
        let delivered = tee.into_delivered();
        let token = self.token(&name(&ask.path))?;
        self.follow = Some((follow, token));
        Ok(delivered)
    }
}

impl TailReader for StoredTail {
    fn folder(&self) -> PathBuf {
        self.scratch.path().to_owned()
    }

    fn line_cap(&self) -> usize {
        LINE_CAP
    }

    fn delivery_bytes(&self) -> usize {
        DELIVERY_BYTES
    }

    fn read(&mut self, ask: Ask) -> Result<Delivered, String> {
        let path = name(&ask.path);
        self.settle(&path, ask.token.as_ref())?;
        let (records, summary) = if ask.following {
            (self.look(&ask)?, Summary::default())
        } else {
            self.read_once(ask)?
        };
        let mut told = Delivered {
            observations: observations(&path, &records),
            token: self.token(&path)?,
            notes: Vec::new(),
        };
        take_notes(&mut told);
        if summary.missing > 0 {
            told.notes.push(Note::Missing);
        }
        Ok(told)
    }

    fn stored(&mut self, path: &Path) -> Result<Vec<Observation>, String> {
        let path = name(path);
        let conversations = self.store.conversations().map_err(|error| error.to_string())?;
        let mut kept = Vec::new();
        for conversation in conversations.rows {
            let events = self.store.events(conversation.id).map_err(|error| error.to_string())?;
            let here = events
                .rows
                .into_iter()
                .filter(|event| event.sightings.iter().any(|sighting| sighting.source == path));
            kept.extend(here.map(|event| Observation {
                id: Some(event.id.to_string()),
                kind: event.kind,
                conversation: Some(event.native_id),
                text: event.text,
                counted: true,
                ..Observation::default()
            }));
        }
        Ok(kept)
    }
}

fn name(path: &Path) -> String {
    crate::base::text::path_name(path)
}

fn open_store(scratch: &Path, number: usize) -> Result<SqliteStore, String> {
    let home = scratch.join(format!("home-{number}"));
    crate::adapters::journal::make_private_folder(&home).map_err(|error| error.to_string())?;
    SqliteStore::open(&OpenOptions { home: &home, namespace: Some("local"), create: true })
        .map_err(|error| error.to_string())
}

/// Losses of the reading itself are notes.
fn take_notes(told: &mut Delivered) {
    let mut notes = Vec::new();
    told.observations.retain(|one| {
        let tag = one.text.clone().unwrap_or_default();
        match one.kind.as_str() {
            "loss:source_rewritten" => notes.push(Note::Restarted(tag)),
            "loss:source_unreadable" => notes.push(Note::Unreadable(tag)),
            "loss:line_torn" => notes.push(Note::Withheld { offset: one.at.offset }),
            _ => return true,
        }
        false
    });
    told.notes = notes;
}

fn token_of(known: &KnownSource) -> Option<Token> {
    let mark = known.watermark.as_ref()?;
    Some(Token {
        source: known.path.clone(),
        generation: known.generation,
        boundary: mark.offset,
        decoder: mark.decoder.clone(),
        evidence: json!({
            "format": known.format,
            "provider": known.provider,
            "mark": mark::to_json(mark),
        })
        .to_string(),
    })
}

/// An empty batch that makes the store hold the token's watermark.
fn imposed(token: &Token) -> Option<Batch> {
    let evidence: Value = serde_json::from_str(&token.evidence).ok()?;
    let word = |key: &str| evidence.get(key)?.as_str().map(str::to_owned);
    let mark = mark::from_json(evidence.get("mark")?)?;
    let source = SourceSpec {
        kind: "file",
        format: word("format")?,
        provider: word("provider")?,
        path: token.source.clone(),
        stat: Some(mark.stat),
    };
    let mut batch = Batch::of(source, Vec::new(), Ingress::BuiltIn);
    batch.watermark =
        Some(Watermark { offset: token.boundary, decoder: token.decoder.clone(), ..mark });
    Some(batch)
}

/// The real file system, which can refuse a file, and in which something happens meanwhile.
struct Watched {
    refused: Option<PathBuf>,
    meanwhile: Mutex<Option<Meanwhile>>,
}

impl Files for Watched {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        FsFiles.stat(path)
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        if self.refused.as_deref() == Some(path) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let meanwhile = self.meanwhile.lock().ok().and_then(|mut held| held.take());
        if let Some(meanwhile) = meanwhile {
            meanwhile();
        }
        FsFiles.open(path, offset)
    }

    fn walk(&self, root: &Path) -> Vec<Met> {
        FsFiles.walk(root)
    }
}
