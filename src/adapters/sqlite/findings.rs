//! Verdicts that were given, in the store.

use super::open::{SqliteStore, map};
use super::rows::uuid;
use crate::domain::verdict::{Finding, Reason, Verdict};
use crate::ports::findings::{FindingStore, KeptFinding, Standing, Whose};
use crate::ports::recorder::StoreError;
use rusqlite::{Row, Transaction, TransactionBehavior, params};
use std::collections::{BTreeMap, HashMap};
use uuid::Uuid;

const KEPT: &str = "SELECT f.uid, f.claim_uid, c.key, f.claim, f.verdict, f.reason, f.rationale,
     f.evidence, f.verifier, f.judged_us, f.replaced_us
   FROM finding f JOIN conversation c ON c.id = f.conversation
     AND c.id NOT IN (SELECT conversation FROM going)";

const STANDING: &str = "SELECT c.id, c.key, c.provider, c.native_id, j.at_us,
     j.events IS NOT c.events
   FROM conversation c LEFT JOIN judged j ON j.conversation = c.id
   WHERE c.id NOT IN (SELECT conversation FROM going)";

impl FindingStore for SqliteStore {
    fn keep_findings(
        &mut self,
        conversation: i64,
        findings: &[(String, Finding)],
        at_us: i64,
    ) -> Result<u64, StoreError> {
        let tx =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(map)?;
        let mut standing = standing_rows(&tx, conversation)?;
        let mut new = 0;
        for (claim, finding) in findings {
            match standing.remove(&finding.id) {
                Some((_, held)) if held == *finding => {}
                Some((row, _)) => {
                    replace(&tx, row, at_us)?;
                    insert(&tx, conversation, claim, finding, at_us)?;
                    new += 1;
                }
                None => {
                    insert(&tx, conversation, claim, finding, at_us)?;
                    new += 1;
                }
            }
        }
        // What is left was said of claims that are no more.
        for (row, _) in standing.into_values() {
            replace(&tx, row, at_us)?;
        }
        tx.execute(
            "INSERT OR REPLACE INTO judged (conversation, events, at_us)
             SELECT id, events, ?2 FROM conversation WHERE id = ?1",
            params![conversation, at_us],
        )
        .map_err(map)?;
        tx.commit().map_err(map)?;
        Ok(new)
    }

    fn finding_history(&self, id: Uuid) -> Result<Vec<KeptFinding>, StoreError> {
        let sql = format!("{KEPT} WHERE f.uid = ?1 OR f.claim_uid = ?1 ORDER BY f.id");
        self.all(&sql, [id.as_bytes()], kept)
    }

    fn standing(&self, whose: Whose<'_>) -> Result<Option<Standing>, StoreError> {
        let found = match whose {
            Whose::Row(row) => self.all(&format!("{STANDING} AND c.id = ?1"), [row], stands),
            Whose::Native(id) => self.all(
                &format!("{STANDING} AND c.native_id = ?1 ORDER BY c.last_us DESC LIMIT 1"),
                [id],
                stands,
            ),
            Whose::LatestIn(folder) => self.all(
                &format!(
                    "{STANDING} AND EXISTS (
                       SELECT 1 FROM visible_fact f WHERE f.conversation = c.id AND f.name = 'cwd'
                         AND (?1 = f.value OR f.value = '/'
                              OR substr(?1, 1, length(f.value) + 1) = f.value || '/'))
                     AND NOT EXISTS (
                       SELECT 1 FROM visible_lineage l
                       WHERE l.conversation = c.id AND l.relation = 'parent')
                     ORDER BY c.last_us DESC LIMIT 1"
                ),
                [folder.to_string_lossy()],
                stands,
            ),
        };
        let Some(mut standing) = found?.pop() else { return Ok(None) };
        let counts = self.all(
            "SELECT verdict, count(*) FROM finding
             WHERE conversation = ?1 AND replaced_us IS NULL GROUP BY verdict",
            [standing.conversation],
            |row| Ok((verdict(&row.get::<_, String>(0)?), row.get::<_, i64>(1)?.cast_unsigned())),
        )?;
        standing.counts = counts.into_iter().filter_map(|(v, n)| Some((v?, n))).collect();
        let foremost = format!(
            "{KEPT} WHERE f.conversation = ?1 AND f.replaced_us IS NULL
             ORDER BY f.verdict = 'contradicted' DESC, f.id DESC LIMIT 1"
        );
        standing.foremost = self.all(&foremost, [standing.conversation], kept)?.pop();
        Ok(Some(standing))
    }

    fn gate_once(&mut self, conversation: i64, turn: &str, at_us: i64) -> Result<bool, StoreError> {
        self.conn
            .execute(
                "INSERT OR IGNORE INTO gated (conversation, turn, at_us) VALUES (?1, ?2, ?3)",
                params![conversation, turn, at_us],
            )
            .map(|changed| changed > 0)
            .map_err(map)
    }
}

/// The standing findings of a conversation, by id, with their rows.
fn standing_rows(
    tx: &Transaction<'_>,
    conversation: i64,
) -> Result<HashMap<Uuid, (i64, Finding)>, StoreError> {
    let sql = "SELECT f.uid, f.claim_uid, '', '', f.verdict, f.reason, f.rationale, f.evidence,
         f.verifier, f.judged_us, f.replaced_us, f.id
       FROM finding f WHERE f.conversation = ?1 AND f.replaced_us IS NULL";
    let mut statement = tx.prepare_cached(sql).map_err(map)?;
    let rows = statement
        .query_map([conversation], |row| Ok((row.get::<_, i64>(11)?, kept(row)?.finding)))
        .map_err(map)?;
    rows.map(|row| row.map(|(id, finding)| (finding.id, (id, finding))))
        .collect::<Result<_, _>>()
        .map_err(map)
}

fn replace(tx: &Transaction<'_>, row: i64, at_us: i64) -> Result<(), StoreError> {
    tx.prepare_cached("UPDATE finding SET replaced_us = ?2 WHERE id = ?1")
        .and_then(|mut s| s.execute(params![row, at_us]))
        .map(|_| ())
        .map_err(map)
}

fn insert(
    tx: &Transaction<'_>,
    conversation: i64,
    claim: &str,
    finding: &Finding,
    at_us: i64,
) -> Result<(), StoreError> {
    let evidence = serde_json::to_string(&finding.evidence_ids).unwrap_or_default();
    tx.prepare_cached(
        "INSERT INTO finding (uid, claim_uid, conversation, claim, verdict, reason, rationale,
           evidence, verifier, judged_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )
    .and_then(|mut s| {
        s.execute(params![
            finding.id.as_bytes(),
            finding.claim_id.as_bytes(),
            conversation,
            claim,
            finding.verdict.as_str(),
            finding.reason.as_str(),
            finding.rationale,
            evidence,
            finding.verifier_name,
            at_us,
        ])
    })
    .map(|_| ())
    .map_err(map)
}

fn kept(row: &Row<'_>) -> rusqlite::Result<KeptFinding> {
    let word: String = row.get(4)?;
    let evidence: String = row.get(7)?;
    Ok(KeptFinding {
        conversation: row.get(2)?,
        claim: row.get(3)?,
        finding: Finding {
            id: uuid(row, 0)?,
            claim_id: uuid(row, 1)?,
            // A word of a later version is for a person to look at.
            verdict: verdict(&word).unwrap_or(Verdict::Review),
            reason: Reason::from_tag(&row.get::<_, String>(5)?),
            rationale: row.get(6)?,
            evidence_ids: serde_json::from_str(&evidence).unwrap_or_default(),
            verifier_name: row.get(8)?,
        },
        judged_us: row.get(9)?,
        replaced_us: row.get(10)?,
    })
}

fn stands(row: &Row<'_>) -> rusqlite::Result<Standing> {
    Ok(Standing {
        conversation: row.get(0)?,
        key: row.get(1)?,
        provider: row.get(2)?,
        native_id: row.get(3)?,
        counts: BTreeMap::new(),
        judged_us: row.get(4)?,
        stale: row.get(5)?,
        foremost: None,
    })
}

fn verdict(word: &str) -> Option<Verdict> {
    Verdict::ALL.into_iter().find(|verdict| verdict.as_str() == word)
}
