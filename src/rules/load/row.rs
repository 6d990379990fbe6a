//! Signals that are rows of a table, compiled.

use toml::Spanned;

use super::origin::{LoadError, Origin};
use super::signal::{field_of, nearest};
use crate::parsers::tables::{Rows, TABLES, known};
use crate::rules::schema::{CellDecl, SignalDecl};
use crate::search::Literal;
use crate::signals::{CellTest, Field, FieldKind, RowPattern};

/// What a signal asks of a row; nothing if it is no row.
pub(super) fn compile_row(
    declared: &SignalDecl,
    origin: Origin<'_>,
    fields: &mut Vec<Field>,
) -> Result<Option<RowPattern>, LoadError> {
    let Some(table) = &declared.table else {
        if declared.cells.is_empty() && declared.columns.is_empty() {
            return Ok(None);
        }
        let message = format!(
            "the signal {} has cells and no table",
            declared.id.get_ref()
        );
        return Err(origin.fault(declared.id.span(), message, "say whose rows it is: table"));
    };
    let is_of_a_log = declared.format.is_some()
        || !declared.formats.is_empty()
        || declared.at.is_some()
        || declared.context.is_some()
        || declared.deep
        || !declared.each.is_empty()
        || !(declared.levels.is_empty()
            && declared.loggers.is_empty()
            && declared.not_loggers.is_empty()
            && declared.codes.is_empty()
            && declared.wordings().next().is_none()
            && declared.unless.is_empty());
    if is_of_a_log {
        let message = format!("the signal {} is a row and a record", declared.id.get_ref());
        let hint = "a row of a table has where and columns, and nothing that a record of a log has";
        return Err(origin.fault(declared.id.span(), message, hint));
    }
    let Some(known) = known(table.get_ref()) else {
        let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        let message = format!("unknown table {:?}", table.get_ref());
        return Err(origin.fault(table.span(), message, nearest(table.get_ref(), &names)));
    };
    let mut tests = Vec::new();
    for (column, cell) in &declared.cells {
        tests.extend(
            cell_tests(cell)
                .into_iter()
                .map(|test| (column.clone(), test)),
        );
    }
    let mut take = Vec::new();
    for (field, column) in &declared.columns {
        let (column, kind) = column_of(column, origin)?;
        take.push((column, field_of(fields, field, kind)));
    }
    Ok(Some(RowPattern {
        table: table.get_ref().clone(),
        is_counter: matches!(known.rows, Rows::Counters { .. }),
        tests,
        take,
    }))
}

fn cell_tests(declared: &CellDecl) -> Vec<CellTest> {
    let bounds = match declared {
        CellDecl::Is(given) => return vec![CellTest::Is(given.texts().to_vec())],
        CellDecl::Bounds(bounds) => bounds,
    };
    let mut tests = Vec::new();
    tests.extend(bounds.at_least.map(CellTest::AtLeast));
    tests.extend(bounds.at_most.map(CellTest::AtMost));
    tests.extend(
        bounds
            .not
            .as_ref()
            .map(|not| CellTest::IsNot(not.texts().to_vec())),
    );
    tests.extend(
        bounds
            .contains
            .as_ref()
            .map(|given| CellTest::Contains(given.texts().iter().map(Literal::new).collect())),
    );
    tests
}

/// `column` or `column:kind`.
fn column_of(
    column: &Spanned<String>,
    origin: Origin<'_>,
) -> Result<(String, FieldKind), LoadError> {
    let Some((name, kind)) = column.get_ref().split_once(':') else {
        return Ok((column.get_ref().clone(), FieldKind::Text));
    };
    let found = FieldKind::from_name(kind).ok_or_else(|| {
        let message = format!("unknown kind {kind:?}");
        let hint = format!("expected one of {}", FieldKind::names());
        origin.fault(column.span(), message, hint)
    });
    Ok((name.to_owned(), found?))
}
