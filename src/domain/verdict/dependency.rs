//! Verdicts on dependencies that were added, from the package tools that were run.

use super::attempts::{self, Answer, Programs};
use super::{ClaimCase, Reason, Situation, Verdict};
use crate::domain::claims::Object;

/// Manifests whose change may add a dependency.
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "requirements.txt",
    "go.mod",
    "Gemfile",
    "composer.json",
    "mix.exs",
    "build.gradle",
    "build.gradle.kts",
    "pom.xml",
];

/// The answer to a claim that a package was added.
pub(super) fn answer(
    claim: &ClaimCase,
    object: &Object,
    situation: &Situation,
    programs: &[Programs<'_>],
) -> Answer {
    let package = object.package.as_deref().unwrap_or_default();
    let found = attempts::attempts(claim, programs, |words| adds(words, package));
    let edited = situation.writes.iter().rev().find(|write| {
        let name = write.path.rsplit('/').next().unwrap_or_default();
        write.order < claim.order && MANIFESTS.contains(&name)
    });
    let (mut answer, latest) =
        attempts::weigh(claim, situation, &found, "command that adds the package");
    let open = matches!(answer.verdict, Verdict::Contradicted | Verdict::Unverified);
    if let Some(write) = edited.filter(|_| open) {
        let text = format!(
            "{} was written (seen at {}); what it names is not looked into",
            write.path, write.place
        );
        return Answer::new(Verdict::Review, Reason::ManifestWritten, text, &write.evidence_ids);
    }
    let shown = object.version.as_deref().is_none_or(|version| {
        latest.is_some_and(|latest| latest.words.iter().any(|word| word.ends_with(version)))
    });
    if answer.verdict == Verdict::Verified && !shown {
        answer.verdict = Verdict::Review;
        answer.reason = Reason::ObjectUnseen;
        answer.rationale = format!("{}, but it does not show the version", answer.rationale);
    }
    answer
}

/// Whether a program writes `package` to a manifest. `pip install` writes none.
fn adds(words: &[String], package: &str) -> bool {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let adds = match word(0) {
        "cargo" | "uv" | "poetry" | "pdm" | "bundle" => word(1) == "add",
        "npm" | "pnpm" | "yarn" | "bun" => matches!(word(1), "install" | "i" | "add"),
        "go" => word(1) == "get",
        "composer" => word(1) == "require",
        "dotnet" => word(1) == "add" && words.iter().any(|word| word == "package"),
        _ => false,
    };
    let tries = words.iter().any(|word| {
        matches!(word.as_str(), "--dry-run" | "--no-save" | "-g" | "--global" | "--help")
    });
    let named = |word: &String| {
        let rest = word.strip_prefix(package);
        rest.is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(['@', '=', '>', '<', '~', '^', '['])
        })
    };
    adds && !tries && words.iter().skip(2).any(named)
}
