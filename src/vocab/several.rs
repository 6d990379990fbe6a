//! Counts in words.

use std::fmt::Display;

/// A count and what is counted: `1 line`, `2 lines`.
pub fn several<N: Copy + Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let what = if count == N::from(1) { one } else { many };
    format!("{count} {what}")
}

#[cfg(test)]
mod tests {
    use super::several;

    #[test]
    fn one_is_no_plural() {
        let lines = [0_usize, 1, 2, 1_000].map(|count| several(count, "line", "lines"));
        assert_eq!(lines, ["0 lines", "1 line", "2 lines", "1000 lines"]);
    }
}
