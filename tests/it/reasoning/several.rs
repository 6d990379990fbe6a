//! What one record says of several: the peers of a query that found none, the frames of a crash.

use casdiag::report::{REPORTS, Style};

use crate::product::{self, Folder, findings, repository, signal};

const UNREACHED: &str = "2022.01.09 22:32:08.511717 [ 5120 ] {80} <Error> TCPHandler: Code: 279. DB::Exception: All connection tries failed. Log: \n\nCode: 209. DB::NetException: Timeout: connect timed out: 10.0.0.1:9440 (sh1:9440). (SOCKET_TIMEOUT)\nCode: 210. DB::NetException: Connection refused (sh2:9440). (NETWORK_ERROR)\nCode: 210. DB::NetException: Connection refused (sh2:9440). (NETWORK_ERROR)\nCode: 210, e.displayText() = DB::NetException: Connection reset by peer (sh3:9440, 10.0.0.3, local address: 10.0.0.9:4711), e.what() = DB::NetException\n\n. (ALL_CONNECTION_TRIES_FAILED)\n";

#[test]
fn every_peer_that_a_record_names_is_accused_once_a_record() {
    let report = Folder::with("q1/clickhouse-server.err.log", UNREACHED.repeat(2)).report();
    let finding = findings(&report, "shard-unreachable")[0];
    assert_eq!(finding.accused, ["sh1", "sh2", "sh3"]);
    let row = signal(&report, "all-tries-failed", "q1").unwrap();
    let peers: Vec<(&str, u64)> = row.by["peer"]
        .iter()
        .map(|(peer, count)| (peer.as_str(), *count))
        .collect();
    assert_eq!(peers, [("sh1", 2), ("sh2", 2), ("sh3", 2)]);
    // What is cited goes on to the last of them.
    let text = &finding.evidence[0].text;
    assert!(text.contains("(sh3:9440"), "{text}");
}

/// One try: its code and what was wrong, between the text that is about all of them.
fn unreached(tries: &[&str]) -> String {
    let head = UNREACHED.split_once("Code: 209").unwrap().0;
    format!(
        "{head}{}\n\n. (ALL_CONNECTION_TRIES_FAILED)\n",
        tries.join("\n")
    )
}

#[test]
fn peers_are_named_in_every_spelling_of_their_address() {
    for (tries, peers) in [
        (
            &[
                "Code: 210. DB::NetException: Connection refused ([2001:db8::1]:9000). (NETWORK_ERROR)",
                "Code: 210. DB::NetException: Connection refused (2001:db8::2:9000). (NETWORK_ERROR)",
            ][..],
            &["2001:db8::1", "2001:db8::2"][..],
        ),
        (
            &[
                "Code: 210. DB::NetException: Net Exception: No route to host (r1:9000). (NETWORK_ERROR)",
                "Code: 209. DB::NetException: Timeout exceeded while connecting to socket (r2:9000, connection timeout 1000 ms). (SOCKET_TIMEOUT)",
                "Code: 32. DB::Exception: Attempt to read after eof: while receiving packet from r3:9000: While executing Remote. (ATTEMPT_TO_READ_AFTER_EOF)",
                "Code: 209. DB::NetException: Timeout exceeded while reading from socket (peer: 10.0.0.3:9000, local: 10.0.0.9:4711, 3000 ms). (SOCKET_TIMEOUT)",
            ],
            &["10.0.0.3", "r1", "r2", "r3"],
        ),
        // Whose socket that was is not told.
        (
            &[
                "Code: 210. DB::NetException: Connection refused (r1:9000). (NETWORK_ERROR)",
                "Code: 210. DB::NetException: I/O error: Broken pipe, while writing to socket (192.0.2.62:9440). (NETWORK_ERROR)",
            ],
            &["r1"],
        ),
    ] {
        let report = Folder::with("q1/clickhouse-server.err.log", unreached(tries)).report();
        let finding = findings(&report, "shard-unreachable")[0];
        let mut accused: Vec<&str> = finding.accused.iter().map(String::as_str).collect();
        accused.sort_unstable();
        assert_eq!(accused, peers);
    }
}

#[test]
fn all_peers_of_a_large_cluster_count() {
    let tries = (0..300).map(|peer| {
        format!("Code: 210. DB::NetException: Connection refused (r{peer}:9000). (NETWORK_ERROR)")
    });
    let tries: Vec<String> = tries.collect();
    let tries: Vec<&str> = tries.iter().map(String::as_str).collect();
    let report = Folder::with("q1/clickhouse-server.err.log", unreached(&tries)).report();
    let row = signal(&report, "all-tries-failed", "q1").unwrap();
    let counts: Vec<u64> = row.by["peer"].values().copied().collect();
    assert_eq!((counts.len(), counts.iter().sum::<u64>()), (300, 300));
}

#[test]
fn a_crash_is_told_by_its_signal_and_its_frames() {
    let folder = repository("tests/cases/logs/h05-fatal-sig11-basedaemon-2021/input");
    let report = product::report(&folder);
    let crash = findings(&report, "server-crash")[0];
    for said in [
        ": Segmentation fault in ",
        "DB::MergeTreeDataMergerMutator::mergePartsToTemporaryPart(",
        "DB::IAggregateFunctionHelper<",
    ] {
        assert!(crash.title.contains(said), "{}", crash.title);
    }
    // `5. ? @ 0x6e1c2a8`, a frame of the first.
    assert_eq!(product::total(&report, "crash-frame-unknown"), 1);
}

#[test]
fn a_crash_without_a_frame_is_about_none() {
    let line = "2026.11.29 16:29:56.593522 [ 2 ] {} <Error> BaseDaemon: (from thread 18) Received signal Segmentation fault (11).\n";
    let report = Folder::with("n1/clickhouse-server.log", line).report();
    let crash = findings(&report, "server-crash")[0];
    assert!(
        crash.title.contains("at n1: Segmentation fault"),
        "{}",
        crash.title
    );
    assert!(!crash.title.contains(" in "), "{}", crash.title);
    let markdown = REPORTS.iter().find(|it| it.name == "markdown").unwrap();
    let style = Style {
        color: false,
        width: 80,
    };
    let mut bytes = Vec::new();
    (markdown.write)(&report, &style, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("Is about signal: "), "{text}");
    assert!(!text.contains("Is about top-frame"), "{text}");
}
