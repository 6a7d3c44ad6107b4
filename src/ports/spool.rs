//! Where exported records go: one file a record, by name, atomically.

use std::io;
use std::path::PathBuf;

/// What putting a record did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    Written,
    /// The same bytes were there already.
    Unchanged,
}

/// A spool of files.
pub trait Spool {
    /// Puts one record under `pending/<name>.json`.
    ///
    /// # Errors
    /// When the file could not be written whole.
    fn put(&mut self, name: &str, bytes: &[u8]) -> io::Result<Put>;

    /// Writes the manifest beside `pending/`.
    ///
    /// # Errors
    /// When the file could not be written whole.
    fn manifest(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Where the spool is.
    fn root(&self) -> PathBuf;
}
