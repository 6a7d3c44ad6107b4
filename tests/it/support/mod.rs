//! What every subject needs: an environment of its own, the program in it, and its answers.
//!
//! `TestEnv` owns a temporary folder with a HOME, fornax's home, both agents' homes and a runtime
//! folder. `Ran` is what a run came to; it must be judged. `claude` and `codex` make small
//! histories; `rows` reads the store back.

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod disks;
pub(crate) mod first_fornax;
pub(crate) mod rows;

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// No run may take longer; a test that hangs is a test that fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// One test's world.
pub(crate) struct TestEnv {
    root: TempDir,
}

impl TestEnv {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "claude", "codex", "run", "work"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    /// The user's HOME.
    pub(crate) fn user_home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// `$FORNAX_HOME`; not made until fornax makes it.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("fornax")
    }

    /// `$CLAUDE_CONFIG_DIR`.
    pub(crate) fn claude_home(&self) -> PathBuf {
        self.root.path().join("claude")
    }

    /// `$CODEX_HOME`.
    pub(crate) fn codex_home(&self) -> PathBuf {
        self.root.path().join("codex")
    }

    /// `$XDG_RUNTIME_DIR`.
    pub(crate) fn runtime(&self) -> PathBuf {
        self.root.path().join("run")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.home().join("store.db")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.home().join("journal")
    }

    /// A path in the folder that the program runs in.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("work").join(name)
    }

    /// Writes a file there, with its folders.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The program with a cleared environment, for tests that need the process itself.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fornax"));
        command
            .env_clear()
            .env("HOME", self.user_home())
            .env("FORNAX_HOME", self.home())
            .env("CLAUDE_CONFIG_DIR", self.claude_home())
            .env("CODEX_HOME", self.codex_home())
            .env("XDG_RUNTIME_DIR", self.runtime())
            .env("NO_COLOR", "1")
            .current_dir(self.root.path().join("work"));
        command
    }

    /// Runs the program with nothing on stdin.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        let mut command = self.command();
        command.args(args);
        Ran::of(command, b"")
    }

    /// `fornax ingest PATH --json`, which must succeed; answers the summary.
    pub(crate) fn ingest(&self, path: &Path) -> Value {
        self.run([OsStr::new("ingest"), path.as_os_str(), OsStr::new("--json")]).ok().json()
    }

    /// One hook payload; asserts the promise that holds whatever it is.
    pub(crate) fn hook(&self, agent: &str, payload: impl AsRef<[u8]>) {
        let mut command = self.command();
        command.args(["hook", agent]);
        Ran::of(command, payload.as_ref()).silent();
    }

    /// `fornax sessions --json`.
    pub(crate) fn sessions(&self) -> Vec<Value> {
        let answer = self.run(["sessions", "--json"]).ok().json();
        answer["sessions"].as_array().unwrap().clone()
    }

    /// `fornax losses --json`.
    pub(crate) fn losses(&self) -> Vec<Value> {
        let answer = self.run(["losses", "--json"]).ok().json();
        answer["losses"].as_array().unwrap().clone()
    }

    /// How many losses of one reason are counted.
    pub(crate) fn lost(&self, reason: &str) -> i64 {
        let of = |loss: &Value| loss["reason"] == reason;
        self.losses().iter().filter(|l| of(l)).map(|l| l["count"].as_i64().unwrap()).sum()
    }

    /// Files below a folder, with their bytes; links are not followed.
    pub(crate) fn files_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut waiting = vec![folder.to_owned()];
        while let Some(at) = waiting.pop() {
            for entry in fs::read_dir(&at).into_iter().flatten() {
                let entry = entry.unwrap();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    waiting.push(entry.path());
                } else if kind.is_file() {
                    found.push((entry.path(), fs::read(entry.path()).unwrap()));
                }
            }
        }
        found.sort();
        found
    }
}

/// A run whose exit code was not looked at yet.
#[must_use = "a run whose end nobody looks at proves nothing"]
pub(crate) struct Ran(Answer);

/// What a run said, its exit code judged.
pub(crate) struct Answer {
    told: String,
    code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Runs `command` with `stdin` to its end.
    pub(crate) fn of(command: Command, stdin: &[u8]) -> Self {
        let told = format!("{:?}", command.get_args().collect::<Vec<_>>());
        let output = assert_cmd::Command::from_std(command)
            .timeout(PATIENCE)
            .write_stdin(stdin)
            .output()
            .unwrap();
        let code = output.status.code().unwrap_or_else(|| panic!("{told} ended by a signal"));
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self(Answer { told, code, stdout: text(output.stdout), stderr: text(output.stderr) })
    }

    /// Asserts exit code 0 and nothing on stderr.
    #[track_caller]
    pub(crate) fn ok(self) -> Answer {
        let answer = self.fails_with(0);
        assert_eq!(answer.stderr, "", "{} talks", answer.told);
        answer
    }

    /// Asserts an exit code.
    #[track_caller]
    pub(crate) fn fails_with(self, code: i32) -> Answer {
        let Answer { told, stdout, stderr, .. } = &self.0;
        assert_eq!(self.0.code, code, "{told}\nstdout: {stdout}\nstderr: {stderr}");
        self.0
    }

    /// Asserts success without a single byte of output.
    #[track_caller]
    pub(crate) fn silent(self) {
        let answer = self.ok();
        assert_eq!(answer.stdout, "", "{} talks", answer.told);
    }

    /// Asserts an exit code, an empty stdout, and exactly one line on stderr; answers that line.
    #[track_caller]
    pub(crate) fn one_line_error(self, code: i32) -> String {
        let answer = self.fails_with(code);
        assert_eq!(answer.stdout, "", "{} prints a result", answer.told);
        assert_eq!(answer.stderr.lines().count(), 1, "{}: {}", answer.told, answer.stderr);
        assert!(answer.stderr.starts_with("fornax: "), "{}", answer.stderr);
        answer.stderr.trim_end().to_owned()
    }
}

impl Answer {
    /// The one JSON document on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("{}: {e}: {}", self.told, self.stdout))
    }

    /// The JSON records on stdout, one a line.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Whether permissions stop nobody here.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A child that a test may leave behind; it is ended with the test.
pub(crate) struct Child(pub(crate) std::process::Child);

impl Child {
    /// Starts `command` with all three streams piped.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    /// Waits for its end, at most `limit`; `None` when it goes on.
    pub(crate) fn ends_within(&mut self, limit: Duration) -> Option<i32> {
        let start = std::time::Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            if start.elapsed() > limit {
                return None;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Most have ended by themselves.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
