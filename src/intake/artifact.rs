//! One input file: where its bytes are, how they are packed, and their beginning.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;

use super::Error;
use super::bounds::{Bounds, Exceeded, is_exceeded};
use super::content::{Content, Range, Window};
use super::packing::{Checked, Encoding, Guarded, MAGIC_BYTES, Meter, Metered, Packed, SIP, Torn};

/// How many unpacked bytes are looked at to tell a format.
pub const SAMPLE_BYTES: usize = 64 * 1024;

/// How much is read of a file at once when it is packed.
const GULP: usize = 64 * 1024;

/// One input file.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// The path as the user would write it, with `/` between folders and `!/` below an archive.
    pub path: String,
    /// The path below what all given paths have in common: what names runs and nodes.
    pub relative: String,
    /// The relative path with the names of all archives: where two relative paths are equal, it tells them apart.
    pub whole: String,
    /// Where the bytes are.
    pub content: Content,
    /// The size as stored, in bytes.
    pub bytes: u64,
    /// How much it may unpack to.
    pub bounds: Bounds,
}

/// An artifact opened for one pass.
pub(super) struct Opened {
    pub(super) reader: Packed,
    /// The outermost packing that is the artifact's own.
    pub(super) encoding: Encoding,
    /// Whether the bytes are read as they are stored.
    pub(super) as_stored: bool,
    meter: Meter,
}

impl Artifact {
    /// A file of that path that is in memory.
    pub fn in_memory(path: &str, bytes: &[u8]) -> Self {
        Self {
            path: path.to_owned(),
            relative: path.to_owned(),
            whole: path.to_owned(),
            content: Content::Memory(bytes.into()),
            bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            bounds: Bounds::default(),
        }
    }

    /// Opens the artifact for one pass from its beginning, unpacked.
    pub fn open(&self) -> Result<(Box<dyn Read + Send>, Encoding), Error> {
        let opened = self.opened().map_err(|source| self.open_error(source))?;
        Ok((Box::new(opened.reader), opened.encoding))
    }

    /// Opens the artifact as its folder or archive holds it, whatever its own bytes pack, with its size.
    pub fn open_as_held(&self) -> io::Result<(Box<dyn Read + Send>, u64)> {
        let meter = Meter::default();
        let (reader, as_stored) = self.stored(&meter)?;
        let size = match &self.content {
            Content::File(path) => std::fs::metadata(path)?.len(),
            Content::Memory(_) => self.bytes,
            Content::Member(member) => member.held()?,
        };
        if as_stored {
            return Ok((Box::new(reader), size));
        }
        let guarded = Guarded {
            inner: reader,
            meter,
            bounds: self.bounds,
            unpacked: 0,
        };
        Ok((Box::new(guarded), size))
    }

    /// Opens the artifact as it is stored, to be read from anywhere; `None` where that would be from its beginning only.
    pub fn window(&self) -> Option<io::Result<Window>> {
        self.range().map(|range| range.open())
    }

    /// The first [`SAMPLE_BYTES`] unpacked bytes, or as many as can be unpacked.
    pub fn sample(&self) -> Result<(Vec<u8>, Encoding), Error> {
        let (sample, encoding) = self
            .opened()
            .and_then(|mut opened| Ok((beginning(&mut opened.reader, SAMPLE_BYTES)?, opened)))
            .map(|(sample, opened)| (sample, opened.encoding))
            .map_err(|source| self.open_error(source))?;
        Ok((sample, encoding))
    }

    /// The first bytes, unless they begin something that unpacks to too much; and whether they stand as stored.
    ///
    /// What `is_archive` is read up to its bound anyway, so that the members before it are not lost.
    pub(super) fn probe(
        &self,
        length: usize,
        is_archive: fn(&[u8]) -> bool,
    ) -> io::Result<(Vec<u8>, bool)> {
        let mut opened = self.opened()?;
        let mut start = beginning(&mut opened.reader, length)?;
        if !opened.as_stored && !is_archive(&start) {
            let more = SAMPLE_BYTES.saturating_sub(length);
            let rest = beginning(&mut opened.reader, more).unwrap_or_default();
            let unpacked = u64::try_from(start.len() + rest.len()).unwrap_or(u64::MAX);
            // What unpacks well at first is unpacked until the bound decides; it is quick to unpack.
            if unpacked / opened.meter.read().max(1) > self.bounds.ratio / 8 {
                let free = super::bounds::RATIO_FREE * 2;
                let drained = io::copy(&mut opened.reader.take(free), &mut io::sink());
                if let Err(error) = drained
                    && is_exceeded(&error)
                {
                    return Err(error);
                }
            }
        }
        start.truncate(length);
        Ok((start, opened.as_stored))
    }

    /// The stretch of a file that holds the artifact as it is, if one does.
    pub(super) fn range(&self) -> Option<Range> {
        match &self.content {
            Content::File(path) => Some(Range::of_file(path, self.bytes)),
            Content::Member(member) if member.method.is_none() => Some(member.range.clone()),
            Content::Member(_) | Content::Memory(_) => None,
        }
    }

    /// Opens the artifact and takes off every packing.
    pub(super) fn opened(&self) -> io::Result<Opened> {
        let meter = Meter::default();
        let (mut reader, mut as_stored) = self.stored(&meter)?;
        let mut encoding = Encoding::Plain;
        for layer in 0.. {
            let (packed, whole) = peeked(reader);
            if packed == Encoding::Plain {
                reader = whole;
                break;
            }
            if layer == self.bounds.nesting {
                let why =
                    format!("is packed more than {layer} times; --max-nesting sets the bound");
                return Err(Exceeded(why).into());
            }
            if layer == 0 {
                encoding = packed;
            }
            as_stored = false;
            reader = Box::new(BufReader::with_capacity(SIP, packed.unpack(whole)?));
        }
        if !as_stored {
            let guarded = Guarded {
                inner: reader,
                meter: meter.clone(),
                bounds: self.bounds,
                unpacked: 0,
            };
            reader = Box::new(BufReader::with_capacity(SIP, guarded));
        }
        Ok(Opened {
            reader,
            encoding,
            as_stored,
            meter,
        })
    }

    /// The artifact as its folder or archive holds it, and whether that is how it is stored.
    fn stored(&self, meter: &Meter) -> io::Result<(Packed, bool)> {
        let metered = |inner: Box<dyn Read + Send>| -> Packed {
            Box::new(Metered {
                inner: BufReader::with_capacity(GULP, inner),
                meter: meter.clone(),
            })
        };
        Ok(match &self.content {
            Content::File(path) => (metered(Box::new(File::open(path)?)), true),
            Content::Memory(bytes) => (Box::new(Cursor::new(Arc::clone(bytes))), true),
            Content::Member(member) => {
                let window: Box<dyn Read + Send> = Box::new(member.range.open()?);
                // The meter stands right below the unpacker: one that read ahead would hide how well it unpacks.
                let mut reader = match member.method {
                    Some(method) => method.unpack(metered(window))?,
                    None => window,
                };
                if let Some(expected) = member.check {
                    reader = Box::new(Checked::new(reader, expected));
                }
                if let Some(fault) = &member.fault {
                    reader = Box::new(Torn {
                        inner: reader,
                        fault: fault.clone(),
                    });
                }
                match member.method {
                    Some(_) => (Box::new(BufReader::with_capacity(SIP, reader)), false),
                    None => (metered(reader), true),
                }
            }
        })
    }

    pub(super) fn open_error(&self, source: io::Error) -> Error {
        Error::Open {
            path: self.path.clone(),
            source,
        }
    }
}

/// The first bytes. A damaged input still has a beginning: what can be read before the fault tells the format.
pub(super) fn beginning(reader: &mut dyn BufRead, most: usize) -> io::Result<Vec<u8>> {
    let mut start = vec![0; most];
    let mut length = 0;
    while length < most {
        match reader.read(&mut start[length..]) {
            Ok(0) => break,
            Ok(n) => length += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if length > 0 && !is_exceeded(&e) => break,
            Err(e) => return Err(e),
        }
    }
    start.truncate(length);
    Ok(start)
}

/// What packs the bytes of `reader`, and a reader of the same bytes. A fault among the first of them stays in its place.
fn peeked(mut reader: Packed) -> (Encoding, Packed) {
    let mut start = Vec::with_capacity(MAGIC_BYTES);
    let most = u64::try_from(MAGIC_BYTES).unwrap_or(0);
    let read = reader.by_ref().take(most).read_to_end(&mut start);
    let encoding = Encoding::of(&start);
    let start = Cursor::new(start);
    let whole: Packed = match read {
        Ok(_) => Box::new(start.chain(reader)),
        Err(error) => Box::new(start.chain(BufReader::new(Torn {
            inner: io::empty(),
            fault: error.to_string(),
        }))),
    };
    (encoding, whole)
}
