//! Wake-ups from the operating system's file notifications, with a time limit always.
//!
//! notify loses events on network mounts and in very large trees, so it only ends a sleep early;
//! the sleep itself is the poll. Where watching fails, only the poll remains.

use crate::ports::wake::Wake;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Notifications that may wait; more say nothing new.
const WAITING: usize = 1;

/// Wakes on changes below watched folders.
pub struct NotifyWake {
    watcher: Option<RecommendedWatcher>,
    woken: Receiver<()>,
}

impl NotifyWake {
    /// A wake that watches nothing yet.
    pub fn new() -> Self {
        let (sender, woken) = sync_channel(WAITING);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let reading = event.as_ref().is_ok_and(|e| matches!(e.kind, EventKind::Access(_)));
            if !reading {
                // Full means that a wake-up waits already.
                let _ = sender.try_send(());
            }
        });
        Self { watcher: watcher.ok(), woken }
    }
}

impl Default for NotifyWake {
    fn default() -> Self {
        Self::new()
    }
}

impl Wake for NotifyWake {
    fn watch(&mut self, folder: &Path) {
        if let Some(watcher) = &mut self.watcher {
            // Failing to watch leaves the poll.
            let _ = watcher.watch(folder, RecursiveMode::Recursive);
        }
    }

    fn wait(&mut self, limit: Duration) -> bool {
        let start = Instant::now();
        match self.woken.recv_timeout(limit) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                // No watcher came to be: sleep the rest, so that polling does not spin.
                std::thread::sleep(limit.saturating_sub(start.elapsed()));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_below_a_watched_folder_ends_the_sleep_early() {
        let dir = tempfile::tempdir().unwrap();
        let mut wake = NotifyWake::new();
        wake.watch(dir.path());
        let path = dir.path().join("x");
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            std::fs::write(path, "1").unwrap();
        });
        assert!(wake.wait(Duration::from_secs(10)));
        writer.join().unwrap();
    }
}
