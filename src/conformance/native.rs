//! Small synthetic native files for the decoder and tail contracts, in the words of each dialect.
//!
//! A `Script` is a file being written: line after line, with times that grow by a second. What a
//! line means is the same in both dialects; how it is spelled is in `codex` and `claude`.

mod claude;
mod codex;
pub mod scenarios;

use serde_json::Value;

use super::decoding::Dialect;

/// The conversation of a script.
pub const OWN: &str = "019f0000-0000-7000-8000-00000000000a";
/// Another conversation: a parent, a fork's origin, or one that only a file's name tells of.
pub const OTHER: &str = "019e0000-0000-7000-8000-00000000000b";
/// The folder that scripts say they work in.
pub const FOLDER: &str = "/home/dev/demo";
/// A path that tells nothing.
pub const PATH: &str = "/data/source.jsonl";

/// A file being written.
#[derive(Debug, Clone)]
pub struct Script {
    dialect: Dialect,
    lines: Vec<String>,
    /// The turn in force, from 1.
    turn: usize,
    model: &'static str,
}

/// The models that scripts name.
pub const MODELS: [&str; 2] = ["model-one", "model-two"];

impl Script {
    /// A file with nothing but what makes it a file of its dialect.
    pub fn new(dialect: Dialect) -> Self {
        let mut script = Self { dialect, lines: Vec::new(), turn: 0, model: MODELS[0] };
        let opening = match dialect {
            Dialect::CodexRollout => codex::opening(0, OWN),
            Dialect::ClaudeTranscript => claude::opening(),
        };
        script.push(&opening);
        script
    }

    /// A file that has just begun its first turn.
    pub fn in_turn(dialect: Dialect) -> Self {
        let mut script = Self::new(dialect);
        script.begin_turn(MODELS[0], "begin");
        script
    }

    /// Begins a turn with a prompt; the model answers in it.
    pub fn begin_turn(&mut self, model: &'static str, prompt: &str) -> &mut Self {
        self.turn += 1;
        self.model = model;
        if self.dialect == Dialect::CodexRollout {
            let started = codex::task_started(self.seconds(), self.turn);
            self.push(&started);
            let context = codex::context(self.seconds(), self.turn, model);
            self.push(&context);
        }
        self.prompt(prompt)
    }

    /// A person's prompt.
    pub fn prompt(&mut self, text: &str) -> &mut Self {
        let line = match self.dialect {
            Dialect::CodexRollout => codex::prompt(self.seconds(), text),
            Dialect::ClaudeTranscript => claude::prompt(self.seconds(), self.turn, text),
        };
        self.push(&line)
    }

    /// An answer of the agent.
    pub fn answer(&mut self, text: &str) -> &mut Self {
        let line = match self.dialect {
            Dialect::CodexRollout => codex::answer(self.seconds(), text),
            Dialect::ClaudeTranscript => claude::answer(self.seconds(), self.model, text),
        };
        self.push(&line)
    }

    /// A shell call that the agent proposes.
    pub fn call(&mut self, id: &str, command: &str) -> &mut Self {
        let line = match self.dialect {
            Dialect::CodexRollout => codex::call(self.seconds(), id, command),
            Dialect::ClaudeTranscript => claude::call(self.seconds(), self.model, id, command),
        };
        self.push(&line)
    }

    /// The result of a shell call; `spelling` picks one of the two places where it is told.
    pub fn result(&mut self, id: &str, code: i64, spelling: usize) -> &mut Self {
        let line = match self.dialect {
            Dialect::CodexRollout => codex::result(self.seconds(), id, code, spelling),
            Dialect::ClaudeTranscript => {
                claude::result(self.seconds(), self.turn, id, code, spelling)
            }
        };
        self.push(&line)
    }

    /// Where `result` tells the exit code in that spelling.
    pub fn result_path(&self, spelling: usize) -> &'static str {
        match self.dialect {
            Dialect::CodexRollout => codex::RESULT_PATHS,
            Dialect::ClaudeTranscript => claude::RESULT_PATHS,
        }
        .get(spelling)
        .copied()
        .unwrap_or_default()
    }

    /// The tokens of a response of the given turn, by the model that made it.
    pub fn usage(&mut self, response: &str, turn: usize, model: &str) -> &mut Self {
        let line = match self.dialect {
            Dialect::CodexRollout => codex::usage(self.seconds(), response, turn),
            Dialect::ClaudeTranscript => claude::usage(self.seconds(), response, model),
        };
        self.push(&line)
    }

    /// One line that tells two things.
    pub fn siblings(&mut self) -> &mut Self {
        let line = match self.dialect {
            Dialect::CodexRollout => codex::siblings(self.seconds()),
            Dialect::ClaudeTranscript => claude::siblings(self.seconds(), self.model),
        };
        self.push(&line)
    }

    /// A line of a kind that nobody knows, with a content that must go nowhere.
    pub fn unknown(&mut self, marker: &str) -> &mut Self {
        let line = match self.dialect {
            Dialect::CodexRollout => codex::unknown(self.seconds(), marker),
            Dialect::ClaudeTranscript => claude::unknown(self.seconds(), marker),
        };
        self.push(&line)
    }

    /// Any line.
    pub fn push(&mut self, line: &Value) -> &mut Self {
        self.raw(&line.to_string())
    }

    /// Any text as a line.
    pub fn raw(&mut self, line: &str) -> &mut Self {
        self.lines.push(line.to_owned());
        self
    }

    /// Spells the last line in another way.
    pub fn respell_last(&mut self, spell: impl FnOnce(&str) -> String) -> &mut Self {
        if let Some(last) = self.lines.last_mut() {
            *last = spell(last);
        }
        self
    }

    /// How many seconds into the session the next line is written.
    pub fn seconds(&self) -> usize {
        self.lines.len()
    }

    /// The lines so far.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The last line.
    pub fn last(&self) -> &str {
        self.lines.last().map_or("", String::as_str)
    }

    /// The file's bytes; every line has its end.
    pub fn bytes(&self) -> Vec<u8> {
        self.joined("\n")
    }

    /// The file's bytes with another line end.
    pub fn joined(&self, end: &str) -> Vec<u8> {
        self.lines.iter().flat_map(|line| [line.as_bytes(), end.as_bytes()].concat()).collect()
    }
}

/// A file that began as a copy of `OTHER`'s history: the bytes, and where its own history begins.
pub fn forked(dialect: Dialect) -> (Vec<u8>, u64) {
    let (copied, own) = match dialect {
        Dialect::CodexRollout => codex::forked(),
        Dialect::ClaudeTranscript => claude::forked(),
    };
    let bytes = |lines: &[Value]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let (copied, own) = (bytes(&copied), bytes(&own));
    (format!("{copied}{own}").into_bytes(), copied.len() as u64)
}

/// The file of a sub-agent of `OTHER` that carries the tree's id on its lines.
pub fn child(dialect: Dialect) -> Vec<u8> {
    let lines = match dialect {
        Dialect::CodexRollout => codex::child(),
        Dialect::ClaudeTranscript => claude::child(),
    };
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

/// Second tellings and nested commands, which only a rollout has.
pub mod rollout {
    pub use super::codex::{
        answer_told_again, filler, nested_command, script_call, script_result, task_complete,
    };
}
