//! A store that can be written and read, and that keeps verdicts.

use super::findings::FindingStore;
use super::reader::Reader;
use super::recorder::Recorder;

/// All sides of the store.
pub trait Store: Recorder + Reader + FindingStore {
    /// The writing side.
    fn recorder(&mut self) -> &mut dyn Recorder;
    /// The reading side.
    fn reader(&self) -> &dyn Reader;
    /// The verdicts that were given.
    fn findings(&mut self) -> &mut dyn FindingStore;
}

impl<T: Recorder + Reader + FindingStore> Store for T {
    fn recorder(&mut self) -> &mut dyn Recorder {
        self
    }

    fn reader(&self) -> &dyn Reader {
        self
    }

    fn findings(&mut self) -> &mut dyn FindingStore {
        self
    }
}
