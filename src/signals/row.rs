//! What a signal asks of a table's row, and what it reads from it.

use super::{FIELDS_MAX, Span};
use crate::parsers::tables::cell;
use crate::record::offset_in;
use crate::search::Literal;

/// A row of a table whose cells fit.
#[derive(Debug)]
pub struct RowPattern {
    /// The table.
    pub table: String,
    /// Whether its rows are counters, whose stamps say when they last grew.
    pub is_counter: bool,
    /// Column and what its cell must be; all must hold.
    pub tests: Vec<(String, CellTest)>,
    /// Column and the field that its cell becomes.
    pub take: Vec<(String, usize)>,
}

/// What a cell must be. A cell that is missing, `NULL` or empty is the empty text.
#[derive(Debug)]
pub enum CellTest {
    /// One of these.
    Is(Vec<String>),
    /// None of these.
    IsNot(Vec<String>),
    /// A text that holds one of these.
    Contains(Vec<Literal>),
    /// A number of at least this.
    AtLeast(f64),
    /// A number of at most this.
    AtMost(f64),
}

impl CellTest {
    fn holds(&self, cell: &[u8]) -> bool {
        let is_among = |texts: &[String]| texts.iter().any(|text| text.as_bytes() == cell);
        match self {
            Self::Is(texts) => is_among(texts),
            Self::IsNot(texts) => !is_among(texts),
            Self::Contains(texts) => texts.iter().any(|text| text.is_in(cell)),
            Self::AtLeast(bound) => number(cell).is_some_and(|number| number >= *bound),
            Self::AtMost(bound) => number(cell).is_some_and(|number| number <= *bound),
        }
    }

    /// The test in words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Is(texts) => format!("is {}", texts.join(" or ")),
            Self::IsNot(texts) if texts.iter().all(String::is_empty) => "is not empty".to_owned(),
            Self::IsNot(texts) => format!("is not {}", texts.join(" or ")),
            Self::Contains(texts) => {
                let texts = texts
                    .iter()
                    .map(|text| String::from_utf8_lossy(text.text()));
                format!("holds {}", texts.collect::<Vec<_>>().join(" or "))
            }
            Self::AtLeast(bound) => format!("is at least {bound}"),
            Self::AtMost(bound) => format!("is at most {bound}"),
        }
    }
}

fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell).ok()?.parse().ok()
}

impl RowPattern {
    /// The first test that a row's cells fail, by its place.
    pub(super) fn failed(&self, message: &[u8]) -> Option<usize> {
        let fails = |(column, test): &(String, CellTest)| !test.holds(cell(message, column));
        self.tests.iter().position(fails)
    }

    /// What is read from a row whose cells fit, as spans of the message.
    pub(super) fn fields(&self, message: &[u8]) -> Option<[Span; FIELDS_MAX]> {
        if self.failed(message).is_some() {
            return None;
        }
        let mut fields = [Span::default(); FIELDS_MAX];
        for (column, field) in &self.take {
            let cell = cell(message, column);
            let start = offset_in(message, cell);
            fields[*field] = Span::new(start, start + cell.len());
        }
        Some(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_tested_and_read_by_name() {
        let row = b"database=shop\tnum_tries=17\tlast_exception=Code: 234. a=b";
        let pattern = |tests| RowPattern {
            is_counter: false,
            table: "replication_queue".to_owned(),
            tests,
            take: vec![("last_exception".to_owned(), 1), ("absent".to_owned(), 2)],
        };
        let tries = |test| ("num_tries".to_owned(), test);
        let fits = |test| pattern(vec![tries(test)]).fields(row).is_some();
        assert!(fits(CellTest::AtLeast(17.0)) && !fits(CellTest::AtLeast(18.0)));
        assert!(fits(CellTest::AtMost(17.0)) && !fits(CellTest::AtMost(16.0)));
        assert!(fits(CellTest::Is(vec!["17".into()])) && !fits(CellTest::Is(vec!["1".into()])));
        assert!(!fits(CellTest::IsNot(vec!["17".into()])));
        assert!(fits(CellTest::Contains(vec![Literal::new("7")])));
        // What is not there is empty, and no number.
        let absent = |test| ("absent".to_owned(), test);
        let is_empty = pattern(vec![absent(CellTest::Is(vec![String::new()]))]);
        assert!(is_empty.fields(row).is_some());
        assert!(
            pattern(vec![absent(CellTest::AtMost(9.0))])
                .fields(row)
                .is_none()
        );
        let fields = pattern(Vec::new()).fields(row).unwrap();
        assert_eq!(fields[1].of(row), b"Code: 234. a=b");
        assert!(fields[2].is_empty());
    }
}
