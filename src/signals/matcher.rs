//! All signals against one record: one pass over the message with SIMD automata, holes cut only on a hit.
//!
//! For each level, and for each code that signals ask for, there are the literals of the signals that such a record may
//! be, in automata of at most [`LITERALS_MAX`] literals: a larger one falls off its packed search and costs several times
//! as much. Those of a code are built when the first record with that code comes.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::{At, Signal, Span, Template};
use crate::parsers::Format;
use crate::parsers::exception::Exception;
use crate::record::Record;
use crate::vocab::Level;

/// How many literals one packed automaton searches for.
const LITERALS_MAX: usize = 48;

/// How many fields a signal may have.
pub(crate) const FIELDS_MAX: usize = 12;

/// The compiled signals.
#[derive(Debug)]
pub struct SignalSet {
    signals: Vec<Signal>,
    /// By format and level.
    tables: Vec<(Format, [LevelTable; Level::ALL.len()])>,
}

#[derive(Debug)]
struct LevelTable {
    /// By template that such a record may fit: its key, and the signal and the template.
    keys: Vec<(Vec<u8>, u16, u16)>,
    /// For records that are no exception, or one with a code that no signal asks for.
    uncoded: Vec<Group>,
    /// By code that signals ask for.
    coded: Vec<(u32, OnceLock<Vec<Group>>)>,
    /// Signals of this level that need no text.
    textless: Vec<u16>,
}

#[derive(Debug)]
struct Group {
    /// Packed, longest literal first: of those that begin at a place it finds the longest.
    literals: AhoCorasick,
    /// By literal: the signals and templates that have it, or a part of it, as their key.
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
        let mut formats: Vec<Format> = signals.iter().map(|signal| signal.format).collect();
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
    pub fn find(&self, format: Format, subject: Subject<'_, '_>, hits: &mut Hits) {
        hits.found.clear();
        hits.missed.clear();
        let Some((_, levels)) = self.tables.iter().find(|(f, _)| *f == format) else {
            return;
        };
        let table = &levels[subject.record.level.index()];
        hits.candidates.clear();
        for group in self.groups(table, subject.exception) {
            let mut from = 0;
            while let Some(found) = group
                .literals
                .find(Input::new(subject.record.message).range(from..))
            {
                hits.candidates
                    .extend_from_slice(&group.users[found.pattern().as_usize()]);
                from = found.start() + 1;
            }
        }
        if !hits.candidates.is_empty() || !table.textless.is_empty() {
            self.try_candidates(table, subject, hits);
        }
    }

    /// The automata for a record with this exception.
    fn groups<'t>(&self, table: &'t LevelTable, exception: Option<Exception>) -> &'t [Group] {
        let code = exception.map(|exception| exception.code);
        let coded = table.coded.iter().find(|(known, _)| Some(*known) == code);
        let Some((code, groups)) = coded else {
            return &table.uncoded;
        };
        groups.get_or_init(|| {
            let asks = |signal: u16| {
                let codes = &self.signal(signal).codes;
                codes.is_empty() || codes.contains(code)
            };
            let keys = table.keys.iter().filter(|(_, signal, _)| asks(*signal));
            Group::all(&keys.cloned().collect::<Vec<_>>())
        })
    }

    /// The slow path, taken by records that hold at least one literal.
    fn try_candidates(&self, table: &LevelTable, subject: Subject<'_, '_>, hits: &mut Hits) {
        hits.candidates.sort_unstable();
        hits.candidates.dedup();
        for &signal in &table.textless {
            if self.signal(signal).could_be(subject) {
                hits.found.push(Hit {
                    signal,
                    fields: [Span::default(); FIELDS_MAX],
                });
            }
        }
        let mut at = 0;
        while at < hits.candidates.len() {
            let index = hits.candidates[at].0;
            let signal = self.signal(index);
            let same = hits.candidates[at..]
                .iter()
                .take_while(|(other, _)| *other == index)
                .count();
            let templates = &hits.candidates[at..at + same];
            at += same;
            if !signal.could_be(subject) || signal.is_ruled_out(subject) {
                continue;
            }
            let fits = |&(_, template): &(u16, u16)| {
                signal.try_template(&signal.templates[usize::from(template)], subject)
            };
            match templates.iter().find_map(fits) {
                Some(fields) => hits.found.push(Hit {
                    signal: index,
                    fields,
                }),
                None => hits.missed.push(index),
            }
        }
        hits.found.sort_unstable_by_key(|hit| hit.signal);
    }
}

impl Signal {
    /// Whether everything but the text fits.
    fn could_be(&self, subject: Subject<'_, '_>) -> bool {
        let code_fits = self.codes.is_empty()
            || subject
                .exception
                .is_some_and(|e| self.codes.contains(&e.code));
        let placed = self.at != At::Exception || subject.exception.is_some();
        code_fits && placed && self.comes_from(subject.record.logger)
    }

    fn try_template(
        &self,
        template: &Template,
        subject: Subject<'_, '_>,
    ) -> Option<[Span; FIELDS_MAX]> {
        let message = self.searched(subject);
        let mut fields = [Span::default(); FIELDS_MAX];
        let fits = match self.at {
            At::Start => template.match_at(message, 0, &mut fields),
            At::Exception => template.match_at(message, subject.exception?.text_at, &mut fields),
            At::Anywhere => template.match_anywhere(message, 0, &mut fields),
        };
        fits.then_some(fields)
    }

    /// Whether a text stands there that says that the record is something else.
    fn is_ruled_out(&self, subject: Subject<'_, '_>) -> bool {
        let message = self.searched(subject);
        self.unless.iter().any(|text| text.is_in(message))
    }

    /// What templates are matched against.
    pub(super) fn searched<'a>(&self, subject: Subject<'a, 'a>) -> &'a [u8] {
        if self.deep {
            subject.whole
        } else {
            subject.record.message
        }
    }
}

impl LevelTable {
    fn new(signals: &[Signal], format: Format, level: Level) -> Self {
        let mut textless = Vec::new();
        let mut keys: Vec<(Vec<u8>, u16, u16)> = Vec::new();
        for (index, signal) in (0u16..).zip(signals) {
            if signal.format != format || !signal.admits(level) {
                continue;
            }
            if signal.templates.is_empty() {
                textless.push(index);
            }
            for (number, template) in (0u16..).zip(&signal.templates) {
                keys.push((template.key().unwrap_or_default().to_vec(), index, number));
            }
        }
        let codes: BTreeSet<u32> = keys
            .iter()
            .flat_map(|(_, signal, _)| &signals[usize::from(*signal)].codes)
            .copied()
            .collect();
        let free = keys
            .iter()
            .filter(|(_, signal, _)| signals[usize::from(*signal)].codes.is_empty());
        let uncoded = Group::all(&free.cloned().collect::<Vec<_>>());
        let coded = codes
            .into_iter()
            .map(|code| (code, OnceLock::new()))
            .collect();
        Self {
            keys,
            uncoded,
            coded,
            textless,
        }
    }
}

impl Group {
    /// The automata for these keys.
    fn all(keys: &[(Vec<u8>, u16, u16)]) -> Vec<Self> {
        let literals: BTreeSet<Vec<u8>> = keys.iter().map(|(key, ..)| key.clone()).collect();
        let literals: Vec<Vec<u8>> = literals.into_iter().collect();
        literals
            .chunks(LITERALS_MAX)
            .map(|chunk| Self::new(chunk, keys))
            .collect()
    }

    #[expect(
        clippy::expect_used,
        reason = "fewer than LITERALS_MAX non-empty literals always build"
    )]
    fn new(literals: &[Vec<u8>], keys: &[(Vec<u8>, u16, u16)]) -> Self {
        let mut longest_first = literals.to_vec();
        longest_first.sort_by_key(|literal| std::cmp::Reverse(literal.len()));
        let users = longest_first.iter().map(|literal| {
            // A shorter literal inside a longer one is found with it.
            let inside = keys
                .iter()
                .filter(|(key, ..)| memchr::memmem::find(literal, key).is_some());
            inside
                .map(|(_, signal, template)| (*signal, *template))
                .collect()
        });
        let users = users.collect();
        let automaton = AhoCorasick::builder()
            // The packed prefilter answers alone; a DFA would only cost time to build.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostFirst)
            .build(longest_first);
        Self {
            literals: automaton.expect("literals build"),
            users,
        }
    }
}
