//! What only an import brings: other names of conversations, and findings of an earlier program.

use super::open::SqliteStore;
use super::rows::{json, place_params, seen_at, uuid};
use super::write::other;
use super::writer::Writer;
use crate::domain::record::{HistoricalFinding, Ingress, Sealed};
use crate::ports::reader::{HistoricalFindingRow, Rows};
use crate::ports::recorder::StoreError;
use rusqlite::types::Type;
use rusqlite::{Row, params};
use std::collections::HashSet;
use uuid::Uuid;

/// How such a name begins.
pub(super) const ALIAS: &str = "session:";

/// The conversations `c` that have a name; several when it says more than one.
pub(super) const NAMED: &str = "WHERE c.id IN (SELECT a.conversation FROM alias a
    JOIN source src ON src.id = a.source AND src.generation = a.generation WHERE a.name = ?1)
    ORDER BY c.key";

/// Leaves out what an import tells of an event of which this program told as much itself: an event
/// has one exit code, not two.
pub(super) fn once<T>(rows: &mut Vec<T>, event: impl Fn(&T) -> Uuid, ingress: impl Fn(&T) -> &str) {
    let is_import = |row: &T| ingress(row) == Ingress::Import.as_str();
    if !rows.iter().any(is_import) {
        return;
    }
    let is_own = |row: &&T| ingress(row) == Ingress::BuiltIn.as_str();
    let seen: HashSet<Uuid> = rows.iter().filter(is_own).map(&event).collect();
    rows.retain(|row| !is_import(row) || !seen.contains(&event(row)));
}

impl Writer<'_> {
    pub(super) fn alias(&self, name: &str, conversation: i64) -> Result<bool, StoreError> {
        self.run(
            "INSERT OR IGNORE INTO alias (name, conversation, source, generation)
             VALUES (?1, ?2, ?3, ?4)",
            params![name, conversation, self.source, self.generation],
        )
    }

    pub(super) fn historical_finding(
        &self,
        sealed: &Sealed,
        finding: &HistoricalFinding,
        conversation: i64,
    ) -> Result<bool, StoreError> {
        let (offset, length, line_hash, path) = place_params(&sealed.place);
        let evidence = serde_json::to_string(&finding.evidence_ids).map_err(other)?;
        self.run(
            "INSERT OR IGNORE INTO historical_finding
               (uid, claim_uid, conversation, source, generation, offset, length, line_hash, path,
                idx, verdict, evidence_uids, verifier_name, rationale, computed_at, order_us)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
            params![
                finding.id.as_bytes(),
                finding.claim_id.as_bytes(),
                conversation,
                self.source,
                self.generation,
                offset,
                length,
                line_hash,
                path,
                sealed.place.index,
                finding.verdict,
                evidence,
                finding.verifier_name,
                finding.rationale,
                finding.computed_at,
                finding.order_us
            ],
        )
    }
}

impl SqliteStore {
    pub(super) fn imported_findings(
        &self,
        conversation: i64,
    ) -> Result<Rows<HistoricalFindingRow>, StoreError> {
        let mut found = self.isolated(
            "SELECT f.uid, f.claim_uid, f.verdict, f.evidence_uids, f.verifier_name, f.rationale,
                    f.computed_at, f.order_us, src.path, f.offset, f.length, f.line_hash, f.path, f.idx
             FROM historical_finding f
             JOIN source src ON src.id = f.source AND src.generation = f.generation
             WHERE f.conversation = ?1 ORDER BY f.order_us, f.uid, src.path",
            [conversation],
            |row| uuid(row, 0).map(|id| id.to_string()),
            finding,
        )?;
        // Two copies of one database tell it twice.
        found.rows.dedup_by_key(|row| row.finding.id);
        Ok(found)
    }
}

fn finding(row: &Row<'_>) -> rusqlite::Result<HistoricalFindingRow> {
    let evidence_ids = serde_json::from_value(json(row, 3)?)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(3, Type::Text, Box::new(e)))?;
    let finding = HistoricalFinding {
        id: uuid(row, 0)?,
        claim_id: uuid(row, 1)?,
        verdict: row.get(2)?,
        evidence_ids,
        verifier_name: row.get(4)?,
        rationale: row.get(5)?,
        computed_at: row.get(6)?,
        order_us: row.get(7)?,
    };
    Ok(HistoricalFindingRow { finding, seen: seen_at(row, 8)? })
}
