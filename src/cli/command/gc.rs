//! `fornax gc`.

use super::forget::{Plan, as_json, open, told};
use crate::app::retention::{apply, due};
use crate::base::text::one_line;
use crate::base::when::span;
use crate::cli::args::GcArgs;
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::ui::Ui;
use crate::ports::settings::Retention;
use anyhow::Result;
use serde_json::{Value, json};

/// Applies the retention policy, or says what it would do.
pub(super) fn run(args: &GcArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let settings = parts.settings.settings().map_err(|error| Exit::bad_data(error.to_string()))?;
    for key in &settings.unknown {
        ui.note(&format!("config.toml: '{}' is no key that fornax knows", one_line(key)));
    }
    let policy = settings.retention;
    let mut store = open(!args.apply, parts, ui)?;
    let due = due(store.as_mut(), &policy, parts.clock.now())?;
    let plan = Plan::of(due.conversations.clone(), parts, store.as_mut())?;
    let done = match args.apply {
        true => Some(apply(store.as_mut(), parts.journal.as_ref(), &due, parts.clock.now())?),
        false => None,
    };
    if ui.json {
        let mut told = as_json(&plan, done.as_ref(), !args.apply);
        if let Value::Object(map) = &mut told {
            map.insert("raw".to_owned(), json!(due.raw));
            map.insert("policy".to_owned(), policy_as_json(&policy));
        }
        ui.json(&told)?;
        return Ok(if done.is_some_and(|done| done.left.is_some()) { 75 } else { 0 });
    }
    print_policy(&policy, ui)?;
    if due.raw > 0 {
        let verb = if args.apply { "removed" } else { "to remove" };
        ui.line(&format!("{verb}: {} raw hook payloads", due.raw))?;
    }
    let nothing = due.is_empty();
    if nothing {
        ui.line("nothing is older than that")?;
    }
    if nothing && done.is_none() {
        return Ok(0);
    }
    let code = told(&plan, done.as_ref(), ui)?;
    if !args.apply {
        ui.line("nothing was removed; `fornax gc --apply` does it")?;
    }
    Ok(code)
}

fn policy_as_json(policy: &Retention) -> Value {
    json!({ "conversations_us": policy.conversations_us, "raw_us": policy.raw_us })
}

fn print_policy(policy: &Retention, ui: &mut Ui) -> Result<()> {
    if *policy == Retention::default() {
        return Ok(ui.line("config.toml sets no [retention]: everything is kept")?);
    }
    for (class, kept) in
        [("conversations", policy.conversations_us), ("raw hook payloads", policy.raw_us)]
    {
        let kept = kept.map_or_else(|| "for good".to_owned(), span);
        ui.line(&format!("{class} are kept {kept}"))?;
    }
    Ok(())
}
