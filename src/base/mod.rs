//! Lines, hashes, ids, time, limits, text: knows no agents, files or databases.

pub mod crash;
pub mod hash;
pub mod ids;
pub mod json;
pub mod limits;
pub mod lines;
pub mod scan;
pub mod text;
pub mod time;
pub mod tz;
pub mod when;
