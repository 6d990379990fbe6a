//! Reads a `casdiag.layout/1` file: the description of a WAL that casdiag does not know.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};
use thiserror::Error;

use crate::parsers::wal::{
    Algorithm, Chain, Covers, Declaration, EndMark, Endian, Field, FieldKind, Format, Measure,
    NamePart, Number, Pinned, Role, Step,
};

use super::layout_file::{
    AlgorithmWord, ChainWord, CoversEntry, EndWord, EndianWord, EqualsEntry, FieldEntry,
    LayoutFile, MeasureWord, RewriteWord, TypeWord, WhereWord,
};
use super::rules::{Rewrite, Rules, Where};

/// A layout file is a page of text.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// No record's fields before its payload are this wide; it bounds what is read to see whether there is a record.
const FIXED_BYTES_MAX: usize = 64 * 1024;
/// The only form of the file there is.
const SCHEMA: &str = "casdiag.layout/1";

/// A described layout, ready to check with.
#[derive(Clone)]
pub struct Declared {
    /// How to read its segments.
    pub declaration: Declaration,
    /// What has to hold for them.
    pub rules: Rules,
    /// Files beside them that are none.
    pub ignore: GlobSet,
}

/// Why a layout file cannot be used.
#[derive(Debug, Error)]
pub enum LayoutError {
    /// It cannot be read.
    #[error("cannot read layout file {path}")]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not TOML, or has a key or a value that does not exist.
    #[error("layout file {path} is not a layout: {message}")]
    Parse {
        /// Which.
        path: PathBuf,
        /// Where and what, with the accepted names.
        message: String,
    },
    /// It is well formed and makes no sense.
    #[error("layout file {path} cannot be used: {message}")]
    Meaning {
        /// Which.
        path: PathBuf,
        /// What makes no sense.
        message: String,
    },
}

/// Loads a layout file.
pub fn load(path: &Path) -> Result<Declared, LayoutError> {
    let read = |source| LayoutError::Read {
        path: path.to_path_buf(),
        source,
    };
    let mut text = String::new();
    File::open(path)
        .map_err(read)?
        .take(FILE_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(read)?;
    let file: LayoutFile = toml::from_str(&text).map_err(|error| LayoutError::Parse {
        path: path.to_path_buf(),
        message: error.to_string(),
    })?;
    file.declared().map_err(|message| LayoutError::Meaning {
        path: path.to_path_buf(),
        message,
    })
}

impl LayoutFile {
    fn declared(self) -> Result<Declared, String> {
        if self.schema != SCHEMA {
            return Err(format!(
                "schema is {:?}, and only {SCHEMA:?} is known",
                self.schema
            ));
        }
        let declaration = Declaration {
            file: pattern(&self.file)?,
            endian: match self.endian {
                EndianWord::Little => Endian::Little,
                EndianWord::Big => Endian::Big,
            },
            align: self.align,
            end: self.end.iter().map(|&word| end_mark(word)).collect(),
            header: fields(&self.header)?,
            record: fields(&self.record)?,
            step: step(self.lsn_step.as_deref())?,
            name: self.name,
        };
        sense(&declaration)?;
        let mut rules = Rules::of(&Format::Declared(Box::new(declaration.clone())));
        rules.zero_tail = self.zero_tail.map_or(Where::Never, place);
        rules.torn_tail = self.torn_tail.map_or(Where::Last, place);
        rules.rewrite = match self.rewrite {
            RewriteWord::Never => Rewrite::Never,
            RewriteWord::HigherTerm => Rewrite::HigherTerm,
            RewriteWord::LastWins => Rewrite::LastWins,
        };
        let mut ignore = GlobSetBuilder::new();
        for glob in &self.ignore {
            ignore.add(Glob::new(glob).map_err(|error| format!("ignore: {error}"))?);
        }
        let ignore = ignore.build().map_err(|error| format!("ignore: {error}"))?;
        Ok(Declared {
            declaration,
            rules,
            ignore,
        })
    }
}

fn end_mark(word: EndWord) -> EndMark {
    match word {
        EndWord::Eof => EndMark::Eof,
        EndWord::ZeroLength => EndMark::ZeroLength,
        EndWord::ZeroLsn => EndMark::ZeroLsn,
        EndWord::ZeroType => EndMark::ZeroType,
    }
}

fn place(word: WhereWord) -> Where {
    match word {
        WhereWord::Never => Where::Never,
        WhereWord::Last => Where::Last,
        WhereWord::IfNextContinues => Where::IfNextContinues,
        WhereWord::Always => Where::Always,
    }
}

fn step(text: Option<&str>) -> Result<Step, String> {
    match text {
        None => Ok(Step::By(1)),
        Some("bytes") => Ok(Step::Bytes),
        Some("count") => Ok(Step::Count),
        Some("epoch") => Ok(Step::Epoch),
        Some("increasing") => Ok(Step::Increasing),
        Some(text) => {
            let number = text
                .strip_prefix('+')
                .and_then(|digits| digits.parse().ok())
                .filter(|&number| number > 0);
            number.map(Step::By).ok_or_else(|| format!("lsn-step {text:?} is none of \"+N\", \"bytes\", \"count\", \"epoch\", \"increasing\""))
        }
    }
}

/// `seg-{lsn:016x}.wal` into its parts.
fn pattern(text: &str) -> Result<Vec<NamePart>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((literal, hole)) = rest.split_once('{') {
        if !literal.is_empty() {
            parts.push(NamePart::Literal(literal.to_owned()));
        }
        let (hole, behind) = hole
            .split_once('}')
            .ok_or_else(|| format!("file {text:?}: a {{ is not closed"))?;
        let (role, form) = hole.split_once(':').unwrap_or((hole, ""));
        let role = match role {
            "lsn" => Role::Lsn,
            "seq" => Role::Seq,
            "last" => Role::Last,
            "term" => Role::Term,
            _ => {
                return Err(format!(
                    "file {text:?}: {role:?} is none of lsn, seq, last, term"
                ));
            }
        };
        let (digits, is_hex) = form
            .strip_suffix('x')
            .map_or((form, false), |digits| (digits, true));
        let width = match digits {
            "" => 0,
            digits => digits
                .parse()
                .ok()
                .filter(|width| (1..=20).contains(width))
                .ok_or_else(|| format!("file {text:?}: {form:?} is no width"))?,
        };
        parts.push(NamePart::Hole(role, Number { width, is_hex }));
        rest = behind;
    }
    if !rest.is_empty() {
        parts.push(NamePart::Literal(rest.to_owned()));
    }
    Ok(parts)
}

fn fields(entries: &[FieldEntry]) -> Result<Vec<Field>, String> {
    entries
        .iter()
        .map(|entry| {
            field(entry, entries).map_err(|message| format!("field {:?}: {message}", entry.field))
        })
        .collect()
}

fn field(entry: &FieldEntry, entries: &[FieldEntry]) -> Result<Field, String> {
    let kind = match entry.r#type {
        TypeWord::U8 => FieldKind::Uint(1),
        TypeWord::U16 => FieldKind::Uint(2),
        TypeWord::U24 => FieldKind::Uint(3),
        TypeWord::U32 => FieldKind::Uint(4),
        TypeWord::U40 => FieldKind::Uint(5),
        TypeWord::U48 => FieldKind::Uint(6),
        TypeWord::U56 => FieldKind::Uint(7),
        TypeWord::U64 => FieldKind::Uint(8),
        TypeWord::Uvarint => FieldKind::Uvarint,
        TypeWord::Bytes => entry.size.map_or(FieldKind::Payload, FieldKind::Bytes),
    };
    if entry.size.is_some() && !matches!(kind, FieldKind::Bytes(_)) {
        return Err("only bytes have a size".to_owned());
    }
    let equals = match &entry.equals {
        None => None,
        Some(EqualsEntry::Number(number)) => Some(Pinned::Number(*number)),
        Some(EqualsEntry::Text(text)) if text == "name" => Some(Pinned::Name),
        Some(EqualsEntry::Text(text)) => {
            Some(Pinned::Bytes(hex(text).ok_or_else(|| {
                format!("{text:?} is neither \"name\" nor hex bytes")
            })?))
        }
    };
    let covers = match &entry.covers {
        None => Covers::Before,
        Some(CoversEntry::Side(side)) if side == "before" => Covers::Before,
        Some(CoversEntry::Side(side)) if side == "after" => Covers::After,
        Some(CoversEntry::Side(side)) => {
            return Err(format!(
                "covers {side:?} is neither \"before\" nor \"after\" nor a list of fields"
            ));
        }
        Some(CoversEntry::Fields(names)) => {
            let place = |name: &String| {
                entries
                    .iter()
                    .position(|entry| entry.field == *name)
                    .ok_or_else(|| format!("covers {name:?}, which is no field"))
            };
            Covers::Fields(names.iter().map(place).collect::<Result<_, _>>()?)
        }
    };
    Ok(Field {
        name: entry.field.clone(),
        kind,
        measures: entry.measures.map(|word| match word {
            MeasureWord::Payload => Measure::Payload,
            MeasureWord::Record => Measure::Record,
            MeasureWord::Rest => Measure::Rest,
        }),
        equals,
        algorithm: entry.algorithm.map(algorithm),
        covers,
        chain: entry.chain.map_or(Chain::None, |word| match word {
            ChainWord::Segment => Chain::Segment,
            ChainWord::Log => Chain::Log,
        }),
    })
}

fn algorithm(word: AlgorithmWord) -> Algorithm {
    match word {
        AlgorithmWord::Crc32 => Algorithm::Crc32,
        AlgorithmWord::Crc32c => Algorithm::Crc32c,
        AlgorithmWord::Crc32cMasked => Algorithm::Crc32cMasked,
        AlgorithmWord::Adler32 => Algorithm::Adler32,
        AlgorithmWord::Xxh3 => Algorithm::Xxh3,
        AlgorithmWord::Siphash24 => Algorithm::Siphash24,
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digits = is_hex.then_some(text.as_bytes())?;
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

/// What a description needs so that records can be told apart.
fn sense(declaration: &Declaration) -> Result<(), String> {
    let is_number = |field: &Field| matches!(field.kind, FieldKind::Uint(_) | FieldKind::Uvarint);
    let count = |test: &dyn Fn(&Field) -> bool| {
        declaration
            .record
            .iter()
            .filter(|field| test(field))
            .count()
    };
    let place = |test: &dyn Fn(&Field) -> bool| declaration.record.iter().position(test);
    if !declaration.align.is_power_of_two() || declaration.align > 4096 {
        return Err("align has to be a power of two, 4096 at most".to_owned());
    }
    if count(&|field| field.name == "lsn" && is_number(field)) != 1 {
        return Err("a record needs one number called lsn".to_owned());
    }
    if declaration.step == Step::Count
        && count(&|field| field.name == "count" && is_number(field)) != 1
    {
        return Err("lsn-step \"count\" needs one number called count".to_owned());
    }
    let payload = place(&|field| field.kind == FieldKind::Payload);
    let length = place(&|field| field.measures.is_some());
    if count(&|field| field.kind == FieldKind::Payload) > 1
        || count(&|field| field.measures.is_some()) > 1
    {
        return Err("a record has one length, and one field of bytes without a size".to_owned());
    }
    if payload.is_some()
        && length.is_none_or(|length| payload.is_some_and(|payload| payload < length))
    {
        return Err("bytes without a size need a length in front of them".to_owned());
    }
    let behind = &declaration.record[payload.map_or(declaration.record.len(), |payload| payload)..];
    if behind.iter().any(|field| field.kind == FieldKind::Uvarint) {
        return Err("a uvarint cannot stand behind the payload".to_owned());
    }
    fixed_parts(declaration)
}

/// What has to have a size before anything is read.
fn fixed_parts(declaration: &Declaration) -> Result<(), String> {
    let is_open = |field: &Field| matches!(field.kind, FieldKind::Uvarint | FieldKind::Payload);
    if declaration.header.iter().any(is_open) {
        return Err("the fields of a header need a fixed size".to_owned());
    }
    let fields = || declaration.record.iter().chain(&declaration.header);
    if fields().any(|field| field.algorithm.is_some() && !matches!(field.kind, FieldKind::Uint(_)))
    {
        return Err("a checksum has to be a number of fixed size".to_owned());
    }
    let sizes = fields().map(|field| match field.kind {
        FieldKind::Bytes(size) => size,
        FieldKind::Uint(_) | FieldKind::Uvarint | FieldKind::Payload => 8,
    });
    if sizes.fold(0, usize::saturating_add) > FIXED_BYTES_MAX {
        return Err(format!(
            "the fields of fixed size have more than {FIXED_BYTES_MAX} bytes"
        ));
    }
    let is_ordering = |part: &NamePart| matches!(part, NamePart::Hole(Role::Lsn | Role::Seq, _));
    if !declaration.file.iter().any(is_ordering) {
        return Err(
            "file needs {lsn:...} or {seq:...}: nothing else orders the segments".to_owned(),
        );
    }
    Ok(())
}
