//! Many texts looked for at once, with vector instructions.
//!
//! What is searched for is a window of each text: its few bytes that are rarest in logs. Fewer bytes cost fewer
//! instructions, and rare ones seldom stand where their text does not. Where a window stands its texts are compared.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, packed};
use rustc_hash::FxHashMap;

use super::Literal;

/// Texts looked for together. More than a packed search can tell apart are searched for in several.
#[derive(Debug)]
pub(super) struct Literals {
    texts: Vec<Literal>,
    search: Search,
    /// By window that is searched for.
    windows: Vec<Holders>,
}

/// The texts that hold a window, and where in them it begins.
type Holders = Vec<(usize, usize)>;

#[derive(Debug)]
enum Search {
    /// For a single text.
    One,
    /// With vector instructions alone.
    Packed(packed::Searcher),
    /// On machines that lack them.
    Automaton(AhoCorasick),
}

/// How many bytes of what follows a text are searched with it: a packed search of less falls off its vector instructions.
const STRETCH: usize = 48;

impl Literals {
    /// Prepares texts of at least four bytes each.
    pub(super) fn new(texts: &[&[u8]]) -> Self {
        // The more windows, the likelier that one stands somewhere by chance.
        let length = match texts.len() {
            0..=4 => 2,
            5..=12 => 3,
            _ => 4,
        };
        let mut windows: Vec<(&[u8], Holders)> = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let at = rarest(text, length);
            let window = &text[at..text.len().min(at + length)];
            match windows.iter_mut().find(|(known, _)| *known == window) {
                Some((_, holders)) => holders.push((number, at)),
                None => windows.push((window, vec![(number, at)])),
            }
        }
        let sought: Vec<&[u8]> = windows.iter().map(|(window, _)| *window).collect();
        Self {
            texts: texts.iter().map(Literal::new).collect(),
            search: if texts.len() == 1 {
                Search::One
            } else {
                Search::new(&sought)
            },
            windows: windows.into_iter().map(|(_, holders)| holders).collect(),
        }
    }

    /// Calls `found` with the number of a text for each place at which it stands in the first `length` bytes of `text`.
    /// What stands behind them is looked at and not searched.
    #[inline]
    pub(super) fn find(&self, text: &[u8], length: usize, mut found: impl FnMut(usize)) {
        let within = &text[..length];
        if let Search::One = self.search {
            if self.texts[0].is_in(within) {
                found(0);
            }
            return;
        }
        let mut from = 0;
        while from < length {
            let searched = &text[..length.max(from + STRETCH).min(text.len())];
            let Some((window, at)) = self.search.next(searched, from) else {
                return;
            };
            for &(number, before) in &self.windows[window] {
                let start = at.checked_sub(before);
                let rest = start.and_then(|start| within.get(start..));
                if rest.is_some_and(|rest| rest.starts_with(self.texts[number].text())) {
                    found(number);
                }
            }
            from = at + 1;
        }
    }
}

impl Search {
    #[expect(
        clippy::expect_used,
        reason = "a few dozen windows that are not empty always build"
    )]
    fn new(windows: &[&[u8]]) -> Self {
        let packed = packed::Config::new().builder().extend(windows).build();
        packed.map_or_else(
            || {
                let automaton = AhoCorasick::builder()
                    .kind(Some(AhoCorasickKind::ContiguousNFA))
                    .build(windows);
                Self::Automaton(automaton.expect("windows build"))
            },
            Self::Packed,
        )
    }

    /// The next window from `from` on: its number, and where it begins.
    #[inline]
    fn next(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let found = match self {
            Self::One => None,
            Self::Packed(searcher) => searcher.find_in(text, (from..text.len()).into()),
            Self::Automaton(automaton) => {
                automaton.find(aho_corasick::Input::new(text).range(from..))
            }
        };
        found.map(|found| (found.pattern().as_usize(), found.start()))
    }
}

/// What servers write all the time. A window that stands in it is found in very many records, and nothing with it.
const COMMON: &[u8] = b"auto DB::StorageReplicatedMergeTree::processQueueEntry(ReplicatedMergeTreeQueue::SelectedEntryPtr)::(anonymous class)\
    ::operator()(DB::StorageReplicatedMergeTree *) const: Code: 210. DB::Exception: Poco::Exception. Code: 1000, e.code() = 111, \
    Connection refused (version 24.8.1.1 (official build)), Stack trace (when copying this message, always include the lines below):
Trying to reserve 1.00 MiB using storage policy from min volume index 0
Reserved 1.00 MiB on local disk `default`, having unreserved 100.00 GiB.
Fetching part all_1_1_0 from default:/clickhouse/tables/1/replicas/r1
Fetched part all_1_1_0 from default:/clickhouse/tables/1/replicas/r1
Pulling 1 entries to queue: log-0000000001 - log-0000000001
Pulled 1 entries to queue.
Sending part all_1_1_0
Renaming temporary part tmp_insert_all_1_1_0 to all_1_1_0 with tid (1, 1, 00000000-0000-0000-0000-000000000000).
Request URI: /?endpoint=DataPartsExchange%3A%2Fclickhouse%2Ftables%2Freplicas%2Fr1&part=all_1_1_0&client_protocol_version=8&compress=false
Done processing query
Processed in 0.001 sec.
(from 127.0.0.1:40000, user: default) SELECT a, b FROM c WHERE d = 1 (stage: Complete)
List of all grants: GRANT SHOW, SELECT, INSERT, ALTER, CREATE, DROP ON *.*
Read 1 rows, 1.00 B in 0.001 sec., 1000 rows/sec., 1.00 KiB/sec.
Query peak memory usage: 1.00 MiB.
Key condition: unknown
Selected 1/1 parts by partition key, 1 parts by primary key, 1/1 marks by primary key, 1 marks to read from 1 ranges
Spreading mark ranges among streams (default reading)
Merging 3 parts: from all_1_1_0 to all_3_3_0 into Compact with storage Full
Merge sorted 3 rows, containing 2 columns (2 merged, 0 gathered) in 0.001 sec., 3000 rows/sec., 1.00 KiB/sec.
Removed 3 old parts from memory: all_1_1_0, all_2_2_0, all_3_3_0
Will execute log entry queue-0000000001, fetch from another replica
Connected ClickHouse client version 24.8.0, revision: 54000, user: default.
Authenticated with global context as user default
Flushing system log, 10 entries to flush up to offset 10
{\"@level\":\"info\",\"@message\":\"text\",\"@module\":\"agent.server\",\"@timestamp\":\"2026-11-29T00:00:00.000000Z\",\"from\":\"10.0.0.7:40012\"}
{\"level\":\"info\",\"ts\":\"2026-11-29T00:00:00.000Z\",\"caller\":\"a/b.go:1\",\"msg\":\"text\",\"took\":\"1.2ms\",\"revision\":1}
";

/// The shortest window, in bytes.
const SHORTEST: usize = 2;

/// How often each window of two, three and four bytes stands in [`COMMON`].
static COMMON_WINDOWS: LazyLock<[FxHashMap<&'static [u8], u32>; 3]> = LazyLock::new(|| {
    [SHORTEST, SHORTEST + 1, SHORTEST + 2].map(|length| {
        let mut counts = FxHashMap::default();
        for window in COMMON.windows(length) {
            *counts.entry(window).or_default() += 1;
        }
        counts
    })
});

/// Where in `text` the bytes begin that are rarest in logs, `length` of them or all there are.
fn rarest(text: &[u8], length: usize) -> usize {
    let counts = &COMMON_WINDOWS[length - SHORTEST];
    let cost = |window: &[u8]| {
        let in_common = counts.get(window).copied().unwrap_or(0);
        let by_bytes = window.iter().map(|&byte| commonness(byte)).product::<u32>();
        (in_common, by_bytes)
    };
    let windows = text.windows(length).enumerate();
    windows
        .min_by_key(|(_, window)| cost(window))
        .map_or(0, |(at, _)| at)
}

/// How common a byte is in logs, roughly: in how many of a thousand places it stands, counted in the logs of servers.
fn commonness(byte: u8) -> u32 {
    match byte {
        b' ' => 100,
        b'e' | b't' => 60,
        b'a' | b'i' | b'n' | b'o' | b'r' | b's' | b'd' | b'c' | b'l' => 40,
        b'0'..=b'9' => 25,
        b'a'..=b'z' => 15,
        b'_' | b'-' | b'.' | b',' | b':' => 12,
        b'/' | b'(' | b')' | b'<' | b'>' | b'%' | b'=' | b'\'' => 6,
        b'A'..=b'Z' => 5,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: &[&str], text: &str, length: usize) -> Vec<usize> {
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        let mut numbers = Vec::new();
        Literals::new(&texts).find(text.as_bytes(), length, |number| numbers.push(number));
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    #[test]
    fn texts_that_share_a_window_or_hold_each_other_are_all_found() {
        let texts = ["Fetching part", "Fetching", "ching p", "Fetched part"];
        let text = "a Fetching part of the work, and Fetched pa";
        assert_eq!(found(&texts, text, text.len()), [0, 1, 2]);
        assert_eq!(found(&texts[3..], text, text.len()), [0; 0]);
    }

    #[test]
    fn what_ends_behind_the_length_is_not_found() {
        let texts = ["abcd", "cd?f"];
        assert_eq!(found(&texts, "abcd?f", 6), [0, 1]);
        assert_eq!(found(&texts, "abcd?f", 5), [0]);
        assert_eq!(found(&texts, "abcd?f", 3), [0; 0]);
        assert_eq!(found(&texts[..1], "abcd?f", 3), [0; 0]);
    }

    #[test]
    fn any_number_of_texts_is_found_at_every_place_of_a_long_text() {
        for count in [1, 2, 12, 13, 24, 25, 48] {
            let texts: Vec<String> = (0..count).map(|n| format!("text {n:02} of Some")).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            for before in 0..70 {
                let sought = count - 1;
                let text = format!("{} {} end", "x".repeat(before), texts[sought]);
                assert_eq!(
                    found(&texts, &text, text.len()),
                    [sought],
                    "{count} {before}"
                );
            }
        }
    }
}
