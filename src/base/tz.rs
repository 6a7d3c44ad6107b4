//! Days in a time zone: whole days since 1970, and zones as offsets or as tables of changes.
//!
//! A table is a compiled zone file (TZif version 2 or later) as systems keep them; for instants
//! after its last change its closing rule holds (`EST5EDT,M3.2.0,M11.1.0`).

use super::time::{Micros, local_offset};
use std::fmt;

const DAY_S: i64 = 86_400;

/// A day of the proleptic Gregorian calendar, as days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i64);

impl Day {
    /// Reads `YYYY-MM-DD`; `None` when the text is no such day.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let mut number = |digits: usize| -> Option<i64> {
            let part = parts.next().filter(|p| p.len() == digits)?;
            part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok())?
        };
        let (year, month, day) = (number(4)?, number(2)?, number(2)?);
        let parsed = Self::of(year, month, day);
        (parts.next().is_none() && parsed.civil() == (year, month, day)).then_some(parsed)
    }

    /// The day of a year, month (1 to 12) and day of the month.
    pub fn of(year: i64, month: i64, day: i64) -> Self {
        // Years begin in March, so that the leap day is the last day of one.
        let year = if month <= 2 { year - 1 } else { year };
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        Self(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468)
    }

    /// Year, month and day of the month.
    pub fn civil(self) -> (i64, i64, i64) {
        let days = self.0 + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let day_of_year = of_era - (365 * year + year / 4 - year / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year + era * 400 + i64::from(month <= 2);
        (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// A time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Zone {
    /// The zone of this host.
    Local,
    /// Seconds east of UTC.
    Fixed(i64),
    Table(ZoneTable),
}

impl Zone {
    /// UTC.
    pub const UTC: Self = Self::Fixed(0);

    /// Reads `utc`, `local` or an offset (`+02:00`, `-0530`, `+9`); `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "utc" | "z" => return Some(Self::UTC),
            "local" => return Some(Self::Local),
            _ => {}
        }
        let (sign, rest) = match text.split_at_checked(1)? {
            ("+", rest) => (1, rest),
            ("-", rest) => (-1, rest),
            _ => return None,
        };
        let digits: String = rest.chars().filter(|c| *c != ':').collect();
        let well_formed = digits.bytes().all(|b| b.is_ascii_digit());
        let (hours, minutes) = match digits.len() {
            1 | 2 => (digits.as_str(), "0"),
            4 => digits.split_at(2),
            _ => return None,
        };
        let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
        (well_formed && hours <= 18 && minutes < 60)
            .then_some(Self::Fixed(sign * (hours * 3_600 + minutes * 60)))
    }

    /// Seconds east of UTC at an instant.
    pub fn offset_at(&self, at: Micros) -> i64 {
        match self {
            Self::Local => local_offset(at),
            Self::Fixed(seconds) => *seconds,
            Self::Table(table) => table.offset_at(at.0.div_euclid(1_000_000)),
        }
    }

    /// The day that an instant is on.
    pub fn day(&self, at: Micros) -> Day {
        Day((at.0.div_euclid(1_000_000) + self.offset_at(at)).div_euclid(DAY_S))
    }

    /// The first instant of a day.
    pub fn start_of(&self, day: Day) -> Micros {
        let wall = day.0.saturating_mul(DAY_S);
        let micros = |seconds: i64| Micros(seconds.saturating_mul(1_000_000));
        // The offset a day earlier is close enough to find the one that holds at midnight.
        let guess = wall - self.offset_at(micros(wall - DAY_S));
        micros(wall - self.offset_at(micros(guess)))
    }
}

/// A compiled zone: when which offset began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneTable {
    /// Offset before the first change.
    first: i64,
    /// Instants in seconds, ascending, with the offset from then on.
    changes: Vec<(i64, i64)>,
    /// What holds after the last change.
    rule: Option<Rule>,
}

impl ZoneTable {
    /// Reads a compiled zone file; `None` when the bytes are none of version 2 or later.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (first_block, version) = Header::read(bytes)?;
        if version < b'2' {
            return None;
        }
        let second = bytes.get(HEADER + first_block.length(4)..)?;
        let (header, _) = Header::read(second)?;
        let body = second.get(HEADER..)?;
        let (times, body) = body.split_at_checked(header.times * 8)?;
        let (kinds, body) = body.split_at_checked(header.times)?;
        let (types, _) = body.split_at_checked(header.types * 6)?;
        let offsets: Vec<i64> = types.chunks_exact(6).filter_map(|t| number(t, 4)).collect();
        let offset_of = |kind: &u8| offsets.get(usize::from(*kind)).copied();
        let changes: Option<Vec<(i64, i64)>> = times
            .chunks_exact(8)
            .zip(kinds)
            .map(|(at, kind)| Some((number(at, 8)?, offset_of(kind)?)))
            .collect();
        let footer = second.get(HEADER + header.length(8)..)?;
        let footer = std::str::from_utf8(footer).ok()?.trim_matches('\n');
        Some(Self { first: *offsets.first()?, changes: changes?, rule: Rule::parse(footer) })
    }

    fn offset_at(&self, at: i64) -> i64 {
        let next = self.changes.partition_point(|(begins, _)| *begins <= at);
        match (next.checked_sub(1).and_then(|last| self.changes.get(last)), &self.rule) {
            (_, Some(rule)) if next == self.changes.len() => rule.offset_at(at),
            (Some((_, offset)), _) => *offset,
            (None, _) => self.first,
        }
    }
}

const HEADER: usize = 44;

/// Counts of a block of a zone file.
struct Header {
    ut_marks: usize,
    std_marks: usize,
    leaps: usize,
    times: usize,
    types: usize,
    names: usize,
}

impl Header {
    /// The counts of a block and the version of its file.
    fn read(bytes: &[u8]) -> Option<(Self, u8)> {
        let head = bytes.get(..HEADER).filter(|head| head.starts_with(b"TZif"))?;
        let version = *head.get(4)?;
        let mut counts =
            head.get(20..)?.chunks_exact(4).map(|c| usize::try_from(number(c, 4)?).ok());
        let mut next = || counts.next().flatten();
        let header = Self {
            ut_marks: next()?,
            std_marks: next()?,
            leaps: next()?,
            times: next()?,
            types: next()?,
            names: next()?,
        };
        Some((header, version))
    }

    /// Bytes of the block's body when its times are `width` bytes wide.
    fn length(&self, width: usize) -> usize {
        let h = self;
        h.times * (width + 1)
            + h.types * 6
            + h.names
            + h.leaps * (width + 4)
            + h.std_marks
            + h.ut_marks
    }
}

/// A big-endian signed number in the first `width` bytes.
fn number(bytes: &[u8], width: usize) -> Option<i64> {
    let bytes = bytes.get(..width)?;
    let negative = bytes.first().is_some_and(|b| *b >= 0x80);
    let start: i64 = if negative { -1 } else { 0 };
    Some(bytes.iter().fold(start, |sum, byte| (sum << 8) | i64::from(*byte)))
}

/// The closing rule: standard time, and summer time with its two changes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    standard: i64,
    summer: Option<Summer>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Summer {
    offset: i64,
    begins: Change,
    ends: Change,
}

/// A day of each year (month, week, weekday) and the second of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Change {
    month: i64,
    week: i64,
    weekday: i64,
    second: i64,
}

impl Rule {
    /// Reads the rule; changes named by the day of the year, which no zone uses, are not known.
    fn parse(text: &str) -> Option<Self> {
        let (rest, standard) = named_offset(text)?;
        if rest.is_empty() {
            return Some(Self { standard, summer: None });
        }
        let (names, changes) = rest.split_once(',')?;
        let (left, offset) = match named_offset(names) {
            Some(found) => found,
            None => (after_name(names)?, standard + 3_600),
        };
        let (begins, ends) = changes.split_once(',').filter(|_| left.is_empty())?;
        let summer = Summer { offset, begins: Change::parse(begins)?, ends: Change::parse(ends)? };
        Some(Self { standard, summer: Some(summer) })
    }

    fn offset_at(&self, at: i64) -> i64 {
        let Some(summer) = &self.summer else { return self.standard };
        let (year, ..) = Day((at + self.standard).div_euclid(DAY_S)).civil();
        let begins = summer.begins.in_year(year) - self.standard;
        let ends = summer.ends.in_year(year) - summer.offset;
        let is_summer = if begins <= ends {
            (begins..ends).contains(&at)
        } else {
            !(ends..begins).contains(&at)
        };
        if is_summer { summer.offset } else { self.standard }
    }
}

impl Change {
    /// Reads `Mm.w.d` with an optional `/time`.
    fn parse(text: &str) -> Option<Self> {
        let (day, time) = text.split_once('/').unwrap_or((text, "2"));
        let mut parts = day.strip_prefix('M')?.split('.').map(|part| part.parse::<i64>().ok());
        let mut next = || parts.next().flatten();
        let (month, week, weekday) = (next()?, next()?, next()?);
        let fits =
            (1..=12).contains(&month) && (1..=5).contains(&week) && (0..7).contains(&weekday);
        fits.then_some(Self { month, week, weekday, second: clock(time)? })
    }

    /// Wall-clock seconds since 1970 in a year.
    fn in_year(&self, year: i64) -> i64 {
        let first = Day::of(year, self.month, 1).0;
        let (next_year, next_month) =
            if self.month == 12 { (year + 1, 1) } else { (year, self.month + 1) };
        let days = Day::of(next_year, next_month, 1).0 - first;
        // 1970-01-01 was a Thursday.
        let offset = (self.weekday - (first + 4)).rem_euclid(7);
        let mut day = offset + (self.week - 1) * 7;
        if day >= days {
            day -= 7;
        }
        (first + day) * DAY_S + self.second
    }
}

/// Text after a zone name (`EST`, `<+03>`).
fn after_name(text: &str) -> Option<&str> {
    if let Some(quoted) = text.strip_prefix('<') {
        return quoted.split_once('>').map(|(_, rest)| rest);
    }
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(name, _)| !name.is_empty()).map(|(_, rest)| rest)
}

/// Text after a name and its offset, and the offset in seconds east of UTC.
fn named_offset(text: &str) -> Option<(&str, i64)> {
    let rest = after_name(text)?;
    let end = rest
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '+' | '-' | ':')))
        .unwrap_or(rest.len());
    let (offset, rest) = rest.split_at_checked(end).filter(|(offset, _)| !offset.is_empty())?;
    // The rule counts westwards.
    Some((rest, -clock(offset)?))
}

/// Seconds of `[+-]hh[:mm[:ss]]`.
fn clock(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut parts = digits.split(':').map(|part| part.parse::<i64>().ok());
    let hours = parts.next()??;
    let minutes = parts.next().map_or(Some(0), |part| part)?;
    let seconds = parts.next().map_or(Some(0), |part| part)?;
    Some(sign * (hours * 3_600 + minutes * 60 + seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Micros {
        Micros::parse(text).unwrap()
    }

    #[test]
    fn a_day_survives_its_spelling() {
        for text in ["1970-01-01", "2024-02-29", "2026-12-01", "2000-03-01", "1969-12-31"] {
            assert_eq!(Day::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Day::parse("2026-12-01").unwrap().0, 20_788);
        for odd in
            ["2025-02-29", "2026-1-01", "2026-13-01", "20261201", "2026-12-01-", "+026-12-01"]
        {
            assert_eq!(Day::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn an_offset_moves_the_day() {
        let evening = at("2026-03-01T23:30:00Z");
        assert_eq!(Zone::UTC.day(evening).to_string(), "2026-03-01");
        assert_eq!(Zone::parse("+02:00").unwrap().day(evening).to_string(), "2026-03-02");
        assert_eq!(Zone::parse("-0530").unwrap().offset_at(evening), -19_800);
        assert_eq!(Zone::parse("+9").unwrap().offset_at(evening), 32_400);
        for odd in ["", "9", "+", "+25:00", "+1:2:3", "+02:99", "Mars/Base", "+\u{e9}"] {
            assert_eq!(Zone::parse(odd), None, "{odd}");
        }
    }

    /// A zone file with two changes and a closing rule.
    fn compiled() -> Vec<u8> {
        let mut bytes = b"TZif2".to_vec();
        bytes.extend([0; 15 + 24]);
        bytes.extend(b"TZif2");
        bytes.extend([0; 15]);
        for count in [0_u32, 0, 0, 2, 2, 8] {
            bytes.extend(count.to_be_bytes());
        }
        let changes = ["1990-04-01T07:00:00Z", "1990-10-28T06:00:00Z"];
        for change in changes {
            bytes.extend((at(change).0 / 1_000_000).to_be_bytes());
        }
        bytes.extend([1, 0]);
        for offset in [-18_000_i32, -14_400] {
            bytes.extend(offset.to_be_bytes());
            bytes.extend([0, 0]);
        }
        bytes.extend(b"EST\0EDT\0");
        bytes.extend(b"\nEST5EDT,M3.2.0,M11.1.0\n");
        bytes
    }

    #[test]
    fn a_compiled_zone_knows_its_changes_and_its_closing_rule() {
        let zone = Zone::Table(ZoneTable::parse(&compiled()).unwrap());
        for (when, hours) in [
            ("1989-07-01T00:00:00Z", -5),
            ("1990-07-01T00:00:00Z", -4),
            ("2026-03-08T06:59:59Z", -5),
            ("2026-03-08T07:00:00Z", -4),
            ("2026-11-01T05:59:59Z", -4),
            ("2026-11-01T06:00:00Z", -5),
            ("2026-12-31T23:59:59Z", -5),
        ] {
            assert_eq!(zone.offset_at(at(when)), hours * 3_600, "{when}");
        }
        let day = Day::parse("2026-03-08").unwrap();
        assert_eq!(zone.start_of(day), at("2026-03-08T05:00:00Z"));
        assert_eq!(zone.start_of(Day(day.0 + 1)), at("2026-03-09T04:00:00Z"));
    }

    #[test]
    fn rules_of_either_half_of_the_world_are_read() {
        let south = Rule::parse("AEST-10AEDT,M10.1.0,M4.1.0/3").unwrap();
        let seconds = |text: &str| at(text).0 / 1_000_000;
        assert_eq!(south.offset_at(seconds("2026-01-15T00:00:00Z")), 39_600);
        assert_eq!(south.offset_at(seconds("2026-07-15T00:00:00Z")), 36_000);
        assert_eq!(Rule::parse("<+0545>-5:45").unwrap().offset_at(0), 20_700);
        assert_eq!(Rule::parse("UTC0").unwrap().offset_at(0), 0);
        assert_eq!(Rule::parse("EST5EDT,J60,J300"), None);
    }

    #[test]
    fn bytes_that_are_no_zone_file_are_refused_at_any_length() {
        let good = compiled();
        for end in 0..good.len() - 24 {
            assert_eq!(ZoneTable::parse(&good[..end]), None, "{end}");
        }
        assert_eq!(ZoneTable::parse(b"not a zone file, but long enough to have a header"), None);
    }
}
