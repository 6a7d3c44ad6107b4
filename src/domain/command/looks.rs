//! Commands that only look: nothing they do can make an earlier test result obsolete.
//!
//! The opposite of `touches`, and as cautious: a command that is not on this list may have changed
//! files or run tests in a way that is not known here.

use super::jobs::base_name;
use super::lexer::{self, Word};
use super::parser::{self, Part, Script};
use super::{CommandText, MAX_DEPTH};

/// Programs that only read, whatever their arguments (`find` and `sed` are looked at apart).
const READERS: &[&str] = &[
    "ls", "cat", "head", "tail", "less", "more", "grep", "rg", "egrep", "fgrep", "wc", "echo",
    "printf", "pwd", "cd", "which", "type", "file", "stat", "du", "df", "tree", "date", "true",
    "sleep", "diff", "cmp", "sort", "uniq", "cut", "tr", "nl", "jq", "ps", "id", "whoami", "uname",
    "hostname", "basename", "dirname", "realpath", "readlink", "export", "set",
];
/// Git commands that only read.
const GIT_READERS: &[&str] = &["status", "diff", "log", "show", "rev-parse", "ls-files", "blame"];

/// True when every part of `command` is known to only look.
pub fn only_looks(command: &CommandText) -> bool {
    match command {
        CommandText::Line(line) => line_looks(line, 0),
        CommandText::Argv(words) => {
            let words: Vec<_> = words.iter().map(|word| Word::literal(word)).collect();
            looks(&words, 0)
        }
    }
}

fn line_looks(line: &str, depth: usize) -> bool {
    let lexed = lexer::lex(line);
    lexed.complete && every_part(&parser::parse(&lexed), depth)
}

fn every_part(script: &Script, depth: usize) -> bool {
    let mut parts = script.items.iter().flat_map(|(pipeline, _)| &pipeline.parts);
    depth < MAX_DEPTH
        && parts.all(|part| match part {
            Part::Simple(words) => looks(words, depth),
            Part::Group(group) => every_part(group, depth + 1),
        })
}

fn looks(words: &[Word], depth: usize) -> bool {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let has = |flag: &str| words.iter().any(|word| word.text.starts_with(flag));
    if words.iter().any(|word| !word.literal) {
        // `echo $(./run_tests.sh)` runs something.
        return false;
    }
    match base_name(text(0)) {
        "" => true,
        "env" => words.len() == 1,
        "git" => words
            .iter()
            .skip(1)
            .find(|word| !word.text.starts_with('-'))
            .is_some_and(|word| GIT_READERS.contains(&word.text.as_str())),
        "sed" => {
            has("-n")
                && !has("-i")
                && !has("--in-place")
                && !words.iter().any(|w| w.text.ends_with('e') || w.text.contains("e "))
        }
        "rg" => !has("--pre"),
        "sort" => !has("-o") && !has("--output"),
        "find" => !has("-exec") && !has("-delete") && !has("-ok"),
        "bash" | "sh" | "zsh" if depth < MAX_DEPTH => words
            .iter()
            .skip(2)
            .find(|word| !word.text.starts_with('-'))
            .is_some_and(|word| line_looks(&word.text, depth + 1)),
        name => READERS.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_readers_look() {
        let cases = [
            ("ls -la && git status", true),
            ("cd app; cat x.log | grep FAILED | head -3", true),
            ("bash -lc 'git diff'", true),
            ("./run_tests.sh", false),
            ("git status && python fix.py", false),
            ("sed -i s/a/b/ x", false),
            ("find . -name x -delete", false),
            ("git checkout main", false),
            ("env", true),
            ("env ./run_tests.sh", false),
            ("echo $(./run_tests.sh)", false),
            ("echo `./run_tests.sh`", false),
            ("ls 'unterminated", false),
        ];
        for (line, expected) in cases {
            assert_eq!(only_looks(&CommandText::Line(line.to_owned())), expected, "{line}");
        }
    }
}
