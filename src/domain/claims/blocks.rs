//! The prose of a Markdown message.
//!
//! Code fences, indented code, block quotes, tables, headings, HTML, unchecked boxes and lists that
//! read as plans are not the agent's statements about what is, so they are left out here. What is
//! left are blocks: paragraphs and list items, each a slice of the input with its byte offset. A
//! list is a plan when its introduction says so or when an item opens with an imperative; a
//! numbered list has to show that it is a report. A check mark before an item settles the matter.

use super::lexicon::{CHECK_MARKS, IMPERATIVES, PLAN_WORDS};

/// How much of a paragraph can introduce a list, in bytes.
const MAX_INTRODUCTION: usize = 400;

/// A paragraph or list item.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block<'a> {
    /// Where `text` begins in the message, in bytes.
    pub offset: usize,
    /// The prose, line breaks included.
    pub text: &'a str,
}

/// The prose blocks of `text`, in order.
pub(super) fn prose(text: &str) -> Vec<Block<'_>> {
    let mut reader = Reader { text, ..Reader::default() };
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        reader.line(offset, line);
        offset += line.len();
    }
    reader.close();
    reader.finish()
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Paragraph,
    Item {
        list: usize,
        ordered: bool,
        done: bool,
    },
}

#[derive(Debug, Clone, Copy, Default)]
struct Draft {
    start: usize,
    end: usize,
    kind: Kind,
    planned: bool,
}

/// What is known about one list.
#[derive(Debug, Clone, Copy, Default)]
struct List {
    plan: bool,
    report: bool,
}

#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    fence: Option<(char, usize)>,
    open: Option<Draft>,
    drafts: Vec<Draft>,
    lists: Vec<List>,
    in_list: bool,
    in_quote: bool,
    /// The heading above announces plans, not results.
    section_planned: bool,
    /// Items deeper than this belong to an unchecked box.
    dropped_indent: Option<usize>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, offset: usize, line: &'a str) {
        let body = line.trim_end();
        let trimmed = body.trim_start();
        let indent = indent_of(body);
        if let Some((mark, length)) = self.fence {
            if closes_fence(trimmed, mark, length) {
                self.fence = None;
            }
            return;
        }
        if trimmed.is_empty() {
            self.close();
            self.in_quote = false;
            return;
        }
        if let Some(fence) = opens_fence(trimmed) {
            self.close();
            self.fence = Some(fence);
            return;
        }
        let start = offset + (body.len() - trimmed.len());
        if self.is_not_prose(trimmed, indent) {
            return;
        }
        match list_item(trimmed) {
            Some(item) => self.item(start, trimmed, indent, item),
            None => self.paragraph(start, trimmed, indent),
        }
    }

    /// Consumes quotes, headings, rules, tables, HTML and indented code.
    fn is_not_prose(&mut self, trimmed: &str, indent: usize) -> bool {
        if trimmed.starts_with('>') {
            self.close();
            self.in_quote = true;
            return true;
        }
        if self.in_quote && list_item(trimmed).is_none() && !is_heading(trimmed) {
            return true;
        }
        self.in_quote = false;
        if is_heading(trimmed) {
            self.close();
            self.in_list = false;
            self.section_planned = is_plan(trimmed);
            return true;
        }
        if is_rule(trimmed) {
            // Under a paragraph such a line makes that paragraph a heading.
            self.open = None;
            return true;
        }
        let table = trimmed.starts_with('|') || trimmed.contains(" | ");
        if table || trimmed.starts_with('<') {
            self.close();
            return true;
        }
        indent >= 4 && self.open.is_none() && !self.in_list
    }

    fn item(&mut self, start: usize, trimmed: &'a str, indent: usize, item: Item) {
        let intro = self.open.or(self.drafts.last().copied());
        self.close();
        if !self.in_list {
            let plan =
                self.section_planned || intro.is_some_and(|draft| self.announces_plan(draft));
            self.lists.push(List { plan, report: false });
            self.in_list = true;
        }
        let list = self.lists.len().saturating_sub(1);
        let body = trimmed.get(item.skip..).unwrap_or_default();
        if let (Some(fence), Some(_)) = (opens_fence(body), self.lists.last()) {
            self.fence = Some(fence);
            return;
        }
        if self.dropped_indent.is_some_and(|dropped| indent > dropped) {
            return;
        }
        self.dropped_indent = (item.checked == Some(false)).then_some(indent);
        if item.checked == Some(false) || is_heading(body) || body.starts_with('>') {
            return;
        }
        let done = item.checked == Some(true) || body.starts_with(CHECK_MARKS);
        if let Some(current) = self.lists.get_mut(list) {
            current.plan |= opens_imperatively(body) && !done;
            current.report |= opens_in_past_tense(body) || done;
        }
        let (start, end) = (start + item.skip, start + trimmed.len());
        let kind = Kind::Item { list, ordered: item.ordered, done };
        self.open = Some(Draft { start, end, kind, planned: self.section_planned });
    }

    fn paragraph(&mut self, start: usize, trimmed: &str, indent: usize) {
        let end = start + trimmed.len();
        if let Some(open) = &mut self.open {
            open.end = end;
            return;
        }
        if self.dropped_indent.is_some_and(|dropped| indent > dropped) {
            return;
        }
        self.in_list &= indent > 0;
        if !self.in_list {
            self.dropped_indent = None;
        }
        let planned = self.section_planned;
        self.open = Some(Draft { start, end, kind: Kind::Paragraph, planned });
    }

    fn close(&mut self) {
        self.drafts.extend(self.open.take());
    }

    fn announces_plan(&self, draft: Draft) -> bool {
        // The end of a paragraph introduces a list; a bound keeps many lists after it cheap.
        let from = draft.end.saturating_sub(MAX_INTRODUCTION).max(draft.start);
        let from = self.text.ceil_char_boundary(from);
        let text = self.text.get(from..draft.end).unwrap_or_default();
        let last = text.rsplit(['.', '!', '\n']).find(|part| !part.trim().is_empty());
        let last = last.unwrap_or_default();
        let label = last.trim_end_matches(['*', '_', ' ']).ends_with(':');
        (label || last.split_whitespace().count() <= 8) && is_plan(last)
    }

    fn finish(self) -> Vec<Block<'a>> {
        let keep = |draft: &&Draft| match draft.kind {
            Kind::Paragraph => !draft.planned,
            Kind::Item { done: true, .. } => true,
            Kind::Item { list, ordered, .. } => {
                let list = self.lists.get(list).copied().unwrap_or_default();
                !draft.planned && !list.plan && (list.report || !ordered)
            }
        };
        let block = |draft: &Draft| {
            let text = self.text.get(draft.start..draft.end)?;
            Some(Block { offset: draft.start, text })
        };
        self.drafts.iter().filter(keep).filter_map(block).collect()
    }
}

struct Item {
    /// Bytes of marker and box before the item's text.
    skip: usize,
    ordered: bool,
    checked: Option<bool>,
}

fn list_item(trimmed: &str) -> Option<Item> {
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let (marker, ordered) = if (1..=3).contains(&digits) {
        let rest = trimmed.get(digits..)?;
        (rest.starts_with(['.', ')']).then_some(digits + 1)?, true)
    } else {
        let first = trimmed.chars().next()?;
        (matches!(first, '-' | '*' | '+' | '\u{2022}').then(|| first.len_utf8())?, false)
    };
    let rest = trimmed.get(marker..)?;
    let body = rest.trim_start();
    if body.len() == rest.len() {
        return None;
    }
    let checked = match body.get(..3) {
        Some("[ ]") => Some(false),
        Some("[x]" | "[X]") => Some(true),
        _ => None,
    };
    let body = if checked.is_some() { body.get(3..)?.trim_start() } else { body };
    Some(Item { skip: trimmed.len() - body.len(), ordered, checked })
}

fn opens_fence(trimmed: &str) -> Option<(char, usize)> {
    let mark = trimmed.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = trimmed.chars().take_while(|c| *c == mark).count();
    // A back-tick after the run means inline code: ```like this```.
    let info = trimmed.get(length..)?;
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

fn closes_fence(trimmed: &str, mark: char, length: usize) -> bool {
    trimmed.chars().all(|c| c == mark) && trimmed.len() >= length
}

fn is_heading(trimmed: &str) -> bool {
    let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&level) && trimmed.get(level..).is_none_or(|rest| rest.starts_with(' '))
        || trimmed.bytes().all(|byte| byte == b'#')
}

fn is_rule(trimmed: &str) -> bool {
    let all = |mark: u8| trimmed.bytes().all(|byte| byte == mark);
    trimmed.len() >= 2 && all(b'=') || trimmed.len() >= 3 && (all(b'-') || all(b'*') || all(b'_'))
}

fn indent_of(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| c.is_whitespace());
    blanks.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    parts.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase)
}

fn is_plan(text: &str) -> bool {
    words(text).any(|word| PLAN_WORDS.contains(&word.as_str()))
}

fn opens_imperatively(item: &str) -> bool {
    let Some(first) = item.trim_start_matches(['*', '_']).split_whitespace().next() else {
        return false;
    };
    // "Update: all tests pass" is a label, not an order.
    !first.contains(':') && IMPERATIVES.contains(&first.to_ascii_lowercase().as_str())
}

fn opens_in_past_tense(item: &str) -> bool {
    words(item).next().is_some_and(|word| word.len() > 4 && word.ends_with("ed") || word == "ran")
}
