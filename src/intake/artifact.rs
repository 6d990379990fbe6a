//! One input file: where its bytes are, how they are packed, and their beginning.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;

use super::Error;

/// How many unpacked bytes are looked at to tell a format.
pub const SAMPLE_BYTES: usize = 64 * 1024;

/// Where an artifact's bytes are.
#[derive(Debug, Clone)]
pub enum Content {
    /// A regular file.
    File(PathBuf),
    /// Bytes in memory: a sample of the rule base.
    Memory(Arc<[u8]>),
}

/// How an artifact is packed, told by its first bytes and not by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As it is.
    Plain,
    /// gzip, of one or more members.
    Gzip,
}

impl Encoding {
    fn of(start: &[u8]) -> Self {
        if start.starts_with(&[0x1f, 0x8b, 0x08]) {
            Self::Gzip
        } else {
            Self::Plain
        }
    }
}

/// One input file.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// The path as the user would write it, with `/` between folders.
    pub path: String,
    /// The path below what all given paths have in common: what names runs and nodes.
    pub relative: String,
    /// Where the bytes are.
    pub content: Content,
    /// The size as stored, in bytes.
    pub bytes: u64,
}

impl Artifact {
    /// Opens the artifact for one pass from its beginning, unpacked.
    pub fn open(&self) -> Result<(Box<dyn Read + Send>, Encoding), Error> {
        let mut start = [0; 4];
        let mut raw = self.raw()?;
        let length = read_full(&mut raw, &mut start).map_err(|source| self.open_error(source))?;
        let whole = Cursor::new(start[..length].to_vec()).chain(raw);
        let encoding = Encoding::of(&start[..length]);
        let reader: Box<dyn Read + Send> = match encoding {
            Encoding::Plain => Box::new(whole),
            Encoding::Gzip => Box::new(Sips(MultiGzDecoder::new(io::BufReader::with_capacity(
                1 << 16,
                whole,
            )))),
        };
        Ok((reader, encoding))
    }

    /// The first [`SAMPLE_BYTES`] unpacked bytes, or as many as can be unpacked.
    pub fn sample(&self) -> Result<(Vec<u8>, Encoding), Error> {
        let (mut reader, encoding) = self.open()?;
        let mut sample = vec![0; SAMPLE_BYTES];
        let mut length = 0;
        // A damaged archive still has a beginning: what could be read before the fault tells the format.
        while length < sample.len() {
            match reader.read(&mut sample[length..]) {
                Ok(0) => break,
                Ok(n) => length += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) if length > 0 => break,
                Err(source) => return Err(self.open_error(source)),
            }
        }
        sample.truncate(length);
        Ok((sample, encoding))
    }

    fn raw(&self) -> Result<Box<dyn Read + Send>, Error> {
        match &self.content {
            Content::File(path) => Ok(Box::new(
                File::open(path).map_err(|source| self.open_error(source))?,
            )),
            Content::Memory(bytes) => Ok(Box::new(Cursor::new(Arc::clone(bytes)))),
        }
    }

    fn open_error(&self, source: io::Error) -> Error {
        Error::Open {
            path: self.path.clone(),
            source,
        }
    }
}

/// How much is unpacked at once.
const SIP: usize = 4 * 1024;

/// An unpacker that is asked for little at a time: it gives nothing of the stretch in which it finds a fault.
struct Sips<R>(R);

impl<R: Read> Read for Sips<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(SIP);
        self.0.read(&mut buffer[..length])
    }
}

/// Fills `buffer` as far as the reader has bytes.
pub(super) fn read_full(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match reader.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(n) => length += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(length)
}
