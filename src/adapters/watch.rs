//! Wake-ups from the operating system's file notifications and from the signals to stop.
//!
//! Notifications are collected as a set of paths until somebody asks. Where they cannot be trusted
//! (network mounts, a tree with more folders than may be watched) the folder is to be polled, and
//! that is said. A second signal ends the program at once.

use crate::ports::wake::{Trust, Wake, Woken};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Paths that may wait; past it everything is looked at.
const WAITING_MAX: usize = 4_096;

/// What happened since somebody last asked.
#[derive(Debug, Default)]
struct Waiting {
    paths: BTreeSet<PathBuf>,
    unsure: bool,
}

/// The two sides of a sleep.
#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    woken: Condvar,
    stop: Arc<AtomicBool>,
}

impl Shared {
    fn add(&self, event: notify::Result<notify::Event>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Ok(event) if event.need_rescan() => waiting.unsure = true,
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
            Ok(event) => waiting.paths.extend(event.paths),
            Err(_) => waiting.unsure = true,
        }
        if waiting.paths.len() > WAITING_MAX {
            waiting.paths.clear();
            waiting.unsure = true;
        }
        self.woken.notify_all();
    }
}

/// Wakes on changes below watched folders.
pub struct NotifyWake {
    watcher: Option<RecommendedWatcher>,
    shared: Arc<Shared>,
}

impl NotifyWake {
    /// A wake that watches nothing yet, and takes over the signals to stop.
    pub fn new() -> Self {
        let shared = Arc::new(Shared::default());
        let told = Arc::clone(&shared);
        let watcher = notify::recommended_watcher(move |event| told.add(event));
        // Where signals cannot be taken over they end the program, as they do by themselves.
        let _ = take_signals(&shared);
        Self { watcher: watcher.ok(), shared }
    }
}

impl Default for NotifyWake {
    fn default() -> Self {
        Self::new()
    }
}

/// Turns the first signal into a wish to stop, and the second into an end at once.
fn take_signals(shared: &Arc<Shared>) -> std::io::Result<()> {
    let (mut reader, writer) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM] {
        let (stop, status) = (Arc::clone(&shared.stop), 128 + signal);
        signal_hook::flag::register_conditional_shutdown(signal, status, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, stop)?;
        signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
    }
    let shared = Arc::clone(shared);
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut byte = [0];
        while reader.read_exact(&mut byte).is_ok() {
            // The lock is taken so that the wake-up cannot fall between a look and a sleep.
            let _held = shared.waiting.lock();
            shared.woken.notify_all();
        }
    })?;
    Ok(())
}

impl Wake for NotifyWake {
    fn watch(&mut self, folder: &Path, below: bool) -> Trust {
        let mode = if below { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
        let watched = self.watcher.as_mut().is_some_and(|w| w.watch(folder, mode).is_ok());
        if watched && is_local(folder) { Trust::Told } else { Trust::Poll }
    }

    fn wait(&mut self, limit: Duration) -> Woken {
        let end = Instant::now() + limit;
        let mut waiting = self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.stopped() {
                return Woken::Stop;
            }
            let held = std::mem::take(&mut *waiting);
            if held.unsure {
                return Woken::Unsure;
            }
            if !held.paths.is_empty() {
                return Woken::Changed(held.paths.into_iter().collect());
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Woken::Quiet;
            }
            let slept = self.shared.woken.wait_timeout(waiting, left);
            waiting = slept.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }
}

/// False for file systems whose changes can come from other machines, or are not told.
#[cfg(target_os = "linux")]
fn is_local(folder: &Path) -> bool {
    /// NFS, SMB 1 and 2, CIFS, FUSE, 9P, Ceph, AFS, Coda, VirtualBox (`statfs(2)`, linux/magic.h).
    const REMOTE: [u64; 10] = [
        0x6969,
        0x517B,
        0xFE53_4D42,
        0xFF53_4D42,
        0x6573_5546,
        0x0102_1997,
        0x00C3_6400,
        0x5346_414F,
        0x7375_7245,
        0x786F_4256,
    ];
    // The magic is 32 bits wide, whatever the width of the field.
    let magic = |stat: rustix::fs::StatFs| stat.f_type.cast_unsigned() & 0xFFFF_FFFF;
    rustix::fs::statfs(folder).is_ok_and(|stat| !REMOTE.contains(&magic(stat)))
}

#[cfg(not(target_os = "linux"))]
fn is_local(_folder: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wake_of(dir: &Path) -> NotifyWake {
        let mut wake = NotifyWake::new();
        assert_eq!(wake.watch(dir, true), Trust::Told);
        wake
    }

    #[test]
    fn a_write_below_a_watched_folder_ends_the_sleep_and_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let mut wake = wake_of(dir.path());
        let path = dir.path().join("x");
        let (written, delay) = (path.clone(), Duration::from_millis(50));
        let writer = std::thread::spawn(move || {
            std::thread::sleep(delay);
            std::fs::write(written, "1").unwrap();
        });
        assert_eq!(wake.wait(Duration::from_secs(10)), Woken::Changed(vec![path]));
        writer.join().unwrap();
    }

    #[test]
    fn reading_a_file_wakes_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, "1").unwrap();
        let mut wake = wake_of(dir.path());
        std::fs::read(&path).unwrap();
        assert_eq!(wake.wait(Duration::from_millis(100)), Woken::Quiet);
    }

    #[test]
    fn more_paths_than_are_kept_ask_for_a_look_at_everything() {
        let shared = Shared::default();
        for nth in 0..=WAITING_MAX {
            let event = notify::Event::new(EventKind::Any).add_path(format!("/{nth}").into());
            shared.add(Ok(event));
        }
        assert!(shared.waiting.lock().unwrap().unsure);
        assert!(shared.waiting.lock().unwrap().paths.is_empty());
    }

    #[test]
    fn a_folder_that_is_not_there_has_to_be_polled() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(NotifyWake::new().watch(&dir.path().join("none"), true), Trust::Poll);
    }
}
