//! A hook that is sent a stream: payloads a line each, recorded as they come, to the end.
//!
//! Nobody waits for this process, so it has no deadline; what is complete is in the journal before
//! the next byte is read. A line end ends a payload, so a torn or foreign line costs itself only.
//! Memory is bounded as for one payload.

use super::{CAPS, End, Hook, loss, payload};
use crate::app::delivery::Delivery;
use crate::base::scan::{Progress, Scanner};
use crate::domain::loss::LossReason;
use crate::ports::agent::{AgentAdapter, AgentFamily};
use crate::ports::payload::{PayloadInput, Step};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// How long one wait for bytes lasts; only a way to say "for ever".
const WAIT: Duration = Duration::from_secs(3600);

/// One run over a stream.
struct Stream<'a> {
    hook: &'a Hook<'a>,
    adapter: Option<Box<dyn AgentAdapter>>,
    scanner: Scanner,
    state: State,
    /// Time of the last delivery: no two of one stream have the same.
    last_us: i64,
    /// Deliveries that could not be written, for the next that can.
    unwritten: u64,
}

/// Where in a line the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In a payload, or before one.
    Payload,
    /// Behind something that is no payload: up to the line end nothing can be told apart.
    Foreign,
}

impl Hook<'_> {
    /// Reads payloads to the end of the input and journals each.
    ///
    /// # Errors
    /// When the last frames could not be written anywhere; the caller exits 0 all the same.
    pub fn run_stream(&self, input: &mut dyn PayloadInput) -> io::Result<()> {
        let mut stream = Stream {
            hook: self,
            adapter: self.family.map(AgentFamily::hook_adapter),
            scanner: Scanner::new(CAPS),
            state: State::Payload,
            last_us: 0,
            unwritten: 0,
        };
        let mut buf = vec![0; 64 * 1024];
        loop {
            match input.read(&mut buf, WAIT) {
                Ok(Step::Bytes(n)) => stream.take(buf.get(..n).unwrap_or_default()),
                Ok(Step::TimedOut) => {}
                Ok(Step::End) | Err(_) => break,
            }
        }
        stream.end_line();
        if stream.unwritten > 0 {
            return Err(io::Error::other("payloads of the stream could not be journalled"));
        }
        Ok(())
    }
}

impl Stream<'_> {
    fn take(&mut self, bytes: &[u8]) {
        let mut lines = bytes.split(|b| *b == b'\n');
        if let Some(first) = lines.next() {
            self.take_part(first);
        }
        for next in lines {
            self.end_line();
            self.take_part(next);
        }
    }

    /// Bytes of one line.
    fn take_part(&mut self, mut part: &[u8]) {
        while self.state == State::Payload && !part.is_empty() {
            let before = self.scanner.seen();
            let progress = self.scanner.push(part);
            let used = usize::try_from(self.scanner.seen() - before).unwrap_or(usize::MAX);
            part = part.get(used..).unwrap_or_default();
            match progress {
                Progress::More => {}
                Progress::Complete => self.deliver(End::Complete),
                Progress::NotJson => {
                    self.deliver(End::NotJson);
                    self.state = State::Foreign;
                }
            }
        }
    }

    /// A line end, or that of the stream: what is not complete by now is torn.
    fn end_line(&mut self) {
        if self.state == State::Payload && !self.scanner.kept().is_empty() {
            self.deliver(End::Closed);
        }
        self.state = State::Payload;
        self.scanner = Scanner::new(CAPS);
    }

    /// Journals what was scanned and begins anew. A fault inside costs this payload.
    fn deliver(&mut self, end: End) {
        let scanner = std::mem::replace(&mut self.scanner, Scanner::new(CAPS));
        self.last_us = self.hook.clock.now().0.max(self.last_us + 1);
        let at_us = self.last_us;
        let mut adapter = self.adapter.take();
        let hook = self.hook;
        let made = catch_unwind(AssertUnwindSafe(|| {
            hook.delivery(&scanner, payload(&scanner, end), adapter.as_deref_mut(), at_us)
        }));
        let delivery = made.unwrap_or_else(|_| {
            // What the adapter knew may be half changed.
            adapter = hook.family.map(AgentFamily::hook_adapter);
            hook.delivery(&scanner, Err(LossReason::HookFault), None, at_us)
        });
        self.adapter = adapter;
        self.write(delivery);
    }

    fn write(&mut self, mut delivery: Delivery) {
        if self.unwritten > 0 {
            delivery.messages.push(loss(None, LossReason::HookFault, self.unwritten));
        }
        match self.hook.append(&delivery) {
            Ok(()) => self.unwritten = 0,
            Err(_) => self.unwritten += 1,
        }
    }
}

#[cfg(test)]
mod tests;
