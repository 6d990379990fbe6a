//! Described layouts: the documented example, every key, and files that make no sense.

use std::path::PathBuf;

use casdiag::layout::{LayoutError, ProblemKind, Verdict, load};
use casdiag::vocab::Lsn;

use super::writer::{crc32c, entries, reference};
use super::{Folder, casdiag, check, check_with, document, json, kinds, only};

/// Writes a layout file.
fn layout(folder: &Folder, text: &str) -> PathBuf {
    folder.write("layout.toml", text.as_bytes());
    folder.path().join("layout.toml")
}

/// The fenced block of the documentation that begins with a line.
fn documented(first_line: &str) -> String {
    let text = document("docs/wal-format.md");
    let from = text.find(first_line).unwrap();
    let length = text[from..].find("```").unwrap();
    text[from..from + length].to_owned()
}

#[test]
fn the_documented_description_reads_the_reference_layout_as_its_own_reader_does() {
    let folder = Folder::new();
    let first = [entries(1..=234, 20), entries(306..=348, 21)].concat();
    folder.write("data/seg-0000000000000001.wal", &reference(1, 7, &first));
    let mut second = reference(235, 7, &entries(235..=305, 20));
    second.extend([0; 777]);
    folder.write("data/seg-00000000000000eb.wal", &second);
    let file = layout(&folder, &documented("schema = "));
    let data = folder.path().join("data");
    let described = json(&check_with(&data, &file));
    let known = json(&check(&data));
    for key in ["segments", "problems", "verdict", "records"] {
        let without_system = |value: &serde_json::Value| {
            let mut value = value["wal"][0][key].clone();
            for problem in value.as_array_mut().into_iter().flatten() {
                problem["consequence"] = serde_json::Value::Null;
            }
            value
        };
        assert_eq!(without_system(&described), without_system(&known), "{key}");
    }
    assert_eq!(described["wal"][0]["layout"], "my-controller");
}

#[test]
fn the_documented_bytes_are_a_segment() {
    let folder = Folder::new();
    let text = documented("43 44 57 41 4c 53 45 47  01 00 00 00");
    let bytes: Vec<u8> = text
        .split_whitespace()
        .map(|digits| u8::from_str_radix(digits, 16).unwrap())
        .collect();
    folder.write("seg-0000000000000001.wal", &bytes);
    let inspection = check(folder.path());
    let wal = only(&inspection);
    assert!(wal.problems.is_empty(), "{:?}", wal.problems);
    assert_eq!((wal.end(), wal.records), (Some(Lsn(1)), 1));
}

/// Records of a uvarint length that counts the whole record, a chained masked CRC, a count, and a payload.
fn chained(entries: &[(u8, u8)], mut before: Option<u32>) -> (Vec<u8>, u32) {
    let mut bytes = Vec::new();
    for &(lsn, count) in entries {
        let content = [&[9, lsn, count], b"payload".as_slice()].concat();
        let length = u8::try_from(content.len() + 5).unwrap();
        let covered = [
            before
                .map(|crc| crc.to_be_bytes().to_vec())
                .unwrap_or_default(),
            content.clone(),
        ]
        .concat();
        let masked = crc32c(0, &covered)
            .rotate_right(15)
            .wrapping_add(0xa282_ead8);
        bytes.push(length);
        bytes.extend(masked.to_be_bytes());
        bytes.extend(content);
        before = Some(masked);
    }
    (bytes, before.unwrap())
}

const CHAINED: &str = r#"
schema = "casdiag.layout/1"
name = "chained"
file = "{seq:06}.log"
ignore = ["0000099.log", "*.old"]
endian = "big"
lsn-step = "count"
record = [
  { field = "length", type = "uvarint", measures = "record" },
  { field = "crc", type = "u32", algorithm = "crc32c-masked", covers = "after", chain = "log" },
  { field = "type", type = "u8", equals = 9 },
  { field = "lsn", type = "u8" },
  { field = "count", type = "u8" },
  { field = "payload", type = "bytes" },
]
"#;

#[test]
fn a_checksum_through_all_segments_and_steps_of_several_positions_are_followed() {
    let folder = Folder::new();
    let (first, crc) = chained(&[(1, 3), (4, 1)], None);
    let (second, _) = chained(&[(5, 2), (7, 1)], Some(crc));
    folder.write("data/000004.log", &first);
    folder.write("data/000005.log", &second);
    folder.write("data/000006.old", b"x");
    let file = layout(&folder, CHAINED);
    let data = folder.path().join("data");
    let inspection = check_with(&data, &file);
    assert!(
        only(&inspection).problems.is_empty(),
        "{:?}",
        only(&inspection).problems
    );
    // The head was purged: the first checksum cannot be tested.
    folder.remove("data/000004.log");
    assert!(only(&check_with(&data, &file)).problems.is_empty());
    folder.write("data/000004.log", &first);
    folder.write(
        "data/000005.log",
        &chained(&[(5, 2), (7, 1)], Some(crc ^ 1)).0,
    );
    assert_eq!(
        kinds(only(&check_with(&data, &file))),
        [ProblemKind::Checksum]
    );
    folder.write("data/000005.log", &chained(&[(6, 2)], Some(crc)).0);
    assert_eq!(kinds(only(&check_with(&data, &file))), [ProblemKind::Gap]);
}

/// A layout without header, length and checksum, with the given words for zero tails, torn tails and rewrites.
fn plain(zero: &str, torn: &str, rewrite: &str) -> String {
    format!(
        r#"
schema = "casdiag.layout/1"
name = "plain"
file = "{{lsn:020}}.log"
end = ["zero-lsn"]
zero-tail = "{zero}"
torn-tail = "{torn}"
rewrite = "{rewrite}"
record = [
  {{ field = "lsn", type = "u16" }},
  {{ field = "term", type = "u8" }},
  {{ field = "fill", type = "bytes", size = 5 }},
]
"#
    )
}

fn record(lsn: u8, term: u8) -> Vec<u8> {
    vec![lsn, 0, term, 1, 2, 3, 4, 5]
}

fn verdict(files: &[(u64, Vec<u8>)], form: &str) -> Verdict {
    let folder = Folder::new();
    for (first, bytes) in files {
        folder.write(&format!("data/{first:020}.log"), bytes);
    }
    let file = layout(&folder, form);
    check_with(&folder.path().join("data"), &file).verdict()
}

#[test]
fn zero_tails_and_tears_are_legal_where_the_description_says_so() {
    let zeros = [
        (1, [record(1, 1), record(2, 1), vec![0; 64]].concat()),
        (3, record(3, 1)),
    ];
    let torn = [
        (1, [record(1, 1), record(2, 1)[..5].to_vec()].concat()),
        (2, record(2, 1)),
    ];
    let words = [
        ("never", Verdict::Damaged),
        ("last", Verdict::Damaged),
        ("if-next-continues", Verdict::Clean),
        ("always", Verdict::Clean),
    ];
    for (word, right) in words {
        assert_eq!(
            verdict(&zeros, &plain(word, "last", "never")),
            right,
            "zero-tail {word}"
        );
        assert_eq!(
            verdict(&torn, &plain("never", word, "never")),
            right,
            "torn-tail {word}"
        );
    }
    let last = [(1, [record(1, 1), record(2, 1)[..5].to_vec()].concat())];
    assert_eq!(
        verdict(&last, &plain("never", "last", "never")),
        Verdict::CrashResidue
    );
    assert_eq!(
        verdict(&last, &plain("never", "never", "never")),
        Verdict::Damaged
    );
}

#[test]
fn positions_are_rewritten_where_the_description_says_so() {
    let words = [
        ("never", 2, Verdict::Damaged),
        ("higher-term", 2, Verdict::Clean),
        ("higher-term", 1, Verdict::Damaged),
        ("last-wins", 1, Verdict::Clean),
    ];
    for (word, term, right) in words {
        let again = [
            record(1, 1),
            record(2, 1),
            record(3, 1),
            record(2, term),
            record(3, term),
        ];
        let files = [(1, again.concat())];
        assert_eq!(
            verdict(&files, &plain("never", "last", word)),
            right,
            "rewrite {word} {term}"
        );
    }
}

#[test]
fn a_description_that_makes_no_sense_says_where() {
    let cases = [
        (
            CHAINED.replace("casdiag.layout/1", "casdiag.layout/9"),
            "casdiag.layout/9",
        ),
        (
            CHAINED.replace("endian", "indian"),
            "unknown field `indian`",
        ),
        (
            CHAINED.replace("\"big\"", "\"middle\""),
            "unknown variant `middle`",
        ),
        (
            CHAINED.replace("{seq:06}", "all"),
            "file needs {lsn:...} or {seq:...}",
        ),
        (
            CHAINED.replace("{seq:06}", "{what:06}"),
            "\"what\" is none of lsn, seq, last, term",
        ),
        (
            CHAINED.replace("\"lsn\", type = \"u8\"", "\"position\", type = \"u8\""),
            "needs one number called lsn",
        ),
        (
            CHAINED.replace("\"count\", type", "\"number\", type"),
            "needs one number called count",
        ),
        (
            CHAINED.replace("measures = \"record\"", "equals = 1"),
            "need a length in front of them",
        ),
        (
            CHAINED.replace("\"after\"", "[\"nothing\"]"),
            "covers \"nothing\", which is no field",
        ),
        (
            CHAINED.replace("lsn-step = \"count\"", "lsn-step = \"+0\""),
            "lsn-step \"+0\"",
        ),
        (
            CHAINED.replace("endian = \"big\"", "align = 3"),
            "power of two",
        ),
        (
            CHAINED.replace("equals = 9", "equals = \"xyz\""),
            "neither \"name\" nor hex bytes",
        ),
    ];
    for (text, message) in cases {
        let folder = Folder::new();
        let file = layout(&folder, &text);
        let (code, said) = casdiag(&[
            "wal-layout-check",
            folder.text(),
            "--layout",
            file.to_str().unwrap(),
        ]);
        assert_eq!(code, 2, "{said}");
        assert!(
            said.contains(message) && said.contains("layout.toml"),
            "{message} not in {said}"
        );
    }
    assert!(matches!(
        load(&PathBuf::from("/nowhere/layout.toml")),
        Err(LayoutError::Read { .. })
    ));
}
