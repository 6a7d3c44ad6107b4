//! What is a claim and what is not, by labelled sentences; places, limits and properties.
//!
//! The sentences are data (`fixtures/claims/sentences.jsonl`): a text, what has to be found in it,
//! and where it matters the scope and the numbers. One test reads them all and lists every
//! disagreement, so that a change of the grammar shows its whole effect at once.

mod fixtures;
mod properties;
mod subjects;
