//! What only large archives have: 64-bit sizes, deflate64, and a temporary file that does not fit on its disk.

use std::process::Command;

use super::pack::{ZipMember, zip_of};
use super::{Folder, GOOD, gzip, line, record, refused, report, tar};

/// A zip whose every size and place stands in 64 bits, as APPNOTE.TXT 4.3.14, 4.3.15 and 4.5.3 have it.
fn zip64(name: &[u8], bytes: &[u8]) -> Vec<u8> {
    let member = ZipMember::new(name, super::STORED, bytes);
    let wide = |number: usize| (number as u64).to_le_bytes();
    let header = |extra: &[u8]| {
        let mut out = vec![45, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        out.extend(member.crc.to_le_bytes());
        out.extend([0xff; 8]);
        out.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        out.extend(u16::try_from(extra.len()).unwrap().to_le_bytes());
        out
    };
    let sizes = [wide(bytes.len()), wide(bytes.len())].concat();
    let local = [&[1, 0, 16, 0], sizes.as_slice()].concat();
    let mut out = b"PK\x03\x04".to_vec();
    out.extend(header(&local));
    out.extend(name);
    out.extend(&local);
    out.extend(bytes);
    let directory = out.len();
    let placed = [&[1, 0, 24, 0], sizes.as_slice(), &wide(0)].concat();
    out.extend(b"PK\x01\x02\x2d\x03");
    out.extend(header(&placed));
    out.extend([0; 6]);
    out.extend((0o100_644_u32 << 16).to_le_bytes());
    out.extend([0xff; 4]);
    out.extend(name);
    out.extend(&placed);
    let end = out.len();
    out.extend(b"PK\x06\x06");
    out.extend(wide(44));
    out.extend([45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for number in [1, 1, end - directory, directory] {
        out.extend(wide(number));
    }
    out.extend(b"PK\x06\x07\0\0\0\0");
    out.extend(wide(end));
    out.extend([1, 0, 0, 0]);
    out.extend(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
    out
}

#[test]
fn sizes_of_64_bits_are_read() {
    let text = line(1) + &line(2);
    let archive = zip64(b"n1/clickhouse-server.log", text.as_bytes());
    let folder = Folder::new();
    let report = report(&folder.put("a.zip", &archive));
    assert_eq!(
        (report.records.total, report.complete),
        (2, true),
        "{:?}",
        report.inputs
    );
    // The directory is lost: the local headers state the sizes too.
    let torn = &archive[..archive.len() - 30];
    let report = super::report(&folder.put("a.zip", torn));
    assert_eq!((report.records.total, report.complete), (2, false));
}

/// Bits as deflate packs them: numbers begin with their lowest bit, codes with their highest.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn bit(&mut self, bit: bool) {
        if self.used.is_multiple_of(8) {
            self.bytes.push(0);
        }
        *self.bytes.last_mut().unwrap() |= u8::from(bit) << (self.used % 8);
        self.used += 1;
    }

    fn number(&mut self, number: u32, bits: u32) {
        (0..bits).for_each(|at| self.bit(number >> at & 1 == 1));
    }

    fn code(&mut self, code: u32, bits: u32) {
        (0..bits).rev().for_each(|at| self.bit(code >> at & 1 == 1));
    }

    /// A byte below 144, in the fixed codes.
    fn byte(&mut self, byte: u8) {
        assert!(byte < 144);
        self.code(0x30 + u32::from(byte), 8);
    }
}

/// `text` and then as much of its repetition as `again` says, in one match that deflate could not write: code 285 means
/// 3 and 16 further bits there, and 258 in deflate. `text` must have 65 to 96 bytes: the distance's code depends on it.
fn deflate64(text: &[u8], again: u32) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.number(1, 1);
    bits.number(1, 2);
    for &byte in text {
        bits.byte(byte);
    }
    bits.code(0b1100_0000 + 285 - 280, 8);
    bits.number(again - 3, 16);
    let distance = u32::try_from(text.len()).unwrap();
    assert!((65..97).contains(&distance));
    bits.code(12, 5);
    bits.number(distance - 65, 5);
    bits.code(0, 7);
    bits.bytes
}

#[test]
fn deflate64_is_unpacked() {
    let tick = record("10:00:01.000000", "Debug", "Alive", "tick of a clock");
    let text = tick.repeat(100);
    let again = u32::try_from(text.len() - tick.len()).unwrap();
    let member = ZipMember {
        method: 9,
        packed: deflate64(tick.as_bytes(), again),
        ..ZipMember::new(GOOD.as_bytes(), super::STORED, text.as_bytes())
    };
    let folder = Folder::new();
    let whole = report(&folder.put("a.zip", zip_of(std::slice::from_ref(&member))));
    assert_eq!(
        (whole.records.total, whole.complete),
        (100, true),
        "{:?}",
        whole.inputs
    );
    let deflated = ZipMember {
        method: 8,
        ..member
    };
    let wrong = report(&folder.put("a.zip", zip_of(&[deflated])));
    assert!(!wrong.complete, "{:?}", wrong.inputs);
}

#[cfg(unix)]
#[test]
fn a_temporary_file_that_does_not_fit_is_said_and_the_rest_is_read() {
    let folder = Folder::with(GOOD, line(1));
    let large: String = (0..20_000).map(line).collect();
    let files = vec![("n2/clickhouse-server.log".to_owned(), large.into_bytes())];
    folder.put("packed.tar.gz", gzip(&tar(&files)));
    // No file may grow beyond 64 blocks of at most 1,024 bytes: what a full disk answers, with another number.
    let script =
        "trap '' XFSZ; ulimit -f 64; exec \"$0\" analyze \"$1\" --format json --fail-on never";
    let ran = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_casdiag")])
        .arg(folder.path())
        .output()
        .unwrap();
    let report: casdiag::report::model::Report = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(!report.complete);
    assert_eq!(report.records.total, 1);
    let refused = refused(&report);
    assert!(
        refused
            .iter()
            .any(|(_, why)| why.contains("the temporary file: ")),
        "{refused:?}"
    );
}
