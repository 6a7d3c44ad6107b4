//! `fornax forget`.

use crate::app::forget::{Chosen, Forgotten, Which, choose, exported_files, extent, forget, lift};
use crate::base::text::{one_line, shorten};
use crate::base::time::Micros;
use crate::cli::args::ForgetArgs;
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::ui::Ui;
use crate::ports::forgetter::Extent;
use crate::ports::store::Store;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::PathBuf;

/// Conversations and files that are named one by one; JSON names all.
const NAMED: usize = 20;

/// What a removal is about to take out, and what it cannot.
pub(super) struct Plan {
    pub(super) chosen: Vec<Chosen>,
    pub(super) extent: Extent,
    pub(super) backups: Vec<PathBuf>,
    /// Exported files that tell of the chosen ones; they stay.
    pub(super) exported: Vec<PathBuf>,
}

/// Removes conversations, or says which.
pub(super) fn run(args: &ForgetArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    if let Some(word) = &args.lift {
        return run_lift(word, parts, ui);
    }
    let mut store = open(args.dry_run, parts, ui)?;
    let chosen = match (&args.session, &args.before, &args.project) {
        (Some(word), _, _) => choose(store.reader(), Which::Session(word))?,
        (_, Some(typed), _) => {
            let before = super::sessions::since(Some(typed), parts)?.unwrap_or_default();
            choose(store.reader(), Which::Before(Micros(before)))?
        }
        (_, _, folder) => {
            let folder = parts.absolute(folder.as_deref().unwrap_or(&parts.environment.cwd));
            choose(store.reader(), Which::Project(&folder))?
        }
    };
    let plan = Plan::of(chosen, parts, store.as_mut())?;
    if plan.chosen.is_empty() {
        return nothing(args.dry_run, &plan, ui);
    }
    if args.dry_run {
        return told(&plan, None, ui);
    }
    if !args.yes {
        plan.print(true, ui)?;
        ui.flush()?;
        confirm(ui)?;
    }
    let done = forget(store.as_mut(), parts.journal.as_ref(), &plan.chosen, parts.clock.now())
        .context(
            "not everything was removed; what was chosen is hidden, run a command to finish",
        )?;
    told(&plan, Some(&done), ui)
}

/// The store; a dry run does not even drain.
pub(super) fn open(dry_run: bool, parts: &Parts, ui: &Ui) -> Result<Box<dyn Store>> {
    if !dry_run {
        return parts.store(false, None, &|text| ui.note(text)).context("cannot open the store");
    }
    let waiting = parts.journal.waiting_bytes();
    if waiting > 0 {
        ui.note(&format!(
            "{waiting} bytes of hook records wait in the journal and are not looked at"
        ));
    }
    (parts.open_store)(None, false).context("cannot open the store")
}

impl Plan {
    /// Looks up what there is of the chosen ones.
    pub(super) fn of(chosen: Vec<Chosen>, parts: &Parts, store: &mut dyn Store) -> Result<Self> {
        let extent = extent(store, &chosen)?;
        let backups = store.forgetter().backups();
        let exported = exported_files(parts.files.as_ref(), &extent.exported, &chosen);
        Ok(Self { chosen, extent, backups, exported })
    }

    /// Names everything that goes, or went.
    fn print(&self, ahead: bool, ui: &mut Ui) -> Result<()> {
        for one in self.chosen.iter().take(NAMED) {
            ui.line(&line_of(one))?;
        }
        more(self.chosen.len(), ui)?;
        let Extent { events, evidence, claims, usage, losses, .. } = &self.extent;
        let verb = if ahead { "to remove" } else { "removed" };
        ui.line(&format!(
            "{verb}: {} conversations with {events} events, {evidence} pieces of evidence, {claims} claims, {usage} usage reports, {losses} losses",
            self.chosen.len()
        ))?;
        if ahead {
            for backup in &self.backups {
                ui.line(&format!("to remove, a copy of the store: {}", backup.display()))?;
            }
        }
        ui.line(&format!(
            "{} source files are not touched; they will not be read for this again",
            self.extent.sources.iter().filter(|name| name.starts_with('/')).count()
        ))?;
        if !self.exported.is_empty() {
            ui.line(&format!(
                "{} exported files tell of them and stay; delete them yourself:",
                self.exported.len()
            ))?;
            for path in self.exported.iter().take(NAMED) {
                ui.line(&format!("  {}", one_line(&path.display().to_string())))?;
            }
            more(self.exported.len(), ui)?;
        }
        Ok(())
    }
}

fn more(all: usize, ui: &mut Ui) -> Result<()> {
    if all > NAMED {
        ui.line(&format!("  ... {} more (--json names all)", all - NAMED))?;
    }
    Ok(())
}

fn line_of(one: &Chosen) -> String {
    let row = &one.row;
    let last = row.last_us.map_or_else(|| "unknown".to_owned(), |us| Micros(us).human());
    let about = row.title.as_deref().or(row.first_prompt.as_deref()).unwrap_or("-");
    format!(
        "  {}  {}  {last}  {} events  {}",
        one_line(&row.native_id),
        one_line(&row.provider),
        row.events,
        shorten(&one_line(about), 60)
    )
}

fn confirm(ui: &Ui) -> Result<()> {
    if !io::stdin().is_terminal() {
        return Err(
            Exit::usage("nothing was removed: without a terminal to ask on, give --yes").into()
        );
    }
    ui.note("this cannot be undone; type yes to remove");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if answer.trim() == "yes" { Ok(()) } else { Err(Exit::no("nothing was removed").into()) }
}

fn nothing(dry_run: bool, plan: &Plan, ui: &mut Ui) -> Result<u8> {
    if ui.json {
        ui.json(&as_json(plan, None, dry_run))?;
    } else {
        ui.line("no conversation is meant; nothing to remove")?;
    }
    Ok(0)
}

/// Says what goes, or what became of it; answers the exit code.
pub(super) fn told(plan: &Plan, done: Option<&Forgotten>, ui: &mut Ui) -> Result<u8> {
    if ui.json {
        ui.json(&as_json(plan, done, done.is_none()))?;
    } else if let Some(done) = done {
        if !plan.chosen.is_empty() {
            plan.print(false, ui)?;
        }
        for backup in &done.backups {
            ui.line(&format!("removed, a copy of the store: {}", backup.display()))?;
        }
        if done.journal.rewritten > 0 {
            ui.line(&format!("removed from {} journal files", done.journal.rewritten))?;
        }
    } else if !plan.chosen.is_empty() {
        plan.print(true, ui)?;
    }
    let Some(done) = done else { return Ok(0) };
    if done.journal.unreadable > 0 {
        ui.note(&format!(
            "{} journal frames of a newer format stay; they do not name these conversations",
            done.journal.unreadable
        ));
    }
    match &done.left {
        None => Ok(0),
        Some(error) => {
            ui.note(&format!(
                "{error}; everything is out of sight, but bytes are left in the files: `fornax gc --apply` removes them"
            ));
            Ok(75)
        }
    }
}

pub(super) fn as_json(plan: &Plan, done: Option<&Forgotten>, dry_run: bool) -> Value {
    let conversations: Vec<Value> = plan
        .chosen
        .iter()
        .map(|one| {
            json!({
                "conversation": one.row.key, "provider": one.row.provider,
                "native_id": one.row.native_id, "cwd": one.row.cwd, "because_of": one.root,
                "last_activity": one.row.last_us.map(|us| Micros(us).rfc3339()),
                "events": one.row.events,
            })
        })
        .collect();
    let removed = done.map(|done| done.backups.as_slice());
    json!({
        "dry_run": dry_run,
        "conversations": conversations,
        "rows": {
            "events": plan.extent.events, "evidence": plan.extent.evidence,
            "claims": plan.extent.claims, "usage": plan.extent.usage,
            "losses": plan.extent.losses,
        },
        "sources": plan.extent.sources,
        "backups": removed.unwrap_or(&plan.backups),
        "exported": plan.exported,
        "journal": done.map(|done| json!({
            "rewritten": done.journal.rewritten, "unreadable": done.journal.unreadable,
        })),
        "left": done.and_then(|done| done.left.as_ref()).map(ToString::to_string),
    })
}

fn run_lift(word: &str, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let mut store = open(false, parts, ui)?;
    if !lift(store.as_mut(), word)? {
        let word = one_line(word);
        return Err(Exit::unavailable(format!(
            "nothing of the name '{word}' was forgotten; give the whole native id or the key"
        ))
        .into());
    }
    if ui.json {
        ui.json(&json!({ "lifted": word }))?;
    } else {
        ui.line(
            "it is recorded again from now on; `fornax ingest` reads what its agent still has",
        )?;
    }
    Ok(0)
}
