//! What makes two failing leaves one failure: result, exception, what was asserted or said, and where in the tests' code.

use crate::parsers::ci::{Frame, Leaf};

/// What leaves of a group have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    /// The result, in the source's word.
    pub outcome: String,
    /// The class of the exception.
    pub exception: Option<String>,
    /// The assertion, or the message with what differs from run to run replaced.
    pub text: String,
    /// Where in the tests' own code.
    pub own: Option<Frame>,
}

/// How much of a message tells one failure from another: what follows is a dump more often than not.
const TEXT_CHARS_MAX: usize = 400;

impl Signature {
    /// The signature of a leaf.
    pub fn of(leaf: &Leaf) -> Self {
        let text = match &leaf.assertion {
            Some(assertion) => assertion.clone(),
            None => normalized(leaf.message.trim()),
        };
        Self {
            outcome: leaf.outcome.clone(),
            exception: leaf.exception.clone(),
            text,
            own: leaf.own.clone(),
        }
    }

    /// On one line, for people.
    pub fn words(&self) -> String {
        let mut words = self.outcome.clone();
        let class = self.exception.as_deref().unwrap_or_default();
        for part in [class, self.text.lines().next().unwrap_or_default()] {
            if !part.is_empty() {
                words.push_str(": ");
                words.push_str(part);
            }
        }
        if let Some(own) = &self.own {
            words.push_str(" at ");
            words.push_str(&place(own));
        }
        if self.says_nothing() {
            words.push_str(" (its source has no message)");
        }
        words
    }

    /// Whether it is a result, and a class at most: leaves that share it need not be one failure.
    pub fn says_nothing(&self) -> bool {
        self.text.is_empty() && self.own.is_none()
    }
}

/// `file.py:93 in function`, the file without its folders.
fn place(frame: &Frame) -> String {
    let file = frame.file.rsplit('/').next().unwrap_or(&frame.file);
    let line = if frame.line > 0 {
        format!(":{}", frame.line)
    } else {
        String::new()
    };
    let function = if frame.function.is_empty() {
        String::new()
    } else {
        format!(" in {}", frame.function)
    };
    format!("{file}{line}{function}")
}

/// A message with ids, addresses and long numbers replaced. Short numbers stay: they tell cases apart more often than runs.
pub(super) fn normalized(message: &str) -> String {
    let mut text = String::new();
    let mut word = String::new();
    for c in message.chars().take(TEXT_CHARS_MAX) {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') {
            word.push(c);
        } else {
            flush(&mut word, &mut text);
            text.push(c);
        }
    }
    flush(&mut word, &mut text);
    text
}

/// Adds a word, its varying parts replaced.
fn flush(word: &mut String, text: &mut String) {
    let is_uuid = word.len() == 36
        && word.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && is_hex(&word.replace('-', ""));
    if is_uuid {
        text.push_str("{uuid}");
        word.clear();
        return;
    }
    if is_address(word) {
        text.push_str("{address}");
        word.clear();
        return;
    }
    let mut rest = word.as_str();
    while let Some(c) = rest.chars().next() {
        let end = rest.find(['_', '-', '.']).unwrap_or(rest.len());
        if end == 0 {
            text.push(c);
            rest = &rest[1..];
            continue;
        }
        let part = &rest[..end];
        text.push_str(match part {
            // The number of an error is what it is.
            _ if text.ends_with("Code: ") => part,
            _ if part.len() >= 4 && part.bytes().all(|byte| byte.is_ascii_digit()) => "{n}",
            _ if part.len() >= 8
                && is_hex(part)
                && part.bytes().any(|byte| byte.is_ascii_digit()) =>
            {
                "{hex}"
            }
            _ => part,
        });
        rest = &rest[end..];
    }
    word.clear();
}

fn is_hex(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a word is an IPv4 address.
fn is_address(word: &str) -> bool {
    let numbers: Vec<&str> = word.split('.').collect();
    numbers.len() == 4 && numbers.iter().all(|number| number.parse::<u8>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_replaced_and_short_numbers_stay() {
        let text = "table destination_e3b71c02_a64b_11f1_acc8_92000910a29a on 10.0.0.7:9001, query 4511104e-7c52-4d1b-9a7e-2f1d0c6b8e93, iteration 3";
        let expected = "table destination_{hex}_a64b_11f1_acc8_{hex} on {address}:{n}, query {uuid}, iteration 3";
        assert_eq!(normalized(text), expected);
        assert_eq!(
            normalized("Timeout 600.000s for 'bash# '"),
            "Timeout 600.000s for 'bash# '"
        );
        assert_eq!(normalized("deadbeef facade"), "deadbeef facade");
    }
}
