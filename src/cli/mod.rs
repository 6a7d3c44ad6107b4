//! Arguments in, text or JSON out, exit codes.
//!
//! `args` is what can be typed; each file under `command` carries out one subcommand with the
//! parts that the composition root hands in.

pub mod args;
pub mod command;
pub mod exit;
pub mod parts;
mod story;
mod table;
pub mod ui;
mod wrap;
