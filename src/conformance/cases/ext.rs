//! EXT: the extension envelope and the canonical payloads beside it.
//!
//! As in IDN, each demand is touched by its own case only: version 1 in EXT-01, unknown keys
//! through a rewrite in EXT-04 and through a read in EXT-07, odd numbers in EXT-12.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::conformance::check::{CaseEnd, Checks};
use crate::conformance::contract::{Body, Case, Contract};
use crate::conformance::subjects::{
    EnvelopeCodec, EnvelopeView, NativeOutcome, NativeProbe, NewEnvelope,
};

/// The contract.
pub fn contract() -> Contract {
    Contract { id: "EXT", title: "extension envelope", cases: CASES.to_vec(), floor: 14 }
}

const VERSIONS: &str = "ADR 0005: version compatibility";
const TOLERANCE: &str = "ADR 0005: unknown-field tolerance";
const TYPED: &str = "ADR 0005: canonical evidence stays typed";
const BOUNDARY: &str = "ADR 0005: boundary with NormalizationOutcome::Unrecognized";

const CASES: &[Case] = &[
    Case {
        id: "EXT-01",
        title: "the historical v1 fixture still reads",
        clause: VERSIONS,
        checks: 2,
        why: "An old store must stay readable for as long as its version is supported.",
        body: Body::Envelope(ext_01),
    },
    Case {
        id: "EXT-02",
        title: "the v2 fixture reads, and new envelopes carry the default version",
        clause: VERSIONS,
        checks: 2,
        why: "A constant that was not bumped writes new content under the old promise.",
        body: Body::Envelope(ext_02),
    },
    Case {
        id: "EXT-03",
        title: "an unsupported version is refused, naming it and the supported set",
        clause: VERSIONS,
        checks: 2,
        why: "Misreading a future shape is worse than refusing it, and the user must see which.",
        body: Body::Envelope(ext_03),
    },
    Case {
        id: "EXT-04",
        title: "unknown top-level keys come back out unchanged",
        clause: TOLERANCE,
        checks: 1,
        why: "An older program in the middle must not strip what a newer one wrote.",
        body: Body::Envelope(ext_04),
    },
    Case {
        id: "EXT-05",
        title: "an unknown content class keeps its own string",
        clause: TOLERANCE,
        checks: 1,
        why: "Collapsed to one word, two new classes can no longer be told apart.",
        body: Body::Envelope(ext_05),
    },
    Case {
        id: "EXT-06",
        title: "a canonical payload with an extra key is refused",
        clause: TYPED,
        checks: 1,
        why: "Core code trusts the canonical shape; an open one becomes a schemaless lake.",
        body: Body::Envelope(ext_06),
    },
    Case {
        id: "EXT-07",
        title: "an envelope with an extra key is accepted (pair)",
        clause: TOLERANCE,
        checks: 1,
        why: "The closed rule of canonical payloads, copied here, would refuse the future.",
        body: Body::Envelope(ext_07),
    },
    Case {
        id: "EXT-08",
        title: "an absent envelope is absent, not empty",
        clause: "ADR 0005: the extension envelope (None is the common case)",
        checks: 2,
        why: "An empty envelope claims that an adapter had something to say.",
        body: Body::Envelope(ext_08),
    },
    Case {
        id: "EXT-09",
        title: "an unrecognised native shape never becomes an envelope",
        clause: BOUNDARY,
        checks: 1,
        why: "Kept just in case, an unvetted payload leaks into the store through the side door.",
        body: Body::Native(ext_09),
    },
    Case {
        id: "EXT-10",
        title: "envelope provider equals evidence provider; adapter version present",
        clause: "ADR 0005: field choices",
        checks: 2,
        why: "A consumer routes by provider and version; a constant there is a false origin.",
        body: Body::Native(ext_10),
    },
    Case {
        id: "EXT-11",
        title: "an unknown key cannot shadow a named field",
        clause: TOLERANCE,
        checks: 2,
        why: "With a flattened map, whichever key comes last would win in the next reader.",
        body: Body::Envelope(ext_11),
    },
    Case {
        id: "EXT-12",
        title: "large integers, exponents and Unicode in fields survive",
        clause: "ADR 0005: fields is the provider's own content",
        checks: 1,
        why: "A detour through a float changes ids and makes infinity null.",
        body: Body::Envelope(ext_12),
    },
    Case {
        id: "EXT-13",
        title: "no content of fields changes what the core does",
        clause: "ADR 0005: no dispatch on envelope content",
        checks: 1,
        why: "Inert data must stay inert, whatever it looks like.",
        body: Body::Envelope(ext_13),
    },
    Case {
        id: "EXT-14",
        title: "an envelope is bounded in size and depth",
        clause: "new here: what one native line can store is bounded",
        checks: 2,
        why: "One native line must not be able to fill the store or exhaust a stack.",
        body: Body::Envelope(ext_14),
    },
];

const V1: &str = r#"{"schema_version":1,"provider":"codex","adapter_version":"0.0.1","content_class":"raw_provider_metadata","fields":{"k":1}}"#;
const V2: &str = r#"{"schema_version":2,"provider":"open_code","adapter_version":"0.0.3","content_class":"tool_telemetry","fields":{"title":"list files","truncated":false}}"#;

fn with_fields(fields: &str) -> String {
    format!(
        r#"{{"schema_version":2,"provider":"codex","adapter_version":"0.1.0","content_class":"tool_telemetry","fields":{fields}}}"#
    )
}

/// An envelope with more keys after the named ones; `more` begins with a comma.
fn with_more(more: &str) -> String {
    with_fields("{}").replace("\"fields\":{}}", &format!("\"fields\":{{}}{more}}}"))
}

fn new_envelope() -> NewEnvelope {
    NewEnvelope {
        provider: "codex".to_owned(),
        adapter_version: "0.1.0".to_owned(),
        content_class: "tool_telemetry".to_owned(),
        fields: "{\"k\":1}".to_owned(),
    }
}

/// The top-level keys of an object with their values as text; the last of two equal keys wins.
fn top_level(text: &str) -> Result<BTreeMap<String, String>, String> {
    let keys: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(keys.into_iter().map(|(name, value)| (name, value.get().to_owned())).collect())
}

fn version_after_rewrite(envelope: &mut dyn EnvelopeCodec, text: &str) -> Result<String, String> {
    let mut keys = top_level(&envelope.rewrite(text)?)?;
    keys.remove("schema_version").ok_or_else(|| "no schema_version".to_owned())
}

fn ext_01(checks: &mut Checks<'_>, envelope: &mut dyn EnvelopeCodec) -> CaseEnd {
    let view = EnvelopeView {
        schema_version: 1,
        provider: "codex".to_owned(),
        adapter_version: "0.0.1".to_owned(),
        content_class: "raw_provider_metadata".to_owned(),
        fields: "{\"k\":1}".to_owned(),
        unknown: BTreeMap::new(),
    };
    checks.equal("v1-reads", &Ok(view), &envelope.read(V1));
    checks.equal("v1-stays-v1", &Ok("1".to_owned()), &version_after_rewrite(envelope, V1));
    Ok(())
}

fn ext_02(checks: &mut Checks<'_>, envelope: &mut dyn EnvelopeCodec) -> CaseEnd {
    checks.equal("v2-stays-v2", &Ok("2".to_owned()), &version_after_rewrite(envelope, V2));
    let made = envelope.make(&new_envelope(), &[]).and_then(|text| top_level(&text));
    let version = made.map(|mut keys| keys.remove("schema_version"));
    checks.equal("new-ones-are-v2", &Ok(Some("2".to_owned())), &version);
    Ok(())
}

fn ext_03(checks: &mut Checks<'_>, envelope: &mut dyn EnvelopeCodec) -> CaseEnd {
    let refusal = |text: &str, version: &str, envelope: &mut dyn EnvelopeCodec| {
        let error = match envelope.read(text) {
            Ok(_) => return Err(format!("version {version} was accepted")),
            Err(error) => error,
        };
        let demanded = ["incompatible", version, "[1, 2]"];
        match demanded.iter().find(|word| !error.contains(**word)) {
            Some(word) => Err(format!("the refusal of {version} does not say {word}: {error}")),
            None => Ok(()),
        }
    };
    checks.each("refused-by-number", 4, ["3", "0", "99", "4294967295"], |version| {
        let text = V2.replace("\"schema_version\":2", &format!("\"schema_version\":{version}"));
        refusal(&text, version, envelope)
    });
    let futures = [
        r#"{"provider":7,"fields":null,"schema_version":3}"#,
        r#"{"schema_version":3}"#,
        r#"{"content_class":{"of":"tomorrow"},"content_class":1,"schema_version":3}"#,
    ];
    checks.each("before-any-other-key", 3, futures, |text| refusal(text, "3", envelope));
    Ok(())
}

fn ext_04(checks: &mut Checks<'_>, envelope: &mut dyn EnvelopeCodec) -> CaseEnd {
    let values = ["{\"kept\":[1,null,\"x\"]}", "\"\"", "null", "[]", "{\"schema_version\":9}"];
    checks.each("come-back-unchanged", 5, values, |value| {
        let text = with_more(&format!(",\"later_key\":{value},\"another\":true"));
        let (mut before, mut after) = (top_level(&text)?, top_level(&envelope.rewrite(&text)?)?);
        // The version is the business of EXT-01 and EXT-02.
        before.remove("schema_version");
        after.remove("schema_version");
        if before == after { Ok(()) } else { Err(format!("{value} became {after:?}")) }
    });
    Ok(())
}

fn ext_05(checks: &mut Checks<'_>, envelope: &mut dyn EnvelopeCodec) -> CaseEnd {
    checks.each("keeps-its-word", 3, ["sandbox_report", "Tool_Telemetry", ""], |class| {
        let text = with_fields("{}").replace("tool_telemetry", class);
        let read = envelope.read(&text)?.content_class;
        let written = top_level(&envelope.rewrite(&text)?)?.remove("content_class");
        if read == class && written == Some(Value::from(class).to_string()) {
            Ok(())
        } else {
            Err(format!("{class:?} was read as {read:?} and written as {written:?}"))
        }
    });
    Ok(())
}

fn ext_06(checks: &mut Checks<'_>, envelope: &mut dyn EnvelopeCodec) -> CaseEnd {
    let observed = json!({"observation_kind": "command_duration", "duration_ms": 40});
    let shapes = [
        ("exit_code", "", json!({"command": "make", "exit_code": 0})),
        ("tool_result", "", json!({"summary": "done"})),
        ("file_diff", "", json!({"path": "a.rs", "diff": "+x"})),
        ("transcript_excerpt", "", json!({"text": "done"})),
        ("process_observation", "", json!({"description": "seen"})),
        (
            "process_observation",
            "/observation",
            json!({"description": "seen", "observation": observed}),
        ),
    ];
    checks.each("closed-at-every-level", 6, shapes, |(kind, place, payload)| {
        envelope.validate_payload(kind, &payload)?;
        let mut extra = payload.clone();
        if let Some(object) = extra.pointer_mut(place).and_then(Value::as_object_mut) {
            object.insert("duration_hint".to_owned(), json!(1));
        }
        match envelope.validate_payload(kind, &extra) {
            Ok(()) => Err(format!("{kind} accepts an extra key at {place:?}")),
            Err(_) => Ok(()),
        }
    });
    Ok(())
}

fn ext_07(checks: &mut Checks<'_>, envelope: &mut dyn EnvelopeCodec) -> CaseEnd {
    let read = envelope.read(&with_more(",\"later_key\":{\"a\":1}"));
    let unknown = read.map(|view| view.unknown);
    let expected = BTreeMap::from([("later_key".to_owned(), "{\"a\":1}".to_owned())]);
    checks.equal("accepted", &Ok(expected), &unknown);
    Ok(())
}

fn ext_08(checks: &mut Checks<'_>, envelope: &mut dyn EnvelopeCodec) -> CaseEnd {
    let record = checks.made(envelope.carry(None).ok())?;
    let has_key = top_level(&record).map(|keys| keys.contains_key("extension"));
    checks.equal("no-key-is-written", &Ok(false), &has_key);
    let with = envelope.carry(Some(V2)).and_then(|record| envelope.carried(&record));
    let absent = [record.as_str(), "{}", "{\"extension\":null}"];
    checks.each("absent-reads-as-absent", 3, absent, |record| {
        match (envelope.carried(record)?, &with) {
            (None, Ok(Some(_))) => Ok(()),
            (None, lost) => Err(format!("the control lost its envelope: {lost:?}")),
            (Some(found), _) => Err(format!("{record} carries {found}")),
        }
    });
    Ok(())
}

/// Native shapes of no known kind, with content that must go nowhere.
fn unknown_shapes() -> [Value; 4] {
    [
        json!({"timestamp": "2026-05-01T08:00:02.000Z", "type": "quantum_state",
            "payload": {"marker": "planted"}}),
        json!({"timestamp": "2026-05-01T08:00:02.000Z", "type": "event_msg",
            "payload": {"type": "telepathy_end", "exit_code": 0, "marker": "planted"}}),
        json!({"type": "event_msg", "payload": {"type": "item_completed",
            "item": {"type": "Hologram", "id": "h1", "exit_code": 1, "marker": "planted"}}}),
        json!({"type": "", "marker": "planted"}),
    ]
}

fn ext_09(checks: &mut Checks<'_>, native: &mut dyn NativeProbe) -> CaseEnd {
    let views = checks.made(native.read_lines(&unknown_shapes()).ok())?;
    checks.each("no-evidence-no-envelope", 4, views, |view| {
        match (view.outcome, view.evidence.is_empty()) {
            (NativeOutcome::Unrecognized | NativeOutcome::Ignored, true) => Ok(()),
            (outcome, _) => Err(format!("{outcome:?} with {:?}", view.evidence)),
        }
    });
    Ok(())
}

/// A turn in which one command ran, as older and newer files tell it.
fn command_turn() -> Vec<Value> {
    let thread = "019a0000-0000-7000-8000-000000000001";
    let line = |kind: &str, payload: Value| json!({"timestamp": "2026-05-01T08:00:02.000Z", "type": kind, "payload": payload});
    vec![
        line(
            "session_meta",
            json!({"id": thread, "timestamp": "2026-05-01T08:00:00.000Z",
            "cwd": "/home/dev/demo", "originator": "codex_cli_rs", "cli_version": "0.140.0"}),
        ),
        line(
            "event_msg",
            json!({"type": "exec_command_end", "call_id": "call_A", "turn_id": "t1",
            "command": ["bash", "-lc", "make check"], "cwd": "/home/dev/demo", "parsed_cmd": [],
            "source": "agent", "stdout": "", "stderr": "", "aggregated_output": "ok\n",
            "exit_code": 0, "duration": {"secs": 1, "nanos": 5}, "formatted_output": "",
            "status": "completed"}),
        ),
        line(
            "event_msg",
            json!({"type": "item_completed", "thread_id": thread, "turn_id": "t1",
            "item": {"type": "CommandExecution", "id": "call_B", "command": ["bash", "-lc", "ls"],
                "cwd": "/home/dev/demo", "parsed_cmd": [], "source": "agent",
                "status": "completed", "aggregated_output": "a.txt\n", "exit_code": 0,
                "duration": {"secs": 0, "nanos": 21_000_000}},
            "started_at_ms": 1_777_622_402_000_u64, "completed_at_ms": 1_777_622_402_021_u64}),
        ),
    ]
}

fn ext_10(checks: &mut Checks<'_>, native: &mut dyn NativeProbe) -> CaseEnd {
    let views = checks.made(native.read_lines(&command_turn()).ok())?;
    let mut envelopes = Vec::new();
    for evidence in views.into_iter().flat_map(|view| view.evidence) {
        if let Some(text) = evidence.extension {
            envelopes.push((evidence.provider, text));
        }
    }
    checks.each("same-provider", 1, &envelopes, |(provider, text)| {
        let named = top_level(text)?.remove("provider");
        let wanted = Some(Value::from(provider.as_str()).to_string());
        if named == wanted { Ok(()) } else { Err(format!("{named:?} in evidence of {provider}")) }
    });
    checks.each("adapter-version", 1, &envelopes, |(_, text)| {
        match top_level(text)?.remove("adapter_version").as_deref() {
            None | Some("\"\"") => Err("no adapter version".to_owned()),
            Some(_) => Ok(()),
        }
    });
    Ok(())
}

fn ext_11(checks: &mut Checks<'_>, envelope: &mut dyn EnvelopeCodec) -> CaseEnd {
    let shadows = [
        ("provider", "\"claude_code\""),
        ("schema_version", "1"),
        ("adapter_version", "\"9.9.9\""),
        ("content_class", "\"experimental_signal\""),
        ("fields", "{\"k\":2}"),
    ];
    let plain = envelope.make(&new_envelope(), &[]).and_then(|text| top_level(&text));
    checks.each("not-when-writing", 5, shadows, |(name, value)| {
        let Ok(text) = envelope.make(&new_envelope(), &[(name, value)]) else {
            return Ok(());
        };
        let unshadowed = top_level(&text).map(|keys| keys.get(name).cloned())
            == plain.as_ref().map(|keys| keys.get(name).cloned()).map_err(Clone::clone);
        let once = text.matches(&format!("\"{name}\":")).count() == 1;
        if unshadowed && once { Ok(()) } else { Err(format!("{name} is shadowed in {text}")) }
    });
    checks.each("not-when-reading", 5, shadows, |(name, value)| {
        match envelope.read(&with_more(&format!(",\"{name}\":{value}"))) {
            Ok(view) => Err(format!("a second {name} was accepted: {view:?}")),
            Err(_) => Ok(()),
        }
    });
    Ok(())
}

fn ext_12(checks: &mut Checks<'_>, envelope: &mut dyn EnvelopeCodec) -> CaseEnd {
    let texts = [
        "{\"id\":123456789012345678901234567890}",
        "{\"id\":9007199254740993}",
        "[1e400,-1E-400,1.10,0.30000000000000004]",
        "[18446744073709551616,\"\u{4e2d}\u{1f600}\",\"\\u00e9\"]",
    ];
    checks.each("spelling-survives", 4, texts, |fields| {
        let written = top_level(&envelope.rewrite(&with_fields(fields))?)?.remove("fields");
        if written.as_deref() == Some(fields) {
            Ok(())
        } else {
            Err(format!("{fields} became {written:?}"))
        }
    });
    Ok(())
}

fn ext_13(checks: &mut Checks<'_>, envelope: &mut dyn EnvelopeCodec) -> CaseEnd {
    let plain = checks.made(envelope.read(&with_fields("{}")).ok())?;
    let contents = [
        "{\"schema_version\":99}",
        "{\"exec\":\"/bin/true\",\"plugin\":\"x.so\"}",
        "{\"verdict\":\"verified\",\"exit_code\":0}",
        "{\"type\":\"event\",\"provider\":\"claude_code\"}",
        "null",
        "\"fields\"",
    ];
    checks.each("inert", 6, contents, |fields| {
        let view = envelope.read(&with_fields(fields))?;
        let same = EnvelopeView { fields: plain.fields.clone(), ..view.clone() } == plain;
        if same && view.fields == fields { Ok(()) } else { Err(format!("{fields} gave {view:?}")) }
    });
    Ok(())
}

fn ext_14(checks: &mut Checks<'_>, envelope: &mut dyn EnvelopeCodec) -> CaseEnd {
    let (bytes_max, depth_max) = envelope.bounds();
    let room = bytes_max.saturating_sub(with_fields("\"\"").len());
    let sized = |spare: usize| with_fields(&format!("\"{}\"", "x".repeat(room + spare)));
    let nested = |depth: usize| with_fields(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    let mut pair = |fits: &str, spills: &str| {
        envelope.read(fits)?;
        match envelope.read(spills) {
            Ok(_) => Err(format!("{} bytes past a bound were accepted", spills.len())),
            Err(_) => Ok(()),
        }
    };
    checks.each("size", 2, [1, 1 << 16], |spare| pair(&sized(0), &sized(spare)));
    let inner = depth_max.saturating_sub(1);
    checks.each("depth", 2, [inner + 1, 10_000], |depth| pair(&nested(inner), &nested(depth)));
    Ok(())
}
