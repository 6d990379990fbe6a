//! Stamps as logs write them: local civil time to the microsecond, and the zones that turn them into instants.
//!
//! A [`Timestamp`] is what the server's clock showed, without a zone. A [`Zone`] is attached per node where the log or
//! the user names one. Nothing here reads the machine's clock.

mod zone;

use std::cell::Cell;

use chrono::{NaiveDate, NaiveDateTime};
use serde::{Serialize, Serializer};

pub use zone::Zone;

use crate::search::{is_between, pairs, short_number, word};

/// Microseconds of local civil time since 1970-01-01T00:00:00 of the same clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// A stretch of local time, or all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Period {
    /// The first moment that lies in it.
    pub since: Option<Timestamp>,
    /// The first moment behind it.
    pub until: Option<Timestamp>,
}

impl Period {
    /// Whether anything lies outside.
    pub fn is_bounded(self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// Whether a stamp lies in it. What has no stamp is not known to lie in a period with a bound.
    pub fn holds(self, time: Option<Timestamp>) -> bool {
        time.map_or(!self.is_bounded(), |at| {
            self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
        })
    }
}

/// Microseconds in a second.
pub const SECOND: i64 = 1_000_000;
/// Microseconds in a minute.
pub const MINUTE: i64 = 60 * SECOND;
/// Microseconds in a day.
pub const DAY: i64 = 24 * 60 * MINUTE;

impl Timestamp {
    /// Reads `YYYY.MM.DD HH:MM:SS.uuuuuu` (26 bytes) at the start of `text`; `None` if a digit or a range is wrong.
    ///
    /// The separators between date fields may be `.`, `-` or `/`, the one between date and time a space or `T`, the one
    /// before the fraction `.` or `,`, and the fraction may be absent or shorter: the number of bytes read is returned.
    pub fn read(text: &[u8]) -> Option<(Self, usize)> {
        let head: &[u8; 19] = text.first_chunk()?;
        let (tens, units) = (head[17].wrapping_sub(b'0'), head[18].wrapping_sub(b'0'));
        let second = tens.wrapping_mul(10).wrapping_add(units);
        if head[16] != b':' || tens > 9 || units > 9 || second > 60 {
            return None;
        }
        let minute = minute(head.first_chunk()?)?;
        let (fraction, length) = fraction(&text[19..]);
        let micros = minute + i64::from(second) * SECOND + fraction;
        Some((Self(micros), 19 + length))
    }

    /// Reads the same with a zone behind it, as `Z`, `+0200`, `+02:00` or `+02`, with or without a space: the stamp that a
    /// clock in UTC showed, whether there was a zone, and the number of bytes read.
    pub fn read_zoned(text: &[u8]) -> Option<(Self, bool, usize)> {
        let (stamp, length) = Self::read(text)?;
        let behind = &text[length..];
        let spaces = usize::from(matches!(behind, [b' ', b'+' | b'-', ..]));
        match offset(&behind[spaces..]) {
            Some((shift, zone)) => Some((Self(stamp.0 - shift), true, length + spaces + zone)),
            None => Some((stamp, false, length)),
        }
    }

    /// The microseconds of a fraction such as `.5` at the start of `text`; 0 without one.
    pub fn read_fraction(text: &[u8]) -> i64 {
        fraction(text).0
    }

    /// Reads the `YYYY.MM.DD HH:MM:SS.uuuuuu` that a head begins with: digits are known to stand where they must.
    #[inline]
    pub(crate) fn of_head(stamp: &[u8; 26]) -> Option<Self> {
        let minute = minute(stamp.first_chunk()?)?;
        let second = i64::from(stamp[17] & 15) * 10 + i64::from(stamp[18] & 15);
        let [_, _, tens, _, hundreds, _, units, _] = pairs(word(stamp, 18));
        let micros = i64::from(tens) * 10_000 + i64::from(hundreds) * 100 + i64::from(units);
        (second <= 60).then_some(Self(minute + second * SECOND + micros))
    }

    /// Reads `HH:MM:SS,mmm` (12 bytes; a dot will do) as a time on the first day there is.
    pub fn read_time_of_day(text: &[u8]) -> Option<Self> {
        let head: &[u8; 12] = text.first_chunk()?;
        let number = |at: usize| {
            let (tens, units) = (head[at].wrapping_sub(b'0'), head[at + 1].wrapping_sub(b'0'));
            (tens < 10 && units < 10).then_some(i64::from(tens) * 10 + i64::from(units))
        };
        let (hour, minute, second) = (number(0)?, number(3)?, number(6)?);
        let last = head[11].wrapping_sub(b'0');
        let millis = number(9)? * 10 + i64::from(last);
        let separators_fit = head[2] == b':' && head[5] == b':' && matches!(head[8], b',' | b'.');
        let fits = separators_fit && last < 10 && hour < 24 && minute < 60 && second < 61;
        let seconds = (hour * 60 + minute) * 60 + second;
        fits.then_some(Self(seconds * SECOND + millis * (SECOND / 1000)))
    }

    /// Reads what [`Timestamp::iso`] writes, without the offset: the time that the clock showed.
    pub fn from_iso(text: &str) -> Option<Self> {
        match text.strip_prefix('T') {
            Some(time) => Self::read_time_of_day(time.as_bytes()),
            None => Self::read(text.as_bytes()).map(|(stamp, _)| stamp),
        }
    }

    /// The minute this stamp falls in, counted from 1970.
    pub fn minute(self) -> i64 {
        self.0.div_euclid(MINUTE)
    }

    /// The stamp at the start of a [`Timestamp::minute`].
    pub fn from_minute(minute: i64) -> Self {
        Self(minute * MINUTE)
    }

    /// ISO 8601 with microseconds, and the offset that `zone` had at that moment where it is known.
    pub fn iso(self, zone: Zone) -> String {
        let Some(naive) = self.naive() else {
            return "out of range".to_owned();
        };
        if zone == Zone::Dateless {
            return naive.format("T%H:%M:%S%.6f").to_string();
        }
        let stamp = naive.format("%Y-%m-%dT%H:%M:%S%.6f");
        match zone.offset_at(naive) {
            Some(offset) => format!("{stamp}{offset}"),
            None => stamp.to_string(),
        }
    }

    /// `YYYY.MM.DD HH:MM:SS.uuuuuu`, as the head of a record has it.
    pub fn head(self) -> String {
        let day = self.0.div_euclid(DAY);
        let micros = self.0.rem_euclid(DAY);
        // The civil date of a day since 1970, in eras of 400 years that begin in March.
        let shifted = day + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let date = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year + era * 400 + i64::from(month <= 2);
        let (seconds, fraction) = (micros / SECOND, micros % SECOND);
        let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{year:04}.{month:02}.{date:02} {h:02}:{m:02}:{s:02}.{fraction:06}")
    }

    /// `YYYY-MM-DD HH:MM:SS`, for people.
    pub fn short(self) -> String {
        self.naive().map_or_else(
            || "out of range".to_owned(),
            |n| n.format("%Y-%m-%d %H:%M:%S").to_string(),
        )
    }

    /// `YYYY.MM.DD HH:MM`, as server logs write it.
    pub fn dotted_minute(self) -> String {
        self.naive().map_or_else(
            || "0000.00.00 00:00".to_owned(),
            |n| n.format("%Y.%m.%d %H:%M").to_string(),
        )
    }

    fn naive(self) -> Option<NaiveDateTime> {
        chrono::DateTime::from_timestamp_micros(self.0).map(|at| at.naive_utc())
    }
}

impl From<NaiveDateTime> for Timestamp {
    fn from(at: NaiveDateTime) -> Self {
        Self(at.and_utc().timestamp_micros())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.iso(Zone::Unknown))
    }
}

thread_local! {
    /// The minute that was read last, as written and in microseconds: a log has thousands of records a minute.
    static LAST_MINUTE: Cell<([u8; 16], i64)> = const { Cell::new(([0; 16], 0)) };
}

/// The microseconds since 1970 of `YYYY.MM.DD HH:MM`.
#[inline]
fn minute(text: &[u8; 16]) -> Option<i64> {
    let (last, micros) = LAST_MINUTE.get();
    if last == *text {
        return Some(micros);
    }
    let micros = read_minute(text)?;
    LAST_MINUTE.set((*text, micros));
    Some(micros)
}

fn read_minute(text: &[u8; 16]) -> Option<i64> {
    let (date, clock): ([u8; 8], [u8; 8]) = (word(text, 0), word(text, 8));
    let digits_fit = is_between(*text, *b"0000-00-00 00:00", *b"9999/99/99T99:99");
    if !digits_fit || text[4] != text[7] || !matches!(text[10], b' ' | b'T') {
        return None;
    }
    let [century, _, year, _, _, month, ..] = pairs(date);
    let [day, _, _, hour, _, _, minute, _] = pairs(clock);
    let ranges_fit =
        (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60;
    let year = i64::from(century) * 100 + i64::from(year);
    let days = days_from_civil(year, i64::from(month), i64::from(day));
    let minutes = i64::from(hour) * 60 + i64::from(minute);
    ranges_fit.then_some(days * DAY + minutes * MINUTE)
}

/// The offset from UTC in microseconds that `Z`, `+0200`, `+02:00` or `+02` at the start of `text` names, and its length.
pub(crate) fn offset(text: &[u8]) -> Option<(i64, usize)> {
    let sign = match text.first()? {
        b'Z' => return Some((0, 1)),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let two = |at: usize| match text.get(at..at + 2) {
        Some([tens @ b'0'..=b'9', units @ b'0'..=b'9']) => {
            Some(i64::from(tens - b'0') * 10 + i64::from(units - b'0'))
        }
        _ => None,
    };
    let hours = two(1)?;
    let colon = usize::from(text.get(3) == Some(&b':'));
    let (minutes, length) = two(3 + colon).map_or((0, 3), |minutes| (minutes, 5 + colon));
    (hours < 24 && minutes < 60).then_some((sign * (hours * 60 + minutes) * MINUTE, length))
}

/// The microseconds of `.d{1,9}` at the start of `text`, and its length; further digits than six are dropped.
#[inline]
fn fraction(text: &[u8]) -> (i64, usize) {
    if !matches!(text.first(), Some(b'.' | b',')) {
        return (0, 0);
    }
    // Nearly every fraction has at most six digits, and something behind it.
    if let Some((number, digits @ 1..=6)) = text[1..].first_chunk().copied().and_then(short_number)
    {
        const UNITS: [i64; 7] = [1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];
        let micros = i64::try_from(number).unwrap_or(0) * UNITS[digits];
        return (micros, 1 + digits);
    }
    let digits = text[1..]
        .iter()
        .take(9)
        .take_while(|b| b.is_ascii_digit())
        .count();
    let mut micros = 0;
    for at in 0..6 {
        let digit = if at < digits {
            i64::from(text[1 + at] - b'0')
        } else {
            0
        };
        micros = micros * 10 + digit;
    }
    if digits == 0 {
        (0, 0)
    } else {
        (micros, 1 + digits)
    }
}

/// Days since 1970-01-01 of a civil date, by the era arithmetic of the proleptic Gregorian calendar.
#[inline]
pub(crate) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Reads the argument of `--since` and `--until`: a date, or a date and a time to any precision down to microseconds.
pub fn read_bound(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Some((stamp, length)) = Timestamp::read(text.as_bytes()) {
        return (length == text.len()).then_some(stamp);
    }
    let dashed = text.replace('.', "-").replace('T', " ");
    if let Ok(date) = NaiveDate::parse_from_str(&dashed, "%Y-%m-%d") {
        return date.and_hms_opt(0, 0, 0).map(Timestamp::from);
    }
    NaiveDateTime::parse_from_str(&dashed, "%Y-%m-%d %H:%M")
        .ok()
        .map(Timestamp::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_agrees_with_the_calendar_of_chrono() {
        for (text, y, m, d) in [
            ("1970.01.01", 1970, 1, 1),
            ("2000.02.29", 2000, 2, 29),
            ("2026.12.31", 2026, 12, 31),
        ] {
            let line = format!("{text} 23:59:58.000001 [ 1 ]");
            let (stamp, length) = Timestamp::read(line.as_bytes()).unwrap();
            let expected = NaiveDate::from_ymd_opt(y, m, d)
                .unwrap()
                .and_hms_micro_opt(23, 59, 58, 1)
                .unwrap();
            assert_eq!((stamp, length), (Timestamp::from(expected), 26), "{text}");
        }
    }

    #[test]
    fn a_head_is_read_like_any_stamp() {
        for text in [
            "2026.11.29 16:29:56.593522 [ 6 ] {}",
            "1970.01.01 00:00:60.000000 [ 6 ] {}",
            "9999.12.31 23:59:09.999999 [ 6 ] {}",
            "2026.19.39 29:59:61.000001 [ 6 ] {}",
        ] {
            let head = text.as_bytes().first_chunk().unwrap();
            let stamp = Timestamp::read(text.as_bytes()).map(|(at, _)| at);
            assert_eq!(Timestamp::of_head(head), stamp, "{text}");
        }
    }

    #[test]
    fn a_fraction_of_any_length_is_read_to_the_microsecond() {
        for (text, micros, length) in [
            (".5", 500_000, 2),
            (".5Z and more", 500_000, 2),
            (",123 and more", 123_000, 4),
            (".123456 and", 123_456, 7),
            (".1234567 and", 123_456, 8),
            (".123456789 and", 123_456, 10),
            (".1234567891 and", 123_456, 10),
            (". and more", 0, 0),
            (" 123456 and", 0, 0),
        ] {
            assert_eq!(fraction(text.as_bytes()), (micros, length), "{text}");
        }
    }

    #[test]
    fn wrong_digits_and_ranges_are_no_stamp() {
        for text in [
            "2026.13.01 00:00:00.0",
            "2026.01.00 00:00:00.0",
            "2026.01.01 24:00:00.0",
            "2026x01.01 00:00:00",
            "2026.01",
        ] {
            assert_eq!(Timestamp::read(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_zone_behind_a_stamp_makes_it_an_instant() {
        let utc = Timestamp::read(b"2026-07-01 10:00:00.5").unwrap().0;
        for (text, length) in [
            ("2026-07-01T10:00:00.5Z rest", 22),
            ("2026-07-01T12:00:00.500+0200", 28),
            ("2026/07/01 15:30:00,500 +05:30]", 30),
            ("2026-07-01 02:00:00.500000-08", 29),
        ] {
            assert_eq!(
                Timestamp::read_zoned(text.as_bytes()),
                Some((utc, true, length)),
                "{text}"
            );
        }
        for text in [
            "2026-07-01 10:00:00.5",
            "2026-07-01 10:00:00.5 - INFO",
            "2026-07-01 10:00:00.5+99",
        ] {
            assert_eq!(
                Timestamp::read_zoned(text.as_bytes()),
                Some((utc, false, 21)),
                "{text}"
            );
        }
    }

    #[test]
    fn the_offset_is_printed_only_where_the_zone_is_known() {
        let (stamp, _) = Timestamp::read(b"2026-07-01 12:00:00.5").unwrap();
        assert_eq!(stamp.iso(Zone::Unknown), "2026-07-01T12:00:00.500000");
        assert_eq!(
            stamp.iso(Zone::from_name("europe/berlin").unwrap()),
            "2026-07-01T12:00:00.500000+02:00"
        );
    }

    #[test]
    fn an_instant_is_shown_as_the_clock_of_a_zone_did() {
        let (utc, _) = Timestamp::read(b"2026-07-01 12:00:00").unwrap();
        let local = Zone::from_name("Europe/Berlin").unwrap().local(utc);
        assert_eq!(local.unwrap().short(), "2026-07-01 14:00:00");
        assert_eq!(Zone::Unknown.local(utc), None);
    }

    #[test]
    fn what_is_printed_is_read_again() {
        for text in [
            "2026-07-01T12:00:00.500000",
            "2026-07-01T12:00:00.500000+02:00",
        ] {
            let stamp = Timestamp::from_iso(text).unwrap();
            assert_eq!(stamp.iso(Zone::Unknown), "2026-07-01T12:00:00.500000");
        }
        let stamp = Timestamp::from_iso("T07:06:45.520000").unwrap();
        assert_eq!(stamp.iso(Zone::Dateless), "T07:06:45.520000");
        assert_eq!(Timestamp::from_iso("T7"), None);
    }

    #[test]
    fn a_bound_may_be_a_date_or_a_minute() {
        assert_eq!(
            read_bound("2026-07-01"),
            Timestamp::read(b"2026-07-01 00:00:00").map(|r| r.0)
        );
        assert_eq!(
            read_bound("2026-07-01T10:30"),
            Timestamp::read(b"2026-07-01 10:30:00").map(|r| r.0)
        );
        assert_eq!(read_bound("yesterday"), None);
    }
}
