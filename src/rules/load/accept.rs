//! The values that a count's `where` accepts: of a field with known values, they must be some of those.

use toml::Spanned;

use super::origin::{LoadError, Origin};
use crate::rules::schema::OneOrMany;
use crate::signals::Signal;

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
