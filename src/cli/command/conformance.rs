//! `fornax conformance`: arguments into a request, refusals into exit codes.

use crate::cli::args::ConformanceArgs;
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::conformance::contract::NONE;
use crate::conformance::options::{
    Action, DEFAULT_SEED, DEFAULT_TIMEOUT_MS, Format, Listing, Options, exit, named,
};
use crate::conformance::run::{Refusal, run as run_request};
use anyhow::Result;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

/// Runs contracts; answers the exit code of `docs/conformance.md`.
///
/// # Errors
/// An unknown name (64), a fault of the runner (70), or output that cannot be written (74).
pub(super) fn run(args: &ConformanceArgs, json: bool, parts: &Parts) -> Result<u8> {
    let options = options(args, json, parts).map_err(Exit::usage)?;
    let mut out = io::stdout().lock();
    match run_request(&options, parts.subjects.as_ref(), &mut out) {
        Ok(code) => Ok(u8::try_from(code)?),
        Err(Refusal::Usage(message)) => Err(Exit::usage(message).into()),
        Err(Refusal::Internal(message)) => {
            let code = u8::try_from(exit::INTERNAL)?;
            Err(Exit { code, message }.into())
        }
        Err(Refusal::Io(error)) => Err(error.into()),
    }
}

fn options(args: &ConformanceArgs, json: bool, parts: &Parts) -> Result<Options, String> {
    let temporary = (parts.environment.var)("TMPDIR").filter(|folder| !folder.is_empty());
    Ok(Options {
        action: action(args)?,
        mode: args.mode.clone().unwrap_or_else(|| NONE.to_owned()),
        subject: args.subject.clone(),
        contract: args.contract.clone(),
        without: args.without_contract.clone(),
        case: args.case.clone(),
        drop_site: args.drop_site.clone(),
        skip_must_fail: args.skip_must_fail,
        format: format(args, json)?,
        out: args.out.as_deref().map(|folder| parts.absolute(folder)),
        seed: args.seed.unwrap_or(DEFAULT_SEED),
        timeout_ms: args.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS),
        jobs: args.jobs.unwrap_or(parts.environment.cores).max(1),
        self_exe: parts.environment.self_exe.clone(),
        argv_prefix: vec![OsString::from("conformance")],
        scratch: PathBuf::from(temporary.unwrap_or_else(|| "/tmp".to_owned())),
    })
}

/// The one thing that is asked for; a run when nothing else is.
fn action(args: &ConformanceArgs) -> Result<Action, String> {
    let mut asked = Vec::new();
    if args.self_test {
        asked.push(Action::SelfTest);
    }
    if let Some(what) = &args.list {
        asked.push(Action::List(named("list", what, &Listing::NAMES)?));
    }
    if let Some(name) = &args.explain {
        asked.push(Action::Explain(name.clone()));
    }
    if args.coverage {
        asked.push(Action::Coverage);
    }
    match asked.len() {
        0 | 1 => Ok(asked.pop().unwrap_or(Action::Run)),
        _ => Err("give one of --self-test, --list, --explain, --coverage".to_owned()),
    }
}

fn format(args: &ConformanceArgs, json: bool) -> Result<Format, String> {
    match &args.format {
        Some(name) => named("format", name, &Format::NAMES),
        None if json => Ok(Format::Jsonl),
        None if io::stdout().is_terminal() => Ok(Format::Human),
        None => Ok(Format::Tap),
    }
}
