//! The JSON logger of `ClickHouse`, written again as its text log, so that everything that reads the one reads the other:
//!
//! ```text
//! {"date_time":"1706029521.329019","thread_name":"","thread_id":"539","level":"Information","query_id":"",...}
//! 2024.01.23 17:05:21.329019 [ 539 ] {} <Information> Application: Loading metadata from /srv/chdata/
//! ```
//!
//! Three shapes: levels as words, as numbers (`"level":"3"`, before 22.8), and keys that the server's configuration renames
//! or leaves out. Whatever the keys are called, they stand in the same order, and the time is a text of seconds with six
//! decimals; so what each key means is told from the first objects. Its stamps are UTC.

use super::{Message, Peeled};
use crate::parsers::json::{Members, Value, unescape};
use crate::time::{SECOND, Timestamp};

/// What a member means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Seconds since 1970 with six decimals.
    Time,
    /// A stamp of whole seconds in UTC, used where there is no better one.
    Utc,
    Thread,
    Level,
    Query,
    Logger,
    Text,
    /// Of no use here.
    Other,
}

/// The keys of the server's own configuration, in the order in which it writes them.
const KEYS: &[(&str, Role)] = &[
    ("date_time_utc", Role::Utc),
    ("date_time", Role::Time),
    ("thread_name", Role::Other),
    ("thread_id", Role::Thread),
    ("level", Role::Level),
    ("query_id", Role::Query),
    ("logger_name", Role::Logger),
    ("message", Role::Text),
    ("source_file", Role::Other),
    ("source_line", Role::Other),
];

/// What the keys of a log mean, in the order in which it writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Roles {
    keys: Vec<(Vec<u8>, Role)>,
}

/// The members of one object that become a record.
#[derive(Debug, Default, Clone, Copy)]
struct Fields<'a> {
    time: Option<Timestamp>,
    thread: &'a [u8],
    level: &'a [u8],
    query: &'a [u8],
    logger: &'a [u8],
    text: Option<&'a [u8]>,
}

impl Roles {
    /// Tells what the keys of these lines mean; `None` if they are not the logger's.
    pub(super) fn of<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        lines.find_map(|line| {
            let mut members: Vec<(&[u8], &[u8])> = Vec::new();
            for (key, value) in Members::of(line)? {
                // Every value of the logger is a text.
                let Value::Text(text) = value else {
                    return None;
                };
                members.push((key, text));
            }
            Self::told(&members)
        })
    }

    fn told(members: &[(&[u8], &[u8])]) -> Option<Self> {
        let known = |key: &[u8]| KEYS.iter().find(|(name, _)| name.as_bytes() == key);
        let mut keys: Vec<(Vec<u8>, Role)> = members
            .iter()
            .map(|(key, _)| {
                (
                    key.to_vec(),
                    known(key).map_or(Role::Other, |(_, role)| *role),
                )
            })
            .collect();
        let has = |keys: &[(Vec<u8>, Role)], role| keys.iter().any(|(_, it)| *it == role);
        let all_known = members.iter().all(|(key, _)| known(key).is_some());
        if !all_known {
            infer(members, &mut keys)?;
        }
        let is_timed = has(&keys, Role::Time) || has(&keys, Role::Utc);
        let timed = members
            .iter()
            .zip(&keys)
            .all(|((_, value), (_, role))| match role {
                Role::Time => seconds(value).is_some(),
                Role::Level => level_word(value).is_some(),
                Role::Utc
                | Role::Thread
                | Role::Query
                | Role::Logger
                | Role::Text
                | Role::Other => true,
            });
        let told = is_timed && timed && has(&keys, Role::Text) && has(&keys, Role::Level);
        told.then_some(Self { keys })
    }

    fn role(&self, at: usize, key: &[u8]) -> Role {
        match self.keys.get(at) {
            Some((name, role)) if name == key => *role,
            Some(_) | None => {
                let found = self.keys.iter().find(|(name, _)| name == key);
                found.map_or(Role::Other, |(_, role)| *role)
            }
        }
    }

    fn fields<'a>(&self, line: &'a [u8]) -> Option<Fields<'a>> {
        let mut fields = Fields::default();
        for (at, (key, value)) in Members::of(line)?.enumerate() {
            let (Value::Text(text) | Value::Other(text)) = value;
            // The first member of a name counts: no later one may take its place.
            match self.role(at, key) {
                Role::Time => fields.time = seconds(text).or(fields.time),
                Role::Utc => {
                    let read = || Timestamp::read(text).map(|(time, _)| time);
                    fields.time = fields.time.or_else(read);
                }
                Role::Thread if fields.thread.is_empty() => fields.thread = text,
                Role::Level if fields.level.is_empty() => fields.level = text,
                Role::Query if fields.query.is_empty() => fields.query = text,
                Role::Logger if fields.logger.is_empty() => fields.logger = text,
                Role::Text => fields.text = fields.text.or(Some(text)),
                Role::Thread | Role::Level | Role::Query | Role::Logger | Role::Other => {}
            }
        }
        (fields.time.is_some() && !fields.level.is_empty()).then_some(fields)
    }
}

/// Tells what renamed keys mean from their order and their values: time, thread, level, query id, logger, text, source.
fn infer(members: &[(&[u8], &[u8])], keys: &mut [(Vec<u8>, Role)]) -> Option<()> {
    let time = members
        .iter()
        .position(|(_, value)| seconds(value).is_some())?;
    let from = time + 1;
    let level = from
        + members[from..].iter().position(|(_, value)| {
            level_word(value).is_some_and(|word| !word.is_empty()) && !is_thread_like(value)
        })?;
    let is_source_line = |value: &[u8]| !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let mut last = members.len();
    if last > level + 1 && is_source_line(members[last - 1].1) {
        last -= 1;
    }
    let is_source = |value: &[u8]| {
        memchr::memmem::find(value, b".cpp").is_some()
            || memchr::memmem::find(value, b"; ").is_some()
    };
    if last > level + 3 && is_source(members[last - 1].1) {
        last -= 1;
    }
    let roles: &[Role] = match last - level - 1 {
        0 => return None,
        1 => &[Role::Text],
        2 => &[Role::Logger, Role::Text],
        _ => &[Role::Query, Role::Logger, Role::Text],
    };
    for (_, role) in keys.iter_mut() {
        *role = Role::Other;
    }
    keys[time].1 = Role::Time;
    keys[level].1 = Role::Level;
    if let Some(thread) = (time + 1..level)
        .rev()
        .find(|&at| is_thread_like(members[at].1))
    {
        keys[thread].1 = Role::Thread;
    }
    for (key, role) in keys[last - roles.len()..last].iter_mut().zip(roles) {
        key.1 = *role;
    }
    Some(())
}

/// A number of two digits or more is no level.
fn is_thread_like(value: &[u8]) -> bool {
    value.len() > 1 && value.iter().all(u8::is_ascii_digit)
}

/// Reads seconds since 1970 with six decimals.
fn seconds(text: &[u8]) -> Option<Timestamp> {
    let (whole, micros) = text.split_at_checked(text.len().checked_sub(7)?)?;
    let micros = micros.strip_prefix(b".")?;
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0_i64, |sum, digit| {
            digit
                .is_ascii_digit()
                .then(|| sum * 10 + i64::from(digit - b'0'))
        })
    };
    // Up to the year 2286: what has fewer or more digits is no time.
    let whole = number(whole).filter(|_| matches!(whole.len(), 9 | 10))?;
    Some(Timestamp(whole * SECOND + number(micros)?))
}

/// A level's word as the text log has it: of a priority as numbers it is told.
fn level_word(level: &[u8]) -> Option<&[u8]> {
    const WORDS: [&[u8]; 9] = [
        b"Fatal",
        b"Critical",
        b"Error",
        b"Warning",
        b"Notice",
        b"Information",
        b"Debug",
        b"Trace",
        b"Test",
    ];
    match level {
        [digit @ b'1'..=b'9'] => WORDS.get(usize::from(digit - b'1')).copied(),
        word => WORDS.contains(&word).then_some(word),
    }
}

/// The cost of a stamp's date is paid once a minute.
#[derive(Debug, Default)]
pub(super) struct Clock {
    minute: i64,
    text: Vec<u8>,
}

impl Clock {
    /// Appends `YYYY.MM.DD HH:MM:SS.uuuuuu`.
    fn write(&mut self, time: Timestamp, out: &mut Vec<u8>) {
        let minute = time.minute();
        if self.text.is_empty() || self.minute != minute {
            self.minute = minute;
            self.text = Timestamp::from_minute(minute).dotted_minute().into_bytes();
        }
        out.extend_from_slice(&self.text);
        let mut micros = time.0.rem_euclid(60 * SECOND);
        let mut tail = *b":00.000000";
        for at in [9, 8, 7, 6, 5, 4, 2, 1] {
            tail[at] = b'0' + u8::try_from(micros % 10).unwrap_or(0);
            micros /= 10;
        }
        out.extend_from_slice(&tail);
    }
}

/// Appends a field of a head: what would end it early, or the line, is replaced.
fn plain(field: &[u8], ends: u8, out: &mut Vec<u8>) {
    let from = out.len();
    if memchr::memchr(b'\\', field).is_some() {
        unescape(field, out);
    } else {
        out.extend_from_slice(field);
    }
    for byte in &mut out[from..] {
        if *byte == ends || *byte < b' ' {
            *byte = b'?';
        }
    }
}

pub(super) fn claims(line: &[u8]) -> bool {
    line.starts_with(b"{") && Roles::of(std::iter::once(line)).is_some()
}

/// Writes the record of an object as text; a line that is none is foreign.
pub(super) fn peel<'a>(
    roles: &Roles,
    clock: &mut Clock,
    line: &'a [u8],
    out: &'a mut Vec<u8>,
) -> Peeled<'a> {
    let Some((fields, time)) = roles.fields(line).and_then(|it| Some((it, it.time?))) else {
        return Peeled::Foreign;
    };
    clock.write(time, out);
    out.extend_from_slice(b" [ ");
    let digits = !fields.thread.is_empty() && fields.thread.iter().all(u8::is_ascii_digit);
    out.extend_from_slice(if digits { fields.thread } else { b"0" });
    out.extend_from_slice(b" ] {");
    plain(fields.query, b'}', out);
    out.extend_from_slice(b"} <");
    match level_word(fields.level) {
        Some(word) => out.extend_from_slice(word),
        None => out.extend(
            fields
                .level
                .iter()
                .map(|b| if b.is_ascii_alphabetic() { *b } else { b'x' }),
        ),
    }
    out.extend_from_slice(b"> ");
    plain(fields.logger, b'\n', out);
    out.extend_from_slice(b": ");
    unescape(fields.text.unwrap_or_default(), out);
    Peeled::Message(Message {
        is_record: true,
        ..Message::of(out)
    })
}
