//! Many texts looked for at once.
//!
//! What is searched for is a window of each text: its few bytes that are rarest in logs. Rare ones seldom stand where their text
//! does not. Where a window stands its texts are compared.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, packed};
use rustc_hash::FxHashMap;

use super::{Literal, WINDOW, Windows, begins_with};

/// Texts looked for together.
#[derive(Debug)]
pub struct Literals {
    texts: Vec<Literal>,
    search: Search,
    /// By window that is searched for: the texts that hold it, and where in them it begins.
    windows: Vec<Vec<(usize, usize)>>,
}

#[derive(Debug)]
enum Search {
    /// For a single text.
    One,
    /// All windows of a text in one pass.
    Windows(Windows),
    /// On machines without these instructions: one window after another.
    Packed(packed::Searcher),
    /// On machines without any.
    Automaton(AhoCorasick),
}

/// How many bytes of what follows a text are searched with it: a packed search of less falls off its vector instructions.
const STRETCH: usize = 48;

impl Literals {
    /// How many texts are searched for well at once.
    pub const MAX: usize = Windows::MAX;

    /// Prepares texts of at least [`WINDOW`] bytes each.
    pub fn new(texts: &[&[u8]]) -> Self {
        Self::by(texts, Search::new)
    }

    fn by(texts: &[&[u8]], search: impl FnOnce(&[[u8; WINDOW]]) -> Search) -> Self {
        let mut sought: Vec<[u8; WINDOW]> = Vec::new();
        let mut windows: Vec<Vec<(usize, usize)>> = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let (at, window) = rarest(text);
            if let Some(known) = sought.iter().position(|known| *known == window) {
                windows[known].push((number, at));
            } else {
                sought.push(window);
                windows.push(vec![(number, at)]);
            }
        }
        Self {
            texts: texts.iter().map(Literal::new).collect(),
            search: if texts.len() == 1 {
                Search::One
            } else {
                search(&sought)
            },
            windows,
        }
    }

    /// Calls `found` with the number of a text and the place where it begins, for each place at which it stands in the first
    /// `length` bytes of `text`; of a single text, for the first place alone.
    /// What stands behind them is looked at and not searched.
    #[inline]
    pub fn find(&self, text: &[u8], length: usize, mut found: impl FnMut(usize, usize)) {
        let within = &text[..length];
        let mut compare = |window: usize, at: usize| {
            for &(number, before) in &self.windows[window] {
                let start = at.checked_sub(before);
                let rest = start.and_then(|start| within.get(start..));
                if rest.is_some_and(|rest| begins_with(rest, self.texts[number].text())) {
                    found(number, at - before);
                }
            }
        };
        match &self.search {
            Search::One => {
                if let Some(at) = self.texts[0].find(within) {
                    found(0, at);
                }
            }
            Search::Windows(windows) => windows.find(text, length, compare),
            Search::Packed(searcher) => {
                let mut from = 0;
                while from < length {
                    let searched = &text[..length.max(from + STRETCH).min(text.len())];
                    let Some(it) = searcher.find_in(searched, (from..searched.len()).into()) else {
                        return;
                    };
                    compare(it.pattern().as_usize(), it.start());
                    from = it.start() + 1;
                }
            }
            Search::Automaton(automaton) => {
                for it in automaton.find_overlapping_iter(within) {
                    compare(it.pattern().as_usize(), it.start());
                }
            }
        }
    }
}

impl Search {
    fn new(windows: &[[u8; WINDOW]]) -> Self {
        let searched = Windows::new(windows).map(Self::Windows);
        let searched = searched.or_else(|| Self::packed(windows));
        searched.unwrap_or_else(|| Self::automaton(windows))
    }

    fn packed(windows: &[[u8; WINDOW]]) -> Option<Self> {
        let packed = packed::Config::new().builder().extend(windows).build();
        packed.map(Self::Packed)
    }

    #[expect(
        clippy::expect_used,
        reason = "a few dozen windows that are not empty always build"
    )]
    fn automaton(windows: &[[u8; WINDOW]]) -> Self {
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(windows);
        Self::Automaton(automaton.expect("windows build"))
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

/// How often each window stands in [`COMMON`].
static COMMON_WINDOWS: LazyLock<FxHashMap<&'static [u8], u32>> = LazyLock::new(|| {
    let mut counts = FxHashMap::default();
    for window in COMMON.windows(WINDOW) {
        *counts.entry(window).or_default() += 1;
    }
    counts
});

/// The window of `text` that is rarest in logs, and where in it that begins.
fn rarest(text: &[u8]) -> (usize, [u8; WINDOW]) {
    let cost = |window: &[u8; WINDOW]| {
        let in_common = COMMON_WINDOWS.get(&window[..]).copied().unwrap_or(0);
        let by_bytes = window.iter().map(|&byte| commonness(byte)).product::<u32>();
        (in_common, by_bytes)
    };
    let windows = text.array_windows::<WINDOW>().copied().enumerate();
    windows
        .min_by_key(|(_, window)| cost(window))
        .unwrap_or_default()
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

    /// What is found with each kind of search that this machine has, which must agree.
    fn found(texts: &[&str], text: &str, length: usize) -> Vec<usize> {
        let bytes: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        let by = |literals: &Literals| {
            let mut numbers = Vec::new();
            literals.find(text.as_bytes(), length, |number, at| {
                assert!(text[at..].starts_with(texts[number]));
                numbers.push(number);
            });
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        let numbers = by(&Literals::new(&bytes));
        let elsewhere = |windows: &[[u8; WINDOW]]| {
            Search::packed(windows).unwrap_or_else(|| Search::automaton(windows))
        };
        assert_eq!(by(&Literals::by(&bytes, elsewhere)), numbers);
        assert_eq!(by(&Literals::by(&bytes, Search::automaton)), numbers);
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
