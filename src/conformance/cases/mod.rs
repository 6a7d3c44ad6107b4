//! The cases, one file a contract; `modes` mirrors it.

pub mod dec;
pub mod ext;
pub mod idn;
pub mod nat;
pub mod rbk;
pub mod run;
pub mod tal;
pub mod usg;
