//! Speed of `wal-layout-check` against one pass that reads and CRC-32Cs the same bytes.
//!
//! `cargo bench --bench wal -- FOLDER...` measures folders of segments; without one, a small log of the reference layout is made. The
//! pages are read once before, so both passes find them in memory.
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_types, reason = "a bench measures time")]

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use casdiag::layout::{Choice, inspect};

/// Megabytes that are made where no folder is given.
const MADE_MB: usize = 256;
const ROUNDS: usize = 5;

fn main() {
    let folders: Vec<PathBuf> = std::env::args()
        .skip(1)
        .filter(|it| !it.starts_with('-'))
        .map(PathBuf::from)
        .collect();
    let made = tempfile::tempdir().unwrap();
    let folders = if folders.is_empty() {
        vec![make(made.path())]
    } else {
        folders
    };
    for folder in folders {
        let bytes = read(&folder);
        let (mut plain, mut checked) = (f64::MAX, f64::MAX);
        for _ in 0..ROUNDS {
            let start = Instant::now();
            assert_eq!(read(&folder), bytes);
            plain = plain.min(start.elapsed().as_secs_f64());
            let start = Instant::now();
            let inspection = inspect(std::slice::from_ref(&folder), &Choice::Detect);
            checked = checked.min(start.elapsed().as_secs_f64());
            assert!(inspection.wals.iter().all(|wal| wal.problems.is_empty()));
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "megabytes per second need no more digits"
        )]
        let speed = |seconds: f64| bytes as f64 / 1e6 / seconds;
        println!(
            "{}: {} MB; read and CRC-32C {:.0} MB/s, checked {:.0} MB/s, ratio {:.2}",
            folder.display(),
            bytes / 1_000_000,
            speed(plain),
            speed(checked),
            plain / checked
        );
    }
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

/// Segments of 16 MB with records of a kilobyte.
fn make(folder: &Path) -> PathBuf {
    let payload = [0x5a; 1000];
    let mut lsn = 1_u64;
    for _ in 0..MADE_MB / 16 {
        let mut file = File::create(folder.join(format!("seg-{lsn:016x}.wal"))).unwrap();
        let mut bytes = [b"CDWALSEG".as_slice(), &1_u32.to_le_bytes()].concat();
        let first = [lsn.to_le_bytes(), 7_u64.to_le_bytes()].concat();
        bytes.extend(crc32c::crc32c_append(crc32c::crc32c(&bytes), &first).to_le_bytes());
        bytes.extend(first);
        while bytes.len() < 16_000_000 {
            let length = 1020_u32.to_le_bytes();
            let content = [lsn.to_le_bytes().as_slice(), &1_u64.to_le_bytes(), &payload].concat();
            bytes.extend(length);
            bytes.extend(crc32c::crc32c_append(crc32c::crc32c(&length), &content).to_le_bytes());
            bytes.extend(content);
            lsn += 1;
        }
        file.write_all(&bytes).unwrap();
    }
    folder.to_path_buf()
}
