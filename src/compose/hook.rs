//! The road of `fornax hook`: from stdin to the journal, silent, in time, exit 0.
//!
//! The work is done by a second thread; the first one waits for it until the deadline and then
//! leaves, whatever the disk or the input does. A panic is caught and becomes a loss. Where the
//! agent sends a stream nobody waits for its end, and there is no deadline.

use super::gate::{self, Overheard};
use super::{families, fornax_home, path_variable, unique};
use crate::adapters::journal::{JournalAppender, JournalFolder};
use crate::adapters::stdin::Stdin;
use crate::adapters::system_clock::SystemClock;
use crate::app::delivery::Delivery;
use crate::app::record::Hook;
use crate::base::hash::Digest;
use crate::base::limits::{HOOK_GATE_DEADLINE, HOOK_WATCHDOG};
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::Message;
use crate::ports::agent::HookInput;
use crate::ports::clock::Clock as _;
use crate::ports::journal::{JournalReader as _, JournalWriter as _};
use crate::ports::payload::{PayloadInput, Step};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// What was typed after `hook`.
#[derive(Debug, Default)]
struct Typed {
    /// The word `hook` itself was met.
    command: bool,
    agent: Option<String>,
    payload: Option<Vec<u8>>,
    fsync: bool,
    /// Answer the end of a turn, where a claim of it is contradicted.
    gate: bool,
    home: Option<PathBuf>,
}

/// Whether the command line is the hook's (help is for people, and goes the usual way).
pub(super) fn is_meant(args: &[OsString]) -> bool {
    let mut rest = args.iter().skip(1);
    while let Some(arg) = rest.next() {
        let text = arg.to_string_lossy();
        if text == "hook" {
            return !args.iter().any(|a| a == "--help" || a == "-h");
        }
        // Global options may stand before the command; two of them have a value.
        if text == "--home" || text == "--color" {
            rest.next();
        } else if !text.starts_with('-') {
            return false;
        }
    }
    false
}

/// Records one payload. Always success.
pub(super) fn main(args: &[OsString], started: Instant) -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    // A file-size limit must come back as a failed write, not as a killed hook. Where even this
    // cannot be arranged the hook goes on without it.
    let limit = rustix::process::Signal::XFSZ.as_raw();
    let _ = signal_hook::flag::register(limit, Arc::new(AtomicBool::new(false)));
    let typed = typed(args.get(1..).unwrap_or_default());
    let home = fornax_home(typed.home.as_deref());
    let is_stream = is_stream(&typed);
    let (done, finished) = sync_channel(1);
    let worker_home = home.clone();
    let worker = std::thread::Builder::new().spawn(move || {
        let answer = record(&typed, &worker_home, started);
        // The receiver is gone only when the deadline has passed.
        let _ = done.send(answer);
    });
    if worker.is_err() {
        return ExitCode::SUCCESS;
    }
    let waited = if is_stream {
        finished.recv().map_err(|_| RecvTimeoutError::Disconnected)
    } else {
        finished.recv_timeout(HOOK_WATCHDOG.saturating_sub(started.elapsed()))
    };
    let reason = match waited {
        Ok(answer) => {
            say(answer, started);
            return ExitCode::SUCCESS;
        }
        Err(RecvTimeoutError::Disconnected) => LossReason::HookFault,
        Err(RecvTimeoutError::Timeout) => LossReason::HookDeadline,
    };
    // What was not recorded is said in the journal, where it is counted.
    let _ = appender(&home, false).append(&fault(reason));
    ExitCode::SUCCESS
}

/// Prints the gate's answer; one that comes too late is none.
fn say(answer: Option<String>, started: Instant) {
    if let Some(answer) = answer.filter(|_| started.elapsed() < HOOK_GATE_DEADLINE) {
        // A host that does not listen is not blocked.
        let _ = writeln!(io::stdout(), "{answer}");
    }
}

/// Whether the agent that was named sends all its payloads to one process.
fn is_stream(typed: &Typed) -> bool {
    typed.payload.is_none()
        && families().iter().any(|family| {
            typed.agent.as_deref() == Some(family.command_word())
                && family.hook_input() == HookInput::Stream
        })
}

/// Records the payload; with `--gate`, what to answer.
fn record(typed: &Typed, home: &Path, started: Instant) -> Option<String> {
    let families = families();
    let family = typed
        .agent
        .as_deref()
        .and_then(|word| families.iter().find(|f| f.command_word() == word))
        .map(AsRef::as_ref);
    let journal = appender(home, typed.fsync);
    let folder = JournalFolder::new(home, None, String::new());
    let waiting_bytes = || folder.waiting_bytes();
    let waiting_bytes = &waiting_bytes;
    let hook = Hook { family, clock: &SystemClock, journal: &journal, started, waiting_bytes };
    // What cannot be written anywhere shows as a gap when the transcript is read.
    let _ = match &typed.payload {
        Some(bytes) => hook.run(&mut Argument(bytes)),
        None if is_stream(typed) => hook.run_stream(&mut Stdin::new()),
        None if typed.gate => {
            let mut stdin = Stdin::new();
            let mut input = Overheard::new(&mut stdin);
            hook.run(&mut input).ok()?;
            return gate::answer(family?, &input.into_kept(), home);
        }
        None => hook.run(&mut Stdin::new()),
    };
    None
}

fn appender(home: &Path, fsync: bool) -> JournalAppender {
    JournalAppender::new(home, path_variable("XDG_RUNTIME_DIR").as_deref(), fsync, unique())
}

/// The frame of a hook that failed inside, or whose work took too long.
fn fault(reason: LossReason) -> Vec<u8> {
    let loss = LossDraft::one(None, reason, "payload", "");
    let delivery = Delivery {
        at_us: SystemClock.now().0,
        provider: "unknown".to_owned(),
        adapter: String::new(),
        payload_hash: Digest::of(b"").hex(),
        payload_bytes: 0,
        messages: vec![Message::Loss(loss)],
        ignored: None,
        unrecognized: None,
    };
    serde_json::to_vec(&delivery).unwrap_or_default()
}

/// Takes arguments leniently: what is not known is passed over, since a hook must not fail.
fn typed(args: &[OsString]) -> Typed {
    let mut typed = Typed::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let text = arg.to_string_lossy();
        if text == "hook" && !typed.command {
            typed.command = true;
        } else if text == "--color" {
            rest.next();
        } else if text == "--fsync" {
            typed.fsync = true;
        } else if text == "--gate" {
            typed.gate = true;
        } else if text == "--home" {
            typed.home = rest.next().map(PathBuf::from);
        } else if let Some(home) = text.strip_prefix("--home=") {
            typed.home = Some(PathBuf::from(home));
        } else if text.starts_with('-') {
            // Not an option that this version knows.
        } else if typed.agent.is_none() {
            typed.agent = Some(text.into_owned());
        } else if typed.payload.is_none() {
            typed.payload = Some(arg.as_encoded_bytes().to_vec());
        }
    }
    typed
}

/// A payload that came as an argument.
struct Argument<'a>(&'a [u8]);

impl PayloadInput for Argument<'_> {
    fn read(&mut self, buf: &mut [u8], _wait: Duration) -> io::Result<Step> {
        match io::Read::read(&mut self.0, buf)? {
            0 => Ok(Step::End),
            n => Ok(Step::Bytes(n)),
        }
    }
}
