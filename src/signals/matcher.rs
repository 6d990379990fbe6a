//! All signals against one record: one pass over the message with SIMD automata, holes cut only on a hit.
//!
//! A record's level, the family of its logger and its code say which signals it may be. The literals of those are searched for
//! together, at most [`Literals::MAX`] at once: with more, too many places look like one. They are prepared when the first such
//! record comes.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::signal::{FAMILY_BYTES_MIN, family};
use super::{At, Signal, Span, Template};
use crate::parsers::exception::Exception;
use crate::parsers::{Format, without_query};
use crate::profile::{Cost, Profile};
use crate::record::Record;
use crate::search::Literals;
use crate::vocab::Level;

/// How many fields a signal may have.
pub(crate) const FIELDS_MAX: usize = 12;

/// The compiled signals.
#[derive(Debug)]
pub struct SignalSet {
    signals: Vec<Signal>,
    /// By format and level; nothing where no signal is of the format.
    tables: Vec<(Format, [LevelTable; Level::ALL.len()])>,
}

/// The signals that records of one level may be.
#[derive(Debug)]
struct LevelTable {
    /// Of loggers of no family that a signal asks for.
    other: OnceLock<Table>,
    /// By family that signals ask for, in order.
    families: Vec<(Vec<u8>, OnceLock<Table>)>,
    /// Marks of their ends, a bit for each: nearly every logger ends as none of them does.
    ends: [u64; 4],
    keys: Vec<Key>,
    /// Signals of this level that need no text.
    textless: Vec<u16>,
}

/// What a template's records hold.
#[derive(Debug, Clone)]
struct Key {
    literal: Vec<u8>,
    signal: u16,
    template: u16,
}

/// The signals that records of one level and family may be.
#[derive(Debug)]
struct Table {
    keys: Vec<Key>,
    /// For records that are no exception, or one with a code that no signal asks for.
    uncoded: Vec<Group>,
    /// By code that signals ask for, in order.
    coded: Vec<(u32, OnceLock<Vec<Group>>)>,
}

#[derive(Debug)]
struct Group {
    literals: Literals,
    /// By literal: the signals and templates that have it as their key.
    users: Vec<Vec<(u16, u16)>>,
}

/// What is searched: a record and the exception it is.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'r, 'a> {
    /// The record.
    pub record: &'r Record<'a>,
    /// Its exception.
    pub exception: Option<Exception>,
    /// The record from its message to its end.
    pub whole: &'r [u8],
    /// Its block from the message on: bytes behind the record are looked at and decide nothing.
    pub ahead: &'r [u8],
}

impl<'a> Subject<'_, 'a> {
    /// The record without the query, or its data, that its message quotes; nothing if it quotes none.
    pub(super) fn servers(&self, format: Format) -> Option<Record<'a>> {
        let at = format.quoted_at(self.record, self.exception)?;
        Some(Record {
            message: &self.record.message[..at],
            ..*self.record
        })
    }
}

/// A signal found in a record.
#[derive(Debug, Clone, Copy)]
pub struct Hit {
    /// The index of the signal.
    pub signal: u16,
    /// Its fields as spans of the message; only as many as the signal's templates name are filled.
    pub fields: [Span; FIELDS_MAX],
}

/// What was found in one record; reused from record to record.
#[derive(Debug, Default)]
pub struct Hits {
    /// The signals found, each at most once, in the order of declaration.
    pub found: Vec<Hit>,
    /// Signals whose literal is there but whose template does not fit: a message that may have changed.
    pub missed: Vec<u16>,
    candidates: Vec<(u16, u16)>,
}

impl SignalSet {
    /// Compiles the automata.
    ///
    /// # Panics
    /// Never: the literals of compiled templates are neither empty nor larger than an automaton allows.
    pub fn new(signals: Vec<Signal>) -> Self {
        let mut formats: Vec<Format> = signals
            .iter()
            .flat_map(|signal| signal.formats.iter().copied())
            .collect();
        formats.sort_unstable();
        formats.dedup();
        let tables = formats
            .into_iter()
            .map(|format| {
                (
                    format,
                    Level::ALL.map(|level| LevelTable::new(&signals, format, level)),
                )
            })
            .collect();
        Self { signals, tables }
    }

    /// The signals, in the order of declaration.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// A signal by the index of a [`Hit`].
    pub fn signal(&self, index: u16) -> &Signal {
        &self.signals[usize::from(index)]
    }

    /// The index of a signal by id.
    pub fn index(&self, id: &str) -> Option<u16> {
        self.signals
            .iter()
            .position(|signal| signal.id == id)
            .and_then(|at| u16::try_from(at).ok())
    }

    /// Finds every signal that `subject` is.
    #[inline]
    pub fn find(
        &self,
        format: Format,
        subject: &Subject<'_, '_>,
        hits: &mut Hits,
        profile: Option<&Profile>,
    ) {
        hits.found.clear();
        hits.missed.clear();
        let mut tables = self.tables.iter();
        let Some((_, levels)) = tables.find(|(known, _)| *known == format) else {
            return;
        };
        let table = &levels[subject.record.level.index()];
        let groups = self.groups(table, subject);
        if groups.is_empty() && table.textless.is_empty() {
            return;
        }
        hits.candidates.clear();
        let message = subject.record.message;
        let candidates = &mut hits.candidates;
        Cost::of(
            profile.map(|profile| &profile.search),
            message.len(),
            || {
                for group in groups {
                    group
                        .literals
                        .find(subject.ahead, message.len(), |literal, _| {
                            candidates.extend_from_slice(&group.users[literal]);
                        });
                }
                !candidates.is_empty()
            },
            |any| *any,
        );
        if !hits.candidates.is_empty() || !table.textless.is_empty() {
            match subject.servers(format) {
                None => self.try_candidates(table, *subject, hits, profile),
                Some(record) => {
                    let record = &record;
                    let whole = record.message;
                    let servers = Subject {
                        record,
                        whole,
                        ..*subject
                    };
                    self.drop_quoted(&mut hits.candidates, whole);
                    self.try_candidates(table, servers, hits, profile);
                }
            }
        }
    }

    /// What is searched for in such a record.
    fn groups<'t>(&self, level: &'t LevelTable, subject: &Subject<'_, '_>) -> &'t [Group] {
        let family = level.family(subject.record.logger);
        let (family, table) = match family.map(|at| &level.families[at]) {
            Some((family, table)) => (family.as_slice(), table),
            None => (&b""[..], &level.other),
        };
        let table = table.get_or_init(|| Table::new(&self.signals, &level.keys, family));
        let coded = subject.exception.and_then(|exception| {
            let code = exception.code;
            let found = table.coded.binary_search_by_key(&code, |(known, _)| *known);
            found.ok().map(|at| &table.coded[at])
        });
        let Some((code, groups)) = coded else {
            return &table.uncoded;
        };
        groups.get_or_init(|| {
            let asks = |key: &&Key| {
                let codes = &self.signal(key.signal).codes;
                codes.is_empty() || codes.contains(code)
            };
            Group::all(table.keys.iter().filter(asks))
        })
    }

    /// Leaves of the candidates those whose text stands in what the server wrote.
    fn drop_quoted(&self, candidates: &mut Vec<(u16, u16)>, servers: &[u8]) {
        candidates.retain(|&(signal, template)| {
            let template = &self.signal(signal).templates[usize::from(template)];
            let key = template.key().unwrap_or_default();
            memchr::memmem::find(servers, key).is_some()
        });
    }

    /// The slow path, taken by records that hold at least one literal.
    fn try_candidates(
        &self,
        table: &LevelTable,
        subject: Subject<'_, '_>,
        hits: &mut Hits,
        profile: Option<&Profile>,
    ) {
        if hits.candidates.len() > 1 {
            hits.candidates.sort_unstable();
            hits.candidates.dedup();
        }
        for &index in &table.textless {
            if let Some(fields) = self.signal(index).textless(subject) {
                hits.found.push(Hit {
                    signal: index,
                    fields,
                });
            }
        }
        for templates in hits
            .candidates
            .chunk_by(|(one, _), (other, _)| one == other)
        {
            let index = templates[0].0;
            let signal = self.signal(index);
            let mut fields = [Span::default(); FIELDS_MAX];
            let judged = Cost::of(
                profile.and_then(|profile| profile.signals.get(usize::from(index))),
                subject.record.message.len(),
                || signal.judge(templates, subject, &mut fields),
                |judged| matches!(judged, Judged::Fits),
            );
            match judged {
                Judged::Fits => hits.found.push(Hit {
                    signal: index,
                    fields,
                }),
                Judged::Misses => hits.missed.push(index),
                Judged::Differs => {}
            }
        }
        if !table.textless.is_empty() {
            hits.found.sort_unstable_by_key(|hit| hit.signal);
        }
    }
}

/// What a record that holds a signal's text is.
enum Judged {
    /// The signal.
    Fits,
    /// One that lacks the rest of the text.
    Misses,
    /// One of another kind: another code or logger, or ruled out.
    Differs,
}

impl Signal {
    /// What a record is that holds the keys of `templates`; its fields, if it is the signal.
    fn judge(
        &self,
        templates: &[(u16, u16)],
        subject: Subject<'_, '_>,
        fields: &mut [Span; FIELDS_MAX],
    ) -> Judged {
        if !self.could_be(subject) || self.is_ruled_out(subject) {
            return Judged::Differs;
        }
        let mut templates = templates.iter();
        let fits = templates
            .any(|&(_, at)| self.fits_template(&self.templates[usize::from(at)], subject, fields));
        if fits { Judged::Fits } else { Judged::Misses }
    }

    /// Whether everything but the text fits.
    fn could_be(&self, subject: Subject<'_, '_>) -> bool {
        let code_fits = self.codes.is_empty()
            || subject
                .exception
                .is_some_and(|e| self.codes.contains(&e.code));
        let placed = self.at != At::Exception || subject.exception.is_some();
        code_fits && placed && self.comes_from(subject.record.logger)
    }

    /// The fields of a record that is this signal by everything but a text: by its cells if it is a row.
    fn textless(&self, subject: Subject<'_, '_>) -> Option<[Span; FIELDS_MAX]> {
        if !self.could_be(subject) {
            return None;
        }
        match &self.row {
            Some(row) => row.fields(subject.record.message),
            None => Some([Span::default(); FIELDS_MAX]),
        }
    }

    /// Whether a record that holds the key of a template fits all of it; what its holes hold, if it does.
    fn fits_template(
        &self,
        template: &Template,
        subject: Subject<'_, '_>,
        fields: &mut [Span; FIELDS_MAX],
    ) -> bool {
        *fields = [Span::default(); FIELDS_MAX];
        let message = self.searched(subject);
        match self.at {
            At::Start => template.match_at(message, 0, fields),
            At::Exception => subject
                .exception
                .is_some_and(|it| template.match_at(message, it.text_at, fields)),
            // The key is all of it, and stands on the line.
            At::Anywhere if template.is_text() && !self.deep => true,
            At::Anywhere => template.match_anywhere(message, 0, fields),
        }
    }

    /// Whether a text stands there that says that the record is something else.
    fn is_ruled_out(&self, subject: Subject<'_, '_>) -> bool {
        let message = self.searched(subject);
        self.unless.iter().any(|text| text.is_in(message))
    }

    /// What templates are matched against.
    pub(super) fn searched<'a>(&self, subject: Subject<'a, 'a>) -> &'a [u8] {
        if self.deep {
            without_query(subject.whole)
        } else {
            subject.record.message
        }
    }
}

impl LevelTable {
    fn new(signals: &[Signal], format: Format, level: Level) -> Self {
        let mut textless = Vec::new();
        let mut keys = Vec::new();
        let mut families = BTreeSet::new();
        for (index, signal) in (0u16..).zip(signals) {
            if !signal.formats.contains(&format) || !signal.admits(level) {
                continue;
            }
            if signal.templates.is_empty() {
                textless.push(index);
            }
            keys.extend(
                (0u16..)
                    .zip(&signal.templates)
                    .filter(|(_, template)| template.is_of(format))
                    .map(|(number, template)| Key {
                        literal: template.key().unwrap_or_default().to_vec(),
                        signal: index,
                        template: number,
                    }),
            );
            families.extend(signal.families().into_iter().flatten());
        }
        let mut ends = [0; 4];
        for family in &families {
            let (word, bit) = mark_of(family);
            ends[word] |= bit;
        }
        Self {
            other: OnceLock::new(),
            ends,
            families: families
                .into_iter()
                .map(|family| (family.to_vec(), OnceLock::new()))
                .collect(),
            keys,
            textless,
        }
    }

    /// The place of a logger's family among those that signals ask for.
    fn family(&self, logger: &[u8]) -> Option<usize> {
        let (word, bit) = mark_of(logger);
        if self.ends[word] & bit == 0 {
            return None;
        }
        let family = family(logger);
        self.families
            .binary_search_by(|(known, _)| known.as_slice().cmp(family))
            .ok()
    }
}

/// The bit that stands for the end of a logger's name, and the word it is in: its family has the same, since it is the name or
/// its end of at least as many bytes.
#[inline]
fn mark_of(name: &[u8]) -> (usize, u64) {
    let end: Option<&[u8; FAMILY_BYTES_MIN]> = name.last_chunk();
    let end = end.map_or(0, |end| u32::from_le_bytes(*end));
    // Knuth's multiplicative hash: the upper bits are well mixed.
    let hash = end.wrapping_mul(0x9e37_79b1);
    ((hash >> 30) as usize, 1 << (hash >> 24 & 0x3f))
}

impl Table {
    /// The signals of `keys` that may come from loggers of this family.
    fn new(signals: &[Signal], keys: &[Key], family: &[u8]) -> Self {
        let signal = |key: &Key| &signals[usize::from(key.signal)];
        let may_come = |key: &&Key| {
            let families = signal(key).families();
            families.is_none_or(|families| families.contains(&family))
        };
        let keys: Vec<Key> = keys.iter().filter(may_come).cloned().collect();
        let codes: BTreeSet<u32> = keys
            .iter()
            .flat_map(|key| &signal(key).codes)
            .copied()
            .collect();
        Self {
            uncoded: Group::all(keys.iter().filter(|key| signal(key).codes.is_empty())),
            coded: codes
                .into_iter()
                .map(|code| (code, OnceLock::new()))
                .collect(),
            keys,
        }
    }
}

impl Group {
    /// The automata for these keys.
    fn all<'k>(keys: impl Iterator<Item = &'k Key>) -> Vec<Self> {
        let keys: Vec<&Key> = keys.collect();
        let literals: BTreeSet<&[u8]> = keys.iter().map(|key| key.literal.as_slice()).collect();
        let literals: Vec<&[u8]> = literals.into_iter().collect();
        // Of equal sizes: the fewer are searched for at once, the fewer places look like one that is not there.
        let groups = literals.len().div_ceil(Literals::MAX).max(1);
        literals
            .chunks(literals.len().div_ceil(groups).max(1))
            .map(|chunk| Self::new(chunk, &keys))
            .collect()
    }

    fn new(literals: &[&[u8]], keys: &[&Key]) -> Self {
        let users = literals.iter().map(|literal| {
            let with = keys.iter().filter(|key| key.literal == *literal);
            with.map(|key| (key.signal, key.template)).collect()
        });
        Self {
            literals: Literals::new(literals),
            users: users.collect(),
        }
    }
}
