//! Zones of clocks: what turns a clock's time into an instant, and back.

use std::fmt;

use chrono::{NaiveDateTime, Offset, TimeZone};

use super::{SECOND, Timestamp};

/// The zone of a node's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zone {
    /// Neither the log nor the user says.
    #[default]
    Unknown,
    /// The log writes a time of day without a date.
    Dateless,
    /// A zone of the IANA data base, or a fixed offset under its `Etc/` name.
    Named(chrono_tz::Tz),
}

impl Zone {
    /// Reads `UTC`, `Europe/Berlin` and the like, upper or lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        chrono_tz::TZ_VARIANTS
            .iter()
            .find(|tz| tz.name().eq_ignore_ascii_case(name))
            .copied()
            .map(Self::Named)
    }

    /// The zone of stamps that name theirs: they are read as instants.
    pub fn utc() -> Self {
        Self::Named(chrono_tz::UTC)
    }

    /// The zone of a fixed offset from UTC in whole hours, under its `Etc/` name; unknown for any other.
    pub fn of_offset(minutes: i64) -> Self {
        let hours = minutes / 60;
        if minutes == 0 {
            return Self::utc();
        }
        if minutes % 60 != 0 {
            return Self::Unknown;
        }
        // These names have the sign turned: Etc/GMT-2 is two hours ahead.
        Self::from_name(&format!("Etc/GMT{:+}", -hours)).unwrap_or_default()
    }

    /// The zone's name, if known.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Unknown | Self::Dateless => None,
            Self::Named(tz) => Some(tz.name()),
        }
    }

    /// How long it is from one local time to another, in microseconds: a clock that is set in between does not count. Where
    /// the zone is not known, or has no such time, it is what the clocks show.
    pub fn elapsed(self, from: Timestamp, to: Timestamp) -> i64 {
        let offset = |at: Timestamp| {
            let offset = self.offset_at(at.naive()?)?;
            Some(i64::from(offset.local_minus_utc()) * SECOND)
        };
        let set = offset(from)
            .zip(offset(to))
            .map_or(0, |(before, after)| after - before);
        to.0 - from.0 - set
    }

    /// What a clock of this zone showed at an instant, if the zone is known.
    pub fn local(self, utc: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Unknown | Self::Dateless => None,
            Self::Named(tz) => {
                let local = tz.from_utc_datetime(&utc.naive()?);
                Some(Timestamp::from(local.naive_local()))
            }
        }
    }

    /// The offset in force at a local time; the earlier one where clocks were set back.
    pub(super) fn offset_at(self, local: NaiveDateTime) -> Option<chrono::FixedOffset> {
        match self {
            Self::Unknown | Self::Dateless => None,
            Self::Named(tz) => tz
                .offset_from_local_datetime(&local)
                .earliest()
                .map(|offset| offset.fix()),
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().unwrap_or("unknown"))
    }
}
