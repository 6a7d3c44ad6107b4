//! Decoders and tail readers as subjects: what they are asked, and the observations they answer.
//!
//! An observation is one thing seen at one place. Several observations may tell of one thing; then
//! they share an id, and exactly one of them counts. As everywhere in this suite the traits speak in
//! strings and bytes, so that a break mode can spell what the domain would never spell.

use serde_json::Value;

/// The native lines that a subject reads; the suite writes them (see `native`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// A Codex rollout: `{timestamp, type, payload}` a line.
    CodexRollout,
    /// A Claude Code transcript: one object with a `type` a line.
    ClaudeTranscript,
}

/// A file as a decoder gets it.
#[derive(Debug, Clone, Copy)]
pub struct NativeFile<'a> {
    /// Where it is said to stand; nothing stands there.
    pub path: &'a str,
    /// What it holds.
    pub bytes: &'a [u8],
}

/// What a decoder remembers of a source that it has read, to go on with it later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    /// The format that it was read as.
    pub format: String,
    /// The decoder and its version.
    pub decoder: String,
    /// How many bytes it covers.
    pub boundary: u64,
    /// What binds it to those bytes, and what else the decoder needs; opaque.
    pub evidence: String,
}

/// Where an observation was made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct At {
    /// The source's path.
    pub source: String,
    /// Byte offset of the native record.
    pub offset: u64,
    /// Bytes of the native record.
    pub length: u64,
    /// Hash of exactly those bytes, in hex.
    pub line_hash: String,
    /// Path of the field inside the record.
    pub path: String,
    /// Number of the observation among those of its record.
    pub index: u32,
}

/// One thing seen at one place; what was not stated is absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observation {
    /// Stable id of the thing; facts, relations and losses have none.
    pub id: Option<String>,
    /// `user_prompt_submit`, `evidence:exit_code`, `usage`, `loss:unrecognized`, ...
    pub kind: String,
    /// Native id of the conversation.
    pub conversation: Option<String>,
    /// Native id of the turn.
    pub turn: Option<String>,
    /// Native id of the tool call.
    pub call: Option<String>,
    /// Name of the tool.
    pub tool: Option<String>,
    /// What became of it.
    pub outcome: Option<String>,
    /// Prompt or answer; of evidence its payload; of a loss its tag.
    pub text: Option<String>,
    /// The model that it is attributed to.
    pub model: Option<String>,
    /// The conversation that it is a copy from.
    pub copied_from: Option<String>,
    /// Another conversation and how this one is related to it (`parent`, `fork`, `tree`).
    pub related: Option<(String, String)>,
    /// Whether it is the one that counts among the observations of its thing.
    pub counted: bool,
    /// Whether it is a second telling whose first was not found.
    pub fallback: bool,
    /// Where it was seen.
    pub at: At,
}

impl Observation {
    /// Whether it tells what happened, rather than a fact, a relation or a loss.
    pub fn is_event(&self) -> bool {
        self.id.is_some() && !self.is_evidence() && self.kind != USAGE
    }

    /// Whether it is evidence on an event.
    pub fn is_evidence(&self) -> bool {
        self.kind.starts_with("evidence:")
    }

    /// Whether it is a loss, or the mark of a line that does not parse.
    pub fn is_loss(&self) -> bool {
        self.kind.starts_with("loss:") || self.kind == QUARANTINE
    }

    /// Offset of the first byte behind its record.
    pub fn end(&self) -> u64 {
        self.at.offset.saturating_add(self.at.length)
    }
}

/// The kind of a usage report.
pub const USAGE: &str = "usage";
/// The kind of a complete line that does not parse.
pub const QUARANTINE: &str = "quarantine";
/// The kind of facts that hold from their line on (model, folder).
pub const FACTS: &str = "facts";
/// The kind of a relation to another conversation.
pub const LINEAGE: &str = "lineage";

/// Reads whole files of one format.
pub trait Decoder {
    /// The lines it reads.
    fn dialect(&self) -> Dialect;

    /// What it would remember of a file that it has read to its end.
    ///
    /// # Errors
    /// The reason when the file is none of its own.
    fn describe(&mut self, file: NativeFile<'_>) -> Result<Descriptor, String>;

    /// Everything in the file, in order; with a descriptor only what stands behind the bytes that
    /// it covers.
    ///
    /// # Errors
    /// The reason when the file is none of its own, or is not the source of the descriptor.
    fn decode(
        &mut self,
        file: NativeFile<'_>,
        descriptor: Option<&Descriptor>,
    ) -> Result<Vec<Observation>, String>;
}

/// The value at a path like `message.content[0].text` inside a native record.
pub fn value_at<'v>(record: &'v Value, path: &str) -> Option<&'v Value> {
    let pointer: String = path
        .split('.')
        .map(|part| format!("/{}", part.replace('[', "/").replace(']', "")))
        .collect();
    record.pointer(&pointer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_leads_to_the_field_it_names() {
        let record = json!({"a": {"b": [{"c": 7}]}});
        assert_eq!(value_at(&record, "a.b[0].c"), Some(&json!(7)));
        assert_eq!(value_at(&record, "a.b[1].c"), None);
    }
}
