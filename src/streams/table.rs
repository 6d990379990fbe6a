//! The table that a record is about, as its logger begins: `default.t (3f1c0b5e-0000-4000-8000-000000000001) (Fetcher)`.

use super::Scanned;
use crate::scan::Entry;

/// How long a UUID is, and where its dashes stand.
const UUID_BYTES: usize = 36;
const DASHES: [usize; 4] = [8, 13, 18, 23];

/// The table of a record: by its UUID, which it keeps where it is renamed, and which no table has that is made anew under its
/// name; by its name where the logger has no UUID.
pub(super) fn table_of<'s>(scanned: &'s Scanned, entry: &Entry) -> &'s [u8] {
    table(entry.logger.of(&scanned.block.bytes))
}

fn table(logger: &[u8]) -> &[u8] {
    let end = match memchr::memchr2(b' ', b'`', logger) {
        Some(at) if logger[at] == b'`' => end_of_quoted(logger, at),
        Some(at) => at,
        None => logger.len(),
    };
    let (name, rest) = logger.split_at(end);
    uuid(rest).unwrap_or(name)
}

/// Where a name ends that has quotes from `from` on: at a blank outside of them. A quote within them has a backslash before it,
/// or is doubled, which ends one quotation and begins the next.
#[cold]
fn end_of_quoted(logger: &[u8], from: usize) -> usize {
    let mut is_quoted = false;
    let mut bytes = logger.iter().enumerate().skip(from);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'`' => is_quoted = !is_quoted,
            b'\\' if is_quoted => {
                bytes.next();
            }
            b' ' if !is_quoted => return at,
            _ => {}
        }
    }
    logger.len()
}

/// The UUID in parentheses that follows a name.
fn uuid(rest: &[u8]) -> Option<&[u8]> {
    let (uuid, rest) = rest.strip_prefix(b" (")?.split_at_checked(UUID_BYTES)?;
    let is_uuid = rest.first() == Some(&b')') && DASHES.iter().all(|&at| uuid[at] == b'-');
    is_uuid.then_some(uuid)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "3f1c0b5e-0000-4000-8000-000000000001";

    #[test]
    fn a_table_is_its_uuid_or_its_whole_name() {
        let uuid = format!("default.t ({ONE}) (Fetcher)");
        let quoted_uuid = format!("`my db`.`or (ders` ({ONE})");
        for (logger, named) in [
            ("default.t", "default.t"),
            ("default.t (Fetcher)", "default.t"),
            // Shortened, as in what people paste: no identity.
            ("default.t (94c6) (Fetcher)", "default.t"),
            (
                "default.t (ReplicatedMergeTreePartCheckThread)",
                "default.t",
            ),
            (&*uuid, ONE),
            (&*quoted_uuid, ONE),
            ("", ""),
            ("`my db`.`orders` (Data)", "`my db`.`orders`"),
            ("db.`a.b (c)` (Data)", "db.`a.b (c)`"),
            (r"`a\` b`.t (Data)", r"`a\` b`.t"),
            (r"`a\\`.t (Data)", r"`a\\`.t"),
            ("`a`` b`.t (Data)", "`a`` b`.t"),
            // Cut within a quotation.
            ("`my db`.`ord ers", "`my db`.`ord ers"),
        ] {
            let found = String::from_utf8_lossy(table(logger.as_bytes()));
            assert_eq!(found, named, "{logger}");
        }
    }
}
