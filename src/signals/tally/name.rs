//! Names in tables of many: of parts, hosts, codes. A name is hashed once where it is looked up, and most lie in the table
//! itself, so that a look-up touches one place.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// The longest name that lies in place: with its length and a tag three words.
const SHORT_MAX: usize = 22;

/// A name in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// In place; what is behind its end is 0.
    Short(u8, [u8; SHORT_MAX]),
    /// Elsewhere.
    Long(Box<[u8]>),
}

impl Name {
    /// Its bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(length, bytes) => &bytes[..usize::from(*length)],
            Self::Long(bytes) => bytes,
        }
    }

    /// The hash by which it is looked up.
    pub(super) fn hash(&self) -> u64 {
        match self {
            Self::Short(length, bytes) => hash_short(usize::from(*length), bytes),
            Self::Long(bytes) => hash_long(bytes),
        }
    }
}

/// How many names wait to be looked up together: while one is fetched from memory so are the next ones.
pub(super) const LATER_MAX: usize = 48;

/// How many names a table has at least for that: a smaller one lies at hand.
pub(super) const LARGE: usize = 512;

/// A name that is looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sought<'n> {
    bytes: &'n [u8],
    /// The same as it lies in a table, if it is short.
    short: [u8; SHORT_MAX],
    /// The hash by which it is looked up.
    pub(super) hash: u64,
}

impl<'n> Sought<'n> {
    #[inline]
    pub(super) fn new(bytes: &'n [u8]) -> Self {
        let short = in_place(bytes);
        let hash = if bytes.len() <= SHORT_MAX {
            hash_short(bytes.len(), &short)
        } else {
            hash_long(bytes)
        };
        Self { bytes, short, hash }
    }

    /// A name that was to be looked up.
    #[inline]
    pub(super) fn again(name: &'n Name, hash: u64) -> Self {
        let bytes = name.bytes();
        let short = match name {
            Name::Short(_, short) => *short,
            Name::Long(_) => [0; SHORT_MAX],
        };
        Self { bytes, short, hash }
    }

    /// Whether it lies in place, so that it can wait without memory of its own.
    pub(super) fn is_short(&self) -> bool {
        self.bytes.len() <= SHORT_MAX
    }

    /// Whether it is a name of a table.
    #[inline]
    pub(super) fn is(&self, name: &Name) -> bool {
        match name {
            Name::Short(length, short) => {
                usize::from(*length) == self.bytes.len() && *short == self.short
            }
            Name::Long(bytes) => **bytes == *self.bytes,
        }
    }

    /// The name to put into a table.
    pub(super) fn name(&self) -> Name {
        match u8::try_from(self.bytes.len()) {
            Ok(length) if usize::from(length) <= SHORT_MAX => Name::Short(length, self.short),
            Ok(_) | Err(_) => Name::Long(self.bytes.into()),
        }
    }
}

/// The bytes of a short name with zeros behind them; of a long one nothing that matters. By moves of known widths that overlap:
/// one of any width is a call.
#[inline]
fn in_place(bytes: &[u8]) -> [u8; SHORT_MAX] {
    let mut short = [0; SHORT_MAX];
    if bytes.len() > SHORT_MAX {
        return short;
    }
    if !(ends::<16, 8>(bytes, &mut short)
        || ends::<8, 8>(bytes, &mut short)
        || ends::<4, 4>(bytes, &mut short))
    {
        for (to, from) in short.iter_mut().zip(bytes) {
            *to = *from;
        }
    }
    short
}

/// Copies the first and the last bytes of a name that has so many.
#[inline]
fn ends<const FIRST: usize, const LAST: usize>(bytes: &[u8], to: &mut [u8; SHORT_MAX]) -> bool {
    let (Some(first), Some(last)) = (bytes.first_chunk::<FIRST>(), bytes.last_chunk::<LAST>())
    else {
        return false;
    };
    if let Some(to) = to.first_chunk_mut::<FIRST>() {
        *to = *first;
    }
    let to = to.get_mut(bytes.len() - LAST..);
    if let Some(to) = to.and_then(|to| to.first_chunk_mut::<LAST>()) {
        *to = *last;
    }
    true
}

#[inline]
fn hash_short(length: usize, short: &[u8; SHORT_MAX]) -> u64 {
    let word = |from: usize| {
        let word = short.get(from..).and_then(|rest| rest.first_chunk::<8>());
        word.map_or(0, |word| u64::from_le_bytes(*word))
    };
    let mut hasher = FxHasher::default();
    hasher.write_u64(word(0));
    hasher.write_u64(word(8));
    hasher.write_u64(word(SHORT_MAX - 8));
    hasher.write_usize(length);
    hasher.finish()
}

#[inline]
fn hash_long(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_length_is_itself_and_no_other() {
        let text = b"20260803_376_376_0_1234_of_a_table";
        let all: Vec<&[u8]> = (0..=text.len()).map(|end| &text[..end]).collect();
        for one in &all {
            let sought = Sought::new(one);
            let name = sought.name();
            assert_eq!((name.bytes(), name.hash()), (*one, sought.hash));
            let same = all.iter().filter(|it| Sought::new(it).is(&name)).count();
            assert_eq!(same, 1, "{one:?}");
        }
        // A zero at the end is a byte as any other.
        assert!(!Sought::new(b"all").is(&Sought::new(b"all\0").name()));
        assert_eq!(size_of::<Name>(), 24);
    }
}
