//! A text to look for, prepared once.

use memchr::memmem::Finder;

use super::begins_with;

/// A text prepared for searching, fast at any length.
#[derive(Debug, Clone)]
pub struct Literal {
    text: Box<[u8]>,
    /// Finds its beginning: a search for more than this many bytes leaves the vector instructions.
    beginning: Finder<'static>,
}

/// The longest text that is searched for with vector instructions (memchr 2.8).
const VECTOR_MAX: usize = 32;

impl Literal {
    /// Prepares `text`.
    pub fn new(text: impl AsRef<[u8]>) -> Self {
        let text = text.as_ref();
        Self {
            text: text.into(),
            beginning: Finder::new(&text[..text.len().min(VECTOR_MAX)]).into_owned(),
        }
    }

    /// The text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Where it first begins in `within`.
    pub fn find(&self, within: &[u8]) -> Option<usize> {
        self.places(within).next()
    }

    /// Whether it stands in `within`.
    pub fn is_in(&self, within: &[u8]) -> bool {
        self.find(within).is_some()
    }

    /// Every place where it begins in `within`, overlapping ones included.
    pub fn places<'t>(&'t self, within: &'t [u8]) -> impl Iterator<Item = usize> + 't {
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let rest = within.get(from..)?;
                let at = from + self.beginning.find(rest)?;
                from = at + 1;
                if begins_with(&within[at..], &self.text) {
                    return Some(at);
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_longer_than_its_beginning_is_found_whole_or_not_at_all() {
        let beginning = "b".repeat(VECTOR_MAX);
        let literal = Literal::new(format!("{beginning} end"));
        let text = format!("{beginning} no, {beginning}b end");
        assert_eq!(literal.find(text.as_bytes()), Some(VECTOR_MAX + 5 + 1));
        assert!(!literal.is_in(format!("{beginning} en").as_bytes()));
    }

    #[test]
    fn places_overlap() {
        assert_eq!(
            Literal::new("aa").places(b"aaa a").collect::<Vec<_>>(),
            [0, 1]
        );
    }
}
