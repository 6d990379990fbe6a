//! Speed and memory of `wal-layout-check` against one pass that reads and CRC-32Cs the same bytes.
//!
//! `cargo bench --bench wal -- [--mb=N] [FOLDER...]` measures folders of segments; without one, logs of the reference layout and of
//! etcd are made, with records of a kilobyte, and segments of which all but a few records is a preallocated tail of zeros. The pages
//! are read once before, so both passes find them in memory.
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_types, reason = "a bench measures time")]
#![expect(clippy::disallowed_methods, reason = "a file of /proc is small")]

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use casdiag::layout::{Choice, inspect};

/// Megabytes that are made of each log unless said.
const MADE_MB: usize = 256;
/// What one segment holds.
const SEGMENT_BYTES: usize = 16_000_000;
/// What a segment is preallocated to, as etcd does.
const PREALLOCATED: u64 = 64_000_000;
const PAYLOAD: [u8; 1000] = [0x5a; 1000];
const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mb = arguments.iter().find_map(|it| it.strip_prefix("--mb="));
    let segments = mb.map_or(MADE_MB, |mb| mb.parse().unwrap()) * 1_000_000 / SEGMENT_BYTES;
    let given = arguments.iter().filter(|it| !it.starts_with('-'));
    let mut folders: Vec<PathBuf> = given.map(PathBuf::from).collect();
    let made = tempfile::tempdir().unwrap();
    if folders.is_empty() {
        for (name, make) in [("reference", reference as Make), ("etcd", etcd)] {
            folders.push(made.path().join(name));
            make(folders.last().unwrap(), segments, SEGMENT_BYTES, 0);
        }
        for (name, make) in [("reference-tails", reference as Make), ("etcd-tails", etcd)] {
            folders.push(made.path().join(name));
            make(folders.last().unwrap(), 4, 10_000, PREALLOCATED);
        }
    }
    for folder in folders {
        measure(&folder);
    }
}

fn measure(folder: &Path) {
    let bytes = read(folder);
    let (mut plain, mut checked) = (f64::MAX, f64::MAX);
    let before = peak_kilobytes();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        assert_eq!(read(folder), bytes);
        plain = plain.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let inspection = inspect(&[folder.to_path_buf()], &Choice::Detect);
        checked = checked.min(start.elapsed().as_secs_f64());
        assert_eq!(inspection.wals.len(), 1);
        assert!(inspection.wals[0].problems.is_empty());
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "megabytes per second need no more digits"
    )]
    let speed = |seconds: f64| bytes as f64 / 1e6 / seconds;
    println!(
        "{}: {} MB; read and CRC-32C {:.0} MB/s, checked {:.0} MB/s, ratio {:.2}; peak memory {} MB, {} MB before",
        folder.display(),
        bytes / 1_000_000,
        speed(plain),
        speed(checked),
        plain / checked,
        peak_kilobytes() / 1000,
        before / 1000,
    );
}

/// The most memory that this process has had, in kilobytes.
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = peak.and_then(|it| it.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

/// Reads and sums every file of a folder.
fn read(folder: &Path) -> u64 {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut buffer = vec![0; 256 * 1024];
    let mut bytes = 0;
    let mut sum = 0;
    for path in paths {
        let mut file = File::open(path).unwrap();
        loop {
            let count = file.read(&mut buffer).unwrap();
            if count == 0 {
                break;
            }
            sum = crc32c::crc32c_append(sum, &buffer[..count]);
            bytes += count as u64;
        }
    }
    std::hint::black_box(sum);
    bytes
}

/// Makes so many segments of so many bytes in a folder, each followed by zeros up to a size.
type Make = fn(&Path, usize, usize, u64);

fn write(path: &Path, bytes: &[u8], size: u64) {
    let mut file = File::create(path).unwrap();
    file.write_all(bytes).unwrap();
    file.set_len(size.max(bytes.len() as u64)).unwrap();
}

fn reference(folder: &Path, segments: usize, bytes_max: usize, size: u64) {
    std::fs::create_dir(folder).unwrap();
    let mut lsn = 1_u64;
    for _ in 0..segments {
        let path = folder.join(format!("seg-{lsn:016x}.wal"));
        let mut bytes = [b"CDWALSEG".as_slice(), &1_u32.to_le_bytes()].concat();
        let first = [lsn.to_le_bytes(), 7_u64.to_le_bytes()].concat();
        bytes.extend(crc32c::crc32c_append(crc32c::crc32c(&bytes), &first).to_le_bytes());
        bytes.extend(first);
        while bytes.len() < bytes_max {
            let length = 1020_u32.to_le_bytes();
            let content = [lsn.to_le_bytes().as_slice(), &1_u64.to_le_bytes(), &PAYLOAD].concat();
            bytes.extend(length);
            bytes.extend(crc32c::crc32c_append(crc32c::crc32c(&length), &content).to_le_bytes());
            bytes.extend(content);
            lsn += 1;
        }
        write(&path, &bytes, size);
    }
}

fn etcd(folder: &Path, segments: usize, bytes_max: usize, size: u64) {
    std::fs::create_dir(folder).unwrap();
    let (mut lsn, mut crc) = (0_u64, 0_u32);
    for seq in 0..segments {
        let path = folder.join(format!("{seq:016x}-{lsn:016x}.wal"));
        let mut bytes = Vec::new();
        frame(&mut bytes, 4, crc, None);
        let metadata = [0x08, 1, 0x10, 7];
        crc = crc32c::crc32c_append(crc, &metadata);
        frame(&mut bytes, 1, crc, Some(&metadata));
        if seq == 0 {
            let snapshot = [0x08, 0, 0x10, 0];
            crc = crc32c::crc32c_append(crc, &snapshot);
            frame(&mut bytes, 5, crc, Some(&snapshot));
            lsn = 1;
        }
        while bytes.len() < bytes_max {
            let mut entry = vec![0x08, 0, 0x10, 1, 0x18];
            varint(&mut entry, lsn);
            entry.push(0x22);
            varint(&mut entry, PAYLOAD.len() as u64);
            entry.extend(PAYLOAD);
            crc = crc32c::crc32c_append(crc, &entry);
            frame(&mut bytes, 2, crc, Some(&entry));
            lsn += 1;
        }
        write(&path, &bytes, size);
    }
}

/// One record of etcd: its length with the padding, sort, running checksum and data.
fn frame(bytes: &mut Vec<u8>, sort: u64, crc: u32, data: Option<&[u8]>) {
    let mut record = vec![0x08];
    varint(&mut record, sort);
    record.push(0x10);
    varint(&mut record, u64::from(crc));
    if let Some(data) = data {
        record.push(0x1a);
        varint(&mut record, data.len() as u64);
        record.extend(data);
    }
    let padding = (8 - record.len() % 8) % 8;
    let flags = if padding == 0 {
        0
    } else {
        0x80 | padding as u64
    };
    bytes.extend((record.len() as u64 | flags << 56).to_le_bytes());
    bytes.extend(record);
    bytes.extend(vec![0; padding]);
}

fn varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap());
}
