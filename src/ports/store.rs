//! A store that can be written, read, and made to forget.

use super::forgetter::Forgetter;
use super::reader::Reader;
use super::recorder::Recorder;

/// All sides of the store.
pub trait Store: Recorder + Reader + Forgetter {
    /// The writing side.
    fn recorder(&mut self) -> &mut dyn Recorder;
    /// The reading side.
    fn reader(&self) -> &dyn Reader;
    /// The forgetting side.
    fn forgetter(&mut self) -> &mut dyn Forgetter;
}

impl<T: Recorder + Reader + Forgetter> Store for T {
    fn recorder(&mut self) -> &mut dyn Recorder {
        self
    }

    fn reader(&self) -> &dyn Reader {
        self
    }

    fn forgetter(&mut self) -> &mut dyn Forgetter {
        self
    }
}
