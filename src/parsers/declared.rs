//! Formats that a rules file declares: a regular expression for the head, a pattern for its stamp, names of levels.
//!
//! ```text
//! [[format]]
//! name = "shop"
//! pattern = '(?<time>\S+ \S+) +(?<level>[A-Z]+) +\[(?<thread>[^\]]*)\] (?<logger>\S+) - '
//! time = "%Y-%m-%d %H:%M:%S,%f"
//! ```
//!
//! Where several programs write the same heads, `holds` names texts of which the line must hold one.
//!
//! The expression is matched at the beginning of a line, against its first [`HEAD_BYTES_MAX`] bytes; matching takes time
//! that is linear in them, whatever the expression. The message is what follows the match.

use std::collections::BTreeMap;
use std::sync::Mutex;

use memchr::memmem::Finder;
use regex::bytes::{Captures, Regex, RegexBuilder};

use super::stamps::StampPattern;
use super::{FORMATS, Format, Spec, head};
use crate::record::Record;
use crate::vocab::Level;

/// How many bytes of a line its head may fill.
pub const HEAD_BYTES_MAX: usize = 1024;

/// How much memory a compiled expression may take, in bytes.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// The named groups that mean something.
pub const GROUPS: &[&str] = &["time", "level", "logger", "thread", "node", "query"];

/// A format as it is declared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// The expression of a head.
    pub pattern: String,
    /// Texts of which one stands in the part of the line that is looked at; none where the expression says enough.
    pub holds: Vec<String>,
    /// The pattern of its stamps.
    pub time: Option<String>,
    /// Words that name levels, beside those that are known anyway.
    pub levels: Vec<(String, Level)>,
}

/// Why a declaration cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeclareError {
    /// The name is that of a registered format.
    #[error("the format {0:?} is built in")]
    BuiltIn(String),
    /// The expression does not compile, or is too large.
    #[error("this regular expression cannot be used: {0}")]
    Pattern(String),
    /// The expression fits everything.
    #[error("the pattern fits an empty line, so that every line would be a head")]
    Empty,
    /// A group that means nothing.
    #[error("unknown group {0:?}; known are {known}", known = GROUPS.join(", "))]
    Group(String),
    /// A stamp without its pattern, or the other way round.
    #[error("the group `time` and the key `time` need each other")]
    Time,
    /// The stamp's pattern does not compile.
    #[error("{0}")]
    Stamp(String),
}

/// The grammar of a declared format.
#[derive(Debug)]
pub struct Declared {
    pattern: Regex,
    holds: Vec<Finder<'static>>,
    time: Option<StampPattern>,
    levels: Vec<(String, Level)>,
}

/// The formats declared so far. A format is a handle that outlives any rule base, so what was declared once is kept: the
/// same declaration gives the same handle, however often its file is loaded.
static KNOWN: Mutex<BTreeMap<Declaration, Format>> = Mutex::new(BTreeMap::new());

/// Makes a format of a declaration.
pub fn declare(declaration: &Declaration) -> Result<Format, DeclareError> {
    let mut known = match KNOWN.lock() {
        Ok(known) => known,
        Err(poisoned) => poisoned.into_inner(),
    };
    if let Some(format) = known.get(declaration) {
        return Ok(*format);
    }
    let declared = compile(declaration)?;
    let spec = Spec {
        nodes_in_lines: declared.has("node"),
        dateless: declared
            .time
            .as_ref()
            .is_some_and(StampPattern::is_dateless),
        always_levels: declared.has("level"),
        declared: Some(Box::leak(Box::new(declared))),
        ..Spec::log(
            Box::leak(declaration.name.clone().into_boxed_str()),
            |_| false,
            |_, _| None,
        )
    };
    let format = Format(Box::leak(Box::new(spec)));
    known.insert(declaration.clone(), format);
    Ok(format)
}

fn compile(declaration: &Declaration) -> Result<Declared, DeclareError> {
    if FORMATS.iter().any(|it| it.0.name == declaration.name) {
        return Err(DeclareError::BuiltIn(declaration.name.clone()));
    }
    let pattern = RegexBuilder::new(&format!("^(?:{})", declaration.pattern))
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX)
        .build()
        .map_err(|error| DeclareError::Pattern(error.to_string()))?;
    if pattern.is_match(b"") {
        return Err(DeclareError::Empty);
    }
    let mut names = pattern.capture_names().flatten();
    if let Some(unknown) = names.find(|name| !GROUPS.contains(name)) {
        return Err(DeclareError::Group(unknown.to_owned()));
    }
    let time = declaration.time.as_deref().map(StampPattern::compile);
    let time = time.transpose().map_err(DeclareError::Stamp)?;
    let holds = declaration.holds.iter();
    let declared = Declared {
        pattern,
        holds: holds.map(|text| Finder::new(text).into_owned()).collect(),
        time,
        levels: declaration.levels.clone(),
    };
    if declared.has("time") == declared.time.is_some() {
        Ok(declared)
    } else {
        Err(DeclareError::Time)
    }
}

impl Declared {
    fn has(&self, group: &str) -> bool {
        self.pattern.capture_names().flatten().any(|it| it == group)
    }

    /// Whether a line starts a record.
    pub(super) fn is_head(&self, line: &[u8]) -> bool {
        let head = head_of(line);
        self.pattern.is_match(head) && self.is_shown(head)
    }

    /// Whether a line that looks like a head shows that it is one of this format.
    fn is_shown(&self, head: &[u8]) -> bool {
        self.holds.is_empty() || self.holds.iter().any(|text| text.find(head).is_some())
    }

    /// Reads a record from its head's line, without the line's end, and the lines after it.
    pub(super) fn parse<'a>(&self, line: &'a [u8], rest: &'a [u8]) -> Option<Record<'a>> {
        let head = head_of(line);
        let found = self
            .pattern
            .captures(head)
            .filter(|_| self.is_shown(head))?;
        let group = |name: &str| -> &'a [u8] { group(&found, name) };
        let stamp = self.time.as_ref().and_then(|time| time.read(group("time")));
        let message = found.get(0).map_or(line, |whole| &line[whole.end()..]);
        Some(Record {
            time: stamp.map(|(time, _)| time),
            utc: stamp.is_some_and(|(_, utc)| utc),
            node: group("node"),
            level: self.level(group("level")),
            thread: head::label(group("thread")),
            query_id: group("query"),
            logger: group("logger"),
            ..Record::bare(message, rest)
        })
    }

    fn level(&self, word: &[u8]) -> Level {
        let own = self.levels.iter().find(|(own, _)| own.as_bytes() == word);
        own.map(|(_, level)| *level)
            .or_else(|| head::level(word))
            .unwrap_or(Level::None)
    }
}

/// What a group holds; nothing where it took no part.
fn group<'a>(found: &Captures<'a>, name: &str) -> &'a [u8] {
    found.name(name).map_or(b"", |part| part.as_bytes())
}

/// The part of a line that its head may fill.
fn head_of(line: &[u8]) -> &[u8] {
    let bound = &line[..line.len().min(HEAD_BYTES_MAX)];
    let end = memchr::memchr2(b'\n', b'\r', bound).unwrap_or(bound.len());
    &bound[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::sniff;
    use crate::time::Timestamp;

    fn shop() -> Declaration {
        Declaration {
            name: "shop".to_owned(),
            pattern: r"(?<time>\S+ \S+) +(?<level>[A-Z]+) +\[(?<thread>[^\]]*)\] (?<node>\w+) (?<logger>\S+) - ".to_owned(),
            holds: Vec::new(),
            time: Some("%Y-%m-%d %H:%M:%S,%f".to_owned()),
            levels: vec![("SEVERE".to_owned(), Level::Error)],
        }
    }

    #[test]
    fn a_declared_format_reads_its_records() {
        let format = declare(&shop()).unwrap();
        let text = b"2026-11-29 16:20:33,996 SEVERE [main] till1 a.b.C - it broke\n\tat x\n";
        assert_eq!(sniff(text, &[format]), Some(format));
        assert_eq!(sniff(text, &[]), None);
        let record = format.parse(text).unwrap();
        let (time, _) = Timestamp::read(b"2026-11-29 16:20:33.996").unwrap();
        assert_eq!((record.time, record.level), (Some(time), Level::Error));
        assert_eq!((record.node, record.logger), (&b"till1"[..], &b"a.b.C"[..]));
        assert_eq!(
            (record.message, record.rest),
            (&b"it broke"[..], &b"\tat x\n"[..])
        );
        assert!(!format.is_head(b"\tat x\n"));
    }

    #[test]
    fn the_same_declaration_is_the_same_format() {
        assert_eq!(declare(&shop()), declare(&shop()));
        let other = Declaration {
            time: Some("%Y-%m-%d %H:%M:%S.%f".to_owned()),
            ..shop()
        };
        assert_ne!(declare(&shop()), declare(&other));
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        let with = |pattern: &str, time: Option<&str>| {
            declare(&Declaration {
                pattern: pattern.to_owned(),
                time: time.map(str::to_owned),
                ..shop()
            })
        };
        assert_eq!(with("a*", None), Err(DeclareError::Empty));
        assert_eq!(
            with("(?<size>a)", None),
            Err(DeclareError::Group("size".to_owned()))
        );
        assert_eq!(with("(?<time>a)", None), Err(DeclareError::Time));
        assert_eq!(with("a", Some("%s")), Err(DeclareError::Time));
        assert!(matches!(with("(", None), Err(DeclareError::Pattern(_))));
        assert!(matches!(
            with(r"(\pL{1000}){1000}", None),
            Err(DeclareError::Pattern(_))
        ));
        assert!(matches!(
            with("(?<time>a)", Some("%H")),
            Err(DeclareError::Stamp(_))
        ));
        let built_in = Declaration {
            name: "etcd".to_owned(),
            ..shop()
        };
        assert_eq!(
            declare(&built_in),
            Err(DeclareError::BuiltIn("etcd".to_owned()))
        );
    }

    #[test]
    fn a_line_that_shows_another_program_is_no_head() {
        let format = declare(&Declaration {
            holds: vec![" till".to_owned(), " a.b".to_owned()],
            ..shop()
        });
        let format = format.unwrap();
        let with = |rest: &str| format!("2026-11-29 16:20:33,996 SEVERE [main] {rest} - it broke");
        for (line, is_head) in [
            (with("till1 x.Y"), true),
            (with("desk a.b.C"), true),
            (with("desk x.Y"), false),
        ] {
            assert_eq!(format.is_head(line.as_bytes()), is_head, "{line}");
            assert_eq!(format.parse(line.as_bytes()).is_some(), is_head, "{line}");
        }
    }

    #[test]
    fn only_the_beginning_of_a_long_line_is_looked_at() {
        let format = declare(&Declaration {
            pattern: "x*y".to_owned(),
            time: None,
            ..shop()
        });
        let format = format.unwrap();
        let mut line = vec![b'x'; HEAD_BYTES_MAX - 1];
        line.push(b'y');
        assert!(format.is_head(&line));
        line.insert(0, b'x');
        assert!(!format.is_head(&line));
    }
}
