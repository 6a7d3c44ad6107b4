//! The status line command that a person had before fornax's.

use std::io;

/// Runs that command.
pub trait Chain {
    /// What the command prints when it is given `input`; bounded in time and in bytes.
    ///
    /// # Errors
    /// When it cannot be started.
    fn output(&self, command: &str, input: &[u8]) -> io::Result<Vec<u8>>;
}
