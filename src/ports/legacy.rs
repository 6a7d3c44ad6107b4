//! Databases of the first Fornax, read as a source: rows, in its own wire's spelling.
//!
//! The reader knows tables and columns of every schema version; what a row means is the pipeline's
//! to say. A row that cannot be read is one answer among the others.

use super::recorder::StoreError;
use std::path::Path;

/// The tables that tell something of a conversation, in the order in which they are read: an event
/// comes before what was made from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegacyTable {
    Events,
    Evidence,
    Claims,
    Capabilities,
    Findings,
    Quarantine,
}

impl LegacyTable {
    /// Every table, in reading order.
    pub const ALL: [Self; 6] = [
        Self::Events,
        Self::Evidence,
        Self::Claims,
        Self::Capabilities,
        Self::Findings,
        Self::Quarantine,
    ];

    /// Its name in the database.
    pub fn name(self) -> &'static str {
        match self {
            Self::Events => "agent_events",
            Self::Evidence => "evidence",
            Self::Claims => "claims",
            Self::Capabilities => "runtime_capabilities",
            Self::Findings => "findings",
            Self::Quarantine => "ingest_quarantine",
        }
    }
}

/// What one row holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LegacyTold {
    /// A record as JSON text, spelled as on the first Fornax's wire.
    Record(String),
    /// Evidence whose payload the first Fornax had already purged.
    Purged,
    /// A line that the first Fornax itself could not take; the word says why.
    Quarantined(String),
    /// It cannot be read: the column or the page, and the rule. Never content.
    Unreadable(String),
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegacyRow {
    pub table: LegacyTable,
    pub rowid: i64,
    pub told: LegacyTold,
    /// Of what was made from an event: that event, as a record of its own. None when it is gone.
    pub event: Option<String>,
}

/// An open database.
pub trait LegacyDatabase {
    /// Hands on every row of a table, in the order of the row ids.
    ///
    /// # Errors
    /// The consumer's own.
    fn rows(
        &mut self,
        table: LegacyTable,
        each: &mut dyn FnMut(LegacyRow) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// Tables that are not read, with the number of their rows.
    fn left_alone(&self) -> Vec<(String, u64)>;

    /// True when a write-ahead log beside the file could not be read without writing: its rows are
    /// missing.
    fn log_unread(&self) -> bool;
}

/// Opens such databases, without ever writing to them or beside them.
pub trait LegacyStore {
    /// The database at a path; `None` when the file is none of the first Fornax's.
    ///
    /// # Errors
    /// When it is locked, or the disk refuses.
    fn open(&self, path: &Path) -> Result<Option<Box<dyn LegacyDatabase>>, StoreError>;
}
