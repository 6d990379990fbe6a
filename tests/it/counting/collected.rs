//! What somebody took from logs as terminals, containers and servers show it: of rotated pieces, in colors, in a wrapper, over a
//! clock that was set back; and notes that only show lines. Every expected value is counted by hand.

use crate::counting::refused;
use crate::product::{self, Folder};

/// A refusal so many seconds and microseconds after midnight.
fn refused_at(second: u32, micros: u32) -> String {
    let (hour, minute) = (second / 3600, second / 60 % 60);
    let time = format!("{hour:02}:{minute:02}:{:02}.{micros:06}", second % 60);
    refused(&time, "n2")
}

/// Refusals, one a minute from 10:00 on, by their numbers.
fn refusals(numbers: impl IntoIterator<Item = u32>) -> String {
    let numbers = numbers.into_iter();
    numbers.map(|it| refused_at(36_000 + 60 * it, 0)).collect()
}

#[test]
fn a_note_in_which_no_record_begins_names_no_node() {
    let indented: String = refusals(0..2)
        .lines()
        .map(|line| format!("  {line}\n"))
        .collect();
    let note = format!("Seen on n1:\n\n{indented}\nand nothing else.\n");
    for (name, lines) in [
        ("README", &note),
        ("indent2.txt", &indented),
        ("notes/notes.log", &note),
    ] {
        let folder = Folder::with("server.log", refused("10:00:00.000000", "n2"));
        folder.put(name, lines);
        let report = folder.report();
        assert_eq!(report.records.by_node.len(), 1, "{name}");
        assert_eq!(report.records.by_node["(unnamed)"], 1);
        let note = product::input(&report, name);
        assert_eq!((note.records, note.format.as_str()), (0, "unknown"));
        assert_eq!(product::problems(note), [("unparsed-lines", Some(1))]);
        assert!(report.complete);
    }
}
