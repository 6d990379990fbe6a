//! Objects of one line, read in place: keys and values as they are written. Nothing is unescaped and nothing copied.

/// The keys and values of an object, in order; strings without their quotes, anything else as it is written.
pub(super) struct Pairs<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Pairs<'a> {
    /// Those of the object that `text` begins with; none if it begins with something else.
    pub(super) fn of(text: &'a [u8]) -> Self {
        let at = if text.first() == Some(&b'{') {
            1
        } else {
            text.len()
        };
        Self { text, at }
    }

    /// Skips blanks and commas; the byte that follows.
    fn next_byte(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b',' | b':') = self.text.get(self.at) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// The string that begins here, without its quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        let start = self.at + 1;
        let end = start + string_end(self.text.get(start..)?)?;
        self.at = end + 1;
        Some(&self.text[start..end])
    }

    /// The object, list, number or word that begins here.
    fn other(&mut self) -> &'a [u8] {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'"' => {
                    if self.string().is_none() {
                        self.at = self.text.len();
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b',' | b'}' | b']' if depth == 0 => break,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        &self.text[start..self.at]
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next_byte()? != b'"' {
            return None;
        }
        let key = self.string()?;
        let value = if self.next_byte()? == b'"' {
            self.string()?
        } else {
            self.other()
        };
        Some((key, value))
    }
}

/// Where the quote stands that ends a string's text.
fn string_end(text: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'"', text).find(|&at| {
        let escapes = text[..at].iter().rev().take_while(|b| **b == b'\\').count();
        escapes % 2 == 0
    })
}

/// The message of an object's line: from the text on to the line's end, so that the fields after it can be matched as
/// they are written; the text alone if nothing follows it.
pub(super) fn message_to_end<'a>(line: &'a [u8], text: &'a [u8]) -> &'a [u8] {
    let start = crate::record::offset_in(line, text);
    let end = line.len() - usize::from(line.ends_with(b"}"));
    let whole = line.get(start..end).unwrap_or(text);
    if whole.len() == text.len() + 1 {
        text
    } else {
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let own = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Pairs::of(text.as_bytes())
            .map(|(key, value)| (own(key), own(value)))
            .collect()
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn keys_and_values_are_given_in_order_and_as_written() {
        assert_eq!(
            pairs(
                r#"{"t":{"$date":"2020,}"},"s":"I",  "n": -1.5, "l":[1,{"a":"]"}],"m":"say \"x\" \\"}"#
            ),
            [
                pair("t", r#"{"$date":"2020,}"}"#),
                pair("s", "I"),
                pair("n", "-1.5"),
                pair("l", r#"[1,{"a":"]"}]"#),
                pair("m", r#"say \"x\" \\"#),
            ]
        );
    }

    #[test]
    fn what_is_broken_ends_the_pairs() {
        assert_eq!(pairs(r#"{"a":"b","c":"d"#), [pair("a", "b")]);
        assert_eq!(pairs(r#"{"a":"b",7}"#), [pair("a", "b")]);
        assert_eq!(pairs("[1]"), []);
    }

    #[test]
    fn a_message_reaches_to_the_end_of_the_fields() {
        let of = |line: &'static str| {
            let line = line.as_bytes();
            let text = Pairs::of(line).find(|(key, _)| *key == b"msg").unwrap().1;
            String::from_utf8_lossy(message_to_end(line, text)).into_owned()
        };
        assert_eq!(of(r#"{"level":"info","msg":"it is so"}"#), "it is so");
        assert_eq!(of(r#"{"msg":"slow","took":"1s"}"#), r#"slow","took":"1s""#);
    }
}
