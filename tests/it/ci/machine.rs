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
fn the_kernels_log_is_known_by_any_of_its_stamps() {
    let killed =
        "Out of memory: Killed process 4242 (clickhouse-serv) total-vm:123456kB, anon-rss:100000kB";
    let reaped = "oom_reaper: reaped process 4242 (clickhouse-serv), now anon-rss:0kB";
    for (before, at) in [
        ("[ 1234.567890] ", None),
        ("[Sat Mar 14 23:18:02 2026] ", Some("2026-03-14 23:18:02")),
        (
            "2026-03-14T23:18:02,123456+00:00 ",
            Some("2026-03-14 23:18:02"),
        ),
        (
            "2026-03-14T23:18:02.123456+00:00 runner-1 kernel: [ 1234.567890] ",
            Some("2026-03-14 23:18:02"),
        ),
        ("Mar 14 23:18:02 runner-1 kernel: [ 1234.567890] ", None),
        ("Mar 14 23:18:02 runner-1 kernel: ", None),
    ] {
        for text in [
            format!("{before}{killed}\n"),
            format!("{before}{reaped}\n"),
            format!(
                "{before}oom-kill:constraint=CONSTRAINT_NONE,task=clickhouse-serv,pid=4242,uid=101\n{before}{killed}\n{before}{reaped}\n"
            ),
        ] {
            let folder = crate::product::Folder::with("kern.log", &text);
            let reading = read(&folder.path().join("kern.log"));
            assert_eq!(
                told(&reading),
                [(EventKind::OutOfMemory, "clickhouse-serv")],
                "{text}"
            );
            let found = reading.events[0].at.map(|it| it.at.short());
            assert_eq!(found.as_deref(), at, "{text}");
            assert!(
                !text.contains("Killed") || reading.events[0].text == killed,
                "{text}"
            );
        }
    }
}

#[test]
fn a_crash_in_the_kernels_log_names_the_process() {
    for line in [
        "clickhouse[4711]: segfault at 0 ip 00007f sp 00007f error 4 in clickhouse[400000+1000]",
        "traps: clickhouse[4711] general protection fault ip:7f sp:7f error:0 in libc.so.6[7f+1000]",
        "traps: clickhouse[4711] trap invalid opcode ip:7f sp:7f error:0",
    ] {
        let folder = crate::product::Folder::with(
            "kern.log",
            format!("Mar 14 23:18:02 runner-1 kernel: {line}\n"),
        );
        let reading = read(&folder.path().join("kern.log"));
        assert_eq!(
            told(&reading),
            [(EventKind::Killed, "clickhouse")],
            "{line}"
        );
    }
}

#[test]
fn containers_as_json_are_containers() {
    let ps = "{\"Command\":\"\\\"/entrypoint.sh\\\"\",\"CreatedAt\":\"2026-03-14 14:00:00 +0000 UTC\",\"ID\":\"0123\",\"Image\":\"ch\",\
              \"Names\":\"ch1\",\"State\":\"exited\",\"Status\":\"Exited (139) 2 minutes ago\"}\n\
              {\"Command\":\"x\",\"ID\":\"0124\",\"Image\":\"ch\",\"Names\":\"ch2\",\"State\":\"running\",\"Status\":\"Up 2 minutes\"}\n";
    let compose = "[{\"ID\":\"0123\",\"Name\":\"ch1\",\"Image\":\"ch\",\"Service\":\"ch1\",\"State\":\"exited\",\"Health\":\"\",\"ExitCode\":139},\
                   {\"ID\":\"0124\",\"Name\":\"ch2\",\"Image\":\"ch\",\"Service\":\"ch2\",\"State\":\"running\",\"Health\":\"healthy\",\"ExitCode\":0}]\n";
    for text in [ps, compose] {
        let folder = crate::product::Folder::with("ps.json", text);
        let reading = read(&folder.path().join("ps.json"));
        let expected = [
            (EventKind::Container, "ch1"),
            (EventKind::Killed, "ch1"),
            (EventKind::Container, "ch2"),
        ];
        assert_eq!(told(&reading), expected, "{text}");
    }
}

#[test]
fn a_container_that_a_signal_ended_was_killed_and_one_that_was_stopped_was_not() {
    for (code, is_killed) in [
        (0, false),
        (1, false),
        (130, false),
        (134, true),
        (137, true),
        (139, true),
        (143, false),
    ] {
        let table = format!(
            "NAME      IMAGE     COMMAND            SERVICE   CREATED          STATUS                       PORTS\n\
             ch1       ch        \"/entrypoint.sh\"   ch1       10 minutes ago   Exited ({code}) 2 minutes ago\n"
        );
        let inspect = format!(
            "[{{\"Name\":\"/ch1\",\"RestartCount\":0,\"State\":{{\"Status\":\"exited\",\"OOMKilled\":false,\"ExitCode\":{code},\
             \"FinishedAt\":\"2026-03-14T23:40:00Z\"}}}}]"
        );
        for text in [table, inspect] {
            let folder = crate::product::Folder::with("ps", &text);
            let reading = read(&folder.path().join("ps"));
            let killed = reading
                .events
                .iter()
                .filter(|it| it.kind == EventKind::Killed)
                .count();
            assert_eq!(killed, usize::from(is_killed), "{text}");
        }
    }
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
