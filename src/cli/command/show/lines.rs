//! The lines of one entry: prompts and answers in full sentences, everything else in one line.

use crate::cli::story::{self, Told};
use crate::cli::ui::{Tone, Ui};
use crate::cli::wrap;
use crate::domain::event::EventKind;

/// Columns before the text of a prompt or an answer: the time and the word.
const INDENT: usize = 16;
/// Columns where stdout is no terminal.
const WIDTH: usize = 100;
/// Lines of one prompt or answer at most.
const LINES_MAX: usize = 12;

/// The lines of an entry that begins with its time; `more` goes to the end of the first.
pub(super) fn of(told: &Told<'_>, time: &str, more: &str, width: Option<usize>) -> Vec<String> {
    let word = match EventKind::from_tag(told.kind) {
        EventKind::UserPromptSubmit => Ui::tone(Tone::Strong, "prompt"),
        EventKind::AssistantMessage => "agent ".to_owned(),
        _ => return vec![wrap::cut(&format!("{time} {}{more}", story::line(told)), width)],
    };
    let room = width.unwrap_or(WIDTH).saturating_sub(INDENT);
    let mut lines = wrap::wrap(told.text.unwrap_or_default(), room, LINES_MAX).into_iter();
    let first = lines.next().unwrap_or_default();
    let mut out = vec![format!("{time} {word} {first}{more}")];
    out.extend(lines.map(|line| format!("{}{line}", " ".repeat(INDENT))));
    out
}
