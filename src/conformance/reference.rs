//! A reference reader of the few Codex rollout shapes that the IDN and EXT contracts use, and a
//! reference resolver of the few transcript shapes that RBK uses.
//!
//! It exists so that the contracts can be tried without an adapter: the first `session_meta`
//! names the conversation, a finished command yields evidence with an envelope, a few known
//! shapes are ignored, and everything else is unrecognised.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::subjects::{
    EvidenceView, Happening, Indexed, LineView, NativeOutcome, NativeProbe, Resolved, Resolver,
};
use crate::base::hash::Digest;
use crate::domain::envelope::{ContentClass, ExtensionEnvelope};
use crate::domain::key::ConversationKey;
use crate::domain::locator::Locator;
use crate::domain::provider::Provider;
use crate::domain::selector::Selector;

/// Record types that carry nothing to judge here.
const IGNORED: [&str; 3] = ["session_meta", "turn_context", "response_item"];

/// The reference reader; it keeps no state between lines.
#[derive(Debug, Default)]
pub struct ReferenceProbe;

impl NativeProbe for ReferenceProbe {
    fn conversation_of(&mut self, _path: &str, lines: &[Value]) -> Result<ConversationKey, String> {
        let id = lines
            .iter()
            .find(|line| text_at(line, "/type") == Some("session_meta"))
            .and_then(|line| text_at(line, "/payload/id"))
            .ok_or("no session_meta names the conversation")?;
        ConversationKey::new(Provider::Codex, "local", id).map_err(|error| error.to_string())
    }

    fn read_lines(&mut self, lines: &[Value]) -> Result<Vec<LineView>, String> {
        lines.iter().map(read_line).collect()
    }
}

fn text_at<'a>(line: &'a Value, pointer: &str) -> Option<&'a str> {
    line.pointer(pointer).and_then(Value::as_str)
}

fn read_line(line: &Value) -> Result<LineView, String> {
    let command = match (text_at(line, "/type"), text_at(line, "/payload/type")) {
        (Some("event_msg"), Some("exec_command_end")) => line.pointer("/payload"),
        (Some("event_msg"), Some("item_completed")) => line
            .pointer("/payload/item")
            .filter(|item| text_at(item, "/type") == Some("CommandExecution")),
        (Some(kind), _) if IGNORED.contains(&kind) => {
            return Ok(LineView { outcome: NativeOutcome::Ignored, evidence: Vec::new() });
        }
        _ => None,
    };
    match command {
        Some(command) => finished_command(command),
        None => Ok(LineView { outcome: NativeOutcome::Unrecognized, evidence: Vec::new() }),
    }
}

fn finished_command(command: &Value) -> Result<LineView, String> {
    let fields = json!({"duration": command.get("duration"), "status": command.get("status")});
    let envelope = ExtensionEnvelope::from_value(
        Provider::Codex,
        env!("CARGO_PKG_VERSION"),
        ContentClass::ToolTelemetry,
        &fields,
    )
    .map_err(|error| error.to_string())?;
    let evidence = EvidenceView {
        provider: Provider::Codex.as_str().to_owned(),
        extension: Some(envelope.to_json()),
    };
    Ok(LineView { outcome: NativeOutcome::Messages, evidence: vec![evidence] })
}

/// The reference resolver: sources are texts in memory.
#[derive(Debug, Default)]
pub struct ReferenceResolver {
    sources: BTreeMap<String, Source>,
    reads: u64,
}

#[derive(Debug, Default)]
struct Source {
    recorded: String,
    places: Vec<Locator>,
    /// What is there now; nothing when it is gone.
    now: Option<String>,
    /// Why it is not looked into, whatever is there.
    refusal: Option<&'static str>,
}

/// The texts of a line with their paths.
fn texts_of(line: &Value) -> Vec<(String, String)> {
    let Some(content) = line.pointer("/message/content") else { return Vec::new() };
    if let Some(said) = content.as_str() {
        return vec![("message.content".to_owned(), said.to_owned())];
    }
    let blocks: Vec<&Value> = content.as_array().into_iter().flatten().collect();
    let texts: Vec<String> = (0..blocks.len())
        .filter(|nth| text_at(blocks[*nth], "/type") == Some("text"))
        .map(|nth| nth.to_string())
        .collect();
    let path = match (texts.is_empty(), text_at(blocks[0], "/type")) {
        (false, _) => format!("message.content[{}].text", texts.join(",")),
        (true, Some("tool_use")) => "message.content[0].input".to_owned(),
        _ => "message.content[0].content".to_owned(),
    };
    selected(line, &path).map(|text| (path, text)).into_iter().collect()
}

fn selected(line: &Value, path: &str) -> Option<String> {
    let joined = |parts: Vec<&Value>| -> Option<String> {
        let parts: Option<Vec<&str>> = parts.into_iter().map(Value::as_str).collect();
        parts.map(|parts| parts.join("\n"))
    };
    let found = Selector::parse(path)?.find(line)?;
    match found.as_slice() {
        [one @ Value::Object(_)] if path.contains("input") => Some(one.to_string()),
        [Value::Array(blocks)] => {
            joined(blocks.iter().filter_map(|block| block.get("text")).collect())
        }
        _ => joined(found),
    }
}

impl ReferenceResolver {
    /// The text at a place, or why there is none.
    fn read(&mut self, locator: &Locator) -> Result<String, &'static str> {
        let source = self.sources.get(&locator.source).ok_or("identity_mismatch")?;
        let same = |place: &&Locator| {
            (place.offset, place.length, place.line_hash, place.index)
                == (locator.offset, locator.length, locator.line_hash, locator.index)
        };
        source.places.iter().find(same).ok_or("identity_mismatch")?;
        if let Some(reason) = source.refusal {
            return Err(reason);
        }
        let now = source.now.as_ref().ok_or("source_missing")?;
        self.reads += 1;
        let range = locator.offset as usize..(locator.offset + locator.length) as usize;
        let line = now.get(range).ok_or("line_changed")?;
        if Digest::of(line.as_bytes()) != locator.line_hash {
            return Err("line_changed");
        }
        if *now != source.recorded {
            return Err("prefix_changed");
        }
        let line: Value = serde_json::from_str(line).map_err(|_| "format_unsupported")?;
        selected(&line, &locator.path).ok_or("selector_missing")
    }
}

impl Resolver for ReferenceResolver {
    fn decode(&mut self, lines: &[Value]) -> Result<Vec<String>, String> {
        Ok(lines.iter().flat_map(texts_of).map(|(_, text)| text).collect())
    }

    fn record(&mut self, name: &str, lines: &[Value]) -> Result<Vec<Indexed>, String> {
        let mut source = Source::default();
        let mut indexed = Vec::new();
        for (nth, line) in lines.iter().enumerate() {
            let bytes = line.to_string();
            for (path, text) in texts_of(line) {
                let locator = Locator {
                    source: name.to_owned(),
                    offset: source.recorded.len() as u64,
                    length: bytes.len() as u64,
                    line_hash: Digest::of(bytes.as_bytes()),
                    path,
                    index: 0,
                };
                source.places.push(locator.clone());
                indexed.push(Indexed { line: nth, locator, text });
            }
            source.recorded.push_str(&bytes);
            source.recorded.push('\n');
        }
        source.now = Some(source.recorded.clone());
        self.sources.insert(name.to_owned(), source);
        Ok(indexed)
    }

    fn happen(&mut self, name: &str, what: Happening<'_>) -> Result<(), String> {
        let source = self.sources.get_mut(name).ok_or("no such source")?;
        match what {
            Happening::Written(lines) => {
                source.now = Some(lines.iter().map(|line| format!("{line}\n")).collect());
            }
            Happening::Removed => source.now = None,
            Happening::Pruned => source.refusal = Some("source_pruned"),
            Happening::Replaced => source.refusal = Some("identity_mismatch"),
            Happening::Denied => source.refusal = Some("permission_denied"),
            Happening::OfUnknownFormat => source.refusal = Some("format_unsupported"),
        }
        Ok(())
    }

    fn resolve(&mut self, locator: &Locator, max_bytes: usize) -> Result<Resolved, String> {
        Ok(match self.read(locator) {
            Ok(mut text) => {
                let full_length = text.len();
                text.truncate(text.floor_char_boundary(max_bytes.min(full_length)));
                Resolved::Text { cut: text.len() < full_length, text, full_length }
            }
            Err(reason) => Resolved::Unavailable(reason.to_owned()),
        })
    }

    fn is_present(&mut self, locator: &Locator) -> Result<bool, String> {
        let known = self.sources.get(&locator.source);
        Ok(known.is_some_and(|source| source.now.is_some() && source.refusal.is_none()))
    }

    fn reads(&self) -> u64 {
        self.reads
    }
}
