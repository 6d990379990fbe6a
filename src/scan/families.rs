//! How codes are split by message text.

use crate::search::{Literal, Literals, WINDOW};

/// The families of all codes.
#[derive(Debug, Default)]
pub struct Families {
    all: Vec<Family>,
    codes: Vec<Split>,
}

/// One family of a code.
#[derive(Debug)]
pub struct Family {
    /// The code it splits.
    pub code: u32,
    /// Its id.
    pub id: String,
    /// Any of these on the head's line makes a record one of the family; none means the rest.
    pub contains: Vec<Literal>,
}

/// The families of one code.
#[derive(Debug)]
struct Split {
    code: u32,
    /// The texts of families that are searched for together, and the family of each.
    texts: Literals,
    owners: Vec<u16>,
    /// Those that have no text, or a shorter one.
    others: Vec<u16>,
}

impl Families {
    /// Prepares families, given in the order in which they are tried.
    pub fn new(all: Vec<Family>) -> Self {
        let mut numbers: Vec<u32> = all.iter().map(|family| family.code).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let codes = numbers.into_iter().map(|code| Split::new(code, &all));
        Self {
            codes: codes.collect(),
            all,
        }
    }

    /// All families, in the order in which they are tried.
    pub fn all(&self) -> &[Family] {
        &self.all
    }

    /// The index of the family of a record with `code`: the first that fits.
    pub fn of(&self, code: u32, message: &[u8]) -> Option<u16> {
        let known = self.codes.binary_search_by_key(&code, |known| known.code);
        let code = &self.codes[known.ok()?];
        let mut first: Option<u16> = None;
        code.texts.find(message, message.len(), |text, _| {
            let owner = code.owners[text];
            first = Some(first.map_or(owner, |first| first.min(owner)));
        });
        let mut others = code.others.iter().copied();
        let other = others.find(|&at| self.all[usize::from(at)].fits(message));
        [first, other].into_iter().flatten().min()
    }
}

impl Family {
    fn fits(&self, message: &[u8]) -> bool {
        self.contains.is_empty() || self.contains.iter().any(|text| text.is_in(message))
    }

    /// Whether its texts can be searched for with others.
    fn is_searched(&self) -> bool {
        let long = |text: &Literal| text.text().len() >= WINDOW;
        !self.contains.is_empty() && self.contains.iter().all(long)
    }
}

impl Split {
    fn new(code: u32, all: &[Family]) -> Self {
        let of_code = || {
            (0u16..)
                .zip(all)
                .filter(move |(_, family)| family.code == code)
        };
        let searched = of_code().filter(|(_, family)| family.is_searched());
        let texts = searched
            .flat_map(|(at, family)| family.contains.iter().map(move |text| (at, text.text())));
        let (owners, texts): (Vec<u16>, Vec<&[u8]>) = texts.unzip();
        let others = of_code().filter(|(_, family)| !family.is_searched());
        Self {
            code,
            texts: Literals::new(&texts),
            owners,
            others: others.map(|(at, _)| at).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(code: u32, id: &str, contains: &[&str]) -> Family {
        Family {
            code,
            id: id.to_owned(),
            contains: contains.iter().map(Literal::new).collect(),
        }
    }

    #[test]
    fn the_first_family_that_fits_has_the_record() {
        let families = Families::new(vec![
            family(210, "refused", &["Connection refused", "refused by"]),
            family(999, "session", &["Session expired"]),
            family(210, "short", &["EOF"]),
            family(210, "reset", &["reset by peer"]),
            family(210, "other", &[]),
            family(210, "late", &["never reached"]),
            family(999, "loss", &["Connection loss", "Session"]),
        ]);
        let of = |code: u32, message: &str| {
            let at = families.of(code, message.as_bytes());
            at.map(|at| families.all()[usize::from(at)].id.as_str())
        };
        assert_eq!(
            of(210, "a: reset by peer, Connection refused"),
            Some("refused")
        );
        assert_eq!(of(210, "a: reset by peer"), Some("reset"));
        assert_eq!(of(210, "a: reset by peer at EOF"), Some("short"));
        assert_eq!(of(210, "never reached"), Some("other"));
        assert_eq!(of(999, "Session expired"), Some("session"));
        assert_eq!(of(999, "Session moved"), Some("loss"));
        assert_eq!(of(999, "Connection refused"), None);
        assert_eq!(of(7, "Connection refused"), None);
    }
}
