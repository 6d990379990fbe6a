//! The page: what a browser's parser sees of it. Foreign text is text everywhere, the size is bounded, the numbers are
//! those of the report.

mod axes;
mod inert;
mod levels;
mod numbers;
mod size;

use std::collections::BTreeMap;

use casdiag::report::model::Report;
use casdiag::report::{REPORTS, Style};
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};

use crate::product::{self, repository};

/// The page of a report.
pub(crate) fn page(report: &Report) -> String {
    let html = REPORTS.iter().find(|it| it.name == "html").unwrap();
    let style = Style {
        color: false,
        width: 80,
    };
    let mut bytes = Vec::new();
    (html.write)(report, &style, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The reports of the samples.
fn samples() -> Vec<Report> {
    let names = ["report-000", "report-001", "report-003"];
    let root = repository("samples/incidents");
    names
        .iter()
        .map(|it| product::report(&root.join(it)))
        .collect()
}

/// What a parser makes of a page.
#[derive(Debug, Default)]
struct Parsed {
    elements: Vec<Element>,
    faults: Vec<String>,
}

/// An element with the text directly and deeper in it.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
    parents: Vec<usize>,
}

impl Element {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    fn has_class(&self, class: &str) -> bool {
        self.attribute("class")
            .is_some_and(|it| it.split(' ').any(|one| one == class))
    }
}

impl Parsed {
    fn of(page: &str) -> Self {
        let mut parsed = Self::default();
        let mut open: Vec<usize> = Vec::new();
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        for token in Tokenizer::new_with_emitter(page, emitter) {
            match token.unwrap() {
                Token::StartTag(tag) => {
                    let text = |it: &[u8]| String::from_utf8(it.to_vec()).unwrap();
                    let name = text(&tag.name);
                    let attributes = tag.attributes.iter();
                    parsed.elements.push(Element {
                        name: name.clone(),
                        attributes: attributes.map(|(k, v)| (text(k), text(v))).collect(),
                        text: String::new(),
                        parents: open.clone(),
                    });
                    if !matches!(name.as_str(), "meta" | "input") {
                        open.push(parsed.elements.len() - 1);
                    }
                }
                Token::EndTag(tag) => {
                    let name = String::from_utf8(tag.name.to_vec()).unwrap();
                    let last = open.pop().map(|at| parsed.elements[at].name.clone());
                    if last.as_deref() != Some(&name) {
                        parsed.faults.push(format!("</{name}> closes {last:?}"));
                    }
                }
                Token::String(text) => {
                    let text = String::from_utf8(text.to_vec()).unwrap();
                    for at in &open {
                        parsed.elements[*at].text.push_str(&text);
                    }
                }
                Token::Comment(text) => parsed.faults.push(format!("a comment: {text:?}")),
                Token::Doctype(_) => {}
                Token::Error(error) => parsed.faults.push(format!("{error:?}")),
            }
        }
        parsed.faults.extend(
            open.iter()
                .map(|at| format!("{} is never closed", parsed.elements[*at].name)),
        );
        parsed
    }

    fn named<'p>(&'p self, name: &'p str) -> impl Iterator<Item = &'p Element> {
        self.elements.iter().filter(move |it| it.name == name)
    }

    /// The elements inside the element at `place`, that one left out.
    fn inside(&self, place: usize) -> impl Iterator<Item = &Element> {
        self.elements
            .iter()
            .filter(move |it| it.parents.contains(&place))
    }

    /// The place of the element with an id.
    fn place(&self, id: &str) -> usize {
        let found = self
            .elements
            .iter()
            .position(|it| it.attribute("id") == Some(id));
        found.unwrap_or_else(|| panic!("nothing has the id {id}"))
    }
}
