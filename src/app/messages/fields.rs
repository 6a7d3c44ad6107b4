//! Taking the keys of one record, each checked; what is left over at the end was not known.
//!
//! A refusal names the key and the rule, never a value.

use crate::app::redact;
use crate::base::time::Micros;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeSet;
use uuid::Uuid;

/// Longest id or provenance, in bytes.
const ID_BYTES_MAX: usize = 1024;
/// Longest tag, in bytes.
const TAG_BYTES_MAX: usize = 80;

/// Why a record was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    key: String,
    rule: String,
}

impl Refusal {
    pub(super) fn new(key: &str, rule: &str) -> Self {
        Self { key: key.to_owned(), rule: rule.to_owned() }
    }

    /// `<type>.<key>: <rule>`, for a loss.
    pub(super) fn detail(&self, kind: &str) -> String {
        format!("{kind}.{}: {}", self.key, self.rule)
    }
}

type Taken<T> = Result<T, Refusal>;

/// The keys of one record.
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    taken: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(map: &'a Map<String, Value>) -> Self {
        Self { map, taken: RefCell::new(BTreeSet::from(["type"])) }
    }

    /// Keys that nobody asked for.
    pub(super) fn unknown(&self) -> Vec<String> {
        let taken = self.taken.borrow();
        self.map.keys().filter(|key| !taken.contains(key.as_str())).cloned().collect()
    }

    /// A value that is there and not null.
    pub(super) fn value(&self, key: &'static str) -> Option<&'a Value> {
        self.taken.borrow_mut().insert(key);
        self.map.get(key).filter(|v| !v.is_null())
    }

    pub(super) fn required(&self, key: &'static str) -> Taken<&'a Value> {
        self.value(key).ok_or_else(|| Refusal::new(key, "missing"))
    }

    /// A text of any length; the pipeline cuts it.
    pub(super) fn text_opt(&self, key: &'static str) -> Taken<Option<&'a str>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Refusal::new(key, "not a string")),
        }
    }

    pub(super) fn text(&self, key: &'static str) -> Taken<&'a str> {
        self.text_opt(key)?.ok_or_else(|| Refusal::new(key, "missing"))
    }

    /// A short text: an id, a place, a model.
    pub(super) fn id_opt(&self, key: &'static str) -> Taken<Option<String>> {
        match self.text_opt(key)? {
            Some("") => Err(Refusal::new(key, "empty")),
            Some(text) if text.len() > ID_BYTES_MAX => Err(Refusal::new(key, "too long")),
            Some(text) => Ok(Some(text.to_owned())),
            None => Ok(None),
        }
    }

    pub(super) fn id(&self, key: &'static str) -> Taken<String> {
        self.id_opt(key)?.ok_or_else(|| Refusal::new(key, "missing"))
    }

    /// An id that nothing behind this cleans: one that holds a secret is refused.
    pub(super) fn plain_id_opt(&self, key: &'static str) -> Taken<Option<String>> {
        match self.id_opt(key)? {
            Some(id) if redact::identifier(&id).is_some() => {
                Err(Refusal::new(key, "holds a secret"))
            }
            other => Ok(other),
        }
    }

    /// A word of an open vocabulary.
    pub(super) fn tag_opt(&self, key: &'static str) -> Taken<Option<&'a str>> {
        let Some(tag) = self.text_opt(key)? else { return Ok(None) };
        let fits = !tag.trim().is_empty() && tag.len() <= TAG_BYTES_MAX;
        if redact::identifier(tag).is_some() {
            return Err(Refusal::new(key, "holds a secret"));
        }
        if fits && !tag.chars().any(char::is_control) {
            Ok(Some(tag))
        } else {
            Err(Refusal::new(key, "not a tag"))
        }
    }

    pub(super) fn tag(&self, key: &'static str) -> Taken<&'a str> {
        self.tag_opt(key)?.ok_or_else(|| Refusal::new(key, "missing"))
    }

    /// A UUID in its one canonical spelling.
    pub(super) fn uuid_opt(&self, key: &'static str) -> Taken<Option<Uuid>> {
        let Some(text) = self.text_opt(key)? else { return Ok(None) };
        match Uuid::try_parse(text) {
            Ok(id) if !id.is_nil() && id.hyphenated().to_string() == text => Ok(Some(id)),
            _ => Err(Refusal::new(key, "not a UUID in lower case with hyphens")),
        }
    }

    pub(super) fn uuid(&self, key: &'static str) -> Taken<Uuid> {
        self.uuid_opt(key)?.ok_or_else(|| Refusal::new(key, "missing"))
    }

    /// An RFC 3339 time, as spelled.
    pub(super) fn time(&self, key: &'static str) -> Taken<String> {
        let text = self.text(key)?;
        let time = Micros::parse(text).map(|_| text.to_owned());
        time.ok_or_else(|| Refusal::new(key, "not an RFC 3339 time"))
    }

    pub(super) fn integer_opt(&self, key: &'static str) -> Taken<Option<i64>> {
        match self.value(key) {
            None => Ok(None),
            Some(value) => {
                value.as_i64().map(Some).ok_or_else(|| Refusal::new(key, "not an integer"))
            }
        }
    }

    /// A count: an integer that is not negative.
    pub(super) fn count_opt(&self, key: &'static str) -> Taken<Option<i64>> {
        match self.integer_opt(key)? {
            Some(count) if count < 0 => Err(Refusal::new(key, "negative")),
            other => Ok(other),
        }
    }
}
