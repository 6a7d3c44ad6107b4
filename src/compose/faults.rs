//! What a fault inside says: where it happened, and nothing of what it was about.
//!
//! The text of a panic can hold what was being read (a slice of a string that is no slice of it
//! quotes the string), so it is never printed.

use crate::cli::ui::print_error;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};

/// The exit code of an internal error.
const INTERNAL: u8 = 70;

/// Runs the program; a panic is one line that names a place, and exit code 70.
pub(super) fn guarded(run: impl FnOnce() -> u8) -> u8 {
    set_hook(Box::new(|info| print_error(&anyhow::anyhow!(line(info)))));
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(INTERNAL)
}

fn line(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map(|at| format!(" at {}:{}", at.file(), at.line()));
    format!("internal error{}; please report it", place.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::take_hook;
    use std::sync::{Arc, Mutex};

    #[test]
    fn a_panic_tells_its_place_and_nothing_of_its_text() {
        let told = Arc::new(Mutex::new(String::new()));
        let here = std::thread::current().id();
        let (note, before) = (Arc::clone(&told), take_hook());
        set_hook(Box::new(move |info| {
            // Other tests panic in threads of their own.
            if std::thread::current().id() == here {
                *note.lock().unwrap() = line(info);
            }
        }));
        let secret = ["gh", "p_", &"A1b2C3".repeat(6)].concat();
        let ended = catch_unwind(|| panic!("cannot cut {secret}"));
        set_hook(before);
        assert!(ended.is_err());
        let told = told.lock().unwrap();
        assert!(told.starts_with("internal error at src/compose/faults.rs:"), "{told}");
        assert!(told.ends_with("; please report it") && !told.contains("cut"), "{told}");
    }
}
