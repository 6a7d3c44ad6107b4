//! Columns into records, spelled as on the first Fornax's wire.
//!
//! Columns of JSON text stand in the record as they are spelled. What a later version of a table
//! added is left out where it is null, so that a database that was only migrated tells the same.

use crate::base::json;
use crate::ports::legacy::{LegacyTable, LegacyTold};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What the first Fornax put in the place of whatever looked like a secret to it: ids, too.
const REDACTED: &str = "[REDACTED";
/// Keys of an `exit_code` payload; one adapter wrote more.
const EXIT_CODE_KEYS: [&str; 3] = ["command", "exit_code", "heuristic"];
/// Booleans of capabilities, a column each.
const BOOLEANS: [&str; 6] = [
    "supports_pre_tool_use",
    "supports_post_tool_use",
    "supports_tool_response_capture",
    "supports_session_stop_event",
    "supports_transcript_tail",
    "supports_subagent_lifecycle",
];

/// A column's value that is not null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Integer(i64),
    Text(String),
}

/// The cells of a row by column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fields(BTreeMap<&'static str, Cell>);

impl Fields {
    pub(super) fn set(&mut self, name: &'static str, cell: Cell) {
        self.0.insert(name, cell);
    }

    fn text(&self, name: &'static str) -> Option<&str> {
        match self.0.get(name)? {
            Cell::Text(text) => Some(text),
            Cell::Integer(_) => None,
        }
    }

    fn integer(&self, name: &'static str) -> Option<i64> {
        match self.0.get(name)? {
            Cell::Integer(number) => Some(*number),
            Cell::Text(_) => None,
        }
    }
}

/// The columns that are read of a table, of all its versions.
pub(super) fn columns(table: LegacyTable) -> &'static [&'static str] {
    match table {
        LegacyTable::Events => &[
            "id",
            "session_id",
            "provider",
            "kind",
            "observed_at",
            "tool_name",
            "tool_input",
            "tool_response",
            "raw",
        ],
        LegacyTable::Evidence => &[
            "id",
            "session_id",
            "source_event_id",
            "kind",
            "observed_at",
            "payload",
            "provenance",
            "source",
            "extension",
            "evidence_purged",
        ],
        LegacyTable::Claims => {
            &["id", "session_id", "source_event_id", "text", "subject", "claimed_at"]
        }
        LegacyTable::Capabilities => &[
            "session_id",
            "provider",
            "notes",
            "observed_at",
            "schema_version",
            "signals",
            "supports_pre_tool_use",
            "supports_post_tool_use",
            "supports_tool_response_capture",
            "supports_session_stop_event",
            "supports_transcript_tail",
            "supports_subagent_lifecycle",
        ],
        LegacyTable::Findings => &[
            "id",
            "claim_id",
            "verdict",
            "evidence_ids",
            "verifier_name",
            "rationale",
            "computed_at",
        ],
        LegacyTable::Quarantine => &["reason_kind"],
    }
}

/// The columns without which a table is not read.
pub(super) fn needs(table: LegacyTable) -> &'static [&'static str] {
    match table {
        LegacyTable::Events => &["id", "session_id", "provider", "kind", "observed_at"],
        LegacyTable::Evidence => &["id", "session_id", "source_event_id", "kind", "payload"],
        LegacyTable::Claims => &["id", "session_id", "source_event_id", "text"],
        LegacyTable::Capabilities => &["session_id", "provider"],
        LegacyTable::Findings => &["id", "claim_id", "verdict"],
        LegacyTable::Quarantine => &["reason_kind"],
    }
}

/// What a row tells; `event` is the record of the event that it was made from.
pub(super) fn told(
    table: LegacyTable,
    fields: &Fields,
    event: Option<&str>,
) -> Result<LegacyTold, String> {
    Ok(match table {
        LegacyTable::Quarantine => {
            LegacyTold::Quarantined(fields.text("reason_kind").unwrap_or_default().to_owned())
        }
        LegacyTable::Evidence if fields.integer("evidence_purged").unwrap_or_default() != 0 => {
            LegacyTold::Purged
        }
        LegacyTable::Events => LegacyTold::Record(self::event(fields)?),
        LegacyTable::Evidence => LegacyTold::Record(evidence(fields, event)?),
        LegacyTable::Claims => {
            let mut record = Record::new("claim");
            record.texts(fields, columns(table));
            LegacyTold::Record(record.end())
        }
        LegacyTable::Capabilities => LegacyTold::Record(capabilities(fields)?),
        LegacyTable::Findings => {
            let mut record = Record::new("finding");
            let texts = ["id", "claim_id", "verdict", "verifier_name", "rationale", "computed_at"];
            record.texts(fields, &texts);
            record.json(fields, "evidence_ids")?;
            LegacyTold::Record(record.end())
        }
    })
}

/// An event, with the call that it is about where the row still says which.
pub(super) fn event(fields: &Fields) -> Result<String, String> {
    if fields.text("id").is_none() {
        return Err("id: missing".to_owned());
    }
    let mut record = Record::new("event");
    let texts = ["id", "session_id", "provider", "kind", "observed_at", "tool_name"];
    record.texts(fields, &texts);
    for name in ["tool_input", "tool_response", "raw"] {
        record.json(fields, name)?;
    }
    if let Some(call) = call_id(fields) {
        record.member("call_id", &Value::String(call).to_string());
    }
    Ok(record.end())
}

/// The call of a Codex event: its output record names it, unless the name was redacted.
fn call_id(fields: &Fields) -> Option<String> {
    let read = |name| fields.text(name).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let (response, raw) = (read("tool_response"), read("raw"));
    let places = [
        response.as_ref().and_then(|v| v.get("call_id")),
        raw.as_ref().and_then(|v| v.get("call_id")),
        raw.as_ref().and_then(|v| v.get("payload")?.get("call_id")),
    ];
    let mut found = places.into_iter().flatten().filter_map(Value::as_str);
    found.find(|id| !id.is_empty() && !id.contains(REDACTED)).map(str::to_owned)
}

fn evidence(fields: &Fields, event: Option<&str>) -> Result<String, String> {
    let mut record = Record::new("evidence");
    let texts = ["id", "session_id", "source_event_id", "kind", "observed_at", "provenance"];
    record.texts(fields, &texts);
    record.json(fields, "source")?;
    match moved(fields, event) {
        Some((payload, extension)) => {
            record.member("payload", &payload.to_string());
            record.member("extension", &extension.to_string());
        }
        None => {
            record.json(fields, "payload")?;
            record.json(fields, "extension")?;
        }
    }
    Ok(record.end())
}

/// A payload without the keys that its closed shape does not have, and the extension that holds
/// them; none for a payload that has no such keys or comes with an extension.
fn moved(fields: &Fields, event: Option<&str>) -> Option<(Value, Value)> {
    if fields.text("kind")? != "exit_code" || fields.text("extension").is_some() {
        return None;
    }
    let Value::Object(all) = serde_json::from_str(fields.text("payload")?).ok()? else {
        return None;
    };
    let (own, more): (Map<String, Value>, Map<String, Value>) =
        all.into_iter().partition(|(key, _)| EXIT_CODE_KEYS.contains(&key.as_str()));
    let event: Value = serde_json::from_str(event?).ok()?;
    if more.is_empty() {
        return None;
    }
    let extension = serde_json::json!({
        "schema_version": 2, "provider": event.get("provider")?, "adapter_version": "first_fornax",
        "content_class": "tool_telemetry", "fields": more,
    });
    Some((Value::Object(own), extension))
}

fn capabilities(fields: &Fields) -> Result<String, String> {
    let mut record = Record::new("capabilities");
    record.texts(fields, &["session_id", "provider"]);
    record.json(fields, "notes")?;
    record.json(fields, "signals")?;
    if let Some(version) = fields.integer("schema_version") {
        record.member("schema_version", &version.to_string());
    }
    for name in BOOLEANS {
        if let Some(held) = fields.integer(name) {
            record.member(name, if held == 0 { "false" } else { "true" });
        }
    }
    Ok(record.end())
}

/// A record's text while it is put together.
struct Record(String);

impl Record {
    fn new(kind: &str) -> Self {
        Self(format!("{{\"type\":\"{kind}\""))
    }

    fn member(&mut self, name: &str, json: &str) {
        self.0.push_str(&format!(",\"{name}\":{json}"));
    }

    /// Text columns; one that holds a number is told as that number, which its reader refuses.
    fn texts(&mut self, fields: &Fields, names: &[&'static str]) {
        for name in names {
            match fields.0.get(name) {
                Some(Cell::Text(text)) => {
                    self.member(name, &Value::String(text.clone()).to_string());
                }
                Some(Cell::Integer(number)) => self.member(name, &number.to_string()),
                None => {}
            }
        }
    }

    /// A column of JSON text, as spelled; repaired where only that makes it readable.
    fn json(&mut self, fields: &Fields, name: &'static str) -> Result<(), String> {
        let Some(cell) = fields.0.get(name) else { return Ok(()) };
        let Cell::Text(text) = cell else { return Err(format!("{name}: not text")) };
        if serde_json::from_str::<&RawValue>(text).is_ok()
            && serde_json::from_str::<Value>(text).is_ok()
        {
            self.member(name, text);
            return Ok(());
        }
        match json::values(text.as_bytes()) {
            (found, None) => match found.as_slice() {
                [one] => {
                    self.member(name, &one.value.to_string());
                    Ok(())
                }
                _ => Err(format!("{name}: not JSON")),
            },
            (_, Some(_)) => Err(format!("{name}: not JSON")),
        }
    }

    fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
