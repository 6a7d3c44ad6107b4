//! The composition root: reads the environment, picks concrete adapters, hands ports on.
//!
//! `fornax hook` leaves before arguments are parsed: it has its own rules (nothing printed, exit 0
//! whatever happens, its own deadline) and builds only what its road needs.

mod faults;
mod gate;
mod hook;
mod subjects;

use crate::adapters::agents::claude::ClaudeFamily;
use crate::adapters::agents::codex::CodexFamily;
use crate::adapters::agents::opencode::OpenCodeFamily;
use crate::adapters::files::FsFiles;
use crate::adapters::first_fornax::FirstFornax;
use crate::adapters::git::GixWitness;
use crate::adapters::journal::JournalFolder;
use crate::adapters::settings::SettingsFile;
use crate::adapters::shell::ShellChain;
use crate::adapters::spool_dir::SpoolDir;
use crate::adapters::sqlite::{OpenOptions, SqliteStore};
use crate::adapters::system_clock::SystemClock;
use crate::adapters::watch::NotifyWake;
use crate::cli::args::Cli;
use crate::cli::parts::{Environment, Parts};
use crate::cli::ui::{Ui, print_error};
use crate::cli::{command, exit};
use crate::ports::agent::AgentFamily;
use crate::ports::clock::Clock as _;
use crate::ports::recorder::StoreError;
use crate::ports::store::Store;
use clap::Parser as _;
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Runs the program and returns its exit code.
pub fn main() -> ExitCode {
    let started = Instant::now();
    // Everything that fornax makes is for its user only.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    #[cfg(feature = "crash-points")]
    if let Some(spec) = variable("FORNAX_CRASH_POINT") {
        crate::base::crash::arm(&spec);
    }
    let args: Vec<OsString> = std::env::args_os().collect();
    if hook::is_meant(&args) {
        return hook::main(&args, started);
    }
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    ExitCode::from(faults::guarded(|| run(&cli)))
}

fn run(cli: &Cli) -> u8 {
    let parts = parts(cli);
    let mut ui = Ui::new(cli.common.color.as_str(), cli.common.json);
    match command::run(cli, &parts, &mut ui) {
        Ok(code) => code,
        // A reader that went away has seen what it wanted.
        Err(error) if exit::is_broken_pipe(&error) => 0,
        Err(error) => {
            print_error(&error);
            exit::code_of(&error)
        }
    }
}

/// Help and version are results; everything else is the caller's mistake.
fn usage(error: &clap::Error) -> ExitCode {
    // Where neither stream can be written there is nobody to tell.
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
        _ => ExitCode::from(64),
    }
}

/// Every adapter family, in the order in which files are shown to them.
fn families() -> Vec<Box<dyn AgentFamily>> {
    vec![Box::new(ClaudeFamily), Box::new(CodexFamily), Box::new(OpenCodeFamily)]
}

#[expect(clippy::disallowed_methods, reason = "the environment is read here and nowhere else")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// A path from the environment; an empty one counts as not set.
#[expect(clippy::disallowed_methods, reason = "the environment is read here and nowhere else")]
fn path_variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from)
}

/// fornax's home: named, else `$FORNAX_HOME`, else `~/.fornax`.
fn fornax_home(named: Option<&Path>) -> PathBuf {
    named.map(Path::to_owned).or_else(|| path_variable("FORNAX_HOME")).unwrap_or_else(|| {
        // Without a home nothing can be made there, not even by root.
        path_variable("HOME").unwrap_or_else(|| PathBuf::from("/dev/null")).join(".fornax")
    })
}

/// A word that differs between processes, for file names.
fn unique() -> String {
    format!("{:016x}-{}", SystemClock.now().0, std::process::id())
}

fn parts(cli: &Cli) -> Parts {
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let home = cwd.join(fornax_home(cli.common.home.as_deref()));
    let runtime = path_variable("XDG_RUNTIME_DIR");
    let settings = Box::new(SettingsFile::of(&home));
    let environment = Environment {
        home_dir: path_variable("HOME"),
        cwd,
        fornax_home: home.clone(),
        var: Box::new(variable),
        self_exe: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("fornax")),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
    };
    Parts {
        environment,
        files: Box::new(FsFiles),
        families: families(),
        clock: Box::new(SystemClock),
        journal: Box::new(JournalFolder::new(&home, runtime.as_deref(), unique())),
        open_store: Box::new(move |namespace, create| open_store(&home, namespace, create)),
        open_spool: Box::new(|out| Ok(Box::new(SpoolDir::open(out)?))),
        settings,
        wake: Box::new(|| Box::new(NotifyWake::new())),
        subjects: Box::new(subjects::BuiltIn),
        git: Box::new(GixWitness::new()),
        chain: Box::new(ShellChain),
        legacy: Box::new(FirstFornax),
    }
}

fn open_store(
    home: &Path,
    namespace: Option<&str>,
    create: bool,
) -> Result<Box<dyn Store>, StoreError> {
    if create {
        crate::adapters::journal::make_private_folder(home)
            .map_err(|e| StoreError::Io(format!("{}: {e}", home.display())))?;
    }
    // SQLite refuses links in the path; the home itself may well be reached through one.
    let real = std::fs::canonicalize(home).unwrap_or_else(|_| home.to_owned());
    Ok(Box::new(SqliteStore::open(&OpenOptions { home: &real, namespace, create })?))
}
