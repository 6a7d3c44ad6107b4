//! Paths inside a JSON value: what a locator selects.
//!
//! `message.content[0].text`; a span lists its siblings: `message.content[0,2].text`. A key that
//! holds a dot, a bracket or a quote, or is empty, is written as a JSON string in brackets:
//! `input["a.b"]`. A path has one spelling. It selects exactly what it names, or nothing: no
//! ancestor stands in, and a span of which one part is missing is missing.

use serde_json::Value;
use std::fmt;

/// What was selected.
#[derive(Debug, Clone, PartialEq)]
pub enum Selected {
    /// One text, as decoding gives it.
    Text(String),
    /// A structured field: a tool's input or answer.
    Json(Value),
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Key(String),
    Index(usize),
    /// Two or more siblings, in ascending order.
    Span(Vec<usize>),
}

/// A parsed path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selector(Vec<Step>);

impl Selector {
    /// The path, when it is in its one spelling; an empty path selects nothing and is none.
    pub fn parse(path: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = path;
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('[') {
                Some(inside) => bracket(inside)?,
                None => bare(rest, steps.is_empty())?,
            };
            steps.push(step);
            rest = after;
        }
        let selector = Self(steps);
        (!selector.0.is_empty() && selector.to_string() == path).then_some(selector)
    }

    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Whether some key of the path is one of `keys`.
    pub fn passes(&self, keys: &[&str]) -> bool {
        self.0.iter().any(|step| matches!(step, Step::Key(key) if keys.contains(&key.as_str())))
    }

    /// The last key of the path; `None` when it ends in an index.
    pub fn last_key(&self) -> Option<&str> {
        match self.0.last()? {
            Step::Key(key) => Some(key),
            Step::Index(_) | Step::Span(_) => None,
        }
    }

    /// Whether the path names several siblings.
    pub fn is_span(&self) -> bool {
        self.0.iter().any(|step| matches!(step, Step::Span(_)))
    }

    /// Everything that the path names, in order; `None` when any of it is not there.
    pub fn find<'a>(&self, root: &'a Value) -> Option<Vec<&'a Value>> {
        let mut found = vec![root];
        for step in &self.0 {
            let mut next = Vec::with_capacity(found.len());
            for value in found {
                match step {
                    Step::Key(key) => next.push(value.as_object()?.get(key)?),
                    Step::Index(index) => next.push(value.as_array()?.get(*index)?),
                    Step::Span(indices) => {
                        let items = value.as_array()?;
                        for index in indices {
                            next.push(items.get(*index)?);
                        }
                    }
                }
            }
            found = next;
        }
        Some(found)
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if needs_quotes(key) => {
                    write!(f, "[{}]", Value::String(key.clone()))?;
                }
                Step::Key(key) => write!(f, "{}{key}", if place == 0 { "" } else { "." })?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Span(indices) => f.write_str(&indices_text(indices))?,
            }
        }
        Ok(())
    }
}

/// The spelling of some siblings: `[1]` for one, `[0,2]` for more.
pub fn indices_text(indices: &[usize]) -> String {
    let words: Vec<String> = indices.iter().map(ToString::to_string).collect();
    format!("[{}]", words.join(","))
}

fn needs_quotes(key: &str) -> bool {
    key.is_empty() || key.contains(['.', '[', ']', '"'])
}

/// A key up to the next dot or bracket, and what follows it.
fn bare(rest: &str, first: bool) -> Option<(Step, &str)> {
    let rest = if first { rest } else { rest.strip_prefix('.')? };
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (key, after) = rest.split_at_checked(end)?;
    Some((Step::Key(key.to_owned()), after))
}

/// What stands in brackets: indices, or a quoted key.
fn bracket(inside: &str) -> Option<(Step, &str)> {
    if inside.starts_with('"') {
        let mut keys = serde_json::Deserializer::from_str(inside).into_iter::<String>();
        let key = keys.next()?.ok()?;
        let after = inside.get(keys.byte_offset()..)?.strip_prefix(']')?;
        return Some((Step::Key(key), after));
    }
    let (list, after) = inside.split_once(']')?;
    let indices: Option<Vec<usize>> = list.split(',').map(|word| word.parse().ok()).collect();
    let indices = indices?;
    let ascending = indices.windows(2).all(|pair| matches!(pair, [a, b] if a < b));
    match indices.as_slice() {
        [one] => Some((Step::Index(*one), after)),
        _ if ascending => Some((Step::Span(indices), after)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn one<'a>(root: &'a Value, path: &str) -> Option<&'a Value> {
        let found = Selector::parse(path)?.find(root)?;
        assert_eq!(found.len(), 1);
        found.first().copied()
    }

    #[test]
    fn keys_indices_and_odd_keys_are_exact() {
        let root = json!({"a": {"b": [{"c": 1}, {"c": 2}]}, "\u{e9}": 3, "x.y": {"": 4}, "0": 5});
        assert_eq!(one(&root, "a.b[1].c"), Some(&json!(2)));
        assert_eq!(one(&root, "\u{e9}"), Some(&json!(3)));
        assert_eq!(one(&root, "[\"x.y\"][\"\"]"), Some(&json!(4)));
        assert_eq!(one(&root, "0"), Some(&json!(5)));
        for missing in ["a.b[2].c", "a.b.c", "a.c", "A", "e\u{301}", "a[0]", "a.b[0].c.d"] {
            assert_eq!(one(&root, missing), None, "{missing}");
        }
    }

    #[test]
    fn a_span_selects_all_of_its_siblings_or_nothing() {
        let root = json!({"content": [{"text": "a"}, {"image": 1}, {"text": "b"}]});
        let span = Selector::parse("content[0,2].text").unwrap();
        assert_eq!(span.find(&root), Some(vec![&json!("a"), &json!("b")]));
        assert!(span.is_span());
        assert_eq!(Selector::parse("content[0,1].text").unwrap().find(&root), None);
        assert_eq!(Selector::parse("content[0,7].text").unwrap().find(&root), None);
    }

    #[test]
    fn a_path_has_one_spelling() {
        let others = [
            "",
            ".a",
            "a.",
            "a..b",
            "a[",
            "a[]",
            "a[0",
            "a[00]",
            "a[+1]",
            "a[2,1]",
            "a[1,1]",
            "a[1, 2]",
            "a[\"b\"]",
            "a[\"b\\u002ec\"]",
            "a]b",
            "a\"b",
            "[0]a",
            "a[-1]",
        ];
        for text in others {
            assert_eq!(Selector::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_steps_come_back_from_their_spelling(
            keys in prop::collection::vec((".{0,6}", prop::option::of(0usize..90)), 1..5)
        ) {
            let steps = keys.into_iter().flat_map(|(key, index)| {
                std::iter::once(Step::Key(key)).chain(index.map(Step::Index))
            });
            let selector = Selector(steps.collect());
            prop_assert_eq!(Selector::parse(&selector.to_string()), Some(selector));
        }

        #[test]
        fn any_text_is_parsed_without_a_panic(text in ".{0,30}") {
            if let Some(selector) = Selector::parse(&text) {
                prop_assert_eq!(selector.to_string(), text);
            }
        }
    }
}
