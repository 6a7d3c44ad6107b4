//! The only caller of the system clock.

use crate::base::time::Micros;
use crate::ports::clock::Clock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The host's wall clock.
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the system")]
    fn now(&self) -> Micros {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}
