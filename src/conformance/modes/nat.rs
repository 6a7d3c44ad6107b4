//! Break modes of NAT: the shipping adapters and hooks, with one defect around them.

use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::conformance::contract::{Mode, Wrap};
use crate::conformance::native::scenarios::planted_secret;
use crate::conformance::normalizing::{
    Answer, Declaration, HookEnd, HookHost, Normalizer, Payload, RecordView, SESSION, Trouble,
};
use crate::conformance::subjects::Fired;

/// A mode of an adapter by its defect.
macro_rules! mode {
    ($name:literal, $must:expr, $may:expr, $defect:literal, $seen:literal, $which:ident) => {
        Mode {
            name: $name,
            must: $must,
            may: $may,
            defect: $defect,
            seen: $seen,
            wrap: Wrap::Normalizer(|inner, fired| broken(inner, fired, Defect::$which)),
        }
    };
}

/// A mode of the hook as a process.
macro_rules! hook_mode {
    ($name:literal, $must:expr, $defect:literal, $seen:literal, $which:ident) => {
        Mode {
            name: $name,
            must: $must,
            may: &[],
            defect: $defect,
            seen: $seen,
            wrap: Wrap::Hook(|inner, fired| {
                Box::new(BrokenHook { inner, fired, defect: HookDefect::$which })
            }),
        }
    };
}

/// What goes red when nothing, or only the first part, comes out of an adapter.
const FOLLOWERS: &[&str] = &[
    "NAT-01", "NAT-02", "NAT-03", "NAT-06", "NAT-07", "NAT-08", "NAT-09", "NAT-10", "NAT-11",
    "NAT-12", "NAT-13", "NAT-14", "NAT-15", "NAT-16", "NAT-17", "NAT-18", "NAT-19", "NAT-20",
    "NAT-21", "NAT-23", "NAT-24",
];

/// What looks at the further parts of a payload.
const PARTS: &[&str] = &[
    "NAT-08", "NAT-09", "NAT-10", "NAT-11", "NAT-12", "NAT-13", "NAT-14", "NAT-16", "NAT-17",
    "NAT-18", "NAT-19", "NAT-20", "NAT-21", "NAT-23", "NAT-24", "NAT-25",
];

/// The modes.
#[rustfmt::skip] // A table.
pub const MODES: &[Mode] = &[
    mode!("nat_provider_mismatch", &["NAT-01"], &[], "records under a copied adapter's provider", "", ProviderMismatch),
    mode!("nat_wire_lossy", &["NAT-02"], &[], "a field is skipped when a message is written", "first Fornax: turn ids were lost on the way to the store", WireLossy),
    mode!("nat_unknown_swallowed", &["NAT-03"], &[], "the catch-all arm answers ignored", "", UnknownSwallowed),
    mode!("nat_unknown_leaks_payload", &["NAT-04"], &["NAT-22"], "the discriminator is a print of the value", "", UnknownLeaks),
    mode!("nat_panics_on_empty", &["NAT-05"], &[], "indexing without a look", "", PanicsOnEmpty),
    mode!("nat_bookkeeping_unrecognised", &["NAT-06"], &[], "known lines fall to the default arm", "", BookkeepingUnrecognised),
    mode!("nat_hint_beats_payload", &["NAT-07"], &[], "the reader's own session id is always used", "", HintBeats),
    mode!("nat_hint_dropped", &["NAT-08"], &[], "no id when the payload has none", "", HintDropped),
    mode!("nat_exit_code_lost", &["NAT-09"], &[], "only the output is kept", "first Fornax: exit codes of successes", ExitCodeLost),
    mode!("nat_tool_failure_as_ok", &["NAT-10"], &[], "success is guessed from plausible output", "praisonai: a failed tool flagged ok", FailureAsOk),
    mode!("nat_silence_is_success", &["NAT-11"], &[], "a missing flag reads as no error", "openai/codex issue 34289: hooks state no failure", SilenceIsSuccess),
    mode!("nat_denied_is_failed", &["NAT-12"], &[], "a refusal counts as a failed tool", "", DeniedIsFailed),
    mode!("nat_pairs_by_adjacency", &["NAT-13"], &[], "the last call gets the next result", "", Adjacency),
    mode!("nat_unresolved_as_ok", &["NAT-14"], &[], "the end marks open calls as done", "", UnresolvedAsOk),
    mode!("nat_first_part_only", &["NAT-15"], PARTS, "only the first part is taken", "", FirstPartOnly),
    mode!("nat_random_ids", &["NAT-16"], &[], "a fresh id each time", "first Fornax: random event ids", RandomIds),
    mode!("nat_state_shared", &["NAT-17"], &[], "calls are paired by their id alone", "", StateShared),
    mode!("nat_clock_for_timestamp", &["NAT-18"], &[], "now in the place of an absent time", "", ClockForTimestamp),
    mode!("nat_provenance_missing", &["NAT-19"], &[], "a new code path forgets where it comes from", "", ProvenanceMissing),
    mode!("nat_emits_undeclared", &["NAT-20"], &[], "the declaration is older than the adapter", "", EmitsUndeclared),
    mode!("nat_declares_everything", &["NAT-21"], &[], "a declaration copied from another provider", "", DeclaresEverything),
    mode!("nat_secret_in_reason", &["NAT-22"], &[], "an error text quotes its input", "", SecretInReason),
    mode!("nat_unbounded_payload", &["NAT-23"], &[], "tool output without a cap", "anthropics/claude-code issue 24118: a result of 12.8 million characters", Unbounded),
    mode!("nat_extra_canonical_field", &["NAT-24"], &[], "a convenience field in a closed shape", "", ExtraField),
    mode!("nat_emits_nothing", &["NAT-25"], FOLLOWERS, "wired to an event name that does not exist", "", EmitsNothing),
    hook_mode!("nat_hook_exit_two", &["NAT-26"], "an error exit code, which blocks the user's tool call", "", ExitTwo),
    hook_mode!("nat_hook_prints", &["NAT-26"], "a debug line, which becomes model context", "", Prints),
    hook_mode!("nat_hook_waits_for_lock", &["NAT-27"], "a lock that is waited for without a limit", "", WaitsForLock),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    ProviderMismatch,
    WireLossy,
    UnknownSwallowed,
    UnknownLeaks,
    PanicsOnEmpty,
    BookkeepingUnrecognised,
    HintBeats,
    HintDropped,
    ExitCodeLost,
    FailureAsOk,
    SilenceIsSuccess,
    DeniedIsFailed,
    Adjacency,
    UnresolvedAsOk,
    FirstPartOnly,
    RandomIds,
    StateShared,
    ClockForTimestamp,
    ProvenanceMissing,
    EmitsUndeclared,
    DeclaresEverything,
    SecretInReason,
    Unbounded,
    ExtraField,
    EmitsNothing,
}

fn broken(inner: Box<dyn Normalizer>, fired: Fired, defect: Defect) -> Box<dyn Normalizer> {
    Box::new(Broken { inner, fired, defect, emitted: 0, last_call: None, owners: BTreeMap::new() })
}

/// A native adapter with a defect.
struct Broken {
    inner: Box<dyn Normalizer>,
    fired: Fired,
    defect: Defect,
    /// Ids given so far; never forgotten, as no random number comes again.
    emitted: u64,
    last_call: Option<String>,
    /// The conversation that a call id was seen in first.
    owners: BTreeMap<String, String>,
}

impl Normalizer for Broken {
    fn declare(&mut self) -> Declaration {
        let mut declared = self.inner.declare();
        let change = match self.defect {
            Defect::EmitsUndeclared => Some(("tool_invocation", "unavailable")),
            Defect::DeclaresEverything => Some(("raw_reasoning", "available")),
            _ => None,
        };
        if let Some((signal, state)) = change {
            self.fired.hit();
            declared.signals.insert(signal.to_owned(), state.to_owned());
        }
        declared
    }

    fn scenario(&self, name: &str) -> Result<Vec<Payload>, String> {
        self.inner.scenario(name)
    }

    fn normalize(&mut self, hint: &str, payload: &[u8]) -> Answer {
        if self.defect == Defect::PanicsOnEmpty && payload == b"[]" {
            self.fired.hit();
            std::panic::resume_unwind(Box::new("index out of bounds"));
        }
        let told = self.inner.normalize(hint, payload);
        let changed = self.changed(told.clone(), hint, payload);
        if changed != told {
            self.fired.hit();
        }
        changed
    }

    fn reset(&mut self) {
        self.last_call = None;
        self.owners.clear();
        self.inner.reset();
    }
}

impl Broken {
    fn changed(&mut self, mut told: Answer, hint: &str, payload: &[u8]) -> Answer {
        let text = || String::from_utf8_lossy(payload).into_owned();
        match (self.defect, &told) {
            (Defect::UnknownSwallowed, Answer::Unrecognized(_)) => Answer::Ignored(String::new()),
            (Defect::UnknownLeaks, Answer::Unrecognized(tag)) => {
                Answer::Unrecognized(format!("{tag}: {}", text()))
            }
            (Defect::BookkeepingUnrecognised, Answer::Ignored(_)) => {
                Answer::Unrecognized(String::new())
            }
            (Defect::SecretInReason, Answer::Unrecognized(_)) if is_secret(payload) => {
                Answer::Unrecognized(format!("cannot read {}", text()))
            }
            (Defect::EmitsNothing, Answer::Messages { .. }) => {
                Answer::Ignored("no handler".to_owned())
            }
            _ => {
                self.rewrite(&mut told, hint, payload);
                told
            }
        }
    }

    fn rewrite(&mut self, told: &mut Answer, hint: &str, payload: &[u8]) {
        let Answer::Messages { wires, records } = told else { return };
        match self.defect {
            Defect::WireLossy => {
                for wire in wires {
                    wire.again = wire.again.as_deref().map(without_path).map_err(Clone::clone);
                }
            }
            Defect::ClockForTimestamp => {
                for wire in wires {
                    let now = || "2026-01-01T00:00:00Z".to_owned();
                    wire.observed_at = Some(wire.observed_at.take().unwrap_or_else(now));
                }
            }
            Defect::Unbounded if payload.len() > 128 * 1024 => {
                for wire in wires {
                    wire.text = String::from_utf8_lossy(payload).into_owned();
                    wire.again = Ok(wire.text.clone());
                }
                records.retain(|record| record.kind != "loss:text_cut");
            }
            Defect::FirstPartOnly => {
                if let Some(first) = records.first().cloned() {
                    records.fill(first);
                }
            }
            Defect::SilenceIsSuccess => self.silence(records),
            Defect::FailureAsOk if records.iter().any(is_plausible) => {
                for record in records {
                    record.exit_code = record.exit_code.map(|_| 0);
                    replace(&mut record.outcome, "failed", "ok");
                }
            }
            _ => records.iter_mut().for_each(|record| self.record(record, hint)),
        }
    }

    /// An outcome that nobody stated becomes success, with a code that nobody stated either.
    fn silence(&mut self, records: &mut Vec<RecordView>) {
        let silent = |r: &RecordView| {
            r.kind == "event:post_tool_use"
                && r.outcome.as_deref().is_none_or(|word| word == "unknown")
        };
        if !records.iter().any(silent) {
            return;
        }
        for record in records.iter_mut().filter(|record| silent(record)) {
            record.outcome = Some("ok".to_owned());
        }
        records.push(RecordView {
            kind: "evidence:exit_code".to_owned(),
            exit_code: Some(0),
            version: Some(self.inner.declare().adapter_version),
            provenance: Some("native".to_owned()),
            ..RecordView::default()
        });
    }

    fn record(&mut self, record: &mut RecordView, hint: &str) {
        match self.defect {
            Defect::ProviderMismatch => {
                if let Some(provider) = &mut record.provider {
                    "another_agent".clone_into(provider);
                }
            }
            Defect::HintBeats if record.conversation.as_deref() == Some(SESSION) => {
                record.conversation = Some(hint.to_owned());
            }
            Defect::HintDropped
                if hint != SESSION && record.conversation.as_deref() == Some(hint) =>
            {
                record.conversation = None;
            }
            Defect::ExitCodeLost if record.exit_code == Some(0) => record.exit_code = None,
            Defect::DeniedIsFailed => replace(&mut record.outcome, "denied", "failed"),
            Defect::Adjacency => self.pair(record),
            Defect::UnresolvedAsOk if record.kind == "event:pre_tool_use" => {
                record.outcome = Some("ok".to_owned());
            }
            Defect::RandomIds if record.id.is_some() => {
                self.emitted += 1;
                record.id = Some(format!("random-{}", self.emitted));
            }
            Defect::StateShared => self.own(record),
            Defect::ProvenanceMissing => {
                record.provenance = None;
                record.version = None;
            }
            Defect::ExtraField => {
                if let Some(Value::Object(members)) = &mut record.payload {
                    members.insert("note".to_owned(), json!("handy"));
                }
            }
            _ => {}
        }
    }

    fn pair(&mut self, record: &mut RecordView) {
        match record.kind.as_str() {
            "event:pre_tool_use" => self.last_call.clone_from(&record.call),
            "event:post_tool_use" if self.last_call.is_some() => {
                record.call.clone_from(&self.last_call);
            }
            _ => {}
        }
    }

    fn own(&mut self, record: &mut RecordView) {
        if let (Some(call), Some(conversation)) = (&record.call, &record.conversation) {
            let owner = self.owners.entry(call.clone()).or_insert_with(|| conversation.clone());
            record.conversation = Some(owner.clone());
        }
    }
}

fn replace(outcome: &mut Option<String>, from: &str, to: &str) {
    if outcome.as_deref() == Some(from) {
        *outcome = Some(to.to_owned());
    }
}

fn is_plausible(record: &RecordView) -> bool {
    record.kept.contains("12 passed; 0 failed")
}

fn is_secret(payload: &[u8]) -> bool {
    String::from_utf8_lossy(payload).contains(&planted_secret())
}

/// A message without the place of its field.
fn without_path(text: &str) -> String {
    let mut value: Value = serde_json::from_str(text).unwrap_or_default();
    let bodies = value.as_object_mut().into_iter().flat_map(|message| message.values_mut());
    for body in bodies.filter_map(Value::as_object_mut) {
        body.remove("path");
    }
    value.to_string()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HookDefect {
    ExitTwo,
    Prints,
    WaitsForLock,
}

/// The hook as a process, with a defect.
struct BrokenHook {
    inner: Box<dyn HookHost>,
    fired: Fired,
    defect: HookDefect,
}

impl HookHost for BrokenHook {
    fn run(&mut self, payload: &[u8], trouble: Trouble) -> Result<HookEnd, String> {
        let mut end = self.inner.run(payload, trouble)?;
        match (self.defect, trouble) {
            (HookDefect::ExitTwo, Trouble::None) => end.exit = Some(2),
            (HookDefect::Prints, Trouble::None) => {
                "debug: got a payload".clone_into(&mut end.printed)
            }
            (HookDefect::WaitsForLock, Trouble::JournalLocked) => {
                end = HookEnd { exit: None, in_time: false, ..end };
            }
            _ => return Ok(end),
        }
        self.fired.hit();
        Ok(end)
    }
}
