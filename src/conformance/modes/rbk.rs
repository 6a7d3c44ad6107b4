//! Break modes of RBK.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::conformance::contract::{Mode, Wrap};
use crate::conformance::subjects::{Fired, Happening, Indexed, Resolved, Resolver};
use crate::domain::locator::Locator;
use crate::domain::selector::{Selector, Step};

macro_rules! mode {
    ($name:literal, $case:literal, $defect:literal, $kind:ident) => {
        Mode {
            name: $name,
            must: &[$case],
            may: &[],
            defect: $defect,
            seen: "",
            wrap: Wrap::Readback(|inner, fired| broken(inner, fired, Defect::$kind)),
        }
    };
}

/// The modes.
pub const MODES: &[Mode] = &[
    mode!("rbk_whole_line", "RBK-01", "a fallback prints the record", WholeLine),
    mode!(
        "rbk_selector_normalises",
        "RBK-02",
        "keys of a selector are brought to Unicode form C",
        SelectorNormalises
    ),
    mode!("rbk_index_drift", "RBK-03", "the index has a text projection of its own", IndexDrift),
    mode!("rbk_line_hash_unchecked", "RBK-04", "the offset alone is trusted", LineHashUnchecked),
    mode!("rbk_prefix_unchecked", "RBK-05", "the line hash alone is trusted", PrefixUnchecked),
    mode!("rbk_missing_is_empty", "RBK-06", "an error gives the empty string", MissingIsEmpty),
    mode!("rbk_permission_is_missing", "RBK-07", "all errors are alike", PermissionIsMissing),
    mode!(
        "rbk_identity_unchecked",
        "RBK-08",
        "a path used again is the same file",
        IdentityUnchecked
    ),
    mode!("rbk_format_guess", "RBK-09", "another parser is tried", FormatGuess),
    mode!("rbk_selector_parent", "RBK-10", "the nearest ancestor is returned", SelectorParent),
    mode!("rbk_empty_is_unavailable", "RBK-11", "an empty text counts as none", EmptyIsUnavailable),
    mode!("rbk_silent_cut", "RBK-12", "a text is sliced and looks whole", SilentCut),
    mode!("rbk_partial_span", "RBK-13", "the siblings that were found are joined", PartialSpan),
    mode!(
        "rbk_evidence_unmatched",
        "RBK-14",
        "the locator's own evidence is not compared",
        EvidenceUnmatched
    ),
    mode!("rbk_presence_reads", "RBK-15", "presence is asked by reading the text", PresenceReads),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    WholeLine,
    SelectorNormalises,
    IndexDrift,
    LineHashUnchecked,
    PrefixUnchecked,
    MissingIsEmpty,
    PermissionIsMissing,
    IdentityUnchecked,
    FormatGuess,
    SelectorParent,
    EmptyIsUnavailable,
    SilentCut,
    PartialSpan,
    EvidenceUnmatched,
    PresenceReads,
}

/// A resolver with one defect; every other answer is the subject's own.
struct Broken {
    inner: Box<dyn Resolver>,
    fired: Fired,
    defect: Defect,
    /// Names of sources by what locators call them.
    names: BTreeMap<String, String>,
    /// The lines that each source was recorded with, and holds now.
    recorded: BTreeMap<String, Vec<Value>>,
    now: BTreeMap<String, Vec<Value>>,
    replaced: BTreeSet<String>,
}

fn broken(inner: Box<dyn Resolver>, fired: Fired, defect: Defect) -> Box<dyn Resolver> {
    let (names, recorded, now) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    Box::new(Broken { inner, fired, defect, names, recorded, now, replaced: BTreeSet::new() })
}

fn whole(text: String) -> Resolved {
    Resolved::Text { full_length: text.len(), text, cut: false }
}

/// The line that begins at an offset or, where none does, the last one before it.
fn line_at(lines: &[Value], offset: u64) -> Option<usize> {
    let mut begins = 0;
    let mut found = None;
    for (nth, line) in lines.iter().enumerate() {
        if begins <= offset {
            found = Some(nth);
        }
        begins += line.to_string().len() as u64 + 1;
    }
    found
}

/// The texts that a path selects, one after the other; no questions asked.
fn text_of(line: &Value, path: &str) -> Option<String> {
    let found = Selector::parse(path)?.find(line)?;
    let texts: Option<Vec<&str>> = found.into_iter().map(Value::as_str).collect();
    texts.map(|texts| texts.join("\n"))
}

/// What stands at the longest part of a path that still finds something inside the message.
fn ancestor(line: &Value, path: &str) -> Option<String> {
    let mut path = path;
    while let Some(end) = path.rfind(['.', '[']) {
        path = path.get(..end)?;
        let selector = Selector::parse(path)?;
        if selector.steps().len() < 2 {
            return None;
        }
        if let Some([found]) = selector.find(line).as_deref() {
            let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
            return Some(text);
        }
    }
    None
}

/// The siblings of a span that are there.
fn part_of_span(line: &Value, path: &str) -> Option<String> {
    let selector = Selector::parse(path)?;
    let [Step::Key(_), Step::Key(_), Step::Span(indices), Step::Key(key)] = selector.steps() else {
        return None;
    };
    let of_index = |index: &usize| text_of(line, &format!("message.content[{index}].{key}"));
    let texts: Vec<String> = indices.iter().filter_map(of_index).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

impl Broken {
    fn fire<T>(&self, value: T) -> T {
        self.fired.hit();
        value
    }

    /// The line of a locator as it stands now in its source.
    fn line(&self, locator: &Locator) -> Option<Value> {
        let name = self.names.get(&locator.source).or_else(|| self.names.values().next())?;
        let nth = line_at(self.recorded.get(name)?, locator.offset)?;
        self.now.get(name)?.get(nth).cloned()
    }

    fn is_replaced(&self, locator: &Locator) -> bool {
        self.names.get(&locator.source).is_some_and(|name| self.replaced.contains(name))
    }

    /// What the defect makes of a refusal; nothing where it has no say.
    fn instead(&self, locator: &Locator, reason: &str) -> Option<Resolved> {
        let line = self.line(locator)?;
        let path = locator.path.as_str();
        let text = || text_of(&line, path).map(whole);
        match (self.defect, reason) {
            (Defect::WholeLine, "selector_missing") if !path.contains('.') => {
                Some(whole(line.to_string()))
            }
            (Defect::LineHashUnchecked, "line_changed")
            | (Defect::PrefixUnchecked, "prefix_changed")
            | (Defect::FormatGuess, "format_unsupported") => text(),
            (Defect::IdentityUnchecked, "identity_mismatch") if self.is_replaced(locator) => text(),
            (Defect::EvidenceUnmatched, "identity_mismatch") if !self.is_replaced(locator) => {
                text()
            }
            (Defect::MissingIsEmpty, "source_missing" | "source_pruned") => {
                Some(whole(String::new()))
            }
            (Defect::PermissionIsMissing, "permission_denied") => {
                Some(Resolved::Unavailable("source_missing".to_owned()))
            }
            (Defect::SelectorParent, "selector_missing") if !path.contains(',') => {
                ancestor(&line, path).map(whole)
            }
            (Defect::PartialSpan, "selector_missing") => part_of_span(&line, path).map(whole),
            _ => None,
        }
    }

    /// What the defect makes of a text that was read.
    fn spoilt(&self, text: &str, cut: bool) -> Option<Resolved> {
        match self.defect {
            Defect::IndexDrift if text.contains('\r') => Some(whole(text.replace('\r', ""))),
            Defect::EmptyIsUnavailable if text.is_empty() && !cut => {
                Some(Resolved::Unavailable("selector_missing".to_owned()))
            }
            Defect::SilentCut if cut => Some(whole(text.to_owned())),
            _ => None,
        }
    }
}

impl Resolver for Broken {
    fn decode(&mut self, lines: &[Value]) -> Result<Vec<String>, String> {
        self.inner.decode(lines)
    }

    fn record(&mut self, name: &str, lines: &[Value]) -> Result<Vec<Indexed>, String> {
        let indexed = self.inner.record(name, lines)?;
        if let Some(first) = indexed.first() {
            self.names.insert(first.locator.source.clone(), name.to_owned());
        }
        self.recorded.insert(name.to_owned(), lines.to_vec());
        self.now.insert(name.to_owned(), lines.to_vec());
        Ok(indexed)
    }

    fn happen(&mut self, name: &str, what: Happening<'_>) -> Result<(), String> {
        match what {
            Happening::Written(lines) => {
                self.now.insert(name.to_owned(), lines.to_vec());
            }
            Happening::Replaced => {
                self.replaced.insert(name.to_owned());
            }
            _ => {}
        }
        self.inner.happen(name, what)
    }

    fn resolve(&mut self, locator: &Locator, max_bytes: usize) -> Result<Resolved, String> {
        if self.defect == Defect::SelectorNormalises && locator.path.contains("e\u{301}") {
            let path = locator.path.replace("e\u{301}", "\u{e9}");
            let read = self.inner.resolve(&Locator { path, ..locator.clone() }, max_bytes);
            return self.fire(read);
        }
        let read = self.inner.resolve(locator, max_bytes)?;
        let instead = match &read {
            Resolved::Unavailable(reason) => self.instead(locator, reason),
            Resolved::Text { text, cut, .. } => self.spoilt(text, *cut),
        };
        Ok(match instead {
            Some(other) => self.fire(other),
            None => read,
        })
    }

    fn is_present(&mut self, locator: &Locator) -> Result<bool, String> {
        if self.defect != Defect::PresenceReads {
            return self.inner.is_present(locator);
        }
        let read = self.inner.resolve(locator, usize::MAX)?;
        Ok(self.fire(matches!(read, Resolved::Text { .. })))
    }

    fn reads(&self) -> u64 {
        self.inner.reads()
    }
}
