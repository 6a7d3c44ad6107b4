//! Runs self-test jobs as child processes of this same binary, several at once.
//!
//! Each child has its own process group, scratch folder and home, and a deadline. When it passes,
//! the whole group is killed and the outcome is a timeout, whatever the child had printed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::judge::ChildOutcome;
use super::options::Options;
use super::report::jsonl;
use super::selftest::{Job, Launch};

/// How often a child that closed its output is asked whether it has ended.
const ENDED_POLL: Duration = Duration::from_millis(2);

/// Longest text kept of what a child said on stderr, in characters.
const STDERR_SHOWN_MAX: usize = 300;

/// Scratch folders of this process so far.
static FOLDERS_MADE: AtomicUsize = AtomicUsize::new(0);

/// A folder that is removed again at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new folder below an existing one; each call of a process makes another.
    ///
    /// # Errors
    /// When it cannot be made, or already exists.
    pub fn below(parent: &Path) -> io::Result<Self> {
        let number = FOLDERS_MADE.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("fornax-conformance-{}-{number}", std::process::id()));
        fs::create_dir(&folder)?;
        Ok(Self(folder))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left in the temporary folder; there is nobody to tell.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One process a job.
pub struct Processes<'a> {
    /// The program, its first arguments, the seed, the deadline and the number of children.
    pub options: &'a Options,
    /// Where children get their folders.
    pub scratch: &'a Path,
    started: AtomicUsize,
}

impl<'a> Processes<'a> {
    /// A launcher with its folder.
    pub fn new(options: &'a Options, scratch: &'a Path) -> Self {
        Self { options, scratch, started: AtomicUsize::new(0) }
    }

    fn one(&self, job: &Job) -> ChildOutcome {
        self.supervised(job).unwrap_or_else(|error| ChildOutcome {
            fault: Some(format!("the child could not be run: {error}")),
            unstarted: true,
            ..ChildOutcome::default()
        })
    }

    fn supervised(&self, job: &Job) -> io::Result<ChildOutcome> {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let folder = self.scratch.join(number.to_string());
        fs::create_dir(&folder)?;
        let stderr = folder.join("stderr");
        let deadline = Instant::now() + Duration::from_millis(self.options.timeout_ms);
        let mut child = self
            .command(job)
            .current_dir(&folder)
            .env("HOME", &folder)
            // What a killed child leaves behind goes with its folder.
            .env("TMPDIR", &folder)
            .env("FORNAX_HOME", folder.join("fornax"))
            .env_remove("XDG_RUNTIME_DIR")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&stderr)?)
            .process_group(0)
            .spawn()?;
        let printed = child.stdout.take().map(collect);
        match until(deadline, &mut child, printed.as_ref()) {
            Some((status, text)) => Ok(outcome(status, &text, &stderr)),
            None => {
                kill_group(&mut child)?;
                Ok(ChildOutcome { timed_out: true, ..ChildOutcome::default() })
            }
        }
    }

    fn command(&self, job: &Job) -> Command {
        let mut command = Command::new(&self.options.self_exe);
        command.args(&self.options.argv_prefix);
        command.args(["--format", "jsonl", "--mode", &job.mode]);
        command.args(["--seed", &self.options.seed.to_string()]);
        command.args(["--timeout-ms", &self.options.timeout_ms.to_string()]);
        let narrowed = [
            ("--without-contract", &job.without),
            ("--case", &job.case),
            ("--subject", &job.subject),
            ("--drop-site", &job.dropped),
        ];
        for (name, value) in narrowed {
            if let Some(value) = value {
                command.args([name, value]);
            }
        }
        command
    }
}

impl Launch for Processes<'_> {
    fn launch(&self, jobs: &[Job], each: &mut dyn FnMut(ChildOutcome)) {
        let next = AtomicUsize::new(0);
        let (done, finished) = channel();
        thread::scope(|scope| {
            for _ in 0..self.options.jobs.clamp(1, jobs.len().max(1)) {
                let (done, next) = (done.clone(), &next);
                scope.spawn(move || {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(job) = jobs.get(index) else { break };
                        if done.send((index, self.one(job))).is_err() {
                            break;
                        }
                    }
                });
            }
            // Only the workers' senders keep the channel open.
            drop(done);
            in_order(&finished, each);
        });
    }
}

/// Hands outcomes on in the order of their jobs; one that is early waits for those before it.
fn in_order(finished: &Receiver<(usize, ChildOutcome)>, each: &mut dyn FnMut(ChildOutcome)) {
    let mut early = BTreeMap::new();
    let mut due = 0_usize;
    for (index, outcome) in finished {
        early.insert(index, outcome);
        while let Some(outcome) = early.remove(&due) {
            each(outcome);
            due += 1;
        }
    }
}

/// Reads a child's output to its end on a thread of its own.
///
/// The thread is not joined: a process that left the group could keep the pipe open for ever.
fn collect(mut stdout: ChildStdout) -> Receiver<String> {
    let (done, printed) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Output that cannot be read is an incomplete report, which is judged as such.
        let _ = stdout.read_to_end(&mut bytes);
        let _ = done.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    printed
}

/// The child's end and output; none when the deadline passed first.
fn until(
    deadline: Instant,
    child: &mut Child,
    printed: Option<&Receiver<String>>,
) -> Option<(ExitStatus, String)> {
    let left = deadline.saturating_duration_since(Instant::now());
    let text = printed?.recv_timeout(left).ok()?;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some((status, text)),
            Ok(None) if Instant::now() < deadline => thread::sleep(ENDED_POLL),
            Ok(None) | Err(_) => return None,
        }
    }
}

fn kill_group(child: &mut Child) -> io::Result<()> {
    match kill_process_group(Pid::from_child(child), Signal::KILL) {
        // It ended by itself in the meantime.
        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
        Err(error) => return Err(error.into()),
    }
    child.wait().map(|_| ())
}

fn outcome(status: ExitStatus, text: &str, stderr: &Path) -> ChildOutcome {
    let report = jsonl::read(text);
    let fault = report.is_none().then(|| {
        let said = fs::read(stderr).unwrap_or_default();
        let said: String = String::from_utf8_lossy(&said).chars().take(STDERR_SHOWN_MAX).collect();
        format!("no complete report; stderr: {said:?}")
    });
    ChildOutcome { exit: status.code(), report, fault, ..ChildOutcome::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::options::samples::options;

    fn shell(script: &str, timeout_ms: u64, jobs: usize) -> Vec<ChildOutcome> {
        let parent = tempfile::tempdir().unwrap();
        let options = Options {
            self_exe: "/bin/sh".into(),
            argv_prefix: vec!["-c".into(), script.into()],
            timeout_ms,
            jobs: 2,
            ..options()
        };
        let launcher = Processes::new(&options, parent.path());
        launcher.outcomes(&vec![Job::default(); jobs])
    }

    #[test]
    fn a_child_over_its_deadline_is_killed_with_its_children() {
        let started = Instant::now();
        let outcomes = shell("sleep 60 & sleep 60", 150, 2);
        assert_eq!(outcomes.len(), 2);
        for outcome in outcomes {
            assert!(outcome.timed_out, "{outcome:?}");
            assert_eq!((outcome.exit, outcome.report), (None, None));
        }
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_child_that_closes_its_output_and_stays_is_killed_too() {
        let outcomes = shell("exec >&-; sleep 60", 150, 1);
        assert!(outcomes[0].timed_out, "{outcomes:?}");
    }

    #[test]
    fn a_child_that_says_no_report_is_a_fault_with_its_own_words() {
        let outcomes = shell("echo hello; echo trouble >&2; exit 1", 20_000, 1);
        assert_eq!(outcomes[0].exit, Some(1));
        assert_eq!(
            outcomes[0].fault.as_deref(),
            Some("no complete report; stderr: \"trouble\\n\"")
        );
    }

    #[test]
    fn a_child_ended_by_a_signal_has_no_exit_code() {
        let outcomes = shell("kill -9 $$", 20_000, 1);
        assert_eq!((outcomes[0].exit, outcomes[0].timed_out), (None, false));
    }

    #[test]
    fn each_child_has_a_home_and_a_folder_of_its_own() {
        let outcomes = shell("pwd -P >&2; (cd \"$HOME\"; pwd -P) >&2; exit 1", 20_000, 2);
        let said: Vec<_> = outcomes.iter().map(|one| one.fault.clone().unwrap()).collect();
        assert_ne!(said[0], said[1]);
        for text in said {
            let lines: Vec<&str> = text.split(['"', '\\']).collect();
            assert_eq!(
                lines.get(1).map(|line| format!("n{line}")).as_deref(),
                lines.get(2).copied()
            );
        }
    }

    #[test]
    fn outcomes_come_in_the_order_of_their_jobs() {
        let (done, finished) = channel();
        for index in [2, 0, 3, 1] {
            let exit = i32::try_from(index).ok();
            done.send((index, ChildOutcome { exit, ..ChildOutcome::default() })).unwrap();
        }
        drop(done);
        let mut order = Vec::new();
        in_order(&finished, &mut |outcome| order.extend(outcome.exit));
        assert_eq!(order, [0, 1, 2, 3]);
    }

    #[test]
    fn a_program_that_is_not_there_is_a_fault() {
        let parent = tempfile::tempdir().unwrap();
        let options = Options { self_exe: parent.path().join("nothing"), ..options() };
        let launcher = Processes::new(&options, parent.path());
        let outcomes = launcher.outcomes(&[Job::default()]);
        assert!(outcomes[0].unstarted, "{outcomes:?}");
    }
}
