//! One file a subcommand.

mod conformance;
mod export_spool;
mod forget;
mod full;
mod gc;
mod ingest;
mod losses;
mod losses_recheck;
mod read;
mod search;
mod sessions;
mod show;
mod status;
mod statusline;
mod tail;
mod usage;
mod verify;

use super::args::{Cli, Command};
use super::parts::Parts;
use super::ui::Ui;
use anyhow::Result;

/// Carries out a command; answers its exit code.
///
/// # Errors
/// Whatever the command could not do; `exit::code_of` gives the code.
pub fn run(cli: &Cli, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let code = match &cli.command {
        // The hook leaves before arguments are parsed; only a hook without input comes here.
        Command::Hook(_) => 0,
        Command::Ingest(args) => ingest::run(args, parts, ui)?,
        Command::Tail(args) => tail::run(args, parts, ui)?,
        Command::Sessions(args) => sessions::run(args, parts, ui)?,
        Command::Show(args) => show::run(args, parts, ui)?,
        Command::Verify(args) => verify::run(args, parts, ui)?,
        Command::Status(args) => status::run(args, parts, ui)?,
        Command::Statusline(args) => statusline::run(args, parts, ui)?,
        Command::ExportSpool(args) => export_spool::run(args, parts, ui)?,
        Command::Read(args) => read::run(args, parts, ui)?,
        Command::Search(args) => search::run(args, parts, ui)?,
        Command::Usage(args) => usage::run(args, parts, ui)?,
        Command::Losses(args) => losses::run(args, parts, ui)?,
        Command::Forget(args) => forget::run(args, parts, ui)?,
        Command::Gc(args) => gc::run(args, parts, ui)?,
        Command::Conformance(args) => conformance::run(args, cli.common.json, parts)?,
    };
    ui.flush()?;
    Ok(code)
}
