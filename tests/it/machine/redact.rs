//! `--redact`: nothing of what names an installation survives in any output, and the incident is still the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;

use crate::product::{Folder, Ran, analyze, casdiag, record, repository};

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// What a file says, in small letters: of Parquet every cell, of anything else its bytes.
fn said(path: &Path) -> String {
    if path.extension().is_some_and(|it| it == "parquet") {
        let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        let cells = rows.map(|row| format!("{:?}\n", row.unwrap()));
        return cells.collect::<String>().to_lowercase();
    }
    String::from_utf8(fs::read(path).unwrap())
        .unwrap()
        .to_lowercase()
}

/// All numbers of a document, in order.
fn numbers(value: &Value) -> Vec<String> {
    match value {
        Value::Number(number) => vec![number.to_string()],
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        Value::Object(object) => object.values().flat_map(numbers).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => Vec::new(),
    }
}

fn sorted(mut numbers: Vec<String>) -> Vec<String> {
    numbers.sort();
    numbers
}

fn refusal(source: &str) -> String {
    format!(
        "Code: 210. DB::Exception: Source {source} did not prove it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned and the fetch will be retried later. (NETWORK_ERROR)"
    )
}

/// Messages that each hold secrets of a kind.
const MESSAGES: &[&str] = &[
    "Code: 60. DB::Exception: Unknown table in query: SELECT topcolumn FROM vault WHERE owner = 'zacharias'",
    "executeQuery: (from [2001:db8::77]:46780, user: carlotta) /* payroll */ insert into wages values ('hunter2')",
    "Cannot resolve keeper7.internal.example.org, tried http://admin:opensesame@minioprod:9000/bucketeer/objectname?X-Signature=s1gnature",
    "Upload to s3://svc77:swordfish@warehouse/backupset failed, and to http://u:pa55/w0rd@warehouse:9000/ and http://root:sl4sh@warehouse/",
    "Connection to 192.168.7.9:9009 as 'serviceaccount' failed (zookeepera:2181), [::ffff:192.168.7.9]:9009, 00:1a:2b:3c:4d:5e",
    "DB::Exception: unknown user serviceaccount from wolfram, or \"double quoted\", or `backticked`",
    "Cannot open file /home/jsmith/projects/key.pem, ~jsmith/other/file and C:\\Users\\jsmith\\desk",
    "Mail to jane.doe@acmecorp.test failed, password=correcthorse, token: batterystaple",
    "Replica hydrogen lost its peer, then tritium-3 at db7 and minio.local and WOLFRAM went away",
    "Sent by {} to ctrl-9 and to hydrogen, select hiddenname from t",
];

/// A cluster whose logs name everything that is to be masked.
fn cluster() -> Folder {
    let folder = Folder::new();
    let mut log = String::new();
    for at in 0..15 {
        let source = ["db-east.corp.example", "10.20.30.40", "wolfram"][at % 3];
        let time = format!("10:00:{at:02}.000000");
        log += &record(&time, "Error", "shop.orders (94c6)", &refusal(source));
        // A query of several lines beside a cited record.
        log += &record(
            &time,
            "Debug",
            "executeQuery",
            "(from [2001:db8::77]:46780) insert into wages values ('hunter2'\n, 'continuedliteral')",
        );
    }
    for (at, message) in MESSAGES.iter().enumerate() {
        log += &record(&format!("10:01:{at:02}.000000"), "Error", "a", message);
        // Beside a cited record.
        log += &record(
            &format!("10:02:{at:02}.000000"),
            "Error",
            "shop.orders (94c6)",
            &refusal("wolfram"),
        );
        log += &record(&format!("10:02:{at:02}.500000"), "Error", "b", message);
    }
    log += "2026.09.01 10:03:00.000000 [ 7 ] {my-private-id} <Error> c: broke\n";
    folder.put(
        "home/jsmith/acmecorp/first/hydrogen/clickhouse-server.log",
        &log,
    );
    folder.put("home/jsmith/acmecorp/second/ctrl-1.log", "07:05:50,012 ctrl-1 HA repl: standby[0] lsn=340 < stream_ceiling_lsn=342 (committed_lsn=341) → stream WAL batches\n".repeat(3) + "07:05:51,012 ctrl-1 ERROR: lost ctrl-3, 10.20.30.40 and tungsten=1\n");
    folder.put("home/jsmith/acmecorp/second/soak.log", "[xce-test-ha] round 19: kill ctrl-3, expect failover\nworker: xcecli failover: cluster not ready after 21 attempts (last status=-10013)\n");
    folder.put("home/jsmith/acmecorp/secretreport.txt", "nothing\n");
    folder
}

const SECRETS: &[&str] = &[
    "hydrogen",
    "wolfram",
    "db-east",
    "corp.example",
    "keeper7",
    "example.org",
    "minioprod",
    "zookeepera",
    "warehouse",
    "tritium",
    "db7",
    "minio.local",
    "ctrl-1",
    "ctrl-3",
    "ctrl-9",
    "10.20.30.40",
    "192.168.7.9",
    "2001:db8::77",
    "00:1a:2b",
    "opensesame",
    "swordfish",
    "svc77",
    "pa55",
    "w0rd",
    "sl4sh",
    "s1gnature",
    "bucketeer",
    "objectname",
    "backupset",
    "jsmith",
    "acmecorp",
    "secretreport",
    "projects/",
    "key.pem",
    "jane.doe",
    "correcthorse",
    "batterystaple",
    "carlotta",
    "serviceaccount",
    "double quoted",
    "backticked",
    "my-private-id",
    "topcolumn",
    "vault",
    "zacharias",
    "payroll",
    "wages",
    "hunter2",
    "continuedliteral",
    "hiddenname",
];

#[test]
fn no_secret_of_any_kind_survives_in_any_output() {
    let folder = cluster();
    let out = Folder::new();
    let to = |name: &str| out.path().join(name);
    analyze(folder.path(), &["--out", to("plain").to_str().unwrap()]);
    let masked = analyze(
        folder.path(),
        &["--redact", "--out", to("masked").to_str().unwrap()],
    );
    assert_eq!(masked.code, Some(1), "{}", masked.err);
    let kept = to("plain/report.json");
    let later = casdiag(&[
        "render",
        kept.to_str().unwrap(),
        "--redact",
        "--out",
        to("later").to_str().unwrap(),
    ]);
    assert_eq!(later.code, Some(0), "{}", later.err);
    let before: String = files(&to("plain")).iter().map(|it| said(it)).collect();
    let mut leaks = Vec::new();
    for secret in SECRETS {
        let is_shown = before.contains(secret);
        assert!(is_shown, "{secret} is shown without --redact");
        for path in files(&to("masked")).iter().chain(&files(&to("later"))) {
            for line in said(path).lines().filter(|it| it.contains(secret)).take(1) {
                let at = line.find(secret).unwrap();
                let around: String = line[..at]
                    .chars()
                    .rev()
                    .take(60)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .rev()
                    .chain(line[at..].chars().take(80))
                    .collect();
                leaks.push(format!("{secret} in {}: {around}", path.display()));
            }
        }
        for ran in [&masked, &later] {
            assert!(
                !ran.out.to_lowercase().contains(secret),
                "{secret} on stdout"
            );
        }
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    assert_eq!(files(&to("plain")).len(), files(&to("masked")).len());
    for path in files(&to("masked")) {
        let again = to("later").join(path.strip_prefix(to("masked")).unwrap());
        assert!(
            fs::read(&path).unwrap() == fs::read(&again).unwrap(),
            "rendered later: {}",
            path.display()
        );
    }
}

/// The texts at the same places of two documents. Maps whose keys are names are compared by the order of their keys only
/// where nothing else tells them apart, so they are left out.
fn pairs<'v>(
    plain: &'v Value,
    masked: &'v Value,
    key: &'v str,
    found: &mut Vec<(&'v str, &'v str, &'v str)>,
) {
    match (plain, masked) {
        (Value::String(plain), Value::String(masked)) => found.push((key, plain, masked)),
        (Value::Array(plain), Value::Array(masked)) => {
            assert_eq!(plain.len(), masked.len(), "{key}");
            for (plain, masked) in plain.iter().zip(masked) {
                pairs(plain, masked, key, found);
            }
        }
        (Value::Object(plain), Value::Object(masked)) => {
            for (key, value) in plain {
                if let Some(masked) = masked.get(key) {
                    pairs(value, masked, key, found);
                }
            }
        }
        _ => {}
    }
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn a_name_has_one_mask_in_names_paths_messages_titles_and_templates() {
    let folder = cluster();
    let plain = json(&analyze(folder.path(), &["--format", "json"]));
    let masked = json(&analyze(folder.path(), &["--redact", "--format", "json"]));
    assert_eq!(masked["redacted"], true);
    let mut found = Vec::new();
    pairs(&plain, &masked, "", &mut found);
    let mut masks: BTreeMap<&str, &str> = BTreeMap::new();
    for (key, name, mask) in &found {
        if matches!(*key, "node" | "nodes" | "accused" | "reported_by") {
            let before = masks.insert(*name, mask);
            assert!(
                before.is_none_or(|it| it == *mask),
                "{name}: {before:?} and {mask}"
            );
        }
    }
    let distinct: std::collections::BTreeSet<&&str> = masks.values().collect();
    assert_eq!(
        distinct.len(),
        masks.len(),
        "no two names share a mask: {masks:?}"
    );
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for name in [
        "hydrogen",
        "wolfram",
        "10.20.30.40",
        "db-east.corp.example",
        "ctrl-1",
    ] {
        let mask = masks[name];
        for (key, text, masked) in &found {
            // Inside a query nothing is told apart.
            if text.contains(name) && !masked.contains("query-") && !masked.starts_with("(a line") {
                assert_eq!(
                    text.matches(name).count(),
                    masked.matches(mask).count(),
                    "{key}: {text}: {masked}"
                );
                *seen.entry((name, key)).or_default() += 1;
            }
        }
    }
    for place in [
        ("hydrogen", "path"),
        ("hydrogen", "text"),
        ("wolfram", "title"),
        ("wolfram", "text"),
        ("wolfram", "template"),
        ("10.20.30.40", "text"),
        ("ctrl-1", "path"),
        ("ctrl-1", "text"),
    ] {
        assert!(seen.contains_key(&place), "{place:?} in {seen:?}");
    }
}

#[test]
fn what_tells_the_incident_stays() {
    let folder = cluster();
    let masked = analyze(folder.path(), &["--redact", "--format", "markdown"]).out;
    for kept in [
        "all_1_1_0",
        "Code: 210",
        "NETWORK_ERROR",
        "shop.orders (94c6)",
        "did not prove it still holds the manifest",
        "2026.09.01 10:00:00.000000",
        "lsn=340",
        "clickhouse-server.log",
    ] {
        assert!(masked.contains(kept), "{kept}");
    }
    let text = analyze(folder.path(), &["--redact"]).out;
    assert!(text.contains("masked"), "it says that it is masked: {text}");
}

#[test]
fn no_number_changes_and_no_node_of_a_sample_is_left() {
    for (sample, nodes) in [
        ("report-000", &["ch1", "ch2"][..]),
        ("report-001", &["clickhouse1", "clickhouse2", "clickhouse3"]),
        ("report-003", &["ctrl-1", "ctrl-2", "ctrl-3"]),
    ] {
        let root = repository("samples/incidents").join(sample);
        let of = |arguments: &[&str]| {
            json(&analyze(
                &root,
                &[&["--format", "json"], arguments].concat(),
            ))
        };
        let (plain, masked) = (of(&[]), of(&["--redact"]));
        assert_eq!(
            sorted(numbers(&plain)),
            sorted(numbers(&masked)),
            "{sample}"
        );
        let out = Folder::new();
        let folder = out.path().join("out");
        let ran = analyze(&root, &["--redact", "--out", folder.to_str().unwrap()]);
        assert_eq!(ran.code, Some(1));
        for path in files(&folder) {
            let text = said(&path);
            for node in nodes {
                assert!(!text.contains(node), "{node} in {}", path.display());
            }
        }
    }
}

#[test]
fn a_masked_report_is_not_masked_again() {
    let folder = cluster();
    let once = analyze(folder.path(), &["--redact", "--format", "json"]).out;
    let kept = Folder::new();
    let path = kept.put("report.json", &once);
    let again = casdiag(&[
        "render",
        path.to_str().unwrap(),
        "--redact",
        "--format",
        "json",
    ]);
    assert!(again.out == once);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(96))]

    /// Whatever stands in a record is masked without a fault, and twice alike.
    #[test]
    fn no_text_stops_the_masking(pieces in proptest::collection::vec(proptest::sample::select(&[
        "://", "@", "'", "\"", "`", "?", "=", "user: ", "{", "}", " <", "10.0.0.1", "::1", ":9000", "/", "~", "C:\\", "ä", "表", "\u{1f600}",
        "SELECT ", "query: ", "executeQuery: (from ", ") ", "host-", "ctrl-3", "a.b.local", ".", "-", "_", " ", "x", "7", "\\", "\n",
    ][..]), 0..24)) {
        use std::sync::OnceLock;
        static REPORT: OnceLock<Value> = OnceLock::new();
        let report = REPORT.get_or_init(|| {
            let report = crate::product::report(&repository("samples/incidents/report-003"));
            let mut value = serde_json::to_value(&report).unwrap();
            for (list, kept) in [("signals", 2), ("rules", 0), ("findings", 1), ("wal", 0)] {
                value[list].as_array_mut().unwrap().truncate(kept);
            }
            value
        });
        let mut report = report.clone();
        let text = pieces.concat();
        for place in ["/signals/0/evidence/0/text", "/findings/0/title", "/inputs/0/path", "/inputs/0/node", "/signals/0/node"] {
            *report.pointer_mut(place).unwrap() = Value::String(text.clone());
        }
        let masked = || {
            let report = serde_json::from_value(report.clone()).unwrap();
            serde_json::to_string(&casdiag::report::redact(report).unwrap()).unwrap()
        };
        proptest::prop_assert_eq!(masked(), masked());
    }
}
