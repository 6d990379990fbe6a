//! The members of a zip whose directory is lost, by the headers that stand before each: what a torn upload leaves.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::bufread::DeflateDecoder;

use super::super::bounds::{Bounds, RATIO_FREE};
use super::super::content::{Range, Window};
use super::super::packing::Encoding;
use super::Listed;
use super::zip::{Stated, number, packing, take};

const HEADER: &[u8] = b"PK\x03\x04";
const DIRECTORY: &[u8] = b"PK\x01\x02";
const HEADER_BYTES: usize = 30;

/// How much is searched at once.
const STRIDE: usize = 64 * 1024;

/// Takes the members whose headers are there.
pub(super) fn list(range: &Range, listed: &mut Listed) -> io::Result<()> {
    let mut window = range.open()?;
    let mut at = 0;
    while let Some(place) = next_header(&mut window, at)? {
        let Some((member, end)) = member(&mut window, place, range.length, listed.bounds)? else {
            return Ok(());
        };
        if !member.name.ends_with(b"/") {
            take(member, false, range, listed);
        }
        if listed.full {
            return Ok(());
        }
        at = end.max(place + 4);
    }
    Ok(())
}

/// Where the next header of a member begins; `None` at the directory or the end.
fn next_header(window: &mut Window, from: u64) -> io::Result<Option<u64>> {
    let mut at = from;
    loop {
        let bytes = read(window, at, STRIDE)?;
        let header = memchr::memmem::find(&bytes, HEADER);
        let directory = memchr::memmem::find(&bytes, DIRECTORY);
        match (header, directory) {
            (Some(header), directory) if directory.is_none_or(|at| at > header) => {
                return Ok(Some(at + wide(header)));
            }
            (_, Some(_)) => return Ok(None),
            (_, None) if bytes.len() < STRIDE => return Ok(None),
            (_, None) => at += wide(STRIDE - HEADER.len()),
        }
    }
}

/// The member whose header stands at `at`, and where it ends.
fn member(
    window: &mut Window,
    at: u64,
    length: u64,
    bounds: Bounds,
) -> io::Result<Option<(Stated, u64)>> {
    let header = read(window, at, HEADER_BYTES)?;
    let field = |at, length| number(&header, at, length).unwrap_or(0);
    if header.len() < HEADER_BYTES {
        return Ok(None);
    }
    let (name_length, extra_length) = (field(26, 2), field(28, 2));
    let name_at = at + wide(HEADER_BYTES);
    let name = read(window, name_at, usize::try_from(name_length).unwrap_or(0))?;
    let extra = read(
        window,
        name_at + name_length,
        usize::try_from(extra_length).unwrap_or(0),
    )?;
    let start = name_at + name_length + extra_length;
    let flags = field(6, 2);
    let mut stated = Stated {
        name,
        header: at,
        start: Some(start),
        packed: field(18, 4),
        size: field(22, 4),
        crc: u32::try_from(field(14, 4)).ok(),
        packing: packing(field(8, 2)),
        encrypted: flags & 1 != 0,
        mode: None,
    };
    if stated.packed == 0xffff_ffff || stated.size == 0xffff_ffff {
        (stated.size, stated.packed) = long_sizes(&extra).unwrap_or((0, length));
    }
    let mut end = start.saturating_add(stated.packed);
    if flags & 8 != 0 && stated.packed == 0 {
        end = measure(window, start, length, &mut stated, bounds)?;
    }
    Ok(Some((stated, end)))
}

/// Finds the end of a member whose sizes stand behind it.
fn measure(
    window: &mut Window,
    start: u64,
    length: u64,
    stated: &mut Stated,
    bounds: Bounds,
) -> io::Result<u64> {
    stated.crc = None;
    stated.packed = length.saturating_sub(start);
    if stated.packing != Some(Encoding::Deflate) {
        // Only deflate says itself where it ends.
        return Ok(next_header(window, start)?.unwrap_or(length));
    }
    window.seek(SeekFrom::Start(start))?;
    let mut unpacker = DeflateDecoder::new(BufReader::new(&mut *window));
    let whole = loop {
        match io::copy(&mut unpacker.by_ref().take(RATIO_FREE), &mut io::sink()) {
            Ok(0) => break true,
            Err(_) => break false,
            Ok(_) => {}
        }
        let (packed, size) = (unpacker.total_in(), unpacker.total_out());
        if bounds.exceeded(packed, size).is_some() {
            // It is refused for these sizes, and no more of it is unpacked.
            (stated.packed, stated.size) = (packed, size);
            return Ok(start + packed);
        }
    };
    let (packed, size) = (unpacker.total_in(), unpacker.total_out());
    stated.size = size;
    if !whole {
        return Ok(start + packed);
    }
    stated.packed = packed;
    let behind = read(window, start + packed, 8)?;
    if behind.starts_with(b"PK\x07\x08") {
        stated.crc = number(&behind, 4, 4).and_then(|crc| u32::try_from(crc).ok());
    }
    Ok(start + packed)
}

/// The sizes of a member of 4 GiB or more: unpacked, packed.
fn long_sizes(extra: &[u8]) -> Option<(u64, u64)> {
    let mut at = 0;
    while let (Some(kind), Some(length)) = (number(extra, at, 2), number(extra, at + 2, 2)) {
        if kind == 1 {
            return Some((number(extra, at + 4, 8)?, number(extra, at + 12, 8)?));
        }
        at += 4 + usize::try_from(length).ok()?;
    }
    None
}

fn read(window: &mut Window, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    window.seek(SeekFrom::Start(at))?;
    window.by_ref().take(wide(length)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
