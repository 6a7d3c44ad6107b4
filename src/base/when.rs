//! Points in time as people type them, and spans of time as people read them.

use super::time::Micros;

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A time that was typed: RFC 3339, a day (`2026-05-04`, its beginning in UTC), or how long ago
/// (`90s`, `30m`, `2h`, `3d`, `1w`). `None` for anything else.
pub fn when(text: &str, now: Micros) -> Option<Micros> {
    let text = text.trim();
    if let Some(at) = Micros::parse(text) {
        return Some(at);
    }
    if text.len() == "2026-05-04".len() && text.contains('-') {
        return Micros::parse(&format!("{text}T00:00:00Z"));
    }
    Some(Micros(now.0.saturating_sub(length(text)?)))
}

/// How long: `90s`, `30m`, `2h`, `3d`, `1w`, in microseconds. `None` for anything else.
pub fn length(text: &str) -> Option<i64> {
    let text = text.trim();
    let unit = text.chars().last()?;
    let count: i64 = text.strip_suffix(unit)?.parse().ok().filter(|count| *count >= 0)?;
    let unit = match unit {
        's' => SECOND,
        'm' => MINUTE,
        'h' => HOUR,
        'd' => DAY,
        'w' => 7 * DAY,
        _ => return None,
    };
    Some(count.saturating_mul(unit))
}

/// A span in its two largest units: `2 d 4 h`, `1 h 05 m`, `4 m 10 s`, `12 s`, `340 ms`.
pub fn span(micros: i64) -> String {
    let us = micros.max(0);
    let (days, hours) = (us / DAY, us % DAY / HOUR);
    let (minutes, seconds) = (us % HOUR / MINUTE, us % MINUTE / SECOND);
    if days > 0 {
        format!("{days} d {hours} h")
    } else if hours > 0 {
        format!("{hours} h {minutes:02} m")
    } else if minutes > 0 {
        format!("{minutes} m {seconds:02} s")
    } else if seconds > 0 {
        format!("{seconds} s")
    } else {
        format!("{} ms", us / 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_type_them() {
        let now = Micros::parse("2026-05-04T12:00:00Z").unwrap();
        let cases = [
            ("2026-05-04", "2026-05-04T00:00:00Z"),
            ("2026-05-04T10:00:00+02:00", "2026-05-04T08:00:00Z"),
            ("90s", "2026-05-04T11:58:30Z"),
            ("2h", "2026-05-04T10:00:00Z"),
            (" 1w ", "2026-04-27T12:00:00Z"),
            ("0d", "2026-05-04T12:00:00Z"),
        ];
        for (typed, meant) in cases {
            assert_eq!(when(typed, now), Micros::parse(meant), "{typed}");
        }
        for nonsense in ["", "yesterday", "h", "-2h", "2", "2y", "2026-5-4", "\u{e9}"] {
            assert_eq!(when(nonsense, now), None, "{nonsense}");
        }
        assert!(when("9223372036854775807w", now).is_some());
    }

    #[test]
    fn spans_have_two_units_at_most() {
        let cases = [
            (2 * DAY + 4 * HOUR + MINUTE, "2 d 4 h"),
            (HOUR + 5 * MINUTE, "1 h 05 m"),
            (4 * MINUTE + 10 * SECOND, "4 m 10 s"),
            (12 * SECOND + 900, "12 s"),
            (340_000, "340 ms"),
            (-5, "0 ms"),
        ];
        for (micros, told) in cases {
            assert_eq!(span(micros), told);
        }
    }
}
