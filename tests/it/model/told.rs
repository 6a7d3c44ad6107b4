//! What is recorded: of each source its place, its state and its prompts.

use super::disk::Disk;
use fornax::adapters::sqlite::SqliteStore;
use fornax::base::hash::Digest;
use fornax::ports::recorder::{
    Appended, Batch, ForgottenFiles, KnownSource, Recorder, SegmentPosition, SourceMove, StoreError,
};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One view of the world, the model's or the store's.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// By path below the root: gone or not, and the prompts in order.
    sources: BTreeMap<String, (bool, Vec<String>)>,
    /// Every prompt that any source tells; one event each.
    events: BTreeSet<String>,
    /// How many events there are.
    count: usize,
}

impl Told {
    pub(super) fn expected(disk: &Disk) -> Self {
        let mut sources = BTreeMap::new();
        let mut events = BTreeSet::new();
        for (path, source) in &disk.sources {
            let name = path.strip_prefix(disk.root()).unwrap().to_str().unwrap().to_owned();
            let prompts = source.prompts();
            // A line keeps its uuid when its text is rewritten: the number is the event.
            events.extend(prompts.iter().map(|text| text[1..].to_owned()));
            sources.insert(name, (source.missing, prompts));
        }
        let count = events.len();
        Self { sources, events, count }
    }

    pub(super) fn stored(home: &Path, root: &Path) -> Self {
        let store = home.join("store.db");
        let conn = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let mut sources = BTreeMap::new();
        let mut of_sources =
            conn.prepare("SELECT id, path, state FROM source WHERE kind = 'file'").unwrap();
        let mut prompts = conn
            .prepare(
                "SELECT g.text FROM sighting g JOIN source s ON s.id = g.source
                   AND s.generation = g.generation JOIN event e ON e.id = g.event
                 WHERE s.id = ?1 AND e.kind = 'user_prompt_submit' ORDER BY g.offset",
            )
            .unwrap();
        let mut events = BTreeSet::new();
        let rows = of_sources
            .query_map([], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
            })
            .unwrap();
        for (id, path, state) in rows.map(Result::unwrap) {
            let name = Path::new(&path).strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let texts: Vec<String> =
                prompts.query_map([id], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
            events.extend(texts.iter().map(|text| text[1..].to_owned()));
            if !texts.is_empty() {
                sources.insert(name, (state != "active", texts));
            }
        }
        let sql = "SELECT count(*) FROM event WHERE kind = 'user_prompt_submit'";
        let count: i64 = conn.query_row(sql, [], |row| row.get(0)).unwrap();
        Self { sources, events, count: usize::try_from(count).unwrap() }
    }
}

/// A recorder that dies: after some writes every further one fails, as if the process were gone.
pub(super) struct Dying<'a> {
    pub(super) inner: &'a mut SqliteStore,
    pub(super) left: usize,
}

impl Dying<'_> {
    fn live(&mut self) -> Result<(), StoreError> {
        if self.left == 0 {
            return Err(StoreError::Io("killed".to_owned()));
        }
        self.left -= 1;
        Ok(())
    }
}

impl Recorder for Dying<'_> {
    fn namespace(&self) -> &str {
        self.inner.namespace()
    }

    fn sources(&mut self) -> Result<Vec<KnownSource>, StoreError> {
        self.inner.sources()
    }

    fn forgotten_files(&mut self) -> Result<ForgottenFiles, StoreError> {
        self.inner.forgotten_files()
    }

    fn source_state(&mut self, id: i64) -> Result<Value, StoreError> {
        self.inner.source_state(id)
    }

    fn append(
        &mut self,
        batches: &[Batch],
        position: Option<&SegmentPosition>,
    ) -> Result<Appended, StoreError> {
        self.live()?;
        self.inner.append(batches, position)
    }

    fn segment_offset(&mut self, segment: &str) -> Result<u64, StoreError> {
        self.inner.segment_offset(segment)
    }

    fn forget_segments(&mut self) -> Result<(), StoreError> {
        self.live()?;
        self.inner.forget_segments()
    }

    fn mark_sources(&mut self, ids: &[i64], state: &str) -> Result<(), StoreError> {
        self.live()?;
        self.inner.mark_sources(ids, state)
    }

    fn move_sources(&mut self, moves: &[SourceMove]) -> Result<(), StoreError> {
        self.live()?;
        self.inner.move_sources(moves)
    }

    fn keep_derived(&mut self, name: &str, stamp: &Digest, value: &str) -> Result<(), StoreError> {
        self.inner.keep_derived(name, stamp, value)
    }

    fn same_payload(
        &mut self,
        payload_hash: &Digest,
        at_us: i64,
        window_us: i64,
    ) -> Result<Option<String>, StoreError> {
        self.inner.same_payload(payload_hash, at_us, window_us)
    }
}
