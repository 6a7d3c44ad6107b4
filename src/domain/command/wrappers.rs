//! Commands that run another command: `timeout 60 cargo test`, `uv run pytest`, `bash -lc '...'`.
//!
//! A table of names, options that take a value, and words that stand before the inner command. What
//! the table does not know is not taken off, so that an unknown program is never a test run.

use super::jobs::{base_name, is_assignment};
use super::lexer::Word;

/// What is inside a wrapper.
pub(super) enum Inner<'a> {
    Words(&'a [Word]),
    Script { text: String, errexit: bool, pipefail: bool },
    Nothing,
}

/// A wrapper: its words, its options with a value, and how many plain words come before the inner
/// command.
struct Wrapper {
    words: &'static [&'static str],
    values: &'static [&'static str],
    plain: usize,
}

const fn wrapper(words: &'static [&'static str]) -> Wrapper {
    Wrapper { words, values: &[], plain: 0 }
}

const fn valued(
    words: &'static [&'static str],
    values: &'static [&'static str],
    plain: usize,
) -> Wrapper {
    Wrapper { words, values, plain }
}

const UV: &[&str] = &[
    "--with",
    "--python",
    "-p",
    "--extra",
    "--group",
    "--package",
    "--project",
    "--directory",
    "--env-file",
    "--from",
    "--only-group",
    "--with-editable",
    "--index",
    "--with-requirements",
    "--no-group",
];
const DOCKER: &[&str] = &[
    "-e",
    "--env",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "-v",
    "--volume",
    "-p",
    "--publish",
    "--name",
    "--network",
    "--env-file",
    "--platform",
    "-m",
    "--memory",
    "--mount",
    "--cpus",
    "--index",
    "--entrypoint",
    "--gpus",
    "--label",
    "-l",
];
const COMPOSE: &[&str] = &["-f", "--file", "-p", "--project-name", "--profile", "--env-file"];
const PACKAGES: &[&str] = &["-p", "--package", "-C", "--dir", "--prefix"];

const WRAPPERS: &[Wrapper] = &[
    valued(&["env"], &["-u", "--unset", "-C", "--chdir"], 0),
    wrapper(&["cross-env"]),
    valued(&["time"], &["-f", "-o"], 0),
    valued(&["nice"], &["-n", "--adjustment"], 0),
    valued(&["ionice"], &["-c", "-n"], 0),
    valued(&["timeout"], &["-s", "--signal", "-k", "--kill-after"], 1),
    valued(&["gtimeout"], &["-s", "--signal", "-k", "--kill-after"], 1),
    valued(&["sudo"], &["-u", "--user", "-g", "--group", "-D"], 0),
    valued(&["doas"], &["-u"], 0),
    valued(&["stdbuf"], &["-i", "-o", "-e"], 0),
    valued(&["xvfb-run"], &["-s", "--server-args", "-n"], 0),
    wrapper(&["nohup"]),
    wrapper(&["exec"]),
    wrapper(&["command"]),
    wrapper(&["setsid"]),
    wrapper(&["caffeinate"]),
    wrapper(&["unbuffer"]),
    valued(&["uv", "run"], UV, 0),
    valued(&["uvx"], UV, 0),
    valued(&["uv", "tool", "run"], UV, 0),
    valued(&["poetry", "run"], &["-C", "--directory", "-P", "--project"], 0),
    wrapper(&["pipenv", "run"]),
    valued(&["pdm", "run"], &["-p", "--project"], 0),
    wrapper(&["rye", "run"]),
    wrapper(&["hatch", "run"]),
    valued(&["pixi", "run"], &["-e", "--environment", "--manifest-path"], 0),
    valued(&["conda", "run"], &["-n", "--name", "-p", "--prefix", "--cwd"], 0),
    wrapper(&["bundle", "exec"]),
    valued(&["npx"], PACKAGES, 0),
    valued(&["bunx"], PACKAGES, 0),
    valued(&["pnpx"], PACKAGES, 0),
    valued(&["npm", "exec"], PACKAGES, 0),
    valued(&["pnpm", "exec"], PACKAGES, 0),
    valued(&["pnpm", "dlx"], PACKAGES, 0),
    wrapper(&["pnpm"]),
    wrapper(&["yarn", "exec"]),
    wrapper(&["yarn", "dlx"]),
    wrapper(&["yarn", "run"]),
    wrapper(&["yarn"]),
    wrapper(&["bun", "x"]),
    wrapper(&["mise", "exec"]),
    wrapper(&["mise", "x"]),
    wrapper(&["asdf", "exec"]),
    valued(&["direnv", "exec"], &[], 1),
    valued(&["dotenv"], &["-f", "-e"], 0),
    wrapper(&["doppler", "run"]),
    wrapper(&["op", "run"]),
    valued(&["coverage", "run"], &["--source", "--rcfile", "--omit", "--include"], 0),
    valued(&["docker", "exec"], DOCKER, 1),
    valued(&["docker", "run"], DOCKER, 1),
    valued(&["podman", "exec"], DOCKER, 1),
    valued(&["podman", "run"], DOCKER, 1),
    valued(&["docker", "compose", "exec"], DOCKER, 1),
    valued(&["docker", "compose", "run"], DOCKER, 1),
    valued(&["docker-compose", "exec"], DOCKER, 1),
    valued(&["docker-compose", "run"], DOCKER, 1),
    wrapper(&["php"]),
    wrapper(&["ruby"]),
];

/// Takes one wrapper off.
pub(super) fn unwrap(words: &[Word]) -> Inner<'_> {
    let Some(first) = words.first() else { return Inner::Nothing };
    match base_name(&first.text) {
        "bash" | "sh" | "zsh" | "dash" | "ksh" => shell(words),
        "eval" => {
            let parts: Vec<_> = words.iter().skip(1).map(|word| word.text.as_str()).collect();
            Inner::Script { text: parts.join(" "), errexit: false, pipefail: false }
        }
        // `command -v pytest` looks it up.
        "command" if words.get(1).is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")) => {
            Inner::Nothing
        }
        _ => inner(words),
    }
}

/// `bash -lc 'script'`; a script file is not looked into.
fn shell(words: &[Word]) -> Inner<'_> {
    let (mut errexit, mut pipefail, mut script) = (false, false, false);
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        let Some(option) = word.text.strip_prefix('-') else {
            let text = word.text.clone();
            return if script { Inner::Script { text, errexit, pipefail } } else { Inner::Nothing };
        };
        if option.starts_with('-') {
            continue;
        }
        script |= option.contains('c');
        errexit |= option.contains('e');
        if option.ends_with('o') {
            pipefail |= rest.next().is_some_and(|name| name.text == "pipefail");
        }
    }
    Inner::Nothing
}

fn inner(words: &[Word]) -> Inner<'_> {
    for wrapper in WRAPPERS {
        if let Some(rest) = after_words(words, wrapper.words)
            && let Some(inner) = after_options(rest, wrapper.values, wrapper.plain)
        {
            return Inner::Words(inner);
        }
    }
    Inner::Nothing
}

/// The words after `names`; options of `docker compose` may stand between them.
fn after_words<'a>(words: &'a [Word], names: &[&str]) -> Option<&'a [Word]> {
    let mut rest = words;
    for (index, name) in names.iter().enumerate() {
        if index > 0 {
            rest = skip_options(rest, COMPOSE);
        }
        let (first, after) = rest.split_first()?;
        let text = if index == 0 { base_name(&first.text) } else { first.text.as_str() };
        if text != *name {
            return None;
        }
        rest = after;
    }
    Some(rest)
}

fn after_options<'a>(words: &'a [Word], values: &[&str], plain: usize) -> Option<&'a [Word]> {
    let rest = skip_options(words, values).get(plain..)?;
    let rest = match rest.split_first() {
        Some((first, after)) if first.text == "--" => after,
        _ => rest,
    };
    let assigned = rest.iter().take_while(|word| is_assignment(word)).count();
    rest.get(assigned..)
}

fn skip_options<'a>(words: &'a [Word], values: &[&str]) -> &'a [Word] {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        // `-m module` stays: it names what is run.
        let option = first.text.starts_with('-') && !matches!(first.text.as_str(), "--" | "-m");
        let assigned = is_assignment(first);
        if !option && !assigned {
            break;
        }
        let skip = usize::from(values.contains(&first.text.as_str()));
        rest = after.get(skip..).unwrap_or_default();
    }
    rest
}
