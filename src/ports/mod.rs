//! The traits between core and the outside, and their small data.

pub mod agent;
