//! Moments as reports of tests write them: ISO 8601 with an offset, with a `Z`, or without either.

use super::model::{Clock, Moment};
use crate::time::{MINUTE, Timestamp};

/// Reads a date and a time at the start of `text`; also how many bytes it took.
pub(super) fn iso(text: &[u8]) -> Option<(Moment, usize)> {
    let (at, length) = Timestamp::read(text)?;
    let rest = &text[length..];
    if rest.first() == Some(&b'Z') {
        return Some((
            Moment {
                at,
                clock: Clock::Utc,
            },
            length + 1,
        ));
    }
    let Some((minutes, taken)) = offset(rest) else {
        return Some((
            Moment {
                at,
                clock: Clock::Local,
            },
            length,
        ));
    };
    let at = Timestamp(at.0 - minutes * MINUTE);
    Some((
        Moment {
            at,
            clock: Clock::Utc,
        },
        length + taken,
    ))
}

/// `+hh:mm`, `-hhmm` or `+hh` at the start of `text`, in minutes.
fn offset(text: &[u8]) -> Option<(i64, usize)> {
    let sign = match text.first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let pair = |at: usize| {
        let digits = text.get(at..at + 2)?;
        let number = std::str::from_utf8(digits).ok()?;
        let is_number = digits.iter().all(u8::is_ascii_digit);
        is_number.then(|| number.parse::<i64>().ok()).flatten()
    };
    let hours = pair(1)?;
    let (minutes, length) = match (pair(3), text.get(3)) {
        (Some(minutes), _) => (minutes, 5),
        (None, Some(b':')) => (pair(4)?, 6),
        (None, _) => (0, 3),
    };
    (hours < 15 && minutes < 60).then_some((sign * (hours * 60 + minutes), length))
}

/// The moment so many seconds later, if that is a time at all.
pub(super) fn after(moment: Moment, seconds: f64) -> Option<Moment> {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be small")]
    let micros = (seconds.abs() < 1e9).then(|| (seconds * 1e6).round() as i64)?;
    Some(Moment {
        at: Timestamp(moment.at.0.saturating_add(micros)),
        ..moment
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_taken_off_and_a_stamp_without_one_stays_local() {
        let utc = |text: &str| {
            let (moment, length) = iso(text.as_bytes()).unwrap();
            (moment.at.short(), moment.clock, length)
        };
        let noon = "2026-03-14 12:00:00".to_owned();
        assert_eq!(
            utc("2026-03-14T12:00:00.0001237Z x"),
            (noon.clone(), Clock::Utc, 28)
        );
        assert_eq!(
            utc("2026-03-14T14:00:00+02:00"),
            (noon.clone(), Clock::Utc, 25)
        );
        assert_eq!(
            utc("2026-03-14T06:30:00.5-0530"),
            (noon.clone(), Clock::Utc, 26)
        );
        assert_eq!(utc("2026-03-14 12:00:00 x"), (noon, Clock::Local, 19));
        assert_eq!(iso(b"no time"), None);
    }
}
