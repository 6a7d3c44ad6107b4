//! What the commands work with: ports, made by the composition root.

use crate::app::drain::drain;
use crate::app::pruning::Pruning;
use crate::conformance::subjects::SubjectFactory;
use crate::ports::agent::{AgentFamily, Homes};
use crate::ports::chain::Chain;
use crate::ports::clock::Clock;
use crate::ports::files::Files;
use crate::ports::git::GitWitness;
use crate::ports::journal::JournalReader;
use crate::ports::legacy::LegacyStore;
use crate::ports::recorder::StoreError;
use crate::ports::settings::SettingsSource;
use crate::ports::spool::Spool;
use crate::ports::store::Store;
use crate::ports::wake::Wake;
use std::io;
use std::path::{Path, PathBuf};

/// Looks a variable up.
pub type Lookup = Box<dyn Fn(&str) -> Option<String>>;

/// Opens a spool below a folder.
pub type OpenSpool = Box<dyn Fn(&Path) -> io::Result<Box<dyn Spool>>>;

/// The environment, read once.
pub struct Environment {
    pub home_dir: Option<PathBuf>,
    pub cwd: PathBuf,
    /// fornax's own home.
    pub fornax_home: PathBuf,
    pub var: Lookup,
    pub self_exe: PathBuf,
    pub cores: usize,
}

/// Opens a store; the arguments are the namespace (for a new one) and whether to make one.
pub type OpenStore = Box<dyn Fn(Option<&str>, bool) -> Result<Box<dyn Store>, StoreError>>;

/// Everything a command can use.
pub struct Parts {
    pub environment: Environment,
    pub files: Box<dyn Files>,
    pub families: Vec<Box<dyn AgentFamily>>,
    pub clock: Box<dyn Clock>,
    pub journal: Box<dyn JournalReader>,
    pub open_store: OpenStore,
    pub open_spool: OpenSpool,
    pub settings: Box<dyn SettingsSource>,
    pub wake: Box<dyn Fn() -> Box<dyn Wake>>,
    pub subjects: Box<dyn SubjectFactory>,
    /// Repositories, asked about commits and pushes.
    pub git: Box<dyn GitWitness>,
    /// The status line command that a person had before.
    pub chain: Box<dyn Chain>,
    pub legacy: Box<dyn LegacyStore>,
}

impl Parts {
    /// The store, journal drained first. Where it cannot be drained the note says what waits and
    /// the answer comes from what is stored.
    ///
    /// # Errors
    /// When the store cannot be opened at all.
    pub fn store(
        &self,
        create: bool,
        namespace: Option<&str>,
        note: &dyn Fn(&str),
    ) -> Result<Box<dyn Store>, StoreError> {
        let create = create || self.journal.waiting_bytes() > 0;
        let mut store = (self.open_store)(namespace, create)?;
        match drain(self.journal.as_ref(), store.recorder()) {
            Ok(drained) => {
                if drained.torn > 0 {
                    note(&format!("{} damaged journal frames were counted as lost", drained.torn));
                }
                if drained.newer > 0 {
                    note(&format!(
                        "{} journal frames are of a newer format and were left alone",
                        drained.newer
                    ));
                }
            }
            Err(error) => match self.journal.waiting_bytes() {
                // A journal that cannot be written, as on a read-only disk, and nothing in it.
                0 => {}
                bytes => {
                    note(&format!("{error}; {bytes} bytes of hook records wait in the journal"));
                }
            },
        }
        // A forget that was killed; until it is finished nothing of it is shown.
        match store.forgetter().finish_forgetting() {
            Ok(false) => {}
            Ok(true) => note(
                "the rest of what was forgotten was removed; `fornax gc --apply` takes its bytes out of the files",
            ),
            Err(error) => {
                note(&format!("{error}; what was forgotten is hidden and not all removed yet"));
            }
        }
        Ok(store)
    }

    fn homes(&self) -> Homes<'_> {
        Homes { var: &*self.environment.var, home: self.environment.home_dir.clone() }
    }

    /// Both agents' history folders.
    pub fn history_roots(&self) -> Vec<PathBuf> {
        let homes = self.homes();
        self.families.iter().flat_map(|f| f.roots(&homes)).collect()
    }

    /// Which histories their agents delete, as of now.
    pub fn pruning(&self) -> Pruning {
        Pruning::of(&self.families, &self.homes(), self.files.as_ref(), self.clock.now())
    }

    /// A path as given, made absolute.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        let joined = self.environment.cwd.join(path);
        // Parts that only repeat the folder are dropped, so that one file has one name.
        joined.components().filter(|c| !matches!(c, std::path::Component::CurDir)).collect()
    }
}
