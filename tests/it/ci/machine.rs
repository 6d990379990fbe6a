//! What machines say beside tests: their kernel, their containers, a process.

use casdiag::parsers::ci::{EventKind, Reading};

use super::{case, ci, read};

fn told(reading: &Reading) -> Vec<(EventKind, &str)> {
    reading
        .events
        .iter()
        .map(|it| (it.kind, it.subject.as_str()))
        .collect()
}

#[test]
fn the_kernel_names_what_it_killed_for_memory_once() {
    let reading = read(&case("machine").join("dmesg.txt"));
    assert_eq!(
        told(&reading),
        [(EventKind::OutOfMemory, "clickhouse-serv")]
    );
    let folder = crate::product::Folder::with(
        "d.txt",
        "[Sat Mar 14 23:18:02 2026] Out of memory: Killed process 7 (python3) total-vm:1kB\n\
        [Sat Mar 14 23:18:03 2026] clickhouse[4711]: segfault at 0 ip 00 sp 00 error 4\n",
    );
    let reading = read(&folder.path().join("d.txt"));
    assert_eq!(
        told(&reading),
        [
            (EventKind::OutOfMemory, "python3"),
            (EventKind::Killed, "clickhouse")
        ]
    );
    assert_eq!(
        reading.events[0].at.unwrap().at.short(),
        "2026-03-14 23:18:02"
    );
}

#[test]
fn a_healthy_container_is_a_state_and_no_proof() {
    let reading = read(&case("machine").join("inspect.json"));
    assert_eq!(
        told(&reading),
        [
            (EventKind::Container, "ca-soak-ch1-1"),
            (EventKind::Container, "ca-soak-ch2-1"),
            (EventKind::OutOfMemory, "ca-soak-ch2-1"),
        ]
    );
    assert!(
        reading.events[0]
            .text
            .starts_with("running, healthy, exit code 0, killed for memory: no")
    );
    assert_eq!(reading.events[0].at, None);
    assert_eq!(
        reading.events[2].at.unwrap().at.short(),
        "2026-03-14 23:40:00"
    );
}

#[test]
fn a_table_of_containers_is_read_by_its_columns() {
    let reading = read(&case("machine").join("ps.txt"));
    assert_eq!(
        told(&reading),
        [
            (EventKind::Container, "ca-soak-ch1-1"),
            (EventKind::Container, "ca-soak-ch2-1"),
            (EventKind::Killed, "ca-soak-ch2-1"),
        ]
    );
    assert_eq!(reading.events[0].text, "Up 2 hours (healthy)");
}

#[test]
fn a_process_that_says_that_it_dies_is_told() {
    let reading = read(&case("machine").join("stderr.log"));
    assert_eq!(reading.events.len(), 1);
    assert_eq!(reading.events[0].kind, EventKind::ServerDied);
    assert!(reading.events[0].text.contains("heap-use-after-free"));
}

#[test]
fn what_a_machine_says_is_told_without_tests_too() {
    for (file, words) in [
        ("dmesg.txt", "out-of-memory in clickhouse-serv"),
        ("inspect.json", "out-of-memory in ca-soak-ch2-1"),
        ("ps.txt", "killed in ca-soak-ch2-1"),
    ] {
        let path = case("machine").join(file);
        let ran = ci(&path, &[]);
        assert!(ran.out.contains(&format!("event: {words}")), "{}", ran.out);
        assert_eq!(ran.code, Some(3), "no results of tests: {}", ran.err);
        for format in ["markdown", "html", "github"] {
            let out = ci(&path, &["--format", format]).out;
            assert!(
                out.contains("out-of-memory") || out.contains("killed"),
                "{format}: {out}"
            );
        }
    }
}
