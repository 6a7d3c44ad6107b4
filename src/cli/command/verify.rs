//! `fornax verify`.

use crate::app::lookup;
use crate::app::verify::{Checked, Checks, Trust, check, place};
use crate::base::text::one_line;
use crate::cli::args::VerifyArgs;
use crate::cli::parts::Parts;
use crate::cli::ui::{Tone, Ui};
use crate::domain::verdict::{Finding, Verdict};
use crate::ports::reader::{ConversationRow, Reader};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const VERDICTS: [Verdict; 5] = [
    Verdict::Verified,
    Verdict::Contradicted,
    Verdict::Review,
    Verdict::Unverified,
    Verdict::Unavailable,
];

/// Checks the claims of one conversation.
pub(super) fn run(args: &VerifyArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let store = parts.store(false, None, &|text| ui.note(text)).context("cannot verify")?;
    let conversation = find(args, parts, store.reader())?;
    let trust = if args.trust_messages { Trust::Messages } else { Trust::BuiltIn };
    let checks = check(store.reader(), &conversation, trust)?;
    if ui.json {
        ui.json(&as_json(&conversation, &checks))?;
    } else {
        print(&conversation, &checks, ui)?;
    }
    for failed in &checks.failed {
        ui.note(&format!("row {} could not be read: {}", failed.id, failed.error));
    }
    if args.exit_code {
        return Ok(exit_code(&checks));
    }
    Ok(u8::from(!checks.failed.is_empty()))
}

fn find(args: &VerifyArgs, parts: &Parts, reader: &dyn Reader) -> Result<ConversationRow> {
    match &args.session {
        Some(word) => Ok(lookup::by_word(reader, word)?),
        None => lookup::latest_here(reader, &parts.environment.cwd).map_err(|e| match e {
            lookup::LookupError::NoneHere { .. } => {
                crate::cli::exit::Exit::unavailable(e.to_string()).into()
            }
            other => other.into(),
        }),
    }
}

/// 0 with something verified and nothing contradicted, 1 contradicted, 69 nothing to judge by.
fn exit_code(checks: &Checks) -> u8 {
    let has = |verdict| checks.checked.iter().any(|c| c.finding.verdict == verdict);
    if has(Verdict::Contradicted) {
        1
    } else if has(Verdict::Verified) {
        0
    } else {
        69
    }
}

fn counts(checks: &Checks) -> BTreeMap<&'static str, usize> {
    VERDICTS
        .into_iter()
        .map(|v| (v.as_str(), checks.checked.iter().filter(|c| c.finding.verdict == v).count()))
        .collect()
}

fn as_json(conversation: &ConversationRow, checks: &Checks) -> Value {
    json!({
        "conversation": conversation.key,
        "findings": checks.checked.iter().map(finding_json).collect::<Vec<_>>(),
        "counts": counts(checks),
        "failed": checks.failed,
    })
}

/// One finding, with its claim.
pub(super) fn finding_json(checked: &Checked) -> Value {
    let finding = &checked.finding;
    let evidence: Vec<Value> =
        checked.evidence.iter().map(|(id, seen)| json!({ "id": id, "seen": seen })).collect();
    json!({
        "id": finding.id,
        "claim": {
            "id": checked.claim.id, "text": checked.claim.text,
            "subject": checked.claim.subject, "seen": checked.claim.seen,
        },
        "verdict": finding.verdict,
        "reason": finding.reason,
        "rationale": finding.rationale,
        "evidence_ids": finding.evidence_ids,
        "evidence": evidence,
        "verifier_name": finding.verifier_name,
    })
}

fn print(conversation: &ConversationRow, checks: &Checks, ui: &mut Ui) -> Result<()> {
    ui.line(&format!("{} {}", conversation.provider, one_line(&conversation.native_id)))?;
    if checks.checked.is_empty() {
        return Ok(ui.line("no checkable claim was recorded")?);
    }
    for checked in &checks.checked {
        print_one(checked, ui)?;
    }
    let words: Vec<String> = counts(checks)
        .into_iter()
        .filter(|(_, n)| *n > 0)
        .map(|(verdict, n)| format!("{n} {verdict}"))
        .collect();
    ui.line("")?;
    Ok(ui.line(&words.join(", "))?)
}

/// One finding in three lines: verdict and claim, why, and where the claim was made.
pub(super) fn print_one(checked: &Checked, ui: &mut Ui) -> Result<()> {
    let finding = &checked.finding;
    ui.line(&format!("{} \"{}\"", verdict(finding), one_line(&checked.claim.text)))?;
    ui.line(&format!("  because {} [{}]", finding.rationale, finding.reason))?;
    if let Some(seen) = &checked.claim.seen {
        ui.line(&Ui::tone(Tone::Dim, &format!("  claimed at {}", one_line(&place(seen)))))?;
    }
    if !finding.evidence_ids.is_empty() {
        let ids: Vec<String> = finding.evidence_ids.iter().map(ToString::to_string).collect();
        ui.line(&Ui::tone(Tone::Dim, &format!("  evidence {}", ids.join(", "))))?;
    }
    Ok(())
}

/// The verdict as a coloured word.
pub(super) fn verdict(finding: &Finding) -> String {
    let tone = match finding.verdict {
        Verdict::Verified => Tone::Good,
        Verdict::Contradicted => Tone::Bad,
        Verdict::Review => Tone::Doubt,
        Verdict::Unverified | Verdict::Unavailable => Tone::Dim,
    };
    Ui::tone(tone, &finding.verdict.as_str().to_uppercase())
}

/// Whether a finding says the opposite of its claim.
pub(super) fn is_contradicted(finding: &Finding) -> bool {
    finding.verdict == Verdict::Contradicted
}
