//! Queries that failed: what runs a query writes its error down, and so does what answers the client.

use std::collections::hash_map::Entry;
use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

use crate::parsers::Format;
use crate::record::Record;
use crate::signals::tally::Uses;
use crate::time::{MINUTE, Timestamp};

/// How many queries are remembered.
const REMEMBERED_MAX: usize = 100_000;

/// How long after the first record of a failure another logger may repeat it.
const WITHIN: i64 = MINUTE;

/// Which queries failed, by signal and query: who wrote it first, and when.
#[derive(Default)]
pub(super) struct Queries(FxHashMap<(u16, u64), (u64, Timestamp)>);

impl Queries {
    /// The same of a record of a format, where anything asks for it.
    pub(super) fn repeats(
        &mut self,
        uses: &Uses,
        signal: u16,
        (format, text): (Format, &[u8]),
    ) -> bool {
        let record = uses.per_query.then(|| format.parse(text)).flatten();
        record.is_some_and(|record| self.is_again(signal, &record))
    }

    /// Whether a record of a signal repeats what another logger wrote of the same query. A query that fails again, under the same
    /// id, is written down by the same logger.
    fn is_again(&mut self, signal: u16, record: &Record<'_>) -> bool {
        let Some(time) = record.time.filter(|_| !record.query_id.is_empty()) else {
            return false;
        };
        if self.0.len() >= REMEMBERED_MAX {
            self.0.clear();
        }
        let logger = hash(&[record.logger]);
        let key = (signal, hash(&[record.node, record.query_id]));
        match self.0.entry(key) {
            Entry::Vacant(place) => {
                place.insert((logger, time));
                false
            }
            Entry::Occupied(mut known) => {
                let (first, at) = *known.get();
                let repeats = first != logger && (time.0 - at.0).abs() <= WITHIN;
                if !repeats {
                    known.insert((logger, time));
                }
                repeats
            }
        }
    }
}

fn hash(texts: &[&[u8]]) -> u64 {
    let mut hasher = FxHasher::default();
    for text in texts {
        hasher.write(text);
        hasher.write_u8(0);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SECOND;

    #[test]
    fn a_record_repeats_another_loggers_of_the_same_query_and_kind() {
        let mut queries = Queries::default();
        let mut is_again = |signal, query: &str, logger: &str, seconds: i64| {
            let record = Record {
                time: Some(Timestamp(seconds * SECOND)),
                query_id: query.as_bytes(),
                logger: logger.as_bytes(),
                ..Record::bare(b"", b"")
            };
            queries.is_again(signal, &record)
        };
        for (signal, query, logger, seconds, again) in [
            (1, "q", "executeQuery", 0, false),
            (1, "q", "TCPHandler", 1, true),
            (2, "q", "TCPHandler", 1, false),
            (1, "r", "TCPHandler", 1, false),
            // The same query once more.
            (1, "q", "executeQuery", 2, false),
            (1, "q", "TCPHandler", 2, true),
            (1, "q", "TCPHandler", 63, false),
            // No query at all.
            (1, "", "executeQuery", 3, false),
            (1, "", "TCPHandler", 3, false),
        ] {
            let found = is_again(signal, query, logger, seconds);
            assert_eq!(found, again, "{signal} {query} {logger} {seconds}");
        }
    }
}
