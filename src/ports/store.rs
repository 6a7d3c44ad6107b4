//! A store that can be written and read, and that keeps verdicts.

use super::findings::FindingStore;
use super::reader::Reader;
use super::recorder::Recorder;
use super::search::SearchIndex;

/// All sides of the store.
pub trait Store: Recorder + Reader + FindingStore + SearchIndex {
    /// The writing side.
    fn recorder(&mut self) -> &mut dyn Recorder;
    /// The reading side.
    fn reader(&self) -> &dyn Reader;
    /// The verdicts that were given.
    fn findings(&mut self) -> &mut dyn FindingStore;
    /// The full-text index.
    fn search_index(&mut self) -> &mut dyn SearchIndex;
}

impl<T: Recorder + Reader + FindingStore + SearchIndex> Store for T {
    fn recorder(&mut self) -> &mut dyn Recorder {
        self
    }

    fn reader(&self) -> &dyn Reader {
        self
    }

    fn findings(&mut self) -> &mut dyn FindingStore {
        self
    }

    fn search_index(&mut self) -> &mut dyn SearchIndex {
        self
    }
}
