//! `fornax show --full`: whole texts under each event, those that were cut read back.

use crate::app::full::{FIELDS, FullText, full_texts};
use crate::app::readback::{ReadBack, ReadError};
use crate::base::limits::LINE_BYTES_MAX;
use crate::base::text::printable;
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::ui::Ui;
use crate::domain::loss::LossReason;
use crate::ports::reader::{EventRow, Reader};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The cut fields of a conversation's events, whole or unavailable.
pub(super) type FullTexts = BTreeMap<Uuid, Vec<FullText>>;

/// Reads back every text of a conversation that was cut when it was stored.
pub(super) fn read(
    parts: &Parts,
    reader: &dyn Reader,
    conversation: i64,
    events: &[EventRow],
) -> Result<FullTexts> {
    let cuts = reader.lost(Some(conversation), LossReason::TextCut.as_str())?;
    let mut readback = ReadBack::new(parts.files.as_ref(), &parts.families, reader, false);
    // No text is longer than its line.
    full_texts(&mut readback, events, &cuts, LINE_BYTES_MAX).map_err(|error| match error {
        ReadError::Store(error) => error.into(),
        other => Exit::io(other.to_string()).into(),
    })
}

/// How many texts of a conversation were cut, and how many of them can be read back. Reads none.
pub(super) fn count(
    parts: &Parts,
    reader: &dyn Reader,
    conversation: i64,
) -> Result<(usize, usize)> {
    let mut cuts = reader.lost(Some(conversation), LossReason::TextCut.as_str())?;
    // A piece of evidence repeats what its event holds.
    cuts.retain(|cut| FIELDS.contains(&cut.detail.as_str()));
    let mut readback = ReadBack::new(parts.files.as_ref(), &parts.families, reader, false);
    let mut present = 0;
    for cut in &cuts {
        if let Some(locator) = cut.seen.locator() {
            present += usize::from(readback.is_present(&locator)?);
        }
    }
    Ok((cuts.len(), present))
}

/// An event's cut fields as JSON.
pub(super) fn as_json(full: &[FullText]) -> Value {
    full.iter()
        .map(|one| {
            let locator = one.locator.as_ref().map(ToString::to_string);
            match &one.told {
                Ok(read) => json!({
                    "field": one.field, "locator": locator, "full_text": read.text,
                    "full_length": read.full_length, "cut": read.cut,
                }),
                Err(reason) => json!({
                    "field": one.field, "locator": locator, "unavailable": reason.as_str(),
                }),
            }
        })
        .collect()
}

/// Prints every text of an event, whole.
pub(super) fn print(event: &EventRow, full: &[FullText], ui: &mut Ui) -> Result<()> {
    let stored = [
        ("text", "", event.text.clone()),
        ("tool_input", "input: ", event.tool_input.as_ref().map(plain)),
        ("tool_response", "output: ", event.tool_response.as_ref().map(plain)),
    ];
    for (field, label, text) in stored {
        let Some(text) = text else { continue };
        let told = match full.iter().find(|one| one.field == field).map(|one| &one.told) {
            Some(Ok(read)) => read.text.clone(),
            Some(Err(reason)) => format!("[unavailable: {}]", reason.as_str()),
            None => text,
        };
        for (nth, line) in printable(&told).lines().enumerate() {
            let label = if nth == 0 { label } else { "" };
            ui.line(&format!("         {label}{line}"))?;
        }
    }
    Ok(())
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
