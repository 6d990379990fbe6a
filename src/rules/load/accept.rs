//! What a count takes of its signal: the values that its `where` accepts, and the fields that its `below` compares.

use toml::Spanned;

use super::origin::{LoadError, Origin};
use super::signal::field_index;
use crate::rules::schema::{OneOrMany, Pair};
use crate::signals::{FieldKind, Signal};

/// Checks that a field can have each of the values.
pub(super) fn check_accepted(
    signal: &Signal,
    field: usize,
    accepted: &Spanned<OneOrMany>,
    origin: Origin<'_>,
) -> Result<(), LoadError> {
    let Some(known) = signal.values_of(field) else {
        return Ok(());
    };
    let texts = accepted.get_ref().texts();
    let Some(wrong) = texts.iter().find(|text| !known.contains(&text.as_str())) else {
        return Ok(());
    };
    let name = &signal.fields[field].name;
    let message = format!("the field {name} of {} is never {wrong:?}", signal.id);
    let hint = format!("{name} is one of {}", known.join(", "));
    Err(origin.fault(accepted.span(), message, hint))
}

/// Two fields that are compared as numbers: neither may be of a kind that holds none, nor may they be one field.
pub(super) fn compared(
    signal: &Signal,
    Pair([low, high]): &Pair,
    origin: Origin<'_>,
) -> Result<(usize, usize), LoadError> {
    let fields = (
        field_index(signal, low, origin)?,
        field_index(signal, high, origin)?,
    );
    if fields.0 == fields.1 {
        let message = format!("no number is smaller than itself: {:?}", low.get_ref());
        return Err(origin.fault(high.span(), message, "name two fields"));
    }
    for (name, field) in [(low, fields.0), (high, fields.1)] {
        if !may_be_number(signal, field) {
            let message = format!(
                "the field {:?} of {} is no number",
                name.get_ref(),
                signal.id
            );
            let hint = "below compares fields that hold whole numbers, as of {NAME:int}";
            return Err(origin.fault(name.span(), message, hint));
        }
    }
    Ok(fields)
}

/// Whether values of a field can be whole numbers.
fn may_be_number(signal: &Signal, field: usize) -> bool {
    match signal.fields[field].kind {
        FieldKind::Text | FieldKind::Word | FieldKind::Int | FieldKind::Key => true,
        FieldKind::Node
        | FieldKind::Host
        | FieldKind::Part
        | FieldKind::Table
        | FieldKind::Uuid => false,
    }
}
