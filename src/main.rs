//! Calls the composition root and returns its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    fornax::compose::main()
}
