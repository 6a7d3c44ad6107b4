//! Forks that give their copied history a new conversation: what is copied, and from whom.
//!
//! The lines of such a copy keep their native ids. Conversations whose first prompt has one native id
//! are a group; an event that several of them tell is the origin's, and a copy in the others. Which
//! is the origin is a function of the group alone, so the order of reading does not matter: one that
//! another names as the one it was forked from, else one that holds nothing that the other does not,
//! else the one whose own history begins first.

use super::open::map;
use crate::ports::recorder::StoreError;
use rusqlite::{Connection, OptionalExtension as _, params};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Spaces whose ids a copy keeps.
const KEPT: &str = "('line', 'call', 'prompt', 'turn')";

/// Brings the copies of the conversations that were touched up to date.
pub(super) fn settle(conn: &Connection, touched: &BTreeSet<i64>) -> Result<(), StoreError> {
    let mut groups = BTreeSet::new();
    for conversation in touched {
        let held = head(conn, *conversation)?;
        let now = first_prompt(conn, *conversation)?;
        if held != now {
            keep_head(conn, *conversation, now.as_ref())?;
            groups.extend(held);
        }
        groups.extend(now);
    }
    for head in groups {
        settle_group(conn, &head)?;
    }
    Ok(())
}

/// Native space and id.
type Native = (String, String);

fn head(conn: &Connection, conversation: i64) -> Result<Option<Native>, StoreError> {
    conn.prepare_cached("SELECT native_space, native_id FROM head WHERE conversation = ?1")
        .and_then(|mut s| {
            s.query_row([conversation], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })
        .map_err(map)
}

fn first_prompt(conn: &Connection, conversation: i64) -> Result<Option<Native>, StoreError> {
    conn.prepare_cached(
        "SELECT s.native_space, s.native_id FROM event e JOIN sighting s ON s.event = e.id
         WHERE e.conversation = ?1 AND e.kind = 'user_prompt_submit'
           AND s.native_space IN ('line', 'prompt')
         ORDER BY e.order_us, s.native_space, s.native_id LIMIT 1",
    )
    .and_then(|mut s| s.query_row([conversation], |row| Ok((row.get(0)?, row.get(1)?))).optional())
    .map_err(map)
}

fn keep_head(
    conn: &Connection,
    conversation: i64,
    head: Option<&Native>,
) -> Result<(), StoreError> {
    let (space, id) = match head {
        Some((space, id)) => (space, id),
        None => {
            return run(conn, "DELETE FROM head WHERE conversation = ?1", [conversation]);
        }
    };
    run(
        conn,
        "INSERT OR REPLACE INTO head (conversation, native_space, native_id) VALUES (?1, ?2, ?3)",
        params![conversation, space, id],
    )
}

/// A conversation of a group.
struct Member {
    row: i64,
    key: String,
    /// Its events by kind and native id.
    events: HashMap<(String, String, String), (i64, i64)>,
}

fn settle_group(conn: &Connection, head: &Native) -> Result<(), StoreError> {
    let members = members(conn, head)?;
    let mut copies: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    if members.len() > 1 {
        let members = in_order(conn, members)?;
        let mut owners: HashMap<&(String, String, String), i64> = HashMap::new();
        for member in &members {
            for (native, (event, _)) in &member.events {
                match owners.get(native) {
                    Some(origin) => {
                        copies.insert(*event, (member.row, *origin));
                    }
                    None => {
                        owners.insert(native, member.row);
                    }
                }
            }
        }
        return replace(conn, &members.iter().map(|m| m.row).collect::<Vec<_>>(), &copies);
    }
    replace(conn, &members.iter().map(|m| m.row).collect::<Vec<_>>(), &copies)
}

/// The conversations of one provider that begin so. Events are read only when there are several.
fn members(conn: &Connection, head: &Native) -> Result<Vec<Member>, StoreError> {
    let rows: Vec<(i64, String)> = conn
        .prepare_cached(
            "SELECT c.id, c.key FROM head h JOIN conversation c ON c.id = h.conversation
             WHERE h.native_id = ?2 AND h.native_space = ?1
               AND c.id NOT IN (SELECT conversation FROM going) ORDER BY c.provider, c.key",
        )
        .and_then(|mut s| {
            s.query_map(params![head.0, head.1], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()
        })
        .map_err(map)?;
    let several = rows.len() > 1;
    let member = |(row, key): (i64, String)| {
        let events = if several { events(conn, row)? } else { HashMap::new() };
        Ok(Member { row, key, events })
    };
    rows.into_iter().map(member).collect()
}

fn events(
    conn: &Connection,
    conversation: i64,
) -> Result<HashMap<(String, String, String), (i64, i64)>, StoreError> {
    let sql = format!(
        "SELECT e.kind, s.native_space, s.native_id, e.id, e.order_us
         FROM event e JOIN sighting s ON s.event = e.id
         WHERE e.conversation = ?1 AND s.native_space IN {KEPT}"
    );
    conn.prepare_cached(&sql)
        .and_then(|mut s| {
            s.query_map([conversation], |row| {
                Ok(((row.get(0)?, row.get(1)?, row.get(2)?), (row.get(3)?, row.get(4)?)))
            })?
            .collect::<Result<_, _>>()
        })
        .map_err(map)
}

/// The origin first, and each before those that were forked from it.
fn in_order(conn: &Connection, mut members: Vec<Member>) -> Result<Vec<Member>, StoreError> {
    let wins: HashMap<i64, usize> = members
        .iter()
        .map(|one| (one.row, members.iter().filter(|other| comes_before(one, other)).count()))
        .collect();
    members.sort_by(|a, b| (wins.get(&b.row), &a.key).cmp(&(wins.get(&a.row), &b.key)));
    let mut declared = Vec::new();
    for member in &members {
        let parents: Vec<String> = conn
            .prepare_cached(
                "SELECT related_key FROM visible_lineage
                 WHERE conversation = ?1 AND relation = 'fork' ORDER BY related_key",
            )
            .and_then(|mut s| {
                s.query_map([member.row], |row| row.get(0))?.collect::<Result<_, _>>()
            })
            .map_err(map)?;
        declared.extend(parents.into_iter().map(|parent| (member.key.clone(), parent)));
    }
    // A fork that stands before its origin goes behind it; a circle ends with the passes.
    for _ in 0..members.len() {
        for (fork, origin) in &declared {
            let at = |key: &str| members.iter().position(|member| member.key == key);
            if let (Some(fork), Some(origin)) = (at(fork), at(origin))
                && fork < origin
            {
                let moved = members.remove(fork);
                members.insert(origin, moved);
            }
        }
    }
    Ok(members)
}

/// Whether of two conversations the first is rather the origin: it has nothing that the other has
/// not, or what it has alone begins earlier.
fn comes_before(one: &Member, other: &Member) -> bool {
    let first_alone = |a: &Member, b: &Member| {
        let alone = a.events.iter().filter(|(native, _)| !b.events.contains_key(*native));
        alone.map(|(_, (_, at))| *at).min()
    };
    match (first_alone(one, other), first_alone(other, one)) {
        (None, None) => one.key < other.key,
        (None, Some(_)) => true,
        (Some(_), None) => false,
        (Some(a), Some(b)) => (a, &one.key) < (b, &other.key),
    }
}

/// Makes these the copies of the conversations, writing only what differs.
fn replace(
    conn: &Connection,
    conversations: &[i64],
    copies: &BTreeMap<i64, (i64, i64)>,
) -> Result<(), StoreError> {
    let mut held: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for conversation in conversations {
        let rows: Vec<(i64, (i64, i64))> = conn
            .prepare_cached("SELECT event, conversation, origin FROM copy WHERE conversation = ?1")
            .and_then(|mut s| {
                s.query_map([conversation], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
                    .collect::<Result<_, _>>()
            })
            .map_err(map)?;
        held.extend(rows);
    }
    for event in held.keys().filter(|event| !copies.contains_key(event)) {
        run(conn, "DELETE FROM copy WHERE event = ?1", [event])?;
    }
    for (event, (conversation, origin)) in copies {
        if held.get(event) != Some(&(*conversation, *origin)) {
            run(
                conn,
                "INSERT OR REPLACE INTO copy (event, conversation, origin) VALUES (?1, ?2, ?3)",
                [event, conversation, origin],
            )?;
        }
    }
    Ok(())
}

fn run(conn: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
    conn.prepare_cached(sql).and_then(|mut s| s.execute(values)).map(|_| ()).map_err(map)
}
