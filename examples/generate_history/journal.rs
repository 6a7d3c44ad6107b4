//! A journal full of hook payloads, written by the hook's own road.

use super::words::Chance;
use fornax::adapters::agents::claude::ClaudeFamily;
use fornax::adapters::journal::{JournalAppender, make_private_folder};
use fornax::app::record::Hook;
use fornax::base::time::Micros;
use fornax::ports::clock::Clock;
use fornax::ports::payload::{PayloadInput, Step};
use std::cell::Cell;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// A clock that moves on by a millisecond each time it is asked.
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Micros {
        Micros(self.0.fetch_add(1_000, Ordering::Relaxed))
    }
}

struct Bytes<'a>(Cell<&'a [u8]>);

impl PayloadInput for Bytes<'_> {
    fn read(&mut self, buf: &mut [u8], _wait: Duration) -> io::Result<Step> {
        let bytes = self.0.get();
        let taken = bytes.len().min(buf.len());
        let (now, later) = bytes.split_at(taken);
        if now.is_empty() {
            return Ok(Step::End);
        }
        if let Some(part) = buf.get_mut(..taken) {
            part.copy_from_slice(now);
        }
        self.0.set(later);
        Ok(Step::Bytes(taken))
    }
}

/// Appends `count` payloads, calls and results of many sessions in turn, to the journal of `home`.
pub fn fill(home: &Path, count: u64, seed: u64) -> io::Result<()> {
    make_private_folder(home)?;
    let mut chance = Chance::new(seed);
    let clock = Ticking(AtomicI64::new(1_793_000_000_000_000));
    let sessions: Vec<String> = (0..50).map(|_| chance.uuid()).collect();
    let mut call = String::new();
    for nth in 0..count {
        let session =
            sessions.get((nth / 2) as usize % sessions.len()).cloned().unwrap_or_default();
        let (event, more) = if nth % 2 == 0 {
            call = chance.alnum(24);
            ("PreToolUse", String::new())
        } else {
            let text = format!("{} {}", chance.word(), chance.word());
            let response = format!(
                r#","tool_response":{{"stdout":"{text}\n","stderr":"","interrupted":false}}"#
            );
            ("PostToolUse", response)
        };
        let payload = format!(
            r#"{{"session_id":"{session}","transcript_path":"/t.jsonl","cwd":"/w","permission_mode":"default","hook_event_name":"{event}","tool_name":"Bash","tool_input":{{"command":"ls {}"}},"tool_use_id":"toolu_{call}"{more}}}"#,
            chance.word()
        );
        let journal = JournalAppender::new(home, None, false, format!("{nth:012}"));
        let hook = Hook {
            family: Some(&ClaudeFamily),
            clock: &clock,
            journal: &journal,
            started: Instant::now(),
            waiting_bytes: &|| 0,
        };
        hook.run(&mut Bytes(Cell::new(payload.as_bytes())))?;
    }
    Ok(())
}
