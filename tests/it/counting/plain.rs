//! What a plain search finds beside the records of a signal: lines of every file that is known, counted by hand.

use super::{LAMBDA, refusal_text, refused};
use crate::product::{self, Folder};

#[test]
fn what_a_plain_search_finds_is_counted_in_every_file() {
    let soak = "\
[soak.run] checkpoint at executed=50 (op_id=49)
[soak.run] unreachable=3; reachable=10 dangling=0 dryrun_subset=ok
[soak.run] checkpoint OK: now=1787148071 count=41 fsck reachable=6 unreachable=2 dangling=0 stale_edge=0 dryrun_count=0
TRANSPORT FAILURE: [Errno 54] Connection reset by peer
  \"error\": \"TRANSPORT FAILURE: [Errno 54] Connection reset by peer\",
";
    let folder = Folder::with("soak.log", soak);
    let path = folder.path().to_str().unwrap();
    for (signal, records, lines) in [
        ("soak-checkpoint-passed", "1 record is", "2 lines:"),
        ("soak-transport-failure", "1 record is", "2 lines:"),
    ] {
        let ran = product::casdiag(&["lines", signal, path]);
        let said = format!("\n{records} {signal}\n{lines} what a plain search finds");
        assert!(ran.out.contains(&said), "{}", ran.out);
    }
}

#[test]
fn a_copy_and_a_table_are_searched_though_their_records_count_once() {
    let a = refused("10:00:00.000001", "n2");
    let folder = Folder::with("n1/clickhouse-server.log", &a);
    let text = refusal_text(210, "n2");
    // The same record as text_log exports it, in two forms of which one is read; the text stands in one line of each.
    let names =
        "event_time\tevent_time_microseconds\tthread_id\tlevel\tquery_id\tlogger_name\tmessage";
    let row = format!(
        "2026-09-01 10:00:00\t2026-09-01 10:00:00.000001\t7\tError\t\tq.s (94c6)\t{LAMBDA}{text}"
    );
    folder.put("n1/text_log.tsv", format!("{names}\n{row}\n"));
    let cells = names.split('\t').zip(row.split('\t'));
    let cells: Vec<String> = cells.map(|(k, v)| format!("\"{k}\":{v:?}")).collect();
    folder.put("n1/text_log.jsonl", format!("{{{}}}\n", cells.join(",")));
    // A note that is no log is not searched.
    folder.put("notes.txt", format!("it said: {text}\n"));
    let path = folder.path().to_str().unwrap();
    let ran = product::casdiag(&["lines", "relink-refused", path]);
    assert!(
        ran.out
            .contains("\n1 record is relink-refused\n3 lines: what a plain search finds"),
        "{}",
        ran.out
    );
    let copy = "1 of them stands in no record that was read";
    assert!(ran.out.contains(copy), "{}", ran.out);
}
