//! Named moments at which a test ends the process, as a kill or a power cut would.
//!
//! They are compiled in by the feature `crash-points` and armed by a variable that only then is
//! read. No release has them: with the feature an optimised build does not compile.

#[cfg(all(feature = "crash-points", not(debug_assertions)))]
compile_error!("crash points are for tests and never part of a release");

/// Every moment; each is reached by some test.
pub const POINTS: &[&str] = &[
    "backup-begun",
    "backup-copied",
    "backup-named",
    "step-begun",
    "step-made",
    "step-numbered",
    "step-committed",
    "batch-begun",
    "batch-rows",
    "batch-complete",
    "batch-committed",
    "flip-set",
    "sweep-begun",
    "sweep-deleted",
    "sweep-folded",
    "append-written",
    "own-written",
    "own-named",
    "drain-claimed",
    "segment-closed",
    "stand-in-aside",
    "drain-stored",
    "drain-removed",
    "drain-settled",
];

/// The process passes a moment of this name, one of [`POINTS`].
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub fn point(_name: &'static str) {}

#[cfg(feature = "crash-points")]
pub use armed::{arm, point};

#[cfg(feature = "crash-points")]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static ARMED: OnceLock<(String, u64)> = OnceLock::new();
    static PASSED: AtomicU64 = AtomicU64::new(0);

    /// Arms the point that `spec` names, as `name:n`: the nth passing ends the process.
    pub fn arm(spec: &str) {
        let (name, nth) = spec.split_once(':').unwrap_or((spec, "1"));
        // A second one would be a mistake of the test's, which then sees no crash.
        let _ = ARMED.set((name.to_owned(), nth.parse().unwrap_or(1)));
    }

    /// The process passes a moment of this name.
    pub fn point(name: &'static str) {
        let Some((armed, nth)) = ARMED.get() else { return };
        if armed == name && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == *nth {
            std::process::abort();
        }
    }
}
