//! The bytes of a report in any encoding that test tools write, as UTF-8: what Windows shells redirect is UTF-16, old reports
//! are Latin-1, and what tests print holds bytes that are none of these.

use std::io::{self, Read};

/// How much is read and turned into text at once.
const CHUNK: usize = 64 * 1024;

/// An XML declaration ends within so many bytes.
const DECLARATION_BYTES_MAX: usize = 200;

/// How a text is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// UTF-8, or anything that agrees with ASCII.
    Utf8,
    /// Two bytes a unit, the higher one first or not.
    Utf16 { is_big: bool },
    /// Each byte is the character of its number.
    Latin1,
}

/// A reader of the same text in valid UTF-8; what is not valid becomes U+FFFD.
pub(crate) struct Decoded<'a> {
    reader: &'a mut dyn Read,
    encoding: Option<Encoding>,
    raw: Vec<u8>,
    text: Vec<u8>,
    at: usize,
    is_ended: bool,
}

impl<'a> Decoded<'a> {
    /// A reader of XML, which may say in its first line how it is encoded.
    pub(crate) fn xml(reader: &'a mut dyn Read) -> Self {
        Self {
            reader,
            encoding: None,
            raw: Vec::new(),
            text: Vec::new(),
            at: 0,
            is_ended: false,
        }
    }

    /// Reads one more chunk and turns all of it that is whole into text.
    fn fill(&mut self) -> io::Result<()> {
        let kept = self.raw.len();
        self.raw.resize(kept + CHUNK, 0);
        let read = loop {
            match self.reader.read(&mut self.raw[kept..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.raw
            .truncate(kept + read.as_ref().copied().unwrap_or(0));
        if read? == 0 {
            self.is_ended = true;
        }
        // A reader may give a few bytes at first: what the file is packed with was told from them.
        if self.encoding.is_none() && (self.raw.len() >= DECLARATION_BYTES_MAX || self.is_ended) {
            self.encoding = Some(detected(&mut self.raw));
        }
        self.text.clear();
        self.at = 0;
        match self.encoding {
            None => {}
            Some(Encoding::Utf8) => self.utf8(),
            Some(Encoding::Utf16 { is_big }) => self.utf16(is_big),
            Some(Encoding::Latin1) => {
                for byte in self.raw.drain(..) {
                    push(&mut self.text, char::from(byte));
                }
            }
        }
        Ok(())
    }

    fn utf8(&mut self) {
        let mut whole = self.raw.len();
        for chunk in self.raw.utf8_chunks() {
            self.text.extend_from_slice(chunk.valid().as_bytes());
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            // A character that the chunk cuts is whole with the next one.
            let is_last = invalid.as_ptr_range().end == self.raw.as_ptr_range().end;
            if is_last
                && !self.is_ended
                && std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none())
            {
                whole -= invalid.len();
            } else {
                push(&mut self.text, char::REPLACEMENT_CHARACTER);
            }
        }
        self.raw.drain(..whole);
    }

    fn utf16(&mut self, is_big: bool) {
        let mut whole = self.raw.len() & !1;
        let unit = |pair: &[u8]| match (pair, is_big) {
            ([high, low], true) | ([low, high], false) => u16::from_be_bytes([*high, *low]),
            _ => 0,
        };
        let last = whole.checked_sub(2).map(|at| unit(&self.raw[at..whole]));
        if !self.is_ended && last.is_some_and(|unit| (0xd800..0xdc00).contains(&unit)) {
            whole -= 2;
        }
        let units = self.raw[..whole].chunks_exact(2).map(unit);
        for one in char::decode_utf16(units) {
            push(&mut self.text, one.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.raw.drain(..whole);
        if self.is_ended {
            self.raw.clear();
        }
    }
}

fn push(text: &mut Vec<u8>, one: char) {
    text.extend_from_slice(one.encode_utf8(&mut [0; 4]).as_bytes());
}

/// The encoding that the first bytes show, whose mark is taken off.
fn detected(start: &mut Vec<u8>) -> Encoding {
    let (mark, encoding) = match start.as_slice() {
        [0xef, 0xbb, 0xbf, ..] => (3, Encoding::Utf8),
        [0xff, 0xfe, ..] => (2, Encoding::Utf16 { is_big: false }),
        [0xfe, 0xff, ..] => (2, Encoding::Utf16 { is_big: true }),
        [b'<', 0, ..] => (0, Encoding::Utf16 { is_big: false }),
        [0, b'<', ..] => (0, Encoding::Utf16 { is_big: true }),
        _ if declares_latin(start) => (0, Encoding::Latin1),
        _ => (0, Encoding::Utf8),
    };
    start.drain(..mark);
    encoding
}

/// Whether an XML declaration names an encoding of one byte a character. What it declares otherwise is UTF-8 or unknown, and
/// most writers that declare something else write UTF-8 anyway.
fn declares_latin(start: &[u8]) -> bool {
    let line = &start[..start.len().min(DECLARATION_BYTES_MAX)];
    let line = line.trim_ascii_start().to_ascii_lowercase();
    let declaration = memchr::memmem::find(&line, b"?>").map(|end| &line[..end]);
    let names = [&b"iso-8859-"[..], b"windows-125", b"latin"];
    declaration.is_some_and(|text| {
        text.starts_with(b"<?xml")
            && names
                .iter()
                .any(|name| memchr::memmem::find(text, name).is_some())
    })
}

impl Read for Decoded<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            if self.is_ended {
                return Ok(0);
            }
            self.fill()?;
        }
        let count = out.len().min(self.text.len() - self.at);
        out[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out one byte at a time, so that every character is cut.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(out.len()).min(1);
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn both(bytes: &[u8]) -> String {
        let read = |reader: &mut dyn Read| {
            let mut text = String::new();
            Decoded::xml(reader).read_to_string(&mut text).unwrap();
            text
        };
        let whole = read(&mut &bytes[..]);
        assert_eq!(read(&mut Drip(bytes)), whole, "cut anywhere");
        whole
    }

    #[test]
    fn utf8_stays_and_what_is_none_is_replaced() {
        assert_eq!(both("a→b\u{1f600}".as_bytes()), "a→b\u{1f600}");
        assert_eq!(both(b"a\xffb\xe2\x86"), "a\u{fffd}b\u{fffd}");
        assert_eq!(both(b"\xef\xbb\xbfx"), "x");
        assert_eq!(both(b""), "");
    }

    #[test]
    fn the_marks_of_utf16_are_known() {
        assert_eq!(both(b"\xff\xfea\0\x92\x21\n\0"), "a\u{2192}\n");
        assert_eq!(both(b"\xfe\xff\0a\xd8\x3d\xde\0"), "a\u{1f600}");
        assert_eq!(both(b"\xff\xfea\0\x00\xd8"), "a\u{fffd}");
    }

    #[test]
    fn an_xml_declaration_may_name_latin() {
        let text = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>";
        assert!(both(text).ends_with("<a>\u{e9}</a>"));
        let text = b"\n<?xml version='1.0' encoding='iso-8859-15'?><a>\xe9</a>";
        assert!(both(text).ends_with("<a>\u{e9}</a>"));
        let text = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?><a>\xe9</a>";
        assert!(both(text).ends_with("<a>\u{fffd}</a>"));
    }
}
