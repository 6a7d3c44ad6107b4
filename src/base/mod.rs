//! Lines, hashes, ids, time, limits, text: knows no agents, files or databases.

pub mod hash;
