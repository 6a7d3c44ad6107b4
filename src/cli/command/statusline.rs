//! `fornax statusline`: a line for the agent's status line.
//!
//! It is run again and again beside the agent, so it does one look-up, drains nothing, judges
//! nothing, and always succeeds: an error would blank the line of a person's own command.

use crate::base::text::{one_line, shorten};
use crate::cli::args::StatuslineArgs;
use crate::cli::parts::Parts;
use crate::cli::ui::Ui;
use crate::ports::findings::{Standing, Whose};
use crate::ports::recorder::StoreError;
use anyhow::Result;
use serde_json::{Value, json};
use std::io::{IsTerminal as _, Read as _};

/// At most so much of the input is read.
const INPUT_MAX: u64 = 1024 * 1024;
/// Characters of an error in the line.
const ERROR_CHARS: usize = 60;

/// Prints the line of a command that was there before, if any, and fornax's.
pub(super) fn run(args: &StatuslineArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let mut input = Vec::new();
    if !std::io::stdin().is_terminal() {
        // What came through before an error is as good as none.
        let _ = std::io::stdin().take(INPUT_MAX).read_to_end(&mut input);
    }
    let own = own_line(parts, &input);
    if ui.json {
        ui.json(&json!({ "line": own }))?;
        return Ok(0);
    }
    let before = args.chain.as_deref().map(|command| chained(parts, command, &input));
    ui.line(&match before {
        Some(before) if !before.is_empty() => format!("{before} | {own}"),
        _ => own,
    })?;
    Ok(0)
}

/// What the other command printed, as it printed it: it is the person's own.
fn chained(parts: &Parts, command: &str, input: &[u8]) -> String {
    match parts.chain.output(command, input) {
        Ok(output) => String::from_utf8_lossy(&output).trim_end().to_owned(),
        Err(error) => format!("status line command: {}", one_line(&error.to_string())),
    }
}

fn own_line(parts: &Parts, input: &[u8]) -> String {
    let text = match standing(parts, input) {
        Ok(Some(standing)) if standing.counts.is_empty() => "no claim yet".to_owned(),
        Ok(Some(standing)) => super::status::counts(&standing),
        Ok(None) | Err(StoreError::Missing) => "no verdict yet".to_owned(),
        Err(error) => shorten(&one_line(&error.to_string()), ERROR_CHARS),
    };
    format!("fornax: {text}")
}

fn standing(parts: &Parts, input: &[u8]) -> Result<Option<Standing>, StoreError> {
    let input: Value = serde_json::from_slice(input).unwrap_or_default();
    let Some(session) = input.get("session_id").and_then(Value::as_str) else {
        return Ok(None);
    };
    (parts.open_store)(None, false)?.findings().standing(Whose::Native(session))
}
