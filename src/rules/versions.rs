//! Versions compared number by number.

use std::cmp::Ordering;

/// Compares the leading dotted numbers of two versions; `None` if either begins with none.
///
/// `26.6.2.20001.altinityantalya` is older than `26.6.4.20001`.
pub(super) fn compare(a: &str, b: &str) -> Option<Ordering> {
    let numbers = |text: &str| -> Vec<u64> {
        text.split('.')
            .map_while(|part| part.parse().ok())
            .collect()
    };
    let (a, b) = (numbers(a), numbers(b));
    (!a.is_empty() && !b.is_empty()).then(|| a.cmp(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number_and_not_by_text() {
        assert_eq!(
            compare("26.6.2.20001.altinityantalya", "26.6.4.20001"),
            Some(Ordering::Less)
        );
        assert_eq!(compare("26.10.1", "26.9.2"), Some(Ordering::Greater));
        assert_eq!(compare("unknown", "26.9"), None);
    }
}
