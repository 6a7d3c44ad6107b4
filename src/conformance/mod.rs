//! Contracts, break modes, the ledger and the runner: how fornax proves its own readers.
//!
//! A contract is a list of cases; a case asks a subject through a trait of `subjects` and records
//! soft checks. A break mode is a decorator around the subject, and a case counts only because
//! some mode reddens it. Nothing outside this module knows a break mode.

pub mod builtin;
pub mod cases;
pub mod check;
pub mod contract;
pub mod decoding;
pub mod engine;
pub mod harness;
pub mod hooking;
pub mod judge;
pub mod listing;
pub mod modes;
pub mod native;
pub mod nearest;
pub mod normalizing;
pub mod options;
pub mod outcome;
pub mod process;
pub mod random;
#[cfg(test)]
mod reference;
pub mod registry;
pub mod report;
pub mod run;
pub mod selftest;
pub mod subjects;
pub mod tailing;
pub mod teeth;
