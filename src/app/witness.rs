//! Putting claims about commits and pushes to the repository that holds the conversation's folder.

use crate::domain::claims::Subject;
use crate::domain::repository::Question;
use crate::domain::verdict::{ClaimCase, Finding, with_testimony};
use crate::ports::git::GitWitness;
use crate::ports::reader::{ClaimRow, ConversationRow, EvidenceRow};
use serde_json::Value;
use std::collections::HashMap;
use uuid::Uuid;

/// At most so many claims of a conversation are asked about: each question may take a second.
const QUESTIONS_MAX: usize = 32;
/// Seconds by which a commit's own time may lie outside the turn.
const SLACK: i64 = 2;

/// A claim with what is known around it.
pub(super) struct Asked<'a> {
    pub(super) case: &'a ClaimCase,
    pub(super) claim: &'a ClaimRow,
    /// When the turn began, in microseconds since 1970.
    pub(super) turn_began_us: i64,
}

/// The findings with the repository's testimony, the latest claims first to be asked about.
pub(super) fn heard(
    mut findings: Vec<Finding>,
    asked: &[Asked<'_>],
    conversation: &ConversationRow,
    evidence: &[EvidenceRow],
    order: &HashMap<Uuid, i64>,
    git: &dyn GitWitness,
) -> Vec<Finding> {
    let Some(folder) = &conversation.cwd else { return findings };
    let mut left = QUESTIONS_MAX;
    for (finding, one) in findings.iter_mut().zip(asked).rev() {
        let Some(said) = &one.case.reading else { continue };
        if !matches!(said.subject, Subject::GitCommit | Subject::GitPush) || left == 0 {
            continue;
        }
        left -= 1;
        let commit = said.object.commit.clone().or_else(|| recorded(one, evidence, order));
        let seconds = |us: i64| us.div_euclid(1_000_000);
        let question = Question {
            folder: folder.clone(),
            between: commit.is_none().then_some((
                seconds(one.turn_began_us) - SLACK,
                seconds(one.claim.order_us) + SLACK,
            )),
            commit,
            branch: said.object.branch.clone(),
            remote: said.object.remote.clone(),
            paths: said.object.paths.clone(),
        };
        let testimony = git.examine(&question);
        *finding = with_testimony(finding.clone(), &said.subject, &question, &testimony);
    }
    findings
}

/// The commit that a recorded command of the claim's own turn made last, by its output.
fn recorded(
    asked: &Asked<'_>,
    evidence: &[EvidenceRow],
    order: &HashMap<Uuid, i64>,
) -> Option<String> {
    let text = |row: &EvidenceRow, key: &str| {
        row.payload.get(key).and_then(Value::as_str).map(str::to_owned)
    };
    let of_turn = |row: &&EvidenceRow| {
        let at = order.get(&row.event_id).copied().unwrap_or_default();
        (asked.case.turn_from..asked.case.order).contains(&at)
    };
    let made = |row: &EvidenceRow| {
        let is_commit = text(row, "observation_kind").as_deref() == Some("vcs_operation")
            && text(row, "operation").as_deref() == Some("commit");
        if is_commit { text(row, "commit_sha") } else { None }
    };
    evidence.iter().filter(of_turn).filter_map(made).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::claims;
    use crate::domain::repository::{CommitFacts, Facts, Found, Testimony, Unavailable};
    use crate::domain::verdict::{Reason, Verdict};
    use std::cell::RefCell;

    /// Answers that the commit it is asked about is there, and remembers the questions.
    struct There(RefCell<Vec<Question>>);

    impl GitWitness for There {
        fn examine(&self, question: &Question) -> Testimony {
            self.0.borrow_mut().push(question.clone());
            let Some(commit) = &question.commit else {
                return Testimony::Unavailable(Unavailable::NotARepository);
            };
            let found = CommitFacts { id: commit.clone(), committed_at: 1, named: true };
            let commit = Found::Commit(found);
            Testimony::Facts(Facts { commit, on_branch: Some(true), ..Facts::default() })
        }
    }

    fn conversation(cwd: Option<&str>) -> ConversationRow {
        ConversationRow { cwd: cwd.map(str::to_owned), ..ConversationRow::default() }
    }

    fn heard_of(text: &str, cwd: Option<&str>) -> (Finding, Vec<Question>) {
        let subject = "git_commit";
        let case = ClaimCase {
            id: Uuid::from_u128(1),
            text: text.to_owned(),
            subject: subject.to_owned(),
            reading: claims::reread(text, subject),
            turn: None,
            turn_from: 1,
            order: 9,
        };
        let claim = ClaimRow {
            id: Uuid::from_u128(1),
            native_id: "s".to_owned(),
            event_id: Uuid::from_u128(2),
            turn_id: None,
            text: text.to_owned(),
            subject: subject.to_owned(),
            claimed_at: String::new(),
            order_us: 20_000_000,
            ingress: "built_in".to_owned(),
            seen: None,
        };
        let finding = Finding {
            id: Uuid::from_u128(3),
            claim_id: Uuid::from_u128(1),
            verdict: Verdict::Unverified,
            reason: Reason::NoMatchingCommand,
            rationale: "no commit was recorded before the claim".to_owned(),
            evidence_ids: Vec::new(),
            verifier_name: "git_commit_verifier_v1".to_owned(),
        };
        let asked = [Asked { case: &case, claim: &claim, turn_began_us: 10_000_000 }];
        let git = There(RefCell::new(Vec::new()));
        let order = HashMap::new();
        let found = heard(vec![finding], &asked, &conversation(cwd), &[], &order, &git);
        (found.into_iter().next().unwrap(), git.0.into_inner())
    }

    #[test]
    fn a_commit_that_the_claim_names_is_asked_for_in_the_conversations_folder() {
        let (finding, questions) = heard_of("Committed as 1a2b3c4d.", Some("/w"));
        assert_eq!(questions[0].commit.as_deref(), Some("1a2b3c4d"));
        assert_eq!((questions[0].folder.as_str(), questions[0].between), ("/w", None));
        assert_eq!(finding.verdict, Verdict::Verified);
    }

    #[test]
    fn without_a_name_commits_of_the_turns_time_are_asked_for() {
        let (finding, questions) = heard_of("I committed the changes.", Some("/w"));
        assert_eq!(questions[0].between, Some((8, 22)));
        assert_eq!(finding.verdict, Verdict::Unverified);
        assert!(finding.rationale.contains("not_a_repository"), "{}", finding.rationale);
    }

    #[test]
    fn without_a_folder_nobody_is_asked() {
        let (finding, questions) = heard_of("Committed as 1a2b3c4d.", None);
        assert!(questions.is_empty());
        assert_eq!(finding.verdict, Verdict::Unverified);
    }
}
