//! Reading and compiling `rules.toml`: every name is checked, and every fault names file, line, column and a remedy.

mod accept;
mod arrival;
mod awaited;
mod bounds;
mod cause;
mod clock;
mod distinct;
mod format;
mod ignore;
mod origin;
mod pieces;
mod plain;
mod refer;
mod row;
mod rule;
mod scope;
mod signal;
mod stall;
mod title;

use super::places::{Lines, Places};
use super::schema::{AwaitedDecl, ClockDecl, CodeDecl, FailureDecl, File, IgnoreDecl, StepDecl};
use super::{Environment, IgnoreRule, RuleBase};
use crate::parsers::Format;
use crate::scan::{Families, Family};
use crate::search::Literal;
use crate::signals::tally::Uses;
use crate::signals::{Signal, SignalSet};
use awaited::compile_awaited;
use clock::compile_clocks;
use distinct::check_distinct;
use format::compile_formats;
use ignore::compile_ignore;
pub use origin::LoadError;
use origin::{Origin, check_id};
use pieces::pieces;
use plain::misread;
use rule::{Counters, compile_balance, compile_rule, compile_strip, keep_moments};
use signal::{compile_context, compile_signal, field_index, signal_index};

/// The rule base that is shipped.
pub static BUILT_IN: &str = include_str!("../../../rules.toml");

/// Compiles the built-in base and the files given with `--rules`, each as name and text. A declaration of a later file
/// replaces one with the same id of an earlier file; within a file an id stands once.
pub fn load(extra: &[(String, String)]) -> Result<RuleBase, LoadError> {
    compile(std::iter::once(("rules.toml (built in)", BUILT_IN)).chain(named(extra)))
}

/// Compiles the files given and nothing else: what a base costs is measured on bases of any size.
pub fn load_alone(files: &[(String, String)]) -> Result<RuleBase, LoadError> {
    compile(named(files))
}

fn named(files: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
}

fn compile<'t>(files: impl Iterator<Item = (&'t str, &'t str)>) -> Result<RuleBase, LoadError> {
    let mut loader = Loader::default();
    let mut places = Places::default();
    for (name, whole) in files {
        let mut lines_before = 0;
        for text in pieces(whole) {
            let lines = Lines::new(name, lines_before, text);
            loader.take(Origin {
                name,
                text,
                lines_before,
                is_built_in: std::ptr::eq(whole, BUILT_IN),
                number: places.pieces.len(),
            })?;
            lines_before += lines.count();
            places.pieces.push(lines);
        }
    }
    let numbers = |origins: &[Origin<'_>]| origins.iter().map(|it| it.number).collect();
    places.signals = numbers(&loader.signal_origins);
    places.rules = numbers(&loader.rule_origins);
    loader.compile(places)
}

/// Declarations with the file they come from.
#[derive(Default)]
struct Loader<'t> {
    file: File,
    format_origins: Vec<Origin<'t>>,
    signal_origins: Vec<Origin<'t>>,
    rule_origins: Vec<Origin<'t>>,
    balance_origins: Vec<Origin<'t>>,
    strip_origins: Vec<Origin<'t>>,
    clock_origins: Vec<Origin<'t>>,
    awaited_origins: Vec<Origin<'t>>,
    step_origins: Vec<Origin<'t>>,
    ignore_origins: Vec<Origin<'t>>,
    environment_origin: Option<Origin<'t>>,
}

impl<'t> Loader<'t> {
    fn take(&mut self, origin: Origin<'t>) -> Result<(), LoadError> {
        let read: File = toml::from_str(origin.text).map_err(|error| {
            misread(origin, error.span().unwrap_or(0..0), error.message().trim())
        })?;
        check_distinct(&read, origin)?;
        for code in read.code {
            let is_other = |known: &CodeDecl| known.code.get_ref() != code.code.get_ref();
            self.file.code.retain(is_other);
            self.file.code.push(code);
        }
        for format in read.format {
            put(
                &mut self.file.format,
                &mut self.format_origins,
                format,
                origin,
                |f| f.name.get_ref(),
            );
        }
        for signal in read.signal {
            check_id(origin, &signal.id)?;
            put(
                &mut self.file.signal,
                &mut self.signal_origins,
                signal,
                origin,
                |s| s.id.get_ref(),
            );
        }
        for rule in read.rule {
            check_id(origin, &rule.id)?;
            put(
                &mut self.file.rule,
                &mut self.rule_origins,
                rule,
                origin,
                |r| r.id.get_ref(),
            );
        }
        for balance in read.balance {
            put(
                &mut self.file.balance,
                &mut self.balance_origins,
                balance,
                origin,
                |b| b.name.get_ref(),
            );
        }
        for strip in read.strip {
            put(
                &mut self.file.strip,
                &mut self.strip_origins,
                strip,
                origin,
                |s| s.name.get_ref(),
            );
        }
        self.take_clocks(read.clock, origin);
        self.take_awaited(read.awaited, origin);
        for failure in read.failure {
            check_id(origin, &failure.id)?;
            let is_other = |known: &FailureDecl| known.id.get_ref() != failure.id.get_ref();
            self.file.failure.retain(is_other);
            self.file.failure.push(failure);
        }
        if read.environment.is_some() {
            self.file.environment = read.environment;
            self.environment_origin = Some(origin);
        }
        self.take_steps(read.step, read.ignore, origin)
    }

    fn take_steps(
        &mut self,
        steps: Vec<StepDecl>,
        ignored: Vec<IgnoreDecl>,
        origin: Origin<'t>,
    ) -> Result<(), LoadError> {
        for step in steps {
            check_id(origin, &step.id)?;
            let (list, origins) = (&mut self.file.step, &mut self.step_origins);
            put(list, origins, step, origin, |it| it.id.get_ref());
        }
        for entry in ignored {
            check_id(origin, &entry.id)?;
            let (list, origins) = (&mut self.file.ignore, &mut self.ignore_origins);
            put(list, origins, entry, origin, |it| it.id.get_ref());
        }
        Ok(())
    }

    fn take_awaited(&mut self, all: Vec<AwaitedDecl>, origin: Origin<'t>) {
        for awaited in all {
            let (list, origins) = (&mut self.file.awaited, &mut self.awaited_origins);
            put(list, origins, awaited, origin, |it| it.name.get_ref());
        }
    }

    fn take_clocks(&mut self, clocks: Vec<ClockDecl>, origin: Origin<'t>) {
        for clock in clocks {
            put(
                &mut self.file.clock,
                &mut self.clock_origins,
                clock,
                origin,
                |c| c.what.get_ref(),
            );
        }
    }

    fn compile(self, places: Places) -> Result<RuleBase, LoadError> {
        let formats = compile_formats(self.file.format.iter().zip(&self.format_origins))?;
        let signals = self.signals(&formats)?;
        let mut counters = Counters {
            signals: &signals,
            list: Vec::new(),
            wal: Vec::new(),
            stalls: Vec::new(),
            arrivals: Vec::new(),
        };
        let mut rules = Vec::new();
        for (at, (declared, origin)) in self.file.rule.iter().zip(&self.rule_origins).enumerate() {
            rules.push(compile_rule(
                at,
                declared,
                *origin,
                &mut counters,
                &self.file,
            )?);
        }
        keep_moments(&self.file.rule, &rules, &mut counters);
        let mut balances = Vec::new();
        let declared = self.file.balance.iter().zip(&self.balance_origins);
        for (at, (declared, origin)) in declared.enumerate() {
            balances.push(compile_balance(at, declared, *origin, &mut counters)?);
        }
        let mut strips = Vec::new();
        let declared = self.file.strip.iter().zip(&self.strip_origins);
        for (at, (declared, origin)) in declared.enumerate() {
            strips.push(compile_strip(at, declared, *origin, &mut counters)?);
        }
        let (counters, wal_counts, stalls, arrivals) = (
            counters.list,
            counters.wal,
            counters.stalls,
            counters.arrivals,
        );
        let clocks = self.file.clock.iter().zip(&self.clock_origins);
        let (paired, clocks) = compile_clocks(clocks, &signals)?;
        let awaited = self.file.awaited.iter().zip(&self.awaited_origins);
        let awaited = compile_awaited(awaited, &signals)?;
        let uses = Uses::of_all(&signals, &counters, &stalls, &paired, &awaited, &arrivals);
        let environment = self.environment(&signals)?;
        let (ignores, ignored_texts) = self.ignores()?;
        Ok(RuleBase {
            families: self.families(),
            code_names: self
                .file
                .code
                .iter()
                .map(|code| (*code.code.get_ref(), code.name.clone()))
                .collect(),
            formats,
            signals: SignalSet::new(signals),
            counters,
            uses,
            wal_counts,
            stalls,
            paired,
            awaited,
            arrivals,
            clocks,
            rules,
            balances,
            strips,
            ignores,
            ignored_texts,
            environment,
            places,
            declared: self.file,
        })
    }

    fn families(&self) -> Families {
        let families = self.file.code.iter().flat_map(|code| {
            code.families.iter().map(|family| Family {
                code: *code.code.get_ref(),
                id: family.id.clone(),
                contains: family.contains.iter().map(Literal::new).collect(),
            })
        });
        Families::new(families.collect())
    }

    /// What is left out, and the texts of it.
    fn ignores(&self) -> Result<(Vec<IgnoreRule>, Vec<Literal>), LoadError> {
        let (mut ignores, mut texts) = (Vec::new(), Vec::new());
        let declared = self.file.ignore.iter().zip(&self.ignore_origins);
        for (at, (declared, origin)) in declared.enumerate() {
            let ignore = compile_ignore(at, declared, *origin, &self.file.rule, &mut texts)?;
            ignores.push(ignore);
        }
        Ok((ignores, texts))
    }

    /// All signals, then their contexts, which name other signals.
    fn signals(&self, formats: &[Format]) -> Result<Vec<Signal>, LoadError> {
        let declared = || self.file.signal.iter().zip(&self.signal_origins);
        let mut signals = Vec::new();
        for (declared, origin) in declared() {
            signals.push(compile_signal(declared, *origin, formats)?);
        }
        for (at, (declared, origin)) in declared().enumerate() {
            let context = compile_context(declared, *origin, &signals, at)?;
            signals[at].context = context;
        }
        Ok(signals)
    }

    fn environment(&self, signals: &[Signal]) -> Result<Environment, LoadError> {
        let (Some(declared), Some(origin)) = (&self.file.environment, self.environment_origin)
        else {
            return Ok(Environment::default());
        };
        let start = signal_index(signals, &declared.start, origin)?;
        let zone = signal_index(signals, &declared.zone, origin)?;
        let field = |signal: u16, name: &toml::Spanned<String>| {
            field_index(&signals[usize::from(signal)], name, origin)
        };
        let started = |signal: u16| -> Result<(u16, usize, usize), LoadError> {
            let (version, build) = (&declared.version, &declared.build);
            Ok((signal, field(signal, version)?, field(signal, build)?))
        };
        let keeper = declared.keeper.as_ref();
        let keeper = keeper.map(|id| started(signal_index(signals, id, origin)?));
        Ok(Environment {
            start: Some(started(start)?),
            zone: Some((zone, field(zone, &declared.zone_field)?)),
            keeper: keeper.transpose()?,
        })
    }
}

/// Adds a declaration, or puts it in the place of the one with the same id.
fn put<'t, T>(
    list: &mut Vec<T>,
    origins: &mut Vec<Origin<'t>>,
    item: T,
    origin: Origin<'t>,
    id: impl Fn(&T) -> &String,
) {
    if let Some(at) = list.iter().position(|known| id(known) == id(&item)) {
        list[at] = item;
        origins[at] = origin;
    } else {
        list.push(item);
        origins.push(origin);
    }
}
