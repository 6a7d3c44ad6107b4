//! Arguments of a test runner: which of them narrow the run, and which make it no run at all.
//!
//! Each runner has a table. An option that the table does not know narrows: a run is full only when
//! every argument is known to leave it whole.

use super::Scope;
use super::lexer::Word;

/// What a runner's arguments mean. Everything not listed narrows the run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    /// Options that change nothing about the scope.
    pub flags: &'static [&'static str],
    /// The same, with a value after them.
    pub values: &'static [&'static str],
    /// Options with a value that narrow the run.
    pub narrowing: &'static [&'static str],
    /// Options that make it no test run.
    pub stops: &'static [&'static str],
    /// Plain words that leave the run whole.
    pub whole: &'static [&'static str],
    /// The table for what follows `--`.
    pub after: Option<&'static Options>,
}

/// A table with nothing in it.
pub(super) const NONE: Options =
    Options { flags: &[], values: &[], narrowing: &[], stops: &[], whole: &[], after: None };

/// The scope that `arguments` give a run; `None` when nothing is run.
pub(super) fn scope(arguments: &[Word], options: &Options) -> Option<Scope> {
    let mut options = options;
    let mut narrowed = None;
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if !word.literal {
            narrowed.get_or_insert_with(|| text.to_owned());
            continue;
        }
        if text == "--" {
            options = options.after.unwrap_or(options);
            continue;
        }
        match meaning(text, options) {
            Meaning::Stop => return None,
            Meaning::Nothing => {}
            Meaning::TakesValue => {
                rest.next();
            }
            Meaning::NarrowsByValue => {
                let value = rest.next().map_or("", |value| value.text.as_str());
                narrowed.get_or_insert_with(|| format!("{text} {value}"));
            }
            Meaning::Narrows => {
                narrowed.get_or_insert_with(|| text.to_owned());
            }
        }
    }
    Some(match narrowed {
        None => Scope::Full,
        Some(reason) => Scope::Partial { reason },
    })
}

enum Meaning {
    Stop,
    Nothing,
    TakesValue,
    NarrowsByValue,
    Narrows,
}

fn meaning(text: &str, options: &Options) -> Meaning {
    if !text.starts_with('-') || text == "-" {
        let whole = options.whole.contains(&text);
        return if whole { Meaning::Nothing } else { Meaning::Narrows };
    }
    let (name, attached) = match text.split_once('=') {
        Some((name, _)) => (name, true),
        None => (text, false),
    };
    if options.stops.contains(&name) {
        return Meaning::Stop;
    }
    if options.flags.contains(&text) || options.flags.contains(&name) {
        return Meaning::Nothing;
    }
    if options.values.contains(&name) {
        return if attached { Meaning::Nothing } else { Meaning::TakesValue };
    }
    if options.narrowing.contains(&name) {
        return if attached { Meaning::Narrows } else { Meaning::NarrowsByValue };
    }
    cluster(name, options)
}

/// `-vv`, `-xq`, `-n4`, `-j8`.
fn cluster(name: &str, options: &Options) -> Meaning {
    let Some(letters) = name.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else {
        return Meaning::Narrows;
    };
    let short = |letter: char| format!("-{letter}");
    let first = letters.chars().next().map(short).unwrap_or_default();
    if options.values.contains(&first.as_str()) {
        return Meaning::Nothing;
    }
    let known = letters.chars().all(|c| options.flags.contains(&short(c).as_str()));
    if known && !letters.is_empty() { Meaning::Nothing } else { Meaning::Narrows }
}
