//! `fornax status`: the newest verdicts in one line.

use crate::app::lookup;
use crate::app::standing::standing;
use crate::base::text::{one_line, shorten};
use crate::base::time::Micros;
use crate::cli::args::StatusArgs;
use crate::cli::exit::Exit;
use crate::cli::parts::Parts;
use crate::cli::ui::{Tone, Ui};
use crate::domain::verdict::Verdict;
use crate::ports::findings::{KeptFinding, Standing, Whose};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// Characters of a claim in the line.
const CLAIM_CHARS: usize = 80;

/// Prints how the latest conversation of this folder, or a named one, stands.
pub(super) fn run(args: &StatusArgs, parts: &Parts, ui: &mut Ui) -> Result<u8> {
    let mut store = parts.store(false, None, &|text| ui.note(text)).context("no status")?;
    let named = match &args.session {
        Some(word) => Some(lookup::by_word(store.reader(), word)?.id),
        None => None,
    };
    let whose = named.map_or(Whose::LatestIn(&parts.environment.cwd), Whose::Row);
    let git = Some(parts.git.as_ref());
    let Some(standing) = standing(store.as_mut(), whose, git, parts.clock.now().0)? else {
        let text = "no session of this folder is recorded; `fornax sessions` lists all";
        return Err(Exit::unavailable(text.to_owned()).into());
    };
    if ui.json {
        ui.json(&as_json(&standing))?;
    } else {
        ui.line(&line(&standing))?;
    }
    Ok(0)
}

/// `claude_code 5c1d2f0a: 1 contradicted, 3 verified; CONTRADICTED "All tests pass."`
fn line(standing: &Standing) -> String {
    let id: String = standing.native_id.chars().take(8).collect();
    let who = format!("{} {}", one_line(&standing.provider), one_line(&id));
    let Some(foremost) = &standing.foremost else {
        return format!("{who}: no checkable claim was recorded");
    };
    let claim = shorten(&one_line(&foremost.claim), CLAIM_CHARS);
    let verdict = super::verify::verdict(&foremost.finding);
    format!("{who}: {}; {verdict} \"{claim}\"", counts(standing))
}

/// The counts in words, the weightiest first.
pub(super) fn counts(standing: &Standing) -> String {
    let word = |verdict: Verdict| {
        let count = standing.counts.get(&verdict).filter(|n| **n > 0)?;
        let tone = match verdict {
            Verdict::Contradicted => Tone::Bad,
            Verdict::Verified => Tone::Good,
            Verdict::Review => Tone::Doubt,
            Verdict::Unverified | Verdict::Unavailable => Tone::Dim,
        };
        Some(Ui::tone(tone, &format!("{count} {}", verdict.as_str())))
    };
    Verdict::ALL.into_iter().filter_map(word).collect::<Vec<_>>().join(", ")
}

fn as_json(standing: &Standing) -> Value {
    let count = |verdict: Verdict| standing.counts.get(&verdict).copied().unwrap_or_default();
    let counts: serde_json::Map<String, Value> =
        Verdict::ALL.into_iter().map(|v| (v.as_str().to_owned(), count(v).into())).collect();
    json!({
        "conversation": standing.key,
        "provider": standing.provider,
        "native_id": standing.native_id,
        "counts": counts,
        "judged_at": standing.judged_us.map(|at| Micros(at).rfc3339()),
        "finding": standing.foremost.as_ref().map(kept_json),
    })
}

/// A finding as it was kept.
pub(super) fn kept_json(kept: &KeptFinding) -> Value {
    let finding = &kept.finding;
    json!({
        "id": finding.id,
        "claim": { "id": finding.claim_id, "text": kept.claim },
        "verdict": finding.verdict,
        "reason": finding.reason,
        "rationale": finding.rationale,
        "evidence_ids": finding.evidence_ids,
        "verifier_name": finding.verifier_name,
        "judged_at": Micros(kept.judged_us).rfc3339(),
        "replaced_at": kept.replaced_us.map(|at| Micros(at).rfc3339()),
    })
}
