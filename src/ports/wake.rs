//! Sleeping until something may have changed, or somebody wants to stop.
//!
//! A wake-up is only a hint: whoever is woken looks at the files themselves.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a sleep ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Woken {
    /// The time is up.
    Quiet,
    /// Something happened at these paths (files or folders).
    Changed(Vec<PathBuf>),
    /// More happened than could be told: everything is to be looked at.
    Unsure,
    /// The user wants the program to stop.
    Stop,
}

/// Whether changes below a folder will be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// They will.
    Told,
    /// Perhaps not (a network mount, too many folders, no folder there): it has to be polled.
    Poll,
}

/// Sleeps, and is woken early.
pub trait Wake {
    /// Asks to be woken when something happens in a folder, or anywhere below it.
    fn watch(&mut self, folder: &Path, below: bool) -> Trust;

    /// Sleeps at most `limit`.
    fn wait(&mut self, limit: Duration) -> Woken;

    /// True once the user wants the program to stop; long work asks between two steps.
    fn stopped(&self) -> bool;
}
