//! Short labelled sessions: what was done, what was said, and the verdict that it deserves.

use super::*;
use crate::domain::capability::SignalAvailability;
use crate::domain::claims;
use crate::domain::command::CommandText;
use crate::domain::event::Outcome;
use serde::Deserialize;
use std::collections::BTreeMap;

const DEEDS: &str = include_str!("../../../fixtures/claims/sessions.jsonl");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    steps: Vec<Step>,
    says: String,
    /// By subject: the verdict, and the reason where the label names one.
    verdicts: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Step {
    run: Option<String>,
    exit: Option<i64>,
    out: Option<String>,
    state: Option<String>,
    heuristic: bool,
    untrusted: bool,
    write: Option<String>,
    #[serde(rename = "as")]
    change: Option<String>,
    prompt: bool,
    agent: Option<String>,
}

impl Step {
    fn outcome(&self) -> Outcome {
        match (self.exit, self.state.as_deref()) {
            (Some(0), _) => Outcome::Ok,
            (Some(_), _) => Outcome::Failed,
            (None, state) => Outcome::from_tag(state.unwrap_or("unknown")),
        }
    }

    fn written(&self, path: &str, order: i64, turn: &str) -> FileWrite {
        let tag = self.change.as_deref().unwrap_or_default();
        let change = match tag {
            "created" => FileChange::Created,
            "deleted" => FileChange::Deleted,
            _ => FileChange::Written,
        };
        FileWrite {
            path: path.to_owned(),
            change,
            outcome: if tag == "failed" { Outcome::Failed } else { Outcome::Ok },
            order,
            turn: Some(turn.to_owned()),
            trusted: !self.untrusted,
            place: "session.jsonl byte 1".to_owned(),
            evidence_ids: vec![Uuid::from_u128(order.unsigned_abs().into())],
        }
    }
}

impl Session {
    fn situation(&self) -> (Situation, String) {
        let mut situation = Situation {
            runs: Vec::new(),
            edits: Vec::new(),
            writes: Vec::new(),
            unseen: Vec::new(),
            cwd: Some("/w".to_owned()),
            process_result: SignalAvailability::Available,
        };
        let mut turn = 1;
        for (order, step) in (1i64..).zip(&self.steps) {
            turn += i32::from(step.prompt);
            let turn = format!("t{turn}");
            if let Some(command) = &step.run {
                situation.runs.push(ShellRun {
                    command: CommandText::Line(command.clone()),
                    outcome: step.outcome(),
                    exit_code: step.exit,
                    heuristic: step.heuristic,
                    output: step.out.clone(),
                    order,
                    turn: Some(turn.clone()),
                    workdir: None,
                    trusted: !step.untrusted,
                    place: "session.jsonl byte 1".to_owned(),
                    evidence_ids: vec![Uuid::from_u128(order.unsigned_abs().into())],
                });
            }
            if let Some(path) = &step.write {
                let write = step.written(path, order, &turn);
                if write.outcome == Outcome::Ok {
                    situation.edits.push(Edit { path: path.clone(), order });
                }
                situation.writes.push(write);
            }
            if let Some(what) = &step.agent {
                situation.unseen.push(Unseen { what: what.clone(), order });
            }
        }
        (situation, format!("t{turn}"))
    }

    fn findings(&self) -> Vec<(String, Finding)> {
        let (situation, turn) = self.situation();
        let claims = claims::extract(&self.says);
        let cases: Vec<ClaimCase> = claims
            .iter()
            .map(|found| ClaimCase {
                id: Uuid::from_u128(7),
                text: found.text.clone(),
                subject: found.subject.as_str().to_owned(),
                reading: Some(found.clone()),
                turn: Some(turn.clone()),
                turn_from: 0,
                order: 1000,
            })
            .collect();
        let subjects = cases.iter().map(|case| case.subject.clone());
        subjects.zip(judge(&cases, &situation)).collect()
    }
}

/// Checks every session of a file; the report shows what was expected and what was found.
fn check(name: &str, file: &str, at_least: usize) {
    let sessions: Vec<Session> = file.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(sessions.len() >= at_least, "only {} sessions", sessions.len());
    let mut confusion: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for session in &sessions {
        let found = session.findings();
        let subjects: Vec<&String> = found.iter().map(|(subject, _)| subject).collect();
        if !session.verdicts.keys().all(|wanted| subjects.contains(&wanted)) {
            wrong.push(format!("{session:?}: claims are {subjects:?}"));
        }
        for (subject, finding) in &found {
            let label = session.verdicts.get(subject).map(Vec::as_slice).unwrap_or_default();
            let (verdict, reason) = (label.first(), label.get(1));
            let expected = verdict.cloned().unwrap_or_else(|| "no claim".to_owned());
            let answer = finding.verdict.as_str();
            *confusion.entry((expected.clone(), answer.to_owned())).or_default() += 1;
            let agrees = expected == answer && reason.is_none_or(|r| r == finding.reason.as_str());
            if !agrees {
                wrong.push(format!("{session:?}: {finding:?}"));
            }
        }
    }
    println!("{name}: expected, found, times");
    for ((expected, answer), times) in &confusion {
        println!("  {expected}, {answer}, {times}");
    }
    assert!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_labelled_session_of_deeds_gets_its_verdict_and_reason() {
    check("sessions of deeds", DEEDS, 100);
}

const COMMANDS: &str = include_str!("../../../fixtures/claims/sessions_commands.jsonl");

#[test]
fn every_labelled_session_of_commands_gets_its_verdict() {
    check("sessions of commands", COMMANDS, 60);
}
