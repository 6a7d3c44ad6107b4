//! `fornax show`: one conversation as a story, or everything as JSON.

mod lines;
mod page;
mod summary;

use crate::app::lookup;
use crate::app::outline::{Outline, entries, outline};
use crate::app::verify::{Checked, Trust, check};
use crate::base::text::{one_line, shorten};
use crate::base::time::Micros;
use crate::base::when::span;
use crate::cli::args::ShowArgs;
use crate::cli::command::full::{self, FullTexts};
use crate::cli::command::sessions::since;
use crate::cli::command::verify;
use crate::cli::parts::Parts;
use crate::cli::story::{Told, below};
use crate::cli::ui::{Tone, Ui};
use crate::cli::wrap;
use crate::domain::loss::LossReason;
use crate::ports::git::GitWitness;
use crate::ports::reader::{
    ClaimRow, ConversationRow, EventRow, EvidenceRow, FailedRow, HistoricalFindingRow, LossRow,
    Reader, SourceRow,
};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// Characters of the title.
const TITLE_CHARS: usize = 100;

/// All that is told of a conversation.
struct Story {
    conversation: ConversationRow,
    events: Vec<EventRow>,
    evidence: Vec<EvidenceRow>,
    claims: Vec<ClaimRow>,
    checked: Vec<Checked>,
    losses: Vec<LossRow>,
    /// Verdicts of an earlier program, from an import.
    history: Vec<HistoricalFindingRow>,
    failed: Vec<FailedRow>,
    sources: Vec<SourceRow>,
    /// With `--full`: what was cut, whole.
    full: Option<FullTexts>,
}

/// Shows one conversation.
pub(super) fn run(args: &ShowArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let store = parts.store(false, None, &|text| ui.note(text)).context("cannot show")?;
    let mut story = read(store.reader(), parts.git.as_ref(), &args.session)?;
    if args.full {
        let id = story.conversation.id;
        story.full = Some(full::read(parts, store.reader(), id, &story.events)?);
    }
    let outline = outline(&story.events, &story.evidence);
    if ui.json {
        let mut told = as_json(&story);
        let row = &story.conversation;
        summary::complete(&mut told, row, &outline, &story.events, &story.evidence);
        ui.json(&told)?;
    } else {
        let since = since(args.since.as_deref(), parts)?;
        let page = page::Page::of(args, since, ui.width().is_some());
        head(&story.conversation, ui)?;
        tell(&story, &page, &outline, ui)?;
        summary::print(&outline, story.conversation.cwd.as_deref(), ui)?;
        summary::gone(&story.sources, ui)?;
        tail(&story, ui)?;
        let (cut, present) = full::count(parts, store.reader(), story.conversation.id)?;
        if cut > 0 && !args.full {
            let id = one_line(&story.conversation.native_id);
            ui.line(&format!(
                "  {present} of {cut} cut texts can be read back: fornax show {id} --full"
            ))?;
        }
    }
    for failed in &story.failed {
        ui.note(&format!("row {} could not be read: {}", failed.id, failed.error));
    }
    Ok(u8::from(!story.failed.is_empty()))
}

fn read(reader: &dyn Reader, git: &dyn GitWitness, word: &str) -> Result<Story> {
    let conversation = lookup::by_word(reader, word)?;
    let events = reader.events(conversation.id)?;
    let evidence = reader.evidence(conversation.id)?;
    let claims = reader.claims(conversation.id)?;
    let checks = check(reader, &conversation, Trust::BuiltIn, Some(git))?;
    let losses = reader.losses(Some(conversation.id))?;
    let sources = reader.sources_of(conversation.id)?;
    let history = reader.historical_findings(conversation.id)?;
    let failed = [events.failed, evidence.failed, claims.failed, history.failed].concat();
    Ok(Story {
        conversation,
        events: events.rows,
        evidence: evidence.rows,
        claims: claims.rows,
        checked: checks.checked,
        losses,
        history: history.rows,
        failed,
        sources,
        full: None,
    })
}

fn head(row: &ConversationRow, ui: &mut Ui) -> Result<()> {
    let version = row.agent_version.as_deref().map(one_line).unwrap_or_default();
    let about = row.title.as_deref().or(row.first_prompt.as_deref()).unwrap_or(&row.native_id);
    let title = shorten(&one_line(about), TITLE_CHARS);
    ui.line(&Ui::tone(Tone::Strong, &title))?;
    ui.line(&format!("{} {version}  {}", one_line(&row.provider), one_line(&row.key)))?;
    if let Some(cwd) = &row.cwd {
        ui.line(&format!("in {}", one_line(cwd)))?;
    }
    if let Some(parent) = &row.parent {
        ui.line(&format!("started by {}", one_line(parent)))?;
    }
    if let Some(origin) = &row.forked_from {
        ui.line(&format!("forked from {}", one_line(origin)))?;
    }
    if !row.models.is_empty() {
        ui.line(&format!("models {}", one_line(&row.models.join(", "))))?;
    }
    let time = |us: Option<i64>| us.map_or_else(|| "unknown".to_owned(), |us| Micros(us).human());
    let known = row.last_us.zip(row.first_us).map(|(last, first)| span(last - first));
    ui.line(&format!(
        "activity {} to {} UTC{}",
        time(row.first_us),
        time(row.last_us),
        known.map(|span| format!(" ({span})")).unwrap_or_default()
    ))?;
    let counts = [
        (row.prompts, "prompt", "s"),
        (row.events, "event", "s"),
        (row.failed_calls, "failed call", "s"),
        (row.losses, "loss", "es"),
    ];
    let counts =
        counts.map(|(n, word, more)| format!("{n} {word}{}", if n == 1 { "" } else { more }));
    ui.line(&counts.join(", "))?;
    Ok(ui.line("")?)
}

fn tell(story: &Story, page: &page::Page, outline: &Outline, ui: &mut Ui) -> Result<()> {
    let width = ui.width();
    let exits: HashMap<Uuid, i64> = story
        .evidence
        .iter()
        .filter_map(|e| Some((e.event_id, e.payload.get("exit_code")?.as_i64()?)))
        .collect();
    let mut diffs: HashMap<Uuid, Vec<&EvidenceRow>> = HashMap::new();
    for row in story.evidence.iter().filter(|e| e.kind == "file_diff") {
        diffs.entry(row.event_id).or_default().push(row);
    }
    let mut claims: HashMap<Uuid, Vec<&Checked>> = HashMap::new();
    for checked in &story.checked {
        claims.entry(checked.claim.event_id).or_default().push(checked);
    }
    let contradicted = story.checked.iter().filter(|c| verify::is_contradicted(&c.finding));
    let doubted: HashSet<Uuid> = contradicted.map(|c| c.claim.event_id).collect();
    let chosen = page.choose(entries(&story.events), &doubted);
    if chosen.earlier > 0 {
        let how = "--all tells all; --head N, --tail N, --failed, --since WHEN a part";
        ui.line(&format!("... {} earlier entries ({how})", chosen.earlier))?;
    }
    for event in chosen.entries {
        let told = Told {
            kind: &event.kind,
            outcome: event.outcome.as_deref(),
            tool_name: event.tool_name.as_deref(),
            tool_input: event.tool_input.as_ref(),
            text: event.text.as_deref(),
            exit_code: exits.get(&event.id).copied(),
            cwd: story.conversation.cwd.as_deref(),
        };
        let time = Ui::tone(Tone::Dim, &Micros(event.order_us).clock());
        let disagree = if event.disagrees { "  [sources disagree]" } else { "" };
        let took = outline.durations.get(&event.id).map(|ms| format!("  ({})", span(ms * 1_000)));
        let more = format!("{}{disagree}", took.unwrap_or_default());
        for line in lines::of(&told, &time, &more, width) {
            ui.line(&line)?;
        }
        if let Some(texts) = &story.full {
            full::print(event, texts.get(&event.id).map_or(&[], Vec::as_slice), ui)?;
        }
        for row in diffs.remove(&event.id).unwrap_or_default() {
            let diff = edit(row, story.conversation.cwd.as_deref());
            ui.line(&wrap::cut(&format!("         edit {diff}"), width))?;
        }
        for checked in claims.remove(&event.id).unwrap_or_default() {
            let (verdict, text) =
                (verify::verdict(&checked.finding), one_line(&checked.claim.text));
            ui.line(&wrap::cut(&format!("         claim {verdict} {text}"), width))?;
        }
    }
    if chosen.later > 0 {
        ui.line(&format!("... {} later entries", chosen.later))?;
    }
    Ok(())
}

/// An edit: path, and lines added and removed.
fn edit(row: &EvidenceRow, cwd: Option<&str>) -> String {
    let text = |key: &str| row.payload.get(key).and_then(Value::as_str).unwrap_or_default();
    let diff = text("diff");
    let added = diff.lines().filter(|l| l.starts_with('+')).count();
    let removed = diff.lines().filter(|l| l.starts_with('-')).count();
    format!("{} (+{added} -{removed})", one_line(below(text("path"), cwd)))
}

fn tail(story: &Story, ui: &mut Ui) -> Result<()> {
    let contradicted = story.checked.iter().filter(|c| verify::is_contradicted(&c.finding));
    for checked in contradicted {
        ui.line("")?;
        verify::print_one(checked, ui)?;
    }
    if !story.history.is_empty() {
        ui.line("")?;
        ui.line("found by an earlier fornax (history, not judged here):")?;
        for finding in story.history.iter().map(|row| &row.finding) {
            let (verdict, why) = (one_line(&finding.verdict), one_line(&finding.rationale));
            let at = one_line(&finding.computed_at);
            ui.line(&wrap::cut(&format!("  {at} {verdict} {why}"), ui.width()))?;
        }
    }
    if !story.losses.is_empty() {
        ui.line("")?;
        ui.line("not recorded:")?;
        for loss in &story.losses {
            let unit = LossReason::from_tag(&loss.reason).unit();
            let detail = one_line(&loss.detail);
            ui.line(&format!("  {} {unit} {} ({detail})", loss.count, loss.reason))?;
        }
    }
    Ok(())
}

fn as_json(story: &Story) -> Value {
    let events: Vec<Value> = story.events.iter().map(|e| event_json(e, story)).collect();
    let evidence: Vec<Value> = story
        .evidence
        .iter()
        .map(|e| {
            json!({
                "id": e.id, "source_event_id": e.event_id, "kind": e.kind, "payload": e.payload,
                "provenance": e.provenance, "source": e.source, "observed_at": e.observed_at,
                "ingress": e.ingress, "seen": e.seen,
            })
        })
        .collect();
    let claims: Vec<Value> = story
        .claims
        .iter()
        .map(|c| {
            json!({
                "id": c.id, "source_event_id": c.event_id, "turn_id": c.turn_id,
                "text": c.text, "subject": c.subject, "claimed_at": c.claimed_at,
                "seen": c.seen,
            })
        })
        .collect();
    let losses: Vec<Value> = story
        .losses
        .iter()
        .map(|l| json!({ "reason": l.reason, "detail": l.detail, "count": l.count }))
        .collect();
    json!({
        "conversation": story.conversation.key,
        "provider": story.conversation.provider,
        "native_id": story.conversation.native_id,
        "parent": story.conversation.parent,
        "cwd": story.conversation.cwd,
        "models": story.conversation.models,
        "events": events,
        "evidence": evidence,
        "claims": claims,
        "findings": story.checked.iter().map(verify::finding_json).collect::<Vec<_>>(),
        "historical_findings": story.history,
        "losses": losses,
        "failed": story.failed,
        "sources": story.sources,
    })
}

fn event_json(e: &EventRow, story: &Story) -> Value {
    let mut told = json!({
        "id": e.id, "kind": e.kind, "turn_id": e.turn_id, "call_id": e.call_id,
        "agent_id": e.agent_id, "outcome": e.outcome, "tool_name": e.tool_name,
        "tool_input": e.tool_input, "tool_response": e.tool_response, "text": e.text,
        "observed_at": e.observed_at, "clock_source": e.clock_source,
        "heuristic": e.heuristic, "disagrees": e.disagrees, "sightings": e.sightings,
    });
    if let (Some(full), Some(members)) = (&story.full, told.as_object_mut()) {
        let texts = full.get(&e.id).map_or(&[][..], Vec::as_slice);
        members.insert("full".to_owned(), full::as_json(texts));
    }
    told
}
