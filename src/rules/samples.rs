//! The samples of the rule base: lines a signal must match and fields it must give, lines it must not, and small logs
//! in which a rule must fire or keep silent. They run through the same stages as any log.

use std::collections::BTreeMap;

use toml::Spanned;

use super::schema::{RuleSampleDecl, SampleFile, WalSampleDecl};
use super::{RuleBase, WalProblem};
use crate::record::Locator;
use crate::signals::tally::{Around, Evidence};
use crate::time::{DAY, Timestamp};
use crate::vocab::{Lsn, LsnNotation, LsnRange, Severity};

/// A sample ready to be analysed.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Whose: a signal's or a rule's id.
    pub owner: String,
    /// What it shows, or which it is.
    pub name: String,
    /// Where it stands, as `FILE:LINE`.
    pub place: String,
    /// Files by path.
    pub files: BTreeMap<String, String>,
    /// Problems of WALs, each with its node.
    pub wal: Vec<(String, WalProblem)>,
    /// The rules whose findings must explain this one's, if that is said.
    pub follows_from: Option<Vec<String>>,
    /// What must come of it.
    pub kind: SampleKind,
}

/// What must come of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SampleKind {
    /// The signal occurs once, with these values.
    Matches(BTreeMap<String, String>),
    /// The signal does not occur.
    MatchesNot,
    /// The rule fires, with this severity.
    Fires(Severity),
    /// The rule keeps silent.
    Silent,
}

/// All samples of a base.
pub fn samples(base: &RuleBase) -> Vec<Sample> {
    let mut all = Vec::new();
    for (at, signal) in base.declared.signal.iter().enumerate() {
        let compiled = base.signals.index(signal.id.get_ref());
        let formats = compiled.map(|index| &base.signals.signal(index).formats);
        // A file's name says nothing of its format, but names the node; that of a table names the table.
        let path = match (&signal.table, formats.map(Vec::as_slice)) {
            (Some(table), _) => format!("node/{}.jsonl", table.get_ref()),
            (None, Some([format])) => format.spec().sample_path.to_owned(),
            (None, _) => "node.log".to_owned(),
        };
        let sample = |name: String, line: &Spanned<String>, kind: SampleKind| Sample {
            owner: signal.id.get_ref().clone(),
            name,
            place: base.places.in_signal(at, &line.span()),
            files: [(path.clone(), format!("{}\n", line.get_ref().trim_end()))].into(),
            wal: Vec::new(),
            follows_from: None,
            kind,
        };
        for (number, given) in signal.samples.iter().enumerate() {
            all.push(sample(
                format!("sample {}", number + 1),
                &given.line,
                SampleKind::Matches(given.fields.clone()),
            ));
        }
        for (number, line) in signal.not.iter().enumerate() {
            all.push(sample(
                format!("not {}", number + 1),
                line,
                SampleKind::MatchesNot,
            ));
        }
    }
    for (at, rule) in base.declared.rule.iter().enumerate() {
        let place = |given: &RuleSampleDecl| base.places.in_rule(at, &given.name.span());
        let samples = rule.sample.iter();
        all.extend(samples.map(|given| rule_sample(rule.id.get_ref(), given, place(given))));
    }
    all
}

fn rule_sample(owner: &str, given: &RuleSampleDecl, place: String) -> Sample {
    let files = given
        .files
        .iter()
        .map(|(path, file)| (path.clone(), repeated(file)));
    let kind = given.fires.map_or(SampleKind::Silent, SampleKind::Fires);
    Sample {
        owner: owner.to_owned(),
        name: given.name.get_ref().clone(),
        place,
        files: files.collect(),
        wal: given.wal.iter().map(wal_problem).collect(),
        follows_from: given.follows_from.as_ref().map(|rules| {
            let rules = rules.iter().map(|rule| rule.get_ref().clone());
            rules.collect()
        }),
        kind,
    }
}

/// A problem as a check would find it, at no place.
fn wal_problem(given: &WalSampleDecl) -> (String, WalProblem) {
    let first = given.first.map(Lsn);
    let last = given.last.as_ref().map(|it| Lsn(*it.get_ref())).or(first);
    let range = first
        .zip(last)
        .and_then(|(first, last)| LsnRange::new(first, last));
    let problem = WalProblem {
        layout: given.layout.clone(),
        notation: LsnNotation::Decimal,
        kind: given.problem,
        severity: given.severity,
        segment: given.segment.clone(),
        range,
        withheld: range.filter(|_| !given.listed),
        belongs_in: given.belongs_in.clone(),
        listed: given.listed,
        more: 0,
        evidence: Evidence {
            at: Locator {
                artifact: u32::MAX,
                line: 0,
                offset: 0,
            },
            time: None,
            text: String::new(),
            around: Around::default(),
        },
    };
    (given.node.clone(), problem)
}

/// The file's text as often as it says, each repetition's stamps later by its step.
fn repeated(file: &SampleFile) -> String {
    let text = file.text.trim();
    let mut out = String::new();
    for number in 0..file.repeat {
        for line in text.lines() {
            out.push_str(&later(
                line.trim_start(),
                u64::from(number) * u64::from(file.step_ms),
            ));
            out.push('\n');
        }
    }
    out
}

/// How far into a line its stamp may begin.
const STAMP_AT_MAX: usize = 48;

/// A line with its stamp moved by `ms` within its day; a line without one as it is.
fn later(line: &str, ms: u64) -> String {
    let bytes = line.as_bytes();
    let mut places = 0..bytes.len().min(STAMP_AT_MAX);
    let dated = places.find_map(|at| {
        let (stamp, length) = Timestamp::read(&bytes[at..])?;
        Some((stamp, at + 11, length - 11))
    });
    let undated = Timestamp::read_time_of_day(bytes).map(|at| (at, 0, 12));
    let Some((at, start, length)) = dated.or(undated) else {
        return line.to_owned();
    };
    let micros = u64::try_from(at.0.rem_euclid(DAY)).unwrap_or(0) + ms * 1000;
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let whole = format!("{h:02}:{m:02}:{s:02}");
    let written = &line[start..start + length];
    let moved = match written.as_bytes().get(8) {
        Some(&separator) => {
            let digits = format!("{fraction:06}000");
            let separator = char::from(separator);
            format!("{whole}{separator}{}", &digits[..(length - 9).min(9)])
        }
        None => whole,
    };
    format!("{}{moved}{}", &line[..start], &line[start + length..])
}

#[cfg(test)]
mod tests {
    use super::later;

    #[test]
    fn a_repeated_line_moves_its_stamp_and_nothing_else() {
        let line = "2026.08.21 09:59:59.900000 [ 60 ] {} <Error> a: b";
        assert_eq!(
            later(line, 1_200),
            "2026.08.21 10:00:01.100000 [ 60 ] {} <Error> a: b"
        );
        assert_eq!(
            later("07:06:48,603 ctrl-2 x", 3_400),
            "07:06:52,003 ctrl-2 x"
        );
        assert_eq!(
            later("[7] 2024/10/11 06:17:49.512209 [INF] x", 500),
            "[7] 2024/10/11 06:17:50.012209 [INF] x"
        );
        assert_eq!(
            later("raft2026/11/29 16:03:07 INFO: x", 60_000),
            "raft2026/11/29 16:04:07 INFO: x"
        );
        assert_eq!(later("0. frame @ 0x1", 5), "0. frame @ 0x1");
    }
}
