//! Sources that do not prove what they offered, run again without a storm of refusals beside them, or not, and then why.

use std::fmt::Write as _;

use casdiag::replay::{Fitted, Replayed, Verdict, replay, write};
use casdiag::report::{REPORTS, Style};

use crate::product::{Folder, report};

/// When a record stands, so many seconds after 10:00.
fn stamp(second: usize, ms: usize) -> String {
    let (hour, minute) = (10 + second / 3600, second / 60 % 60);
    format!(
        "2026.09.01 {hour}:{minute:02}:{:02}.{ms:03}000",
        second % 60
    )
}

/// A source that cannot tell, once every so many seconds; and the receiver's side of as many of them as it kept.
fn answered(answers: usize, kept: usize, every_s: usize) -> Vec<Replayed> {
    let table = "q.s (94c6e9b4-7c52-4d1b-9a7e-2f1d0c6b8e93)";
    let (mut source, mut receiver) = (String::new(), String::new());
    for nth in 0..answers {
        let part = format!("all_{nth}_{nth}_0");
        let at = stamp(nth * every_s, 500);
        writeln!(
            source,
            "{at} [ 318 ] {{}} <Debug> {table} (Replicated PartsService): Relink confirm is unproven (unknown) for ref '{part}' (part {part}, manifest 1:4{nth}:1) in namespace 'ca-n1/store/94c/94c6@cas@'"
        )
        .unwrap();
        let (refused, finished) = (stamp(nth * every_s, 510), stamp(nth * every_s + 5, 0));
        if nth < kept {
            writeln!(
                receiver,
                "{refused} [ 7 ] {{}} <Error> {table}: auto DB::StorageReplicatedMergeTree::processQueueEntry(X)::operator() const: Code: 210. DB::Exception: Source ch1 did not prove it still holds the manifest it offered for part {part} by relink; the relink is abandoned and the fetch will be retried later. (NETWORK_ERROR)\n\
                 {finished} [ 8 ] {{}} <Debug> {table} (Fetcher): Relink of part {part} onto disk cas finished (no bytes transferred)."
            )
            .unwrap();
        }
    }
    let folder = Folder::new();
    folder.put("ch1/clickhouse-server.log", source);
    folder.put("ch2/clickhouse-server.log", receiver);
    let report = report(folder.path());
    let replayed = replay(&report);
    for one in &replayed {
        let found = report.findings.iter().find(|it| it.id == one.finding);
        assert_eq!(
            found.unwrap().rule,
            if every_s < 60 {
                "code-210-storm"
            } else {
                "unproven-confirms"
            }
        );
    }
    replayed
}

#[test]
fn answers_beside_a_storm_are_run_again_once_as_the_storm() {
    // 24 refusals, one each 20 s: thirty fit into ten minutes, and ten are a storm.
    let replayed = answered(24, 24, 20);
    assert_eq!(replayed.len(), 1, "{replayed:#?}");
}

#[test]
fn answers_without_a_storm_are_run_again_if_the_refusals_are_here() {
    // 25 refusals, one each 70 s: at most nine in ten minutes, which is no storm.
    let replayed = answered(25, 25, 70);
    let [one] = &replayed[..] else {
        panic!("{replayed:#?}");
    };
    assert_ne!(one.verdict, Verdict::NotRun, "{}", one.summary);
    let row = one
        .compared
        .iter()
        .find(|it| it.what == "refused" && it.node == "ch2");
    assert_eq!(row.unwrap().observed, Some(25));
    assert!(one.fitted.iter().all(|it| !it.is_cut));
}

#[test]
fn answers_alone_are_not_run_again_and_it_is_said_what_is_missing() {
    for kept in [0, 3] {
        let replayed = answered(25, kept, 70);
        let [one] = &replayed[..] else {
            panic!("{replayed:#?}");
        };
        assert_eq!(one.verdict, Verdict::NotRun);
        let says = format!(
            "25 answers of sources are here and {kept} refusals of receivers, and 20 are the least: the logs of those who asked are missing"
        );
        assert!(one.summary.contains(&says), "{}", one.summary);
    }
}

#[test]
fn a_range_that_the_budget_cut_short_is_marked_in_every_output() {
    let folder = Folder::new();
    let mut report = report(folder.path());
    let mut one = answered(25, 25, 70).remove(0);
    for is_cut in [true, false] {
        one.fitted = vec![Fitted {
            what: "a write to the store, ms".to_owned(),
            value: 20,
            least: 15,
            most: 30,
            is_cut,
        }];
        let value = one.value();
        assert_eq!(value["fitted"][0]["is_cut"], is_cut);
        report.replays = vec![value];
        let mut text = Vec::new();
        write(&[one.clone()], &mut text).unwrap();
        let mut outputs = vec![text];
        let style = Style {
            color: false,
            width: 80,
        };
        for output in REPORTS
            .iter()
            .filter(|it| ["markdown", "html"].contains(&it.name))
        {
            let mut bytes = Vec::new();
            (output.write)(&report, &style, &mut bytes).unwrap();
            outputs.push(bytes);
        }
        assert_eq!(outputs.len(), 3);
        for output in outputs {
            let text = String::from_utf8(output).unwrap();
            assert_eq!(text.contains("may be wider"), is_cut, "{text}");
        }
    }
}
