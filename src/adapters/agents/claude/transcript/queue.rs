//! Prompts typed while the agent works: put into a queue, then taken in.
//!
//! A prompt that waits for the turn's end becomes a user line. One that is taken in during the turn
//! becomes an attachment in newer builds (2.1.97 on), and in older ones no line at all: only the
//! queue tells of it. Both are named by when they were queued and by their text, so that a prompt
//! that the queue and an attachment tell of is one prompt. What was taken back is none.

use super::super::prompt::{self, UserText};
use super::super::wire::{member, plain_text, text};
use super::line::Line;
use super::{ClaudeTranscript, Reply};
use crate::base::hash::Digest;
use crate::domain::event::{EventKind, NativeId};
use crate::domain::outcome::Message;
use serde::{Deserialize, Serialize};

/// Queue entries remembered for a conversation, those that were taken in included.
pub(super) const ENTRIES_MAX: usize = 256;
/// Longest text kept of a waiting prompt, in bytes: more than is ever stored of one.
const TEXT_MAX: usize = 32 * 1024;
/// What all texts of a queue together may weigh, in bytes.
pub(super) const QUEUE_BYTES_MAX: usize = 256 * 1024;

/// The queue of one conversation, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Queue {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// When it was queued, as spelled; part of its identity.
    at: String,
    /// Hash of its text; none for an entry that the host queued without stating it.
    hash: Option<String>,
    /// Kept while it waits and may have to be told from here.
    text: Option<String>,
    waiting: bool,
    /// An attachment has told it.
    attached: bool,
}

/// A prompt that left the queue into the running turn.
pub(super) struct TakenIn {
    pub(super) native: NativeId,
    pub(super) text: String,
}

impl Queue {
    /// Puts a prompt at the end; true when one that still waited had to be forgotten for it.
    fn push(&mut self, at: &str, said: Option<&str>) -> bool {
        let text = said.map(|said| head(said, TEXT_MAX).to_owned());
        let mut lost = false;
        while self.is_full(text.as_ref().map_or(0, String::len)) {
            let oldest = self.entries.iter().position(|entry| !entry.waiting).unwrap_or(0);
            lost |= self.entries.remove(oldest).waiting;
        }
        let (at, hash) = (at.to_owned(), said.map(hash));
        self.entries.push(Entry { at, hash, text, waiting: true, attached: false });
        lost
    }

    /// Whether an entry has to go before one with a text of this many bytes can come.
    fn is_full(&self, more: usize) -> bool {
        let weight = self.entries.iter().filter_map(|entry| entry.text.as_ref());
        let weight: usize = weight.map(String::len).sum();
        self.entries.len() >= ENTRIES_MAX
            || (!self.entries.is_empty() && weight + more > QUEUE_BYTES_MAX)
    }

    fn leave(&mut self, which: impl Fn(&Entry) -> bool) -> Option<&mut Entry> {
        let mut waiting = self.entries.iter_mut().filter(|entry| entry.waiting);
        let entry = waiting.find(|entry| which(entry))?;
        entry.waiting = false;
        Some(entry)
    }

    /// The first one that waits goes into a turn of its own; a user line tells it.
    fn dequeue(&mut self) {
        if let Some(entry) = self.leave(|_| true) {
            entry.text = None;
        }
    }

    /// One goes into the running turn: that with this text where it is stated, else the first that
    /// is no slash command (those wait). What an attachment has told is not told again.
    fn take_in(&mut self, said: Option<&str>) -> Option<TakenIn> {
        let named = said.map(hash);
        let entry = self.leave(|entry| match &named {
            Some(named) => entry.hash.as_ref() == Some(named),
            None => entry.text.as_deref().is_none_or(|text| !is_slash_command(text)),
        })?;
        let text = entry.text.take().filter(|_| !entry.attached)?;
        Some(TakenIn { native: native(&entry.at, entry.hash.as_deref()?), text })
    }

    fn clear(&mut self) {
        self.entries.retain(|entry| !entry.waiting);
    }

    /// The identity of a prompt that an attachment tells, where the queue knows it.
    pub(super) fn attached(&mut self, said: &str) -> Option<NativeId> {
        let named = hash(said);
        let same = |entry: &&mut Entry| !entry.attached && entry.hash.as_ref() == Some(&named);
        let entry = self.entries.iter_mut().find(same)?;
        entry.attached = true;
        Some(native(&entry.at, &named))
    }
}

impl ClaudeTranscript {
    pub(super) fn queue_operation(&mut self, line: &Line<'_>) -> Reply {
        const NOTHING: &str = "queue of prompts";
        let said = line.value.get("content").and_then(plain_text);
        let queue = &mut self.state.conversation(line.conversation).queue;
        let taken = match text(line.value, "operation") {
            Some("enqueue") => {
                if queue.push(line.at.unwrap_or_default(), said.as_deref()) {
                    self.state.drop_a_call();
                }
                let said = said.unwrap_or_default();
                return Reply::Said(self.noticed_end(line, &said, "content"), NOTHING);
            }
            Some("dequeue") => {
                queue.dequeue();
                return Reply::Ignored(NOTHING);
            }
            Some("popAll") => {
                queue.clear();
                return Reply::Ignored(NOTHING);
            }
            Some("remove") => queue.take_in(said.as_deref()),
            _ => return Reply::Ignored(NOTHING),
        };
        // Builds that state why it was removed write an attachment for what was taken in.
        let stated = member(line.value, "reason").is_some();
        let Some(taken) = taken.filter(|taken| !stated && is_typed(&taken.text)) else {
            return Reply::Ignored(NOTHING);
        };
        let turn = self.turn_of(line);
        let kind = EventKind::UserPromptSubmit;
        // Its words stand in the line that queued it, so no path here leads to them.
        let mut event = line.event(kind, taken.native, turn.as_deref(), "");
        event.text = Some(taken.text);
        Reply::Said(vec![Message::Event(event)], NOTHING)
    }
}

/// A queued prompt's identity: when it was queued, and its text.
fn native(at: &str, hash: &str) -> NativeId {
    NativeId::new("text", format!("{at}|{hash}|0"))
}

/// The first bytes of a text, cut between characters.
fn head(said: &str, bytes: usize) -> &str {
    said.get(..said.floor_char_boundary(bytes)).unwrap_or(said)
}

fn hash(said: &str) -> String {
    Digest::of(said.as_bytes()).short_hex()
}

fn is_typed(said: &str) -> bool {
    !is_slash_command(said) && prompt::read(said).0 == UserText::Typed
}

/// `/name` and not `/a/path`.
fn is_slash_command(said: &str) -> bool {
    let word = said.split_whitespace().next().and_then(|word| word.strip_prefix('/'));
    word.is_some_and(|word| !word.is_empty() && !word.contains('/'))
}
