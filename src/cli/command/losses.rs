//! `fornax losses`.

use crate::app::lookup;
use crate::base::text::one_line;
use crate::base::time::Micros;
use crate::cli::args::LossesArgs;
use crate::cli::parts::Parts;
use crate::cli::table;
use crate::cli::ui::Ui;
use anyhow::{Context as _, Result};
use serde_json::json;

/// Shows the loss ledger and the quarantine.
pub(super) fn run(args: &LossesArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let store = parts.store(false, None, &|text| ui.note(text)).context("cannot read losses")?;
    let reader = store.reader();
    let conversation = match &args.session {
        Some(word) => Some(lookup::by_word(reader, word)?.id),
        None => None,
    };
    let losses = reader.losses(conversation)?;
    let quarantine = if conversation.is_none() { reader.quarantine(None)? } else { Vec::new() };
    if ui.json {
        let time = |us: i64| (us != 0).then(|| Micros(us).rfc3339());
        let rows: Vec<_> = losses
            .iter()
            .map(|l| {
                json!({
                    "reason": l.reason, "detail": l.detail, "count": l.count,
                    "conversation": l.conversation, "source": l.source,
                    "first": time(l.first_us), "last": time(l.last_us),
                })
            })
            .collect();
        let lines: Vec<_> = quarantine
            .iter()
            .map(|q| {
                json!({
                    "source": q.seen.source, "offset": q.seen.offset, "length": q.seen.length,
                    "line_hash": q.seen.line_hash, "reason": q.reason,
                })
            })
            .collect();
        ui.json(&json!({ "losses": rows, "quarantine": lines }))?;
        return Ok(0);
    }
    if losses.is_empty() && quarantine.is_empty() {
        ui.line("nothing was lost")?;
        return Ok(0);
    }
    let cells: Vec<Vec<String>> = losses
        .iter()
        .map(|l| {
            vec![
                l.reason.clone(),
                l.count.to_string(),
                one_line(&l.detail),
                one_line(l.source.as_deref().unwrap_or("-")),
            ]
        })
        .collect();
    for line in table::render(&["REASON", "COUNT", "DETAIL", "SOURCE"], &cells) {
        ui.line(&line)?;
    }
    for q in &quarantine {
        ui.line(&format!(
            "quarantined: {} at byte {} ({} bytes): {}",
            one_line(&q.seen.source),
            q.seen.offset,
            q.seen.length,
            q.reason
        ))?;
    }
    Ok(0)
}
