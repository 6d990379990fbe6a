//! Where the bytes of a segment are: in a file, or wherever a caller opens them.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::parsers::wal::SNIFF_BYTES;

/// An open segment, and how many bytes it has.
pub type Opened = (Box<dyn Read + Send>, u64);

/// Where a segment's bytes are.
#[derive(Clone)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// What the caller opens: a member of an archive.
    Opener(Arc<dyn Fn() -> io::Result<Opened> + Send + Sync>),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Opener(_) => f.debug_tuple("Opener").finish(),
        }
    }
}

impl Source {
    /// Opens it, with its size taken once: what is appended later is not looked at.
    pub(super) fn open(&self) -> io::Result<Opened> {
        match self {
            Self::File(path) => {
                let (file, size) = open_file(path)?;
                Ok((Box::new(file), size))
            }
            Self::Opener(open) => open(),
        }
    }

    /// The first bytes.
    pub fn head(&self) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        let (reader, _) = self.open()?;
        reader.take(SNIFF_BYTES as u64).read_to_end(&mut head)?;
        Ok(head)
    }

    /// All bytes, if they are not too many.
    pub(super) fn whole(&self, most: u64) -> io::Result<Vec<u8>> {
        let (reader, size) = self.open()?;
        if size > most {
            return Err(io::Error::other(format!("{size} bytes are too many")));
        }
        let mut bytes = Vec::new();
        reader.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Whether it has another size by now.
    pub(super) fn is_growing(&self, size: u64) -> bool {
        match self {
            Self::File(path) => fs::metadata(path).is_ok_and(|it| it.len() != size),
            Self::Opener(_) => false,
        }
    }
}

/// Opens a regular file and takes its size once.
pub(super) fn open_file(path: &Path) -> io::Result<(File, u64)> {
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok((File::open(path)?, about.len()))
}
