//! The provider: the agent runtime whose native shapes were read.
//!
//! An open tag. A record from a runtime that this program has never heard of keeps its name,
//! and one such row never makes a whole read fail. The wire spelling of opencode has an
//! underscore; Titan's vocabulary (`claude-code`) is another one and is not accepted as an alias.

crate::open_tag! {
    /// The agent runtime that a record comes from.
    pub enum Provider {
        /// Anthropic's Claude Code.
        ClaudeCode = "claude_code",
        /// OpenAI's Codex CLI.
        Codex = "codex",
        /// opencode.
        OpenCode = "open_code",
        /// No adapter has announced itself; never written to a capability row, never exported.
        Unknown = "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::Provider;

    #[test]
    fn the_wire_spellings_are_those_of_the_first_fornax() {
        assert_eq!(Provider::KNOWN, ["claude_code", "codex", "open_code", "unknown"]);
        assert_eq!(Provider::OpenCode.to_string(), "open_code");
    }

    #[test]
    fn titans_spelling_is_another_provider() {
        let titan = Provider::from_tag("claude-code");
        assert_ne!(titan, Provider::ClaudeCode);
        assert_eq!(titan.as_str(), "claude-code");
    }
}
