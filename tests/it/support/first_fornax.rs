//! Databases of the first Fornax, built from the description of its schema, any version of it.

use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::path::Path;

/// The newest schema version.
pub(crate) const NEWEST: u32 = 19;

/// What each version added, as far as an import reads it or meets it.
const STEPS: &[(u32, &str)] = &[
    (
        1,
        "CREATE TABLE agent_events (id TEXT PRIMARY KEY, session_id TEXT NOT NULL,
           provider TEXT NOT NULL, kind TEXT NOT NULL, observed_at TEXT NOT NULL, tool_name TEXT,
           tool_input TEXT, tool_response TEXT, raw TEXT NOT NULL);
         CREATE INDEX events_session ON agent_events (session_id);
         CREATE INDEX events_observed ON agent_events (observed_at);
         CREATE TABLE claims (id TEXT PRIMARY KEY, session_id TEXT NOT NULL,
           source_event_id TEXT NOT NULL REFERENCES agent_events (id), text TEXT NOT NULL,
           subject TEXT NOT NULL, claimed_at TEXT NOT NULL);
         CREATE TABLE evidence (id TEXT PRIMARY KEY, session_id TEXT NOT NULL,
           source_event_id TEXT NOT NULL REFERENCES agent_events (id), kind TEXT NOT NULL,
           observed_at TEXT NOT NULL, payload TEXT NOT NULL, provenance TEXT NOT NULL);
         CREATE TABLE findings (id TEXT PRIMARY KEY,
           claim_id TEXT NOT NULL REFERENCES claims (id), verdict TEXT NOT NULL,
           evidence_ids TEXT NOT NULL, verifier_name TEXT NOT NULL, rationale TEXT NOT NULL,
           computed_at TEXT NOT NULL)",
    ),
    (
        2,
        "CREATE TABLE runtime_capabilities (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL,
           provider TEXT NOT NULL, supports_pre_tool_use INTEGER NOT NULL DEFAULT 0,
           supports_post_tool_use INTEGER NOT NULL DEFAULT 0,
           supports_tool_response_capture INTEGER NOT NULL DEFAULT 0,
           supports_session_stop_event INTEGER NOT NULL DEFAULT 0,
           supports_transcript_tail INTEGER NOT NULL DEFAULT 0,
           supports_subagent_lifecycle INTEGER NOT NULL DEFAULT 0, notes TEXT NOT NULL,
           observed_at TEXT NOT NULL, UNIQUE (session_id, provider))",
    ),
    (
        3,
        "ALTER TABLE runtime_capabilities ADD COLUMN schema_version INTEGER;
         ALTER TABLE runtime_capabilities ADD COLUMN signals TEXT",
    ),
    (4, "ALTER TABLE evidence ADD COLUMN source TEXT"),
    (5, "ALTER TABLE evidence ADD COLUMN extension TEXT"),
    (10, "CREATE TABLE audit_events (seq INTEGER PRIMARY KEY, payload TEXT NOT NULL)"),
    (11, "ALTER TABLE evidence ADD COLUMN evidence_purged INTEGER NOT NULL DEFAULT 0"),
    (
        18,
        "CREATE TABLE ingest_quarantine (id TEXT PRIMARY KEY, received_at TEXT NOT NULL,
           reason_kind TEXT NOT NULL, reason TEXT NOT NULL, raw_line TEXT NOT NULL)",
    ),
    (19, "ALTER TABLE evidence ADD COLUMN ingress_origin TEXT"),
];

/// A database under construction.
pub(crate) struct FirstFornax {
    pub(crate) conn: Connection,
    ids: u32,
}

impl FirstFornax {
    /// A database of one schema version; no write-ahead log unless a test asks for one.
    pub(crate) fn new(path: &Path, version: u32) -> Self {
        let conn = Connection::open(path).unwrap();
        for (number, sql) in STEPS.iter().filter(|(number, _)| *number <= version) {
            conn.execute_batch(sql).unwrap_or_else(|e| panic!("step {number}: {e}"));
        }
        Self { conn, ids: 0 }
    }

    /// A database that is there, to add to.
    pub(crate) fn reopen(path: &Path) -> Self {
        Self { conn: Connection::open(path).unwrap(), ids: 1_000 }
    }

    /// A random-looking id that is the same in each run.
    pub(crate) fn id(&mut self) -> String {
        self.ids += 1;
        format!("5a000000-0000-4000-8000-{:012x}", self.ids)
    }

    fn at(&self) -> String {
        format!("2026-03-01T10:{:02}:{:02}.000000001+00:00", self.ids / 60 % 60, self.ids % 60)
    }

    /// An event; answers its id.
    pub(crate) fn event(
        &mut self,
        session: &str,
        provider: &str,
        kind: &str,
        raw: &Value,
    ) -> String {
        let (id, at) = (self.id(), self.at());
        let part = |key: &str| raw.get(key).filter(|v| !v.is_null()).map(Value::to_string);
        self.conn
            .execute(
                "INSERT INTO agent_events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    id,
                    session,
                    provider,
                    kind,
                    at,
                    raw.get("tool_name").and_then(Value::as_str),
                    part("tool_input"),
                    part("tool_response"),
                    raw.to_string()
                ],
            )
            .unwrap();
        id
    }

    /// Evidence of an event; answers its id.
    pub(crate) fn evidence(
        &mut self,
        session: &str,
        event: &str,
        kind: &str,
        payload: &Value,
    ) -> String {
        let (id, at) = (self.id(), self.at());
        self.conn
            .execute(
                "INSERT INTO evidence (id, session_id, source_event_id, kind, observed_at, payload,
                   provenance) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'claude_code:0.0.3:PostToolUse')",
                params![id, session, event, kind, at, payload.to_string()],
            )
            .unwrap();
        id
    }

    /// A claim of an event; answers its id.
    pub(crate) fn claim(&mut self, session: &str, event: &str, text: &str) -> String {
        let (id, at) = (self.id(), self.at());
        self.conn
            .execute(
                "INSERT INTO claims VALUES (?1, ?2, ?3, ?4, 'test_result', ?5)",
                params![id, session, event, text, at],
            )
            .unwrap();
        id
    }

    /// A finding about a claim.
    pub(crate) fn finding(&mut self, claim: &str, verdict: &str, evidence: &[&str]) -> String {
        let (id, at) = (self.id(), self.at());
        self.conn
            .execute(
                "INSERT INTO findings VALUES (?1, ?2, ?3, ?4, 'test_result_verifier_v1',
                   'observed exit 0', ?5)",
                params![id, claim, verdict, json!(evidence).to_string(), at],
            )
            .unwrap();
        id
    }

    /// Capabilities as the six booleans.
    pub(crate) fn capabilities(&mut self, session: &str, provider: &str) {
        let at = self.at();
        self.conn
            .execute(
                "INSERT INTO runtime_capabilities (session_id, provider, supports_post_tool_use,
                   notes, observed_at) VALUES (?1, ?2, 1, '{\"adapter_version\":\"0.0.3\"}', ?3)",
                params![session, provider, at],
            )
            .unwrap();
    }

    /// One session of a prompt, a test run that went well and a claim that was verified; ids in
    /// the payloads are redacted, as the first Fornax did with long ones.
    pub(crate) fn session(&mut self, session: &str) {
        let hidden = "[REDACTED]";
        let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": hidden,
            "cwd": "/w/demo", "prompt_id": hidden, "prompt": "run the tests"});
        self.event(session, "claude_code", "user_prompt_submit", &prompt);
        let call = json!({"hook_event_name": "PostToolUse", "session_id": hidden,
            "tool_use_id": hidden, "tool_name": "Bash", "tool_input": {"command": "cargo test"},
            "tool_response": {"stdout": "ok", "stderr": "", "interrupted": false}});
        let event = self.event(session, "claude_code", "post_tool_use", &call);
        let payload = json!({"command": "cargo test", "exit_code": 0, "heuristic": true});
        let exit = self.evidence(session, &event, "exit_code", &payload);
        let stop = json!({"hook_event_name": "Stop", "session_id": hidden});
        let event = self.event(session, "claude_code", "session_end", &stop);
        let claim = self.claim(session, &event, "All tests passed.");
        self.finding(&claim, "verified", &[&exit]);
    }
}
