//! `fornax export-spool`: records as files, one a record, the same rows to the same bytes.
//!
//! The legacy wire is what a consumer of the first Fornax accepts: eight event kinds, `turn_end` as
//! the `session_end` it used to be, nine-key capabilities, no additive keys. What it leaves out by
//! design is counted in the manifest; a row that it carries and that could not be read or written
//! is a failure.

use crate::base::hash::Digest;
use crate::domain::event::EventKind;
use crate::domain::payload::LEGACY_OBSERVATIONS;
use crate::domain::provider::Provider;
use crate::domain::record::Tally;
use crate::ports::reader::{
    CapabilityRow, ClaimRow, ConversationRow, EventRow, EvidenceRow, FailedRow, Reader,
};
use crate::ports::recorder::StoreError;
use crate::ports::spool::{Put, Spool};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io;
use uuid::Uuid;

/// Shape of the exported records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Legacy,
    Full,
}

impl Wire {
    fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Full => "full",
        }
    }
}

/// What an export did.
#[derive(Debug, Default)]
pub struct Exported {
    pub written: u64,
    pub unchanged: u64,
    pub counts: Tally,
    /// Left out by design of the wire.
    pub excluded: Tally,
    /// Rows that the wire carries and that could not be read or written.
    pub failed: Vec<FailedRow>,
    sessions: Vec<String>,
    files: Vec<Value>,
}

/// An export into one spool.
pub struct Export<'a> {
    reader: &'a dyn Reader,
    spool: &'a mut dyn Spool,
    wire: Wire,
    done: Exported,
}

impl<'a> Export<'a> {
    /// An export of `wire` shape.
    pub fn new(reader: &'a dyn Reader, spool: &'a mut dyn Spool, wire: Wire) -> Self {
        Self { reader, spool, wire, done: Exported::default() }
    }

    /// Exports one conversation: events, claims, evidence, capabilities, each in order.
    ///
    /// # Errors
    /// When the store cannot be read at all; single bad rows are set aside.
    pub fn conversation(&mut self, conversation: &ConversationRow) -> Result<(), StoreError> {
        let native = conversation.native_id.as_str();
        self.done.sessions.push(conversation.key.clone());
        if self.wire == Wire::Legacy && !on_legacy_wire(&conversation.provider) {
            self.done.excluded.add("provider unknown to the legacy wire", 1);
            return Ok(());
        }
        let events = self.reader.events(conversation.id)?;
        self.fail(events.failed);
        let kept = self.events(&events.rows, native);
        let claims = self.reader.claims(conversation.id)?;
        self.fail(claims.failed);
        self.claims(&claims.rows, &events.rows, &kept, native);
        let evidence = self.reader.evidence(conversation.id)?;
        self.fail(evidence.failed);
        for row in &evidence.rows {
            self.evidence(row, &kept, native);
        }
        let capabilities = self.reader.capabilities(conversation.id)?;
        self.fail(capabilities.failed);
        for row in &capabilities.rows {
            let mut record = capability_record(row, self.wire);
            self.name_conversation(&mut record);
            self.put("capabilities", row.id, record.to_string().as_bytes());
        }
        self.additive(conversation)
    }

    /// The key of the conversation under way, where the wire carries it.
    fn key_on_wire(&self) -> Option<&str> {
        self.done.sessions.last().filter(|_| self.wire == Wire::Full).map(String::as_str)
    }

    /// Puts the conversation's key into a record of the full wire, so that it stands on its own.
    fn name_conversation(&self, record: &mut Value) {
        if let (Some(key), Value::Object(map)) = (self.key_on_wire(), record) {
            map.insert("conversation".into(), json!(key));
        }
    }

    /// Writes the manifest and answers what was done.
    ///
    /// # Errors
    /// When the manifest could not be written.
    pub fn finish(mut self) -> io::Result<Exported> {
        self.done.files.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
        let manifest = json!({
            "format": "fornax-spool/1",
            "wire": self.wire.as_str(),
            "conversations": self.done.sessions,
            "counts": self.done.counts.0,
            "excluded": self.done.excluded.0,
            "failed": self.done.failed,
            "files": self.done.files,
        });
        self.spool.manifest(manifest.to_string().as_bytes())?;
        Ok(self.done)
    }

    /// Counts rows that should have gone out and could not be read.
    pub fn fail(&mut self, failed: Vec<FailedRow>) {
        self.done.failed.extend(failed);
    }

    /// Exports events; answers the ids of those that went out.
    fn events(&mut self, rows: &[EventRow], native: &str) -> HashSet<Uuid> {
        let mut kept = HashSet::new();
        let mut order = 0;
        for row in rows {
            // Events of one time stay in their order, wherever they are read back.
            order = row.order_us.max(order + 1);
            let Some(kind) = self.kind_on_wire(&row.kind) else {
                self.done.excluded.add(&format!("event kind {}", row.kind), 1);
                continue;
            };
            kept.insert(row.id);
            let mut record = event_record(row, kind, native, self.wire);
            self.name_conversation(&mut record);
            if let (Wire::Full, Value::Object(map)) = (self.wire, &mut record) {
                map.insert("order_us".into(), json!(order));
            }
            self.put("event", row.id, record.to_string().as_bytes());
        }
        kept
    }

    fn kind_on_wire<'k>(&self, kind: &'k str) -> Option<&'k str> {
        let known = EventKind::from_tag(kind);
        match self.wire {
            Wire::Full => Some(kind),
            Wire::Legacy if known == EventKind::TurnEnd => Some("session_end"),
            Wire::Legacy => known.is_legacy().then_some(kind),
        }
    }

    /// A claim needs an event that went out: its own, else the end of its turn, else the last one
    /// before it (a consumer refuses a claim without its event).
    fn claims(
        &mut self,
        rows: &[ClaimRow],
        events: &[EventRow],
        kept: &HashSet<Uuid>,
        native: &str,
    ) {
        let ends: HashMap<&str, Uuid> = events
            .iter()
            .filter(|e| e.kind == EventKind::TurnEnd.as_str() && kept.contains(&e.id))
            .filter_map(|e| e.turn_id.as_deref().map(|turn| (turn, e.id)))
            .collect();
        for row in rows {
            let anchor = if kept.contains(&row.event_id) {
                Some(row.event_id)
            } else {
                let end = row.turn_id.as_deref().and_then(|turn| ends.get(turn).copied());
                end.or_else(|| last_before(events, kept, row.order_us))
            };
            let Some(anchor) = anchor else {
                self.done.excluded.add("claim without an event on the wire", 1);
                continue;
            };
            let mut record = json!({
                "type": "claim",
                "id": row.id,
                "session_id": native,
                "source_event_id": anchor,
                "text": row.text,
                "subject": row.subject,
                "claimed_at": row.claimed_at,
            });
            self.name_conversation(&mut record);
            if let (Wire::Full, Some(turn), Value::Object(map)) =
                (self.wire, &row.turn_id, &mut record)
            {
                map.insert("turn_id".into(), json!(turn));
            }
            self.put("claim", row.id, record.to_string().as_bytes());
        }
    }

    fn evidence(&mut self, row: &EvidenceRow, kept: &HashSet<Uuid>, native: &str) {
        if !kept.contains(&row.event_id) {
            self.done.excluded.add("evidence of an event that is not on the wire", 1);
            return;
        }
        let mut payload = Cow::Borrowed(&row.payload);
        if self.wire == Wire::Legacy && is_new_observation(&row.payload) {
            // Its consumers refuse a tag they do not know; the description says the same.
            if let Some(object) = payload.to_mut().as_object_mut() {
                object.remove("observation");
            }
            self.done.excluded.add("observation unknown to the legacy wire", 1);
        }
        match evidence_record(row, &payload, native, self.key_on_wire()) {
            Ok(record) => self.put("evidence", row.id, record.as_bytes()),
            Err(error) => {
                self.done.failed.push(FailedRow { id: row.id.to_string(), error });
            }
        }
    }

    /// Usage, lineage and losses: on the full wire as records, on the legacy wire counted.
    fn additive(&mut self, conversation: &ConversationRow) -> Result<(), StoreError> {
        let rows = self.reader.additive(conversation.id)?;
        self.fail(rows.failed);
        for row in rows.rows {
            if self.wire == Wire::Full {
                self.put(&row.kind, row.id, row.record.to_string().as_bytes());
            } else {
                self.done.excluded.add(&format!("{} records", row.kind), 1);
            }
        }
        Ok(())
    }

    fn put(&mut self, kind: &str, id: Uuid, bytes: &[u8]) {
        let name = id.to_string();
        match self.spool.put(&name, bytes) {
            Ok(put) => {
                self.done.counts.add(kind, 1);
                match put {
                    Put::Written => self.done.written += 1,
                    Put::Unchanged => self.done.unchanged += 1,
                }
                let hash = Digest::of(bytes).hex();
                self.done.files.push(json!({ "name": name, "blake3": hash }));
            }
            Err(e) => {
                self.done.failed.push(FailedRow { id: name, error: format!("not written: {e}") });
            }
        }
    }
}

/// The providers whose names the first Fornax's closed enum has.
fn on_legacy_wire(provider: &str) -> bool {
    Provider::KNOWN.contains(&provider) && provider != Provider::Unknown.as_str()
}

fn last_before(events: &[EventRow], kept: &HashSet<Uuid>, order_us: i64) -> Option<Uuid> {
    events
        .iter()
        .take_while(|e| e.order_us <= order_us)
        .filter(|e| kept.contains(&e.id))
        .last()
        .map(|e| e.id)
}

fn event_record(row: &EventRow, kind: &str, native: &str, wire: Wire) -> Value {
    let mut record = json!({
        "type": "event",
        "id": row.id,
        "session_id": native,
        "provider": row.provider,
        "kind": kind,
        "observed_at": row.observed_at,
        "tool_name": row.tool_name,
        "tool_input": row.tool_input,
        "tool_response": row.tool_response,
        "raw": row.raw,
    });
    if wire == Wire::Full
        && let Some(map) = record.as_object_mut()
    {
        let additive = [
            ("turn_id", json!(row.turn_id)),
            ("call_id", json!(row.call_id)),
            ("agent_id", json!(row.agent_id)),
            ("outcome", json!(row.outcome)),
            ("clock_source", json!(row.clock_source)),
            ("text", json!(row.text)),
        ];
        map.extend(additive.into_iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k.into(), v)));
    }
    record
}

/// Evidence on the wire; the extension goes out with its numbers as they were spelled.
#[derive(Serialize)]
struct EvidenceOnWire<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extension: Option<&'a RawValue>,
    id: Uuid,
    kind: &'a str,
    observed_at: &'a str,
    payload: &'a Value,
    provenance: &'a str,
    session_id: &'a str,
    source: &'a Value,
    source_event_id: Uuid,
    r#type: &'static str,
}

/// Whether the payload holds an observation that the first Fornax does not know.
fn is_new_observation(payload: &Value) -> bool {
    let tag = payload.get("observation").and_then(|o| o.get("observation_kind"));
    tag.and_then(Value::as_str).is_some_and(|tag| !LEGACY_OBSERVATIONS.contains(&tag))
}

fn evidence_record(
    row: &EvidenceRow,
    payload: &Value,
    native: &str,
    conversation: Option<&str>,
) -> Result<String, String> {
    let extension: Option<&RawValue> = row
        .extension
        .as_deref()
        .map(serde_json::from_str)
        .transpose()
        .map_err(|e| format!("extension: {e}"))?;
    let record = EvidenceOnWire {
        conversation,
        extension,
        id: row.id,
        kind: &row.kind,
        observed_at: &row.observed_at,
        payload,
        provenance: &row.provenance,
        session_id: native,
        source: &row.source,
        source_event_id: row.event_id,
        r#type: "evidence",
    };
    serde_json::to_string(&record).map_err(|e| e.to_string())
}

fn capability_record(row: &CapabilityRow, wire: Wire) -> Value {
    let mut map = Map::new();
    map.insert("type".into(), json!("capabilities"));
    map.insert("provider".into(), json!(row.capabilities.provider));
    map.insert("notes".into(), json!(row.capabilities.notes));
    if let Ok(Value::Object(flags)) = serde_json::to_value(row.capabilities.legacy_flags()) {
        map.extend(flags);
    }
    if wire == Wire::Full {
        map.insert("session_id".into(), json!(row.native_id));
        map.insert("schema_version".into(), json!(row.capabilities.schema_version));
        map.insert("signals".into(), json!(row.capabilities.signals));
    }
    Value::Object(map)
}
