//! `fornax export-spool`.

use crate::app::export::{Export, Exported, Wire};
use crate::app::lookup;
use crate::base::text::path_name;
use crate::cli::args::{ExportArgs, WireArg};
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::ui::Ui;
use anyhow::{Context as _, Result};
use serde_json::json;

/// Writes a spool.
pub(super) fn run(args: &ExportArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let mut store = parts.store(false, None, &|text| ui.note(text)).context("cannot export")?;
    let reader = store.reader();
    let mut unreadable = Vec::new();
    let conversations = match &args.session {
        Some(word) => vec![lookup::by_word(reader, word)?],
        None => {
            let mut found = reader.conversations()?;
            found.rows.sort_by(|a, b| a.key.cmp(&b.key));
            unreadable = found.failed;
            found.rows
        }
    };
    let out = parts.absolute(&args.out);
    let mut spool = (parts.open_spool)(&out)
        .map_err(|e| Exit::io(format!("cannot write into {}: {e}", out.display())))?;
    let wire = match args.wire {
        WireArg::Legacy => Wire::Legacy,
        WireArg::Full => Wire::Full,
    };
    let mut export = Export::new(reader, spool.as_mut(), wire);
    export.fail(unreadable);
    for conversation in &conversations {
        export.conversation(conversation).context("cannot read the store")?;
    }
    let done = export.finish().context("cannot write the manifest")?;
    drop(spool);
    // So that `forget` can name what is there.
    let ids: Vec<i64> = conversations.iter().map(|row| row.id).collect();
    let noted = store.forgetter().note_export(&ids, &path_name(&out), parts.clock.now());
    if let Err(error) = noted {
        ui.note(&format!("the store does not know of this export: {error}"));
    }
    if ui.json {
        ui.json(&json!({
            "out": out, "written": done.written, "unchanged": done.unchanged,
            "counts": done.counts.0, "excluded": done.excluded.0, "failed": done.failed,
        }))?;
    } else {
        print(&done, &out.display().to_string(), ui)?;
    }
    for failed in &done.failed {
        ui.note(&format!("{} was not exported: {}", failed.id, failed.error));
    }
    Ok(u8::from(!done.failed.is_empty()))
}

fn print(done: &Exported, out: &str, ui: &mut Ui) -> Result<()> {
    let counts: Vec<String> =
        done.counts.0.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let counts = if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") };
    ui.line(&format!("{counts} in {out}/pending ({} new files)", done.written))?;
    if !done.excluded.is_empty() {
        ui.line(&format!(
            "{} records are not on this wire by design (manifest.json counts them)",
            done.excluded.total()
        ))?;
    }
    Ok(())
}
