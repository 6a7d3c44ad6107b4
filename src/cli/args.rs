//! What can be typed. Help texts teach by example; nothing is done here.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// An honest, local record of what coding agents did, and a check of what they claim against it.
#[derive(Debug, Parser)]
#[command(
    name = "fornax",
    version,
    about,
    long_about = "An honest, local record of what coding agents did, and a check of what they claim against it.\n\n\
        fornax records from Claude Code's hooks and transcripts, from Codex's rollout files and from\n\
        OpenCode's hooks, keeps typed evidence in a local SQLite store, and compares each claim (\"all tests\n\
        passed\") with it. It has no daemon, uses no network and needs no account.",
    after_help = "Start here:\n  fornax ingest            read both agents' histories\n  fornax sessions          what was recorded\n  fornax verify            check the latest session of this folder\n\nExit codes: 0 done, 1 the answer is no, 64 usage, 65 bad data, 69 nothing there, 70 internal,\n74 I/O, 75 locked, 76 newer store. `fornax hook` is always 0."
)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Print JSON (documented in docs/json.md) instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Folder of the store and the journal [default: $FORNAX_HOME, else ~/.fornax]
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Record one hook payload from stdin (run by the agent, prints nothing, always exits 0)
    #[command(
        after_help = "Wire it in Claude Code's settings.json as the command of each hook:\n  {\"type\": \"command\", \"command\": \"fornax hook claude\", \"timeout\": 5}\n\nand in Codex's hooks.json as `fornax hook codex` (also as its `notify` program).\n\n`fornax hook opencode` is started once by an OpenCode plugin (docs/hook.md) and reads a payload a line to the end."
    )]
    Hook(HookArgs),
    /// Read agents' histories into the store; a second run changes nothing
    #[command(
        after_help = "Examples:\n  fornax ingest                       both agents' homes\n  fornax ingest ~/.codex/sessions     one folder\n  fornax ingest rollout.jsonl --json  one file, summary as JSON\n  fornax ingest fornax.db             a database of the first Fornax\n  my-adapter | fornax ingest --messages -   records of a third party"
    )]
    Ingest(IngestArgs),
    /// Follow a rollout or transcript: store and print what happens
    #[command(
        after_help = "Examples:\n  fornax tail rollout.jsonl     from where it was left, then on\n  fornax tail --latest          the newest session of either agent\n  fornax tail --latest --once   what is there now, then stop"
    )]
    Tail(TailArgs),
    /// List recorded conversations, latest first
    #[command(
        after_help = "Examples:\n  fornax sessions --since 2d --failed\n  fornax sessions --cwd . --tree\n  fornax sessions --text \"price rounding\" --json"
    )]
    Sessions(SessionsArgs),
    /// Tell one conversation: prompts, calls with outcome, edits, claims, verdicts, losses
    #[command(
        after_help = "With --json everything is told, whatever is chosen.\n\nExamples:\n  fornax show 5c1d2f0a\n  fornax show 5c1d2f0a --failed\n  fornax show 5c1d2f0a --all | less -R"
    )]
    Show(ShowArgs),
    /// Check the claims of a conversation against its evidence
    #[command(
        after_help = "Without S: the latest session whose folder holds the current one.\n\nExamples:\n  fornax verify\n  fornax verify 5c1d2f0a --json\n  fornax verify --project . --since 1d\n  fornax verify --explain 0b6f2c1e-0000-5000-8000-000000000000\n  fornax verify --exit-code && git push"
    )]
    Verify(VerifyArgs),
    /// Say in one line how the latest session of this folder stands
    #[command(
        after_help = "Judges it first when something was recorded since. Examples:\n  fornax status\n  fornax status 5c1d2f0a --json"
    )]
    Status(StatusArgs),
    /// Print a line for the status line of the agent (its JSON on stdin)
    #[command(
        after_help = "In Claude Code's settings.json:\n  \"statusLine\": {\"type\": \"command\", \"command\": \"fornax statusline\"}\n\nThere is one such slot. To keep a line that you have already:\n  fornax statusline --chain '~/.claude/my-line.sh'\n\nIt shows the verdicts that `status`, `verify` or `hook --gate` gave last; it judges nothing, and\nnever fails. Colour: fornax --color always statusline"
    )]
    Statusline(StatuslineArgs),
    /// Write records as a spool of JSON files, one record a file
    #[command(
        name = "export-spool",
        after_help = "Examples:\n  fornax export-spool --session 5c1d2f0a --out spool\n  fornax export-spool --all --wire full --out spool"
    )]
    ExportSpool(ExportArgs),
    /// Read one text back from the source that it was recorded from
    #[command(
        after_help = "A locator or an id is one that `fornax show S --json` printed. The text is shown only when it\nis proven to be what was read; else the exit code is 1 and the reason is one of line_changed,\nprefix_changed, source_missing, source_pruned, permission_denied, identity_mismatch,\nformat_unsupported, selector_missing."
    )]
    Read(ReadArgs),
    /// Count tokens, each once: by day, session, model, provider or conversation tree
    #[command(
        after_help = "Examples:\n  fornax usage                              by day, this host's time zone\n  fornax usage --by model --since 2026-11-01\n  fornax usage --by tree --session 5c1d2f0a --explain\n  fornax usage --by model --prices prices.json --json\n\nNumbers: 12 is exact, >=12 at least so many, 12+? with a part that was not reported, ? unknown.\nRules and the format of a price file: docs/usage.md."
    )]
    Usage(UsageArgs),
    /// Find words in prompts, answers, commands, paths and results
    #[command(
        after_help = "All words must occur in one text; \"two words\" in quotes are a phrase, word* a beginning. Latest first.\nThe first search after much was recorded brings the index up to date.\n\nExamples:\n  fornax search rounding price\n  fornax search --in commands 'cargo test'\n  fornax search --session 5c1d2f0a 'panicked at' --json"
    )]
    Search(SearchArgs),
    /// Say what was not recorded, and why
    #[command(
        after_help = "Examples:\n  fornax losses                 by reason\n  fornax losses --by session    by conversation\n  fornax losses --recheck       after an update of fornax: read again what can be read now"
    )]
    Losses(LossesArgs),
    /// Remove conversations for good, and keep them from coming back
    #[command(
        after_help = "Examples:\n  fornax forget --session 5c1d2f0a --dry-run   say what would go\n  fornax forget --before 2026-01-01\n  fornax forget --project ~/client --yes\n  fornax forget --lift 5c1d2f0a-5a3e-4c9b-9a41-2f6f0d7f1b11   let it be recorded again\n\nWhat a conversation started goes with it, forks of it stay. The agents' own files are not touched;\ndocs/forget.md says what is removed and what cannot be."
    )]
    Forget(ForgetArgs),
    /// Say what the policy in config.toml lets go; with --apply, remove it
    #[command(
        after_help = "Examples, with `[retention]` and `conversations = \"365d\"` in config.toml (docs/config.md):\n  fornax gc            what would go\n  fornax gc --apply    remove it, as `fornax forget` does"
    )]
    Gc(GcArgs),
    /// Prove fornax's own adapters and contracts, also with one defect injected
    Conformance(ConformanceArgs),
}

/// `fornax hook`.
#[derive(Debug, Args)]
pub struct HookArgs {
    /// Which agent sends the payload
    #[arg(value_name = "AGENT")]
    pub agent: Option<String>,
    /// The payload, for programs that pass it as an argument (Codex `notify`)
    #[arg(value_name = "JSON")]
    pub payload: Option<String>,
    /// Sync each event to the disk (survives power loss; slower)
    #[arg(long)]
    pub fsync: bool,
    /// At the end of a turn: when a claim of it is contradicted by a literal exit code, tell the
    /// agent so, once, instead of letting it stop
    #[arg(long)]
    pub gate: bool,
}

/// `fornax ingest`.
#[derive(Debug, Args)]
pub struct IngestArgs {
    /// Files or folders [default: the homes of Claude Code and Codex]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Read canonical records (JSON lines, docs/messages.md) from a file, or from stdin with `-`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["paths", "deep", "line_cap", "jobs"])]
    pub messages: Option<PathBuf>,
    /// Compare everything that was read before, byte by byte
    #[arg(long)]
    pub deep: bool,
    /// Longest line to read, in bytes; a longer one is a counted loss
    #[arg(long, value_name = "BYTES")]
    pub line_cap: Option<usize>,
    /// Files decoded at once [default: the number of cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Name of this host's corpus, only when the store is made [default: local]
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
}

/// `fornax tail`.
#[derive(Debug, Args)]
pub struct TailArgs {
    /// The file to follow
    #[arg(value_name = "FILE", required_unless_present_any = ["latest", "all"], conflicts_with_all = ["latest", "all"])]
    pub path: Option<PathBuf>,
    /// Follow the newest session of either agent, and every other that is written to from now on
    #[arg(long, conflicts_with = "all")]
    pub latest: bool,
    /// Follow every session of both agents, from where each was left
    #[arg(long)]
    pub all: bool,
    /// Read what is there now, then stop
    #[arg(long)]
    pub once: bool,
    /// Longest line to read, in bytes; a longer one is a counted loss
    #[arg(long, value_name = "BYTES")]
    pub line_cap: Option<usize>,
}

/// `fornax sessions`.
#[derive(Debug, Args)]
pub struct SessionsArgs {
    /// Only this provider (claude_code, codex, open_code, ...)
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Only conversations that began in or below this folder
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Only conversations active since then: 2026-05-04, 2026-05-04T09:00:00Z, 30m, 2h, 3d, 1w
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Only conversations with a failed call
    #[arg(long)]
    pub failed: bool,
    /// Only conversations whose title and prompts hold these words
    #[arg(long, value_name = "WORDS")]
    pub text: Option<String>,
    /// Show conversations below the one that started them or that they were forked from
    #[arg(long)]
    pub tree: bool,
    /// At most so many
    #[arg(long, short = 'n', value_name = "N")]
    pub limit: Option<usize>,
}

/// `fornax show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A key, a native id, or a unique beginning of one
    #[arg(value_name = "S")]
    pub session: String,
    /// Whole texts; those that were cut when they were stored are read back from their sources
    #[arg(long)]
    pub full: bool,
    /// Tell everything; on a terminal only the newest entries are told otherwise
    #[arg(long, conflicts_with_all = ["head", "tail", "failed", "since"])]
    pub all: bool,
    /// Tell the first N entries
    #[arg(long, value_name = "N", conflicts_with = "tail")]
    pub head: Option<usize>,
    /// Tell the last N entries
    #[arg(long, value_name = "N")]
    pub tail: Option<usize>,
    /// Tell only what failed, was denied or interrupted, or contradicts the record
    #[arg(long)]
    pub failed: bool,
    /// Tell only what happened since then: 2026-05-04, 2026-05-04T09:00:00Z, 30m, 2h, 3d
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
}

/// `fornax verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// A key, a native id, or a unique beginning of one
    #[arg(value_name = "S")]
    pub session: Option<String>,
    /// Exit 0 only with something verified and nothing contradicted; 1 contradicted; 69 nothing
    #[arg(long)]
    pub exit_code: bool,
    /// Let evidence of third-party messages count like evidence that fornax saw itself
    #[arg(long)]
    pub trust_messages: bool,
    /// Every session of this folder or below it, instead of one
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    pub project: Option<PathBuf>,
    /// Every session active since then: 2026-05-04, 2026-05-04T09:00:00Z, 30m, 2h, 3d, 1w
    #[arg(long, value_name = "WHEN", conflicts_with = "session")]
    pub since: Option<String>,
    /// Every session whose last activity was before then
    #[arg(long, value_name = "WHEN", conflicts_with = "session")]
    pub until: Option<String>,
    /// Explain one finding, by its id or its claim's: from the sentence to the bytes, and what was
    /// said before
    #[arg(long, value_name = "ID", conflicts_with_all = ["project", "since", "until", "exit_code"])]
    pub explain: Option<uuid::Uuid>,
}

/// `fornax status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// A key, a native id, or a unique beginning of one
    #[arg(value_name = "S")]
    pub session: Option<String>,
}

/// `fornax statusline`.
#[derive(Debug, Args)]
pub struct StatuslineArgs {
    /// A status line command to run first, with the same input; its line comes before fornax's
    #[arg(long, value_name = "COMMAND")]
    pub chain: Option<String>,
}

/// `fornax search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// What to look for
    #[arg(value_name = "WORDS")]
    pub words: Vec<String>,
    /// Only in these texts
    #[arg(long = "in", value_name = "TEXTS")]
    pub place: Option<SearchIn>,
    /// Only in one conversation: a key, a native id, or a unique beginning of one
    #[arg(long, value_name = "S")]
    pub session: Option<String>,
    /// Only this provider (claude_code, codex, open_code, ...)
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Only since then: 2026-05-04, 2026-05-04T09:00:00Z, 30m, 2h, 3d, 1w
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Only before then
    #[arg(long, value_name = "WHEN")]
    pub until: Option<String>,
    /// At most so many events [default: 20]
    #[arg(long, short = 'n', value_name = "N")]
    pub limit: Option<usize>,
    /// Make the index anew first
    #[arg(long)]
    pub rebuild: bool,
    /// Only empty the index; the next search makes it again
    #[arg(long, conflicts_with_all = ["rebuild", "words"])]
    pub drop: bool,
}

/// Where words are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchIn {
    /// What a person typed
    Prompts,
    /// What the agent said
    Answers,
    /// What calls were given: commands, paths, contents
    #[value(alias = "commands", alias = "paths")]
    Inputs,
    /// What calls gave back
    Results,
}

/// `fornax export-spool`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// One conversation: a key, a native id, or a unique beginning of one
    #[arg(long, value_name = "S", required_unless_present = "all", conflicts_with = "all")]
    pub session: Option<String>,
    /// Every conversation
    #[arg(long)]
    pub all: bool,
    /// Folder to write into
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Shape of the records
    #[arg(long, value_name = "SHAPE", default_value = "legacy")]
    pub wire: WireArg,
}

/// The two wires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WireArg {
    /// What a consumer of the first Fornax accepts
    Legacy,
    /// Everything
    Full,
}

/// `fornax read`.
#[derive(Debug, Args)]
pub struct ReadArgs {
    /// A locator, or the id of an event, of evidence or of a claim
    #[arg(value_name = "LOCATOR")]
    pub what: String,
    /// Print at most so many bytes of the text [default: 1 MiB]
    #[arg(long, value_name = "N")]
    pub max_bytes: Option<usize>,
    /// Compare everything that was read of the file, not only its two ends
    #[arg(long)]
    pub deep: bool,
}

/// `fornax usage`.
#[derive(Debug, Args)]
pub struct UsageArgs {
    /// What a row stands for; a tree is a conversation with everything that it spawned
    #[arg(long, value_name = "WHAT", default_value = "day")]
    pub by: ByArg,
    /// Time zone of days: local, utc, an offset (+02:00) or a name (Europe/Berlin)
    #[arg(long, value_name = "ZONE", default_value = "local", allow_hyphen_values = true)]
    pub tz: String,
    /// From this day (2026-11-01) or instant (RFC 3339) on, or for so long (30m, 2h, 3d)
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Through this day, or before this instant
    #[arg(long, value_name = "WHEN")]
    pub until: Option<String>,
    /// Only this conversation and what it spawned: a key, a native id, or a unique beginning
    #[arg(long, value_name = "S")]
    pub session: Option<String>,
    /// List every report that was left out, with its reason and place
    #[arg(long)]
    pub explain: bool,
    /// Price table (JSON, see docs/usage.md); without one no money is shown
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
}

/// What a row of `usage` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ByArg {
    Day,
    Session,
    Model,
    Provider,
    Tree,
}

/// `fornax losses`.
#[derive(Debug, Args)]
pub struct LossesArgs {
    /// Only this conversation
    #[arg(value_name = "S")]
    pub session: Option<String>,
    /// How to group them
    #[arg(long, value_name = "WHAT", default_value = "reason")]
    pub by: LossesBy,
    /// Try lines and shapes that could not be read again, with the decoders of this fornax
    #[arg(long, conflicts_with = "by")]
    pub recheck: bool,
}

/// Groups of losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LossesBy {
    /// One group a reason
    Reason,
    /// One group a conversation
    Session,
}

/// `fornax forget`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub struct ForgetArgs {
    /// One conversation: a key, a native id, or a unique beginning of one
    #[arg(long, value_name = "S", group = "what")]
    pub session: Option<String>,
    /// Those without activity since then: 2026-01-01, 2026-01-01T09:00:00Z, 30d, 52w
    #[arg(long, value_name = "WHEN", group = "what")]
    pub before: Option<String>,
    /// Those that began in or below this folder
    #[arg(long, value_name = "DIR", group = "what")]
    pub project: Option<PathBuf>,
    /// Let a forgotten conversation be recorded again: its key or its whole native id
    #[arg(long, value_name = "S", group = "what", conflicts_with_all = ["dry_run", "yes"])]
    pub lift: Option<String>,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// `fornax gc`.
#[derive(Debug, Args)]
pub struct GcArgs {
    /// Remove what the policy lets go
    #[arg(long)]
    pub apply: bool,
}

/// `fornax conformance`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fornax conformance\n  fornax conformance --mode idn_unescaped_delimiter   must exit 1 and name IDN-02\n  fornax conformance --self-test"
)]
pub struct ConformanceArgs {
    /// Inject one defect; its cases must go red
    #[arg(long, value_name = "BREAK")]
    pub mode: Option<String>,
    /// Run `none`, every mode, the ledger sweep and the teeth check
    #[arg(long)]
    pub self_test: bool,
    /// Only this subject
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// Only this contract (IDN, EXT, ...)
    #[arg(long, value_name = "C")]
    pub contract: Option<String>,
    /// Only cases that match (an id or a glob)
    #[arg(long, value_name = "CASE")]
    pub case: Option<String>,
    /// List cases, modes, subjects or claims
    #[arg(long, value_name = "WHAT")]
    pub list: Option<String>,
    /// Explain a case or a mode
    #[arg(long, value_name = "NAME")]
    pub explain: Option<String>,
    /// Show which mode reddens which case, and the waivers
    #[arg(long)]
    pub coverage: bool,
    /// tap, jsonl or human [default: human on a terminal, else tap]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// Folder for plan, results and the teeth matrix
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Seed of the property cases
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Milliseconds a child may take
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,
    /// Modes run at once
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Treat skips as failures
    #[arg(long)]
    pub skip_must_fail: bool,
    /// Leave one contract out (for children of a self-test)
    #[arg(long, value_name = "CONTRACT", hide = true)]
    pub without_contract: Option<String>,
    /// Leave one check site out (for the ledger sweep)
    #[arg(long, value_name = "SITE", hide = true)]
    pub drop_site: Option<String>,
}
