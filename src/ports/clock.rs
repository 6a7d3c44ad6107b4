//! The time of day.

use crate::base::time::Micros;

/// Tells the time.
pub trait Clock: Send + Sync {
    fn now(&self) -> Micros;
}
