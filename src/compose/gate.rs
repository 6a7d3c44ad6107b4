//! `fornax hook --gate`: after a payload is in the journal, the one case in which the hook opens the
//! store and may print.

use super::{open_store, unique};
use crate::adapters::journal::JournalFolder;
use crate::adapters::system_clock::SystemClock;
use crate::app::drain::drain;
use crate::app::gate;
use crate::ports::agent::AgentFamily;
use crate::ports::clock::Clock as _;
use crate::ports::payload::{PayloadInput, Step};
use std::io;
use std::path::Path;
use std::time::Duration;

/// A larger payload is not the end of a turn.
const PAYLOAD_MAX: usize = 1024 * 1024;

/// Keeps what passes through.
pub(super) struct Overheard<'a> {
    inner: &'a mut dyn PayloadInput,
    kept: Vec<u8>,
}

impl<'a> Overheard<'a> {
    pub(super) fn new(inner: &'a mut dyn PayloadInput) -> Self {
        Self { inner, kept: Vec::new() }
    }

    /// What came, up to a bound.
    pub(super) fn into_kept(self) -> Vec<u8> {
        self.kept
    }
}

impl PayloadInput for Overheard<'_> {
    fn read(&mut self, buf: &mut [u8], wait: Duration) -> io::Result<Step> {
        let step = self.inner.read(buf, wait)?;
        if let Step::Bytes(n) = step
            && self.kept.len() < PAYLOAD_MAX
        {
            self.kept.extend_from_slice(buf.get(..n).unwrap_or_default());
        }
        Ok(step)
    }
}

/// The host's block decision, when the turn that ends has a claim that is contradicted.
pub(super) fn answer(family: &dyn AgentFamily, payload: &[u8], home: &Path) -> Option<String> {
    let mut values = serde_json::Deserializer::from_slice(payload).into_iter();
    let stop = family.turn_stop(&values.next()?.ok()?)?;
    let mut store = open_store(home, None, true).ok()?;
    let runtime = super::path_variable("XDG_RUNTIME_DIR");
    let journal = JournalFolder::new(home, runtime.as_deref(), unique());
    drain(&journal, store.recorder()).ok()?;
    let provider = family.provider();
    let now_us = SystemClock.now().0;
    let reason = gate::block(store.as_mut(), provider.as_str(), &stop, now_us).ok()??;
    family.block(&reason)
}
