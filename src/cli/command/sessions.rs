//! `fornax sessions`.

use crate::base::text::{one_line, shorten};
use crate::base::time::Micros;
use crate::cli::args::SessionsArgs;
use crate::cli::parts::Parts;
use crate::cli::table;
use crate::cli::ui::{Tone, Ui};
use crate::ports::reader::ConversationRow;
use anyhow::{Context as _, Result};
use serde_json::json;
use std::path::Path;

/// Conversations shown on a terminal without `--limit`.
const SHOWN: usize = 40;

/// Lists conversations, latest activity first.
pub(super) fn run(args: &SessionsArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let store = parts.store(false, None, &|text| ui.note(text)).context("cannot list sessions")?;
    let found = store.reader().conversations()?;
    let cwd = args.cwd.as_deref().map(|c| parts.absolute(c));
    let mut rows: Vec<ConversationRow> = found
        .rows
        .into_iter()
        .filter(|c| args.provider.as_deref().is_none_or(|p| p == c.provider))
        .filter(|c| {
            cwd.as_deref().is_none_or(|wanted| {
                c.cwd.as_deref().is_some_and(|held| Path::new(held).starts_with(wanted))
            })
        })
        .collect();
    let total = rows.len();
    if let Some(limit) = args.limit.or_else(|| (!ui.json).then_some(SHOWN)) {
        rows.truncate(limit);
    }
    if ui.json {
        let sessions: Vec<_> = rows.iter().map(as_json).collect();
        ui.json(&json!({ "sessions": sessions, "failed": found.failed }))?;
    } else {
        print(&rows, total, ui)?;
    }
    for failed in &found.failed {
        ui.note(&format!("row {} could not be read: {}", failed.id, failed.error));
    }
    Ok(u8::from(!found.failed.is_empty()))
}

fn as_json(row: &ConversationRow) -> serde_json::Value {
    json!({
        "conversation": row.key,
        "provider": row.provider,
        "native_id": row.native_id,
        "parent": row.parent,
        "cwd": row.cwd,
        "title": row.title,
        "models": row.models,
        "agent_version": row.agent_version,
        "first_activity": row.first_us.map(|us| Micros(us).rfc3339()),
        "last_activity": row.last_us.map(|us| Micros(us).rfc3339()),
        "events": row.events,
        "failed_calls": row.failed_calls,
        "losses": row.losses,
    })
}

fn print(rows: &[ConversationRow], total: usize, ui: &mut Ui) -> Result<()> {
    if rows.is_empty() {
        return Ok(ui.line("no sessions recorded; `fornax ingest` reads both agents' histories")?);
    }
    let header =
        ["SESSION", "AGENT", "LAST ACTIVITY (UTC)", "EVENTS", "FAILED", "LOSSES", "FOLDER"];
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let failed = row.failed_calls.to_string();
            let child = if row.parent.is_some() { "  (child)" } else { "" };
            vec![
                shorten(&one_line(&row.native_id), 36),
                one_line(&row.provider),
                row.last_us.map_or_else(|| "unknown".to_owned(), |us| Micros(us).human()),
                row.events.to_string(),
                if row.failed_calls > 0 { Ui::tone(Tone::Bad, &failed) } else { failed },
                row.losses.to_string(),
                format!("{}{child}", one_line(row.cwd.as_deref().unwrap_or("-"))),
            ]
        })
        .collect();
    for line in table::render(&header, &cells) {
        ui.line(&line)?;
    }
    if rows.len() < total {
        ui.line(&format!("... {} more (--limit {total} shows all)", total - rows.len()))?;
    }
    Ok(())
}
