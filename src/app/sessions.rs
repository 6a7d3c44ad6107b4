//! `fornax sessions`: which conversations are listed, and how they descend from each other.

use crate::ports::reader::{ConversationRow, Reader, Rows};
use crate::ports::recorder::StoreError;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// What to list; everything absent lets everything through.
#[derive(Debug, Default)]
pub struct Filter {
    pub provider: Option<String>,
    /// Folder that the conversation's is, or lies below.
    pub cwd: Option<PathBuf>,
    /// Last activity at this time or later; what has no time is left out.
    pub since_us: Option<i64>,
    /// Only conversations with a failed call.
    pub failed: bool,
    /// Words that the title and the prompts together hold, whatever their letter case.
    pub text: Option<String>,
}

/// What was found.
#[derive(Debug)]
pub struct Listed {
    /// Latest activity first.
    pub found: Rows<ConversationRow>,
    /// Characters of a native id that tell every listed conversation from all others.
    pub id_chars: usize,
}

/// Characters of a native id that people are shown at least.
const ID_CHARS_MIN: usize = 8;

/// The conversations that pass.
///
/// # Errors
/// When the store cannot be read.
pub fn list(reader: &dyn Reader, filter: &Filter) -> Result<Listed, StoreError> {
    let mut found = reader.conversations()?;
    let mut ids: Vec<String> = found.rows.iter().map(|row| row.native_id.clone()).collect();
    ids.sort();
    found.rows.retain(|row| passes(row, filter));
    if let Some(text) = &filter.text {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let holding = holding(reader, &found.rows, &words)?;
        found.rows.retain(|row| holding.contains(&row.id));
    }
    let needed = found.rows.iter().map(|row| chars_needed(&row.native_id, &ids)).max();
    Ok(Listed { id_chars: needed.unwrap_or(0).max(ID_CHARS_MIN), found })
}

/// Characters that tell an id from its neighbours in the sorted list of all.
fn chars_needed(id: &str, sorted: &[String]) -> usize {
    let from = sorted.partition_point(|other| other.as_str() < id);
    let to = sorted.partition_point(|other| other.as_str() <= id);
    let before = from.checked_sub(1).and_then(|n| sorted.get(n));
    let after = sorted.get(to);
    let shared = |other: &String| id.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let longest = before.into_iter().chain(after).map(shared).max().unwrap_or(0);
    (longest + 1).min(id.chars().count())
}

fn passes(row: &ConversationRow, filter: &Filter) -> bool {
    let in_folder =
        |wanted: &Path| row.cwd.as_deref().is_some_and(|held| Path::new(held).starts_with(wanted));
    filter.provider.as_deref().is_none_or(|p| p == row.provider)
        && filter.cwd.as_deref().is_none_or(in_folder)
        && filter.since_us.is_none_or(|since| row.last_us.is_some_and(|last| last >= since))
        && (!filter.failed || row.failed_calls > 0)
}

/// The conversations whose title and prompts hold every word.
fn holding(
    reader: &dyn Reader,
    rows: &[ConversationRow],
    words: &[String],
) -> Result<HashSet<i64>, StoreError> {
    let mut missing: HashMap<i64, Vec<&str>> = HashMap::new();
    for row in rows {
        let open = words.iter().map(String::as_str).collect();
        missing.insert(row.id, open);
        strike(&mut missing, row.id, row.title.as_deref().unwrap_or_default());
    }
    reader.prompts(&mut |conversation, text| strike(&mut missing, conversation, text))?;
    Ok(missing.into_iter().filter(|(_, open)| open.is_empty()).map(|(id, _)| id).collect())
}

/// Takes the words that a text holds out of those still looked for.
fn strike(missing: &mut HashMap<i64, Vec<&str>>, conversation: i64, text: &str) {
    if let Some(open) = missing.get_mut(&conversation).filter(|open| !open.is_empty()) {
        let text = text.to_lowercase();
        open.retain(|word| !text.contains(word));
    }
}

/// A conversation in the tree of those it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// 0 for one that stands at the top.
    pub depth: usize,
    pub row: ConversationRow,
}

/// The rows as a tree: what another row started or what was forked from it stands below that row,
/// earliest first; the tops keep their order. A row that descends from itself stands at the top.
pub fn tree(rows: Vec<ConversationRow>) -> Vec<Branch> {
    let index: HashMap<String, usize> =
        rows.iter().enumerate().map(|(n, row)| (row.key.clone(), n)).collect();
    let above = |row: &ConversationRow| {
        let origin = row.parent.as_ref().or(row.forked_from.as_ref())?;
        index.get(origin).copied()
    };
    let parents: Vec<Option<usize>> = rows.iter().map(above).collect();
    let mut below: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut waiting = Vec::new();
    for n in 0..rows.len() {
        match parents.get(n).copied().flatten().filter(|_| !is_own_ancestor(n, &parents)) {
            Some(parent) => below.entry(parent).or_default().push(n),
            None => waiting.push((0, n)),
        }
    }
    let first = |n: &usize| rows.get(*n).map(|row| (row.first_us, row.key.as_str()));
    for children in below.values_mut() {
        children.sort_by(|a, b| first(b).cmp(&first(a)));
    }
    waiting.reverse();
    let mut order = Vec::with_capacity(rows.len());
    while let Some((depth, n)) = waiting.pop() {
        order.push((depth, n));
        waiting.extend(below.remove(&n).into_iter().flatten().map(|child| (depth + 1, child)));
    }
    let mut rows: Vec<Option<ConversationRow>> = rows.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|(depth, n)| Some(Branch { depth, row: rows.get_mut(n)?.take()? }))
        .collect()
}

/// Whether the line of origins comes back to where it began.
fn is_own_ancestor(of: usize, parents: &[Option<usize>]) -> bool {
    let mut at = of;
    for _ in 0..=parents.len() {
        match parents.get(at).copied().flatten() {
            Some(parent) if parent == of => return true,
            Some(parent) => at = parent,
            None => return false,
        }
    }
    // A circle further up: whoever is part of it stands at the top.
    false
}

#[cfg(test)]
mod tests;
