//! Runs over real files where they are at hand; skipped elsewhere.
//!
//! No shape may panic, nothing that the format notes name may be unrecognised, and an independent
//! scan of the raw lines must find exactly the exit codes that the reader found.

use super::{HINT, adapter, events, evidence};
use crate::adapters::agents::codex::{CodexFamily, recognise};
use crate::domain::event::{Channel, EventKind};
use crate::domain::outcome::{Message, NormalizationOutcome};
use crate::ports::agent::{AgentFamily, SourceSample};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder of real files, if this machine has it.
fn corpus() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "a test may be pointed at the files")]
    let named = std::env::var("FORNAX_CORPUS").ok().map(PathBuf::from);
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/corpus"));
    named.into_iter().chain([beside]).find(|path| path.is_dir())
}

fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

fn values(path: &Path, most: usize) -> Vec<Value> {
    let bytes = std::fs::read(path).unwrap();
    if path.extension().is_some_and(|ext| ext == "json") {
        return serde_json::from_slice(&bytes).into_iter().collect();
    }
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .take(most)
        .collect()
}

fn recognised(path: &Path) -> Option<&'static str> {
    let values = values(path, 30);
    let sample = SourceSample { path, values: &values };
    CodexFamily.recognise(&sample).map(|format| format.name)
}

#[test]
fn every_real_rollout_is_recognised_and_no_other_agents_file_is() {
    let Some(corpus) = corpus() else { return };
    let mut formats: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for path in files_under(&corpus.join("codex-rollouts")) {
        let format = recognised(&path);
        // Two handwritten files of other tools with Codex-like names use another grammar.
        let foreign = path
            .components()
            .any(|part| matches!(part.as_os_str().to_str(), Some("codebuddy" | "workbuddy")));
        assert_eq!(format.is_none(), foreign, "{}", path.display());
        *formats.entry(format).or_default() += 1;
    }
    println!("formats: {formats:?}");
    for folder in ["other", "claude-transcripts", "claude-hooks"] {
        for path in files_under(&corpus.join(folder)) {
            if recognise::sidecar(&path).is_none() {
                assert_eq!(recognised(&path), None, "{}", path.display());
            }
        }
    }
}

/// What the reader made of all files.
#[derive(Default)]
struct Seen {
    lines: usize,
    ignored: BTreeMap<&'static str, usize>,
    unrecognized: BTreeMap<String, usize>,
    losses: BTreeMap<String, usize>,
    kinds: BTreeMap<String, usize>,
    outcomes: BTreeMap<String, usize>,
    codes: BTreeMap<String, usize>,
}

impl Seen {
    fn take(&mut self, outcome: &NormalizationOutcome) {
        self.lines += 1;
        match outcome {
            NormalizationOutcome::Ignored { reason } => {
                *self.ignored.entry(reason).or_default() += 1
            }
            NormalizationOutcome::Unrecognized { discriminator } => {
                *self.unrecognized.entry(discriminator.clone()).or_default() += 1;
            }
            NormalizationOutcome::Messages(messages) => self.take_messages(messages),
        }
    }

    fn take_messages(&mut self, messages: &[Message]) {
        for message in messages {
            if let Message::Loss(loss) = message {
                let key = format!("{}:{}", loss.reason.as_str(), loss.detail);
                *self.losses.entry(key).or_default() += 1;
            }
        }
        for event in events(messages) {
            *self.kinds.entry(event.kind.as_str().to_owned()).or_default() += 1;
            if event.kind == EventKind::PostToolUse {
                let said = event.outcome.as_ref().map_or("none", |outcome| outcome.as_str());
                *self.outcomes.entry(format!("{:?} {said}", event.channel)).or_default() += 1;
            }
        }
        for piece in evidence(messages) {
            *self.codes.entry(piece.provenance.clone()).or_default() += 1;
        }
    }
}

#[test]
fn real_rollouts_are_read_without_a_panic_and_without_an_unknown_shape_of_the_notes() {
    let Some(corpus) = corpus() else { return };
    let mut seen = Seen::default();
    let mut alone = Seen::default();
    for path in files_under(&corpus.join("codex-rollouts")) {
        if recognised(&path).is_none() {
            continue;
        }
        let mut reader = adapter();
        for value in values(&path, usize::MAX) {
            seen.take(&reader.normalize(HINT, &value));
            // Alone, a line escapes the copied-history rule that a handwritten file may trip.
            if path.to_string_lossy().contains("Fixtures") {
                alone.take(&adapter().normalize(HINT, &value));
            }
        }
    }
    println!("lines {}\nignored {:#?}", seen.lines, seen.ignored);
    println!("unrecognized {:#?}\nalone {:#?}", seen.unrecognized, alone.unrecognized);
    println!("losses {:#?} {:#?}\nkinds {:#?}", seen.losses, alone.losses, seen.kinds);
    println!("outcomes {:#?}\nevidence {:#?}", seen.outcomes, seen.codes);
    for tag in seen.unrecognized.keys().chain(alone.unrecognized.keys()) {
        assert!(is_handwritten(tag), "{tag}");
    }
}

/// Tags that only other tools' handwritten test files have; the format notes name none of them.
fn is_handwritten(tag: &str) -> bool {
    const TAGS: &[&str] = &[
        "event_msg:token_count:<missing total_token_usage>",
        "event_msg:tool_call",
        "event_msg:turn.completed",
        "future_codex_event",
        "response_item:message:function",
        "response_item:tool_call",
        "response_item:tool_result",
    ];
    TAGS.contains(&tag) || tag.contains('/') || tag.contains("[trimmed")
}

/// How many texts two lists share, each counted as often as both have it.
fn shared(left: &BTreeMap<String, usize>, right: &BTreeMap<String, usize>) -> usize {
    left.iter().map(|(text, count)| (*count).min(right.get(text).copied().unwrap_or(0))).sum()
}

#[test]
fn second_tellings_of_real_messages_meet_the_first() {
    let Some(corpus) = corpus() else { return };
    let mut report: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for path in files_under(&corpus.join("codex-rollouts")) {
        let mut reader = adapter();
        let told: Vec<Message> = values(&path, usize::MAX)
            .iter()
            .flat_map(|value| reader.normalize(HINT, value).into_messages())
            .collect();
        for (role, kind) in
            [("prompt", EventKind::UserPromptSubmit), ("answer", EventKind::AssistantMessage)]
        {
            let mut ids = [BTreeMap::new(), BTreeMap::new()];
            let mut texts = [BTreeMap::new(), BTreeMap::new()];
            for event in events(&told).into_iter().filter(|event| event.kind == kind) {
                let side = usize::from(event.channel == Channel::Projection);
                *ids[side].entry(event.native.id.clone()).or_insert(0) += 1;
                *texts[side].entry(event.text.clone().unwrap()).or_insert(0) += 1;
            }
            let row = report.entry(role).or_default();
            row[0] += ids[1].values().sum::<usize>();
            row[1] += shared(&texts[0], &texts[1]);
            row[2] += shared(&ids[0], &ids[1]);
        }
    }
    println!("projections, with an exact twin, met: {report:?}");
    for [_, twins, met] in report.values() {
        assert_eq!(twins, met);
    }
}

/// An exit code as a plain text search finds it, knowing only the tool's name.
fn scanned_code(tool: &str, output: &Value) -> Option<i64> {
    let text = match output {
        Value::String(text) => text.as_str(),
        Value::Array(parts) => parts.iter().find_map(|part| part["text"].as_str())?,
        _ => return None,
    };
    let json = || serde_json::from_str::<Value>(text).ok()?["metadata"]["exit_code"].as_i64();
    let head = text.split("\nOutput:").next().unwrap_or_default();
    let after = |label: &str| {
        let rest = &head[head.rfind(label)? + label.len()..];
        rest.split('\n').next()?.parse().ok()
    };
    match tool {
        "shell" | "container.exec" => json(),
        "shell_command" => after("Exit code: "),
        "apply_patch" => json().or_else(|| after("Exit code: ")),
        "exec_command" | "write_stdin" if text.contains("\nOutput:") => {
            after("\nProcess exited with code ")
        }
        _ => None,
    }
}

#[test]
fn the_exit_codes_of_real_rollouts_are_those_that_a_plain_scan_finds() {
    let Some(corpus) = corpus() else { return };
    let mut compared: BTreeMap<(String, bool), usize> = BTreeMap::new();
    for path in files_under(&corpus.join("codex-rollouts")) {
        let mut reader = adapter();
        let mut tools: BTreeMap<String, String> = BTreeMap::new();
        for (place, line) in values(&path, usize::MAX).iter().enumerate() {
            let outcome = reader.normalize(HINT, line);
            let is_copy = matches!(&outcome, NormalizationOutcome::Ignored { reason }
                if reason.starts_with("copied"));
            let item = line.get("payload").unwrap_or(line);
            let id = item["call_id"].as_str().unwrap_or_default().to_owned();
            let tag = item["type"].as_str().unwrap_or_default();
            if tag.ends_with("_call") {
                tools.insert(id, item["name"].as_str().unwrap_or_default().to_owned());
                continue;
            }
            if !tag.ends_with("_call_output") || is_copy {
                continue;
            }
            let tool = tools.get(&id).cloned().unwrap_or_default();
            let told = outcome.into_messages();
            let codes: Vec<i64> = super::exit_codes(&told).into_iter().map(|(_, c)| c).collect();
            let expected = scanned_code(&tool, &item["output"]);
            let spot = format!("{}:{}", path.display(), place + 1);
            assert_eq!(codes, expected.into_iter().collect::<Vec<_>>(), "{spot}");
            *compared.entry((tool, expected.is_some())).or_default() += 1;
        }
    }
    println!("outputs by tool and whether a code is stated: {compared:#?}");
}

#[test]
fn two_tellings_of_a_real_command_state_the_same_code_and_command() {
    let Some(corpus) = corpus() else { return };
    let (mut alone, mut equal, mut different) = (0, 0, Vec::new());
    for path in files_under(&corpus.join("codex-rollouts")) {
        let mut reader = adapter();
        let mut told: BTreeMap<String, Value> = BTreeMap::new();
        for line in values(&path, usize::MAX) {
            let messages = reader.normalize(HINT, &line).into_messages();
            for piece in evidence(&messages).into_iter().filter(|piece| piece.slot == "exit") {
                let key = format!("{:?}", piece.event_native);
                match told.insert(key.clone(), piece.payload.clone()) {
                    None => alone += 1,
                    Some(before) if before == piece.payload => equal += 1,
                    Some(before) => different.push((key, before, piece.payload.clone())),
                }
            }
        }
    }
    println!("calls with a code {alone}, told twice alike {equal}, differently {different:?}");
    assert!(different.is_empty());
}
