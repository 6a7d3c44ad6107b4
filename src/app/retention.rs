//! `fornax gc`: what the user's policy lets go, by class, and letting it go.

use super::drain::DrainError;
use super::forget::{Chosen, Forgotten, Which, choose, clean_up, forget};
use super::lookup::LookupError;
use crate::base::time::Micros;
use crate::ports::journal::JournalReader;
use crate::ports::recorder::StoreError;
use crate::ports::settings::Retention;
use crate::ports::store::Store;

/// What goes now.
#[derive(Debug, Default)]
pub struct Due {
    pub conversations: Vec<Chosen>,
    /// Raw hook payloads, those of the conversations above included.
    pub raw: i64,
    raw_before: Option<Micros>,
}

impl Due {
    /// True when everything stays.
    pub fn is_empty(&self) -> bool {
        self.conversations.is_empty() && self.raw == 0
    }
}

/// What a policy lets go at this time.
///
/// # Errors
/// When the store cannot be read.
pub fn due(store: &mut dyn Store, policy: &Retention, now: Micros) -> Result<Due, LookupError> {
    let before = |span: i64| Micros(now.0.saturating_sub(span));
    let mut due = Due { raw_before: policy.raw_us.map(before), ..Due::default() };
    if let Some(span) = policy.conversations_us {
        due.conversations = choose(store.reader(), Which::Before(before(span)))?;
    }
    if let Some(at) = due.raw_before {
        due.raw = store.forgetter().raw_before(at)?;
    }
    Ok(due)
}

/// Lets it go. What an earlier removal left behind goes too.
///
/// # Errors
/// When rows cannot be removed.
pub fn apply(
    store: &mut dyn Store,
    journal: &dyn JournalReader,
    due: &Due,
    now: Micros,
) -> Result<Forgotten, StoreError> {
    if let Some(before) = due.raw_before.filter(|_| due.raw > 0) {
        store.forgetter().drop_raw(before)?;
    }
    if !due.conversations.is_empty() {
        return forget(store, journal, &due.conversations, now);
    }
    let mut left: Option<DrainError> = None;
    let mut backups = Vec::new();
    if due.raw > 0 {
        backups = store.forgetter().remove_backups()?;
    }
    if store.forgetter().needs_scrub()? {
        clean_up(store.forgetter(), &mut left)?;
    }
    Ok(Forgotten { backups, left, ..Forgotten::default() })
}
