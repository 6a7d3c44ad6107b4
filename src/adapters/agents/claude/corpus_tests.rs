//! Runs over a folder of real files, where there is one beside the repository.
//!
//! Skipped when it is absent. What an adapter says is compared with a second, plainer reading of
//! the same lines: every exit code that a header states, and no other.

use super::samples::{evidence, hook, read, values};
use super::transcript::ClaudeTranscript;
use super::{ClaudeFamily, TRANSCRIPT};
use crate::domain::outcome::{Message, NormalizationOutcome};
use crate::ports::agent::{AgentAdapter, AgentFamily, SourceSample};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// How many values of a file's head recognition gets to see.
const SAMPLE: usize = 24;

fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let stated = option_env!("FORNAX_CORPUS").map(PathBuf::from);
    stated.into_iter().chain([beside]).find(|folder| folder.is_dir())
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

fn sorted_files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    files(folder, &mut out);
    out.sort();
    out
}

fn load(path: &Path) -> Vec<Value> {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    match serde_json::from_str(&text) {
        Ok(document) => vec![document],
        Err(_) => values(&text),
    }
}

fn recognised(path: &Path, values: &[Value]) -> bool {
    let head = values.get(..SAMPLE).unwrap_or(values);
    let format = ClaudeFamily.recognise(&SourceSample { path, values: head });
    format.is_some_and(|format| format.name == TRANSCRIPT)
}

/// A plain scan: the calls by id, then each result whose text begins with a header, and each
/// answer about a task that holds a code, for the call that launched the task.
fn stated_codes(values: &[Value]) -> Vec<(String, i64)> {
    let mut tools: HashMap<&str, &str> = HashMap::new();
    let mut codes = Vec::new();
    let mut tasks: HashMap<&str, &str> = HashMap::new();
    for value in values {
        let host = &value["toolUseResult"];
        let answered = value["message"]["content"][0]["tool_use_id"].as_str().unwrap_or("");
        if let Some(task) = host["backgroundTaskId"].as_str() {
            tasks.insert(task, answered);
        }
        let told = if host["task"].is_object() { &host["task"] } else { host };
        let task = told["task_id"].as_str().or(told["shellId"].as_str()).unwrap_or("");
        if let (Some(launch), Some(code)) = (tasks.get(task), told["exitCode"].as_i64()) {
            codes.push(((*launch).to_owned(), code));
        }
        let Some(blocks) = value["message"]["content"].as_array() else { continue };
        for block in blocks {
            if let (Some("tool_use"), Some(id)) = (block["type"].as_str(), block["id"].as_str()) {
                tools.insert(id, block["name"].as_str().unwrap_or(""));
            }
            let answered = block["tool_use_id"].as_str().unwrap_or("");
            let shell = matches!(tools.get(answered), Some(&("Bash" | "PowerShell")));
            if block["type"] != "tool_result" || block["is_error"] != true || !shell {
                continue;
            }
            let text = block["content"].as_str().or_else(|| block["content"][0]["text"].as_str());
            let mut words = text.unwrap_or("").lines().next().unwrap_or("").split(' ');
            if (words.next(), words.next()) == (Some("Exit"), Some("code"))
                && let Some(Ok(code)) = words.next().map(str::parse)
                && words.next().is_none()
            {
                codes.push((answered.to_owned(), code));
            }
        }
    }
    codes
}

fn told_codes(messages: &[Message]) -> Vec<(String, i64)> {
    let coded = evidence(messages).into_iter().filter(|found| found.slot == "exit");
    coded.map(|f| (f.event_native.id.clone(), f.payload["exit_code"].as_i64().unwrap())).collect()
}

/// All messages of a reader that never stopped.
fn unbroken(values: &[Value]) -> Vec<Message> {
    read(values).into_iter().flat_map(NormalizationOutcome::into_messages).collect()
}

#[derive(Default)]
struct Tally {
    files: usize,
    values: usize,
    codes: usize,
    records: BTreeMap<String, usize>,
    outcomes: BTreeMap<String, usize>,
    ignored: BTreeMap<&'static str, usize>,
    unknown: BTreeMap<String, usize>,
}

impl Tally {
    fn add(&mut self, answer: NormalizationOutcome) -> Vec<Message> {
        self.values += 1;
        match answer {
            NormalizationOutcome::Ignored { reason } => {
                *self.ignored.entry(reason).or_default() += 1;
                Vec::new()
            }
            NormalizationOutcome::Unrecognized { discriminator } => {
                *self.unknown.entry(discriminator).or_default() += 1;
                Vec::new()
            }
            NormalizationOutcome::Messages(said) => {
                said.iter().for_each(|message| self.count(message));
                said
            }
        }
    }

    fn count(&mut self, message: &Message) {
        let name = match message {
            Message::Event(event) => {
                if let Some(outcome) = &event.outcome {
                    let key = format!("{} {outcome}", event.kind);
                    *self.outcomes.entry(key).or_default() += 1;
                }
                format!("event {}", event.kind)
            }
            Message::Evidence(found) => {
                format!("evidence {}", found.slot.split(':').next().unwrap())
            }
            Message::Capabilities(_) => "capabilities".to_owned(),
            Message::Usage(_) => "usage".to_owned(),
            Message::Lineage(lineage) => format!("lineage {}", lineage.relation),
            Message::Turn(_) => "turn".to_owned(),
            Message::Loss(loss) => format!("loss {} {}", loss.reason, loss.detail),
        };
        *self.records.entry(name).or_default() += 1;
    }

    fn print(&self, what: &str) {
        println!("{what}: {} files, {} values, {} codes", self.files, self.values, self.codes);
        println!("  records {:?}\n  outcomes {:?}", self.records, self.outcomes);
        println!("  ignored {:?}\n  unknown {:?}", self.ignored, self.unknown);
    }
}

/// Tags in the folder that no format describes: hand-written test files and near copies.
const KNOWN_UNKNOWN: &[&str] = &[
    "<missing type>",
    "attachment:text",
    "line:future_claude_event",
    "line:result",
    "line:started",
    "line:tool",
    "line:tool_result",
    "line:tool_use",
    "system:error",
    "system:hook",
    "system:session_start",
    "user:<missing message>",
];

#[test]
fn real_transcripts_are_read_whole_and_give_exactly_the_stated_codes() {
    let Some(corpus) = corpus() else { return };
    let mut tally = Tally::default();
    for path in sorted_files(&corpus.join("claude-transcripts")) {
        let values = load(&path);
        if !recognised(&path, &values) {
            continue;
        }
        tally.files += 1;
        let mut adapter = ClaudeTranscript::default();
        let mut said = Vec::new();
        for (index, value) in values.iter().enumerate() {
            if index == values.len() / 2 {
                let saved = adapter.snapshot();
                adapter = ClaudeTranscript::default();
                assert!(adapter.restore(&saved));
            }
            said.extend(tally.add(adapter.normalize("hint", value)));
        }
        assert_eq!(said, unbroken(&values), "{}", path.display());
        let told = told_codes(&said);
        // A copy of the conversation, made for one question, tells nothing again.
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let copy = ["agent-acompact-", "agent-aside_question-"];
        let copy = copy.iter().any(|head| name.starts_with(head));
        let stated = if copy { Vec::new() } else { stated_codes(&values) };
        assert_eq!(told, stated, "{}", path.display());
        tally.codes += told.len();
    }
    tally.print("transcripts");
    let strange: Vec<&String> =
        tally.unknown.keys().filter(|tag| !KNOWN_UNKNOWN.contains(&tag.as_str())).collect();
    assert!(strange.is_empty(), "{strange:?}");
    assert!(tally.files > 0 && tally.codes > 0);
}

#[test]
fn real_files_are_recognised_where_they_are_transcripts_and_nowhere_else() {
    let Some(corpus) = corpus() else { return };
    let (mut yes, mut no) = (0, Vec::new());
    for path in sorted_files(&corpus.join("claude-transcripts")) {
        if ClaudeFamily.known_sidecar(&path).is_some() {
            continue;
        }
        if recognised(&path, &load(&path)) {
            yes += 1;
        } else {
            no.push(path.strip_prefix(&corpus).unwrap().display().to_string());
        }
    }
    println!("recognised {yes}, not {}: {no:#?}", no.len());
    // Files out of home folders and checkpoint stores are all real.
    let real =
        |name: &&String| name.contains("/.claude/projects/") || name.contains("/checkpoints/");
    assert_eq!(no.iter().filter(real).collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(yes > 0);
    for folder in ["claude-hooks", "codex-rollouts", "other"] {
        for path in sorted_files(&corpus.join(folder)) {
            assert!(!recognised(&path, &load(&path)), "{}", path.display());
        }
    }
}

#[test]
fn real_hook_payloads_are_read_and_give_exactly_the_stated_codes() {
    let Some(corpus) = corpus() else { return };
    let mut tally = Tally::default();
    for path in sorted_files(&corpus.join("claude-hooks")) {
        if !path.to_string_lossy().ends_with(".payloads.jsonl") {
            continue;
        }
        tally.files += 1;
        for payload in load(&path) {
            let said = tally.add(hook(&payload));
            let told: Vec<i64> = told_codes(&said).into_iter().map(|(_, code)| code).collect();
            let failed = payload["hook_event_name"] == "PostToolUseFailure";
            let header = payload["error"].as_str().and_then(|e| e.strip_prefix("Exit code "));
            let stated = header.filter(|_| failed && payload["tool_name"] == "Bash");
            let stated = stated.and_then(|rest| rest.lines().next()?.parse::<i64>().ok());
            assert_eq!(told, stated.into_iter().collect::<Vec<_>>(), "{}", path.display());
            tally.codes += told.len();
        }
    }
    tally.print("hooks");
    let unknown: Vec<&str> = tally.unknown.keys().map(String::as_str).collect();
    assert_eq!(unknown, ["hook:SomeFutureEventV2"]);
}
