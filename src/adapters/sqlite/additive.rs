//! Records of the additive kinds, built as JSON by the queries themselves.
//!
//! Column 0 is the part of the id that tells records of one kind apart; column 1 is the record.

use super::rows::json;
use crate::base::ids;
use crate::ports::reader::AdditiveRow;
use rusqlite::Row;

/// Each additive kind with its query, in export order.
pub(super) const QUERIES: &[(&str, &str)] = &[
    (
        "usage",
        // Of several copies the one that knows its turn, then the first by place.
        "SELECT hex(uid), record FROM (SELECT u.uid, u.order_us, row_number() OVER (
            PARTITION BY u.uid ORDER BY u.turn_id IS NULL, s.path, u.offset) AS nth,
            json_object('type', 'usage', 'conversation', c.key, 'session_id', c.native_id,
            'id', substr(lower(hex(u.uid)), 1, 8) || '-' || substr(lower(hex(u.uid)), 9, 4)
              || '-' || substr(lower(hex(u.uid)), 13, 4) || '-' || substr(lower(hex(u.uid)), 17, 4)
              || '-' || substr(lower(hex(u.uid)), 21), 'scope', u.scope,
            'response_id', u.response_id, 'request_id', u.request_id, 'turn_id', u.turn_id,
            'model', u.model, 'copied_from', u.copied_from, 'input', u.input,
            'cached_input', u.cached_input, 'cache_write_input', u.cache_write_input,
            'output', u.output, 'reasoning_output', u.reasoning_output, 'total', u.total,
            'uncached_input', u.uncached_input, 'standing', u.standing, 'floor', u.floor,
            'epoch', u.epoch, 'sequence', u.sequence,
            'branch', json(iif(u.branch, 'true', 'false')), 'observed_at', u.observed_at) AS record
         FROM usage u JOIN conversation c ON c.id = u.conversation
         JOIN source s ON s.id = u.source AND s.generation = u.generation
         WHERE u.conversation = ?1) WHERE nth = 1 ORDER BY order_us, uid",
    ),
    (
        "lineage",
        "SELECT l.relation || ' ' || l.related_key || ' ' || c.key,
            json_patch(json_object('type', 'lineage', 'conversation', c.key,
            'relation', l.relation, 'related', l.related_key),
            json_object('position', min(l.position)))
         FROM visible_lineage l JOIN conversation c ON c.id = l.conversation
         WHERE l.conversation = ?1 GROUP BY l.relation, l.related_key
         ORDER BY l.relation, l.related_key",
    ),
    (
        "turn",
        "SELECT f.name || ' ' || f.value || ' ' || c.key,
            json_object('type', 'turn', 'conversation', c.key, 'session_id', c.native_id,
            'fact', f.name, 'value', f.value, 'first_us', min(f.first_us),
            'last_us', max(f.last_us))
         FROM visible_fact f JOIN conversation c ON c.id = f.conversation
         WHERE f.conversation = ?1 GROUP BY f.name, f.value
         ORDER BY f.name, min(f.first_us), f.value",
    ),
    (
        "loss",
        "SELECT s.path || ' ' || l.offset || ' ' || l.path || ' ' || l.reason || ' ' || l.detail,
            json_object('type', 'loss', 'conversation', c.key, 'session_id', c.native_id, 'reason', l.reason,
            'detail', l.detail, 'count', l.count, 'source', s.path, 'offset', l.offset,
            'length', l.length, 'path', l.path)
         FROM loss l JOIN conversation c ON c.id = l.conversation
         JOIN source s ON s.id = l.source AND s.generation = l.generation
         WHERE l.conversation = ?1 ORDER BY s.path, l.offset, l.path, l.reason, l.detail",
    ),
];

/// One row of a query above.
pub(super) fn row(kind: &str, row: &Row<'_>) -> rusqlite::Result<AdditiveRow> {
    let own: String = row.get(0)?;
    // Usage has an id of its own; the others are told apart by what they say.
    let id = match uuid::Uuid::try_parse(&own) {
        Ok(id) if kind == "usage" => id,
        _ => ids::derive(&["additive", kind, &own]),
    };
    Ok(AdditiveRow { id, kind: kind.to_owned(), record: json(row, 1)? })
}
