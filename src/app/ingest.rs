//! `fornax ingest`: discover histories, read what is new of them, store it.
//!
//! Files are decoded by a few workers and stored by one writer, so that decoding and writing
//! overlap. A second run over the same files changes nothing. Whatever is left alone is counted.

use super::histories::left_alone;
use super::identifiers::source_name;
use super::known::{Matched, SourceBook};
use super::opening::{Opened, open};
use super::pruning::Pruning;
use super::reading::{ENDS_EARLY, ReadStats};
use super::resume::ReadOptions;
use super::whole_source::{loss_of_source, not_recognised, reason_of};
use crate::base::limits::BATCH_ROWS_MAX;
use crate::domain::loss::LossReason;
use crate::domain::record::Tally;
use crate::ports::agent::AgentFamily;
use crate::ports::files::{FileKind, FileStat, Files, Met};
use crate::ports::recorder::{Appended, Batch, Recorder, StoreError};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Batches that may wait for the writer.
const WAITING_BATCHES: usize = 8;

/// Rows after which the writer stops gathering batches into one call; the recorder gives the lock
/// away between two of them.
const GROUP_ROWS_MAX: usize = 4 * BATCH_ROWS_MAX;

/// Why a file that tells only of forgotten conversations is left alone.
pub const FORGOTTEN_FILE: &str = "forgotten";

/// What to ingest and how.
pub struct Ingest<'a> {
    pub files: &'a dyn Files,
    pub families: &'a [Box<dyn AgentFamily>],
    /// Files and folders to read; absolute.
    pub roots: Vec<PathBuf>,
    pub read: ReadOptions<'a>,
    pub workers: usize,
    /// Which files their agents delete.
    pub pruning: Pruning,
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

impl Summary {
    /// Adds the sources that an import read.
    pub fn join(&mut self, imported: &Self) {
        self.sources += imported.sources;
        self.unchanged += imported.unchanged;
        self.read.merge(&imported.read);
        self.appended.add(&imported.appended);
    }
}

/// One file to read, with the state to go on from.
type Job = Matched;

/// What a worker says to the writer.
enum Said {
    Batch(Box<Batch>),
    Done { job: Box<Job>, end: End },
}

/// How a file ended.
enum End {
    Read(ReadStats),
    NotRecognised {
        stands: bool,
    },
    Empty,
    /// A compressed file, or a first line, that is still being written.
    Unfinished,
    /// It could not be read to its end; what was read of it is stored.
    Failed(LossReason, ReadStats),
    /// Another process read the file meanwhile; what it stored stands.
    Overtaken,
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
            summary.appended.add(&recorder.append(&notes, None)?);
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
        let book = SourceBook::new(recorder.sources()?).with_forgotten(recorder.forgotten_files()?);
        let mut paths = HashSet::new();
        let mut met_files = Vec::new();
        for root in &self.roots {
            for met in self.files.walk(root) {
                match met {
                    Met::File(path) => {
                        if !paths.insert(source_name(&path)) {
                            continue;
                        }
                        let named = path == *root;
                        let reason = left_alone(self.files, self.families, &path, named);
                        if let Some(reason) = reason {
                            summary.skipped.add(reason, 1);
                            continue;
                        }
                        if book.is_forgotten(self.files, &path) {
                            summary.skipped.add(FORGOTTEN_FILE, 1);
                            continue;
                        }
                        self.meet(path, &mut met_files, summary, notes);
                    }
                    Met::Unreadable(path, kind) => {
                        summary.unreadable += 1;
                        let reason = LossReason::SourceUnreadable;
                        note(summary, notes, &path, reason, &kind.to_string());
                    }
                    Met::Special(path) => {
                        summary.skipped.add("not a regular file", 1);
                        note(summary, notes, &path, LossReason::SourceNotAFile, "link or special");
                    }
                }
            }
        }
        let (matched, moves) = book.match_files(self.files, met_files, &self.read);
        if !moves.is_empty() {
            recorder.move_sources(&moves)?;
        }
        let missing = book.vanished(self.files, &self.roots, &paths, &moves);
        if !missing.is_empty() {
            summary.missing += missing.len() as u64;
            self.pruning.mark_gone(recorder, &missing)?;
        }
        let mut jobs = Vec::new();
        for mut file in matched {
            if file.is_unchanged(self.read.deep) {
                summary.unchanged += 1;
                continue;
            }
            file.take_state(recorder)?;
            jobs.push(file);
        }
        Ok(jobs)
    }

    fn meet(
        &self,
        path: PathBuf,
        met: &mut Vec<(PathBuf, FileStat)>,
        summary: &mut Summary,
        notes: &mut Vec<Batch>,
    ) {
        match self.files.stat(&path) {
            Ok(stat) if stat.kind == FileKind::File => met.push((path, stat)),
            Ok(_) => {}
            Err(e) => {
                summary.unreadable += 1;
                note(summary, notes, &path, reason_of(&e), &e.kind().to_string());
            }
        }
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
        let mut reading = match open(self.files, self.families, job, &self.read) {
            Ok(Opened::Reading(reading)) => reading,
            Ok(Opened::Empty) => return End::Empty,
            Ok(Opened::Unfinished) => return End::Unfinished,
            Ok(Opened::NotRecognised { stands }) => return End::NotRecognised { stands },
            Err(e) => return End::Failed(reason_of(&e), ReadStats::default()),
        };
        let read = reading.read_available(self.files, &job.stat, &mut |batch| {
            sender.send(Said::Batch(Box::new(batch))).is_ok()
        });
        match read {
            Ok(true) => End::Read(reading.take_stats()),
            Ok(false) => End::Stopped,
            Err(e) => End::Failed(reason_of(&e), reading.take_stats()),
        }
    }

    /// The writer: stores batches in groups, in the order in which each file made them.
    fn write(
        &self,
        receiver: &Receiver<Said>,
        recorder: &mut dyn Recorder,
        summary: &mut Summary,
    ) -> Result<(), StoreError> {
        let mut overtaken = HashSet::new();
        while let Ok(first) = receiver.recv() {
            let mut group = Vec::new();
            let mut done = Vec::new();
            let mut rows = 0;
            let mut next = Some(first);
            while let Some(said) = next {
                match said {
                    Said::Batch(batch) => {
                        rows += batch.records.len();
                        group.push(*batch);
                    }
                    Said::Done { job, end } => done.push((job, end)),
                }
                next = if rows < GROUP_ROWS_MAX { receiver.try_recv().ok() } else { None };
            }
            self.store(&group, recorder, summary, &mut overtaken)?;
            let mut ends = Vec::new();
            for (job, end) in done {
                if matches!(end, End::Empty | End::Unfinished)
                    && let Some(source) = job.emptied()
                {
                    summary.missing += 1;
                    recorder.mark_sources(&[source], "missing")?;
                }
                let end =
                    if overtaken.remove(&source_name(&job.path)) { End::Overtaken } else { end };
                ends.extend(self.finish(*job, end, summary));
            }
            self.store(&ends, recorder, summary, &mut overtaken)?;
        }
        Ok(())
    }

    fn store(
        &self,
        batches: &[Batch],
        recorder: &mut dyn Recorder,
        summary: &mut Summary,
        overtaken: &mut HashSet<String>,
    ) -> Result<(), StoreError> {
        if batches.is_empty() {
            return Ok(());
        }
        let appended = recorder.append(batches, None)?;
        let late = appended.overtaken.iter().filter_map(|index| batches.get(*index));
        overtaken.extend(late.map(|batch| batch.source.path.clone()));
        summary.appended.add(&appended);
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
            End::NotRecognised { stands } => {
                summary.not_recognised += 1;
                summary.read.losses.add(LossReason::SourceNotRecognised.as_str(), 1);
                let known = job.known.as_deref();
                let batch = not_recognised(&job.path, &job.stat, known, stands);
                summary.foreign.push(job.path);
                Some(batch)
            }
            End::Empty => {
                summary.skipped.add("empty file", 1);
                None
            }
            End::Unfinished => {
                summary.skipped.add("not finished yet", 1);
                summary.read.losses.add(LossReason::LineTorn.as_str(), 1);
                Some(loss_of_source(&job.path, LossReason::LineTorn, ENDS_EARLY, None))
            }
            End::Failed(reason, stats) => {
                summary.unreadable += 1;
                summary.read.merge(&stats);
                summary.read.losses.add(reason.as_str(), 1);
                Some(loss_of_source(&job.path, reason, "while reading", None))
            }
            End::Overtaken => {
                summary.skipped.add("read by another process meanwhile", 1);
                None
            }
            End::Stopped => None,
        }
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
    notes.push(loss_of_source(path, reason, detail, None));
}
