//! Git operations as Claude Code itself tells them.
//!
//! A shell's response may carry `gitOperation`: what the host read in the command's output. It is
//! told by the host and checked by nobody, so the provenance names it. Only what is stated is
//! passed on; an action that is not known leaves the description and no typed observation.

use super::wire::{member, text};
use crate::domain::payload::{Observation, ProcessObservationPayload, PullRequestAction};
use crate::domain::payload::{VcsBranchAction, VcsOperationKind, VcsOutcome};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One thing that was done, ready to become evidence.
pub(super) struct GitFact {
    /// Tells the facts of one call apart.
    pub(super) slot: &'static str,
    pub(super) payload: Value,
    /// The member of the response that states it.
    pub(super) path: &'static str,
}

/// Everything that a shell's response says about git.
pub(super) fn operations(response: &Value) -> Vec<GitFact> {
    let Some(done) = member(response, "gitOperation") else { return Vec::new() };
    let read: [(&str, &'static str, &'static str, Reading); 4] = [
        ("commit", "git:commit", "gitOperation.commit", commit),
        ("push", "git:push", "gitOperation.push", push),
        ("branch", "git:branch", "gitOperation.branch", branch),
        ("pr", "git:pull_request", "gitOperation.pr", pull_request),
    ];
    read.into_iter()
        .filter_map(|(key, slot, path, reading)| {
            let (description, observation) = reading(member(done, key)?)?;
            Some(GitFact { slot, payload: payload(description, observation), path })
        })
        .collect()
}

/// The canonical payload of a `pr-link` line; `None` without a number.
pub(super) fn linked_pull_request(line: &Value) -> Option<Value> {
    let number = line.get("prNumber")?.as_i64()?;
    let repo = text(line, "prRepository").map(str::to_owned);
    let url = text(line, "prUrl").map(without_credentials);
    let observation = Observation::PullRequest { action: None, number, url, repo };
    Some(payload(format!("pull request #{number} belongs to this conversation"), Some(observation)))
}

type Reading = fn(&Value) -> Option<(String, Option<Observation>)>;

fn commit(told: &Value) -> Option<(String, Option<Observation>)> {
    let sha = text(told, "sha")?;
    let description = match text(told, "kind") {
        None | Some("committed") => "git commit created".to_owned(),
        Some("amended") => "git commit amended".to_owned(),
        Some("cherry-picked") => "git commit cherry-picked".to_owned(),
        Some(_) => "git commit created in a way this build does not know".to_owned(),
    };
    let observation = Observation::VcsOperation {
        operation: VcsOperationKind::Commit,
        outcome: VcsOutcome::Created,
        commit_sha: Some(sha.to_owned()),
        branch: text(told, "branch").map(str::to_owned),
        remote: None,
    };
    Some((description, Some(observation)))
}

fn push(told: &Value) -> Option<(String, Option<Observation>)> {
    let branch = text(told, "branch")?;
    let observation = Observation::VcsOperation {
        operation: VcsOperationKind::Push,
        outcome: VcsOutcome::RefUpdated,
        commit_sha: None,
        branch: Some(branch.to_owned()),
        remote: None,
    };
    Some(("git push updated a branch".to_owned(), Some(observation)))
}

fn branch(told: &Value) -> Option<(String, Option<Observation>)> {
    let reference = text(told, "ref")?.to_owned();
    let action: Option<VcsBranchAction> = tag(told);
    let description = match action {
        Some(VcsBranchAction::Merged) => "git merge of a branch",
        Some(VcsBranchAction::Rebased) => "git rebase onto a branch",
        None => "git branch changed in a way this build does not know",
    };
    let observation = action.map(|action| Observation::VcsBranchChange { action, reference });
    Some((description.to_owned(), observation))
}

fn pull_request(told: &Value) -> Option<(String, Option<Observation>)> {
    let number = told.get("number")?.as_i64()?;
    let action: Option<PullRequestAction> = tag(told);
    let description = match (action, text(told, "action")) {
        (Some(_), Some(word)) => format!("pull request #{number}: {word}"),
        _ => format!("pull request #{number} changed in a way this build does not know"),
    };
    let url = text(told, "url").map(without_credentials);
    let observation = action.map(|action| Observation::PullRequest {
        action: Some(action),
        number,
        url,
        repo: None,
    });
    Some((description, observation))
}

/// The `action` of a fact, spelled with hyphens by the host and with underscores by us.
fn tag<T: DeserializeOwned>(told: &Value) -> Option<T> {
    let word = text(told, "action")?.replace('-', "_");
    serde_json::from_value(Value::String(word)).ok()
}

/// An address without user information and query.
pub(super) fn without_credentials(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    match path {
        Some(path) => format!("{scheme}://{host}/{path}"),
        None => format!("{scheme}://{host}"),
    }
}

fn payload(description: String, observation: Option<Observation>) -> Value {
    serde_json::to_value(ProcessObservationPayload { description, observation })
        .unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::payload::{EvidenceKind, validate_canonical_payload};
    use serde_json::json;

    fn told(operation: Value) -> Vec<(&'static str, Value)> {
        let facts = operations(&json!({"stdout": "", "gitOperation": operation}));
        for fact in &facts {
            let kind = EvidenceKind::ProcessObservation;
            assert_eq!(validate_canonical_payload(kind, &fact.payload), Ok(()));
        }
        facts.into_iter().map(|fact| (fact.slot, fact.payload)).collect()
    }

    #[test]
    fn a_commit_and_a_push_of_one_command_are_two_facts() {
        let facts =
            told(json!({"commit": {"sha": "ab12cd3", "kind": "committed", "branch": "main"},
            "push": {"branch": "main"}}));
        assert_eq!(facts[0].0, "git:commit");
        assert_eq!(
            facts[0].1["observation"],
            json!({"observation_kind": "vcs_operation", "operation": "commit",
                "outcome": "created", "commit_sha": "ab12cd3", "branch": "main"})
        );
        assert_eq!(
            facts[1].1["observation"],
            json!({"observation_kind": "vcs_operation", "operation": "push",
                "outcome": "ref_updated", "branch": "main"})
        );
        assert_eq!(facts.len(), 2);
    }

    #[test]
    fn a_pull_request_keeps_its_number_action_and_address() {
        let facts = told(json!({"pr": {"number": 7, "action": "auto-merge-enabled",
            "url": "https://u:p@example.org/o/r/pull/7?t=1"}}));
        assert_eq!(
            facts[0].1["observation"],
            json!({"observation_kind": "pull_request", "action": "auto_merge_enabled",
                "number": 7, "url": "https://example.org/o/r/pull/7"})
        );
    }

    #[test]
    fn an_action_nobody_knows_is_described_and_not_typed() {
        let facts = told(json!({"pr": {"number": 7, "action": "teleported"},
            "branch": {"ref": "main", "action": "grafted"}}));
        assert!(facts.iter().all(|(_, payload)| payload.get("observation").is_none()));
        assert_eq!(facts.len(), 2);
    }

    #[test]
    fn what_lacks_its_essential_is_no_fact() {
        for broken in [
            json!(null),
            json!("commit"),
            json!({"commit": {"kind": "committed"}, "push": {}, "branch": {"action": "merged"},
                "pr": {"action": "created", "number": "7"}}),
        ] {
            assert_eq!(told(broken), []);
        }
    }

    #[test]
    fn a_link_to_a_pull_request_states_no_action() {
        let line = json!({"type": "pr-link", "prNumber": 7, "prUrl": "https://example.org/pull/7",
            "prRepository": "o/r"});
        assert_eq!(
            linked_pull_request(&line).unwrap()["observation"],
            json!({"observation_kind": "pull_request", "number": 7,
                "url": "https://example.org/pull/7", "repo": "o/r"})
        );
        assert_eq!(linked_pull_request(&json!({"prUrl": "x"})), None);
    }
}
