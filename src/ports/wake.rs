//! Sleeping until something may have changed.
//!
//! A wake-up is only a hint: whoever is woken looks at the files themselves.

use std::path::Path;
use std::time::Duration;

/// Sleeps, and is woken early.
pub trait Wake {
    /// Asks to be woken when something happens in or below a folder; best effort.
    fn watch(&mut self, folder: &Path);

    /// Sleeps at most `limit`; true when woken early.
    fn wait(&mut self, limit: Duration) -> bool;
}
