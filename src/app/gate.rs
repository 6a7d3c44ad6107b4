//! `fornax hook --gate`: whether the end of a turn is blocked, and why.
//!
//! It speaks only when a claim of this very turn is contradicted by a literal exit code, and at most
//! once a turn. Whatever is in doubt is silence.

use super::standing;
use super::verify::Checked;
use crate::base::text::{one_line, shorten};
use crate::domain::verdict::{Reason, Verdict};
use crate::ports::agent::TurnStop;
use crate::ports::reader::ConversationRow;
use crate::ports::recorder::StoreError;
use crate::ports::store::Store;

/// Characters of a claim in the reason.
const CLAIM_CHARS: usize = 200;

/// The reason for which the end of the turn is blocked; none lets it end.
///
/// # Errors
/// When the store cannot be read, or the block cannot be noted: then there is none.
pub fn block(
    store: &mut dyn Store,
    provider: &str,
    stop: &TurnStop,
    now_us: i64,
) -> Result<Option<String>, StoreError> {
    if stop.blocked_before {
        return Ok(None);
    }
    let Some(conversation) = conversation(store, provider, &stop.native_id)? else {
        return Ok(None);
    };
    // A repository may take longer than the agent waits.
    let (checks, _) = standing::judge(store, &conversation, None, now_us)?;
    let latest = checks.checked.iter().map(|c| c.claim.order_us).max();
    let of_turn = |checked: &&Checked| match &stop.turn {
        Some(turn) => checked.claim.turn_id.as_ref() == Some(turn),
        // Without a turn's name only the words that were just said are this turn's for certain.
        None => Some(checked.claim.order_us) == latest,
    };
    let Some(wrong) = checks.checked.iter().filter(of_turn).find(|c| is_literal(c)) else {
        return Ok(None);
    };
    let turn = stop.turn.clone().unwrap_or_else(|| wrong.claim.id.to_string());
    if !store.findings().gate_once(conversation.id, &turn, now_us)? {
        return Ok(None);
    }
    let claim = shorten(&one_line(&wrong.claim.text), CLAIM_CHARS);
    let rationale = one_line(&wrong.finding.rationale);
    Ok(Some(format!(
        "fornax: you said \"{claim}\", but {rationale}. Fix it, or say what is really so."
    )))
}

fn is_literal(checked: &Checked) -> bool {
    let finding = &checked.finding;
    finding.verdict == Verdict::Contradicted
        && finding.reason == Reason::ExitNonzero
        && !finding.evidence_ids.is_empty()
}

fn conversation(
    store: &dyn Store,
    provider: &str,
    native_id: &str,
) -> Result<Option<ConversationRow>, StoreError> {
    let mut rows = store.reader().find_conversations(native_id)?;
    rows.retain(|row| row.provider == provider && row.native_id == native_id);
    Ok(if rows.len() == 1 { rows.pop() } else { None })
}
