//! What a conversation comes to, at the end of its story and in its JSON.

use crate::app::outline::{Outline, Touched, VcsStep};
use crate::base::text::one_line;
use crate::base::time::Micros;
use crate::cli::story::below;
use crate::cli::ui::Ui;
use crate::cli::wrap;
use crate::domain::payload::{VcsOperationKind, VcsOutcome};
use crate::ports::reader::{ConversationRow, EventRow, EvidenceRow, SourceRow};
use anyhow::Result;
use serde_json::{Value, json};

/// Files named in the text; JSON has all.
const FILES_SHOWN: usize = 20;

/// Prints calls by outcome, files and commits; nothing where there are none.
pub(super) fn print(outline: &Outline, cwd: Option<&str>, ui: &mut Ui) -> Result<()> {
    let width = ui.width();
    let mut lines = Vec::new();
    if !outline.calls.is_empty() {
        let by: Vec<String> = outline
            .calls
            .0
            .iter()
            .map(|(word, count)| format!("{count} {}", one_line(word).replace('_', " ")))
            .collect();
        lines.push(format!("calls: {}", by.join(", ")));
    }
    if !outline.files.is_empty() {
        lines.push(format!("files changed: {}", outline.files.len()));
        lines.extend(outline.files.iter().take(FILES_SHOWN).map(|file| touched(file, cwd)));
        if let Some(more) = outline.files.len().checked_sub(FILES_SHOWN).filter(|n| *n > 0) {
            lines.push(format!("  ... {more} more (--json names all)"));
        }
    }
    lines.extend(outline.commits.iter().map(step));
    if !lines.is_empty() {
        ui.line("")?;
    }
    for line in lines {
        ui.line(&wrap::cut(&line, width))?;
    }
    Ok(())
}

/// Says which of the conversation's files are not there any more.
pub(super) fn gone(sources: &[SourceRow], ui: &mut Ui) -> Result<()> {
    for source in sources {
        let what = match source.state.as_str() {
            "pruned" => "deleted by its agent, as old ones are",
            "missing" => "gone",
            _ => continue,
        };
        ui.line(&format!("{what}; what was recorded stays: {}", one_line(&source.source)))?;
    }
    Ok(())
}

fn touched(file: &Touched, cwd: Option<&str>) -> String {
    let path = one_line(below(&file.path, cwd));
    let times = if file.edits == 1 { String::new() } else { format!(", {} edits", file.edits) };
    format!("  {path} (+{} -{}{times})", file.added, file.removed)
}

fn step(step: &VcsStep) -> String {
    let operation = match step.operation {
        VcsOperationKind::Commit => "commit",
        VcsOperationKind::Push => "push",
    };
    let outcome = match step.outcome {
        VcsOutcome::Created => "",
        VcsOutcome::NothingToCommit => " (nothing to commit)",
        VcsOutcome::RefUpdated => " (updated)",
        VcsOutcome::UpToDate => " (up to date)",
        VcsOutcome::Rejected => " (rejected)",
    };
    let told = [&step.commit_sha, &step.branch, &step.remote].into_iter().flatten();
    let told: Vec<String> = told.map(|text| one_line(text)).collect();
    format!("{operation}: {}{outcome}", told.join(" "))
}

/// Adds what the story's rows say beyond its documented beginnings.
pub(super) fn complete(
    told: &mut Value,
    row: &ConversationRow,
    outline: &Outline,
    events: &[EventRow],
    evidence: &[EvidenceRow],
) {
    let time = |us: Option<i64>| us.map(|us| Micros(us).rfc3339());
    let span = row.last_us.zip(row.first_us).map(|(last, first)| (last - first) / 1_000);
    let more = json!({
        "forked_from": row.forked_from,
        "fork_position": row.fork_position,
        "title": row.title,
        "agent_version": row.agent_version,
        "agent_nickname": row.agent_nickname,
        "agent_role": row.agent_role,
        "agent_path": row.agent_path,
        "first_activity": time(row.first_us),
        "last_activity": time(row.last_us),
        "span_ms": span,
        "prompts": row.prompts,
        "calls": outline.calls.0,
        "files": outline.files,
        "commits": outline.commits,
    });
    extend(told, more);
    for (value, event) in rows_of(told, "events").iter_mut().zip(events) {
        let duration = outline.durations.get(&event.id);
        extend(
            value,
            json!({ "ingress": event.ingress, "raw": event.raw, "duration_ms": duration }),
        );
    }
    for (value, row) in rows_of(told, "evidence").iter_mut().zip(evidence) {
        // Parsed for JSON; the spool has its numbers as they were spelled.
        let extension = row
            .extension
            .as_deref()
            .map(|text| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)));
        extend(value, json!({ "extension": extension }));
    }
}

fn rows_of<'a>(told: &'a mut Value, key: &str) -> &'a mut [Value] {
    told.get_mut(key).and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default()
}

fn extend(value: &mut Value, more: Value) {
    if let (Value::Object(map), Value::Object(more)) = (value, more) {
        map.extend(more);
    }
}
