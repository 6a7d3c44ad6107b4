//! `fornax ingest`: discover histories, read what is new of them, store it.
//!
//! Files are decoded by a few workers and stored by one writer, so that decoding and writing
//! overlap. A second run over the same files changes nothing. Whatever is left alone is counted.

use super::reading::{ReadStats, Reading};
use super::recognise::{Recognised, recognise_and_keep};
use super::resume::{ReadOptions, is_unchanged, open_reading};
use crate::base::hash::Digest;
use crate::base::limits::BATCH_ROWS_MAX;
use crate::base::text::path_name;
use crate::domain::loss::LossReason;
use crate::domain::record::{Body, Ingress, LossRecord, Place, Sealed, Tally};
use crate::ports::agent::AgentFamily;
use crate::ports::files::{FileKind, FileStat, Files, Met};
use crate::ports::recorder::{
    Appended, Batch, KnownSource, Recorder, SourceSpec, StoreError, Watermark,
};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Batches that may wait for the writer.
const WAITING_BATCHES: usize = 8;

/// Rows after which the writer stops gathering batches into one call; the recorder gives the lock
/// away between two of them.
const GROUP_ROWS_MAX: usize = 4 * BATCH_ROWS_MAX;

/// What to ingest and how.
pub struct Ingest<'a> {
    pub files: &'a dyn Files,
    pub families: &'a [Box<dyn AgentFamily>],
    /// Files and folders to read; absolute.
    pub roots: Vec<PathBuf>,
    pub read: ReadOptions<'a>,
    pub workers: usize,
    /// Told about bytes read, for a progress bar.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// What a progress bar shows.
#[derive(Debug, Clone, Copy)]
pub enum Progress {
    /// Files and bytes that will be read.
    Planned { files: u64, bytes: u64 },
    /// One file is done.
    FileDone { bytes: u64 },
}

/// What an ingest did.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Sources read (anything new in them) in this run.
    pub sources: u64,
    pub unchanged: u64,
    pub read: ReadStats,
    /// Files left alone for a known reason.
    pub skipped: Tally,
    pub not_recognised: u64,
    pub unreadable: u64,
    pub missing: u64,
    pub appended: Appended,
    /// The named files that were not recognised, when files were named.
    pub foreign: Vec<PathBuf>,
}

/// One file to read.
struct Job {
    path: PathBuf,
    stat: FileStat,
    known: Option<KnownSource>,
}

/// What a worker says to the writer.
enum Said {
    Batch(Box<Batch>),
    Done { job: Box<Job>, end: End },
}

/// How a file ended.
enum End {
    Read(ReadStats),
    NotRecognised,
    Empty,
    Failed(LossReason),
    Stopped,
}

impl Ingest<'_> {
    /// Runs it.
    ///
    /// # Errors
    /// When the store refuses; what was stored stays, and the next run goes on from there.
    pub fn run(&self, recorder: &mut dyn Recorder) -> Result<Summary, StoreError> {
        let mut summary = Summary::default();
        let mut notes = Vec::new();
        let jobs = self.plan(recorder, &mut summary, &mut notes)?;
        let bytes = jobs.iter().map(|j| j.stat.size).sum();
        (self.progress)(Progress::Planned { files: jobs.len() as u64, bytes });
        if !notes.is_empty() {
            add(&mut summary.appended, &recorder.append(&notes, None)?);
        }
        let queue = Mutex::new(jobs.into_iter());
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(WAITING_BATCHES);
            for _ in 0..self.workers.max(1) {
                let sender = sender.clone();
                let queue = &queue;
                scope.spawn(move || self.work(queue, &sender));
            }
            drop(sender);
            self.write(&receiver, recorder, &mut summary)
        })?;
        Ok(summary)
    }

    /// Which files to read; what is left alone is counted, what cannot be read is noted.
    fn plan(
        &self,
        recorder: &mut dyn Recorder,
        summary: &mut Summary,
        notes: &mut Vec<Batch>,
    ) -> Result<Vec<Job>, StoreError> {
        let known: HashMap<String, KnownSource> =
            recorder.sources()?.into_iter().map(|s| (s.path.clone(), s)).collect();
        let mut jobs = Vec::new();
        let mut met_paths = HashSet::new();
        let mut moved = self.moved_candidates(&known);
        for root in &self.roots {
            for met in self.files.walk(root) {
                match met {
                    Met::File(path) => {
                        let named = path == *root;
                        if !met_paths.insert(path_name(&path)) {
                            continue;
                        }
                        if let Some(reason) = self.left_alone(&path, named) {
                            summary.skipped.add(reason, 1);
                            continue;
                        }
                        self.plan_file(
                            path, &known, &mut moved, recorder, summary, notes, &mut jobs,
                        )?;
                    }
                    Met::Unreadable(path, kind) => {
                        summary.unreadable += 1;
                        note(
                            summary,
                            notes,
                            &path,
                            LossReason::SourceUnreadable,
                            &kind.to_string(),
                        );
                    }
                    Met::Special(path) => {
                        summary.skipped.add("not a regular file", 1);
                        note(summary, notes, &path, LossReason::SourceNotAFile, "link or special");
                    }
                }
            }
        }
        self.mark_missing(&known, &met_paths, recorder, summary)?;
        Ok(jobs)
    }

    #[expect(clippy::too_many_arguments, reason = "one step of `plan`, split for its length")]
    fn plan_file(
        &self,
        path: PathBuf,
        known: &HashMap<String, KnownSource>,
        moved: &mut BTreeMap<(u64, u64), KnownSource>,
        recorder: &mut dyn Recorder,
        summary: &mut Summary,
        notes: &mut Vec<Batch>,
        jobs: &mut Vec<Job>,
    ) -> Result<(), StoreError> {
        let stat = match self.files.stat(&path) {
            Ok(stat) => stat,
            Err(e) => {
                summary.unreadable += 1;
                let reason = reason_of(&e);
                note(summary, notes, &path, reason, &e.kind().to_string());
                return Ok(());
            }
        };
        if stat.kind != FileKind::File {
            return Ok(());
        }
        let text = path_name(&path);
        let mut source = known.get(&text).cloned();
        if source.is_none()
            && let Some(earlier) = moved.remove(&(stat.device, stat.inode))
        {
            recorder.move_source(earlier.id, &text)?;
            source = Some(KnownSource { path: text, ..earlier });
        }
        if source.as_ref().is_some_and(|s| is_unchanged(s, &stat, self.read.deep)) {
            summary.unchanged += 1;
        } else {
            jobs.push(Job { path, stat, known: source });
        }
        Ok(())
    }

    /// Known files that are no longer at their path, by identity.
    fn moved_candidates(
        &self,
        known: &HashMap<String, KnownSource>,
    ) -> BTreeMap<(u64, u64), KnownSource> {
        known
            .values()
            .filter_map(|s| s.watermark.as_ref().map(|m| ((m.stat.device, m.stat.inode), s)))
            .filter(|(_, s)| self.files.stat(Path::new(&s.path)).is_err())
            .map(|(identity, s)| (identity, s.clone()))
            .collect()
    }

    /// Why a file that was met is not looked into.
    fn left_alone(&self, path: &Path, named: bool) -> Option<&'static str> {
        if let Some(reason) = self.families.iter().find_map(|f| f.known_sidecar(path)) {
            return Some(reason);
        }
        let name = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
        if let Some(plain) = name.strip_suffix(".zst") {
            let twin = path.with_file_name(plain);
            if self.files.stat(&twin).is_ok() {
                return Some("compressed twin of a plain file");
            }
        }
        let readable = [".jsonl", ".json", ".jsonl.zst"].iter().any(|end| name.ends_with(end));
        (!readable && !named).then_some("not a .jsonl, .json or .jsonl.zst file")
    }

    /// Known files below the roots that were not met: their rows stay, their state says so.
    fn mark_missing(
        &self,
        known: &HashMap<String, KnownSource>,
        met: &HashSet<String>,
        recorder: &mut dyn Recorder,
        summary: &mut Summary,
    ) -> Result<(), StoreError> {
        let gone: Vec<i64> = known
            .values()
            .filter(|s| s.state == "active" || s.state == "not_recognised")
            .filter(|s| {
                let path = Path::new(&s.path);
                self.roots.iter().any(|root| path.starts_with(root))
                    && !met.contains(&s.path)
                    && self.files.stat(path).is_err()
            })
            .map(|s| s.id)
            .collect();
        if gone.is_empty() {
            return Ok(());
        }
        summary.missing += gone.len() as u64;
        recorder.mark_sources(&gone, "missing")
    }

    /// A worker: takes files until there are none, or the writer is gone.
    fn work(&self, queue: &Mutex<std::vec::IntoIter<Job>>, sender: &SyncSender<Said>) {
        loop {
            let next = match queue.lock() {
                Ok(mut jobs) => jobs.next(),
                Err(_) => None,
            };
            let Some(job) = next else { return };
            let end = self.read_file(&job, sender);
            if sender.send(Said::Done { job: Box::new(job), end }).is_err() {
                return;
            }
        }
    }

    fn read_file(&self, job: &Job, sender: &SyncSender<Said>) -> End {
        let opened = match self.open(job) {
            Ok(Ok(reading)) => reading,
            Ok(Err(end)) => return end,
            Err(e) => return End::Failed(reason_of(&e)),
        };
        let mut reading = opened;
        let read = reading.read_available(self.files, &job.stat, &mut |batch| {
            sender.send(Said::Batch(Box::new(batch))).is_ok()
        });
        match read {
            Ok(true) => End::Read(reading.take_stats()),
            Ok(false) => End::Stopped,
            Err(e) => End::Failed(reason_of(&e)),
        }
    }

    fn open(&self, job: &Job) -> io::Result<Result<Reading, End>> {
        let (recognised, head) = recognise_and_keep(self.files, self.families, &job.path)?;
        let (family, format) = match recognised {
            Recognised::As(family, format) => (family, format),
            Recognised::Empty => return Ok(Err(End::Empty)),
            Recognised::No => return Ok(Err(End::NotRecognised)),
        };
        let known = job.known.as_ref();
        let reading =
            open_reading(self.files, family, &format, &job.path, &job.stat, known, &self.read)?;
        Ok(reading.ok_or(End::NotRecognised).map(|mut reading| {
            reading.known_head(head);
            reading
        }))
    }

    /// The writer: stores batches in groups, in the order in which each file made them.
    fn write(
        &self,
        receiver: &Receiver<Said>,
        recorder: &mut dyn Recorder,
        summary: &mut Summary,
    ) -> Result<(), StoreError> {
        while let Ok(first) = receiver.recv() {
            let mut group = Vec::new();
            let mut rows = 0;
            let mut next = Some(first);
            while let Some(said) = next {
                match said {
                    Said::Batch(batch) => {
                        rows += batch.records.len();
                        group.push(*batch);
                    }
                    Said::Done { job, end } => group.extend(self.finish(*job, end, summary)),
                }
                next = if rows < GROUP_ROWS_MAX { receiver.try_recv().ok() } else { None };
            }
            if !group.is_empty() {
                add(&mut summary.appended, &recorder.append(&group, None)?);
            }
        }
        Ok(())
    }

    fn finish(&self, job: Job, end: End, summary: &mut Summary) -> Option<Batch> {
        (self.progress)(Progress::FileDone { bytes: job.stat.size });
        match end {
            End::Read(stats) => {
                summary.sources += 1;
                summary.read.merge(&stats);
                None
            }
            End::NotRecognised => {
                summary.not_recognised += 1;
                summary.read.losses.add(LossReason::SourceNotRecognised.as_str(), 1);
                let batch = not_recognised(&job);
                summary.foreign.push(job.path);
                Some(batch)
            }
            End::Empty => {
                summary.skipped.add("empty file", 1);
                None
            }
            End::Failed(reason) => {
                summary.unreadable += 1;
                summary.read.losses.add(reason.as_str(), 1);
                Some(loss_batch(&job.path, reason, "while reading", None))
            }
            End::Stopped => None,
        }
    }
}

/// One located loss, and a mark that keeps the file from being looked at again unchanged. Rows of
/// a time when the file was recognised go with it.
fn not_recognised(job: &Job) -> Batch {
    let none = Digest::of(b"");
    let mark = Watermark {
        offset: 0,
        lines: 0,
        chain: none,
        head_hash: none,
        tail_hash: none,
        decoder: "recognise/1".to_owned(),
        state: Value::Null,
        stat: job.stat,
        complete: true,
    };
    let reason = LossReason::SourceNotRecognised;
    let mut batch = loss_batch(&job.path, reason, "no adapter claims it", Some(mark));
    if let Some(known) = job.known.as_ref().filter(|k| !k.format.is_empty()) {
        batch.generation = known.generation + 1;
        batch.fresh = true;
        batch.flip = true;
    }
    batch
}

fn add(total: &mut Appended, more: &Appended) {
    total.inserted += more.inserted;
    total.known += more.known;
}

fn reason_of(error: &io::Error) -> LossReason {
    match error.kind() {
        io::ErrorKind::NotFound => LossReason::SourceVanished,
        io::ErrorKind::InvalidInput => LossReason::SourceNotAFile,
        _ => LossReason::SourceUnreadable,
    }
}

fn note(
    summary: &mut Summary,
    notes: &mut Vec<Batch>,
    path: &Path,
    reason: LossReason,
    detail: &str,
) {
    summary.read.losses.add(reason.as_str(), 1);
    notes.push(loss_batch(path, reason, detail, None));
}

/// A batch that holds one loss of a whole source.
fn loss_batch(path: &Path, reason: LossReason, detail: &str, mark: Option<Watermark>) -> Batch {
    let place =
        Place { offset: 0, length: 0, line_hash: Digest::of(b""), path: String::new(), index: 0 };
    let body = Body::Loss(LossRecord { reason, detail: detail.to_owned(), count: 1, at_us: 0 });
    Batch {
        source: SourceSpec {
            kind: "file",
            format: String::new(),
            provider: String::new(),
            path: path_name(path),
            stat: mark.as_ref().map(|m| m.stat),
        },
        generation: 0,
        fresh: false,
        flip: false,
        records: vec![Sealed { conversation: None, place, body }],
        watermark: mark,
        ingress: Ingress::BuiltIn,
        ignored: Tally::default(),
    }
}
