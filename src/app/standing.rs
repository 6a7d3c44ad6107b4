//! How a conversation stands: its findings, kept, and judged again when something was recorded since.

use super::verify::{Checks, Trust, check};
use crate::ports::findings::{Standing, Whose};
use crate::ports::git::GitWitness;
use crate::ports::reader::ConversationRow;
use crate::ports::recorder::StoreError;
use crate::ports::store::Store;

/// Judges a conversation by what fornax itself saw, and keeps the findings. Where they cannot be
/// kept the answer says why, and the findings are as good.
///
/// # Errors
/// When the store cannot be read.
pub fn judge(
    store: &mut dyn Store,
    conversation: &ConversationRow,
    git: Option<&dyn GitWitness>,
    now_us: i64,
) -> Result<(Checks, Option<StoreError>), StoreError> {
    let checks = check(store.reader(), conversation, Trust::BuiltIn, git)?;
    let kept = keep(store, conversation, &checks, now_us);
    Ok((checks, kept.err()))
}

/// Keeps findings that were given under the default trust.
///
/// # Errors
/// When the store cannot be written.
pub fn keep(
    store: &mut dyn Store,
    conversation: &ConversationRow,
    checks: &Checks,
    now_us: i64,
) -> Result<u64, StoreError> {
    let findings: Vec<_> =
        checks.checked.iter().map(|c| (c.claim.text.clone(), c.finding.clone())).collect();
    store.findings().keep_findings(conversation.id, &findings, now_us)
}

/// How a conversation stands now. It is judged first when something was recorded since it was
/// judged last.
///
/// # Errors
/// When the store cannot be read.
pub fn standing(
    store: &mut dyn Store,
    whose: Whose<'_>,
    git: Option<&dyn GitWitness>,
    now_us: i64,
) -> Result<Option<Standing>, StoreError> {
    let Some(found) = store.findings().standing(whose)? else { return Ok(None) };
    if !found.stale {
        return Ok(Some(found));
    }
    let rows = store.reader().find_conversations(&found.key)?;
    let Some(conversation) = rows.into_iter().find(|row| row.id == found.conversation) else {
        return Ok(Some(found));
    };
    let (_, not_kept) = judge(store, &conversation, git, now_us)?;
    if let Some(error) = not_kept {
        return Err(error);
    }
    store.findings().standing(Whose::Row(found.conversation))
}
