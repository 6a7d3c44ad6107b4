//! Records into rows, inside a transaction.
//!
//! Everything is keyed so that storing a batch again changes nothing. Counters of a conversation
//! move with the rows they count.

use super::copied::Touched;
use super::fold::fold;
use super::open::map;
use super::rows::{place_params, sightings_of};
use super::write::other;
use crate::base::hash::Digest;
use crate::base::json::JsonText;
use crate::base::time::Micros;
use crate::domain::event::EventKind;
use crate::domain::loss::LossReason;
use crate::domain::record::{
    Body, CapabilityRecord, ClaimRecord, EventRecord, EvidenceRecord, Ingress, LossRecord, Sealed,
    UsageRecord,
};
use crate::domain::usage::Floor;
use crate::ports::recorder::{Appended, StoreError};
use rusqlite::{Transaction, params};
use std::collections::HashMap;

/// What one transaction adds to a conversation's counters.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Delta {
    pub(super) events: i64,
    pub(super) failed_calls: i64,
    pub(super) losses: i64,
}

/// A stated fact: conversation, name, value.
type Fact = (i64, &'static str, String);

/// One transaction's view: where its rows go and what they add up to.
pub(super) struct Writer<'a> {
    pub(super) tx: &'a Transaction<'a>,
    pub(super) conversations: &'a mut HashMap<String, Option<i64>>,
    pub(super) deltas: HashMap<i64, Delta>,
    /// Facts of this batch with the first and last time that they held: many records repeat them.
    facts: HashMap<Fact, (i64, i64)>,
    /// Declarations of this batch: how they hash, and the earliest time of each.
    declared: HashMap<i64, (Digest, String)>,
    pub(super) touched: Touched,
    pub(super) appended: Appended,
    pub(super) source: i64,
    pub(super) generation: i64,
    pub(super) ingress: &'a str,
}

impl<'a> Writer<'a> {
    /// A writer for one batch of one source.
    pub(super) fn new(
        tx: &'a Transaction<'a>,
        conversations: &'a mut HashMap<String, Option<i64>>,
        source: i64,
        generation: i64,
        ingress: &'a str,
    ) -> Self {
        let (deltas, appended) = (HashMap::new(), Appended::default());
        let (facts, declared) = (HashMap::new(), HashMap::new());
        let touched = Touched::default();
        Self {
            tx,
            conversations,
            deltas,
            facts,
            declared,
            touched,
            appended,
            source,
            generation,
            ingress,
        }
    }

    /// Stores one record.
    pub(super) fn record(&mut self, sealed: &Sealed) -> Result<(), StoreError> {
        let conversation = match &sealed.conversation {
            Some(conversation) => match self.conversation(conversation)? {
                Some(id) if !self.leaves_with_parent(sealed, conversation, id)? => Some(id),
                _ => {
                    self.count_forgotten(conversation);
                    return Ok(());
                }
            },
            None => None,
        };
        let added = match (&sealed.body, conversation) {
            (Body::Event(event), Some(id)) => self.event(sealed, event, id)?,
            (Body::Evidence(evidence), Some(id)) => {
                let added = self.evidence(sealed, evidence, id)?;
                let told = (evidence.id.as_bytes(), evidence.payload.as_str());
                let held = "SELECT payload = ?4 FROM evidence";
                if added || self.told_before(held, told)? { added } else { self.taken_id(sealed, id)? }
            }
            (Body::Claim(claim), Some(id)) => {
                let added = self.claim(sealed, claim, id)?;
                let told = (claim.id.as_bytes(), claim.text.as_str());
                let held = "SELECT text = ?4 FROM claim";
                if added || self.told_before(held, told)? { added } else { self.taken_id(sealed, id)? }
            }
            (Body::Usage(usage), Some(id)) => self.usage(sealed, usage, id)?,
            (Body::Lineage(lineage), Some(id)) => self.run(
                "INSERT OR IGNORE INTO lineage
                   (conversation, relation, related_key, source, offset, line_hash, path, generation, position)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    id,
                    lineage.relation.as_str(),
                    lineage.related,
                    self.source,
                    sealed.place.offset.cast_signed(),
                    sealed.place.line_hash.as_bytes(),
                    sealed.place.path,
                    self.generation,
                    lineage.position.map(u64::cast_signed)
                ],
            )?,
            (Body::Turn(turn), Some(id)) => {
                let at = turn
                    .observed_at
                    .as_deref()
                    .and_then(crate::base::time::Micros::parse)
                    .map_or(0, |m| m.0);
                for (name, value) in [
                    ("cwd", &turn.cwd),
                    ("model", &turn.model),
                    ("agent_version", &turn.agent_version),
                    ("git_branch", &turn.git_branch),
                    ("title", &turn.title),
                    ("agent_nickname", &turn.agent_nickname),
                    ("agent_role", &turn.agent_role),
                    ("agent_path", &turn.agent_path),
                ] {
                    if let Some(value) = value {
                        self.fact(id, name, value, at);
                    }
                }
                false
            }
            (Body::Capability(capability), Some(id)) => self.capability(capability, id)?,
            (Body::Loss(loss), id) => self.loss(sealed, loss, id)?,
            (Body::Alias(name), Some(id)) => self.alias(name, id)?,
            (Body::HistoricalFinding(finding), Some(id)) => {
                self.historical_finding(sealed, finding, id)?
            }
            (Body::Quarantine { reason }, _) => self.run(
                "INSERT OR IGNORE INTO quarantine
                   (source, generation, offset, length, line_hash, reason, at_us)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)",
                params![
                    self.source,
                    self.generation,
                    sealed.place.offset.cast_signed(),
                    sealed.place.length.cast_signed(),
                    sealed.place.line_hash.as_bytes(),
                    reason
                ],
            )?,
            // The pipeline never seals the others without a conversation.
            (_, None) => false,
        };
        if added {
            self.appended.inserted += 1;
        } else {
            self.appended.known += 1;
        }
        Ok(())
    }

    pub(super) fn run(&self, sql: &str, values: impl rusqlite::Params) -> Result<bool, StoreError> {
        let changed =
            self.tx.prepare_cached(sql).and_then(|mut s| s.execute(values)).map_err(map)?;
        Ok(changed > 0)
    }

    fn event(
        &mut self,
        sealed: &Sealed,
        event: &EventRecord,
        conversation: i64,
    ) -> Result<bool, StoreError> {
        let uid = event.id.as_bytes();
        let new = self.run(
            "INSERT OR IGNORE INTO event (uid, conversation, kind, outcome, order_us, heuristic)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                uid,
                conversation,
                event.kind.as_str(),
                event.outcome.as_ref().map(|o| o.as_str()),
                event.order_us,
                event.heuristic
            ],
        )?;
        let (row, order_us) = if new {
            (self.tx.last_insert_rowid(), event.order_us)
        } else {
            let (row, of, kind, at): (i64, i64, String, i64) = self
                .tx
                .prepare_cached("SELECT id, conversation, kind, order_us FROM event WHERE uid = ?1")
                .and_then(|mut s| {
                    s.query_row([uid], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)))
                })
                .map_err(map)?;
            if of != conversation || kind != event.kind.as_str() {
                // Only what others wrote brings an id that is not derived.
                if self.ingress != Ingress::BuiltIn.as_str() {
                    return self.taken_id(sealed, conversation);
                }
                self.take_back(row)?;
                return self.event(sealed, event, conversation);
            }
            (row, at.min(event.order_us))
        };
        let seen = self.sighting(sealed, event, row)?;
        if seen {
            self.touch(event, conversation, order_us)?;
        }
        if new {
            let outcome = event.outcome.as_ref().map(|o| o.as_str());
            let delta = self.deltas.entry(conversation).or_default();
            delta.events += 1;
            delta.failed_calls += i64::from(is_failed_call(event.kind.as_str(), outcome));
        } else if seen {
            self.refold(row)?;
        }
        Ok(new)
    }

    /// Whether a record that was not added says what the one of its id and source says already.
    /// Derived ids always do, or differ by what a fold settles.
    fn told_before(&self, held: &str, told: (&[u8; 16], &str)) -> Result<bool, StoreError> {
        if self.ingress != Ingress::Messages.as_str() {
            return Ok(true);
        }
        let sql = format!("{held} WHERE uid = ?1 AND source = ?2 AND generation = ?3");
        self.tx
            .prepare_cached(&sql)
            .and_then(|mut s| {
                let of = params![told.0, self.source, self.generation, told.1];
                s.query_row(of, |r| r.get(0))
            })
            .map_err(map)
    }

    /// Removes the event that a third party gave the id of one that is seen now.
    fn take_back(&mut self, row: i64) -> Result<(), StoreError> {
        self.run("DELETE FROM sighting WHERE event = ?1", [row])?;
        self.refold(row)
    }

    /// A loss: the id names another record already.
    fn taken_id(&mut self, sealed: &Sealed, conversation: i64) -> Result<bool, StoreError> {
        let detail = "id: names another record".to_owned();
        let reason = LossReason::MessageInvalid;
        let loss = LossRecord { reason, detail, count: 1, at_us: 0 };
        self.loss(sealed, &loss, Some(conversation))
    }

    fn sighting(&self, sealed: &Sealed, event: &EventRecord, row: i64) -> Result<bool, StoreError> {
        let outcome = event.outcome.as_ref().map(|o| o.as_str());
        let (offset, length, line_hash, path) = place_params(&sealed.place);
        self.run(
            "INSERT OR IGNORE INTO sighting
               (event, source, generation, offset, length, line_hash, path, idx, rank,
                content_hash, ingress, native_space, native_id, turn_id, call_id, agent_id,
                outcome, tool_name, tool_input, tool_response, text, raw, observed_at,
                clock_source, order_us)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                     ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25)",
            params![
                row,
                self.source,
                self.generation,
                offset,
                length,
                line_hash,
                path,
                sealed.place.index,
                event.rank,
                event.content.as_bytes().get(..16),
                self.ingress,
                event.native.space,
                event.native.id,
                event.turn_id,
                event.call_id,
                event.agent_id,
                outcome,
                event.tool_name,
                event.tool_input.as_ref().map(JsonText::as_str),
                event.tool_response.as_ref().map(JsonText::as_str),
                event.text,
                event.raw.as_ref().map(JsonText::as_str),
                event.observed_at,
                event.clock_source.as_str(),
                event.order_us
            ],
        )
    }

    /// Folds an event again after its set of sightings changed.
    pub(super) fn refold(&mut self, row: i64) -> Result<(), StoreError> {
        let said = sightings_of(self.tx, row)?;
        let (conversation, kind, before): (i64, String, Option<String>) = self
            .tx
            .prepare_cached("SELECT conversation, kind, outcome FROM event WHERE id = ?1")
            .and_then(|mut s| s.query_row([row], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?))))
            .map_err(map)?;
        let delta = self.deltas.entry(conversation).or_default();
        if said.is_empty() {
            delta.events -= 1;
            delta.failed_calls -= i64::from(is_failed_call(&kind, before.as_deref()));
            self.run("DELETE FROM event WHERE id = ?1", [row])?;
            return Ok(());
        }
        let folded = fold(said);
        delta.failed_calls += i64::from(is_failed_call(&kind, folded.outcome.as_deref()))
            - i64::from(is_failed_call(&kind, before.as_deref()));
        self.run(
            "UPDATE event SET outcome = ?2, order_us = ?3, disagrees = ?4 WHERE id = ?1",
            params![row, folded.outcome, folded.order_us, folded.disagrees],
        )?;
        Ok(())
    }

    fn evidence(
        &self,
        sealed: &Sealed,
        evidence: &EvidenceRecord,
        conversation: i64,
    ) -> Result<bool, StoreError> {
        let (offset, length, line_hash, path) = place_params(&sealed.place);
        let source = serde_json::to_string(&evidence.source).map_err(other)?;
        self.run(
            "INSERT OR IGNORE INTO evidence
               (uid, event_uid, conversation, source, generation, offset, length, line_hash, path,
                rank, ingress, kind, payload, provenance, provenance_source, extension,
                observed_at, order_us, idx)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                     ?18, ?19)",
            params![
                evidence.id.as_bytes(),
                evidence.event_id.as_bytes(),
                conversation,
                self.source,
                self.generation,
                offset,
                length,
                line_hash,
                path,
                evidence.rank,
                self.ingress,
                evidence.kind.as_str(),
                evidence.payload.as_str(),
                evidence.provenance,
                source,
                evidence.extension,
                evidence.observed_at,
                evidence.order_us,
                sealed.place.index
            ],
        )
    }

    fn claim(
        &self,
        sealed: &Sealed,
        claim: &ClaimRecord,
        conversation: i64,
    ) -> Result<bool, StoreError> {
        let (offset, length, line_hash, path) = place_params(&sealed.place);
        self.run(
            "INSERT OR IGNORE INTO claim
               (uid, event_uid, conversation, source, generation, offset, length, line_hash, path,
                ingress, turn_id, text, subject, claimed_at, order_us, idx)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
            params![
                claim.id.as_bytes(),
                claim.event_id.as_bytes(),
                conversation,
                self.source,
                self.generation,
                offset,
                length,
                line_hash,
                path,
                self.ingress,
                claim.turn_id,
                claim.text,
                claim.subject,
                claim.claimed_at,
                claim.order_us,
                sealed.place.index
            ],
        )
    }

    fn usage(
        &self,
        sealed: &Sealed,
        record: &UsageRecord,
        conversation: i64,
    ) -> Result<bool, StoreError> {
        let (offset, length, line_hash, path) = place_params(&sealed.place);
        let usage = &record.usage;
        let stated = usage.observed_at.as_deref().and_then(Micros::parse);
        self.run(
            "INSERT OR IGNORE INTO usage
               (uid, conversation, source, generation, offset, length, line_hash, path, scope,
                standing, floor, response_id, request_id, turn_id, model, epoch, sequence, branch,
                copied_from, input, cached_input, cache_write_input, output, reasoning_output,
                total, uncached_input, observed_at, at_us, order_us, idx)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                     ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30)",
            params![
                record.id.as_bytes(),
                conversation,
                self.source,
                self.generation,
                offset,
                length,
                line_hash,
                path,
                usage.scope.as_str(),
                usage.standing.as_str(),
                usage.floor.map(Floor::as_str),
                usage.response_id,
                usage.request_id,
                usage.turn_id,
                usage.model,
                usage.epoch,
                usage.sequence,
                usage.branch,
                usage.copied_from,
                usage.counts.input,
                usage.counts.cached_input,
                usage.counts.cache_write_input,
                usage.counts.output,
                usage.counts.reasoning_output,
                usage.counts.total,
                usage.counts.uncached_input,
                usage.observed_at,
                stated.map_or(record.order_us, |at| at.0),
                record.order_us,
                sealed.place.index
            ],
        )
    }

    /// Notes that a fact held at a time; 0 is no time.
    fn fact(&mut self, conversation: i64, name: &'static str, value: &str, at: i64) {
        let (first, last) =
            self.facts.entry((conversation, name, value.to_owned())).or_insert((at, at));
        *first = match (*first, at) {
            (0, other) | (other, 0) => other,
            (held, at) => held.min(at),
        };
        *last = (*last).max(at);
    }

    fn flush_facts(&mut self) -> Result<(), StoreError> {
        for ((conversation, name, value), (first, last)) in std::mem::take(&mut self.facts) {
            self.run(
                "INSERT INTO fact (conversation, name, value, first_us, last_us, source, generation)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (conversation, name, value, source, generation) DO UPDATE SET
                   first_us = CASE WHEN first_us = 0 THEN excluded.first_us
                                   WHEN excluded.first_us = 0 THEN first_us
                                   ELSE min(first_us, excluded.first_us) END,
                   last_us = max(last_us, excluded.last_us)",
                params![conversation, name, value, first, last, self.source, self.generation],
            )?;
        }
        Ok(())
    }

    /// Of several declarations the greatest by text wins, whatever order they came in.
    fn capability(
        &mut self,
        record: &CapabilityRecord,
        conversation: i64,
    ) -> Result<bool, StoreError> {
        let signals = serde_json::to_string(&record.capabilities.signals).map_err(other)?;
        let notes = serde_json::to_string(&record.capabilities.notes).map_err(other)?;
        // Each delivery declares again what the one before it did.
        let all = format!(
            "{}\n{}\n{signals}\n{notes}",
            record.capabilities.schema_version,
            record.capabilities.provider.as_str()
        );
        let hash = Digest::of(all.as_bytes());
        let told = self.declared.get(&conversation);
        if told.is_some_and(|(held, since)| *held == hash && *since <= record.observed_at) {
            return Ok(false);
        }
        self.declared.insert(conversation, (hash, record.observed_at.clone()));
        self.run(
            "INSERT INTO capability
               (conversation, provider, schema_version, signals, notes, observed_at, source,
                generation)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (conversation, provider, source, generation) DO UPDATE SET
               observed_at = CASE WHEN (excluded.signals, excluded.notes) = (signals, notes)
                                  THEN min(observed_at, excluded.observed_at)
                                  ELSE excluded.observed_at END,
               schema_version = excluded.schema_version, signals = excluded.signals,
               notes = excluded.notes
             WHERE (excluded.signals, excluded.notes) >= (signals, notes)",
            params![
                conversation,
                record.capabilities.provider.as_str(),
                record.capabilities.schema_version,
                signals,
                notes,
                record.observed_at,
                self.source,
                self.generation
            ],
        )
    }

    fn loss(
        &mut self,
        sealed: &Sealed,
        loss: &LossRecord,
        conversation: Option<i64>,
    ) -> Result<bool, StoreError> {
        let added = self.run(
            "INSERT OR IGNORE INTO loss
               (conversation, source, generation, offset, length, path, reason, detail, count, at_us,
                line_hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                conversation,
                self.source,
                self.generation,
                sealed.place.offset.cast_signed(),
                sealed.place.length.cast_signed(),
                sealed.place.path,
                loss.reason.as_str(),
                loss.detail,
                loss.count.cast_signed(),
                loss.at_us,
                sealed.place.line_hash.as_bytes()
            ],
        )?;
        if let (true, Some(id)) = (added, conversation) {
            self.deltas.entry(id).or_default().losses += 1;
        }
        Ok(added)
    }

    /// Moves the counters; the span of activity is that of the events as they are now, since an
    /// event can move (another sighting) or go (a replay).
    pub(super) fn flush_deltas(&mut self) -> Result<(), StoreError> {
        self.flush_facts()?;
        for (id, delta) in std::mem::take(&mut self.deltas) {
            self.run(
                "UPDATE conversation SET events = events + ?2, failed_calls = failed_calls + ?3,
                   losses = losses + ?4,
                   first_us = (SELECT order_us FROM event e WHERE conversation = ?1 AND order_us > 0
                       AND NOT EXISTS (SELECT 1 FROM copied k WHERE k.event = e.id)
                     ORDER BY order_us LIMIT 1),
                   last_us = (SELECT order_us FROM event e WHERE conversation = ?1 AND order_us > 0
                       AND NOT EXISTS (SELECT 1 FROM copied k WHERE k.event = e.id)
                     ORDER BY order_us DESC LIMIT 1)
                 WHERE id = ?1",
                params![id, delta.events, delta.failed_calls, delta.losses],
            )?;
        }
        Ok(())
    }
}

fn is_failed_call(kind: &str, outcome: Option<&str>) -> bool {
    kind == EventKind::PostToolUse.as_str() && outcome == Some("failed")
}
