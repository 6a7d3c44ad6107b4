//! `fornax verify`: the claims of a conversation against its evidence.
//!
//! Gathers what the pure verifier needs from the store: runs, edits and claims in the order in
//! which they were seen. Nothing is decided here.

use super::children;
use super::file_writes;
use super::witness::{Asked, heard};
use crate::domain::capability::{SignalAvailability, SignalClass};
use crate::domain::claims;
use crate::domain::command::CommandText;
use crate::domain::event::{EventKind, Outcome};
use crate::domain::record::Ingress;
use crate::domain::verdict::{
    ClaimCase, Edit, Finding, Reason, ShellRun, Situation, Unseen, Verdict, judge,
};
use crate::ports::git::GitWitness;
use crate::ports::reader::{
    ClaimRow, ConversationRow, EventRow, EvidenceRow, FailedRow, Reader, SeenAt,
};
use crate::ports::recorder::StoreError;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// A claim with its finding.
#[derive(Debug, Clone)]
pub struct Checked {
    pub claim: ClaimRow,
    pub finding: Finding,
    /// Where each piece of evidence that the finding rests on was seen, in its order.
    pub evidence: Vec<(Uuid, SeenAt)>,
}

/// All findings of a conversation, in the order of its claims.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    pub checked: Vec<Checked>,
    pub failed: Vec<FailedRow>,
}

/// Whether what third-party messages told counts like what this program saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It supports `review` at most.
    BuiltIn,
    /// The person vouches for whoever sent it.
    Messages,
}

impl Trust {
    fn covers(self, ingress: &str) -> bool {
        ingress == Ingress::BuiltIn.as_str()
            || (self == Self::Messages && ingress == Ingress::Messages.as_str())
    }
}

/// Checks every claim of a conversation. Claims about commits and pushes are also put to the
/// repository, where one is given.
///
/// # Errors
/// When the store cannot be read.
pub fn check(
    reader: &dyn Reader,
    conversation: &ConversationRow,
    trust: Trust,
    git: Option<&dyn GitWitness>,
) -> Result<Checks, StoreError> {
    let events = reader.events(conversation.id)?;
    let evidence = reader.evidence(conversation.id)?;
    let claims = reader.claims(conversation.id)?;
    let capabilities = reader.capabilities(conversation.id)?;
    let mut failed = events.failed;
    failed.extend(evidence.failed);
    failed.extend(claims.failed);
    failed.extend(capabilities.failed);
    let order: HashMap<Uuid, i64> = (1i64..).zip(&events.rows).map(|(n, e)| (e.id, n)).collect();
    let process_result = capabilities.rows.first().map_or(SignalAvailability::Unknown, |c| {
        c.capabilities.state_of(&SignalClass::ProcessResult)
    });
    let children = children::read(reader, conversation, &events.rows, trust)?;
    let own = runs(&events.rows, &evidence.rows, &order, trust);
    let situation = Situation {
        runs: own.into_iter().chain(children.runs).collect(),
        edits: edits(&evidence.rows, &order).into_iter().chain(children.edits).collect(),
        writes: file_writes::read(&events.rows, &evidence.rows, &order, |way| trust.covers(way)),
        unseen: unseen(&events.rows, &order, &children.known),
        cwd: conversation.cwd.clone(),
        process_result,
    };
    let prompts: Vec<i64> = (1i64..)
        .zip(&events.rows)
        .filter(|(_, e)| begins_turn(&e.kind))
        .map(|(order, _)| order)
        .collect();
    let cases: Vec<ClaimCase> = claims
        .rows
        .iter()
        .map(|claim| {
            let at = order.get(&claim.event_id).copied().unwrap_or(i64::MAX);
            let before = prompts.partition_point(|p| *p < at);
            ClaimCase {
                id: claim.id,
                text: claim.text.clone(),
                subject: claim.subject.clone(),
                reading: claims::reread(&claim.text, &claim.subject),
                turn: claim.turn_id.clone(),
                turn_from: prompts.get(..before).and_then(<[i64]>::last).copied().unwrap_or(0),
                order: at,
            }
        })
        .collect();
    let mut findings = judge(&cases, &situation);
    if let Some(git) = git {
        let asked: Vec<Asked<'_>> = cases
            .iter()
            .zip(&claims.rows)
            .map(|(case, claim)| Asked { case, claim, turn_began_us: began_us(case, &events.rows) })
            .collect();
        findings = heard(findings, &asked, conversation, &evidence.rows, &order, git);
    }
    let seen = seen_by_id(&events.rows, &evidence.rows);
    let checked = claims
        .rows
        .into_iter()
        .zip(findings)
        .map(|(claim, finding)| {
            let finding = if trust.covers(&claim.ingress) { finding } else { doubted(finding) };
            let places = finding.evidence_ids.iter();
            let evidence = places
                .filter_map(|id| {
                    Some((*id, seen.get(id).copied().or(children.seen.get(id))?.clone()))
                })
                .collect();
            Checked { claim, finding, evidence }
        })
        .collect();
    Ok(Checks { checked, failed })
}

/// When the turn of a claim began; events are numbered from 1.
fn began_us(case: &ClaimCase, events: &[EventRow]) -> i64 {
    let first = usize::try_from(case.turn_from - 1).ok().and_then(|index| events.get(index));
    first.or_else(|| events.first()).map_or(0, |event| event.order_us)
}

/// Where events and evidence were seen, by id.
fn seen_by_id<'a>(
    events: &'a [EventRow],
    evidence: &'a [EvidenceRow],
) -> HashMap<Uuid, &'a SeenAt> {
    let of_events = events.iter().filter_map(|e| Some((e.id, e.sightings.first()?)));
    of_events.chain(evidence.iter().filter_map(|e| Some((e.id, e.seen.as_ref()?)))).collect()
}

/// A finding on a claim that only a third party says was made: for review at most.
fn doubted(finding: Finding) -> Finding {
    if !matches!(finding.verdict, Verdict::Verified | Verdict::Contradicted) {
        return finding;
    }
    let rationale = format!("{}; the claim was told by third-party messages", finding.rationale);
    Finding { verdict: Verdict::Review, reason: Reason::UntrustedIngress, rationale, ..finding }
}

/// Whether an event of this kind begins a turn.
fn begins_turn(kind: &str) -> bool {
    kind == EventKind::UserPromptSubmit.as_str() || kind == EventKind::TurnStart.as_str()
}

/// The shell commands of a conversation with what became of them.
pub(super) fn runs(
    events: &[EventRow],
    evidence: &[EvidenceRow],
    order: &HashMap<Uuid, i64>,
    trust: Trust,
) -> Vec<ShellRun> {
    let mut by_event: HashMap<Uuid, Vec<&EvidenceRow>> = HashMap::new();
    for row in evidence {
        by_event.entry(row.event_id).or_default().push(row);
    }
    for rows in by_event.values_mut() {
        // What others say of it does not weaken what was seen.
        let seen = |row: &&EvidenceRow| row.ingress == Ingress::BuiltIn.as_str();
        if rows.iter().any(seen) {
            rows.retain(seen);
        }
    }
    let resolved: HashSet<&str> = events
        .iter()
        .filter(|e| e.kind == EventKind::PostToolUse.as_str())
        .filter_map(|e| e.call_id.as_deref())
        .collect();
    events
        .iter()
        .filter(|e| is_run(e, &resolved))
        .filter_map(|e| {
            let of_event = by_event.get(&e.id).map(Vec::as_slice).unwrap_or_default();
            run(e, of_event, *order.get(&e.id)?, trust)
        })
        .collect()
}

/// A result, or a proposal of which no result was seen.
fn is_run(event: &EventRow, resolved: &HashSet<&str>) -> bool {
    let pending = event.kind == EventKind::PreToolUse.as_str()
        && event.call_id.as_deref().is_none_or(|id| !resolved.contains(id));
    event.kind == EventKind::PostToolUse.as_str() || pending
}

fn run(event: &EventRow, evidence: &[&EvidenceRow], order: i64, trust: Trust) -> Option<ShellRun> {
    // A stated code goes before a guess, whichever came first.
    let exits = evidence.iter().filter(|e| e.kind == "exit_code");
    let exit = exits.min_by_key(|e| is_guess(e));
    let command = exit
        .and_then(|e| command_text(e.payload.get("command")?))
        .or_else(|| shell_command(event))?;
    let exit_code = exit.and_then(|e| e.payload.get("exit_code")?.as_i64());
    let heuristic = exit.is_some_and(|e| is_guess(e));
    let outcome = match exit_code {
        Some(0) => Outcome::Ok,
        Some(_) => Outcome::Failed,
        None => Outcome::from_tag(event.outcome.as_deref().unwrap_or("unknown")),
    };
    // Success without a number counts only where the host itself states it.
    let stated = exit.is_some() || evidence.iter().any(|e| e.kind == "tool_result");
    let outcome = if outcome == Outcome::Ok && !stated { Outcome::Unknown } else { outcome };
    let disagreeing = event.disagrees && exit_code.is_none();
    Some(ShellRun {
        command,
        outcome: if disagreeing { Outcome::Unknown } else { outcome },
        exit_code,
        heuristic,
        output: event.tool_response.as_ref().map(output_text),
        order,
        turn: event.turn_id.clone(),
        workdir: event
            .tool_input
            .as_ref()
            .and_then(|input| input.get("workdir")?.as_str().map(str::to_owned)),
        trusted: trust.covers(&event.ingress) && evidence.iter().all(|e| trust.covers(&e.ingress)),
        place: event.sightings.first().map(place).unwrap_or_default(),
        evidence_ids: evidence
            .iter()
            .filter(|e| e.kind == "exit_code" || e.kind == "tool_result")
            .map(|e| e.id)
            .collect(),
    })
}

/// Whether the code was guessed instead of stated.
fn is_guess(exit: &EvidenceRow) -> bool {
    exit.payload.get("heuristic").and_then(Value::as_bool) == Some(true)
}

/// The command in a tool's input, when the input is a shell's.
fn shell_command(event: &EventRow) -> Option<CommandText> {
    let input = event.tool_input.as_ref()?;
    ["command", "cmd"].iter().find_map(|key| command_text(input.get(*key)?))
}

fn command_text(value: &Value) -> Option<CommandText> {
    match value {
        Value::String(line) => Some(CommandText::Line(line.clone())),
        Value::Array(words) => words
            .iter()
            .map(|w| w.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
            .map(CommandText::Argv),
        _ => None,
    }
}

/// All text of a tool's response, in order.
fn output_text(value: &Value) -> String {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ Value::Object(_)) => output_text(&inner),
            _ => text.clone(),
        },
        Value::Array(items) => items.iter().map(output_text).collect::<Vec<_>>().join("\n"),
        Value::Object(map) => ["stdout", "output", "text", "content", "stderr", "error"]
            .iter()
            .filter_map(|key| map.get(*key))
            .map(output_text)
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

/// The files that tools of a conversation changed.
pub(super) fn edits(evidence: &[EvidenceRow], order: &HashMap<Uuid, i64>) -> Vec<Edit> {
    evidence
        .iter()
        .filter(|e| e.kind == "file_diff")
        .filter_map(|e| {
            let path = e.payload.get("path")?.as_str()?.to_owned();
            Some(Edit { path, order: *order.get(&e.event_id)? })
        })
        .collect()
}

/// Tools that only read, search, ask or keep a list, and tools whose edits are reported as diffs.
const HARMLESS_TOOLS: &[&str] = &[
    "Read",
    "Grep",
    "Glob",
    "LS",
    "NotebookRead",
    "TodoRead",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Edit",
    "MultiEdit",
    "Write",
    "NotebookEdit",
    "AskUserQuestion",
    "ExitPlanMode",
    "EnterPlanMode",
    "TaskCreate",
    "TaskUpdate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "BashOutput",
    "KillBash",
    "KillShell",
    "ToolSearch",
    "apply_patch",
    "update_plan",
    "view_image",
    "read_file",
    "list_dir",
    "grep_files",
    "web_search",
    "tool_search",
];

/// What may have run tests or changed files without saying so here.
fn unseen(events: &[EventRow], order: &HashMap<Uuid, i64>, known: &HashSet<String>) -> Vec<Unseen> {
    // What a recorded sub-agent did is told by itself.
    let told = |event: &&EventRow| {
        let kind = EventKind::from_tag(&event.kind);
        matches!(kind, EventKind::SubagentStart | EventKind::SubagentStop)
            && event.agent_id.as_ref().is_some_and(|id| known.contains(id))
    };
    events
        .iter()
        .filter(|event| !told(event))
        .filter_map(|e| Some(Unseen { what: unseen_work(e)?, order: *order.get(&e.id)? }))
        .collect()
}

/// A tool call that is no shell's and more than a look (file tools report their edits; a sub-agent
/// or a foreign tool reports nothing), or news from outside the turn: a background task's notice,
/// another agent, a command of the person's own.
fn unseen_work(event: &EventRow) -> Option<String> {
    match EventKind::from_tag(&event.kind) {
        EventKind::PreToolUse | EventKind::PostToolUse => {
            let name = event.tool_name.as_deref().unwrap_or_default();
            let known = shell_command(event).is_some()
                || HARMLESS_TOOLS.contains(&name)
                || only_waits(name, event.tool_input.as_ref());
            let tool = || event.tool_name.clone().unwrap_or_else(|| "a tool".to_owned());
            (!known).then(tool)
        }
        EventKind::InjectedPrompt => Some("news from outside the turn".to_owned()),
        EventKind::UserCommand => Some("a command of the person's own".to_owned()),
        EventKind::SubagentStart | EventKind::SubagentStop | EventKind::AgentMessage => {
            Some("another agent".to_owned())
        }
        _ => None,
    }
}

/// Whether a call only waits for a process: a write of nothing to it.
fn only_waits(tool: &str, input: Option<&Value>) -> bool {
    let chars = input.and_then(|input| input.get("chars")?.as_str());
    tool == "write_stdin" && chars.is_none_or(str::is_empty)
}

/// Where something was seen, in one word.
pub fn place(seen: &SeenAt) -> String {
    if seen.is_row() {
        return format!("{} {} row {}", seen.source, seen.path, seen.offset);
    }
    if !seen.is_in_file() {
        let at = crate::base::time::Micros(i64::try_from(seen.offset).unwrap_or_default());
        return format!("{} at {}", seen.source, at.human());
    }
    format!("{} byte {}", seen.source, seen.offset)
}
