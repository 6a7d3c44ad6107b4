//! Usage reports out of the store, in one pass over their table alone.
//!
//! Names become numbers on the way: conversations by key, sources by path, so that the same rows
//! get the same numbers in whatever order they were stored. A report that cannot be read is set
//! aside.

use super::open::map;
use super::rows::seen_at;
use crate::base::hash::Digest;
use crate::domain::key::ConversationKey;
use crate::domain::provider::Provider;
use crate::domain::usage::measurement::Measurement;
use crate::domain::usage::{Floor, Standing, TokenCounts, UsageScope};
use crate::ports::reader::{FailedRow, SeenAt, UsageParty, UsageReports};
use crate::ports::recorder::StoreError;
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use std::collections::{BTreeMap, HashMap};

const REPORTS: &str = "SELECT id, conversation, source, generation, epoch, sequence, scope,
    response_id, turn_id, model, input, cached_input, cache_write_input, output,
    reasoning_output, total, uncached_input, standing, floor, branch, at_us, copied_from, offset
    FROM usage WHERE conversation NOT IN (SELECT conversation FROM going)";

/// Room made beforehand, at most.
const ROWS_EXPECTED_MAX: usize = 1 << 20;

/// Numbers for texts, in the order of their first appearance.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }
}

/// A stored conversation, as reports name it.
#[derive(Clone, Copy)]
struct Known {
    party: u32,
    provider: u32,
}

/// What a pass over the table needs to know beforehand.
struct Context<'a> {
    namespace: &'a str,
    /// Current generation and number of each source.
    sources: HashMap<i64, (i64, u32)>,
    conversations: HashMap<i64, Known>,
    parties: Vec<UsageParty>,
    by_key: HashMap<String, u32>,
    /// Source and offset of lines that a fork copied, with the party that they are of.
    copied: HashMap<(i64, i64), u32>,
    providers: Names,
    models: Names,
}

/// Every visible report.
pub(super) fn reports(conn: &Connection, namespace: &str) -> Result<UsageReports, StoreError> {
    let mut context = context(conn, namespace).map_err(map)?;
    // The largest row number is at least the number of rows, and costs nothing to ask for.
    let most: Option<i64> =
        conn.query_row("SELECT max(id) FROM usage", [], |row| row.get(0)).map_err(map)?;
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(0);
    let mut found: Vec<(i64, i64, Measurement)> = Vec::with_capacity(most.min(ROWS_EXPECTED_MAX));
    let mut failed = Vec::new();
    let mut statement = conn.prepare_cached(REPORTS).map_err(map)?;
    let mut rows = statement.query([]).map_err(map)?;
    while let Some(row) = rows.next().map_err(map)? {
        match context.report(row) {
            Ok(Some(report)) => found.push(report),
            Ok(None) => {}
            Err(error) => failed.push(FailedRow {
                id: row.get::<_, i64>(0).map_or_else(|_| "?".to_owned(), |id| id.to_string()),
                error: error.to_string(),
            }),
        }
    }
    found.sort_unstable_by_key(|(row, offset, report)| {
        (report.source, *offset, report.sequence, *row)
    });
    let rows = found.iter().map(|(row, _, _)| *row).collect();
    let reports = found.into_iter().map(|(_, _, report)| report).collect();
    Ok(UsageReports {
        reports,
        rows,
        conversations: context.parties,
        providers: context.providers.names,
        models: context.models.names,
        failed,
    })
}

fn context<'a>(conn: &Connection, namespace: &'a str) -> rusqlite::Result<Context<'a>> {
    let mut context = Context {
        namespace,
        sources: HashMap::new(),
        conversations: HashMap::new(),
        parties: Vec::new(),
        by_key: HashMap::new(),
        copied: HashMap::new(),
        providers: Names::default(),
        models: Names::default(),
    };
    let mut sources =
        conn.prepare_cached("SELECT id, generation FROM source ORDER BY path, kind")?;
    let all = sources.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
    for (number, source) in (0_u32..).zip(all) {
        let (id, generation) = source?;
        context.sources.insert(id, (generation, number));
    }
    let parents = parents(conn)?;
    let mut stored =
        conn.prepare_cached("SELECT id, key, provider, native_id FROM conversation ORDER BY key")?;
    let mut rows = stored.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        // One that cannot be read is met again as the reports that name it.
        let Ok(party) = party(row, parents.get(&id)) else { continue };
        let provider = context.providers.number(&party.provider);
        let party = context.party(party);
        context.conversations.insert(id, Known { party, provider });
    }
    context.copied = copied(conn, &context.conversations)?;
    Ok(context)
}

fn party(row: &Row<'_>, parent: Option<&String>) -> rusqlite::Result<UsageParty> {
    let (key, provider, native_id) = (row.get(1)?, row.get(2)?, row.get(3)?);
    Ok(UsageParty { key, provider, native_id, parent: parent.cloned() })
}

fn copied(
    conn: &Connection,
    conversations: &HashMap<i64, Known>,
) -> rusqlite::Result<HashMap<(i64, i64), u32>> {
    let mut statement = conn.prepare_cached(
        "SELECT s.source, s.offset, k.origin FROM copied k JOIN sighting s ON s.event = k.event",
    )?;
    let mut rows = statement.query([])?;
    let mut copied = HashMap::new();
    while let Some(row) = rows.next()? {
        if let Some(origin) = conversations.get(&row.get(2)?) {
            copied.insert((row.get(0)?, row.get(1)?), origin.party);
        }
    }
    Ok(copied)
}

/// Who spawned whom: the parent, else the root of the tree.
fn parents(conn: &Connection) -> rusqlite::Result<BTreeMap<i64, String>> {
    let mut statement = conn.prepare_cached(
        "SELECT conversation, related_key FROM visible_lineage
         WHERE relation IN ('parent', 'tree')
         ORDER BY conversation, relation = 'tree', related_key",
    )?;
    let mut out = BTreeMap::new();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (Ok(child), Ok(parent)) = (row.get::<_, i64>(0), row.get::<_, String>(1)) else {
            continue;
        };
        out.entry(child).or_insert(parent);
    }
    Ok(out)
}

impl Context<'_> {
    fn party(&mut self, party: UsageParty) -> u32 {
        if let Some(number) = self.by_key.get(&party.key) {
            return *number;
        }
        let number = u32::try_from(self.parties.len()).unwrap_or(u32::MAX);
        self.by_key.insert(party.key.clone(), number);
        self.parties.push(party);
        number
    }

    /// The conversation of a native id, stored or not.
    fn origin(&mut self, provider: u32, native_id: &str) -> Option<u32> {
        let name = self.providers.names.get(provider as usize)?.clone();
        let key =
            ConversationKey::new(Provider::from_tag(&name), self.namespace, native_id).ok()?;
        Some(self.party(UsageParty {
            key: key.to_string(),
            provider: name,
            native_id: native_id.to_owned(),
            parent: None,
        }))
    }

    /// One report with its row and offset; `None` when its generation is not the visible one.
    fn report(&mut self, row: &Row<'_>) -> rusqlite::Result<Option<(i64, i64, Measurement)>> {
        let Some((generation, source)) = self.sources.get(&row.get(2)?).copied() else {
            return Ok(None);
        };
        if generation != row.get::<_, i64>(3)? {
            return Ok(None);
        }
        let Some(known) = self.conversations.get(&row.get(1)?).copied() else {
            return Err(broken(1, "a conversation that cannot be read"));
        };
        let model = text(row, 9)?.map(|name| self.models.number(name));
        let spent_in = match text(row, 21)? {
            Some(origin) => self.origin(known.provider, origin),
            None => self.copied.get(&(row.get(2)?, row.get(22)?)).copied(),
        };
        let report = Measurement {
            provider: known.provider,
            conversation: known.party,
            spent_in,
            source,
            epoch: row.get(4)?,
            sequence: row.get(5)?,
            scope: word(row, 6, UsageScope::from_word)?,
            response: text(row, 7)?.map(Box::from),
            turn: text(row, 8)?.map(Box::from),
            model,
            counts: TokenCounts {
                input: row.get(10)?,
                cached_input: row.get(11)?,
                cache_write_input: row.get(12)?,
                output: row.get(13)?,
                reasoning_output: row.get(14)?,
                total: row.get(15)?,
                uncached_input: row.get(16)?,
            },
            standing: word(row, 17, Standing::from_word)?,
            floor: match text(row, 18)? {
                Some(_) => Some(word(row, 18, Floor::from_word)?),
                None => None,
            },
            branch: row.get(19)?,
            at_us: row.get(20)?,
        };
        Ok(Some((row.get(0)?, row.get(22)?, report)))
    }
}

/// A text column, borrowed.
fn text<'r>(row: &'r Row<'_>, index: usize) -> rusqlite::Result<Option<&'r str>> {
    match row.get_ref(index)? {
        ValueRef::Null => Ok(None),
        value => value.as_str().map(Some).map_err(|_| broken(index, "not a text")),
    }
}

fn word<T>(row: &Row<'_>, index: usize, of: fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    text(row, index)?.and_then(of).ok_or_else(|| broken(index, "not a word that is known here"))
}

fn broken(index: usize, why: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, why.into())
}

/// Where reports stand.
pub(super) fn places(conn: &Connection, rows: &[i64]) -> Result<Vec<(i64, SeenAt)>, StoreError> {
    let mut statement = conn
        .prepare_cached(
            "SELECT u.id, s.path, u.offset, u.length, u.line_hash, u.path, u.idx
             FROM usage u JOIN source s ON s.id = u.source WHERE u.id = ?1",
        )
        .map_err(map)?;
    let mut out = Vec::with_capacity(rows.len());
    for id in rows {
        let mut found = statement.query([id]).map_err(map)?;
        if let Some(row) = found.next().map_err(map)? {
            out.push((*id, seen_at(row, 1).map_err(map)?));
        }
    }
    Ok(out)
}

/// A hash over what every source was read as: its generation, how far, and the chain of its lines.
/// Hook streams have neither; their newest report stands for them. And what was forgotten counts.
pub(super) fn stamp(conn: &Connection) -> rusqlite::Result<Digest> {
    let mut statement = conn.prepare_cached(
        "SELECT s.id, s.generation, s.offset, s.chain, s.decoder,
                CASE WHEN s.chain IS NULL
                THEN (SELECT max(u.id) FROM usage u WHERE u.source = s.id) END
         FROM source s ORDER BY s.id",
    )?;
    let mut rows = statement.query([])?;
    let forgotten: i64 = conn.query_row("SELECT count(*) FROM forgotten", [], |row| row.get(0))?;
    let mut told = forgotten.to_le_bytes().to_vec();
    while let Some(row) = rows.next()? {
        for column in [0, 1, 2, 5] {
            let number: Option<i64> = row.get(column)?;
            told.push(u8::from(number.is_some()));
            told.extend(number.unwrap_or_default().to_le_bytes());
        }
        let chain: Option<Vec<u8>> = row.get(3)?;
        let decoder: Option<String> = row.get(4)?;
        for bytes in [chain.unwrap_or_default(), decoder.unwrap_or_default().into_bytes()] {
            told.extend((bytes.len() as u64).to_le_bytes());
            told.extend(bytes);
        }
    }
    Ok(Digest::of(&told))
}

/// A kept value, when its stamp is that of the store.
pub(super) fn derived(conn: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    let kept: Option<Vec<u8>> = conn
        .query_row("SELECT stamp FROM derived WHERE name = ?1", params![name], |row| row.get(0))
        .optional()?;
    match kept {
        Some(kept) if kept == stamp(conn)?.as_bytes() => conn
            .query_row("SELECT value FROM derived WHERE name = ?1", params![name], |row| row.get(0))
            .optional(),
        _ => Ok(None),
    }
}
