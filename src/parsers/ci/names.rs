//! Names of tests: as `TestFlows` stores them, and as people write them.
//!
//! `TestFlows` replaces the characters that its patterns and paths use by look-alikes (testflows.core 2.0, `name.py`), so the
//! stored name is what `--only` takes, and the readable one is what people search for.

/// The look-alikes: stored, and written.
const LOOK_ALIKES: &[(char, char)] = &[
    ('\u{2024}', '.'),
    ('\u{2215}', '/'),
    ('\u{FF3B}', '['),
    ('\u{FF3D}', ']'),
    ('\u{FE55}', ':'),
    ('\u{FF08}', '('),
    ('\u{FF09}', ')'),
    ('\u{FF07}', '\''),
    ('\u{FF02}', '"'),
    ('\u{FF0A}', '*'),
    ('\u{FE16}', '?'),
    ('\u{FE15}', '!'),
    ('\u{FE69}', '$'),
    ('\u{FE68}', '\\'),
    ('\u{02C4}', '^'),
    ('\u{FF0B}', '+'),
    ('\u{FF5B}', '{'),
    ('\u{FF5D}', '}'),
    ('\u{2160}', '|'),
];

/// A stored name with plain characters.
pub fn readable(stored: &str) -> String {
    let plain = |c: char| {
        LOOK_ALIKES
            .iter()
            .find(|(stored, _)| *stored == c)
            .map_or(c, |(_, plain)| *plain)
    };
    stored.chars().map(plain).collect()
}

/// Whether two names are one, whichever way each is written.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || readable(one) == readable(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_name_and_a_pasted_one_are_the_same() {
        let stored = "/ledger/key （intDiv（a,2）,intDiv（b,2）） tables plain_replicated";
        assert!(is_same(
            stored,
            "/ledger/key (intDiv(a,2),intDiv(b,2)) tables plain_replicated"
        ));
        assert_eq!(
            readable("order by, version 21․1 ［variant 1］﹕ a∕b"),
            "order by, version 21.1 [variant 1]: a/b"
        );
        assert!(!is_same("/a/b", "/a/c"));
    }
}
