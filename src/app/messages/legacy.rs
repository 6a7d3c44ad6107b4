//! `fornax ingest fornax.db`: a database of the first Fornax as a source.
//!
//! Its rows are records of its own wire, so they go the way of messages, with the ingress `import`
//! and the rank of a second telling. What a hook had told is decoded again from the payload that
//! the row keeps: with a native id the event meets what this program saw itself, else it stays a
//! sighting of its own under the id that it has. The first Fornax redacted ids too, and a redacted
//! id is none.

use super::fields::{Fields, Refusal};
use super::seal::{conversation_ref, place_of, seal};
use super::wire::{self, Told};
use super::{Imported, line_of};
use crate::app::prepare::short_text;
use crate::app::redact;
use crate::app::seal::{Line, event_id};
use crate::base::hash::Digest;
use crate::base::json;
use crate::base::limits::BATCH_ROWS_MAX;
use crate::base::time::Micros;
use crate::domain::event::{Channel, ClockSource, EventDraft, EventKind, NativeId};
use crate::domain::key::ConversationKey;
use crate::domain::loss::LossReason;
use crate::domain::outcome::{LineageDraft, Message, TurnDraft, safe_tag};
use crate::domain::provider::Provider;
use crate::domain::record::{Body, HistoricalFinding, Ingress, LossRecord, Sealed};
use crate::ports::agent::AgentFamily;
use crate::ports::files::{FileStat, Files};
use crate::ports::legacy::{LegacyDatabase, LegacyRow, LegacyTable, LegacyTold};
use crate::ports::recorder::{Batch, KnownSource, Recorder, SourceSpec, StoreError, Watermark};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The beginning of every SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Version of this translation, kept with the watermark.
const DECODER: &str = "first_fornax/1";
/// Id space of events that keep the id they had.
const NATIVE_SPACE: &str = "first_fornax";
/// The session that the first Fornax wrote where a payload named none.
const NO_SESSION: &str = "unknown";
/// What stands in every text that the first Fornax redacted.
const REDACTED: &str = "[REDACTED";

/// Whether a file is an SQLite database, by its first bytes.
pub fn is_database(files: &dyn Files, path: &Path) -> bool {
    let mut head = Vec::new();
    let read = files.open(path, 0).and_then(|file| {
        file.take(MAGIC.len() as u64).read_to_end(&mut head)?;
        Ok(())
    });
    read.is_ok() && head == MAGIC
}

/// The name of a database as a source.
pub fn source_name(path: &str) -> String {
    format!("import:{path}")
}

/// The state of a database and of the log beside it, before it is read.
///
/// # Errors
/// What the file system reports.
pub fn state_of(files: &dyn Files, path: &Path) -> io::Result<Watermark> {
    let stat = files.stat(path)?;
    let mut log = OsString::from(path);
    log.push("-wal");
    let log = files.stat(&PathBuf::from(log)).ok();
    let beside = log.map(|l| format!("{} {} {}", l.inode, l.size, l.changed_ns));
    let settled = stat.settled && log.is_none_or(|l| l.settled);
    Ok(Watermark {
        offset: 0,
        lines: 0,
        chain: Digest::of(beside.unwrap_or_default().as_bytes()),
        windows: None,
        decoder: DECODER.to_owned(),
        state: Value::Null,
        stat: FileStat { settled, ..stat },
        complete: true,
    })
}

/// Whether a database was read to its end in the state that it has now.
pub fn is_unchanged(known: Option<&KnownSource>, now: &Watermark) -> bool {
    let held = known.and_then(|known| known.watermark.as_ref());
    held.is_some_and(|held| {
        held.complete
            && held.decoder == now.decoder
            && held.chain == now.chain
            && now.stat.unchanged_since(&held.stat)
    })
}

/// Reads every row of a database and stores what it tells. `name` is its path, `state` how it was
/// before it was opened.
///
/// # Errors
/// When the store refuses, or the database cannot be read at all; what was stored stays.
pub fn import_database(
    database: &mut dyn LegacyDatabase,
    name: &str,
    state: Watermark,
    families: &[Box<dyn AgentFamily>],
    recorder: &mut dyn Recorder,
) -> Result<Imported, StoreError> {
    let mut import = Import {
        namespace: recorder.namespace().to_owned(),
        name: source_name(name),
        families,
        recorder,
        sessions: BTreeSet::new(),
        last: None,
        pending: Vec::new(),
        done: Imported::default(),
    };
    for table in LegacyTable::ALL {
        database.rows(table, &mut |row| import.row(&row))?;
    }
    for (table, rows) in database.left_alone() {
        import.done.read.ignored.add(&format!("table {table}"), rows);
    }
    import.store(None)?;
    if database.log_unread() {
        import.log_unread();
    }
    let complete = !database.log_unread();
    import.store(Some(Watermark { complete, lines: import.done.read.lines, ..state }))?;
    Ok(import.done)
}

/// What a row of the event table is about, and what it tells.
#[derive(Debug, Clone)]
struct Identity {
    /// The conversation that the event is of; that of a sub-agent where the payload says so.
    key: ConversationKey,
    id: Uuid,
    native: NativeId,
    /// What the payload tells, where an adapter of this program reads it.
    draft: Option<EventDraft>,
    turns: Vec<TurnDraft>,
    lineage: Vec<LineageDraft>,
}

/// One import under way.
struct Import<'a> {
    namespace: String,
    name: String,
    families: &'a [Box<dyn AgentFamily>],
    recorder: &'a mut dyn Recorder,
    /// Sessions and the providers that event rows prove for them.
    sessions: BTreeSet<(String, Provider)>,
    /// The event that was looked at last: most evidence stands behind its own.
    last: Option<(String, ConversationKey, Uuid)>,
    pending: Vec<Sealed>,
    done: Imported,
}

impl Import<'_> {
    fn row(&mut self, row: &LegacyRow) -> Result<(), StoreError> {
        self.done.read.lines += 1;
        let text = if let LegacyTold::Record(text) = &row.told { text.as_str() } else { "" };
        self.done.read.bytes += text.len() as u64;
        let line = line_of(row.rowid.cast_unsigned(), text.as_bytes());
        let begun = self.pending.len();
        match &row.told {
            LegacyTold::Record(text) => self.record(row, text, &line),
            LegacyTold::Purged => {
                let of = self.origin(row).map(|(key, _)| key);
                self.loss(&line, LossReason::RowPurged, "payload", of.as_ref());
            }
            LegacyTold::Quarantined(kind) => {
                let detail = format!("quarantined there: {}", safe_tag(&redact::text(kind)));
                self.loss(&line, LossReason::RowInvalid, &detail, None);
            }
            LegacyTold::Unreadable(rule) => self.loss(&line, LossReason::RowInvalid, rule, None),
        }
        for sealed in self.pending.iter_mut().skip(begun) {
            row.table.name().clone_into(&mut sealed.place.path);
        }
        if self.pending.len() >= BATCH_ROWS_MAX { self.store(None) } else { Ok(()) }
    }

    fn record(&mut self, row: &LegacyRow, text: &str, line: &Line) {
        let (found, refused) = json::values(text.as_bytes());
        let (Some(Value::Object(map)), None) = (found.first().map(|f| &f.value), refused) else {
            return self.loss(line, LossReason::RowInvalid, "not JSON", None);
        };
        let taken = match row.table {
            LegacyTable::Events => self.event(map, text, line),
            LegacyTable::Evidence => self.made(row, map, text, line, "evidence"),
            LegacyTable::Claims => self.made(row, map, text, line, "claim"),
            LegacyTable::Capabilities => self.capabilities(map, text, line),
            LegacyTable::Findings => self.finding(row, map, line),
            LegacyTable::Quarantine => Ok(()),
        };
        if let Err(refusal) = taken {
            let detail = refusal.detail(row.table.name());
            self.loss(line, LossReason::RowInvalid, &detail, None);
        }
    }

    fn event(&mut self, map: &Map<String, Value>, text: &str, line: &Line) -> Result<(), Refusal> {
        let provider = map.get("provider").and_then(Value::as_str).unwrap_or_default();
        if provider.is_empty() || provider == Provider::Unknown.as_str() {
            self.loss(line, LossReason::ProviderUnknown, "event", None);
            return Ok(());
        }
        let record = wire::read("event", map, text.as_bytes())?;
        let session = record.named.session_id;
        if session == NO_SESSION {
            self.loss(line, LossReason::ConversationUnknown, "event", None);
            return Ok(());
        }
        let Told::Event { draft, .. } = record.told else { return Ok(()) };
        let identity = self.identity(map).ok_or_else(|| Refusal::new("session_id", "blank"))?;
        let observed_at = draft.observed_at.clone();
        let mut told = match identity.draft {
            Some(of_payload) => Box::new(of_payload),
            None => draft,
        };
        told.native = identity.native;
        told.observed_at.clone_from(&observed_at);
        for id in [&mut told.turn_id, &mut told.call_id, &mut told.agent_id] {
            *id = id.take().filter(|id| is_proven(id));
        }
        let clock = ClockSource::HostClock;
        let told = Told::Event { id: identity.id, draft: told, clock, order_us: None };
        self.keep(&identity.key, told, line, "event")?;
        for turn in identity.turns {
            let turn = TurnDraft { observed_at: observed_at.clone(), ..turn };
            self.keep(&identity.key, Told::Fact(Box::new([turn.clone(), turn])), line, "turn")?;
        }
        for draft in identity.lineage {
            let related = if is_proven(&draft.related) { &draft.related } else { &session };
            let provider = identity.key.provider().clone();
            if let Ok(related) = ConversationKey::new(provider, &self.namespace, related) {
                let told =
                    Told::Lineage { relation: draft.relation, related, position: draft.position };
                self.keep(&identity.key, told, line, "lineage")?;
            }
        }
        self.prove(session, &identity.key, line);
        Ok(())
    }

    /// An event row proves the provider of its session: from then on the session has a name here.
    fn prove(&mut self, session: String, key: &ConversationKey, line: &Line) {
        let provider = key.provider().clone();
        let is_own = key.native_id() == session;
        let alias = format!("session:{session}");
        if is_own && self.sessions.insert((session, provider)) {
            let conversation = Some(conversation_ref(key));
            let sealed =
                Sealed { conversation, place: place_of(line, 0), body: Body::Alias(alias) };
            self.done.read.records.add("alias", 1);
            self.pending.push(sealed);
        }
    }

    /// Evidence or a claim: of the conversation that its event is of.
    fn made(
        &mut self,
        row: &LegacyRow,
        map: &Map<String, Value>,
        text: &str,
        line: &Line,
        kind: &'static str,
    ) -> Result<(), Refusal> {
        let mut record = wire::read(kind, map, text.as_bytes())?;
        let Some((key, event)) =
            self.origin(row).or_else(|| self.only(&record.named.session_id, &record.told))
        else {
            self.loss(line, LossReason::ProviderUnknown, kind, None);
            return Ok(());
        };
        match &mut record.told {
            Told::Evidence(evidence) => evidence.event_id = event,
            Told::Claim { event_id, .. } => *event_id = event,
            _ => {}
        }
        self.keep(&key, record.told, line, kind)
    }

    fn capabilities(
        &mut self,
        map: &Map<String, Value>,
        text: &str,
        line: &Line,
    ) -> Result<(), Refusal> {
        let record = wire::read("capabilities", map, text.as_bytes())?;
        let named = record.named;
        let provider = named.provider.unwrap_or(Provider::Unknown);
        // The first Fornax wrote a placeholder where no adapter had announced itself.
        let held = (named.session_id, provider);
        if !self.sessions.contains(&held) {
            self.loss(line, LossReason::ProviderUnknown, "capabilities", None);
            return Ok(());
        }
        let (session, provider) = held;
        match ConversationKey::new(provider, &self.namespace, session) {
            Ok(key) => self.keep(&key, record.told, line, "capabilities"),
            Err(_) => Err(Refusal::new("session_id", "blank")),
        }
    }

    fn finding(
        &mut self,
        row: &LegacyRow,
        map: &Map<String, Value>,
        line: &Line,
    ) -> Result<(), Refusal> {
        let fields = Fields::of(map);
        let computed_at = fields.time("computed_at")?;
        let mut rationale = fields.text_opt("rationale")?.unwrap_or_default().to_owned();
        short_text(&mut rationale);
        let verifier_name = fields.id_opt("verifier_name")?.unwrap_or_default();
        let record = HistoricalFinding {
            id: fields.uuid("id")?,
            claim_id: fields.uuid("claim_id")?,
            verdict: redact::text(fields.tag("verdict")?).into_owned(),
            evidence_ids: ids(fields.value("evidence_ids"))?,
            verifier_name: redact::text(&verifier_name).into_owned(),
            rationale,
            order_us: Micros::parse(&computed_at).map_or(0, |at| at.0),
            computed_at,
        };
        let Some((key, _)) = self.origin(row) else {
            self.loss(line, LossReason::ProviderUnknown, "finding", None);
            return Ok(());
        };
        let body = Body::HistoricalFinding(Box::new(record));
        self.done.read.records.add("finding", 1);
        let conversation = Some(conversation_ref(&key));
        self.pending.push(Sealed { conversation, place: place_of(line, 0), body });
        Ok(())
    }

    /// The conversation and the id of the event that a row was made from.
    fn origin(&mut self, row: &LegacyRow) -> Option<(ConversationKey, Uuid)> {
        let text = row.event.as_ref()?;
        if let Some((_, key, id)) = self.last.as_ref().filter(|(held, ..)| held == text) {
            return Some((key.clone(), *id));
        }
        let found = json::values(text.as_bytes()).0.pop()?;
        let identity = self.identity(found.value.as_object()?)?;
        self.last = Some((text.clone(), identity.key.clone(), identity.id));
        Some((identity.key, identity.id))
    }

    /// The conversation of a session that event rows prove for one provider alone.
    fn only(&self, session: &str, told: &Told) -> Option<(ConversationKey, Uuid)> {
        let mut proven = self.sessions.iter().filter(|(held, _)| held == session);
        let (_, provider) = proven.next()?;
        if proven.next().is_some() {
            return None;
        }
        let event = match told {
            Told::Evidence(evidence) => evidence.event_id,
            Told::Claim { event_id, .. } => *event_id,
            _ => return None,
        };
        let key = ConversationKey::new(provider.clone(), &self.namespace, session).ok()?;
        Some((key, event))
    }

    /// What an event row is about; none when its provider, session or id cannot be.
    fn identity(&self, map: &Map<String, Value>) -> Option<Identity> {
        let text = |name: &str| map.get(name).and_then(Value::as_str);
        let (provider, session) = (Provider::from_tag(text("provider")?), text("session_id")?);
        if provider == Provider::Unknown || session == NO_SESSION {
            return None;
        }
        let own = Uuid::try_parse(text("id")?).ok()?;
        let mut told = Vec::new();
        if let Some(raw) = map.get("raw").filter(|raw| raw.is_object()) {
            let family = self.families.iter().find(|f| f.provider() == provider);
            let read = family.map(|f| f.hook_adapter().normalize(session, raw));
            told = read.map(|outcome| outcome.into_messages()).unwrap_or_default();
        }
        let (mut draft, mut turns, mut lineage) = (None, Vec::new(), Vec::new());
        for message in told {
            match message {
                Message::Event(event) if draft.is_none() => draft = Some(event),
                Message::Turn(turn) => turns.extend(proven_facts(turn)),
                Message::Lineage(of) => lineage.push(of),
                _ => {}
            }
        }
        let named = draft.as_ref().map(|d| d.conversation.as_str()).filter(|id| is_proven(id));
        let of = named.unwrap_or(session);
        let clean = redact::identifier(of);
        let of = clean.as_deref().unwrap_or(of);
        let key = ConversationKey::new(provider, &self.namespace, of).ok()?;
        lineage.retain(|of| of.conversation == key.native_id());
        let kind = match &draft {
            Some(draft) => draft.kind.clone(),
            None => EventKind::from_tag(text("kind")?),
        };
        let native = draft.as_ref().map(|d| d.native.clone()).or_else(|| {
            let of_call = matches!(kind, EventKind::PreToolUse | EventKind::PostToolUse);
            text("call_id").filter(|_| of_call).map(NativeId::call)
        });
        let native = native.filter(|n| !n.is_record() && n.space != "payload" && is_proven(&n.id));
        let clean = |n: NativeId| NativeId { id: redact::identifier(&n.id).unwrap_or(n.id), ..n };
        let native = native.map(clean);
        let id = native.as_ref().map_or(own, |native| event_id(&key.to_string(), &kind, native));
        let native = native.unwrap_or_else(|| NativeId::new(NATIVE_SPACE, own.to_string()));
        Some(Identity { key, id, native, draft, turns, lineage })
    }

    fn keep(
        &mut self,
        key: &ConversationKey,
        told: Told,
        line: &Line,
        kind: &str,
    ) -> Result<(), Refusal> {
        let sealed = seal(key, told, line, Channel::Stream)?;
        self.done.read.records.add(kind, 1);
        for one in &sealed {
            if let Body::Loss(loss) = &one.body {
                self.done.read.losses.add(loss.reason.as_str(), loss.count);
            }
        }
        self.pending.extend(sealed);
        Ok(())
    }

    fn loss(
        &mut self,
        line: &Line,
        reason: LossReason,
        detail: &str,
        of: Option<&ConversationKey>,
    ) {
        self.done.read.losses.add(reason.as_str(), 1);
        let conversation = of.map(conversation_ref);
        let body = Body::Loss(LossRecord { reason, detail: detail.to_owned(), count: 1, at_us: 0 });
        self.pending.push(Sealed { conversation, place: place_of(line, 0), body });
    }

    /// The log beside the database could only be read by writing there.
    fn log_unread(&mut self) {
        let line = line_of(0, b"");
        self.loss(&line, LossReason::SourceUnreadable, "log beside the database", None);
    }

    fn store(&mut self, mark: Option<Watermark>) -> Result<(), StoreError> {
        let source = SourceSpec {
            kind: "import",
            format: "first_fornax".to_owned(),
            provider: String::new(),
            path: self.name.clone(),
            stat: mark.as_ref().map(|mark| mark.stat),
        };
        let mut batch = Batch::of(source, std::mem::take(&mut self.pending), Ingress::Import);
        batch.watermark = mark;
        let appended = self.recorder.append(&[batch], None)?;
        self.done.appended.inserted += appended.inserted;
        self.done.appended.known += appended.known;
        Ok(())
    }
}

/// Whether an id is one: the first Fornax redacted those that are long.
fn is_proven(id: &str) -> bool {
    !id.trim().is_empty() && !id.contains(REDACTED)
}

/// The facts that were not redacted away; none when nothing is left.
fn proven_facts(mut turn: TurnDraft) -> Option<TurnDraft> {
    let mut any = false;
    for fact in [
        &mut turn.cwd,
        &mut turn.title,
        &mut turn.git_branch,
        &mut turn.model,
        &mut turn.agent_version,
    ] {
        *fact = fact.take().filter(|value| is_proven(value));
        any |= fact.is_some();
    }
    turn.turn_id = turn.turn_id.filter(|id| is_proven(id));
    any.then_some(turn)
}

/// A list of ids.
fn ids(value: Option<&Value>) -> Result<Vec<Uuid>, Refusal> {
    let refused = || Refusal::new("evidence_ids", "not a list of UUIDs");
    let Some(value) = value else { return Ok(Vec::new()) };
    let items = value.as_array().ok_or_else(refused)?;
    let id = |item: &Value| item.as_str().and_then(|text| Uuid::try_parse(text).ok());
    items.iter().map(|item| id(item).ok_or_else(refused)).collect()
}
