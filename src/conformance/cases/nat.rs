//! NAT: native adapters, run for each provider.
//!
//! The demands are on what an adapter and the pipeline behind it make of native payloads. A subject
//! that cannot be driven into a scenario skips its case, with its reason.

mod outcomes;
mod process;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::conformance::check::{CaseEnd, Checks, Stop};
use crate::conformance::contract::{Body, Case, Contract};
use crate::conformance::native::scenarios::planted_secret;
use crate::conformance::normalizing::{
    Answer, MARKER, Normalizer, Payload, RecordView, SCENARIOS, SECOND, SESSION,
};
use crate::domain::payload::{EvidenceKind, validate_canonical_payload};
use serde_json::Value;

/// The contract.
pub fn contract() -> Contract {
    let cases = [CASES, outcomes::CASES, process::CASES].concat();
    Contract { id: "NAT", title: "native adapters", cases: sorted(cases), floor: 27 }
}

fn sorted(mut cases: Vec<Case>) -> Vec<Case> {
    cases.sort_by_key(|case| case.id);
    cases
}

const ADAPTER: &str = "ADR 0004: the adapter contract";
const EXTENSION: &str = "ADR 0005: canonical payloads are closed";
const HARNESS: &str = "shared harness contracts: normalized events";
const NEW: &str = "new here: native adapters";

const CASES: &[Case] = &[
    Case {
        id: "NAT-01",
        title: "one provider everywhere: declaration, probe, every record",
        clause: ADAPTER,
        checks: 1,
        why: "A record under another provider's name lands in another conversation.",
        body: Body::Normalizer(nat_01),
    },
    Case {
        id: "NAT-02",
        title: "every message survives its own wire shape",
        clause: ADAPTER,
        checks: 1,
        why: "What the journal cannot read back is lost between the hook and the store.",
        body: Body::Normalizer(nat_02),
    },
    Case {
        id: "NAT-03",
        title: "a never-seen shape is unrecognised, with a non-empty discriminator",
        clause: ADAPTER,
        checks: 2,
        why: "A new shape that is swallowed is drift that nobody notices.",
        body: Body::Normalizer(nat_03),
    },
    Case {
        id: "NAT-04",
        title: "an unrecognised outcome carries the tag and no byte of the payload",
        clause: ADAPTER,
        checks: 1,
        why: "Nobody knows what an unknown shape holds, so nothing of it may be kept.",
        body: Body::Normalizer(nat_04),
    },
    Case {
        id: "NAT-05",
        title: "empty, null, scalar, array and non-UTF-8 payloads give an outcome, never a panic",
        clause: ADAPTER,
        checks: 1,
        why: "A panic inside a hook is an event that is lost without a word.",
        body: Body::Normalizer(nat_05),
    },
    Case {
        id: "NAT-06",
        title: "a known but uninteresting shape is ignored with a reason, not unrecognised",
        clause: ADAPTER,
        checks: 2,
        why: "Real drift drowns in the noise of shapes that everybody knows.",
        body: Body::Normalizer(nat_06),
    },
    Case {
        id: "NAT-07",
        title: "a session id in the payload beats the hint",
        clause: ADAPTER,
        checks: 1,
        why: "A reader's own idea of the session is older than what the payload says.",
        body: Body::Normalizer(nat_07),
    },
    Case {
        id: "NAT-08",
        title: "without one, the hint is used",
        clause: ADAPTER,
        checks: 1,
        why: "A record without a conversation can be found by nobody.",
        body: Body::Normalizer(nat_08),
    },
    Case {
        id: "NAT-15",
        title: "one native event with several parts gives several addressable messages",
        clause: HARNESS,
        checks: 2,
        why: "An adapter that takes the first part only loses the rest in silence.",
        body: Body::Normalizer(nat_15),
    },
    Case {
        id: "NAT-16",
        title: "the same native event twice gives the same identities",
        clause: ADAPTER,
        checks: 1,
        why: "Reading twice, or by hook and by file, must not make two of one thing.",
        body: Body::Normalizer(nat_16),
    },
    Case {
        id: "NAT-17",
        title: "two sessions through one adapter do not leak into each other",
        clause: NEW,
        checks: 1,
        why: "Call ids are unique within a session only.",
        body: Body::Normalizer(nat_17),
    },
    Case {
        id: "NAT-18",
        title: "timestamps come from the event; absence stays absent",
        clause: HARNESS,
        checks: 2,
        why: "The time of reading in the place of the time of happening is an invention.",
        body: Body::Normalizer(nat_18),
    },
    Case {
        id: "NAT-19",
        title: "adapter version and provenance are on every piece of evidence",
        clause: ADAPTER,
        checks: 2,
        why: "Evidence of unknown origin cannot be judged again when an adapter was wrong.",
        body: Body::Normalizer(nat_19),
    },
    Case {
        id: "NAT-20",
        title: "a signal declared unavailable is never emitted",
        clause: ADAPTER,
        checks: 1,
        why: "A verdict that says \"this runtime cannot show it\" rests on the declaration.",
        body: Body::Normalizer(nat_20),
    },
    Case {
        id: "NAT-21",
        title: "a signal declared available is emitted in at least one scenario",
        clause: NEW,
        checks: 1,
        why: "A table that promises everything makes silence look like evidence.",
        body: Body::Normalizer(nat_21),
    },
    Case {
        id: "NAT-22",
        title: "a planted secret reaches no reason, discriminator, error or record",
        clause: ADAPTER,
        checks: 1,
        why: "Error texts quote their input, and logs are shared.",
        body: Body::Normalizer(nat_22),
    },
    Case {
        id: "NAT-23",
        title: "a huge payload is bounded and the cut is marked",
        clause: NEW,
        checks: 2,
        why: "A text that was cut in silence reads as if it had ended there.",
        body: Body::Normalizer(nat_23),
    },
    Case {
        id: "NAT-24",
        title: "canonical payloads satisfy the closed shape of their kind",
        clause: EXTENSION,
        checks: 1,
        why: "A convenience field becomes a contract that nobody wrote down.",
        body: Body::Normalizer(nat_24),
    },
    Case {
        id: "NAT-25",
        title: "the happy scenario emits something and drops nothing (control)",
        clause: NEW,
        checks: 2,
        why: "Every demand above is met by an adapter that emits nothing.",
        body: Body::Normalizer(nat_25),
    },
];

/// What was made of a scenario by a fresh subject.
pub(super) struct Told {
    pub(super) payloads: Vec<Payload>,
    pub(super) answers: Vec<Answer>,
}

impl Told {
    pub(super) fn records(&self) -> impl Iterator<Item = &RecordView> {
        self.answers.iter().flat_map(Answer::records)
    }
}

/// Drives a fresh subject through a scenario; one that it cannot be driven into is a skip.
pub(super) fn tell(subject: &mut dyn Normalizer, scenario: &str) -> Result<Told, Stop> {
    tell_with(subject, scenario, SESSION)
}

fn tell_with(subject: &mut dyn Normalizer, scenario: &str, hint: &str) -> Result<Told, Stop> {
    let payloads = subject.scenario(scenario).map_err(Stop::Skip)?;
    subject.reset();
    let answers = payloads.iter().map(|p| subject.normalize(hint, &p.bytes)).collect();
    Ok(Told { payloads, answers })
}

/// Every scenario that the subject can be driven into, but for those that are no ordinary work.
fn tell_all(subject: &mut dyn Normalizer) -> Vec<(&'static str, Told)> {
    let names = SCENARIOS.into_iter().filter(|name| !["malformed", "huge"].contains(name));
    names.filter_map(|name| Some((name, tell(subject, name).ok()?))).collect()
}

fn nat_01(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let declared = subject.declare().provider;
    let all = tell_all(subject);
    let records = all.iter().flat_map(|(_, told)| told.records());
    checks.each("records", 5, records, |record| match &record.provider {
        Some(provider) if *provider != declared => {
            Err(format!("{} of {provider}, declared {declared}", record.kind))
        }
        _ => Ok(()),
    });
    Ok(())
}

fn nat_02(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let all = tell_all(subject);
    let wires = all.iter().flat_map(|(_, told)| &told.answers).flat_map(Answer::wires);
    checks.each("survives", 5, wires, |wire| match &wire.again {
        Ok(again) if *again == wire.text => Ok(()),
        Ok(again) => Err(format!("{} became {again}", wire.text)),
        Err(error) => Err(format!("{} is not read: {error}", wire.text)),
    });
    Ok(())
}

fn nat_03(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let told = tell(subject, "unknown_kind")?;
    let last = told.answers.last();
    let unrecognized = matches!(last, Some(Answer::Unrecognized(_)));
    checks.check("unrecognised", unrecognized, "unrecognised", || format!("{last:?}"));
    let tag = last.map_or("", Answer::said);
    checks.check("discriminator", !tag.is_empty(), "a tag", || "an empty one".to_owned());
    Ok(())
}

fn nat_04(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let told = tell(subject, "unknown_kind")?;
    checks.each("no-content", 1, told.answers.iter(), |answer| {
        let text = format!("{answer:?}");
        if text.contains(MARKER) { Err(text) } else { Ok(()) }
    });
    Ok(())
}

fn nat_05(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let payloads = subject.scenario("malformed").map_err(Stop::Skip)?;
    checks.each("outcome", 10, payloads.iter(), |payload| {
        let shown = String::from_utf8_lossy(&payload.bytes).into_owned();
        let answered =
            catch_unwind(AssertUnwindSafe(|| subject.normalize(SESSION, &payload.bytes)));
        answered.map(drop).map_err(|_| format!("{shown:?} made it panic"))
    });
    Ok(())
}

fn nat_06(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let told = tell(subject, "bookkeeping")?;
    let last = told.answers.last();
    let ignored = matches!(last, Some(Answer::Ignored(_)));
    checks.check("ignored", ignored, "ignored", || format!("{last:?}"));
    let reason = last.map_or("", Answer::said);
    checks.check("reason", !reason.is_empty(), "a reason", || "an empty one".to_owned());
    Ok(())
}

fn nat_07(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let told = tell_with(subject, "tool_ok", "another-session")?;
    let of = |record: &RecordView| record.conversation.clone();
    checks.each("own", 2, told.records().filter_map(of), |conversation| {
        if conversation == SESSION { Ok(()) } else { Err(conversation) }
    });
    Ok(())
}

fn nat_08(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let told = tell_with(subject, "no_session_id", "the-hint")?;
    let events = told.records().filter(|record| record.kind.starts_with("event:"));
    checks.each("hint", 1, events, |record| match record.conversation.as_deref() {
        Some("the-hint") => Ok(()),
        other => Err(format!("{other:?}")),
    });
    Ok(())
}

fn nat_15(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let told = tell(subject, "multi_part")?;
    let parts = told.answers.last().map_or(&[][..], Answer::records);
    let kinds: BTreeSet<&str> = parts.iter().map(|record| record.kind.as_str()).collect();
    let several = kinds.contains("event:post_tool_use") && kinds.contains("evidence:exit_code");
    checks.check("several", several, "the result and its exit code", || format!("{kinds:?}"));
    let numbers: BTreeSet<u32> = parts.iter().map(|record| record.place.1).collect();
    checks.equal("addressable", &parts.len(), &numbers.len());
    Ok(())
}

fn nat_16(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let ids = |told: &Told| -> Vec<String> {
        told.records().filter_map(|record| record.id.clone()).collect()
    };
    let first = ids(&tell(subject, "tool_failed")?);
    let second = ids(&tell(subject, "tool_failed")?);
    checks.each("same", 2, first.iter().zip(&second), |(one, other)| {
        if one == other { Ok(()) } else { Err(format!("{one} and {other}")) }
    });
    Ok(())
}

fn nat_17(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let told = tell(subject, "two_sessions")?;
    let results = told.records().filter(|record| record.kind == "event:post_tool_use");
    let expected = |conversation: &str| match conversation {
        SESSION => "failed",
        SECOND => "ok",
        _ => "nothing",
    };
    checks.each("apart", 2, results, |record| {
        let conversation = record.conversation.clone().unwrap_or_default();
        let outcome = record.outcome.clone().unwrap_or_default();
        if outcome == expected(&conversation) {
            Ok(())
        } else {
            Err(format!("{conversation} has {outcome}"))
        }
    });
    Ok(())
}

fn nat_18(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let mut differing = |scenario: &str| -> Result<Vec<String>, Stop> {
        let told = tell(subject, scenario)?;
        let pairs = told.payloads.iter().zip(&told.answers);
        let wires = pairs.flat_map(|(payload, answer)| {
            answer.wires().iter().filter_map(move |wire| {
                let event = wire.text.starts_with("{\"event\"");
                let same = wire.observed_at == payload.at;
                (event && !same).then(|| format!("{:?} for {:?}", wire.observed_at, payload.at))
            })
        });
        let differing: Vec<String> = wires.collect();
        let events = told.records().filter(|record| record.kind.starts_with("event:")).count();
        Ok(if events == 0 { vec!["no event at all".to_owned()] } else { differing })
    };
    let stated = differing("tool_ok")?;
    let absent = differing("untimed")?;
    checks.equal("stated", &Vec::<String>::new(), &stated);
    checks.equal("absent", &Vec::<String>::new(), &absent);
    Ok(())
}

fn nat_19(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let declared = subject.declare().adapter_version;
    let all = tell_all(subject);
    let evidence: Vec<&RecordView> = all
        .iter()
        .flat_map(|(_, told)| told.records())
        .filter(|record| record.kind.starts_with("evidence:"))
        .collect();
    checks.each("version", 1, evidence.iter(), |record| match &record.version {
        Some(version) if *version == declared => Ok(()),
        other => Err(format!("{other:?}, declared {declared}")),
    });
    checks.each("provenance", 1, evidence.iter(), |record| match record.provenance.as_deref() {
        Some("") | None => Err(record.kind.clone()),
        Some(_) => Ok(()),
    });
    Ok(())
}

/// The signals that a record is.
fn signals_of(record: &RecordView) -> Vec<&'static str> {
    match record.kind.as_str() {
        "event:pre_tool_use" => vec!["tool_invocation"],
        "event:post_tool_use" if record.has_response => vec!["tool_trace", "tool_result_payload"],
        "event:post_tool_use" => vec!["tool_trace"],
        "evidence:exit_code" => vec!["process_result"],
        "event:session_start" | "event:session_end" => vec!["session_lifecycle"],
        "event:subagent_start" | "event:subagent_stop" => vec!["subagent_lifecycle"],
        "event:assistant_message" => vec!["final_response"],
        "event:turn_end" if record.has_text => vec!["final_response"],
        _ => Vec::new(),
    }
}

fn nat_20(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let declared = subject.declare().signals;
    let all = tell_all(subject);
    let emitted = all.iter().flat_map(|(name, told)| told.records().map(move |r| (name, r)));
    let signals = emitted.flat_map(|(name, record)| {
        signals_of(record).into_iter().map(move |signal| (name, signal))
    });
    checks.each("declared", 3, signals, |(scenario, signal)| {
        match declared.get(signal).map(String::as_str) {
            Some(state @ ("unsupported" | "unavailable" | "disabled")) => {
                Err(format!("{scenario} emits {signal}, declared {state}"))
            }
            _ => Ok(()),
        }
    });
    Ok(())
}

fn nat_21(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let declared: BTreeMap<String, String> = subject.declare().signals;
    let all = tell_all(subject);
    let emitted: BTreeSet<&str> =
        all.iter().flat_map(|(_, told)| told.records()).flat_map(signals_of).collect();
    let available = declared.iter().filter(|(_, state)| *state == "available");
    checks.each("emitted", 3, available, |(signal, _)| {
        if emitted.contains(signal.as_str()) { Ok(()) } else { Err(format!("{signal} never")) }
    });
    Ok(())
}

fn nat_22(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let told = tell(subject, "secret")?;
    let secret = planted_secret();
    checks.each("nowhere", 5, told.answers.iter(), |answer| {
        if format!("{answer:?}").contains(&secret) {
            // The secret itself is not to be printed either.
            Err(format!("it is in the answer to {}", kind_of(answer)))
        } else {
            Ok(())
        }
    });
    Ok(())
}

fn kind_of(answer: &Answer) -> &'static str {
    match answer {
        Answer::Messages { .. } => "a payload that was translated",
        Answer::Ignored(_) => "a payload that was ignored",
        Answer::Unrecognized(_) => "a payload that was not recognised",
        Answer::Refused(_) => "a payload that was refused",
    }
}

/// More than this of a payload is not kept.
const KEPT_MAX: usize = 128 * 1024;

fn nat_23(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let told = tell(subject, "huge")?;
    let kept: usize = told.answers.iter().flat_map(Answer::wires).map(|w| w.text.len()).sum();
    checks.check("bounded", kept <= KEPT_MAX, "at most 128 KiB", || format!("{kept} bytes"));
    let marked = told.records().any(|record| record.kind == "loss:text_cut");
    checks.check("marked", marked, "a loss that says so", || "none".to_owned());
    Ok(())
}

fn nat_24(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let all = tell_all(subject);
    let evidence = all.iter().flat_map(|(_, told)| told.records()).filter_map(|record| {
        Some((record.kind.strip_prefix("evidence:")?, record.payload.as_ref()?))
    });
    checks.each("closed", 2, evidence, |(kind, payload)| closed(kind, payload));
    Ok(())
}

fn closed(kind: &str, payload: &Value) -> Result<(), String> {
    let known = EvidenceKind::ALL.into_iter().find(|known| known.as_str() == kind);
    let known = known.ok_or_else(|| format!("no evidence kind {kind}"))?;
    validate_canonical_payload(known, payload).map_err(|error| error.to_string())
}

fn nat_25(checks: &mut Checks<'_>, subject: &mut dyn Normalizer) -> CaseEnd {
    let mut events = 0;
    let mut dropped = Vec::new();
    for scenario in ["prompt", "tool_ok"] {
        let told = tell(subject, scenario)?;
        events += told.records().filter(|record| record.kind.starts_with("event:")).count();
        dropped.extend(
            told.answers
                .iter()
                .map(Answer::said)
                .filter(|said| !said.is_empty())
                .map(|said| format!("{scenario}: {said}")),
        );
    }
    checks.check("emits", events >= 3, "at least 3 events", || format!("{events}"));
    checks.equal("drops-nothing", &Vec::<String>::new(), &dropped);
    Ok(())
}
