//! Every cap in one table. Sizes in bytes, times in milliseconds unless the name says otherwise.

use std::time::Duration;

/// Longest text stored in one field.
pub const TEXT_BYTES_MAX: usize = 16 * 1024;
/// Of that, the part kept from the end of a longer text (test summaries stand there).
pub const TEXT_TAIL_BYTES: usize = 4 * 1024;
/// Longest line read from a file; a longer one is a located loss.
pub const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes asked from a file at a time.
pub const READ_CHUNK_BYTES: usize = 256 * 1024;
/// Longest text that `fornax read` prints unless told otherwise.
pub const READ_TEXT_BYTES_MAX: usize = 1024 * 1024;
/// JSON nesting kept; deeper values are cut out of a line.
pub const JSON_DEPTH_MAX: usize = 100;
/// Longest hook payload kept, after long fields were cut.
pub const HOOK_PAYLOAD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// When `fornax hook` must have returned.
pub const HOOK_DEADLINE: Duration = Duration::from_millis(400);
/// When its first thread stops waiting for the work, so that leaving fits into the deadline.
pub const HOOK_WATCHDOG: Duration = HOOK_DEADLINE.saturating_sub(Duration::from_millis(60));
/// When the answer of `hook --gate` must be known; a later one is not given.
pub const HOOK_GATE_DEADLINE: Duration = Duration::from_millis(300);
/// When it stops waiting for its payload.
pub const HOOK_READ_DEADLINE: Duration = Duration::from_millis(280);
/// How long a hook waits for the journal lock before it writes a segment of its own.
pub const JOURNAL_LOCK_WAIT: Duration = Duration::from_millis(50);
/// How long a command waits for another one that is draining.
pub const DRAIN_WAIT: Duration = Duration::from_secs(2);
/// A journal segment over this size is closed and a new one begun.
pub const JOURNAL_SEGMENT_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Past this much undrained journal, frames keep ids, command, outcome and exit code only.
pub const JOURNAL_UNDRAINED_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Equal hook payloads without any id that arrive within this time are one event.
pub const SAME_PAYLOAD_WINDOW_US: i64 = 2_000_000;
/// How long a batch may hold the store's write lock.
pub const WRITE_LOCK_HOLD: Duration = Duration::from_millis(50);
/// Rows in one write batch at most.
pub const BATCH_ROWS_MAX: usize = 2_000;
/// How long a writer waits for the store.
pub const STORE_BUSY: Duration = Duration::from_secs(5);
/// Bytes of the prefix's head and of its tail that resume compares.
pub const PREFIX_WINDOW_BYTES: u64 = 64 * 1024;
/// Lines looked at to tell what a file is.
pub const SAMPLE_VALUES_MAX: usize = 24;
/// Bytes looked at to tell what a file is.
pub const SAMPLE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest whole-document source (`.json` rollouts).
pub const DOCUMENT_BYTES_MAX: u64 = 64 * 1024 * 1024;
