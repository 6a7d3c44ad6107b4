//! Instants as microseconds since 1970 and their RFC 3339 spelling.
//!
//! Text written is chrono's `to_rfc3339` (`+00:00`), as the first Fornax wrote it. The original
//! spelling of a time that came from outside is kept beside the number by whoever read it.

use chrono::{DateTime, Local, Offset as _, SecondsFormat, TimeZone as _, Utc};

/// Microseconds since 1970-01-01T00:00:00Z; may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Micros(pub i64);

impl Micros {
    /// Reads an RFC 3339 time; `None` when the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        DateTime::parse_from_rfc3339(text.trim()).ok().map(|t| Self(t.timestamp_micros()))
    }

    /// RFC 3339 with microseconds, in UTC (`2026-03-01T10:00:00.000001+00:00`).
    pub fn rfc3339(self) -> String {
        self.utc().map_or_else(
            || "1970-01-01T00:00:00+00:00".to_owned(),
            |t| t.to_rfc3339_opts(SecondsFormat::AutoSi, false),
        )
    }

    /// `2026-03-01 10:00:00` in UTC, for people.
    pub fn human(self) -> String {
        self.utc().map_or_else(
            || "unknown time".to_owned(),
            |t| t.format("%Y-%m-%d %H:%M:%S").to_string(),
        )
    }

    /// `10:00:00` in UTC, for people.
    pub fn clock(self) -> String {
        self.utc().map_or_else(|| "--:--:--".to_owned(), |t| t.format("%H:%M:%S").to_string())
    }

    fn utc(self) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp_micros(self.0)
    }
}

/// Seconds that this host's zone is east of UTC at an instant.
pub fn local_offset(at: Micros) -> i64 {
    at.utc().map_or(0, |utc| {
        i64::from(Local.offset_from_utc_datetime(&utc.naive_utc()).fix().local_minus_utc())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_survives_its_spelling() {
        let at = Micros::parse("2026-03-01T10:00:00.123456Z").unwrap();
        assert_eq!(at.rfc3339(), "2026-03-01T10:00:00.123456+00:00");
        assert_eq!(Micros::parse(&at.rfc3339()), Some(at));
    }

    #[test]
    fn an_offset_is_honoured_and_nonsense_is_refused() {
        assert_eq!(
            Micros::parse("2026-03-01T12:00:00+02:00"),
            Micros::parse("2026-03-01T10:00:00Z")
        );
        assert_eq!(Micros::parse("yesterday"), None);
    }

    #[test]
    fn an_instant_outside_the_calendar_is_still_printed() {
        assert_eq!(Micros(i64::MAX).human(), "unknown time");
    }
}
