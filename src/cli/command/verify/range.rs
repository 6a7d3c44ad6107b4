//! `fornax verify` over several sessions: those of a folder, of a span of time, or both.

use super::super::sessions::since;
use super::{as_json, counts, in_words, print as print_one};
use crate::app::sessions::{Filter, list};
use crate::app::verify::{Checked, Checks};
use crate::cli::args::VerifyArgs;
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::ui::Ui;
use crate::ports::reader::{ConversationRow, Reader};
use anyhow::Result;
use serde_json::{Value, json};

/// The conversations that the options choose, latest first.
pub(super) fn chosen(
    args: &VerifyArgs,
    parts: &Parts,
    reader: &dyn Reader,
) -> Result<Vec<ConversationRow>> {
    let filter = Filter {
        provider: None,
        cwd: args.project.as_deref().map(|folder| parts.absolute(folder)),
        since_us: since(args.since.as_deref(), parts)?,
        failed: false,
        text: None,
    };
    let until = since(args.until.as_deref(), parts)?;
    let mut found = list(reader, &filter)?.found.rows;
    found.retain(|row| until.is_none_or(|until| row.last_us.is_none_or(|last| last < until)));
    if found.is_empty() {
        let text = "no session there; `fornax sessions` lists what is recorded";
        return Err(Exit::unavailable(text).into());
    }
    Ok(found)
}

/// Prints every session that has claims, and the sum of all.
pub(super) fn print(all: &[(ConversationRow, Checks)], ui: &mut Ui) -> Result<()> {
    let checked: Vec<&Checked> = all.iter().flat_map(|(_, checks)| &checks.checked).collect();
    if ui.json {
        let sessions: Vec<Value> = all.iter().map(|(row, checks)| as_json(row, checks)).collect();
        return Ok(ui.json(&json!({ "sessions": sessions, "counts": counts(&checked) }))?);
    }
    for (conversation, checks) in all.iter().filter(|(_, checks)| !checks.checked.is_empty()) {
        print_one(conversation, checks, ui)?;
        ui.line("")?;
    }
    let claims = if checked.is_empty() { "no claim".to_owned() } else { in_words(&checked) };
    Ok(ui.line(&format!("{} sessions: {claims}", all.len()))?)
}
