//! `fornax losses --recheck`.

use crate::app::recheck::{Outcome, Recheck, Report};
use crate::app::resume::ReadOptions;
use crate::base::limits::LINE_BYTES_MAX;
use crate::base::text::one_line;
use crate::cli::parts::Parts;
use crate::cli::table;
use crate::cli::ui::Ui;
use crate::ports::store::Store;
use anyhow::Result;
use serde_json::{Value, json};

/// Tries what could not be read again, and says what became of it.
pub(super) fn run(
    conversation: Option<i64>,
    parts: &Parts,
    store: &mut dyn Store,
    ui: &mut Ui,
) -> Result<u8> {
    let namespace = store.reader().namespace().to_owned();
    let read = ReadOptions { namespace: &namespace, line_cap: LINE_BYTES_MAX, deep: false };
    let recheck = Recheck { files: parts.files.as_ref(), families: &parts.families, read };
    let report = recheck.run(store, conversation)?;
    if ui.json {
        ui.json(&as_json(&report))?;
    } else {
        print(&report, ui)?;
    }
    for (source, error) in &report.failed {
        ui.note(&format!(
            "{} could not be read again, its rows are kept: {error}",
            one_line(source)
        ));
    }
    Ok(u8::from(!report.failed.is_empty()))
}

fn as_json(report: &Report) -> Value {
    let reasons: Vec<Value> = report
        .reasons
        .iter()
        .map(|(reason, o)| {
            json!({
                "reason": reason, "rechecked": o.rechecked, "recovered": o.recovered,
                "still": o.still, "unavailable": o.unavailable,
            })
        })
        .collect();
    let failed: Vec<Value> = report
        .failed
        .iter()
        .map(|(source, error)| json!({ "source": source, "error": error }))
        .collect();
    json!({ "recheck": reasons, "read_again": report.read_again, "failed": failed })
}

fn print(report: &Report, ui: &mut Ui) -> Result<()> {
    if report.reasons.is_empty() {
        return Ok(ui.line("nothing to try again: no line and no shape was lost")?);
    }
    let cells: Vec<Vec<String>> =
        report.reasons.iter().map(|(reason, outcome)| row(reason, outcome)).collect();
    let header = ["REASON", "RECHECKED", "RECOVERED", "STILL", "UNAVAILABLE"];
    for line in table::render(&header, &cells) {
        ui.line(&line)?;
    }
    Ok(ui.line(&format!("{} sources were read again", report.read_again))?)
}

fn row(reason: &str, outcome: &Outcome) -> Vec<String> {
    let why: Vec<String> =
        outcome.unavailable.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    let why = if why.is_empty() { "0".to_owned() } else { why.join(", ") };
    let numbers = [outcome.rechecked, outcome.recovered, outcome.still].map(|n| n.to_string());
    std::iter::once(reason.to_owned()).chain(numbers).chain([why]).collect()
}
