//! Where lines end.

#[cfg(target_arch = "x86_64")]
use super::{LANES, vectors::Vectors};

/// How many bytes make one word of bits.
const WORD: usize = 64;

/// How many words are made at once: those of 4 KiB, some twenty lines.
const WORDS: usize = 64;

/// Where the lines of a text end, in order: the places of its newlines.
#[derive(Debug)]
pub struct LineEnds<'t> {
    text: &'t [u8],
    /// Where the bytes begin that `words` stand for.
    from: usize,
    /// A bit for each byte that is a newline.
    words: [u64; WORDS],
    /// The word that is read: what is left of it, and which it is.
    word: u64,
    at: usize,
    /// Whether all bytes so far are ASCII and none is NUL.
    is_plain: bool,
}

impl<'t> LineEnds<'t> {
    /// Those of `text`.
    pub fn new(text: &'t [u8]) -> Self {
        let mut ends = Self {
            text,
            from: 0,
            words: [0; WORDS],
            word: 0,
            at: 0,
            is_plain: true,
        };
        ends.read();
        ends
    }

    /// Whether all of the text read so far is ASCII and has no NUL: once all ends are given, all of it.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Fills the words with what stands at `from`.
    fn read(&mut self) {
        let text = self.text;
        let rest = text.get(self.from..).unwrap_or_default();
        self.is_plain &= mark(&rest[..rest.len().min(WORD * WORDS)], &mut self.words);
        self.at = 0;
        self.word = self.words[0];
    }

    /// Goes on to the next bytes; whether there are any.
    #[cold]
    fn go_on(&mut self) -> bool {
        self.from += WORD * WORDS;
        let more = self.from < self.text.len();
        if more {
            self.read();
        }
        more
    }
}

impl Iterator for LineEnds<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            self.at += 1;
            match self.words.get(self.at) {
                Some(&word) => self.word = word,
                None => {
                    if !self.go_on() {
                        self.at -= 1;
                        return None;
                    }
                }
            }
        }
        let bit = self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(self.from + self.at * WORD + bit)
    }
}

/// Sets a bit for each newline of `text`, and none behind it; whether the text is ASCII without a NUL.
fn mark(text: &[u8], words: &mut [u64; WORDS]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(vectors) = Vectors::get() {
        return vectors.run(Marking {
            vectors,
            text,
            words,
        });
    }
    mark_one_by_one(text, words)
}

fn mark_one_by_one(text: &[u8], words: &mut [u64; WORDS]) -> bool {
    words.fill(0);
    for at in memchr::memchr_iter(b'\n', text) {
        words[at / WORD] |= 1 << (at % WORD);
    }
    is_plain(text)
}

fn is_plain(text: &[u8]) -> bool {
    text.is_ascii() && memchr::memchr(0, text).is_none()
}

#[cfg(target_arch = "x86_64")]
struct Marking<'a> {
    vectors: Vectors,
    text: &'a [u8],
    words: &'a mut [u64; WORDS],
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for Marking<'_> {
    type Output = bool;

    #[expect(clippy::inline_always, reason = "as in `vectors`")]
    #[inline(always)]
    fn call(self) -> bool {
        let vectors = self.vectors;
        let newline = vectors.all(b'\n');
        let (mut all, mut least) = (newline, newline);
        let (chunks, rest) = self.text.as_chunks::<WORD>();
        let mut words = self.words.iter_mut();
        for (chunk, word) in chunks.iter().zip(words.by_ref()) {
            let [low, high] = chunk.as_chunks().0 else {
                break;
            };
            let (low, high) = (vectors.load(low), vectors.load(high));
            all = vectors.or(all, vectors.or(low, high));
            least = vectors.least(least, vectors.least(low, high));
            *word = u64::from(vectors.same(low, newline))
                | u64::from(vectors.same(high, newline)) << LANES;
        }
        if let Some(word) = words.next() {
            *word = 0;
            for at in memchr::memchr_iter(b'\n', rest) {
                *word |= 1 << at;
            }
        }
        for word in words {
            *word = 0;
        }
        vectors.tops(all) | vectors.same(least, vectors.all(0)) == 0 && is_plain(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of lines of many lengths, from none to several words of bits.
    fn lines(bytes: usize) -> Vec<u8> {
        let mut text = Vec::new();
        let mut length = 7_usize;
        while text.len() < bytes {
            length = (length * 31 + 11) % 397;
            text.extend(std::iter::repeat_n(b'x', length));
            text.push(b'\n');
            if length.is_multiple_of(5) {
                text.extend(b"\n\n");
            }
        }
        text.truncate(bytes);
        text
    }

    #[test]
    fn every_newline_is_found_in_texts_of_any_length() {
        let lengths = (0..200).chain(4000..4300).chain([8192, 12_345, 40_000]);
        for length in lengths {
            let text = lines(length);
            let expected: Vec<usize> = (0..text.len()).filter(|&at| text[at] == b'\n').collect();
            let mut ends = LineEnds::new(&text);
            assert_eq!(ends.by_ref().collect::<Vec<_>>(), expected, "{length}");
            assert_eq!((ends.next(), ends.next()), (None, None));
        }
    }

    #[test]
    fn bits_are_the_same_without_vectors() {
        for length in [0, 1, 63, 64, 65, 127, 1000, 4095, 4096] {
            let text = lines(length);
            let (mut words, mut plain) = ([7; WORDS], [9; WORDS]);
            assert!(mark(&text, &mut words));
            assert!(mark_one_by_one(&text, &mut plain));
            assert_eq!(words, plain, "{length}");
        }
    }

    #[test]
    fn a_byte_that_is_no_plain_text_is_seen_at_every_place() {
        let is_plain = |text: &[u8]| {
            let mut ends = LineEnds::new(text);
            ends.by_ref().for_each(drop);
            ends.is_plain()
        };
        for length in [1, 63, 64, 70, 5000] {
            let text = lines(length);
            assert!(is_plain(&text));
            for at in (0..length).step_by(7).chain([length - 1]) {
                for byte in [0, 0x80, 0xff] {
                    let mut text = text.clone();
                    text[at] = byte;
                    assert!(!is_plain(&text), "{byte} at {at} of {length}");
                }
            }
        }
    }
}
