//! `fornax verify --explain`: from a sentence to the bytes, and what was said of it before.

use super::super::status::kept_json;
use super::{finding_json, print_one};
use crate::app::readback::{ReadBack, ReadError};
use crate::app::standing;
use crate::app::verify::Checked;
use crate::base::limits::READ_TEXT_BYTES_MAX;
use crate::base::text::{one_line, printable, shorten};
use crate::base::time::Micros;
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::ui::{Tone, Ui};
use crate::ports::findings::KeptFinding;
use crate::ports::reader::{ConversationRow, Reader, SeenAt};
use crate::ports::store::Store;
use anyhow::Result;
use serde_json::{Value, json};
use uuid::Uuid;

/// Characters of a text that was read back, on the terminal.
const TEXT_CHARS: usize = 400;

/// Explains the finding with this id, or on the claim with this id.
pub(super) fn run(
    id: Uuid,
    named: &[ConversationRow],
    parts: &Parts,
    store: &mut dyn Store,
    ui: &mut Ui,
) -> Result<u8> {
    let history = store.findings().finding_history(id)?;
    let conversation = match (named.first(), history.last()) {
        (Some(row), _) => row.clone(),
        (None, Some(kept)) => standing_of(store.reader(), kept)?,
        (None, None) => return Err(unknown(id)),
    };
    let (checks, _) =
        standing::judge(store, &conversation, Some(parts.git.as_ref()), parts.clock.now().0)?;
    let is_it = |c: &&Checked| c.finding.id == id || c.claim.id == id;
    let Some(checked) = checks.checked.iter().find(is_it) else {
        return Err(unknown(id));
    };
    // Judging again may have added to it.
    let history = store.findings().finding_history(id)?;
    let steps = steps(checked, parts, store.reader());
    if ui.json {
        let mut told = finding_json(checked);
        if let Value::Object(map) = &mut told {
            map.insert("conversation".to_owned(), conversation.key.into());
            map.insert("steps".to_owned(), steps.iter().map(Step::as_json).collect());
            map.insert("history".to_owned(), history.iter().map(kept_json).collect());
        }
        ui.json(&told)?;
        return Ok(0);
    }
    print_one(checked, ui)?;
    for step in &steps {
        step.print(ui)?;
    }
    print_history(&history, ui)?;
    Ok(0)
}

fn standing_of(reader: &dyn Reader, kept: &KeptFinding) -> Result<ConversationRow> {
    let rows = reader.find_conversations(&kept.conversation)?;
    rows.into_iter().next().ok_or_else(|| unknown(kept.finding.id))
}

fn unknown(id: Uuid) -> anyhow::Error {
    let text = format!("no finding or claim has the id {id}; `fornax verify --json` prints ids");
    Exit::bad_data(text).into()
}

/// One link of the chain: what it is, where it was seen, and what stands there now.
struct Step {
    what: String,
    id: Uuid,
    seen: Option<SeenAt>,
    /// The text, or why it cannot be had.
    text: Result<String, String>,
}

fn steps(checked: &Checked, parts: &Parts, reader: &dyn Reader) -> Vec<Step> {
    let mut readback = ReadBack::new(parts.files.as_ref(), &parts.families, reader, false);
    let mut text_at = |seen: Option<&SeenAt>| -> Result<String, String> {
        let locator = seen.and_then(SeenAt::locator).ok_or("no place is recorded")?;
        match readback.text(&locator, READ_TEXT_BYTES_MAX) {
            Ok(read) => Ok(read.text),
            Err(ReadError::Unavailable(reason)) => Err(reason.as_str().to_owned()),
            Err(ReadError::Store(error)) => Err(error.to_string()),
            Err(ReadError::Io { error, .. }) => Err(error.to_string()),
        }
    };
    let claim = Step {
        what: "claim".to_owned(),
        id: checked.claim.id,
        text: text_at(checked.claim.seen.as_ref()),
        seen: checked.claim.seen.clone(),
    };
    let evidence = checked.evidence.iter().map(|(id, seen)| Step {
        what: "evidence".to_owned(),
        id: *id,
        text: text_at(Some(seen)),
        seen: Some(seen.clone()),
    });
    std::iter::once(claim).chain(evidence.collect::<Vec<_>>()).collect()
}

impl Step {
    fn as_json(&self) -> Value {
        json!({
            "what": self.what,
            "id": self.id,
            "seen": self.seen,
            "text": self.text.as_ref().ok(),
            "unavailable": self.text.as_ref().err(),
        })
    }

    fn print(&self, ui: &mut Ui) -> Result<()> {
        ui.line(&format!("{} {}", self.what, self.id))?;
        if let Some(locator) = self.seen.as_ref().and_then(SeenAt::locator) {
            let at = one_line(&locator.to_string());
            ui.line(&Ui::tone(Tone::Dim, &format!("  at {at}")))?;
        }
        match &self.text {
            Ok(text) => {
                for line in shorten(&printable(text), TEXT_CHARS).lines() {
                    ui.line(&format!("  > {line}"))?;
                }
            }
            Err(reason) => {
                let text = format!("  not read back: {}", one_line(reason));
                ui.line(&Ui::tone(Tone::Dim, &text))?;
            }
        }
        Ok(())
    }
}

fn print_history(history: &[KeptFinding], ui: &mut Ui) -> Result<()> {
    let earlier: Vec<&KeptFinding> = history.iter().filter(|k| k.replaced_us.is_some()).collect();
    for kept in earlier {
        let finding = &kept.finding;
        let at = Micros(kept.judged_us).human();
        let rationale = one_line(&finding.rationale);
        let said = format!("before, at {at}: {}, because {rationale}", finding.verdict.as_str());
        ui.line(&Ui::tone(Tone::Dim, &said))?;
    }
    Ok(())
}
