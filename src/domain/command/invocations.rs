//! The programs that a command runs, each with what the command's exit status proves of it.
//!
//! For deeds, not checks: a deed that a failed list never reached was not done either, so a
//! non-zero status at the end of an `&&` list proves that its last deed was not done.

use super::jobs;
use super::lexer::{self, Word};
use super::parser::{self, Join, Part, Script};
use super::wrappers::{self, Inner};
use super::{CommandText, MAX_COMMAND_BYTES, MAX_DEPTH};

/// One program with its arguments, without wrappers and assignments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The program's name without its folder, then its arguments.
    pub words: Vec<String>,
    /// Exit 0 of the whole command implies that this program ran and succeeded.
    pub success_proves: bool,
    /// A non-zero exit of the whole command implies that this program failed or was not reached.
    pub failure_proves: bool,
}

/// The programs in `command`, in order; none when it is too long to be read.
pub fn invocations(command: &CommandText) -> Vec<Invocation> {
    let mut found = Vec::new();
    match command {
        CommandText::Line(line) if line.len() <= MAX_COMMAND_BYTES => {
            read_line(line, (true, true), 0, &mut found);
        }
        CommandText::Argv(words)
            if words.iter().map(String::len).sum::<usize>() <= MAX_COMMAND_BYTES =>
        {
            let words: Vec<_> = words.iter().map(|word| Word::literal(word)).collect();
            read_simple(&words, (true, true), 0, &mut found);
        }
        _ => {}
    }
    found
}

/// Whether success and failure of what is read reach the whole.
type Proofs = (bool, bool);

fn read_line(line: &str, proofs: Proofs, depth: usize, found: &mut Vec<Invocation>) {
    read_script(&parser::parse(&lexer::lex(line)), proofs, depth, found);
}

fn read_script(script: &Script, proofs: Proofs, depth: usize, found: &mut Vec<Invocation>) {
    let last = script.items.len().saturating_sub(1);
    let joins: Vec<Join> = script.items.iter().map(|(_, join)| *join).collect();
    for (at, (pipeline, join)) in script.items.iter().enumerate() {
        let plain = !script.compound
            && !pipeline.negated
            && pipeline.parts.len() == 1
            && *join != Join::Background;
        let after = joins.iter().take(last).skip(at);
        let before = at.checked_sub(1).and_then(|before| joins.get(before));
        let reaches = after.clone().all(|join| *join == Join::And) && before != Some(&Join::Or);
        let is_end =
            at == last && joins.iter().take(last).all(|j| matches!(j, Join::And | Join::Then));
        let inner = (proofs.0 && plain && reaches, proofs.1 && plain && is_end);
        for part in &pipeline.parts {
            match part {
                Part::Simple(words) => read_simple(words, inner, depth, found),
                Part::Group(group) => read_script(group, inner, depth, found),
            }
        }
    }
}

/// Wrappers around wrappers that are taken off.
const MAX_WRAPPERS: usize = 12;

fn read_simple(words: &[Word], proofs: Proofs, depth: usize, found: &mut Vec<Invocation>) {
    let mut words = words;
    for _ in 0..MAX_WRAPPERS {
        let assigned = words.iter().take_while(|word| jobs::is_assignment(word)).count();
        words = words.get(assigned..).unwrap_or_default();
        match wrappers::unwrap(words) {
            Inner::Words(inner) if inner.len() < words.len() => words = inner,
            Inner::Script { text, .. } => {
                if depth < MAX_DEPTH {
                    read_line(&text, proofs, depth + 1, found);
                }
                return;
            }
            _ => break,
        }
    }
    let Some((program, arguments)) = words.split_first() else { return };
    let mut texts = vec![jobs::base_name(&program.text).to_owned()];
    texts.extend(arguments.iter().map(|word| word.text.clone()));
    found.push(Invocation { words: texts, success_proves: proofs.0, failure_proves: proofs.1 });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Vec<(String, bool, bool)> {
        let found = invocations(&CommandText::Line(line.to_owned()));
        found.iter().map(|i| (i.words.join(" "), i.success_proves, i.failure_proves)).collect()
    }

    #[test]
    fn a_list_proves_its_last_deed_both_ways() {
        for line in ["git commit -m x", "git add -A && git commit -m x", "cd a; git commit -m x"] {
            assert_eq!(
                read(line).last(),
                Some(&("git commit -m x".to_owned(), true, true)),
                "{line}"
            );
        }
        let both = read("git commit -m x && git push");
        assert_eq!(both[0], ("git commit -m x".to_owned(), true, false));
    }

    #[test]
    fn a_mask_proves_nothing() {
        for line in [
            "git push | tail",
            "git push || true",
            "git push; echo done",
            "git push &",
            "! git push",
        ] {
            let (_, success, failure) = read(line).remove(0);
            assert!(!success && !failure, "{line}");
        }
        assert!(!read("true || git push")[1].1);
    }

    #[test]
    fn wrappers_are_taken_off_and_quoted_text_is_no_program() {
        assert_eq!(read("bash -lc 'git push'")[0].0, "git push");
        assert_eq!(read("echo 'git push'")[0].0, "echo git push");
    }
}
