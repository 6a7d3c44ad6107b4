//! Columns to domain and back, in one place.

use super::fold::Said;
use super::open::map;
use crate::base::hash::Digest;
use crate::domain::record::Place;
use crate::ports::files::{FileKind, FileStat};
use crate::ports::reader::SeenAt;
use crate::ports::recorder::{KnownSource, StoreError, Watermark, Windows};
use rusqlite::types::Type;
use rusqlite::{Connection, Row};
use serde_json::Value;
use uuid::Uuid;

/// The four columns of a place.
pub(super) fn place_params(place: &Place) -> (i64, i64, [u8; 32], &str) {
    (
        place.offset.cast_signed(),
        place.length.cast_signed(),
        *place.line_hash.as_bytes(),
        &place.path,
    )
}

/// Sources in the order of columns that `known_source` reads.
pub(super) const KNOWN_SOURCE: &str = "SELECT id, path, format, provider, generation, state, device, \
    inode, size, modified_ns, changed_ns, offset, lines, chain, head_hash, tail_hash, decoder, \
    complete, settled, begun FROM source";

/// A source as the store knows it, without the state in its watermark.
pub(super) fn known_source(row: &Row<'_>) -> rusqlite::Result<KnownSource> {
    Ok(KnownSource {
        id: row.get(0)?,
        path: row.get(1)?,
        format: row.get(2)?,
        provider: row.get(3)?,
        generation: row.get(4)?,
        state: row.get(5)?,
        begun: row.get(19)?,
        watermark: watermark_from_row(row)?,
    })
}

fn watermark_from_row(row: &Row<'_>) -> rusqlite::Result<Option<Watermark>> {
    let Some(chain) = digest(row, 13)? else { return Ok(None) };
    let windows = match (digest(row, 14)?, digest(row, 15)?) {
        (Some(head), Some(tail)) => Some(Windows { head, tail }),
        _ => None,
    };
    Ok(Some(Watermark {
        offset: row.get::<_, i64>(11)?.cast_unsigned(),
        lines: row.get::<_, i64>(12)?.cast_unsigned(),
        chain,
        windows,
        decoder: row.get::<_, Option<String>>(16)?.unwrap_or_default(),
        state: Value::Null,
        stat: FileStat {
            kind: FileKind::File,
            device: row.get::<_, i64>(6)?.cast_unsigned(),
            inode: row.get::<_, i64>(7)?.cast_unsigned(),
            size: row.get::<_, i64>(8)?.cast_unsigned(),
            modified_ns: row.get(9)?,
            changed_ns: row.get(10)?,
            settled: row.get(18)?,
        },
        complete: row.get(17)?,
    }))
}

/// A hash column.
pub(super) fn digest(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Digest>> {
    let bytes: Option<Vec<u8>> = row.get(column)?;
    Ok(bytes.and_then(|b| Digest::from_slice(&b)))
}

/// A UUID column.
pub(super) fn uuid(row: &Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    let bytes: Vec<u8> = row.get(column)?;
    Uuid::from_slice(&bytes)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, Box::new(e)))
}

/// A required JSON column.
pub(super) fn json(row: &Row<'_>, column: usize) -> rusqlite::Result<Value> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(e)))
}

/// An optional JSON column.
pub(super) fn json_opt(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Value>> {
    let text: Option<String> = row.get(column)?;
    text.map(|t| serde_json::from_str(&t))
        .transpose()
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(e)))
}

/// Six columns from `first` on: source path, offset, length, line hash, path, index.
pub(super) fn seen_at(row: &Row<'_>, first: usize) -> rusqlite::Result<SeenAt> {
    let hash: Vec<u8> = row.get(first + 3)?;
    Ok(SeenAt {
        source: row.get(first)?,
        offset: row.get::<_, i64>(first + 1)?.cast_unsigned(),
        length: row.get::<_, i64>(first + 2)?.cast_unsigned(),
        line_hash: Digest::from_slice(&hash).map(|d| d.hex()).unwrap_or_default(),
        path: row.get(first + 4)?,
        index: row.get(first + 5)?,
    })
}

/// What each sighting of an event says, as far as the fold needs it.
pub(super) fn sightings_of(conn: &Connection, event: i64) -> Result<Vec<Said>, StoreError> {
    conn.prepare_cached(
        "SELECT rank, content_hash, outcome, order_us FROM sighting WHERE event = ?1",
    )
    .and_then(|mut s| {
        s.query_map([event], |r| {
            Ok(Said {
                rank: r.get(0)?,
                content_hash: r.get(1)?,
                outcome: r.get(2)?,
                order_us: r.get(3)?,
            })
        })?
        .collect::<Result<_, _>>()
    })
    .map_err(map)
}
