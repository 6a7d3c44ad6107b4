//! This program's own hook, run as a process in a home where something may be wrong.

use crate::conformance::hooking::run_hook;
use crate::conformance::normalizing::{HookEnd, HookHost, Trouble};
use crate::conformance::process::Scratch;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

/// The hook of one agent.
pub(super) struct OwnHook {
    program: PathBuf,
    word: &'static str,
    scratch: Scratch,
    runs: usize,
}

impl OwnHook {
    pub(super) fn new(word: &'static str) -> io::Result<Self> {
        let scratch = Scratch::below(&std::env::temp_dir())?;
        Ok(Self { program: std::env::current_exe()?, word, scratch, runs: 0 })
    }
}

impl HookHost for OwnHook {
    fn run(&mut self, payload: &[u8], trouble: Trouble) -> Result<HookEnd, String> {
        self.in_home(payload, trouble).map_err(|error| error.to_string())
    }
}

impl OwnHook {
    fn in_home(&mut self, payload: &[u8], trouble: Trouble) -> io::Result<HookEnd> {
        self.runs += 1;
        let folder = self.scratch.path().join(self.runs.to_string());
        let (home, runtime) = (folder.join("fornax"), folder.join("run"));
        fs::create_dir_all(&runtime)?;
        // Held to the end of the run.
        let _held = match trouble {
            Trouble::None => None,
            Trouble::JournalLocked => {
                fs::create_dir_all(home.join("journal"))?;
                let lock = File::create(home.join("journal").join("lock"))?;
                lock.lock()?;
                Some(lock)
            }
            Trouble::JournalUnwritable => {
                fs::create_dir_all(&home)?;
                fs::write(home.join("journal"), "in the way")?;
                None
            }
            Trouble::HomeUnwritable => {
                fs::write(&home, "in the way")?;
                None
            }
        };
        run_hook(&self.program, self.word, &home, &runtime, payload)
    }
}
