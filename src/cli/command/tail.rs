//! `fornax tail`.

mod pace;

use crate::app::drain::drain;
use crate::app::follow::{Follow, Look, Road, Scope};
use crate::app::resume::ReadOptions;
use crate::base::json::JsonText;
use crate::base::limits::LINE_BYTES_MAX;
use crate::base::time::Micros;
use crate::cli::args::TailArgs;
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::story::{Told, line};
use crate::cli::ui::{Tone, Ui};
use crate::domain::loss::LossReason;
use crate::domain::payload::EvidenceKind;
use crate::domain::record::{Body, Sealed};
use crate::ports::store::Store;
use crate::ports::wake::{Wake, Woken};
use anyhow::{Context as _, Result};
use pace::{Next, Pace};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;
use uuid::Uuid;

/// Follows files until it is stopped (or once).
pub(super) fn run(args: &TailArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let mut store =
        parts.store(true, None, &|text| ui.note(text)).context("cannot open the store")?;
    let namespace = store.reader().namespace().to_owned();
    let line_cap = args.line_cap.unwrap_or(LINE_BYTES_MAX);
    let options = ReadOptions { namespace: &namespace, line_cap, deep: false };
    let scope = scope(args, parts);
    let mut wake = (parts.wake)();
    let mut pace = Pace::new(watched(&scope, parts));
    let mut follow = Follow::new(parts.files.as_ref(), &parts.families, options, scope);
    let mut told = ToldBefore::default();
    let mut next = Next::Everywhere;
    loop {
        let begun = Instant::now();
        let look = match &next {
            Next::Everywhere => Some(Look::Everywhere),
            Next::At(paths) => Some(Look::At(paths)),
            Next::Nowhere => None,
        };
        if next == Next::Everywhere && !args.once {
            pace.watch(wake.as_mut(), parts.files.as_ref());
        }
        if let Some(look) = look {
            if matches!(look, Look::Everywhere) {
                follow.prunes(parts.pruning());
            }
            step(&mut follow, look, store.as_mut(), wake.as_ref(), &mut told, ui)?;
        }
        if args.latest && follow.is_empty() {
            let text = "no history of Claude Code or Codex was found; name a file";
            return Err(Exit::unavailable(text).into());
        }
        if args.once || wake.stopped() {
            return Ok(0);
        }
        if next == Next::Everywhere {
            pace.looked_everywhere(begun.elapsed());
        }
        next = match wake.wait(pace.sleep()) {
            Woken::Stop => return Ok(0),
            Woken::Unsure => Next::Everywhere,
            Woken::Quiet => pace.due(),
            Woken::Changed(paths) => pace.hinted(paths, parts.files.as_ref()),
        };
        if parts.journal.waiting_bytes() > 0 {
            drain(parts.journal.as_ref(), store.recorder())?;
        }
    }
}

fn step(
    follow: &mut Follow<'_>,
    look: Look<'_>,
    store: &mut dyn Store,
    wake: &dyn Wake,
    told: &mut ToldBefore,
    ui: &mut Ui,
) -> Result<()> {
    let mut printed = Ok(());
    let mut road = Road {
        recorder: store.recorder(),
        tell: &mut |records| {
            if printed.is_ok() {
                // Each batch is seen when it is stored.
                printed = print(records, told, ui).and_then(|()| Ok(ui.flush()?));
            }
        },
        stopped: &|| wake.stopped(),
    };
    follow.step(look, &mut road)?;
    printed
}

fn scope(args: &TailArgs, parts: &Parts) -> Scope {
    let roots = parts.history_roots();
    match &args.path {
        Some(path) => {
            let path = parts.absolute(path);
            // It can be moved to where histories are, or aside.
            let roots = match path.parent() {
                Some(own) if !roots.iter().any(|root| own.starts_with(root)) => vec![own.into()],
                _ => roots,
            };
            Scope::File { path, roots }
        }
        None if args.latest => Scope::Latest(roots),
        None => Scope::Folders(roots),
    }
}

/// What is watched: folders, each with whether all below it counts.
fn watched(scope: &Scope, parts: &Parts) -> Vec<(PathBuf, bool)> {
    let mut folders: Vec<(PathBuf, bool)> = match scope {
        Scope::Folders(roots) | Scope::Latest(roots) => {
            roots.iter().map(|root| (root.clone(), true)).collect()
        }
        Scope::File { path, roots } => {
            let own = path.parent().unwrap_or(Path::new("/"));
            let mut all: Vec<(PathBuf, bool)> =
                roots.iter().filter(|r| *r != own).map(|r| (r.clone(), true)).collect();
            if !all.iter().any(|(root, _)| own.starts_with(root)) {
                all.push((own.to_owned(), false));
            }
            all
        }
    };
    // Hooks are drained as they come; where that folder cannot be made they wait for the next look.
    folders.extend(parts.journal.folder().ok().map(|folder| (folder, true)));
    folders
}

/// Lines told already: a second telling of an event or claim in the same words is not printed.
#[derive(Default)]
struct ToldBefore {
    lines: HashSet<(Uuid, String)>,
}

impl ToldBefore {
    /// Lines remembered at most; forgetting them only repeats a line.
    const MAX: usize = 20_000;

    /// True the first time that this is said of a record.
    fn is_new(&mut self, id: Uuid, line: &str) -> bool {
        if self.lines.len() >= Self::MAX {
            self.lines.clear();
        }
        self.lines.insert((id, line.to_owned()))
    }
}

fn print(records: &[Sealed], before: &mut ToldBefore, ui: &mut Ui) -> Result<()> {
    if ui.json {
        for record in records.iter().filter_map(as_json) {
            ui.json(&record)?;
        }
        return Ok(());
    }
    let exits = exit_codes(records);
    for sealed in records {
        match &sealed.body {
            Body::Event(event) => {
                let input = event.tool_input.as_ref().map(JsonText::value);
                let told = Told {
                    kind: event.kind.as_str(),
                    outcome: event.outcome.as_ref().map(|o| o.as_str()),
                    tool_name: event.tool_name.as_deref(),
                    tool_input: input.as_ref(),
                    text: event.text.as_deref(),
                    exit_code: exits.get(&event.id).copied(),
                    cwd: None,
                };
                let time = Ui::tone(Tone::Dim, &Micros(event.order_us).clock());
                let told = line(&told);
                if before.is_new(event.id, &told) {
                    ui.line(&format!("{time} {told}"))?;
                }
            }
            Body::Claim(claim) if before.is_new(claim.id, &claim.text) => {
                let text = crate::base::text::one_line(&claim.text);
                ui.line(&format!("         {} {text}", Ui::tone(Tone::Strong, "claim")))?;
            }
            // A line without its end is still being written, most likely; `losses` knows it.
            Body::Loss(loss) if loss.reason != LossReason::LineTorn => {
                let detail = crate::base::text::one_line(&loss.detail);
                let text = format!("         loss: {} ({detail})", loss.reason);
                ui.line(&Ui::tone(Tone::Doubt, &text))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn exit_codes(records: &[Sealed]) -> HashMap<Uuid, i64> {
    records
        .iter()
        .filter_map(|sealed| match &sealed.body {
            Body::Evidence(e) if e.kind == EvidenceKind::ExitCode => {
                Some((e.event_id, e.payload.value().get("exit_code")?.as_i64()?))
            }
            _ => None,
        })
        .collect()
}

/// One record a line, with the place it was seen at.
fn as_json(sealed: &Sealed) -> Option<Value> {
    let mut record = match &sealed.body {
        Body::Event(e) => json!({
            "type": "event", "id": e.id, "kind": e.kind, "turn_id": e.turn_id,
            "call_id": e.call_id, "agent_id": e.agent_id, "outcome": e.outcome,
            "tool_name": e.tool_name, "tool_input": e.tool_input.as_ref().map(JsonText::value),
            "tool_response": e.tool_response.as_ref().map(JsonText::value), "text": e.text, "observed_at": e.observed_at,
            "clock_source": e.clock_source,
        }),
        Body::Evidence(e) => json!({
            "type": "evidence", "id": e.id, "source_event_id": e.event_id, "kind": e.kind,
            "payload": e.payload.value(), "provenance": e.provenance, "source": e.source,
            "observed_at": e.observed_at,
        }),
        Body::Claim(c) => json!({
            "type": "claim", "id": c.id, "source_event_id": c.event_id, "text": c.text,
            "subject": c.subject, "claimed_at": c.claimed_at,
        }),
        Body::Usage(u) => json!({ "type": "usage", "id": u.id, "usage": u.usage }),
        Body::Lineage(l) => {
            json!({ "type": "lineage", "relation": l.relation, "related": l.related,
                "position": l.position })
        }
        Body::Turn(t) => json!({ "type": "turn", "turn": t }),
        Body::Capability(c) => json!({ "type": "capabilities", "capabilities": c.capabilities }),
        Body::Loss(l) => json!({
            "type": "loss", "reason": l.reason, "detail": l.detail, "count": l.count,
        }),
        Body::Alias(name) => json!({ "type": "alias", "name": name }),
        Body::HistoricalFinding(f) => json!({ "type": "historical_finding", "id": f.id }),
        Body::Quarantine { reason } => json!({ "type": "quarantine", "reason": reason }),
    };
    let map = record.as_object_mut()?;
    if let Some(conversation) = &sealed.conversation {
        map.insert("session_id".into(), json!(conversation.native_id));
        map.insert("provider".into(), json!(conversation.provider));
    }
    let place = json!({
        "offset": sealed.place.offset, "length": sealed.place.length,
        "line_hash": sealed.place.line_hash.hex(), "path": sealed.place.path,
    });
    map.insert("locator".into(), place);
    Some(record)
}
