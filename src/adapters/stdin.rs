//! Standard input that can be waited for with a limit.

use crate::ports::payload::{PayloadInput, Step};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read as _};
use std::time::Duration;

/// The process's standard input.
pub struct Stdin(io::StdinLock<'static>);

impl Stdin {
    /// Locks standard input for this reader.
    pub fn new() -> Self {
        Self(io::stdin().lock())
    }
}

impl Default for Stdin {
    fn default() -> Self {
        Self::new()
    }
}

impl PayloadInput for Stdin {
    fn read(&mut self, buf: &mut [u8], wait: Duration) -> io::Result<Step> {
        let limit = Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        let input = rustix::stdio::stdin();
        let mut fds = [PollFd::new(&input, PollFlags::IN)];
        match poll(&mut fds, Some(&limit)) {
            Ok(0) => return Ok(Step::TimedOut),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        match self.0.read(buf) {
            Ok(0) => Ok(Step::End),
            Ok(n) => Ok(Step::Bytes(n)),
            Err(e)
                if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) =>
            {
                Ok(Step::TimedOut)
            }
            Err(e) => Err(e),
        }
    }
}
