//! Each claim to the verifier of its subject.

use super::attempts::{Answer, Programs, programs};
use super::{ClaimCase, Finding, Situation, dependency, files, repository};
use crate::base::ids;
use crate::domain::claims::Subject;

/// Judges claims, in their order. Commands are read once for all of them.
pub fn judge(claims: &[ClaimCase], situation: &Situation) -> Vec<Finding> {
    let programs = programs(situation);
    let of_checks = super::judge::judge(claims, situation);
    let each = claims.iter().zip(of_checks);
    each.map(|(claim, check)| deed(claim, situation, &programs).unwrap_or(check)).collect()
}

/// The finding on a deed; `None` for claims about checks and commands.
fn deed(claim: &ClaimCase, situation: &Situation, programs: &[Programs<'_>]) -> Option<Finding> {
    let reading = claim.reading.as_ref()?;
    let (subject, object) = (&reading.subject, &reading.object);
    let answer: Answer = match subject {
        Subject::FileCreated | Subject::FileWritten | Subject::FileDeleted => {
            files::answer(claim, subject, &object.paths, situation, programs)
        }
        Subject::DependencyAdded => dependency::answer(claim, object, situation, programs),
        _ => repository::answer(claim, subject, object, situation, programs)?,
    };
    let verifier_name = format!("{}_verifier_v1", subject.as_str());
    Some(Finding {
        id: ids::derive(&["finding", &claim.id.to_string(), &verifier_name]),
        claim_id: claim.id,
        verdict: answer.verdict,
        reason: answer.reason,
        rationale: answer.rationale,
        evidence_ids: answer.evidence_ids,
        verifier_name,
    })
}
