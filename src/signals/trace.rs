//! Why a record is a signal, or is not: each check in the order in which it is made.

use super::{At, Literal, LoggerPattern, RowPattern, Signal, Span, Subject, Template};
use crate::parsers::Format;
use crate::parsers::tables::cell;
use crate::signals::FIELDS_MAX;
use crate::vocab::Level;

/// One check of a record against a signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Whether it passed.
    pub passed: bool,
    /// What was asked, and what the record says.
    pub text: String,
}

/// The checks of a row's cells, up to the first that fails.
fn row_checks(row: &RowPattern, message: &[u8]) -> Vec<Check> {
    let failed = row.failed(message);
    let made = failed.map_or(row.tests.len(), |at| at + 1);
    let tests = row.tests.iter().take(made).enumerate();
    tests
        .map(|(at, (column, test))| {
            let cell = String::from_utf8_lossy(cell(message, column));
            Check {
                passed: failed != Some(at),
                text: format!("{column} {}: the row's is {cell:?}", test.words()),
            }
        })
        .collect()
}

impl Signal {
    /// All checks of a record of a format, up to the first that decides against it.
    pub fn trace(&self, format: Format, subject: Subject<'_, '_>) -> Vec<Check> {
        let mut checks = Vec::new();
        let outer = [
            self.check_level(subject),
            self.check_logger(subject),
            self.check_code(subject),
        ];
        for check in outer.into_iter().flatten() {
            let passed = check.passed;
            checks.push(check);
            if !passed {
                return checks;
            }
        }
        if let Some(row) = &self.row {
            checks.extend(row_checks(row, subject.record.message));
        }
        if self.templates.is_empty() {
            return checks;
        }
        let servers = subject.servers(format);
        let subject = match &servers {
            None => subject,
            Some(record) => Subject {
                record,
                whole: record.message,
                ..subject
            },
        };
        checks.push(self.check_text(format, subject));
        let ruled_out = |text: &&Literal| text.is_in(self.searched(subject));
        if let Some(text) = self.unless.iter().find(ruled_out) {
            checks.push(Check {
                passed: false,
                text: format!(
                    "the line holds {:?}, which rules the signal out",
                    String::from_utf8_lossy(text.text())
                ),
            });
        }
        checks
    }

    fn check_level(&self, subject: Subject<'_, '_>) -> Option<Check> {
        let level = subject.record.level;
        let wanted: Vec<String> = Level::ALL
            .into_iter()
            .filter(|level| self.admits(*level))
            .map(|level| format!("{level:?}"))
            .collect();
        let any = wanted.len() == Level::ALL.len();
        let text = format!(
            "level is {}: the record's is {level:?}",
            wanted.join(" or ")
        );
        (!any).then(|| Check {
            passed: self.admits(level),
            text,
        })
    }

    fn check_logger(&self, subject: Subject<'_, '_>) -> Option<Check> {
        let logger = String::from_utf8_lossy(subject.record.logger);
        let list = |patterns: &[LoggerPattern]| {
            patterns
                .iter()
                .map(|pattern| pattern.source.as_str())
                .collect::<Vec<_>>()
                .join(" or ")
        };
        let wanted = match (self.loggers.is_empty(), self.not_loggers.is_empty()) {
            (true, true) => return None,
            (true, false) => format!("anything but {}", list(&self.not_loggers)),
            (false, _) => list(&self.loggers),
        };
        let passed = self.comes_from(subject.record.logger);
        Some(Check {
            passed,
            text: format!("logger is {wanted}: the record's is {logger:?}"),
        })
    }

    fn check_code(&self, subject: Subject<'_, '_>) -> Option<Check> {
        let needs_exception = self.at == At::Exception || !self.codes.is_empty();
        if !needs_exception {
            return None;
        }
        let codes: Vec<String> = self.codes.iter().map(u32::to_string).collect();
        let wanted = if codes.is_empty() {
            "any".to_owned()
        } else {
            codes.join(" or ")
        };
        let (passed, found) = match subject.exception {
            Some(exception) => {
                let fits = self.codes.is_empty() || self.codes.contains(&exception.code);
                (fits, format!("the record's is {}", exception.code))
            }
            None => (
                false,
                "the record is no exception, or only quotes one".to_owned(),
            ),
        };
        Some(Check {
            passed,
            text: format!("code is {wanted}: {found}"),
        })
    }

    fn check_text(&self, format: Format, subject: Subject<'_, '_>) -> Check {
        let text = self.searched(subject);
        let start = match (self.at, subject.exception) {
            (At::Exception, Some(exception)) => exception.text_at,
            (At::Start | At::Anywhere | At::Exception, _) => 0,
        };
        let templates = || self.templates.iter().filter(|it| it.is_of(format));
        for template in templates() {
            let mut fields = [Span::default(); FIELDS_MAX];
            let fits = match self.at {
                At::Anywhere => template.match_anywhere(text, start, &mut fields),
                At::Start | At::Exception => template.match_at(text, start, &mut fields),
            };
            if fits {
                return Check {
                    passed: true,
                    text: self.captured(template, text, &fields),
                };
            }
        }
        let missed = templates().map(|template| template.first_missing(text, start));
        // The wording that goes furthest is the one that was meant.
        let furthest = missed.max_by_key(|(matched, _)| *matched);
        let (_, missing) = furthest.unwrap_or_default();
        let place = match self.at {
            At::Start => " from its first byte on",
            At::Exception => " from the exception's text on",
            At::Anywhere => "",
        };
        Check {
            passed: false,
            text: format!("the message fits a wording{place}: {missing:?} is not where it must be"),
        }
    }

    fn captured(&self, template: &Template, text: &[u8], fields: &[Span]) -> String {
        let values = self
            .fields
            .iter()
            .zip(fields)
            .filter(|(_, span)| !span.is_empty());
        let values: Vec<String> = values
            .map(|(field, span)| {
                format!(
                    "{}={:?}",
                    field.name,
                    String::from_utf8_lossy(span.of(text))
                )
            })
            .collect();
        let read = if values.is_empty() {
            String::new()
        } else {
            format!(", with {}", values.join(", "))
        };
        format!("the message fits {:?}{read}", template.source())
    }
}
