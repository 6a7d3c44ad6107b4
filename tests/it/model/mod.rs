//! Random programs of what happens to history files, against a small model of what must be known.
//!
//! The reader is the real one: files, follower, ingest and store. The model knows only paths,
//! identities and lines. After each look both must agree on every source: where it is, which lines
//! are recorded of it, and that each is there once. What is killed in the middle is done again.

mod chunked;
mod disk;
mod program;
mod told;

use chunked::Chunked;
use disk::Disk;
use fornax::adapters::agents::{claude::ClaudeFamily, codex::CodexFamily};
use fornax::adapters::files::FsFiles;
use fornax::adapters::sqlite::{OpenOptions, SqliteStore};
use fornax::app::follow::{Follow, Look, Road, Scope};
use fornax::app::ingest::Ingest;
use fornax::app::pruning::Pruning;
use fornax::app::resume::ReadOptions;
use fornax::ports::agent::AgentFamily;
use fornax::ports::files::Files;
use program::{Look as LookAs, Step};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use told::{Dying, Told};

/// A folder of its own, in memory where the system has such a place.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.unwrap()
}

/// A made store, copied for each program: making one is the dearest part.
fn template() -> &'static Path {
    static MADE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let home = folder();
        drop(open_store(home.path()));
        home
    });
    made.path()
}

fn open_store(home: &Path) -> SqliteStore {
    SqliteStore::open(&OpenOptions { home, namespace: None, create: true }).unwrap()
}

/// One run of a program: a disk, a store, and a reader that can be killed.
struct World {
    folder: tempfile::TempDir,
    disk: Disk,
    families: Vec<Box<dyn AgentFamily>>,
    files: Box<dyn Files>,
}

impl World {
    fn new(chunk: usize) -> Self {
        let folder = folder();
        let home = folder.path().join("home");
        fs::create_dir(&home).unwrap();
        for entry in fs::read_dir(template()).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), home.join(entry.file_name())).unwrap();
        }
        Self {
            disk: Disk::new(&folder.path().join("histories")),
            families: vec![Box::new(ClaudeFamily), Box::new(CodexFamily)],
            files: Box::new(Chunked { inner: FsFiles, size: chunk }),
            folder,
        }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Runs a program; after each look the store is what the model says.
    fn run(&mut self, steps: &[Step]) {
        let roots = vec![self.disk.root().to_owned()];
        let files = std::mem::replace(&mut self.files, Box::new(FsFiles));
        let families = std::mem::take(&mut self.families);
        let options = ReadOptions { namespace: "local", line_cap: 1 << 20, deep: false };
        let new = || Follow::new(files.as_ref(), &families, options, Scope::Folders(roots.clone()));
        let mut store = open_store(&self.home());
        let mut follow = new();
        for (nth, step) in steps.iter().chain([&Step::Look(LookAs::Follow)]).enumerate() {
            let Step::Look(look) = step else {
                self.disk.change(step);
                continue;
            };
            match look {
                LookAs::Follow => {
                    look_with(&mut follow, Look::Everywhere, &mut store, usize::MAX).unwrap();
                }
                LookAs::Hinted => {
                    let hints = self.disk.hints();
                    look_with(&mut follow, Look::At(&hints), &mut store, usize::MAX).unwrap();
                }
                LookAs::Killed(writes) => {
                    // Dies after some writes, is started again, and looks at everything.
                    let _ = look_with(&mut follow, Look::Everywhere, &mut store, *writes);
                    drop(store);
                    store = open_store(&self.home());
                    follow = new();
                    look_with(&mut follow, Look::Everywhere, &mut store, usize::MAX).unwrap();
                }
                LookAs::Ingest => {
                    let ingest = Ingest {
                        files: files.as_ref(),
                        families: &families,
                        roots: roots.clone(),
                        read: options,
                        workers: 2,
                        pruning: Pruning::default(),
                        progress: &|_| {},
                    };
                    ingest.run(&mut store).unwrap();
                }
            }
            self.disk.looked();
            let expected = Told::expected(&self.disk);
            let found = Told::stored(&self.home(), self.disk.root());
            assert_eq!(found, expected, "after step {nth} of {steps:#?}");
        }
    }
}

fn look_with(
    follow: &mut Follow<'_>,
    look: Look<'_>,
    store: &mut SqliteStore,
    writes: usize,
) -> Result<bool, fornax::app::follow::FollowError> {
    let mut dying = Dying { inner: store, left: writes };
    let mut road = Road { recorder: &mut dying, tell: &mut |_| {}, stopped: &|| false };
    follow.step(look, &mut road)
}

/// How many programs a run makes; `FORNAX_MODEL_PROGRAMS` asks for more.
#[expect(clippy::disallowed_methods, reason = "a test may be told to try harder")]
fn programs() -> u32 {
    std::env::var("FORNAX_MODEL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: programs(), max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_to_files_each_line_is_recorded_once_and_none_is_lost(
        steps in program::steps(),
        chunk in prop_oneof![Just(usize::MAX), 1..200_usize],
    ) {
        World::new(chunk).run(&steps);
    }
}

#[test]
fn input_in_pieces_of_every_size_is_read_the_same() {
    let lines: Vec<String> = (0..4).map(|n| disk::line("c1", n)).collect();
    let text = lines.concat();
    for size in 1..=text.len() {
        let mut world = World::new(size);
        world.run(&[Step::Append { file: 0, lines: 4 }]);
    }
}
