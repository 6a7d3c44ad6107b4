//! A hook's input: bytes that may come late, slowly, or never end.

use std::io;
use std::time::Duration;

/// What waiting for bytes gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Bytes(usize),
    End,
    TimedOut,
}

/// Input that can be waited for with a limit.
pub trait PayloadInput {
    /// Fills `buf` with what is there, waiting at most `wait`.
    ///
    /// # Errors
    /// What the system reports.
    fn read(&mut self, buf: &mut [u8], wait: Duration) -> io::Result<Step>;
}
