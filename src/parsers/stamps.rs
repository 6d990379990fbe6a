//! Stamps in any spelling, read by a pattern: `%Y-%m-%d %H:%M:%S,%f`.

use crate::time::{DAY, MINUTE, SECOND, Timestamp, days_from_civil, offset};

/// A compiled pattern. A stamp without a date is a time on the first day there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StampPattern {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// A byte as it stands there.
    Byte(u8),
    /// One of [`FIELDS`].
    Field(u8),
}

/// The letters behind `%`, with what they read.
const FIELDS: &[(u8, &str)] = &[
    (b'Y', "a year of four digits"),
    (b'y', "a year of two digits, of this century"),
    (b'm', "a month of two digits"),
    (b'b', "a month as Jan or January"),
    (b'd', "a day of two digits, or a blank and one"),
    (b'H', "an hour"),
    (b'M', "a minute"),
    (b'S', "a second"),
    (b'f', "digits of a fraction of a second"),
    (b'z', "a zone: Z, +02, +0200 or +02:00"),
    (b's', "seconds since 1970"),
];

const MONTHS: [&[u8; 3]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];

/// The parts of a stamp as they are read.
#[derive(Debug, Default)]
struct Parts {
    year: Option<i64>,
    month: i64,
    day: i64,
    /// Of the day, in microseconds.
    time: i64,
    /// Since 1970, in seconds.
    epoch: Option<i64>,
    offset: Option<i64>,
}

impl StampPattern {
    /// Compiles a pattern; what is wrong with it otherwise.
    pub(super) fn compile(source: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut bytes = source.bytes();
        while let Some(byte) = bytes.next() {
            if byte != b'%' {
                pieces.push(Piece::Byte(byte));
                continue;
            }
            match bytes.next() {
                Some(b'%') => pieces.push(Piece::Byte(b'%')),
                Some(letter) if FIELDS.iter().any(|(known, _)| *known == letter) => {
                    pieces.push(Piece::Field(letter));
                }
                other => {
                    let known: Vec<String> = FIELDS
                        .iter()
                        .map(|(letter, what)| format!("%{} {what}", char::from(*letter)))
                        .collect();
                    let found = other.map_or_else(String::new, |it| char::from(it).to_string());
                    return Err(format!(
                        "unknown field %{found}; known are {}",
                        known.join(", ")
                    ));
                }
            }
        }
        let pattern = Self { pieces };
        let has = |letters: &[u8]| letters.iter().any(|letter| pattern.has(*letter));
        let date = [has(b"Yy"), has(b"mb"), has(b"d")];
        let time = has(b"H") && has(b"M") && has(b"S");
        if has(b"s") || time && (date == [true; 3] || date == [false; 3]) {
            Ok(pattern)
        } else {
            Err(
                "a stamp needs %H, %M and %S, and year, month and day or none of them; or %s"
                    .to_owned(),
            )
        }
    }

    fn has(&self, letter: u8) -> bool {
        self.pieces.contains(&Piece::Field(letter))
    }

    /// Whether its stamps are times of day without a date.
    pub(super) fn is_dateless(&self) -> bool {
        !self.has(b'd') && !self.has(b's')
    }

    /// Reads the stamp that fills `text`: the stamp, and whether it names its zone, so that it is in UTC.
    pub(super) fn read(&self, text: &[u8]) -> Option<(Timestamp, bool)> {
        let mut parts = Parts::default();
        let mut rest = text;
        for piece in &self.pieces {
            rest = match *piece {
                Piece::Byte(byte) => rest.strip_prefix(&[byte])?,
                Piece::Field(letter) => parts.take(letter, rest)?,
            };
        }
        if rest.is_empty() { parts.stamp() } else { None }
    }
}

impl Parts {
    /// Reads one field from the start of a text; what follows it.
    fn take<'a>(&mut self, letter: u8, text: &'a [u8]) -> Option<&'a [u8]> {
        let (value, rest) = match letter {
            b'Y' => digits(text, 4)?,
            b's' => {
                let count = text.iter().take_while(|b| b.is_ascii_digit()).count();
                digits(text, count.clamp(1, 11))?
            }
            b'f' => {
                let count = text
                    .iter()
                    .take(9)
                    .take_while(|b| b.is_ascii_digit())
                    .count();
                let (value, rest) = digits(text, count.clamp(1, 6))?;
                let scale = 6 - u32::try_from(count.min(6)).ok()?;
                self.time += value * 10_i64.pow(scale);
                return Some(&rest[count.saturating_sub(6)..]);
            }
            b'z' => {
                let (shift, length) = offset(text)?;
                self.offset = Some(shift);
                return Some(&text[length..]);
            }
            b'b' => {
                let name = text.get(..3)?.to_ascii_lowercase();
                let month = MONTHS.iter().position(|known| name == *known)?;
                let letters = text.iter().take_while(|b| b.is_ascii_alphabetic()).count();
                self.month = i64::try_from(month).ok()? + 1;
                return Some(&text[letters..]);
            }
            b'd' if text.first() == Some(&b' ') => digits(&text[1..], 1)?,
            _ => digits(text, 2)?,
        };
        match letter {
            b'Y' => self.year = Some(value),
            b'y' => self.year = Some(2000 + value),
            b'm' => self.month = value,
            b'd' => self.day = value,
            b'H' if value < 24 => self.time += value * 60 * MINUTE,
            b'M' if value < 60 => self.time += value * MINUTE,
            b'S' if value < 61 => self.time += value * SECOND,
            b's' => self.epoch = Some(value),
            _ => return None,
        }
        Some(rest)
    }

    fn stamp(&self) -> Option<(Timestamp, bool)> {
        if let Some(epoch) = self.epoch {
            return Some((Timestamp(epoch * SECOND + self.time), true));
        }
        let days = match self.year {
            None => 0,
            Some(year) if (1..=12).contains(&self.month) && (1..=31).contains(&self.day) => {
                days_from_civil(year, self.month, self.day)
            }
            Some(_) => return None,
        };
        let shift = self.offset.unwrap_or(0);
        let stamp = Timestamp(days * DAY + self.time - shift);
        Some((stamp, self.offset.is_some()))
    }
}

/// The number that exactly so many digits write, and what follows them.
fn digits(text: &[u8], count: usize) -> Option<(i64, &[u8])> {
    let (number, rest) = text.split_at_checked(count)?;
    let fits = number.iter().all(u8::is_ascii_digit);
    let value = number.iter().fold(0, |value, digit| {
        value * 10 + i64::from(digit.wrapping_sub(b'0'))
    });
    fits.then_some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Zone;

    fn read(pattern: &str, text: &str) -> Option<(String, bool)> {
        let (stamp, utc) = StampPattern::compile(pattern)
            .unwrap()
            .read(text.as_bytes())?;
        Some((stamp.iso(Zone::Unknown), utc))
    }

    #[test]
    fn stamps_of_many_spellings_are_read() {
        for (pattern, text, stamp, utc) in [
            (
                "%Y-%m-%d %H:%M:%S,%f",
                "2026-11-29 16:20:33,996",
                "2026-11-29T16:20:33.996000",
                false,
            ),
            (
                "%d/%b/%Y:%H:%M:%S %z",
                "29/Nov/2026:16:20:33 +0200",
                "2026-11-29T14:20:33.000000",
                true,
            ),
            (
                "%b %d %y %H:%M:%S",
                "November  9 26 16:20:33",
                "2026-11-09T16:20:33.000000",
                false,
            ),
            (
                "%s.%f",
                "1795968187.1234567",
                "2026-11-29T16:03:07.123456",
                true,
            ),
            ("%H:%M:%S", "16:20:33", "1970-01-01T16:20:33.000000", false),
        ] {
            assert_eq!(
                read(pattern, text),
                Some((stamp.to_owned(), utc)),
                "{pattern}"
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_none() {
        for (pattern, text) in [
            ("%H:%M:%S", "16:20:33 "),
            ("%H:%M:%S", "24:20:33"),
            ("%Y-%m-%d %H:%M:%S", "2026-13-29 16:20:33"),
            ("%d/%b/%Y %H:%M:%S", "29/Nix/2026 16:20:33"),
            ("%H:%M:%S.%f", "16:20:33."),
        ] {
            assert_eq!(read(pattern, text), None, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_that_tells_no_moment_is_refused() {
        assert!(
            StampPattern::compile("%H:%M:%q")
                .unwrap_err()
                .contains("unknown field %q")
        );
        for pattern in ["%H:%M", "%m-%d %H:%M:%S", "at %", ""] {
            assert!(StampPattern::compile(pattern).is_err(), "{pattern}");
        }
        assert!(StampPattern::compile("%H:%M:%S").unwrap().is_dateless());
        assert!(!StampPattern::compile("%s").unwrap().is_dateless());
    }
}
