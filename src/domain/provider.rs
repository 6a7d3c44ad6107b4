//! Which agent runtime an observation came from.
//!
//! An open set: a provider this build has no adapter for is kept by its own name. Core code never
//! branches on the value; providers differ only behind `ports::agent`.

crate::open_tag! {
    /// The agent runtime (spellings of the first Fornax's wire).
    pub enum Provider {
        /// Claude Code.
        ClaudeCode = "claude_code",
        /// OpenAI Codex CLI.
        Codex = "codex",
        /// OpenCode.
        OpenCode = "open_code",
        /// No adapter announced itself; never stored as a capability and never exported.
        Unknown = "unknown",
    }
}
