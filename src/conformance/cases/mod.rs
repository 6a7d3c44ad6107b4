//! The cases, one file a contract; `modes` mirrors it.

pub mod ext;
pub mod idn;
pub mod run;
pub mod usg;
