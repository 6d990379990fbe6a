//! The members of a zip, by its directory; by the headers of its members where the directory is lost.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use zip::{CompressionMethod, ZipArchive};

use super::super::content::Range;
use super::super::packing::Encoding;
use super::{Entry, Listed, Stored, salvage};

/// What a record of a zip's end and the comment behind it take at most.
const END_BYTES: u64 = 22 + 65_535;

/// Whether a zip begins like this.
pub(super) fn is_zip(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06")
}

/// Lists a zip's members.
pub(super) fn list(range: &Range, listed: &mut Listed) -> io::Result<()> {
    let room = u64::try_from(listed.room).unwrap_or(u64::MAX);
    if stated_members(range)?.is_some_and(|stated| stated > room) {
        let most = listed.bounds.members;
        listed.refuse_all(&format!(
            "not read, archives with more than {most} members; --max-members sets the bound"
        ));
        return Ok(());
    }
    match ZipArchive::new(BufReader::new(range.open()?)) {
        Ok(archive) => by_directory(archive, range, listed),
        Err(error) => {
            salvage::list(range, listed)?;
            listed.damaged(&format!("its directory cannot be read ({error})"));
        }
    }
    Ok(())
}

/// How many members the end of a zip states: the directory is held in memory, so it is asked before it is read.
fn stated_members(range: &Range) -> io::Result<Option<u64>> {
    let mut window = range.open()?;
    let start = range.length.saturating_sub(END_BYTES);
    window.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    window.read_to_end(&mut tail)?;
    let Some(at) = memchr::memmem::rfind(&tail, b"PK\x05\x06") else {
        return Ok(None);
    };
    let short = number(&tail, at + 10, 2);
    if short != Some(0xffff) {
        return Ok(short);
    }
    let place = at
        .checked_sub(20)
        .filter(|&at| tail[at..].starts_with(b"PK\x06\x07"));
    let Some(end) = place.and_then(|at| number(&tail, at + 8, 8)) else {
        return Ok(short);
    };
    window.seek(SeekFrom::Start(end))?;
    let mut record = Vec::new();
    window.take(56).read_to_end(&mut record)?;
    Ok(number(&record, 32, 8).max(short))
}

/// A little-endian number of `length` bytes.
pub(super) fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    )
}

/// A member as the directory states it.
pub(super) struct Stated {
    pub(super) name: Vec<u8>,
    pub(super) header: u64,
    pub(super) start: Option<u64>,
    pub(super) packed: u64,
    pub(super) size: u64,
    /// `None` where it is lost.
    pub(super) crc: Option<u32>,
    /// How it is unpacked; `None` where that is not known here.
    pub(super) packing: Option<Encoding>,
    pub(super) encrypted: bool,
    pub(super) mode: Option<u32>,
}

fn by_directory(
    mut archive: ZipArchive<BufReader<super::super::content::Window>>,
    range: &Range,
    listed: &mut Listed,
) {
    let doubled = archive.has_duplicate_names();
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let read = archive.by_index_raw(index).map(|file| {
            let folder = file.is_dir();
            (!folder).then(|| Stated {
                name: file.name_raw().to_vec(),
                header: file.header_start(),
                start: file.data_start(),
                packed: file.compressed_size(),
                size: file.size(),
                crc: Some(file.crc32()),
                packing: packing_of(file.compression()),
                encrypted: file.encrypted(),
                mode: file.unix_mode(),
            })
        });
        match read {
            Ok(member) => members.extend(member),
            Err(error) => {
                let entry = archive.by_index_data(index);
                let name = entry.map_or_else(|_| Vec::new(), |entry| entry.name_raw().to_vec());
                listed.refuse(&name, &format!("not read: {error}"), true);
            }
        }
    }
    members.sort_by_key(|member| member.header);
    let mut end = 0;
    for member in members {
        let overlaps = member.header < end;
        if let Some(start) = member.start {
            end = end.max(start.saturating_add(member.packed));
        }
        take(member, overlaps, range, listed);
        if listed.full {
            break;
        }
    }
    if doubled {
        listed.damaged("several members have one name, and one of them is read");
    }
}

/// Takes or refuses one member.
pub(super) fn take(member: Stated, overlaps: bool, range: &Range, listed: &mut Listed) {
    let name = slashes(member.name);
    let exceeded = listed.bounds.exceeded(member.packed, member.size);
    let refused = if let Some(why) = member.mode.and_then(not_regular) {
        Some((why.to_owned(), false))
    } else if member.encrypted {
        Some(("encrypted, not read".to_owned(), true))
    } else if overlaps {
        Some(("it overlaps another member, not read".to_owned(), true))
    } else if let Some(exceeded) = exceeded {
        Some((format!("not read, {exceeded}"), true))
    } else if member.packing.is_none() {
        Some(("packed by a method that is not read".to_owned(), true))
    } else {
        None
    };
    if let Some((why, partial)) = refused {
        listed.refuse(&name, &why, partial);
        return;
    }
    let (Some(packing), Some(start)) = (member.packing, member.start) else {
        listed.refuse(&name, "not read, it has no place in the archive", true);
        return;
    };
    if let Some(name) = listed.admit(&name) {
        let (part, missing) = range.part(start, member.packed);
        let stored = Stored {
            range: part,
            bytes: member.packed,
            method: (packing != Encoding::Plain).then_some(packing),
            check: member.crc.map(|crc| (crc, member.size)),
            is_beginning: false,
            fault: (missing > 0).then(|| "the archive ends here".to_owned()),
        };
        listed.entries.push(Entry { name, stored });
    }
}

/// Some writers on Windows part folders with `\`.
fn slashes(mut name: Vec<u8>) -> Vec<u8> {
    if memchr::memchr(b'/', &name).is_none() {
        for byte in &mut name {
            if *byte == b'\\' {
                *byte = b'/';
            }
        }
    }
    name
}

/// The methods that are read, by their numbers in the format.
const METHODS: &[(u64, CompressionMethod, Encoding)] = &[
    (0, CompressionMethod::STORE, Encoding::Plain),
    (8, CompressionMethod::DEFLATE, Encoding::Deflate),
    (9, CompressionMethod::DEFLATE64, Encoding::Deflate64),
    (12, CompressionMethod::BZIP2, Encoding::Bzip2),
    (93, CompressionMethod::ZSTD, Encoding::Zstd),
    (95, CompressionMethod::XZ, Encoding::Xz),
];

/// How a member of that method is unpacked, if it is.
pub(super) fn packing(number: u64) -> Option<Encoding> {
    let known = METHODS.iter().find(|(known, ..)| *known == number);
    known.map(|(.., encoding)| *encoding)
}

fn packing_of(method: CompressionMethod) -> Option<Encoding> {
    let known = METHODS.iter().find(|(_, known, _)| *known == method);
    known.map(|(.., encoding)| *encoding)
}

/// Why a member of that Unix mode is not read, if it is no regular file.
fn not_regular(mode: u32) -> Option<&'static str> {
    match mode & 0o170_000 {
        0o120_000 => Some("a link, not followed"),
        0o010_000 => Some("a pipe, not opened"),
        0o020_000 | 0o060_000 => Some("a device, not opened"),
        0o140_000 => Some("a socket, not opened"),
        _ => None,
    }
}
