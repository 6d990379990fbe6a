//! XML of any size, made small enough to be parsed in little memory: what a test printed is cut, and the markup around it stays.
//!
//! A parser hands out one whole text or tag at a time; a test that printed 100 MB would cost as much. This counts bytes and
//! leaves out those beyond a bound, so that tags, quotes and sections still close where they did. Comments and instructions
//! say nothing of tests and are left out.

use std::io::{self, BufRead, Read};

use super::super::model::Place as SourcePlace;

/// How much of one text, section or attribute is kept. Messages of assertions with a diff reach some 10 KB.
pub(crate) const TEXT_BYTES_MAX: usize = 64 * 1024;
/// How much of one tag is kept: its name and its attributes.
const TAG_BYTES_MAX: usize = 512 * 1024;
/// How much is filtered at once.
const CHUNK: usize = 64 * 1024;

const COMMENT: &[u8] = b"!--";
const SECTION: &[u8] = b"![CDATA[";

/// Where the filter stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Text,
    /// Behind a `<`, until it is clear what it opens.
    Opened,
    /// In a tag, within such quotes or outside any.
    Tag(Option<u8>),
    /// In the part of a tag that is left out.
    TagRest(Option<u8>),
    /// In a CDATA section, behind so many `]`.
    Section(usize),
    /// In a comment, behind so many `-`.
    Comment(usize),
    /// In an instruction; whether behind a `?`.
    Instruction(bool),
    /// Behind a document type: nothing is read any more.
    Refused,
}

/// The filter.
pub(crate) struct Slim<R> {
    reader: R,
    place: Place,
    /// The bytes since the `<`.
    head: Vec<u8>,
    /// Bytes of this text, section or attribute.
    length: usize,
    /// Bytes of this tag.
    tag: usize,
    is_dropping: bool,
    /// The byte before.
    last: u8,
    raw: Vec<u8>,
    raw_at: usize,
    raw_end: usize,
    out: Vec<u8>,
    at: usize,
    /// Where the next byte stands, and where the last tag begins.
    next: SourcePlace,
    tag_at: SourcePlace,
    is_cut: bool,
}

impl<R: Read> Slim<R> {
    /// A filter over UTF-8.
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            place: Place::Text,
            head: Vec::new(),
            length: 0,
            tag: 0,
            is_dropping: false,
            last: 0,
            raw: vec![0; CHUNK],
            raw_at: 0,
            raw_end: 0,
            out: Vec::new(),
            at: 0,
            next: SourcePlace { line: 1, offset: 0 },
            tag_at: SourcePlace::default(),
            is_cut: false,
        }
    }

    /// Whether a document type was met: what follows is not read.
    pub(crate) fn is_refused(&self) -> bool {
        self.place == Place::Refused
    }

    /// Whether anything was left out because it is too long.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Where the tag begins that was handed out last.
    pub(crate) fn tag_at(&self) -> SourcePlace {
        self.tag_at
    }

    /// Lines that were read.
    pub(crate) fn lines(&self) -> u64 {
        self.next.line
    }

    /// Passes a byte of a text on, unless it is beyond the bound.
    fn keep(&mut self, byte: u8) {
        // A character is cut in front of its first byte only.
        self.is_dropping |= self.length >= TEXT_BYTES_MAX && byte & 0xc0 != 0x80;
        self.length += 1;
        if self.is_dropping {
            self.is_cut = true;
        } else {
            self.out.push(byte);
        }
    }

    fn enter(&mut self, place: Place) {
        self.place = place;
        self.length = 0;
        self.is_dropping = false;
    }

    fn byte(&mut self, byte: u8) {
        match self.place {
            Place::Text if byte == b'<' => {
                self.tag_at = self.next;
                self.head.clear();
                self.place = Place::Opened;
            }
            Place::Text => self.keep(byte),
            Place::Opened => self.opened(byte),
            Place::Tag(quote) => self.in_tag(byte, quote),
            Place::TagRest(quote) => self.in_rest(byte, quote),
            Place::Section(brackets) => self.in_section(byte, brackets),
            Place::Comment(dashes) => match byte {
                // The text goes on, and so does its length.
                b'>' if dashes >= 2 => self.place = Place::Text,
                b'-' => self.place = Place::Comment(dashes + 1),
                _ => self.place = Place::Comment(0),
            },
            Place::Instruction(true) if byte == b'>' => self.place = Place::Text,
            Place::Instruction(_) => self.place = Place::Instruction(byte == b'?'),
            Place::Refused => {}
        }
        self.last = byte;
    }

    fn opened(&mut self, byte: u8) {
        self.head.push(byte);
        match self.head.as_slice() {
            [b'?'] => self.place = Place::Instruction(false),
            COMMENT => self.place = Place::Comment(0),
            [b'!', b'D' | b'd', ..] => self.place = Place::Refused,
            SECTION => {
                self.out.push(b'<');
                self.out.extend_from_slice(SECTION);
                self.enter(Place::Section(0));
            }
            head if SECTION.starts_with(head) || COMMENT.starts_with(head) => {}
            _ => {
                let head = std::mem::take(&mut self.head);
                self.out.push(b'<');
                self.tag = 0;
                self.enter(Place::Tag(None));
                for byte in head {
                    self.byte(byte);
                }
            }
        }
    }

    fn in_section(&mut self, byte: u8, brackets: usize) {
        match byte {
            b'>' if brackets >= 2 => {
                self.out.extend_from_slice(b"]]>");
                self.enter(Place::Text);
            }
            b']' if brackets < 2 => self.place = Place::Section(brackets + 1),
            // Only the last two of a row of brackets can belong to the end.
            b']' => self.keep(b']'),
            _ => {
                for _ in 0..brackets {
                    self.keep(b']');
                }
                self.keep(byte);
                self.place = Place::Section(0);
            }
        }
    }

    fn in_tag(&mut self, byte: u8, quote: Option<u8>) {
        self.tag += 1;
        let is_long = self.tag > TAG_BYTES_MAX;
        match quote {
            Some(open) if open == byte => {
                self.out.push(byte);
                self.enter(Place::Tag(None));
            }
            Some(_) if is_long => self.is_cut = true,
            Some(_) => self.keep(byte),
            None if byte == b'>' => {
                self.out.push(byte);
                self.enter(Place::Text);
            }
            None if is_long => {
                self.is_cut = true;
                self.place = Place::TagRest(None);
                self.in_rest(byte, None);
            }
            None => {
                self.out.push(byte);
                if matches!(byte, b'"' | b'\'') {
                    self.enter(Place::Tag(Some(byte)));
                }
            }
        }
    }

    fn in_rest(&mut self, byte: u8, quote: Option<u8>) {
        match (quote, byte) {
            (None, b'>') => {
                if self.last == b'/' {
                    self.out.push(b'/');
                }
                self.out.push(b'>');
                self.enter(Place::Text);
            }
            (None, b'"' | b'\'') => self.place = Place::TagRest(Some(byte)),
            (Some(open), _) if open == byte => self.place = Place::TagRest(None),
            _ => {}
        }
    }
}

impl<R: Read> Read for Slim<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(out.len());
        out[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for Slim<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at == self.out.len() && !self.is_refused() {
            self.out.clear();
            self.at = 0;
            if self.raw_at == self.raw_end {
                self.raw_end = self.reader.read(&mut self.raw)?;
                self.raw_at = 0;
                if self.raw_end == 0 {
                    break;
                }
            }
            // What is handed out ends with a tag at the latest, so that its place is known when it is parsed.
            let mut ends_tag = false;
            while self.raw_at < self.raw_end && !ends_tag {
                let byte = self.raw[self.raw_at];
                let was_tag = matches!(
                    self.place,
                    Place::Tag(_) | Place::TagRest(_) | Place::Opened
                );
                self.byte(byte);
                ends_tag = was_tag && self.place == Place::Text;
                self.raw_at += 1;
                self.next.offset += 1;
                self.next.line += u64::from(byte == b'\n');
            }
        }
        Ok(&self.out[self.at..])
    }

    fn consume(&mut self, count: usize) {
        self.at = (self.at + count).min(self.out.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slim(text: &str) -> String {
        let mut out = String::new();
        Slim::new(text.as_bytes()).read_to_string(&mut out).unwrap();
        out
    }

    #[test]
    fn what_is_short_stays_as_it_is() {
        let text = "<a b=\"x > '1'\" c='\"'>t<![CDATA[ ]] ]]]>u</a><d/>";
        assert_eq!(slim(text), text);
    }

    #[test]
    fn comments_and_instructions_are_left_out_and_a_document_type_ends_it() {
        assert_eq!(
            slim("<?xml version='1.0'?><a><!-- <b> -- - --->x</a>"),
            "<a>x</a>"
        );
        assert_eq!(slim("<a/><!DOCTYPE x [<!ENTITY y 'z'>]><b/>"), "<a/>");
    }

    #[test]
    fn what_is_long_is_cut_and_the_markup_closes() {
        let long = "é".repeat(TEXT_BYTES_MAX);
        let text = slim(&format!("<a b='{long}' c='1'>{long}<![CDATA[{long}]]></a>"));
        assert!(text.len() < 3 * TEXT_BYTES_MAX + 100);
        assert!(text.contains("é' c='1'>é") && text.ends_with("é]]></a>"));
        // What is left out of a text does not begin it anew.
        for aside in ["<!-- -->", "<?x y?>"] {
            let text = format!("{}{aside}", "x".repeat(TEXT_BYTES_MAX)).repeat(10);
            assert_eq!(
                slim(&format!("<a>{text}</a>")).len(),
                TEXT_BYTES_MAX + "<a></a>".len()
            );
        }
        let many = " a='>'".repeat(TAG_BYTES_MAX / 4);
        let text = slim(&format!("<a{many}/><b/>"));
        assert!(text.len() < TAG_BYTES_MAX + 100 && text.ends_with("/><b/>"));
    }
}
