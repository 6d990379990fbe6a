//! What the cases in the logs of other systems ask for, and the logs of real `ZooKeeper` processes.

use std::collections::BTreeMap;
use std::fs;

use casdiag::report::model::Report;
use casdiag::vocab::Severity;

use super::{folders, name, prose};
use crate::product::{self, count, findings};

pub(super) fn changelog_gap(report: &Report) {
    let gaps = findings(report, "keeper-changelog-gap");
    let of = |node: &str| {
        let mut own = gaps.iter().filter(|it| it.reported_by == [node]);
        own.next().unwrap_or_else(|| panic!("{node}: {gaps:?}"))
    };
    assert_eq!(gaps.len(), 2, "{:?}", product::fired(report));
    let (second, third) = (of("keeper-2"), of("keeper-3"));
    assert_eq!(
        (second.severity, second.counts["refusals"]),
        (Severity::Critical, 4)
    );
    assert!(
        second.title.contains("187431") && second.title.contains("300001"),
        "{}",
        second.title
    );
    assert_eq!((third.counts["gaps"], third.counts["removed"]), (1, 2));
    assert!(
        third.title.contains("51999638") && third.title.contains("52083766"),
        "{}",
        third.title
    );
    // The hole between the names of the listing is not the one between the records, and both are told.
    assert_eq!((second.counts["absent"], third.counts["absent"]), (1, 0));
    assert!(second.title.contains("200001..300000"), "{}", second.title);
    let listed = findings(report, "wal-listing-gap");
    assert_eq!(
        (listed.len(), &listed[0].reported_by[..]),
        (1, &["keeper-2".to_owned()][..])
    );
    for finding in [second, listed[0]] {
        let cited = finding
            .evidence
            .iter()
            .find(|it| it.path.ends_with("keeper-2/coordination-log.ls.txt"));
        let cited = cited.unwrap();
        assert_eq!(cited.line, 4);
        assert!(
            cited.text.starts_with("no file for 200001..300000: "),
            "{}",
            cited.text
        );
    }
    // Neither a lost file nor a truncation that was cut short is certain.
    for gap in [second, third] {
        let open = gap.not_excluded.join(" ");
        assert!(
            open.contains("truncation") && open.contains("removed"),
            "{open}"
        );
        let steps = gap.next_steps.join(" ");
        assert!(steps.starts_with("keep a copy"), "{steps}");
    }
    let said = prose(report).to_lowercase();
    for wrong in ["checksum", "bit rot", "corrupt"] {
        assert!(!said.contains(wrong), "{wrong}: {said}");
    }
}

pub(super) fn snapshot_loop(report: &Report) {
    let stall = findings(report, "follower-stall");
    assert_eq!(stall.len(), 1, "{:?}", product::fired(report));
    let counts = ["sent", "failed", "taken"].map(|count| stall[0].counts[count]);
    assert_eq!(counts, [13, 12, 1]);
    let title = &stall[0].title;
    for part in [
        "snapshot loop",
        "71a05c3e9d4486bf",
        "12 times",
        "stays at index 0",
    ] {
        assert!(title.contains(part), "{part}: {title}");
    }
    assert!(!title.contains("0f9e63b8a7125cd4"), "{title}");
    let sent = product::signal(report, "follower-snapshot-sent", "etcd-a").unwrap();
    let by_follower = BTreeMap::from([("71a05c3e9d4486bf", 12), ("0f9e63b8a7125cd4", 1)]);
    let found = sent.by["follower"].iter().map(|(id, n)| (id.as_str(), *n));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), by_follower);
    let worse = report
        .findings
        .iter()
        .filter(|it| it.severity > Severity::Low);
    assert_eq!(
        worse.count(),
        1,
        "all records are at Information: {:?}",
        product::fired(report)
    );
}

pub(super) fn applied_stuck(report: &Report) {
    let stall = findings(report, "follower-stall");
    assert_eq!(stall.len(), 1, "{:?}", product::fired(report));
    let title = &stall[0].title;
    for part in [
        "nats-2",
        "_meta_",
        "41102",
        "18 checks",
        "170",
        "1 catch-up given up",
    ] {
        assert!(title.contains(part), "{part}: {title}");
    }
    assert!(
        !prose(report).contains("S-R3F-qX2mLk8P"),
        "{}",
        prose(report)
    );
    let groups = product::signal(report, "follower-behind", "nats-2").unwrap();
    let top = groups.top["group"]
        .iter()
        .map(|(group, n)| (group.as_str(), *n));
    let wanted = BTreeMap::from([("_meta_", 18), ("S-R3F-qX2mLk8P", 6)]);
    assert_eq!(top.collect::<BTreeMap<_, _>>(), wanted);
    assert_eq!(count(report, "catch-up-stalled", "nats-2"), 1);
}

pub(super) fn snapshot_canceled(report: &Report) {
    let stall = findings(report, "follower-stall");
    assert_eq!(stall.len(), 1, "{:?}", product::fired(report));
    // By hand: six requests, each canceled; none is logged as sent, and after the last one sending is refused.
    let counted = ["asked", "canceled", "sent", "failed", "cut"];
    let counts = counted.map(|count| stall[0].counts[count]);
    assert_eq!(counts, [6, 6, 0, 1, 1]);
    assert_eq!(
        stall[0].title,
        "snapshot loop: store-2031 asked its store 6 times in 69.505 s for a snapshot of region 70418 for its follower 6120934; \
         6 were canceled while being made; 1 attempt to send one failed"
    );
    let regions = serde_json::to_string(&stall[0].subjects["group"]).unwrap();
    assert!(regions.contains("70418"), "{regions}");
    // The file's name says nothing of who wrote it, the records do.
    assert_eq!(stall[0].reported_by, ["store-2031"]);
    // The column beside the lines is eight hours ahead.
    let first = stall[0].window.first.as_deref().unwrap();
    assert!(
        first.starts_with("2026-06-08T01:1") && first.ends_with("+00:00"),
        "{first}"
    );
}

pub(super) fn slow_keeper(report: &Report) {
    let slow = findings(report, "keeper-slow");
    assert_eq!(slow.len(), 1, "{:?}", product::fired(report));
    assert_eq!(slow[0].reported_by, ["kp-1"]);
    let counts = ["slow", "skipped", "elections"].map(|count| slow[0].counts[count]);
    assert_eq!(counts, [9, 40, 2]);
    // Peer 1 is the node itself.
    let peers = |signal: &str| -> Vec<String> {
        let row = product::signal(report, signal, "kp-1").unwrap();
        row.by["peer"].keys().cloned().collect()
    };
    assert_eq!(peers("keeper-append-slow"), ["2"]);
    assert_eq!(peers("keeper-send-skipped"), ["2", "3"]);
    let lost = findings(report, "coordination-lost");
    assert_eq!(lost[0].caused_by, [slow[0].id.as_str()]);
    assert!(
        slow[0].window.first < lost[0].window.first,
        "slowness comes first"
    );
}

/// Levels of a `ZooKeeper` log by a search for their words behind the stamp.
fn zookeeper_levels(text: &str) -> BTreeMap<String, u64> {
    let mut levels = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("2026-11-29 ")) {
        let word = line
            .split(" - ")
            .nth(1)
            .unwrap()
            .split_whitespace()
            .next()
            .unwrap();
        let class = if word == "WARN" {
            "warning".to_owned()
        } else {
            word.to_lowercase()
        };
        *levels.entry(class).or_default() += 1;
    }
    levels
}

#[test]
fn a_coordination_services_own_log_is_read_record_by_record() {
    let mut checked = 0;
    for folder in folders("clickhouse") {
        let path = folder.join("zk");
        let Ok(text) = fs::read_to_string(path.join("zookeeper.log")) else {
            continue;
        };
        let (id, report) = (name(&folder), product::report(&path));
        let levels = zookeeper_levels(&text);
        assert_eq!(report.records.by_level, levels, "{id}");
        assert_eq!(report.records.total, levels.values().sum::<u64>(), "{id}");
        let traces = text.lines().filter(|line| !line.starts_with("2026-11-29 "));
        assert_eq!(
            report.records.continuation_lines,
            u64::try_from(traces.count()).unwrap(),
            "{id}"
        );
        assert_eq!(
            product::input(&report, "zookeeper.log").format,
            "zookeeper",
            "{id}"
        );
        assert!(
            report.findings.is_empty(),
            "{id}: {:?}",
            product::fired(&report)
        );
        checked += 1;
    }
    assert_eq!(checked, 4);
}

/// A service beside the servers changes no finding of theirs, though its own log may say more of an outage.
#[test]
fn the_whole_folder_of_a_case_gives_the_findings_of_its_servers() {
    let with_service = folders("clickhouse")
        .into_iter()
        .filter(|it| it.join("zk").is_dir());
    for folder in with_service {
        let servers = super::clickhouse::report(&folder);
        let whole = product::report_of(&casdiag::pipeline::Plan {
            roots: super::clickhouse::inputs(&folder)
                .into_iter()
                .chain([folder.join("zk")])
                .collect(),
            ..casdiag::pipeline::Plan::default()
        });
        let found = |report: &Report| -> Vec<_> {
            let found = report.findings.iter();
            let told = found.map(|it| {
                let who = (it.reported_by.clone(), it.accused.clone());
                (it.rule.clone(), it.severity, it.confidence, who)
            });
            told.collect()
        };
        assert_eq!(found(&whole), found(&servers), "{}", name(&folder));
    }
}
