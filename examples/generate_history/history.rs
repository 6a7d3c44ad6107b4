//! Sessions as files: a tree like the one below an agent's home.

use super::shapes::{
    AGENT_PERCENT, CLAUDE, CLAUDE_PERCENT, CODEX, CODEX_HEAD, COMPRESSED_PERCENT, FILE_SIZES,
    Lengths, PARTS, Shape, Step,
};
use super::words::{Chance, Pools, Style};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A step with its shared parts put in.
struct Kind {
    weight: u32,
    lines: Vec<(String, Lengths)>,
}

/// Makes sessions; the same seed makes the same ones.
pub struct Maker {
    chance: Chance,
    pools: Pools,
    claude: Vec<Kind>,
    codex: Vec<Kind>,
    codex_head: (String, Lengths),
}

/// What `$` words of one session stand for.
struct Session {
    id: String,
    user: String,
    project: String,
    /// Says in a sub-agent's lines whose they are.
    side: String,
    parent: String,
    uuid: String,
    call: String,
    turn: String,
    agent: String,
    /// Text that the lines of one step share.
    said: String,
    at_ms: u64,
}

impl Maker {
    pub fn new(seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let pools = Pools::new(&mut chance);
        let kinds = |steps: &[Step]| steps.iter().map(kind).collect();
        let codex_head = whole(&CODEX_HEAD);
        Self { chance, pools, claude: kinds(CLAUDE), codex: kinds(CODEX), codex_head }
    }

    /// Writes about `bytes` of history below `root`.
    pub fn tree(&mut self, root: &Path, bytes: u64) -> io::Result<()> {
        let (mut claude, mut codex) = (0, 0);
        while claude + codex < bytes {
            let size = u64::from(self.quantile(&FILE_SIZES));
            let percent = CLAUDE_PERCENT as u64;
            if claude * 100 <= (claude + codex) * percent {
                claude += self.transcript(root, size)?;
            } else {
                codex += self.rollout(root, size)?;
            }
        }
        Ok(())
    }

    /// One transcript of `bytes`.
    pub fn single(&mut self, path: &Path, bytes: u64) -> io::Result<()> {
        let session = self.session();
        let mut out = BufWriter::new(fs::File::create(path)?);
        self.lines(&mut out, session, false, bytes)?;
        out.flush()
    }

    /// A transcript whose middle line has `bytes`.
    pub fn long_line(&mut self, path: &Path, bytes: u64) -> io::Result<()> {
        let session = self.session();
        let mut out = BufWriter::new(fs::File::create(path)?);
        let id = session.id.clone();
        self.lines(&mut out, session, false, 20_000)?;
        write!(
            out,
            r#"{{"type":"user","uuid":"{}","sessionId":"{id}","timestamp":"2026-11-02T00:00:00.000Z","message":{{"role":"user","content":[{{"tool_use_id":"toolu_long","type":"tool_result","content":""#,
            self.chance.uuid()
        )?;
        let mut left = bytes;
        while left > 0 {
            let mut text = String::new();
            let part = left.min(1 << 20);
            self.pools.append(&mut text, Style::Output, part as usize, &mut self.chance);
            out.write_all(text.as_bytes())?;
            left -= part;
        }
        out.write_all(b"\"}]}}\n")?;
        let session = Session { id, ..self.session() };
        self.lines(&mut out, session, false, 20_000)?;
        out.flush()
    }

    fn transcript(&mut self, root: &Path, bytes: u64) -> io::Result<u64> {
        let mut session = self.session();
        let folder =
            root.join("projects").join(format!("-home-{}-{}", session.user, session.project));
        let path = if self.chance.below(100) < AGENT_PERCENT {
            let agent = format!("a{}", self.chance.hex(16));
            session.side = format!(r#""isSidechain":true,"agentId":"{agent}","#);
            let folder = folder.join(&session.id).join("subagents");
            fs::create_dir_all(&folder)?;
            let meta = br#"{"agentType":"general-purpose","description":"a piece of the work"}"#;
            fs::write(folder.join(format!("agent-{agent}.meta.json")), meta)?;
            folder.join(format!("agent-{agent}.jsonl"))
        } else {
            fs::create_dir_all(&folder)?;
            folder.join(format!("{}.jsonl", session.id))
        };
        let mut out = BufWriter::new(fs::File::create(path)?);
        let written = self.lines(&mut out, session, false, bytes)?;
        out.flush()?;
        Ok(written)
    }

    fn rollout(&mut self, root: &Path, bytes: u64) -> io::Result<u64> {
        let session = self.session();
        let folder = root.join(format!("sessions/2026/11/{:02}", 1 + self.chance.below(28)));
        fs::create_dir_all(&folder)?;
        let name = format!("rollout-2026-11-02T10-00-00-{}.jsonl", session.id);
        let compressed = self.chance.below(100) < COMPRESSED_PERCENT;
        let path: PathBuf = folder.join(if compressed { format!("{name}.zst") } else { name });
        let file = BufWriter::new(fs::File::create(path)?);
        if compressed {
            let mut out = zstd::Encoder::new(file, 3)?;
            let written = self.lines(&mut out, session, true, bytes)?;
            out.finish()?.flush()?;
            return Ok(written);
        }
        let mut out = file;
        let written = self.lines(&mut out, session, true, bytes)?;
        out.flush()?;
        Ok(written)
    }

    fn session(&mut self) -> Session {
        let c = &mut self.chance;
        Session {
            id: c.uuid(),
            user: format!("u{}", c.below(9)),
            project: format!("p{}", c.below(40)),
            side: r#""isSidechain":false,"#.to_owned(),
            parent: c.uuid(),
            uuid: c.uuid(),
            call: c.alnum(24),
            turn: c.uuid(),
            agent: format!("a{}", c.hex(16)),
            said: String::new(),
            at_ms: c.next() % 2_000_000_000,
        }
    }

    /// Steps until `bytes` are written.
    fn lines(
        &mut self,
        out: &mut dyn Write,
        mut session: Session,
        codex: bool,
        bytes: u64,
    ) -> io::Result<u64> {
        let mut written = 0;
        let mut text = String::new();
        if codex {
            let (template, lengths) = self.codex_head.clone();
            self.line(&mut text, &template, &lengths, &mut session);
        }
        while written < bytes {
            let kinds = std::mem::take(if codex { &mut self.codex } else { &mut self.claude });
            let total: u32 = kinds.iter().map(|k| k.weight).sum();
            let mut at = self.chance.below(total as usize) as u32;
            let kind = kinds.iter().find(|k| {
                let hit = at < k.weight;
                at = at.saturating_sub(k.weight);
                hit
            });
            session.call = self.chance.alnum(24);
            session.said.clear();
            for (template, lengths) in kind.iter().flat_map(|k| &k.lines) {
                self.line(&mut text, template, lengths, &mut session);
            }
            *(if codex { &mut self.codex } else { &mut self.claude }) = kinds;
            out.write_all(text.as_bytes())?;
            written += text.len() as u64;
            text.clear();
        }
        Ok(written)
    }

    /// Fills a template so that the line has a length drawn from its quantiles.
    fn line(&mut self, out: &mut String, template: &str, lengths: &Lengths, session: &mut Session) {
        let wanted = self.quantile(lengths) as usize;
        session.at_ms += 1 + self.chance.next() % 4_000;
        session.parent = std::mem::replace(&mut session.uuid, self.chance.uuid());
        let fillings = ["$prose", "$code", "$output", "$base64", "$said"];
        let many: usize = fillings.iter().map(|f| template.matches(f).count()).sum();
        // The words of a template make it longer than it is; about so much.
        let room = (wanted.saturating_sub(template.len() + 260) / many.max(1)).max(8);
        if session.said.is_empty() && template.contains("$said") {
            self.pools.append(&mut session.said, Style::Prose, room, &mut self.chance);
        }
        let mut parts = template.split('$');
        out.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
            let (word, rest) = part.split_at(end.unwrap_or(part.len()));
            self.word(out, word, room, session);
            out.push_str(rest);
        }
        out.push('\n');
    }

    fn word(&mut self, out: &mut String, word: &str, room: usize, session: &mut Session) {
        let c = &mut self.chance;
        match word {
            "prose" => self.pools.append(out, Style::Prose, room, c),
            "code" => self.pools.append(out, Style::Code, room, c),
            "output" => self.pools.append(out, Style::Output, room, c),
            "base64" => self.pools.append(out, Style::Base64, room, c),
            "snippet" => self.pools.append(out, Style::Prose, 60, c),
            "said" => out.push_str(&session.said),
            "session" => out.push_str(&session.id),
            "user" => out.push_str(&session.user),
            "project" => out.push_str(&session.project),
            "side" => out.push_str(&session.side),
            "parent" => out.push_str(&session.parent),
            "uuid" => out.push_str(&session.uuid),
            "call" => out.push_str(&session.call),
            "agent" => out.push_str(&session.agent),
            "turn" => out.push_str(&session.turn),
            "newturn" => {
                session.turn = c.uuid();
                out.push_str(&session.turn);
            }
            "request" | "message" => out.push_str(&c.alnum(24)),
            "word" => out.push_str(&c.word()),
            "chunk" => out.push_str(&c.hex(6)),
            "hex" => out.push_str(&c.hex(16)),
            "commit" => out.push_str(&c.hex(40)),
            "exit" => out.push(if c.below(10) == 0 { '1' } else { '0' }),
            "few" => out.push_str(&(1 + c.below(90)).to_string()),
            "some" => out.push_str(&c.below(9_000).to_string()),
            "many" => out.push_str(&c.below(200_000).to_string()),
            _ => out.push_str(&time(session.at_ms)),
        }
    }

    /// A number drawn so that its quantiles are these; between two of them it grows evenly in its
    /// logarithm.
    fn quantile(&mut self, lengths: &Lengths) -> u32 {
        const AT: [f64; 6] = [0.0, 0.1, 0.5, 0.9, 0.99, 1.0];
        let unit = self.chance.unit();
        let first = lengths.first().copied().unwrap_or(1);
        let values: Vec<f64> =
            [first * 9 / 10].iter().chain(lengths).map(|v| f64::from(*v)).collect();
        for (at, value) in AT.windows(2).zip(values.windows(2)) {
            let (&[low_at, high_at], &[low, high]) = (at, value) else { continue };
            if unit <= high_at {
                let part = (unit - low_at) / (high_at - low_at);
                return (low.ln() + (high.ln() - low.ln()) * part).exp() as u32;
            }
        }
        first
    }
}

fn kind(step: &Step) -> Kind {
    Kind { weight: step.weight, lines: step.lines.iter().map(whole).collect() }
}

fn whole(shape: &Shape) -> (String, Lengths) {
    let template =
        PARTS.iter().fold(shape.template.to_owned(), |text, (name, part)| text.replace(name, part));
    (template, shape.lengths)
}

/// Milliseconds since November 2026 began, spelled; the month does not end.
fn time(at_ms: u64) -> String {
    let seconds = at_ms / 1_000;
    let day = 1 + seconds / 86_400 % 30;
    let (hour, minute) = (seconds / 3_600 % 24, seconds / 60 % 60);
    format!("2026-11-{day:02}T{hour:02}:{minute:02}:{:02}.{:03}Z", seconds % 60, at_ms % 1_000)
}
