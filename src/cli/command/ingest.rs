//! `fornax ingest`.

use crate::app::identifiers::source_name;
use crate::app::ingest::{FORGOTTEN_FILE, Ingest, Progress, Summary};
use crate::app::messages::{self, Imported, legacy};
use crate::app::resume::ReadOptions;
use crate::base::limits::LINE_BYTES_MAX;
use crate::base::text::one_line;
use crate::cli::args::IngestArgs;
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::ui::Ui;
use crate::domain::record::Tally;
use crate::ports::files::{FileKind, Files};
use crate::ports::store::Store;
use anyhow::{Context as _, Result};
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Reads histories into the store.
pub(super) fn run(args: &IngestArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let start = Instant::now();
    if let Some(from) = &args.messages {
        return run_messages(args, from, parts, ui);
    }
    let named = roots(args, parts)?;
    let mut store = parts
        .store(true, args.namespace.as_deref(), &|text| ui.note(text))
        .context("cannot open the store")?;
    let (imported, roots) = databases(args, named.clone(), parts, store.as_mut())?;
    let namespace = store.reader().namespace().to_owned();
    let bar = ui.bytes_bar();
    let ticking = bar.clone();
    let ingest = Ingest {
        files: parts.files.as_ref(),
        families: &parts.families,
        roots,
        read: ReadOptions {
            namespace: &namespace,
            line_cap: args.line_cap.unwrap_or(LINE_BYTES_MAX),
            deep: args.deep,
        },
        workers: args.jobs.unwrap_or(parts.environment.cores),
        pruning: parts.pruning(),
        progress: &move |progress| match progress {
            Progress::Planned { bytes, .. } => {
                ticking.set_length(bytes);
                ticking.enable_steady_tick(Duration::from_millis(200));
            }
            Progress::FileDone { bytes } => ticking.inc(bytes),
        },
    };
    let summary = ingest.run(store.recorder());
    bar.finish_and_clear();
    let mut summary = summary.context("cannot store what was read")?;
    summary.join(&imported);
    let took = start.elapsed();
    if ui.json {
        ui.json(&as_json(&summary, took))?;
    } else {
        print(&summary, took, ui)?;
    }
    Ok(exit_code(args, parts.files.as_ref(), &named, &summary))
}

/// Imports the databases of the first Fornax among the named files; what is none of them is left to
/// the readers of histories.
fn databases(
    args: &IngestArgs,
    named: Vec<PathBuf>,
    parts: &Parts,
    store: &mut dyn Store,
) -> Result<(Summary, Vec<PathBuf>)> {
    let mut done = Summary::default();
    if args.paths.is_empty() {
        return Ok((done, named));
    }
    let files = parts.files.as_ref();
    let mut rest = Vec::new();
    for path in named {
        let database = if legacy::is_database(files, &path) {
            let state = legacy::state_of(files, &path)
                .map_err(|e| Exit::io(format!("cannot read {}: {e}", path.display())))?;
            let known = store.reader().source(&legacy::source_name(&source_name(&path)))?;
            if legacy::is_unchanged(known.as_ref(), &state) && !args.deep {
                done.unchanged += 1;
                continue;
            }
            parts.legacy.open(&path).context("cannot import")?.map(|database| (database, state))
        } else {
            None
        };
        let Some((mut database, state)) = database else {
            rest.push(path);
            continue;
        };
        let (name, families) = (source_name(&path), parts.families.as_slice());
        let import =
            legacy::import_database(database.as_mut(), &name, state, families, store.recorder());
        let Imported { read, appended } = import.context("cannot import")?;
        done.join(&Summary { sources: 1, read, appended, ..Summary::default() });
    }
    Ok((done, rest))
}

/// Reads records of third parties into the store.
fn run_messages(args: &IngestArgs, from: &Path, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let start = Instant::now();
    let named = (from != Path::new("-")).then(|| parts.absolute(from));
    let input: Box<dyn io::Read> = match &named {
        Some(path) => parts
            .files
            .open(path, 0)
            .map_err(|e| Exit::io(format!("cannot read {}: {e}", path.display())))?,
        None => Box::new(io::stdin().lock()),
    };
    let mut store = parts
        .store(true, args.namespace.as_deref(), &|text| ui.note(text))
        .context("cannot open the store")?;
    let name = named.as_deref().map(source_name);
    let Imported { read, appended } = messages::import(input, name.as_deref(), store.recorder())?;
    let summary = Summary { sources: 1, read, appended, ..Summary::default() };
    let took = start.elapsed();
    if ui.json {
        ui.json(&as_json(&summary, took))?;
    } else {
        print(&summary, took, ui)?;
    }
    let nothing = summary.read.records.is_empty() && !summary.read.losses.is_empty();
    Ok(if nothing { 65 } else { 0 })
}

/// 65 when the one file that was named is not one that fornax reads.
fn exit_code(args: &IngestArgs, files: &dyn Files, roots: &[PathBuf], summary: &Summary) -> u8 {
    let all_files = !args.paths.is_empty()
        && roots.iter().all(|r| files.stat(r).is_ok_and(|s| s.kind == FileKind::File));
    let skipped = |reason: &str| summary.skipped.0.get(reason).copied().unwrap_or_default();
    let left = skipped("empty file") + skipped(FORGOTTEN_FILE);
    let foreign = summary.not_recognised + summary.skipped.total() - left;
    if all_files && summary.sources == 0 && summary.unchanged == 0 && foreign > 0 { 65 } else { 0 }
}

fn roots(args: &IngestArgs, parts: &Parts) -> Result<Vec<PathBuf>> {
    if args.paths.is_empty() {
        return Ok(parts.history_roots());
    }
    let mut roots = Vec::new();
    for path in &args.paths {
        let path = parts.absolute(path);
        if let Err(e) = parts.files.stat(&path) {
            let message = format!("cannot read {}: {e}", path.display());
            return Err(Exit::io(message).into());
        }
        roots.push(path);
    }
    Ok(roots)
}

fn as_json(summary: &Summary, took: Duration) -> serde_json::Value {
    let read = &summary.read;
    json!({
        "sources": summary.sources,
        "lines": read.lines,
        "bytes": read.bytes,
        "records": read.records.0,
        "ignored": read.ignored.0,
        "unrecognized": read.unrecognized.0,
        "quarantined": read.quarantined,
        "losses": read.losses.0,
        "unchanged": summary.unchanged,
        "duration_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "skipped": summary.skipped.0,
        "not_recognised": summary.not_recognised,
        "unreadable": summary.unreadable,
        "missing": summary.missing,
        "stored": {
            "inserted": summary.appended.inserted, "known": summary.appended.known,
            "forgotten": summary.appended.forgotten.total(),
        },
    })
}

fn print(summary: &Summary, took: Duration, ui: &mut Ui) -> Result<()> {
    let read = &summary.read;
    let seconds = took.as_secs_f64();
    let megabytes = read.bytes as f64 / 1e6;
    ui.line(&format!(
        "{} sources read ({} unchanged): {} lines, {megabytes:.1} MB in {seconds:.2} s",
        summary.sources, summary.unchanged, read.lines
    ))?;
    tally(ui, "recorded", &read.records)?;
    tally(ui, "ignored (known, not translated)", &read.ignored)?;
    tally(ui, "unrecognized", &read.unrecognized)?;
    tally(ui, "losses", &read.losses)?;
    tally(ui, "files left alone", &summary.skipped)?;
    for (count, what) in [
        (read.quarantined, "lines that do not parse are in quarantine (`fornax losses`)"),
        (summary.not_recognised, "files are no history that fornax knows"),
        (summary.unreadable, "files or folders could not be read"),
        (summary.appended.forgotten.total(), "records of forgotten conversations were not stored"),
        (summary.missing, "earlier files are gone; what was recorded of them stays"),
    ] {
        if count > 0 {
            ui.line(&format!("{count} {what}"))?;
        }
    }
    Ok(())
}

fn tally(ui: &mut Ui, title: &str, tally: &Tally) -> Result<()> {
    if tally.is_empty() {
        return Ok(());
    }
    let mut parts: Vec<(&String, &u64)> = tally.0.iter().collect();
    parts.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let words: Vec<String> =
        parts.iter().map(|(name, count)| format!("{count} {}", one_line(name))).collect();
    Ok(ui.line(&format!("{title}: {}", words.join(", ")))?)
}
