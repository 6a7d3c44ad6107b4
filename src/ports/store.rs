//! A store that can be written, read, searched, and made to forget, and that keeps verdicts.

use super::findings::FindingStore;
use super::forgetter::Forgetter;
use super::reader::Reader;
use super::recorder::Recorder;
use super::search::SearchIndex;

/// All sides of the store.
pub trait Store: Recorder + Reader + FindingStore + SearchIndex + Forgetter {
    /// The writing side.
    fn recorder(&mut self) -> &mut dyn Recorder;
    /// The reading side.
    fn reader(&self) -> &dyn Reader;
    /// The verdicts that were given.
    fn findings(&mut self) -> &mut dyn FindingStore;
    /// The full-text index.
    fn search_index(&mut self) -> &mut dyn SearchIndex;
    /// The forgetting side.
    fn forgetter(&mut self) -> &mut dyn Forgetter;
}

impl<T: Recorder + Reader + FindingStore + SearchIndex + Forgetter> Store for T {
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

    fn forgetter(&mut self) -> &mut dyn Forgetter {
        self
    }
}
