//! Names that no other segment has, of this process or another.

use std::sync::atomic::{AtomicU64, Ordering};

/// Makes names from a word that no other process has (time and process id).
pub(super) struct Unique {
    process: String,
    made: AtomicU64,
}

impl Unique {
    pub(super) fn new(process: String) -> Self {
        Self { process, made: AtomicU64::new(0) }
    }

    /// The word itself, then with a number.
    pub(super) fn next(&self) -> String {
        match self.made.fetch_add(1, Ordering::Relaxed) {
            0 => self.process.clone(),
            again => format!("{}-{again}", self.process),
        }
    }
}
