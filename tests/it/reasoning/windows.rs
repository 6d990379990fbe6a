//! Sliding windows: edges, equal stamps, disorder, and who shares one.

use super::{fires, fires_in, log};
use crate::product::Folder;

const THREE: &str = "{ count = \"a\", at-least = 3, within = \"1m\" }";

#[test]
fn a_window_holds_both_edges() {
    assert!(fires(
        THREE,
        &[("n1", &["10:00:00 a", "10:00:30 a", "10:01:00 a"])]
    ));
    assert!(!fires(
        THREE,
        &[("n1", &["10:00:00 a", "10:00:30 a", "10:01:00.000001 a"])]
    ));
}

#[test]
fn a_window_slides_and_does_not_begin_at_full_minutes() {
    assert!(fires(
        THREE,
        &[("n1", &["10:00:59 a", "10:01:00 a", "10:01:30 a"])]
    ));
    assert!(fires(
        THREE,
        &[(
            "n1",
            &["10:00:00 a", "10:00:59 a", "10:01:30 a", "10:01:59 a"]
        )]
    ));
}

#[test]
fn equal_stamps_fill_a_window_of_no_width() {
    let none = "{ count = \"a\", at-least = 3, within = \"0ms\" }";
    assert!(fires(
        none,
        &[("n1", &["10:00:00 a", "10:00:00 a", "10:00:00 a"])]
    ));
    assert!(!fires(
        none,
        &[("n1", &["10:00:00 a", "10:00:00 a", "10:00:00.000001 a"])]
    ));
}

#[test]
fn nodes_share_no_window() {
    let two: &[&str] = &["10:00:00 a", "10:00:01 a"];
    assert!(!fires(THREE, &[("n1", two), ("n2", two)]));
    let on_two = "{ count = \"a\", at-least = 2, within = \"1m\", on-nodes = 2 }";
    assert!(fires(on_two, &[("n1", two), ("n2", two)]));
    assert!(!fires(on_two, &[("n1", two), ("n2", &["10:00:00 a"])]));
    // The count over all nodes asks for no window.
    assert!(fires(
        "{ count = \"a\", at-least = 4 }",
        &[("n1", two), ("n2", two)]
    ));
}

#[test]
fn disorder_of_milliseconds_neither_fills_a_window_nor_empties_it() {
    assert!(fires(
        THREE,
        &[("n1", &["10:00:30.002 a", "10:00:30 a", "10:00:31 a"])]
    ));
    assert!(fires(
        THREE,
        &[("n1", &["10:00:30 a", "10:01:00 a", "10:00:59.998 a"])]
    ));
}

#[test]
fn a_window_goes_on_over_the_pieces_of_a_log() {
    let folder = Folder::with(
        "n1/clickhouse-server.log.0",
        log(&["10:00:00 a", "10:00:20 a"]),
    );
    folder.put("n1/clickhouse-server.log", log(&["10:00:40 a"]));
    assert!(fires_in(THREE, &folder));
}

#[test]
fn a_record_of_both_logs_is_once_in_a_window() {
    let twice = log(&["10:00:00 a", "10:00:01 a"]).replace("<Debug>", "<Error>");
    let folder = Folder::with("n1/clickhouse-server.log", &twice);
    folder.put("n1/clickhouse-server.err.log", &twice);
    assert!(!fires_in(THREE, &folder));
}
