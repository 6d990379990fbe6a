//! `sequence`, `together` and `silence`: edges, equal stamps, disorder, nodes.

use super::{fires, fires_in, log, logs};
use crate::product::{Folder, record};

const A_B_C: &str = "{ sequence = [\"a\", \"b\", \"c\"], within = \"10s\" }";
const A_B: &str = "{ sequence = [\"a\", \"b\"], within = \"10s\" }";
const A_B_SKEWED: &str = "{ sequence = [\"a\", \"b\"], within = \"10s\", skew = \"1s\" }";
const TOGETHER: &str = "{ together = \"a\", within = \"5s\" }";
const SILENCE: &str = "{ silence = \"8s\", then = \"a\", within = \"3s\" }";
const SILENCE_WITHOUT: &str =
    "{ silence = \"8s\", then = \"a\", within = \"3s\", without = \"b\" }";

#[test]
fn a_sequence_is_in_order_whatever_stands_between() {
    assert!(fires(
        A_B_C,
        &[("n1", &["10:00:01 a", "10:00:02 b", "10:00:03 c"])]
    ));
    let between: &[&str] = &[
        "10:00:01 a",
        "10:00:02 c",
        "10:00:03 a",
        "10:00:04 b",
        "10:00:05 a",
        "10:00:06 c",
    ];
    assert!(fires(A_B_C, &[("n1", between)]));
    for other in [
        ["10:00:01 a", "10:00:02 c", "10:00:03 b"],
        ["10:00:01 b", "10:00:02 a", "10:00:03 c"],
        ["10:00:01 c", "10:00:02 b", "10:00:03 a"],
        ["10:00:01 b", "10:00:02 c", "10:00:03 a"],
        ["10:00:01 a", "10:00:02 b", "10:00:03 b"],
    ] {
        assert!(!fires(A_B_C, &[("n1", &other)]), "{other:?}");
    }
}

#[test]
fn a_sequence_holds_its_last_edge_and_nothing_beyond() {
    assert!(fires(
        A_B_C,
        &[("n1", &["10:00:00 a", "10:00:09 b", "10:00:10 c"])]
    ));
    assert!(!fires(
        A_B_C,
        &[("n1", &["10:00:00 a", "10:00:09 b", "10:00:10.000001 c"])]
    ));
    // A later beginning fits where the first one does not.
    assert!(fires(
        A_B,
        &[("n1", &["10:00:00 a", "10:00:05 a", "10:00:15 b"])]
    ));
    // Each step is near the one before, and the whole is too long.
    assert!(!fires(
        A_B_C,
        &[("n1", &["10:00:00 a", "10:00:08 b", "10:00:16 c"])]
    ));
}

#[test]
fn equal_stamps_are_a_sequence_in_either_order_of_lines() {
    assert!(fires(A_B, &[("n1", &["10:00:01 a", "10:00:01 b"])]));
    assert!(fires(A_B, &[("n1", &["10:00:01 b", "10:00:01 a"])]));
    assert!(fires(
        A_B_C,
        &[("n1", &["10:00:01 c", "10:00:01 b", "10:00:01 a"])]
    ));
}

#[test]
fn a_count_named_twice_in_a_sequence_needs_two_records() {
    const A_B_A: &str = "{ sequence = [\"a\", \"b\", \"a\"], within = \"10s\" }";
    const A_A: &str = "{ sequence = [\"a\", \"a\"], within = \"10s\" }";
    const A_A_SKEWED: &str = "{ sequence = [\"a\", \"a\"], within = \"10s\", skew = \"1s\" }";
    for condition in [A_A, A_A_SKEWED] {
        assert!(!fires(condition, &[("n1", &["10:00:01 a"])]));
        assert!(!fires(condition, &[("n1", &["10:00:01 a", "10:00:02 b"])]));
        assert!(fires(condition, &[("n1", &["10:00:01 a", "10:00:11 a"])]));
        assert!(fires(condition, &[("n1", &["10:00:01 a", "10:00:01 a"])]));
        assert!(!fires(condition, &[("n1", &["10:00:01 a", "10:00:12 a"])]));
    }
    assert!(!fires(A_B_A, &[("n1", &["10:00:01 a", "10:00:01 b"])]));
    assert!(fires(
        A_B_A,
        &[("n1", &["10:00:01 a", "10:00:01 b", "10:00:02 a"])]
    ));
}

#[test]
fn stamps_order_a_sequence_not_lines() {
    assert!(fires(A_B, &[("n1", &["10:00:01.002 b", "10:00:01.001 a"])]));
    assert!(!fires(
        A_B,
        &[("n1", &["10:00:01.002 a", "10:00:01.001 b"])]
    ));
}

#[test]
fn a_sequence_mixes_nodes_only_where_a_skew_is_given() {
    let apart: &[(&str, &[&str])] = &[("n1", &["10:00:01 a"]), ("n2", &["10:00:02 b"])];
    assert!(!fires(A_B, apart));
    assert!(fires(A_B_SKEWED, apart));
    let whole: &[(&str, &[&str])] = &[
        ("n1", &["10:00:01 b"]),
        ("n2", &["10:00:02 a", "10:00:03 b"]),
    ];
    assert!(fires(A_B, whole));
}

#[test]
fn a_skew_forgives_as_much_as_it_says() {
    assert!(fires(
        A_B_SKEWED,
        &[("n1", &["10:00:02 a"]), ("n2", &["10:00:01 b"])]
    ));
    assert!(!fires(
        A_B_SKEWED,
        &[("n1", &["10:00:02 a"]), ("n2", &["10:00:00.999999 b"])]
    ));
}

#[test]
fn together_needs_every_node_within_the_width() {
    let both = |last: &str| fires(TOGETHER, &[("n1", &["10:00:00 a"]), ("n2", &[last])]);
    assert!(both("10:00:00 a"));
    assert!(both("10:00:05 a"));
    assert!(both("09:59:55 a"));
    assert!(!both("10:00:05.000001 a"));
    assert!(!both("09:59:54.999999 a"));
    let three = |third: &str| fires(TOGETHER, &beside(&["09:59:00 c", third, "10:01:00 c"]));
    assert!(three("10:00:05 a"));
    assert!(three("09:59:59 a"));
    // Near the second, and too far from the first.
    assert!(!three("10:00:08 a"));
    assert!(!three("10:00:01 b"));
}

/// Two nodes that have it at once, and a third.
fn beside<'a>(third: &'a [&'a str]) -> [(&'static str, &'a [&'a str]); 3] {
    [
        ("n1", &["09:00:00 c", "10:00:00 a", "11:00:00 c"]),
        ("n2", &["09:00:00 c", "10:00:04 a", "11:00:00 c"]),
        ("n3", third),
    ]
}

#[test]
fn together_does_not_ask_a_node_whose_log_does_not_cover_the_window() {
    // The window is from 10:00:00 to 10:00:05, both edges included.
    let covers: [&[&str]; 2] = [&["10:00:00 c", "10:00:05 c"], &["09:00:00 c", "11:00:00 c"]];
    for third in covers {
        assert!(!fires(TOGETHER, &beside(third)), "{third:?}");
    }
    let does_not: [&[&str]; 4] = [
        &["09:00:00 c", "09:30:00 c"],
        &["09:00:00 c", "10:00:04.999999 c"],
        &["10:00:00.000001 c", "11:00:00 c"],
        &["10:30:00 c", "11:00:00 a"],
    ];
    for third in does_not {
        assert!(fires(TOGETHER, &beside(third)), "{third:?}");
    }
    // Two whose logs do not cover each other's time are no two.
    assert!(!fires(
        TOGETHER,
        &[("n1", &["10:00:00 a"]), ("n2", &["09:00:00 c"])]
    ));
}

#[test]
fn one_node_alone_is_not_together() {
    assert!(!fires(TOGETHER, &[("n1", &["10:00:00 a", "10:00:01 a"])]));
}

#[test]
fn together_looks_at_every_occurrence_of_a_node() {
    let first: &[&str] = &["09:00:00 a", "10:00:00 a", "11:00:00 a"];
    assert!(fires(
        TOGETHER,
        &[("n1", first), ("n2", &["08:00:00 a", "10:00:03 a"])]
    ));
    assert!(!fires(
        TOGETHER,
        &[("n1", first), ("n2", &["08:00:00 a", "10:30:00 a"])]
    ));
}

#[test]
fn a_node_of_which_only_the_err_log_is_here_counts_for_together() {
    let folder = logs(&[("n1", &["10:00:00 a"])]);
    folder.put("n2/clickhouse-server.err.log", log(&["10:00:01 c"]));
    assert!(!fires_in(TOGETHER, &folder));
    folder.put("n2/clickhouse-server.err.log", log(&["10:00:01 a"]));
    assert!(fires_in(TOGETHER, &folder));
}

#[test]
fn a_silence_and_what_follows_hold_their_edges() {
    let after = |wake: &str, then: &str| {
        let wake = format!("{wake} x");
        fires(SILENCE, &[("n1", &["10:00:00 x", &wake, then])])
    };
    assert!(after("10:00:08", "10:00:08 a"));
    assert!(after("10:00:08", "10:00:11 a"));
    assert!(!after("10:00:07.999999", "10:00:08 a"));
    assert!(!after("10:00:08", "10:00:11.000001 a"));
    // What is said before the silence does not follow it.
    assert!(!fires(
        SILENCE,
        &[("n1", &["09:59:59 a", "10:00:00 x", "10:00:20 x"])]
    ));
}

#[test]
fn what_ends_a_silence_may_follow_it() {
    assert!(fires(SILENCE, &[("n1", &["10:00:00 x", "10:00:09 a"])]));
}

#[test]
fn the_beginning_of_a_log_is_no_silence() {
    assert!(!fires(SILENCE, &[("n1", &["10:00:00 a"])]));
    assert!(!fires(
        SILENCE,
        &[("n1", &["10:00:00 a"]), ("n2", &["09:00:00 x"])]
    ));
}

#[test]
fn without_rules_out_what_stands_from_the_silence_to_what_follows() {
    assert!(fires(
        SILENCE_WITHOUT,
        &[("n1", &["10:00:00 x", "10:00:09 x", "10:00:10 a"])]
    ));
    assert!(!fires(
        SILENCE_WITHOUT,
        &[("n1", &["10:00:00 x", "10:00:09 b", "10:00:10 a"])]
    ));
    assert!(fires(
        SILENCE_WITHOUT,
        &[(
            "n1",
            &["10:00:00 x", "10:00:09 x", "10:00:10 a", "10:00:11 b"]
        )]
    ));
}

#[test]
fn a_record_of_another_node_neither_fills_a_silence_nor_follows_it() {
    let silent: &[&str] = &["10:00:00 x", "10:00:09 a"];
    assert!(fires(
        SILENCE,
        &[("n1", silent), ("n2", &["10:00:03 x", "10:00:06 x"])]
    ));
    assert!(!fires(
        SILENCE,
        &[
            ("n1", &["10:00:00 x", "10:00:09 x"]),
            ("n2", &["10:00:08 x", "10:00:10 a"])
        ]
    ));
}

/// A file is read in blocks of a mebibyte; each of these records is a fifth of one.
#[test]
fn a_silence_may_lie_anywhere_in_a_file() {
    let long = "x".repeat(200_000);
    for silent in 1..12 {
        let stamp = |n: u32| format!("10:00:{:02}.000000", n + if n >= silent { 9 } else { 0 });
        let text: String = (0..12)
            .map(|n| {
                let what = if n == silent { "event-a of x" } else { "other" };
                record(&stamp(n), "Debug", "l", &format!("{what} {long}"))
            })
            .collect();
        let folder = Folder::with("n1/clickhouse-server.log", text);
        assert!(fires_in(SILENCE, &folder), "{silent}");
    }
}

#[test]
fn what_lies_between_two_pieces_is_no_silence_since_one_may_be_missing() {
    let folder = Folder::with(
        "n1/clickhouse-server.log.3",
        log(&["10:00:00 x", "10:00:02 x"]),
    );
    folder.put(
        "n1/clickhouse-server.log.1",
        log(&["10:00:11 a", "10:00:12 x"]),
    );
    assert!(!fires_in(SILENCE, &folder));
}

#[test]
fn a_silence_may_follow_another_one() {
    // Idle for two minutes, a record, then paused.
    assert!(fires(
        SILENCE,
        &[("n1", &["10:00:00 x", "10:02:00 x", "10:02:09 a"])]
    ));
    assert!(fires(
        SILENCE,
        &[(
            "n1",
            &[
                "10:00:00 x",
                "10:02:00 x",
                "10:02:01 x",
                "10:04:00 a",
                "10:04:01 x"
            ]
        )]
    ));
    assert!(!fires(
        SILENCE,
        &[("n1", &["10:00:00 x", "10:02:00 x", "10:02:07 a"])]
    ));
}

#[test]
fn a_silence_of_an_err_log_is_no_silence() {
    let folder = Folder::with(
        "n1/clickhouse-server.err.log",
        log(&["10:00:00 x", "10:00:09 a"]),
    );
    assert!(!fires_in(SILENCE, &folder));
}
