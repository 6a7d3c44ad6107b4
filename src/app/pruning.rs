//! Whether a history that is gone was deleted by its own agent, as that agent does with old ones.

use crate::base::limits::READ_TEXT_BYTES_MAX;
use crate::base::time::Micros;
use crate::ports::agent::{AgentFamily, Homes, PruneRule};
use crate::ports::files::Files;
use crate::ports::recorder::{KnownSource, Recorder, StoreError};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// The agents' rules, and the time that they are held against.
#[derive(Debug, Clone, Default)]
pub struct Pruning {
    now: Micros,
    rules: Vec<PruneRule>,
}

impl Pruning {
    /// These rules, at this time.
    pub fn new(now: Micros, rules: Vec<PruneRule>) -> Self {
        Self { now, rules }
    }

    /// The rules of these families, as their agents are configured.
    pub fn of(
        families: &[Box<dyn AgentFamily>],
        homes: &Homes<'_>,
        files: &dyn Files,
        now: Micros,
    ) -> Self {
        let read = |path: &Path| {
            let mut text = String::new();
            let file = files.open(path, 0)?;
            file.take(READ_TEXT_BYTES_MAX as u64).read_to_string(&mut text).map(|_| text)
        };
        Self::new(now, families.iter().flat_map(|family| family.prunes(homes, &read)).collect())
    }

    /// Notes that the files of these sources are gone: `pruned` where they were as old as their
    /// agent lets them become, else `missing`. What was recorded of them stays.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn mark_gone(
        &self,
        recorder: &mut dyn Recorder,
        gone: &[Arc<KnownSource>],
    ) -> Result<(), StoreError> {
        let (pruned, missing): (Vec<_>, Vec<_>) =
            gone.iter().partition(|source| self.explains(source));
        for (sources, state) in [(pruned, "pruned"), (missing, "missing")] {
            if !sources.is_empty() {
                let ids: Vec<i64> = sources.iter().map(|source| source.id).collect();
                recorder.mark_sources(&ids, state)?;
            }
        }
        Ok(())
    }

    fn explains(&self, source: &KnownSource) -> bool {
        let Some(mark) = &source.watermark else { return false };
        let age_us = self.now.0.saturating_sub(mark.stat.modified_ns / 1_000);
        self.rules.iter().any(|rule| {
            Path::new(&source.path).starts_with(&rule.folder)
                && i64::try_from(rule.after.as_micros()).is_ok_and(|after| age_us >= after)
        })
    }
}
