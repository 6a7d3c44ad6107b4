//! A recorder in front of the store: it hears every batch, and can end a reading early.

use crate::base::hash::Digest;
use crate::conformance::tailing::Halt;
use crate::domain::record::Sealed;
use crate::ports::recorder::{
    Appended, Batch, ForgottenFiles, KnownSource, Recorder, SegmentPosition, SourceMove, StoreError,
};
use serde_json::Value;

/// Hands batches on to the store, one by one, until it halts.
pub(super) struct Tee<'a> {
    store: &'a mut dyn Recorder,
    halt: Halt,
    delivered: Vec<Sealed>,
    deliveries: usize,
    halted: bool,
}

impl<'a> Tee<'a> {
    /// In front of `store`.
    pub(super) fn new(store: &'a mut dyn Recorder, halt: Halt) -> Self {
        Self { store, halt, delivered: Vec::new(), deliveries: 0, halted: false }
    }

    /// Whether it ended the reading.
    pub(super) fn has_halted(&self) -> bool {
        self.halted
    }

    /// Everything that was delivered.
    pub(super) fn into_delivered(self) -> Vec<Sealed> {
        self.delivered
    }

    fn end(&mut self) -> StoreError {
        self.halted = true;
        StoreError::Other("halted".to_owned())
    }
}

impl Recorder for Tee<'_> {
    fn namespace(&self) -> &str {
        self.store.namespace()
    }

    fn sources(&mut self) -> Result<Vec<KnownSource>, StoreError> {
        self.store.sources()
    }

    fn forgotten_files(&mut self) -> Result<ForgottenFiles, StoreError> {
        self.store.forgotten_files()
    }

    fn source_state(&mut self, id: i64) -> Result<Value, StoreError> {
        self.store.source_state(id)
    }

    fn append(
        &mut self,
        batches: &[Batch],
        position: Option<&SegmentPosition>,
    ) -> Result<Appended, StoreError> {
        let mut total = Appended::default();
        for (index, batch) in batches.iter().enumerate() {
            self.deliveries += 1;
            if matches!(self.halt, Halt::Stop(most) if self.deliveries > most) {
                return Err(self.end());
            }
            self.delivered.extend(batch.records.iter().cloned());
            if matches!(self.halt, Halt::Crash(at) if self.deliveries >= at) {
                return Err(self.end());
            }
            let appended = self.store.append(std::slice::from_ref(batch), position)?;
            total.add(&appended);
            total.overtaken.extend(appended.overtaken.iter().map(|_| index));
        }
        Ok(total)
    }

    fn segment_offset(&mut self, segment: &str) -> Result<u64, StoreError> {
        self.store.segment_offset(segment)
    }

    fn forget_segments(&mut self) -> Result<(), StoreError> {
        self.store.forget_segments()
    }

    fn mark_sources(&mut self, ids: &[i64], state: &str) -> Result<(), StoreError> {
        self.store.mark_sources(ids, state)
    }

    fn move_sources(&mut self, moves: &[SourceMove]) -> Result<(), StoreError> {
        self.store.move_sources(moves)
    }

    fn keep_derived(&mut self, name: &str, stamp: &Digest, value: &str) -> Result<(), StoreError> {
        self.store.keep_derived(name, stamp, value)
    }

    fn same_payload(
        &mut self,
        payload_hash: &Digest,
        at_us: i64,
        window_us: i64,
    ) -> Result<Option<String>, StoreError> {
        self.store.same_payload(payload_hash, at_us, window_us)
    }
}
