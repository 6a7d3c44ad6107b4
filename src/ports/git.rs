//! Asking a repository about a claim.

use crate::domain::repository::{Question, Testimony};

/// A repository that is asked, never changed, and that never runs a program.
pub trait GitWitness {
    /// What the repository around the question's folder shows now. Returns within the witness's own
    /// bound of time, whatever the repository holds.
    fn examine(&self, question: &Question) -> Testimony;
}
