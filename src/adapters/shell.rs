//! A person's own status line command, run by the shell as the agent would run it.

use crate::ports::chain::Chain;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long the command may take.
const LIMIT: Duration = Duration::from_secs(2);
/// At most so much of its output is kept.
const OUTPUT_MAX: u64 = 64 * 1024;

/// Runs a command with `sh -c`.
#[derive(Debug, Clone, Copy)]
pub struct ShellChain;

impl Chain for ShellChain {
    fn output(&self, command: &str, input: &[u8]) -> io::Result<Vec<u8>> {
        run(command, input, LIMIT)
    }
}

fn run(command: &str, input: &[u8], limit: Duration) -> io::Result<Vec<u8>> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // A group of its own, so that whatever it started can be ended with it.
        .process_group(0)
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        // A command that does not read its input must not stop this one. It may also be gone.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let (tell, told) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut output = Vec::new();
            let read = stdout.take(OUTPUT_MAX).read_to_end(&mut output);
            // After the limit nobody listens.
            let _ = tell.send(read.map(|_| output));
        });
    }
    let output = told.recv_timeout(limit);
    end(&mut child);
    match output {
        Ok(output) => output,
        Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut)),
    }
}

/// Ends the command and what it started.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // It may have ended by itself.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn said(command: &str, input: &[u8]) -> String {
        String::from_utf8(run(command, input, LIMIT).unwrap()).unwrap()
    }

    #[test]
    fn the_command_gets_the_input_and_its_output_comes_back() {
        assert_eq!(said("read line; echo \"got $line\"", b"{\"a\":1}\n"), "got {\"a\":1}\n");
        assert_eq!(said("echo unread", &vec![b'x'; 1 << 20]), "unread\n");
        assert_eq!(said("echo half; exit 3", b""), "half\n");
    }

    #[test]
    fn a_command_that_hangs_or_floods_is_ended_with_all_that_it_started() {
        let begun = Instant::now();
        let hung = run("sleep 30 & sleep 30", b"", Duration::from_millis(100));
        assert_eq!(hung.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert_eq!(run("yes", b"", LIMIT).unwrap().len() as u64, OUTPUT_MAX);
    }
}
