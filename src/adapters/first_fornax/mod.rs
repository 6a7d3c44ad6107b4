//! Databases of the first Fornax (schema 0001 to 0019): opening, rows, records.
//!
//! Nothing here writes: the file is opened read-only, without locks where no write-ahead log is
//! beside it. What the database says is read tolerantly; it is as foreign as any other input.

mod open;
mod record;
mod rows;

use crate::ports::legacy::{LegacyDatabase, LegacyStore};
use crate::ports::recorder::StoreError;
use rusqlite::ErrorCode;
use std::path::Path;

/// Opens databases from the file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct FirstFornax;

impl LegacyStore for FirstFornax {
    fn open(&self, path: &Path) -> Result<Option<Box<dyn LegacyDatabase>>, StoreError> {
        match open::open(path)? {
            Some(database) => Ok(Some(Box::new(database))),
            None => Ok(None),
        }
    }
}

/// Whether the engine says that the file itself is not what it should be.
fn is_damage(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// The engine's error as one of the store's.
fn failure(error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
        _ => StoreError::Io(format!("the database to import: {error}")),
    }
}
