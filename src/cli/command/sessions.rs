//! `fornax sessions`.

use crate::app::sessions::{Branch, Filter, Listed, list, tree};
use crate::base::text::{one_line, shorten};
use crate::base::time::Micros;
use crate::base::when::{span, when};
use crate::cli::args::SessionsArgs;
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::table::{self, Column};
use crate::cli::ui::{Tone, Ui};
use crate::ports::reader::ConversationRow;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// Conversations shown without `--limit`, unless JSON is asked for.
const SHOWN: usize = 40;
/// Characters of a title or prompt in a pipe.
const WHAT_CHARS: usize = 120;

/// Lists conversations, latest activity first.
pub(super) fn run(args: &SessionsArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let filter = filter(args, parts)?;
    let store = parts.store(false, None, &|text| ui.note(text)).context("cannot list sessions")?;
    let Listed { found, id_chars } = list(store.reader(), &filter)?;
    let total = found.rows.len();
    let mut branches = if args.tree {
        tree(found.rows)
    } else {
        found.rows.into_iter().map(|row| Branch { depth: 0, row }).collect()
    };
    if let Some(limit) = args.limit.or_else(|| (!ui.json).then_some(SHOWN)) {
        branches.truncate(limit);
    }
    if ui.json {
        let sessions: Vec<_> = branches.iter().map(|branch| as_json(branch, args.tree)).collect();
        ui.json(&json!({ "sessions": sessions, "failed": found.failed }))?;
    } else {
        print(&branches, id_chars, total, is_filtered(args), ui)?;
    }
    for failed in &found.failed {
        ui.note(&format!("row {} could not be read: {}", failed.id, failed.error));
    }
    Ok(u8::from(!found.failed.is_empty()))
}

fn filter(args: &SessionsArgs, parts: &Parts) -> Result<Filter> {
    Ok(Filter {
        provider: args.provider.clone(),
        cwd: args.cwd.as_deref().map(|folder| parts.absolute(folder)),
        since_us: since(args.since.as_deref(), parts)?,
        failed: args.failed,
        text: args.text.clone(),
    })
}

/// The time of `--since`, in microseconds.
pub(super) fn since(typed: Option<&str>, parts: &Parts) -> Result<Option<i64>> {
    let Some(text) = typed else { return Ok(None) };
    match when(text, parts.clock.now()) {
        Some(at) => Ok(Some(at.0)),
        None => {
            let why = "is no time; try 2026-05-04, 2026-05-04T09:00:00Z or 2d";
            Err(Exit::usage(format!("'{}' {why}", one_line(text))).into())
        }
    }
}

fn is_filtered(args: &SessionsArgs) -> bool {
    args.failed
        || [args.provider.is_some(), args.cwd.is_some(), args.since.is_some(), args.text.is_some()]
            .contains(&true)
}

fn as_json(branch: &Branch, in_tree: bool) -> Value {
    let row = &branch.row;
    let told = json!({
        "conversation": row.key,
        "provider": row.provider,
        "native_id": row.native_id,
        "parent": row.parent,
        "forked_from": row.forked_from,
        "fork_position": row.fork_position,
        "cwd": row.cwd,
        "title": row.title,
        "first_prompt": row.first_prompt,
        "models": row.models,
        "agent_version": row.agent_version,
        "agent_nickname": row.agent_nickname,
        "agent_role": row.agent_role,
        "agent_path": row.agent_path,
        "first_activity": row.first_us.map(|us| Micros(us).rfc3339()),
        "last_activity": row.last_us.map(|us| Micros(us).rfc3339()),
        "span_ms": span_us(row).map(|us| us / 1_000),
        "events": row.events,
        "prompts": row.prompts,
        "failed_calls": row.failed_calls,
        "losses": row.losses,
    });
    match told {
        Value::Object(mut map) if in_tree => {
            map.insert("depth".to_owned(), json!(branch.depth));
            Value::Object(map)
        }
        told => told,
    }
}

/// From the first activity to the last; neither is a beginning or an end.
fn span_us(row: &ConversationRow) -> Option<i64> {
    Some(row.last_us?.saturating_sub(row.first_us?))
}

fn print(
    branches: &[Branch],
    id_chars: usize,
    total: usize,
    filtered: bool,
    ui: &mut Ui,
) -> Result<()> {
    if branches.is_empty() {
        return Ok(ui.line(if filtered {
            "no session passes this filter; `fornax sessions` lists all"
        } else {
            "no sessions recorded; `fornax ingest` reads the agents' histories"
        })?);
    }
    // In a pipe ids are whole; on a terminal they are as long as `fornax show` needs them.
    let width = ui.width();
    let id_chars = if width.is_some() { id_chars } else { usize::MAX };
    for line in table::render_within(columns(branches, id_chars), width) {
        ui.line(&line)?;
    }
    if branches.len() < total {
        let more = total - branches.len();
        ui.line(&format!("... {more} more (--limit {total} shows all)"))?;
    }
    Ok(())
}

fn columns(branches: &[Branch], id_chars: usize) -> Vec<Column> {
    let indented = branches.iter().map(|b| {
        let id = one_line(&b.row.native_id).chars().take(id_chars).collect::<String>();
        let stem = if b.depth > 0 { "+ " } else { "" };
        format!("{}{stem}{id}", "  ".repeat(b.depth.saturating_sub(1)))
    });
    let column = |header, worth, cell: &dyn Fn(&ConversationRow) -> String| Column {
        header,
        worth,
        cells: branches.iter().map(|b| cell(&b.row)).collect(),
    };
    let number = |n: i64, tone| {
        if n > 0 { Ui::tone(tone, &n.to_string()) } else { "0".to_owned() }
    };
    vec![
        Column { header: "SESSION", worth: 0, cells: indented.collect() },
        column("AGENT", 5, &|row| one_line(&row.provider)),
        column("LAST ACTIVITY (UTC)", 9, &|row| {
            row.last_us.map_or_else(|| "unknown".to_owned(), |us| Micros(us).human())
        }),
        column("SPAN", 3, &|row| span_us(row).map_or_else(|| "-".to_owned(), span)),
        column("EVENTS", 6, &|row| row.events.to_string()),
        column("FAILED", 8, &|row| number(row.failed_calls, Tone::Bad)),
        column("LOSSES", 7, &|row| number(row.losses, Tone::Doubt)),
        column("MODEL", 1, &|row| {
            let last = row.models.last().map_or("-", String::as_str);
            shorten(&one_line(last), 24)
        }),
        column("FOLDER", 2, &|row| one_line(row.cwd.as_deref().unwrap_or("-"))),
        column("ABOUT", 0, &|row| about(row)),
    ]
}

/// The title, else the first prompt.
fn about(row: &ConversationRow) -> String {
    let told = row.title.as_deref().or(row.first_prompt.as_deref()).unwrap_or("-");
    shorten(&one_line(told), WHAT_CHARS)
}
