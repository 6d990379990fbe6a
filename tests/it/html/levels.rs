//! The page's lines of positions, and its list of marks that have no place.

use super::{Parsed, page};
use crate::product::{self, Folder, repository};

#[test]
fn positions_are_drawn_per_node_in_one_scale() {
    let html = page(&product::report(&repository(
        "samples/incidents/report-003",
    )));
    let parsed = Parsed::of(&html);
    let drawn: Vec<_> = parsed
        .elements
        .iter()
        .filter(|it| it.has_class("levels"))
        .collect();
    assert_eq!(drawn.len(), 2, "one per node");
    for one in &drawn {
        // From 320 (the first match) to 343 (the write that expired), at both nodes.
        let label = one.attribute("aria-label").unwrap();
        assert!(label.ends_with("from 320 below to 343 above"), "{label}");
    }
    for text in [
        "append-ok match 320 → 323",
        "wal-stream lsn 323 → 340",
        "wal-stream ceiling stays at 342",
    ] {
        assert!(html.replace("</span>", "").contains(text), "{text}");
    }
    let lines = parsed
        .named("path")
        .filter(|it| it.attribute("class") == Some("v1"));
    for line in lines {
        assert!(line.attribute("d").unwrap().starts_with('M'));
    }
}

#[test]
fn holes_and_misfiled_ranges_are_bars() {
    let html = page(&product::report(&repository(
        "samples/incidents/report-003",
    )));
    let parsed = Parsed::of(&html);
    let bars = parsed
        .named("rect")
        .filter(|it| it.attribute("class") == Some("damage"));
    assert_eq!(bars.count(), 1, "LSN 306..348 of ctrl-2");
}

#[test]
fn marks_without_a_place_are_listed_and_those_between_two_stamps_drawn() {
    let html = page(&product::report(&repository(
        "samples/incidents/report-000",
    )));
    assert!(html.contains("Not placed: 3 records worth a mark without a stamp"));
    assert!(html.contains("soak.log:11"));
    let log = "07:05:50,012 ctrl-1 HA repl: a b\n[xce-test-ha] round 2: kill ctrl-3, expect failover\n07:05:53,500 ctrl-1 HA repl: a b\n";
    let html = page(&Folder::with("ctrl-1.log", log).report());
    assert!(html.contains("Between 07:05:50.012000 and 07:05:53.500000."));
    let parsed = Parsed::of(&html);
    let stretch = parsed
        .named("rect")
        .find(|it| it.has_class("between"))
        .unwrap();
    // The axis begins at 07:05:00.
    assert_eq!(stretch.attribute("data-a"), Some("50012"));
    assert_eq!(stretch.attribute("data-b"), Some("53500"));
}
