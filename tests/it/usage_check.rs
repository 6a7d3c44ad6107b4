//! An independent count of tokens, in another style, against `fornax usage`.
//!
//! The count below knows nothing of the product: it walks parsed lines and keeps maps. It runs over
//! the fixtures always, and over a folder of real files when `FORNAX_CORPUS` names one: each file
//! alone in an empty home, then the whole tree. What differs there must be explained below.

use crate::support::TestEnv;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files whose numbers differ, and why.
const EXPLAINED: &[(&str, &str)] = &[];

/// Known input and output by model.
type Count = BTreeMap<Option<String>, (i64, i64)>;

/// What is counted over all files.
#[derive(Default)]
struct Counting {
    /// By message id: each distinct prompt with its largest (output, order, model).
    messages: BTreeMap<String, BTreeMap<[i64; 3], Kept>>,
    /// By thread: what each file's totals come to, and whether it also tells responses.
    threads: BTreeMap<String, Vec<(bool, i64, Count)>>,
    /// What streams tell of a thread.
    streams: BTreeMap<String, (Option<String>, (i64, i64))>,
    /// Single responses of rollouts, by id.
    records: BTreeMap<String, (Option<String>, i64, i64)>,
}

/// The largest report so far.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    output: i64,
    line: usize,
    model: Option<String>,
}

fn int(value: &Value, key: &str) -> i64 {
    value[key].as_i64().filter(|n| (0..=9_007_199_254_740_991).contains(n)).unwrap_or(0)
}

fn word(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// Every JSON value of a file; two on one line are two.
fn values(path: &Path) -> Vec<Value> {
    let bytes = std::fs::read(path).unwrap();
    let lines = bytes.split(|byte| *byte == b'\n');
    lines
        .flat_map(|line| {
            serde_json::Deserializer::from_slice(line)
                .into_iter()
                .map_while(Result::ok)
                .collect::<Vec<_>>()
        })
        .collect()
}

impl Counting {
    fn file(&mut self, path: &Path) {
        let values = values(path);
        for (line, value) in values.iter().enumerate() {
            self.message(value, line);
        }
        if values.iter().any(|value| value["payload"].is_object()) {
            self.rollout(path, &values);
        }
        self.stream(&values);
    }

    /// A stream of `codex exec --json` tells the thread's total at each turn's end, or as an event
    /// (`{id, msg}`); what a rollout of the same thread tells holds instead.
    fn stream(&mut self, lines: &[Value]) {
        let thread = lines
            .iter()
            .find_map(|line| word(&line["thread_id"]).or_else(|| word(&line["msg"]["session_id"])));
        let model = lines.iter().find_map(|line| word(&line["msg"]["model"]));
        let mut totals = lines.iter().filter_map(|line| match line["type"] == "turn.completed" {
            true => Some(&line["usage"]),
            false => line["msg"]["info"].get("total_token_usage"),
        });
        let (Some(thread), Some(last)) = (thread, totals.next_back()) else { return };
        let spent = (int(last, "input_tokens"), int(last, "output_tokens"));
        let held = self.streams.entry(thread).or_default();
        if held.1.0 + held.1.1 < spent.0 + spent.1 {
            *held = (model, spent);
        }
    }

    fn message(&mut self, line: &Value, at: usize) {
        let (message, usage) = (&line["message"], &line["message"]["usage"]);
        if line["type"] != "assistant" || !usage.is_object() || message["model"] == "<synthetic>" {
            return;
        }
        let Some(id) = word(&message["id"]).or_else(|| word(&line["uuid"])) else { return };
        let split = &usage["cache_creation"];
        let written =
            int(split, "ephemeral_5m_input_tokens") + int(split, "ephemeral_1h_input_tokens");
        let written = written.max(int(usage, "cache_creation_input_tokens"));
        let prompt = [int(usage, "input_tokens"), int(usage, "cache_read_input_tokens"), written];
        let kept = Kept {
            output: int(usage, "output_tokens"),
            line: self.messages.len() * 1_000_000 + at,
            model: word(&message["model"]),
        };
        let prompts = self.messages.entry(id).or_default();
        let held = prompts.entry(prompt).or_insert_with(|| kept.clone());
        *held = held.clone().max(kept);
    }

    fn rollout(&mut self, path: &Path, lines: &[Value]) {
        let mut thread = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut owner: Option<String> = None;
        let mut model = None;
        let mut by_turn: BTreeMap<String, String> = BTreeMap::new();
        let mut copied = Copied::default();
        let mut totals: Vec<Total> = Vec::new();
        let mut has_records = false;
        for line in lines {
            let payload = &line["payload"];
            if line["type"] == "session_meta" {
                let id = word(&payload["id"]);
                match &owner {
                    None => {
                        copied.begins = payload["forked_from_id"].is_string();
                        (owner, thread) = (id.clone(), id.unwrap_or(thread));
                    }
                    Some(own) if id.as_ref() != Some(own) => copied.begins = true,
                    Some(_) => {}
                }
            }
            let is_copy = copied.holds(line, owner.as_deref());
            if is_copy && line["type"] != "token_usage_record" && payload["type"] != "token_count" {
                continue;
            }
            let settings = &payload["thread_settings"]["model"];
            if let Some(stated) = word(&payload["model"])
                .filter(|_| line["type"] == "turn_context")
                .or_else(|| word(settings))
            {
                by_turn.extend(word(&payload["turn_id"]).map(|turn| (turn, stated.clone())));
                model = Some(stated);
            }
            if line["type"] == "token_usage_record" && payload["usage"].is_object() {
                let usage = &payload["usage"];
                let id = word(&payload["response_id"]).unwrap();
                let turn = word(&payload["turn_id"]).unwrap_or_default();
                let of = by_turn.get(&turn).cloned().or(model.clone());
                has_records |= !is_copy;
                let (input, output) = (int(usage, "input_tokens"), int(usage, "output_tokens"));
                self.records.insert(id, (of.filter(|_| !is_copy), input, output));
            }
            if payload["type"] == "token_count" && !has_records {
                totals.extend(Total::of(&payload["info"], is_copy, model.clone()));
            }
        }
        let count = spent(&totals);
        let sum = count.values().map(|(input, output)| input + output).sum();
        self.threads.entry(thread).or_default().push((has_records, sum, count));
    }

    fn by_model(self) -> Count {
        let mut out = Count::new();
        let mut add = |model: Option<String>, input: i64, output: i64| {
            let sum = out.entry(model).or_default();
            *sum = (sum.0 + input, sum.1 + output);
        };
        for (_, prompts) in self.messages {
            let told = prompts.iter().filter(|(prompt, _)| **prompt != [0; 3]);
            let told: Vec<_> = told.collect();
            for (prompt, kept) in if told.is_empty() { prompts.iter().collect() } else { told } {
                add(kept.model.clone(), prompt.iter().sum(), kept.output);
            }
        }
        for (_, (model, input, output)) in self.records {
            add(model, input, output);
        }
        for (thread, (model, (input, output))) in self.streams {
            let told = |files: &Vec<(bool, i64, Count)>| files.iter().any(|f| f.0 || f.1 > 0);
            if !self.threads.get(&thread).is_some_and(told) {
                add(model, input, output);
            }
        }
        for (_, mut files) in self.threads {
            files.sort_by_key(|(has_records, sum, _)| (*has_records, *sum));
            for (model, (input, output)) in files.pop().unwrap().2 {
                add(model, input, output);
            }
        }
        out.retain(|_, (input, output)| *input + *output > 0);
        out
    }
}

/// Copied history: from another thread's header to the first line that is certainly own.
#[derive(Default)]
struct Copied {
    begins: bool,
    is_on: bool,
    last: Option<String>,
}

impl Copied {
    fn holds(&mut self, line: &Value, owner: Option<&str>) -> bool {
        let at = word(&line["timestamp"]);
        let turn = word(&line["payload"]["turn_id"]);
        if std::mem::take(&mut self.begins) {
            self.is_on = true;
        } else if self.is_on {
            // Time-ordered ids compare as text; a second is the 19th character of a time.
            let is_own = turn.zip(owner).is_some_and(|(turn, own)| turn.as_str() > own);
            let paused = seconds(self.last.as_deref()).zip(seconds(at.as_deref()));
            self.is_on = !is_own && paused.is_none_or(|(last, now)| now - last <= 1_000);
        }
        self.last = at.or(self.last.take());
        self.is_on
    }
}

/// Milliseconds of the day.
fn seconds(at: Option<&str>) -> Option<i64> {
    let part = |range: std::ops::Range<usize>| at?.get(range)?.parse::<i64>().ok();
    Some((part(11..13)? * 60 + part(14..16)?) * 60_000 + part(17..19)? * 1_000 + part(20..23)?)
}

/// A running total.
struct Total {
    parts: [i64; 4],
    last: Option<[i64; 4]>,
    is_copy: bool,
    /// A full window: no use, but the parts begin at nothing after it.
    is_guess: bool,
    model: Option<String>,
}

impl Total {
    fn of(info: &Value, is_copy: bool, model: Option<String>) -> Option<Self> {
        let keys =
            ["input_tokens", "output_tokens", "cached_input_tokens", "reasoning_output_tokens"];
        let parts = |of: &Value| keys.map(|key| int(of, key));
        let total = info["total_token_usage"].as_object().map(|_| &info["total_token_usage"])?;
        let last = &info["last_token_usage"];
        let is_real =
            last.is_object() && int(last, "input_tokens") + int(last, "output_tokens") > 0;
        let sum = int(total, "input_tokens") + int(total, "output_tokens");
        Some(Self {
            parts: parts(total),
            last: is_real.then(|| parts(last)),
            is_copy,
            is_guess: sum == 0 && int(total, "total_tokens") > 0,
            model,
        })
    }
}

/// What the own totals of a file grew by, by the model in force.
fn spent(totals: &[Total]) -> Count {
    let mut out = Count::new();
    let mut before: Option<[i64; 4]> = None;
    for total in totals {
        let mut base = before.unwrap_or_default();
        let fell = total.parts.iter().zip(base).any(|(now, before)| *now < before);
        if total.is_guess {
            before = Some([0; 4]);
            continue;
        }
        if before == Some(total.parts) {
            continue;
        }
        if fell || (before.is_some() && total.last == Some(total.parts)) {
            base = [0; 4];
        }
        let growth = |from: [i64; 4]| (total.parts[0] - from[0], total.parts[1] - from[1]);
        let mut add = |model: Option<String>, (input, output): (i64, i64)| {
            let sum = out.entry(model).or_default();
            *sum = (sum.0 + input, sum.1 + output);
        };
        if !total.is_copy {
            // The first total of a file may hold what an earlier file told.
            let earlier = total.last.filter(|_| before.is_none());
            let earlier = earlier.map(|last| [0, 1, 2, 3].map(|i| total.parts[i] - last[i]));
            if let Some(earlier) = earlier.filter(|parts| parts.iter().all(|part| *part >= 0)) {
                add(None, (earlier[0], earlier[1]));
                base = earlier;
            }
            add(total.model.clone(), growth(base));
        }
        before = Some(total.parts);
    }
    out
}

fn counted<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Count {
    let mut counting = Counting::default();
    for file in files {
        counting.file(file);
    }
    counting.by_model()
}

/// What `fornax usage` says of a file or folder in an empty home; unknown numbers by their known
/// part.
fn told(path: &Path) -> Count {
    let env = TestEnv::new();
    let ingest = env.command().arg("ingest").arg(path).output().unwrap();
    if ingest.status.code() == Some(65) {
        // No adapter reads it, so it can have no usage either.
        return Count::new();
    }
    assert_eq!(ingest.status.code(), Some(0), "{ingest:?}");
    let answer = env.run(["usage", "--by", "model", "--json"]).ok().json();
    let number = |row: &Value, name: &str| {
        row[name].as_i64().or_else(|| row["known"][name].as_i64()).unwrap()
    };
    let rows = answer["rows"].as_array().unwrap().iter();
    rows.map(|row| (word(&row["key"]), (number(row, "input"), number(row, "output"))))
        .filter(|(_, (input, output))| input + output > 0)
        .collect()
}

fn histories(folder: &Path) -> Vec<PathBuf> {
    let files = TestEnv::files_below(folder).into_iter().map(|(path, _)| path);
    files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).collect()
}

#[test]
fn each_fixture_alone_counts_as_an_independent_count_says() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agents");
    let files = histories(&fixtures);
    assert!(files.len() > 20);
    let mut with_usage = 0;
    for file in &files {
        let expected = counted([file]);
        with_usage += usize::from(!expected.is_empty());
        assert_eq!(told(file), expected, "{}", file.display());
    }
    assert!(with_usage > 6, "{with_usage}");
}

#[test]
fn all_fixtures_at_once_count_as_an_independent_count_says() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agents");
    assert_eq!(told(&fixtures), counted(&histories(&fixtures)));
}

/// Models whose numbers differ, in words.
fn differences(told: &Count, counted: &Count) -> Vec<String> {
    let models: std::collections::BTreeSet<_> = told.keys().chain(counted.keys()).collect();
    let of = |count: &Count, model: &Option<String>| count.get(model).copied().unwrap_or_default();
    models
        .into_iter()
        .filter(|model| of(told, model) != of(counted, model))
        .map(|model| {
            let name = model.as_deref().unwrap_or("not stated");
            format!("{name}: fornax {:?}, count {:?}", of(told, model), of(counted, model))
        })
        .collect()
}

#[test]
fn real_files_count_as_an_independent_count_says() {
    #[expect(clippy::disallowed_methods, reason = "a test may be pointed at the files")]
    let (corpus, figures) = (std::env::var("FORNAX_CORPUS"), std::env::var("FORNAX_FIGURES"));
    let Ok(corpus) = corpus.map(PathBuf::from) else { return };
    let mut files = Vec::new();
    for folder in ["claude-transcripts", "codex-rollouts"] {
        files.extend(histories(&corpus.join(folder)));
    }
    let mut rows = Vec::new();
    let mut unexplained = Vec::new();
    let mut compare = |name: &str, told: &Count, counted: &Count| {
        for difference in differences(told, counted) {
            let why = EXPLAINED.iter().find(|(of, _)| *of == name).map(|(_, why)| *why);
            rows.push(format!("| {name} | {difference} | {} |", why.unwrap_or("unexplained")));
            unexplained.extend(why.is_none().then(|| format!("{name}: {difference}")));
        }
    };
    for file in &files {
        let name = file.strip_prefix(&corpus).unwrap().display().to_string();
        compare(&name, &told(file), &counted([file]));
    }
    compare("the whole tree", &told(&corpus), &counted(&files));
    if let Ok(figures) = figures {
        let head = format!("{} files compared one by one and as one tree.\n", files.len());
        let table = if rows.is_empty() {
            "No number differs.\n".to_owned()
        } else {
            format!("| file | difference | why |\n| --- | --- | --- |\n{}\n", rows.join("\n"))
        };
        std::fs::write(figures, format!("{head}\n{table}")).unwrap();
    }
    assert!(unexplained.is_empty(), "{unexplained:#?}");
}
