//! Many texts looked for at once, with vector instructions.
//!
//! What is searched for is a window of each text: its few bytes that are rarest in logs. Fewer bytes cost fewer
//! instructions, and rare ones seldom stand where their text does not. Where a window stands its texts are compared.

use aho_corasick::{AhoCorasick, AhoCorasickKind, packed};

use super::Literal;

/// Texts looked for together. More than a packed search can tell apart are searched for in several.
#[derive(Debug)]
pub(super) struct Literals {
    texts: Vec<Literal>,
    search: Search,
    /// By window that is searched for.
    windows: Vec<Holders>,
}

/// The texts that hold a window, and where in them it begins.
type Holders = Vec<(usize, usize)>;

#[derive(Debug)]
enum Search {
    /// For a single text.
    One,
    /// With vector instructions alone.
    Packed(packed::Searcher),
    /// On machines that lack them.
    Automaton(AhoCorasick),
}

/// How many bytes of what follows a text are searched with it: a packed search of less falls off its vector instructions.
const STRETCH: usize = 48;

impl Literals {
    /// Prepares texts of at least four bytes each.
    pub(super) fn new(texts: &[&[u8]]) -> Self {
        // The more windows, the likelier that one stands somewhere by chance.
        let length = match texts.len() {
            0..=12 => 2,
            13..=24 => 3,
            _ => 4,
        };
        let mut windows: Vec<(&[u8], Holders)> = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let at = rarest(text, length);
            let window = &text[at..text.len().min(at + length)];
            match windows.iter_mut().find(|(known, _)| *known == window) {
                Some((_, holders)) => holders.push((number, at)),
                None => windows.push((window, vec![(number, at)])),
            }
        }
        let sought: Vec<&[u8]> = windows.iter().map(|(window, _)| *window).collect();
        Self {
            texts: texts.iter().map(Literal::new).collect(),
            search: if texts.len() == 1 {
                Search::One
            } else {
                Search::new(&sought)
            },
            windows: windows.into_iter().map(|(_, holders)| holders).collect(),
        }
    }

    /// Calls `found` with the number of a text for each place at which it stands in the first `length` bytes of `text`.
    /// What stands behind them is looked at and not searched.
    #[inline]
    pub(super) fn find(&self, text: &[u8], length: usize, mut found: impl FnMut(usize)) {
        let within = &text[..length];
        if let Search::One = self.search {
            if self.texts[0].is_in(within) {
                found(0);
            }
            return;
        }
        let mut from = 0;
        while from < length {
            let searched = &text[..length.max(from + STRETCH).min(text.len())];
            let Some((window, at)) = self.search.next(searched, from) else {
                return;
            };
            for &(number, before) in &self.windows[window] {
                let start = at.checked_sub(before);
                let rest = start.and_then(|start| within.get(start..));
                if rest.is_some_and(|rest| rest.starts_with(self.texts[number].text())) {
                    found(number);
                }
            }
            from = at + 1;
        }
    }
}

impl Search {
    #[expect(
        clippy::expect_used,
        reason = "a few dozen windows that are not empty always build"
    )]
    fn new(windows: &[&[u8]]) -> Self {
        let packed = packed::Config::new().builder().extend(windows).build();
        packed.map_or_else(
            || {
                let automaton = AhoCorasick::builder()
                    .kind(Some(AhoCorasickKind::ContiguousNFA))
                    .build(windows);
                Self::Automaton(automaton.expect("windows build"))
            },
            Self::Packed,
        )
    }

    /// The next window from `from` on: its number, and where it begins.
    #[inline]
    fn next(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let found = match self {
            Self::One => None,
            Self::Packed(searcher) => searcher.find_in(text, (from..text.len()).into()),
            Self::Automaton(automaton) => {
                automaton.find(aho_corasick::Input::new(text).range(from..))
            }
        };
        found.map(|found| (found.pattern().as_usize(), found.start()))
    }
}

/// Where in `text` the bytes begin that are rarest in logs, `length` of them or all there are.
fn rarest(text: &[u8], length: usize) -> usize {
    let cost = |window: &[u8]| window.iter().map(|&byte| commonness(byte)).product::<u32>();
    let windows = text.windows(length).enumerate();
    windows
        .min_by_key(|(_, window)| cost(window))
        .map_or(0, |(at, _)| at)
}

/// How common a byte is in logs, roughly: in how many of a thousand places it stands, counted in the logs of servers.
fn commonness(byte: u8) -> u32 {
    match byte {
        b' ' => 100,
        b'e' | b't' => 60,
        b'a' | b'i' | b'n' | b'o' | b'r' | b's' | b'd' | b'c' | b'l' => 40,
        b'0'..=b'9' => 25,
        b'a'..=b'z' => 15,
        b'_' | b'-' | b'.' | b',' | b':' => 12,
        b'/' | b'(' | b')' | b'<' | b'>' | b'%' | b'=' | b'\'' => 6,
        b'A'..=b'Z' => 5,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: &[&str], text: &str, length: usize) -> Vec<usize> {
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        let mut numbers = Vec::new();
        Literals::new(&texts).find(text.as_bytes(), length, |number| numbers.push(number));
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    #[test]
    fn texts_that_share_a_window_or_hold_each_other_are_all_found() {
        let texts = ["Fetching part", "Fetching", "ching p", "Fetched part"];
        let text = "a Fetching part of the work, and Fetched pa";
        assert_eq!(found(&texts, text, text.len()), [0, 1, 2]);
        assert_eq!(found(&texts[3..], text, text.len()), [0; 0]);
    }

    #[test]
    fn what_ends_behind_the_length_is_not_found() {
        let texts = ["abcd", "cd?f"];
        assert_eq!(found(&texts, "abcd?f", 6), [0, 1]);
        assert_eq!(found(&texts, "abcd?f", 5), [0]);
        assert_eq!(found(&texts, "abcd?f", 3), [0; 0]);
        assert_eq!(found(&texts[..1], "abcd?f", 3), [0; 0]);
    }

    #[test]
    fn any_number_of_texts_is_found_at_every_place_of_a_long_text() {
        for count in [1, 2, 12, 13, 24, 25, 48] {
            let texts: Vec<String> = (0..count).map(|n| format!("text {n:02} of Some")).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            for before in 0..70 {
                let sought = count - 1;
                let text = format!("{} {} end", "x".repeat(before), texts[sought]);
                assert_eq!(
                    found(&texts, &text, text.len()),
                    [sought],
                    "{count} {before}"
                );
            }
        }
    }
}
