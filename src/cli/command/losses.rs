//! `fornax losses`.

use super::losses_recheck;
use crate::app::lookup;
use crate::base::text::one_line;
use crate::base::time::Micros;
use crate::cli::args::{LossesArgs, LossesBy};
use crate::cli::parts::Parts;
use crate::cli::table;
use crate::cli::ui::{Tone, Ui};
use crate::domain::loss::LossReason;
use crate::ports::reader::{LossRow, QuarantineRow};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Losses that share a reason or a conversation, with their quarantined lines.
#[derive(Default)]
struct Group<'a> {
    losses: Vec<&'a LossRow>,
    quarantined: Vec<&'a QuarantineRow>,
}

/// Shows the loss ledger and the quarantine.
pub(super) fn run(args: &LossesArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let mut store =
        parts.store(false, None, &|text| ui.note(text)).context("cannot read losses")?;
    let conversation = match &args.session {
        Some(word) => Some(lookup::by_word(store.reader(), word)?.id),
        None => None,
    };
    if args.recheck {
        return losses_recheck::run(conversation, parts, store.as_mut(), ui);
    }
    let reader = store.reader();
    let losses = reader.losses(conversation)?;
    let quarantine = reader.quarantine(conversation)?;
    let groups = grouped(args.by, &losses, &quarantine);
    if ui.json {
        let rows: Vec<_> = losses.iter().map(loss_json).collect();
        let lines: Vec<_> = quarantine.iter().map(quarantine_json).collect();
        let groups: Vec<_> = groups.iter().map(|(key, group)| group_json(key, group)).collect();
        ui.json(&json!({ "losses": rows, "quarantine": lines, "groups": groups }))?;
        return Ok(0);
    }
    if losses.is_empty() && quarantine.is_empty() {
        ui.line("nothing was lost")?;
        return Ok(0);
    }
    for (place, (key, group)) in groups.iter().enumerate() {
        if place > 0 {
            ui.line("")?;
        }
        print(key.as_deref(), group, args.by, ui)?;
    }
    Ok(0)
}

/// The rows by their reason or by their conversation; `None` is what no conversation is known of.
fn grouped<'a>(
    by: LossesBy,
    losses: &'a [LossRow],
    quarantine: &'a [QuarantineRow],
) -> BTreeMap<Option<String>, Group<'a>> {
    let mut groups: BTreeMap<Option<String>, Group<'a>> = BTreeMap::new();
    for row in losses {
        let key = match by {
            LossesBy::Reason => Some(row.reason.clone()),
            LossesBy::Session => row.conversation.clone(),
        };
        groups.entry(key).or_default().losses.push(row);
    }
    for row in quarantine {
        let key = match by {
            LossesBy::Reason => Some(LossReason::LineUnparseable.as_str().to_owned()),
            LossesBy::Session => row.conversation.clone(),
        };
        groups.entry(key).or_default().quarantined.push(row);
    }
    groups
}

fn unit(row: &LossRow) -> &'static str {
    LossReason::from_tag(&row.reason).unit()
}

/// `3 times, 4711 bytes`: counts of different things are never added.
fn total(group: &Group<'_>) -> BTreeMap<&'static str, i64> {
    let mut by_unit = BTreeMap::new();
    for row in &group.losses {
        *by_unit.entry(unit(row)).or_default() += row.count;
    }
    by_unit
}

fn print(key: Option<&str>, group: &Group<'_>, by: LossesBy, ui: &mut Ui) -> Result<()> {
    let total: Vec<String> = total(group).iter().map(|(unit, n)| format!("{n} {unit}")).collect();
    let name = one_line(key.unwrap_or("no session known"));
    ui.line(&format!("{}  {}", Ui::tone(Tone::Strong, &name), total.join(", ")))?;
    let cells: Vec<Vec<String>> = group
        .losses
        .iter()
        .map(|l| {
            let other = match by {
                LossesBy::Reason => l.conversation.as_deref().unwrap_or("-"),
                LossesBy::Session => &l.reason,
            };
            let source = one_line(l.source.as_deref().unwrap_or("-"));
            let count = l.count.to_string();
            vec![count, unit(l).to_owned(), one_line(other), one_line(&l.detail), source]
        })
        .collect();
    let other = match by {
        LossesBy::Reason => "SESSION",
        LossesBy::Session => "REASON",
    };
    for line in table::render(&["COUNT", "UNIT", other, "DETAIL", "SOURCE"], &cells) {
        ui.line(&format!("  {line}"))?;
    }
    for row in &group.quarantined {
        let seen = &row.seen;
        let source = one_line(&seen.source);
        ui.line(&format!(
            "  quarantined ({}): {source} byte {}, {} bytes, hash {}",
            row.reason, seen.offset, seen.length, seen.line_hash
        ))?;
        if let Some(locator) = seen.locator() {
            ui.line(&Ui::tone(Tone::Dim, &format!("    {locator}")))?;
        }
    }
    Ok(())
}

fn loss_json(l: &LossRow) -> Value {
    let time = |us: i64| (us != 0).then(|| Micros(us).rfc3339());
    json!({
        "reason": l.reason, "detail": l.detail, "count": l.count, "unit": unit(l),
        "conversation": l.conversation, "source": l.source,
        "first": time(l.first_us), "last": time(l.last_us),
    })
}

fn quarantine_json(q: &QuarantineRow) -> Value {
    let seen = &q.seen;
    json!({
        "source": seen.source, "offset": seen.offset, "length": seen.length,
        "line_hash": seen.line_hash, "locator": seen.locator().map(|l| l.to_string()),
        "reason": q.reason, "conversation": q.conversation,
    })
}

fn group_json(key: &Option<String>, group: &Group<'_>) -> Value {
    json!({ "key": key, "counts": total(group), "quarantined": group.quarantined.len() })
}
