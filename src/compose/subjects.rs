//! The subjects of `fornax conformance`: the parts that ship, bound to the contracts' traits.
//!
//! Keys and envelopes are the domain's own. The Codex subject is the shipping rollout adapter with
//! the sealer behind it, driven the way a file is read: recognised by content, normalised line by
//! line with the file's stem as the hint, sealed.

use crate::adapters::agents::codex::{ADAPTER_VERSION, CodexFamily, FORMAT_ROLLOUT};
use crate::app::seal::{Line, Sealer};
use crate::base::hash::Digest;
use crate::conformance::builtin::BuiltinSubjects;
use crate::conformance::subjects::{
    EnvelopeCodec, EvidenceView, KeyCodec, LineView, NativeOutcome, NativeProbe, SubjectFactory,
    SubjectRow, UsageFold,
};
use crate::domain::event::NativeId;
use crate::domain::key::ConversationKey;
use crate::domain::outcome::NormalizationOutcome;
use crate::domain::provider::Provider;
use crate::domain::record::{Body, Sealed};
use crate::ports::agent::{AgentAdapter, AgentFamily as _, SourceSample};
use serde_json::Value;
use std::path::Path;

/// Every subject that this program can be judged by.
pub(super) struct BuiltIn;

const SUBJECTS: BuiltinSubjects = BuiltinSubjects { native: || Box::new(CodexRollout) };

impl SubjectFactory for BuiltIn {
    fn subjects(&self) -> Vec<SubjectRow> {
        SUBJECTS.subjects()
    }

    fn keys(&self, subject: &str) -> Option<Box<dyn KeyCodec>> {
        SUBJECTS.keys(subject)
    }

    fn envelope(&self, subject: &str) -> Option<Box<dyn EnvelopeCodec>> {
        SUBJECTS.envelope(subject)
    }

    fn native(&self, subject: &str) -> Option<Box<dyn NativeProbe>> {
        SUBJECTS.native(subject)
    }

    fn usage(&self, subject: &str) -> Option<Box<dyn UsageFold>> {
        SUBJECTS.usage(subject)
    }
}

/// The Codex adapter for rollout files, sealed into the namespace `local`.
struct CodexRollout;

impl NativeProbe for CodexRollout {
    fn conversation_of(&mut self, path: &str, lines: &[Value]) -> Result<ConversationKey, String> {
        let path = Path::new(path);
        let format = CodexFamily
            .recognise(&SourceSample { path, values: lines })
            .ok_or("the lines are not recognised as a rollout")?;
        let hint = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let mut reading = Reading::of(format.name, hint.as_deref().unwrap_or("unknown"))?;
        for line in lines {
            let (_, sealed) = reading.line(line);
            if let Some(conversation) = sealed.into_iter().find_map(|one| one.conversation) {
                return conversation.key.parse().map_err(|error| format!("{error}"));
            }
        }
        Err("no record names the conversation".to_owned())
    }

    fn read_lines(&mut self, lines: &[Value]) -> Result<Vec<LineView>, String> {
        let mut reading = Reading::of(FORMAT_ROLLOUT, "unknown")?;
        Ok(lines.iter().map(|line| view(reading.line(line))).collect())
    }
}

/// One file being read.
struct Reading {
    adapter: Box<dyn AgentAdapter>,
    sealer: Sealer,
    hint: String,
    offset: u64,
}

impl Reading {
    fn of(format: &str, hint: &str) -> Result<Self, String> {
        let adapter = CodexFamily
            .file_adapter(format)
            .ok_or_else(|| format!("the family reads no {format}"))?;
        let sealer = Sealer::new("local", Provider::Codex, ADAPTER_VERSION);
        Ok(Self { adapter, sealer, hint: hint.to_owned(), offset: 0 })
    }

    fn line(&mut self, value: &Value) -> (NativeOutcome, Vec<Sealed>) {
        let text = value.to_string();
        let length = text.len() as u64;
        let hash = Digest::of(text.as_bytes());
        let line = Line { offset: self.offset, length, hash, received: None };
        self.offset += length + 1;
        match self.adapter.normalize(&self.hint, value) {
            NormalizationOutcome::Messages(messages) => {
                let record = NativeId::new("record", format!("{}|", hash.short_hex()));
                (NativeOutcome::Messages, self.sealer.seal(messages, &line, &record))
            }
            NormalizationOutcome::Ignored { .. } => (NativeOutcome::Ignored, Vec::new()),
            NormalizationOutcome::Unrecognized { .. } => (NativeOutcome::Unrecognized, Vec::new()),
        }
    }
}

fn view((outcome, sealed): (NativeOutcome, Vec<Sealed>)) -> LineView {
    let evidence = sealed.into_iter().filter_map(|one| match one.body {
        Body::Evidence(record) => Some(EvidenceView {
            provider: record.source.provider.map(|p| p.as_str().to_owned()).unwrap_or_default(),
            extension: record.extension,
        }),
        _ => None,
    });
    LineView { outcome, evidence: evidence.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_exec_result_carries_an_envelope_of_its_own_provider() {
        let end = json!({"timestamp": "2026-05-01T08:00:02.000Z", "type": "event_msg", "payload": {
            "type": "exec_command_end", "call_id": "c1", "turn_id": "t1", "command": ["ls"],
            "cwd": "/home/dev", "stdout": "", "stderr": "", "aggregated_output": "",
            "exit_code": 0, "duration": {"secs": 1, "nanos": 5}, "status": "completed"}});
        let views = CodexRollout.read_lines(&[end]).unwrap();
        let evidence: Vec<_> = views.iter().flat_map(|view| &view.evidence).collect();
        assert!(evidence.iter().all(|one| one.provider == "codex"));
        let envelopes: Vec<_> = evidence.iter().filter_map(|one| one.extension.as_ref()).collect();
        assert!(!envelopes.is_empty(), "{views:?}");
        assert!(envelopes.iter().all(|text| text.contains("\"provider\":\"codex\"")));
    }

    #[test]
    fn lines_of_another_format_have_no_conversation() {
        assert!(CodexRollout.conversation_of("x.jsonl", &[json!({"a": 1})]).is_err());
    }
}
