//! Trying again what could not be read: quarantined lines and shapes that no decoder knew.
//!
//! A line is tried alone first, with the decoder of this build. Only when one of a source's lines
//! reads now, or its decoder is another, is the source read again from its beginning, as a new
//! generation that replaces the old rows when it is complete. A replay that fails changes nothing.

use super::readback::{ReadBack, ReadError};
use super::reading::Reading;
use super::resume::ReadOptions;
use crate::base::json;
use crate::domain::loss::LossReason;
use crate::domain::outcome::{Message, NormalizationOutcome};
use crate::domain::unavailable::Unavailable;
use crate::ports::agent::{AgentAdapter, AgentFamily, SourceFormat};
use crate::ports::files::Files;
use crate::ports::reader::{LostRow, Reader};
use crate::ports::recorder::{KnownSource, StoreError};
use crate::ports::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What became of the lines of one reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Lines that were looked at again: the sum of the three below.
    pub rechecked: u64,
    pub recovered: u64,
    pub still: u64,
    /// Lines that could not be looked at, by reason.
    pub unavailable: BTreeMap<String, u64>,
}

/// What a recheck did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub reasons: BTreeMap<String, Outcome>,
    /// Sources that were read again.
    pub read_again: u64,
    /// Sources whose replay failed, with the error; their rows are as they were.
    pub failed: Vec<(String, String)>,
}

/// How to read again.
pub struct Recheck<'a> {
    pub files: &'a dyn Files,
    pub families: &'a [Box<dyn AgentFamily>],
    pub read: ReadOptions<'a>,
}

/// One lost line, told apart from its neighbours.
type Key = (u64, String, String, String);

impl Recheck<'_> {
    /// Tries every lost line again, of one conversation or of all.
    ///
    /// # Errors
    /// When the store cannot be read; a source that cannot be read again is reported instead.
    pub fn run(
        &self,
        store: &mut dyn Store,
        conversation: Option<i64>,
    ) -> Result<Report, StoreError> {
        let mut report = Report::default();
        for (source, rows) in lost_by_source(store.reader(), conversation)? {
            self.source(store, &source, &rows, &mut report)?;
        }
        Ok(report)
    }

    fn source(
        &self,
        store: &mut dyn Store,
        source: &str,
        rows: &[LostRow],
        report: &mut Report,
    ) -> Result<(), StoreError> {
        let (known, trial) = match self.try_alone(store.reader(), source, rows) {
            Ok(tried) => tried,
            Err(ReadError::Store(error)) => return Err(error),
            Err(ReadError::Unavailable(reason)) => {
                for row in rows {
                    report.unavailable(row, &reason);
                }
                return Ok(());
            }
            Err(error @ ReadError::Io { .. }) => {
                report.failed.push((source.to_owned(), error.to_string()));
                for row in rows {
                    report.outcome(row).still += 1;
                }
                return Ok(());
            }
        };
        if trial.read_again {
            match self.replay(store, &known) {
                Ok(()) => report.read_again += 1,
                Err(error) => report.failed.push((source.to_owned(), error)),
            }
        }
        let still = lost_keys(store.reader(), source)?;
        for (row, unavailable) in rows.iter().zip(trial.unavailable) {
            match unavailable {
                _ if !still.contains(&key(row)) => report.outcome(row).recovered += 1,
                Some(reason) => report.unavailable(row, &reason),
                None => report.outcome(row).still += 1,
            }
        }
        Ok(())
    }

    /// Looks at each line alone; nothing is stored.
    fn try_alone(
        &self,
        reader: &dyn Reader,
        source: &str,
        rows: &[LostRow],
    ) -> Result<(KnownSource, Trial), ReadError> {
        let known = reader.source(source)?.ok_or(Unavailable::IdentityMismatch)?;
        let (family, _) = self.format(&known).ok_or(Unavailable::FormatUnsupported)?;
        let readback = ReadBack::new(self.files, self.families, reader, false);
        let mark = readback.identity(&known)?;
        let adapter = || family.file_adapter(&known.format).ok_or(Unavailable::FormatUnsupported);
        let mut trial = Trial {
            read_again: mark.decoder != Reading::decoder(adapter()?.as_ref()),
            unavailable: Vec::with_capacity(rows.len()),
        };
        for row in rows {
            let place = row.seen.locator().ok_or(Unavailable::IdentityMismatch)?;
            let reason = match readback.line(&known, &place) {
                Ok(bytes) => {
                    trial.read_again |= reads_now(row, &bytes, adapter()?.as_mut());
                    None
                }
                Err(ReadError::Unavailable(reason)) => Some(reason),
                Err(other) => return Err(other),
            };
            trial.unavailable.push(reason);
        }
        Ok((known, trial))
    }

    fn format(&self, known: &KnownSource) -> Option<(&dyn AgentFamily, SourceFormat)> {
        self.families.iter().find_map(|f| Some((f.as_ref(), f.format(&known.format)?)))
    }

    /// Reads a source from its beginning as a new generation.
    fn replay(&self, store: &mut dyn Store, known: &KnownSource) -> Result<(), String> {
        let path = Path::new(&known.path);
        let (family, format) = self.format(known).ok_or("its format is not known here")?;
        let adapter = family.file_adapter(format.name).ok_or("its format is not known here")?;
        let stat = self.files.stat(path).map_err(|error| error.to_string())?;
        let next = known.begun + 1;
        let (namespace, line_cap) = (self.read.namespace, self.read.line_cap);
        let mut reading = Reading::new(path, format, adapter, namespace, line_cap, next);
        let mut refused = None;
        let read = reading.read_available(self.files, &stat, &mut |batch| match store
            .recorder()
            .append(&[batch], None)
        {
            Ok(appended) if appended.overtaken.is_empty() => true,
            Ok(_) => {
                refused = Some("another process read it meanwhile".to_owned());
                false
            }
            Err(error) => {
                refused = Some(error.to_string());
                false
            }
        });
        match (read, refused) {
            (_, Some(error)) => Err(error),
            (Err(error), None) => Err(error.to_string()),
            (Ok(_), None) => Ok(()),
        }
    }
}

/// What looking at a source's lines alone came to.
struct Trial {
    read_again: bool,
    /// For each line why it could not be looked at.
    unavailable: Vec<Option<Unavailable>>,
}

impl Report {
    fn outcome(&mut self, row: &LostRow) -> &mut Outcome {
        let outcome = self.reasons.entry(row.reason.clone()).or_default();
        outcome.rechecked += 1;
        outcome
    }

    fn unavailable(&mut self, row: &LostRow, reason: &Unavailable) {
        *self.outcome(row).unavailable.entry(reason.as_str().to_owned()).or_default() += 1;
    }
}

/// Whether this build reads what was lost; a decoder that is new to the file knows no calls and no
/// turns, which a shape does not depend on.
fn reads_now(row: &LostRow, bytes: &[u8], adapter: &mut dyn AgentAdapter) -> bool {
    let (found, refused) = json::values(bytes);
    if refused.is_some() || found.is_empty() {
        return false;
    }
    if row.reason != LossReason::Unrecognized.as_str() {
        return true;
    }
    !found.iter().any(|one| match adapter.normalize("unknown", &one.value) {
        NormalizationOutcome::Unrecognized { .. } => true,
        NormalizationOutcome::Ignored { .. } => false,
        NormalizationOutcome::Messages(messages) => messages.iter().any(|message| {
            matches!(message, Message::Loss(loss)
                if loss.reason == LossReason::Unrecognized && loss.detail == row.detail)
        }),
    })
}

fn lost_by_source(
    reader: &dyn Reader,
    conversation: Option<i64>,
) -> Result<BTreeMap<String, Vec<LostRow>>, StoreError> {
    let mut by_source: BTreeMap<String, Vec<LostRow>> = BTreeMap::new();
    for reason in [LossReason::LineUnparseable, LossReason::Unrecognized] {
        for row in reader.lost(conversation, reason.as_str())? {
            by_source.entry(row.seen.source.clone()).or_default().push(row);
        }
    }
    Ok(by_source)
}

/// What is lost of a source now; the conversation of a line may have become known meanwhile.
fn lost_keys(reader: &dyn Reader, source: &str) -> Result<BTreeSet<Key>, StoreError> {
    let rows = lost_by_source(reader, None)?.remove(source).unwrap_or_default();
    Ok(rows.iter().map(key).collect())
}

fn key(row: &LostRow) -> Key {
    (row.seen.offset, row.seen.path.clone(), row.reason.clone(), row.detail.clone())
}
