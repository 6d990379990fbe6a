//! The generator against a plain search over what it wrote, so that its counts are no mere promise.

use std::fs::File;
use std::io::Read as _;

use super::{BTreeMap, NODES, NodeTruth, Path, Plan, REFUSALS, Truth, write};

fn bytes(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// One file read with nothing but line prefixes and substrings.
fn records(path: &Path) -> Vec<String> {
    let mut bytes = bytes(path);
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&bytes[..])
            .read_to_end(&mut unpacked)
            .unwrap();
        bytes = unpacked;
    }
    let mut records: Vec<String> = Vec::new();
    for line in String::from_utf8(bytes).unwrap().lines() {
        match records.last_mut() {
            Some(record) if !line.starts_with("2026.09.0") => {
                record.push('\n');
                record.push_str(line);
            }
            _ => records.push(line.to_owned()),
        }
    }
    records
}

/// The records of a node once each: the larger multiplicity, a cut copy counted as the whole one.
fn unique(folder: &Path, node: &NodeTruth) -> Vec<String> {
    let mut by_log: [BTreeMap<String, usize>; 2] = [BTreeMap::new(), BTreeMap::new()];
    for (path, file) in &node.files {
        let found = records(&folder.join(path));
        assert_eq!(u64::try_from(found.len()).unwrap(), file.records, "{path}");
        let lines: usize = found
            .iter()
            .map(|record| record.matches('\n').count())
            .sum();
        assert_eq!(
            u64::try_from(lines).unwrap(),
            file.continuation_lines,
            "{path}"
        );
        let hits: usize = found
            .iter()
            .flat_map(|record| record.lines())
            .filter(|line| line.contains(super::NEEDLE))
            .count();
        assert_eq!(u64::try_from(hits).unwrap(), file.grep_lines, "{path}");
        let whole = found.len() - usize::from(file.torn);
        for record in &found[..whole] {
            *by_log[usize::from(path.contains(".err.log"))]
                .entry(record.clone())
                .or_default() += 1;
        }
    }
    let [mut main, err] = by_log;
    for (record, times) in err {
        let seen = main.entry(record).or_default();
        *seen = times.max(*seen);
    }
    main.into_iter()
        .flat_map(|(record, times)| std::iter::repeat_n(record, times))
        .collect()
}

fn check(folder: &Path, node: &NodeTruth, new_era: bool) {
    let found = unique(folder, node);
    assert_eq!(u64::try_from(found.len()).unwrap(), node.records);
    let lines: usize = found
        .iter()
        .map(|record| record.matches('\n').count())
        .sum();
    assert_eq!(u64::try_from(lines).unwrap(), node.continuation_lines);
    let stamp = |it: &String| it[..26].replacen('.', "-", 2).replacen(' ', "T", 1);
    assert_eq!(found.iter().map(stamp).min().unwrap(), node.first);
    assert_eq!(found.iter().map(stamp).max().unwrap(), node.last);
    check_exceptions(&found, node, new_era);
    check_others(&found, node);
    check_sums(node, new_era);
}

fn count(found: &[String], fits: impl Fn(&str) -> bool) -> u64 {
    u64::try_from(found.iter().filter(|it| fits(it)).count()).unwrap()
}

fn check_exceptions(found: &[String], node: &NodeTruth, new_era: bool) {
    let refusal = if new_era {
        "234. DB::Exception: Source"
    } else {
        "210. DB::Exception: Source"
    };
    let expected = [
        (refusal, node.refusals),
        (
            "210. DB::Exception: CAS write could",
            node.write_not_committed,
        ),
        (
            "210. DB::Exception: content-addressed",
            node.transient_unavailable,
        ),
        ("210. DB::NetException", node.network_errors),
        ("234. DB::Exception: No active", node.no_active_replica),
        ("499. ", node.s3_errors),
        ("49. ", node.empty_multipart),
        ("62. ", node.quoting_errors),
    ];
    for (text, expected) in expected {
        let text = format!("Code: {text}");
        assert_eq!(
            count(found, |it| it.contains(&text) && is_exception(it)),
            expected,
            "{text}"
        );
    }
}

fn check_others(found: &[String], node: &NodeTruth) {
    let expected = [
        (
            "Relink confirm is unproven (unknown)",
            node.unproven_unknown,
        ),
        ("Relink confirm is unproven (no)", node.unproven_no),
        ("finished (no bytes transferred)", node.finished),
        ("<Error> WriteBufferFromS3: ", node.ref_catalog_attempts),
        ("key data/cas/ref_catalog", node.ref_catalog_errors),
        ("<Error> ServerErrorHandler: ", node.http_resets),
        ("<Warning> CasWriteRetryLater: ", node.retry_warnings),
        ("<Warning> CasRefLedger: ", node.ledger_warnings),
        ("<Notice>", node.notices),
        ("<Error>", node.levels["error"]),
        ("<Warning>", node.levels["warning"]),
        ("<Debug>", node.levels["debug"]),
        ("<Trace>", node.levels["trace"]),
    ];
    for (text, expected) in expected {
        assert_eq!(count(found, |it| it.contains(text)), expected, "{text}");
    }
    assert_eq!(
        count(found, |it| it.contains("<Information>")) + node.notices,
        node.levels["info"]
    );
    assert_eq!(
        count(found, |it| it.contains("last exception: ")
            || it.contains("last_exception: ")),
        node.echoes
    );
    let quotes = |it: &str| it.contains("<Debug> executeQuery") && it.contains(super::NEEDLE);
    assert_eq!(count(found, quotes), node.monitoring_queries);
    assert_eq!(
        node.ref_catalog_attempts + node.ref_catalog_exceptions,
        node.ref_catalog_errors
    );
}

fn is_exception(record: &str) -> bool {
    let message = record.split_once(">: ").map_or(record, |(_, rest)| rest);
    !message.contains("last exception: ")
        && !message.contains("last_exception: ")
        && !message.contains("<Debug>")
}

fn check_sums(node: &NodeTruth, new_era: bool) {
    let network_error = node.write_not_committed + node.transient_unavailable + node.network_errors;
    let (old, new) = if new_era {
        (0, node.refusals)
    } else {
        (node.refusals, 0)
    };
    assert_eq!(node.codes[&210], network_error + old);
    assert_eq!(node.codes[&234], node.no_active_replica + new);
    assert_eq!(
        node.codes[&1000],
        node.http_resets + node.ref_catalog_attempts
    );
    assert_eq!(node.codes.get(&499).copied().unwrap_or(0), node.s3_errors);
    assert_eq!(
        node.codes_nested.get(&1000).copied().unwrap_or(0),
        node.s3_errors
    );
    assert_eq!(node.refusals_by_source.values().sum::<u64>(), node.refusals);
    assert_eq!(node.refusals_by_part.values().sum::<u64>(), node.refusals);
    assert!(!node.refusals_by_source.contains_key(node.name));
    assert_eq!(node.levels.values().sum::<u64>(), node.records);
    let main: u64 = node
        .files
        .iter()
        .filter(|(path, _)| !path.contains(".err."))
        .map(|(_, file)| file.records)
        .sum();
    assert_eq!(main + node.err_only, node.records);
    let grep: u64 = node.files.values().map(|file| file.grep_lines).sum();
    assert!(grep > node.refusals || new_era && grep >= node.refusals);
    assert!(node.files.values().all(|file| file.bytes > 0));
}

fn generate(plan: &Plan) -> (tempfile::TempDir, Truth) {
    let folder = tempfile::tempdir().unwrap();
    let truth = write(plan, folder.path());
    (folder, truth)
}

#[test]
fn truth_of_a_generated_report_001_is_what_a_plain_search_finds() {
    for new_era in [false, true] {
        for scale in [100, 3000] {
            let (folder, truth) = generate(&Plan {
                scale,
                seed: 1,
                new_era,
            });
            for (index, node) in NODES.iter().enumerate() {
                let node = truth.node(node);
                assert_eq!(node.refusals, REFUSALS[index] / u64::from(scale));
                check(folder.path(), node, new_era);
            }
        }
    }
}

#[test]
fn one_seed_writes_the_same_bytes_twice() {
    let plan = Plan {
        scale: 1000,
        seed: 7,
        new_era: false,
    };
    let ((left, truth), (right, _)) = (generate(&plan), generate(&plan));
    for path in truth.nodes.iter().flat_map(|node| node.files.keys()) {
        assert!(
            bytes(&left.path().join(path)) == bytes(&right.path().join(path)),
            "{path}"
        );
    }
}
