//! What the name of a log's file says: the log, whether it is the err.log, and which rotated piece it is.

use std::cmp::Reverse;

/// What an artifact is to its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The log itself.
    Main,
    /// The err.log, which repeats the log's worse records.
    Err,
    /// An export of `system.text_log`, which repeats all of its records down to some level.
    View,
}

/// What the name of a rotated piece says of its age. Later variants and larger values are younger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rotation {
    /// A date, as logrotate's `dateext` writes it: its digits, filled up to 18.
    Date(u64),
    /// A number: 0 is the youngest.
    Number(Reverse<u32>),
    /// Set aside, as `.old`, `.bak` or `~`.
    Aside,
}

/// Endings of files that somebody set aside or an editor or browser left.
const ASIDE: &[&str] = &["~", ".bak", ".old", ".orig", ".save", ".copy", " copy"];

/// Splits `NAME[.err].log[.N|-DATE][.bak][.gz]` into its stem, role and rotation.
pub fn split_name(file: &str) -> (&str, Role, Option<Rotation>) {
    let mut name = file;
    for packed in [".gz", ".zst", ".zstd", ".lz4", ".xz", ".bz2"] {
        name = name.strip_suffix(packed).unwrap_or(name);
    }
    let mut piece = None;
    for aside in ASIDE {
        if let Some(head) = name.strip_suffix(aside) {
            (name, piece) = (head, Some(Rotation::Aside));
        }
    }
    if let Some((head, rotation)) = split_date(name).or_else(|| split_number(name)) {
        (name, piece) = (head, Some(rotation));
    }
    for text in [".log", ".txt", ".out", ".LOG", ".TXT", ".OUT"] {
        name = name.strip_suffix(text).unwrap_or(name);
    }
    // `extension .log` of logrotate, and the second download of a browser: `server-20261129.log`, `server (1).log`.
    if let Some((head, rotation)) = split_date(name).or_else(|| split_download(name)) {
        (name, piece) = (head, piece.or(Some(rotation)));
    }
    for err in [".err", "-err", "_err"] {
        if let Some(stem) = name.strip_suffix(err) {
            return (stem, Role::Err, piece);
        }
    }
    (name, Role::Main, piece)
}

/// The NAME of a copy: `NAME-copy`, `NAME - Copy (2)`, `NAME copy 2`, `Copy of NAME`.
pub fn copied_from(stem: &str) -> Option<&str> {
    let is_mark = |c: char| matches!(c, ' ' | '-' | '_' | '.' | '(' | ')');
    let unnumbered = stem.trim_end_matches(|c: char| c.is_ascii_digit() || is_mark(c));
    let is_copy = |at: &usize| {
        let word = unnumbered.get(*at..);
        word.is_some_and(|word| word.eq_ignore_ascii_case("copy"))
    };
    let behind = unnumbered.len().checked_sub("copy".len()).filter(is_copy);
    let before = || {
        let begins = stem.get(.."copy-of-".len())?.to_ascii_lowercase();
        let is_copy = begins.replace(is_mark, " ") == "copy of ";
        is_copy.then(|| &stem["copy-of-".len()..])
    };
    let name = behind
        .map(|at| &stem[..at])
        .filter(|name| name.ends_with(is_mark));
    let name = name
        .map(|name| name.trim_end_matches(is_mark))
        .or_else(before);
    name.filter(|name| !name.is_empty())
}

/// `NAME.N`.
fn split_number(name: &str) -> Option<(&str, Rotation)> {
    let (head, number) = name.rsplit_once('.')?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let number = number.parse().ok().filter(|_| is_number)?;
    Some((head, Rotation::Number(Reverse(number))))
}

/// `NAME (N)`.
fn split_download(name: &str) -> Option<(&str, Rotation)> {
    let (head, number) = name.strip_suffix(')')?.rsplit_once(" (")?;
    number
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then_some((head, Rotation::Aside))
}

/// `NAME-YYYYMMDD`, `NAME.YYYY-MM-DD`, and either with an hour or seconds behind.
fn split_date(name: &str) -> Option<(&str, Rotation)> {
    let is_part = |c: char| c.is_ascii_digit() || c == '-';
    let tail = name.len() - name.trim_end_matches(is_part).len();
    let (head, tail) = name.split_at(name.len() - tail);
    let head = match tail.strip_prefix('-') {
        Some(_) => head,
        None => head.strip_suffix(['.', '_'])?,
    };
    let digits: String = tail.chars().filter(char::is_ascii_digit).collect();
    let number = |from: usize, to: usize| digits.get(from..to)?.parse::<u32>().ok();
    let is_date = matches!(number(0, 4)?, 1990..=2199)
        && matches!(number(4, 6)?, 1..=12)
        && matches!(number(6, 8)?, 1..=31);
    let date = format!("{digits:0<18}").parse().ok()?;
    (is_date && digits.len() <= 18 && !head.is_empty()).then_some((head, Rotation::Date(date)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_says_of_what_it_is_one() {
        for (stem, name) in [
            ("n1-copy", Some("n1")),
            ("n1 copy 2", Some("n1")),
            ("n1 - Copy (2)", Some("n1")),
            ("n1 - Copy", Some("n1")),
            ("n1 (copy)", Some("n1")),
            ("Copy of n1", Some("n1")),
            ("copy_of_clickhouse-server", Some("clickhouse-server")),
            ("ü copy", Some("ü")),
            ("copy", None),
            ("-copy", None),
            ("copy of ", None),
            ("photocopy", None),
            ("n1-copying", None),
            ("n1", None),
            ("ünode-ü", None),
        ] {
            assert_eq!(copied_from(stem), name, "{stem}");
        }
    }

    #[test]
    fn rotated_and_set_aside_pieces_are_pieces_of_their_log() {
        let dated = |digits| Some(Rotation::Date(digits));
        for (file, role, piece) in [
            (
                "clickhouse-server.log-20261128.gz",
                Role::Main,
                dated(202_611_280_000_000_000),
            ),
            (
                "clickhouse-server.err.log.2026-09-01-13",
                Role::Err,
                dated(202_609_011_300_000_000),
            ),
            (
                "clickhouse-server-20261129.log",
                Role::Main,
                dated(202_611_290_000_000_000),
            ),
            (
                "clickhouse-server (1).log",
                Role::Main,
                Some(Rotation::Aside),
            ),
            (
                "clickhouse-server.log.bak",
                Role::Main,
                Some(Rotation::Aside),
            ),
        ] {
            let expected = ("clickhouse-server", role, piece);
            assert_eq!(split_name(file), expected, "{file}");
        }
    }
}
