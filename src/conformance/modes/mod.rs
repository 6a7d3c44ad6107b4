//! The break modes, one file a contract: decorators around a subject that works.
//!
//! Each mode changes as little as the defect needs, so that exactly the case that demands the
//! opposite goes red. Where a defective writer would have a reader that mirrors it, the mode
//! keeps that reader: what is broken is the named demand, not everything behind it.

pub mod dec;
pub mod ext;
pub mod idn;
pub mod nat;
pub mod rbk;
pub mod run;
pub mod tal;
pub mod usg;
