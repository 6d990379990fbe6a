//! Within one file an id stands once: the second declaration would silently take the place of the first.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;

use super::origin::{LoadError, Origin};
use crate::rules::schema::File;

/// Checks that no declaration of a file has the id of another one of the same kind.
pub(super) fn check_distinct(file: &File, origin: Origin<'_>) -> Result<(), LoadError> {
    let codes = file.code.iter().map(|code| &code.code);
    once("code", codes, origin)?;
    let formats = file.format.iter().map(|format| &format.name);
    once("format", formats, origin)?;
    let signals = file.signal.iter().map(|signal| &signal.id);
    once("signal", signals, origin)?;
    let rules = file.rule.iter().map(|rule| &rule.id);
    once("rule", rules, origin)?;
    let balances = file.balance.iter().map(|balance| &balance.name);
    once("balance", balances, origin)?;
    let strips = file.strip.iter().map(|strip| &strip.name);
    once("strip", strips, origin)?;
    let clocks = file.clock.iter().map(|clock| &clock.what);
    once("clock", clocks, origin)?;
    let awaited = file.awaited.iter().map(|it| &it.name);
    once("awaited", awaited, origin)?;
    let failures = file.failure.iter().map(|failure| &failure.id);
    once("failure", failures, origin)?;
    let steps = file.step.iter().map(|step| &step.id);
    once("step", steps, origin)?;
    let ignores = file.ignore.iter().map(|entry| &entry.id);
    once("ignore", ignores, origin)
}

fn once<'f, T: Ord + std::fmt::Display + 'f>(
    kind: &str,
    ids: impl Iterator<Item = &'f Spanned<T>>,
    origin: Origin<'_>,
) -> Result<(), LoadError> {
    let mut first: BTreeMap<&T, Range<usize>> = BTreeMap::new();
    for id in ids {
        if let Some(before) = first.insert(id.get_ref(), id.span()) {
            let line = origin.line_of(&before);
            let message = format!(
                "{kind} {} stands in this file already, in line {line}",
                id.get_ref()
            );
            let hint = "give one of them another id, or remove it";
            return Err(origin.fault(id.span(), message, hint));
        }
    }
    Ok(())
}
