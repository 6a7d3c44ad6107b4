//! A map that forgets its oldest entries past a cap, so that state stays bounded on any file.
//!
//! It is snapshotted as a list in order of insertion, which makes the restored map forget in the
//! same order.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Entries by key with the order they came in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    from = "Vec<(String, T)>",
    into = "Vec<(String, T)>",
    bound(serialize = "T: Clone + Serialize")
)]
pub(super) struct Recent<T> {
    items: BTreeMap<String, (u64, T)>,
    order: BTreeMap<u64, String>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { items: BTreeMap::new(), order: BTreeMap::new() }
    }
}

impl<T> Recent<T> {
    /// Puts an entry last; an older one of the same key is replaced.
    pub(super) fn insert(&mut self, key: &str, item: T) {
        self.remove(key);
        let next = self.order.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
        self.order.insert(next, key.to_owned());
        self.items.insert(key.to_owned(), (next, item));
    }

    pub(super) fn get(&self, key: &str) -> Option<&T> {
        self.items.get(key).map(|(_, item)| item)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut T> {
        self.items.get_mut(key).map(|(_, item)| item)
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<T> {
        let (place, item) = self.items.remove(key)?;
        self.order.remove(&place);
        Some(item)
    }

    /// Takes the oldest entry out.
    pub(super) fn pop_oldest(&mut self) -> Option<(String, T)> {
        let (_, key) = self.order.pop_first()?;
        let (_, item) = self.items.remove(&key)?;
        Some((key, item))
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Inserts, then forgets the oldest entries past `cap`.
    pub(super) fn insert_capped(&mut self, key: &str, item: T, cap: usize) {
        self.insert(key, item);
        while self.len() > cap {
            self.pop_oldest();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.order
            .values()
            .filter_map(|key| self.items.get(key).map(|(_, item)| (key.as_str(), item)))
    }
}

impl<T> From<Vec<(String, T)>> for Recent<T> {
    fn from(list: Vec<(String, T)>) -> Self {
        let mut recent = Self::default();
        for (key, item) in list {
            recent.insert(&key, item);
        }
        recent
    }
}

impl<T> From<Recent<T>> for Vec<(String, T)> {
    fn from(mut recent: Recent<T>) -> Self {
        std::iter::from_fn(|| recent.pop_oldest()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entry_goes_first_also_after_a_round_trip() {
        let mut recent = Recent::default();
        for key in ["z", "a", "m"] {
            recent.insert_capped(key, key.len(), 3);
        }
        let json = serde_json::to_string(&recent).unwrap();
        let mut back: Recent<usize> = serde_json::from_str(&json).unwrap();
        back.insert_capped("b", 1, 3);
        assert_eq!(back.get("z"), None);
        assert!(back.get("a").is_some());
        assert_eq!(back.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["a", "m", "b"]);
    }

    #[test]
    fn an_entry_put_again_counts_as_the_newest() {
        let mut recent = Recent::default();
        recent.insert("a", 1);
        recent.insert("b", 2);
        recent.insert("a", 3);
        assert_eq!(recent.pop_oldest(), Some(("b".to_owned(), 2)));
        assert_eq!(recent.get("a"), Some(&3));
    }
}
