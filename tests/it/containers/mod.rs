//! Whatever logs are packed in, the report is that of the folder they were packed from.

mod bounds;
mod damage;
mod large;
pub(crate) mod pack;
mod refusals;
mod stdin;

use std::path::Path;

use casdiag::report::model::Report;

use crate::product::{Folder, casdiag, count, gzip, plan, record, report, report_of, repository};
use pack::{DEFLATED, Files, PACKINGS, STORED, tar, tree, zip, zst};

/// A log's line at a second, of a server that says no more than that it lives.
fn line(second: u32) -> String {
    record(
        &format!("10:00:{:02}.000000", second % 60),
        "Debug",
        "Alive",
        "tick",
    )
}

/// A log that must be read beside whatever else is there.
const GOOD: &str = "n1/clickhouse-server.log";

/// A folder with a log of one record, and a file.
fn beside(name: &str, bytes: impl AsRef<[u8]>) -> Folder {
    let folder = Folder::with(GOOD, line(1));
    folder.put(name, bytes);
    folder
}

/// The refusals of a report as the end of the path and the reason.
fn refused(report: &Report) -> Vec<(&str, &str)> {
    let refused = report.inputs.iter().filter(|it| it.format == "refused");
    let named = refused.map(|it| {
        let name = it.path.rsplit("!/").next().unwrap();
        (
            name.rsplit('/').next().unwrap(),
            it.problems[0].detail.as_str(),
        )
    });
    named.collect()
}

/// The files of an incident, one of its logs rotated.
fn incident(name: &str) -> Files {
    let mut files = tree(&repository("samples/incidents").join(name));
    let log = files
        .iter()
        .position(|(name, _)| name.ends_with("/clickhouse-server.log"));
    if let Some(at) = log {
        let (name, text) = files[at].clone();
        let heads = memchr::memchr_iter(b'\n', &text).map(|at| at + 1);
        let cut = heads
            .filter(|&at| text[at..].starts_with(b"20"))
            .min_by_key(|at| at.abs_diff(text.len() / 2))
            .unwrap();
        files[at].1 = text[cut..].to_vec();
        files.push((format!("{name}.0"), text[..cut].to_vec()));
        files.sort();
    }
    files
}

fn unpacked(files: &Files) -> Folder {
    let folder = Folder::new();
    for (name, bytes) in files {
        folder.put(name, bytes);
    }
    folder
}

/// A report without what packing may change: paths up to the folder, sizes as stored, suffixes of packed pieces.
fn essence(report: &Report, prefix: &str) -> serde_json::Value {
    let text = serde_json::to_string(report).unwrap();
    let mut text = text.replace(prefix, "");
    for (suffix, _) in PACKINGS {
        text = text.replace(&format!(".log.0.{suffix}"), ".log.0");
    }
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    for input in value["inputs"].as_array_mut().unwrap() {
        input["bytes"] = 0.into();
    }
    value
}

fn assert_same(files: &Files, path: &Path, below: &str) {
    let folder = unpacked(files);
    let expected = essence(&folder.report(), &format!("{}/", folder.path().display()));
    assert!(expected["records"]["total"].as_u64().unwrap() > 0);
    let given = report(path);
    let given = essence(&given, &format!("{}!/{below}", path.display()));
    assert_eq!(given, expected, "{}", path.display());
}

/// Archives of `files` in every format, with names that such archives have.
fn archives(files: &Files) -> Vec<(String, Vec<u8>)> {
    let plain = tar(files);
    let mut all = vec![("a.tar".to_owned(), plain.clone())];
    for (suffix, pack) in PACKINGS {
        all.push((format!("a.tar.{suffix}"), pack(&plain)));
    }
    for method in [STORED, DEFLATED, 12, 93, 95] {
        all.push((format!("a{method}.zip"), zip(files, method)));
    }
    all
}

#[test]
fn every_archive_gives_the_report_of_its_folder() {
    for name in ["report-000", "report-001", "report-003"] {
        let files = incident(name);
        for (name, bytes) in archives(&files) {
            let folder = Folder::new();
            assert_same(&files, &folder.put(&name, bytes), "");
        }
    }
}

#[test]
fn what_a_file_is_shows_in_its_bytes_and_not_in_its_name() {
    let files = incident("report-000");
    for (at, (_, bytes)) in archives(&files).into_iter().enumerate() {
        let folder = Folder::new();
        assert_same(
            &files,
            &folder.put(&format!("download-{at}.log"), bytes),
            "",
        );
    }
}

#[test]
fn archives_inside_each_other_give_the_report_of_the_folder() {
    let files = incident("report-000");
    let mut packed = files.clone();
    for (name, bytes) in &mut packed {
        if name.ends_with(".log.0") {
            name.push_str(".gz");
            *bytes = gzip(bytes);
        }
    }
    assert!(packed != files);
    let of = |name: &str, bytes: Vec<u8>| vec![(name.to_owned(), bytes)];
    let inner = of("logs.tar.gz", gzip(&tar(&packed)));
    let zst = of("logs.tar.zst", zst(&tar(&packed)));
    let zipped = of("logs.zip", zip(&packed, DEFLATED));
    for (name, bytes, below) in [
        ("job.zip", zip(&inner, STORED), "logs.tar.gz!/"),
        ("job.zip", zip(&inner, DEFLATED), "logs.tar.gz!/"),
        ("job.zip", zip(&zipped, DEFLATED), "logs.zip!/"),
        ("job.zip", zip(&zipped, STORED), "logs.zip!/"),
        ("job.tar", tar(&zst), "logs.tar.zst!/"),
        ("job.tar.gz", gzip(&tar(&zipped)), "logs.zip!/"),
        ("job.zip.gz", gzip(&zip(&inner, DEFLATED)), "logs.tar.gz!/"),
        (
            "job.tgz",
            gzip(&tar(&of("job.zip", zip(&zst, DEFLATED)))),
            "job.zip!/logs.tar.zst!/",
        ),
    ] {
        let folder = Folder::new();
        assert_same(&files, &folder.put(name, bytes), below);
    }
}

#[test]
fn a_packed_file_of_many_parts_is_one_text() {
    let text: Vec<String> = (0..60).map(line).collect();
    for (suffix, pack) in PACKINGS {
        let parts: Vec<Vec<u8>> = text
            .chunks(7)
            .map(|part| pack(part.concat().as_bytes()))
            .collect();
        let folder = Folder::with(
            &format!("n1/clickhouse-server.log.0.{suffix}"),
            parts.concat(),
        );
        let report = folder.report();
        assert_eq!(report.records.total, 60, "{suffix}");
        assert!(report.complete, "{suffix}: {:?}", report.inputs);
    }
}

#[test]
fn five_thousand_xz_streams_are_one_text() {
    let streams: Vec<Vec<u8>> = (0..5000).map(|n| pack::xz(line(n).as_bytes())).collect();
    let report = Folder::with("n1/raw.log", streams.concat()).report();
    assert_eq!((report.records.total, report.complete), (5000, true));
}

#[test]
fn a_file_packed_twice_is_unpacked_twice() {
    let twice = zst(&gzip(line(1).as_bytes()));
    assert_eq!(Folder::with(GOOD, twice).report().records.total, 1);
}

#[test]
fn rotated_pieces_join_whatever_holds_them() {
    let folder = Folder::with("n1/clickhouse-server.log", line(30));
    folder.put("n1/clickhouse-server.log.0.zst", zst(line(20).as_bytes()));
    let older: Files = vec![(
        "clickhouse-server.log.1.gz".into(),
        gzip(line(10).as_bytes()),
    )];
    folder.put("n1/old.tar.gz", gzip(&tar(&older)));
    let report = folder.report();
    assert_eq!(report.records.total, 3);
    assert_eq!(report.nodes.len(), 1, "{:?}", report.nodes);
    assert!(
        report
            .inputs
            .iter()
            .all(|it| (it.run.as_str(), it.node.as_str()) == (".", "n1"))
    );
}

#[test]
fn several_archives_name_runs_and_nodes_as_folders_do() {
    let log: Files = vec![("ch1/clickhouse-server.log".into(), line(1).into())];
    let folder = Folder::with("soak-1.tar.gz", gzip(&tar(&log)));
    folder.put("soak-2.zip", zip(&log, DEFLATED));
    let names = |report: &Report| {
        let inputs = report.inputs.iter();
        inputs
            .map(|it| format!("{} {}", it.run, it.node))
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&folder.report()), ["soak-1 ch1", "soak-2 ch1"]);
    let mut both = plan(&folder.path().join("soak-1.tar.gz"));
    both.roots.push(folder.path().join("soak-2.zip"));
    assert_eq!(names(&report_of(&both)), ["soak-1 ch1", "soak-2 ch1"]);
    let bare: Files = vec![("clickhouse-server.log".into(), line(1).into())];
    let nodes: Files = ["n1", "n2"]
        .iter()
        .map(|name| (format!("{name}.tar"), tar(&bare)))
        .collect();
    let folder = Folder::with("job.zip", zip(&nodes, DEFLATED));
    assert_eq!(names(&folder.report()), [". n1", ". n2"]);
    // Two logs of one name from different places stay two logs.
    let folder = Folder::with("clickhouse-server.log", line(1));
    folder.put("old.tar", tar(&bare));
    assert_eq!(
        names(&folder.report()),
        [". (unnamed)", "old.tar (unnamed)"]
    );
}

#[test]
fn a_member_can_be_named_on_the_command_line() {
    let files = incident("report-000");
    let folder = Folder::with("a.tar.gz", gzip(&tar(&files)));
    let archive = folder.path().join("a.tar.gz");
    let whole = unpacked(&files);
    let part = report(&folder.path().join("a.tar.gz!/ch2"));
    let expected = report(&whole.path().join("ch2"));
    assert!(expected.records.total > 0);
    assert_eq!(part.records.total, expected.records.total);
    let all = report(&archive);
    let ran = casdiag(&["lines", "relink-refused", archive.to_str().unwrap()]);
    let cited = ran
        .out
        .lines()
        .find(|line| line.contains("!/ch1/"))
        .unwrap();
    assert!(count(&all, "relink-refused", "ch1") > 0);
    let place: String = cited
        .split_whitespace()
        .find(|word| word.contains("!/ch1/"))
        .unwrap()
        .into();
    let parts: Vec<&str> = place.rsplitn(3, ':').collect();
    let place = if parts.len() == 3 && parts[0].is_empty() {
        place.trim_end_matches(':')
    } else {
        &place
    };
    let ran = casdiag(&["explain", "code-210-storm", place]);
    assert_eq!(ran.code, Some(0), "{place}: {ran:?}");
    let ran = casdiag(&["analyze", &format!("{}!/nothing", archive.display())]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("no such member"), "{}", ran.err);
}
