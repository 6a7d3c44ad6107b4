//! Full text over what is stored.

use super::reader::SeenAt;
use super::recorder::StoreError;
use uuid::Uuid;

/// Which text of an event matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// What somebody said: prompts, answers, notices.
    Said,
    /// What a call was given: commands, paths, contents.
    Input,
    /// What a call gave back.
    Result,
}

impl Field {
    /// Every field, in the order of the index.
    pub const ALL: [Self; 3] = [Self::Said, Self::Input, Self::Result];

    /// The word in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Said => "said",
            Self::Input => "input",
            Self::Result => "result",
        }
    }
}

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct SearchQuery {
    /// Phrases that must all occur in one field, each with whether it is only a beginning.
    pub phrases: Vec<(String, bool)>,
    /// Only in this field.
    pub field: Option<Field>,
    /// Only events of this kind.
    pub kind: Option<String>,
    /// Only this conversation, by row.
    pub conversation: Option<i64>,
    /// Only this provider.
    pub provider: Option<String>,
    /// Only at this time or later, in microseconds since 1970.
    pub since_us: Option<i64>,
    /// Only before this time.
    pub until_us: Option<i64>,
    /// At most so many events.
    pub limit: usize,
}

/// An event that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub conversation: String,
    pub provider: String,
    pub native_id: String,
    pub event_id: Uuid,
    pub kind: String,
    pub tool_name: Option<String>,
    /// Id of the call, of which proposal and result are events of their own.
    pub call_id: Option<String>,
    pub at_us: i64,
    pub field: Field,
    /// The text as it is stored, redacted and capped.
    pub stored: String,
    pub seen: SeenAt,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hits {
    /// Latest first.
    pub hits: Vec<Hit>,
    /// True when more match than are told.
    pub more: bool,
}

/// How far the index is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Indexed {
    /// Rows that were added now.
    pub added: u64,
    /// Rows that are still to be added.
    pub left: u64,
}

/// An index over the stored texts, made when it is asked for and thrown away at will.
pub trait SearchIndex {
    /// Adds some of what is not in the index yet, holding the write lock for a moment only.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn index_some(&mut self) -> Result<Indexed, StoreError>;

    /// Empties the index.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn drop_index(&mut self) -> Result<(), StoreError>;

    /// Whatever of the index matches.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn search(&self, query: &SearchQuery) -> Result<Hits, StoreError>;
}
