//! The members of a tar, in one pass: from a file by seeking, from an unpacker into the temporary file.

use std::io::{self, Read, Seek, SeekFrom};

use tar::{EntryType, Header, PaxExtensions};

use super::super::content::{Range, Window};
use super::super::packing::Packed;
use super::spool::{Spool, fill};
use super::{Entry, Listed, Stored};

/// A tar is made of such blocks.
pub(super) const BLOCK: usize = 512;
const BLOCK_BYTES: u64 = 512;

/// The longest name or table of attributes that is read; names end at 4 KiB on most systems.
const EXTENSION_BYTES: u64 = 1 << 20;

/// Whether a tar begins like this: its first block holds the sum of its own bytes.
pub(super) fn is_tar(start: &[u8]) -> bool {
    start.get(..BLOCK).is_some_and(|block| {
        block[0] != 0 && valid(Header::from_byte_slice(block)) && block.iter().any(|&b| b != 0)
    })
}

fn valid(header: &Header) -> bool {
    let bytes = header.as_bytes();
    let sum: u32 = bytes.iter().map(|&b| u32::from(b)).sum();
    let field: u32 = bytes[148..156].iter().map(|&b| u32::from(b)).sum();
    header
        .cksum()
        .is_ok_and(|stated| stated == sum - field + 8 * 32)
}

/// Where a tar's bytes come from.
pub(super) enum Source<'s, 'u> {
    /// A stretch of a file.
    File(Range, Window),
    /// An unpacker.
    Stream(Packed, &'s mut Spool<'u>),
}

impl Source<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let reader: &mut dyn Read = match self {
            Self::File(_, window) => window,
            Self::Stream(reader, _) => reader,
        };
        match fill(reader, buffer) {
            (_, Some(error)) => Err(error),
            (read, None) => Ok(read),
        }
    }

    /// Reads what an unpacker still has.
    fn drain(&mut self) -> io::Result<()> {
        match self {
            Self::File(..) => Ok(()),
            Self::Stream(reader, _) => io::copy(reader, &mut io::sink()).map(drop),
        }
    }

    /// Passes over bytes; how many there were.
    fn skip(&mut self, length: u64) -> io::Result<u64> {
        match self {
            Self::File(range, window) => {
                let at = window.stream_position()?;
                let there = length.min(range.length.saturating_sub(at));
                window.seek(SeekFrom::Start(at + there))?;
                Ok(there)
            }
            Self::Stream(reader, _) => io::copy(&mut reader.take(length), &mut io::sink()),
        }
    }

    /// Takes a member's bytes.
    fn member(&mut self, name: &str, length: u64) -> io::Result<(Stored, u64, Option<io::Error>)> {
        match self {
            Self::File(range, window) => {
                let (part, missing) = range.part(window.stream_position()?, length);
                let read = self.skip(length - missing)?;
                Ok((Stored::as_is(part, length), read, None))
            }
            Self::Stream(reader, spool) => {
                let kept = spool.take(name, reader, length)?;
                let is_beginning = kept.range.length < kept.read;
                let stored = Stored {
                    is_beginning,
                    ..Stored::as_is(kept.range, length)
                };
                Ok((stored, kept.read, kept.error))
            }
        }
    }
}

/// What extension headers say of the member that follows them.
#[derive(Default)]
struct Extension {
    name: Option<Vec<u8>>,
    size: Option<u64>,
    sparse: bool,
}

/// Lists a tar's members until its end, the bound on members, or a fault that cannot be passed.
pub(super) fn list(mut source: Source<'_, '_>, listed: &mut Listed) {
    let walked = walk(&mut source, listed);
    // A packing's checksum stands at its end, behind the end of the tar.
    let walked = walked.and_then(|()| source.drain());
    if let Err(error) = walked {
        listed.damaged(&error.to_string());
    }
}

fn walk(source: &mut Source<'_, '_>, listed: &mut Listed) -> io::Result<()> {
    let mut extension = Extension::default();
    let mut lost = false;
    loop {
        let mut block = [0; BLOCK];
        let read = source.read(&mut block)?;
        if read < BLOCK {
            let why = if read == 0 {
                "it has no end mark"
            } else {
                "it ends inside a header"
            };
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
        }
        if block.iter().all(|&b| b == 0) && !lost {
            return Ok(());
        }
        let header = Header::from_byte_slice(&block);
        if !valid(header) {
            // The next header that holds its own sum is taken for one: what lies between is said to be lost.
            if !lost {
                listed.damaged("a header is broken; what follows is looked for");
            }
            lost = true;
            extension = Extension::default();
            continue;
        }
        lost = false;
        let Ok(stated) = header.entry_size() else {
            listed.damaged("a member states no size");
            lost = true;
            continue;
        };
        if header.entry_type().is_gnu_longname() || header.entry_type().is_pax_local_extensions() {
            extend(source, header.entry_type(), stated, &mut extension, listed)?;
            continue;
        }
        let taken = std::mem::take(&mut extension);
        if !member(source, header, &taken, taken.size.unwrap_or(stated), listed)? {
            return Ok(());
        }
    }
}

/// Reads what an extension header says.
fn extend(
    source: &mut Source<'_, '_>,
    kind: EntryType,
    size: u64,
    extension: &mut Extension,
    listed: &mut Listed,
) -> io::Result<()> {
    if size > EXTENSION_BYTES {
        listed.damaged("a member's name is longer than names may be");
        return pass(source, size).map(drop);
    }
    let mut text = vec![0; usize::try_from(size).unwrap_or(0)];
    let read = source.read(&mut text)?;
    text.truncate(read);
    pass(source, padding(size))?;
    if kind.is_gnu_longname() {
        text.truncate(memchr::memchr(0, &text).unwrap_or(text.len()));
        extension.name = Some(text);
        return Ok(());
    }
    for pair in PaxExtensions::new(&text).flatten() {
        match pair.key_bytes() {
            b"path" => extension.name = Some(pair.value_bytes().to_vec()),
            b"size" => extension.size = pair.value().ok().and_then(|size| size.parse().ok()),
            key => extension.sparse |= key.starts_with(b"GNU.sparse."),
        }
    }
    Ok(())
}

/// Takes or refuses one member; whether there may be more.
fn member(
    source: &mut Source<'_, '_>,
    header: &Header,
    extension: &Extension,
    size: u64,
    listed: &mut Listed,
) -> io::Result<bool> {
    let kind = header.entry_type();
    let name = extension
        .name
        .clone()
        .unwrap_or_else(|| header.path_bytes().into_owned());
    let folder = kind.is_dir() || name.ends_with(b"/");
    let regular = (kind.is_file() || kind.is_contiguous()) && !extension.sparse;
    if folder || kind.is_pax_global_extensions() || kind.is_gnu_longlink() {
        return pass(source, padded(size));
    }
    let refused = if regular {
        None
    } else {
        Some(not_regular(kind))
    };
    if let Some((why, partial)) = refused {
        let more = listed.refuse(&name, why, partial);
        if kind.is_gnu_sparse() {
            pass_sparse_table(source, header)?;
        }
        // Links state the size of what they name and hold nothing.
        let held = if kind.is_hard_link() || kind.is_symlink() {
            0
        } else {
            size
        };
        return Ok(pass(source, padded(held))? && more);
    }
    if let Some(clean) = listed.admit(&name) {
        let (mut stored, read, error) = source.member(&clean, size)?;
        if read < size {
            let why = error
                .as_ref()
                .map_or_else(|| "the archive ends here".to_owned(), ToString::to_string);
            stored.fault = Some(why);
        }
        let name = clean.clone();
        listed.entries.push(Entry {
            name: clean,
            stored,
        });
        if let Some(error) = error {
            return Err(io::Error::new(error.kind(), format!("{name}: {error}")));
        }
        if read < size {
            let why = format!("it ends inside {name}");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
        }
        return Ok(pass(source, padding(size))? && !listed.full);
    }
    Ok(pass(source, padded(size))? && !listed.full)
}

/// Why a member is not read, and whether text is lost with it.
fn not_regular(kind: EntryType) -> (&'static str, bool) {
    if kind.is_hard_link() || kind.is_symlink() {
        ("a link, not followed", false)
    } else if kind.is_character_special() || kind.is_block_special() {
        ("a device, not opened", false)
    } else if kind.is_fifo() {
        ("a pipe, not opened", false)
    } else if kind.is_gnu_sparse() || kind.is_file() || kind.is_contiguous() {
        ("a file stored with holes, not read", true)
    } else {
        ("a member of an unknown kind, not read", true)
    }
}

/// Passes over the table of a file with holes, which lies between its header and its bytes.
fn pass_sparse_table(source: &mut Source<'_, '_>, header: &Header) -> io::Result<()> {
    let mut extended = header.as_gnu().is_some_and(tar::GnuHeader::is_extended);
    while extended {
        let mut block = [0; BLOCK];
        let read = source.read(&mut block)?;
        // The flag that another table follows stands at this byte.
        extended = read == BLOCK && block[504] == 1;
    }
    Ok(())
}

/// Passes over bytes; an error if there are fewer.
fn pass(source: &mut Source<'_, '_>, length: u64) -> io::Result<bool> {
    if source.skip(length)? < length {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "it ends inside a member",
        ));
    }
    Ok(true)
}

fn padding(size: u64) -> u64 {
    size.next_multiple_of(BLOCK_BYTES) - size
}

fn padded(size: u64) -> u64 {
    size.checked_next_multiple_of(BLOCK_BYTES)
        .unwrap_or(u64::MAX)
}
