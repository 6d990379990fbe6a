//! `JUnit` XML as pytest, nextest, google test, Maven and others write it.
//!
//! ```text
//! <testsuites><testsuite name="pytest" tests="24" ...>
//!   <testcase classname="tests.test_x" name="test_y[a]" time="0.002"><failure message="...">...</failure></testcase>
//! ```
//!
//! The elements agree and what they mean differs: pytest writes a case for each rerun and a second one for an error of
//! teardown, Maven puts reruns into the case, google test lists disabled tests as cases that did not run. What the attributes
//! of suites count is kept beside what is counted here.
//!
//! Documents with a document type are refused, so no entity but those of XML itself is ever replaced.

mod decode;
mod element;
mod slim;
mod stated;

use std::io::BufRead;

use quick_xml::events::{BytesStart, Event as Xml};
use quick_xml::reader::Reader;
use quick_xml::{Error as XmlError, XmlVersion};

use super::case::{Case, Cases, note};
use super::failure::{Failure, exception};
use super::model::{
    Duration, Incomplete, MESSAGE_BYTES_MAX, Moment, NAME_BYTES_MAX, Place, RemarkKind, TestRun,
    bounded,
};
use super::moments::{after, iso};
use super::{Form, Reading};
use decode::Decoded;
use element::{Element, Open, SuiteErrors, Verdict, attribute, node_id, number, outcome};
use slim::{Slim, TEXT_BYTES_MAX};
use stated::{Shown, Stated, compare, counts_assertions, sum};

/// How deep elements may stand in each other; what is deeper is passed over, and said to be.
const DEPTH_MAX: usize = 1_000_000;

/// Suites whose names a test bears; suites of suites reach 10.
const SUITES_MAX: usize = 64;

/// Further failures of one case that are kept.
const FAILURES_MAX: usize = 20;

/// Errors of form after which reading goes on; a file with more is no XML.
const FAULTS_MAX: usize = 1000;

pub(crate) fn claims(sample: &[u8]) -> bool {
    let start = sample.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sample);
    let wide = matches!(
        start,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'<', 0, ..] | [0, b'<', ..]
    );
    let head: Vec<u8> = start
        .iter()
        .copied()
        .filter(|&byte| !wide || byte != 0)
        .skip_while(|byte| !wide && byte.is_ascii_whitespace())
        .take(16 * 1024)
        .collect();
    if !wide && head.first() != Some(&b'<') {
        return false;
    }
    let has = |text: &[u8]| memchr::memmem::find(&head, text).is_some();
    has(b"<testsuite")
}

pub(crate) fn read(reader: &mut dyn BufRead) -> Reading {
    let mut reader = reader;
    let mut xml = Reader::from_reader(Slim::new(Decoded::xml(&mut reader)));
    let config = xml.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut report = Report::default();
    let mut faults = 0;
    let mut buffer = Vec::new();
    let mut error = None;
    loop {
        buffer.clear();
        let event = xml.read_event_into(&mut buffer);
        let place = xml.get_ref().tag_at();
        match event {
            Ok(Xml::Eof) => break,
            Ok(event) => report.event(&event, place),
            Err(XmlError::Io(fault)) => {
                error = Some(fault.to_string());
                break;
            }
            Err(XmlError::Syntax(_)) => {
                report.is_broken = true;
                break;
            }
            Err(_) if faults < FAULTS_MAX => faults += 1,
            Err(_) => break,
        }
    }
    let slim = xml.get_ref();
    let end = Ended {
        is_refused: slim.is_refused(),
        is_cut: slim.is_cut(),
        faults,
        place: slim.tag_at(),
        is_torn: error.is_some(),
    };
    Reading {
        lines: slim.lines(),
        runs: vec![report.finish(end)],
        error,
        ..Reading::default()
    }
}

/// How reading ended.
#[derive(Debug, Clone, Copy)]
struct Ended {
    is_refused: bool,
    is_cut: bool,
    is_torn: bool,
    faults: usize,
    place: Place,
}

#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about a report"
)]
struct Report {
    /// The open elements.
    open: Vec<Element>,
    /// Elements open beyond [`DEPTH_MAX`], and whether there were any.
    deeper: usize,
    is_too_deep: bool,
    suites: Vec<String>,
    /// Suites open beyond [`SUITES_MAX`].
    unnamed: usize,
    name: String,
    is_pytest: bool,
    is_nextest: bool,
    cases: Cases,
    case: Option<Open>,
    /// What the element being read says, if its text is wanted.
    verdict: Option<Verdict>,
    of_suites: SuiteErrors,
    stated: Option<Stated>,
    /// What the outermost element states of all suites.
    stated_in_all: Option<Stated>,
    /// What its elements show, to compare it with what its attributes count.
    shown: Shown,
    first: Option<Moment>,
    last: Option<Moment>,
    seconds: Option<f64>,
    is_broken: bool,
    place: Option<Place>,
}

impl Report {
    fn event(&mut self, event: &Xml<'_>, place: Place) {
        match event {
            Xml::Start(tag) => {
                if self.open.len() < DEPTH_MAX {
                    self.start(tag, place);
                    self.open.push(Element::of(tag.local_name().as_ref()));
                } else {
                    self.deeper += 1;
                    self.is_too_deep = true;
                }
            }
            Xml::Empty(tag) if self.open.len() < DEPTH_MAX => {
                self.start(tag, place);
                self.end(Element::of(tag.local_name().as_ref()));
            }
            Xml::End(_) if self.deeper > 0 => self.deeper -= 1,
            Xml::End(_) => {
                if let Some(element) = self.open.pop() {
                    self.end(element);
                }
            }
            Xml::Text(text) => self.text(&text.xml_content(XmlVersion::Implicit1_0)),
            Xml::CData(text) => self.text(&text.xml_content(XmlVersion::Implicit1_0)),
            Xml::GeneralRef(name) => match (name.resolve_char_ref(), name.as_ref()) {
                (Ok(Some(one)), _) => self.text(one.encode_utf8(&mut [0; 4])),
                (_, "lt") => self.text("<"),
                (_, "gt") => self.text(">"),
                (_, "amp") => self.text("&"),
                (_, "quot") => self.text("\""),
                (_, "apos") => self.text("'"),
                (_, other) => self.text(&format!("&{other};")),
            },
            Xml::Empty(_)
            | Xml::Comment(_)
            | Xml::Decl(_)
            | Xml::PI(_)
            | Xml::DocType(_)
            | Xml::Eof => {}
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>, place: Place) {
        match Element::of(tag.local_name().as_ref()) {
            Element::Suites | Element::Suite => self.suite(tag, place),
            Element::Case => self.begin(tag, place),
            Element::Verdict(verdict) if self.open.last() == Some(&Element::Case) => {
                self.judge(verdict, tag);
            }
            Element::Verdict(Verdict::Failure | Verdict::Error)
                if matches!(self.open.last(), Some(Element::Suite | Element::Suites)) =>
            {
                self.shown.failures += 1;
                self.of_suites.begin(tag);
            }
            Element::Verdict(_) | Element::Other => {}
        }
    }

    fn suite(&mut self, tag: &BytesStart<'_>, place: Place) {
        let name = attribute(tag, "name").unwrap_or_default();
        self.place.get_or_insert(place);
        self.is_pytest |= name == "pytest" || name == "pytest tests";
        self.shown.counts_apart |= self.is_pytest || counts_assertions(tag);
        self.is_nextest |= name == "nextest-run" || attribute(tag, "uuid").is_some();
        self.cases.joins = self.is_pytest;
        if self.name.is_empty() {
            self.name.clone_from(&name);
        }
        let seconds = number(tag, "time");
        if let Some((began, _)) = attribute(tag, "timestamp").and_then(|text| iso(text.as_bytes()))
        {
            let ended = seconds
                .and_then(|seconds| after(began, seconds))
                .unwrap_or(began);
            let earlier = |it: Moment| it.clock != began.clock || it.at <= began.at;
            if !self.first.is_some_and(earlier) {
                self.first = Some(began);
            }
            if self
                .last
                .is_none_or(|it| it.clock == ended.clock && it.at < ended.at)
            {
                self.last = Some(ended);
            }
        }
        // Counts of a suite that stands in one with counts are in them.
        let is_outermost = self.suites.is_empty();
        if tag.local_name().as_ref() == "testsuite" {
            if is_outermost {
                sum(&mut self.stated, tag);
                if let Some(seconds) = seconds {
                    *self.seconds.get_or_insert(0.0) += seconds;
                }
            }
            if self.suites.len() < SUITES_MAX {
                self.suites.push(name);
            } else {
                self.unnamed += 1;
            }
        } else if is_outermost {
            sum(&mut self.stated_in_all, tag);
        }
    }

    fn begin(&mut self, tag: &BytesStart<'_>, place: Place) {
        self.close_case();
        self.shown.cases += 1;
        let text = |name: &str| bounded(&attribute(tag, name).unwrap_or_default(), NAME_BYTES_MAX);
        let parameter = match (text("value_param"), text("type_param")) {
            (value, _) if !value.is_empty() => format!(" ({value})"),
            (_, kind) if !kind.is_empty() => format!(" <{kind}>"),
            _ => String::new(),
        };
        self.case = Some(Open {
            name: format!("{}{parameter}", text("name")),
            class: text("classname"),
            file: text("file"),
            state: format!("{} {}", text("status"), text("result")).to_ascii_lowercase(),
            seconds: number(tag, "time"),
            began: attribute(tag, "timestamp").and_then(|it| iso(it.as_bytes()).map(|(at, _)| at)),
            place,
            ..Open::default()
        });
    }

    fn judge(&mut self, verdict: Verdict, tag: &BytesStart<'_>) {
        self.shown.failures += u64::from(verdict != Verdict::Skipped);
        let Some(case) = &mut self.case else { return };
        if verdict == Verdict::Rerun {
            case.reruns += 1;
            return;
        }
        let message = attribute(tag, "message").unwrap_or_default();
        // Several failures of one case are one failing test, shown by its first; a skip beside them is none.
        let is_first = match &case.first {
            None => true,
            Some((first, _)) => *first == Verdict::Skipped && verdict != Verdict::Skipped,
        };
        if is_first {
            case.first = Some((verdict, attribute(tag, "type").unwrap_or_default()));
            case.message = message;
            case.text.clear();
            self.verdict = Some(verdict);
        } else if verdict != Verdict::Skipped && case.others.len() < FAILURES_MAX {
            case.others
                .push((bounded(&message, MESSAGE_BYTES_MAX), String::new()));
            self.verdict = Some(verdict);
        }
    }

    fn text(&mut self, text: &str) {
        self.of_suites.text(text);
        if let (Some(_), Some(case)) = (self.verdict, &mut self.case) {
            let is_inner = matches!(self.open.last(), Some(Element::Verdict(_)));
            let (into, most) = match case.others.last_mut() {
                Some((_, other)) => (other, MESSAGE_BYTES_MAX),
                None => (&mut case.text, TEXT_BYTES_MAX),
            };
            let room = most.saturating_sub(into.len());
            if is_inner && room > 0 {
                into.push_str(&text[..text.floor_char_boundary(room)]);
            }
        }
    }

    fn end(&mut self, element: Element) {
        match element {
            Element::Case => self.close_case(),
            Element::Suite => {
                self.close_case();
                if self.unnamed > 0 {
                    self.unnamed -= 1;
                } else {
                    self.suites.pop();
                }
            }
            Element::Verdict(_) => {
                self.verdict = None;
                self.of_suites.end(self.suites.last());
            }
            Element::Suites | Element::Other => {}
        }
    }

    fn close_case(&mut self) {
        self.verdict = None;
        let Some(open) = self.case.take() else { return };
        let outcome = outcome(&open);
        let mut suites: Vec<String> = self
            .suites
            .iter()
            .filter(|it| !it.is_empty() && !self.is_pytest && **it != open.class)
            .cloned()
            .collect();
        if !open.class.is_empty() {
            suites.push(open.class.clone());
        }
        let joined = |by: &str| match open.class.as_str() {
            "" => open.name.clone(),
            class if open.name.starts_with(class) => open.name.clone(),
            class => format!("{class}{by}{}", open.name),
        };
        let name = if self.is_pytest {
            node_id(&open).unwrap_or_else(|| joined("::"))
        } else if self.is_nextest {
            joined(" ")
        } else {
            joined(".")
        };
        let mut failure = Failure::default();
        let mut reason = String::new();
        match &open.first {
            Some((Verdict::Failure | Verdict::Error, kind)) => {
                failure = Failure::read(&open.message, &open.text);
                if failure.exception.is_none() {
                    failure.exception = exception(kind).0.map(str::to_owned);
                }
                if failure.message.is_empty() && failure.exception.is_none() {
                    failure.message.clone_from(kind);
                }
                let others = open.others.iter();
                failure.also = others
                    .map(|(message, text)| Failure::read(message, text).words())
                    .collect();
            }
            Some(_) => reason = bounded(&open.message, NAME_BYTES_MAX),
            None => {}
        }
        self.cases.add(Case {
            id: joined("."),
            name,
            suites,
            outcome: outcome.into(),
            failure,
            reason,
            seconds: open.seconds,
            began: open.began,
            ended: None,
            failed_tries: open.reruns,
            place: open.place,
        });
    }

    fn finish(mut self, end: Ended) -> TestRun {
        let is_open = !self.open.is_empty() || self.deeper > 0;
        self.close_case();
        self.of_suites.end(self.suites.last());
        let mut run = TestRun::new(Form::JUnit);
        run.name = if self.is_pytest {
            "pytest".to_owned()
        } else {
            bounded(&self.name, NAME_BYTES_MAX)
        };
        run.place = self.place.unwrap_or_default();
        for moment in [self.first, self.last].into_iter().flatten() {
            run.note_moment(moment);
        }
        if let Some(seconds) = self.seconds.filter(|it| it.is_finite()) {
            run.durations.push(Duration {
                seconds,
                rule: "the times of its suites, added",
            });
        }
        if end.is_refused {
            run.remark(
                RemarkKind::Unreadable,
                "a document type is refused; what follows it is not read",
                end.place,
            );
        }
        if end.is_refused || is_open || self.is_broken || self.place.is_none() {
            note(&mut run, Incomplete::NoEnd);
        }
        if self.is_too_deep {
            note(&mut run, Incomplete::NoEnd);
            let text = format!("elements more than {DEPTH_MAX} deep are not read");
            run.remark(RemarkKind::Unreadable, text, Place::default());
        }
        if end.is_torn {
            note(&mut run, Incomplete::Torn);
        }
        if end.faults > 0 {
            let text = format!("{} places are not well-formed XML", end.faults);
            run.remark(RemarkKind::Unreadable, text, end.place);
        }
        if end.is_cut {
            run.remark(
                RemarkKind::LeavesOut,
                "texts above 64 KiB are cut",
                Place::default(),
            );
        }
        self.explain(&mut run);
        self.cases.fill(&mut run);
        run
    }

    /// Says how cases were read where they can be read in two ways.
    fn explain(&mut self, run: &mut TestRun) {
        self.shown.tests = self.cases.len() as u64;
        compare([self.stated, self.stated_in_all], &self.shown, run);
        if self.is_pytest {
            let reruns = self.cases.repeated_passes();
            if reruns > 0 {
                let text = format!(
                    "{reruns} cases without a mark repeat a test: its reruns, which pytest does not mark; each test counts once"
                );
                run.remark(RemarkKind::Reading, text, Place::default());
            }
        }
        run.faults.append(&mut self.of_suites.said);
        if self.cases.len() == 0 && run.is_complete() {
            // pytest ends such a session with exit code 5; other tools pass it.
            let kind = if self.is_pytest {
                run.faults.push("no test ran".to_owned());
                RemarkKind::Reading
            } else {
                RemarkKind::NotTrusted
            };
            run.remark(kind, "no test ran", Place::default());
        }
    }
}
