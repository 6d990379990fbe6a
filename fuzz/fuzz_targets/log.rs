//! What holds for any bytes read as a log.

use casdiag::parsers::{Format, exception};
use casdiag::scan::{BlockContext, Scanner};
use casdiag::time::Period;

/// Reads the bytes record by record, and then as a block of a log.
pub fn read(format: &str, bytes: &[u8]) {
    let format = Format::from_name(format).expect("a registered format");
    for line in bytes.split_inclusive(|&b| b == b'\n') {
        let stamp = format.stamp(line);
        let Some(record) = format.parse(line) else {
            assert!(!format.is_head(line), "a head that is no record");
            continue;
        };
        assert!(format.is_head(line));
        assert!(record.time.is_none() || stamp.is_some());
        if let Some(exception) = format.exception(&record) {
            assert!(exception.text_at <= record.message.len());
            let further = std::iter::once(record.rest);
            exception::nested(&record, exception, further, |code| assert_ne!(code, exception.code));
        }
    }
    let base = super::rule_base::built_in();
    let scanner = Scanner {
        signals: &base.signals,
        families: &base.families,
        period: Period::default(),
        grep: None,
        profile: None,
    };
    let context = BlockContext {
        format,
        hashed: true,
        continues: false,
        last: true,
        viewed: false,
        origin: None,
    };
    let scan = scanner.scan(bytes, context);
    let lines = bytes.split_inclusive(|&b| b == b'\n').count() as u64;
    assert_eq!(scan.lines, lines);
    assert_eq!(scan.levels.iter().sum::<u64>(), scan.records);
    assert!(scan.records + scan.continuation_lines + scan.unparsed_lines <= lines);
    assert!(scan.entries.len() as u64 <= scan.records);
    for entry in &scan.entries {
        assert!(!entry.bytes.of(bytes).is_empty());
        assert!(u64::from(entry.line) < lines);
        for occurrence in scan.occurrences_of(entry) {
            for field in scan.fields_of(occurrence) {
                assert!(field.is_empty() || !field.of(bytes).is_empty());
            }
        }
    }
}
