//! Why a record is a signal, or is not: each check in the order in which it is made.

use super::{At, LoggerPattern, RowPattern, Signal, Span, Subject, Template};
use crate::parsers::Format;
use crate::parsers::tables::cell;
use crate::search::Literal;
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

/// The part of a text up to its first colon, if that stands in what a head has before the message.
fn in_logger<'t>(text: &'t str, logger: &[u8]) -> Option<&'t str> {
    let head = text.split(": ").next().unwrap_or(text).trim();
    let stands = !head.is_empty() && memchr::memmem::find(logger, head.as_bytes()).is_some();
    stands.then_some(head)
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

    /// The values of the fields of a record that is the signal, in their order, as far as the record itself has them.
    pub fn values(&self, format: Format, subject: Subject<'_, '_>) -> Option<Vec<String>> {
        let servers = subject.servers(format);
        let (text, spans) = match (&self.row, &servers) {
            (Some(row), _) => (subject.record.message, row.fields(subject.record.message)?),
            (None, _) if self.templates.is_empty() => (&b""[..], [Span::default(); FIELDS_MAX]),
            (None, Some(record)) => {
                let whole = record.message;
                let (_, spans) = self.fitting(
                    format,
                    Subject {
                        record,
                        whole,
                        ..subject
                    },
                )?;
                (whole, spans)
            }
            (None, None) => {
                let (_, spans) = self.fitting(format, subject)?;
                (self.searched(subject), spans)
            }
        };
        let spans = spans.iter().take(self.fields.len());
        let mut values: Vec<&[u8]> = spans.map(|span| span.of(text)).collect();
        self.derive(&mut values);
        let texts = values.into_iter().map(String::from_utf8_lossy);
        Some(texts.map(std::borrow::Cow::into_owned).collect())
    }

    /// The first wording that a record fits, with its fields as spans of what is searched.
    fn fitting(
        &self,
        format: Format,
        subject: Subject<'_, '_>,
    ) -> Option<(&Template, [Span; FIELDS_MAX])> {
        let text = self.searched(subject);
        let start = self.text_at(subject);
        let mut templates = self.templates.iter().filter(|it| it.is_of(format));
        templates.find_map(|template| {
            let mut fields = [Span::default(); FIELDS_MAX];
            let fits = match self.at {
                At::Anywhere => template.match_anywhere(text, start, &mut fields),
                At::Start | At::Exception => template.match_at(text, start, &mut fields),
            };
            fits.then_some((template, fields))
        })
    }

    /// Where in the message its wordings may begin.
    fn text_at(&self, subject: Subject<'_, '_>) -> usize {
        match (self.at, subject.exception) {
            (At::Exception, Some(exception)) => exception.text_at,
            (At::Start | At::Anywhere | At::Exception, _) => 0,
        }
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
        if let Some((template, fields)) = self.fitting(format, subject) {
            return Check {
                passed: true,
                text: self.captured(template, text, &fields),
            };
        }
        let start = self.text_at(subject);
        let templates = self.templates.iter().filter(|it| it.is_of(format));
        let missed = templates.map(|template| template.first_missing(text, start));
        // The wording that goes furthest is the one that was meant.
        let furthest = missed.max_by_key(|(matched, _)| *matched);
        let (_, missing) = furthest.unwrap_or_default();
        let place = match self.at {
            At::Start => " from its first byte on",
            At::Exception => " from the exception's text on",
            At::Anywhere => "",
        };
        let head = in_logger(&missing, subject.record.logger);
        let hint = head.map_or_else(String::new, |head| {
            format!(
                "; {head:?} stands in the logger, which `loggers` asks for, and the message begins after the logger's `: `"
            )
        });
        Check {
            passed: false,
            text: format!(
                "the message fits a wording{place}: {missing:?} is not where it must be{hint}"
            ),
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
