//! Verdicts on commits, pushes and pull requests, from the runs that made them.
//!
//! What the claim names (a commit, a branch, a number) has to be what the run's own words or output
//! show; a deed that is proven with other names is for a person to look at. A witness that looks at
//! the repository itself belongs beside this.

use super::attempts::{self, Answer, Attempt, Programs};
use super::{ClaimCase, Reason, Situation, Verdict};
use crate::domain::claims::{Object, Subject};

/// The answer to a claim about a repository; `None` for other subjects.
pub(super) fn answer(
    claim: &ClaimCase,
    subject: &Subject,
    object: &Object,
    situation: &Situation,
    programs: &[Programs<'_>],
) -> Option<Answer> {
    let (what, is_deed): (&str, fn(&[String]) -> bool) = match subject {
        Subject::GitCommit => ("`git commit`", commits),
        Subject::GitPush => ("`git push`", pushes),
        Subject::PullRequest => ("command that opens a pull request", opens_pull_request),
        _ => return None,
    };
    let found = attempts::attempts(claim, programs, is_deed);
    let (mut answer, latest) = attempts::weigh(claim, situation, &found, what);
    if let (Verdict::Verified, Some(latest)) = (answer.verdict, latest)
        && let Some(missing) = unseen_name(object, latest)
    {
        answer.verdict = Verdict::Review;
        answer.reason = Reason::ObjectUnseen;
        answer.rationale = format!("{}, but it does not show {missing}", answer.rationale);
    }
    Some(answer)
}

/// The sub-command of `git` with its arguments.
fn git(words: &[String]) -> Option<(&str, &[String])> {
    let (program, mut rest) = words.split_first()?;
    if program != "git" {
        return None;
    }
    while let Some((first, more)) = rest.split_first() {
        if !first.starts_with('-') {
            return Some((first.as_str(), more));
        }
        let valued = matches!(first.as_str(), "-C" | "-c" | "--git-dir" | "--work-tree");
        rest = more.get(usize::from(valued)..).unwrap_or_default();
    }
    None
}

fn commits(words: &[String]) -> bool {
    git(words).is_some_and(|(verb, rest)| verb == "commit" && !only_tries(rest))
}

fn pushes(words: &[String]) -> bool {
    let deletes =
        |rest: &[String]| rest.iter().any(|word| matches!(word.as_str(), "-d" | "--delete"));
    git(words).is_some_and(|(verb, rest)| {
        let tries = only_tries(rest) || rest.iter().any(|word| word == "-n");
        verb == "push" && !tries && !deletes(rest)
    })
}

fn only_tries(rest: &[String]) -> bool {
    rest.iter().any(|word| matches!(word.as_str(), "--dry-run" | "--help" | "-h"))
}

fn opens_pull_request(words: &[String]) -> bool {
    let head: Vec<&str> = words.iter().take(3).map(String::as_str).collect();
    let known = matches!(head.as_slice(), ["gh", "pr", "create"] | ["glab", "mr", "create"]);
    let unfinished = ["--web", "-w", "--dry-run", "--help", "-h"];
    known && !words.iter().any(|word| unfinished.contains(&word.as_str()))
}

/// What the claim names and neither the command nor its output shows.
fn unseen_name(object: &Object, attempt: &Attempt<'_>) -> Option<String> {
    let output = attempt.run.output.as_deref().unwrap_or_default();
    if let Some(commit) = &object.commit {
        let shown = output.split(|c: char| !c.is_ascii_hexdigit()).any(|word| {
            word.len() >= 7 && (commit.starts_with(word) || word.starts_with(commit.as_str()))
        });
        if !shown {
            return Some(format!("commit {commit}"));
        }
    }
    let names = |name: &str| {
        let odd = |c: char| !(c.is_alphanumeric() || "/_-.".contains(c));
        let shown = |word: &str| word == name || word.ends_with(&format!("/{name}"));
        output.split(odd).any(shown)
            || attempt.words.iter().flat_map(|word| word.split(':')).any(shown)
    };
    for (kind, name) in [("branch", &object.branch), ("remote", &object.remote)] {
        if let Some(name) = name.as_deref().filter(|name| !names(name)) {
            return Some(format!("{kind} {name}"));
        }
    }
    let number = object.pull_request.as_deref()?;
    let number = number.rsplit('/').next().unwrap_or(number);
    let ends = [format!("/pull/{number}"), format!("/merge_requests/{number}")];
    let shown =
        output.split_whitespace().any(|word| ends.iter().any(|end| word.ends_with(end.as_str())));
    (!shown).then(|| format!("pull request {number}"))
}
