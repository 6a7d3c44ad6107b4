//! `fornax verify`.

mod explain;
mod range;

use crate::app::verify::{Checked, Checks, Trust, check, place};
use crate::app::{lookup, standing};
use crate::base::text::one_line;
use crate::cli::args::VerifyArgs;
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::ui::{Tone, Ui};
use crate::domain::verdict::{Finding, Verdict};
use crate::ports::reader::{ConversationRow, Reader};
use crate::ports::store::Store;
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

/// Checks the claims of one conversation, or of those that a folder and a span of time choose.
pub(super) fn run(args: &VerifyArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let mut store = parts.store(false, None, &|text| ui.note(text)).context("cannot verify")?;
    let chosen = chosen(args, parts, store.reader())?;
    if let Some(id) = args.explain {
        return explain::run(id, &chosen, parts, store.as_mut(), ui);
    }
    let mut all = Vec::new();
    for conversation in chosen {
        let checks = check_and_keep(args, &conversation, parts, store.as_mut(), ui)?;
        all.push((conversation, checks));
    }
    if is_range(args) {
        range::print(&all, ui)?;
    } else if let Some((conversation, checks)) = all.first() {
        if ui.json {
            ui.json(&as_json(conversation, checks))?;
        } else {
            print(conversation, checks, ui)?;
        }
    }
    let failed: Vec<_> = all.iter().flat_map(|(_, checks)| &checks.failed).collect();
    for row in &failed {
        ui.note(&format!("row {} could not be read: {}", row.id, row.error));
    }
    if args.exit_code {
        return Ok(exit_code(all.iter().flat_map(|(_, checks)| &checks.checked)));
    }
    Ok(u8::from(!failed.is_empty()))
}

/// Findings that rest on a person's trust are an answer, and are not kept.
fn check_and_keep(
    args: &VerifyArgs,
    conversation: &ConversationRow,
    parts: &Parts,
    store: &mut dyn Store,
    ui: &Ui,
) -> Result<Checks> {
    if args.trust_messages {
        return Ok(check(store.reader(), conversation, Trust::Messages, Some(parts.git.as_ref()))?);
    }
    let (checks, not_kept) =
        standing::judge(store, conversation, Some(parts.git.as_ref()), parts.clock.now().0)?;
    if let Some(error) = not_kept {
        ui.note(&format!("the findings were not kept: {error}"));
    }
    Ok(checks)
}

fn is_range(args: &VerifyArgs) -> bool {
    args.project.is_some() || args.since.is_some() || args.until.is_some()
}

/// The conversations to check; with `--explain` and no session, none yet.
fn chosen(args: &VerifyArgs, parts: &Parts, reader: &dyn Reader) -> Result<Vec<ConversationRow>> {
    if is_range(args) {
        return range::chosen(args, parts, reader);
    }
    match &args.session {
        Some(word) => Ok(vec![lookup::by_word(reader, word)?]),
        None if args.explain.is_some() => Ok(Vec::new()),
        None => match lookup::latest_here(reader, &parts.environment.cwd) {
            Ok(row) => Ok(vec![row]),
            Err(e @ lookup::LookupError::NoneHere { .. }) => {
                Err(Exit::unavailable(e.to_string()).into())
            }
            Err(other) => Err(other.into()),
        },
    }
}

/// 0 with something verified and nothing contradicted, 1 contradicted, 69 nothing to judge by.
fn exit_code<'a>(checked: impl Iterator<Item = &'a Checked>) -> u8 {
    let mut code = 69;
    for one in checked {
        match one.finding.verdict {
            Verdict::Contradicted => return 1,
            Verdict::Verified => code = 0,
            Verdict::Review | Verdict::Unverified | Verdict::Unavailable => {}
        }
    }
    code
}

fn counts(checked: &[&Checked]) -> BTreeMap<&'static str, usize> {
    VERDICTS
        .into_iter()
        .map(|v| (v.as_str(), checked.iter().filter(|c| c.finding.verdict == v).count()))
        .collect()
}

/// The counts that are not 0, in words.
fn in_words(checked: &[&Checked]) -> String {
    let counts = counts(checked).into_iter().filter(|(_, n)| *n > 0);
    counts.map(|(verdict, n)| format!("{n} {verdict}")).collect::<Vec<_>>().join(", ")
}

fn as_json(conversation: &ConversationRow, checks: &Checks) -> Value {
    json!({
        "conversation": conversation.key,
        "findings": checks.checked.iter().map(finding_json).collect::<Vec<_>>(),
        "counts": counts(&checks.checked.iter().collect::<Vec<_>>()),
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
    ui.line("")?;
    Ok(ui.line(&in_words(&checks.checked.iter().collect::<Vec<_>>()))?)
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
