//! Forks that repeat their origin's history line by line under their own id.
//!
//! Only the conversation's id differs in such a line: its native identity and its time stay. So
//! conversations that tell the same beginning (`chain_head`) are compared, and what an earlier one
//! tells as well is a copy (`copied`), which counts for that one only. This is a function of what
//! is stored, worked out again when a batch changes it, so the order of reading does not matter.

use super::open::map;
use super::writer::Writer;
use crate::base::hash::Digest;
use crate::domain::event::{Channel, EventKind};
use crate::domain::record::{EventRecord, Ingress};
use crate::ports::recorder::StoreError;
use rusqlite::{Row, params};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The path of a derived relation: what shows the fork is the id of its lines.
const SHOWN_BY: &str = "uuid";

/// Relations that say of a conversation of the group that it came after another of the group.
const STATED: &str = "SELECT DISTINCT o.id FROM visible_lineage l
    JOIN conversation o ON o.key = l.related_key
    WHERE l.conversation = ?1 AND l.relation IN ('fork', 'parent') AND l.path <> 'uuid'";

const EVENTS: &str = "SELECT e.id, e.order_us, src.kind = 'file', e.kind, s.native_space,
    s.native_id, s.observed_at
    FROM event e JOIN sighting s ON s.event = e.id
    JOIN source src ON src.id = s.source AND src.generation = s.generation
    WHERE e.conversation = ?1 AND src.kind <> 'messages' ORDER BY e.order_us, e.id";

/// What a batch changed of conversations that could have been copied, or be copies.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// The earliest changed event of each conversation.
    from: HashMap<i64, i64>,
    /// Conversations whose file's beginning was noted.
    headed: HashSet<i64>,
}

/// One event of a conversation that is compared.
struct Held {
    event: i64,
    order_us: i64,
    /// Hashes of native identity and time, one a place in a file.
    things: Vec<Digest>,
    /// Seen by a hook: it happened in this conversation.
    witnessed: bool,
}

/// A conversation that is compared with others of its group.
struct Member {
    id: i64,
    key: String,
    stated: Vec<i64>,
    events: Vec<Held>,
}

/// The members that hold each thing, by their place in the group.
type Holders = HashMap<Digest, Vec<usize>>;

impl Writer<'_> {
    /// Notes an event that was added or seen once more; it stands or stood at `order_us`.
    pub(super) fn touch(
        &mut self,
        event: &EventRecord,
        id: i64,
        order_us: i64,
    ) -> Result<(), StoreError> {
        if self.ingress != Ingress::BuiltIn.as_str() {
            return Ok(());
        }
        let from = self.touched.from.entry(id).or_insert(order_us);
        *from = order_us.min(*from);
        let is_line = matches!(event.native.space.as_str(), "line" | "prompt");
        if !is_line || event.rank != Channel::Canonical.rank() {
            return Ok(());
        }
        let compaction = event.kind == EventKind::Compaction;
        if !self.touched.headed.insert(id) && !compaction {
            return Ok(());
        }
        let head = format!(
            "{} {} {} {}",
            event.kind.as_str(),
            event.native.space,
            event.native.id,
            event.observed_at
        );
        self.run(
            "INSERT OR IGNORE INTO chain_head (head, conversation, source, generation)
             SELECT ?1, ?2, ?3, ?4 WHERE ?5 OR NOT EXISTS (SELECT 1 FROM chain_head
               WHERE conversation = ?2 AND source = ?3 AND generation = ?4)",
            params![head, id, self.source, self.generation, compaction],
        )?;
        Ok(())
    }

    /// Works out anew what is copied in the groups that this batch changed.
    pub(super) fn settle_touched(&mut self) -> Result<(), StoreError> {
        let touched = std::mem::take(&mut self.touched);
        let mut changed = BTreeSet::new();
        for (id, from) in touched.from {
            let group = self.group(id)?;
            if group.len() > 1 && !self.only_adds_its_own(id, from, &group)? {
                changed.insert(id);
            }
        }
        self.settle(changed)
    }

    /// Works out anew what is copied in the groups of conversations of this source.
    pub(super) fn settle_source(&mut self, mut changed: BTreeSet<i64>) -> Result<(), StoreError> {
        let sql = "SELECT DISTINCT conversation FROM chain_head WHERE source = ?1";
        changed.extend(self.ids(sql, self.source)?);
        self.settle(changed)
    }

    /// Works out anew what is copied in the groups of these conversations.
    pub(super) fn settle(&mut self, changed: BTreeSet<i64>) -> Result<(), StoreError> {
        let mut done = BTreeSet::new();
        for id in changed {
            let mut waiting = vec![id];
            // What was a copy of something that went belongs to another group now.
            waiting.extend(
                self.ids("SELECT DISTINCT conversation FROM copied WHERE origin = ?1", id)?,
            );
            for id in waiting {
                if done.contains(&id) {
                    continue;
                }
                let group = self.group(id)?;
                done.extend(group.iter().copied());
                self.settle_group(&group)?;
            }
        }
        Ok(())
    }

    /// The conversation and those that share a beginning with it, directly or by way of others.
    fn group(&self, id: i64) -> Result<Vec<i64>, StoreError> {
        self.ids(
            "WITH RECURSIVE kin (id) AS (VALUES (?1) UNION
               SELECT o.conversation FROM kin JOIN chain_head h ON h.conversation = kin.id
               JOIN chain_head o ON o.head = h.head)
             SELECT id FROM kin",
            id,
        )
    }

    /// Whether all that was added comes after whatever the others hold, and is not the first that
    /// does: such events are the conversation's own, and do not move it among the others.
    fn only_adds_its_own(&self, id: i64, from: i64, group: &[i64]) -> Result<bool, StoreError> {
        let mut last = i64::MIN;
        for other in group.iter().filter(|other| **other != id) {
            let sql = "SELECT max(order_us) FROM event WHERE conversation = ?1
                       HAVING max(order_us) IS NOT NULL";
            last = self.ids(sql, *other)?.into_iter().fold(last, i64::max);
        }
        if from <= last {
            return Ok(false);
        }
        self.tx
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM event
                   WHERE conversation = ?1 AND order_us > ?2 AND order_us < ?3)",
            )
            .and_then(|mut s| s.query_row([id, last, from], |row| row.get(0)))
            .map_err(map)
    }

    fn settle_group(&mut self, group: &[i64]) -> Result<(), StoreError> {
        if let [alone] = group {
            return self.unmark(*alone);
        }
        let mut members = Vec::new();
        for id in group {
            members.extend(self.member(*id)?);
        }
        let holders = holders(&members);
        let order = ranked(&members, &holders);
        members.sort_by_key(|member| order.get(&member.id).copied());
        let holders = self::holders(&members);
        for (place, member) in members.iter().enumerate() {
            self.mark(place, member, &members, &holders)?;
        }
        Ok(())
    }

    /// The conversation copies nothing any more.
    fn unmark(&mut self, id: i64) -> Result<(), StoreError> {
        if self.clear(id)? { self.recount(id) } else { Ok(()) }
    }

    fn clear(&self, id: i64) -> Result<bool, StoreError> {
        let held = self.run("DELETE FROM copied WHERE conversation = ?1", [id])?;
        self.run(
            "DELETE FROM lineage WHERE conversation = ?1 AND relation = 'fork' AND path = ?2",
            params![id, SHOWN_BY],
        )?;
        Ok(held)
    }

    fn member(&self, id: i64) -> Result<Option<Member>, StoreError> {
        let keys: Vec<String> = self
            .tx
            .prepare_cached("SELECT key FROM conversation WHERE id = ?1")
            .and_then(|mut s| s.query_map([id], |row| row.get(0))?.collect())
            .map_err(map)?;
        let Some(key) = keys.into_iter().next() else { return Ok(None) };
        let mut events: Vec<Held> = Vec::new();
        let mut statement = self.tx.prepare_cached(EVENTS).map_err(map)?;
        let mut rows = statement.query([id]).map_err(map)?;
        while let Some(row) = rows.next().map_err(map)? {
            add(row, &mut events).map_err(map)?;
        }
        Ok(Some(Member { id, key, stated: self.ids(STATED, id)?, events }))
    }

    /// Marks what earlier members of the group hold as well, and names the one that most is from.
    fn mark(
        &mut self,
        place: usize,
        member: &Member,
        members: &[Member],
        holders: &Holders,
    ) -> Result<(), StoreError> {
        let had = self.clear(member.id)?;
        let mut shared: HashMap<usize, usize> = HashMap::new();
        let mut first = None;
        for held in member.events.iter().filter(|held| !held.witnessed) {
            let Some(earliest) = told_by(held, holders, |other| other < place) else { continue };
            let Some(origin) = members.get(earliest) else { continue };
            first = first.or(Some(held.event));
            for other in held.things.iter().filter_map(|thing| holders.get(thing)).flatten() {
                *shared.entry(*other).or_default() += usize::from(*other < place);
            }
            self.run(
                "INSERT OR REPLACE INTO copied (event, conversation, origin) VALUES (?1, ?2, ?3)",
                [held.event, member.id, origin.id],
            )?;
        }
        let is_stated = members.iter().any(|other| member.stated.contains(&other.id));
        let nearest =
            shared.into_iter().max_by_key(|(other, count)| (*count, members.len() - other));
        let nearest = nearest.and_then(|(other, _)| members.get(other)).filter(|_| !is_stated);
        if let (Some(event), Some(origin)) = (first, nearest) {
            self.run(
                "INSERT OR IGNORE INTO lineage
                   (conversation, relation, related_key, source, generation, offset, line_hash, path)
                 SELECT ?1, 'fork', ?2, s.source, s.generation, s.offset, s.line_hash, ?3
                 FROM sighting s JOIN source src ON src.id = s.source AND src.generation = s.generation
                 WHERE s.event = ?4 AND src.kind = 'file' ORDER BY src.path, s.offset LIMIT 1",
                params![member.id, origin.key, SHOWN_BY, event],
            )?;
        }
        if had || first.is_some() { self.recount(member.id) } else { Ok(()) }
    }

    /// Counters and times of what is the conversation's own.
    fn recount(&self, id: i64) -> Result<(), StoreError> {
        self.run(
            "UPDATE conversation SET (events, failed_calls, first_us, last_us) = (
               SELECT count(*), coalesce(sum(kind = 'post_tool_use' AND outcome IS 'failed'), 0),
                 min(nullif(order_us, 0)), max(nullif(order_us, 0))
               FROM event e WHERE e.conversation = ?1
                 AND NOT EXISTS (SELECT 1 FROM copied k WHERE k.event = e.id))
             WHERE id = ?1",
            [id],
        )?;
        Ok(())
    }

    fn ids(&self, sql: &str, of: i64) -> Result<Vec<i64>, StoreError> {
        self.tx
            .prepare_cached(sql)
            .and_then(|mut s| s.query_map([of], |row| row.get(0))?.collect())
            .map_err(map)
    }
}

/// Adds a sighting to the event that it is of.
fn add(row: &Row<'_>, events: &mut Vec<Held>) -> rusqlite::Result<()> {
    let event: i64 = row.get(0)?;
    if events.last().is_none_or(|held| held.event != event) {
        let order_us = row.get(1)?;
        events.push(Held { event, order_us, things: Vec::new(), witnessed: false });
    }
    let Some(held) = events.last_mut() else { return Ok(()) };
    if row.get(2)? {
        let parts: [String; 4] = [row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?];
        held.things.push(Digest::of(parts.join("\0").as_bytes()));
    } else {
        held.witnessed = true;
    }
    Ok(())
}

fn holders(members: &[Member]) -> Holders {
    let mut holders = Holders::new();
    for (place, member) in members.iter().enumerate() {
        for thing in member.events.iter().flat_map(|held| &held.things) {
            let of = holders.entry(*thing).or_default();
            if of.last() != Some(&place) {
                of.push(place);
            }
        }
    }
    holders
}

/// The first of the wanted members that tell an event: all its places must be told by some.
fn told_by(held: &Held, holders: &Holders, wanted: impl Fn(usize) -> bool) -> Option<usize> {
    let mut first = None;
    for thing in &held.things {
        let teller = holders.get(thing)?.iter().copied().find(|place| wanted(*place))?;
        first = Some(first.map_or(teller, |known: usize| known.min(teller)));
    }
    first
}

/// Which of the members comes first: one that another states as its origin; then the one that
/// something of its own happened in first. One without anything of its own went no further than
/// the others' copies.
fn ranked(members: &[Member], holders: &Holders) -> HashMap<i64, usize> {
    let began = |place: usize, member: &Member| {
        let (mut own, mut last) = (None, 0);
        for held in &member.events {
            let shared =
                !held.witnessed && told_by(held, holders, |other| other != place).is_some();
            if shared {
                last = last.max(held.order_us);
            } else {
                own = own.or(Some(held.order_us));
            }
        }
        own.unwrap_or(last)
    };
    let mut waiting: Vec<(i64, &Member)> =
        members.iter().enumerate().map(|(place, member)| (began(place, member), member)).collect();
    waiting.sort_by(|a, b| (a.0, &a.1.key).cmp(&(b.0, &b.1.key)));
    let mut order = HashMap::new();
    while !waiting.is_empty() {
        let left: HashSet<i64> = waiting.iter().map(|(_, member)| member.id).collect();
        let free = |(_, member): &(i64, &Member)| {
            !member.stated.iter().any(|origin| *origin != member.id && left.contains(origin))
        };
        // Origins that name each other are taken as they come.
        let next = waiting.iter().position(free).unwrap_or(0);
        let (_, member) = waiting.remove(next);
        order.insert(member.id, order.len());
    }
    order
}
