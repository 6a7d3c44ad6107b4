//! What a repository's testimony does to a finding about a commit or a push.
//!
//! The repository is examined when the claim is verified, not when it was made, and the rationale
//! says so. It can confirm: a commit that a claim names is there or is not, whatever was recorded.
//! It never contradicts: history is rewritten, branches are deleted, folders hold other clones.

use super::{Finding, Reason, Verdict};
use crate::domain::claims::Subject;
use crate::domain::repository::{CommitFacts, Facts, Found, Question, Testimony};

/// Characters of a hash in a rationale.
const HASH_CHARS: usize = 12;

/// The finding with what the repository around the conversation's folder shows.
pub fn with_testimony(
    finding: Finding,
    subject: &Subject,
    question: &Question,
    testimony: &Testimony,
) -> Finding {
    let facts = match testimony {
        Testimony::Facts(facts) => facts,
        Testimony::Unavailable(reason) => {
            return noted(finding, &format!("no repository could be asked ({})", reason.as_str()));
        }
    };
    match subject {
        Subject::GitCommit => committed(finding, question, facts),
        Subject::GitPush => pushed(finding, question, facts),
        _ => finding,
    }
}

fn committed(finding: Finding, question: &Question, facts: &Facts) -> Finding {
    match &facts.commit {
        Found::Commit(commit) if commit.named => named_commit(finding, question, facts, commit),
        Found::Missing if question.commit.is_some() => {
            let hash = short(question.commit.as_deref().unwrap_or_default());
            absent(finding, Reason::CommitNotInRepository, &format!("does not hold {hash}"), facts)
        }
        Found::Ambiguous => noted(finding, "the hash means several objects of the repository"),
        Found::OtherObject => absent(
            finding,
            Reason::CommitNotInRepository,
            "has an object of that hash that is no commit",
            facts,
        ),
        _ => made_meanwhile(finding, facts),
    }
}

/// The claim, or the output that it rests on, names a commit that is there.
fn named_commit(
    finding: Finding,
    question: &Question,
    facts: &Facts,
    commit: &CommitFacts,
) -> Finding {
    let hash = short(&commit.id);
    if facts.on_branch == Some(false) {
        let branch = branch_words(question, facts);
        let seen = format!("the repository holds {hash}, but {branch} does not");
        let strict = question.branch.is_some();
        return if strict && finding.verdict == Verdict::Verified {
            doubted(finding, Reason::CommitNotOnBranch, &seen)
        } else {
            noted(finding, &seen)
        };
    }
    let lacking = facts.touches.iter().find(|(_, touched)| *touched == Some(false));
    if let Some((path, _)) = lacking {
        let seen = format!("commit {hash} does not change {path}");
        return doubted(finding, Reason::CommitLacksFile, &seen);
    }
    let on = match facts.on_branch {
        Some(true) => format!(" on {}", branch_words(question, facts)),
        _ => String::new(),
    };
    let seen = format!("the repository holds {hash}{on}{}", work_tree(facts));
    if facts.on_branch.is_none() && finding.verdict != Verdict::Verified {
        return doubted(finding, Reason::CommitInRepository, &seen);
    }
    confirmed(finding, Reason::CommitInRepository, &seen)
}

/// No commit is named: one that was made in the time of the turn speaks for the claim, and does not
/// prove who made it.
fn made_meanwhile(finding: Finding, facts: &Facts) -> Finding {
    let Some(newest) = facts.made_between.first() else {
        return match finding.verdict {
            Verdict::Contradicted | Verdict::Verified => finding,
            _ => noted(finding, "the branch shows no commit of that time"),
        };
    };
    let seen = format!("the branch has a commit of that time, {}", short(newest));
    match finding.verdict {
        Verdict::Verified | Verdict::Review => noted(finding, &seen),
        _ => doubted(finding, Reason::CommitInTurn, &seen),
    }
}

fn pushed(finding: Finding, question: &Question, facts: &Facts) -> Finding {
    let Some(commit) = facts.found() else {
        return noted(finding, "the repository shows no commit to look for");
    };
    let hash = short(&commit.id);
    if let Some(remote) = facts.on_remotes.first() {
        let seen = format!("the remote-tracking reference {remote} holds {hash}");
        return if commit.named {
            confirmed(finding, Reason::OnRemote, &seen)
        } else if finding.verdict == Verdict::Verified {
            noted(finding, &seen)
        } else {
            // The tip of a branch may have been there long before.
            doubted(finding, Reason::OnRemote, &seen)
        };
    }
    let seen = match (facts.remote_known, &question.remote) {
        (true, _) => format!("no remote-tracking reference of that branch holds {hash}"),
        (false, Some(remote)) => format!("the repository tracks no such branch of {remote}"),
        (false, None) => "the repository tracks no remote branch of that name".to_owned(),
    };
    noted(finding, &seen)
}

/// The commit is not to be found. What was recorded literally stands: it may be gone since.
fn absent(finding: Finding, reason: Reason, seen: &str, facts: &Facts) -> Finding {
    let cut = if facts.shallow { ", whose history is cut" } else { "" };
    let seen = format!("the repository{cut} {seen}");
    match finding.verdict {
        Verdict::Verified | Verdict::Contradicted => noted(finding, &seen),
        _ => doubted(finding, reason, &seen),
    }
}

/// Literal evidence for the claim, whatever was found before.
fn confirmed(finding: Finding, reason: Reason, seen: &str) -> Finding {
    match finding.verdict {
        Verdict::Verified => noted(finding, seen),
        // Two literal witnesses that disagree are for a person.
        Verdict::Contradicted => doubted(finding, reason, seen),
        _ => Finding { verdict: Verdict::Verified, reason, ..noted(finding, seen) },
    }
}

fn doubted(finding: Finding, reason: Reason, seen: &str) -> Finding {
    Finding { verdict: Verdict::Review, reason, ..noted(finding, seen) }
}

fn noted(finding: Finding, seen: &str) -> Finding {
    let rationale = format!("{}; at the time of verifying, {seen}", finding.rationale);
    Finding { rationale, ..finding }
}

fn branch_words(question: &Question, facts: &Facts) -> String {
    match question.branch.as_deref().or(facts.head_branch.as_deref()) {
        Some(branch) => format!("branch {branch}"),
        None => "what is checked out".to_owned(),
    }
}

/// What the work tree shows of the files, when it was looked at.
fn work_tree(facts: &Facts) -> String {
    match (facts.bare || facts.touches.is_empty(), facts.differing.len()) {
        (true, _) => String::new(),
        (false, 0) => ", and the work tree has its files unchanged".to_owned(),
        (false, 1) => ", and the work tree differs in one of its files".to_owned(),
        (false, n) => format!(", and the work tree differs in {n} of its files"),
    }
}

fn short(hash: &str) -> &str {
    hash.get(..HASH_CHARS).unwrap_or(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::repository::Unavailable;
    use uuid::Uuid;

    const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

    fn finding(verdict: Verdict) -> Finding {
        Finding {
            id: Uuid::from_u128(1),
            claim_id: Uuid::from_u128(2),
            verdict,
            reason: Reason::NoMatchingCommand,
            rationale: "no commit was recorded before the claim".to_owned(),
            evidence_ids: Vec::new(),
            verifier_name: "git_commit_verifier_v1".to_owned(),
        }
    }

    fn there(named: bool) -> Facts {
        let commit = CommitFacts { id: HASH.to_owned(), committed_at: 1, named };
        Facts {
            head_branch: Some("main".to_owned()),
            commit: Found::Commit(commit),
            on_branch: Some(true),
            ..Facts::default()
        }
    }

    fn naming() -> Question {
        Question { commit: Some(HASH[..7].to_owned()), ..Question::default() }
    }

    fn after(
        verdict: Verdict,
        subject: &Subject,
        question: &Question,
        facts: Facts,
    ) -> (Verdict, Reason) {
        let testimony = Testimony::Facts(facts);
        let finding = with_testimony(finding(verdict), subject, question, &testimony);
        assert!(finding.rationale.contains("at the time of verifying"), "{}", finding.rationale);
        (finding.verdict, finding.reason)
    }

    #[test]
    fn a_named_commit_that_is_on_the_branch_verifies_the_claim() {
        let answer = after(Verdict::Unverified, &Subject::GitCommit, &naming(), there(true));
        assert_eq!(answer, (Verdict::Verified, Reason::CommitInRepository));
    }

    #[test]
    fn two_literal_witnesses_that_disagree_are_for_a_person() {
        let answer = after(Verdict::Contradicted, &Subject::GitCommit, &naming(), there(true));
        assert_eq!(answer.0, Verdict::Review);
    }

    #[test]
    fn a_commit_that_is_gone_leaves_what_was_recorded_and_never_contradicts() {
        let gone = || Facts { commit: Found::Missing, ..Facts::default() };
        let kept = after(Verdict::Verified, &Subject::GitCommit, &naming(), gone());
        assert_eq!(kept.0, Verdict::Verified);
        let doubted = after(Verdict::Unverified, &Subject::GitCommit, &naming(), gone());
        assert_eq!(doubted, (Verdict::Review, Reason::CommitNotInRepository));
    }

    #[test]
    fn a_commit_on_another_branch_than_the_claim_names_is_for_review() {
        let question = Question { branch: Some("main".to_owned()), ..naming() };
        let facts = Facts { on_branch: Some(false), ..there(true) };
        let answer = after(Verdict::Verified, &Subject::GitCommit, &question, facts.clone());
        assert_eq!(answer, (Verdict::Review, Reason::CommitNotOnBranch));
        let unnamed = after(Verdict::Verified, &Subject::GitCommit, &naming(), facts);
        assert_eq!(unnamed.0, Verdict::Verified, "another branch is checked out since");
    }

    #[test]
    fn a_commit_without_the_file_that_the_claim_names_is_for_review() {
        let touches = vec![("src/a.rs".to_owned(), Some(false))];
        let facts = Facts { touches, ..there(true) };
        let answer = after(Verdict::Verified, &Subject::GitCommit, &naming(), facts);
        assert_eq!(answer, (Verdict::Review, Reason::CommitLacksFile));
    }

    #[test]
    fn a_commit_of_the_turns_time_is_no_proof_of_who_made_it() {
        let facts = Facts { made_between: vec![HASH.to_owned()], ..there(false) };
        let answer = after(Verdict::Unverified, &Subject::GitCommit, &Question::default(), facts);
        assert_eq!(answer, (Verdict::Review, Reason::CommitInTurn));
    }

    #[test]
    fn a_push_is_verified_by_a_named_commit_on_a_remote_and_supported_by_a_tip() {
        let on = |named| Facts {
            on_remotes: vec!["origin/main".to_owned()],
            remote_known: true,
            ..there(named)
        };
        let push = |named| after(Verdict::Unverified, &Subject::GitPush, &naming(), on(named));
        assert_eq!(push(true), (Verdict::Verified, Reason::OnRemote));
        assert_eq!(push(false), (Verdict::Review, Reason::OnRemote));
    }

    #[test]
    fn a_remote_without_the_commit_changes_no_verdict() {
        for verdict in [Verdict::Verified, Verdict::Unverified, Verdict::Contradicted] {
            let facts = Facts { remote_known: true, ..there(true) };
            assert_eq!(after(verdict, &Subject::GitPush, &naming(), facts).0, verdict);
        }
    }

    #[test]
    fn silence_changes_nothing_but_the_rationale() {
        let testimony = Testimony::Unavailable(Unavailable::NotARepository);
        let before = finding(Verdict::Unverified);
        let after = with_testimony(before.clone(), &Subject::GitCommit, &naming(), &testimony);
        assert_eq!((after.verdict, after.reason), (before.verdict, before.reason));
        assert!(after.rationale.ends_with("(not_a_repository)"), "{}", after.rationale);
    }
}
