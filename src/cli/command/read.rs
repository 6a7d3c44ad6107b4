//! `fornax read`: one text, read back from its source.

use crate::app::readback::{ReadBack, ReadError, ReadText};
use crate::base::limits::READ_TEXT_BYTES_MAX;
use crate::base::text::printable;
use crate::cli::args::ReadArgs;
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::ui::Ui;
use crate::domain::locator::Locator;
use crate::domain::unavailable::Unavailable;
use crate::ports::reader::Reader;
use anyhow::{Context as _, Result};
use serde_json::json;
use uuid::Uuid;

/// Prints the text that a locator or an id names.
pub(super) fn run(args: &ReadArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let wanted = Wanted::parse(&args.what)?;
    let store = parts.store(false, None, &|text| ui.note(text)).context("cannot read back")?;
    let locator = wanted.locator(store.reader())?;
    let max_bytes = args.max_bytes.unwrap_or(READ_TEXT_BYTES_MAX);
    let mut readback =
        ReadBack::new(parts.files.as_ref(), &parts.families, store.reader(), args.deep);
    match readback.text(&locator, max_bytes) {
        Ok(read) => print(&locator, &read, ui),
        Err(ReadError::Unavailable(reason)) => refuse(&locator, &reason, ui),
        Err(error) => Err(failure(error)),
    }
}

/// A failure to read back, with its exit code.
pub(super) fn failure(error: ReadError) -> anyhow::Error {
    match error {
        ReadError::Store(error) => error.into(),
        ReadError::Io { path, error } => {
            Exit::io(format!("cannot read {}: {error}", path.display())).into()
        }
        ReadError::Unavailable(reason) => Exit::no(reason.advice()).into(),
    }
}

/// What the command line names.
enum Wanted {
    Place(Locator),
    Id(Uuid),
}

impl Wanted {
    fn parse(word: &str) -> Result<Self> {
        if let Ok(id) = word.parse() {
            return Ok(Self::Id(id));
        }
        let locator = word.parse::<Locator>().map_err(|error| {
            Exit::usage(format!("{error}; `fornax show --json` prints locators and ids"))
        })?;
        Ok(Self::Place(locator))
    }

    fn locator(self, reader: &dyn Reader) -> Result<Locator> {
        let id = match self {
            Self::Place(locator) => return Ok(locator),
            Self::Id(id) => id,
        };
        let unknown = || {
            Exit::bad_data(format!(
                "no event, evidence or claim has the id {id}; `fornax show --json` prints ids"
            ))
        };
        let place = reader.place_of(id)?.ok_or_else(unknown)?;
        Ok(place.locator().ok_or_else(unknown)?)
    }
}

fn print(locator: &Locator, read: &ReadText, ui: &mut Ui) -> Result<u8> {
    if ui.json {
        ui.json(&json!({
            "locator": locator.to_string(), "text": read.text, "cut": read.cut,
            "full_length": read.full_length,
        }))?;
        return Ok(0);
    }
    ui.line(&printable(&read.text))?;
    if read.cut {
        ui.note(&format!(
            "cut: {} of {} bytes are shown; --max-bytes {} shows all",
            read.text.len(),
            read.full_length,
            read.full_length
        ));
    }
    Ok(0)
}

fn refuse(locator: &Locator, reason: &Unavailable, ui: &mut Ui) -> Result<u8> {
    if ui.json {
        ui.json(&json!({
            "locator": locator.to_string(), "unavailable": reason.as_str(),
            "advice": reason.advice(),
        }))?;
    }
    ui.note(&format!("unavailable ({}): {}", reason.as_str(), reason.advice()));
    Ok(1)
}
