//! Kinds of evidence (closed set of the first Fornax).

use serde::{Deserialize, Serialize};

/// What a piece of evidence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    ToolResult,
    ExitCode,
    FileDiff,
    ProcessObservation,
    TranscriptExcerpt,
}
