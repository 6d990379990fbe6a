//! Paths, part by part: a node is masked as it is anywhere, what is called so everywhere stays, the rest is a folder or a
//! file without a name.

use super::words;

/// What a part of a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// Called so everywhere, a number, a part of a table or the like.
    Kept,
    /// A name, and the ends behind it (`.err.log.0.gz`, `!`) that stay.
    Named(&'t str, &'t str),
}

/// Tells what a part of a path is. `node` says of a name whether it is one that is known.
pub(super) fn part(text: &str) -> Part<'_> {
    let (stem, ends) = split_ends(text);
    let is_kept = stem.is_empty()
        || matches!(stem, "." | ".." | "~")
        || words::is_folder(stem)
        || words::is_folder(text)
        || words::is_source(text)
        || is_data_part(stem)
        || is_segment(stem)
        || is_hash(stem);
    if is_kept {
        Part::Kept
    } else {
        Part::Named(stem, ends)
    }
}

/// A name, and what is behind it: ends of names of files, numbers of pieces, the mark of an archive.
fn split_ends(text: &str) -> (&str, &str) {
    let mut stem = text.strip_suffix('!').unwrap_or(text);
    while let Some((head, end)) = stem.rsplit_once('.') {
        let is_number = !end.is_empty() && end.bytes().all(|b| b.is_ascii_digit());
        if head.is_empty() || !is_number && !words::is_file_end(end) {
            break;
        }
        // The numbers of an address are no pieces of a log.
        if is_number
            && head
                .rsplit_once('.')
                .is_some_and(|(_, it)| it.bytes().all(|b| b.is_ascii_digit()))
        {
            break;
        }
        stem = head;
    }
    text.split_at(stem.len())
}

/// `all_1_1_0`, with or without what is put before it.
pub(super) fn is_data_part(text: &str) -> bool {
    let mut numbers = text
        .rsplit('_')
        .take_while(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()));
    numbers.by_ref().count() >= 3 && text.contains(|c: char| c != '_' && !c.is_ascii_digit())
        || text.len() > 8
            && text.split('_').count() >= 4
            && text.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

/// `seg-0000000000000001`, `log_1_100000_v2`, `snapshot.500`: a word of a layout and positions.
fn is_segment(stem: &str) -> bool {
    let mut pieces = stem.split(['-', '_', '.']);
    let word = pieces.next().unwrap_or_default();
    let is_number = |it: &str| {
        let digits = it.strip_prefix(['x', 'v']).unwrap_or(it);
        !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_hexdigit())
            && digits.contains(|c: char| c.is_ascii_digit())
    };
    let rest: Vec<&str> = pieces.collect();
    let is_word = matches!(
        word,
        "seg" | "segment" | "log" | "changelog" | "snapshot" | "wal" | "core"
    );
    is_word && !rest.is_empty() && rest.iter().all(|it| is_number(it))
}

/// Numbers, and hashes and UUIDs in full: a short one may be a name (`ada`, `db7`).
pub(super) fn is_hash(text: &str) -> bool {
    let is_number = text.bytes().all(|b| b.is_ascii_digit());
    let is_hex = text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    !text.is_empty() && (is_number || is_hex && is_long(text))
}

fn is_long(text: &str) -> bool {
    text.len() >= 16 && text.contains(|c: char| c.is_ascii_digit())
}

/// The path at the beginning of a text: from a root, a home or a drive, or with two separators and more.
pub(super) fn path_at(rest: &str, before: Option<char>) -> Option<&str> {
    let is_end = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '\'' | '"'
                    | '`'
                    | ','
                    | ';'
                    | '('
                    | ')'
                    | '<'
                    | '>'
                    | '|'
                    | '{'
                    | '}'
                    | '='
                    | '?'
                    | ':'
            )
    };
    let drive = rest.as_bytes();
    let is_drive =
        drive.len() > 3 && drive[0].is_ascii_alphabetic() && drive[1] == b':' && drive[2] == b'\\';
    let from = if is_drive { 2 } else { 0 };
    let end = rest[from..].find(is_end).map_or(rest.len(), |at| from + at);
    let token = rest[..end].trim_end_matches('.');
    let begins = token.chars().next()?;
    let inner = token.trim_start_matches('/');
    let separators = token.matches('/').count();
    let is_rooted = begins == '/'
        && !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | ':' | '}' | ')'))
        && inner.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_'));
    let is_home = begins == '~' && separators > 0;
    let is_long = (begins.is_alphanumeric() || matches!(begins, '.' | '_')) && separators >= 2;
    (is_drive || is_rooted || is_home || is_long).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_paths_are_told_from_names() {
        for (text, found) in [
            ("clickhouse-server.err.log.0.gz", Part::Kept),
            ("var", Part::Kept),
            ("all_1_1_0", Part::Kept),
            ("tmp-fetch_202601_5_9_2_11", Part::Kept),
            ("94c", Part::Named("94c", "")),
            ("4711", Part::Kept),
            ("94c6b7a0-58cc-4372-a567-0e02b2c3d479", Part::Kept),
            ("seg-0000000000000001.wal", Part::Kept),
            ("TCPHandler.cpp", Part::Kept),
            ("alice", Part::Named("alice", "")),
            ("ctrl-1.log", Part::Named("ctrl-1", ".log")),
            ("acme.tar.gz!", Part::Named("acme", ".tar.gz!")),
            ("10.0.0.7", Part::Named("10.0.0.7", "")),
            (
                "db7.prod.example.org.log",
                Part::Named("db7.prod.example.org", ".log"),
            ),
        ] {
            assert_eq!(part(text), found, "{text}");
        }
    }

    #[test]
    fn a_path_is_no_fraction() {
        for (text, found) in [
            ("/home/alice/x.log: denied", Some("/home/alice/x.log")),
            ("~alice/keys, ", Some("~alice/keys")),
            ("C:\\Users\\alice\\x y", Some("C:\\Users\\alice\\x")),
            ("cas/roots/ca-1/ref", Some("cas/roots/ca-1/ref")),
            ("I/O error", None),
            ("49/50", None),
            ("/ x", None),
        ] {
            assert_eq!(path_at(text, None), found, "{text}");
        }
        assert_eq!(path_at("/s of 3", Some('B')), None);
    }
}
