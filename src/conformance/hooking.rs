//! Runs a hook as the process that an agent would start, and waits for it with a limit.

use super::normalizing::HookEnd;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a hook is waited for: its deadline is 400 ms, and a machine may be busy.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is asked whether it has ended.
const POLL: Duration = Duration::from_millis(2);

/// Runs `program hook WORD` once.
///
/// # Errors
/// When it cannot be started.
pub fn run_hook(
    program: &Path,
    word: &str,
    home: &Path,
    runtime: &Path,
    payload: &[u8],
) -> io::Result<HookEnd> {
    let mut child = Command::new(program)
        .args(["hook", word])
        .env_clear()
        .env("HOME", home)
        .env("FORNAX_HOME", home)
        .env("XDG_RUNTIME_DIR", runtime)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A hook stops reading after its payload.
        let _ = stdin.write_all(payload);
    }
    let begun = Instant::now();
    let status = loop {
        match child.try_wait()? {
            Some(status) => break Some(status),
            None if begun.elapsed() < PATIENCE => thread::sleep(POLL),
            None => break None,
        }
    };
    if status.is_none() {
        child.kill()?;
        child.wait()?;
    }
    let mut printed = String::new();
    let streams: [Option<Box<dyn io::Read>>; 2] = [
        child.stdout.take().map(|s| Box::new(s) as Box<dyn io::Read>),
        child.stderr.take().map(|s| Box::new(s) as Box<dyn io::Read>),
    ];
    for stream in streams.into_iter().flatten() {
        let mut bytes = Vec::new();
        stream.take(64 * 1024).read_to_end(&mut bytes)?;
        printed.push_str(&String::from_utf8_lossy(&bytes));
    }
    let in_time = status.is_some();
    Ok(HookEnd { exit: status.and_then(|status| status.code()), printed, in_time })
}
