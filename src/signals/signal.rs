//! A compiled signal: where its record may come from, what its message says, what is read from it.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::{RowPattern, Template};
use crate::parsers::Format;
use crate::search::{ByteSet, Literal};
use crate::vocab::{Level, MarkKind};

/// A compiled signal.
#[derive(Debug)]
pub struct Signal {
    /// Its id.
    pub id: String,
    /// What it means, in one sentence.
    pub what: String,
    /// The formats in any of which its records may stand; at least one.
    pub formats: Vec<Format>,
    /// The levels it may be logged at: bit n stands for [`Level::ALL`]`[n]`.
    pub levels: u16,
    /// The loggers it comes from; empty means any.
    pub loggers: Vec<LoggerPattern>,
    /// Loggers whose records only quote it.
    pub not_loggers: Vec<LoggerPattern>,
    /// The codes its exception may carry; empty means any or none.
    pub codes: Vec<u32>,
    /// Where in the message a template begins.
    pub at: At,
    /// What the message says: one spelling per template; empty means that level and logger are enough.
    pub templates: Vec<Template>,
    /// Whether templates may reach beyond the head's line; their key must stand on it.
    pub deep: bool,
    /// What a row of a table must be instead of a message.
    pub row: Option<RowPattern>,
    /// Texts of the same line that rule it out.
    pub unless: Vec<Literal>,
    /// What is read from it, in the order of the holes' first appearance; then derived fields, then those of the context.
    pub fields: Vec<Field>,
    /// Fields of which a record may hold several values, and what takes each.
    pub each: Vec<(usize, Pattern)>,
    /// Fields computed from others.
    pub derived: Vec<Derived>,
    /// Fields taken from another record of the same thread.
    pub context: Option<Context>,
    /// Whether it explains its record without any finding: seen often, harmless.
    pub benign: bool,
    /// Whether Keepers log it, too.
    pub keeper: bool,
    /// The fields that hold positions in a log, which are followed over time.
    pub positions: Vec<usize>,
    /// What its occurrences stand for on a time axis, if they are worth a mark.
    pub mark: Option<MarkKind>,
}

/// Where in a message a template begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum At {
    /// At the message's first byte.
    Start,
    /// At the first byte of the exception's text; the record must be an exception.
    Exception,
    /// Anywhere on the head's line.
    Anywhere,
}

/// Something read from a record.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: FieldKind,
    /// How its values are counted.
    pub tally: TallyKind,
}

/// How the values of a field are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TallyKind {
    /// Not at all: for evidence and conditions only.
    Not,
    /// Every value, into `by`: a small set.
    By,
    /// Every value up to a cap, into `top`: an open set.
    Top,
}

/// A field computed from another field by the first class whose pattern is found in it.
#[derive(Debug)]
pub struct Derived {
    /// The index of the field it is computed from.
    pub from: usize,
    /// The index of the field it becomes.
    pub field: usize,
    /// The classes in order.
    pub classes: Vec<Class>,
    /// The value when none fits.
    pub otherwise: String,
}

/// One class of a derived field.
#[derive(Debug)]
pub struct Class {
    /// The value it gives.
    pub value: String,
    /// What must be found.
    pub pattern: Pattern,
}

/// A regular expression, prepared when it is first asked for: most runs ask for few of the many there are.
#[derive(Debug)]
pub struct Pattern {
    source: String,
    prepared: OnceLock<Result<Regex, regex::Error>>,
}

impl Pattern {
    /// Of a source that [`Pattern::check`] finds sound.
    pub fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            prepared: OnceLock::new(),
        }
    }

    /// Prepares it now; why it cannot be used, if it cannot.
    pub fn check(&self) -> Result<&Regex, &regex::Error> {
        let prepared = self.prepared.get_or_init(|| {
            // Logs are bytes: classes and cases of ASCII are all that is meant, and far cheaper to prepare.
            RegexBuilder::new(&self.source).unicode(false).build()
        });
        prepared.as_ref()
    }

    /// What its group takes at each place of a text.
    pub fn each<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = &'t [u8]> {
        let found = self.check().ok().map(|pattern| pattern.captures_iter(text));
        let groups = found.into_iter().flatten();
        groups.filter_map(|groups| Some(groups.get(1)?.as_bytes()))
    }

    /// Whether it is found in a text.
    fn is_in(&self, text: &[u8]) -> bool {
        self.check().is_ok_and(|pattern| pattern.is_match(text))
    }
}

/// Fields taken from the nearest record of another signal on the same thread.
#[derive(Debug, Clone)]
pub struct Context {
    /// The index of the other signal.
    pub signal: usize,
    /// Before or after this record.
    pub direction: Direction,
    /// How far away at most, in microseconds.
    pub span: i64,
    /// The signals of the records that end what the other one began.
    pub ends: Vec<u16>,
    /// From the other signal's field to this one's.
    pub take: Vec<(usize, usize)>,
}

/// On which side the context stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The other record comes first.
    Before,
    /// The other record follows.
    After,
}

/// A pattern of logger names: the text itself, or with `*` at one or both ends.
#[derive(Debug)]
pub struct LoggerPattern {
    /// As written.
    pub source: String,
    part: LoggerPart,
}

#[derive(Debug)]
enum LoggerPart {
    Whole(String),
    Start(String),
    End(String),
    Inside(Box<Literal>),
}

impl LoggerPattern {
    /// Prepares a pattern for matching.
    pub fn new(source: &str) -> Self {
        let inner = source.trim_matches('*');
        let part = match (source.starts_with('*'), source.ends_with('*')) {
            (true, true) => LoggerPart::Inside(Box::new(Literal::new(inner))),
            (true, false) => LoggerPart::End(inner.to_owned()),
            (false, true) => LoggerPart::Start(inner.to_owned()),
            (false, false) => LoggerPart::Whole(inner.to_owned()),
        };
        Self {
            source: source.to_owned(),
            part,
        }
    }

    /// The only family of loggers that can fit; `None` where any might.
    fn family(&self) -> Option<&[u8]> {
        match &self.part {
            LoggerPart::Whole(text) => Some(family(text.as_bytes())),
            LoggerPart::End(text) if text.starts_with('(') => {
                let is_whole = text.ends_with(')') && text.rfind('(') == Some(0);
                (is_whole && text.len() >= FAMILY_BYTES_MIN).then_some(text.as_bytes())
            }
            LoggerPart::Start(_) | LoggerPart::End(_) | LoggerPart::Inside(_) => None,
        }
    }

    /// Whether a logger's name fits.
    pub fn fits(&self, logger: &[u8]) -> bool {
        match &self.part {
            LoggerPart::Whole(text) => logger == text.as_bytes(),
            LoggerPart::Start(text) => logger.starts_with(text.as_bytes()),
            LoggerPart::End(text) => logger.ends_with(text.as_bytes()),
            LoggerPart::Inside(text) => text.is_in(logger),
        }
    }
}

/// The shortest parentheses that are a family: a name that ends in shorter ones is one by itself.
pub(super) const FAMILY_BYTES_MIN: usize = 4;

/// The kind of component a logger is: what its last parentheses hold, with them, or else its whole name.
///
/// `q.s (94c6) (Fetcher)` is of the family `(Fetcher)`.
pub(super) fn family(logger: &[u8]) -> &[u8] {
    if logger.last() != Some(&b')') {
        return logger;
    }
    let last = memchr::memrchr(b'(', logger).map(|at| &logger[at..]);
    last.filter(|last| last.len() >= FAMILY_BYTES_MIN)
        .unwrap_or(logger)
}

impl Signal {
    /// Whether records of this level may be this signal.
    pub fn admits(&self, level: Level) -> bool {
        self.levels & (1 << level.index()) != 0
    }

    /// Whether nothing is said of its level.
    pub fn is_of_any_level(&self) -> bool {
        Level::ALL.into_iter().all(|level| self.admits(level))
    }

    /// Whether records of this logger may be this signal.
    pub fn comes_from(&self, logger: &[u8]) -> bool {
        (self.loggers.is_empty() || self.loggers.iter().any(|p| p.fits(logger)))
            && !self.not_loggers.iter().any(|p| p.fits(logger))
    }

    /// The families of loggers it may come from; `None` for any.
    pub(super) fn families(&self) -> Option<Vec<&[u8]>> {
        if self.loggers.is_empty() {
            return None;
        }
        self.loggers.iter().map(LoggerPattern::family).collect()
    }

    /// Fills the fields that are derived from others.
    pub fn derive<'a>(&'a self, values: &mut [&'a [u8]]) {
        for derived in &self.derived {
            let from = values[derived.from];
            let class = derived
                .classes
                .iter()
                .find(|class| class.pattern.is_in(from));
            let value: &str = class.map_or(&derived.otherwise, |class| &class.value);
            values[derived.field] = value.as_bytes();
        }
    }

    /// All values that a field may have, each once; nothing where they are not known beforehand.
    pub fn values_of(&self, field: usize) -> Option<Vec<&str>> {
        if self.is_taken(field) {
            return None;
        }
        let mut known: Vec<&str> = Vec::new();
        for derived in self.derived.iter().filter(|it| it.field == field) {
            let classes = derived.classes.iter().map(|class| class.value.as_str());
            for value in classes.chain([derived.otherwise.as_str()]) {
                if !known.contains(&value) {
                    known.push(value);
                }
            }
        }
        (!known.is_empty()).then_some(known)
    }

    /// Whether a field comes from another record.
    pub fn is_taken(&self, field: usize) -> bool {
        let context = self.context.iter().flat_map(|context| &context.take);
        context.into_iter().any(|(_, to)| *to == field)
    }

    /// The index of a field by name.
    pub fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}

/// What a hole may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Anything up to the next literal or the end of the line.
    Text,
    /// No white space.
    Word,
    /// Digits, with an optional sign.
    Int,
    /// A server: a host name or address, without a port.
    Node,
    /// A host with or without a port.
    Host,
    /// A data part: `<partition>_<min>_<max>_<level>[_<mutation>]`, with or without a folder in front.
    Part,
    /// A table: `db.table`.
    Table,
    /// A path or an object key: no white space, comma or quote.
    Key,
    /// A UUID.
    Uuid,
}

impl FieldKind {
    const NAMED: &[(&str, Self)] = &[
        ("text", Self::Text),
        ("word", Self::Word),
        ("int", Self::Int),
        ("node", Self::Node),
        ("host", Self::Host),
        ("part", Self::Part),
        ("table", Self::Table),
        ("key", Self::Key),
        ("uuid", Self::Uuid),
    ];

    /// The kind written as `name` in a hole.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, kind)| *kind)
    }

    /// Its name in a hole.
    pub fn name(self) -> &'static str {
        Self::NAMED
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("text", |(name, _)| *name)
    }

    /// All names, for a message.
    pub fn names() -> String {
        Self::NAMED
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// How far a value reaches that no literal ends.
    pub(super) fn extent(self, text: &[u8]) -> usize {
        let admitted = self.admitted(text);
        match self {
            Self::Text => admitted,
            // A full stop ends the sentence, not the value.
            Self::Word
            | Self::Int
            | Self::Node
            | Self::Host
            | Self::Part
            | Self::Table
            | Self::Key
            | Self::Uuid => text[..admitted]
                .iter()
                .rposition(|&byte| byte != b'.')
                .map_or(0, |last| last + 1),
        }
    }

    /// Whether `value` is one of this kind.
    pub(super) fn accepts(self, value: &[u8]) -> bool {
        self.has_shape(value) && self.admitted(value) == value.len()
    }

    /// Whether a value whose bytes may all stand in one of this kind is one.
    pub(super) fn has_shape(self, value: &[u8]) -> bool {
        match self {
            Self::Text => true,
            Self::Part => is_part(value),
            Self::Int => value.last().is_some_and(u8::is_ascii_digit),
            Self::Uuid => value.len() == 36,
            Self::Word | Self::Node | Self::Host | Self::Table | Self::Key => !value.is_empty(),
        }
    }

    /// Whether a value may go on where `text` begins.
    pub(super) fn may_hold(self, text: &[u8]) -> bool {
        text.first().is_none_or(|&byte| self.bytes().holds(byte))
    }

    /// How many of the first bytes of `text` may stand in a value.
    pub(super) fn admitted(self, text: &[u8]) -> usize {
        if self == Self::Text {
            return text.len();
        }
        self.bytes().span(text)
    }

    /// The bytes that may stand in a value.
    fn bytes(self) -> &'static ByteSet {
        static SETS: [ByteSet; FieldKind::NAMED.len()] = admitted_bytes();
        &SETS[self as usize]
    }

    const fn admits(self, byte: u8) -> bool {
        match self {
            Self::Text => true,
            Self::Word => !byte.is_ascii_whitespace(),
            Self::Int => byte.is_ascii_digit() || byte == b'-',
            Self::Node => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_') || byte >= 0x80
            }
            Self::Host => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'.' | b'-' | b'_' | b':' | b'[' | b']')
                    || byte >= 0x80
            }
            Self::Part => {
                !byte.is_ascii_whitespace()
                    && !matches!(byte, b',' | b';' | b'\'' | b'"' | b')' | b'(')
            }
            Self::Table => {
                !byte.is_ascii_whitespace() && !matches!(byte, b',' | b';' | b'(' | b')')
            }
            Self::Key => !byte.is_ascii_whitespace() && !matches!(byte, b',' | b'\'' | b'"' | b';'),
            Self::Uuid => byte.is_ascii_hexdigit() || byte == b'-',
        }
    }
}

/// By kind: the bytes that may stand in a value.
const fn admitted_bytes() -> [ByteSet; FieldKind::NAMED.len()] {
    let mut sets = [ByteSet::new([false; 256]); FieldKind::NAMED.len()];
    let mut at = 0;
    while at < sets.len() {
        let kind = FieldKind::NAMED[at].1;
        let mut holds = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            #[expect(clippy::cast_possible_truncation, reason = "below 256")]
            let admitted = kind.admits(byte as u8);
            holds[byte] = admitted;
            byte += 1;
        }
        sets[kind as usize] = ByteSet::new(holds);
        at += 1;
    }
    sets
}

/// Whether the last three or more fields between underscores are numbers, as in a part's name.
fn is_part(value: &[u8]) -> bool {
    let mut before = value;
    for _ in 0..3 {
        let mut digits = 0;
        while let [rest @ .., b'0'..=b'9'] = before {
            digits += 1;
            before = rest;
        }
        match before {
            [rest @ .., b'_'] if digits > 0 => before = rest,
            _ => return false,
        }
    }
    true
}
