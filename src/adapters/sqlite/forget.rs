//! Forgetting: tombstones, and removing rows in steps that give the write lock away in between.
//!
//! A tombstone is the hash of a conversation's key. While its row still names the conversation
//! (the view `going`), no query shows it; `Writer` stores nothing of a key that has a tombstone.
//! Each step below can be the last one before a kill: the next call goes on from what is left.

use super::open::{SqliteStore, map};
use super::sweep::SWEPT;
use super::writer::Writer;
use crate::base::hash::Digest;
use crate::base::limits::{PREFIX_WINDOW_BYTES, WRITE_LOCK_HOLD};
use crate::base::time::Micros;
use crate::domain::key::ConversationKey;
use crate::domain::outcome::Relation;
use crate::domain::provider::Provider;
use crate::domain::record::{Body, ConversationRef, Ingress, Sealed};
use crate::ports::forgetter::{Extent, Forgetter, Leaving};
use crate::ports::recorder::{StoreError, Watermark};
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Tables whose rows name their conversation.
const BY_CONVERSATION: [&str; 15] = [
    "evidence",
    "claim",
    "usage",
    "loss",
    "fact",
    "capability",
    "lineage",
    "exported",
    "finding",
    "judged",
    "gated",
    "alias",
    "historical_finding",
    "chain_head",
    "copied",
];

/// Those of them whose rows have no id of their own; they are small.
const WITHOUT_ID: [&str; 9] = [
    "fact",
    "capability",
    "lineage",
    "exported",
    "judged",
    "gated",
    "alias",
    "chain_head",
    "copied",
];

/// Longer strings in a decoder's state are texts and no native ids.
const NAME_BYTES_MAX: usize = 1024;

/// Rows removed by one statement.
const STEP_ROWS: i64 = 64;

/// How long the write lock is held at a time, and then left to others: whoever waits for it sleeps
/// and looks again only now and then.
const TURN: Duration = Duration::from_millis(WRITE_LOCK_HOLD.as_millis() as u64 / 2);

/// Sources that told of a conversation.
pub(super) const SOURCES_OF: &str = "SELECT s.source FROM event e JOIN sighting s ON s.event = e.id
        WHERE e.conversation = ?1
    UNION SELECT source FROM evidence WHERE conversation = ?1
    UNION SELECT source FROM claim WHERE conversation = ?1
    UNION SELECT source FROM usage WHERE conversation = ?1
    UNION SELECT source FROM loss WHERE conversation = ?1
    UNION SELECT source FROM fact WHERE conversation = ?1
    UNION SELECT source FROM capability WHERE conversation = ?1
    UNION SELECT source FROM lineage WHERE conversation = ?1
    UNION SELECT source FROM alias WHERE conversation = ?1
    UNION SELECT source FROM historical_finding WHERE conversation = ?1";

/// Takes away what a source's decoder remembers; when the file grows it is read again from the start.
const UNREMEMBER: &str = "UPDATE source SET decoder_state = NULL WHERE id = ?1";

impl Forgetter for SqliteStore {
    fn extent(&self, conversations: &[i64]) -> Result<Extent, StoreError> {
        let mut extent = Extent::default();
        for id in conversations {
            for (table, total) in [
                ("event", &mut extent.events),
                ("evidence", &mut extent.evidence),
                ("claim", &mut extent.claims),
                ("usage", &mut extent.usage),
                ("loss", &mut extent.losses),
            ] {
                let sql = format!("SELECT count(*) FROM {table} WHERE conversation = ?1");
                *total += self.all(&sql, [id], |row| row.get::<_, i64>(0))?.iter().sum::<i64>();
            }
            extent.sources.extend(self.sources_that_tell(*id)?.into_iter().map(|row| row.source));
            let folders = "SELECT folder FROM exported WHERE conversation = ?1";
            extent.exported.extend(self.all(folders, [id], |row| row.get::<_, String>(0))?);
        }
        for list in [&mut extent.sources, &mut extent.exported] {
            list.sort();
            list.dedup();
        }
        Ok(extent)
    }

    fn entomb(&mut self, leaving: &[Leaving], at: Micros) -> Result<(), StoreError> {
        let tx = self.begin()?;
        for one in leaving {
            bury(&tx, one, at.0)?;
        }
        run(&tx, "DELETE FROM derived", [])?;
        note_scrub(&tx)?;
        tx.commit().map_err(map)
    }

    fn finish_forgetting(&mut self) -> Result<bool, StoreError> {
        let mut any = false;
        if self.next_going()?.is_some() {
            self.clear_memories()?;
        }
        while let Some(id) = self.next_going()? {
            self.remove_conversation(id)?;
            any = true;
        }
        let waiting: Vec<i64> =
            self.all("SELECT source FROM forgetting_source", [], |row| row.get(0))?;
        for source in waiting {
            self.settle(source)?;
            any = true;
        }
        if any {
            // What was worked out meanwhile by somebody who had read the rows before.
            let tx = self.begin()?;
            run(&tx, "DELETE FROM derived", [])?;
            note_scrub(&tx)?;
            tx.commit().map_err(map)?;
        }
        Ok(any)
    }

    fn scrub(&mut self) -> Result<(), StoreError> {
        // Its working copy can be as large as the store, so it is a file and not memory.
        self.conn.execute_batch("PRAGMA temp_store = FILE").map_err(map)?;
        let rewritten = self.conn.execute_batch("VACUUM").map_err(map);
        self.conn.execute_batch("PRAGMA temp_store = MEMORY").map_err(map)?;
        // Also where there is no room for that: deleted rows were overwritten, and the log still
        // holds them.
        self.empty_log()?;
        rewritten?;
        self.conn.execute("DELETE FROM meta WHERE name = 'scrub'", []).map_err(map).map(|_| ())
    }

    fn needs_scrub(&self) -> Result<bool, StoreError> {
        let found = self.all("SELECT 1 FROM meta WHERE name = 'scrub'", [], |_| Ok(()))?;
        Ok(!found.is_empty())
    }

    fn remove_backups(&mut self) -> Result<Vec<PathBuf>, StoreError> {
        let found = self.backups();
        for copy in &found {
            std::fs::remove_file(copy)
                .map_err(|e| StoreError::Io(format!("{}: {e}", copy.display())))?;
        }
        Ok(found)
    }

    fn backups(&self) -> Vec<PathBuf> {
        let (Some(folder), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Vec::new();
        };
        let beginning = format!("{}.", name.to_string_lossy());
        let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&beginning))
            .map(|entry| entry.path())
            .collect();
        found.sort();
        found
    }

    fn lift(&mut self, key: &Digest) -> Result<bool, StoreError> {
        // What is half removed could neither be shown nor read again.
        self.finish_forgetting()?;
        let tx = self.begin()?;
        let lifted = run(
            &tx,
            "DELETE FROM forgotten WHERE key_hash = ?1 OR root_hash = ?1",
            [key.as_bytes()],
        )?;
        if lifted > 0 {
            // Which of them tell of this one is not known; the others are left alone again once read.
            run(&tx, "DELETE FROM forgotten_source", [])?;
            // Those that tell of it among others have no state; they are read again.
            run(
                &tx,
                "UPDATE source SET complete = 0
                 WHERE kind = 'file' AND chain IS NOT NULL AND decoder_state IS NULL",
                [],
            )?;
        }
        tx.commit().map_err(map)?;
        Ok(lifted > 0)
    }

    fn note_export(&mut self, ids: &[i64], folder: &str, at: Micros) -> Result<(), StoreError> {
        let tx = self.begin()?;
        for id in ids {
            run(
                &tx,
                "INSERT OR REPLACE INTO exported (conversation, folder, at_us)
                 SELECT id, ?2, ?3 FROM conversation WHERE id = ?1",
                params![id, folder, at.0],
            )?;
        }
        tx.commit().map_err(map)
    }

    fn raw_before(&self, before: Micros) -> Result<i64, StoreError> {
        let sql = "SELECT count(*) FROM sighting WHERE raw IS NOT NULL AND order_us < ?1";
        Ok(self.all(sql, [before.0], |row| row.get::<_, i64>(0))?.iter().sum())
    }

    fn drop_raw(&mut self, before: Micros) -> Result<(), StoreError> {
        self.in_short_steps(|tx| {
            let removed = run(
                tx,
                "UPDATE sighting SET raw = NULL WHERE id IN (SELECT id FROM sighting
                   WHERE raw IS NOT NULL AND order_us < ?1 LIMIT ?2)",
                [before.0, STEP_ROWS],
            )?;
            if removed > 0 {
                note_scrub(tx)?;
            }
            Ok(removed)
        })
    }
}

impl SqliteStore {
    pub(super) fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(map)
    }

    /// Runs a step until it changes nothing, and gives the write lock away in between.
    fn in_short_steps(
        &mut self,
        step: impl Fn(&Transaction<'_>) -> Result<usize, StoreError>,
    ) -> Result<(), StoreError> {
        loop {
            let tx = self.begin()?;
            let begun = Instant::now();
            let mut changed = 1;
            while changed > 0 && begun.elapsed() < TURN {
                changed = step(&tx)?;
            }
            tx.commit().map_err(map)?;
            if changed == 0 {
                return Ok(());
            }
            std::thread::sleep(TURN);
        }
    }

    fn next_going(&self) -> Result<Option<i64>, StoreError> {
        Ok(self.all("SELECT min(conversation) FROM going", [], |row| row.get(0))?.pop().flatten())
    }

    /// Clears what decoders remember of forgotten conversations, also in sources that told nothing
    /// of them: a copied history, a title.
    fn clear_memories(&mut self) -> Result<(), StoreError> {
        let mut found: Vec<i64> = Vec::new();
        {
            let mut statement = self
                .conn
                .prepare("SELECT id, provider, decoder_state FROM source WHERE decoder_state IS NOT NULL")
                .map_err(map)?;
            let mut rows = statement.query([]).map_err(map)?;
            while let Some(row) = rows.next().map_err(map)? {
                let (provider, state): (String, String) =
                    (row.get(1).map_err(map)?, row.get(2).map_err(map)?);
                let state = serde_json::from_str(&state).unwrap_or(Value::Null);
                if remembers_forgotten(&self.conn, &self.namespace, &provider, &state)? {
                    found.push(row.get(0).map_err(map)?);
                }
            }
        }
        let tx = self.begin()?;
        for id in found {
            run(&tx, UNREMEMBER, [id])?;
        }
        tx.commit().map_err(map)
    }

    /// Removes every row of a conversation that has a tombstone, its own row last.
    fn remove_conversation(&mut self, id: i64) -> Result<(), StoreError> {
        let sources: Vec<i64> = self.all(SOURCES_OF, [id], |row| row.get(0))?;
        let tx = self.begin()?;
        for source in sources {
            run(&tx, "INSERT OR IGNORE INTO forgetting_source (source) VALUES (?1)", [source])?;
        }
        tx.commit().map_err(map)?;
        self.in_short_steps(|tx| remove_events(tx, id))?;
        for table in BY_CONVERSATION.iter().filter(|table| !WITHOUT_ID.contains(table)) {
            let sql = format!(
                "DELETE FROM {table} WHERE id IN
                   (SELECT id FROM {table} WHERE conversation = ?1 LIMIT ?2)"
            );
            self.in_short_steps(|tx| run(tx, &sql, [id, STEP_ROWS]))?;
        }
        let forks: BTreeSet<i64> = self
            .all("SELECT DISTINCT conversation FROM copied WHERE origin = ?1", [id], |r| r.get(0))?
            .into_iter()
            .collect();
        let tx = self.begin()?;
        for table in WITHOUT_ID {
            run(&tx, &format!("DELETE FROM {table} WHERE conversation = ?1"), [id])?;
        }
        run(&tx, "DELETE FROM conversation WHERE id = ?1", [id])?;
        // What it told first is told by its forks alone now.
        let mut ids = HashMap::new();
        Writer::new(&tx, &mut ids, 0, 0, Ingress::BuiltIn.as_str()).settle(forks)?;
        run(&tx, "UPDATE forgotten SET conversation = NULL WHERE conversation = ?1", [id])?;
        tx.commit().map_err(map)
    }

    /// Settles a source that told of a conversation that is gone: nothing of it stays when it told
    /// of nothing else; else what its decoder remembers goes, which of both is not told apart.
    fn settle(&mut self, source: i64) -> Result<(), StoreError> {
        let tx = self.begin()?;
        if tells_of_anything(&tx, source)? {
            run(&tx, UNREMEMBER, [source])?;
            run(&tx, "DELETE FROM forgetting_source WHERE source = ?1", [source])?;
        } else {
            retire(&tx, source, None)?;
        }
        tx.commit().map_err(map)
    }

    /// Moves the log into the store and leaves no byte of it.
    fn empty_log(&self) -> Result<(), StoreError> {
        let busy: i64 = self
            .conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(map)?;
        if busy == 0 { Ok(()) } else { Err(StoreError::Busy) }
    }
}

impl Writer<'_> {
    /// The row of a conversation, made when new; none of one that was forgotten.
    pub(super) fn conversation(
        &mut self,
        wanted: &ConversationRef,
    ) -> Result<Option<i64>, StoreError> {
        if let Some(id) = self.conversations.get(&wanted.key) {
            return Ok(*id);
        }
        if tombstone(self.tx, &Digest::of(wanted.key.as_bytes()))?.is_some() {
            self.conversations.insert(wanted.key.clone(), None);
            return Ok(None);
        }
        self.run(
            "INSERT OR IGNORE INTO conversation (key, provider, native_id) VALUES (?1, ?2, ?3)",
            params![wanted.key, wanted.provider, wanted.native_id],
        )?;
        let id = self
            .tx
            .prepare_cached("SELECT id FROM conversation WHERE key = ?1")
            .and_then(|mut s| s.query_row([&wanted.key], |r| r.get(0)))
            .map_err(map)?;
        self.conversations.insert(wanted.key.clone(), Some(id));
        Ok(Some(id))
    }

    /// Whether a record says that its conversation was spawned by a forgotten one; then the
    /// conversation is forgotten too.
    pub(super) fn leaves_with_parent(
        &mut self,
        sealed: &Sealed,
        conversation: &ConversationRef,
        id: i64,
    ) -> Result<bool, StoreError> {
        let Body::Lineage(lineage) = &sealed.body else { return Ok(false) };
        if lineage.relation != Relation::Parent {
            return Ok(false);
        }
        let parent = Digest::of(lineage.related.as_bytes());
        let Some(root) = tombstone(self.tx, &parent)? else { return Ok(false) };
        let key = Digest::of(conversation.key.as_bytes());
        bury_with(self.tx, (id, &key), &parent, &root)?;
        self.conversations.insert(conversation.key.clone(), None);
        Ok(true)
    }

    /// Counts a record of a forgotten conversation, which is not stored.
    pub(super) fn count_forgotten(&mut self, conversation: &ConversationRef) {
        self.appended.forgotten.add(&conversation.key, 1);
    }
}

/// The root of the tombstone of a key, when it has one.
fn tombstone(conn: &Connection, key: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
    conn.prepare_cached("SELECT root_hash FROM forgotten WHERE key_hash = ?1")
        .and_then(|mut s| s.query_row([key.as_bytes()], |row| row.get(0)).optional())
        .map_err(map)
}

/// Whether a decoder's state names a forgotten conversation by its native id.
pub(super) fn remembers_forgotten(
    conn: &Connection,
    namespace: &str,
    provider: &str,
    state: &Value,
) -> Result<bool, StoreError> {
    let any: bool = conn
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM forgotten)")
        .and_then(|mut s| s.query_row([], |row| row.get(0)))
        .map_err(map)?;
    if !any {
        return Ok(false);
    }
    let provider = Provider::from_tag(provider);
    let mut waiting = vec![state];
    let mut names: HashSet<&str> = HashSet::new();
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => _ = names.insert(text),
            Value::Array(items) => waiting.extend(items),
            Value::Object(members) => {
                names.extend(members.keys().map(String::as_str));
                waiting.extend(members.values());
            }
            _ => {}
        }
    }
    for name in names.into_iter().filter(|name| name.len() <= NAME_BYTES_MAX) {
        // What is blank names nothing.
        let Ok(key) = ConversationKey::new(provider.clone(), namespace, name) else { continue };
        if tombstone(conn, &Digest::of(key.to_string().as_bytes()))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Puts up a tombstone.
fn bury(tx: &Transaction<'_>, one: &Leaving, at_us: i64) -> Result<usize, StoreError> {
    let [key, root] = [&one.key, &one.root].map(|key| Digest::of(key.as_bytes()));
    run(
        tx,
        "INSERT INTO forgotten (key_hash, root_hash, at_us, conversation)
         VALUES (?1, ?2, ?3, (SELECT id FROM conversation WHERE key = ?4))
         ON CONFLICT (key_hash) DO UPDATE SET conversation = excluded.conversation",
        params![key.as_bytes(), root.as_bytes(), at_us, one.key],
    )
}

/// Puts one up for a conversation that turns out to belong to a forgotten one.
fn bury_with(
    tx: &Transaction<'_>,
    (id, key): (i64, &Digest),
    parent: &Digest,
    root: &[u8],
) -> Result<(), StoreError> {
    run(
        tx,
        "INSERT OR IGNORE INTO forgotten (key_hash, root_hash, at_us, conversation)
         SELECT ?1, ?2, at_us, ?3 FROM forgotten WHERE key_hash = ?4",
        params![key.as_bytes(), root, id, parent.as_bytes()],
    )?;
    note_scrub(tx)
}

/// Removes some events of a conversation with everything that tells of them; answers how many. An
/// index over the texts of events is cleared here.
fn remove_events(tx: &Transaction<'_>, conversation: i64) -> Result<usize, StoreError> {
    let ids: Vec<i64> = tx
        .prepare_cached("SELECT id FROM event WHERE conversation = ?1 LIMIT ?2")
        .and_then(|mut s| {
            s.query_map([conversation, STEP_ROWS], |row| row.get(0))?.collect::<Result<_, _>>()
        })
        .map_err(map)?;
    for id in &ids {
        run(tx, "DELETE FROM sighting WHERE event = ?1", [id])?;
        run(tx, "DELETE FROM event WHERE id = ?1", [id])?;
    }
    Ok(ids.len())
}

/// Whether a source tells of any conversation. A hook's stream always may.
pub(super) fn tells_of_anything(tx: &Transaction<'_>, source: i64) -> Result<bool, StoreError> {
    let told = SWEPT.iter().filter(|table| **table != "quarantine").map(|table| {
        let whose = if *table == "loss" { "AND conversation IS NOT NULL" } else { "" };
        format!("EXISTS (SELECT 1 FROM {table} WHERE source = ?1 {whose})")
    });
    let told: Vec<String> = told.collect();
    let sql = format!("SELECT kind = 'hook' OR {} FROM source WHERE id = ?1", told.join(" OR "));
    tx.prepare_cached(&sql)
        .and_then(|mut s| s.query_row([source], |row| row.get(0)).optional())
        .map(|told| told.unwrap_or(false))
        .map_err(map)
}

/// Removes a source of which only rows without a conversation are left; of a file stay hashes of its
/// path and of its first bytes, so that it is not read again. `mark` is how far it was read, where
/// its row does not say so yet.
pub(super) fn retire(
    tx: &Transaction<'_>,
    source: i64,
    mark: Option<&Watermark>,
) -> Result<(), StoreError> {
    let file: Option<(String, Option<Vec<u8>>, u64)> = tx
        .prepare_cached(
            "SELECT path, head_hash, offset FROM source WHERE id = ?1 AND kind = 'file'",
        )
        .and_then(|mut s| {
            let row = |row: &rusqlite::Row<'_>| {
                Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?.cast_unsigned()))
            };
            s.query_row([source], row).optional()
        })
        .map_err(map)?;
    if let Some((path, head, offset)) = file {
        let (head, offset) = match mark {
            Some(mark) => (mark.windows.map(|w| w.head.as_bytes().to_vec()), mark.offset),
            None => (head, offset),
        };
        let bytes = if head.is_some() { offset.min(PREFIX_WINDOW_BYTES) } else { 0 };
        run(
            tx,
            "INSERT OR REPLACE INTO forgotten_source (path_hash, head_bytes, head_hash)
             VALUES (?1, ?2, ?3)",
            params![Digest::of(path.as_bytes()).as_bytes(), bytes.cast_signed(), head],
        )?;
    }
    for table in SWEPT {
        run(tx, &format!("DELETE FROM {table} WHERE source = ?1"), [source])?;
    }
    run(tx, "DELETE FROM source WHERE id = ?1", [source])?;
    Ok(())
}

fn note_scrub(tx: &Transaction<'_>) -> Result<(), StoreError> {
    run(tx, "INSERT OR IGNORE INTO meta (name, value) VALUES ('scrub', 'due')", []).map(|_| ())
}

fn run(
    tx: &Transaction<'_>,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<usize, StoreError> {
    tx.prepare_cached(sql).and_then(|mut s| s.execute(values)).map_err(map)
}
