//! User-role texts that the host wrote, not a person, and what they tell.
//!
//! Codex puts context into the conversation as user messages that begin with a tag. In bare files
//! the working directory stands nowhere else than in such a text.

/// Tags that open a text of the host.
const TAGS: &[&str] = &[
    "environment_context",
    "user_instructions",
    "INSTRUCTIONS",
    "skill",
    "turn_aborted",
    "subagent_notification",
    "hook_prompt",
    "permissions",
    "collaboration_mode",
    "skills_instructions",
    "apps_instructions",
    "plugins_instructions",
    "multi_agent_mode",
    "environments_instructions",
    "context_window",
    "model_switch",
    "user_shell_command",
];

/// Whether a user-role text was put in by the host.
pub(super) fn is_injected(text: &str) -> bool {
    let text = text.trim_start();
    if text.starts_with("# AGENTS.md instructions") {
        return true;
    }
    let Some(rest) = text.strip_prefix('<') else { return false };
    let tag: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let closed = rest.chars().nth(tag.chars().count()).is_some_and(|c| matches!(c, '>' | ' '));
    closed && TAGS.contains(&tag.as_str())
}

/// The working directory that an environment text states.
pub(super) fn stated_cwd(text: &str) -> Option<&str> {
    if !text.trim_start().starts_with("<environment_context>") {
        return None;
    }
    let tagged = text.split_once("<cwd>").and_then(|(_, rest)| rest.split_once("</cwd>"));
    let found = match tagged {
        Some((cwd, _)) => cwd,
        None => text.lines().find_map(|line| line.strip_prefix("Current working directory: "))?,
    };
    Some(found.trim()).filter(|cwd| !cwd.is_empty())
}

/// Whether a text part only marks the place of an image beside it.
pub(super) fn marks_image(text: &str) -> bool {
    let text = text.trim();
    text == "<image>" || text == "</image>" || (text.starts_with("<image ") && text.ends_with('>'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_host_s_own_tags_count_as_injected() {
        assert!(is_injected("<environment_context>\n  <cwd>/a</cwd>\n</environment_context>"));
        assert!(is_injected("<hook_prompt hook_run_id=\"1\">x</hook_prompt>"));
        assert!(is_injected("<permissions instructions>\nx"));
        assert!(is_injected("# AGENTS.md instructions for /a\n"));
        assert!(!is_injected("<b>bold</b>"));
        assert!(!is_injected("<skillet>"));
        assert!(!is_injected("fix <environment_context>"));
    }

    #[test]
    fn both_spellings_of_the_working_directory_are_read() {
        let tagged = "<environment_context>\n  <cwd>/home/dev/demo</cwd>\n</environment_context>";
        let plain = "<environment_context>\nCurrent working directory: /home/dev/demo\n";
        assert_eq!(stated_cwd(tagged), Some("/home/dev/demo"));
        assert_eq!(stated_cwd(plain), Some("/home/dev/demo"));
        assert_eq!(stated_cwd("Current working directory: /x"), None);
    }
}
