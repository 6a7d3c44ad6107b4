//! The walk over decoded JSON: every string, every key, and what a key says of its value.
//!
//! The walk keeps its own stack, so depth costs memory and no stack frames. A key that promises a
//! secret condemns the string behind it, and the strings of an array behind it; numbers, booleans
//! and objects are judged by their own content.

use serde_json::{Map, Value};

use super::commands;
use super::names;
use super::scan::{self, Mode};

/// What a value's key and its neighbour say about it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Plain,
    /// Behind a key of identifiers: not judged by entropy.
    Identifier,
    /// Behind a key, or a flag in a list of arguments, that promises a secret.
    Secret,
}

/// What a walk met.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Walked {
    /// Secrets cut out.
    pub count: usize,
    /// Whether strings stood behind keys of identifiers; these were not judged by entropy.
    pub identifiers: bool,
}

/// Redacts every decoded string and object key of `root`.
pub fn value(root: &mut Value) -> Walked {
    let mut count = 0;
    let mut identifiers = false;
    let mut open = vec![(root, Place::Plain)];
    while let Some((value, place)) = open.pop() {
        match value {
            Value::String(text) => {
                identifiers |= place == Place::Identifier;
                count += string(text, place);
            }
            Value::Array(items) => {
                let first = items.first().and_then(Value::as_str);
                let program = first.filter(|f| commands::is_program(f)).map(str::to_owned);
                let mut flagged = false;
                for item in items {
                    let of_program = program.as_ref().zip(item.as_str());
                    let of_program = of_program.and_then(|(p, a)| commands::argument(p, a));
                    let secret = flagged || of_program == Some(true);
                    let place = if secret { Place::Secret } else { place };
                    flagged =
                        of_program == Some(false) || item.as_str().is_some_and(is_secret_flag);
                    open.push((item, place));
                }
            }
            Value::Object(map) => {
                count += keys(map);
                open.extend(map.iter_mut().map(|(key, value)| (value, place_of(key))));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    Walked { count, identifiers }
}

fn place_of(key: &str) -> Place {
    // The kind in a marker ends like the name of a secret; what follows the marker is the name.
    let unmarked = |tail: &str| tail.find(']').map(|end| end + 1);
    let marked = if key.contains('[') { key.rsplit_once("[REDACTED:") } else { None };
    let key = match marked {
        Some((_, tail)) => tail.get(unmarked(tail).unwrap_or(0)..).unwrap_or_default(),
        None => key,
    };
    if names::promise(key.as_bytes()).is_some() {
        Place::Secret
    } else if names::holds_identifiers(key) {
        Place::Identifier
    } else {
        Place::Plain
    }
}

/// `--password` as an argument of its own: the next one is the secret.
fn is_secret_flag(argument: &str) -> bool {
    argument.starts_with('-')
        && argument.len() <= names::NAME_MAX
        && !argument.contains(['=', ' '])
        && names::promise(argument.as_bytes()).is_some()
}

fn string(text: &mut String, place: Place) -> usize {
    if place == Place::Secret {
        return condemn(text);
    }
    let mode = if place == Place::Identifier { Mode::Identifiers } else { Mode::Text };
    match scan::scan(text, mode) {
        (_, 0) => 0,
        (redacted, count) => {
            *text = redacted.into_owned();
            count
        }
    }
}

fn condemn(text: &mut String) -> usize {
    const MARKER: &str = "[REDACTED:secret_key]";
    if matches!(text.trim(), "" | "true" | "false" | "null" | "none") || text == MARKER {
        return 0;
    }
    *text = MARKER.to_owned();
    1
}

/// Redacts the keys. Keys that become equal are kept apart by a number.
fn keys(map: &mut Map<String, Value>) -> usize {
    let mut changed = Vec::new();
    for key in map.keys() {
        let (redacted, count) = scan::scan(key, Mode::Text);
        if count > 0 {
            changed.push((key.clone(), redacted.into_owned(), count));
        }
    }
    let mut total = 0;
    for (old, new, count) in changed {
        total += count;
        if let Some(value) = map.remove(&old) {
            map.insert(unused(map, new), value);
        }
    }
    total
}

fn unused(map: &Map<String, Value>, wanted: String) -> String {
    if !map.contains_key(&wanted) {
        return wanted;
    }
    let numbered = |n: usize| format!("{wanted}#{n}");
    let mut free = (2..).map(numbered).filter(|key| !map.contains_key(key));
    free.next().unwrap_or(wanted)
}
