//! Names in a sentence: files, commits, branches, pull requests, packages.
//!
//! A name is a token in inline code or a plain word of the right shape, taken from the text as it
//! is written. A word that only might be one ("Node.js", "and/or") is none.

use super::object::Object;
use super::subject::Sentence;
use super::tokens::Kind;

/// A sentence with the text that its tokens stand on.
#[derive(Clone, Copy)]
pub(super) struct Spelled<'t, 'a> {
    pub sentence: Sentence<'t, 'a>,
    /// The block that the tokens count their bytes in.
    pub block: &'a str,
}

/// Endings that make a plain word a file.
const ENDINGS: &[&str] = &[
    "rs", "py", "ts", "tsx", "jsx", "mjs", "cjs", "go", "rb", "java", "kt", "c", "h", "cc", "cpp",
    "hpp", "cs", "php", "swift", "ex", "exs", "sh", "md", "txt", "toml", "yaml", "yml", "json",
    "jsonl", "sql", "html", "css", "scss", "lock", "cfg", "ini", "xml", "proto", "snap", "mod",
];
/// Files without an ending.
const BARE_FILES: &[&str] =
    &["Makefile", "Dockerfile", "Gemfile", "Rakefile", "Procfile", "README", "LICENSE"];

impl<'a> Spelled<'_, 'a> {
    /// The name at `at`: inline code, or a word as it is written.
    pub(super) fn name(self, at: usize) -> Option<&'a str> {
        let token = self.sentence.0.get(at)?;
        match &token.kind {
            Kind::Code(code) => Some(code.trim()),
            Kind::Word(_) | Kind::Number(_) => self.block.get(token.start..token.end),
            _ => None,
        }
    }

    fn is_code(self, at: usize) -> bool {
        matches!(self.sentence.kind(at), Some(Kind::Code(_)))
    }

    /// The file named at `at`.
    pub(super) fn path(self, at: usize) -> Option<&'a str> {
        let name = self.name(at)?;
        let last = name.rsplit('/').next().unwrap_or_default();
        let odd = |c: char| c.is_whitespace() || "(){}<>*$=|;,:@\"'".contains(c);
        if name.contains(odd) || last.is_empty() {
            return None;
        }
        if BARE_FILES.contains(&last) {
            return Some(name);
        }
        let (stem, ending) = last.rsplit_once('.')?;
        let known =
            ENDINGS.contains(&ending) || ending == "js" && (name.contains('/') || self.is_code(at));
        let hidden = stem.is_empty() && self.is_code(at) && ending.len() > 2;
        (known && !stem.is_empty() || hidden).then_some(name)
    }

    /// The commit named at `at`: 7 to 64 hexadecimal digits, not a plain number or word.
    pub(super) fn commit(self, at: usize) -> Option<String> {
        let name = self.name(at)?;
        let hex = name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let digits = name.bytes().any(|byte| byte.is_ascii_digit());
        let letters = name.bytes().any(|byte| byte.is_ascii_alphabetic());
        let mixed = digits && (letters || self.is_code(at));
        ((7..=64).contains(&name.len()) && hex && mixed).then(|| name.to_ascii_lowercase())
    }

    /// The branch named at `at`, with its remote.
    pub(super) fn branch(self, at: usize) -> Option<(Option<String>, String)> {
        let name = self.name(at)?;
        let usual = matches!(name, "main" | "master" | "develop" | "dev" | "trunk");
        let marked = self.is_code(at) || name.contains('/') || usual;
        let odd = |c: char| !(c.is_alphanumeric() || "/_-.#".contains(c));
        if !marked || name.contains(odd) || self.commit(at).is_some() || self.path(at).is_some() {
            return None;
        }
        match name.split_once('/') {
            Some((remote @ ("origin" | "fork"), branch)) => {
                Some((Some(remote.to_owned()), branch.to_owned()))
            }
            _ => Some((None, name.to_owned())),
        }
    }

    /// What the tokens `from..` name of a commit or a push.
    pub(super) fn repository(self, from: usize, end: usize) -> Object {
        let mut object = Object::default();
        let other_deed =
            |at: &usize| matches!(self.sentence.word(*at), "pushed" | "committed" | "opened");
        for at in (from..end).take_while(|at| !other_deed(at)) {
            if object.commit.is_none() {
                object.commit = self.commit(at);
            }
            if !matches!(self.sentence.word(at), "on" | "to" | "branch" | "onto") {
                continue;
            }
            let mut next = at + 1;
            while matches!(self.sentence.word(next), "the" | "branch" | "remote" | "my" | "our") {
                next += 1;
            }
            if matches!(self.sentence.word(next), "origin" | "fork") {
                object.remote = self.name(next).map(str::to_owned);
            } else if let (Some((remote, branch)), None) = (self.branch(next), &object.branch) {
                object.branch = Some(branch);
                object.remote = object.remote.take().or(remote);
            }
        }
        object
    }

    /// The pull request that the sentence names: an address, or the number after its noun.
    pub(super) fn pull_request(self) -> Option<String> {
        let first = self.sentence.0.first()?.start;
        let text = self.block.get(first..self.sentence.0.last()?.end)?;
        let address =
            text.split(|c: char| c.is_whitespace() || "()<>[]`*,".contains(c)).find(|word| {
                let numbered = |mark: &str| {
                    word.split_once(mark)
                        .is_some_and(|(_, n)| n.starts_with(|c: char| c.is_ascii_digit()))
                };
                word.starts_with("http") && (numbered("/pull/") || numbered("/merge_requests/"))
            });
        if let Some(address) = address {
            return Some(address.trim_end_matches(['.', '!']).to_owned());
        }
        (1..self.sentence.len()).find_map(|at| {
            let noun = matches!(self.sentence.word_before(at), "pr" | "request" | "mr");
            match self.sentence.kind(at) {
                Some(Kind::Number(number)) if noun => Some(number.to_string()),
                _ => None,
            }
        })
    }

    /// The package named at `at`, with its version: `serde`, `lodash@4.17`, `numpy==2.0`.
    pub(super) fn package(self, at: usize) -> Option<(String, Option<String>)> {
        let name = self.name(at)?;
        let odd = |c: char| !(c.is_alphanumeric() || "@/_-.=~^".contains(c));
        if name.contains(odd) || !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@') {
            return None;
        }
        let cut = name.get(1..)?.find(['@', '=']).map(|found| found + 1);
        let (package, version) = match cut {
            Some(cut) => (name.get(..cut)?, name.get(cut..)),
            None => (name, None),
        };
        let version = version.map(|v| v.trim_start_matches(['@', '=', '^', '~']).to_owned());
        let next = || {
            let text = self.name(at + 1)?;
            let text = text.strip_prefix('v').unwrap_or(text);
            (text.contains('.') && text.starts_with(|c: char| c.is_ascii_digit()))
                .then(|| text.to_owned())
        };
        Some((package.to_owned(), version.or_else(next)))
    }
}
