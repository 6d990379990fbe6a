//! Signals compiled: templates, fields, derived fields, contexts.

use regex::bytes::Regex;
use toml::Spanned;

use super::format::{named, names};
use super::origin::{LoadError, Origin, duration};
use super::row::compile_row;
use crate::parsers::Format;
use crate::rules::schema::{DerivedDecl, DialectDecl, SignalDecl};
use crate::search::Literal;
use crate::signals::{
    At, Class, Context, Derived, Direction, FIELDS_MAX, Field, FieldKind, LoggerPattern, Pattern,
    Signal, TallyKind, Template,
};
use crate::vocab::Level;

pub(super) fn compile_signal(
    declared: &SignalDecl,
    origin: Origin<'_>,
    known: &[Format],
) -> Result<Signal, LoadError> {
    let mut fields: Vec<Field> = Vec::new();
    let mut templates = compile_templates(&declared.templates, &[], origin, &mut fields)?;
    let mut spoken = Vec::new();
    for dialect in &declared.dialects {
        let formats = dialect_formats(dialect, origin, known)?;
        templates.extend(compile_templates(
            dialect.templates.get_ref(),
            &formats,
            origin,
            &mut fields,
        )?);
        spoken.extend(formats);
    }
    let row = compile_row(declared, origin, &mut fields)?;
    let mut derived = Vec::new();
    for one in &declared.derived {
        derived.push(compile_derived(
            one,
            declared.id.get_ref(),
            origin,
            &mut fields,
        )?);
    }
    let each = compile_each(declared, origin, &fields)?;
    if let Some(context) = &declared.context {
        for name in context.take.values() {
            field_of(&mut fields, name, FieldKind::Text);
        }
    }
    choose_tallies(declared, origin, &mut fields)?;
    let positions = positions(declared, &fields, origin)?;
    if fields.len() > FIELDS_MAX {
        let message = format!(
            "the signal has {} fields, more than {FIELDS_MAX}",
            fields.len()
        );
        let hint = "leave holes that nothing reads without a name: {:text}";
        return Err(origin.fault(declared.id.span(), message, hint));
    }
    let patterns = |names: &[String]| names.iter().map(|name| LoggerPattern::new(name)).collect();
    // A row's source is its table.
    let mut loggers: Vec<LoggerPattern> = patterns(&declared.loggers);
    loggers.extend(row.iter().map(|row| LoggerPattern::new(&row.table)));
    Ok(Signal {
        id: declared.id.get_ref().clone(),
        what: declared.what.clone(),
        formats: if row.is_some() {
            vec![Format::TABLE]
        } else {
            formats(declared, spoken, origin, known)?
        },
        row,
        levels: levels(&declared.levels),
        loggers,
        not_loggers: patterns(&declared.not_loggers),
        codes: declared.codes.clone(),
        at: declared.at.unwrap_or(At::Anywhere),
        templates,
        deep: declared.deep,
        unless: declared.unless.iter().map(Literal::new).collect(),
        fields,
        each,
        derived,
        context: None,
        benign: declared.benign,
        keeper: declared.keeper,
        positions,
        mark: declared.mark,
    })
}

/// What takes each value of the fields of which a record may hold several.
fn compile_each(
    declared: &SignalDecl,
    origin: Origin<'_>,
    fields: &[Field],
) -> Result<Vec<(usize, Pattern)>, LoadError> {
    let mut each = Vec::new();
    for (name, source) in &declared.each {
        let found = fields
            .iter()
            .position(|field| field.name == *name.get_ref());
        let unknown = || unknown_field(origin, name, fields, declared.id.get_ref());
        let field = found.ok_or_else(unknown)?;
        let pattern = compile_pattern(source, origin)?;
        let groups = || pattern.check().map_or(2, Regex::captures_len);
        if !origin.is_built_in && groups() != 2 {
            let message = "this regular expression has not one group";
            let hint =
                "put what is the value into one pair of parentheses, and write (?:...) elsewhere";
            return Err(origin.fault(source.span(), message, hint));
        }
        each.push((field, pattern));
    }
    Ok(each)
}

/// A regular expression. Those that are shipped are checked by a test.
fn compile_pattern(source: &Spanned<String>, origin: Origin<'_>) -> Result<Pattern, LoadError> {
    let pattern = Pattern::new(source.get_ref());
    if !origin.is_built_in
        && let Err(error) = pattern.check()
    {
        let message = format!("this regular expression cannot be used: {error}");
        return Err(origin.fault(source.span(), message, ""));
    }
    Ok(pattern)
}

/// Says of each field how its values are counted.
fn choose_tallies(
    declared: &SignalDecl,
    origin: Origin<'_>,
    fields: &mut [Field],
) -> Result<(), LoadError> {
    let chosen = [
        (&declared.by, TallyKind::By),
        (&declared.top, TallyKind::Top),
    ];
    for (names, tally) in chosen {
        for name in names {
            let found = fields
                .iter()
                .position(|field| field.name == *name.get_ref());
            let unknown = || unknown_field(origin, name, fields, declared.id.get_ref());
            let at = found.ok_or_else(unknown)?;
            fields[at].tally = tally;
        }
    }
    Ok(())
}

/// The fields that hold positions.
fn positions(
    declared: &SignalDecl,
    fields: &[Field],
    origin: Origin<'_>,
) -> Result<Vec<usize>, LoadError> {
    let place = |name: &Spanned<String>| {
        let found = fields
            .iter()
            .position(|field| field.name == *name.get_ref());
        found.ok_or_else(|| unknown_field(origin, name, fields, declared.id.get_ref()))
    };
    declared.positions.iter().map(place).collect()
}

/// What a signal's message says, in the records of some of its formats; of all where none is named.
fn compile_templates(
    sources: &[Spanned<String>],
    formats: &[Format],
    origin: Origin<'_>,
    fields: &mut Vec<Field>,
) -> Result<Vec<Template>, LoadError> {
    let compile = |source: &Spanned<String>| {
        let field = |name: &str, kind| field_of(fields, name, kind);
        Template::compile(source.get_ref(), field)
            .map(|template| template.only_in(formats))
            .map_err(|error| origin.fault(source.span(), error.to_string(), ""))
    };
    sources.iter().map(compile).collect()
}

/// The formats of a signal's records, `spoken` those of its dialects.
fn formats(
    declared: &SignalDecl,
    spoken: Vec<Format>,
    origin: Origin<'_>,
    known: &[Format],
) -> Result<Vec<Format>, LoadError> {
    let named = declared.format.iter().chain(&declared.formats);
    let mut formats = compile_formats(named, origin, known)?;
    for format in spoken {
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    if formats.is_empty() {
        formats.push(Format::CLICKHOUSE);
    }
    Ok(formats)
}

/// The formats of a dialect: without any, its words would stand for the records of every format.
fn dialect_formats(
    declared: &DialectDecl,
    origin: Origin<'_>,
    known: &[Format],
) -> Result<Vec<Format>, LoadError> {
    for (list, what, hint) in [
        (
            &declared.formats,
            "formats",
            "name the formats in which it is spoken",
        ),
        (
            &declared.templates,
            "templates",
            "say what the message says in these formats",
        ),
    ] {
        if list.get_ref().is_empty() {
            let message = format!("the dialect has no {what}");
            return Err(origin.fault(list.span(), message, hint));
        }
    }
    compile_formats(declared.formats.get_ref(), origin, known)
}

/// The formats that are named, each once.
fn compile_formats<'d>(
    names_given: impl IntoIterator<Item = &'d Spanned<String>>,
    origin: Origin<'_>,
    known: &[Format],
) -> Result<Vec<Format>, LoadError> {
    let mut formats = Vec::new();
    for name in names_given {
        let format = named(name.get_ref(), known).ok_or_else(|| {
            let message = format!("unknown format {:?}", name.get_ref());
            origin.fault(
                name.span(),
                message,
                format!("expected one of {}", names(known)),
            )
        })?;
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    Ok(formats)
}

/// Levels as a bit set; all where none is given.
fn levels(given: &[Level]) -> u16 {
    let of = |levels: &[Level]| {
        levels
            .iter()
            .fold(0, |bits, level| bits | (1 << level.index()))
    };
    if given.is_empty() {
        of(&Level::ALL)
    } else {
        of(given)
    }
}

fn compile_derived(
    declared: &DerivedDecl,
    signal: &str,
    origin: Origin<'_>,
    fields: &mut Vec<Field>,
) -> Result<Derived, LoadError> {
    let from = fields
        .iter()
        .position(|field| field.name == *declared.from.get_ref());
    let from = from.ok_or_else(|| unknown_field(origin, &declared.from, fields, signal))?;
    let mut classes = Vec::new();
    for (value, source) in &declared.classes {
        classes.push(Class {
            value: value.clone(),
            pattern: compile_pattern(source, origin)?,
        });
    }
    let otherwise = declared.otherwise.as_deref().unwrap_or("other").to_owned();
    let field = field_of(fields, &declared.field, FieldKind::Word);
    Ok(Derived {
        from,
        field,
        classes,
        otherwise,
    })
}

/// The index of a field, added if it is new.
pub(super) fn field_of(fields: &mut Vec<Field>, name: &str, kind: FieldKind) -> usize {
    if let Some(at) = fields.iter().position(|field| field.name == name) {
        return at;
    }
    fields.push(Field {
        name: name.to_owned(),
        kind,
        // A server named by a record is a peer: every one is counted.
        tally: if kind == FieldKind::Node {
            TallyKind::By
        } else {
            TallyKind::Not
        },
    });
    fields.len() - 1
}

fn unknown_field(
    origin: Origin<'_>,
    name: &Spanned<String>,
    fields: &[Field],
    signal: &str,
) -> LoadError {
    let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let hint = if known.is_empty() {
        "it has no fields".to_owned()
    } else {
        format!("its fields are {}", known.join(", "))
    };
    origin.fault(
        name.span(),
        format!("the signal {signal} has no field {:?}", name.get_ref()),
        hint,
    )
}

pub(super) fn field_index(
    signal: &Signal,
    name: &Spanned<String>,
    origin: Origin<'_>,
) -> Result<usize, LoadError> {
    signal
        .field(name.get_ref())
        .ok_or_else(|| unknown_field(origin, name, &signal.fields, &signal.id))
}

pub(super) fn signal_index(
    signals: &[Signal],
    name: &Spanned<String>,
    origin: Origin<'_>,
) -> Result<u16, LoadError> {
    let at = signals
        .iter()
        .position(|signal| signal.id == *name.get_ref())
        .and_then(|at| u16::try_from(at).ok());
    at.ok_or_else(|| {
        let ids: Vec<&str> = signals.iter().map(|signal| signal.id.as_str()).collect();
        origin.fault(
            name.span(),
            format!("there is no signal {:?}", name.get_ref()),
            nearest(name.get_ref(), &ids),
        )
    })
}

/// A hint with the names that begin alike, or all of them.
pub(super) fn nearest(name: &str, known: &[&str]) -> String {
    let head: String = name.chars().take(3).collect();
    let alike: Vec<&str> = known
        .iter()
        .copied()
        .filter(|id| id.starts_with(&head))
        .collect();
    let listed = if alike.is_empty() { known } else { &alike };
    format!("expected one of {}", listed.join(", "))
}

/// The context of the signal at `at`, which names another one of `signals`.
pub(super) fn compile_context(
    declared: &SignalDecl,
    origin: Origin<'_>,
    signals: &[Signal],
    at: usize,
) -> Result<Option<Context>, LoadError> {
    let Some(context) = &declared.context else {
        return Ok(None);
    };
    let other = usize::from(signal_index(signals, &context.signal, origin)?);
    let mut take = Vec::new();
    for (from, to) in &context.take {
        let from = field_index(&signals[other], from, origin)?;
        take.push((from, signals[at].field(to).unwrap_or_default()));
    }
    let span = duration(origin, &context.within)?;
    let ends = context.ends.iter();
    let ends = ends.map(|name| signal_index(signals, name, origin));
    let ends = ends.collect::<Result<Vec<u16>, LoadError>>()?;
    if let (Some(name), Direction::After) = (context.ends.first(), context.direction) {
        let message = "only what comes before a record can have ended before it";
        return Err(origin.fault(name.span(), message, "leave out ends, or take from before"));
    }
    Ok(Some(Context {
        signal: other,
        ends,
        direction: context.direction,
        span,
        take,
    }))
}
