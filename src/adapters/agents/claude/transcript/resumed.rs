//! Sessions that old builds (1.0.x) resumed under a new id, in a new file.
//!
//! Such a file begins with the history so far. Prompts in it keep the session and time that they
//! were typed in, and meet the originals there. Answers and calls carry the new session and the
//! time of copying, all within moments. The file's name holds the id of its own session.

use super::line::Line;
use crate::base::time::Micros;
use serde::{Deserialize, Serialize};

/// How long copying takes at most, in microseconds.
const COPYING_US: i64 = 1_000_000;

/// The sessions of a file, and how far its copied history goes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Resumed {
    own: Option<String>,
    /// The session that it resumes.
    other: Option<String>,
    /// When the history was copied, in microseconds.
    copied_us: Option<i64>,
    /// Whether the file's own part has begun.
    past: bool,
}

impl Resumed {
    /// The file's own session and the one that it resumes, told once, when both were seen.
    pub(super) fn tells(&mut self, file: &str, session: &str) -> Option<(String, String)> {
        let own = file.contains(session);
        let place = if own { &mut self.own } else { &mut self.other };
        let known = place.is_some();
        place.get_or_insert_with(|| session.to_owned());
        if known { None } else { self.own.clone().zip(self.other.clone()) }
    }

    /// Whether the line is a copied answer or call. Only an answer to another session's prompt
    /// shows that history was copied; what follows within moments is of the same copy.
    pub(super) fn copied(&mut self, line: &Line<'_>, session: &str) -> bool {
        if self.past {
            return false;
        }
        if !line.hint.contains(session) {
            self.other.get_or_insert_with(|| session.to_owned());
            return false;
        }
        let at = line.at.and_then(Micros::parse).map(|at| at.0);
        let copy = match (&self.other, self.copied_us, at) {
            (Some(_), None, Some(at)) if line.kind == "assistant" => {
                self.copied_us = Some(at);
                true
            }
            (Some(_), Some(copied), Some(at)) => at <= copied.saturating_add(COPYING_US),
            _ => false,
        };
        self.past = !copy;
        copy
    }
}
