//! A store that can be written and read.

use super::reader::Reader;
use super::recorder::Recorder;

/// Both sides of the store.
pub trait Store: Recorder + Reader {
    /// The writing side.
    fn recorder(&mut self) -> &mut dyn Recorder;
    /// The reading side.
    fn reader(&self) -> &dyn Reader;
}

impl<T: Recorder + Reader> Store for T {
    fn recorder(&mut self) -> &mut dyn Recorder {
        self
    }

    fn reader(&self) -> &dyn Reader {
        self
    }
}
